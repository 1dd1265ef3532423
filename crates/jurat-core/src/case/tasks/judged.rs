//! Tasks that compare a value of the evidence, and tasks that ask models about it.

use jurat_compare::Assertion;
use jurat_format::value::Context;

use super::evaluated::truth_of_label;
use super::stepped::Stepped;
use super::task::TaskState;
use crate::effect::{Message, Messages, ModelRequest, Outcome, Role, StepSite, ToolChoice};
use crate::judge::{Asking, End, combine};
use crate::plan::{Plan, PlannedJudge, PlannedTask};

/// Compares a value of the evidence.
pub(super) fn asserted(plan: &Plan, task: &PlannedTask, context: Context<'_>) -> TaskState {
    let Some(assertion) = &task.then else { return TaskState::failed("the task compares nothing") };
    let judgement = match truth_of_label(plan, task, context) {
        Some(truth) => assertion.judge_truth(truth, context),
        None => assertion.judge(context),
    };
    TaskState::ended(judgement.into())
}

pub(super) fn begin(judge: &PlannedJudge, then: Option<&Assertion>, context: Context<'_>) -> TaskState {
    if let Some(used) = &judge.used {
        return Stepped { judge, used, then }.begin(context);
    }
    match requests(judge, context) {
        Ok(requests) => asking(requests, judge.max_retries),
        Err(reason) => TaskState::failed(reason),
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
        asking.apply(site.turn, outcome, &judge.form);
    }
    match ends(&slots) {
        Some(ends) => TaskState::Done(combine(&ends, then, judge.aggregate, context)),
        None => TaskState::Asking(slots),
    }
}

/// How each slot ended, once all have.
pub(super) fn ends(slots: &[Asking]) -> Option<Vec<&End>> {
    slots.iter().map(Asking::end).collect()
}

/// The first request to each slot, or why the prompt cannot be filled.
fn requests(judge: &PlannedJudge, context: Context<'_>) -> Result<Vec<ModelRequest>, String> {
    let mut messages = Vec::with_capacity(2);
    if let Some(system) = &judge.system {
        messages.push(Message::System(system.bound(context)?));
    }
    messages.push(Message::User(judge.prompt.bound(context)?));
    let messages = Messages::from(messages);
    let request = |model: &Role, repeat| ModelRequest {
        model: model.clone(),
        messages: messages.clone(),
        output: judge.output.clone(),
        tools: Vec::new(),
        tool_choice: ToolChoice::Auto,
        repeat,
    };
    Ok(judge
        .models
        .iter()
        .flat_map(|model| (0..judge.repeat).map(move |repeat| (model, repeat)))
        .map(|(model, repeat)| request(model, repeat))
        .collect())
}
