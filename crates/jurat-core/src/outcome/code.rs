//! Outcomes that code of the embedding program decides.

use jurat_compare::Fault;
use jurat_format::value::{Val, Value, shown};

use super::error::OutcomeError;
use super::format::{WrittenKind, keyed};
use super::node::{Gives, Names, Node, Notes};
use super::stored::{StoredKind, object};
use super::trace::Found;

/// What code of the program has decided under this name. It stands for a criterion that has no check, and is stored as none.
#[derive(Debug, Clone, PartialEq)]
pub struct Code(pub String);

impl Node for Code {
    const WRITTEN: &'static [WrittenKind] = &[];

    const STORED: &'static [StoredKind] = &[];

    fn decide(&self, evidence: &Val<'_>, notes: &mut Notes) -> Result<Value, OutcomeError> {
        let part = |key: &str| evidence.get(key).and_then(|it| it.get(&self.0));
        let undecided =
            |reason: &str| OutcomeError { fault: Fault::Kind, what: self.words(), reason: reason.to_owned() };
        let value = match (part("outcome_errors").and_then(Val::as_str), part("outcome_results")) {
            (Some(reason), _) => return Err(undecided(reason)),
            (None, Some(value)) => value.clone().into_owned(),
            (None, None) => return Err(undecided("it was not called")),
        };
        notes.found(|| Found { place: None, read: self.words(), value: value.clone(), mismatch: None });
        Ok(value)
    }

    fn words(&self) -> String {
        format!("the code of `{}`", self.0)
    }

    fn to_written(&self) -> Option<Value> {
        Some(keyed("code", Val::from(self.0.clone())))
    }

    fn to_stored(&self, _: Names) -> Value {
        object([("type", Val::from("code")), ("name", Val::from(self.0.clone()))])
    }

    fn gives(&self) -> Gives {
        Gives::Anything
    }

    fn holds_by(&self, value: &Value) -> Result<bool, OutcomeError> {
        let reason = format!("it gives {}, and must give true or false", shown(value));
        Err(OutcomeError { fault: Fault::Kind, what: self.words(), reason })
    }
}
