//! Scenarios: the models and servers with tools that they name, and what they are filled from.

use jurat_format::codes;
use jurat_format::problem::{Problem, Problems, listed_all};
use jurat_format::value::{Map, Val};

use super::base::{Base, Cases};
use super::context::{self, Read, Reader};
use super::roles::Roles;
use super::servers;
use super::shape::Shape;
use crate::evidence::scenario;
use crate::scenario::CompiledScenario;
use crate::scenario::compiled::PARSER;
use crate::section::lost::Part;
use crate::suite::{SUBJECT, ScenarioText, Suite};
use crate::template::Template;

/// Looks at what scenarios name elsewhere in the suite. What they name of themselves is looked at with their graphs.
pub(super) fn examine(suite: &Suite, roles: &Roles<'_>, rows: Option<&Shape>, problems: &mut Problems) {
    problems.extend(two_ways(suite));
    for text in &suite.scenarios {
        problems.extend(no_rows(suite, text));
        problems.extend(hidden_fields(text, rows));
        fillings(suite, text, rows, problems);
        roles.examine(&text.models, problems);
        problems.extend(no_models(suite, roles, text));
        servers::examine(suite, &text.tools, &text.filtered, problems);
    }
}

/// Rows are asked about by `ask` or in conversations, not by both: tasks could not know what they see.
fn two_ways(suite: &Suite) -> Option<Problem> {
    let (ask, over) = (suite.ask.as_ref()?, suite.scenarios.iter().find_map(|it| it.over)?);
    let message = "rows are asked about by `ask`, or in scenarios `over: records`, not by both";
    let problem = Problem::new(&codes::CONFLICT, message).at(over, "a conversation about each row");
    Some(problem.at(ask.span, "asked about each row").help("make two suites of them"))
}

fn no_rows(suite: &Suite, text: &ScenarioText) -> Option<Problem> {
    let over = text.over.filter(|_| suite.records.is_empty() && !suite.lost.any(Part::Case))?;
    let message = format!("the scenario `{}` has no rows to be about", text.name.value);
    let problem = Problem::new(&codes::NO_CASES, message).at(over, "held for each row");
    Some(problem.help("add `records`: a file of rows, or the rows"))
}

/// Fields of the rows that tasks see under `row` alone, because what a conversation leaves has their names.
fn hidden_fields(text: &ScenarioText, rows: Option<&Shape>) -> Option<Problem> {
    let (over, rows) = (text.over?, rows?);
    let hidden: Vec<&str> = scenario::KEYS.into_iter().filter(|it| rows.has(it)).collect();
    let first = hidden.first()?;
    let help = format!("read such a field as `row.{first}`");
    let message = format!("the rows have fields whose names a conversation uses itself: {}", listed_all(hidden));
    Some(Problem::new(&codes::HIDDEN_FIELD, message).at(over, "tasks see what happened there").help(help))
}

/// Whether there is what questions, system messages and what would be right are filled from.
fn fillings(suite: &Suite, text: &ScenarioText, rows: Option<&Shape>, problems: &mut Problems) {
    let is_about_row = text.scenario.over_records;
    // What is not known of rows may be anything.
    let row = match (is_about_row, rows) {
        (true, None) => return,
        (true, Some(rows)) => rows.clone().with_member("row", Some(rows.clone())),
        (false, _) => Shape::of_value(&Val::Map(Map::default())),
    };
    let of = if is_about_row { Cases::ROWS } else { Cases::SCENARIOS };
    let base = Base { shape: row.with_member("state", Some(Shape::any())), of };
    for it in &text.reads {
        let read = Read { path: &it.path, at: it.span, is_optional: it.is_optional };
        context::examine_base(suite, Reader::Ask, &base, &read, problems);
    }
    let scenario = text.resolve(suite).0;
    for (node, written) in scenario.nodes.iter().zip(&text.nodes) {
        for path in node.template.iter().flat_map(Template::found) {
            let at = written.template.as_ref().map_or(written.id, |it| it.span);
            context::examine_base(suite, Reader::Ask, &base, &Read::new(path, at), problems);
        }
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
