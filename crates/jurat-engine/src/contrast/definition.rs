//! The definition of a side, as far as it can make a difference.

use std::collections::BTreeMap;

use jurat_core::contrast::provenance::{Definition, Finding, Part};
use jurat_core::judge::Aggregate;
use jurat_core::suite::{CaseKind, EvaluatorKind, Judge, Selection, Suite, Task, TaskKind};
use jurat_core::verdict::StopReason;
use jurat_store::run::{Ended, TaskHead};

use crate::judge_definition::{evaluation_models, judge_models, settings, soft_text, used_text};
use crate::options::RecordedOptions;
use crate::view::{RunView, ViewError};

pub(super) fn definition(view: &RunView) -> Result<Definition, ViewError> {
    let (head, suite) = (view.head(), view.suite());
    let options = RecordedOptions::of(head);
    let prompts = suite.ask.iter().flat_map(|ask| {
        let system = ask.system.as_ref().map_or("", |it| it.prompt.text());
        ask.prompts.iter().map(move |it| {
            let prompt = it.prompt.chat.text();
            (it.name.clone(), part(first_words(&prompt), &[&prompt, system]))
        })
    });
    Ok(Definition {
        suite: head.suite.clone(),
        version: head.version.clone(),
        tasks: suite
            .tasks
            .iter()
            .zip(&head.tasks)
            .map(|(task, head)| (task_name(task, head), parts(suite, &options, task, head)))
            .collect(),
        prompts: prompts.collect(),
        subjects: subjects(suite),
        partial: partial(view, &options)?,
        stopped: view.stopped_early()?.map(|it| it.sentence()),
    })
}

/// The name of a task. Those of scenarios have the scenario before it: several may have a task of one name.
pub(super) fn task_name(task: &Task, head: &TaskHead) -> String {
    task.scope.as_ref().map_or_else(|| head.id.clone(), |scenario| format!("{}.{}", scenario.value, head.id))
}

/// What the verdicts of a task rest on.
fn parts(suite: &Suite, options: &RecordedOptions, task: &Task, head: &TaskHead) -> Vec<(Finding, Part)> {
    let mut parts = vec![(Finding::TaskDiffers, check(task, head))];
    match &task.kind {
        TaskKind::Judge(judge) => {
            parts.push((Finding::JudgeModelDiffers, models(&judge_models(suite, options, judge))));
            parts.push((Finding::JudgePromptDiffers, judge_prompt(judge)));
        }
        TaskKind::Evaluate(evaluate) => {
            let found = suite.evaluators.iter().find(|it| it.name.value == evaluate.evaluator.value);
            parts.extend(found.map(|it| (Finding::EvaluatorDiffers, evaluator(&it.kind))));
        }
        TaskKind::Evaluation { .. } => {
            parts.push((Finding::JudgeModelDiffers, models(&evaluation_models(suite, options))));
        }
        // All of these is in what is written.
        TaskKind::Assert | TaskKind::Outcome(_) | TaskKind::Check(_) | TaskKind::Cel(_) | TaskKind::Group(_) => {}
    }
    parts
}

/// Operator, path, expected value, dependencies, gate and selection of a task, and what else is written in it.
fn check(task: &Task, head: &TaskHead) -> Part {
    let on = match &task.on {
        Selection::All => String::new(),
        Selection::Kind(kind) => stored_kind(*kind).to_owned(),
        Selection::Ids(ids) => ids.iter().map(|it| it.value.as_str()).collect::<Vec<_>>().join(" "),
        Selection::Tag(tag) => format!("tag {}", tag.value),
    };
    let depends_on: Vec<&str> = task.depends_on.iter().map(|it| it.value.as_str()).collect();
    let text = |it: &Option<String>| it.clone().unwrap_or_default();
    let (path, operator, expected) = (text(&head.path), text(&head.operator), text(&head.expected));
    let written = first_words(&task.written);
    let words: Vec<&str> =
        [path.as_str(), &operator, &expected, &written].into_iter().filter(|it| !it.is_empty()).collect();
    let words = if words.is_empty() { head.kind.clone() } else { words.join(" ") };
    let depends_on = depends_on.join(" ");
    let mut rests_on = vec![head.kind.as_str(), &path, &operator, &expected, &depends_on, &head.gate, &on];
    // Baselines of tasks without it have digests without it.
    rests_on.extend(Some(task.written.as_str()).filter(|it| !it.is_empty()));
    part(words, &rests_on)
}

/// The kind of a selection, as digests in baselines have it.
fn stored_kind(kind: CaseKind) -> &'static str {
    match kind {
        CaseKind::Records => "Records",
        CaseKind::Cases => "Cases",
        CaseKind::Scenarios => "Scenarios",
    }
}

/// How replies become one, as digests in baselines have it.
fn stored_aggregate(aggregate: Aggregate) -> &'static str {
    match aggregate {
        Aggregate::Majority => "Majority",
        Aggregate::Mean => "Mean",
        Aggregate::Median => "Median",
        Aggregate::All => "All",
        Aggregate::Any => "Any",
    }
}

/// Models, each with its settings.
fn models(models: &[(String, String)]) -> Part {
    let join = |of: fn(&(String, String)) -> &str, with| models.iter().map(of).collect::<Vec<_>>().join(with);
    part(join(|it| &it.0, ", "), &[&join(|it| &it.0, "\n"), &join(|it| &it.1, "\n")])
}

fn judge_prompt(judge: &Judge) -> Part {
    let system = judge.system.as_ref().map_or("", |it| it.prompt.text());
    let output = judge.output.as_ref().map(|it| it.schema.to_json()).unwrap_or_default();
    let panel = judge.panel.len().to_string();
    let asked = format!("{} {}", judge.repeat, stored_aggregate(judge.aggregate));
    let used = judge.used.as_ref().map(|it| used_text(it)).unwrap_or_default();
    let prompt = judge.prompt.chat.text();
    let mut rests_on = vec![prompt.as_str(), system, &output, &panel, &asked];
    rests_on.extend(judge.used.as_ref().map(|_| used.as_str()));
    let soft = judge.soft.as_ref().map(|it| soft_text(&it.value));
    rests_on.extend(soft.as_deref());
    part(first_words(&prompt), &rests_on)
}

fn evaluator(kind: &EvaluatorKind) -> Part {
    match kind {
        EvaluatorKind::Code(code) => {
            let digest = code.code.digest();
            Part { words: digest.chars().take(8).collect(), digest }
        }
        EvaluatorKind::Function(function) => part(function.digest(), &[&function.digest()]),
        EvaluatorKind::Builtin(builtin) => {
            let text = format!("{} {}", builtin.entry.name, builtin.settings.to_json());
            part(first_words(&text), &[&text])
        }
    }
}

/// The settings of the models that may be subjects.
fn subjects(suite: &Suite) -> BTreeMap<String, Part> {
    let is_judge = |name: &str| matches!(name, "judge" | "parser" | "embedder");
    let roles = suite.models.iter().filter(|it| !is_judge(&it.name.value));
    let models = roles.flat_map(|it| &it.models);
    models
        .map(|it| {
            let settings = settings(it);
            let words = if settings.is_empty() { "no settings".to_owned() } else { settings.clone() };
            (it.model.value.clone(), part(words, &[&settings]))
        })
        .collect()
}

/// Why a run does not cover all rows, in words.
fn partial(view: &RunView, options: &RecordedOptions) -> Result<Option<String>, ViewError> {
    let selected = options.selection_words();
    let ended = view.reader().state()?.finish.map(|it| it.ended);
    let ended = match ended {
        Some(Ended::Done | Ended::Stopped(StopReason::Decided)) => None,
        Some(other) => Some(format!("ended with `{}`", other.name())),
        None if view.reader().is_being_written() => Some("still in progress".to_owned()),
        None => Some("killed".to_owned()),
    };
    let words: Vec<String> = selected.into_iter().chain(ended).collect();
    Ok((!words.is_empty()).then(|| words.join(", ")))
}

/// Whether a run is complete.
pub(super) fn is_complete(view: &RunView) -> Result<bool, ViewError> {
    Ok(view.reader().state()?.finish.is_some_and(|it| it.ended == Ended::Done))
}

pub(super) fn part(words: String, texts: &[&str]) -> Part {
    let mut hasher = blake3::Hasher::new();
    for text in texts {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    Part { words, digest: hasher.finalize().to_hex()[..32].to_owned() }
}

/// The beginning of a text, to recognise it by.
fn first_words(text: &str) -> String {
    const MOST: usize = 40;
    let line = text.lines().find(|it| !it.trim().is_empty()).unwrap_or_default().trim();
    if line.chars().count() <= MOST { line.to_owned() } else { line.chars().take(MOST).chain(['…']).collect() }
}
