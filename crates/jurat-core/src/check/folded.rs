//! Text without case and accents, for matching what people and models write in many ways.
//!
//! Full case folding, then NFKD, then every character with a combining class is dropped, in this order. Capitals that NFKD brings
//! about stay capitals, as they do where suites with such checks come from.

use caseless::Caseless as _;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::canonical_combining_class;

/// The text without case and accents.
///
/// ```
/// use jurat_core::check::folded;
///
/// assert_eq!(folded("Sebastián Straße"), "sebastian strasse");
/// assert_eq!(folded("København"), "københavn");
/// ```
pub fn folded(text: &str) -> String {
    // Characters fold and decompose one by one, and marks, the only ones that change places, are dropped. So most of a text is done as bytes.
    let mut folded = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let n_plain = rest.bytes().position(|it| !it.is_ascii()).unwrap_or(rest.len());
        let (plain, other) = rest.split_at(n_plain);
        let from = folded.len();
        folded.push_str(plain);
        folded[from..].make_ascii_lowercase();
        let n_other = other.bytes().position(|it| it.is_ascii()).unwrap_or(other.len());
        let (other, more) = other.split_at(n_other);
        folded.extend(marked(other));
        rest = more;
    }
    folded
}

fn marked(text: &str) -> impl Iterator<Item = char> {
    let folded: Vec<char> = text.chars().default_case_fold().collect();
    folded.into_iter().nfkd().filter(|it| canonical_combining_class(*it) == 0)
}

/// Whether there is nothing in a text but space.
pub fn is_blank(text: &str) -> bool {
    jurat_format::value::python::strip(text).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn folds(text: &str, expected: &str) {
        assert_eq!(folded(text), expected, "{text}");
    }

    #[test]
    fn what_folds() {
        folds("ÁÉÑ", "aen");
        folds("İ", "i");
        folds("ΣΑΣ σας", "σασ σασ");
        folds("ﬁn", "fin");
        folds("ＦＵＬＬ", "full");
        folds("x²", "x2");
        folds("Ⅳ", "iv");
        folds("a\u{a0}b\u{2009}c", "a b c");
        folds("שָׁלוֹם", "שלום");
        folds("が", "か");
        folds("Jose\u{301}", "jose");
    }

    #[test]
    fn what_does_not() {
        folds("øłđ", "øłđ");
        folds("æœı", "æœı");
        folds("“q”", "“q”");
        folds("a\u{ad}b\u{200b}c", "a\u{ad}b\u{200b}c");
        folds("a\u{20dd}", "a\u{20dd}");
        folds("™", "TM");
        folds("㎒", "MHz");
    }

    proptest::proptest! {
        #[test]
        fn it_makes_no_difference_what_is_done_as_bytes(text in "([ -~]|[à-ž]|[\u{300}-\u{345}]|\\PC){0,40}") {
            let whole = caseless::default_case_fold_str(&text);
            let whole: String = whole.nfkd().filter(|it| canonical_combining_class(*it) == 0).collect();
            proptest::prop_assert_eq!(folded(&text), whole);
        }
    }

    #[test]
    fn a_term_of_marks_alone_is_nothing() {
        folds("\u{301}", "");
    }

    #[test]
    fn blank_is_what_python_strips() {
        assert!(is_blank(" \t\r\n\u{1c}\u{1f}\u{a0}\u{3000}"));
        assert!(is_blank(""));
        assert!(!is_blank("\u{200b}"));
        assert!(!is_blank("\u{feff}"));
    }
}
