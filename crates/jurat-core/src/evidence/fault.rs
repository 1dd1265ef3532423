//! Whether evidence is incomplete because of a fault: of an endpoint, a tool, a judge that reads answers, or the author's own definition.
//!
//! Such a fault says nothing about the subject, and neither does what is left: a case with one is an error, whatever its tasks would
//! conclude. What the subject itself did, a refusal or more turns than it may take, is evidence like any other.

use jurat_format::value::Val;

use super::failure::FailureCategory;
use crate::artifact::RunStatus;
use crate::task_index::CaseKind;
use crate::verdict::{StopReason, Verdict};

/// What a case ends with because a fault left its evidence incomplete.
pub fn fault(kind: CaseKind, evidence: &Val<'_>) -> Option<Verdict> {
    match kind {
        CaseKind::Records => None,
        CaseKind::Cases => of_run(evidence),
        CaseKind::Scenarios => of_scenario(evidence),
    }
}

/// The same for the run of an agent: its endpoint failed, it could not be started, or the budget was used up before it was done.
pub fn of_run(evidence: &Val<'_>) -> Option<Verdict> {
    let error = evidence.get("error");
    let part = |key: &str| error.map_or("", |it| text(it, key));
    let reason = match text(evidence, "status") {
        status if status == RunStatus::ProviderError.name() => "the endpoint of the agent's model failed",
        // What it had spent by then is in the artifact.
        _ if part("code") == BUDGET_SPENT => return Some(Verdict::NotRun(StopReason::Budget)),
        _ if part("code") == NOT_STARTED => "the agent could not be started",
        _ if part("error_type") == CONFIGURATION => "the agent refused its configuration",
        _ => return None,
    };
    let message = part("message");
    let because = if message.is_empty() { String::new() } else { format!(": {message}") };
    Some(Verdict::error(format!("{reason}{because}")))
}

/// The code of the error of a run that was stopped because the budget of all cases was used up.
pub const BUDGET_SPENT: &str = "limit_budget";

/// The code of the error of a run that never began.
pub const NOT_STARTED: &str = "not_started";

/// The type of the error of a run whose program refused its configuration.
pub const CONFIGURATION: &str = "configuration";

/// The same for a conversation: what ended it, else the first turn that is not as it would have been.
pub(crate) fn of_scenario(evidence: &Val<'_>) -> Option<Verdict> {
    let history = evidence.get("history").and_then(Val::as_list).unwrap_or_default();
    if let Some(failure) = evidence.get("terminal_failure").filter(|it| is_fault(it)) {
        // Conversations that ran elsewhere may leave out the turn that failed.
        let (n_turns, node) = (history.len().max(1), text(failure, "node_id"));
        return Some(Verdict::error(format!(
            "the conversation ended at turn {n_turns} (`{node}`): {}",
            words(failure)
        )));
    }
    (1..).zip(history).find_map(|(number, turn)| {
        let reason = unanswered(turn).map(words).or_else(|| unrated(turn));
        let reason = reason.filter(|_| !is_repeated(turn, &history[number..]));
        let reason = reason.or_else(|| turn.get("update_error").map(|it| format!("{NOT_UPDATED}: {}", plain(it))))?;
        Some(Verdict::error(format!("turn {number} (`{}`): {reason}", text(turn, "node_id"))))
    })
}

/// The fault that left a turn without an answer, or with one that could not be read.
#[inline(always)]
pub(crate) fn unanswered<'t>(turn: &'t Val<'_>) -> Option<&'t Val<'t>> {
    turn.get("failure").filter(|it| is_fault(it)).map(|it| it as &Val<'_>)
}

/// Why an answer could not be rated by a trait of its rubric.
fn unrated(turn: &Val<'_>) -> Option<String> {
    let (name, reason) = turn.get("rubric_errors")?.as_map()?.iter().next()?;
    Some(format!("the answer could not be rated by `{name}`: {}", plain(reason)))
}

/// Whether a later turn asked the same, and was answered and rated: an edge led back.
fn is_repeated(turn: &Val<'_>, later: &[Val<'_>]) -> bool {
    let is_whole = |it: &Val<'_>| unanswered(it).is_none() && unrated(it).is_none();
    later.iter().any(|it| it.get("node_id") == turn.get("node_id") && is_whole(it))
}

/// Whether a failure is a fault, and not the subject's doing.
fn is_fault(failure: &Val<'_>) -> bool {
    let category = failure.get("category").and_then(Val::as_str);
    category.is_some_and(|it| !FailureCategory::named(it).is_some_and(FailureCategory::is_of_subject))
}

const NOT_UPDATED: &str = "the state could not be updated";

/// What went wrong, with the reason.
pub(crate) fn words(failure: &Val<'_>) -> String {
    let what = match text(failure, "stage") {
        "generate_answer" => "no answer from the subject",
        "parse_template" => "the answer could not be read",
        "verify_template" => "the answer could not be verified",
        "state_update" => NOT_UPDATED,
        "routing" => "the next node could not be found",
        "tools" => "its tools are not available",
        "question" => "its question could not be filled",
        "handover" => "the handover failed",
        _ => text(failure, "category"),
    };
    match text(failure, "reason") {
        "" => what.to_owned(),
        reason => format!("{what}: {reason}"),
    }
}

fn text<'e>(value: &'e Val<'_>, key: &str) -> &'e str {
    value.get(key).and_then(Val::as_str).unwrap_or_default()
}

fn plain(value: &Val<'_>) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
