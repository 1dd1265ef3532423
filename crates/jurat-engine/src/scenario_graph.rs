//! The graph of a scenario as reports draw it: questions, conditions in words, who is asked.

use jurat_core::plan::Plan;
use jurat_core::report::scenario::{GraphEdge, GraphNode, ScenarioGraph};
use jurat_core::scenario::when;
use jurat_core::scenario::{
    Callable, CompiledNode, CompiledScenario, Condition, Edge, Handover, StateCheck, Target, ToolName,
};
use jurat_format::value::{Val, shown};

use crate::scenario_calls::most_calls;

/// The graph of a scenario. `players` gives the models of a role, as people call them; without a role, the subjects of cases.
pub(crate) fn scenario_graph(
    plan: &Plan,
    ready: &CompiledScenario,
    players: &dyn Fn(Option<&str>) -> Vec<String>,
) -> ScenarioGraph {
    let scenario = &ready.scenario;
    let node = |(written, ready): (&jurat_core::scenario::Node, &CompiledNode)| GraphNode {
        id: written.id.clone(),
        question: written.question.text.clone(),
        description: written.description.clone(),
        subjects: players(ready.subject.as_deref()),
        parser: ready.needs_parser().then(|| players(Some(&ready.parser)).join(", ")),
        tools: ready.tools.clone(),
        tools_removed: ready.tool_filter.remove.iter().map(removed).collect(),
        visits: None,
    };
    ScenarioGraph {
        name: scenario.name.clone(),
        description: Some(scenario.description.clone()).filter(|it| !it.is_empty()),
        turn_limit: scenario.turn_limit,
        max_calls: most_calls(plan, ready),
        nodes: scenario.nodes.iter().zip(&ready.nodes).map(node).collect(),
        entry: ready.entry,
        edges: scenario.edges.iter().map(|it| graph_edge(ready, it)).collect(),
    }
}

fn graph_edge(ready: &CompiledScenario, edge: &Edge) -> GraphEdge {
    GraphEdge {
        from: ready.index(&edge.source).unwrap_or(usize::MAX),
        to: match &edge.target {
            Target::Node(id) => ready.index(id),
            Target::End => None,
        },
        when: edge.when.as_ref().map(condition_words),
        handover: edge.handover.as_ref().map(handover_words),
        taken: None,
        turns: Vec::new(),
    }
}

fn removed(tool: &ToolName) -> String {
    match &tool.tool {
        Some(name) => format!("{}/{name}", tool.server),
        None => tool.server.clone(),
    }
}

fn handover_words(handover: &Handover) -> String {
    match handover {
        Handover::Callable(callable) => code_words(callable),
        named => named.name().unwrap_or_default().to_owned(),
    }
}

/// ``verify_result is true and turn < 4``
pub(crate) fn condition_words(condition: &Condition) -> String {
    match condition {
        Condition::Check(check) => check_words(check),
        Condition::Checks(checks) => joined(checks.iter().map(|it| (check_words(it), false)), "and", "always"),
        Condition::All(parts) => joined(parts.iter().map(part_words), "and", "always"),
        Condition::Any(parts) => joined(parts.iter().map(part_words), "or", "never"),
        Condition::Not(part) => format!("not ({})", condition_words(part)),
        Condition::Cel(expression) => expression.source().to_owned(),
        Condition::Callable(callable) => code_words(callable),
    }
}

/// A part of a condition, and whether it needs brackets there.
fn part_words(condition: &Condition) -> (String, bool) {
    let needs_brackets = match condition {
        Condition::All(parts) | Condition::Any(parts) => parts.len() > 1,
        Condition::Checks(checks) => checks.len() > 1,
        Condition::Cel(_) => true,
        Condition::Check(_) | Condition::Not(_) | Condition::Callable(_) => false,
    };
    (condition_words(condition), needs_brackets)
}

fn joined(parts: impl Iterator<Item = (String, bool)>, word: &str, none: &str) -> String {
    let parts: Vec<(String, bool)> = parts.collect();
    let bracketed = |(text, needs_brackets): &(String, bool)| match needs_brackets {
        true if parts.len() > 1 => format!("({text})"),
        _ => text.clone(),
    };
    match parts.len() {
        0 => none.to_owned(),
        _ => parts.iter().map(bracketed).collect::<Vec<_>>().join(&format!(" {word} ")),
    }
}

fn check_words(check: &StateCheck) -> String {
    let field = check.field.as_str();
    let written = when::write(&Condition::Check(Box::new(check.clone())));
    // What can be written in short is said in short.
    let short = written.as_map().filter(|it| it.len() == 1).and_then(|it| it.get(field));
    match short {
        Some(Val::Map(bound)) => {
            let bound = bound.iter().next();
            bound.map_or_else(|| field.to_owned(), |(name, it)| format!("{field} {} {}", sign(name), number(it)))
        }
        Some(value) => format!("{field} is {}", shown(value)),
        None => {
            let operator = check.verify_with.entry().snake_case();
            let parameters = check.verify_with.parameters().into_iter().filter(|(_, it)| *it != Val::Null);
            let parameters: Vec<String> = parameters.map(|(name, it)| format!("{name}: {}", shown(&it))).collect();
            let expected =
                if check.expected == Val::Null { String::new() } else { format!(" {}", shown(&check.expected)) };
            let with = if parameters.is_empty() { String::new() } else { format!(" ({})", parameters.join(", ")) };
            format!("{field} {operator}{expected}{with}")
        }
    }
}

/// A bound as its author wrote it: `3`, not `3.0`.
fn number(bound: &Val<'_>) -> String {
    match bound {
        Val::F(it) => it.to_string(),
        other => shown(other),
    }
}

fn sign(bound: &str) -> &str {
    match bound {
        "gte" => "≥",
        "gt" => ">",
        "lte" => "≤",
        "lt" => "<",
        other => other,
    }
}

fn code_words(callable: &Callable) -> String {
    callable.source.as_ref().map_or_else(|| "code".to_owned(), |it| format!("code: {}", it.trim()))
}
