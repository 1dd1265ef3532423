//! Roles: their models, and names that no role has.

use std::collections::HashMap;

use jurat_format::codes;
use jurat_format::problem::{Problem, Problems, listed_all, nearest};
use jurat_format::value::Spanned;

use crate::foreign::model_elsewhere;
use crate::section::lost::Part;
use crate::suite::{Model, Role, Suite, is_provider_and_model};

/// The roles of a suite, by name.
pub(super) struct Roles<'s> {
    suite: &'s Suite,
    by_name: HashMap<&'s str, &'s Role>,
}

impl<'s> Roles<'s> {
    pub(super) fn of(suite: &'s Suite) -> Roles<'s> {
        Roles { suite, by_name: suite.models.iter().map(|it| (it.name.value.as_str(), it)).collect() }
    }

    /// Whether a role has a model, or may have one that could not be read.
    pub(super) fn has(&self, role: &str) -> bool {
        self.by_name.contains_key(role) || self.suite.lost.has(Part::Role, role)
    }

    /// The models of a role.
    pub(super) fn models(&self, role: &str) -> &'s [Model] {
        self.by_name.get(role).map(|it| it.models.as_slice()).unwrap_or_default()
    }

    /// Notes the names that are neither a role nor `provider/model`.
    pub(super) fn examine<'n>(&self, named: impl IntoIterator<Item = &'n Spanned<String>>, problems: &mut Problems) {
        for name in named {
            let is_known = is_provider_and_model(&name.value) || self.has(&name.value);
            if !is_known && problems.has_room(&codes::UNKNOWN_MODEL) {
                problems.push(self.unknown_model(name));
            }
        }
    }

    fn unknown_model(&self, name: &Spanned<String>) -> Problem {
        let problem = Problem::new(&codes::UNKNOWN_MODEL, format!("there is no model role `{}`", name.value))
            .at(name.span, "unknown role");
        let problem = match (self.near(&name.value), model_elsewhere(&name.value)) {
            (_, Some(model)) => return problem.help(format!("did you mean `{model}`?")),
            (Some(role), None) => problem
                .at(role.name.span, "a role with a similar name")
                .help(format!("did you mean `{}`?", role.name.value)),
            (None, None) => problem,
        };
        let roles: Vec<&str> = self.suite.models.iter().map(|it| it.name.value.as_str()).collect();
        let roles = if roles.is_empty() { "no roles".to_owned() } else { listed_all(roles) };
        problem.help(format!("`models` has {roles}; a model may also be written as `provider/model`"))
    }

    /// Says how to give a model to a role that has none.
    pub(super) fn without_model(&self, role: &str, problem: Problem) -> Problem {
        match self.near(role) {
            Some(near) => problem
                .at(near.name.span, "a role with a similar name")
                .help(format!("did you mean to call it `{role}`?")),
            None => problem.help(format!(
                "name one under `models: {{ {role}: provider/model }}`, or give it with `--model {role}=provider/model`"
            )),
        }
    }

    /// The role that `name` most likely means.
    fn near(&self, name: &str) -> Option<&'s Role> {
        let near = nearest(name, self.suite.models.iter().map(|it| it.name.value.as_str()))?;
        self.by_name.get(near).copied()
    }
}
