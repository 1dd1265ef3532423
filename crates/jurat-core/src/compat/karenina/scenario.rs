//! Scenarios as Karenina stores them: its dump in snake case, and its checkpoint, which is JSON-LD with the words of schema.org.
//!
//! The dump has the keys that suites have, so one reader reads both; a checkpoint is the same under other names, and [`plain`] gives it
//! those of the dump. Text of code is stored and never run. What Karenina has no place for (time limits, tools, templates
//! as data) stands under the key `jurat`; a scenario without such things is written exactly as Karenina writes it.

use std::borrow::Cow;
use std::path::Path;

use jurat_format::codes;
use jurat_format::problem::{Problem, Problems};
use jurat_format::reader::Reading;
use jurat_format::source::{Files, ReadError, Sources};
use jurat_format::value::{Content, Entry, Map, Node, Span, Spanned, Val, Value};

use super::question_id::question_id;
use crate::scenario::text::{self, ScenarioText};
use crate::scenario::{
    Callable, Condition, Criterion, Edge, Example, Handover, ModelOverride, Node as ScenarioNode, Question, Scenario,
    StateUpdate, when, write,
};
use crate::section::lost::Lost;
use crate::task::Task;

/// The keys that a checkpoint spells in another way.
const RENAMED: [(&str, &str); 10] = [
    ("entry_node", "entryNode"),
    ("outcome_criteria", "outcomeCriteria"),
    ("node_id", "nodeId"),
    ("model_override", "modelOverride"),
    ("tool_filter", "toolFilter"),
    ("state_update_source", "stateUpdateSource"),
    ("question", "questionData"),
    ("agent_identity", "agentIdentity"),
    ("condition_source", "conditionSource"),
    ("evaluate_source", "evaluateSource"),
];

/// What Karenina has no place for.
const BEYOND: &str = "jurat";

/// The type of a checkpoint.
const CHECKPOINT: &str = "DataFeed";

/// How the name of a scenario's type ends.
const SCENARIO: &str = "Scenario";

impl Scenario {
    /// Reads scenarios that Karenina has stored: a checkpoint (`DataFeed`) with any number of them, one scenario of a checkpoint, or
    /// the dump of one. What cannot be read is a problem; whether a graph is sound is another question ([`crate::scenario::structure`]).
    ///
    /// ```
    /// use jurat_core::scenario::Scenario;
    /// use jurat_format::value::{SourceId, json_node};
    ///
    /// let text = r#"{"@type": "DataFeed", "hasPart": [{
    ///     "@type": "karenina:Scenario", "name": "greeting", "entryNode": "hi",
    ///     "nodes": {"hi": {"nodeId": "hi", "questionData": {"question": "Hello?", "raw_answer": "Hello."}}}}]}"#;
    /// let (node, _) = json_node(text, SourceId(0))?;
    /// let scenarios = Scenario::from_checkpoint(&node).unwrap();
    /// assert_eq!(scenarios[0].node_ids().collect::<Vec<_>>(), ["hi"]);
    /// # Ok::<(), jurat_format::value::JsonError>(())
    /// ```
    pub fn from_checkpoint(node: &Node<'_>) -> Result<Vec<Scenario>, Vec<Problem>> {
        let mut reading = Reading { problems: Problems::default(), sources: Sources::default(), files: &NoFiles };
        let scenarios = parts_of_checkpoint(node).unwrap_or_else(|| vec![node]);
        let read = |it| read(&mut reading, &mut Lost::default(), None, it).map(|(it, _)| it.scenario);
        let scenarios = scenarios.into_iter().filter_map(read).collect();
        match reading.n_errors() {
            0 => Ok(scenarios),
            _ => Err(reading.problems.into_vec()),
        }
    }

    /// The scenario as a part of a checkpoint.
    pub fn to_checkpoint(&self) -> Value {
        Writing::Checkpoint.scenario(self)
    }

    /// The scenario as Karenina dumps it.
    pub fn to_stored(&self) -> Value {
        Writing::Dump.scenario(self)
    }
}

/// A stored scenario names no other file.
struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &Path, _: u64) -> Result<Vec<u8>, ReadError> {
        Err(ReadError::NotFound)
    }
}

/// Reads a scenario, whatever stored it.
pub(crate) fn read(
    reading: &mut Reading<'_>,
    lost: &mut Lost,
    name: Option<Spanned<String>>,
    node: &Node<'_>,
) -> Option<(ScenarioText, Vec<Task>)> {
    let plain = plain(node);
    let (mut text, tasks) = text::read(reading, lost, name, plain.as_ref().unwrap_or(node))?;
    text.scenario.nodes.iter_mut().for_each(forget_named);
    Some((text, tasks))
}

/// Drops what follows from the rest: the id of a question is that of its text, and a model of which only the name is known is its name.
fn forget_named(node: &mut ScenarioNode) {
    let id = question_id(&node.question.text);
    let is_other = |(key, value): &(&str, &Value)| *key != "id" || value.as_str() != Some(id.as_str());
    node.question.stored = filtered(&node.question.stored, is_other);
    let subject = node.models.subject.as_deref().map(model_named);
    let parser = node.models.parser.as_deref().map(model_named);
    let says_more = |(key, value): &(&str, &Value)| match *key {
        "answering_model" => subject.as_ref() != Some(value),
        "parsing_model" => parser.as_ref() != Some(value),
        _ => true,
    };
    node.stored = filtered(&node.stored, says_more);
}

fn filtered(members: &Map<'static>, is_wanted: impl Fn(&(&str, &Value)) -> bool) -> Map<'static> {
    members.iter().filter(|it| is_wanted(it)).map(|(key, value)| (key.to_owned(), value.clone())).collect()
}

/// A checkpoint with these scenarios.
pub fn checkpoint<'s>(scenarios: impl IntoIterator<Item = &'s Scenario>) -> Value {
    let parts: Value = scenarios.into_iter().map(Scenario::to_checkpoint).collect();
    Val::Map([("@type", Val::from(CHECKPOINT)), ("hasPart", parts)].into_iter().collect())
}

/// What a file of Karenina has.
pub(crate) struct StoredFile<'n, 'a> {
    pub(crate) head: Option<Span>,
    pub(crate) name: Option<Spanned<String>>,
    pub(crate) scenarios: Vec<&'n Node<'a>>,
}

/// Reads a file that Karenina has written: a checkpoint, or the dump of a scenario. `None` when it is something else.
pub(crate) fn stored_file<'n, 'a>(reading: &mut Reading<'_>, node: &'n Node<'a>) -> Option<StoredFile<'n, 'a>> {
    let scenarios = parts_of_checkpoint(node).or(is_dump(node).then(|| vec![node]))?;
    let head = node.entries().and_then(|it| it.first()).map(|it| it.key_span);
    let name = node.get("name").and_then(|it| Some(Spanned::new(it.as_str()?.to_owned(), it.span)));
    if scenarios.is_empty() {
        let problem = Problem::new(&codes::NOT_SUPPORTED, "a checkpoint without scenarios");
        let problem = problem.at(node.get("@type").unwrap_or(node).span, "holds questions, or nothing");
        reading.problem(problem.help("jurat reads the scenarios of a checkpoint; questions go into `records`"));
    }
    Some(StoredFile { head, name: name.filter(|it| !it.value.is_empty()), scenarios })
}

/// The scenarios of a checkpoint; `None` when it is none.
fn parts_of_checkpoint<'n, 'a>(node: &'n Node<'a>) -> Option<Vec<&'n Node<'a>>> {
    let kind = node.get("@type").and_then(Node::as_str)?;
    match kind {
        CHECKPOINT => {
            let parts = node.get("hasPart").and_then(Node::as_list).unwrap_or(&[]);
            Some(parts.iter().filter(|it| is_scenario(it)).collect())
        }
        _ => is_scenario(node).then(|| vec![node]),
    }
}

/// Whether an object is the dump of a scenario, rather than a suite.
fn is_dump(node: &Node<'_>) -> bool {
    ["name", "nodes", "edges", "entry_node"].iter().all(|it| node.get(it).is_some())
}

/// A scenario of a checkpoint under the names of the dump, each part at its place; `None` when it is none.
fn plain<'a>(node: &Node<'a>) -> Option<Node<'a>> {
    is_scenario(node).then(|| {
        changed(node, |entry| match &*entry.key {
            "nodes" => Some(Entry { value: members(&entry.value, plain_node), ..entry.clone() }),
            "edges" | "outcomeCriteria" => renamed(Entry { value: items(&entry.value, plain_part), ..entry.clone() }),
            _ => renamed(entry.clone()),
        })
    })
}

fn is_scenario(node: &Node<'_>) -> bool {
    let kind = node.get("@type").and_then(Node::as_str).unwrap_or_default();
    kind == SCENARIO || kind.ends_with(":Scenario")
}

fn plain_node<'a>(node: &Node<'a>) -> Node<'a> {
    let has_data = node.get("questionData").is_some_and(|it| it.entries().is_some());
    changed(node, |entry| match &*entry.key {
        // The question stands twice; the words of schema.org say less.
        "question" if has_data => None,
        "question" => Some(Entry { value: plain_question(&entry.value), ..entry.clone() }),
        "questionData" if !has_data => None,
        _ => renamed(entry.clone()),
    })
}

/// A question in the words of schema.org, in Karenina's own.
fn plain_question<'a>(node: &Node<'a>) -> Node<'a> {
    let text =
        |part: Option<&Node<'a>>| part.and_then(|it| it.get("text")).filter(|it| it.as_str() != Some("")).cloned();
    let found = [
        ("question", node.get("text").cloned()),
        ("raw_answer", text(node.get("acceptedAnswer"))),
        ("answer_template", text(node.get("hasPart"))),
    ];
    let entry = |(key, value): (&'static str, Option<Node<'a>>)| {
        value.map(|value| Entry { key: Cow::Borrowed(key), key_span: node.span, value })
    };
    Node { span: node.span, content: Content::Map(found.into_iter().filter_map(entry).collect()) }
}

fn plain_part<'a>(node: &Node<'a>) -> Node<'a> {
    changed(node, |entry| renamed(entry.clone()))
}

/// An object with other entries; what stands under `jurat` stands beside them.
fn changed<'a>(node: &Node<'a>, change: impl Fn(&Entry<'a>) -> Option<Entry<'a>>) -> Node<'a> {
    let Some(entries) = node.entries() else { return node.clone() };
    let beyond = node.get(BEYOND).and_then(Node::entries).unwrap_or(&[]);
    let own = entries.iter().filter(|it| it.key != BEYOND && !it.key.starts_with('@'));
    let entries: Vec<Entry<'a>> = own.filter_map(change).chain(beyond.iter().cloned()).collect();
    Node { span: node.span, content: Content::Map(entries) }
}

/// The entry under its name in the dump.
fn renamed(entry: Entry<'_>) -> Option<Entry<'_>> {
    let known = RENAMED.iter().find(|(_, it)| *it == entry.key);
    Some(match known {
        Some((name, _)) => Entry { key: Cow::Borrowed(name), ..entry },
        None => entry,
    })
}

fn members<'a>(node: &Node<'a>, change: fn(&Node<'a>) -> Node<'a>) -> Node<'a> {
    let Some(entries) = node.entries() else { return items(node, change) };
    let entries = entries.iter().map(|it| Entry { value: change(&it.value), ..it.clone() });
    Node { span: node.span, content: Content::Map(entries.collect()) }
}

fn items<'a>(node: &Node<'a>, change: fn(&Node<'a>) -> Node<'a>) -> Node<'a> {
    let Some(items) = node.as_list() else { return node.clone() };
    Node { span: node.span, content: Content::List(items.iter().map(change).collect()) }
}

/// Which of the two forms is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Writing {
    Dump,
    Checkpoint,
}

impl Writing {
    fn key(self, name: &'static str) -> &'static str {
        match (self, RENAMED.iter().find(|(it, _)| *it == name)) {
            (Writing::Checkpoint, Some((_, renamed))) => renamed,
            _ => name,
        }
    }

    /// An object, with its type in a checkpoint.
    fn object(self, kind: Option<&'static str>, members: Vec<(&'static str, Value)>) -> Map<'static> {
        let kind = kind.filter(|_| self == Writing::Checkpoint).map(|it| ("@type", Val::from(it)));
        kind.into_iter().chain(members.into_iter().map(|(name, value)| (self.key(name), value))).collect()
    }

    fn scenario(self, scenario: &Scenario) -> Value {
        let nodes: Map<'static> = scenario.nodes.iter().map(|it| (it.id.clone(), self.node(it))).collect();
        let mut object = self.object(
            Some("karenina:Scenario"),
            vec![
                ("name", Val::from(scenario.name.clone())),
                ("description", Val::from(scenario.description.clone())),
                ("entry_node", Val::from(scenario.entry.clone())),
                ("nodes", Val::Map(nodes)),
                ("edges", scenario.edges.iter().map(|it| self.edge(it)).collect()),
                ("outcome_criteria", scenario.outcomes.iter().map(|it| self.outcome(it)).collect()),
                ("metadata", Val::Map(scenario.metadata.clone())),
            ],
        );
        let beyond = ["rubric", "system", "models", "tools", "turn_limit", "turn_timeout", "timeout", "tags"];
        self.put_beyond(&mut object, scenario.to_value(), &beyond);
        Val::Map(object)
    }

    fn node(self, node: &ScenarioNode) -> Value {
        let mut members = vec![("node_id", Val::from(node.id.clone()))];
        let filter = match node.tool_filter.remove.as_slice() {
            [] => Val::Null,
            remove => {
                let tool = |it: &crate::scenario::ToolName| {
                    let members = [("server", Val::from(it.server.clone())), ("tool", optional(it.tool.as_ref()))];
                    Val::Map(members.into_iter().collect::<Map<'static>>())
                };
                Val::Map([("remove", remove.iter().map(tool).collect())].into_iter().collect::<Map<'static>>())
            }
        };
        let source = match &node.state_update {
            Some(StateUpdate::Callable(Callable { source, .. })) => optional(source.as_ref()),
            _ => Val::Null,
        };
        members.extend([
            ("model_override", models(&node.models, node)),
            ("tool_filter", filter),
            ("state_update_source", source),
            ("question", question(&node.question)),
            ("agent_identity", optional(node.agent_identity.as_ref())),
            ("metadata", Val::Map(node.metadata.clone())),
        ]);
        let mut object = self.object(Some("karenina:ScenarioNode"), members);
        if self == Writing::Checkpoint {
            object.insert("question".into(), schema_org_question(&node.question));
        }
        // What was read from Karenina's own template and rubric stands there already.
        let own = |key: &str| node.question.stored.get(key).is_none();
        let beyond = ["description", "template", "rubric", "system", "tools", "state_update"].into_iter();
        let beyond = beyond.filter(|it| match *it {
            "template" => own("answer_template"),
            "rubric" => own("question_rubric"),
            "system" => node.stored.get("answering_model").is_none(),
            _ => true,
        });
        self.put_beyond(&mut object, write::node_value(node), &beyond.collect::<Vec<_>>());
        Val::Map(object)
    }

    fn edge(self, edge: &Edge) -> Value {
        let source = match &edge.when {
            Some(Condition::Callable(Callable { source, .. })) => optional(source.as_ref()),
            _ => Val::Null,
        };
        let mut object = self.object(
            None,
            vec![
                ("source", Val::from(edge.source.clone())),
                ("target", Val::from(edge.target.name().to_owned())),
                ("condition", edge.when.as_ref().map_or(Val::Null, when::write_stored)),
                ("condition_source", source),
                ("handover", edge.handover.as_ref().and_then(Handover::name).map_or(Val::Null, Val::from)),
            ],
        );
        self.put_beyond(&mut object, write::edge(edge), &["handover_source"]);
        Val::Map(object)
    }

    fn outcome(self, criterion: &Criterion) -> Value {
        let check = criterion.check.as_ref().map(|it| match self {
            Writing::Dump => it.to_stored(),
            Writing::Checkpoint => it.to_checkpoint(),
        });
        let source = criterion.evaluate.as_ref().and_then(|it| it.source.as_ref());
        Val::Map(self.object(
            None,
            vec![
                ("name", Val::from(criterion.name.clone())),
                ("description", Val::from(criterion.description.clone())),
                ("check", check.unwrap_or(Val::Null)),
                ("evaluate_source", optional(source)),
            ],
        ))
    }

    /// Adds what Karenina has no place for, out of the form that suites have.
    fn put_beyond(self, object: &mut Map<'static>, short: Value, keys: &[&'static str]) {
        let found = keys.iter().filter_map(|key| Some((*key, short.get(key)?.clone())));
        let beyond: Map<'static> = found.collect();
        if beyond.is_empty() {
            return;
        }
        match self {
            Writing::Checkpoint => _ = object.insert(BEYOND.into(), Val::Map(beyond)),
            Writing::Dump => {
                for (key, value) in beyond.iter() {
                    object.insert(key.to_owned().into(), value.clone());
                }
            }
        }
    }
}

/// The keys of a question in the order of Karenina, with what stands there when there is nothing.
const QUESTION: [(&str, Value); 14] = [
    ("question", Val::Null),
    ("raw_answer", Val::Null),
    ("keywords", Val::List(Vec::new())),
    ("few_shot_examples", Val::Null),
    ("date_created", Val::Null),
    ("date_modified", Val::Null),
    ("answer_template", Val::Null),
    ("answer_notes", Val::Null),
    ("author", Val::Null),
    ("sources", Val::Null),
    ("custom_metadata", Val::Null),
    ("question_rubric", Val::Null),
    ("question_dynamic_rubric", Val::Null),
    ("workspace_path", Val::Null),
];

fn question(question: &Question) -> Value {
    let Question { text, raw_answer, examples, stored, .. } = question;
    let example = |it: &Example| {
        let members = [("question", Val::from(it.question.clone())), ("answer", Val::from(it.answer.clone()))];
        Val::Map(members.into_iter().collect::<Map<'static>>())
    };
    let mut object: Map<'static> = Map::default();
    for (key, nothing) in QUESTION {
        let value = match key {
            "question" => Val::from(text.clone()),
            "raw_answer" => optional(raw_answer.as_ref()),
            "few_shot_examples" if !examples.is_empty() => examples.iter().map(example).collect(),
            // Karenina dates a question when it is made, and takes no null for a date.
            "date_created" | "date_modified" if stored.get(key).is_none() => continue,
            _ => stored.get(key).cloned().unwrap_or(nothing),
        };
        object.insert(key.into(), value);
    }
    let id = stored.get("id").cloned().unwrap_or_else(|| Val::from(question_id(text)));
    object.insert("id".into(), id);
    Val::Map(object)
}

/// The question in the words of schema.org.
fn schema_org_question(question: &Question) -> Value {
    let object = |kind: &'static str, members: Vec<(&'static str, Value)>| {
        let head = [("@type", Val::from(kind)), ("@id", Val::Null)];
        Val::Map(head.into_iter().chain(members).collect::<Map<'static>>())
    };
    let template = question.stored.get("answer_template").and_then(Val::as_str).unwrap_or_default().to_owned();
    let answer = question.raw_answer.clone().unwrap_or_default();
    let is_long = question.text.chars().nth(MOST_LETTERS).is_some();
    let start: String = question.text.chars().take(MOST_LETTERS).collect();
    let name = format!("{start}{} Answer Template", if is_long { "..." } else { "" });
    object(
        "Question",
        vec![
            ("text", Val::from(question.text.clone())),
            ("acceptedAnswer", object("Answer", vec![("text", Val::from(answer))])),
            (
                "hasPart",
                object(
                    "SoftwareSourceCode",
                    vec![
                        ("name", Val::from(name)),
                        ("text", Val::from(template)),
                        ("programmingLanguage", Val::from("Python")),
                        ("codeRepository", Val::Null),
                    ],
                ),
            ),
            ("rating", Val::Null),
            ("additionalProperty", Val::Null),
            ("keywords", Val::Null),
        ],
    )
}

/// How many letters of a question name its template.
const MOST_LETTERS: usize = 40;

/// The models of a node: as Karenina wrote them, or by name.
fn models(models: &ModelOverride, node: &ScenarioNode) -> Value {
    let model = |key: &str, name: Option<&String>| match (node.stored.get(key), name) {
        (Some(stored), _) => stored.clone(),
        (None, name) => name.map_or(Val::Null, |it| model_named(it)),
    };
    let members = [
        ("answering_model", model("answering_model", models.subject.as_ref())),
        ("parsing_model", model("parsing_model", models.parser.as_ref())),
    ];
    match members.iter().all(|(_, it)| *it == Val::Null) {
        true => Val::Null,
        false => Val::Map(members.into_iter().collect::<Map<'static>>()),
    }
}

/// A model of which only the name is known.
fn model_named(name: &str) -> Value {
    let (provider, model) = name.split_once('/').unwrap_or(("", name));
    let members = [
        ("id", Val::from(name.to_owned())),
        ("model_provider", if provider.is_empty() { Val::Null } else { Val::from(provider.to_owned()) }),
        ("model_name", Val::from(model.to_owned())),
    ];
    Val::Map(members.into_iter().collect::<Map<'static>>())
}

fn optional(text: Option<&String>) -> Value {
    text.map_or(Val::Null, |it| Val::from(it.clone()))
}
