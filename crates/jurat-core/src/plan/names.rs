//! Names that point outside the graph: dimensions and thresholds; and what thresholds leave out.

use std::collections::HashSet;

use jurat_format::problem::{Problem, Problems, listed_all, nearest};
use jurat_format::{codes, id::same_id};

use super::graph::Graph;
use crate::check::DIMENSIONS;
use crate::section::lost::Part;
use crate::suite::{Suite, Task, TaskKind};

pub(super) fn examine(suite: &Suite, graph: &Graph, problems: &mut Problems) {
    let declared = suite.dimensions.iter().map(|it| it.value.as_str());
    let dimensions: Vec<&str> = DIMENSIONS.into_iter().chain(declared).collect();
    let known: HashSet<&str> = dimensions.iter().copied().collect();
    for name in suite.tasks.iter().flat_map(|it| &it.dimensions) {
        let is_unknown = !known.contains(name.value.as_str()) && !suite.lost.any(Part::Dimension);
        if is_unknown && problems.has_room(&codes::UNKNOWN_DIMENSION) {
            let message = format!("there is no dimension `{}`", name.value);
            let problem = Problem::new(&codes::UNKNOWN_DIMENSION, message).at(name.span, "unknown dimension");
            let near = nearest(&name.value, dimensions.iter().copied());
            let problem = match near.and_then(|near| suite.dimensions.iter().find(|it| it.value == near)) {
                Some(declared) => problem.at(declared.span, "a dimension with a similar name"),
                None => problem,
            };
            let known = listed_all(dimensions.iter().copied());
            let help = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
            problems.push(problem.help(format!("{help}there are {known}; declare others under `dimensions`")));
        }
    }
    let thresholds = &suite.thresholds;
    let conditions = suite.gates.iter().flat_map(|it| &it.conditions);
    let of_gates = conditions.filter_map(|it| it.selector.task.as_ref()).filter(|it| it.value != "*");
    let of_thresholds = thresholds.tasks.iter().map(|it| &it.task).chain(thresholds.weights.iter().map(|(id, _)| id));
    let mut has_unknown = false;
    for id in of_thresholds.chain(of_gates) {
        let is_unknown = !graph.has(&id.value) && !suite.lost.has(Part::Task, &id.value);
        has_unknown |= is_unknown;
        if is_unknown && problems.has_room(&codes::UNKNOWN_TASK) {
            let problem = Problem::new(&codes::UNKNOWN_TASK, format!("there is no task `{}`", id.value))
                .at(id.span, "unknown task");
            let near = nearest(&id.value, suite.tasks.iter().map(|it| it.id.value.as_str()));
            let place = near.and_then(|near| suite.tasks.iter().find(|it| it.id.value == near));
            problems.push(match place {
                Some(task) => problem
                    .at(task.id.span, "a task with a similar id")
                    .help(format!("did you mean `{}`?", task.id.value)),
                None => problem.help("a threshold or a gate names a task of this suite"),
            });
        }
    }
    unmeasured_scores(suite, problems);
    unmeasured_latency(suite, problems);
    // A misspelt id says nothing about which tasks are meant to be left out.
    problems.extend(no_threshold(suite).filter(|_| !has_unknown));
    problems.extend(unused_weights(suite));
}

/// Thresholds on single tasks take the place of the rule that nothing may fail, so all other tasks decide nothing.
fn no_threshold(suite: &Suite) -> Option<Problem> {
    let thresholds = &suite.thresholds;
    let first = thresholds.tasks.first().filter(|_| thresholds.leave_out_tasks())?;
    let is_left_out = |it: &&Task| it.gate.is_counted() && can_fail(suite, it) && !thresholds.names(&it.id.value);
    let left_out: Vec<&Task> = suite.tasks.iter().filter(is_left_out).collect();
    let task = left_out.first()?;
    let mut ids: Vec<&str> = left_out.iter().map(|it| it.id.value.as_str()).collect();
    ids.dedup();
    let fails = if ids.len() == 1 { "which may fail" } else { "which may all fail" };
    let message = format!("no threshold is about {}, {fails} without failing the run", listed_all(ids));
    let problem = Problem::new(&codes::NO_THRESHOLD, message).at(first.task.span, "single tasks decide");
    let problem = problem.at(task.id.span, "decides nothing");
    Some(problem.help("give each a threshold, 0 where failures do not matter; or say what all tasks must reach with `pass_rate` or `cases`"))
}

/// Whether a task certainly passes or fails. Of an expression that gives what a row has, that is not known.
fn can_fail(suite: &Suite, task: &Task) -> bool {
    match &task.kind {
        TaskKind::Cel(it) if task.comparison.is_none() => it.expression.is_boolean(),
        _ => suite.decides(task),
    }
}

/// Weights say how much tasks count in a pass rate that nothing asks for.
fn unused_weights(suite: &Suite) -> Option<Problem> {
    let (id, _) = suite.thresholds.weights.first().filter(|_| suite.thresholds.pass_rate.is_none())?;
    let message = "`weights` have no effect without `pass_rate`";
    let problem = Problem::new(&codes::UNUSED_WEIGHTS, message).at(id.span, "weighs in nothing");
    Some(
        problem.help(
            "add the pass rate that the weighted tasks must reach, such as `pass_rate: 0.9`, or leave `weights` out",
        ),
    )
}

/// A comparison of data passes or fails; only tasks that ask something give scores.
fn unmeasured_scores(suite: &Suite, problems: &mut Problems) {
    for threshold in &suite.thresholds.tasks {
        let Some((statistic, _)) = threshold.score.first() else { continue };
        let mut tasks = suite.tasks.iter().filter(|it| same_id(&it.id.value, &threshold.task.value)).peekable();
        if tasks.peek().is_some() && tasks.all(|it| matches!(it.kind, TaskKind::Assert)) {
            let id = &threshold.task.value;
            let message = format!("`{id}` has no score, so it can have no {}", statistic.value);
            let problem = Problem::new(&codes::UNMEASURED_THRESHOLD, message);
            problems.push(
                problem
                    .at(statistic.span, "of which score?")
                    .help("judges, evaluators and outcomes give scores; an assertion has a `pass_rate`"),
            );
        }
    }
}

/// Recorded answers took the time that they took: only what a run asks for is timed.
fn unmeasured_latency(suite: &Suite, problems: &mut Problems) {
    let Some(latency) = &suite.thresholds.latency else { return };
    let asks = suite.ask.is_some() || suite.lost.any(Part::Ask) || suite.defines_cases();
    if !asks && !suite.lost.any(Part::Case) {
        let message = "this suite asks no subject, so there is no latency";
        let problem = Problem::new(&codes::UNMEASURED_THRESHOLD, message).at(latency.span, "of which answers?");
        problems.push(problem.help(
            "the answers are recorded; to judge a latency that your rows have, compare it in a task with `less_than`",
        ));
    }
}
