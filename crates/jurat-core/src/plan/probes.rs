//! Probes: models to ask about the rows, something to ask, and what asking adds to what tasks see.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use jurat_format::codes;
use jurat_format::problem::{Problem, Problems, listed_all};
use jurat_format::value::{FieldPath, Span};

use super::base::{Base, Cases};
use super::context::{self, Read, Reader};
use super::judges;
use super::roles::Roles;
use super::servers;
use super::shape::Shape;
use crate::application::{RowPaths, TemplateRead};
use crate::effect::Role;
use crate::evidence::probe;
use crate::model::ModelSettings;
use crate::scenario::Scenario;
use crate::section::lost::Part;
use crate::suite::{Ask, AskPrompt, Model, SUBJECT, Suite, is_provider_and_model};

/// Looks at `ask`, whose prompts see nothing but the rows.
pub(super) fn examine(suite: &Suite, roles: &Roles<'_>, rows: Option<&Shape>, problems: &mut Problems) {
    without_row(suite, problems);
    let Some(ask) = &suite.ask else { return };
    problems.extend(no_rows(suite, ask));
    problems.extend(ask.prompts.iter().filter_map(|it| same_question(ask, it)));
    problems.extend(ask.output.as_ref().and_then(judges::bad_schema));
    problems.extend(no_model(roles, ask));
    roles.examine(&ask.models, problems);
    problems.extend(repeated_model(roles, ask));
    servers::examine(suite, &ask.tools, &ask.filtered, problems);
    let Some(rows) = rows else { return };
    problems.extend(hidden_fields(ask, rows));
    let rows = Base { shape: rows.clone(), of: Cases::ROWS };
    let prompts = ask.prompts.iter().map(|it| &it.prompt);
    context::of_prompts(ask.system.as_ref(), prompts)
        .for_each(|it| context::examine_base(suite, Reader::Ask, &rows, &it, problems));
    for subject in ask.subjects() {
        for (path, read) in row_reads(roles.models(subject)).filter(|(path, _)| !path.steps().is_empty()) {
            let read = Read { path: &path, at: read.span, is_optional: read.is_optional };
            context::examine_base(suite, Reader::Ask, &rows, &read, problems);
        }
    }
}

/// What the applications of a role read of the row, and where.
fn row_reads(models: &[Model]) -> impl Iterator<Item = (FieldPath, &TemplateRead)> {
    let reads = models.iter().filter_map(|it| it.settings.request.as_ref()).flat_map(|it| &it.reads);
    reads.filter(|it| it.path.root() == Some("row")).map(|it| (it.path.rest(), it))
}

/// What the applications of these roles are sent of a row.
pub(super) fn row_paths<'r>(suite: &Suite, roles: impl IntoIterator<Item = &'r str>) -> RowPaths {
    RowPaths(roles.into_iter().filter_map(|it| paths_of(suite, it)).collect())
}

/// A role, and what its applications are sent of a row; `None` when they are sent nothing of it.
fn paths_of(suite: &Suite, role: &str) -> Option<(String, Vec<FieldPath>)> {
    let models = &suite.models.iter().find(|it| it.name.value == role)?.models;
    let requests = models.iter().filter_map(|it| it.settings.request.as_ref());
    let paths: Vec<FieldPath> = requests.flat_map(|it| it.template.row_paths()).collect();
    (!paths.is_empty()).then(|| (role.to_owned(), paths))
}

/// Applications that are to be sent something of a row, and are not asked about rows.
fn without_row(suite: &Suite, problems: &mut Problems) {
    let mut subjects = suite.ask.as_ref().map(Ask::subjects).unwrap_or_default();
    let about_rows = suite.scenarios.iter().map(|it| &it.scenario).filter(|it| it.over_records);
    subjects.extend(about_rows.flat_map(Scenario::subjects));
    for role in suite.models.iter().filter(|it| !subjects.contains(&it.name.value.as_str())) {
        for (_, read) in row_reads(&role.models) {
            let message =
                format!("`${{{}}}` reads a row, and `{}` is not asked about rows", read.path, role.name.value);
            let problem = Problem::new(&codes::WRONG_VALUE, message).at(read.span, "read here");
            problems
                .push(problem.help("only what `ask` or a scenario `over: records` asks is sent values of rows; a judge sees them in its `prompt`"));
        }
    }
}

/// What tasks see of a probe: the row, and what the probe adds.
pub(super) fn base(rows: Option<Shape>, suite: &Suite, ask: &Ask) -> Shape {
    let schema = probe::schema();
    let of_schema = |key: &str| schema.get("properties").and_then(|it| it.get(key)).map(Shape::of_schema);
    let added = |key: &str| match (key, &ask.output) {
        // What a program or a function answers is for it to say.
        ("output", _) if ask.whole_row || ask.transform.is_some() => Some(Shape::any()),
        // What could not be read may say what it is.
        ("parsed", None) => ask.is_flawed.then(Shape::any),
        // On its own, because its references lead into itself.
        ("parsed", Some(output)) => Some(Shape::of_schema(&output.schema)),
        _ => of_schema(key),
    };
    let rows = rows.unwrap_or_else(Shape::any_object);
    let base = probe::keys(ask.whole_row).iter().fold(rows, |base, key| base.with_member(key, added(key)));
    let base = if !with_logprobs(suite, ask).is_empty() {
        base.with_member(probe::LOGPROBS, of_schema(probe::LOGPROBS))
    } else {
        base
    };
    if ask.transform.is_some() { base.with_member(probe::ORIGINAL, Some(Shape::any())) } else { base }
}

/// The subjects that are asked for the probabilities of their tokens.
pub(super) fn with_logprobs(suite: &Suite, ask: &Ask) -> Vec<Role> {
    let subjects = ask.subjects();
    let mut found = Vec::new();
    for role in suite.models.iter().filter(|it| subjects.contains(&it.name.value.as_str())) {
        let is_asked = |it: &Model| it.settings.sent().any(|(name, _)| name == probe::LOGPROBS);
        for ix in (0..role.models.len()).filter(|ix| is_asked(&role.models[*ix])) {
            let name = role.name.value.clone();
            found.push(if role.models.len() == 1 { Role::from(name) } else { Role::nth(name, ix) });
        }
    }
    found
}

/// The models that are judged, with their places: those that `ask` names, or the role `subject`.
pub(super) fn subjects<'s>(suite: &'s Suite, roles: &Roles<'s>) -> HashMap<&'s str, Span> {
    let mut names: Vec<&str> = suite.ask.as_ref().map_or_else(|| vec![SUBJECT], Ask::subjects);
    names.sort_unstable();
    names.dedup();
    let spans = suite.ask.iter().flat_map(|it| &it.models).map(|it| (it.value.as_str(), it.span));
    let spans: HashMap<&str, Span> = spans.collect();
    let mut subjects = HashMap::new();
    for name in names {
        for it in asked(roles, name, spans.get(name).copied()) {
            subjects.entry(it.model).or_insert(it.span);
        }
    }
    subjects
}

fn no_rows(suite: &Suite, ask: &Ask) -> Option<Problem> {
    if !suite.records.is_empty() || suite.lost.any(Part::Case) {
        return None;
    }
    let problem = Problem::new(&codes::NO_CASES, "`ask` has no rows to ask about").at(ask.span, "asked about each row");
    Some(problem.help("add `records`: a file of rows, or the rows"))
}

/// A question without a placeholder is the same for every row, and so is what tasks judge, give or take chance.
fn same_question(ask: &Ask, AskPrompt { prompt, .. }: &AskPrompt) -> Option<Problem> {
    if ask.system.iter().any(|it| !it.reads.is_empty()) || !prompt.reads.is_empty() {
        return None;
    }
    let message = "every row asks the same question";
    let problem = Problem::new(&codes::SAME_QUESTION, message).at(prompt.span, "no `${…}` in it");
    Some(problem.help("put what the row is about into the prompt, for example `${question}`"))
}

fn no_model(roles: &Roles<'_>, ask: &Ask) -> Option<Problem> {
    if !ask.models.is_empty() || roles.has(SUBJECT) || ask.is_flawed {
        return None;
    }
    let problem = Problem::new(&codes::NO_MODEL, "`ask` has no model to ask").at(ask.span, "asks the role `subject`");
    Some(roles.without_model(SUBJECT, problem))
}

/// One who is asked.
pub(super) struct Asked<'s> {
    pub(super) model: &'s str,
    settings: Option<&'s ModelSettings>,
    span: Span,
    /// Where it is named, when it is not the role that is asked by default.
    named_at: Option<Span>,
}

/// The models of a role, or of `provider/model`.
pub(super) fn asked<'s>(
    roles: &Roles<'s>,
    name: &'s str,
    named_at: Option<Span>,
) -> impl Iterator<Item = Asked<'s>> + use<'s> {
    let itself = named_at.filter(|_| is_provider_and_model(name));
    let itself = itself.map(|span| Asked { model: name, settings: None, span, named_at });
    let of_role = roles.models(name).iter().map(move |Model { model, settings }| Asked {
        model: &model.value,
        settings: Some(settings),
        span: model.span,
        named_at,
    });
    itself.into_iter().chain(of_role)
}

/// A model that is asked twice in the same way gives two answers that nothing distinguishes.
fn repeated_model<'s>(roles: &Roles<'s>, ask: &'s Ask) -> Option<Problem> {
    let unsaid = ask.models.is_empty().then(|| asked(roles, SUBJECT, None));
    let said = ask.models.iter().flat_map(|it| asked(roles, &it.value, Some(it.span)));
    let problem = asked_twice(unsaid.into_iter().flatten().chain(said), |model| format!("`{model}` is asked twice"))?;
    Some(problem.help("keep one of them, or give one other settings, such as another `temperature`"))
}

/// The first of several models that is asked as one before it is.
pub(super) fn asked_twice<'s>(
    all: impl Iterator<Item = Asked<'s>>,
    message: impl Fn(&str) -> String,
) -> Option<Problem> {
    let mut seen: HashMap<(&str, String), Asked<'_>> = HashMap::new();
    for again in all {
        let settings = again.settings.iter().flat_map(|it| it.deciding()).map(|(key, it)| format!(" {key}={it}"));
        let first = match seen.entry((again.model, settings.collect())) {
            Entry::Vacant(place) => {
                place.insert(again);
                continue;
            }
            Entry::Occupied(first) => first.into_mut(),
        };
        let problem = Problem::new(&codes::REPEATED_MODEL, message(again.model));
        // A role that is named twice has its models in one place.
        let is_same = again.span == first.span;
        let place = |it: &Asked<'_>| it.named_at.filter(|_| is_same).unwrap_or(it.span);
        return Some(problem.at(place(&again), "again here").at(place(first), "first here"));
    }
    None
}

/// Fields of the rows that tasks cannot see, because a probe has something else under their names.
fn hidden_fields(ask: &Ask, rows: &Shape) -> Option<Problem> {
    let hidden: Vec<&str> = probe::keys(ask.whole_row).iter().copied().filter(|it| rows.has(it)).collect();
    if hidden.is_empty() {
        return None;
    }
    let (fields, them) = if hidden.len() == 1 { ("a field", "it") } else { ("fields", "them") };
    let message = format!("the rows have {fields} that `ask` hides from tasks: {}", listed_all(hidden));
    let problem = Problem::new(&codes::HIDDEN_FIELD, message).at(ask.span, "what came of asking has the same names");
    Some(problem.help(format!(
        "rename {them} in the rows if a task should see {them}; prompts of `ask` see {them} as they are"
    )))
}
