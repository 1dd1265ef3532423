//! What authors say about agents and the cases that they are given.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jurat_format::choices;
use jurat_format::value::{Map, Val, Value};

use super::Runner;
use crate::tool::{ToolFilter, ToolName};

/// The most bytes of a key output that are stored.
pub const KEY_OUTPUT_BYTES: u64 = 64 << 20;

/// An agent, as its author describes it.
#[derive(Debug, Clone)]
pub struct Agent {
    /// Its name under `agents`; that of its runner when it stands in a case.
    pub name: String,
    pub runner: &'static Runner,
    /// Its program: a name that is looked for where programs are, or a path. The runner knows one for most.
    pub program: Option<String>,
    /// The function of the program that runs the suite, by its name, when one runs it.
    pub function: Option<String>,
    /// Arguments behind those that the runner gives.
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    /// Variables of jurat's own environment that are passed on: secrets, whose values are never stored.
    pub pass_env: Vec<String>,
    /// A role, or `provider/model`; `None` for the subject where the runner needs a model.
    pub model: Option<String>,
    /// Whether what a `command` prints is what it says, rather than events.
    pub prints_text: bool,
    /// What a model may do, when jurat asks it itself.
    pub tools: Vec<ProbeTool>,
    /// The servers whose tools it may use, too.
    pub servers: Vec<String>,
    /// Directories with skills that it may use: a `SKILL.md` each, and what belongs to it.
    pub skills: Vec<PathBuf>,
    /// The tools of theirs that it may not use.
    pub tool_filter: ToolFilter,
    /// What of the network it sees; `None` for its model, or nothing when it has none.
    pub network: Option<Network>,
    /// Directories that it may read, beside those of the system.
    pub read_only: Vec<PathBuf>,
    pub isolation: Isolation,
    pub limits: Limits,
    /// Parts of the configuration that is written for its program.
    pub config: Fragments,
    /// The directory of the file that describes it.
    pub folder: PathBuf,
}

impl Agent {
    /// An agent of which nothing but the runner is known.
    pub fn new(name: impl Into<String>, runner: &'static Runner) -> Agent {
        Agent {
            name: name.into(),
            runner,
            program: None,
            function: None,
            args: Vec::new(),
            env: Vec::new(),
            pass_env: Vec::new(),
            model: None,
            prints_text: false,
            tools: Vec::new(),
            servers: Vec::new(),
            skills: Vec::new(),
            tool_filter: ToolFilter::default(),
            network: None,
            read_only: Vec::new(),
            isolation: Isolation::Namespaces,
            limits: Limits::DEFAULT,
            config: Fragments::default(),
            folder: PathBuf::new(),
        }
    }

    /// The model that it asks: a role, or `provider/model`.
    pub fn asks(&self) -> Option<&str> {
        let default = self.runner.needs_model().then_some("subject");
        self.model.as_deref().or(default)
    }

    /// What of the network it sees.
    pub fn network(&self) -> Network {
        let asks = self.asks().is_some() || !self.servers.is_empty();
        let default = if asks { Network::Loopback } else { Network::Off };
        self.network.clone().unwrap_or(default)
    }
}

/// Parts of the configuration that jurat writes for a program. Its model and its workspace are never among them: the suite says which they are.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Fragments {
    /// Settings of all agents of the program.
    pub defaults: Map<'static>,
    pub agent: Map<'static>,
    pub params: Map<'static>,
}

impl Fragments {
    fn to_value(&self) -> Value {
        let parts = [("agents_defaults", &self.defaults), ("agent", &self.agent), ("params", &self.params)];
        let said = parts.into_iter().filter(|(_, it)| !it.is_empty());
        Val::Map(said.map(|(key, it)| (key, Val::Map(it.clone()))).collect::<Map<'static>>())
    }
}

choices! {
    /// What a model may do in a workspace, by the name that models and authors know it by.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ProbeTool {
        /// Run commands.
        ExecShell = "exec_shell",
        ReadFile = "read_file",
        WriteFile = "write_file",
    }
}

/// What an agent sees of the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Network {
    /// Nothing.
    Off,
    /// Its model, through jurat.
    Loopback,
    /// Its model, and these names through a proxy that jurat holds.
    Allow(Vec<String>),
    /// All that jurat sees.
    Host,
}

impl Network {
    pub fn to_value(&self) -> Value {
        match self {
            Network::Off => Val::from("off"),
            Network::Loopback => Val::from("loopback"),
            Network::Host => Val::from("host"),
            Network::Allow(names) => {
                let names = names.iter().map(|it| Val::from(it.clone())).collect();
                Val::Map([("allow", names)].into_iter().collect::<Map<'static>>())
            }
        }
    }
}

/// Where an agent runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Isolation {
    /// In namespaces that jurat makes.
    Namespaces,
    Container {
        /// What it is made from.
        image: String,
        /// The program that makes it: `docker` or `podman`.
        engine: String,
    },
}

/// What an agent may take.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// How long all turns together.
    pub time: Duration,
    /// How many steps its own loop may take in a turn, where the program has such a setting.
    pub turns: Option<u32>,
    /// How many requests to its model.
    pub requests: Option<u64>,
    /// How many tokens of its model.
    pub tokens: Option<u64>,
    pub cost_usd: Option<f64>,
    /// How many bytes it may print.
    pub output: u64,
    /// How many processes at a time.
    pub processes: u64,
    /// How much memory all of them together.
    pub memory: u64,
    /// How many bytes it may leave in its workspace.
    pub workspace: u64,
}

impl Limits {
    pub const DEFAULT: Limits = Limits {
        time: Duration::from_secs(600),
        turns: None,
        requests: None,
        tokens: None,
        cost_usd: None,
        output: 64 << 20,
        processes: 512,
        memory: 4 << 30,
        workspace: 2 << 30,
    };

    pub fn to_value(&self) -> Value {
        let mut members: Map<'static> = [("time_seconds", Val::F(self.time.as_secs_f64()))].into_iter().collect();
        let mut put = |key: &'static str, value: Option<Value>| {
            if let Some(value) = value {
                members.insert(key.into(), value);
            }
        };
        put("turns", self.turns.map(Val::from));
        put("requests", self.requests.map(Val::from));
        put("tokens", self.tokens.map(Val::from));
        put("cost_usd", self.cost_usd.map(Val::F));
        put("output", Some(Val::from(self.output)));
        put("processes", Some(Val::from(self.processes)));
        put("memory", Some(Val::from(self.memory)));
        put("workspace", Some(Val::from(self.workspace)));
        Val::Map(members)
    }
}

/// A task for an agent.
#[derive(Debug, Clone)]
pub struct AgentCase {
    pub id: String,
    pub description: Option<String>,
    /// Who is given it, with the limits of this case.
    pub agent: Arc<Agent>,
    /// Its system prompt.
    pub system: Option<String>,
    /// The messages, one for each turn.
    pub turns: Vec<String>,
    /// Texts that are shown to it with the first message, by their names.
    pub attachments: Vec<(String, String)>,
    /// The directory that its workspace is made from; `None` for an empty one.
    pub workspace: Option<PathBuf>,
    /// The files that it should leave, relative to its workspace.
    pub key_outputs: Vec<String>,
    /// The artifact, when it is recorded.
    pub artifact: Option<PathBuf>,
    /// Words to select it by.
    pub tags: Vec<String>,
    /// Whatever its author wants to keep with it.
    pub metadata: Value,
}

impl AgentCase {
    /// The message of a turn. That of the first has the attachments behind it.
    pub fn message(&self, turn: usize) -> String {
        let mut message = self.turns.get(turn).cloned().unwrap_or_default();
        if turn == 0 {
            for (name, text) in &self.attachments {
                message.push_str(&format!("\n\n--- {name} ---\n{text}"));
                if !text.ends_with('\n') {
                    message.push('\n');
                }
                message.push_str(&format!("--- end of {name} ---"));
            }
        }
        message
    }

    /// What decides the result of a run, beside its performer. `template` is the hash of the files that its workspace is made from.
    pub fn to_value(&self, template: Option<&str>, replicate: u32) -> Value {
        let agent = &*self.agent;
        let texts = |texts: &[String]| -> Value { texts.iter().map(|it| Val::from(it.clone())).collect() };
        let pairs = |pairs: &[(String, String)]| -> Value {
            Val::Map(pairs.iter().map(|(key, it)| (key.clone(), Val::from(it.clone()))).collect::<Map<'static>>())
        };
        let mut members: Map<'static> = [
            ("runner", Val::from(agent.runner.name)),
            ("turns", texts(&self.turns)),
            ("key_outputs", texts(&self.key_outputs)),
            ("network", agent.network().to_value()),
            ("limits", agent.limits.to_value()),
            ("replicate", Val::from(replicate)),
        ]
        .into_iter()
        .collect();
        let mut put = |key: &'static str, value: Value| {
            let is_empty = match &value {
                Val::Null => true,
                Val::List(items) => items.is_empty(),
                Val::Map(map) => map.is_empty(),
                _ => false,
            };
            if !is_empty {
                members.insert(key.into(), value);
            }
        };
        put("system", self.system.clone().map_or(Val::Null, Val::from));
        put("attachments", pairs(&self.attachments));
        put("template", template.map_or(Val::Null, |it| Val::from(it.to_owned())));
        put("function", agent.function.clone().map_or(Val::Null, Val::from));
        put("args", texts(&agent.args));
        put("env", pairs(&agent.env));
        put("pass_env", texts(&agent.pass_env));
        put("tools", agent.tools.iter().map(|it| Val::from(it.name())).collect());
        put("servers", texts(&agent.servers));
        put("removed_tools", agent.tool_filter.remove.iter().map(removed).collect());
        put("config", agent.config.to_value());
        put("prints_text", if agent.prints_text { Val::Bool(true) } else { Val::Null });
        if let Isolation::Container { image, .. } = &agent.isolation {
            put("image", Val::from(image.clone()));
        }
        Val::Map(members)
    }
}

fn removed(ToolName { server, tool }: &ToolName) -> Value {
    let tool = tool.as_ref().map(|it| ("tool", Val::from(it.clone())));
    Val::Map([("server", Val::from(server.clone()))].into_iter().chain(tool).collect())
}

/// A path that is relative and stays where it is relative to, with `/` between its names; `None` for any other.
///
/// ```
/// use jurat_core::agent::plain_relative_path;
///
/// assert_eq!(plain_relative_path("./out//report.md").as_deref(), Some("out/report.md"));
/// assert_eq!(plain_relative_path("../report.md"), None);
/// assert_eq!(plain_relative_path("/etc/passwd"), None);
/// assert_eq!(plain_relative_path("a\\b"), None);
/// ```
pub fn plain_relative_path(path: &str) -> Option<String> {
    let is_bad = path.starts_with('/') || path.contains(['\\', '\0']);
    let names: Vec<&str> = path.split('/').filter(|it| !it.is_empty() && *it != ".").collect();
    (!is_bad && !names.is_empty() && !names.contains(&"..")).then(|| names.join("/"))
}
