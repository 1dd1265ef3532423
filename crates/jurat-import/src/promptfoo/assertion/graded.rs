//! Assertions that a model grades, as ready judges. Where the configuration has a prompt of its own, or no ready judge fits, the judge has a prompt.

use jurat_format::value::{Val, Value};

use super::super::template::{Template, literal_text};
use super::{AssertionType, Taken, Taking, Use};
use crate::document::{Object, maybe_json, number, plain, text, text_at};

pub(super) static TYPES: &[AssertionType] = &[
    AssertionType::new("llm-rubric", Use::Prompt, rubric),
    AssertionType::new("agent-rubric", Use::Prompt, rubric),
    AssertionType::new("factuality", Use::Prompt, factuality),
    AssertionType::new("model-graded-factuality", Use::Prompt, factuality),
    AssertionType::new("model-graded-closedqa", Use::Prompt, closed_qa),
    AssertionType::new("g-eval", Use::Prompt, g_eval),
    AssertionType::new("answer-relevance", Use::Prompt, answer_relevance),
    AssertionType::new("conversation-relevance", Use::Prompt, answer_relevance),
    AssertionType::new("context-recall", Use::Prompt, context_recall),
    AssertionType::new("context-relevance", Use::Prompt, context_relevance),
    AssertionType::new("context-faithfulness", Use::Prompt, context_faithfulness),
    AssertionType::new("trajectory:goal-success", Use::Prompt, goal_success),
];

/// A text of the author with placeholders of jurat.
fn placeholders(written: &str) -> Result<String, String> {
    Template::parse(written)?.placeholders()
}

/// The judge of an assertion, with the model that the author names for it.
fn judge(taking: &mut Taking<'_, '_>) -> Result<Object, String> {
    let graded_by = taking.spec.get("provider").or_else(|| taking.options.get("provider")).cloned();
    let role = taking.draft.judge(graded_by.as_ref())?;
    let mut judge = Object::new();
    judge.put_some("model", role.map(text));
    Ok(judge)
}

/// A task with a judge that has a prompt and answers by a schema.
fn prompted(taking: &mut Taking<'_, '_>, prompt: Object, output: Object) -> Result<Object, String> {
    let judge = judge(taking)?;
    let judge = prompt.members().fold(judge, |judge, (key, it)| judge.with(key, it.clone()));
    Ok(Object::new().with("judge", judge.with("output", output)))
}

/// A task with a ready judge, and where its inputs are.
fn ready(taking: &mut Taking<'_, '_>, name: &str, inputs: &[(&str, Value)]) -> Result<Object, String> {
    let judge = judge(taking)?.with("use", text(name));
    let own_output = (taking.output != "output").then(|| ("output", text(&taking.output)));
    let mut with = Object::new();
    for (input, from) in inputs.iter().cloned().chain(own_output) {
        with.put(input, from);
    }
    let judge = if with.is_empty() { judge } else { judge.with("with", with) };
    Ok(Object::new().with("judge", judge))
}

/// What an input of a judge is, for a text with placeholders: the path where that is all of it, else the text.
fn filled(written: &str) -> Value {
    match written.strip_prefix("${").and_then(|it| it.strip_suffix('}')).filter(|it| !it.contains("${")) {
        Some(path) => text(path),
        None if written.contains("${") => Object::new().with("text", text(written)).into(),
        None => Object::new().with("value", text(written)).into(),
    }
}

/// The comparison of a boolean that the judge replies.
fn passes(taking: &Taking<'_, '_>, task: Object, path: &str) -> Object {
    task.with("field_path", text(path)).with("operator", text("equals")).with("expected_value", !taking.is_negated)
}

/// The comparison of the label of a ready judge. What makes it pass is the judge's own, unless the assertion is negated.
fn labelled(taking: &Taking<'_, '_>, task: Object, passing: &str) -> Object {
    if !taking.is_negated {
        return task;
    }
    task.with("field_path", text("label")).with("operator", text("not_equal")).with("expected_value", text(passing))
}

/// The comparison of a score that the judge gives.
fn at_least(taking: &Taking<'_, '_>, task: Object, bound: f64) -> Object {
    let operator = if taking.is_negated { "less_than" } else { "greater_than_or_equal" };
    task.with("field_path", text("score")).with("operator", text(operator)).with("expected_value", number(bound))
}

/// A score from 0 to 1 as a grade of the ready judge `rubric`, from 1 to 5.
fn grade(score: f64) -> f64 {
    ((1.0 + 4.0 * score) * 1e6).round() / 1e6
}

fn rubric(taking: &mut Taking<'_, '_>) -> Result<Taken, String> {
    let criterion = criterion(taking)?;
    let own = taking.spec.get("rubricPrompt").or_else(|| taking.options.get("rubricPrompt")).cloned();
    if let Some(prompt) = own {
        let prompt = own_prompt(taking, &prompt, &criterion)?;
        let score = Object::new().with("type", text("number"));
        let output = Object::new().with("reason", text("string")).with("pass", text("boolean")).with("score", score);
        let task = prompted(taking, prompt, output)?;
        return Ok(Taken::exact(match taking.spec.get("threshold").and_then(Val::as_f64) {
            Some(bound) => at_least(taking, task, bound),
            None => passes(taking, task, "pass"),
        }));
    }
    let task = ready(taking, "rubric", &[("criterion", filled(&criterion))])?;
    Ok(match taking.spec.get("threshold").and_then(Val::as_f64) {
        Some(bound) => {
            let least = grade(bound);
            let passes = if taking.is_negated { "passes below" } else { "passes from" };
            let why = format!(
                "the ready judge `rubric` grades from 1 to 5; `threshold: {bound}` is {least} there, and the task {passes} it"
            );
            Taken::approximate(at_least(taking, task, least), why)
        }
        None => {
            let why = "the ready judge `rubric` grades from 1 to 5, and passes from 4";
            Taken::approximate(labelled(taking, task, "met"), why)
        }
    })
}

fn criterion(taking: &Taking<'_, '_>) -> Result<String, String> {
    match taking.needed()? {
        Val::Str(_) => placeholders(&taking.text()?),
        other => Ok(literal_text(&plain(other))?.to_owned()),
    }
}

/// The author's own prompt, in which `output` and `rubric` are variables: a text, or the messages of a chat.
fn own_prompt(taking: &Taking<'_, '_>, prompt: &Value, criterion: &str) -> Result<Object, String> {
    let written = match prompt {
        Val::Str(reference) if reference.starts_with("file://") => taking.places.text(reference)?.1,
        other => plain(other),
    };
    let output = format!("${{{}}}", taking.output);
    let filled = |written: &str| {
        Template::parse(written)?.replaced(|variable| match variable {
            "output" => output.clone(),
            "rubric" => criterion.to_owned(),
            other => format!("${{vars.{other}}}"),
        })
    };
    let messages = match maybe_json(&written) {
        Val::List(messages) if written.contains("\"role\"") => messages,
        _ => return Ok(Object::new().with("prompt", text(filled(&written)?))),
    };
    let said = |it: &Value| {
        let (role, content) = text_at(it, "role").zip(text_at(it, "content")).ok_or("its `rubricPrompt` has parts")?;
        Ok(Object::new().with("role", text(role)).with("content", text(filled(content)?)).into())
    };
    let messages: Vec<Value> = messages.iter().map(said).collect::<Result<_, String>>()?;
    Ok(Object::new().with("messages", Val::List(messages)))
}

fn factuality(taking: &mut Taking<'_, '_>) -> Result<Taken, String> {
    let expert = criterion(taking)?;
    let task = ready(taking, "correctness", &[("reference", filled(&expert))])?;
    let operator = if taking.is_negated { "equals" } else { "not_equal" };
    let task = task.with("field_path", text("label")).with("operator", text(operator));
    let why = "the ready judge `correctness` grades `correct`, `partly` and `incorrect`, which alone fails; promptfoo distinguishes five relations of facts";
    Ok(Taken::approximate(task.with("expected_value", text("incorrect")), why))
}

fn closed_qa(taking: &mut Taking<'_, '_>) -> Result<Taken, String> {
    let criterion = criterion(taking)?;
    let task = ready(taking, "closed-qa", &[("criterion", filled(&criterion))])?;
    Ok(Taken::approximate(labelled(taking, task, "meets"), "the ready judge `closed-qa` has a prompt of its own"))
}

fn g_eval(taking: &mut Taking<'_, '_>) -> Result<Taken, String> {
    let criteria = match taking.needed()? {
        Val::List(items) => items
            .iter()
            .map(|it| placeholders(&plain(it)).map(|it| format!("- {it}")))
            .collect::<Result<Vec<_>, _>>()?
            .join("\n"),
        _ => criterion(taking)?,
    };
    let task = ready(taking, "rubric", &[("criterion", filled(&criteria))])?;
    let why =
        "the ready judge `rubric` grades from 1 to 5 in one step; promptfoo writes steps first, and scores from 0 to 1";
    Ok(Taken::approximate(at_least(taking, task, grade(taking.threshold(0.7))), why))
}

fn answer_relevance(taking: &mut Taking<'_, '_>) -> Result<Taken, String> {
    let task = ready(taking, "answer-relevance", &[])?;
    let why = "the ready judge `answer-relevance` grades 0, 0.5 or 1; promptfoo compares embeddings of questions made from the answer";
    Ok(Taken::approximate(at_least(taking, task, taking.threshold(0.0)), why))
}

/// What was retrieved: the variable `context`; code that finds it is not run.
fn context(taking: &Taking<'_, '_>) -> Result<Value, String> {
    match taking.spec.get("contextTransform") {
        Some(_) => Err("`contextTransform` is code".to_owned()),
        None => Ok(text("vars.context")),
    }
}

fn context_recall(taking: &mut Taking<'_, '_>) -> Result<Taken, String> {
    let (context, truth) = (context(taking)?, criterion(taking)?);
    let task = ready(taking, "context-recall", &[("context", context), ("reference", filled(&truth))])?;
    let why = "the ready judge `context-recall` looks for the facts of the reference; promptfoo for its sentences";
    Ok(Taken::approximate(at_least(taking, task, taking.threshold(0.0)), why))
}

/// The ready judge `context-precision` needs passages as a list, and promptfoo has one text.
fn context_relevance(taking: &mut Taking<'_, '_>) -> Result<Taken, String> {
    context(taking)?;
    let prompt = "Rate how relevant a context is to a question. Take the context apart into sentences; the score is the share of them that is needed \
         to answer the question, from 0 to 1.\n\n<question>\n${vars.query}\n</question>\n\n<context>\n${vars.context}\n</context>\n\nGive the \
         reason first, then the score.";
    let score = Object::new().with("type", text("number")).with("minimum", 0).with("maximum", 1);
    let output = Object::new().with("reason", text("string")).with("score", score);
    let task = prompted(taking, Object::new().with("prompt", text(prompt)), output)?;
    let why = "the judge has a prompt of jurat's own: the ready judge `context-precision` needs passages as a list";
    Ok(Taken::approximate(at_least(taking, task, taking.threshold(0.0)), why))
}

fn context_faithfulness(taking: &mut Taking<'_, '_>) -> Result<Taken, String> {
    let context = context(taking)?;
    let task = ready(taking, "faithfulness", &[("input", text("vars.query")), ("context", context)])?;
    let why = "the ready judge `faithfulness` has prompts of its own; the score is the share of supported claims, as in promptfoo";
    Ok(Taken::approximate(at_least(taking, task, taking.threshold(0.0)), why))
}

fn goal_success(taking: &mut Taking<'_, '_>) -> Result<Taken, String> {
    let goal = match taking.needed()? {
        Val::Map(map) => placeholders(map.get("goal").and_then(Val::as_str).ok_or("it has no `goal`")?)?,
        _ => criterion(taking)?,
    };
    let task = ready(taking, "trajectory", &[("task", filled(&goal)), ("trajectory", text("tool_calls"))])?;
    let why = "the ready judge `trajectory` also fails a goal that was reached by unsound steps";
    Ok(Taken::approximate(labelled(taking, task, "sound"), why))
}
