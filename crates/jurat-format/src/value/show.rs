//! A value in a message: short, on one line, and never able to move the reader's cursor.

use super::{Kind, Val};

/// How much of a value a message shows before it is cut.
const ROOM: usize = 80;

/// The value as messages show it: text in backticks, everything else as JSON, cut after 80 characters.
pub fn shown(value: &Val<'_>) -> String {
    shown_within(value, ROOM)
}

/// Like [`shown`], with room for `room` characters.
pub fn shown_within(value: &Val<'_>, room: usize) -> String {
    match value {
        Val::Str(text) if text.is_empty() => "empty text".to_owned(),
        Val::Str(text) => format!("`{}`", cut(&plain(text), room)),
        _ if value.kind() == Kind::List || value.kind() == Kind::Object => cut(&plain(&value.to_string()), room),
        _ => value.to_string(),
    }
}

/// Control characters as escapes: what a model wrote must not reach a terminal as it is.
fn plain(text: &str) -> String {
    text.chars().flat_map(|it| if it.is_control() { it.escape_default().collect() } else { vec![it] }).collect()
}

fn cut(text: &str, room: usize) -> String {
    match text.char_indices().nth(room) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
