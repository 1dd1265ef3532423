//! Texts in addresses: segments of paths and values of parameters.
//!
//! Browsers take `.` and `..`, and their percent-encoded forms, for steps in the path, so a segment that is one of them, or nothing, or begins with `~`, gets
//! a `~` in front. The dot of a segment that ends in `.json` is encoded, because that ending asks for data.

use std::fmt::Write as _;

/// What stands in front of a segment that would mean something else.
const MARK: char = '~';

/// The ending of a path that asks for data.
pub(crate) const JSON: &str = ".json";

/// A text as one segment of a path.
pub(crate) fn segment(text: &str) -> String {
    let mark = if matches!(text, "" | "." | "..") || text.starts_with(MARK) { "~" } else { "" };
    let (start, end) = text.strip_suffix(JSON).map_or((text, ""), |start| (start, "%2Ejson"));
    format!("{mark}{}{end}", encoded(start, |it| it.is_ascii_alphanumeric() || b"-._~".contains(&it)))
}

/// The text of a segment; `None` when it is none that [`segment`] makes.
pub(crate) fn of_segment(segment: &str) -> Option<String> {
    let text = decoded(segment, false)?;
    match text.strip_prefix(MARK) {
        Some(marked) => Some(marked.to_owned()),
        None => Some(text).filter(|it| !it.is_empty()),
    }
}

/// A text as the name or value of a parameter. What reads well in an address stays as it is.
pub(crate) fn parameter(text: &str) -> String {
    encoded(text, |it| it.is_ascii_alphanumeric() || b"-._~:/,=*()!@".contains(&it))
}

/// The text of a parameter: forms write a space as `+`.
pub(crate) fn of_parameter(text: &str) -> Option<String> {
    decoded(text, true)
}

fn encoded(text: &str, is_plain: impl Fn(u8) -> bool) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if is_plain(byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to memory cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

fn decoded(text: &str, plus_is_space: bool) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => 16 * digit(rest.next()?)? + digit(rest.next()?)?,
            b'+' if plus_is_space => b' ',
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|it| u8::try_from(it).ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn texts_come_back(text in "(~|\\.|/|a|%|é|\\+| |\\.json|&|=|\\PC){0,8}") {
            prop_assert_eq!(of_segment(&segment(&text)), Some(text.clone()));
            prop_assert_eq!(of_parameter(&parameter(&text)), Some(text.clone()));
            let plain = |it: &str| it.bytes().all(|it| it.is_ascii_graphic() && !b"?#&+\"<>".contains(&it));
            prop_assert!(plain(&segment(&text)) && plain(&parameter(&text)));
            prop_assert!(!segment(&text).contains('/') && !segment(&text).ends_with(JSON));
        }
    }

    #[test]
    fn steps_of_a_path_are_marked() {
        assert_eq!([".", "..", "", "~a", "a.json", "a/b"].map(segment), ["~.", "~..", "~", "~~a", "a%2Ejson", "a%2Fb"]);
        assert_eq!(["", "%zz", "%ff", "%"].map(of_segment), [None, None, None, None]);
    }
}
