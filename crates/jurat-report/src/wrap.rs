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

/// No text is squeezed into less than this.
const LEAST: usize = 20;

fn broken(line: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut current = String::new();
    for word in line.split_inclusive(' ') {
        if current.width() + word.trim_end().width() > width && !current.trim().is_empty() {
            lines.push(std::mem::take(&mut current).trim_end().to_owned());
        }
        for it in word.chars() {
            if current.width() + it.width().unwrap_or(0) > width && it != ' ' {
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
    fn one_line_is_cut_and_has_no_line_ends() {
        assert_eq!(one_line("Hello,\n\n  world\t!", 40), "Hello, world !");
        assert_eq!(one_line("Hello, world", 8), "Hello, …");
        assert_eq!(one_line(&format!("a{}", " ".repeat(500)), 20), "a…");
    }
}
