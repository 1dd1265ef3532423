//! How a check was decided: for every part its words, its value or why it has none, and at the leaves what was found. The walk that decides a check writes
//! it down; a part that was not needed says so.

use std::fmt;

use jurat_compare::{Judgement, Mismatch};
use jurat_format::value::{Map, Val, Value, shown};

use super::error::OutcomeError;
use super::wanted::Wanted;

/// One part of a check, and everything below it.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    pub words: String,
    /// How its parts are joined.
    pub join: Join,
    pub result: Traced,
    /// What was found, in the order it was looked at.
    pub found: Vec<Found>,
    pub parts: Vec<Trace>,
}

/// How the parts of a check are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Join {
    /// It has none.
    Leaf,
    /// All must hold.
    All,
    /// One must hold.
    Any,
    /// At least this number must hold.
    AtLeast(u64),
    /// It must not hold.
    Not,
}

/// The result of a part of a check.
#[derive(Debug, Clone, PartialEq)]
pub enum Traced {
    Value(Value),
    /// It could not be decided.
    Error(OutcomeError),
    /// It was not asked: others had decided.
    NotEvaluated,
}

/// Something that a check looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Where: a turn by its index and node, or nothing for the result as a whole.
    pub place: Option<String>,
    /// The path that was read there, or the expression.
    pub read: String,
    pub value: Value,
    /// What was expected, when this is not as expected.
    pub mismatch: Option<Mismatch>,
}

impl Found {
    pub(super) fn judged(place: Option<String>, read: &str, value: &Val<'_>, wanted: &Wanted) -> Found {
        let mismatch = match wanted.judge(value) {
            Judgement::Failed(mismatch) => Some(*mismatch),
            Judgement::Passed | Judgement::Error(_) => None,
        };
        Found { place, read: read.to_owned(), value: value.clone().into_owned(), mismatch }
    }

    fn to_value(&self) -> Value {
        let place = self.place.as_ref().map(|it| ("place", Val::from(it.clone())));
        let expected = self.mismatch.as_ref().map(|it| ("expected", Val::from(it.expected.clone())));
        let read = [("read", Val::from(self.read.clone())), ("value", self.value.clone())];
        Val::Map(place.into_iter().chain(read).chain(expected).collect())
    }
}

impl Traced {
    pub(super) fn of(outcome: Result<Value, OutcomeError>) -> Traced {
        outcome.map_or_else(Traced::Error, Traced::Value)
    }

    fn is(&self, holds: bool) -> bool {
        *self == Traced::Value(Val::Bool(holds))
    }
}

impl Trace {
    /// Which part did not hold: what was expected, and what was found. Where one part is enough to fail, it is that part.
    pub fn mismatch(&self) -> Mismatch {
        match self.join {
            Join::All => match self.parts.iter().find(|it| it.result.is(false)) {
                Some(part) => part.mismatch(),
                None => Mismatch { expected: self.words.clone(), found: "that it does not hold".to_owned() },
            },
            Join::Any => {
                let expected = format!("{}: {}", self.words, joined(self.parts.iter().map(Trace::whole)));
                let found = joined(self.failed().map(|it| it.mismatch().found));
                Mismatch { expected, found: if found.is_empty() { "nothing to choose from".to_owned() } else { found } }
            }
            Join::AtLeast(_) => {
                let n_held = self.parts.iter().filter(|it| it.result.is(true)).count();
                let failed = joined(self.failed().map(|it| it.mismatch().to_string()));
                let found = if failed.is_empty() { format!("{n_held}") } else { format!("{n_held}: {failed}") };
                Mismatch { expected: self.words.clone(), found }
            }
            Join::Not => {
                let part = joined(self.parts.iter().map(Trace::whole));
                Mismatch { expected: format!("not {part}"), found: "that it holds".to_owned() }
            }
            Join::Leaf => Mismatch { expected: self.words.clone(), found: self.leaf_found() },
        }
    }

    /// The words, with those of the parts.
    fn whole(&self) -> String {
        if self.parts.is_empty() {
            return self.words.clone();
        }
        format!("{} ({})", self.words, joined(self.parts.iter().map(Trace::whole)))
    }

    fn failed(&self) -> impl Iterator<Item = &Trace> {
        self.parts.iter().filter(|it| it.result.is(false))
    }

    /// What a leaf found that made it fail.
    fn leaf_found(&self) -> String {
        if self.found.is_empty() {
            return "no such turn".to_owned();
        }
        let found = |it: &Found| {
            let found = it.mismatch.as_ref().map_or_else(|| shown(&it.value), |it| it.found.clone());
            it.place.as_ref().map_or(found.clone(), |place| format!("{found} in {place}"))
        };
        let wrong: Vec<&Found> = self.found.iter().filter(|it| it.mismatch.is_some()).collect();
        if wrong.is_empty() { joined(self.found.iter().map(found)) } else { joined(wrong.into_iter().map(found)) }
    }
}

impl Trace {
    /// The trace as one value, for programs: `{check, value | error | evaluated: false, found, parts}`.
    pub fn to_value(&self) -> Value {
        let mut members: Map<'static> = Map::default();
        members.insert("check".into(), Val::from(self.words.clone()));
        match &self.result {
            Traced::Value(value) => members.insert("value".into(), value.clone()),
            Traced::Error(error) => members.insert("error".into(), Val::from(error.to_string())),
            Traced::NotEvaluated => members.insert("evaluated".into(), Val::Bool(false)),
        };
        if !self.found.is_empty() {
            members.insert("found".into(), self.found.iter().map(Found::to_value).collect());
        }
        if !self.parts.is_empty() {
            members.insert("parts".into(), self.parts.iter().map(Trace::to_value).collect());
        }
        Val::Map(members)
    }
}

/// The first few of them: a longer list is not read.
fn joined(texts: impl Iterator<Item = String>) -> String {
    const SOME: usize = 5;
    let texts: Vec<String> = texts.collect();
    match texts.len().checked_sub(SOME) {
        None | Some(0) => texts.join("; "),
        Some(n_more) => format!("{}; and {n_more} more", texts[..SOME].join("; ")),
    }
}

/// A line for each part, those below it indented.
impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

impl Trace {
    fn write(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        let result = match &self.result {
            Traced::Value(Val::Bool(true)) => "holds".to_owned(),
            Traced::Value(Val::Bool(false)) => "does not hold".to_owned(),
            Traced::Value(value) => shown(value),
            Traced::Error(error) if self.parts.is_empty() => format!("error: {error}"),
            Traced::Error(_) => "error".to_owned(),
            Traced::NotEvaluated => "not evaluated".to_owned(),
        };
        let indent = "  ".repeat(depth);
        writeln!(f, "{indent}{}: {result}", self.words)?;
        for found in &self.found {
            let place = found.place.as_ref().map_or_else(String::new, |it| format!(" of {it}"));
            writeln!(f, "{indent}  `{}`{place}: {}", found.read, shown(&found.value))?;
        }
        self.parts.iter().try_for_each(|it| it.write(f, depth + 1))
    }
}
