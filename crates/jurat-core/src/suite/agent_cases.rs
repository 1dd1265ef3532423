//! `cases`: tasks for agents.
//!
//! ```yaml
//! cases:
//!   - id: report
//!     agent: helper
//!     task: Summarise notes.txt in report.md.
//!     workspace: templates/notes
//!     key_outputs: [report.md]
//!     tasks:
//!       - { id: written, check: { kind: workspace_file_present, relative_path: report.md } }
//! ```

use std::path::PathBuf;
use std::sync::Arc;

use jurat_format::codes;
use jurat_format::form::{Form, Key, Keys};
use jurat_format::problem::Problem;
use jurat_format::reader::{Fields, Reading};
use jurat_format::value::{Content, Entry, Map, Node, Span, Spanned, Val, Value};

use super::agents::{self, AgentText, LimitsText};
use super::judging::{PROMPT, text_or_file};
use super::{Suite, check, evaluation, task};
use crate::agent::{AgentCase, Network, plain_relative_path};
use crate::evaluation::{Expectations, Rubric};

/// A task for an agent, as it was written.
#[derive(Debug, Clone)]
pub struct AgentCaseText {
    pub id: Spanned<String>,
    pub description: Option<String>,
    pub agent: AgentName,
    /// What the agent is told to be.
    pub system: Option<String>,
    /// What it is told, one thing after the other.
    pub turns: Vec<String>,
    pub turns_span: Span,
    /// Texts that are shown to it with the first thing it is told.
    pub attachments: Vec<(String, String)>,
    /// The directory that its workspace is made from.
    pub workspace: Option<PathBuf>,
    /// The files that it should leave.
    pub key_outputs: Vec<String>,
    /// The artifact, when it is recorded.
    pub artifact: Option<Spanned<PathBuf>>,
    /// What is expected of its runs; `None` when the evaluation says it.
    pub expectations: Option<Expectations>,
    /// What scores of its runs mean; `None` when the evaluation says it.
    pub rubric: Option<Rubric>,
    /// Where expectations or the rubric stand.
    pub(crate) wanted: Option<Span>,
    /// Words to select it by.
    pub tags: Vec<String>,
    /// Whatever its author wants to keep with it.
    pub metadata: Value,
    network: Option<Network>,
    limits: LimitsText,
    /// As it was written, without its tasks.
    pub(crate) written: Value,
}

/// Who is given a case.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentName {
    /// The only agent there is.
    Only,
    /// An entry of `agents`.
    Named(Spanned<String>),
    /// The one that is described here.
    Here(Box<AgentText>),
}

/// Two are equal when they are written alike; where they stand makes no difference.
impl PartialEq for AgentCaseText {
    fn eq(&self, other: &Self) -> bool {
        (&self.id, &self.written) == (&other.id, &other.written)
    }
}

impl AgentCaseText {
    /// The agent that it is given to, when there is such.
    pub fn agent_in<'s>(&'s self, suite: &'s Suite) -> Option<&'s AgentText> {
        match &self.agent {
            AgentName::Here(agent) => Some(agent),
            AgentName::Named(name) => suite.agents.iter().find(|it| it.name.value == name.value),
            AgentName::Only => match suite.agents.as_slice() {
                [only] => Some(only),
                _ => None,
            },
        }
    }

    /// The case with its agent, and the limits that hold for it.
    pub fn resolve(&self, suite: &Suite) -> Option<AgentCase> {
        let mut agent = self.agent_in(suite)?.agent.clone();
        self.limits.over(&mut agent.limits);
        agent.network = self.network.clone().or(agent.network);
        Some(AgentCase {
            id: self.id.value.clone(),
            description: self.description.clone(),
            agent: Arc::new(agent),
            system: self.system.clone(),
            turns: self.turns.clone(),
            attachments: self.attachments.clone(),
            workspace: self.workspace.clone(),
            key_outputs: self.key_outputs.clone(),
            artifact: self.artifact.as_ref().map(|it| it.value.clone()),
            tags: self.tags.clone(),
            metadata: self.metadata.clone(),
        })
    }
}

static CASE: Keys = Keys {
    what: "a case",
    keys: &[
        Key::optional("id", Form::Text, "its id, when cases are a list").or(&["case_id"]),
        Key::DESCRIPTION.or(&["title"]),
        Key::optional("agent", Form::Either(&[Form::Text, agents::ONE]), "an entry of `agents`, or an agent")
            .default("the only entry of `agents`"),
        Key::optional("task", PROMPT, "the task: the first message to the agent"),
        Key::optional(
            "turns",
            Form::List(&PROMPT),
            "several messages, one after the other in one session; in place of `task`",
        ),
        Key::optional(
            "system",
            PROMPT,
            "a system prompt, added to that of the agent's program; part of the first message for `openclaw` and `mini_swe_agent`",
        ),
        Key::optional("attachments", Form::List(&Form::Text), "text files that are added to the first message"),
        Key::optional("workspace", Form::Text, "a directory; each run starts with a fresh copy of it as its workspace")
            .default("an empty workspace"),
        Key::optional(
            "key_outputs",
            Form::List(&Form::Text),
            "the files that it should write, relative to its workspace; they are stored as output artifacts",
        ),
        Key::optional("artifact", Form::Text, "the file of a run artifact, for the runner `recorded`"),
        Key::optional("network", agents::NETWORK, "network access in this case, in place of the agent's"),
        Key::optional("limits", Form::Object(&agents::LIMITS), "limits in this case, in place of the agent's"),
        Key::optional("expectations", evaluation::EXPECTATIONS_FORM, "what is expected of its runs, for `evaluation`"),
        Key::optional("rubric", evaluation::RUBRIC_FORM, "what scores of its runs mean, for `evaluation`"),
        Key::optional("tags", Form::List(&Form::Text), "tags to select it by"),
        Key::METADATA,
        Key::optional("tasks", Form::List(&Form::Object(&task::TASK)), "tasks that apply to this case alone"),
        Key::optional("deterministic_checks", check::ENTRIES, "checks that apply to this case alone"),
    ],
};

const ONE: Form = Form::Object(&CASE);

pub(super) const FORM: Form = Form::Either(&[Form::List(&ONE), Form::Map(&ONE)]);

/// Reads the section: a list of cases with ids, or cases by id.
pub(crate) fn read(reading: &mut Reading<'_>, suite: &mut Suite, node: &Node<'_>) {
    match &node.content {
        Content::Map(entries) => {
            for Entry { key, key_span, value } in entries {
                let id = Spanned::new(key.clone().into_owned(), *key_span);
                read_one(reading, suite, Some(id), value);
            }
        }
        Content::List(items) => items.iter().for_each(|item| read_one(reading, suite, None, item)),
        Content::Scalar(_) => {
            reading.wrong_type("`cases`", "a list of cases, or an object of ids and cases", node);
            suite.lost.scenario();
        }
    }
}

fn read_one(reading: &mut Reading<'_>, suite: &mut Suite, id: Option<Spanned<String>>, node: &Node<'_>) {
    let n_tasks = suite.tasks.len();
    let Some(text) = case(reading, suite, id, node) else {
        suite.tasks.truncate(n_tasks);
        suite.lost.scenario();
        return;
    };
    let ids = suite.cases.iter().map(|it| &it.id).chain(suite.scenarios.iter().map(|it| &it.name));
    let first = ids.into_iter().find(|it| it.value == text.id.value).map(|it| it.span);
    if let Some(first) = first {
        let problem = Problem::new(&codes::DUPLICATE_ID, format!("there are two cases `{}`", text.id.value));
        let problem = problem.at(text.id.span, "again here").at(first, "first here");
        reading.problem(problem.help("rename one of them; scenarios and cases have one space of names"));
        suite.tasks.truncate(n_tasks);
        return;
    }
    suite.cases.push(text);
}

fn case(
    reading: &mut Reading<'_>,
    suite: &mut Suite,
    key: Option<Spanned<String>>,
    node: &Node<'_>,
) -> Option<AgentCaseText> {
    let n_before = reading.n_errors();
    let fields = Fields::read(reading, &CASE, node)?;
    let id = named(reading, key, &fields);
    let mut said = |name: &str| fields.get(name).and_then(|it| text_or_file(reading, &format!("`{name}`"), it));
    let (task, system) = (said("task"), said("system"));
    let turns: Option<Vec<String>> = fields.get("turns").map(|it| {
        let items = reading.list("`turns`", "a list of texts", it);
        let turns = items.iter().filter_map(|it| text_or_file(reading, "an item of `turns`", it));
        turns.map(|(text, _)| text.value).collect()
    });
    let turns_span = fields.key_span("turns").or_else(|| fields.key_span("task")).unwrap_or(fields.head());
    if let (Some(second), Some(first)) = (fields.key_span("turns"), fields.key_span("task")) {
        let problem = Problem::new(&codes::CONFLICT, "a case has either `task` or `turns`");
        let problem = problem.at(second, "and this").at(first, "this");
        reading.problem(problem.help("`task` is what one turn says; put it first among `turns`"));
    }
    let description = fields.get("description").and_then(|it| reading.text("`description`", it)).map(|it| it.value);
    let agent = match fields.get("agent") {
        None => Some(AgentName::Only),
        Some(node) if node.entries().is_some() => {
            let name = id.as_ref().map_or_else(|| "agent".to_owned(), |it| it.value.clone());
            let agent = agents::read(reading, Spanned::new(name, node.span), node);
            agent.map(|mut it| {
                it.agent.name = it.agent.runner.name.to_owned();
                AgentName::Here(Box::new(it))
            })
        }
        Some(node) => reading.text("`agent`", node).map(AgentName::Named),
    };
    let attachments = fields.get("attachments").map(|it| attachments(reading, it)).unwrap_or_default();
    let path = |reading: &mut Reading<'_>, key: &str| {
        let written = fields.get(key).and_then(|it| reading.text(&format!("`{key}`"), it))?;
        Some(Spanned::new(reading.beside(written.span, &written.value), written.span))
    };
    let (workspace, artifact) = (path(reading, "workspace"), path(reading, "artifact"));
    let key_outputs = fields.get("key_outputs").map(|it| key_outputs(reading, it)).unwrap_or_default();
    let network = fields.get("network").and_then(|it| agents::network(reading, it));
    let limits = fields.get("limits").and_then(|it| LimitsText::read(reading, it)).unwrap_or_default();
    let tags = fields.get("tags").map(|it| reading.texts("`tags`", it)).unwrap_or_default();
    let metadata = Val::Map(fields.metadata(reading));
    let said = |name: &str| fields.given(name);
    let expectations = said("expectations").and_then(|it| evaluation::expectations(reading, it));
    let rubric = said("rubric").and_then(|it| evaluation::rubric(reading, it));
    let wanted = ["expectations", "rubric"].into_iter().find(|it| said(it).is_some());
    let wanted = wanted.and_then(|it| fields.key_span(it));
    let turns = turns.unwrap_or_else(|| task.map(|(text, _)| text.value).into_iter().collect());
    if turns.is_empty() && artifact.is_none() && reading.n_errors() == n_before {
        let problem = Problem::new(&codes::MISSING_KEY, "a case needs a `task`, `turns` or an `artifact`");
        let problem = problem.at(id.as_ref().map_or(fields.head(), |it| it.span), "asks for nothing");
        reading.problem(problem.help("`task` is what the agent is told"));
    }
    if let Some(id) = &id {
        own_tasks(reading, suite, id, &fields);
    }
    let (id, agent) = (id?, agent?);
    let written = written(node);
    (reading.n_errors() == n_before).then(|| AgentCaseText {
        id,
        description,
        agent,
        system: system.map(|(text, _)| text.value),
        turns,
        turns_span,
        attachments,
        workspace: workspace.map(|it| it.value),
        key_outputs,
        artifact,
        expectations,
        rubric,
        wanted,
        tags: tags.into_iter().map(|it| it.value).collect(),
        metadata,
        network,
        limits,
        written,
    })
}

/// The id of a case: its key, or what it says.
fn named(reading: &mut Reading<'_>, key: Option<Spanned<String>>, fields: &Fields<'_, '_>) -> Option<Spanned<String>> {
    let id = fields.own_id(reading, key, "case", NAMED)?;
    if id.value.trim().is_empty() {
        let problem = Problem::new(&codes::WRONG_VALUE, "the id of a case cannot be empty");
        reading.problem(problem.at(id.span, "empty").help(NAMED));
        return None;
    }
    Some(id)
}

/// What the id of a case is for.
const NAMED: &str = "reports and selections name it by its id";

/// The files that are shown to the agent. Each becomes a source of the definition, so that a run has them.
fn attachments(reading: &mut Reading<'_>, node: &Node<'_>) -> Vec<(String, String)> {
    let mut attachments = Vec::new();
    for file in reading.texts("`attachments`", node) {
        let path = reading.beside(file.span, &file.value);
        let Some(text) = super::load::read_text(reading, &path, Some(file.span)) else { continue };
        reading.sources.add(&path, text.clone());
        let name = path.file_name().map_or_else(|| file.value.clone(), |it| it.to_string_lossy().into_owned());
        attachments.push((name, text));
    }
    attachments
}

fn key_outputs(reading: &mut Reading<'_>, node: &Node<'_>) -> Vec<String> {
    let mut paths = Vec::new();
    for path in reading.texts("`key_outputs`", node) {
        match plain_relative_path(&path.value) {
            Some(path) => paths.push(path),
            None => {
                let problem = Problem::new(&codes::WRONG_VALUE, "a key output must stay in the workspace");
                let problem = problem.at(path.span, "leads out of it");
                reading.problem(problem.help("write a path that is relative to the workspace, without `..`"));
            }
        }
    }
    paths
}

/// Tasks and checks that apply to the case alone.
fn own_tasks(reading: &mut Reading<'_>, suite: &mut Suite, id: &Spanned<String>, fields: &Fields<'_, '_>) {
    let tasks = fields.get("tasks").map(|it| reading.list("`tasks`", "a list of tasks", it)).unwrap_or_default();
    let checks = fields.get("deterministic_checks");
    let checks = checks.map(|it| reading.list("`deterministic_checks`", "a list of checks", it)).unwrap_or_default();
    let all = tasks.iter().map(|it| (it, false)).chain(checks.iter().map(|it| (it, true)));
    for (item, is_check) in all {
        let read = if is_check { check::read_entry(reading, item) } else { task::read(reading, item) };
        match read {
            Ok(mut task) => {
                if let Some(on) = item.get("on") {
                    let problem = Problem::new(&codes::CONFLICT, "a task of a case applies to it alone");
                    let problem = problem.at(on.span, "for others, too?").at(id.span, "this case");
                    reading.problem(problem.help("drop `on`, or move the task to the `tasks` of the suite"));
                }
                task.scope = Some(id.clone());
                suite.tasks.push(task);
            }
            Err(Some(id)) => suite.lost.task_ids.push(id),
            Err(None) => suite.lost.tasks = true,
        }
    }
}

/// The case without its tasks, which are written with all others.
fn written(node: &Node<'_>) -> Value {
    let Val::Map(map) = node.to_val().into_owned() else { return Val::Null };
    let is_kept = |key: &str| !matches!(key, "tasks" | "deterministic_checks");
    Val::Map(map.into_iter().filter(|(key, _)| is_kept(key)).collect::<Map<'static>>())
}
