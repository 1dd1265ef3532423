//! The evidence of a scenario: what [`crate::scenario::Execution`] says of itself, and what can be concluded from how it ended.

use crate::outcome::{Check, TurnTest};
use crate::scenario::FailureCategory;
use crate::value::{FieldPath, Val};
use crate::verdict::Verdict;

/// The names that the evidence of a scenario has.
pub const KEYS: [&str; 10] = [
    "scenario_id",
    "status",
    "path",
    "turn_count",
    "history",
    "final_state",
    "outcome_results",
    "outcome_errors",
    "terminal_failure",
    "replicate",
];

/// Why nothing can be concluded from a conversation: it was cut short by something that says nothing about the subject.
pub fn cut_short(evidence: &Val<'_>) -> Option<Verdict> {
    let failure = evidence.get("terminal_failure")?;
    let part = |key: &str| failure.get(key).and_then(Val::as_str).unwrap_or_default();
    let category = FailureCategory::named(part("category"))?;
    // How long a conversation may take is for its author to say; that it took longer is about the subject.
    let is_limit = evidence.get("status").and_then(Val::as_str) == Some("timeout");
    if category.is_of_subject() || is_limit {
        return None;
    }
    let n_turns = evidence.get("history").and_then(Val::as_list).map_or(0, <[_]>::len);
    let (node, stage, reason) = (part("node_id"), part("stage"), part("reason"));
    Some(Verdict::error(format!("the scenario ended at turn {n_turns} (`{node}`): {stage} failed: {reason}")))
}

/// The members of the evidence that say how a conversation ended. What looks at them knows what to make of it.
const OF_THE_END: [&str; 3] = ["status", "terminal_failure", "outcome_errors"];

/// Whether a path leads to how a conversation ended.
pub fn is_of_the_end(path: &FieldPath) -> bool {
    path.root().is_some_and(|root| OF_THE_END.contains(&root))
}

/// Whether a criterion looks at how a conversation ended, or at how a turn failed.
pub fn looks_at_the_end(check: &Check) -> bool {
    let in_text = |source: &str| OF_THE_END.iter().any(|it| source.contains(it)) || source.contains("failure");
    match check {
        Check::Result(it) => OF_THE_END.contains(&it.field.part()),
        Check::Turn(it) => match &it.test {
            TurnTest::Field(field, _) => field.part() == "failure",
            TurnTest::Cel(expression) => in_text(expression.source()),
        },
        Check::Cel(expression) => in_text(expression.source()),
        Check::CrossTurn(_) | Check::Aggregation(_) | Check::Code(_) => false,
        Check::AllOf(_) | Check::AnyOf(_) | Check::AtLeast { .. } | Check::Not(_) => {
            check.parts().iter().any(looks_at_the_end)
        }
    }
}
