//! What a run needs before its first case: models that can be asked, scripts, programs, files, functions and variables that are there, and a sandbox for code
//! and agents.
//!
//! [`require`] decides it for every verb. Nothing that a definition names is started, and nothing is sent, so `check` asks the same function as `run`. What
//! depends on who runs the suite, and where, is a note until it is run: a key that is not set, an option that is not given, a sandbox that this machine does
//! not have, a function of another program.

use std::path::{Path, PathBuf};

use jurat_core::effect::MOST_BYTES;
use jurat_core::plan::Plan;
use jurat_core::suite::{AgentCaseText, ServerSpec, Suite, TaskKind};
use jurat_format::codes;
use jurat_format::problem::Problem;
use jurat_format::source::Files;
use jurat_format::value::Span;
use jurat_model::{OpenError, Proxies, Supervisor, Toolbox, ToolboxError, ToolboxOptions};
use jurat_sandbox::{Program, Refused};

use crate::agents::{AgentEnvironment, Agents, Obstacle};
use crate::allowance::Share;
use crate::evaluators::{self, Workers};
use crate::model_problems::{MOST_PROBLEMS, placed, resolve_problem};
use crate::models::OpenModels;
use crate::roles::main_folder;
use crate::{Definition, EvaluatorError, Functions, HostFunctions, Roles};

/// What the program that runs a definition provides.
pub struct Resources<'r> {
    /// Where scripts are read from.
    pub files: &'r dyn Files,
    pub env: &'r dyn Fn(&str) -> Option<String>,
    /// Where files with variables were looked for.
    pub env_files: &'r [PathBuf],
    /// The functions that are models.
    pub functions: &'r Functions,
    pub evaluators: &'r HostFunctions,
    /// The functions that run cases.
    pub agents: &'r HostFunctions,
    /// What is started to run code and agents. To find out what is missing it only has to be there.
    pub worker: Option<Program>,
}

/// How a definition is run, and with what.
pub struct Conditions<'c> {
    /// `role=provider/model` from the command line.
    pub models: &'c [(String, String)],
    /// Whether code of evaluators runs without a sandbox where the machine has none.
    pub unsafe_code: bool,
    /// Whether agents run on the machine itself.
    pub unsafe_host: bool,
    pub resources: &'c Resources<'c>,
}

/// Where agents leave their files, and how much is done at a time.
#[derive(Debug, Default)]
pub(crate) struct Place {
    pub(crate) agent_files: PathBuf,
    pub(crate) programs: usize,
    pub(crate) calls: usize,
    pub(crate) proxies: Proxies,
    pub(crate) supervisor: Option<Supervisor>,
    /// The part of rates that this process has.
    pub(crate) share: Option<Share>,
}

/// What a run has once everything that it needs is there.
pub(crate) struct Met {
    pub(crate) roles: Roles,
    pub(crate) models: OpenModels,
    pub(crate) tools: Toolbox,
    pub(crate) agents: Agents,
}

/// Everything that is missing for a run of this definition. The severities are those of `check`.
pub fn missing(definition: Definition<'_>, conditions: &Conditions<'_>) -> Vec<Problem> {
    require(definition, conditions, Place::default()).err().unwrap_or_default()
}

/// Makes ready what can be made ready without starting anything of the definition, or returns everything that is missing.
pub(crate) fn require(
    definition: Definition<'_>,
    conditions: &Conditions<'_>,
    place: Place,
) -> Result<Met, Vec<Problem>> {
    let Definition { suite, plan, .. } = definition;
    let Resources { files, env, env_files, functions, evaluators, ref worker, .. } = *conditions.resources;
    let mut missing = Missing { suite, env_files, problems: Vec::new() };
    let mut roles = missing.roles(definition, conditions.models, env);
    if let Some(share) = place.share {
        roles.divide_rates(share);
    }
    let (models, unopened) = OpenModels::open(&roles, files, env, functions);
    missing.models(unopened.into_iter().map(|(error, place)| self::unopened(suite, &error, place, env_files)));
    let tool_options =
        ToolboxOptions { proxies: place.proxies, supervisor: place.supervisor, ..ToolboxOptions::default() };
    let tools = missing.tools(&suite.tools, env, tool_options);
    missing.sent_files(files);
    let workers = Workers { program: worker.clone(), is_unsafe: conditions.unsafe_code };
    missing.evaluators(plan, &main_folder(definition.sources), &workers, evaluators);
    let environment = AgentEnvironment {
        worker: worker.clone(),
        is_on_host: conditions.unsafe_host,
        storage: place.agent_files,
        suite: suite.name.as_ref().map_or("suite", |it| it.value.as_str()).to_owned(),
        search: env("PATH").map(Into::into),
        programs: place.programs,
        calls: place.calls,
    };
    let agents = missing.agents(plan, &roles, conditions.resources, environment);
    match (missing.problems, tools, agents) {
        (problems, Some(tools), Some(agents)) if problems.is_empty() => Ok(Met { roles, models, tools, agents }),
        (problems, ..) => Err(problems),
    }
}

/// The models of a definition, or everything that is wrong with them. Keys need not be there.
pub(crate) fn require_roles(
    definition: Definition<'_>,
    models: &[(String, String)],
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Roles, Vec<Problem>> {
    let mut missing = Missing { suite: definition.suite, env_files: &[], problems: Vec::new() };
    let roles = missing.roles(definition, models, env);
    if missing.problems.is_empty() { Ok(roles) } else { Err(missing.problems) }
}

/// Problems as they are found.
struct Missing<'m> {
    suite: &'m Suite,
    env_files: &'m [PathBuf],
    problems: Vec<Problem>,
}

impl Missing<'_> {
    /// Files that every case sends must be there.
    fn sent_files(&mut self, files: &dyn Files) {
        let of_ask = self.suite.ask.iter().flat_map(|it| it.prompts.iter().map(|it| &it.prompt));
        let of_tasks = self.suite.tasks.iter().filter_map(|it| match &it.kind {
            TaskKind::Judge(judge) => Some(&judge.prompt),
            _ => None,
        });
        for (chat, file) in of_ask.chain(of_tasks).flat_map(|chat| chat.files.iter().map(move |it| (chat, it))) {
            if let Err(error) = files.read(&chat.chat.home.join(&file.value), MOST_BYTES) {
                let problem = Problem::new(&codes::NOT_FOUND, format!("`{}` cannot be sent: {error}", file.value));
                let help = "paths are relative to the file that holds them; a value of the row is `${path}`";
                self.problems.push(problem.at(file.span, "named here").help(help));
            }
        }
    }

    fn roles(
        &mut self,
        definition: Definition<'_>,
        models: &[(String, String)],
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Roles {
        let Definition { suite, sources, plan } = definition;
        let (roles, problems) = Roles::resolve(plan, suite, sources, models, env, self.env_files);
        self.models(problems);
        roles
    }

    /// Of thousands of models that cannot be asked the first hundred are enough to read.
    fn models(&mut self, problems: impl IntoIterator<Item = Problem>) {
        problems.into_iter().take(MOST_PROBLEMS).for_each(|it| self.push(it));
    }

    /// What several roles, tasks or cases share is wrong once.
    fn push(&mut self, problem: Problem) {
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    fn tools(
        &mut self,
        servers: &[ServerSpec],
        env: &dyn Fn(&str) -> Option<String>,
        options: ToolboxOptions,
    ) -> Option<Toolbox> {
        let n_before = self.problems.len();
        for server in servers {
            let wrong = Toolbox::open(std::slice::from_ref(server), env, options.clone()).err();
            self.problems.extend(wrong.map(|error| server_problem(server, &error)));
        }
        (self.problems.len() == n_before).then(|| Toolbox::open(servers, env, options).ok()).flatten()
    }

    fn evaluators(&mut self, plan: &Plan, folder: &Path, workers: &Workers, functions: &HostFunctions) {
        for error in evaluators::missing(plan, folder, workers, functions).into_iter().take(MOST_PROBLEMS) {
            self.push(evaluator_problem(self.suite, &error));
        }
    }

    fn agents(
        &mut self,
        plan: &Plan,
        roles: &Roles,
        resources: &Resources<'_>,
        environment: AgentEnvironment,
    ) -> Option<Agents> {
        let n_before = self.problems.len();
        let wires = Agents::check_wires(plan, roles);
        let (agents, errors) = Agents::open(plan, environment, resources.agents, resources.env);
        for (case, error) in wires.into_iter().chain(errors).take(MOST_PROBLEMS) {
            self.push(agent_problem(self.suite, &case, error));
        }
        (self.problems.len() == n_before).then_some(agents)
    }
}

/// A model that cannot be made ready.
fn unopened(suite: &Suite, error: &OpenError, place: Option<Span>, env_files: &[PathBuf]) -> Problem {
    match error {
        OpenError::Resolve(error) => resolve_problem(suite, error, place, env_files),
        error => placed(open_problem(error), suite, place, "named here"),
    }
}

fn open_problem(error: &OpenError) -> Problem {
    let relative = "a script is looked for beside the file that names it; with `--model`, in the current directory";
    match error {
        OpenError::NoScript { .. } => Problem::new(&codes::NO_SCRIPT, error.to_string()).help(relative),
        OpenError::NotText { .. } | OpenError::BadScript { .. } => Problem::new(&codes::BAD_SCRIPT, error.to_string()),
        OpenError::NoFunction { .. } => Problem::new(&codes::MISSING_FUNCTION, error.to_string()),
        OpenError::Header { .. } | OpenError::Key { .. } => Problem::new(&codes::UNSET_VARIABLE, error.to_string()),
        OpenError::Exec(inner) if inner.is_missing => Problem::new(&codes::NO_PROGRAM, error.to_string()),
        _ => Problem::new(&codes::BAD_MODEL, error.to_string()),
    }
}

fn server_problem(server: &ServerSpec, error: &ToolboxError) -> Problem {
    let code = match error {
        ToolboxError::MissingVariable { .. } | ToolboxError::Header { .. } => &codes::UNSET_VARIABLE,
        ToolboxError::NoProgram { .. } => &codes::NO_PROGRAM,
        ToolboxError::Address { .. } => &codes::WRONG_VALUE,
    };
    Problem::new(code, error.to_string()).at(server.name.span, "this server")
}

fn evaluator_problem(suite: &Suite, error: &EvaluatorError) -> Problem {
    let (code, name) = match error {
        EvaluatorError::NoFunction { evaluator, .. } => (&codes::MISSING_FUNCTION, evaluator),
        EvaluatorError::Refused { evaluator, refused: Refused::Unprotected(_) } => (&codes::NEEDS_OPTION, evaluator),
        EvaluatorError::Refused { evaluator, .. } | EvaluatorError::NoWorkers { evaluator, .. } => {
            (&codes::NO_PROGRAM, evaluator)
        }
    };
    let place = suite.evaluators.iter().find(|it| it.name.value == *name).map(|it| it.name.span);
    placed(Problem::new(code, error.to_string()), suite, place, "this evaluator")
}

fn agent_problem(suite: &Suite, case: &str, obstacle: Obstacle) -> Problem {
    let written = suite.cases.iter().find(|it| it.id.value == case);
    let (place, text) = match obstacle.is_of_case {
        true => (written.map(|it| it.id.span), "this case"),
        false => (written.and_then(|it| agent_place(suite, it)), "this agent"),
    };
    let problem = placed(Problem::new(obstacle.code, obstacle.message), suite, place, text);
    obstacle.help.into_iter().fold(problem, Problem::help)
}

/// Where the agent of a case is defined: under `agents`, or in the case.
fn agent_place(suite: &Suite, case: &AgentCaseText) -> Option<Span> {
    case.agent_in(suite).map(|it| it.name.span)
}
