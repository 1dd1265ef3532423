//! Scenarios: the models and servers with tools that they name.

use super::roles::Roles;
use crate::scenario::ReadyScenario;
use crate::scenario::ready::PARSER;
use crate::suite::problem::{Problem, Problems, listed_all, nearest};
use crate::suite::{SUBJECT, ScenarioText, ServerSpec, Suite, codes};
use crate::value::Spanned;

/// Looks at what scenarios name elsewhere in the suite. What they name of themselves is looked at with their graphs.
pub(super) fn examine(suite: &Suite, roles: &Roles<'_>, problems: &mut Problems) {
    for text in &suite.scenarios {
        roles.examine(&text.models, problems);
        problems.extend(no_models(suite, roles, text));
        // Where there are no tools at all, a filter takes none away, as in scenarios that were written for another program.
        let filtered = text.filtered.iter().filter(|_| !suite.tools.is_empty());
        for name in text.tools.iter().chain(filtered) {
            let is_known = suite.tools.iter().any(|it| it.name.value == name.value);
            if !is_known && !suite.lost.has_server(&name.value) && problems.has_room(&codes::UNKNOWN_SERVER) {
                problems.push(unknown_server(&suite.tools, name));
            }
        }
    }
}

/// Roles that a conversation asks without naming them, and that nobody plays.
fn no_models(suite: &Suite, roles: &Roles<'_>, text: &ScenarioText) -> Vec<Problem> {
    // What could not be read may say who is asked.
    if text.lost.nodes || text.nodes.iter().any(|it| it.is_flawed) {
        return Vec::new();
    }
    let parser = roles.has(PARSER).then_some(PARSER);
    let Ok(ready) = ReadyScenario::new(text.resolve(suite).0, parser) else { return Vec::new() };
    let mut problems = Vec::new();
    if !roles.has(SUBJECT) && ready.nodes.iter().any(|it| it.subject.is_none()) {
        let message = format!("the scenario `{}` has no model to talk to", text.name.value);
        let problem = Problem::new(&codes::NO_MODEL, message).at(text.name.span, "asks the role `subject`");
        problems.push(roles.nobody_plays(SUBJECT, problem));
    }
    let is_named = text.models.iter().any(|it| it.value == PARSER);
    let unread = ready.nodes.iter().position(|it| it.parser == PARSER && it.needs_parser());
    if let Some(ix) = unread.filter(|_| parser.is_none() && !is_named) {
        let message = format!("the node `{}` has no model to read or rate its answers", ready.nodes[ix].id);
        let problem = Problem::new(&codes::NO_MODEL, message).at(text.nodes[ix].id, "asks the role `parser`");
        problems.push(roles.nobody_plays(PARSER, problem));
    }
    problems
}

pub(super) fn unknown_server(servers: &[ServerSpec], name: &Spanned<String>) -> Problem {
    let message = format!("there is no server with tools `{}`", name.value);
    let problem = Problem::new(&codes::UNKNOWN_SERVER, message).at(name.span, "unknown server");
    let names = || servers.iter().map(|it| it.name.value.as_str());
    let near = nearest(&name.value, names()).and_then(|near| servers.iter().find(|it| it.name.value == near));
    let problem = match near {
        Some(near) => problem
            .at(near.name.span, "a server with a similar name")
            .help(format!("did you mean `{}`?", near.name.value)),
        None => problem,
    };
    match servers {
        [] => problem.help(format!("define it: `tools: {{ {}: {{ command: […] }} }}`", name.value)),
        _ => problem.help(format!("`tools` of the suite has {}", listed_all(names()))),
    }
}
