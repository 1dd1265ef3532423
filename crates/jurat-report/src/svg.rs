//! SVG that stands alone: no script, no font and no picture from elsewhere. Drawings stand below each other under one title.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use crate::layout::Point;
use crate::words::cut;
use crate::xml::{Tag, escaped};

/// A picture in a document.
pub(crate) struct Drawing {
    pub(crate) title: Option<String>,
    /// How wide and how high it is.
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// The drawing, from its upper left corner.
    pub(crate) body: String,
}

pub(crate) const BOX_HEIGHT: f64 = 46.0;
/// The room for three lines.
pub(crate) const TALL_BOX: f64 = 62.0;
pub(crate) const LETTER: f64 = 7.8;
pub(crate) const SMALL_LETTER: f64 = 6.6;
pub(crate) const PADDING: f64 = 12.0;
/// Where the lines of a box stand, from its upper edge.
const LINES: [f64; 3] = [19.0, 36.0, 52.0];
const MARGIN: f64 = 20.0;
const TITLE: f64 = 30.0;
const TITLE_LETTER: f64 = 9.2;
const ROOM_FOR_TITLES: usize = 60;

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

/// Writes drawings as one document. `style` is what they need beside what all drawings have.
pub(crate) fn write_document(out: &mut dyn Write, title: &str, drawings: &[Drawing], style: &str) -> io::Result<()> {
    let title = cut(title, ROOM_FOR_TITLES);
    let titles = drawings.iter().filter_map(|it| it.title.as_deref()).map(|it| cut(it, ROOM_FOR_TITLES));
    let widest = titles.chain([title.clone()]).map(|it| it.width() as f64 * TITLE_LETTER);
    let width = drawings.iter().map(|it| it.width).chain(widest).fold(0.0, f64::max) + 2.0 * MARGIN;
    let mut body = String::new();
    let mut bottom = MARGIN + TITLE;
    for (ix, drawing) in drawings.iter().enumerate() {
        bottom += if ix > 0 { TITLE } else { 0.0 };
        if let Some(title) = &drawing.title {
            let place = Tag::new("text").with("class", "title").with("x", MARGIN).with("y", rounded(bottom + 14.0));
            body += &format!("{}{}</text>\n", place.open(), escaped(&cut(title, ROOM_FOR_TITLES)));
            bottom += TITLE;
        }
        let moved = Tag::new("g").with("transform", format!("translate({MARGIN} {})", rounded(bottom)));
        body += &format!("{}\n{}</g>\n", moved.open(), drawing.body);
        bottom += drawing.height;
    }
    let height = bottom + MARGIN;
    let svg = Tag::new("svg")
        .with("xmlns", "http://www.w3.org/2000/svg")
        .with("width", rounded(width))
        .with("height", rounded(height))
        .with("viewBox", format!("0 0 {} {}", rounded(width), rounded(height)))
        .with("role", "img");
    writeln!(out, "{}", svg.open())?;
    writeln!(out, "<title>{}</title>\n<style>\n{STYLE}{style}\n</style>", escaped(&title))?;
    writeln!(out, "<defs>{}</defs>", head())?;
    let place = Tag::new("text").with("class", "title").with("x", MARGIN).with("y", MARGIN + 14.0);
    writeln!(out, "{}{}</text>", place.open(), escaped(&title))?;
    writeln!(out, "{body}</svg>")
}

/// Writes one drawing as a part of a page, which has the styles: policies of pages forbid those that stand in them.
pub(crate) fn write_fragment(out: &mut dyn Write, label: &str, drawing: &Drawing) -> io::Result<()> {
    let (width, height) = (rounded(drawing.width + 2.0 * MARGIN), rounded(drawing.height + 2.0 * MARGIN));
    // The parts of a picture are hidden from screen readers; links must not be.
    let role = if drawing.body.contains("<a href=\"") { "group" } else { "img" };
    let svg = Tag::new("svg")
        .with("class", "drawing")
        .with("width", width)
        .with("height", height)
        .with("viewBox", format!("0 0 {width} {height}"))
        .with("role", role)
        .with("aria-label", label);
    let moved = Tag::new("g").with("transform", format!("translate({MARGIN} {MARGIN})"));
    // Quotes of other people's text are escaped, so this is the attribute alone.
    let body = drawing.body.replace("class=\"arrow", "marker-end=\"url(#head)\" class=\"arrow");
    writeln!(out, "{}<defs>{}</defs>{}\n{body}</g></svg>", svg.open(), head(), moved.open())
}

/// A line of text that stands in the middle.
pub(crate) fn line(class: &str, at: Point, text: &str) -> String {
    let tag = Tag::new("text").with("class", class).with("x", rounded(at.x)).with("y", rounded(at.y));
    format!("{}{}</text>", tag.open(), escaped(text))
}

/// A way that is upright where it begins and where it ends.
pub(crate) fn curve(from: Point, to: Point) -> String {
    let half = f64::midpoint(from.y, to.y);
    let [x1, x2, half, y] = [from.x, to.x, half, to.y].map(rounded);
    format!(" C {x1} {half} {x2} {half} {x2} {y}")
}

/// A box with lines of text in it, and what a pointer on it shows.
pub(crate) fn boxed(
    class: &str,
    at: Point,
    (width, height): (f64, f64),
    tooltip: Option<&str>,
    lines: &[(&str, &str)],
) -> String {
    let top = at.y - height / 2.0;
    let frame = Tag::new("rect")
        .with("class", class)
        .with("x", rounded(at.x - width / 2.0))
        .with("y", rounded(top))
        .with("width", rounded(width))
        .with("height", rounded(height))
        .with("rx", 8);
    let tooltip = tooltip.map_or_else(String::new, |it| format!("<title>{}</title>", escaped(it)));
    let lines = LINES.into_iter().zip(lines).filter(|(_, (_, text))| !text.is_empty());
    let lines: Vec<String> = lines.map(|(y, (class, text))| line(class, Point { y: top + y, ..at }, text)).collect();
    format!("<g>{tooltip}{}\n{}</g>\n", frame.empty(), lines.join("\n"))
}

/// The same as a link, where it leads somewhere.
pub(crate) fn linked(link: Option<&str>, drawn: String) -> String {
    match link {
        Some(link) => format!("{}{}</a>\n", Tag::new("a").with("href", link).open(), drawn.trim_end()),
        None => drawn,
    }
}

/// Where a way leads. Without a name it is for pointers alone: something that is written at it leads there too.
pub(crate) struct Lead {
    pub(crate) link: String,
    pub(crate) name: Option<String>,
}

/// A way from box to box. One that leads somewhere is wider than it is drawn, so that a pointer meets it.
pub(crate) fn way(class: &str, d: &str, lead: Option<Lead>) -> String {
    let drawn = Tag::new("path").with("class", class).with("d", d).empty();
    let Some(Lead { link, name }) = lead else { return format!("{drawn}\n") };
    let tag = Tag::new("a").with("href", link);
    let (tag, title) = match name {
        Some(name) => (tag.with("aria-label", &name), format!("<title>{}</title>", escaped(&name))),
        None => (tag.with("tabindex", -1).with("aria-hidden", true), String::new()),
    };
    let hit = Tag::new("path").with("class", "hit").with("d", d).empty();
    format!("{}{title}{hit}{drawn}</a>\n", tag.open())
}

/// Where an arrow begins, passes or ends.
pub(crate) struct Station {
    pub(crate) at: Point,
    pub(crate) height: f64,
    /// Whether something is written there.
    pub(crate) has_words: bool,
}

/// From the lower edge of the first through all others to the upper edge of the last; not through words.
pub(crate) fn downwards(stations: &[Station]) -> String {
    let mut way = String::new();
    let mut last: Option<Point> = None;
    for (ix, Station { at, height, has_words }) in stations.iter().enumerate() {
        let (top, bottom) = (at.y - height / 2.0, at.y + height / 2.0);
        match last {
            None => way += &format!("M {} {}", rounded(at.x), rounded(bottom)),
            // The head of the arrow needs room of its own.
            Some(from) if ix + 1 == stations.len() => way += &curve(from, Point { y: top - 2.0, ..*at }),
            Some(from) => {
                way += &curve(from, Point { y: top, ..*at });
                way += &format!(" {} {} {}", passing(*has_words), rounded(at.x), rounded(bottom));
            }
        }
        last = Some(Point { y: bottom, ..*at });
    }
    way
}

/// How a row is passed: with a line, or, where there are words, without.
pub(crate) fn passing(has_words: bool) -> &'static str {
    if has_words { "M" } else { "L" }
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
pub(crate) fn rounded(number: f64) -> f64 {
    // Adding zero makes of a negative zero a plain one.
    (number * 10.0).round() / 10.0 + 0.0
}
