//! A stream of JSON lines, as far as it is one.

use jurat_format::value::{Val, parse_json};

/// One line of a stream.
pub(super) enum Line<'t> {
    /// An object.
    Event(Val<'t>),
    /// Something else: what a program printed beside its events.
    Printed(&'t str),
}

/// The most bytes of a line that is no event.
const MOST_PRINTED: usize = 4096;

/// The lines of a stream that say something.
pub(super) fn lines(stream: &str) -> impl Iterator<Item = Line<'_>> {
    stream.split('\n').map(str::trim).filter(|it| !it.is_empty()).map(|line| {
        let event = line.starts_with('{').then(|| parse_json(line).ok()).flatten();
        event.map_or_else(|| Line::Printed(cut(line)), |it| Line::Event(it.value))
    })
}

/// The whole of a text that is one JSON document, perhaps with other text before it.
pub(super) fn document(text: &str) -> Option<Val<'_>> {
    let text = text.trim();
    if let Ok(whole) = parse_json(text) {
        return Some(whole.value);
    }
    let starts = text.match_indices("\n{").map(|(ix, _)| ix + 1);
    starts.into_iter().find_map(|ix| parse_json(&text[ix..]).ok()).map(|it| it.value)
}

fn cut(line: &str) -> &str {
    let mut end = line.len().min(MOST_PRINTED);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    &line[..end]
}
