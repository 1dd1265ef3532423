//! `agents`: who is given cases.
//!
//! ```yaml
//! agents:
//!   helper: { runner: claude_code, model: subject, limits: { time: 5m, requests: 40 } }
//!   mine: { command: [python3, ./agent.py], output: events }
//! ```
//!
//! What is not said is as the runner has it. Limits and everything else that decides what an agent may do stand here, so that a case can be given to
//! another agent without being touched.

use std::path::Path;

use jurat_format::form::{Form, Key, Keys};
use jurat_format::problem::Problem;
use jurat_format::reader::{Fields, Reading};
use jurat_format::value::{Content, Map, Node, Span, Spanned, Val, Value};
use jurat_format::{codes, duration, size};

use super::tool_filter;
use crate::agent::{Agent, Fragments, Isolation, Limits, Network, ProbeTool, Runner};

/// An agent as it was written.
#[derive(Debug, Clone)]
pub struct AgentText {
    /// What it is, with the paths of its definition resolved.
    pub agent: Agent,
    /// Its name, or the place it stands in.
    pub name: Spanned<String>,
    /// The model that it names.
    pub model: Option<Spanned<String>>,
    /// The servers with tools that it names.
    pub servers: Vec<Spanned<String>>,
    /// The servers of which tools are taken away.
    pub filtered: Vec<Spanned<String>>,
    /// Where it says that it may take turns of its own.
    pub runner: Span,
    pub(crate) written: Value,
}

/// Two are equal when they are written alike; where they stand makes no difference.
impl PartialEq for AgentText {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.written) == (&other.name, &other.written)
    }
}

const RUNNERS: [&str; Runner::NAMED.len()] = {
    let mut names = [""; Runner::NAMED.len()];
    let mut ix = 0;
    while ix < names.len() {
        names[ix] = Runner::NAMED[ix].0;
        ix += 1;
    }
    names
};

static ALLOW: Keys = Keys {
    what: "`network`",
    keys: &[Key::required("allow", Form::List(&Form::Text), "the host names that may be reached, through a proxy")],
};

static CONTAINER: Keys = Keys {
    what: "a container",
    keys: &[
        Key::required("image", Form::Text, "the image of the container"),
        Key::optional("engine", Form::Choice(&["docker", "podman"]), "the container engine").default("`docker`"),
    ],
};

static SANDBOX: Keys =
    Keys { what: "`sandbox`", keys: &[Key::required("container", Form::Object(&CONTAINER), "a container")] };

pub(super) static LIMITS: Keys = Keys {
    what: "`limits` of an agent",
    keys: &[
        Key::optional("time", duration::FORM, "time for all turns together").default("`10m`"),
        Key::optional(
            "turns",
            Form::Integer(1),
            "maximum steps of the agent's own loop, for agents that have such a setting",
        ),
        Key::optional("requests", Form::Integer(1), "maximum requests to its model"),
        Key::optional("tokens", Form::Integer(1), "maximum tokens of its model, input and output"),
        Key::optional(
            "cost_usd",
            Form::Number(0.0, f64::INFINITY),
            "maximum cost in dollars; its model must have a `price`",
        ),
        Key::optional("output", size::FORM, "maximum size of what it prints").default("`64MiB`"),
        Key::optional("processes", Form::Integer(1), "maximum number of processes at a time").default("`512`"),
        Key::optional("memory", size::FORM, "maximum memory of all its processes together").default("`4GiB`"),
        Key::optional("workspace", size::FORM, "maximum size of its workspace").default("`2GiB`"),
    ],
};

pub(super) const NETWORK: Form = Form::Either(&[Form::Choice(&["off", "loopback", "host"]), Form::Object(&ALLOW)]);

static CONFIG: Keys = Keys {
    what: "`config`",
    keys: &[
        Key::optional("agents_defaults", Form::Map(&Form::Any), "settings of all agents of the program"),
        Key::optional("agent", Form::Map(&Form::Any), "settings of this agent; `prompt` is its system prompt"),
        Key::optional("model_defaults", Form::Map(&Form::Any), "`primary_params`: settings of its requests"),
        Key::optional("identity", Form::Any, "not used; the identity is a file in the workspace"),
    ],
};

/// What fragments must not say: the suite says which model is asked.
const OF_MODELS: [&str; 5] = ["model", "model_id", "default_model", "primary_model", "requested_model"];

static AGENT: Keys = Keys {
    what: "an agent",
    keys: &[
        Key::optional("description", Form::Text, "what it is; shown in reports"),
        Key::optional(
            "runner",
            Form::Choice(&RUNNERS),
            "which kind of agent it is",
        ).default("`command` or `call`, whichever key is given"),
        Key::optional("command", Form::List(&Form::Text), "a program and its arguments, for the runner `command`"),
        Key::optional(
            "call",
            Form::Text,
            "a function of the program that runs the suite, by its name, for the runner `call`",
        ),
        Key::optional("program", Form::Text, "the agent's program").default("its usual name, looked up on `PATH`"),
        Key::optional("args", Form::List(&Form::Text), "further arguments, after those of the runner"),
        Key::optional("env", Form::Map(&Form::Text), "environment variables"),
        Key::optional(
            "pass_env",
            Form::List(&Form::Text),
            "names of variables of jurat's own environment that are passed on; their values are never stored",
        ),
        Key::optional(
            "model",
            Form::Text,
            "its model: a role under `models`, or `provider/model`",
        ).default("the role `subject`, where the runner needs a model"),
        Key::optional(
            "output",
            Form::Choice(&["events", "text"]),
            "what a `command` prints: events as JSON lines, or its final message as text",
        ).default("`events`"),
        Key::optional(
            "tools",
            Form::List(&Form::Text),
            "for `llm_probe`: `exec_shell`, `read_file`, `write_file`, and names under `tools`",
        ),
        Key::optional("tool_filter", tool_filter::FORM, "for `llm_probe`: tools of servers that it may not use"),
        Key::optional(
            "network",
            NETWORK,
            "network access: its model alone (`loopback`), nothing (`off`), some host names (`allow`), everything (`host`)",
        ).default("`loopback` with a model, else `off`"),
        Key::optional(
            "read_only",
            Form::List(&Form::Text),
            "directories that it may read, beyond those of the system and of its own program",
        ),
        Key::optional(
            "sandbox",
            Form::Either(&[Form::Choice(&["namespaces"]), Form::Object(&SANDBOX)]),
            "the sandbox that it runs in",
        ).default("`namespaces`"),
        Key::optional("limits", Form::Object(&LIMITS), "limits of a run"),
        Key::optional(
            "config",
            Form::Object(&CONFIG),
            "for `openclaw`: parts of the configuration that is written for its program",
        ),
    ],
};

pub(super) const ONE: Form = Form::Object(&AGENT);

pub(super) const FORM: Form = Form::Map(&ONE);

pub(super) fn read(reading: &mut Reading<'_>, name: Spanned<String>, node: &Node<'_>) -> Option<AgentText> {
    let n_before = reading.n_errors();
    let fields = Fields::read(reading, &AGENT, node)?;
    let named = fields.get("runner").map(|it| reading.choice("`runner`", &Runner::NAMED, it));
    let mut command = fields.get("command").map(|it| reading.texts("`command`", it));
    let runner = match (named, &command, fields.get("call")) {
        (Some(named), _, _) => named?,
        (None, Some(_), _) => Runner::COMMAND,
        (None, None, Some(_)) => Runner::CALL,
        (None, None, None) => {
            if !["runner", "command", "call"].iter().any(|it| fields.may_mean(it)) {
                let problem = Problem::new(&codes::MISSING_KEY, "an agent needs a `runner`, or a `command`");
                let problem = problem.at(fields.head(), "run by whom?");
                reading.problem(problem.help("for example `runner: claude_code`, or `command: [python3, ./agent.py]`"));
            }
            return None;
        }
    };
    let mut agent = Agent::new(name.value.clone(), runner);
    agent.folder = reading.source(node.span).parent().unwrap_or(Path::new("")).to_owned();
    if let Some(words) = &mut command {
        match (runner.is_command(), words.is_empty()) {
            (true, true) if reading.n_errors() == n_before => {
                let problem = Problem::new(&codes::WRONG_VALUE, "`command` names no program");
                let at = fields.key_span("command").unwrap_or(fields.span);
                reading.problem(problem.at(at, "empty").help("for example `command: [python3, ./agent.py]`"));
            }
            (true, _) => {
                let mut words = words.iter().map(|it| it.value.clone());
                agent.program = words.next();
                agent.args = words.collect();
            }
            (false, _) => conflict(
                reading,
                &fields,
                "command",
                format!("`command` is for the runner `command`, and this one is `{}`", runner.name),
            ),
        }
    } else if runner.is_command() && fields.get("program").is_none() {
        let problem = Problem::new(&codes::MISSING_KEY, "the runner `command` needs a `command`");
        let at = fields.key_span("runner").unwrap_or(fields.span);
        reading.problem(problem.at(at, "runs what?").help("for example `command: [python3, ./agent.py]`"));
    }
    agent.function = function(reading, &fields, runner);
    if let Some(program) = fields.get("program").and_then(|it| reading.text("`program`", it)) {
        agent.program = Some(program.value);
    }
    if let Some(node) = fields.get("args") {
        agent.args.extend(reading.texts("`args`", node).into_iter().map(|it| it.value));
    }
    agent.env = fields.get("env").map(|it| pairs(reading, it)).unwrap_or_default();
    let texts = |reading: &mut Reading<'_>, key: &str| {
        let read = fields.get(key).map(|it| reading.texts(&format!("`{key}`"), it));
        read.unwrap_or_default()
    };
    agent.pass_env = texts(reading, "pass_env").into_iter().map(|it| it.value).collect();
    for path in texts(reading, "read_only") {
        agent.read_only.push(reading.beside(path.span, &path.value));
    }
    let model = fields.get("model").and_then(|it| reading.text("`model`", it));
    agent.model = model.as_ref().map(|it| it.value.clone());
    if let Some(node) = fields.get("output") {
        let is_text = reading.choice("`output`", &[("events", false), ("text", true)], node);
        agent.prints_text = is_text.unwrap_or(false);
        if !runner.keys.contains(&"output") {
            conflict(
                reading,
                &fields,
                "output",
                format!("`output` is for the runner `command`; what `{}` prints is known", runner.name),
            );
        }
    }
    let mut servers = Vec::new();
    for tool in texts(reading, "tools") {
        match ProbeTool::NAMED.iter().find(|(name, _)| *name == tool.value) {
            Some((_, own)) if !agent.tools.contains(own) => agent.tools.push(*own),
            Some(_) => {}
            None => servers.push(tool),
        }
    }
    let mut filtered = Vec::new();
    if let Some(node) = fields.get("tool_filter") {
        agent.tool_filter = tool_filter::read(reading, node, &mut filtered);
    }
    for key in ["tools", "tool_filter"] {
        if fields.get(key).is_some() && !runner.keys.contains(&key) {
            let message = format!("`{key}` is for the runner `llm_probe`; `{}` has its own tools", runner.name);
            conflict(reading, &fields, key, message);
        }
    }
    agent.servers = servers.iter().map(|it| it.value.clone()).collect();
    agent.network = fields.get("network").and_then(|it| network(reading, it));
    if let Some(isolation) = fields.get("sandbox").and_then(|it| isolation(reading, it)) {
        agent.isolation = isolation;
    }
    if let Some(limits) = fields.get("limits").and_then(|it| LimitsText::read(reading, it)) {
        limits.over(&mut agent.limits);
    }
    if let Some(node) = fields.get("config") {
        agent.config = fragments(reading, node);
        if !runner.keys.contains(&"config") {
            let message =
                format!("`config` is for the runner `openclaw`; what `{}` is told is settled otherwise", runner.name);
            conflict(reading, &fields, "config", message);
        }
    }
    let keys = ["runner", "command", "call"];
    let runner = keys.iter().find_map(|it| fields.key_span(it)).unwrap_or(fields.span);
    let written = node.to_val().into_owned();
    (reading.n_errors() == n_before).then_some(AgentText { agent, name, model, servers, filtered, runner, written })
}

/// The function that runs an agent, when one does.
fn function(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, runner: &Runner) -> Option<String> {
    let call = fields.get("call").and_then(|it| reading.text("`call`", it));
    if !runner.is_function() {
        if call.is_some() {
            let message = format!("`call` is for the runner `call`, and this one is `{}`", runner.name);
            conflict(reading, fields, "call", message);
        }
        return None;
    }
    if let Some(key) = OF_PROGRAMS.iter().find(|it| fields.get(it).is_some()) {
        conflict(reading, fields, key, format!("`{key}` is for programs, and this agent is a function"));
    }
    if call.is_none() && !fields.may_mean("call") {
        let problem = Problem::new(&codes::MISSING_KEY, "the runner `call` needs a `call`");
        let at = fields.key_span("runner").unwrap_or(fields.span);
        reading.problem(problem.at(at, "calls what?").help("for example `call: my_agent`, a function of the program"));
    }
    call.map(|it| it.value)
}

/// The keys that make no sense for a function: nothing is started, and no walls are around it.
const OF_PROGRAMS: [&str; 7] = ["program", "args", "env", "pass_env", "network", "read_only", "sandbox"];

fn conflict(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, key: &str, message: String) {
    let at = fields.key_span(key).unwrap_or(fields.span);
    reading.problem(Problem::new(&codes::CONFLICT, message).at(at, "for nobody").help("drop it"));
}

/// An object of names and texts. Numbers and booleans are what variables are made of, too.
fn pairs(reading: &mut Reading<'_>, node: &Node<'_>) -> Vec<(String, String)> {
    let Some(entries) = node.entries() else {
        reading.wrong_type("`env`", "an object of texts", node);
        return Vec::new();
    };
    let mut pairs = Vec::new();
    for entry in entries {
        let is_name = |it: &str| !it.is_empty() && !it.contains(['=', '\0']);
        if !is_name(&entry.key) {
            let problem = Problem::new(&codes::WRONG_VALUE, format!("`{}` is no name of a variable", entry.key));
            reading.problem(problem.at(entry.key_span, "cannot be set").help("for example `LANG: C.UTF-8`"));
            continue;
        }
        if let Some(value) = reading.text(&format!("`{}`", entry.key), &entry.value) {
            pairs.push((entry.key.clone().into_owned(), value.value));
        }
    }
    pairs
}

/// What of the network is seen.
pub(super) fn network(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Network> {
    match &node.content {
        Content::Map(_) => {
            let fields = Fields::read(reading, &ALLOW, node)?;
            let names = fields.get("allow").map(|it| reading.texts("`allow`", it))?;
            Some(Network::Allow(names.into_iter().map(|it| it.value).collect()))
        }
        // YAML of old takes `off` for a boolean.
        Content::Scalar(Val::Bool(false)) => Some(Network::Off),
        _ => {
            let named = [("off", 0), ("loopback", 1), ("host", 2)];
            let chosen = reading.choice("`network`", &named, node)?;
            Network::NAMED.get(chosen).map(|(_, it)| it.clone())
        }
    }
}

/// Parts of the configuration of a program.
fn fragments(reading: &mut Reading<'_>, node: &Node<'_>) -> Fragments {
    let Some(fields) = Fields::read(reading, &CONFIG, node) else { return Fragments::default() };
    if let Some(span) = fields.key_span("identity").filter(|_| is_said(fields.get("identity"))) {
        let problem = Problem::new(&codes::UNUSED_SETTING, "`identity` of an agent is not used").at(span, "not used");
        reading.problem(problem.help("who it is stands in `IDENTITY.md` of its workspace"));
    }
    let defaults = fields.get("model_defaults");
    for entry in defaults.and_then(Node::entries).unwrap_or(&[]).iter().filter(|it| is_said(Some(&it.value))) {
        match &*entry.key {
            "primary_params" => {}
            "fallbacks" => {
                let problem = Problem::new(&codes::WRONG_VALUE, "an agent has no models to fall back on");
                let problem = problem.at(entry.key_span, "asks others");
                reading.problem(problem.help("drop it: answers of another model would be taken for the subject's"));
            }
            other => {
                let message = format!("`{other}` of `model_defaults` is not used");
                let problem = Problem::new(&codes::UNUSED_SETTING, message).at(entry.key_span, "not used");
                reading.problem(problem.help("`primary_params` has settings of requests"));
            }
        }
    }
    let params = defaults.and_then(|it| it.get("primary_params"));
    let mut part = |node: Option<&Node<'_>>| fragment(reading, node);
    Fragments { defaults: part(fields.get("agents_defaults")), agent: part(fields.get("agent")), params: part(params) }
}

fn fragment(reading: &mut Reading<'_>, node: Option<&Node<'_>>) -> Map<'static> {
    let Some(node) = node.filter(|it| is_said(Some(it))) else { return Map::default() };
    for entry in node.entries().unwrap_or(&[]).iter().filter(|it| OF_MODELS.contains(&&*it.key)) {
        let message = format!("`{}` does not stand in a part of a configuration", entry.key);
        let problem = Problem::new(&codes::WRONG_VALUE, message).at(entry.key_span, "names a model");
        reading.problem(problem.help("the suite says which model is asked"));
    }
    match node.to_val().into_owned() {
        Val::Map(members) => members,
        _ => {
            reading.wrong_type("a part of a configuration", "an object", node);
            Map::default()
        }
    }
}

/// Whether something is said: neither null nor an empty object or list.
fn is_said(node: Option<&Node<'_>>) -> bool {
    node.is_some_and(|it| match &it.content {
        Content::Scalar(value) => *value != Val::Null,
        Content::List(items) => !items.is_empty(),
        Content::Map(entries) => !entries.is_empty(),
    })
}

fn isolation(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Isolation> {
    if node.entries().is_none() {
        return reading.choice("`sandbox`", &[("namespaces", ())], node).map(|()| Isolation::Namespaces);
    }
    let fields = Fields::read(reading, &SANDBOX, node)?;
    let container = fields.get("container")?;
    let fields = Fields::read(reading, &CONTAINER, container)?;
    let image = fields.get("image").and_then(|it| reading.text("`image`", it))?.value;
    let engine =
        fields.get("engine").map(|it| reading.choice("`engine`", &[("docker", "docker"), ("podman", "podman")], it));
    let engine = engine.flatten().unwrap_or("docker").to_owned();
    Some(Isolation::Container { image, engine })
}

/// Limits as they were written: what is not said stays as it is.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct LimitsText {
    time: Option<std::time::Duration>,
    turns: Option<u32>,
    requests: Option<u64>,
    tokens: Option<u64>,
    cost_usd: Option<f64>,
    output: Option<u64>,
    processes: Option<u64>,
    memory: Option<u64>,
    workspace: Option<u64>,
}

impl LimitsText {
    pub(super) fn read(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<LimitsText> {
        let fields = Fields::read(reading, &LIMITS, node)?;
        let mut count = |name: &str| {
            let count = fields.get(name).and_then(|it| reading.integer(&format!("`{name}`"), 1, it));
            count.and_then(|it| u64::try_from(it).ok())
        };
        let (requests, tokens, processes) = (count("requests"), count("tokens"), count("processes"));
        let turns = fields.get("turns").and_then(|it| reading.count("`turns`", 1, it));
        let mut bytes = |name: &str| fields.get(name).and_then(|it| size::read(reading, &format!("`{name}`"), it));
        let (output, memory, workspace) = (bytes("output"), bytes("memory"), bytes("workspace"));
        let time = fields.get("time").and_then(|it| duration::read(reading, "`time`", it));
        let cost_usd = fields.get("cost_usd").and_then(|it| reading.number("`cost_usd`", (0.0, f64::INFINITY), it));
        Some(LimitsText { time, turns, requests, tokens, cost_usd, output, processes, memory, workspace })
    }

    /// Puts what was said over other limits.
    pub(super) fn over(&self, limits: &mut Limits) {
        let LimitsText { time, turns, requests, tokens, cost_usd, output, processes, memory, workspace } = self;
        limits.time = time.unwrap_or(limits.time);
        limits.turns = turns.or(limits.turns);
        limits.requests = requests.or(limits.requests);
        limits.tokens = tokens.or(limits.tokens);
        limits.cost_usd = cost_usd.or(limits.cost_usd);
        limits.output = output.unwrap_or(limits.output);
        limits.processes = processes.unwrap_or(limits.processes);
        limits.memory = memory.unwrap_or(limits.memory);
        limits.workspace = workspace.unwrap_or(limits.workspace);
    }
}
