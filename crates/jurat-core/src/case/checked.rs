//! What checks come to: of a whole scenario, and of what an agent did.

use jurat_compare::Judgement;
use jurat_format::value::{Context, Val, Value, shown};

use crate::check::{HookAnswer, Seen};
use crate::effect::Outcome;
use crate::evidence::fault::of_scenario;
use crate::judge::Ballot;
use crate::outcome::Check;
use crate::plan::PlannedTask;
use crate::suite::Gate;
use crate::verdict::Verdict;

/// What a check of a whole scenario comes to, and what follows. A row may be the evidence of a scenario that ran elsewhere, faults included.
pub(super) fn checked(check: &Check, task: &PlannedTask, context: Context<'_>) -> Ballot {
    if let Some(verdict) = of_scenario(context.base) {
        return Ballot { verdict, output: None, said: Vec::new() };
    }
    let value = match check.evaluate(context.base) {
        Ok(value) => value,
        Err(error) => return Ballot { verdict: Verdict::error(error.to_string()), output: None, said: Vec::new() },
    };
    let verdict = match (&task.assertion, &value) {
        (Some(assertion), value) => assertion.judge_reply(value, context).into(),
        (None, Val::Bool(true)) => Verdict::Passed,
        (None, Val::Bool(false)) => Verdict::Failed(Box::new(check.trace(context.base).mismatch())),
        (None, other) if task.gate != Gate::None => {
            Verdict::error(format!("{check} gives {}, and a gate needs true or false", shown(other)))
        }
        (None, _) => Verdict::Measured,
    };
    Ballot { verdict, output: Some(value), said: Vec::new() }
}

/// What a check of a run comes to, and what follows.
pub(super) fn run_checked(judgement: Judgement, task: &PlannedTask, context: Context<'_>) -> Ballot {
    let output = match judgement {
        Judgement::Passed => Some(Val::Bool(true)),
        Judgement::Failed(_) => Some(Val::Bool(false)),
        Judgement::Error(_) => None,
    };
    let verdict = match (&task.assertion, &output) {
        (Some(assertion), Some(value)) => assertion.judge_reply(value, context).into(),
        _ => judgement.into(),
    };
    Ballot { verdict, output, said: Vec::new() }
}

/// What was seen, or what a check that could not look ends with.
pub(super) fn seen(outcome: Outcome) -> Result<Vec<Seen>, Verdict> {
    let value = value_of(outcome)?;
    let seen = value.as_list().and_then(|it| it.iter().map(Seen::from_value).collect());
    seen.ok_or_else(|| Verdict::error("what was seen of the files cannot be read"))
}

/// What a hook answered, or what its check ends with.
pub(super) fn answered(outcome: Outcome) -> Result<HookAnswer, Verdict> {
    let value = value_of(outcome)?;
    HookAnswer::from_value(&value).ok_or_else(|| Verdict::error("what the hook answered cannot be read"))
}

/// What a deed came to.
fn value_of(outcome: Outcome) -> Result<Value, Verdict> {
    match outcome {
        Outcome::Returned(returned) if returned.is_error => {
            Err(Verdict::error(returned.value.as_str().unwrap_or_default()))
        }
        Outcome::Returned(returned) => Ok(returned.value),
        Outcome::Fault(fault) => Err(Verdict::error(fault.message)),
        Outcome::NotRun(reason) => Err(Verdict::NotRun(reason)),
        Outcome::Answer(_) => Err(Verdict::error("a model does not do that")),
    }
}
