//! Tasks that compare a value of the evidence, and tasks that ask models about it.

use jurat_compare::Assertion;
use jurat_format::value::{Context, Val};

use super::evaluated::truth_of_label;
use super::stepped::Stepped;
use super::task::TaskState;
use crate::case::probe;
use crate::chat::Unbound;
use crate::effect::{Action, FoundFiles, MOST_LOGPROBS, Message, Messages, ModelRequest, Outcome, Role, StepSite};
use crate::judge::{Asking, End, combine};
use crate::plan::{Plan, PlannedJudge, PlannedTask, PlannedTransform, Transformed};

/// Compares a value of the evidence.
pub(super) fn asserted(plan: &Plan, task: &PlannedTask, context: Context<'_>) -> TaskState {
    let Some(assertion) = &task.then else { return TaskState::failed("the task compares nothing") };
    if let Some(transform) = &task.transform {
        return transformed(assertion, transform, context);
    }
    let judgement = match truth_of_label(plan, task, context) {
        Some(truth) => assertion.judge_truth(truth, context),
        None => assertion.judge(context),
    };
    TaskState::ended(judgement.into())
}

/// Compares what a value of the evidence becomes. Where there is none, that is said as it is without a transform.
fn transformed(assertion: &Assertion, transform: &PlannedTransform, context: Context<'_>) -> TaskState {
    let found = match &assertion.path {
        Some(path) => context.find(path),
        None => Ok(context.whole()),
    };
    let Ok(found) = found else { return TaskState::ended(assertion.judge(context).into()) };
    match transform.begin(&found, context) {
        Ok(Transformed::Value(value)) => compared(assertion, &value, context),
        Ok(Transformed::Call(action)) => TaskState::Acting(action),
        Err(reason) => TaskState::failed(reason),
    }
}

/// Compares what a function made of a value of the evidence.
pub(super) fn transform_returned(task: &PlannedTask, outcome: Outcome, context: Context<'_>) -> TaskState {
    let (Some(assertion), Some(transform)) = (&task.then, &task.transform) else {
        return TaskState::failed("the task transforms nothing");
    };
    match transform.returned(outcome) {
        Ok(value) => compared(assertion, &value, context),
        Err(verdict) => TaskState::ended(verdict),
    }
}

fn compared(assertion: &Assertion, value: &Val<'_>, context: Context<'_>) -> TaskState {
    let whole = Assertion { path: None, ..assertion.clone() };
    TaskState::ended(whole.judge_reply(value, context).into())
}

pub(super) fn begin(judge: &PlannedJudge, then: Option<&Assertion>, context: Context<'_>) -> TaskState {
    if let Some(used) = &judge.used {
        return Stepped { judge, used, then }.begin(context);
    }
    begun(judge, context, &[])
}

fn begun(judge: &PlannedJudge, context: Context<'_>, files: &FoundFiles) -> TaskState {
    match requests(judge, context, files) {
        Ok(requests) => asking(requests, judge.max_retries),
        Err(Unbound::Files(files)) => TaskState::Attaching(Action::Attach { files }),
        Err(Unbound::Fault(reason)) => TaskState::failed(reason),
    }
}

/// Asks, now that it is known what the files are that judges are sent.
pub(super) fn attached(judge: &PlannedJudge, action: &Action, outcome: Outcome, context: Context<'_>) -> TaskState {
    match probe::attached(action, outcome) {
        Ok(files) => begun(judge, context, &files),
        Err(verdict) => TaskState::ended(verdict),
    }
}

/// Asks each slot its first question.
pub(super) fn asking(requests: Vec<ModelRequest>, max_retries: u32) -> TaskState {
    TaskState::Asking(requests.into_iter().map(|it| Asking::new(it, max_retries)).collect())
}

pub(super) fn apply(
    judge: &PlannedJudge,
    then: Option<&Assertion>,
    mut slots: Vec<Asking>,
    (site, outcome): (StepSite, Outcome),
    context: Context<'_>,
) -> TaskState {
    if let Some(used) = &judge.used {
        return Stepped { judge, used, then }.apply(slots, (site, outcome), context);
    }
    if let Some(asking) = slots.get_mut(site.slot as usize) {
        asking.apply_scored(site.turn, outcome, (&judge.form, judge.soft(site.slot)), |_| Ok(()));
    }
    match ends(&slots) {
        Some(ends) => TaskState::Done(combine(&ends, then, judge.vote(), context)),
        None => TaskState::Asking(slots),
    }
}

/// How each slot ended, once all have.
pub(super) fn ends(slots: &[Asking]) -> Option<Vec<&End>> {
    slots.iter().map(Asking::end).collect()
}

/// The first request to each slot, or why the prompt cannot be filled.
fn requests(judge: &PlannedJudge, context: Context<'_>, files: &FoundFiles) -> Result<Vec<ModelRequest>, Unbound> {
    let mut messages = Vec::with_capacity(2);
    if let Some(system) = &judge.system {
        messages.push(Message::System(system.bound(context)?));
    }
    let (messages, prompt_cache) = judge.prompt.bind(messages, context, files)?;
    let messages = Messages::from(messages);
    let request = |model: &Role, repeat| ModelRequest {
        output: judge.output.clone(),
        repeat,
        logprobs: judge.soft.as_ref().map(|_| MOST_LOGPROBS),
        prompt_cache: prompt_cache.clone(),
        ..ModelRequest::new(model.clone(), messages.clone())
    };
    Ok(judge
        .models
        .iter()
        .flat_map(|model| (0..judge.repeat).map(move |repeat| (model, repeat)))
        .map(|(model, repeat)| request(model, repeat))
        .collect())
}
