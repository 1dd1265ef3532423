//! What every kind of outcome provides, and the one walk over a check that decides it.

use jurat_format::value::{FieldPath, Spanned, Val, Value};

use super::Check;
use super::error::OutcomeError;
use super::field::TurnField;
use super::format::WrittenKind;
use super::scope::Scope;
use super::stored::StoredKind;
use super::trace::{Found, Join, Trace, Traced};
use super::turn::{TurnCheck, TurnTest};

/// A kind of outcome. The file that implements it holds everything about it; `nodes!` lists it.
pub(crate) trait Node {
    /// How it is written with one key. A node may have several such keys, or none.
    const WRITTEN: &'static [WrittenKind];

    /// How it is stored. A node may have several stored forms, or none.
    const STORED: &'static [StoredKind];

    /// Decides it: whether it holds, or the value that it gives. What it looks at goes into the notes.
    fn decide(&self, evidence: &Val<'_>, notes: &mut Notes) -> Result<Value, OutcomeError>;

    /// In words, without its parts.
    fn words(&self) -> String;

    /// The short form of a definition; `None` when it does not say everything.
    fn to_written(&self) -> Option<Value>;

    /// The stored form: an object with `type`.
    fn to_stored(&self, names: Names) -> Value;

    fn gives(&self) -> Gives {
        Gives::Boolean
    }

    /// Whether it holds, where it gave another value than a yes or no.
    fn holds_by(&self, _value: &Value) -> Result<bool, OutcomeError> {
        Ok(false)
    }

    /// The parts of a composition; none for a leaf.
    fn parts(&self) -> &[Check] {
        &[]
    }

    /// The fields of turns that it reads, with the turns; those of its parts are theirs.
    fn fields(&self) -> Vec<(&Scope, &TurnField)> {
        Vec::new()
    }

    /// The nodes that it names.
    fn nodes(&self) -> &[String] {
        &[]
    }

    fn join(&self) -> Join {
        Join::Leaf
    }
}

/// Which names stored checks have: those of definitions, or those of the classes in Karenina's checkpoints.
pub(crate) type Names = fn(&StoredKind) -> &'static str;

/// What a check gives when nothing goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gives {
    /// Whether it holds.
    Boolean,
    /// A whole number.
    Number,
    /// A value whose kind is only known once it is run.
    Anything,
}

/// What the walk over a check writes down: nothing, or how each part was decided.
pub(crate) struct Notes(Option<Trace>);

impl Notes {
    /// Whether nothing is written down.
    #[inline]
    pub(super) fn are_off(&self) -> bool {
        self.0.is_none()
    }

    /// Adds something that was looked at.
    #[inline]
    pub(super) fn found(&mut self, found: impl FnOnce() -> Found) {
        if let Some(trace) = &mut self.0 {
            trace.found.push(found());
        }
    }

    /// Puts the words for one case in the place of those as they are written.
    #[inline]
    pub(super) fn in_words(&mut self, words: impl FnOnce() -> String) {
        if let Some(trace) = &mut self.0 {
            trace.words = words();
        }
    }

    /// Decides a part, where a yes or no is needed.
    pub(super) fn part(&mut self, part: &Check, evidence: &Val<'_>) -> Result<bool, OutcomeError> {
        let Some(trace) = &mut self.0 else { return part.holds(evidence, self) };
        let mut notes = Notes(Some(part.untraced()));
        let held = part.holds(evidence, &mut notes);
        trace.parts.extend(notes.finished(held.clone().map(Val::Bool)));
        held
    }

    /// Notes that a part was not needed.
    pub(super) fn skip(&mut self, part: &Check) {
        if let Some(trace) = &mut self.0 {
            trace.parts.push(part.skipped());
        }
    }

    fn finished(self, outcome: Result<Value, OutcomeError>) -> Option<Trace> {
        self.0.map(|trace| Trace { result: Traced::of(outcome), ..trace })
    }
}

impl Check {
    /// What the check evaluates to: whether it holds; a number for an aggregation without thresholds; any value for an expression.
    ///
    /// ```
    /// use jurat_core::outcome::{count_turns, TurnFilter, last_turn};
    /// use jurat_format::value::{Val, parse_json};
    ///
    /// let text = r#"{"history": [{"verify_result": true}, {"verify_result": false, "parsed": {"n": "many"}}]}"#;
    /// let evidence = parse_json(text)?.value;
    /// let right = count_turns(TurnFilter { verify_result: Some(true), ..TurnFilter::default() });
    /// assert_eq!(right.evaluate(&evidence), Ok(Val::I(1)));
    /// let undecided = last_turn([("parsed.n", 3.into())]).evaluate(&evidence).unwrap_err();
    /// assert_eq!(undecided.to_string(), "`parsed.n` of turn 2: `many` is not a number");
    /// # Ok::<(), jurat_format::value::JsonError>(())
    /// ```
    pub fn evaluate(&self, evidence: &Val<'_>) -> Result<Value, OutcomeError> {
        self.decide(evidence, &mut Notes(None))
    }

    /// How the check evaluates to its value: the same walk, with notes.
    pub fn trace(&self, evidence: &Val<'_>) -> Trace {
        let mut notes = Notes(Some(self.untraced()));
        let outcome = self.decide(evidence, &mut notes);
        notes.finished(outcome).unwrap_or_else(|| self.skipped())
    }

    /// Whether the check holds, where a yes or no is needed. A number is none: an aggregation without thresholds does not hold inside a composition,
    /// as it does not in Karenina.
    fn holds(&self, evidence: &Val<'_>, notes: &mut Notes) -> Result<bool, OutcomeError> {
        match self.decide(evidence, notes)? {
            Val::Bool(holds) => Ok(holds),
            other => self.holds_by(&other),
        }
    }

    fn untraced(&self) -> Trace {
        let (words, join) = (self.words(), self.join());
        Trace { words, join, result: Traced::NotEvaluated, found: Vec::new(), parts: Vec::new() }
    }

    fn skipped(&self) -> Trace {
        Trace { parts: self.parts().iter().map(Check::skipped).collect(), ..self.untraced() }
    }

    /// The fields of turns that the check and its parts read, with the turns.
    pub(crate) fn fields(&self) -> Vec<(&Scope, &TurnField)> {
        self.own_fields().into_iter().chain(self.parts().iter().flat_map(Check::fields)).collect()
    }

    /// What the check and its parts compare with and find in the evidence, with the places.
    pub(crate) fn reads(&self) -> Vec<&Spanned<FieldPath>> {
        let own = match self {
            Check::Turn(TurnCheck { test: TurnTest::Field(_, wanted), .. }) => wanted.reads(),
            Check::Result(it) => it.wanted.reads(),
            _ => &[],
        };
        own.iter().chain(self.parts().iter().flat_map(Check::reads)).collect()
    }

    /// The nodes that the check and its parts name.
    pub(crate) fn nodes(&self) -> Vec<&String> {
        self.own_nodes().iter().chain(self.parts().iter().flat_map(Check::nodes)).collect()
    }
}
