//! Gates: what they lead to, and whether they can all be open at once.

use std::cmp::Ordering;

use super::context::{self, Source};
use super::graph::Graph;
use super::types;
use crate::compare::{Comparison, Judgement};
use crate::suite::problem::Problem;
use crate::suite::{ExpectedValue, Gate, Suite, Task, TaskKind, codes};
use crate::value::{Kind, Kinds, Span, Spanned, Step, Val, Value, compare_numbers};

pub(super) fn examine(suite: &Suite, graph: &Graph, problems: &mut Vec<Problem>) {
    let counted = |it: &Task| it.gate != Gate::Condition && it.comparison.is_some();
    let is_lost = suite.lost.tasks || !suite.lost.task_ids.is_empty() || suite.tasks.iter().any(|it| it.is_flawed);
    if !suite.tasks.is_empty() && !is_lost && !suite.tasks.iter().any(counted) {
        problems.push(nothing_judged(suite));
    }
    let mut blamed: Vec<(usize, usize)> = Vec::new();
    // Names that lead nowhere and cycles come first: nothing follows from half a graph.
    if !graph.is_whole {
        return;
    }
    for (ix, task) in suite.tasks.iter().enumerate() {
        if task.gate == Gate::Condition && !graph.depends_on.iter().flatten().any(|it| it.index() == ix) {
            problems.push(unused_gate(task));
        }
        let gates: Vec<usize> =
            graph.ancestors(ix).into_iter().filter(|it| suite.tasks[*it].gate != Gate::None).collect();
        if let Some((first, second)) = contradiction(suite, graph, &gates)
            && !blamed.contains(&(first, second))
        {
            // What lies behind a task that never runs never runs either; one problem for each pair is enough.
            blamed.push((first, second));
            problems.push(never_runs(task, &suite.tasks[first], &suite.tasks[second]));
        }
    }
}

fn nothing_judged(suite: &Suite) -> Problem {
    let problem = Problem::new(&codes::NOTHING_JUDGED, "no task of this suite can pass or fail");
    let problem = match suite.tasks.first() {
        Some(task) => problem.at(task.id.span, "this and all others only measure or route"),
        None => problem,
    };
    problem.help("give a task an `operator`, so that there is something to count")
}

fn unused_gate(task: &Task) -> Problem {
    let message = format!("nothing depends on the gate `{}`", task.id.value);
    let problem =
        Problem::new(&codes::UNUSED_GATE, message).at(task.id.span, "decides about nothing, and is not counted");
    problem.help("name it in the `depends_on` of what it should decide about, or drop `condition`")
}

fn never_runs(task: &Task, first: &Task, second: &Task) -> Problem {
    let message =
        format!("`{}` can never run: `{}` and `{}` cannot both pass", task.id.value, first.id.value, second.id.value);
    Problem::new(&codes::NEVER_RUNS, message)
        .at(task.id.span, "waits for both")
        .at(claim_span(first), "must pass")
        .at(claim_span(second), "must pass too")
        .help("let it depend on one of them only, or make two tasks of it")
}

fn claim_span(task: &Task) -> Span {
    let comparison = task.comparison.as_ref();
    comparison.map_or(task.id.span, |it| it.expected.as_ref().map_or(it.operator.span, |it| it.span))
}

/// What a gate that passed says about a value: where the value stands, and what it must be.
struct Claim<'s> {
    gate: usize,
    /// The task whose output it is, or the data.
    of: Option<&'s str>,
    steps: Vec<Step>,
    comparison: Comparison<'static>,
    operator: &'static str,
    operand: Option<Value>,
    domain: Option<Vec<Value>>,
}

/// Two gates that cannot both pass.
fn contradiction(suite: &Suite, graph: &Graph, gates: &[usize]) -> Option<(usize, usize)> {
    if gates.len() < 2 {
        return None;
    }
    let claims: Vec<Claim<'_>> = gates.iter().flat_map(|gate| claims(suite, graph, *gate)).collect();
    for (ix, first) in claims.iter().enumerate() {
        for second in &claims[ix + 1..] {
            if first.gate != second.gate
                && first.of == second.of
                && first.steps == second.steps
                && exclude_each_other(first, second)
            {
                return Some((first.gate.min(second.gate), first.gate.max(second.gate)));
            }
        }
    }
    None
}

/// A gate claims something about the value it compares; and that its own output is true, when it is an assertion.
fn claims<'s>(suite: &'s Suite, graph: &Graph, gate: usize) -> Vec<Claim<'s>> {
    let task = &suite.tasks[gate];
    let Some(comparison) = &task.comparison else { return Vec::new() };
    let mut claims = Vec::new();
    if let (Some(fixed), None) = (comparison.fixed(), &comparison.item_path) {
        let steps = comparison.path.as_ref().map(|it| it.value.steps().to_vec()).unwrap_or_default();
        let operand = match &comparison.expected {
            Some(Spanned { value: ExpectedValue::Literal(value), .. }) => Some(value.clone()),
            _ => None,
        };
        let (of, steps) = match (&task.kind, &comparison.path) {
            (TaskKind::Judge(_), _) => (Some(task.id.value.as_str()), steps),
            (TaskKind::Assert, Some(path)) => match context::source(suite, graph, gate, &path.value, None) {
                Source::Output(other) => (Some(other.id.value.as_str()), steps[1..].to_vec()),
                _ => (None, steps),
            },
            (TaskKind::Assert, None) => (None, steps),
        };
        let shape = types::compared_shape(suite, graph, gate, comparison, None);
        let domain = shape.as_ref().and_then(types::domain);
        claims.push(Claim { gate, of, steps, operator: fixed.entry().name, comparison: fixed, operand, domain });
    }
    claims
}

/// Whether no value could satisfy both.
fn exclude_each_other(first: &Claim<'_>, second: &Claim<'_>) -> bool {
    let passes = |claim: &Claim<'_>, value: &Value| claim.comparison.judge(value) == Judgement::Passed;
    if let Some(domain) = first.domain.as_ref().or(second.domain.as_ref()) {
        return !domain.iter().any(|it| passes(first, it) && passes(second, it));
    }
    for (claim, other) in [(first, second), (second, first)] {
        // Equality leaves one value, and the other claim can be asked about it. A list may hold it as an item.
        if let ("Equals", Some(operand)) = (claim.operator, &claim.operand) {
            return !passes(other, operand) && !matches!(operand, Val::List(_));
        }
    }
    let kinds = |claim: &Claim<'_>| claim.comparison.entry().passes;
    let shared = kinds(first).intersection(kinds(second));
    let about_lists = |claim: &Claim<'_>| claim.comparison.entry().may_pass(Kind::List);
    if shared.is_empty() && !(about_lists(first) && about_lists(second)) {
        return true;
    }
    are_opposites(first, second) || (shared == Kinds::of(&[Kind::Number]) && do_not_meet(first, second))
}

/// Pairs of which one is the other's negation, on the same operand.
fn are_opposites(first: &Claim<'_>, second: &Claim<'_>) -> bool {
    const OPPOSITES: [(&str, &str); 4] = [
        ("IsEmpty", "IsNotEmpty"),
        ("Contains", "NotContains"),
        ("InRange", "NotInRange"),
        ("ContainsAll", "ContainsNone"),
    ];
    let named = |left: &str, right: &str| {
        (first.operator, second.operator) == (left, right) || (second.operator, first.operator) == (left, right)
    };
    let no_operand = |claim: &Claim<'_>| claim.operator.starts_with("Is");
    let empty_list = |claim: &Claim<'_>| matches!(&claim.operand, Some(Val::List(items)) if items.is_empty());
    OPPOSITES.iter().any(|(left, right)| named(left, right))
        && (no_operand(first) || first.operand == second.operand)
        && !empty_list(first)
}

/// Whether two claims about numbers leave no number: `less_than 3` and `greater_than 5`.
fn do_not_meet(first: &Claim<'_>, second: &Claim<'_>) -> bool {
    let (Some((low, low_open, high, high_open)), Some(other)) = (interval(first), interval(second)) else {
        return false;
    };
    let apart = |high: &Option<Value>, high_open: bool, low: &Option<Value>, low_open: bool| match (high, low) {
        (Some(high), Some(low)) => match compare_numbers(high, low) {
            Some(Ordering::Less) => true,
            Some(Ordering::Equal) => high_open || low_open,
            _ => false,
        },
        _ => false,
    };
    apart(&high, high_open, &other.0, other.1) || apart(&other.2, other.3, &low, low_open)
}

type Interval = (Option<Value>, bool, Option<Value>, bool);

/// The numbers that pass: lowest, whether it is left out, highest, whether it is left out.
fn interval(claim: &Claim<'_>) -> Option<Interval> {
    let zero = || Some(Val::I(0));
    let operand = || claim.operand.clone().filter(|it| it.kind() == Kind::Number);
    Some(match claim.operator {
        "GreaterThan" => (operand(), true, None, false),
        "GreaterThanOrEqual" => (operand(), false, None, false),
        "LessThan" => (None, false, operand(), true),
        "LessThanOrEqual" => (None, false, operand(), false),
        "IsPositive" => (zero(), true, None, false),
        "IsNegative" => (None, false, zero(), true),
        "IsZero" => (zero(), false, zero(), false),
        "InRange" => match claim.operand.as_ref()?.as_list()? {
            [low, high] => (Some(low.clone()), false, Some(high.clone()), false),
            _ => return None,
        },
        _ => return None,
    })
}
