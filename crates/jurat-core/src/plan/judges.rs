//! Judges: a model to ask, and something to ask about.

use crate::judge::ReplySchema;
use crate::suite::problem::{Problem, Problems, listed_all, nearest};
use crate::suite::{Gate, Judge, Model, Suite, Task, TaskKind, codes, is_provider_and_model};
use crate::value::Spanned;

pub(super) fn examine(suite: &Suite, problems: &mut Problems) {
    for task in &suite.tasks {
        if let TaskKind::Judge(judge) = &task.kind {
            problems.extend(no_placeholder(task, judge));
            problems.extend(measured_gate(task));
            problems.extend(no_output(task, judge));
            problems.extend(bad_schema(judge));
            problems.extend(models(suite, task, judge));
        }
    }
}

fn no_placeholder(task: &Task, judge: &Judge) -> Option<Problem> {
    let prompts = judge.system.iter().chain([&judge.prompt]);
    if prompts.into_iter().any(|it| !it.prompt.holes().is_empty()) {
        return None;
    }
    let message = format!("the prompt of `{}` shows the judge nothing of the case", task.id.value);
    let problem = Problem::new(&codes::NO_PLACEHOLDER, message).at(judge.prompt.span, "no `${…}` in it");
    Some(problem.help("put what is to be judged into the prompt, for example `Answer: ${answer}`"))
}

fn measured_gate(task: &Task) -> Option<Problem> {
    if task.gate == Gate::None || task.comparison.is_some() || task.is_flawed {
        return None;
    }
    let message = format!("`{}` is a gate, but it never passes or fails: it only measures", task.id.value);
    let problem = Problem::new(&codes::MEASURED_GATE, message).at(task.id.span, "a gate without a comparison");
    Some(problem.help("add `operator` and what it compares with, or make another task the gate"))
}

fn no_output(task: &Task, judge: &Judge) -> Option<Problem> {
    let path = task.comparison.as_ref().and_then(|it| it.path.as_ref())?;
    if judge.output.is_some() || task.is_flawed {
        return None;
    }
    let message = format!("`{}` reads `{}` from a reply that need not have it", task.id.value, path.value);
    let problem = Problem::new(&codes::NO_OUTPUT, message)
        .at(path.span, "read from the reply")
        .at(task.id.span, "has no `output`");
    let field = path.value.root().unwrap_or("answer");
    Some(problem.help(format!("say what the judge answers: `output: {{ {field}: string }}`")))
}

/// What reading did not notice about a schema, compiling it does.
fn bad_schema(judge: &Judge) -> Option<Problem> {
    let output = judge.output.as_ref()?;
    let error = ReplySchema::compile(&output.schema).err()?;
    let problem = Problem::new(&codes::BAD_SCHEMA, format!("`output` is not a JSON Schema: {error}"));
    Some(problem.at(output.span, "this schema"))
}

fn models(suite: &Suite, task: &Task, judge: &Judge) -> Vec<Problem> {
    let named: Vec<&Spanned<String>> = judge.model.iter().chain(&judge.panel).collect();
    if named.is_empty() && !has_role(suite, "judge") {
        return if task.is_flawed { Vec::new() } else { vec![no_model(suite, task)] };
    }
    let unknown = named.iter().filter(|it| !is_provider_and_model(&it.value) && !has_role(suite, &it.value));
    let mut problems: Vec<Problem> = unknown.map(|it| unknown_model(suite, it)).collect();
    problems.extend(same_model(suite, task, &named));
    problems
}

fn no_model(suite: &Suite, task: &Task) -> Problem {
    let message = format!("`{}` has no model to ask", task.id.value);
    let problem = Problem::new(&codes::NO_MODEL, message).at(task.id.span, "a judge without a model");
    let near = nearest("judge", suite.models.iter().map(|it| it.name.value.as_str()));
    match near.and_then(|near| suite.models.iter().find(|it| it.name.value == near)) {
        Some(role) => problem.at(role.name.span, "a role with a similar name").help("did you mean to call it `judge`?"),
        None => problem
            .help("name one under `models: { judge: provider/model }`, or give it with `--model judge=provider/model`"),
    }
}

fn has_role(suite: &Suite, role: &str) -> bool {
    suite.models.iter().any(|it| it.name.value == role) || suite.lost.has_role(role)
}

fn models_of<'s>(suite: &'s Suite, role: &str) -> &'s [Model] {
    suite.models.iter().find(|it| it.name.value == role).map(|it| it.models.as_slice()).unwrap_or_default()
}

fn unknown_model(suite: &Suite, name: &Spanned<String>) -> Problem {
    let problem = Problem::new(&codes::UNKNOWN_MODEL, format!("there is no model role `{}`", name.value))
        .at(name.span, "unknown role");
    let roles: Vec<&str> = suite.models.iter().map(|it| it.name.value.as_str()).collect();
    let near = nearest(&name.value, roles.iter().copied());
    let problem = match near.and_then(|near| suite.models.iter().find(|it| it.name.value == near)) {
        Some(role) => problem
            .at(role.name.span, "a role with a similar name")
            .help(format!("did you mean `{}`?", role.name.value)),
        None => problem,
    };
    let roles = if roles.is_empty() { "no roles".to_owned() } else { listed_all(roles) };
    problem.help(format!("`models` has {roles}; a model may also be written as `provider/model`"))
}

/// A judge that is the model it judges is known to be kind to itself.
fn same_model(suite: &Suite, task: &Task, named: &[&Spanned<String>]) -> Option<Problem> {
    let subjects: Vec<&Spanned<String>> = models_of(suite, "subject").iter().map(|it| &it.model).collect();
    let roles: Vec<&str> =
        if named.is_empty() { vec!["judge"] } else { named.iter().map(|it| it.value.as_str()).collect() };
    let same = roles.iter().find_map(|role| {
        let asked: Vec<&str> = models_of(suite, role)
            .iter()
            .map(|it| it.model.value.as_str())
            .chain(is_provider_and_model(role).then_some(*role))
            .collect();
        subjects.iter().find(|it| asked.contains(&it.value.as_str()))
    })?;
    let message = format!("`{}` is judged by the model it judges, `{}`", task.id.value, same.value);
    let problem = Problem::new(&codes::SAME_MODEL, message).at(task.id.span, "this judge").at(same.span, "the subject");
    Some(problem.help("models rate their own answers higher; judge with another one"))
}
