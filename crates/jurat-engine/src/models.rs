//! The models of a suite, ready to be asked.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use jurat_core::effect::{Endpoint, EndpointKey, Fault, FaultKind, Outcome};
use jurat_core::plan::Plan;
use jurat_core::suite::problem::listed_all;
use jurat_core::suite::source::{Files, Sources};
use jurat_core::suite::{Model as Written, Suite};
use jurat_core::verdict::StopReason;
use jurat_model::provider::describe;
use jurat_model::{
    Asker, Bound, Function, Meter, Model, OpenError, Price, Reservation, ResolveError, ResolvedModel, Settled,
    Transport, TransportOptions,
};

use crate::budget::{Amount, Reserved, Spent};
use crate::perform::{Asked, LocalFuture, Perform, Question};
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
    /// The role has several models, and a judge asks one.
    #[error("the role `{role}` has {n} models; a judge asks one, a panel names several roles")]
    Several {
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
                        roles.models.push(RoleModel { role: role.clone(), model, folder });
                    }
                    (_, n) => return Err(ModelError::Several { role: role.clone(), n: n + 1 }),
                }
            }
        }
        for role in plan.ask.iter().flat_map(|it| &it.models) {
            let played = resolve(role, &|| "`ask`".to_owned())?;
            let n = played.len();
            for (ix, (model, folder)) in played.into_iter().enumerate() {
                let key = if n == 1 { role.clone() } else { format!("{role}#{}", ix + 1) };
                roles.subjects.push(Subject { role: key.clone(), name: model.name.clone() });
                if !roles.has(&key) {
                    roles.models.push(RoleModel { role: key, model, folder });
                }
            }
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
            let has_most = model.endpoint.setting("max_tokens").is_some();
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

fn main_folder(sources: &Sources) -> std::path::PathBuf {
    let main = sources.iter().next().and_then(|(_, it)| it.path.parent());
    main.unwrap_or(Path::new("")).to_owned()
}

fn asked_roles(plan: &Plan) -> Vec<&str> {
    let judges = plan.tasks.iter().flat_map(|it| &it.judge).flat_map(|it| &it.models);
    let subjects = plan.ask.iter().flat_map(|it| &it.models);
    let mut roles: Vec<&str> = judges.chain(subjects).map(String::as_str).collect();
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
    budget: Budget,
}

#[derive(Debug)]
struct Ready {
    model: Model,
    endpoint: Arc<Endpoint>,
    key: EndpointKey,
}

impl Models {
    /// Makes models ready.
    pub fn open(
        roles: &Roles,
        files: &dyn Files,
        env: &dyn Fn(&str) -> Option<String>,
        functions: &Functions,
        options: TransportOptions,
        limits: BudgetLimits,
    ) -> Result<Models, ModelError> {
        roles.allow(&limits)?;
        let mut by_role = BTreeMap::new();
        for RoleModel { role, model, folder } in &roles.models {
            let function = (model.endpoint.codec == CALL).then(|| functions.get(&model.endpoint.model)).flatten();
            let model = match function {
                Some(function) => Model::call(model.clone(), Arc::clone(function)),
                None => Model::open(model.clone(), folder, files, env)?,
            };
            let endpoint = Arc::new(model.endpoint().clone());
            let key = EndpointKey::new(&endpoint);
            by_role.insert(role.clone(), Ready { model, endpoint, key });
        }
        Ok(Models { by_role, transport: Transport::new(options), budget: Budget::new(limits) })
    }

    /// What may be spent, and what was.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// What the tokens of a role cost, and how many it may write.
    pub fn price(&self, role: &str) -> (Option<Price>, Option<u64>) {
        let ready = self.by_role.get(role);
        (ready.and_then(|it| it.model.price().copied()), ready.and_then(|it| it.model.max_tokens()))
    }
}

impl Perform for Models {
    fn asked(&self, role: &str) -> Option<Asked<'_>> {
        let Ready { model, endpoint, key } = self.by_role.get(role)?;
        Some(Asked { endpoint, key, is_paid: !model.is_local() })
    }

    fn perform<'p>(&'p self, question: Question<'p>) -> LocalFuture<'p, Outcome> {
        Box::pin(async move {
            let Question { case, task, priority, request, max_requests, stop } = question;
            let Some(Ready { model, .. }) = self.by_role.get(&request.model) else {
                let message = format!("nobody plays `{}`", request.model);
                return Outcome::Fault(Box::new(Fault::new(FaultKind::NoAnswer, message, 0)));
            };
            let allowance = Allowance { budget: &self.budget, stop };
            self.transport.ask(model, Asker { case, task, priority }, request, max_requests, &allowance).await
        })
    }

    fn is_sequential(&self) -> bool {
        self.by_role.values().any(|it| it.model.is_sequential())
    }
}

/// What a request may spend, and whether it may still be made.
struct Allowance<'a> {
    budget: &'a Budget,
    stop: &'a Stop,
}

impl Meter for Allowance<'_> {
    fn reserve(&self, bound: &Bound) -> Result<Option<Reservation>, StopReason> {
        match self.budget.reserve(bound.tokens(), bound.usd()) {
            Reserved::Yes(Amount { nano_usd, tokens, .. }) => Ok(Some(Reservation { tokens, nano_usd })),
            Reserved::Wait => Ok(None),
            Reserved::No => Err(StopReason::Budget),
        }
    }

    fn settled(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.budget.settled())
    }

    fn closed(&self) -> Pin<Box<dyn Future<Output = StopReason> + Send + '_>> {
        Box::pin(self.stop.closed())
    }

    fn settle(&self, reserved: Reservation, settled: Settled) {
        // A request that was refused, or dropped before it was sent, counts as a call all the same: nobody can say which it was.
        let amount = Amount { nano_usd: reserved.nano_usd, tokens: reserved.tokens, calls: 1 };
        let spent = match settled {
            Settled::Answer { usage, cost_usd } => Spent::Known(usage, cost_usd),
            Settled::Nothing => Spent::Nothing,
            Settled::Unknown => Spent::Unknown,
        };
        self.budget.settle(amount, spent);
    }
}
