//! The models of a suite, ready to be asked.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use jurat_core::check::Look;
use jurat_core::effect::{
    Action, Attempt, Endpoint, EndpointKey, Fault, FaultKind, Outcome, PerformerKey, Request, Returned, Role,
};
use jurat_core::scenario::Callable;
use jurat_core::suite::{ServerSpec, server_digest};
use jurat_core::verdict::StopReason;
use jurat_format::source::Files;
use jurat_format::value::{Span, Value};
use jurat_host::hook::{self, Ender, HookCall};
use jurat_model::proxy::SharedMeter;
use jurat_model::{
    Asker, Batches, Bound, Deferred, Function, Meter, Model, OpenError, Proxies, Reservation, Settled, Supervisor,
    Toolbox, Transport, TransportOptions,
};
use jurat_store::journal::is_for_team;

use crate::agents::{self, Agents};
use crate::attachments::attached;
use crate::effects::no_model;
use crate::evaluators::Evaluators;
use crate::host_function::call_apart;
use crate::perform::{ActionContext, Activity, Call, CheckEnvironment, LocalFuture, Perform, Performer};
use crate::roles::{RoleModel, Roles};
use crate::{Budget, Progress, Stop};

/// Options that do not fit the models of a suite.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// A role was given a model, and no task uses it.
    #[error("no task uses the role `{role}`, which `--model` sets; the suite uses {asked}")]
    UnusedRole {
        role: String,
        /// The roles that are asked, in words.
        asked: String,
    },
    /// A budget cannot be enforced.
    #[error(
        "{budget} cannot be enforced: `{model}` has no {lacks}; give it one under `models`, for example \
         `{{ model: {model}, {example} }}`"
    )]
    Unbounded { budget: &'static str, model: String, lacks: &'static str, example: &'static str },
}

/// Functions of the program that runs a suite, by the name that definitions have for them: `call/NAME`.
pub type Functions = BTreeMap<String, Arc<dyn Function>>;

/// How functions are asked.
pub(crate) const CALL: &str = "call";

/// Models that can be asked, and what asking them may cost.
#[derive(Debug)]
pub struct Models {
    by_role: BTreeMap<Role, Ready>,
    transport: Transport,
    /// Where requests that may wait do so; `None` when each is sent by itself.
    batches: Option<Batches>,
    budget: Arc<Budget>,
    tools: Toolbox,
    /// What each server is known by in keys, and whether what its tools return stands for other cases.
    servers: BTreeMap<String, Performer<'static>>,
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
    name: String,
    endpoint: Arc<Endpoint>,
    key: EndpointKey,
}

/// A supervisor as a command.
fn words(supervisor: &Supervisor) -> impl Iterator<Item = std::ffi::OsString> {
    let arguments = supervisor.arguments.iter().map(Into::into);
    [supervisor.program.clone().into_os_string()].into_iter().chain(arguments)
}

/// Models that can be asked, by role.
#[derive(Debug, Default)]
pub(crate) struct OpenModels(BTreeMap<Role, Ready>);

impl OpenModels {
    /// Makes models ready as far as that is possible, and says what is wrong with the others. Scripts are read and keys are taken; nothing is started or
    /// sent.
    pub(crate) fn open(
        roles: &Roles,
        files: &dyn Files,
        env: &dyn Fn(&str) -> Option<String>,
        functions: &Functions,
    ) -> (OpenModels, Vec<(OpenError, Option<Span>)>) {
        let (mut by_role, mut unopened) = (BTreeMap::new(), Vec::new());
        for RoleModel { role, model, folder, place, .. } in &roles.models {
            let name = model.name.clone();
            let function = (model.endpoint.codec == CALL).then(|| functions.get(&model.endpoint.model)).flatten();
            let model = match function {
                Some(function) => Ok(Model::call(model.clone(), Arc::clone(function))),
                None => Model::open(model.clone(), folder, files, env),
            };
            match model {
                Ok(model) => {
                    let endpoint = Arc::new(model.endpoint().clone());
                    let key = EndpointKey::new(&endpoint);
                    by_role.insert(role.clone(), Ready { model: Arc::new(model), name, endpoint, key });
                }
                Err(error) => unopened.push((error, *place)),
            }
        }
        (OpenModels(by_role), unopened)
    }
}

impl Models {
    /// Models, servers and agents that are ready, with what may be spent on them.
    pub(crate) fn new(
        (models, agents, tools): (OpenModels, Agents, Toolbox),
        servers: &[ServerSpec],
        env: &dyn Fn(&str) -> Option<String>,
        options: TransportOptions,
        budget: Arc<Budget>,
    ) -> Models {
        let server = |it: &ServerSpec| (it.name.value.clone(), Performer::of_actions(server_digest(it), it.reuse));
        Models {
            by_role: models.0,
            proxies: options.proxies.clone(),
            supervisor: options.supervisor.iter().flat_map(words).collect(),
            transport: Transport::new(options),
            batches: None,
            budget,
            tools,
            servers: servers.iter().map(server).collect(),
            evaluators: Evaluators::default(),
            agents,
            python: hook::interpreter(env),
        }
    }

    /// With what runs the code of evaluators.
    pub(crate) fn with(self, evaluators: Evaluators) -> Models {
        Models { evaluators, ..self }
    }

    /// With requests that wait for each other, where their models have batches.
    pub(crate) fn in_batches(self, batches: Batches) -> Models {
        Models { batches: Some(batches), ..self }
    }

    /// The names of the models that have batches, and of those that do not.
    pub(crate) fn by_batches(&self) -> (BTreeSet<&str>, BTreeSet<&str>) {
        let names = |has: bool| {
            let models = self.by_role.values().filter(move |it| it.model.has_batches() == has);
            models.map(|it| it.name.as_str()).collect()
        };
        (names(true), names(false))
    }

    /// The names of the models whose answers runs share and the team does not, because they are on this machine and their authors do not say otherwise.
    pub(crate) fn of_this_machine(&self) -> BTreeSet<&str> {
        let is_reused = |it: &&Ready| !it.model.is_local() && !it.model.is_application();
        let is_here = |it: &&Ready| it.endpoint.shared.is_none() && !is_for_team(&it.endpoint.address, None);
        self.by_role.values().filter(is_reused).filter(is_here).map(|it| it.name.as_str()).collect()
    }

    /// The model of a role.
    pub(crate) fn model(&self, role: &Role) -> Option<Arc<Model>> {
        self.by_role.get(role).map(|it| Arc::clone(&it.model))
    }

    /// What people call the model of a role.
    pub(crate) fn name(&self, role: &Role) -> Option<String> {
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

    /// What may be spent, for a proxy that spends it on a thread of its own.
    pub(crate) fn shared_budget(&self) -> SharedMeter {
        SharedMeter(Arc::<Budget>::clone(&self.budget))
    }
}

impl Perform for Models {
    fn exhausted(&self) -> Option<StopReason> {
        self.budget().exhausted()
    }

    fn performer(&self, request: &Request) -> Option<Performer<'_>> {
        match request {
            Request::Model(request) => {
                let Ready { model, endpoint, key, .. } = self.by_role.get(&request.model)?;
                let key = PerformerKey::Endpoint(key);
                // The application that is evaluated changes between runs, and its answers with it.
                let is_shared = !model.is_local() && !model.is_application();
                Some(Performer {
                    key,
                    endpoint: Some(endpoint),
                    is_shared,
                    is_for_team: is_shared && is_for_team(&endpoint.address, endpoint.shared),
                    is_stateful: model.has_sessions(),
                })
            }
            Request::Action(action) => {
                Some(self.performer_of(action).unwrap_or_else(|| Performer::of_actions(Value::Null, false)))
            }
        }
    }

    fn perform<'p>(&'p self, call: Call<'p>) -> LocalFuture<'p, Outcome> {
        match call.request {
            Request::Action(action) => Box::pin(self.act(action, call.context, call.stop)),
            Request::Model(request) => Box::pin(async move {
                let Call { case, task, turn, priority, max_requests, stop, sent, failed, .. } = call;
                let Some(Ready { model, .. }) = self.by_role.get(&request.model) else {
                    return no_model(call.request);
                };
                let allowance = Allowance { budget: &self.budget, stop, sent, failed };
                if let (Some(batches), Some(key), true) = (&self.batches, call.key, model.has_batches()) {
                    let asked = Deferred { key, not_before_ms: call.not_before_ms, request, max_requests };
                    return batches.ask(&self.transport, model, asked, &allowance).await;
                }
                self.transport.ask(model, Asker { case, task, turn, priority }, request, max_requests, &allowance).await
            }),
        }
    }

    fn own_tools(&self) -> Option<Toolbox> {
        self.tools.has_per_case().then(|| self.tools.fresh())
    }

    fn is_sequential(&self) -> bool {
        self.by_role.values().any(|it| it.model.is_sequential())
    }

    fn most_open(&self) -> Option<usize> {
        self.batches.as_ref().map(Batches::most_requests)
    }

    fn attend<'p>(&'p self, activity: &'p Activity, progress: &'p Progress) -> LocalFuture<'p, ()> {
        let Some(batches) = &self.batches else { return Box::pin(std::future::pending()) };
        Box::pin(async move {
            let is_idle = |n_waiting| activity.is_idle(n_waiting);
            batches.attend(&self.transport, &is_idle, &|it| progress.set_batches(it)).await;
        })
    }

    fn finish(&self) {
        self.batches.iter().for_each(Batches::forget_collected);
    }
}

impl Models {
    /// What performs an action: a server, an evaluator or an agent; `None` for what this process does itself.
    fn performer_of(&self, action: &Action) -> Option<Performer<'_>> {
        match action {
            Action::CallTool { server, .. } => self.servers.get(server).cloned(),
            // The tools of a server may change: it lists them in every run.
            Action::ListTools { server } => {
                self.servers.get(server).map(|it| Performer { is_shared: false, ..it.clone() })
            }
            Action::Evaluate { source, .. } => self.evaluators.performer(source).cloned(),
            Action::Run { case, model, .. } => {
                let endpoint = model.as_ref().and_then(|it| self.by_role.get(it)).map(|it| &it.endpoint);
                let performer =
                    self.agents.performer(case, endpoint.map(|it| agents::endpoint_value(it)), &self.servers)?;
                Some(Performer { endpoint, ..performer })
            }
            Action::Call { .. } | Action::Look { .. } | Action::Attach { .. } | Action::Hook { .. } => None,
        }
    }

    async fn act(&self, action: &Action, context: &ActionContext<'_>, stop: &Stop) -> Outcome {
        let ActionContext { callable, tools, check, attachments, timeout } = context;
        let (tools, timeout) = (tools.unwrap_or(&self.tools), *timeout);
        match action {
            Action::ListTools { server } => tools.list(server, timeout).await,
            Action::CallTool { server, tool, arguments } => tools.call(server, tool, arguments, timeout).await,
            Action::Call { name, arguments } => called(name, *callable, arguments).await,
            Action::Evaluate { source, arguments, .. } => self.evaluators.call(source, arguments).await,
            Action::Look { looks } => looked(looks, check.as_ref()),
            Action::Attach { files } => match attachments {
                Some(attachments) => attached(files, attachments),
                None => nowhere("files are read for cases alone"),
            },
            Action::Run { case, model, replicate, .. } => {
                let request = agents::Request { model: model.clone(), replicate: *replicate };
                self.agents.run(self, tools, (case, request), stop).await
            }
            Action::Hook { hook, check_id, description } => {
                let call = |check: &CheckEnvironment<'_>| HookCall {
                    hook: hook.clone(),
                    artifact: check.evidence.to_json(),
                    check_id: check_id.clone(),
                    description: description.clone(),
                    source: check.source.clone(),
                    python: self.python.clone(),
                    supervisor: self.supervisor.clone(),
                    time_limit: hook::TIME_LIMIT.min(timeout),
                };
                hooked(check.as_ref().map(call)).await
            }
        }
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

fn looked(looks: &[Look], check: Option<&CheckEnvironment<'_>>) -> Outcome {
    let Some(check) = check else { return nowhere("files are looked at for checks alone") };
    let started = std::time::Instant::now();
    let value = looks.iter().map(|it| check.memory.look(&check.host_files, it)).collect();
    Outcome::Returned(Box::new(Returned::new(value, false, started.elapsed(), crate::now_ms())))
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
    Outcome::Returned(Box::new(Returned::new(value, is_error, started.elapsed(), crate::now_ms())))
}

fn nowhere(message: &str) -> Outcome {
    Outcome::Fault(Box::new(Fault::new(FaultKind::Tool, message, 0)))
}

/// What a request may spend, and whether it may still be made.
struct Allowance<'a> {
    budget: &'a Budget,
    stop: &'a Stop,
    sent: &'a (dyn Fn() + Sync),
    failed: &'a (dyn Fn(&Attempt) + Sync),
}

impl Meter for Allowance<'_> {
    fn reserve(&self, bound: &Bound) -> Result<Option<Reservation>, StopReason> {
        Meter::reserve(self.budget, bound)
    }

    fn settled(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Meter::settled(self.budget)
    }

    fn closed(&self) -> Pin<Box<dyn Future<Output = StopReason> + Send + '_>> {
        Box::pin(self.stop.closed())
    }

    fn sending(&self) {
        (self.sent)();
    }

    fn failed(&self, attempt: &Attempt) {
        self.budget.note_failure(attempt.kind);
        (self.failed)(attempt);
    }

    fn settle(&self, reserved: Reservation, settled: Settled) {
        Meter::settle(self.budget, reserved, settled);
    }
}
