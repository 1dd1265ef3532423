//! Roles: which models play them, and names that no role has.

use crate::suite::problem::{Problem, listed_all, nearest};
use crate::suite::{Model, Suite, codes, is_provider_and_model};
use crate::value::Spanned;

/// Whether somebody plays a role, or may play it for all we know.
pub(super) fn has_role(suite: &Suite, role: &str) -> bool {
    suite.models.iter().any(|it| it.name.value == role) || suite.lost.has_role(role)
}

/// The models that play a role.
pub(super) fn models_of<'s>(suite: &'s Suite, role: &str) -> &'s [Model] {
    suite.models.iter().find(|it| it.name.value == role).map(|it| it.models.as_slice()).unwrap_or_default()
}

/// The names that are neither a role nor `provider/model`.
pub(super) fn unknown_models<'n>(suite: &Suite, named: impl IntoIterator<Item = &'n Spanned<String>>) -> Vec<Problem> {
    let is_unknown = |it: &&Spanned<String>| !is_provider_and_model(&it.value) && !has_role(suite, &it.value);
    named.into_iter().filter(is_unknown).map(|it| unknown_model(suite, it)).collect()
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

/// How to find somebody for a role that nobody plays.
pub(super) fn nobody_plays(suite: &Suite, role: &str, problem: Problem) -> Problem {
    let near = nearest(role, suite.models.iter().map(|it| it.name.value.as_str()));
    match near.and_then(|near| suite.models.iter().find(|it| it.name.value == near)) {
        Some(near) => {
            problem.at(near.name.span, "a role with a similar name").help(format!("did you mean to call it `{role}`?"))
        }
        None => problem.help(format!(
            "name one under `models: {{ {role}: provider/model }}`, or give it with `--model {role}=provider/model`"
        )),
    }
}
