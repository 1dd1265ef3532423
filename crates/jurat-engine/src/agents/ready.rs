//! Who runs each case: its program found, its template looked at, everything that stands in the way said before anything is asked.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jurat_core::agent::{AgentCase, Isolation, Network, Performer, Wire};
use jurat_core::plan::Plan;
use jurat_core::scenario::Function;
use jurat_format::codes;
use jurat_format::problem::{Code, listed_all};
use jurat_format::value::{Map, Val, Value};
use jurat_host::program::{self, FoundProgram, ProgramError};
use jurat_host::workspace;
use jurat_model::codec::Codec;
use jurat_sandbox::{Program, jail};
use tokio::sync::Semaphore;

use super::{Agents, Ready};
use crate::{HostFunctions, Roles};

/// What stands in the way of running a case.
#[derive(Debug)]
pub(crate) struct Obstacle {
    pub(crate) code: &'static Code,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
    /// Whether it is about the case, rather than its agent.
    pub(crate) is_of_case: bool,
}

impl Obstacle {
    fn of_agent(code: &'static Code, message: String) -> Obstacle {
        Obstacle { code, message, help: None, is_of_case: false }
    }

    fn of_case(code: &'static Code, message: String) -> Obstacle {
        Obstacle { is_of_case: true, ..Obstacle::of_agent(code, message) }
    }
}

/// What agents need of the world.
#[derive(Debug, Default)]
pub(crate) struct AgentEnvironment {
    /// What becomes the first process of a place.
    pub(crate) worker: Option<Program>,
    /// Whether agents run on the machine itself.
    pub(crate) is_on_host: bool,
    /// Where what runs leave is stored.
    pub(crate) storage: PathBuf,
    pub(crate) suite: String,
    /// The search path of jurat itself.
    pub(crate) search: Option<OsString>,
    /// How many programs run at a time.
    pub(crate) programs: usize,
    /// How many functions are called at a time.
    pub(crate) calls: usize,
}

impl Agents {
    /// Makes those of a plan ready, as far as that is possible, and returns what is wrong with the others, by their cases. Programs and files are looked at,
    /// and no program of an agent is started. What functions are given and return is in the form of [`jurat_core::agent`].
    pub(crate) fn open(
        plan: &Plan,
        environment: AgentEnvironment,
        functions: &HostFunctions,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> (Agents, Vec<(String, Obstacle)>) {
        let (mut by_case, mut errors) = (BTreeMap::new(), Agents::check_sandbox(plan, &environment));
        let mut found = Programs::default();
        for case in &plan.cases {
            match one(case, &environment, functions, env, &mut found) {
                Ok(ready) => drop(by_case.insert(case.id.clone(), ready)),
                Err(error) => errors.push((case.id.clone(), error)),
            }
        }
        let [programs, calls] = [environment.programs, environment.calls].map(|it| Semaphore::new(it.max(1)));
        (Agents { by_case, environment, programs, calls }, errors)
    }

    /// The agents that this machine cannot isolate, by their cases.
    fn check_sandbox(plan: &Plan, environment: &AgentEnvironment) -> Vec<(String, Obstacle)> {
        let Some(worker) = environment.worker.as_ref().filter(|_| !environment.is_on_host) else { return Vec::new() };
        let cases: Vec<&Arc<AgentCase>> = plan.cases.iter().filter(|it| needs_namespaces(it)).collect();
        let why = if cases.is_empty() { None } else { unavailable(worker) };
        let Some(why) = why else { return Vec::new() };
        let obstacle = |it: &&Arc<AgentCase>| {
            Obstacle::of_agent(&codes::NEEDS_OPTION, format!("agent `{}`: {why}", it.agent.name))
        };
        cases.iter().map(|it| (it.id.clone(), obstacle(it))).collect()
    }

    /// The agents that cannot ask the models that they are given, by their cases.
    pub(crate) fn check_wires(plan: &Plan, roles: &Roles) -> Vec<(String, Obstacle)> {
        let mut errors = Vec::new();
        for case in &plan.cases {
            let asked = roles.models.iter().filter(|it| case.agent.asks() == Some(it.role.name()));
            let wrong = asked.filter_map(|it| check_wire(case, &it.model.name, &it.model.endpoint.codec).err());
            errors.extend(wrong.map(|error| (case.id.clone(), error)));
        }
        errors
    }
}

/// Programs that were looked for, by who needs them.
type Programs = BTreeMap<String, Option<FoundProgram>>;

/// Whether a case runs a program in namespaces.
fn needs_namespaces(case: &AgentCase) -> bool {
    let agent = &case.agent;
    let runs_programs = match agent.runner.performer {
        Performer::Recorded | Performer::Function => false,
        Performer::Model => !agent.tools.is_empty(),
        Performer::Program(_) | Performer::Command => true,
    };
    runs_programs && agent.isolation == Isolation::Namespaces
}

/// Why programs cannot be run in namespaces here. The only way to know is to start one: jurat itself, which runs a shell that does nothing.
fn unavailable(worker: &Program) -> Option<String> {
    let folder = tempfile::tempdir();
    let probed = folder.map_err(jail::JailError::from).and_then(|it| jail::probe(worker.clone(), it.path()));
    probed.err().map(|it| it.to_string())
}

fn one(
    case: &Arc<AgentCase>,
    environment: &AgentEnvironment,
    functions: &HostFunctions,
    env: &dyn Fn(&str) -> Option<String>,
    found: &mut Programs,
) -> Result<Ready, Obstacle> {
    let agent = &case.agent;
    if agent.network() == Network::Host && !environment.is_on_host {
        let message = format!(
            "agent `{}` needs the whole network (`network: host`), which jurat does not isolate; allow it with \
             `--unsafe-host`, or list the hosts that it needs with `network: {{ allow: […] }}`",
            agent.name
        );
        return Err(Obstacle::of_agent(&codes::NEEDS_OPTION, message));
    }
    if !agent.runner.is_recorded() && !agent.runner.is_function() && environment.worker.is_none() {
        let message = "agents run in a sandbox that this program cannot start: call `jurat::serve_as_worker()` first thing in `main`";
        return Err(Obstacle::of_agent(&codes::NO_PROGRAM, message.to_owned()));
    }
    if let Some(path) = case.artifact.as_ref().filter(|it| agent.runner.is_recorded() && !it.is_file()) {
        let (id, path) = (&case.id, path.display());
        let message = format!("case `{id}`: there is no file `{path}`, which should hold its recorded run");
        return Err(Obstacle::of_case(&codes::NOT_FOUND, message));
    }
    let key = format!("{:?} {} {:?} {:?}", agent.runner, agent.name, agent.program, agent.folder);
    let program = match found.get(&key) {
        Some(program) => program.clone(),
        None => found.entry(key).or_insert(program_of(case, environment)?).clone(),
    };
    if let Some(why) = missing_script(case) {
        return Err(Obstacle::of_agent(&codes::NOT_FOUND, format!("agent `{}`: {why}", agent.name)));
    }
    let mut ready = Ready { function: function_of(case, functions)?, ..ready(case, program, env)? };
    // What an agent does on the machine itself says nothing about what it would do in the sandbox, and the other way round.
    if environment.is_on_host && !agent.runner.is_recorded() {
        ready.digest.insert("place".into(), Val::from("host"));
    }
    Ok(ready)
}

/// Programs that read the script which their first argument names, also where it does not look like a path.
const INTERPRETERS: [&str; 9] = ["python", "python3", "node", "deno", "bun", "ruby", "perl", "sh", "bash"];

/// Why the script of a command cannot be found by its program.
fn missing_script(case: &AgentCase) -> Option<String> {
    let agent = &case.agent;
    if !agent.runner.is_command() || matches!(agent.isolation, Isolation::Container { .. }) {
        return None;
    }
    let program = Path::new(agent.program.as_deref()?).file_name()?.to_str()?;
    let first = agent.args.first().filter(|it| INTERPRETERS.contains(&program) && !it.starts_with('-'));
    let script = first.or_else(|| first_path(&agent.args))?;
    let is_in_workspace = case.workspace.as_ref().is_some_and(|it| it.join(script).exists());
    if is_in_workspace { None } else { unseen(&agent.folder, script) }
}

/// The first argument that is written as a path. What follows an option may be a file that the agent is to write.
fn first_path(args: &[String]) -> Option<&String> {
    let is_value = |ix: usize| ix > 0 && args[ix - 1].starts_with('-');
    let is_path = |it: &String| it.starts_with("./") || it.starts_with("../");
    args.iter().enumerate().find(|(ix, it)| is_path(it) && !is_value(*ix)).map(|(_, it)| it)
}

/// Whether an argument names something beside the definition that the agent is shown.
pub(super) fn is_beside(folder: &Path, argument: &str) -> bool {
    (argument.starts_with("./") || argument.starts_with("../")) && folder.join(argument).exists()
}

/// Why an argument that names a file is not seen by the agent, in whose workspace there is no such file; and what to do.
pub(super) fn unseen(folder: &Path, argument: &str) -> Option<String> {
    match folder.join(argument).is_file() {
        true if !is_beside(folder, argument) && Path::new(argument).is_relative() => Some(format!(
            "`{argument}` is beside the definition, where the agent cannot see it: write `./{argument}` to show it to the agent, \
             or put it into the `workspace` of the case"
        )),
        false if argument.starts_with("./") || argument.starts_with("../") => {
            Some(format!("`{argument}` is neither beside the definition nor in the `workspace` of the case"))
        }
        _ => None,
    }
}

/// The function that runs a case, when one does.
fn function_of(case: &AgentCase, functions: &HostFunctions) -> Result<Option<Function>, Obstacle> {
    let Some(name) = case.agent.function.as_ref() else { return Ok(None) };
    functions.get(name).cloned().map(Some).ok_or_else(|| {
        let message = format!(
            "agent `{}` is the function `{name}` of the program that runs the suite, and this program has none of that name; \
             run it there, or replay a recording",
            case.agent.name
        );
        Obstacle::of_agent(&codes::MISSING_FUNCTION, message)
    })
}

fn program_of(case: &AgentCase, environment: &AgentEnvironment) -> Result<Option<FoundProgram>, Obstacle> {
    let agent = &case.agent;
    let Some(name) = agent.program.as_deref().or(agent.runner.program().map(|it| it.name)) else { return Ok(None) };
    let no_program = |error: ProgramError, remedy: String| Obstacle {
        help: Some(remedy),
        ..Obstacle::of_agent(&codes::NO_PROGRAM, format!("agent `{}`: {error}", agent.name))
    };
    // What is in an image is found there.
    if let Isolation::Container { engine, .. } = &agent.isolation {
        let found = program::find(engine, Path::new(""), environment.search.as_deref());
        let remedy = "install it, or name another engine of containers with `engine`".to_owned();
        let found = found.map_err(|error| no_program(error, remedy));
        return if environment.is_on_host { Ok(None) } else { found.map(|_| None) };
    }
    let program = program::find(name, &agent.folder, environment.search.as_deref());
    program.map(Some).map_err(|error| {
        let remedy = match agent.runner.program() {
            Some(known) => {
                format!("install it with `{}`, or say where it is with `program`", known.package.installation())
            }
            None => {
                "`command` names a program that is found where programs are, or a path beside the definition".to_owned()
            }
        };
        no_program(error, remedy)
    })
}

fn ready(
    case: &Arc<AgentCase>,
    program: Option<FoundProgram>,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Ready, Obstacle> {
    let agent = &case.agent;
    let mut digest: Map<'static> = Map::default();
    if let Some(program) = &program {
        digest.insert("program".into(), Val::from(program.digest.clone()));
        digest.insert("version".into(), program.version.clone().map_or(Val::Null, Val::from));
    }
    let files = named_files(case).into_iter().map(|it| digest_of(&it)).collect::<Option<Vec<_>>>().unwrap_or_default();
    if !files.is_empty() {
        digest.insert("files".into(), files.into_iter().map(Val::from).collect());
    }
    if let Some(path) = agent.read_only.iter().find(|it| !it.exists()) {
        let message = format!("agent `{}`: `{}` is not there, which it should see", agent.name, path.display());
        return Err(Obstacle::of_agent(&codes::NOT_FOUND, message));
    }
    if let Some(skill) = agent.skills.iter().find(|it| !it.join("SKILL.md").is_file()) {
        let message = format!("agent `{}`: there is no skill `{}`", agent.name, skill.display());
        let help = "a skill is a directory with a file `SKILL.md`".to_owned();
        return Err(Obstacle { help: Some(help), ..Obstacle::of_agent(&codes::NOT_FOUND, message) });
    }
    let skills: Vec<Value> = agent.skills.iter().map(|it| skill_digest(it)).collect();
    if !skills.is_empty() {
        digest.insert("skills".into(), skills.into_iter().collect());
    }
    if let Some(template) = &case.workspace {
        let no_template = |why: String| {
            let (id, path) = (&case.id, template.display());
            let message = format!("case `{id}`: its workspace cannot be made from `{path}`: {why}");
            Obstacle::of_case(&codes::NOT_FOUND, message)
        };
        let walked = workspace::walk(template).map_err(|error| no_template(error.to_string()))?;
        let hash = walked.digest().ok_or_else(|| no_template("it has too many files, or is too deep".to_owned()))?;
        digest.insert("template".into(), Val::from(hash));
    }
    if let Some(artifact) = &case.artifact {
        let hash = digest_of(artifact).map_or(Val::Null, Val::from);
        digest.insert("artifact".into(), hash);
    }
    let mut secrets = Vec::new();
    for name in &agent.pass_env {
        let value = env(name).ok_or_else(|| {
            let message = format!("agent `{}` is passed the variable `{name}`, which is not set", agent.name);
            Obstacle::of_agent(&codes::UNSET_VARIABLE, message)
        })?;
        secrets.push((name.clone(), value));
    }
    Ok(Ready { case: Arc::clone(case), program, function: None, digest, secrets })
}

/// The files beside the definition that arguments name: those that begin with `./` or `../`.
pub(super) fn named_files(case: &AgentCase) -> Vec<PathBuf> {
    let is_path = |it: &&String| it.starts_with("./") || it.starts_with("../");
    let path = |it: &String| std::path::absolute(case.agent.folder.join(it)).ok();
    case.agent.args.iter().filter(is_path).filter_map(path).filter(|it| it.exists()).collect()
}

/// The name of a skill, which its program knows it by, and the hash of its files.
fn skill_digest(skill: &Path) -> Value {
    let name = skill.file_name().unwrap_or_default().to_string_lossy().into_owned();
    [Val::from(name), digest_of(skill).map_or(Val::Null, Val::from)].into_iter().collect()
}

fn digest_of(path: &Path) -> Option<String> {
    if path.is_dir() {
        return workspace::walk(path).ok()?.digest();
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(std::fs::File::open(path).ok()?).ok()?;
    Some(hasher.finalize().to_hex().to_string())
}

/// Whether a program can ask a model, which is asked through `codec`.
fn check_wire(case: &AgentCase, model: &str, codec: &str) -> Result<(), Obstacle> {
    let is_http = Codec::named(codec).is_some();
    if is_http && Wire::named(codec).is_none() && codec != "ollama_chat" {
        let agent = &case.agent.name;
        let message = format!(
            "agent `{agent}` cannot ask `{model}`: requests of agents are not passed on as `{codec}`; give it a model that is asked \
             as {}",
            listed_all(Wire::NAMED.map(|(name, _)| name))
        );
        return Err(Obstacle::of_agent(&codes::BAD_MODEL, message));
    }
    let Some(speaks) = case.agent.runner.wire() else { return Ok(()) };
    // A model that is not asked over HTTP is asked in the agent's place, however it asks.
    if speaks.name() == codec || !is_http {
        return Ok(());
    }
    let remedy = match speaks {
        Wire::OpenAiChat => "`openai/…`, or of any server that speaks so, with `base_url`".to_owned(),
        speaks => format!("`{}/…`", speaks.provider()),
    };
    let (agent, speaks) = (&case.agent.name, speaks.name());
    let message = format!(
        "agent `{agent}` asks its model as `{speaks}`, and `{model}` is asked as `{codec}`; give it a model of {remedy}"
    );
    Err(Obstacle::of_agent(&codes::BAD_MODEL, message))
}

/// A model in words for keys: everything that decides what it answers.
pub(crate) fn endpoint_value(endpoint: &jurat_core::effect::Endpoint) -> Value {
    let settings = endpoint.settings.iter().map(|(name, value)| (name.clone(), value.clone()));
    let members = [
        ("codec", Val::from(endpoint.codec.clone())),
        ("address", Val::from(endpoint.address.clone())),
        ("model", Val::from(endpoint.model.clone())),
        ("settings", Val::Map(settings.collect::<Map<'static>>())),
    ];
    Val::Map(members.into_iter().collect::<Map<'static>>())
}
