//! Why a check could not be decided.

use jurat_compare::{Fault, Inapplicable};
use jurat_format::value::{Kind, Val, Value};

/// Why a check could not be decided.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {reason}")]
pub struct OutcomeError {
    /// What kind of reason it is.
    pub fault: Fault,
    /// What could not be decided, in words.
    pub what: String,
    pub reason: String,
}

impl OutcomeError {
    pub(super) fn because(what: String, inapplicable: Inapplicable) -> OutcomeError {
        OutcomeError { fault: inapplicable.fault, what, reason: inapplicable.reason }
    }
}

/// What `outcome_results` stores of an outcome: a check that could not be decided counts as no.
pub fn stored(outcome: Result<Value, OutcomeError>) -> Value {
    outcome.unwrap_or(Val::Bool(false))
}

/// The turns of a scenario.
#[inline]
pub(super) fn history<'e, 'v>(evidence: &'e Val<'v>) -> Result<&'e [Val<'v>], OutcomeError> {
    let found = evidence.get("history");
    found.and_then(Val::as_list).ok_or_else(|| {
        let reason = match found.map(Val::kind) {
            None => "there is none: only scenarios have turns".to_owned(),
            Some(kind) => format!("needs {}, found {}", Kind::List.phrase(), kind.phrase()),
        };
        OutcomeError { fault: Fault::Kind, what: "`history`".to_owned(), reason }
    })
}
