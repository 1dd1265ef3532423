//! Other people's text. It is escaped by the templates; here control characters become visible and each text gets a direction of its own, so that none can
//! rearrange what stands around it.

use jurat_report::{visible, visible_line};
use maud::{Markup, html};

/// A text on one line.
pub(crate) fn line(text: &str) -> Markup {
    html! { bdi { (visible_line(text)) } }
}

/// A text with its lines.
pub(crate) fn lines(text: &str) -> Markup {
    html! { bdi { (visible(text)) } }
}

/// A message of ours, in which names stand in backticks: they become code.
pub(crate) fn sentence(text: &str) -> Markup {
    let parts = text.split('`').enumerate();
    html! {
        bdi {
            @for (ix, part) in parts {
                @if ix % 2 == 1 { code { (visible_line(part)) } } @else { (visible_line(part)) }
            }
        }
    }
}

/// At most this number of characters of a text, on one line; what is cut off is marked.
pub(crate) fn excerpt(text: &str, room: usize) -> Markup {
    match text.char_indices().nth(room) {
        Some((at, _)) => html! { bdi { (visible_line(&text[..at])) "…" } },
        None => line(text),
    }
}
