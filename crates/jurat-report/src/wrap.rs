//! Long texts in a window: cut to one line, or broken at words.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::table::shortened;
use crate::visible::visible_line;

/// A text on one line: line ends and tabs are spaces, everything else that a terminal obeys is made visible. In a window of this width it is cut.
pub(crate) fn one_line(text: &str, width: usize) -> String {
    // More than this cannot be shown, however narrow its characters are.
    let near = &text[..text.floor_char_boundary(4 * (width + 2))];
    let words: Vec<&str> = near.split_whitespace().collect();
    let line = visible_line(&words.join(" ")).into_owned();
    let is_whole = near.len() == text.len();
    if is_whole || line.width() > width { shortened(&line, width) } else { format!("{line}…") }
}

/// The lines of a text, each broken at words to fit a window of this width, where there is one. Words that are longer are broken anywhere.
pub(crate) fn wrapped(text: &str, width: Option<usize>) -> Vec<String> {
    let lines = text.trim_end().lines().map(|it| visible_line(&it.replace('\t', "    ")).into_owned());
    match width {
        Some(width) => lines.flat_map(|it| broken(&it, width.max(LEAST))).collect(),
        None => lines.collect(),
    }
}

/// Lines that are rendered already, each broken at words to fit a window of this width, where there is one. What does not fit stands under the text it belongs
/// to: behind the same bar, under the text beside a name, or a little to the right.
pub(crate) fn hanging(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else { return text.to_owned() };
    let mut fitted = String::with_capacity(text.len() + text.len() / 8);
    for line in text.split_inclusive('\n') {
        let line_end = if line.ends_with('\n') { "\n" } else { "" };
        let line = line.trim_end_matches('\n');
        if shown_width(line) <= width {
            fitted.push_str(line);
        } else {
            fitted.push_str(&hung(line, width).join("\n"));
        }
        fitted.push_str(line_end);
    }
    fitted
}

fn hung(line: &str, width: usize) -> Vec<String> {
    let (first, next) = margins(line);
    let rest = &line[first.len()..];
    let mut lines = broken(rest, width.saturating_sub(first.width()).max(LEAST)).into_iter();
    let begin = lines.next().map(|it| format!("{first}{it}"));
    begin.into_iter().chain(lines.map(|it| format!("{next}{it}"))).collect()
}

/// What stands before the text of a line, and before the lines that continue it.
fn margins(line: &str) -> (&str, String) {
    if line.starts_with(BAR) {
        return (BAR, BAR.to_owned());
    }
    let indent = line.len() - line.trim_start_matches(' ').len();
    let name_end = line[indent..].find("  ").map(|it| indent + it).filter(|it| *it <= WIDEST_NAME);
    let text = name_end.map(|it| it + line[it..].len() - line[it..].trim_start_matches(' ').len());
    match text {
        Some(at) => (&line[..at], " ".repeat(line[..at].width())),
        None => (&line[..indent], " ".repeat(indent + 2)),
    }
}

/// What stands before the texts of other people and models.
pub(crate) const BAR: &str = "    │ ";

/// How far to the right a name ends that has a text beside it.
const WIDEST_NAME: usize = 14;

/// How wide a text is on a terminal, without the orders that colour it.
fn shown_width(text: &str) -> usize {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().map_or(0, UnicodeWidthStr::width);
    first + parts.map(|it| it.split_once('m').map_or(0, |(_, rest)| rest.width())).sum::<usize>()
}

/// No text is squeezed into less than this.
const LEAST: usize = 20;

fn broken(line: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut current = String::new();
    for word in line.split_inclusive(' ') {
        if shown_width(&current) + shown_width(word.trim_end()) > width && !current.trim().is_empty() {
            lines.push(std::mem::take(&mut current).trim_end().to_owned());
        }
        // Names that are coloured are not broken.
        if word.contains('\u{1b}') {
            current.push_str(word);
            continue;
        }
        for it in word.chars() {
            if shown_width(&current) + it.width().unwrap_or(0) > width && it != ' ' {
                lines.push(std::mem::take(&mut current).trim_end().to_owned());
            }
            current.push(it);
        }
    }
    lines.push(current.trim_end().to_owned());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn lines(text: &str, width: Option<usize>, expected: &[&str]) {
        assert_eq!(wrapped(text, width), expected);
    }

    #[test]
    fn texts_are_broken_at_words() {
        lines("one two", None, &["one two"]);
        lines("a judge said that it is fine", Some(20), &["a judge said that it", "is fine"]);
        lines("first\nsecond \u{1b}[2J\n\n", Some(20), &["first", "second ␛[2J"]);
        lines("0123456789012345678901234", Some(20), &["01234567890123456789", "01234"]);
        lines("日本語の名前です日本語の名前です", Some(20), &["日本語の名前です日本", "語の名前です"]);
        lines("", Some(20), &[]);
    }

    #[test]
    fn what_does_not_fit_stands_under_its_text() {
        let said = "a judge said that it is fine";
        let text = format!("  found     {said}\n    │ {said}\n  {said}\n");
        let expected = "  found     a judge said that it\n            is fine\n    │ a judge said that it is\n    │ fine\n  a judge said that it is fine\n";
        assert_eq!(hanging(&text, Some(32)), expected);
        assert_eq!(hanging(&text, None), text);
        let coloured = "\u{1b}[1ma judge\u{1b}[0m said that it is fine\n";
        assert_eq!(hanging(coloured, Some(28)), coloured);
        assert_eq!(hanging(coloured, Some(24)), "\u{1b}[1ma judge\u{1b}[0m said that it is\n  fine\n");
    }

    #[test]
    fn one_line_is_cut_and_has_no_line_ends() {
        assert_eq!(one_line("Hello,\n\n  world\t!", 40), "Hello, world !");
        assert_eq!(one_line("Hello, world", 8), "Hello, …");
        assert_eq!(one_line(&format!("a{}", " ".repeat(500)), 20), "a…");
    }
}
