//! Where a conversation goes on: a function of the state and of the edges that leave a node, and of nothing else.

use super::state::State;
use super::{Condition, Edge, StateCheck, Target};
use crate::compare::{Comparison, Fault, Inapplicable, Judgement};
use crate::value::{Val, Value};

/// An edge with its checks compiled.
#[derive(Debug, Clone)]
pub struct ReadyEdge {
    /// The edge.
    pub edge: Edge,
    checks: Vec<Result<Comparison<'static>, Inapplicable>>,
}

impl ReadyEdge {
    /// Compiles an edge.
    pub fn new(edge: Edge) -> ReadyEdge {
        let checks = match &edge.when {
            Some(Condition::Check(check)) => vec![bound(check)],
            Some(Condition::Checks(checks)) => checks.iter().map(bound).collect(),
            _ => Vec::new(),
        };
        ReadyEdge { edge, checks }
    }
}

fn bound(check: &StateCheck) -> Result<Comparison<'static>, Inapplicable> {
    check.verify_with.bind(check.expected.clone())
}

/// Where a conversation goes on.
#[derive(Debug, Clone, PartialEq)]
pub enum Route {
    /// Along this edge, by its place among those of the node.
    Along(usize),
    /// Nowhere: no edge is left.
    Ends,
    /// The code of this edge has to be called first.
    Calls(usize),
    /// Nobody can tell, because of this edge.
    Unclear {
        /// Its place among those of the node.
        edge: usize,
        /// What kind of reason there is.
        fault: Fault,
        /// The reason, in words.
        reason: String,
    },
}

/// What an edge that was tested saw.
#[derive(Debug, Clone, PartialEq)]
pub struct Tested {
    /// Its place among those of the node.
    pub edge: usize,
    /// Whether it holds; why nobody can tell, otherwise.
    pub held: Result<bool, String>,
    /// The paths it looked at, and what it found there.
    pub saw: Vec<(String, Value)>,
}

/// Finds the way: the first edge whose condition holds, in the order of their definition; else the first edge without a condition. `called` says
/// what code answered that was called before, by edge.
pub fn route(
    edges: &[ReadyEdge],
    state: &State,
    called: &dyn Fn(usize) -> Option<Result<bool, String>>,
) -> (Route, Vec<Tested>) {
    let mut tested = Vec::new();
    let mut fallback = None;
    for (ix, ready) in edges.iter().enumerate() {
        let Some(condition) = &ready.edge.when else {
            fallback = fallback.or(Some(ix));
            continue;
        };
        let mut saw = Vec::new();
        let held = match condition {
            Condition::Check(check) => holds(&ready.checks, std::slice::from_ref(check), state, &mut saw),
            Condition::Checks(checks) => holds(&ready.checks, checks, state, &mut saw),
            Condition::Cel(expression) => {
                let names = state.names();
                for name in expression.names() {
                    saw.extend(names.get(name).map(|it| (name.clone(), it.borrowed().into_owned())));
                }
                expression.holds(&names).map_err(|it| (Fault::Content, it.to_string()))
            }
            Condition::Callable(_) => match called(ix) {
                Some(answer) => answer.map_err(|reason| (Fault::Content, reason)),
                None => return (Route::Calls(ix), tested),
            },
        };
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

/// Whether all checks hold, tested in order until one does not.
fn holds(
    comparisons: &[Result<Comparison<'static>, Inapplicable>],
    checks: &[StateCheck],
    state: &State,
    saw: &mut Vec<(String, Value)>,
) -> Result<bool, (Fault, String)> {
    for (check, comparison) in checks.iter().zip(comparisons) {
        let found = state.find(&check.field).into_owned();
        let judged = judged(comparison, &found);
        saw.push((check.field.to_string(), found));
        match judged {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(it) => return Err((it.fault, format!("`{}`: {}", check.field, it.reason))),
        }
    }
    Ok(true)
}

fn judged(comparison: &Result<Comparison<'static>, Inapplicable>, found: &Val<'_>) -> Result<bool, Inapplicable> {
    match comparison.as_ref().map_err(Clone::clone)?.judge(found) {
        Judgement::Passed => Ok(true),
        Judgement::Failed(_) => Ok(false),
        Judgement::Error(inapplicable) => Err(*inapplicable),
    }
}

/// Where an edge leads, for those who only have its place.
pub fn target(edges: &[ReadyEdge], route: &Route) -> Option<Target> {
    match route {
        Route::Along(ix) => edges.get(*ix).map(|it| it.edge.target.clone()),
        _ => None,
    }
}
