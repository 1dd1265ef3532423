//! The results of evaluators: those that are built in, and code that is called.

use std::sync::Arc;

use jurat_compare::{Assertion, Mismatch};
use jurat_format::value::{Context, FieldPath, Val, Value};

use super::task::TaskState;
use crate::effect::{Message, Messages, ModelRequest, Outcome, StepSite};
use crate::evaluator::binding;
use crate::evaluator::{Call, Evaluation, Object, OutputConfig, OutputKind, Triple, normalise, transport};
use crate::judge::{Asking, End, ReplyForm, TaskResult};
use crate::plan::{EMBEDDING_RETRIES, Plan, PlannedEvaluate, PlannedTask, Runs};
use crate::verdict::Verdict;

pub(super) fn begin(task: &PlannedTask, evaluate: &PlannedEvaluate, context: Context<'_>) -> TaskState {
    match binding::arguments(&evaluate.bindings, context) {
        Ok(arguments) => evaluated_or_called(task, evaluate, arguments, context),
        Err(reason) => TaskState::failed(reason),
    }
}

/// Takes in the embeddings that an evaluator compares.
pub(super) fn embedded(
    task: &PlannedTask,
    evaluate: &PlannedEvaluate,
    mut slots: Vec<Asking>,
    (site, outcome): (StepSite, Outcome),
    context: Context<'_>,
) -> TaskState {
    let [asking] = slots.as_mut_slice() else { return TaskState::Asking(slots) };
    let n_texts = asking.step().map_or(0, |(_, request, _)| request.messages.len());
    asking.apply(site.turn, outcome, &ReplyForm::Text);
    match asking.end() {
        Some(end) => compared(task, evaluate, end, n_texts, context),
        None => TaskState::Asking(slots),
    }
}

/// A built-in evaluator says at once what it finds; code has to be called.
fn evaluated_or_called(
    task: &PlannedTask,
    evaluate: &PlannedEvaluate,
    arguments: Value,
    context: Context<'_>,
) -> TaskState {
    match &evaluate.runs {
        Runs::Code(code) => {
            let call = Call { evaluator: Arc::clone(&evaluate.name), source: code.digest(), arguments };
            TaskState::Acting(call.action())
        }
        Runs::Function(function) => {
            let call = Call { evaluator: Arc::clone(&evaluate.name), source: function.digest(), arguments };
            TaskState::Acting(call.action())
        }
        Runs::Builtin(builtin) if let Some(model) = builtin.embedder() => match builtin.texts(&arguments) {
            Ok(texts) => {
                let texts = texts.into_iter().map(Message::User).collect::<Messages>();
                TaskState::Asking(vec![Asking::new(ModelRequest::new(model, texts), EMBEDDING_RETRIES)])
            }
            Err(reason) => TaskState::failed(format!("`{}`: {reason}", evaluate.name)),
        },
        Runs::Builtin(builtin) => {
            let Some(output) = evaluate.outputs.first() else { return TaskState::failed("there is no output") };
            match builtin.evaluate(&evaluate.name, output, &arguments) {
                Ok(evaluation) => evaluated(task, &evaluate.outputs, (vec![evaluation], None), context),
                Err(reason) => TaskState::failed(format!("`{}`: {reason}", evaluate.name)),
            }
        }
    }
}

/// What an evaluator makes of embeddings, and what follows.
fn compared(
    task: &PlannedTask,
    evaluate: &PlannedEvaluate,
    end: &End,
    n_texts: usize,
    context: Context<'_>,
) -> TaskState {
    let PlannedEvaluate { name, runs: Runs::Builtin(builtin), outputs, .. } = evaluate else {
        return TaskState::failed("the task asks no model");
    };
    let vectors = match end {
        End::Reply(vectors) => vectors.as_str().unwrap_or_default(),
        End::Fault(fault) => return TaskState::failed(format!("`{name}`: {}", fault.message)),
        End::NotRun(reason) => {
            return TaskState::ended(Verdict::NotRun(*reason));
        }
    };
    let Some(output) = outputs.first() else { return TaskState::failed("there is no output") };
    match builtin.compare(name, output, vectors, n_texts) {
        Ok(evaluation) => evaluated(task, outputs, (vec![evaluation], None), context),
        Err(reason) => TaskState::failed(format!("`{name}`: {reason}")),
    }
}

/// What follows from the result of each output. What one of them rejects is an error for a task that looks at it, and for a task that looks at all.
/// With them comes the boolean that was returned, if it was one.
fn evaluated(
    task: &PlannedTask,
    outputs: &[OutputConfig],
    (evaluations, truth): (Vec<Evaluation>, Option<bool>),
    context: Context<'_>,
) -> TaskState {
    let accepted = |it: &Evaluation| it.result.as_ref().ok().map(Triple::to_value);
    let output = match outputs {
        [] | [_] => evaluations.first().and_then(accepted),
        several => {
            let members = several.iter().zip(&evaluations);
            let members = members.filter_map(|(config, it)| Some((config.name.clone(), accepted(it)?)));
            Some(Val::Map(members.collect()))
        }
    };
    let compared = task.then.as_ref().and_then(|it| it.path.as_ref()).and_then(FieldPath::root);
    let looked_at =
        compared.and_then(|root| outputs.iter().position(|it| it.name == root)).filter(|_| outputs.len() > 1);
    let rejected = |it: &Evaluation| it.result.as_ref().err().map(|rejection| format!("`{}`: {rejection}", it.name));
    let reasons: Vec<String> = match looked_at {
        Some(ix) => evaluations.get(ix).and_then(rejected).into_iter().collect(),
        None => evaluations.iter().filter_map(rejected).collect(),
    };
    let verdict = match (&task.then, &output) {
        _ if !reasons.is_empty() => Verdict::error(reasons.join("\n")),
        (Some(assertion), Some(output)) => match truth.filter(|_| outputs.len() < 2 && reads_label(assertion)) {
            Some(truth) => assertion.judge_truth(truth, context).into(),
            None => assertion.judge_reply(output, context).into(),
        },
        _ => Verdict::Measured,
    };
    TaskState::Evaluated(TaskResult { verdict, output, said: Vec::new() }, evaluations)
}

/// What follows from what became of a call.
pub(super) fn called(
    task: &PlannedTask,
    evaluate: &PlannedEvaluate,
    outcome: Outcome,
    context: Context<'_>,
) -> TaskState {
    let PlannedEvaluate { name, runs, outputs, .. } = evaluate;
    let language = match runs {
        Runs::Code(code) => code.source.language,
        Runs::Function(function) => function.language,
        Runs::Builtin(_) => return TaskState::failed("the task calls no code"),
    };
    let returned = match outcome {
        Outcome::Returned(returned) => *returned,
        Outcome::Fault(fault) => return TaskState::failed(format!("`{name}`: {}", fault.message)),
        Outcome::NotRun(reason) => {
            return TaskState::ended(Verdict::NotRun(reason));
        }
        Outcome::Answer(_) | Outcome::Ran(_) => return TaskState::failed(format!("`{name}` is no model")),
    };
    if returned.is_error {
        let raised = returned.value.as_str().map_or_else(|| returned.value.to_string(), str::to_owned);
        return TaskState::failed(format!("`{name}`: {raised}"));
    }
    match transport::read(&returned.value, language) {
        Ok(object) => {
            let truth = if let Object::Bool(truth) = object { Some(truth) } else { None };
            let evaluations = normalise(name, language, outputs, &object).into_iter();
            let mut evaluations: Vec<Evaluation> = evaluations.map(|it| it.finite(language)).collect();
            if let (Some(truth), [Evaluation { result: Ok(triple), .. }]) = (truth, evaluations.as_mut_slice())
                && outputs.iter().all(|it| matches!(it.kind, OutputKind::Freeform { .. }))
            {
                triple.score = Some(if truth { 1.0 } else { 0.0 });
            }
            let judges = evaluate.judges && task.then.is_none() && outputs.len() < 2;
            judged(evaluated(task, outputs, (evaluations, truth), context), truth.filter(|_| judges))
        }
        Err(error) => TaskState::failed(format!("`{name}` did not send a value: {error}")),
    }
}

/// What follows from a boolean that is a verdict.
fn judged(state: TaskState, truth: Option<bool>) -> TaskState {
    match (state, truth) {
        (TaskState::Evaluated(result, evaluations), Some(truth)) if result.verdict == Verdict::Measured => {
            let wrong = || Mismatch { expected: true.to_string(), found: false.to_string() };
            let verdict = if truth { Verdict::Passed } else { Verdict::Failed(Box::new(wrong())) };
            TaskState::Evaluated(TaskResult { verdict, ..result }, evaluations)
        }
        (state, _) => state,
    }
}

/// Whether a comparison looks at the label of what an evaluator says, or at all of it.
fn reads_label(assertion: &Assertion) -> bool {
    assertion.path.as_ref().is_none_or(is_label)
}

fn is_label(path: &FieldPath) -> bool {
    path.root() == Some("label") && path.rest().steps().is_empty()
}

/// The boolean that an evaluator returned, when an assertion looks at its label. Most depend on no evaluator, and are not held up.
pub(super) fn truth_of_label(plan: &Plan, task: &PlannedTask, context: Context<'_>) -> Option<bool> {
    let path = task.then.as_ref()?.path.as_ref()?;
    let is_evaluator = |it: &PlannedTask| it.work.evaluate().is_some() && path.root() == Some(it.id.as_str());
    task.depends_on.iter().find(|it| is_evaluator(&plan.tasks[it.index()]))?;
    if !is_label(&path.rest()) {
        return None;
    }
    match context.find(path).ok()?.as_str()? {
        "True" => Some(true),
        "False" => Some(false),
        _ => None,
    }
}
