//! Where a conversation continues: a function of the state and of the edges that leave a node, and of nothing else.

use jurat_compare::{Comparison, Fault, Inapplicable, Judgement};
use jurat_format::value::{Val, Value, shown};

use super::state::{Place, State};
use super::{Condition, Edge, StateCheck};
use crate::template::definition::is_trace;

/// An edge with its checks compiled.
#[derive(Debug, Clone)]
pub struct CompiledEdge {
    pub edge: Edge,
    checks: Vec<Result<Comparison<'static>, Inapplicable>>,
}

impl CompiledEdge {
    pub fn new(edge: Edge) -> CompiledEdge {
        let mut checks = Vec::new();
        if let Some(condition) = &edge.when {
            compile(condition, &mut checks);
        }
        CompiledEdge { edge, checks }
    }
}

/// Compiles the checks of a condition, in the order that [`Testing`] comes upon them.
fn compile(condition: &Condition, checks: &mut Vec<Result<Comparison<'static>, Inapplicable>>) {
    match condition {
        Condition::Check(check) => checks.push(bound(check)),
        Condition::Checks(all) => checks.extend(all.iter().map(bound)),
        Condition::All(parts) | Condition::Any(parts) => parts.iter().for_each(|it| compile(it, checks)),
        Condition::Not(part) => compile(part, checks),
        Condition::Cel(_) | Condition::Callable(_) => {}
    }
}

fn bound(check: &StateCheck) -> Result<Comparison<'static>, Inapplicable> {
    if is_trace(&check.verify_with) {
        let name = check.verify_with.entry().name;
        let reason = format!("`{name}` is for the fields of a template: what was said is not in the state");
        return Err(Inapplicable { fault: Fault::Unsupported, reason });
    }
    check.verify_with.bind(check.expected.clone())
}

/// Where a conversation continues.
#[derive(Debug, Clone, PartialEq)]
pub enum Route {
    /// Along this edge, by its place among those of the node.
    Along(usize),
    /// Nowhere: no edge is left.
    Ends,
    /// The code of this edge has to be called first.
    Calls(usize),
    /// It cannot be decided, because of this edge.
    Unclear {
        /// Its place among those of the node.
        edge: usize,
        /// What kind of reason there is.
        fault: Fault,
        reason: String,
    },
}

/// What an edge that was tested saw.
#[derive(Debug, Clone, PartialEq)]
pub struct Tested {
    /// Its place among those of the node.
    pub edge: usize,
    /// Whether it holds; otherwise why that cannot be decided.
    pub held: Result<bool, String>,
    /// The paths it looked at, and what it found there.
    pub saw: Vec<(String, Value)>,
}

/// Finds the way among the edges that are open: the first whose condition holds, in the order of their definition; else the first without a
/// condition. `called` says what code answered that was called before, by edge.
pub fn route(
    edges: &[CompiledEdge],
    is_open: impl Fn(&Edge) -> bool,
    state: &State,
    called: &dyn Fn(usize) -> Option<Result<bool, String>>,
) -> (Route, Vec<Tested>) {
    let mut tested = Vec::new();
    let mut fallback = None;
    for (ix, ready) in edges.iter().enumerate().filter(|(_, it)| is_open(&it.edge)) {
        let Some(condition) = &ready.edge.when else {
            fallback = fallback.or(Some(ix));
            continue;
        };
        let mut testing = Testing { state, checks: &ready.checks, saw: Vec::new() };
        let held = match condition {
            Condition::Callable(_) => match called(ix) {
                Some(answer) => answer.map_err(|reason| (Fault::Content, reason)),
                None => return (Route::Calls(ix), tested),
            },
            condition => testing.holds(condition),
        };
        let saw = testing.saw;
        let outcome = held.as_ref().copied().map_err(|(_, reason)| reason.clone());
        tested.push(Tested { edge: ix, held: outcome, saw });
        match held {
            Ok(true) => return (Route::Along(ix), tested),
            Ok(false) => {}
            Err((fault, reason)) => return (Route::Unclear { edge: ix, fault, reason }, tested),
        }
    }
    (fallback.map_or(Route::Ends, Route::Along), tested)
}

/// Whether something holds, or why that cannot be decided: the kind of reason and the reason in words.
type Held = Result<bool, (Fault, String)>;

/// A condition that is being tested, part by part.
struct Testing<'t> {
    state: &'t State,
    /// The compiled checks that were not come upon yet.
    checks: &'t [Result<Comparison<'static>, Inapplicable>],
    saw: Vec<(String, Value)>,
}

impl Testing<'_> {
    /// Whether a condition holds; its parts are tested in order, until it is decided.
    fn holds(&mut self, condition: &Condition) -> Held {
        match condition {
            Condition::Check(check) => self.check(check),
            Condition::Checks(checks) => self.until(false, checks, Testing::check, |_| 1),
            Condition::All(parts) => self.until(false, parts, Testing::holds, n_checks),
            Condition::Any(parts) => self.until(true, parts, Testing::holds, n_checks),
            Condition::Not(part) => self.holds(part).map(|it| !it),
            Condition::Cel(expression) => {
                let names = self.state.names();
                for name in expression.names() {
                    self.saw.extend(names.get(name).map(|it| (name.clone(), it.borrowed().into_owned())));
                }
                expression.holds(&names).map_err(|it| (Fault::Content, it.to_string()))
            }
            Condition::Callable(_) => {
                Err((Fault::Unsupported, "code cannot be a part of another condition".to_owned()))
            }
        }
    }

    /// Tests parts until one decides the whole, and steps over the checks of the others.
    fn until<T>(
        &mut self,
        decides: bool,
        parts: &[T],
        test: fn(&mut Self, &T) -> Held,
        n_checks: fn(&T) -> usize,
    ) -> Held {
        let mut rest = parts.iter();
        while let Some(part) = rest.next() {
            if test(self, part)? == decides {
                self.checks = &self.checks[rest.map(n_checks).sum()..];
                return Ok(decides);
            }
        }
        Ok(!decides)
    }

    fn check(&mut self, check: &StateCheck) -> Held {
        let (comparison, rest) = self.checks.split_first().expect("each check was compiled");
        self.checks = rest;
        if let (Place::Accumulated(_), other) = (check.field.place(), &self.state.accumulated)
            && !matches!(other, Val::Map(_))
        {
            let reason = format!("`{}`: `accumulated` is {}, and not an object", check.field, shown(other));
            return Err((Fault::Kind, reason));
        }
        let found = self.state.find(&check.field).into_owned();
        let judged = judged(comparison, &found);
        self.saw.push((check.field.to_string(), found));
        judged.map_err(|it| (it.fault, format!("`{}`: {}", check.field, it.reason)))
    }
}

/// How many checks a condition has.
fn n_checks(condition: &Condition) -> usize {
    condition.checks().len()
}

fn judged(comparison: &Result<Comparison<'static>, Inapplicable>, found: &Val<'_>) -> Result<bool, Inapplicable> {
    match comparison.as_ref().map_err(Clone::clone)?.judge(found) {
        Judgement::Passed => Ok(true),
        Judgement::Failed(_) => Ok(false),
        Judgement::Error(inapplicable) => Err(*inapplicable),
    }
}
