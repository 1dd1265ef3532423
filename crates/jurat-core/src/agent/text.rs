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

use std::path::{Path, PathBuf};
use std::time::Duration;

use jurat_format::choice::{Choice, names};
use jurat_format::choices;
use jurat_format::field::{Defaulted, Field};
use jurat_format::fields::Fields;
use jurat_format::form::{DefaultValue, Form, Key, Object};
use jurat_format::problem::{Problem, listed_all};
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape, Tree, Unused};
use jurat_format::value::{Content, Map, Node, Span, Spanned, Val};
use jurat_format::{codes, duration, size};

use crate::agent::{Agent, Fragments, Isolation, Limits, Network, ProbeTool, Runner};
use crate::section::lost::Part;
use crate::section::named::{Named, NamedSection};
use crate::section::{Heading, Section};
use crate::tool::{ToolFilter, filter};

/// An agent as it was written.
#[derive(Debug, Clone)]
pub struct AgentText {
    /// What it is, with the paths of its definition resolved.
    pub agent: Agent,
    /// Its name, or the place it stands in.
    pub name: Spanned<String>,
    pub description: Option<String>,
    /// The model that it names.
    pub model: Option<Spanned<String>>,
    /// The servers with tools that it names.
    pub servers: Vec<Spanned<String>>,
    /// The servers of which tools are taken away.
    pub filtered: Vec<Spanned<String>>,
    /// Where it says that it may take turns of its own.
    pub runner: Span,
}

impl Choice for &'static Runner {
    const NAMED: &'static [(&'static str, &'static Runner)] = &Runner::NAMED;
    const NAMES: &'static [&'static str] = &names(&Runner::NAMED);
}

choices! {
    /// A part of the network that has a name.
    #[derive(Clone, Copy)]
    enum NetworkName {
        Off = "off",
        Loopback = "loopback",
        Host = "host",
    }
}

choices! {
    /// What a program prints.
    #[derive(Clone, Copy, PartialEq)]
    enum Printed {
        Events = "events",
        Text = "text",
    }
}

choices! {
    #[derive(Clone, Copy)]
    enum Engine {
        Docker = "docker",
        Podman = "podman",
    }
}

const NAMESPACES: &str = "namespaces";

const ALLOW: Field<Vec<String>> =
    Field::required("allow", shape::STRINGS, "the host names that may be reached, through a proxy");

static ALLOWED: Object = Object { what: "`network`", keys: &[ALLOW.key] };

const IMAGE: Field<String> = Field::required("image", shape::STRING, "the image of the container");
const ENGINE: Defaulted<Engine> =
    Field::optional("engine", shape::choice(), "the container engine").default_choice("docker");

static IMAGE_AND_ENGINE: Object = Object { what: "a container", keys: &[IMAGE.key, ENGINE.key] };

const CONTAINER: Field<Isolation> =
    Field::required("container", Shape::new(Form::Object(&IMAGE_AND_ENGINE), container), "a container");

static SANDBOX_CONTAINER: Object = Object { what: "`sandbox`", keys: &[CONTAINER.key] };

const TIME: Field<Duration> = Field::optional("time", duration::SHAPE, "time for all turns together")
    .printed_default(DefaultValue::Seconds(Limits::DEFAULT.time.as_secs()));
const TURNS: Field<u32> = Field::optional(
    "turns",
    shape::count::<1>(),
    "maximum steps of the agent's own loop, for agents that have such a setting",
);
const REQUESTS: Field<u64> = Field::optional("requests", shape::large_count::<1>(), "maximum requests to its model");
const TOKENS: Field<u64> =
    Field::optional("tokens", shape::large_count::<1>(), "maximum tokens of its model, input and output");
const COST_USD: Field<f64> =
    Field::optional("cost_usd", shape::AMOUNT, "maximum cost in dollars; its model must have a `price`");
const LIMIT_OUTPUT: Field<u64> = Field::optional("output", size::SHAPE, "maximum size of what it prints")
    .printed_default(DefaultValue::Bytes(Limits::DEFAULT.output));
const PROCESSES: Field<u64> =
    Field::optional("processes", shape::large_count::<1>(), "maximum number of processes at a time")
        .printed_default(DefaultValue::Integer(Limits::DEFAULT.processes as i64));
const MEMORY: Field<u64> = Field::optional("memory", size::SHAPE, "maximum memory of all its processes together")
    .printed_default(DefaultValue::Bytes(Limits::DEFAULT.memory));
const WORKSPACE: Field<u64> = Field::optional("workspace", size::SHAPE, "maximum size of its workspace")
    .printed_default(DefaultValue::Bytes(Limits::DEFAULT.workspace));

static RUN_LIMITS: Object = Object {
    what: "`limits` of an agent",
    keys: &[
        TIME.key,
        TURNS.key,
        REQUESTS.key,
        TOKENS.key,
        COST_USD.key,
        LIMIT_OUTPUT.key,
        PROCESSES.key,
        MEMORY.key,
        WORKSPACE.key,
    ],
};

/// Limits as they were written.
pub(crate) const LIMITS_SHAPE: Shape<LimitsText> = Shape::new(Form::Object(&RUN_LIMITS), LimitsText::read);

pub(crate) const NETWORK_SHAPE: Shape<Network> =
    Shape::new(const { Form::Either(&[shape::choice::<NetworkName>().form, Form::Object(&ALLOWED)]) }, network);

const AGENTS_DEFAULTS: Field<Tree> =
    Field::optional("agents_defaults", shape::tree(Form::Map(&Form::Any)), "settings of all agents of the program");
const CONFIG_AGENT: Field<Tree> = Field::optional(
    "agent",
    shape::tree(Form::Map(&Form::Any)),
    "settings of this agent; `prompt` is its system prompt",
);
const MODEL_DEFAULTS: Field<Tree> =
    Field::optional("model_defaults", shape::tree(Form::Map(&Form::Any)), "`primary_params`: settings of its requests");
const IDENTITY: Field<Unused> =
    Field::optional("identity", shape::unused(Form::Any), "not used; the identity is a file in the workspace");

static CONFIG_PARTS: Object =
    Object { what: "`config`", keys: &[AGENTS_DEFAULTS.key, CONFIG_AGENT.key, MODEL_DEFAULTS.key, IDENTITY.key] };

/// What fragments must not say: the suite says which model is asked.
const OF_MODELS: [&str; 5] = ["model", "model_id", "default_model", "primary_model", "requested_model"];

const DESCRIPTION: Field<String> =
    Field::optional("description", shape::STRING, "a description for readers of the suite; stored and not used");
const RUNNER: Field<&'static Runner> = Field::optional("runner", shape::choice(), "which kind of agent it is")
    .default_words("`command` or `call`, whichever key is given");
const COMMAND: Field<Vec<Spanned<String>>> =
    Field::optional("command", shape::TEXTS, "a program and its arguments, for the runner `command`");
const CALL: Field<Spanned<String>> = Field::optional(
    "call",
    shape::TEXT,
    "a function of the program that runs the suite, by its name, for the runner `call`",
);
const PROGRAM: Field<String> = Field::optional("program", shape::STRING, "the agent's program")
    .default_words("its usual name, looked up on `PATH`");
const ARGS: Field<Vec<String>> =
    Field::optional("args", shape::STRINGS, "further arguments, after those of the runner");
const ENV: Field<Vec<(String, String)>> =
    Field::optional("env", Shape::new(Form::Map(&Form::Text), pairs), "environment variables");
const PASS_ENV: Field<Vec<String>> = Field::optional(
    "pass_env",
    shape::STRINGS,
    "names of variables of jurat's own environment that are passed on; their values are never stored",
);
const MODEL: Field<Spanned<String>> =
    Field::optional("model", shape::TEXT, "its model: a role under `models`, or `provider/model`")
        .default_words("the role `subject`, where the runner needs a model");
const OUTPUT: Defaulted<Printed> = Field::optional(
    "output",
    shape::choice(),
    "what a `command` prints: events as JSON lines, or its final message as text",
)
.default_choice("events");
const TOOLS: Field<Vec<Spanned<String>>> = Field::optional(
    "tools",
    shape::TEXTS,
    "servers under `tools` of the suite whose tools it may use; for `llm_probe` also `exec_shell`, `read_file` and `write_file`",
);
const TOOL_FILTER: Field<(ToolFilter, Vec<Spanned<String>>)> =
    Field::optional("tool_filter", filter::SHAPE, "tools of these servers that it may not use");
const SKILLS: Field<Vec<Spanned<String>>> = Field::optional(
    "skills",
    shape::TEXTS,
    "directories with a `SKILL.md` each, relative to this file; the program finds copies of them where it looks for skills",
);
const NETWORK: Field<Network> = Field::optional(
    "network",
    NETWORK_SHAPE,
    "network access: its model alone (`loopback`), nothing (`off`), some host names (`allow`), everything (`host`)",
)
.default_words("`loopback` with a model, else `off`");
const READ_ONLY: Field<Vec<Spanned<String>>> = Field::optional(
    "read_only",
    shape::TEXTS,
    "directories that it may read, beyond those of the system and of its own program",
);
const SANDBOX: Field<Isolation> = Field::optional(
    "sandbox",
    Shape::new(const { Form::Either(&[Form::Choice(&[NAMESPACES]), Form::Object(&SANDBOX_CONTAINER)]) }, isolation),
    "the sandbox that it runs in",
)
.printed_default(DefaultValue::Name(NAMESPACES));
const LIMITS: Field<LimitsText> = Field::optional("limits", LIMITS_SHAPE, "limits of a run");
const CONFIG: Field<Fragments> = Field::optional(
    "config",
    Shape::new(Form::Object(&CONFIG_PARTS), fragments),
    "for `openclaw`: parts of the configuration that is written for its program",
);

static AGENT: Object = Object {
    what: "an agent",
    keys: &[
        DESCRIPTION.key,
        RUNNER.key,
        COMMAND.key,
        CALL.key,
        PROGRAM.key,
        ARGS.key,
        ENV.key,
        PASS_ENV.key,
        MODEL.key,
        OUTPUT.key,
        TOOLS.key,
        TOOL_FILTER.key,
        SKILLS.key,
        NETWORK.key,
        READ_ONLY.key,
        SANDBOX.key,
        LIMITS.key,
        CONFIG.key,
    ],
};

pub(crate) const ONE: Form = Form::Object(&AGENT);

pub(crate) const FORM: Form = Form::Map(&ONE);

pub(crate) const SECTION: Section<Vec<AgentText>> = Heading::new("agents", FORM, "agents by name", &[Part::Agent])
    .read(|reading, lost, known, at| BY_NAME.read(reading, (lost, known), ("agents", at.node), read));

const BY_NAME: NamedSection = NamedSection {
    part: Part::Agent,
    name: "a name in `agents`",
    what: "agent",
    needs: "an object of names and agents",
};

impl Named for AgentText {
    fn name(&self) -> &Spanned<String> {
        &self.name
    }
}

pub(crate) fn read(reading: &mut Reading<'_>, name: Spanned<String>, node: &Node<'_>) -> Option<AgentText> {
    let n_before = reading.n_errors();
    let fields = AGENT.fields(reading, node)?;
    let description = fields.read(reading, &DESCRIPTION);
    let named = fields.key_span(&RUNNER).map(|_| fields.read(reading, &RUNNER));
    let mut command = fields.read(reading, &COMMAND);
    let runner = match (named, &command, fields.node(&CALL)) {
        (Some(named), _, _) => named?,
        (None, Some(_), _) => Runner::COMMAND,
        (None, None, Some(_)) => Runner::CALL,
        (None, None, None) => {
            if !WHO.iter().any(|it| fields.may_mean(it)) {
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
                let at = fields.key_span(&COMMAND).unwrap_or(fields.span);
                reading.problem(problem.at(at, "empty").help("for example `command: [python3, ./agent.py]`"));
            }
            (true, _) => {
                let mut words = words.iter().map(|it| it.value.clone());
                agent.program = words.next();
                agent.args = words.collect();
            }
            (false, _) => {
                let message = format!("`command` is for the runner `command`, and this one is `{}`", runner.name);
                conflict(reading, &fields, &COMMAND.key, message);
            }
        }
    } else if runner.is_command() && fields.node(&PROGRAM).is_none() {
        let problem = Problem::new(&codes::MISSING_KEY, "the runner `command` needs a `command`");
        let at = fields.key_span(&RUNNER).unwrap_or(fields.span);
        reading.problem(problem.at(at, "runs what?").help("for example `command: [python3, ./agent.py]`"));
    }
    agent.function = function(reading, &fields, runner);
    if let Some(program) = fields.read(reading, &PROGRAM) {
        agent.program = Some(program);
    }
    agent.args.extend(fields.read(reading, &ARGS).unwrap_or_default());
    agent.env = fields.read(reading, &ENV).unwrap_or_default();
    agent.pass_env = fields.read(reading, &PASS_ENV).unwrap_or_default();
    for path in fields.read(reading, &READ_ONLY).unwrap_or_default() {
        agent.read_only.push(reading.beside(path.span, &path.value));
    }
    let model = fields.read(reading, &MODEL);
    agent.model = model.as_ref().map(|it| it.value.clone());
    agent.prints_text = fields.value(reading, &OUTPUT) == Printed::Text;
    if !runner.keys.contains(&OUTPUT.key.name) {
        let message = format!("`output` is for the runner `command`; what `{}` prints is known", runner.name);
        conflict(reading, &fields, &OUTPUT.key, message);
    }
    let mut servers = Vec::new();
    for tool in fields.read(reading, &TOOLS).unwrap_or_default() {
        match ProbeTool::named(&tool.value) {
            Some(own) if !agent.tools.contains(&own) => agent.tools.push(own),
            Some(_) => {}
            None => servers.push(tool),
        }
    }
    let (tool_filter, filtered) = fields.read(reading, &TOOL_FILTER).unwrap_or_default();
    agent.tool_filter = tool_filter;
    for key in [TOOLS.key, TOOL_FILTER.key].iter().filter(|_| !runner.takes_servers) {
        let message = format!("`{}` has its own tools alone, and `{}` would have no effect", runner.name, key.name);
        conflict(reading, &fields, key, message);
    }
    if !agent.tools.is_empty() && runner.takes_servers && !runner.keys.contains(&TOOLS.key.name) {
        let names = listed_all(agent.tools.iter().map(|it| it.name()));
        let message =
            format!("{names} under `tools` is for the runner `llm_probe`; `{}` has its own tools", runner.name);
        conflict(reading, &fields, &TOOLS.key, message);
    }
    agent.servers = servers.iter().map(|it| it.value.clone()).collect();
    agent.skills = skills(reading, &fields, runner);
    agent.network = fields.read(reading, &NETWORK);
    if agent.network == Some(Network::Off) && !agent.servers.is_empty() && !runner.keys.contains(&TOOLS.key.name) {
        let message = "`network: off` keeps the agent from the servers under its `tools`".to_owned();
        conflict(reading, &fields, &NETWORK.key, message);
    }
    if let Some(isolation) = fields.read(reading, &SANDBOX) {
        agent.isolation = isolation;
    }
    if let Some(limits) = fields.read(reading, &LIMITS) {
        limits.over(&mut agent.limits);
    }
    agent.config = fields.read(reading, &CONFIG).unwrap_or_default();
    if !runner.keys.contains(&CONFIG.key.name) {
        let message = format!("`config` is for the runner `openclaw`; `{}` has no such file", runner.name);
        conflict(reading, &fields, &CONFIG.key, message);
    }
    let runner = WHO.iter().find_map(|it| fields.key_span(it)).unwrap_or(fields.span);
    (reading.n_errors() == n_before).then_some(AgentText { agent, name, description, model, servers, filtered, runner })
}

/// The directories of its skills.
fn skills(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, runner: &Runner) -> Vec<PathBuf> {
    if runner.skills.is_none() {
        conflict(reading, fields, &SKILLS.key, format!("`{}` has no skills", runner.name));
    }
    let mut skills: Vec<PathBuf> = Vec::new();
    for path in fields.read(reading, &SKILLS).unwrap_or_default() {
        let skill = reading.beside(path.span, &path.value);
        if skills.iter().any(|it| it.file_name() == skill.file_name()) {
            let message = format!("two skills have the name of the directory `{}`", path.value);
            let problem = Problem::new(&codes::CONFLICT, message).at(path.span, "in place of the other one");
            reading.problem(problem.help("rename one of the directories"));
        }
        skills.push(skill);
    }
    skills
}

/// The function that runs an agent, when one does.
fn function(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, runner: &Runner) -> Option<String> {
    let call = fields.read(reading, &CALL);
    if !runner.is_function() {
        if call.is_some() {
            let message = format!("`call` is for the runner `call`, and this one is `{}`", runner.name);
            conflict(reading, fields, &CALL.key, message);
        }
        return None;
    }
    if let Some(key) = OF_PROGRAMS.iter().find(|it| fields.key_span(*it).is_some()) {
        conflict(reading, fields, key, format!("`{}` is for programs, and this agent is a function", key.name));
    }
    if call.is_none() && !fields.may_mean(&CALL) {
        let problem = Problem::new(&codes::MISSING_KEY, "the runner `call` needs a `call`");
        let at = fields.key_span(&RUNNER).unwrap_or(fields.span);
        reading.problem(problem.at(at, "calls what?").help("for example `call: my_agent`, a function of the program"));
    }
    call.map(|it| it.value)
}

/// The keys that say what runs.
const WHO: [Key; 3] = [RUNNER.key, COMMAND.key, CALL.key];

/// The keys that make no sense for a function: no program is started, and there is no sandbox around it.
const OF_PROGRAMS: [Key; 7] = [PROGRAM.key, ARGS.key, ENV.key, PASS_ENV.key, NETWORK.key, READ_ONLY.key, SANDBOX.key];

/// Notes a key that has no meaning for this runner, if it is there.
fn conflict(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, key: &Key, message: String) {
    let Some(at) = fields.key_span(key) else { return };
    reading.problem(Problem::new(&codes::CONFLICT, message).at(at, "without effect").help("drop it"));
}

/// An object of names and texts. Numbers and booleans are what variables are made of, too.
fn pairs(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<(String, String)>> {
    let Some(entries) = node.entries() else {
        reading.wrong_type(what, "an object of texts", node);
        return None;
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
    Some(pairs)
}

/// What of the network is seen.
fn network(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Network> {
    match &node.content {
        Content::Map(_) => {
            let fields = ALLOWED.fields(reading, node)?;
            fields.read(reading, &ALLOW).map(Network::Allow)
        }
        // YAML of old takes `off` for a boolean.
        Content::Scalar(Val::Bool(false)) => Some(Network::Off),
        _ => reading.choice(what, &NetworkName::NAMED, node).map(|it| match it {
            NetworkName::Off => Network::Off,
            NetworkName::Loopback => Network::Loopback,
            NetworkName::Host => Network::Host,
        }),
    }
}

/// Parts of the configuration of a program.
fn fragments(reading: &mut Reading<'_>, _: &str, node: &Node<'_>) -> Option<Fragments> {
    let fields = CONFIG_PARTS.fields(reading, node)?;
    if let Some(span) = fields.key_span(&IDENTITY).filter(|_| is_said(fields.node(&IDENTITY))) {
        let problem = Problem::new(&codes::UNUSED_SETTING, "`identity` of an agent is not used").at(span, "not used");
        reading.problem(problem.help("who it is stands in `IDENTITY.md` of its workspace"));
    }
    let defaults = fields.node(&MODEL_DEFAULTS);
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
    Some(Fragments {
        defaults: part(fields.node(&AGENTS_DEFAULTS)),
        agent: part(fields.node(&CONFIG_AGENT)),
        params: part(params),
    })
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

fn isolation(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Isolation> {
    if node.entries().is_none() {
        return reading.choice(what, &[(NAMESPACES, ())], node).map(|()| Isolation::Namespaces);
    }
    let fields = SANDBOX_CONTAINER.fields(reading, node)?;
    fields.read(reading, &CONTAINER)
}

fn container(reading: &mut Reading<'_>, _: &str, node: &Node<'_>) -> Option<Isolation> {
    let fields = IMAGE_AND_ENGINE.fields(reading, node)?;
    let image = fields.read(reading, &IMAGE)?;
    Some(Isolation::Container { image, engine: fields.value(reading, &ENGINE).name().to_owned() })
}

/// Limits as they were written: what is not said stays as it is.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct LimitsText {
    time: Option<Duration>,
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
    fn read(reading: &mut Reading<'_>, _: &str, node: &Node<'_>) -> Option<LimitsText> {
        let fields = RUN_LIMITS.fields(reading, node)?;
        Some(LimitsText {
            requests: fields.read(reading, &REQUESTS),
            tokens: fields.read(reading, &TOKENS),
            processes: fields.read(reading, &PROCESSES),
            turns: fields.read(reading, &TURNS),
            output: fields.read(reading, &LIMIT_OUTPUT),
            memory: fields.read(reading, &MEMORY),
            workspace: fields.read(reading, &WORKSPACE),
            time: fields.read(reading, &TIME),
            cost_usd: fields.read(reading, &COST_USD),
        })
    }

    /// Puts what was said over other limits.
    pub(crate) fn over(&self, limits: &mut Limits) {
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
