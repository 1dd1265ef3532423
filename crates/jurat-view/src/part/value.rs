//! Values of cases: texts as texts, everything else as indented JSON; what is long is cut, says so, and is one click away.

use jurat_format::value::{Val, parse_json};
use jurat_report::{bytes, counted, grouped, pretty_json, pretty_json_until, visible, visible_line};
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
        Val::Str(it) => html! {
            (text(it, whole))
            @if let Some(json) = inner_json(it) { details.rendered { summary { "As JSON" } (text(&json, whole)) } }
        },
        other => json(other, whole),
    }
}

/// A value as indented JSON. Of a large one the beginning alone is written.
pub(crate) fn json(value: &Val<'_>, whole: &Route) -> Markup {
    let start = pretty_json_until(value, ROOM);
    if start.len() <= ROOM {
        return text(&start, whole);
    }
    html! {
        pre tabindex="0" { bdi { (visible(&start[..cut(&start)])) "…" } }
        p.hint { "The first " (bytes(ROOM as u64)) ". " a href=(whole) { "Show it whole" } }
    }
}

/// The same as indented JSON, where a text holds an object or a list: models answer so.
fn inner_json(text: &str) -> Option<String> {
    if !text.starts_with(['{', '[']) || text.len() > ROOM {
        return None;
    }
    let parsed = parse_json(text).ok()?;
    matches!(parsed.value, Val::Map(_) | Val::List(_)).then(|| pretty_json(&parsed.value))
}

/// How many values a tree has, and how many members of one value. What is left out is one click away.
const MOST_NODES: usize = 400;
const MOST_MEMBERS: usize = 100;

/// What is longer is folded.
const SHORT: usize = 1_200;

/// A value as a tree whose branches fold.
pub(crate) fn tree(value: &Val<'_>, whole: &Route) -> Markup {
    branch(value, whole, &mut { MOST_NODES })
}

fn branch(it: &Val<'_>, whole: &Route, room: &mut usize) -> Markup {
    *room = room.saturating_sub(1);
    match it {
        Val::Map(map) if !map.is_empty() => {
            let members = map.iter().map(|(key, it)| (visible_line(key).into_owned(), it));
            members_of(members, map.len(), "member", whole, room)
        }
        Val::List(items) if !items.is_empty() => {
            let items_of = items.iter().zip(1..).map(|(it, number)| (format!("{number}."), it));
            members_of(items_of, items.len(), "item", whole, room)
        }
        Val::Str(it) if !is_short(it) => value(&Val::Str(it.clone()), whole),
        it => {
            html! { code.leaf { bdi { (visible_line(&it.as_str().map_or_else(|| it.to_string(), str::to_owned))) } } }
        }
    }
}

/// Whether a text fits on a line.
fn is_short(text: &str) -> bool {
    !text.is_empty() && text.len() <= 80 && !text.contains('\n')
}

/// The members of a map or a list, each below its name.
fn members_of<'v>(
    members: impl Iterator<Item = (String, &'v Val<'v>)>,
    n: usize,
    word: &str,
    whole: &Route,
    room: &mut usize,
) -> Markup {
    let (mut shown, mut parts) = (0, Vec::new());
    for (name, it) in members.take(MOST_MEMBERS) {
        if *room == 0 {
            break;
        }
        parts.push((name, branch(it, whole, room)));
        shown += 1;
    }
    let is_short = parts.iter().map(|(_, it)| it.0.len()).sum::<usize>() < SHORT;
    html! {
        details.branch open[is_short] {
            summary { (counted(n as u64, word)) }
            dl.members { @for (name, part) in &parts { dt { bdi { (name) } } dd { (part) } } }
            @if shown < n { p.hint { (grouped((n - shown) as u64)) " more. " a href=(whole) { "Show it whole" } } }
        }
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

/// A text as Markdown; one that is too long for that as it is.
pub(crate) fn rendered(it: &str, whole: &Route) -> Markup {
    if it.len() > ROOM { text(it, whole) } else { markdown::markdown(it) }
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
