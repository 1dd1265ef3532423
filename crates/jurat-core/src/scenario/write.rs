//! Scenarios written back, in the short forms.

use std::borrow::Cow;
use std::collections::HashSet;

use jurat_format::duration;
use jurat_format::value::{Map, Val, Value};

use super::definition::TURN_LIMIT;
use super::{
    Callable, Condition, Criterion, Edge, Example, Handover, ModelOverride, Node, Question, Scenario, StateUpdate, when,
};
use crate::outcome::format as outcome;
use crate::prompt::Prompt;
use crate::template::Trait;
use crate::tool::filter;

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
        Val::Map(members(self).0)
    }
}

fn members(scenario: &Scenario) -> Members {
    let mut map = Members::default();
    if !scenario.description.is_empty() {
        map.put("description", Val::from(scenario.description.clone()));
    }
    if scenario.over_records {
        map.put("over", Val::from("records"));
    }
    put_words(&mut map, "system", scenario.system.as_deref(), scenario.system_prompt.as_ref());
    put_models(&mut map, &scenario.models, &Map::default());
    map.list("tools", scenario.tools.iter().map(|it| Val::from(it.clone())));
    put_rubric(&mut map, Some(&scenario.rubric).filter(|it| !it.is_empty()));
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
    let mut seen = HashSet::new();
    let is_unique = scenario.node_ids().all(|it| seen.insert(it));
    map.put(
        "nodes",
        match is_unique {
            true => Val::Map(scenario.nodes.iter().map(|it| (it.id.clone(), node_value(it))).collect()),
            false => scenario.nodes.iter().map(|it| with_id(&it.id, node_value(it))).collect(),
        },
    );
    map.list("edges", scenario.edges.iter().map(edge));
    map.list("outcomes", scenario.outcomes.iter().map(criterion));
    map
}

/// A node without its id.
pub(crate) fn node_value(node: &Node) -> Value {
    let mut map = Members::default();
    map.text("description", node.description.as_ref());
    let Question { examples, raw_answer, answer_prompt, .. } = &node.question;
    map.put("question", question(&node.question));
    put_words(&mut map, "raw_answer", raw_answer.as_deref(), answer_prompt.as_ref());
    let example = |it: &Example| {
        let question = words(&it.question, it.question_prompt.as_ref());
        let members = [("question", question), ("answer", words(&it.answer, it.answer_prompt.as_ref()))];
        Val::Map(members.into_iter().collect::<Map<'static>>())
    };
    map.list("examples", examples.iter().map(example));
    if let Some(template) = &node.template {
        map.put("template", template.to_value());
    }
    put_rubric(&mut map, node.rubric.as_ref());
    put_models(&mut map, &node.models, &node.stored);
    put_words(&mut map, "system", node.system.as_deref(), node.system_prompt.as_ref());
    if let Some(tools) = &node.tools {
        map.put("tools", tools.iter().map(|it| Val::from(it.clone())).collect());
    }
    if let Some(filter) = filter::written(&node.tool_filter) {
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

/// What is said, as a template where cases fill it.
fn words(text: &str, prompt: Option<&Prompt>) -> Value {
    prompt.map_or_else(|| Val::from(text.to_owned()), Prompt::written)
}

fn put_words(map: &mut Members, key: &'static str, text: Option<&str>, prompt: Option<&Prompt>) {
    if let Some(text) = text {
        map.put(key, words(text, prompt));
    }
}

/// A question as it is written: text alone, or an object when there is more to it.
fn question(question: &Question) -> Value {
    let text = words(&question.text, question.prompt.as_ref());
    if question.stored.is_empty() {
        return text;
    }
    let own = [("question".to_owned(), text)];
    Val::Map(own.into_iter().chain(question.stored.iter().map(|(key, it)| (key.to_owned(), it.clone()))).collect())
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

fn criterion(criterion: &Criterion) -> Value {
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
    Val::Map(map.0)
}

/// The text of code; code without one is still code.
fn source(callable: &Callable) -> Value {
    Val::from(callable.source.clone().unwrap_or_else(|| "code of a program".to_owned()))
}

fn put_rubric(map: &mut Members, traits: Option<&Vec<Trait>>) {
    if let Some(traits) = traits {
        map.put("rubric", traits.iter().map(Trait::to_value).collect());
    }
}

/// Models by name, or as they were stored.
fn put_models(map: &mut Members, models: &ModelOverride, stored: &Map<'static>) {
    let model = |key: &'static str, stored_name: &str, name: Option<&String>| {
        let value = stored.get(stored_name).cloned().or_else(|| name.map(|it| Val::from(it.clone())));
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

/// The members of an object being written.
#[derive(Default)]
struct Members(Map<'static>);

impl Members {
    fn put(&mut self, key: &'static str, value: Value) {
        self.0.insert(Cow::Borrowed(key), value);
    }

    fn text(&mut self, key: &'static str, text: Option<&String>) {
        if let Some(text) = text {
            self.put(key, Val::from(text.clone()));
        }
    }

    fn list(&mut self, key: &'static str, items: impl Iterator<Item = Value>) {
        let items: Vec<Value> = items.collect();
        if !items.is_empty() {
            self.put(key, Val::List(items));
        }
    }
}
