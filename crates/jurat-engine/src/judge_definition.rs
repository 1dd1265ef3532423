//! Who judges, and by which definition.

use std::collections::BTreeMap;

use jurat_core::calibration::JudgeParts;
use jurat_core::chat::Chat;
use jurat_core::evaluator::stored;
use jurat_core::judge::SoftScore;
use jurat_core::plan::TaskIx;
use jurat_core::suite::{EvaluatorKind, Judge, Model, Suite, Task, TaskKind, UsedJudge};
use jurat_store::run::TaskHead;

use crate::options::RecordedOptions;
use crate::view::RunView;

/// The models that a role or a name stands for, each with its settings.
pub(crate) fn asked(suite: &Suite, options: &RecordedOptions, name: &str) -> Vec<(String, String)> {
    let given: Vec<&String> = options.models.iter().filter(|it| it.0 == name).map(|it| &it.1).collect();
    let role = suite.models.iter().find(|it| it.name.value == name);
    match (given.as_slice(), role) {
        ([], Some(role)) => role.models.iter().map(|it| (it.model.value.clone(), settings(it))).collect(),
        ([], None) => vec![(name.to_owned(), String::new())],
        (given, _) => given.iter().map(|it| ((*it).clone(), String::new())).collect(),
    }
}

/// The settings that change what a model answers. Prices, limits and addresses do not.
pub(crate) fn settings(model: &Model) -> String {
    let sent = model.settings.sent().map(|(key, value)| format!("{key}: {}", value.to_json()));
    sent.collect::<Vec<_>>().join(", ")
}

/// The models that a judge asks, in the order of its panel, each with its settings.
pub(crate) fn judge_models(suite: &Suite, options: &RecordedOptions, judge: &Judge) -> Vec<(String, String)> {
    let named: Vec<&str> = match judge.panel.as_slice() {
        [] => vec![judge.model.as_ref().map_or("judge", |it| it.value.as_str())],
        panel => panel.iter().map(|it| it.value.as_str()).collect(),
    };
    named.into_iter().flat_map(|it| asked(suite, options, it)).collect()
}

/// The models that the suite's `evaluation` asks.
pub(crate) fn evaluation_models(suite: &Suite, options: &RecordedOptions) -> Vec<(String, String)> {
    let runs = suite.evaluation.iter().flat_map(|it| &it.runs).map(|it| it.model.value.as_str());
    let named: Vec<&str> = runs.collect();
    let named = if named.is_empty() { vec!["judge"] } else { named };
    named.into_iter().flat_map(|it| asked(suite, options, it)).collect()
}

/// What the verdicts of a task rest on, part by part, and the models that are asked for them.
pub(crate) fn judge_parts(view: &RunView, task: TaskIx) -> (JudgeParts, Vec<(String, String)>) {
    let (suite, options) = (view.suite(), RecordedOptions::of(view.head()));
    let written = &suite.tasks[task.index()];
    let head = view.head().tasks.get(task.index());
    let mut parts = comparison_parts(written, head);
    let mut models = Vec::new();
    match &written.kind {
        TaskKind::Judge(judge) => {
            models = judge_models(suite, &options, judge);
            parts.extend(asking_parts(judge, &models));
        }
        TaskKind::Evaluate(evaluate) => {
            let found = suite.evaluators.iter().find(|it| it.name.value == evaluate.evaluator.value);
            parts.extend(found.map(|it| ("evaluator".to_owned(), evaluator(&it.kind))));
        }
        TaskKind::Evaluation { .. } => {
            models = evaluation_models(suite, &options);
            parts.extend(model_parts(&models));
        }
        TaskKind::Assert | TaskKind::Outcome(_) | TaskKind::Check(_) | TaskKind::Cel(_) | TaskKind::Group(_) => {}
    }
    (JudgeParts(parts), models)
}

/// Path, operator, expected value, and what else is written in the task.
fn comparison_parts(task: &Task, head: Option<&TaskHead>) -> BTreeMap<String, String> {
    let text = |of: fn(&TaskHead) -> &Option<String>| head.and_then(|it| of(it).clone()).unwrap_or_default();
    [
        ("kind", task.kind.name().to_owned()),
        ("path", text(|it| &it.path)),
        ("operator", text(|it| &it.operator)),
        ("expected value", text(|it| &it.expected)),
    ]
    .into_iter()
    .chain((!task.written.is_empty()).then(|| ("definition", task.written.clone())))
    .map(|(name, it)| (name.to_owned(), it))
    .collect()
}

/// Model, settings, system, prompt, output schema, panel, repetition and how replies become one.
fn asking_parts(judge: &Judge, models: &[(String, String)]) -> impl Iterator<Item = (String, String)> {
    let used = judge.used.as_ref().map(|it| ("inputs".to_owned(), used_text(it)));
    let parts = [
        ("system", judge.system.as_ref().map_or_else(String::new, |it| Chat::of(it.prompt.clone()).text())),
        ("prompt", judge.prompt.chat.text()),
        ("output", judge.output.as_ref().map(|it| it.schema.to_json()).unwrap_or_default()),
        ("panel", judge.panel.len().to_string()),
        ("repeat", judge.repeat.to_string()),
        ("aggregate", judge.aggregate.name().to_owned()),
    ]
    .into_iter()
    .map(|(name, it)| (name.to_owned(), it));
    model_parts(models)
        .chain(parts)
        .chain(used)
        .chain(judge.soft.as_ref().map(|it| ("soft score".to_owned(), soft_text(&it.value))))
}

fn model_parts(models: &[(String, String)]) -> impl Iterator<Item = (String, String)> {
    let join = |of: fn(&(String, String)) -> &str| models.iter().map(of).collect::<Vec<_>>().join("\n");
    [("model", join(|it| &it.0)), ("settings", join(|it| &it.1))].map(|(name, it)| (name.to_owned(), it)).into_iter()
}

/// The field whose labels are weighed, and what each counts.
pub(crate) fn soft_text(soft: &SoftScore) -> String {
    let labels = soft.labels().iter().map(|it| format!("{} {}", it.name, it.value));
    [soft.field().to_owned()].into_iter().chain(labels).collect::<Vec<_>>().join("\n")
}

/// The questions of a judge file after the first, what it computes from the replies, and where its inputs come from.
pub(crate) fn used_text(used: &UsedJudge) -> String {
    let inputs = used.arguments.iter().map(|it| stored::input(&it.binding, it.default.as_ref()));
    let steps = used.file.steps.iter().map(|it| {
        let system = it.system.as_ref().map(|it| it.prompt.text()).unwrap_or_default();
        format!("{} {system} {} {}", it.id, it.prompt.prompt.text(), it.output.schema.to_json())
    });
    let when = used.file.steps.iter().flat_map(|it| it.when.iter().chain(it.valid.iter().map(|it| &it.0)));
    let conclusions = used.file.conclusions.iter().map(|(name, it)| format!("{name} {}", it.source()));
    let conditions = when.map(|it| it.source().to_owned());
    inputs.chain(steps).chain(conditions).chain(conclusions).collect::<Vec<_>>().join("\n")
}

fn evaluator(kind: &EvaluatorKind) -> String {
    match kind {
        EvaluatorKind::Code(code) => code.code.digest(),
        EvaluatorKind::Function(function) => function.digest(),
        EvaluatorKind::Builtin(builtin) => format!("{} {}", builtin.entry.name, builtin.settings.to_json()),
    }
}
