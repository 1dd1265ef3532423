//! How a check came to what it came to: for every part its words, its value or why it has none, and at the leaves what was found.
//!
//! A trace follows [`Check::evaluate`] step by step: the same turns are looked at in the same order, and what was not needed says so.

use std::fmt;

use jurat_compare::{Judgement, Mismatch};
use jurat_format::value::{Map, Val, Value, shown};

use super::check::{Aggregation, AggregationKind, Check, CrossTurnCheck, Scope, TurnCheck, TurnTest};
use super::evaluate::{OutcomeError, history};
use super::words;

/// One part of a check, and everything below it.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    pub words: String,
    /// How its parts are joined.
    pub join: Join,
    pub came_to: Traced,
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
    /// At least so many must hold.
    AtLeast(u64),
    /// It must not hold.
    Not,
}

/// What a part of a check came to.
#[derive(Debug, Clone, PartialEq)]
pub enum Traced {
    Value(Value),
    /// Nobody can tell.
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

impl Check {
    /// How the check comes to its value.
    pub fn trace(&self, evidence: &Val<'_>) -> Trace {
        let trace = self.traced(evidence);
        match (self, trace.came_to) {
            // Only where a yes or no is needed does a number count as no, and anything else as an error.
            (Check::Aggregation(_) | Check::Cel(_) | Check::Code(_), _) => {
                Trace { came_to: Traced::of(self.evaluate(evidence)), ..trace }
            }
            (_, came_to) => Trace { came_to, ..trace },
        }
    }

    /// Like [`Check::trace`], where a yes or no is needed.
    fn traced(&self, evidence: &Val<'_>) -> Trace {
        let leaf = |found| self.node(Join::Leaf, Traced::of(self.holds(evidence).map(Val::Bool)), found, Vec::new());
        match self {
            Check::Turn(it) => leaf(it.found(evidence)),
            Check::Result(it) => {
                leaf(vec![Found::judged(None, it.field.as_str(), &it.field.find(evidence), |value| {
                    it.wanted.judge(value)
                })])
            }
            Check::CrossTurn(it) => leaf(it.found(evidence)),
            Check::Aggregation(it) => leaf(it.found(evidence)),
            Check::Cel(expression) => {
                let read = || expression.source().to_owned();
                let value = self.evaluate(evidence).ok();
                leaf(
                    value.map(|value| Found { place: None, read: read(), value, mismatch: None }).into_iter().collect(),
                )
            }
            Check::Code(_) => leaf(self.evaluate(evidence).map_or_else(
                |_| Vec::new(),
                |value| vec![Found { place: None, read: words::head(self), value, mismatch: None }],
            )),
            Check::AllOf(parts) => self.joined(Join::All, parts, evidence, |holds| !holds),
            Check::AnyOf(parts) => self.joined(Join::Any, parts, evidence, |holds| holds),
            Check::AtLeast { n, of } => self.joined(Join::AtLeast(*n), of, evidence, |_| false),
            Check::Not(part) => {
                let came_to = Traced::of(part.holds_not(evidence).map(Val::Bool));
                self.node(Join::Not, came_to, Vec::new(), vec![part.traced(evidence)])
            }
        }
    }

    /// A composition: its parts are asked until one decides or cannot be decided.
    fn joined(&self, join: Join, parts: &[Check], evidence: &Val<'_>, decides: fn(bool) -> bool) -> Trace {
        let mut traces = Vec::with_capacity(parts.len());
        let mut decided = None;
        let mut n_held = 0;
        for part in parts {
            if decided.is_some() {
                traces.push(part.unasked());
                continue;
            }
            let trace = part.traced(evidence);
            decided = match &trace.came_to {
                Traced::Error(error) => Some(Traced::Error(error.clone())),
                came_to => {
                    let holds = *came_to == Traced::Value(Val::Bool(true));
                    n_held += u64::from(holds);
                    decides(holds).then_some(Traced::Value(Val::Bool(holds)))
                }
            };
            traces.push(trace);
        }
        let holds = match join {
            Join::All => true,
            Join::AtLeast(n) => n_held >= n,
            Join::Any | Join::Leaf | Join::Not => false,
        };
        let came_to = decided.unwrap_or(Traced::Value(Val::Bool(holds)));
        self.node(join, came_to, Vec::new(), traces)
    }

    fn unasked(&self) -> Trace {
        let join = match self {
            Check::AllOf(_) => Join::All,
            Check::AnyOf(_) => Join::Any,
            Check::AtLeast { n, .. } => Join::AtLeast(*n),
            Check::Not(_) => Join::Not,
            _ => Join::Leaf,
        };
        self.node(join, Traced::NotEvaluated, Vec::new(), self.parts().iter().map(Check::unasked).collect())
    }

    fn node(&self, join: Join, came_to: Traced, found: Vec<Found>, parts: Vec<Trace>) -> Trace {
        Trace { words: words::head(self), join, came_to, found, parts }
    }
}

impl TurnCheck {
    /// What was found, up to the turn that decided.
    fn found(&self, evidence: &Val<'_>) -> Vec<Found> {
        let Ok(history) = history(evidence) else { return Vec::new() };
        let (nodes, is_any) = match &self.scope {
            Scope::Any(nodes) => (nodes, true),
            Scope::All(nodes) => (nodes, false),
            single => return single.single(history).map(|(ix, turn)| self.test.found(ix, turn)).into_iter().collect(),
        };
        let mut found = Vec::new();
        for (ix, turn) in history.iter().enumerate().filter(|(_, turn)| nodes.has(turn)) {
            found.push(self.test.found(ix, turn));
            if self.test.holds(ix, turn) != Ok(!is_any) {
                break;
            }
        }
        found
    }
}

impl TurnTest {
    fn found(&self, ix: usize, turn: &Val<'_>) -> Found {
        let place = Some(words::turn(ix, turn));
        match self {
            TurnTest::Field(field, wanted) => {
                Found::judged(place, field.as_str(), &field.find(turn), |value| wanted.judge(value))
            }
            TurnTest::Cel(expression) => {
                let held = self.holds(ix, turn).ok();
                let mismatch = (held == Some(false))
                    .then(|| Mismatch { expected: words::test(self), found: "that it does not hold".to_owned() });
                let value = held.map_or(Val::Null, Val::Bool);
                Found { place, read: expression.source().to_owned(), value, mismatch }
            }
        }
    }
}

impl CrossTurnCheck {
    fn found(&self, evidence: &Val<'_>) -> Vec<Found> {
        let Ok(history) = history(evidence) else { return Vec::new() };
        let sides = [(&self.target_turn, &self.target_field), (&self.source_turn, &self.source_field)];
        let found = sides.into_iter().filter_map(|(scope, field)| {
            let (ix, turn) = scope.single(history)?;
            let value = field.find(turn).into_owned().into_owned();
            Some(Found { place: Some(words::turn(ix, turn)), read: field.to_string(), value, mismatch: None })
        });
        found.collect()
    }
}

impl Aggregation {
    /// The turns that were meant; only the first of them where that is what is asked for.
    fn found(&self, evidence: &Val<'_>) -> Vec<Found> {
        let Ok(history) = history(evidence) else { return Vec::new() };
        let most = if self.kind == AggregationKind::Count { usize::MAX } else { 1 };
        let meant = history.iter().enumerate().filter(|(_, turn)| self.filter.has(turn)).take(most);
        let found = meant.map(|(ix, turn)| Found {
            place: Some(words::turn(ix, turn)),
            read: "verify_result".to_owned(),
            value: turn.get("verify_result").map_or(Val::Null, |it| it.clone().into_owned()),
            mismatch: None,
        });
        found.collect()
    }
}

impl Found {
    fn judged(place: Option<String>, read: &str, value: &Val<'_>, judge: impl Fn(&Val<'_>) -> Judgement) -> Found {
        let mismatch = match judge(value) {
            Judgement::Failed(mismatch) => Some(*mismatch),
            Judgement::Passed | Judgement::Error(_) => None,
        };
        Found { place, read: read.to_owned(), value: value.clone().into_owned(), mismatch }
    }
}

impl Found {
    fn to_value(&self) -> Value {
        let place = self.place.as_ref().map(|it| ("place", Val::from(it.clone())));
        let expected = self.mismatch.as_ref().map(|it| ("expected", Val::from(it.expected.clone())));
        let read = [("read", Val::from(self.read.clone())), ("value", self.value.clone())];
        Val::Map(place.into_iter().chain(read).chain(expected).collect())
    }
}

impl Traced {
    fn of(outcome: Result<Value, OutcomeError>) -> Traced {
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
            Join::All => match self.parts.iter().find(|it| it.came_to.is(false)) {
                Some(part) => part.mismatch(),
                None => Mismatch { expected: self.words.clone(), found: "that it does not hold".to_owned() },
            },
            Join::Any => {
                let expected = format!("{}: {}", self.words, joined(self.parts.iter().map(Trace::whole)));
                let found = joined(self.failed().map(|it| it.mismatch().found));
                Mismatch { expected, found: if found.is_empty() { "nothing to choose from".to_owned() } else { found } }
            }
            Join::AtLeast(_) => {
                let n_held = self.parts.iter().filter(|it| it.came_to.is(true)).count();
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
        self.parts.iter().filter(|it| it.came_to.is(false))
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
        match &self.came_to {
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

/// A few of them; nobody reads more.
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
        let came_to = match &self.came_to {
            Traced::Value(Val::Bool(true)) => "holds".to_owned(),
            Traced::Value(Val::Bool(false)) => "does not hold".to_owned(),
            Traced::Value(value) => shown(value),
            Traced::Error(error) if self.parts.is_empty() => format!("error: {error}"),
            Traced::Error(_) => "error".to_owned(),
            Traced::NotEvaluated => "not evaluated".to_owned(),
        };
        let indent = "  ".repeat(depth);
        writeln!(f, "{indent}{}: {came_to}", self.words)?;
        for found in &self.found {
            let place = found.place.as_ref().map_or_else(String::new, |it| format!(" of {it}"));
            writeln!(f, "{indent}  `{}`{place}: {}", found.read, shown(&found.value))?;
        }
        self.parts.iter().try_for_each(|it| it.write(f, depth + 1))
    }
}
