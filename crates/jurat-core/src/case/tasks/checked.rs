//! The results of checks: of a whole scenario, and of what an agent did.

use jurat_compare::expression::Expression;
use jurat_compare::{Judgement, Mismatch};
use jurat_format::value::{Context, Val, Value, shown};

use super::task::TaskState;
use crate::check::{Check as RunCheck, HookAnswer, Seen, not_allowed};
use crate::effect::{Action, Outcome};
use crate::evidence::fault::of_scenario;
use crate::judge::TaskResult;
use crate::outcome::Check;
use crate::plan::PlannedTask;
use crate::verdict::Verdict;

/// The result of a check of a whole scenario, and what follows. A row may be the evidence of a scenario that ran elsewhere, faults included.
pub(super) fn outcome(check: &Check, task: &PlannedTask, context: Context<'_>) -> TaskState {
    if let Some(verdict) = of_scenario(context.base) {
        return TaskState::ended(verdict);
    }
    let value = match check.evaluate(context.base) {
        Ok(value) => value,
        Err(error) => return TaskState::failed(error.to_string()),
    };
    let verdict = match (&task.then, &value) {
        (Some(assertion), value) => assertion.judge_reply(value, context).into(),
        (None, Val::Bool(true)) => Verdict::Passed,
        (None, Val::Bool(false)) => Verdict::Failed(Box::new(check.trace(context.base).mismatch())),
        (None, other) if task.gate.routes() => {
            Verdict::error(format!("{check} gives {}, and a gate needs true or false", shown(other)))
        }
        (None, _) => Verdict::Measured,
    };
    TaskState::Done(TaskResult { verdict, output: Some(value), said: Vec::new() })
}

/// What an expression gives, and what follows: true passes and false fails; anything else is measured, or compared.
pub(super) fn cel(expression: &Expression, task: &PlannedTask, context: Context<'_>) -> TaskState {
    let whole = context.whole();
    let value = match expression.evaluate(&whole) {
        Ok(value) => value,
        Err(error) => return TaskState::failed(error.to_string()),
    };
    let verdict = match (&task.then, &value) {
        (Some(assertion), value) => assertion.judge_reply(value, context).into(),
        (None, Val::Bool(true)) => Verdict::Passed,
        (None, Val::Bool(false)) => Verdict::Failed(Box::new(not_true(expression, &whole))),
        (None, Val::Null) => Verdict::error(format!("`{}` gives null, which says nothing", expression.source())),
        (None, other) if task.gate.routes() => {
            let source = expression.source();
            Verdict::error(format!("`{source}` gives {}, and a gate needs true or false", shown(other)))
        }
        (None, _) => Verdict::Measured,
    };
    TaskState::Done(TaskResult { verdict, output: Some(value), said: Vec::new() })
}

/// An expression that is false, with what it read.
fn not_true(expression: &Expression, context: &Val<'_>) -> Mismatch {
    let read = expression.names().iter().filter_map(|name| Some(format!("`{name}` is {}", shown(context.get(name)?))));
    let read: Vec<String> = read.collect();
    let found = if read.is_empty() { "false".to_owned() } else { format!("false, where {}", read.join(", ")) };
    Mismatch { expected: format!("`{}` to be true", expression.source()), found }
}

/// Begins a check of a run: it is decided at once, or something has to be looked at or called first.
pub(super) fn begin(check: &RunCheck, task: &PlannedTask, allows_hooks: bool, context: Context<'_>) -> TaskState {
    if let Some(hook) = check.hook() {
        if !allows_hooks {
            return run_checked(not_allowed(), task, context);
        }
        let (hook, check_id, description) = (hook.clone(), task.id.clone(), task.description.clone());
        return TaskState::Acting(Action::Hook { hook, check_id, description });
    }
    match check.looks(context.base) {
        looks if looks.is_empty() => run_checked(check.decide(context.base, &[]), task, context),
        looks => TaskState::Acting(Action::Look { looks }),
    }
}

/// Decides a check of a run by what was seen, or by what its hook returned.
pub(super) fn returned(check: &RunCheck, task: &PlannedTask, outcome: Outcome, context: Context<'_>) -> TaskState {
    let judgement = match check.hook() {
        Some(hook) => answered(outcome).map(|it| it.judgement(hook)),
        None => seen(outcome).map(|it| check.decide(context.base, &it)),
    };
    match judgement {
        Ok(judgement) => run_checked(judgement, task, context),
        Err(verdict) => TaskState::ended(verdict),
    }
}

/// The result of a check of a run, and what follows.
fn run_checked(judgement: Judgement, task: &PlannedTask, context: Context<'_>) -> TaskState {
    let output = match judgement {
        Judgement::Passed => Some(Val::Bool(true)),
        Judgement::Failed(_) => Some(Val::Bool(false)),
        Judgement::Error(_) => None,
    };
    let verdict = match (&task.then, &output) {
        (Some(assertion), Some(value)) => assertion.judge_reply(value, context).into(),
        _ => judgement.into(),
    };
    TaskState::Done(TaskResult { verdict, output, said: Vec::new() })
}

/// What was seen, or what a check that could not look ends with.
fn seen(outcome: Outcome) -> Result<Vec<Seen>, Verdict> {
    let value = value_of(outcome)?;
    let seen = value.as_list().and_then(|it| it.iter().map(Seen::from_value).collect());
    seen.ok_or_else(|| Verdict::error("what was seen of the files cannot be read"))
}

/// What a hook answered, or what its check ends with.
fn answered(outcome: Outcome) -> Result<HookAnswer, Verdict> {
    let value = value_of(outcome)?;
    HookAnswer::from_value(&value).ok_or_else(|| Verdict::error("what the hook answered cannot be read"))
}

/// The result of an action.
fn value_of(outcome: Outcome) -> Result<Value, Verdict> {
    match outcome {
        Outcome::Returned(returned) if returned.is_error => {
            Err(Verdict::error(returned.value.as_str().unwrap_or_default()))
        }
        Outcome::Returned(returned) => Ok(returned.value),
        Outcome::Fault(fault) => Err(Verdict::error(fault.message)),
        Outcome::NotRun(reason) => Err(Verdict::NotRun(reason)),
        Outcome::Answer(_) | Outcome::Ran(_) => Err(Verdict::error("a model does not do that")),
    }
}
