//! Agents, and the cases that they are given.

use std::path::Path;
use std::time::Duration;

use jurat_format::value::{Map, Val};
use serde::Serialize;

use crate::members::Members;
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

    /// The same with a sentence about what it is.
    pub fn description(mut self, text: impl Into<String>) -> Agent {
        self.members.put("description", text.into());
        self
    }

    /// The same, whose program is not found by its usual name.
    pub fn program(mut self, path: impl Into<String>) -> Agent {
        self.members.put("program", path.into());
        self
    }

    /// The same with arguments behind those that the runner gives.
    pub fn args(mut self, words: impl IntoIterator<Item: Into<String>>) -> Agent {
        self.members.texts("args", words);
        self
    }

    /// The same with a variable.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Agent {
        self.env.given(name.into(), Ok(Val::from(value.into())));
        self
    }

    /// The same with variables of this process, whose values are not stored.
    pub fn pass_env(mut self, names: impl IntoIterator<Item: Into<String>>) -> Agent {
        self.members.texts("pass_env", names);
        self
    }

    /// The same, asking this role, or this `provider/model`.
    pub fn model(mut self, role: impl Into<String>) -> Agent {
        self.members.put("model", role.into());
        self
    }

    /// The same, but what the command prints is what it says, rather than events.
    pub fn prints_text(mut self) -> Agent {
        self.members.put("output", "text");
        self
    }

    /// The same with tools: `exec_shell`, `read_file`, `write_file`, and names of servers. For `llm_probe`.
    pub fn tools(mut self, names: impl IntoIterator<Item: Into<String>>) -> Agent {
        self.members.texts("tools", names);
        self
    }

    /// The same without any network, not even to a model.
    pub fn without_network(mut self) -> Agent {
        self.members.put("network", "off");
        self
    }

    /// The same, but these hosts may be spoken to, beside its model.
    pub fn reaching(mut self, hosts: impl IntoIterator<Item: Into<String>>) -> Agent {
        let mut network = Members::default();
        network.texts("allow", hosts);
        self.members.object("network", network);
        self
    }

    /// The same with directories that it may read.
    pub fn read_only(mut self, paths: impl IntoIterator<Item: Into<String>>) -> Agent {
        self.members.texts("read_only", paths);
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

    /// The same, with a timeout for all turns together; default: ten minutes.
    pub fn time(mut self, most: Duration) -> Agent {
        self.limits.put("time", Val::F(most.as_secs_f64()));
        self
    }

    /// The same with at most this number of requests to its model.
    pub fn requests(mut self, most: u32) -> Agent {
        self.limits.put("requests", most);
        self
    }

    /// The same with at most this number of tokens of its model, input and output.
    pub fn tokens(mut self, most: u64) -> Agent {
        self.limits.put("tokens", most);
        self
    }

    /// The same for at most this number of dollars.
    pub fn cost_usd(mut self, most: f64) -> Agent {
        self.limits.put("cost_usd", Val::F(most));
        self
    }

    /// The same with at most this number of steps of its own loop, where its program takes a limit.
    pub fn turns(mut self, most: u32) -> Agent {
        self.limits.put("turns", most);
        self
    }

    /// The same with at most this number of bytes of memory.
    pub fn memory(mut self, bytes: u64) -> Agent {
        self.limits.put("memory", bytes);
        self
    }

    /// The agent as it stands in a definition.
    pub(crate) fn value(self) -> Result<Val<'static>, Error> {
        let mut members = self.members;
        if !self.env.is_empty() {
            members.object("env", self.env);
        }
        if !self.limits.is_empty() {
            members.object("limits", self.limits);
        }
        members.finish(&format!("the agent `{}`", self.name))
    }
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

    /// The same with a sentence about what it is for; reports show it.
    pub fn description(mut self, text: impl Into<String>) -> AgentCase {
        self.members.put("description", text.into());
        self
    }

    /// The same for this agent; default: the only one.
    pub fn agent(mut self, name: impl Into<String>) -> AgentCase {
        self.members.put("agent", name.into());
        self
    }

    /// The same, with a system prompt.
    pub fn system(mut self, prompt: impl Into<Prompt>) -> AgentCase {
        self.members.put("system", prompt.into().value());
        self
    }

    /// The same with text files that are shown to the agent.
    pub fn attachments(mut self, files: impl IntoIterator<Item: Into<String>>) -> AgentCase {
        self.members.texts("attachments", files);
        self
    }

    /// The same in a fresh copy of this directory; default: an empty one.
    pub fn workspace(mut self, directory: impl AsRef<Path>) -> AgentCase {
        self.members.put("workspace", directory.as_ref().display().to_string());
        self
    }

    /// The same with files that the agent should leave. They are stored as output artifacts.
    pub fn key_outputs(mut self, paths: impl IntoIterator<Item: Into<String>>) -> AgentCase {
        self.members.texts("key_outputs", paths);
        self
    }

    /// The same with something that must be met, for judges.
    pub fn expects(mut self, text: impl Into<String>) -> AgentCase {
        self.hard.push(text.into());
        self
    }

    /// The same with something that should be met, for judges.
    pub fn hopes(mut self, text: impl Into<String>) -> AgentCase {
        self.soft.push(text.into());
        self
    }

    /// The same with words to select it by.
    pub fn tags(mut self, tags: impl IntoIterator<Item: Into<String>>) -> AgentCase {
        self.members.texts("tags", tags);
        self
    }

    /// The same with metadata: an object.
    pub fn metadata(mut self, metadata: impl Serialize) -> AgentCase {
        self.members.given("metadata", given(&metadata));
        self
    }

    /// The same with a task of its own.
    pub fn task(mut self, task: impl Into<Task>) -> AgentCase {
        self.tasks.push(task.into());
        self
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
        let listed = |texts: Vec<String>| Val::List(texts.into_iter().map(Val::from).collect());
        let expected = [("hard_expectations", self.hard), ("soft_expectations", self.soft)];
        let expected = expected.into_iter().filter(|(_, it)| !it.is_empty()).map(|(key, it)| (key, listed(it)));
        let expected: Map<'static> = expected.collect();
        if !expected.is_empty() {
            members.put("expectations", Val::Map(expected));
        }
        let tasks: Vec<Val<'static>> = self.tasks.into_iter().map(Task::value).collect::<Result<_, _>>()?;
        if !tasks.is_empty() {
            members.put("tasks", Val::List(tasks));
        }
        members.finish(&format!("the case `{}`", self.id))
    }
}
