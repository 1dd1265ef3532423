//! Graphs of scenarios as SVG.
//!
//! Boxes stand in rows, and between two rows of boxes there is one for what is written at arrows, so that no word stands on another. An arrow that
//! leads back goes up, from the upper edge of a box to the lower edge of one above it.

use std::io::{self, Write};

use jurat_core::report::scenario::ScenarioGraph;
use unicode_width::UnicodeWidthStr;

use super::layers::Layers;
use super::sketch::{Arrow, Box, Sketch};
use crate::layout::{BEND, Layout, Point, Rows, Slot};
use crate::svg::{
    BOX_HEIGHT, Drawing, LETTER, Lead, PADDING, SMALL_LETTER, Station, TALL_BOX, boxed, curve, downwards, line, linked,
    passing, rounded, way, write_document, write_fragment,
};
use crate::xml::Tag;

/// What graphs of scenarios need beside what all drawings have.
pub(crate) const STYLE: &str = "
.label { font-size: 11px; text-anchor: middle; fill: #59636e }
.end { fill: none; stroke: #818b98; stroke-width: 3 }
.untaken { opacity: 0.45; stroke-dasharray: 2 3 }
@media (prefers-color-scheme: dark) {
  .label { fill: #9198a1 }
}";

const LABEL_HEIGHT: f64 = 16.0;
const GAP: f64 = 28.0;
const END_WIDTH: f64 = 60.0;

/// How far the two ends of an arrow to the same box are apart, at the box and below it.
const LOOP: f64 = 18.0;
const LOOP_BELOW: f64 = 8.0;

/// Writes graphs as one SVG under this title.
pub fn write_graphs_svg(out: &mut dyn Write, title: &str, graphs: &[ScenarioGraph]) -> io::Result<()> {
    let drawings: Vec<Drawing> = graphs.iter().map(drawing).collect();
    write_document(out, title, &drawings, STYLE)
}

/// What a page adds to the nodes and edges of a graph, each by its place.
pub struct GraphMarks<'m> {
    /// The node that stands out.
    pub chosen: Option<usize>,
    /// Where each node leads.
    pub node: &'m dyn Fn(usize) -> Option<String>,
    /// Where each edge leads.
    pub edge: &'m dyn Fn(usize) -> Option<String>,
}

/// Writes one graph as a part of a page.
pub fn write_graph_fragment(out: &mut dyn Write, graph: &ScenarioGraph, marks: &GraphMarks<'_>) -> io::Result<()> {
    write_fragment(out, &format!("the graph of {}", graph.name), &drawing_with(graph, marks))
}

/// The drawing of one graph.
pub(crate) fn drawing(graph: &ScenarioGraph) -> Drawing {
    drawing_with(graph, &GraphMarks { chosen: None, node: &|_| None, edge: &|_| None })
}

fn drawing_with(graph: &ScenarioGraph, marks: &GraphMarks<'_>) -> Drawing {
    let sketch = Sketch::of(graph);
    let leads = |arrow: &Arrow| arrow.edge.and_then(|it| (marks.edge)(it));
    let n_boxes = sketch.boxes.len();
    // The end stands for one more node.
    let pairs: Vec<(usize, usize)> = sketch.arrows.iter().map(|it| (it.from, it.to.unwrap_or(n_boxes))).collect();
    let layers = Layers::of(n_boxes + usize::from(sketch.has_end()), graph.entry, &pairs);
    let box_height = if sketch.boxes.iter().any(|it| !it.who.is_empty()) { TALL_BOX } else { BOX_HEIGHT };

    // Boxes stand in even rows, what is written at arrows in odd ones: below the box that an arrow leaves, or, when it leads back, above.
    let mut slots: Vec<Slot> = (0..layers.rows.len())
        .map(|ix| Slot { layer: 2 * layers.rows[ix], width: sketch.boxes.get(ix).map_or(END_WIDTH, width) })
        .collect();
    let mut ways = Vec::new();
    for (arrow, ((from, to), is_back)) in sketch.arrows.iter().zip(pairs.iter().zip(&layers.is_back)) {
        let label = slots.len();
        let is_loop = from == to;
        let layer = if *is_back && !is_loop { slots[*from].layer - 1 } else { slots[*from].layer + 1 };
        let width = (arrow.label.width() as f64 * SMALL_LETTER).max(if is_loop { 2.0 * LOOP_BELOW } else { BEND });
        slots.push(Slot { layer, width });
        ways.push(match (is_loop, is_back) {
            (true, _) => vec![(*from, label)],
            (false, true) => vec![(*to, label), (label, *from)],
            (false, false) => vec![(*from, label), (label, *to)],
        });
    }
    let n_rows = slots.iter().map(|it| it.layer + 1).max().unwrap_or(0);
    let heights = (0..n_rows).map(|ix| if ix % 2 == 0 { box_height } else { LABEL_HEIGHT });
    let rows = Rows::new(heights.collect(), GAP);
    let layout = Layout::of(&slots, &ways.concat(), &rows);

    let mut body = String::new();
    let mut bends = layout.bends.iter();
    for (ix, (arrow, (from, to))) in sketch.arrows.iter().zip(&pairs).enumerate() {
        let label = layout.blocks[layers.rows.len() + ix];
        let passed: Vec<(Point, usize)> = ways[ix].iter().filter_map(|_| bends.next()).flatten().copied().collect();
        let label_layer = slots[layers.rows.len() + ix].layer;
        let station = |at, height| Station { at, height, has_words: false };
        let mut stations: Vec<Station> = passed.iter().map(|(at, layer)| station(*at, rows.height(*layer))).collect();
        let (upper, lower) = if layers.is_back[ix] { (*to, *from) } else { (*from, *to) };
        let at = |it: usize| station(layout.blocks[it], box_height);
        let words = Station { at: label, height: rows.height(label_layer), has_words: !arrow.label.is_empty() };
        let d = if from == to {
            looped(&at(*from), &words)
        } else {
            stations.push(words);
            stations.sort_by(|left, right| left.at.y.total_cmp(&right.at.y));
            stations.insert(0, at(upper));
            stations.push(at(lower));
            if layers.is_back[ix] { upwards(&stations) } else { downwards(&stations) }
        };
        let fallback = if arrow.is_fallback { " gated" } else { "" };
        let untaken = if arrow.is_untaken { " untaken" } else { "" };
        let class = format!("arrow{fallback}{untaken}");
        // What is written at it is the link for keyboards and screen readers.
        body += &way(&class, &d, leads(arrow).map(|link| Lead { link, name: None }));
    }
    for (ix, arrow) in sketch.arrows.iter().enumerate().filter(|(_, it)| !it.label.is_empty()) {
        let label = layout.blocks[layers.rows.len() + ix];
        let words = line("label", Point { y: label.y + 4.0, ..label }, &arrow.label);
        body += &linked(leads(arrow).as_deref(), format!("{words}\n"));
    }
    for (ix, it) in sketch.boxes.iter().enumerate() {
        let drawn = rendered(it, layout.blocks[ix], width(it), box_height, marks.chosen == Some(ix));
        body += &linked((marks.node)(ix).as_deref(), drawn);
    }
    if sketch.has_end() {
        body += &rendered_end(layout.blocks[n_boxes], box_height);
    }
    Drawing { title: Some(sketch.title), width: layout.width, height: layout.height, body }
}

/// As wide as its longest line.
fn width(it: &Box) -> f64 {
    let small = it.question.width().max(it.who.width()) as f64 * SMALL_LETTER;
    small.max(it.name.width() as f64 * LETTER) + 2.0 * PADDING
}

fn rendered(it: &Box, at: Point, width: f64, height: f64, is_chosen: bool) -> String {
    let kind = match (it.is_entry, it.is_untaken) {
        (_, true) => "box untaken",
        (true, false) => "box asking",
        (false, false) => "box",
    };
    let class = if is_chosen { format!("{kind} chosen") } else { kind.to_owned() };
    let lines = [("name", &*it.name), ("about", &*it.question), ("about", &*it.who)];
    boxed(&class, at, (width, height), it.description.as_deref(), &lines)
}

fn rendered_end(at: Point, height: f64) -> String {
    let ring = Tag::new("circle")
        .with("class", "end")
        .with("cx", rounded(at.x))
        .with("cy", rounded(at.y))
        .with("r", rounded(height / 2.0 - 2.0));
    format!("<g>{}\n{}</g>\n", ring.empty(), line("name", Point { y: at.y + 4.0, ..at }, "end"))
}

/// From the upper edge of the last through all others to the lower edge of the first, beside the arrows that come down.
fn upwards(stations: &[Station]) -> String {
    let mut way = String::new();
    let mut last: Option<Point> = None;
    for (ix, Station { at, height, has_words }) in stations.iter().enumerate().rev() {
        let (top, bottom) = (at.y - height / 2.0, at.y + height / 2.0);
        let beside = at.x - LOOP;
        match last {
            None => {
                way += &format!("M {} {}", rounded(beside), rounded(top));
                last = Some(Point { x: beside, y: top });
            }
            Some(from) if ix == 0 => way += &curve(from, Point { x: beside, y: bottom + 2.0 }),
            Some(from) => {
                way += &curve(from, Point { y: bottom, ..*at });
                way += &format!(" {} {} {}", passing(*has_words), rounded(at.x), rounded(top));
                last = Some(Point { y: top, ..*at });
            }
        }
    }
    way
}

/// Out of the lower edge of a box, and back into it.
fn looped(from: &Station, words: &Station) -> String {
    let (bottom, top) = (from.at.y + from.height / 2.0, words.at.y - words.height / 2.0);
    let [out, back] = [LOOP, -LOOP].map(|it| Point { x: from.at.x + it, y: bottom });
    let [down, up] = [LOOP_BELOW, -LOOP_BELOW].map(|it| Point { x: words.at.x + it, y: top });
    let there = curve(out, down);
    let home = curve(up, Point { y: back.y + 2.0, ..back });
    format!("M {} {}{there} L {} {}{home}", rounded(out.x), rounded(out.y), rounded(up.x), rounded(up.y))
}
