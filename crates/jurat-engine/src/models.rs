//! The models of a suite, ready to be asked.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use jurat_core::check::Look;
use jurat_core::effect::{Deed, Endpoint, EndpointKey, Fault, FaultKind, Outcome, Printed, Returned};
use jurat_core::plan::{Plan, PlannedTask};
use jurat_core::scenario::Callable;
use jurat_core::suite::problem::listed_all;
use jurat_core::suite::source::{Files, Sources};
use jurat_core::suite::{Model as Written, ServerSpec, Suite, server_digest};
use jurat_core::value::Value;
use jurat_core::verdict::StopReason;
use jurat_host::hook::{self, Ender, HookCall};
use jurat_model::provider::describe;
use jurat_model::proxy::SharedMeter;
use jurat_model::{
    Asker, Bound, Function, Meter, Model, OpenError, Price, Proxies, Reservation, ResolveError, ResolvedModel, Settled,
    Supervisor, Toolbox, ToolboxError, ToolboxOptions, Transport, TransportOptions,
};

use crate::agents::{self, Agents};
use crate::budget::{Amount, Reserved, Spent};
use crate::evaluators::Evaluators;
use crate::host_function::call_apart;
use crate::perform::{Act, Asked, Doer, LocalFuture, Perform, Question, Surroundings};
use crate::{Budget, BudgetLimits, Stop, Subject};

/// A model that cannot be asked.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// A role was given a model, and nobody asks it.
    #[error("nobody asks the role `{role}`, which `--model` gives a model; asked are {asked}")]
    NobodyAsks {
        /// The role.
        role: String,
        /// The roles that are asked, in words.
        asked: String,
    },
    /// Nobody plays the role.
    #[error("{asker} asks the role `{role}`, which no model plays; give one with `--model {role}=provider/model`")]
    NoModel {
        /// Who asks, in words.
        asker: String,
        /// The role.
        role: String,
    },
    /// The role has several models, and only one can be asked.
    #[error("the role `{role}` has {n} models, and {asker} asks one; {remedy}")]
    Several {
        /// Who asks.
        asker: String,
        /// What to do instead.
        remedy: &'static str,
        /// The role.
        role: String,
        /// How many there are.
        n: usize,
    },
    /// It cannot be known who is meant.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// It cannot be made ready.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A model is asked in two ways.
    #[error("`{role}` judges and is asked for embeddings; name two roles, one for each")]
    TwoUses {
        /// The role.
        role: String,
    },
    /// A server with tools cannot be made ready.
    #[error(transparent)]
    Tools(#[from] ToolboxError),
    /// Scenarios and `ask` would talk to different subjects.
    #[error(
        "scenarios and agents talk to the role `subject`, and `ask` asks {asked}; let `ask` ask `subject`, or make two suites of them"
    )]
    OtherSubjects {
        /// Whom `ask` asks.
        asked: String,
    },
    /// A budget cannot be kept.
    #[error(
        "{budget} cannot be kept: `{model}` has no {lacks}; give it one under `models`, for example \
         `{{ model: {model}, {example} }}`"
    )]
    Unbounded {
        /// The option.
        budget: &'static str,
        /// The model.
        model: String,
        /// What it lacks.
        lacks: &'static str,
        /// How to give it.
        example: &'static str,
    },
}

/// A model that is asked, before it is made ready.
#[derive(Debug, Clone)]
pub struct RoleModel {
    /// The name that requests have.
    pub role: String,
    /// Who it is, as it was written.
    pub model: ResolvedModel,
    /// The folder that scripts and programs are looked for in.
    folder: std::path::PathBuf,
    /// Whether it is asked for embeddings.
    embeds: bool,
}

/// Those who are asked by a plan.
#[derive(Debug, Clone, Default)]
pub struct Roles {
    /// Everybody who is asked, judges and subjects.
    pub models: Vec<RoleModel>,
    /// Who is asked about each row.
    pub subjects: Vec<Subject>,
}

impl Roles {
    /// Those whom a plan asks. `given` are `role=provider/model` from the command line, relative to the current directory; models
    /// of the suite are relative to the file that names them.
    pub fn of(
        plan: &Plan,
        suite: &Suite,
        sources: &Sources,
        given: &[(String, String)],
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Roles, ModelError> {
        let mut roles = Roles::default();
        let resolve = |role: &str,
                       asker: &dyn Fn() -> String|
         -> Result<Vec<(ResolvedModel, std::path::PathBuf)>, ModelError> {
            if let Some((_, spec)) = given.iter().find(|(name, _)| name == role) {
                return Ok(vec![(describe(spec, &[], env)?, std::path::PathBuf::new())]);
            }
            if role.contains('/') {
                return Ok(vec![(describe(role, &[], env)?, main_folder(sources))]);
            }
            let Some(played) = suite.models.iter().find(|it| it.name.value == role) else {
                return Err(ModelError::NoModel { asker: asker(), role: role.to_owned() });
            };
            let one = |written: &Written| {
                let settings: Vec<(&str, _)> = written.settings.iter().map(|(key, it)| (*key, it.clone())).collect();
                let folder = sources.get(written.model.span.source).and_then(|it| it.path.parent());
                let folder = folder.unwrap_or(Path::new("")).to_owned();
                Ok((describe(&written.model.value, &settings, env)?, folder))
            };
            played.models.iter().map(one).collect()
        };
        for task in &plan.tasks {
            for role in task.judge.iter().flat_map(|it| &it.models) {
                if roles.has(role) {
                    continue;
                }
                let mut played = resolve(role, &|| format!("`{}`", task.id))?;
                match (played.pop(), played.len()) {
                    (Some((model, folder)), 0) => {
                        roles.models.push(RoleModel { role: role.clone(), model, folder, embeds: false });
                    }
                    (_, n) => {
                        let (asker, remedy) = (format!("`{}`", task.id), "a panel names several roles");
                        return Err(ModelError::Several { asker, remedy, role: role.clone(), n: n + 1 });
                    }
                }
            }
        }
        for task in &plan.tasks {
            let Some(role) = task.embedder() else { continue };
            if roles.has(role) {
                let is_other = |it: &RoleModel| it.role == role && !it.embeds;
                if roles.models.iter().any(is_other) {
                    return Err(ModelError::TwoUses { role: role.to_owned() });
                }
                continue;
            }
            let mut played = resolve(role, &|| format!("`{}`", task.id))?;
            match (played.pop(), played.len()) {
                (Some((model, folder)), 0) => {
                    let (role, model) = (role.to_owned(), model.embedding()?);
                    roles.models.push(RoleModel { role, model, folder, embeds: true });
                }
                (_, n) => {
                    let (asker, remedy) = (format!("`{}`", task.id), "name a role with one model");
                    return Err(ModelError::Several { asker, remedy, role: role.to_owned(), n: n + 1 });
                }
            }
        }
        for scenario in &plan.scenarios {
            for node in &scenario.nodes {
                let subject = node.subject.iter();
                let parser = [&node.parser].into_iter().filter(|_| node.needs_parser());
                for role in subject.chain(parser).filter(|it| !(it.as_str() == SUBJECT && node.subject.is_none())) {
                    if roles.has(role) {
                        continue;
                    }
                    let asker = || format!("node `{}` of scenario `{}`", node.id, scenario.scenario.name);
                    let mut played = resolve(role, &asker)?;
                    match (played.pop(), played.len()) {
                        (Some((model, folder)), 0) => {
                            roles.models.push(RoleModel { role: role.clone(), model, folder, embeds: false });
                        }
                        (_, n) => {
                            let remedy = "name a role with one model; where no subject is named, each model of `subject` is asked";
                            return Err(ModelError::Several { asker: asker(), remedy, role: role.clone(), n: n + 1 });
                        }
                    }
                }
            }
        }
        for case in &plan.cases {
            let Some(role) = case.agent.asks().filter(|it| *it != SUBJECT) else { continue };
            if roles.has(role) {
                continue;
            }
            let asker = || format!("agent `{}`", case.agent.name);
            let mut played = resolve(role, &asker)?;
            match (played.pop(), played.len()) {
                (Some((model, folder)), 0) => {
                    roles.models.push(RoleModel { role: role.to_owned(), model, folder, embeds: false });
                }
                (_, n) => {
                    let remedy = "name a role with one model; where `subject` is asked, each of its models is";
                    return Err(ModelError::Several { asker: asker(), remedy, role: role.to_owned(), n: n + 1 });
                }
            }
        }
        let subjects = subject_roles(plan)?;
        for role in &subjects {
            let asker = || match (&plan.ask, plan.scenarios.is_empty()) {
                (Some(_), _) => "`ask`",
                (None, false) => "a scenario",
                (None, true) => "an agent",
            };
            let played = resolve(role, &|| asker().to_owned())?;
            let n = played.len();
            for (ix, (model, folder)) in played.into_iter().enumerate() {
                let key = if n == 1 { (*role).to_owned() } else { format!("{role}#{}", ix + 1) };
                roles.subjects.push(Subject { role: key.clone(), name: model.name.clone() });
                if !roles.has(&key) {
                    roles.models.push(RoleModel { role: key, model, folder, embeds: false });
                }
            }
        }
        if roles.subjects.is_empty() && !(plan.scenarios.is_empty() && plan.cases.is_empty()) {
            // Every node and every agent says whom it asks, or asks nobody.
            roles.subjects.push(Subject { role: SUBJECT.to_owned(), name: String::new() });
        }
        number_equal_names(&mut roles.subjects);
        // A misspelt role would leave a judge with another model than its author thinks.
        let asked: Vec<&str> = asked_roles(plan);
        if let Some((role, _)) = given.iter().find(|(role, _)| !asked.contains(&role.as_str())) {
            let asked = if asked.is_empty() { "nobody".to_owned() } else { listed_all(asked) };
            return Err(ModelError::NobodyAsks { role: role.clone(), asked });
        }
        Ok(roles)
    }

    fn has(&self, role: &str) -> bool {
        self.models.iter().any(|it| it.role == role)
    }

    /// Whether budgets can be kept: a bound needs a price and a most number of tokens.
    pub fn allow(&self, limits: &BudgetLimits) -> Result<(), ModelError> {
        for RoleModel { model, .. } in &self.models {
            let is_local = matches!(model.endpoint.codec.as_str(), "script" | "exec" | CALL);
            // Who gives embeddings writes nothing.
            let has_most = model.endpoint.setting("max_tokens").is_some() || model.embeds();
            let unbounded = |budget, lacks, example| {
                Err(ModelError::Unbounded { budget, model: model.name.clone(), lacks, example })
            };
            if limits.usd.is_some() && model.price.is_none() && !is_local {
                return unbounded("`--budget-usd`", "price", "price: { input: 0.5, output: 2 }");
            }
            if limits.usd.is_some() && !has_most && !is_local {
                return unbounded("`--budget-usd`", "`max_tokens`", "max_tokens: 1000");
            }
            if limits.tokens.is_some() && !has_most && !is_local {
                return unbounded("`--budget-tokens`", "`max_tokens`", "max_tokens: 1000");
            }
        }
        Ok(())
    }
}

pub(crate) fn main_folder(sources: &Sources) -> std::path::PathBuf {
    let main = sources.iter().next().and_then(|(_, it)| it.path.parent());
    main.unwrap_or(Path::new("")).to_owned()
}

/// The roles that make the matrix of subjects: those that `ask` asks, or the one that scenarios talk to.
fn subject_roles(plan: &Plan) -> Result<Vec<&str>, ModelError> {
    let asked: Vec<&str> = plan.ask.iter().flat_map(|it| &it.models).map(String::as_str).collect();
    let talks = plan.scenarios.iter().flat_map(|it| &it.nodes).any(|it| it.subject.is_none())
        || plan.cases.iter().any(|it| it.agent.asks() == Some(SUBJECT));
    match (asked.as_slice(), talks) {
        ([], true) => Ok(vec![SUBJECT]),
        ([_, ..], true) if asked != [SUBJECT] => Err(ModelError::OtherSubjects { asked: listed_all(asked) }),
        _ => Ok(asked),
    }
}

/// The role that scenarios talk to.
const SUBJECT: &str = "subject";

fn asked_roles(plan: &Plan) -> Vec<&str> {
    let judges = plan.tasks.iter().flat_map(|it| &it.judge).flat_map(|it| &it.models);
    let subjects = subject_roles(plan).unwrap_or_default();
    let nodes = plan.scenarios.iter().flat_map(|it| &it.nodes);
    let nodes = nodes.flat_map(|it| it.subject.iter().chain(Some(&it.parser).filter(|_| it.needs_parser())));
    let agents = plan.cases.iter().filter_map(|it| it.agent.asks());
    let embedders = plan.tasks.iter().filter_map(PlannedTask::embedder);
    let others = agents.chain(subjects).chain(embedders);
    let mut roles: Vec<&str> = judges.chain(nodes).map(String::as_str).chain(others).collect();
    roles.sort_unstable();
    roles.dedup();
    roles
}

/// The same model may be a subject twice, with other settings.
fn number_equal_names(subjects: &mut [Subject]) {
    let names: Vec<String> = subjects.iter().map(|it| it.name.clone()).collect();
    for (ix, subject) in subjects.iter_mut().enumerate() {
        let n_before = names[..ix].iter().filter(|it| **it == names[ix]).count();
        if names.iter().filter(|it| **it == names[ix]).count() > 1 {
            subject.name = format!("{} ({})", names[ix], n_before + 1);
        }
    }
}

/// Functions of the program that runs a suite, by the name that definitions have for them: `call/NAME`.
pub type Functions = BTreeMap<String, Arc<dyn Function>>;

/// How functions are asked.
const CALL: &str = "call";

/// Models that can be asked, and what asking them may cost.
#[derive(Debug)]
pub struct Models {
    by_role: BTreeMap<String, Ready>,
    transport: Transport,
    budget: Arc<Budget>,
    tools: Toolbox,
    /// What each server is known by in keys, and whether what its tools return stands for other cases.
    servers: BTreeMap<String, Doer>,
    evaluators: Evaluators,
    agents: Agents,
    /// The proxies of this machine.
    proxies: Proxies,
    /// The interpreter that hooks run in.
    python: std::ffi::OsString,
    /// What starts hooks, and ends them with this process.
    supervisor: Vec<std::ffi::OsString>,
}

#[derive(Debug)]
struct Ready {
    model: Arc<Model>,
    /// What people call it.
    name: String,
    endpoint: Arc<Endpoint>,
    key: EndpointKey,
}

/// A supervisor as a command.
fn words(supervisor: &Supervisor) -> impl Iterator<Item = std::ffi::OsString> {
    let arguments = supervisor.arguments.iter().map(Into::into);
    [supervisor.program.clone().into_os_string()].into_iter().chain(arguments)
}

impl Models {
    /// Makes models ready.
    pub fn open(
        roles: &Roles,
        servers: &[ServerSpec],
        files: &dyn Files,
        env: &dyn Fn(&str) -> Option<String>,
        functions: &Functions,
        options: TransportOptions,
        limits: BudgetLimits,
    ) -> Result<Models, ModelError> {
        roles.allow(&limits)?;
        let mut by_role = BTreeMap::new();
        for RoleModel { role, model, folder, .. } in &roles.models {
            let name = model.name.clone();
            let function = (model.endpoint.codec == CALL).then(|| functions.get(&model.endpoint.model)).flatten();
            let model = match function {
                Some(function) => Model::call(model.clone(), Arc::clone(function)),
                None => Model::open(model.clone(), folder, files, env)?,
            };
            let endpoint = Arc::new(model.endpoint().clone());
            let key = EndpointKey::new(&endpoint);
            by_role.insert(role.clone(), Ready { model: Arc::new(model), name, endpoint, key });
        }
        let tool_options = ToolboxOptions {
            proxies: options.proxies.clone(),
            supervisor: options.supervisor.clone(),
            ..ToolboxOptions::default()
        };
        let tools = Toolbox::open(servers, env, tool_options)?;
        let server =
            |it: &ServerSpec| (it.name.value.clone(), Doer { digest: server_digest(it), is_reusable: it.reuse });
        let servers = servers.iter().map(server).collect();
        let python = hook::interpreter(env);
        let proxies = options.proxies.clone();
        let supervisor = options.supervisor.iter().flat_map(words).collect();
        Ok(Models {
            by_role,
            transport: Transport::new(options),
            budget: Arc::new(Budget::new(limits)),
            tools,
            servers,
            evaluators: Evaluators::default(),
            agents: Agents::default(),
            proxies,
            python,
            supervisor,
        })
    }

    /// With those who run the code of evaluators.
    pub(crate) fn with(self, evaluators: Evaluators) -> Models {
        Models { evaluators, ..self }
    }

    /// With those who run cases.
    pub(crate) fn with_agents(self, agents: Agents) -> Models {
        Models { agents, ..self }
    }

    /// The model that plays a role.
    pub(crate) fn model(&self, role: &str) -> Option<Arc<Model>> {
        self.by_role.get(role).map(|it| Arc::clone(&it.model))
    }

    /// What people call the model that plays a role.
    pub(crate) fn name(&self, role: &str) -> Option<String> {
        self.by_role.get(role).map(|it| it.name.clone())
    }

    /// The proxies of this machine.
    pub(crate) fn proxies(&self) -> &Proxies {
        &self.proxies
    }

    /// What may be spent, and what was.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// What may be spent, for somebody who spends it on a thread of its own.
    pub(crate) fn shared_budget(&self) -> SharedMeter {
        SharedMeter(Arc::new(Purse(Arc::clone(&self.budget))))
    }

    /// What the tokens of a role cost, and how many it may write.
    pub fn price(&self, role: &str) -> (Option<Price>, Option<u64>) {
        let ready = self.by_role.get(role);
        (ready.and_then(|it| it.model.price().copied()), ready.and_then(|it| it.model.max_tokens()))
    }
}

impl Perform for Models {
    fn is_budget_exhausted(&self) -> bool {
        self.budget().is_exhausted()
    }

    fn asked(&self, role: &str) -> Option<Asked<'_>> {
        let Ready { model, endpoint, key, .. } = self.by_role.get(role)?;
        Some(Asked { endpoint, key, is_paid: !model.is_local() })
    }

    fn perform<'p>(&'p self, question: Question<'p>) -> LocalFuture<'p, Outcome> {
        Box::pin(async move {
            let Question { case, task, turn, priority, request, max_requests, stop, sent } = question;
            let Some(Ready { model, .. }) = self.by_role.get(&request.model) else {
                let message = format!("nobody plays `{}`", request.model);
                return Outcome::Fault(Box::new(Fault::new(FaultKind::NoAnswer, message, 0)));
            };
            let allowance = Allowance { budget: &self.budget, stop, sent };
            self.transport.ask(model, Asker { case, task, turn, priority }, request, max_requests, &allowance).await
        })
    }

    fn doer(&self, deed: &Deed) -> Doer {
        let nobody = || Doer { digest: Value::Null, is_reusable: false };
        match deed {
            Deed::CallTool { server, .. } => self.servers.get(server).cloned().unwrap_or_else(nobody),
            // What a server has today is no news tomorrow: it is asked in every run.
            Deed::ListTools { server } => {
                Doer { is_reusable: false, ..self.servers.get(server).cloned().unwrap_or_else(nobody) }
            }
            Deed::Evaluate { source, .. } => self.evaluators.doer(source).cloned().unwrap_or_else(nobody),
            Deed::Run { case, definition, .. } => {
                let role = definition.get("model").and_then(Value::as_str);
                let endpoint = role.and_then(|it| self.by_role.get(it)).map(|it| agents::endpoint_value(&it.endpoint));
                self.agents.doer(case, endpoint).unwrap_or_else(nobody)
            }
            Deed::Call { .. } | Deed::Look { .. } | Deed::Hook { .. } => nobody(),
        }
    }

    fn act<'p>(&'p self, act: Act<'p>) -> LocalFuture<'p, Outcome> {
        Box::pin(async move {
            let Act { deed, callable, tools, surroundings, patience, stop } = act;
            let tools = tools.unwrap_or(&self.tools);
            match deed {
                Deed::ListTools { server } => tools.list(server, patience).await,
                Deed::CallTool { server, tool, arguments } => tools.call(server, tool, arguments, patience).await,
                Deed::Call { name, arguments } => called(name, callable, arguments).await,
                Deed::Evaluate { source, arguments, .. } => self.evaluators.call(source, arguments).await,
                Deed::Look { looks } => looked(looks, surroundings),
                Deed::Run { case, definition, .. } => self.agents.run(self, tools, (case, definition), stop).await,
                Deed::Hook { hook, check_id, description } => {
                    let call = |around: &Surroundings<'_>| HookCall {
                        hook: hook.clone(),
                        artifact: around.evidence.to_json(),
                        check_id: check_id.clone(),
                        description: description.clone(),
                        source: around.source.clone(),
                        python: self.python.clone(),
                        supervisor: self.supervisor.clone(),
                        time_limit: hook::TIME_LIMIT.min(patience),
                    };
                    hooked(surroundings.map(call)).await
                }
            }
        })
    }

    fn own_tools(&self) -> Option<Toolbox> {
        self.tools.has_per_case().then(|| self.tools.fresh())
    }

    fn is_sequential(&self) -> bool {
        self.by_role.values().any(|it| it.model.is_sequential())
    }
}

/// Calls code of the embedding program.
async fn called(name: &str, callable: Option<&Callable>, arguments: &Value) -> Outcome {
    let Some(function) = callable.and_then(|it| it.function.as_ref()) else {
        let message =
            format!("the code `{name}` is not there: a definition keeps its text, and the program must give the rest");
        return Outcome::Fault(Box::new(Fault::new(FaultKind::Tool, message, 0)));
    };
    call_apart(function, arguments).await
}

/// Looks at files.
fn looked(looks: &[Look], surroundings: Option<&Surroundings<'_>>) -> Outcome {
    let Some(around) = surroundings else { return nowhere("files are looked at for checks alone") };
    let started = std::time::Instant::now();
    let value = looks.iter().map(|it| around.memory.look(&around.sight, it)).collect();
    Outcome::Returned(Box::new(Returned {
        value,
        is_error: false,
        printed: Printed::default(),
        latency: started.elapsed(),
        at_ms: crate::now_ms(),
    }))
}

/// Has a hook called, on a thread of its own. Dropping the future ends the interpreter.
async fn hooked(call: Option<HookCall>) -> Outcome {
    struct Ends(Ender);
    impl Drop for Ends {
        fn drop(&mut self) {
            self.0.end();
        }
    }
    let Some(call) = call else { return nowhere("hooks are called for checks alone") };
    let ends = Ends(Ender::new());
    let ender = ends.0.clone();
    let started = std::time::Instant::now();
    let answered = tokio::task::spawn_blocking(move || hook::call(&call, &ender)).await;
    let answered = answered.unwrap_or_else(|_| Err("the hook could not be called".to_owned()));
    let is_error = answered.is_err();
    let value = answered.map_or_else(Value::from, |it| it.to_value());
    Outcome::Returned(Box::new(Returned {
        value,
        is_error,
        printed: Printed::default(),
        latency: started.elapsed(),
        at_ms: crate::now_ms(),
    }))
}

fn nowhere(message: &str) -> Outcome {
    Outcome::Fault(Box::new(Fault::new(FaultKind::Tool, message, 0)))
}

/// What a request may spend, and whether it may still be made.
struct Allowance<'a> {
    budget: &'a Budget,
    stop: &'a Stop,
    sent: &'a (dyn Fn() + Sync),
}

impl Meter for Allowance<'_> {
    fn reserve(&self, bound: &Bound) -> Result<Option<Reservation>, StopReason> {
        reserve(self.budget, bound)
    }

    fn settled(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.budget.settled())
    }

    fn closed(&self) -> Pin<Box<dyn Future<Output = StopReason> + Send + '_>> {
        Box::pin(self.stop.closed())
    }

    fn sending(&self) {
        (self.sent)();
    }

    fn settle(&self, reserved: Reservation, settled: Settled) {
        settle(self.budget, reserved, settled);
    }
}

/// The budget in the hands of somebody who may spend it whatever becomes of the run.
struct Purse(Arc<Budget>);

impl Meter for Purse {
    fn reserve(&self, bound: &Bound) -> Result<Option<Reservation>, StopReason> {
        reserve(&self.0, bound)
    }

    fn settled(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.0.settled())
    }

    fn settle(&self, reserved: Reservation, settled: Settled) {
        settle(&self.0, reserved, settled);
    }
}

fn reserve(budget: &Budget, bound: &Bound) -> Result<Option<Reservation>, StopReason> {
    match budget.reserve(bound.tokens(), bound.usd()) {
        Reserved::Yes(Amount { nano_usd, tokens, .. }) => Ok(Some(Reservation { tokens, nano_usd })),
        Reserved::Wait => Ok(None),
        Reserved::No => Err(StopReason::Budget),
    }
}

fn settle(budget: &Budget, reserved: Reservation, settled: Settled) {
    // A request that was refused, or dropped before it was sent, counts as a call all the same: nobody can say which it was.
    let amount = Amount { nano_usd: reserved.nano_usd, tokens: reserved.tokens, calls: 1 };
    let spent = match settled {
        Settled::Answer { usage, cost_usd } => Spent::Known(usage, cost_usd),
        Settled::Nothing => Spent::Nothing,
        Settled::Unknown => Spent::Unknown,
    };
    budget.settle(amount, spent);
}
