//! Judges: a model to ask, and something to ask about.

use std::collections::HashMap;

use jurat_format::codes;
use jurat_format::problem::{Problem, Problems};
use jurat_format::value::{Kind, Span, Spanned};

use super::graph::Graph;
use super::probes::{asked, asked_twice, subjects};
use super::replies;
use super::roles::Roles;
use crate::output::CompiledSchema;
use crate::suite::{EvaluatorKind, Judge, Output, Suite, Task, TaskKind, is_provider_and_model};

/// The role that judges unless the author says otherwise.
const JUDGE: &str = "judge";

pub(super) fn examine(suite: &Suite, graph: &Graph, roles: &Roles<'_>, problems: &mut Problems) {
    let subjects = subjects(suite, roles);
    for (task, need) in suite.tasks.iter().zip(replies::needs(suite, graph)) {
        problems.extend(measured_gate(task));
        if let TaskKind::Judge(judge) = &task.kind {
            problems.extend(no_placeholder(task, judge));
            if judge.output.is_none() && !task.is_flawed {
                problems.extend(no_field(task).or_else(|| need.map(|it| replies::no_output(task, &it))));
            }
            problems.extend(judge.output.as_ref().and_then(bad_schema));
            examine_models(roles, &subjects, task, judge, problems);
        }
        problems.extend(no_embedder(suite, roles, task));
    }
}

fn no_placeholder(task: &Task, judge: &Judge) -> Option<Problem> {
    if judge.system.iter().any(|it| !it.reads.is_empty()) || !judge.prompt.reads.is_empty() {
        return None;
    }
    let message = format!("the prompt of `{}` shows the judge nothing of the case", task.id.value);
    let problem = Problem::new(&codes::NO_PLACEHOLDER, message).at(judge.prompt.span, "no `${…}` in it");
    Some(problem.help("put what is to be judged into the prompt, for example `Answer: ${answer}`"))
}

fn measured_gate(task: &Task) -> Option<Problem> {
    if !task.gate.routes() || task.judges() || task.is_flawed {
        return None;
    }
    let message = format!("`{}` is a gate, but it never passes or fails: it only measures", task.id.value);
    let problem = Problem::new(&codes::MEASURED_GATE, message).at(task.id.span, "a gate without a comparison");
    Some(problem.help("add `operator` and what it compares with, or make another task the gate"))
}

/// The comparison of a judge reads a field of a reply.
fn no_field(task: &Task) -> Option<Problem> {
    let path = task.comparison.as_ref().and_then(|it| it.path.as_ref())?;
    let message = format!("`{}` reads `{}` from a reply that need not have it", task.id.value, path.value);
    let help = output_help(path.value.root().unwrap_or("answer"), None);
    Some(no_output(message, (path.span, "read from the reply"), task, help))
}

/// A reply has to be more than text, and no `output` says what it is.
pub(super) fn no_output(message: String, (span, label): (Span, &str), judge: &Task, help: String) -> Problem {
    let problem = Problem::new(&codes::NO_OUTPUT, message).at(span, label);
    problem.at(judge.id.span, "has no `output`").help(help)
}

/// How to say that a reply has this field, of this kind if that is known.
pub(super) fn output_help(field: &str, kind: Option<Kind>) -> String {
    let kind = match kind {
        Some(Kind::Number) => "number",
        Some(Kind::Boolean) => "boolean",
        _ => "string",
    };
    format!("say what the judge answers: `output: {{ {field}: {kind} }}`")
}

/// What reading did not notice about a schema, compiling it does.
pub(super) fn bad_schema(output: &Output) -> Option<Problem> {
    let error = CompiledSchema::compile(&output.schema).err()?;
    let problem = Problem::new(&codes::BAD_SCHEMA, format!("`output` is not a JSON Schema: {error}"));
    Some(problem.at(output.span, "this schema"))
}

fn examine_models(
    roles: &Roles<'_>,
    subjects: &HashMap<&str, Span>,
    task: &Task,
    judge: &Judge,
    problems: &mut Problems,
) {
    let named: Vec<&Spanned<String>> = judge.model.iter().chain(&judge.panel).collect();
    if named.is_empty() && !roles.has(JUDGE) {
        if !task.is_flawed && problems.has_room(&codes::NO_MODEL) {
            problems.push(no_model(roles, task));
        }
        return;
    }
    roles.examine(named.iter().copied(), problems);
    problems.extend(same_model(roles, subjects, task, &named));
    problems.extend(repeated_judge(roles, task, judge));
}

/// Equal requests share a response, so a judge that sits in a panel twice gives one reply that counts twice.
fn repeated_judge(roles: &Roles<'_>, task: &Task, judge: &Judge) -> Option<Problem> {
    let judges = judge.panel.iter().flat_map(|it| asked(roles, &it.value, Some(it.span)));
    let problem = asked_twice(judges, |model| {
        format!("the panel of `{}` asks `{model}` twice in the same way, and counts one reply twice", task.id.value)
    })?;
    Some(problem.help("to ask it several times write `repeat: 2`; a panel has different models, or different settings"))
}

/// An evaluator that compares embeddings, and no model to ask for them.
fn no_embedder(suite: &Suite, roles: &Roles<'_>, task: &Task) -> Option<Problem> {
    let TaskKind::Evaluate(evaluate) = &task.kind else { return None };
    let evaluator = suite.evaluators.iter().find(|it| it.name.value == evaluate.evaluator.value)?;
    let EvaluatorKind::Builtin(builtin) = &evaluator.kind else { return None };
    let role = builtin.embedder().filter(|it| !is_provider_and_model(it) && !roles.has(it))?;
    let message = format!("`{}` compares embeddings, and has no model to ask for them", evaluator.name.value);
    let problem = Problem::new(&codes::NO_MODEL, message).at(evaluator.name.span, format!("asks `{role}`"));
    Some(roles.without_model(role, problem))
}

fn no_model(roles: &Roles<'_>, task: &Task) -> Problem {
    let message = format!("`{}` has no model to ask", task.id.value);
    let problem = Problem::new(&codes::NO_MODEL, message).at(task.id.span, "a judge without a model");
    roles.without_model(JUDGE, problem)
}

/// A judge that is the model it judges is known to be kind to itself.
fn same_model(
    roles: &Roles<'_>,
    subjects: &HashMap<&str, Span>,
    task: &Task,
    named: &[&Spanned<String>],
) -> Option<Problem> {
    let named: Vec<&str> =
        if named.is_empty() { vec![JUDGE] } else { named.iter().map(|it| it.value.as_str()).collect() };
    let (judge, span) = named.iter().find_map(|role| {
        let asked = roles.models(role).iter().map(|it| it.model.value.as_str());
        let mut asked = asked.chain(is_provider_and_model(role).then_some(*role));
        asked.find_map(|it| subjects.get_key_value(it))
    })?;
    let message = format!("`{}` is judged by the model it judges, `{judge}`", task.id.value);
    let problem = Problem::new(&codes::SAME_MODEL, message).at(task.id.span, "this judge").at(*span, "the subject");
    Some(problem.help("models rate their own answers higher; judge with another one"))
}
