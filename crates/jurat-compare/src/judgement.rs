//! What a comparison says about a value.

use std::fmt;

use jurat_format::value::{Kind, Val, Value, shown};

/// The answer of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub enum Judgement {
    /// The value is as expected.
    Passed,
    /// The value was judged, and is not as expected.
    Failed(Box<Mismatch>),
    /// The comparison cannot be applied; says nothing about the subject.
    Error(Box<Inapplicable>),
}

/// What was expected and what was found, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    pub expected: String,
    pub found: String,
}

/// Why a comparison cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Inapplicable {
    /// What kind of reason it is.
    pub fault: Fault,
    pub reason: String,
}

/// The kinds of reason for which a comparison cannot be applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// A value of a kind that cannot be used.
    Kind,
    /// The right kind of value, but its content cannot be used.
    Content,
    /// A regular expression that cannot be read.
    Pattern,
    /// A number too large for what it is used for.
    Overflow,
    /// A regular expression took too many steps.
    Steps,
    /// This comparison cannot be decided from the value alone.
    Unsupported,
}

impl Inapplicable {
    /// A value of the wrong kind: `needs text, found 5`.
    pub(super) fn kind(needs: impl fmt::Display, found: &Val<'_>) -> Inapplicable {
        Inapplicable { fault: Fault::Kind, reason: format!("needs {needs}, found {}", shown_with_kind(found)) }
    }

    /// An operand of the wrong kind.
    pub(super) fn operand(needs: impl fmt::Display, found: &Val<'_>) -> Inapplicable {
        Inapplicable { fault: Fault::Kind, reason: format!("`expected_value` must be {needs}, not {}", shown(found)) }
    }

    /// NaN, which is neither greater nor less than anything.
    pub(super) fn not_a_number() -> Inapplicable {
        Inapplicable::content("needs a number, found NaN")
    }

    /// Usable in kind, not in content.
    pub(super) fn content(reason: impl Into<String>) -> Inapplicable {
        Inapplicable { fault: Fault::Content, reason: reason.into() }
    }
}

/// A value where its kind matters: otherwise a reader wonders why `` `5` `` is not a number.
pub(super) fn shown_with_kind(value: &Val<'_>) -> String {
    match value {
        Val::Str(text) if !text.is_empty() => format!("{}, which is text", shown(value)),
        other => shown(other),
    }
}

/// A value beside another that it does not equal. Where one is text and the other is not, their kinds are named, because `` `true` `` and `true` look alike.
pub(super) fn shown_beside(value: &Val<'_>, other: &Val<'_>) -> String {
    let looks_alike = |text: &str| match other.kind() {
        Kind::Boolean | Kind::Number => !text.is_empty(),
        Kind::Null => text.eq_ignore_ascii_case("null"),
        Kind::Text | Kind::List | Kind::Object => false,
    };
    match (value, other) {
        (Val::Str(text), _) if looks_alike(text) => format!("the text {}", shown(value)),
        (Val::Bool(_), Val::Str(_)) => format!("the boolean {}", shown(value)),
        (number, Val::Str(_)) if number.kind() == Kind::Number => format!("the number {}", shown(value)),
        _ => shown(value),
    }
}

/// How many there are, in words: `1 item`, `2 items`.
pub(super) fn counted(n: impl fmt::Display, one: &str) -> String {
    let n = n.to_string();
    let s = if n == "1" { "" } else { "s" };
    format!("{n} {one}{s}")
}

impl Judgement {
    /// The same answer about one item of a list.
    pub(super) fn of_item(self, ix: usize) -> Judgement {
        match self {
            Judgement::Passed => Judgement::Passed,
            Judgement::Failed(mut mismatch) => {
                mismatch.found = format!("{} at item [{ix}]", mismatch.found);
                Judgement::Failed(mismatch)
            }
            Judgement::Error(mut inapplicable) => {
                inapplicable.reason = format!("{} at item [{ix}]", inapplicable.reason);
                Judgement::Error(inapplicable)
            }
        }
    }
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Judgement::Passed => f.write_str("passed"),
            Judgement::Failed(mismatch) => write!(f, "failed: {mismatch}"),
            Judgement::Error(inapplicable) => write!(f, "error: {inapplicable}"),
        }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}, found {}", self.expected, self.found)
    }
}

/// What every family's operator says about itself.
pub(super) trait Parameters {
    /// The parameters with their defaults filled in; most operators have none.
    fn parameters(&self) -> Vec<(&'static str, Value)> {
        Vec::new()
    }
}

/// What every family's comparison can do.
pub(super) trait Test {
    /// Whether the value is as expected.
    fn holds(&self, value: &Val<'_>) -> Result<bool, Inapplicable>;

    /// What is expected, in words that fit after "expected".
    fn expected(&self) -> String;

    /// What is expected of this value, for comparisons that treat texts and lists differently.
    fn expected_of(&self, _: &Val<'_>) -> String {
        self.expected()
    }

    /// What was found, in words that fit after "found".
    fn found(&self, value: &Val<'_>) -> String {
        shown(value)
    }

    /// The graded credit between 0 and 1.
    fn score(&self, value: &Val<'_>) -> Result<f64, Inapplicable> {
        self.holds(value).map(|held| if held { 1.0 } else { 0.0 })
    }

    /// What is compared with, where that may be text or something else.
    fn operand(&self) -> Option<&Val<'_>> {
        None
    }

    /// What is odd about the operand, when it cannot be meant.
    fn flaw(&self) -> Option<String> {
        None
    }
}
