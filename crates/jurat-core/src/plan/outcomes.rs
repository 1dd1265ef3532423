//! Outcomes that ask whether a fault happened. A conversation with a fault is an error, so no outcome is judged on it.

use jurat_format::codes;
use jurat_format::problem::{Problem, Problems};

use crate::evidence::failure::is_whole;
use crate::outcome::{Check, TurnTest, Wanted};
use crate::scenario::{Edge, FailureCategory, Status};
use crate::suite::{Suite, Task, TaskKind};

pub(super) fn examine(suite: &Suite, problems: &mut Problems) {
    for task in &suite.tasks {
        let TaskKind::Outcome(check) = &task.kind else { continue };
        // Stored conversations are rows, and rows are judged whatever they report.
        if task.scope.is_some() || suite.records.is_empty() {
            let fault = fault_asked(check, routes_failures(suite, task));
            problems.extend(fault.map(|it| never_judged(task, &it)));
        }
    }
}

/// Whether the conversations of a task may continue after a failure, so that a later turn makes up for it.
fn routes_failures(suite: &Suite, task: &Task) -> bool {
    let is_meant = |name: &str| task.scope.as_ref().is_none_or(|it| it.value == name);
    let scenarios = suite.scenarios.iter().filter(|it| is_meant(&it.name.value));
    scenarios.flat_map(|it| &it.scenario.edges).any(Edge::tests_failure)
}

/// The first fault that a check asks for, as it is written.
fn fault_asked(check: &Check, routes_failures: bool) -> Option<String> {
    match check {
        Check::Result(it) if it.field.as_str() == "status" && is_timeout(&it.wanted) => {
            Some(format!("status: {}", Status::Timeout.name()))
        }
        Check::Result(it) if it.field.as_str() == "terminal_failure.category" => category_of_fault(&it.wanted),
        Check::Turn(it) if !routes_failures => match &it.test {
            TurnTest::Field(field, wanted) if field.as_str() == "failure.category" => category_of_fault(wanted),
            _ => None,
        },
        _ => check.parts().iter().find_map(|it| fault_asked(it, routes_failures)),
    }
}

fn is_timeout(wanted: &Wanted) -> bool {
    let status = wanted.expected().as_str().filter(|_| is_whole(wanted.operator()));
    status.is_some_and(|it| it.trim().eq_ignore_ascii_case(Status::Timeout.name()))
}

fn category_of_fault(wanted: &Wanted) -> Option<String> {
    let category = FailureCategory::wanted(wanted.operator(), wanted.expected().as_str()?)?;
    (!category.is_of_subject()).then(|| format!("failure.category: {}", category.name()))
}

fn never_judged(task: &Task, fault: &str) -> Problem {
    let message =
        format!("`{fault}` never holds: a conversation with that fault is an error, and its outcomes are not judged");
    let problem = Problem::new(&codes::ALWAYS_SAME, message).at(task.span, "asks for a fault");
    problem
        .help("take it out: the report counts such conversations as errors, and `max_errors` tolerates a share of them")
}
