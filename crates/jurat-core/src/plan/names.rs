//! Names that point outside the graph: dimensions and thresholds.

use std::collections::HashSet;

use jurat_format::problem::{Problem, Problems, listed_all, nearest};
use jurat_format::{codes, id::same_id};

use super::graph::Graph;
use crate::check::DIMENSIONS;
use crate::suite::lost::Part;
use crate::suite::{Suite, TaskKind};

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
    for id in of_thresholds.chain(of_gates) {
        let is_unknown = !graph.has(&id.value) && !suite.lost.has(Part::Task, &id.value);
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
