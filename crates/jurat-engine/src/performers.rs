//! What performs the requests of a suite: its models, servers, evaluators and agents, and this process.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;

use jurat_core::check::Look;
use jurat_core::effect::{Action, Fault, FaultKind, Outcome, Request, Returned};
use jurat_core::scenario::Callable;
use jurat_core::suite::{ServerSpec, server_digest};
use jurat_core::verdict::StopReason;
use jurat_format::value::Value;
use jurat_host::hook::{self, Ender, HookCall};
use jurat_model::{Supervisor, Toolbox, TransportOptions};

use crate::agents::{self, Agents};
use crate::attachments::attached;
use crate::evaluators::Evaluators;
use crate::host_function::call_apart;
use crate::models::{Models, OpenModels};
use crate::perform::{ActionContext, Activity, Call, CheckEnvironment, LocalFuture, Perform, Performer};
use crate::{Budget, Progress, Stop};

/// What performs the requests of a suite.
#[derive(Debug)]
pub(crate) struct Performers {
    pub(crate) models: Models,
    tools: Toolbox,
    /// What each server is known by in keys, and whether what its tools return stands for other cases.
    servers: BTreeMap<String, Performer<'static>>,
    evaluators: Evaluators,
    agents: Agents,
    /// The interpreter that hooks run in.
    python: OsString,
    /// What starts hooks, and ends them with this process.
    supervisor: Vec<OsString>,
}

/// A supervisor as a command.
fn words(supervisor: &Supervisor) -> impl Iterator<Item = OsString> {
    let arguments = supervisor.arguments.iter().map(Into::into);
    [supervisor.program.clone().into_os_string()].into_iter().chain(arguments)
}

impl Performers {
    /// Models, servers and agents that are ready, with what may be spent on them.
    pub(crate) fn new(
        (models, agents, tools): (OpenModels, Agents, Toolbox),
        servers: &[ServerSpec],
        env: &dyn Fn(&str) -> Option<String>,
        options: TransportOptions,
        budget: Arc<Budget>,
    ) -> Performers {
        let server = |it: &ServerSpec| (it.name.value.clone(), Performer::of_actions(server_digest(it), it.reuse));
        Performers {
            supervisor: options.supervisor.iter().flat_map(words).collect(),
            models: Models::new(models, options, budget),
            tools,
            servers: servers.iter().map(server).collect(),
            evaluators: Evaluators::default(),
            agents,
            python: hook::interpreter(env),
        }
    }

    /// With what runs the code of evaluators.
    pub(crate) fn with(self, evaluators: Evaluators) -> Performers {
        Performers { evaluators, ..self }
    }
}

impl Perform for Performers {
    fn exhausted(&self) -> Option<StopReason> {
        self.models.budget().exhausted()
    }

    fn performer(&self, request: &Request) -> Option<Performer<'_>> {
        match request {
            Request::Model(request) => self.models.performer(request),
            Request::Action(action) => {
                Some(self.performer_of(action).unwrap_or_else(|| Performer::of_actions(Value::Null, false)))
            }
        }
    }

    fn perform<'p>(&'p self, call: Call<'p>) -> LocalFuture<'p, Outcome> {
        match call.request {
            Request::Action(action) => Box::pin(self.act(action, call.context, call.stop)),
            Request::Model(request) => Box::pin(self.models.ask(request, call)),
        }
    }

    fn own_tools(&self) -> Option<Toolbox> {
        self.tools.has_per_case().then(|| self.tools.fresh())
    }

    fn is_sequential(&self) -> bool {
        self.models.is_sequential()
    }

    fn most_open(&self) -> Option<usize> {
        self.models.most_open()
    }

    fn attend<'p>(&'p self, activity: &'p Activity, progress: &'p Progress) -> LocalFuture<'p, ()> {
        Box::pin(self.models.attend(activity, progress))
    }

    fn finish(&self) {
        self.models.finish();
    }
}

impl Performers {
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
                let endpoint = model.as_ref().and_then(|it| self.models.endpoint(it));
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
                self.agents.run(&self.models, tools, (case, request), stop).await
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
