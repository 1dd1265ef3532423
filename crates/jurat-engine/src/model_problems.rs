//! What is wrong with the models of a suite, each with the place that it is about.

use std::path::PathBuf;

use jurat_core::suite::Suite;
use jurat_format::codes;
use jurat_format::problem::{Problem, listed, listed_all, nearest};
use jurat_format::value::Span;
use jurat_model::ResolveError;
use jurat_model::provider::names;

/// How many problems of one kind are reported.
pub(crate) const MOST_PROBLEMS: usize = 100;

/// A role that something asks, and that has no model.
pub(crate) fn no_model(suite: &Suite, asker: &str, role: &str, place: Option<Span>) -> Problem {
    let problem = Problem::new(&codes::NO_MODEL, format!("{asker} asks the role `{role}`, which has no model"));
    let problem = placed(problem, suite, place, "asks it");
    let similar = nearest(role, suite.models.iter().map(|it| it.name.value.as_str()));
    match suite.models.iter().find(|it| Some(it.name.value.as_str()) == similar) {
        Some(near) => {
            problem.at(near.name.span, "a role with a similar name").help(format!("did you mean to call it `{role}`?"))
        }
        None => problem.help(format!(
            "add `models: {{ {role}: provider/model }}`, or give it with `--model {role}=provider/model`"
        )),
    }
}

pub(crate) fn resolve_problem(
    suite: &Suite,
    error: &ResolveError,
    place: Option<Span>,
    env_files: &[PathBuf],
) -> Problem {
    let setting = place_of_setting(suite, error, place);
    match error {
        ResolveError::MissingKey { model, variables } if !env_files.is_empty() => {
            let (variables, files) = (listed(variables.iter().map(String::as_str)), shown_files(env_files));
            let message = format!("`{model}` needs a key: set {variables} in the environment, or in {files}");
            placed(Problem::new(&codes::UNSET_VARIABLE, message), suite, setting.or(place), "needs it")
        }
        ResolveError::NoProvider { .. } => {
            placed(Problem::new(&codes::UNKNOWN_PROVIDER, error.to_string()), suite, place, "without a provider")
        }
        ResolveError::UnknownProvider { name } => {
            let problem = Problem::new(&codes::UNKNOWN_PROVIDER, format!("there is no provider `{name}`"));
            let problem = placed(problem, suite, place, "named here");
            problem.help(format!("providers are {}", listed_all(names()))).did_you_mean(name, names())
        }
        ResolveError::MissingKey { .. }
        | ResolveError::MissingVariable { .. }
        | ResolveError::MissingPlaceholder { .. }
        | ResolveError::NoAddress { .. } => {
            placed(Problem::new(&codes::UNSET_VARIABLE, error.to_string()), suite, setting.or(place), "needs it")
        }
        ResolveError::Setting { setting: name, .. } => {
            let problem = Problem::new(&codes::BAD_MODEL, error.to_string());
            let problem = placed(problem, suite, setting.or(place), "this setting");
            // The excerpt would print a password or a key that stands in the address.
            if name == "base_url" && has_secrets(suite) { problem.without_excerpt() } else { problem }
        }
        _ => placed(Problem::new(&codes::BAD_MODEL, error.to_string()), suite, place, "named here"),
    }
}

/// The files that were looked for, as a list of which any will do.
fn shown_files(files: &[PathBuf]) -> String {
    let names: Vec<String> = files.iter().map(|it| it.display().to_string()).collect();
    listed(names.iter().map(String::as_str))
}

/// Whether an address of the suite has a part that may be a secret.
fn has_secrets(suite: &Suite) -> bool {
    let mut models = suite.models.iter().flat_map(|it| &it.models);
    models.any(|it| it.settings.base_url.as_ref().is_some_and(|it| it.contains(['@', '?'])))
}

/// With its place, or the beginning of the suite where the place is not known.
pub(crate) fn placed(problem: Problem, suite: &Suite, place: Option<Span>, text: &str) -> Problem {
    match (place, &suite.name) {
        (Some(place), _) => problem.at(place, text),
        (None, Some(name)) => problem.at(name.span, "this suite"),
        (None, None) => problem,
    }
}

/// Where the setting stands that an error is about.
fn place_of_setting(suite: &Suite, error: &ResolveError, model: Option<Span>) -> Option<Span> {
    let setting = match error {
        ResolveError::Setting { setting, .. } => setting.as_str(),
        ResolveError::MissingKey { .. } => "api_key_env",
        ResolveError::MissingVariable { .. } => "headers",
        ResolveError::MissingPlaceholder { setting, .. } => setting,
        _ => return None,
    };
    let mut models = suite.models.iter().flat_map(|it| &it.models);
    let written = models.find(|it| Some(it.model.span) == model)?;
    written.settings.written.iter().find(|(name, _)| *name == setting).map(|(_, it)| it.span)
}
