//! The models of a suite, ready to be asked.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use jurat_core::effect::{Attempt, Endpoint, EndpointKey, ModelRequest, Outcome, PerformerKey, Role};
use jurat_core::verdict::StopReason;
use jurat_format::source::Files;
use jurat_format::value::Span;
use jurat_model::proxy::SharedMeter;
use jurat_model::{
    Asker, Batches, Bound, Deferred, Function, Meter, Model, OpenError, Proxies, Reservation, Settled, Transport,
    TransportOptions,
};
use jurat_store::journal::is_for_team;

use crate::effects::no_model;
use crate::perform::{Activity, Call, Performer};
use crate::roles::{CALL, RoleModel, Roles};
use crate::{Budget, Progress, Stop};

/// Functions of the program that runs a suite, by the name that definitions have for them: `call/NAME`.
pub type Functions = BTreeMap<String, Arc<dyn Function>>;

/// Models that can be asked, and what asking them may cost.
#[derive(Debug)]
pub(crate) struct Models {
    by_role: BTreeMap<Role, Ready>,
    transport: Transport,
    /// Where requests that may wait do so; `None` when each is sent by itself.
    batches: Option<Batches>,
    budget: Arc<Budget>,
    /// The proxies of this machine.
    proxies: Proxies,
}

#[derive(Debug)]
struct Ready {
    model: Arc<Model>,
    name: String,
    endpoint: Arc<Endpoint>,
    key: EndpointKey,
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
    /// Models that are ready, with what may be spent on them.
    pub(crate) fn new(models: OpenModels, options: TransportOptions, budget: Arc<Budget>) -> Models {
        let (by_role, proxies) = (models.0, options.proxies.clone());
        Models { by_role, transport: Transport::new(options), batches: None, budget, proxies }
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

    /// Where a role is asked.
    pub(crate) fn endpoint(&self, role: &Role) -> Option<&Arc<Endpoint>> {
        self.by_role.get(role).map(|it| &it.endpoint)
    }

    /// The proxies of this machine.
    pub(crate) fn proxies(&self) -> &Proxies {
        &self.proxies
    }

    /// What may be spent, and what was.
    pub(crate) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// What may be spent, for a proxy that spends it on a thread of its own.
    pub(crate) fn shared_budget(&self) -> SharedMeter {
        SharedMeter(Arc::<Budget>::clone(&self.budget))
    }

    /// What answers a request to a model.
    pub(crate) fn performer(&self, request: &ModelRequest) -> Option<Performer<'_>> {
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

    /// Asks a model.
    pub(crate) async fn ask(&self, request: &ModelRequest, call: Call<'_>) -> Outcome {
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
    }

    /// Whether a model answers one request at a time.
    pub(crate) fn is_sequential(&self) -> bool {
        self.by_role.values().any(|it| it.model.is_sequential())
    }

    /// How many requests wait for each other at most; `None` when none does.
    pub(crate) fn most_open(&self) -> Option<usize> {
        self.batches.as_ref().map(Batches::most_requests)
    }

    /// Submits batches when nothing else can come, and fetches their results, until it is dropped.
    pub(crate) async fn attend(&self, activity: &Activity, progress: &Progress) {
        let Some(batches) = &self.batches else { return std::future::pending().await };
        let is_idle = |n_waiting| activity.is_idle(n_waiting);
        batches.attend(&self.transport, &is_idle, &|it| progress.set_batches(it)).await;
    }

    /// Forgets batches whose results are stored.
    pub(crate) fn finish(&self) {
        self.batches.iter().for_each(Batches::forget_collected);
    }
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
