//! Agents, and the cases that they are given.

use std::path::Path;
use std::time::Duration;

use jurat_format::value::Val;
use serde::Serialize;

use crate::members::{Members, setters};
use crate::value::given;
use crate::{Error, Prompt, Task};

/// A program that is given cases, and what it may see and take.
///
/// ```
/// use std::time::Duration;
///
/// use jurat::Agent;
///
/// Agent::command("mine", ["python3", "./agent.py"]).model("subject").time(Duration::from_secs(300));
/// Agent::run_by("helper", "claude_code").requests(40).cost_usd(0.5).pass_env(["GITHUB_TOKEN"]);
/// Agent::run_by("bare", "llm_probe").tools(["exec_shell", "write_file"]);
/// ```
#[derive(Debug, Clone)]
pub struct Agent {
    pub(crate) name: String,
    members: Members,
    limits: Members,
    env: Members,
}

impl Agent {
    /// An agent that one of jurat's runners runs: `claude_code`, `codex`, `openclaw`, `llm_probe` and so on.
    pub fn run_by(name: impl Into<String>, runner: impl Into<String>) -> Agent {
        let mut members = Members::default();
        members.put("runner", runner.into());
        Agent { name: name.into(), members, limits: Members::default(), env: Members::default() }
    }

    /// A program of your own, with its arguments. Arguments that begin with `./` are files beside the definition.
    pub fn command(name: impl Into<String>, words: impl IntoIterator<Item: Into<String>>) -> Agent {
        let mut members = Members::default();
        members.texts("command", words);
        Agent { name: name.into(), members, limits: Members::default(), env: Members::default() }
    }

    /// No program: its cases name artifacts that were recorded.
    pub fn recorded(name: impl Into<String>) -> Agent {
        Agent::run_by(name, "recorded")
    }

    /// The same, but these hosts may be spoken to, beside its model.
    pub fn reaching(mut self, hosts: impl IntoIterator<Item: Into<String>>) -> Agent {
        let mut network = Members::default();
        network.texts("allow", hosts);
        self.members.object("network", network);
        self
    }

    /// The same in a container.
    pub fn container(mut self, image: impl Into<String>) -> Agent {
        let (mut container, mut sandbox) = (Members::default(), Members::default());
        container.put("image", image.into());
        sandbox.object("container", container);
        self.members.object("sandbox", sandbox);
        self
    }

    /// The agent as it stands in a definition.
    pub(crate) fn value(self) -> Result<Val<'static>, Error> {
        let mut members = self.members;
        members.object_if_any("env", self.env);
        members.object_if_any("limits", self.limits);
        members.finish(&format!("the agent `{}`", self.name))
    }
}

setters! { Agent:
    /// The same with a sentence about what it is.
    description(text: impl Into<String>) => members.put("description", text.into());

    /// The same, whose program is not found by its usual name.
    program(path: impl Into<String>) => members.put("program", path.into());

    /// The same with arguments behind those that the runner gives.
    args(words: impl IntoIterator<Item: Into<String>>) => members.texts("args", words);

    /// The same with a variable.
    env(name: impl Into<String>, value: impl Into<String>) => env.given(name.into(), Ok(Val::from(value.into())));

    /// The same with variables of this process, whose values are not stored.
    pass_env(names: impl IntoIterator<Item: Into<String>>) => members.texts("pass_env", names);

    /// The same, asking this role, or this `provider/model`.
    model(role: impl Into<String>) => members.put("model", role.into());

    /// The same, but what the command prints is what it says, rather than events.
    prints_text() => members.put("output", "text");

    /// The same with tools: `exec_shell`, `read_file`, `write_file`, and names of servers. For `llm_probe`.
    tools(names: impl IntoIterator<Item: Into<String>>) => members.texts("tools", names);

    /// The same without any network, not even to a model.
    without_network() => members.put("network", "off");

    /// The same with directories that it may read.
    read_only(paths: impl IntoIterator<Item: Into<String>>) => members.texts("read_only", paths);

    /// The same, with a timeout for all turns together; default: ten minutes.
    time(most: Duration) => limits.put("time", Val::F(most.as_secs_f64()));

    /// The same with at most this number of requests to its model.
    requests(most: u32) => limits.put("requests", most);

    /// The same with at most this number of tokens of its model, input and output.
    tokens(most: u64) => limits.put("tokens", most);

    /// The same for at most this number of dollars.
    cost_usd(most: f64) => limits.put("cost_usd", Val::F(most));

    /// The same with at most this number of steps of its own loop, where its program takes a limit.
    turns(most: u32) => limits.put("turns", most);

    /// The same with at most this number of bytes of memory.
    memory(bytes: u64) => limits.put("memory", bytes);
}

/// A task for an agent: its input, what it works on, and what is expected of it.
///
/// ```
/// use jurat::check::{Check, workspace_file_present};
/// use jurat::{Agent, AgentCase, RunOptions, Suite};
///
/// # let directory = tempfile::tempdir()?;
/// # let directory = directory.path();
/// # std::fs::create_dir(directory.join("desk"))?;
/// let suite = Suite::builder("notes")
///     .directory(directory)
///     .agent(Agent::command("small", ["/bin/sh", "-c", "cp notes.txt report.md; echo done"]).prints_text())
///     .case(
///         AgentCase::new("report", "Sum up notes.txt in report.md.")
///             .workspace("desk")
///             .key_outputs(["report.md"])
///             .task(Check::new("written", workspace_file_present("report.md"))),
///     )
///     .build()?;
/// assert_eq!(suite.stages(), [["written"]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct AgentCase {
    id: String,
    members: Members,
    hard: Vec<String>,
    soft: Vec<String>,
    tasks: Vec<Task>,
}

impl AgentCase {
    fn of(id: impl Into<String>, key: &'static str, value: impl Into<Val<'static>>) -> AgentCase {
        let mut members = Members::default();
        members.put(key, value);
        AgentCase { id: id.into(), members, hard: Vec::new(), soft: Vec::new(), tasks: Vec::new() }
    }

    /// A case with the input of one turn.
    pub fn new(id: impl Into<String>, task: impl Into<Prompt>) -> AgentCase {
        AgentCase::of(id, "task", task.into().value())
    }

    /// A case with several, one after the other in one session.
    pub fn of_turns<P: Into<Prompt>>(id: impl Into<String>, turns: impl IntoIterator<Item = P>) -> AgentCase {
        let turns: Vec<Val<'static>> = turns.into_iter().map(|it| it.into().value()).collect();
        AgentCase::of(id, "turns", Val::List(turns))
    }

    /// A case that was run elsewhere: its artifact is read, and no agent is started.
    pub fn recorded(id: impl Into<String>, artifact: impl AsRef<Path>) -> AgentCase {
        AgentCase::of(id, "artifact", artifact.as_ref().display().to_string())
    }

    /// The same with more tasks of its own.
    pub fn tasks<T: Into<Task>>(self, tasks: impl IntoIterator<Item = T>) -> AgentCase {
        tasks.into_iter().fold(self, AgentCase::task)
    }

    /// The case as it stands in a definition.
    pub(crate) fn value(self) -> Result<Val<'static>, Error> {
        let mut members = Members::default();
        members.put("id", self.id.clone());
        members.extend(self.members);
        let mut expected = Members::default();
        expected.texts("hard_expectations", self.hard);
        expected.texts("soft_expectations", self.soft);
        members.object_if_any("expectations", expected);
        members.list_if_any("tasks", self.tasks.into_iter().map(Task::value).collect::<Result<_, _>>()?);
        members.finish(&format!("the case `{}`", self.id))
    }
}

setters! { AgentCase:
    /// The same with a sentence about what it is for; reports show it.
    description(text: impl Into<String>) => members.put("description", text.into());

    /// The same for this agent; default: the only one.
    agent(name: impl Into<String>) => members.put("agent", name.into());

    /// The same, with a system prompt.
    system(prompt: impl Into<Prompt>) => members.put("system", prompt.into().value());

    /// The same with text files that are shown to the agent.
    attachments(files: impl IntoIterator<Item: Into<String>>) => members.texts("attachments", files);

    /// The same in a fresh copy of this directory; default: an empty one.
    workspace(directory: impl AsRef<Path>) => members.put("workspace", directory.as_ref().display().to_string());

    /// The same with files that the agent should leave. They are stored as output artifacts.
    key_outputs(paths: impl IntoIterator<Item: Into<String>>) => members.texts("key_outputs", paths);

    /// The same with something that must be met, for judges.
    expects(text: impl Into<String>) => hard.push(text.into());

    /// The same with something that should be met, for judges.
    hopes(text: impl Into<String>) => soft.push(text.into());

    /// The same with words to select it by.
    tags(tags: impl IntoIterator<Item: Into<String>>) => members.texts("tags", tags);

    /// The same with metadata: an object.
    metadata(metadata: impl Serialize) => members.given("metadata", given(&metadata));

    /// The same with a task of its own.
    task(task: impl Into<Task>) => tasks.push(task.into());
}
