//! The graph of a plan as SVG that stands alone: no script, no font and no picture from elsewhere.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::PlanReport;
use super::graph::{Block, Graph};
use super::layout::{Layout, Point};
use crate::words::cut;
use crate::xml::{Tag, escaped};

const BOX_HEIGHT: f64 = 46.0;
const LETTER: f64 = 7.8;
const SMALL_LETTER: f64 = 6.6;
const PADDING: f64 = 12.0;
const MARGIN: f64 = 20.0;
const TITLE: f64 = 30.0;

/// Colours follow the reader's: light or dark.
const STYLE: &str = "\
text { font-family: ui-monospace, 'DejaVu Sans Mono', monospace; fill: #1f2328 }
.title { font-size: 15px; font-weight: bold }
.name { font-size: 13px; text-anchor: middle }
.about { font-size: 11px; text-anchor: middle; fill: #59636e }
.box { fill: #f6f8fa; stroke: #818b98 }
.judge { fill: #ddf4ff; stroke: #0969da }
.asking { fill: #dafbe1; stroke: #1a7f37 }
.gate { stroke-width: 2.5 }
.arrow { fill: none; stroke: #818b98; stroke-width: 1.5; marker-end: url(#head) }
.gated { stroke-dasharray: 6 4 }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc }
  .about { fill: #9198a1 }
  .box { fill: #212830 }
  .judge { fill: #121d2f }
  .asking { fill: #12261e }
}";

/// Writes the graph of a plan as SVG. An arrow out of a gate is broken: it is followed only when the gate passes.
pub fn write_svg(out: &mut dyn Write, plan: &PlanReport) -> io::Result<()> {
    let graph = Graph::of(plan);
    let widths: Vec<f64> = graph.blocks.iter().map(width).collect();
    let layout = Layout::of(&graph, &widths, BOX_HEIGHT);
    let title = cut(&plan.suite, 60);
    let (width, height) =
        (layout.width.max(title.width() as f64 * 9.2) + 2.0 * MARGIN, layout.height + TITLE + 2.0 * MARGIN);
    let svg = Tag::new("svg")
        .with("xmlns", "http://www.w3.org/2000/svg")
        .with("width", rounded(width))
        .with("height", rounded(height))
        .with("viewBox", format!("0 0 {} {}", rounded(width), rounded(height)))
        .with("role", "img");
    writeln!(out, "{}", svg.open())?;
    writeln!(out, "<title>{}</title>\n<style>\n{STYLE}\n</style>", escaped(&title))?;
    writeln!(out, "<defs>{}</defs>", head())?;
    let place = Tag::new("text").with("class", "title").with("x", MARGIN).with("y", MARGIN + 14.0);
    writeln!(out, "{}{}</text>", place.open(), escaped(&title))?;
    let moved = Tag::new("g").with("transform", format!("translate({MARGIN} {})", MARGIN + TITLE));
    writeln!(out, "{}", moved.open())?;
    for (arrow, bends) in graph.arrows.iter().zip(&layout.bends) {
        let class = if arrow.is_gated { "arrow gated" } else { "arrow" };
        let way = way(layout.blocks[arrow.from], bends, layout.blocks[arrow.to]);
        writeln!(out, "{}", Tag::new("path").with("class", class).with("d", way).empty())?;
    }
    for ((it, width), at) in graph.blocks.iter().zip(&widths).zip(&layout.blocks) {
        write_box(out, it, *width, *at)?;
    }
    writeln!(out, "</g>\n</svg>")
}

/// As wide as its longer line.
fn width(it: &Block) -> f64 {
    let (name, about) = (it.name.width() as f64 * LETTER, it.about.width() as f64 * SMALL_LETTER);
    name.max(about) + 2.0 * PADDING
}

fn write_box(out: &mut dyn Write, it: &Block, width: f64, at: Point) -> io::Result<()> {
    let gate = if it.is_gate { " gate" } else { "" };
    let frame = Tag::new("rect")
        .with("class", format!("box {}{gate}", it.shape.name()))
        .with("x", rounded(at.x - width / 2.0))
        .with("y", rounded(at.y - BOX_HEIGHT / 2.0))
        .with("width", rounded(width))
        .with("height", rounded(BOX_HEIGHT))
        .with("rx", 8);
    let line = |class: &str, y: f64, text: &str| {
        let tag = Tag::new("text").with("class", class).with("x", rounded(at.x)).with("y", rounded(y));
        format!("{}{}</text>", tag.open(), escaped(text))
    };
    let tooltip = it.description.as_ref().map_or_else(String::new, |it| format!("<title>{}</title>", escaped(it)));
    writeln!(out, "<g>{tooltip}{}", frame.empty())?;
    writeln!(out, "{}", line("name", at.y - 4.0, &it.name))?;
    writeln!(out, "{}</g>", line("about", at.y + 13.0, &it.about))
}

/// From the lower edge of a box through the bends to the upper edge of another: upright where it meets them.
fn way(from: Point, bends: &[Point], to: Point) -> String {
    let start = Point { y: from.y + BOX_HEIGHT / 2.0, ..from };
    // The head of the arrow needs room of its own.
    let end = Point { y: to.y - BOX_HEIGHT / 2.0 - 2.0, ..to };
    let mut way = format!("M {} {}", rounded(start.x), rounded(start.y));
    let mut last = start;
    for next in bends.iter().copied() {
        // A bend is as high as a box, so that the arrow passes its row upright.
        let above = Point { y: next.y - BOX_HEIGHT / 2.0, ..next };
        let below = Point { y: next.y + BOX_HEIGHT / 2.0, ..next };
        way += &curve(last, above);
        way += &format!(" L {} {}", rounded(below.x), rounded(below.y));
        last = below;
    }
    way + &curve(last, end)
}

fn curve(from: Point, to: Point) -> String {
    let half = f64::midpoint(from.y, to.y);
    let [x1, x2, half, y] = [from.x, to.x, half, to.y].map(rounded);
    format!(" C {x1} {half} {x2} {half} {x2} {y}")
}

fn head() -> String {
    let marker = Tag::new("marker")
        .with("id", "head")
        .with("viewBox", "0 0 8 8")
        .with("refX", 7)
        .with("refY", 4)
        .with("markerWidth", 7)
        .with("markerHeight", 7)
        .with("orient", "auto");
    let triangle = Tag::new("path").with("d", "M 0 0 L 8 4 L 0 8 z").with("fill", "#818b98");
    format!("{}{}</marker>", marker.open(), triangle.empty())
}

/// To a tenth of a point, so that the text of a drawing does not depend on the last digits of a sum.
fn rounded(number: f64) -> f64 {
    // Adding zero makes of a negative zero a plain one.
    (number * 10.0).round() / 10.0 + 0.0
}
