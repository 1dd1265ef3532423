//! What a check concludes, and the words for it.

use jurat_compare::{Fault, Inapplicable, Judgement, Mismatch};
use jurat_format::value::Val;

/// `None` when it passes.
pub(super) type Decided = Result<Option<Mismatch>, Inapplicable>;

pub(super) fn mismatch(expected: impl Into<String>, found: impl Into<String>) -> Mismatch {
    Mismatch { expected: expected.into(), found: found.into() }
}

pub(super) fn cannot_tell(reason: impl Into<String>) -> Inapplicable {
    Inapplicable { fault: Fault::Content, reason: reason.into() }
}

pub(super) fn not_passed(judgement: Judgement) -> Option<Decided> {
    match judgement {
        Judgement::Passed => None,
        Judgement::Failed(mismatch) => Some(Ok(Some(*mismatch))),
        Judgement::Error(inapplicable) => Some(Err(*inapplicable)),
    }
}

pub(super) fn quoted(text: &str) -> String {
    format!("`{text}`")
}

pub(super) fn times(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// A part of the evidence that must be there.
pub(super) fn member<'e>(evidence: &'e Val<'e>, path: &[&str]) -> Result<&'e Val<'e>, Inapplicable> {
    let found = path.iter().try_fold(evidence, |value, key| value.get(key));
    found.filter(|it| **it != Val::Null).ok_or_else(|| cannot_tell(format!("the evidence has no `{}`", path.join("."))))
}
