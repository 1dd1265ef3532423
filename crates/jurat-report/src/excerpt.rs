//! The little of a source that is shown around the places a problem is about.
//!
//! What is rendered never depends on how large or how hostile the source is: only lines near a label are copied, long lines
//! are cut, long spans are shortened, and every character is made visible. Columns stay true, because nothing before a
//! label is taken away; cutting the left margin is left to the renderer, which knows how wide the reader's window is.

use std::ops::Range;

use jurat_format::problem::Label;
use jurat_format::source::Position;

use crate::lines::Lines;
use crate::visible::{visible, visible_line};

/// A span over more lines than this is shown by its first line: a whole task as an excerpt says less than its head.
const MAX_SPAN_LINES: usize = 6;

/// How many bytes of a line a span may cover, and how far apart labels of one excerpt may stand side by side.
const SPAN_ROOM: usize = 100;

/// A line longer than this is cut behind its last label.
const LINE_ROOM: usize = 400;

/// How far apart two labels may be, in lines, to share an excerpt.
const LINES_APART: usize = 10_000;

/// A label that stands further right than this is named, not rendered: no reader finds anything in such a line.
const TOO_FAR_RIGHT: usize = 256 * 1024;

/// Places of one problem that are shown together.
pub(crate) enum Shown<'p> {
    /// One place of which nothing can be shown; without a position when the file could not be read.
    Named { path: String, position: Option<Position>, text: &'p str },
    /// A part of a file.
    Rendered(Excerpt<'p>),
}

/// A part of a file with marks in it.
pub(crate) struct Excerpt<'p> {
    pub(crate) path: String,
    /// The lines, each ended by a line feed.
    pub(crate) text: String,
    /// The number of the first line, from 1.
    pub(crate) first_line: usize,
    pub(crate) marks: Vec<Mark<'p>>,
}

/// A marked place in an excerpt.
pub(crate) struct Mark<'p> {
    /// The bytes of the excerpt's text.
    pub(crate) range: Range<usize>,
    pub(crate) text: &'p str,
    /// Whether this is the main place of the problem.
    pub(crate) main: bool,
}

/// What to show for these labels, the main one first.
pub(crate) fn shown<'p>(labels: &'p [Label], texts: &[Lines<'_>]) -> Vec<Shown<'p>> {
    gathered(labels, texts).into_iter().map(Gathering::shown).collect()
}

/// The places of these labels without any of their text.
pub(crate) fn named<'p>(labels: &'p [Label], texts: &[Lines<'_>]) -> Vec<Shown<'p>> {
    gathered(labels, texts).iter().flat_map(|it| it.pins.iter().map(move |pin| it.named(pin))).collect()
}

/// Labels that stand close enough to be shown in one excerpt.
struct Gathering<'p, 't> {
    lines: &'t Lines<'t>,
    /// Never empty. The first decides what is near; one that cannot be rendered stays alone.
    pins: Vec<Pin<'p>>,
}

/// A label in its source.
struct Pin<'p> {
    /// The bytes that are underlined.
    range: Range<usize>,
    /// The lines, from 0, that it is on.
    on: Range<usize>,
    /// Bytes of its first line before it.
    indent: usize,
    text: &'p str,
    main: bool,
}

fn gathered<'p, 't>(labels: &'p [Label], texts: &'t [Lines<'t>]) -> Vec<Gathering<'p, 't>> {
    let mut gatherings: Vec<Gathering<'p, 't>> = Vec::new();
    for (ix, label) in labels.iter().enumerate() {
        let Some(lines) = texts.get(label.span.source.0 as usize) else { continue };
        let pin = Pin::new(label, lines, ix == 0);
        match gatherings.iter_mut().find(|it| it.takes(lines, &pin)) {
            Some(gathering) => gathering.pins.push(pin),
            None => gatherings.push(Gathering { lines, pins: vec![pin] }),
        }
    }
    gatherings
}

impl<'p> Pin<'p> {
    fn new(label: &'p Label, lines: &Lines<'_>, main: bool) -> Pin<'p> {
        let range = underlined(lines, lines.covered(label.span));
        let on = lines.line_at(range.start)..lines.line_at(range.end) + 1;
        let indent = range.start - lines.range(on.start).start;
        Pin { range, on, indent, text: &label.text, main }
    }

    fn can_be_rendered(&self, lines: &Lines<'_>) -> bool {
        !lines.text.is_empty() && self.indent <= TOO_FAR_RIGHT
    }
}

/// The part of a span that is worth underlining: without the white space behind it, and not too long.
fn underlined(lines: &Lines<'_>, covered: Range<usize>) -> Range<usize> {
    let start = covered.start.min(lines.range(lines.line_at(covered.start)).end);
    let end = match lines.text[start..covered.end.max(start)].trim_end() {
        "" => covered.end,
        written => start + written.len(),
    };
    let (first, last) = (lines.line_at(start), lines.line_at(end));
    let is_long = |line| lines.range(line).len() > LINE_ROOM;
    if last == first || last - first >= MAX_SPAN_LINES || (first..=last).any(is_long) {
        let room = lines.text.floor_char_boundary(start + SPAN_ROOM);
        start..end.min(lines.range(first).end).min(room).max(start)
    } else {
        start..end
    }
}

impl<'p> Gathering<'p, '_> {
    fn takes(&self, lines: &Lines<'_>, pin: &Pin<'_>) -> bool {
        std::ptr::eq(self.lines, lines)
            && self.pins.iter().chain([pin]).all(|it| it.can_be_rendered(lines))
            && self.pins.first().is_some_and(|first| {
                first.on.start.abs_diff(pin.on.start) <= LINES_APART && first.indent.abs_diff(pin.indent) <= SPAN_ROOM
            })
    }

    fn shown(self) -> Shown<'p> {
        match self.pins.iter().find(|it| !it.can_be_rendered(self.lines)) {
            None => {
                let path = self.path();
                Shown::Rendered(self.rendered(path))
            }
            Some(pin) => self.named(pin),
        }
    }

    fn named(&self, pin: &Pin<'p>) -> Shown<'p> {
        let position = (!self.lines.text.is_empty()).then(|| self.lines.position(pin.range.start));
        Shown::Named { path: self.path(), position, text: pin.text }
    }

    fn path(&self) -> String {
        visible_line(&self.lines.path.to_string_lossy()).into_owned()
    }

    fn rendered(self, path: String) -> Excerpt<'p> {
        let first = self.pins.iter().map(|it| it.on.start).min().unwrap_or_default();
        let end = self.pins.iter().map(|it| it.on.end).max().unwrap_or_default();
        let mut text = String::new();
        // Where each line of the source begins in the excerpt.
        let mut starts = Vec::with_capacity(end - first);
        for line in first..end {
            starts.push(text.len());
            text.push_str(&visible(self.copied(line)));
            text.push('\n');
        }
        let place = |at: usize| {
            let line = self.lines.line_at(at);
            starts[line - first] + visible(&self.lines.text[self.lines.range(line).start..at]).len()
        };
        let marks = self.pins.iter().map(|pin| Mark {
            range: place(pin.range.start)..place(pin.range.end),
            text: pin.text,
            main: pin.main,
        });
        Excerpt { path, first_line: first + 1, marks: marks.collect(), text }
    }

    /// As much of a line as the reader may get to see. Lines next to a label are copied too: the renderer shows a single
    /// line between two labels rather than dots.
    fn copied(&self, line: usize) -> &str {
        let near = |pin: &Pin<'_>| (pin.on.start.saturating_sub(1)..pin.on.end + 1).contains(&line);
        if !self.pins.iter().any(near) {
            return "";
        }
        let range = self.lines.range(line);
        let ends = self.pins.iter().map(|it| it.range.end).filter(|end| (range.start..=range.end).contains(end));
        let last = ends.max().unwrap_or(range.start);
        &self.lines.text[range.start..range.end.min(self.lines.text.floor_char_boundary(last + LINE_ROOM))]
    }
}
