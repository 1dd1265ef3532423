//! Other people's text, made unable to move the reader's cursor, hide itself or change its direction.
//!
//! Every character gives exactly one character, so that columns and underlines stay true. Letters of every script pass
//! unchanged, and so do the joiners that scripts and emoji need.

use std::borrow::Cow;

/// The text with hazardous characters replaced; line feeds and tabs stay.
///
/// ```
/// assert_eq!(jurat_report::visible("a\x1b[2Jb\nc"), "a␛[2Jb\nc");
/// ```
pub fn visible(text: &str) -> Cow<'_, str> {
    replaced(text, |it| is_hazard(it) && !matches!(it, '\n' | '\t'))
}

/// The text with hazardous characters replaced, line feeds and tabs too: it stays on its line.
///
/// ```
/// assert_eq!(jurat_report::visible_line("a\nb"), "a␊b");
/// ```
pub fn visible_line(text: &str) -> Cow<'_, str> {
    replaced(text, is_hazard)
}

/// Whether a terminal obeys this character, or shows nothing where it stands.
pub(crate) fn is_hazard(it: char) -> bool {
    it.is_control()
        || matches!(it,
            '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' // direction
            | '\u{200b}' | '\u{2060}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}' // shows nothing
            | '\u{2028}' | '\u{2029}') // breaks the line
}

fn replaced(text: &str, hazard: impl Fn(char) -> bool) -> Cow<'_, str> {
    // Most texts are plain, and looking at bytes is quicker.
    if text.bytes().all(|it| matches!(it, b' '..=b'~')) {
        Cow::Borrowed(text)
    } else if text.chars().any(&hazard) {
        Cow::Owned(text.chars().map(|it| if hazard(it) { picture(it) } else { it }).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// A character that shows itself in place of one that does not.
fn picture(hazard: char) -> char {
    match hazard {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(hazard)).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\u{7f}' => '␡',
        _ => char::REPLACEMENT_CHARACTER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        let hostile: String = ('\0'..='\u{9f}').chain('\u{202a}'..='\u{202e}').chain('\u{2066}'..='\u{2069}').collect();
        assert!(!visible_line(&hostile).chars().any(is_hazard));
        assert_eq!(visible_line(&hostile).chars().count(), hostile.chars().count());
        assert_eq!(visible("\x1b\x07\u{9b}\u{202e}\x7f\r\n\t"), "␛␇��␡␍\n\t");
    }

    #[test]
    fn scripts_and_emoji_are_left_alone() {
        for text in ["naïve", "日本語", "می‌خواهم", "👩‍🔬", "שלום"] {
            assert!(matches!(visible_line(text), Cow::Borrowed(_)), "{text}");
        }
    }
}
