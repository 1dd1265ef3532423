//! What changed from one text to another, in words.

use jurat_report::visible;
use maud::{Markup, html};
use similar::{ChangeTag, DiffTag, TextDiff};

/// Texts up to this size are compared word by word, larger ones line by line: the work grows with what differs.
const WORDS: usize = 64 << 10;

/// How much of what stayed the same is shown beside a change, in characters.
const BESIDE: usize = 40;
/// How much of what changed is shown in one line.
const ROOM: usize = 160;

/// A text that stayed, went or came.
struct Piece {
    tag: ChangeTag,
    text: String,
}

/// Both texts in one, whole: what went is struck out, what came is underlined.
pub(crate) fn whole(was: &str, now: &str) -> Markup {
    html! {
        pre.diff { bdi { @for piece in pieces(was, now) { (shown(piece.tag, &piece.text)) } } }
    }
}

/// A unified diff in line or side by side.
pub(crate) fn unified(diff: &str, is_side_by_side: bool) -> Markup {
    if is_side_by_side { side_by_side(diff) } else { in_line(diff) }
}

fn in_line(diff: &str) -> Markup {
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

fn side_by_side(diff: &str) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Before and after, side by side" {
            table.diff.before-after {
                thead { tr { th.number scope="col" { "line" } th scope="col" { "before" } th.number scope="col" { "line" } th scope="col" { "after" } } }
                tbody {
                    @for row in rows(diff) {
                        @match row {
                            Row::Hunk(words) => tr { td colspan="4" { span.hunk { (visible(words)) } } },
                            Row::Lines { before, after } => tr { (side(before, ChangeTag::Delete)) (side(after, ChangeTag::Insert)) },
                        }
                    }
                }
            }
        }
    }
}

/// One side of a row: the number of its line and the line; nothing where the other side has more.
fn side(line: Option<Line<'_>>, changed: ChangeTag) -> Markup {
    html! {
        @match line {
            None => { td.number {} td {} },
            Some(Line { number, text, is_changed }) => {
                td.number { (number) }
                td { (shown(if is_changed { changed } else { ChangeTag::Equal }, text)) }
            }
        }
    }
}

/// A row of two texts beside each other.
#[derive(Debug, PartialEq)]
enum Row<'d> {
    /// Where in the texts the lines below it are.
    Hunk(&'d str),
    Lines {
        before: Option<Line<'d>>,
        after: Option<Line<'d>>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Line<'d> {
    number: u64,
    text: &'d str,
    is_changed: bool,
}

/// The rows of a unified diff. Lines that went stand beside those that came in their place.
fn rows(diff: &str) -> Vec<Row<'_>> {
    let (mut rows, mut numbers) = (Vec::new(), None);
    let (mut went, mut came) = (Vec::new(), Vec::new());
    for line in diff.lines() {
        match (line.as_bytes().first(), &mut numbers) {
            (Some(b'@'), _) => {
                pair(&mut rows, &mut went, &mut came);
                numbers = Some(first_lines(line));
                rows.push(Row::Hunk(line));
            }
            // What stands before the first hunk names the file, which stands above already; `\` says that a line feed is missing.
            (_, None) | (Some(b'\\'), _) => {}
            (Some(b'-'), Some((before, _))) => went.push(next(before, line, true)),
            (Some(b'+'), Some((_, after))) => came.push(next(after, line, true)),
            (_, Some((before, after))) => {
                pair(&mut rows, &mut went, &mut came);
                let (before, after) = (next(before, line, false), next(after, line, false));
                rows.push(Row::Lines { before: Some(before), after: Some(after) });
            }
        }
    }
    pair(&mut rows, &mut went, &mut came);
    rows
}

/// Puts changed lines beside each other.
fn pair<'d>(rows: &mut Vec<Row<'d>>, went: &mut Vec<Line<'d>>, came: &mut Vec<Line<'d>>) {
    let n = went.len().max(came.len());
    rows.extend((0..n).map(|ix| Row::Lines { before: went.get(ix).copied(), after: came.get(ix).copied() }));
    went.clear();
    came.clear();
}

fn next<'d>(number: &mut u64, line: &'d str, is_changed: bool) -> Line<'d> {
    let taken = Line { number: *number, text: line.get(1..).unwrap_or_default(), is_changed };
    *number += 1;
    taken
}

/// The numbers of the first lines of a hunk: `@@ -3,4 +3,5 @@`.
fn first_lines(hunk: &str) -> (u64, u64) {
    let first = |sign: char| {
        let range = hunk.split(' ').find_map(|it| it.strip_prefix(sign))?;
        range.split(',').next()?.parse().ok()
    };
    (first('-').unwrap_or(1), first('+').unwrap_or(1))
}

/// The changes in one line, with a little of what stands around them. Nothing when the texts are the same.
pub(crate) fn brief(was: &str, now: &str) -> Markup {
    let pieces = pieces(was, now);
    if pieces.iter().all(|it| it.tag == ChangeTag::Equal) {
        return html! {};
    }
    let n = pieces.len();
    html! {
        bdi.diff {
            @for (ix, piece) in pieces.iter().enumerate() {
                @let text = piece.text.replace('\n', " ");
                @match piece.tag {
                    ChangeTag::Equal => (shown(piece.tag, &around(&text, ix == 0, ix + 1 == n))),
                    tag => (shown(tag, &beginning(&text, ROOM))),
                }
            }
        }
    }
}

fn shown(tag: ChangeTag, text: &str) -> Markup {
    match tag {
        ChangeTag::Equal => html! { (visible(text)) },
        ChangeTag::Delete => html! { del { (visible(text)) } },
        ChangeTag::Insert => html! { ins { (visible(text)) } },
    }
}

fn pieces(was: &str, now: &str) -> Vec<Piece> {
    let diff = match was.len().max(now.len()) > WORDS {
        true => TextDiff::from_lines(was, now),
        false => TextDiff::from_words(was, now),
    };
    let mut pieces = Pieces::default();
    for op in diff.ops() {
        let old: String = op.old_range().filter_map(|it| diff.old_slice(it)).collect();
        let new: String = op.new_range().filter_map(|it| diff.new_slice(it)).collect();
        match op.tag() {
            DiffTag::Equal => pieces.stay(old),
            DiffTag::Delete | DiffTag::Insert | DiffTag::Replace => pieces.change(&old, &new),
        }
    }
    pieces.finish()
}

/// Pieces while they are gathered. Space between two changed words belongs to the change: word by word it would be unreadable.
#[derive(Default)]
struct Pieces {
    done: Vec<Piece>,
    old: String,
    new: String,
    /// Space behind a change, which belongs to it if another change follows.
    space: String,
}

impl Pieces {
    fn stay(&mut self, text: String) {
        let is_changing = !self.old.is_empty() || !self.new.is_empty();
        if is_changing && text.chars().all(char::is_whitespace) {
            self.space = text;
            return;
        }
        self.end_change();
        self.done.push(Piece { tag: ChangeTag::Equal, text });
    }

    fn change(&mut self, old: &str, new: &str) {
        let space = std::mem::take(&mut self.space);
        self.old += &format!("{space}{old}");
        self.new += &format!("{space}{new}");
    }

    fn end_change(&mut self) {
        self.done.push(Piece { tag: ChangeTag::Delete, text: std::mem::take(&mut self.old) });
        self.done.push(Piece { tag: ChangeTag::Insert, text: std::mem::take(&mut self.new) });
        self.done.push(Piece { tag: ChangeTag::Equal, text: std::mem::take(&mut self.space) });
    }

    fn finish(mut self) -> Vec<Piece> {
        self.end_change();
        self.done.retain(|it| !it.text.is_empty());
        self.done
    }
}

/// The ends of a text that stayed, as far as they stand beside a change.
fn around(text: &str, is_first: bool, is_last: bool) -> String {
    let n = text.chars().count();
    let end = || text.chars().skip(n - BESIDE).collect::<String>();
    match (is_first, is_last) {
        _ if n <= 2 * BESIDE => text.to_owned(),
        (true, _) => format!("…{}", end()),
        (_, true) => beginning(text, BESIDE),
        _ => format!("{}{}", beginning(text, BESIDE), end()),
    }
}

fn beginning(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn brief_is(was: &str, now: &str, shown: &str) {
        assert_eq!(brief(was, now).0, shown);
    }

    #[test]
    fn changes_are_shown_with_what_stands_around_them() {
        brief_is("yes, of course", "yes, no", "<bdi class=\"diff\">yes, <del>of course</del><ins>no</ins></bdi>");
        brief_is("a b c d", "a x y d", "<bdi class=\"diff\">a <del>b c</del><ins>x y</ins> d</bdi>");
        brief_is("the same", "the same", "");
        let long = "word ".repeat(30);
        let found = brief(&format!("{long}a"), &format!("{long}b")).0;
        assert!(found.starts_with("<bdi class=\"diff\">…") && found.len() < 300, "{found}");
    }

    #[test]
    fn changed_lines_stand_beside_each_other() {
        let diff =
            "--- a/x\n+++ b/x\n@@ -3,3 +3,4 @@\n same\n-one\n-two\n+uno\n same\n+more\n\\ No newline at end of file\n";
        let line = |number: u64, text: &'static str, is_changed: bool| Some(Line { number, text, is_changed });
        let expected = [
            Row::Hunk("@@ -3,3 +3,4 @@"),
            Row::Lines { before: line(3, "same", false), after: line(3, "same", false) },
            Row::Lines { before: line(4, "one", true), after: line(4, "uno", true) },
            Row::Lines { before: line(5, "two", true), after: None },
            Row::Lines { before: line(6, "same", false), after: line(5, "same", false) },
            Row::Lines { before: None, after: line(6, "more", true) },
        ];
        assert_eq!(rows(diff), expected);
        let found = unified("@@ -1 +1 @@\n-<b>\n+<i>\n", true).0;
        assert!(found.contains("<del>&lt;b&gt;</del>") && found.contains("<ins>&lt;i&gt;</ins>"), "{found}");
    }

    #[test]
    fn a_whole_difference_is_escaped_and_complete() {
        let found = whole("<b>one</b> two", "<b>one</b> three").0;
        assert!(found.contains("&lt;b&gt;one&lt;/b&gt; ") && !found.contains("<b>"), "{found}");
        let (was, now) = ("line of text\n".repeat(20_000), format!("{}end\n", "line of text\n".repeat(20_000)));
        assert!(whole(&was, &now).0.len() > was.len());
    }
}
