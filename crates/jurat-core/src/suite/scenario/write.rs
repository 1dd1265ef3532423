//! Scenarios written back, in the short forms.

use std::collections::HashSet;

use jurat_format::duration;
use jurat_format::value::{Map, Spanned, Val, Value};

use super::super::task::{Gate, Task};
use super::super::tool_filter;
use super::super::write::{self, Members};
use super::{OutcomeText, ScenarioText};
use crate::outcome::format as outcome;
use crate::scenario::definition::TURN_LIMIT;
use crate::scenario::{
    Callable, Condition, Criterion, Edge, Handover, ModelOverride, Node, Question, Scenario, StateUpdate, when,
};
use crate::template::Trait;

pub(in crate::suite) fn value(scenarios: &[ScenarioText], tasks: &[Task]) -> Value {
    let one = |text: &ScenarioText| {
        let mut map = scenario_named(&text.scenario, Some(text));
        let own = tasks.iter().filter(|it| it.scope.as_ref() == Some(&text.name) && !text.is_outcome(it));
        map.list("tasks", own.map(write::task));
        Val::Map(map.0)
    };
    Val::Map(scenarios.iter().map(|it| (it.name.value.clone(), one(it))).collect())
}

impl Scenario {
    /// The scenario as it stands in a suite, without its name. Code is written as its words.
    ///
    /// ```
    /// use jurat_core::scenario::{END, Question, ScenarioBuilder};
    ///
    /// let mut builder = ScenarioBuilder::new("greeting");
    /// builder.add_node("hi", Question::new("Hello?", "Hello.")).add_edge("hi", END).set_entry("hi");
    /// assert_eq!(
    ///     builder.validate()?.to_value().to_json(),
    ///     r#"{"entry":"hi","nodes":{"hi":{"question":"Hello?","raw_answer":"Hello."}},"edges":["hi -> __end__"]}"#
    /// );
    /// # Ok::<(), jurat_core::scenario::BuildErrors>(())
    /// ```
    pub fn to_value(&self) -> Value {
        scenario_value(self)
    }
}

/// A scenario without its name.
pub(crate) fn scenario_value(scenario: &Scenario) -> Value {
    Val::Map(scenario_named(scenario, None).0)
}

/// A scenario; with its text, what that names elsewhere is written as a name.
fn scenario_named(scenario: &Scenario, text: Option<&ScenarioText>) -> Members {
    let mut map = Members::default();
    if !scenario.description.is_empty() {
        map.put("description", Val::from(scenario.description.clone()));
    }
    map.text("system", scenario.system.as_ref());
    put_models(&mut map, &scenario.models, &Map::default());
    map.list("tools", scenario.tools.iter().map(|it| Val::from(it.clone())));
    put_rubric(&mut map, Some(&scenario.rubric).filter(|it| !it.is_empty()), text.and_then(|it| it.rubric.as_ref()));
    if scenario.turn_limit != TURN_LIMIT {
        map.put("turn_limit", Val::from(scenario.turn_limit));
    }
    for (key, time) in [("turn_timeout", scenario.turn_timeout), ("timeout", scenario.timeout)] {
        if let Some(time) = time {
            map.put(key, duration::write(time));
        }
    }
    map.list("tags", scenario.tags.iter().map(|it| Val::from(it.clone())));
    if !scenario.metadata.is_empty() {
        map.put("metadata", Val::Map(scenario.metadata.clone()));
    }
    if !scenario.entry.is_empty() {
        map.put("entry", Val::from(scenario.entry.clone()));
    }
    let node = |(ix, node): (usize, &Node)| {
        let text = text.and_then(|it| it.nodes.get(ix));
        node_named(node, text.and_then(|it| it.template.as_ref()), text.and_then(|it| it.rubric.as_ref()))
    };
    let nodes = scenario.nodes.iter().enumerate();
    let mut seen = HashSet::new();
    let is_unique = scenario.node_ids().all(|it| seen.insert(it));
    map.put(
        "nodes",
        match is_unique {
            true => Val::Map(nodes.map(|(ix, it)| (it.id.clone(), node((ix, it)))).collect()),
            false => nodes.map(|(ix, it)| with_id(&it.id, node((ix, it)))).collect(),
        },
    );
    map.list("edges", scenario.edges.iter().map(edge));
    let criterion = |(ix, it): (usize, &Criterion)| self::criterion(it, text.and_then(|text| text.outcomes.get(ix)));
    map.list("outcomes", scenario.outcomes.iter().enumerate().map(criterion));
    map
}

/// A node without its id.
pub(crate) fn node_value(node: &Node) -> Value {
    node_named(node, None, None)
}

fn node_named(node: &Node, template: Option<&Spanned<String>>, rubric: Option<&Spanned<String>>) -> Value {
    let mut map = Members::default();
    map.text("description", node.description.as_ref());
    let Question { examples, raw_answer, .. } = &node.question;
    map.put("question", super::node::write_question(&node.question));
    map.text("raw_answer", raw_answer.as_ref());
    let example = |(question, answer): &(String, String)| {
        let members = [("question", Val::from(question.clone())), ("answer", Val::from(answer.clone()))];
        Val::Map(members.into_iter().collect::<Map<'static>>())
    };
    map.list("examples", examples.iter().map(example));
    match (&node.template, template) {
        (_, Some(name)) => map.put("template", Val::from(name.value.clone())),
        (Some(template), None) => map.put("template", template.to_value()),
        (None, None) => {}
    }
    put_rubric(&mut map, node.rubric.as_ref(), rubric);
    put_models(&mut map, &node.models, &node.stored);
    map.text("system", node.system.as_ref());
    if let Some(tools) = &node.tools {
        map.put("tools", tools.iter().map(|it| Val::from(it.clone())).collect());
    }
    if let Some(filter) = tool_filter::written(&node.tool_filter) {
        map.put("tool_filter", filter);
    }
    match &node.state_update {
        None => {}
        Some(StateUpdate::Cel(it)) => map.put("state_update", keyed("cel", Val::from(it.source().to_owned()))),
        Some(StateUpdate::Callable(it)) => map.put("state_update_source", source(it)),
    }
    map.text("agent_identity", node.agent_identity.as_ref());
    if !node.metadata.is_empty() {
        map.put("metadata", Val::Map(node.metadata.clone()));
    }
    Val::Map(map.0)
}

/// `a -> b` when that says everything.
pub(crate) fn edge(edge: &Edge) -> Value {
    let target = edge.target.name();
    let is_short = |id: &str| !id.is_empty() && id.trim() == id && !id.contains("->") && !id.ends_with('-');
    if edge.when.is_none() && edge.handover.is_none() && is_short(&edge.source) && is_short(target) {
        return Val::from(format!("{} -> {target}", edge.source));
    }
    let mut map = Members::default();
    map.put("from", Val::from(edge.source.clone()));
    map.put("to", Val::from(target.to_owned()));
    match &edge.when {
        None => {}
        Some(Condition::Callable(it)) => map.put("condition_source", source(it)),
        Some(condition) => map.put("when", when::write(condition)),
    }
    match &edge.handover {
        None => {}
        Some(Handover::Callable(it)) => map.put("handover_source", source(it)),
        Some(named) => map.text("handover", named.name().map(str::to_owned).as_ref()),
    }
    Val::Map(map.0)
}

fn criterion(criterion: &Criterion, text: Option<&OutcomeText>) -> Value {
    let mut map = Members::default();
    map.text("name", Some(&criterion.name));
    if !criterion.description.is_empty() {
        map.put("description", Val::from(criterion.description.clone()));
    }
    if let Some(check) = &criterion.check {
        map.put("check", outcome::write(check));
    }
    if let Some(evaluate) = &criterion.evaluate {
        map.put("evaluate_source", source(evaluate));
    }
    if let Some(OutcomeText { depends_on, gate, .. }) = text {
        map.list("depends_on", depends_on.iter().map(|it| Val::from(it.value.clone())));
        match gate {
            Gate::None => {}
            Gate::Condition => map.put("condition", Val::Bool(true)),
            Gate::Required => map.put("required", Val::Bool(true)),
        }
    }
    Val::Map(map.0)
}

/// The text of code; code without one is still code.
fn source(callable: &Callable) -> Value {
    Val::from(callable.source.clone().unwrap_or_else(|| "code of a program".to_owned()))
}

fn put_rubric(map: &mut Members, traits: Option<&Vec<Trait>>, name: Option<&Spanned<String>>) {
    match (traits, name) {
        (_, Some(name)) => map.put("rubric", Val::from(name.value.clone())),
        (Some(traits), None) => map.put("rubric", traits.iter().map(Trait::to_value).collect()),
        (None, None) => {}
    }
}

/// Models by name, or as the peer wrote them.
fn put_models(map: &mut Members, models: &ModelOverride, stored: &Map<'static>) {
    let model = |key: &'static str, of_peer: &str, name: Option<&String>| {
        let value = stored.get(of_peer).cloned().or_else(|| name.map(|it| Val::from(it.clone())));
        value.map(|it| (key, it))
    };
    let members = [
        model("subject", "answering_model", models.subject.as_ref()),
        model("parser", "parsing_model", models.parser.as_ref()),
    ];
    let models: Map<'static> = members.into_iter().flatten().collect();
    if !models.is_empty() {
        map.put("models", Val::Map(models));
    }
}

fn with_id(id: &str, node: Value) -> Value {
    let Val::Map(map) = node else { return node };
    let id = [("id".to_owned(), Val::from(id.to_owned()))];
    Val::Map(id.into_iter().chain(map.iter().map(|(key, it)| (key.to_owned(), it.clone()))).collect())
}

fn keyed(key: &'static str, value: Value) -> Value {
    Val::Map([(key, value)].into_iter().collect::<Map<'static>>())
}
