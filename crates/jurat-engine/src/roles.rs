//! Which models a plan asks, before they are made ready: who has each role, found out from the definition, `--model` and variables.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use jurat_core::effect::{Endpoint, Role};
use jurat_core::model::ModelSettings;
use jurat_core::plan::{Plan, PlannedTask};
use jurat_core::suite::{self, Model as Written, Suite};
use jurat_format::codes;
use jurat_format::problem::{Problem, listed_all, nearest};
use jurat_format::source::Sources;
use jurat_format::value::Span;
use jurat_model::provider::describe;
use jurat_model::{ResolveError, ResolvedModel};

use crate::allowance::{BadShare, Share};
use crate::model_problems::{MOST_PROBLEMS, no_model, placed, resolve_problem};
use crate::{BudgetLimits, Subject};

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

/// How functions are asked.
pub(crate) const CALL: &str = "call";

/// A model that is asked, before it is made ready.
#[derive(Debug, Clone)]
pub struct RoleModel {
    pub role: Role,
    /// The model, as it was written.
    pub model: ResolvedModel,
    /// The folder that scripts and programs are looked for in.
    pub(crate) folder: PathBuf,
    /// Whether it is asked for embeddings.
    pub(crate) embeds: bool,
    /// Where the definition names it.
    pub(crate) place: Option<Span>,
}

/// The models that a plan asks.
#[derive(Debug, Clone, Default)]
pub struct Roles {
    /// All of them, judges and subjects.
    pub models: Vec<RoleModel>,
    /// The models that are asked about each row.
    pub subjects: Vec<Subject>,
}

impl Roles {
    /// The models that a plan asks. `given` are `role=provider/model` from the command line, relative to the current directory; models of the suite are relative
    /// to the file that names them.
    /// What is wrong with one that cannot be asked is returned beside them.
    pub(crate) fn resolve(
        plan: &Plan,
        suite: &Suite,
        sources: &Sources,
        given: &[(String, String)],
        env: &dyn Fn(&str) -> Option<String>,
        env_files: &[PathBuf],
    ) -> (Roles, Vec<Problem>) {
        let mut resolving = Resolving {
            suite,
            sources,
            given,
            env,
            env_files,
            defined: suite.models.iter().rev().map(|it| (it.name.value.as_str(), it)).collect(),
            known: HashSet::new(),
            roles: Roles::default(),
            problems: Vec::new(),
        };
        resolving.judges(plan);
        resolving.embedders(plan);
        resolving.nodes(plan);
        resolving.agents(plan);
        resolving.subjects(plan);
        (resolving.roles, resolving.problems)
    }

    /// The model that a role has, when an endpoint was asked for another one. What is not asked over HTTP stands for any model.
    pub(crate) fn other_model(&self, role: &Role, asked: &Endpoint) -> Option<&str> {
        let own = &self.models.iter().find(|it| it.role == *role)?.model.endpoint;
        let is_http = |it: &Endpoint| it.address.starts_with("http");
        (is_http(own) && is_http(asked) && own.model != asked.model).then_some(own.model.as_str())
    }

    /// Whether something asks each role that `--model` gives a model. A misspelt one would leave a judge with another model than its author thinks.
    pub(crate) fn are_asked(plan: &Plan, given: &[(String, String)]) -> Result<(), ModelError> {
        let asked: Vec<&str> = asked_roles(plan);
        let Some((role, _)) = given.iter().find(|(role, _)| !asked.contains(&role.as_str())) else { return Ok(()) };
        let near = nearest(role, asked.iter().copied()).map(|it| format!("; did you mean `{it}`?"));
        let asked = if asked.is_empty() { "none".to_owned() } else { listed_all(asked) };
        Err(ModelError::UnusedRole { role: role.clone(), asked: format!("{asked}{}", near.unwrap_or_default()) })
    }

    /// Whether every rate leaves something for a process that has a share.
    pub(crate) fn check_rates(&self, share: Share) -> Result<(), BadShare> {
        for RoleModel { model, .. } in &self.models {
            model.rpm.map(|it| share.of("`rpm`", it)).transpose()?;
            model.tpm.map(|it| share.of("`tpm`", it)).transpose()?;
        }
        Ok(())
    }

    /// Gives models the part of their rates that a process has.
    pub(crate) fn divide_rates(&mut self, share: Share) {
        let part = |rate: Option<u64>| rate.map(|it| share.of("", it).unwrap_or(1));
        for RoleModel { model, .. } in &mut self.models {
            (model.rpm, model.tpm) = (part(model.rpm), part(model.tpm));
        }
    }

    /// Whether budgets can be enforced: a bound needs a price and a most number of tokens.
    pub fn allow(&self, limits: &BudgetLimits) -> Result<(), ModelError> {
        for RoleModel { model, .. } in &self.models {
            let is_local = matches!(model.endpoint.codec.as_str(), "script" | "exec" | CALL);
            // An embedding has no output tokens.
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

/// Roles that are being looked up.
struct Resolving<'r> {
    suite: &'r Suite,
    sources: &'r Sources,
    given: &'r [(String, String)],
    env: &'r dyn Fn(&str) -> Option<String>,
    /// Where files with variables were looked for.
    env_files: &'r [PathBuf],
    /// The roles of the suite by their names; the first of a name counts.
    defined: HashMap<&'r str, &'r suite::Role>,
    /// The roles that were looked up.
    known: HashSet<Role>,
    roles: Roles,
    problems: Vec<Problem>,
}

/// What asks a role: in words, and where it stands.
struct Asker {
    words: String,
    place: Option<Span>,
}

/// A model that was found for a role.
struct Found {
    model: ResolvedModel,
    folder: PathBuf,
    place: Option<Span>,
}

impl Resolving<'_> {
    fn judges(&mut self, plan: &Plan) {
        for task in &plan.tasks {
            for role in task.work.judge().into_iter().flat_map(|it| &it.models) {
                self.one(role.name(), &self.task(task), "a panel names several roles");
            }
            self.soft_score(task);
        }
    }

    /// Notes judges whose soft score needs what a provider does not have.
    fn soft_score(&mut self, task: &PlannedTask) {
        let Some(judge) = task.work.judge().filter(|it| it.soft.is_some()) else { return };
        for model in self.roles.models.iter().filter(|it| judge.models.contains(&it.role)) {
            let Err(reason) = model.model.check_logprobs() else { continue };
            let name = &model.model.name;
            let message = format!("`{}` computes a soft score, which `{name}` cannot give: {reason}", task.id);
            let written = self.suite.tasks.iter().find(|it| it.id.value == task.id).map(|it| &it.kind);
            let soft = written.and_then(|it| if let suite::TaskKind::Judge(it) = it { it.soft.as_ref() } else { None });
            let problem = Problem::new(&codes::BAD_MODEL, message);
            self.problems.push(placed(problem, self.suite, soft.map(|it| it.span).or(model.place), "needs logprobs"));
        }
    }

    fn embedders(&mut self, plan: &Plan) {
        for task in &plan.tasks {
            let Some(role) = task.work.embedder() else { continue };
            if self.roles.models.iter().any(|it| it.role == Role::from(role) && !it.embeds) {
                let message = format!("`{role}` is used for judging and for embeddings; use two roles, one for each");
                self.bad_model(message, place_of(self.suite, role));
                continue;
            }
            if !self.known.insert(role.into()) {
                continue;
            }
            let found = self.only(role, &self.task(task), "name a role with one model");
            let Some(Found { model, folder, place }) = found else { continue };
            match model.embedding() {
                Ok(model) => {
                    self.roles.models.push(RoleModel { role: role.into(), model, folder, embeds: true, place });
                }
                Err(error) => self.unresolved(&error, place),
            }
        }
    }

    fn nodes(&mut self, plan: &Plan) {
        for scenario in plan.all_scenarios() {
            for node in &scenario.nodes {
                let subject = node.subject.iter();
                let parser = [&node.parser].into_iter().filter(|_| node.needs_parser());
                for role in subject.chain(parser).filter(|it| !(it.as_str() == SUBJECT && node.subject.is_none())) {
                    let name = &scenario.scenario.name;
                    let written = self.suite.scenarios.iter().find(|it| it.name.value == *name);
                    let place = written.map(|it| it.name.span);
                    let asker = Asker { words: format!("node `{}` of scenario `{name}`", node.id), place };
                    let remedy =
                        "name a role with one model; where no subject is named, each model of `subject` is asked";
                    self.one(role, &asker, remedy);
                }
            }
        }
    }

    fn agents(&mut self, plan: &Plan) {
        for case in &plan.cases {
            let Some(role) = case.agent.asks().filter(|it| *it != SUBJECT) else { continue };
            let written = self.suite.agents.iter().find(|it| it.agent.name == case.agent.name);
            let asker = Asker { words: format!("agent `{}`", case.agent.name), place: written.map(|it| it.name.span) };
            self.one(role, &asker, "name a role with one model; where `subject` is asked, each of its models is");
        }
    }

    /// The models that make the matrix.
    fn subjects(&mut self, plan: &Plan) {
        let roles = match subject_roles(plan) {
            Ok(roles) => roles,
            Err(message) => {
                let place = self.suite.ask.as_ref().and_then(|it| it.models.first()).map(|it| it.span);
                return self.bad_model(message, place);
            }
        };
        for role in &roles {
            let found = self.found(role, &self.subject_asker());
            let n = found.len();
            for (ix, Found { model, folder, place }) in found.into_iter().enumerate() {
                let key = if n == 1 { Role::from(*role) } else { Role::nth(*role, ix) };
                // A role that the author named is better known than its model.
                let name = if n == 1 && *role != SUBJECT { (*role).to_owned() } else { model.name.clone() };
                self.roles.subjects.push(Subject { role: key.clone(), name });
                if self.known.insert(key.clone()) {
                    self.roles.models.push(RoleModel { role: key, model, folder, embeds: false, place });
                }
            }
        }
        if roles.is_empty() && plan.asks_subjects() {
            // Every node and every agent names its model, or asks none.
            self.roles.subjects.push(Subject { role: Role::SUBJECT, name: String::new() });
        }
        number_equal_names(&mut self.roles.subjects);
    }

    fn task(&self, task: &PlannedTask) -> Asker {
        let written = self.suite.tasks.iter().find(|it| it.id.value == task.id);
        Asker { words: format!("`{}`", task.id), place: written.map(|it| it.id.span) }
    }

    fn subject_asker(&self) -> Asker {
        let suite = self.suite;
        let (words, place) = match (&suite.ask, suite.scenarios.is_empty()) {
            (Some(ask), _) => ("`ask`", Some(ask.span)),
            (None, false) => ("a scenario", suite.scenarios.first().map(|it| it.name.span)),
            (None, true) => ("an agent", suite.agents.first().map(|it| it.name.span)),
        };
        Asker { words: words.to_owned(), place }
    }

    /// Adds a role that has one model.
    fn one(&mut self, role: &str, asker: &Asker, remedy: &'static str) {
        if !self.known.insert(role.into()) {
            return;
        }
        if let Some(Found { model, folder, place }) = self.only(role, asker, remedy) {
            self.roles.models.push(RoleModel { role: role.into(), model, folder, embeds: false, place });
        }
    }

    /// The only model of a role.
    fn only(&mut self, role: &str, asker: &Asker, remedy: &'static str) -> Option<Found> {
        let mut found = self.found(role, asker);
        if found.len() > 1 {
            let message = format!("the role `{role}` has {} models, and {} asks one", found.len(), asker.words);
            let problem = Problem::new(&codes::SEVERAL_MODELS, message);
            let place = self.defined.get(role).map(|it| it.name.span);
            self.problems.push(placed(problem, self.suite, place, "several models").help(remedy));
            return None;
        }
        found.pop()
    }

    /// The models of a role. What is wrong with one is noted.
    fn found(&mut self, role: &str, asker: &Asker) -> Vec<Found> {
        if let Some((_, spec)) = self.given.iter().find(|(name, _)| name == role) {
            return self.described(spec, &ModelSettings::default(), PathBuf::new(), None).into_iter().collect();
        }
        if role.contains('/') {
            let place = place_of(self.suite, role);
            return self
                .described(role, &ModelSettings::default(), main_folder(self.sources), place)
                .into_iter()
                .collect();
        }
        let Some(written) = self.defined.get(role).copied() else {
            let place = place_of(self.suite, role).or(asker.place);
            self.problems.push(no_model(self.suite, &asker.words, role, place));
            return Vec::new();
        };
        written.models.iter().filter_map(|it| self.written(it)).collect()
    }

    fn written(&mut self, written: &Written) -> Option<Found> {
        let folder = self.sources.get(written.model.span.source).and_then(|it| it.path.parent());
        let folder = folder.unwrap_or(Path::new("")).to_owned();
        self.described(&written.model.value, &written.settings, folder, Some(written.model.span))
    }

    fn described(
        &mut self,
        spec: &str,
        settings: &ModelSettings,
        folder: PathBuf,
        place: Option<Span>,
    ) -> Option<Found> {
        match describe(spec, settings, self.env) {
            Ok(model) => Some(Found { model: model.with_prices(self.suite.prices.as_ref()), folder, place }),
            Err(error) => {
                self.unresolved(&error, place);
                None
            }
        }
    }

    /// Notes a model that cannot be known. A suite may have thousands of them, and looking for their places takes time.
    fn unresolved(&mut self, error: &ResolveError, place: Option<Span>) {
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(resolve_problem(self.suite, error, place, self.env_files));
        }
    }

    fn bad_model(&mut self, message: String, place: Option<Span>) {
        let problem = Problem::new(&codes::BAD_MODEL, message);
        self.problems.push(placed(problem, self.suite, place, "named here"));
    }
}

/// Where a role, or a model without one, is named by what asks it.
fn place_of(suite: &Suite, role: &str) -> Option<Span> {
    let is_it = |it: &&jurat_format::value::Spanned<String>| it.value == role;
    let judges = suite.tasks.iter().filter_map(|it| match &it.kind {
        jurat_core::suite::TaskKind::Judge(judge) => Some(judge),
        _ => None,
    });
    let of_judges = judges.flat_map(|it| it.model.iter().chain(&it.panel));
    let of_ask = suite.ask.iter().flat_map(|it| &it.models);
    let of_agents = suite.agents.iter().filter_map(|it| it.model.as_ref());
    of_judges.chain(of_ask).chain(of_agents).find(is_it).map(|it| it.span)
}

pub(crate) fn main_folder(sources: &Sources) -> PathBuf {
    let main = sources.iter().next().and_then(|(_, it)| it.path.parent());
    main.unwrap_or(Path::new("")).to_owned()
}

/// The roles that make the matrix of subjects: those that `ask` asks, or the one that scenarios talk to.
fn subject_roles(plan: &Plan) -> Result<Vec<&str>, String> {
    let asked: Vec<&str> = plan.ask.iter().flat_map(|it| &it.models).map(String::as_str).collect();
    let talks = plan.all_scenarios().flat_map(|it| &it.nodes).any(|it| it.subject.is_none())
        || plan.cases.iter().any(|it| it.agent.asks() == Some(SUBJECT));
    match (asked.as_slice(), talks) {
        ([], true) => Ok(vec![SUBJECT]),
        ([_, ..], true) if asked != [SUBJECT] => Err(format!(
            "scenarios and agents talk to the role `subject`, and `ask` asks {}; let `ask` ask `subject`, or make two suites of them",
            listed_all(asked)
        )),
        _ => Ok(asked),
    }
}

/// The role that scenarios talk to.
const SUBJECT: &str = "subject";

fn asked_roles(plan: &Plan) -> Vec<&str> {
    let judges = plan.tasks.iter().filter_map(|it| it.work.judge()).flat_map(|it| &it.models).map(Role::name);
    let subjects = subject_roles(plan).unwrap_or_default();
    let nodes = plan.all_scenarios().flat_map(|it| &it.nodes);
    let nodes = nodes.flat_map(|it| it.subject.iter().chain(Some(&it.parser).filter(|_| it.needs_parser())));
    let agents = plan.cases.iter().filter_map(|it| it.agent.asks());
    let embedders = plan.tasks.iter().filter_map(|it| it.work.embedder());
    let others = agents.chain(subjects).chain(embedders);
    let mut roles: Vec<&str> = nodes.map(String::as_str).chain(judges).chain(others).collect();
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
