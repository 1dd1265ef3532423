//! Python's regular expressions, put into the words of the Rust engines.
//!
//! A pattern is read into a small tree ([`read`]), and the tree is written out again in the
//! syntax that `regex` and `fancy-regex` share ([`write`]). The tree holds meanings rather than
//! spellings: flags are settled while reading, so nothing downstream asks whether it is in
//! verbose mode, and a character that ignores case is simply a set of characters.
//!
//! The meaning aimed at is that of `re` in Python 3.11 for `str` patterns. What Python refuses is
//! refused here, in Python's words where they help. Named characters (`\N{BULLET}`) are not
//! supported: their table is large and a `\u2022` says the same.

use std::ops::BitOr;

use regex_syntax::hir::ClassUnicode;

use super::PatternError;

mod read;
mod write;

/// Flags of a Python pattern, as `re.compile` takes them.
///
/// ```
/// # use jurat_compare::pattern::PythonFlags;
/// let flags = PythonFlags::from_name("IGNORECASE").unwrap() | PythonFlags::from_name("M").unwrap();
/// assert_eq!(flags, PythonFlags::IGNORE_CASE | PythonFlags::MULTI_LINE);
/// assert_eq!(PythonFlags::from_name("ignorecase"), None);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct PythonFlags(u8);

impl PythonFlags {
    /// No flag.
    pub const NONE: PythonFlags = PythonFlags(0);
    /// `IGNORECASE`
    pub const IGNORE_CASE: PythonFlags = PythonFlags(1);
    /// `MULTILINE`
    pub const MULTI_LINE: PythonFlags = PythonFlags(1 << 1);
    /// `DOTALL`
    pub const DOT_ALL: PythonFlags = PythonFlags(1 << 2);
    /// `VERBOSE`
    pub const VERBOSE: PythonFlags = PythonFlags(1 << 3);
    /// `ASCII`
    pub const ASCII: PythonFlags = PythonFlags(1 << 4);
    /// What a text pattern does anyway; it exists because Python refuses it beside `ASCII`.
    pub const UNICODE: PythonFlags = PythonFlags(1 << 5);
    /// Only means something for `bytes`; a pattern with it is refused.
    pub const LOCALE: PythonFlags = PythonFlags(1 << 6);

    /// Every name that [`PythonFlags::from_name`] knows, with its flag.
    pub const NAMES: [(&'static str, PythonFlags); 16] = [
        ("IGNORECASE", PythonFlags::IGNORE_CASE),
        ("I", PythonFlags::IGNORE_CASE),
        ("MULTILINE", PythonFlags::MULTI_LINE),
        ("M", PythonFlags::MULTI_LINE),
        ("DOTALL", PythonFlags::DOT_ALL),
        ("S", PythonFlags::DOT_ALL),
        ("VERBOSE", PythonFlags::VERBOSE),
        ("X", PythonFlags::VERBOSE),
        ("ASCII", PythonFlags::ASCII),
        ("A", PythonFlags::ASCII),
        ("UNICODE", PythonFlags::UNICODE),
        ("U", PythonFlags::UNICODE),
        ("LOCALE", PythonFlags::LOCALE),
        ("L", PythonFlags::LOCALE),
        // These change what Python prints, not what it matches.
        ("DEBUG", PythonFlags::NONE),
        ("NOFLAG", PythonFlags::NONE),
    ];

    /// Returns the flag that Python's `re` module calls `name`, in its long or short form.
    pub fn from_name(name: &str) -> Option<PythonFlags> {
        let (_, flag) = PythonFlags::NAMES.iter().find(|(known, _)| *known == name)?;
        Some(*flag)
    }

    /// Returns whether every flag of `other` is set.
    pub fn contains(self, other: PythonFlags) -> bool {
        self.0 & other.0 == other.0
    }

    fn without(self, other: PythonFlags) -> PythonFlags {
        PythonFlags(self.0 & !other.0)
    }

    fn alphabet(self) -> Alphabet {
        if self.contains(PythonFlags::ASCII) { Alphabet::Ascii } else { Alphabet::Unicode }
    }
}

impl BitOr for PythonFlags {
    type Output = PythonFlags;

    fn bitor(self, other: PythonFlags) -> PythonFlags {
        PythonFlags(self.0 | other.0)
    }
}

/// A Python pattern in Rust's syntax: what to run on most texts, and what on special ones.
#[derive(Debug)]
pub(super) struct Translation {
    pub usual: Script,
    /// Scripts for texts on which the usual one would differ from Python, most exact first.
    pub special: Vec<(Special, Script)>,
}

/// One program in Rust's syntax.
#[derive(Debug)]
pub(super) struct Script {
    pub text: String,
    pub engine: EngineKind,
    pub empties: Empties,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EngineKind {
    /// Within reach of `regex`: time linear in the text.
    Linear,
    /// Needs `fancy-regex` and its step limit.
    Backtracking,
}

/// How a pattern matches without taking a character, which decides how matches are counted.
#[derive(Debug)]
pub(super) enum Empties {
    Never,
    /// An empty match means that no other starts at the same place.
    LastResort,
    /// An empty match may hide a longer one at the same place, as in `a??`. Python returns that
    /// one next. The linear engine cannot be asked for it, so this is the pattern for the other.
    Hiding {
        backtracking: String,
    },
}

/// What makes a text one that the usual script would judge differently from Python.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Special {
    /// It ends in a newline, before which `$` matches too.
    pub final_newline: bool,
    /// It is empty, where Python's `\B` does not match.
    pub empty: bool,
    /// It has characters of a word for only one of Python and Rust, such as accents and `²`.
    pub disputed_word: bool,
    /// It is not ASCII, so that `\B` under `ASCII` differs from the Unicode one.
    pub not_ascii: bool,
}

/// Translates a pattern, or says what Python would object to.
pub(super) fn translate(text: &str, flags: PythonFlags) -> Result<Translation, PatternError> {
    let pattern = read::pattern(text, flags)?;
    let script = |dialect| write::script(&pattern, dialect);
    let traits = pattern.traits;
    let dollar_is_delicate = traits.dollar && !traits.backtracks;
    let boundary_is_delicate = traits.boundary || traits.non_boundary;
    let ascii_is_delicate = traits.ascii_non_boundary && !traits.backtracks;

    let mut special = Vec::new();
    if boundary_is_delicate || ascii_is_delicate {
        let when = Special {
            disputed_word: boundary_is_delicate,
            empty: traits.non_boundary || ascii_is_delicate,
            not_ascii: ascii_is_delicate,
            final_newline: false,
        };
        special.push((when, script(Dialect::Exact)));
    }
    if dollar_is_delicate {
        let when = Special { final_newline: true, ..Special::default() };
        // The engine's own `\b` is right for these texts and lets more of the pattern run in
        // linear time; an ASCII `\B` is written out in both dialects.
        special.push((when, script(Dialect::Backtracking)));
    }
    let usual = script(if traits.backtracks { Dialect::Backtracking } else { Dialect::Linear });
    Ok(Translation { usual, special })
}

/// How exactly to write what the engines see differently from Python.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    /// For `regex`: `$` is the end of the text, word boundaries are Rust's.
    Linear,
    /// For `fancy-regex`: `$` is exact, Unicode word boundaries are Rust's.
    Backtracking,
    /// For `fancy-regex`: everything as in Python.
    Exact,
}

/// A pattern as Python understands it.
#[derive(Debug)]
struct Parsed {
    node: Node,
    width: Width,
    traits: Traits,
    /// Numbers of the groups that something refers to, ascending. The others need no capture.
    referenced: Vec<usize>,
}

/// What a pattern has somewhere inside it.
#[derive(Debug, Clone, Copy, Default)]
struct Traits {
    /// Look-around, atomic groups, back-references or conditions.
    backtracks: bool,
    dollar: bool,
    boundary: bool,
    non_boundary: bool,
    ascii_non_boundary: bool,
    /// A choice that may try less before more: a lazy repeat or an alternation.
    prefers_less: bool,
}

#[derive(Debug)]
enum Node {
    Empty,
    Char(char),
    Set(Set),
    /// `\A`, and `^` without `MULTILINE`.
    TextStart,
    LineStart,
    /// `\Z`: the very end.
    TextEnd,
    /// `$` without `MULTILINE`: the end, or before a newline that ends the text.
    Dollar,
    LineEnd,
    Boundary {
        inside: bool,
        alphabet: Alphabet,
    },
    Group {
        number: usize,
        inner: Box<Node>,
    },
    Look {
        ahead: bool,
        negated: bool,
        inner: Box<Node>,
    },
    Atomic(Box<Node>),
    Repeat {
        inner: Box<Node>,
        least: u32,
        most: Option<u32>,
        greed: Greed,
    },
    Sequence(Vec<Node>),
    Choice(Vec<Node>),
    Reference {
        group: usize,
        ignore_case: bool,
    },
    Condition {
        group: usize,
        then: Box<Node>,
        otherwise: Box<Node>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Greed {
    Greedy,
    Lazy,
    Possessive,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Alphabet {
    Ascii,
    Unicode,
}

/// A set of characters: `[a-f\d]`, `\w`, `.`, or a letter that ignores case.
#[derive(Debug, Clone)]
struct Set {
    negated: bool,
    points: ClassUnicode,
    categories: Vec<Category>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Category {
    kind: CategoryKind,
    negated: bool,
    alphabet: Alphabet,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CategoryKind {
    Digit,
    Space,
    Word,
}

/// How many characters a node takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Width {
    least: u64,
    most: u64,
}

impl Width {
    const ZERO: Width = Width { least: 0, most: 0 };
    const ONE: Width = Width { least: 1, most: 1 };

    fn then(self, next: Width) -> Width {
        Width { least: self.least.saturating_add(next.least), most: self.most.saturating_add(next.most) }
    }

    fn or(self, other: Width) -> Width {
        Width { least: self.least.min(other.least), most: self.most.max(other.most) }
    }

    fn times(self, least: u32, most: Option<u32>) -> Width {
        let most = most.map_or(u64::MAX, u64::from);
        Width { least: self.least.saturating_mul(least.into()), most: self.most.saturating_mul(most) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::Pattern;

    fn flags(names: &str) -> PythonFlags {
        let flag = |name: char| PythonFlags::from_name(&name.to_string()).expect("a known flag");
        names.chars().map(flag).fold(PythonFlags::NONE, PythonFlags::bitor)
    }

    /// `n` is what `len(list(re.finditer(pattern, text, flags)))` says in Python 3.11.
    #[track_caller]
    fn matches(pattern: &str, names: &str, text: &str, n: usize) {
        let pattern = Pattern::python(pattern, flags(names)).unwrap();
        assert_eq!(pattern.is_match(text), Ok(n > 0));
        assert_eq!(pattern.count_at_least(text, n), Ok(true), "fewer than {n} matches");
        assert_eq!(pattern.count_at_least(text, n + 1), Ok(false), "more than {n} matches");
    }

    #[track_caller]
    fn refused(pattern: &str, message: &str, at: &str) {
        let error = Pattern::python(pattern, PythonFlags::NONE).unwrap_err();
        assert_eq!(error.message, message);
        assert_eq!(error.at.map(|at| &pattern[at]), Some(at));
    }

    #[test]
    fn text_ends_as_python_says() {
        matches("$", "", "a\n", 2);
        matches("a$", "", "a\n", 1);
        matches("a$", "", "a\n\n", 0);
        matches("a$", "", "a", 1);
        matches("a$", "M", "a\nba\nc", 2);
        matches(r"a\Z", "", "a\n", 0);
        matches(r"a\Z", "", "a", 1);
        matches(r"^\d{4}-\d\d$", "", "2024-01\n", 1);
        matches(r"a$\n", "", "a\n", 1);
        matches("(a$|b)+", "", "ba\n", 1);
        matches("(?=.*b$)a", "", "ab\n", 1);
        matches("^", "M", "a\nb\n", 3);
        matches("^$", "", "", 1);
        matches("^$", "M", "\n\n", 3);
    }

    #[test]
    fn braces_that_count_nothing_are_literal() {
        matches(r#"{"tool": "(\w+)""#, "", "{\"tool\": \"search\"}", 1);
        matches("x{", "", "x{", 1);
        matches("x{,2}", "", "xxx", 3);
        matches("x{,}", "", "xxx", 2);
        matches("x{a}", "", "x{a}", 1);
        matches("{}", "", "{}", 1);
        matches("x{2}", "", "xxxxx", 2);
        matches("a{1,2}?", "", "aaa", 3);
    }

    #[test]
    fn classes_know_no_set_operators() {
        matches("[a&&b]", "", "a&b", 3);
        matches("[x~~y]", "", "~", 1);
        matches("[[]", "", "[[", 2);
        matches("[]a]", "", "a]", 2);
        matches("[^]]", "", "a]", 1);
        matches("[a-]", "", "-", 1);
        matches(r"[\w-]+", "", "a-b", 1);
        matches(r"[\b]", "", "\u{8}b", 1);
        matches(r"[\x41-\u0043\104]", "", "ABCDE", 4);
        matches(r"[^\W\d_]+", "", "ab1_c", 2);
    }

    #[test]
    fn escapes_mean_what_they_mean_in_python() {
        matches(r"\x41\u0042\U00000043", "", "ABC", 1);
        matches(r"\101", "", "A", 1);
        matches(r"\0", "", "\u{0}", 1);
        matches(r"\07", "", "\u{7}", 1);
        matches(r"\a\f\v", "", "\u{7}\u{c}\u{b}", 1);
        matches(r#"\.\-\"\/\ "#, "", ".-\"/ ", 1);
        matches(r"\é", "", "é", 1);
        matches(r"\ud800", "", "a", 0);
        matches(r"[^\ud800]", "", "a", 1);
    }

    #[test]
    fn words_and_spaces_are_pythons() {
        matches(r"\w+", "", "cafe\u{301} x²", 2);
        matches(r"\w", "", "‿_", 1);
        matches(r"\s", "", "\u{1c}\u{1f} \u{85}\u{a0}", 5);
        matches(r"\S", "", "\u{1d}", 0);
        matches(r"\d", "", "٣4²", 2);
        matches(r"\w+", "A", "café x", 2);
        matches(r"\s", "A", "\u{1c} \u{a0}", 1);
        matches(r"\d", "A", "٣4", 1);
        matches(r"\bcafe\b", "", "cafe\u{301}", 1);
        matches(r"e\b", "", "e²", 0);
        matches(r"\be", "A", "ée", 1);
        matches(r"\Be", "A", "ée xe", 1);
        matches(r"\B", "", "", 0);
        matches(r"\b", "", "हिन्दी", 6);
        matches(r"\B", "", "a²", 1);
    }

    #[test]
    fn case_is_ignored_as_python_does() {
        matches("straße", "I", "STRAßE straẞe", 2);
        matches("k", "I", "kK\u{212a}", 3);
        matches("k", "IA", "kK\u{212a}", 2);
        matches("i", "I", "iIİı", 4);
        matches("[a-z]", "I", "İſ\u{212a}ß", 3);
        matches("[^k]", "I", "\u{212a}", 0);
        matches("é", "IA", "Éé", 1);
        matches(r"[\W]", "I", "ιΙ", 0);
        matches(r"(a)\1", "I", "aA", 1);
    }

    #[test]
    fn flags_inside_the_pattern() {
        matches("(?i)yes", "", "YES", 1);
        matches("(?i:a)b", "", "Ab AB", 1);
        matches("(?-i:a)b", "I", "aB AB", 1);
        matches("(?s).", "", "\n", 1);
        matches("(?m)^b", "", "a\nb", 1);
        matches("(?x) a b # c", "", "ab", 1);
        matches("(?x: a b) c", "", "ab c", 1);
        matches(r"(?x)[ ]\ a", "", "  a", 1);
        matches(" a\n+ #x", "X", "aa", 1);
        matches(r"(?a:\w)\w", "", "éé aé", 1);
        matches("(?i)(?m)^a", "", "b\nA", 1);
        matches("(?#any (text)b", "", "b", 1);
    }

    #[test]
    fn groups_references_and_conditions() {
        matches("(?P<q>['\"]).*?(?P=q)", "", "\"a' b\" 'c'", 2);
        matches(r"(a)(b)\2\1", "", "abba", 1);
        matches(r"(x)(a)\2", "", "xaa", 1);
        matches("(<)?a(?(1)>)", "", "<a a> <a>", 3);
        matches("(?P<o>x)?y(?(o)z|w)", "", "xyz yw xyw", 3);
        matches("(?>a|ab)c", "", "abc", 0);
        matches("a++a", "", "aaa", 0);
        matches("a?+b", "", "ab", 1);
        matches(r"(?<=\$)\d+", "", "$5 6", 1);
        matches("(?<!a)b", "", "ab b", 1);
        matches("^(?!.*no)", "", "yes", 1);
        matches("(?=a)*a", "", "a", 1);
        matches("(a?)*b", "", "aab", 1);
    }

    #[test]
    fn empty_matches_count_as_in_finditer() {
        matches("", "", "ab", 3);
        matches("a*", "", "baac", 4);
        matches("a*?", "", "aa", 5);
        matches("a??", "", "a", 3);
        matches("|a", "", "aé", 4);
        matches("a|", "", "ba", 3);
        matches(r"\b", "", "ab cd", 4);
        matches("x*$", "", "ax\n", 3);
        matches("(?=a)|b", "", "ab", 2);
    }

    #[test]
    fn what_python_refuses_is_refused() {
        refused("*a", "nothing to repeat", "*");
        refused("a**", "multiple repeat", "*");
        refused("a*??", "multiple repeat", "?");
        refused("a{2}{3}", "multiple repeat", "{3}");
        refused("^*", "nothing to repeat", "*");
        refused("a{3,2}", "min repeat greater than max repeat", "3,2");
        refused("(a", "missing ), unterminated subpattern", "(");
        refused("a)", "unbalanced parenthesis", ")");
        refused("[a", "unterminated character set", "[");
        refused("[z-a]", "bad character range `z-a`", "z-a");
        refused(r"[\w-z]", "bad character range `\\w-z`", "\\w-z");
        refused(r"\q", "bad escape `\\q`", "\\q");
        refused(r"[\Z]", "bad escape `\\Z`", "\\Z");
        refused(r"\x4", "incomplete escape `\\x4`", "\\x4");
        refused(r"\777", "octal escape value `\\777` outside of range 0-0o377", "\\777");
        refused(r"\2", "invalid group reference 2", "\\2");
        refused(r"(a\1)", "cannot refer to an open group", "\\1");
        refused("(?P<n>a)(?P<n>b)", "group name `n` is already that of group 1", "n");
        refused("(?P<1>a)", "bad character in group name `1`", "1");
        refused("(?P=n)", "unknown group name `n`", "n");
        refused("(?<n>a)", "unknown extension `?<n`", "(?<n");
        refused("a(?i)", "global flags not at the start of the expression", "(?i)");
        refused("(?(1)a|b|c)(d)", "conditional backref with more than two branches", "(?(1)a|b|c)");
        refused("(?(2)a)(b)", "invalid group reference 2", "2");
        refused("(?<=a+)b", "look-behind requires a fixed-width pattern", "(?<=a+)");
        refused("(?L)a", "the flag `LOCALE` is only for bytes, and this pattern is text", "(?L");
        refused("(?au)b", "the flags `ASCII` and `UNICODE` are incompatible", "(?au");
        refused("(?i-i:a)", "flag turned on and off", "(?i-i");
        refused("(?-a:b)", "cannot turn off flags `a`, `u` and `L`", "(?-a");
        refused("(?#a", "missing ), unterminated comment", "(?#a");
        refused(r"\", "bad escape (end of pattern)", "\\");
        refused(r"\U00110000", "bad escape `\\U00110000`", "\\U00110000");
        refused(r"\N{BULLET}", "named characters (`\\N{..}`) are not supported; use `\\u` and the code point", "\\N");
        refused("é(", "missing ), unterminated subpattern", "(");
    }

    #[test]
    fn flags_are_checked_before_the_pattern() {
        let error = Pattern::python("a", PythonFlags::LOCALE).unwrap_err();
        assert_eq!(error.message, "the flag `LOCALE` is only for bytes, and this pattern is text");
        let error = Pattern::python("(?a)b", PythonFlags::UNICODE).unwrap_err();
        assert_eq!(error.message, "the flags `ASCII` and `UNICODE` are incompatible");
        assert_eq!(PythonFlags::from_name("DEBUG"), Some(PythonFlags::NONE));
        assert_eq!(PythonFlags::from_name("i"), None);
    }

    #[test]
    fn regular_patterns_run_in_linear_time() {
        let engine = |text| translate(text, PythonFlags::NONE).unwrap().usual.engine;
        assert_eq!(engine(r"^(?P<day>\d+)\b.*?(?i:x{2,3})$"), EngineKind::Linear);
        assert_eq!(engine(r"(?=a)"), EngineKind::Backtracking);
        assert_eq!(engine(r"(a)\1"), EngineKind::Backtracking);
        assert_eq!(engine(r"a*+"), EngineKind::Backtracking);
    }
}
