//! What a run would do, before it does it.
//!
//! [`outline`] is the plan as people read it: stages, who is asked, how often at most. [`forecast`] goes through the data as well: it counts
//! cases, binds prompts, and follows the answers that the journal has as deep as they go, to say what is left to ask and what that costs
//! at most. Nothing is asked, no key is needed, nothing is written, and memory holds one chunk of rows.

mod bound;
mod outline;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use jurat_core::case::{Case, CaseState, ReadyRequest, Room};
use jurat_core::effect::wire::read_outcome;
use jurat_core::effect::{ModelRequest, Outcome, PerformerKey, Request, Role, Step};
use jurat_core::plan::{CaseLayout, CaseSource, Plan, PlannedAsk, PlannedJudge, TaskIx, Work};
use jurat_core::report::plan::{CostBound, PlanReport};
use jurat_core::scenario::CompiledScenario;
use jurat_core::suite::RowSource;
use jurat_format::problem::Problem;
use jurat_store::journal::Journal;
use jurat_store::records::RowAt;

use crate::case_source::DefinedCases;
use crate::drive::{Moment, Outcomes, Until, drive_now};
use crate::record_lane::owned;
use crate::requirements::require_roles;
use crate::rows::{Rows, id_text};
use crate::scenario_calls::{judges_of_scenario, most_calls};
use crate::variants::{Asked, variants_of};
use crate::{Definition, LaunchError, Roles, RunError, Selection, Stop};

use bound::{Bounds, Player};
use outline::outlined;

/// How a run would be asked for.
#[derive(Clone, Copy)]
pub struct Asking<'a> {
    /// The model of a role, as the command line has it.
    pub models: &'a [(String, String)],
    pub selection: &'a Selection,
    /// How often each subject is asked.
    pub repeat: u32,
    /// Whether requests are sent in batches where the provider has them, at half the price.
    pub batch: bool,
    /// Variables, for addresses; keys are not looked at.
    pub env: &'a dyn Fn(&str) -> Option<String>,
}

/// The plan of a definition, without a look at its data.
pub fn outline(definition: Definition<'_>, asking: Asking<'_>) -> Result<PlanReport, LaunchError> {
    Ok(outlined(definition, &roles(definition, asking)?))
}

/// The plan of a definition, with its cases counted and what the journal has.
pub fn forecast(
    definition: Definition<'_>,
    asking: Asking<'_>,
    journal: Option<&Journal>,
) -> Result<PlanReport, LaunchError> {
    let roles = roles(definition, asking)?;
    let report = outlined(definition, &roles);
    let Definition { suite, plan, .. } = definition;
    if let Some(stream) = suite.records.iter().find(|it| it.from.is_stream()) {
        let from = if stream.from == RowSource::Program { "from the program" } else { "on standard input" };
        let why = format!("how many rows come {from} is not known");
        return Ok(PlanReport { cost: CostBound::Unknown(vec![why]), ..report });
    }
    let (_, asked) = variants_of(plan, &roles.subjects, asking.repeat);
    let (rows, layout) = (Rows::of(&suite.records), plan.layout(asked.len()));
    let is_cached = plan.has_prompt_cache();
    let mut forecast = Forecast {
        plan,
        rows: &rows,
        players: roles.models.iter().map(|it| (&it.role, Player::of(&it.model, asking.batch, is_cached))).collect(),
        layout,
        asked: &asked,
        journal,
        n_rows: 0,
        n_defined_cases: 0,
        calls: 0,
        calls_left: 0,
        in_journal: 0,
        bounds: Bounds::new(plan),
    };
    forecast.read(asking.selection)?;
    let n_of_row = layout.n_cases(layout.of_row(0)) as u64;
    Ok(PlanReport {
        cases: Some(forecast.n_defined_cases + forecast.n_rows * n_of_row),
        calls: Some(forecast.calls),
        in_journal: Some(forecast.in_journal),
        calls_left: Some(forecast.calls_left),
        cost: match plan.cases.is_empty() {
            true => forecast.bounds.cost(),
            false => CostBound::Unknown(vec!["what agents will ask of their models is not known".to_owned()]),
        },
        ..report
    })
}

fn roles(definition: Definition<'_>, asking: Asking<'_>) -> Result<Roles, LaunchError> {
    let plan = definition.plan;
    if asking.repeat > 1 && !plan.asks_subjects() {
        return Err(LaunchError::NothingToRepeat);
    }
    Roles::are_asked(plan, asking.models)?;
    require_roles(definition, asking.models, asking.env)
        .map_err(|it| LaunchError::Unready(it.into_iter().map(Problem::as_error).collect()))
}

/// A forecast in progress.
struct Forecast<'f> {
    plan: &'f Plan,
    rows: &'f Rows<'f>,
    players: BTreeMap<&'f Role, Player<'f>>,
    layout: CaseLayout,
    /// What each row is made into; nothing when a row is one case.
    asked: &'f [Asked],
    journal: Option<&'f Journal>,
    n_rows: u64,
    n_defined_cases: u64,
    /// Calls at most, with an empty journal.
    calls: u64,
    /// Calls at most, with what the journal has.
    calls_left: u64,
    in_journal: u64,
    bounds: Bounds<'f>,
}

impl Forecast<'_> {
    fn work(&self, task: TaskIx) -> &Work {
        &self.plan.tasks[task.index()].work
    }

    fn read(&mut self, selection: &Selection) -> Result<(), RunError> {
        let asks = self.plan.asks();
        let rows = self.rows;
        let mut failed = None;
        let stop = &Stop::new();
        let defined = DefinedCases { plan: self.plan, layout: self.layout, n_row_sources: rows.n_sources() };
        let defined = defined.selected(selection, stop)?;
        for it in &defined {
            self.n_defined_cases += self.layout.n_cases(it.source) as u64;
            if let CaseSource::Scenario(ix) = it.source {
                self.scenario(ix)?;
            }
        }
        rows.read(selection, defined.len() as u64, &mut std::io::empty(), stop, &mut |batch| {
            self.n_rows += batch.chunk.rows.len() as u64;
            let walked = if asks { batch.iter(None).try_for_each(|it| self.row(it.at, it.text)) } else { Ok(()) };
            match walked {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            }
        })?;
        failed.map_or(Ok(()), Err)
    }

    /// The conversations of a scenario that is held once for each subject.
    fn scenario(&mut self, ix: usize) -> Result<(), RunError> {
        let ready = &self.plan.scenarios[ix];
        for (variant, _) in self.layout.cases(CaseSource::Scenario(ix)) {
            let room = Room::default();
            let case = Case::of_scenario(self.plan, (ready, None), self.asked[variant].subject(), &room);
            self.conversation(ready, case)?;
        }
        Ok(())
    }

    /// Follows a conversation as deep as the journal goes.
    fn conversation(&mut self, ready: &CompiledScenario, mut case: Case<'_>) -> Result<(), RunError> {
        let n_known = self.follow(&mut case, Until::Evidence)?;
        let most = most_calls(self.plan, ready);
        self.calls += most;
        let is_talked = case.tasks().is_some();
        let of_judges = || judges_of_scenario(self.plan, ready).map(|it| self.work(it).max_calls()).sum::<u64>();
        self.calls_left += if is_talked { of_judges() } else { most.saturating_sub(n_known) };
        let is_paid = self.players.values().any(|it| !it.is_local());
        if is_paid && !is_talked {
            let name = &ready.scenario.name;
            self.bounds.unknown(format!("the cost of the conversation `{name}` depends on the replies in it"));
        }
        Ok(())
    }

    fn row(&mut self, at: &RowAt, text: &str) -> Result<(), RunError> {
        let row = self.rows.parsed(at, text)?;
        let id = owned(self.rows.id(at, &row.value, text)?);
        // A row without evidence makes no requests.
        let Ok(base) = self.rows.base(at.source, row) else { return Ok(()) };
        let id_text = id_text(&id);
        let name = self.rows.case_name(self.plan, &id_text, (at.source, &base));
        let Some(ask) = &self.plan.ask else {
            let mut case = Case::of_evidence(self.plan, &base, name);
            self.calls += case.tasks().map_or(0, |it| self.open_calls(it));
            self.follow(&mut case, Until::End)?;
            self.left(&case, text.len() as u64);
            return Ok(());
        };
        let unanswered = CaseState::over(self.plan, &base, &name);
        for asked in self.asked {
            let room = Room::default();
            let mut case = Case::of_probe(self.plan, (ask, asked.prompt), asked.subject(), &base, name.clone(), &room);
            if let Some(ready) = ask.talk(asked.prompt) {
                self.conversation(ready, case)?;
                continue;
            }
            // What cannot be asked leaves nothing to judge.
            let Some(step) = case.steps(&[]).into_iter().next() else { continue };
            let n_calls = most_calls_of_ask(ask) + self.every_call(&unanswered);
            self.calls += n_calls;
            self.follow(&mut case, Until::End)?;
            match (&step.request, room.evidence()) {
                (_, Some(evidence)) => self.left(&case, evidence.to_json().len() as u64),
                (Request::Model(request), None) if case.tasks().is_none() => {
                    self.unanswered(ask, &unanswered, request, step.max_requests, text.len() as u64);
                }
                (Request::Model(_), None) => {}
                // What servers have is asked in every run, and what follows depends on what their tools return.
                (Request::Action(_), None) => {
                    self.calls_left += n_calls;
                    if self.players.values().any(|it| !it.is_local()) {
                        self.bounds.unknown("what answers with tools cost depends on what the tools return".to_owned());
                    }
                }
            }
        }
        Ok(())
    }

    /// Takes a case as far as the journal goes, and says how many of its answers it found.
    fn follow(&mut self, case: &mut Case<'_>, until: Until) -> Result<u64, RunError> {
        let journalled = Journalled { journal: self.journal, players: &self.players, n_found: Cell::new(0) };
        drive_now(case, &journalled, until)?;
        let n_found = journalled.n_found.get();
        self.in_journal += n_found;
        Ok(n_found)
    }

    /// Counts what is left of a case.
    fn left(&mut self, case: &Case<'_>, n_bytes: u64) {
        let Some(state) = case.tasks() else { return };
        self.calls_left += self.open_calls(state);
        for step in state.steps() {
            if let ReadyRequest::Model(request) = step.request
                && let Some(player) = self.players.get(&request.model)
            {
                self.bounds.request(player, step.site.asker.task(), request, step.max_requests);
            }
        }
        for task in waiting(self.plan, state) {
            self.bounds.unbound(&self.players, task, n_bytes, None);
        }
        for task in judges(self.plan, state) {
            self.bounds.questions(&self.players, task, (state.questions_to_come(task), n_bytes), None);
        }
    }

    /// What is left of a case whose subject has not answered: everything.
    fn unanswered(
        &mut self,
        ask: &PlannedAsk,
        state: &CaseState<'_>,
        request: &ModelRequest,
        max_requests: u32,
        n_bytes: u64,
    ) {
        self.calls_left += u64::from(max_requests) + self.every_call(state);
        let Some(player) = self.players.get(&request.model) else { return };
        self.bounds.request(player, None, request, max_requests);
        // The evidence is the row, what was asked, and what is answered, as text and as a value.
        let n_asked = request.messages.iter().map(|it| it.text().len() as u64).sum::<u64>();
        let n_answered = player.max_tokens.unwrap_or(0);
        let copies = if ask.output.is_some() { 2 } else { 1 };
        let n_tokens = n_bytes + 2 * n_asked + copies * n_answered;
        for task in judges(self.plan, state) {
            self.bounds.unbound(&self.players, task, n_tokens, Some(player));
        }
    }

    /// The most calls that a case still makes.
    fn open_calls(&self, state: &CaseState<'_>) -> u64 {
        let of_models = state.steps().filter(|it| matches!(it.request, ReadyRequest::Model(_)));
        let asking = of_models.map(|it| u64::from(it.max_requests)).sum::<u64>();
        let to_come = judges(self.plan, state).map(|it| {
            self.work(it).judge().map_or(0, PlannedJudge::max_calls_per_question)
                * u64::from(state.questions_to_come(it))
        });
        asking + to_come.sum::<u64>() + waiting(self.plan, state).map(|it| self.work(it).max_calls()).sum::<u64>()
    }

    /// The most calls of all judges that are for a case.
    fn every_call(&self, state: &CaseState<'_>) -> u64 {
        judges(self.plan, state).map(|it| self.work(it).max_calls()).sum()
    }
}

/// Outcomes that the journal has.
struct Journalled<'j> {
    journal: Option<&'j Journal>,
    players: &'j BTreeMap<&'j Role, Player<'j>>,
    n_found: Cell<u64>,
}

impl Outcomes for Journalled<'_> {
    async fn outcome(&self, _: Moment<'_>, step: Step) -> Result<Option<Outcome>, RunError> {
        let Request::Model(request) = &step.request else { return Ok(None) };
        let player = self.players.get(&request.model).filter(|it| !it.is_local());
        let (Some(journal), Some(player)) = (self.journal, player) else { return Ok(None) };
        let key = step.request.key(&PerformerKey::Endpoint(&player.key));
        let Some(answer) = journal.get(&key, None)? else { return Ok(None) };
        // A run asks again where an answer cannot be read.
        let outcome = read_outcome(step.request.kind(), &answer.outcome).ok();
        self.n_found.set(self.n_found.get() + u64::from(outcome.is_some()));
        Ok(outcome)
    }
}

/// The most calls that asking about a row makes.
fn most_calls_of_ask(ask: &PlannedAsk) -> u64 {
    (u64::from(ask.max_retries) + 1).saturating_mul(u64::from(ask.most_rounds()))
}

/// The judges that are for a case.
fn judges<'p>(plan: &'p Plan, state: &CaseState<'_>) -> impl Iterator<Item = TaskIx> + use<'p> {
    let asks = |it: &TaskIx| plan.tasks[it.index()].work.asks_models() && !state.is_absent(*it);
    plan.task_ixs().filter(asks).collect::<Vec<_>>().into_iter()
}

/// The judges whose prompts are not known yet: they wait for others.
fn waiting<'p>(plan: &'p Plan, state: &CaseState<'_>) -> impl Iterator<Item = TaskIx> + use<'p> {
    let asking: Vec<TaskIx> = state.steps().filter_map(|it| it.site.asker.task()).collect();
    let done: Vec<bool> = state.verdicts().map(|it| it.is_some()).collect();
    judges(plan, state).filter(move |it| !done[it.index()] && !asking.contains(it))
}
