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

use jurat_format::codes;
use jurat_format::field::{self, Field, METADATA};
use jurat_format::fields::Fields;
use jurat_format::form::{Form, Object};
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape, Tree};
use jurat_format::value::{Node, Span, Spanned, Val, Value};

use super::text::{self as agents, AgentText, LimitsText};
use super::{Network, plain_relative_path};
use crate::evaluation::text as evaluation;
use crate::evaluation::{Expectations, Rubric};
use crate::section::Heading;
use crate::section::lost::{Lost, Part};
use crate::task::{self, Task, deterministic_checks};
use crate::{prompt, text_file};

/// A task for an agent, as it was written.
#[derive(Debug, Clone)]
pub struct AgentCaseText {
    pub id: Spanned<String>,
    pub description: Option<String>,
    pub agent: AgentName,
    /// The system prompt of the agent.
    pub system: Option<String>,
    /// The inputs of its turns, in order.
    pub turns: Vec<String>,
    pub turns_span: Span,
    /// Texts that are shown to it with the first input.
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
    pub(crate) network: Option<Network>,
    pub(crate) limits: LimitsText,
}

/// Who is given a case.
#[derive(Debug, Clone)]
pub enum AgentName {
    /// The only agent there is.
    Only,
    /// An entry of `agents`.
    Named(Spanned<String>),
    /// The one that is described here.
    Here(Box<AgentText>),
}

/// A path, relative to the file that holds it.
const PATH: Shape<Spanned<PathBuf>> = Shape::new(Form::Text, |reading, what, node| {
    let written = reading.text(what, node)?;
    Some(Spanned::new(reading.beside(written.span, &written.value), written.span))
});

const ID: Field<Spanned<String>> = Field::optional("id", shape::TEXT, "its id, when cases are a list").or(&["case_id"]);
const DESCRIPTION: Field<String> = field::DESCRIPTION.or(&["title"]);
const AGENT: Field<Tree> = Field::optional(
    "agent",
    shape::tree(Form::Either(&[Form::Text, agents::ONE])),
    "an entry of `agents`, or an agent",
)
.default_words("the only entry of `agents`");
const TASK: Field<(Spanned<String>, Option<String>)> =
    Field::optional("task", prompt::TEXT_OR_FILE, "the task: the first message to the agent");
const TURNS: Field<Vec<String>> = Field::optional(
    "turns",
    Shape::new(const { Form::List(&prompt::TEXT_OR_FILE.form) }, turns),
    "several messages, one after the other in one session; in place of `task`",
);
const SYSTEM: Field<(Spanned<String>, Option<String>)> = Field::optional(
    "system",
    prompt::TEXT_OR_FILE,
    "a system prompt, added to that of the agent's program; part of the first message for `openclaw`, `openhands`, `aider` and `mini_swe_agent`",
);
const ATTACHMENTS: Field<Vec<(String, String)>> = Field::optional(
    "attachments",
    Shape::new(Form::List(&Form::Text), attachments),
    "text files that are added to the first message",
);
const WORKSPACE: Field<Spanned<PathBuf>> =
    Field::optional("workspace", PATH, "a directory; each run starts with a fresh copy of it as its workspace")
        .default_words("an empty workspace");
const KEY_OUTPUTS: Field<Vec<String>> = Field::optional(
    "key_outputs",
    Shape::new(Form::List(&Form::Text), key_outputs),
    "the files that it should write, relative to its workspace; they are stored as output artifacts",
);
const ARTIFACT: Field<Spanned<PathBuf>> =
    Field::optional("artifact", PATH, "the file of a run artifact, for the runner `recorded`");
const NETWORK: Field<Network> =
    Field::optional("network", agents::NETWORK_SHAPE, "network access in this case, in place of the agent's");
const LIMITS: Field<LimitsText> =
    Field::optional("limits", agents::LIMITS_SHAPE, "limits in this case, in place of the agent's");
const EXPECTATIONS: Field<Expectations> =
    Field::optional("expectations", evaluation::EXPECTATIONS_SHAPE, "what is expected of its runs, for `evaluation`")
        .or_null();
const RUBRIC: Field<Rubric> =
    Field::optional("rubric", evaluation::RUBRIC_SHAPE, "what scores of its runs mean, for `evaluation`").or_null();
const TAGS: Field<Vec<String>> = Field::optional("tags", shape::STRINGS, "tags to select it by");
const TASKS: Field<Tree> = Field::optional(
    "tasks",
    shape::tree(const { Form::List(&Form::Object(&task::TASK)) }),
    "tasks that apply to this case alone",
);
const DETERMINISTIC_CHECKS: Field<Tree> = Field::optional(
    "deterministic_checks",
    shape::tree(deterministic_checks::ENTRIES),
    "checks that apply to this case alone",
);

static CASE: Object = Object {
    what: "a case",
    keys: &[
        ID.key,
        DESCRIPTION.key,
        AGENT.key,
        TASK.key,
        TURNS.key,
        SYSTEM.key,
        ATTACHMENTS.key,
        WORKSPACE.key,
        KEY_OUTPUTS.key,
        ARTIFACT.key,
        NETWORK.key,
        LIMITS.key,
        EXPECTATIONS.key,
        RUBRIC.key,
        TAGS.key,
        METADATA.key,
        TASKS.key,
        DETERMINISTIC_CHECKS.key,
    ],
};

const ONE: Form = Form::Object(&CASE);

pub(crate) const HEADING: Heading = Heading::new(
    "cases",
    Form::Either(&[Form::List(&ONE), Form::Map(&ONE)]),
    "cases for agents",
    &[Part::Task, Part::Case],
);

/// Reads a case, and the tasks that apply to it alone. Its id stands in it unless it is given.
pub(crate) fn read(
    reading: &mut Reading<'_>,
    lost: &mut Lost,
    key: Option<Spanned<String>>,
    node: &Node<'_>,
) -> Option<(AgentCaseText, Vec<Task>)> {
    let n_before = reading.n_errors();
    let fields = CASE.fields(reading, node)?;
    let id = named(reading, key, &fields);
    let (task, system) = (fields.read(reading, &TASK), fields.read(reading, &SYSTEM));
    let turns = fields.read(reading, &TURNS);
    let turns_span = fields.key_span(&TURNS).or_else(|| fields.key_span(&TASK)).unwrap_or(fields.head());
    if let (Some(second), Some(first)) = (fields.key_span(&TURNS), fields.key_span(&TASK)) {
        let problem = Problem::new(&codes::CONFLICT, "a case has either `task` or `turns`");
        let problem = problem.at(second, "and this").at(first, "this");
        reading.problem(problem.help("`task` is what one turn says; put it first among `turns`"));
    }
    let description = fields.read(reading, &DESCRIPTION);
    let agent = match fields.node(&AGENT) {
        None => Some(AgentName::Only),
        Some(node) if node.entries().is_some() => {
            let name = id.as_ref().map_or_else(|| "agent".to_owned(), |it| it.value.clone());
            let agent = agents::read(reading, Spanned::new(name, node.span), node);
            agent.map(|mut it| {
                it.agent.name = it.agent.runner.name.to_owned();
                AgentName::Here(Box::new(it))
            })
        }
        Some(node) => reading.text(&AGENT.quoted(), node).map(AgentName::Named),
    };
    let attachments = fields.read(reading, &ATTACHMENTS).unwrap_or_default();
    let (workspace, artifact) = (fields.read(reading, &WORKSPACE), fields.read(reading, &ARTIFACT));
    let key_outputs = fields.read(reading, &KEY_OUTPUTS).unwrap_or_default();
    let network = fields.read(reading, &NETWORK);
    let limits = fields.read(reading, &LIMITS).unwrap_or_default();
    let tags = fields.read(reading, &TAGS).unwrap_or_default();
    let metadata = Val::Map(fields.read(reading, &METADATA).unwrap_or_default());
    let (expectations, rubric) = (fields.read(reading, &EXPECTATIONS), fields.read(reading, &RUBRIC));
    let wanted = [EXPECTATIONS.key, RUBRIC.key].into_iter().find(|it| fields.node(it).is_some());
    let wanted = wanted.and_then(|it| fields.key_span(&it));
    let turns = turns.unwrap_or_else(|| task.map(|(text, _)| text.value).into_iter().collect());
    if turns.is_empty() && artifact.is_none() && reading.n_errors() == n_before {
        let problem = Problem::new(&codes::MISSING_KEY, "a case needs a `task`, `turns` or an `artifact`");
        let problem = problem.at(id.as_ref().map_or(fields.head(), |it| it.span), "asks for nothing");
        reading.problem(problem.help("`task` is the input of the agent"));
    }
    let tasks = id.as_ref().map(|id| own_tasks(reading, lost, id, &fields)).unwrap_or_default();
    let (id, agent) = (id?, agent?);
    let case = AgentCaseText {
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
        tags,
        metadata,
        network,
        limits,
    };
    (reading.n_errors() == n_before).then_some((case, tasks))
}

/// The id of a case: its key, or what it says.
fn named(reading: &mut Reading<'_>, key: Option<Spanned<String>>, fields: &Fields<'_, '_>) -> Option<Spanned<String>> {
    let id = fields.own_id(reading, key, &ID, "case", NAMED)?;
    if id.value.trim().is_empty() {
        let problem = Problem::new(&codes::WRONG_VALUE, "the id of a case cannot be empty");
        reading.problem(problem.at(id.span, "empty").help(NAMED));
        return None;
    }
    Some(id)
}

/// What the id of a case is for.
const NAMED: &str = "reports and selections name it by its id";

fn turns(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<String>> {
    let items = reading.list(what, "a list of texts", node);
    let what = format!("an item of {what}");
    let turns = items.iter().filter_map(|it| (prompt::TEXT_OR_FILE.read)(reading, &what, it));
    Some(turns.map(|(text, _)| text.value).collect())
}

/// The files that are shown to the agent. Each becomes a source of the definition, so that a run has them.
fn attachments(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<(String, String)>> {
    let mut attachments = Vec::new();
    for file in reading.texts(what, node) {
        let path = reading.beside(file.span, &file.value);
        let Some(text) = text_file::read(reading, &path, Some(file.span)) else { continue };
        reading.sources.add(&path, text.clone());
        let name = path.file_name().map_or_else(|| file.value.clone(), |it| it.to_string_lossy().into_owned());
        attachments.push((name, text));
    }
    Some(attachments)
}

fn key_outputs(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<String>> {
    let mut paths = Vec::new();
    for path in reading.texts(what, node) {
        match plain_relative_path(&path.value) {
            Some(path) => paths.push(path),
            None => {
                let problem = Problem::new(&codes::WRONG_VALUE, "a key output must stay in the workspace");
                let problem = problem.at(path.span, "leads out of it");
                reading.problem(problem.help("write a path that is relative to the workspace, without `..`"));
            }
        }
    }
    Some(paths)
}

/// Tasks and checks that apply to the case alone.
fn own_tasks(reading: &mut Reading<'_>, lost: &mut Lost, id: &Spanned<String>, fields: &Fields<'_, '_>) -> Vec<Task> {
    let tasks = fields.node(&TASKS).map(|it| reading.list(&TASKS.quoted(), "a list of tasks", it)).unwrap_or_default();
    let checks = fields.node(&DETERMINISTIC_CHECKS);
    let checks =
        checks.map(|it| reading.list(&DETERMINISTIC_CHECKS.quoted(), "a list of checks", it)).unwrap_or_default();
    let all = tasks.iter().map(|it| (it, false)).chain(checks.iter().map(|it| (it, true)));
    let mut own = Vec::new();
    for (item, is_check) in all {
        let read = if is_check { deterministic_checks::read_entry(reading, item) } else { task::read(reading, item) };
        own.extend(task::of_case(reading, lost, ("case", id), item, read));
    }
    own
}
