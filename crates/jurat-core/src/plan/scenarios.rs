//! Scenarios: the models and servers with tools that they name.

use jurat_format::codes;
use jurat_format::problem::{Problem, Problems};

use super::roles::Roles;
use super::servers;
use crate::scenario::CompiledScenario;
use crate::scenario::compiled::PARSER;
use crate::suite::lost::Part;
use crate::suite::{SUBJECT, ScenarioText, Suite};

/// Looks at what scenarios name elsewhere in the suite. What they name of themselves is looked at with their graphs.
pub(super) fn examine(suite: &Suite, roles: &Roles<'_>, problems: &mut Problems) {
    for text in &suite.scenarios {
        roles.examine(&text.models, problems);
        problems.extend(no_models(suite, roles, text));
        servers::examine(suite, &text.tools, &text.filtered, problems);
    }
}

/// Roles that a conversation asks without naming them, and that have no model.
fn no_models(suite: &Suite, roles: &Roles<'_>, text: &ScenarioText) -> Vec<Problem> {
    // What could not be read may say who is asked.
    if text.lost.unnamed(Part::Node) || text.nodes.iter().any(|it| it.is_flawed) {
        return Vec::new();
    }
    let parser = roles.has(PARSER).then_some(PARSER);
    let Ok(ready) = CompiledScenario::new(text.resolve(suite).0, parser) else { return Vec::new() };
    let mut problems = Vec::new();
    if !roles.has(SUBJECT) && ready.nodes.iter().any(|it| it.subject.is_none()) {
        let message = format!("the scenario `{}` has no model to talk to", text.name.value);
        let problem = Problem::new(&codes::NO_MODEL, message).at(text.name.span, "asks the role `subject`");
        problems.push(roles.without_model(SUBJECT, problem));
    }
    let is_named = text.models.iter().any(|it| it.value == PARSER);
    let unread = ready.nodes.iter().position(|it| it.parser == PARSER && it.needs_parser());
    if let Some(ix) = unread.filter(|_| parser.is_none() && !is_named) {
        let message = format!("the node `{}` has no model to read or rate its answers", ready.nodes[ix].id);
        let problem = Problem::new(&codes::NO_MODEL, message).at(text.nodes[ix].id, "asks the role `parser`");
        problems.push(roles.without_model(PARSER, problem));
    }
    problems
}
