//! Values of cases: texts as texts, everything else as indented JSON; what is long is cut, says so, and is one click away.

use jurat_format::value::Val;
use jurat_report::{bytes, pretty_json, visible};
use maud::{Markup, html};
use similar::{ChangeTag, TextDiff};

use super::markdown;
use crate::route::Route;

/// How much of a value stands in a page.
const ROOM: usize = 16 << 10;

/// A value, with where it is whole.
pub(crate) fn value(value: &Val<'_>, whole: &Route) -> Markup {
    match value {
        Val::Str(it) if it.is_empty() => html! { p.none { "empty text" } },
        Val::Str(it) if markdown::is_likely(it) => html! {
            (text(it, whole))
            details.rendered { summary { "As Markdown" } (markdown::markdown(it)) }
        },
        Val::Str(it) => text(it, whole),
        other => text(&pretty_json(other), whole),
    }
}

/// A text with its lines.
pub(crate) fn text(text: &str, whole: &Route) -> Markup {
    let end = cut(text);
    html! {
        pre tabindex="0" { bdi { (visible(&text[..end])) @if end < text.len() { "…" } } }
        @if end < text.len() {
            p.hint { "The first " (bytes(end as u64)) " of " (bytes(text.len() as u64)) ". " a href=(whole) { "Show it whole" } }
        }
    }
}

/// Where a text is cut: at its end, or before what is too much.
fn cut(text: &str) -> usize {
    if text.len() <= ROOM { text.len() } else { text.floor_char_boundary(ROOM) }
}

/// How long two texts together may be to be compared in a page.
const MOST_COMPARED: usize = 2 << 20;

/// What differs between two texts, word by word. Texts beyond all measure are left to stand beside each other.
pub(crate) fn diff(expected: &str, found: &str) -> Markup {
    if expected.len() + found.len() > MOST_COMPARED {
        return html! { p.hint { "These texts are too long to be compared here." } };
    }
    let by_line = expected.len() + found.len() > 20 << 10;
    let differ = if by_line { TextDiff::from_lines(expected, found) } else { TextDiff::from_words(expected, found) };
    html! {
        pre.diff tabindex="0" {
            @for change in differ.iter_all_changes() {
                @match change.tag() {
                    ChangeTag::Equal => (visible(change.value())),
                    ChangeTag::Delete => del { (visible(change.value())) },
                    ChangeTag::Insert => ins { (visible(change.value())) },
                }
            }
        }
    }
}

/// A unified diff, its lines marked.
pub(crate) fn unified(diff: &str) -> Markup {
    html! {
        pre.diff tabindex="0" {
            @for line in diff.split_inclusive('\n') {
                @match line.as_bytes().first() {
                    Some(b'+') => ins { (visible(line)) },
                    Some(b'-') => del { (visible(line)) },
                    Some(b'@') => span.hunk { (visible(line)) },
                    _ => (visible(line)),
                }
            }
        }
    }
}
