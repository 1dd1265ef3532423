//! Cases that ask, each a future on one thread.
//!
//! Only so many are open at a time: enough to keep everybody who answers busy, few enough that memory does not grow with the number of
//! cases. None may run further ahead of the oldest that is not done than a window allows, so that one slow case does not leave
//! a long tail behind.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use futures_util::stream::{FuturesUnordered, StreamExt};
use jurat_core::case::{CaseState, ProbeState};
use jurat_core::effect::{Asker, Outcome, Request, StepSite};
use jurat_core::evidence::{probe, run};
use jurat_core::plan::Plan;
use jurat_core::scenario::{End, Traversal};
use jurat_core::verdict::{CaseVerdict, StopReason, Verdict};
use jurat_format::value::{Val, parse_json};
use jurat_host::Sight;
use jurat_store::records::RowId;
use jurat_store::run::{BlockBuilder, CaseRanges, RunWriter, Variant};
use tokio::sync::mpsc::Receiver;

use crate::agents;
use crate::clock::Clock;
use crate::effects::{At, Effects};
use crate::kept::{Done, Keeping};
use crate::perform::{Act, Memory, Perform, Surroundings};
use crate::record_lane::OpenCase;
use crate::rows::{Rows, id_text};
use crate::scenarios::{with_case_name, with_name};
use crate::variants::Asked;
use crate::{CaseLabel, Progress, RunError, Stop};

/// So many answers are read, and so many cases opened, before what they lead to is asked. Were all that come at once read first, whoever answers
/// would have nothing to do meanwhile.
pub(crate) const AT_A_TIME: usize = 8;

/// A block is written after so long even if it is not full.
const BLOCK_TIME: Duration = Duration::from_millis(250);

/// What the cases that ask need.
pub(crate) struct EffectLane<'r> {
    pub(crate) plan: &'r Plan,
    pub(crate) rows: &'r Rows<'r>,
    pub(crate) effects: &'r Effects<'r>,
    pub(crate) keeping: Keeping<'r>,
    pub(crate) writer: &'r RunWriter,
    pub(crate) progress: &'r Progress,
    pub(crate) stop: &'r Stop,
    pub(crate) fail_fast: bool,
    /// What each variant asks, and whom.
    pub(crate) asked: &'r [Asked],
    pub(crate) variants: &'r [Variant],
    /// How many cases are open at a time.
    pub(crate) most_open: usize,
    /// How far a case may be ahead of the oldest.
    pub(crate) window: u64,
    pub(crate) block: RefCell<BlockBuilder>,
    /// The cases that there are; `None` for all.
    pub(crate) only: Option<&'r CaseRanges>,
    /// Where files for subjects are written; `None` when nobody would read them.
    pub(crate) home: Option<&'r Path>,
    /// Where what agents leave is kept.
    pub(crate) kept: &'r Path,
    /// Who has tools for one case; `None` when nobody is asked.
    pub(crate) own_tools: Option<&'r dyn Perform>,
}

impl EffectLane<'_> {
    /// Takes cases to their end until there are no more.
    pub(crate) async fn run(&self, mut arriving: Receiver<Vec<OpenCase>>) -> Result<(), RunError> {
        let mut running = FuturesUnordered::new();
        let mut open: BTreeMap<u64, RowId<'static>> = BTreeMap::new();
        let mut is_held_up = false;
        let mut waiting: VecDeque<OpenCase> = VecDeque::new();
        let mut newest: Option<u64> = None;
        let mut is_closed = false;
        let mut flush = tokio::time::interval(BLOCK_TIME);
        flush.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            let mut n_opened = 0;
            while running.len() < self.most_open
                && n_opened < AT_A_TIME
                && let Some(case) = waiting.pop_front_if(|it| self.is_near(&open, it.case_ix))
            {
                open.insert(case.case_ix, case.id.clone());
                running.push(self.case(case));
                n_opened += 1;
            }
            let has_room = running.len() < self.most_open;
            let slow = open.first_key_value().filter(|_| has_room && !waiting.is_empty());
            if slow.is_some() || is_held_up {
                self.progress.wait_for(slow.map(|(_, id)| id_text(id).into_owned()));
            }
            is_held_up = slow.is_some();
            if is_closed && running.is_empty() && waiting.is_empty() {
                break;
            }
            tokio::select! {
                biased;
                Some(done) = running.next(), if !running.is_empty() => {
                    open.remove(&done?);
                }
                () = tokio::task::yield_now(), if n_opened == AT_A_TIME => {}
                next = arriving.recv(), if !is_closed && waiting.is_empty() => {
                    is_closed = next.is_none();
                    waiting.extend(next.unwrap_or_default());
                    debug_assert!(waiting.iter().is_sorted_by_key(|it| it.case_ix));
                    debug_assert!(waiting.front().is_none_or(|it| newest.is_none_or(|newest| newest < it.case_ix)));
                    newest = waiting.back().map(|it| it.case_ix).or(newest);
                }
                _ = flush.tick() => {
                    self.effects.rest()?;
                    self.hand_on()?;
                }
            }
        }
        self.effects.rest()?;
        self.hand_on()
    }

    fn is_near(&self, open: &BTreeMap<u64, RowId<'static>>, case_ix: u64) -> bool {
        open.first_key_value().is_none_or(|(oldest, _)| case_ix <= oldest.saturating_add(self.window))
    }

    fn hand_on(&self) -> Result<(), RunError> {
        let block = self.block.borrow_mut().close();
        block.map_or(Ok(()), |block| Ok(self.writer.block(block)?))
    }

    /// Takes one case to its end and returns its place.
    async fn case(&self, case: OpenCase) -> Result<u64, RunError> {
        let started = Instant::now();
        if self.only.is_some_and(|it| !it.contains(case.case_ix)) {
            return Ok(case.case_ix);
        }
        // The row was read before, when it was found to have something to ask.
        let row = parse_json(&case.text).map(|it| it.value).unwrap_or(Val::Null);
        if let Some(ix) = case.scenario {
            Box::pin(self.scenario(&case, ix, started)).await?;
            return Ok(case.case_ix);
        }
        if let Some(ix) = case.agent {
            Box::pin(self.agent(&case, ix, started)).await?;
            return Ok(case.case_ix);
        }
        let id = id_text(&case.id);
        let source = case.place.source;
        let variant = match self.variants {
            // What is not asked of a subject has none, though scenarios beside it have.
            [] => None,
            _ if self.plan.ask.is_none() => None,
            variants => variants.get((case.case_ix % variants.len() as u64) as usize),
        };
        let name = CaseLabel { id: &id, variant };
        match &self.plan.ask {
            None => {
                let base = match self.rows.base(source, row.borrowed()) {
                    Ok(base) => base,
                    Err(verdict) => return self.without_base(&case, &row, &verdict, started),
                };
                let state = self.rows.started(self.plan, &base, &case.id, (source, &base));
                let state = self.judged(state, &case, name).await?;
                self.put(&case, &base, &state, started)?;
            }
            Some(ask) => {
                let asked = &self.asked[(case.case_ix % self.asked.len() as u64) as usize];
                let base = match self.rows.base(source, row.borrowed()) {
                    Ok(base) => base,
                    Err(verdict) => return self.without_base(&case, &row, &verdict, started),
                };
                let begin = || ProbeState::start(ask, asked.prompt, &asked.model, &base, asked.replicate);
                // One answer is looked up by itself; what tools had done by then may be gone.
                let told = if ask.tools.is_empty() { None } else { self.told(begin(), &case, name)? };
                let probe = match told {
                    Some(told) => told,
                    None => Box::pin(self.held(begin(), None, &case, name)).await?,
                };
                match probe.end() {
                    Some(Ok(answer)) => {
                        let evidence = probe::evidence(ask, base.borrowed(), answer);
                        let state = self.rows.started(self.plan, &evidence, &case.id, (source, &base));
                        let state = self.judged(state, &case, name).await?;
                        self.put(&case, &evidence, &state, started)?;
                    }
                    Some(Err(verdict)) => {
                        let state = self.rows.without_evidence(self.plan, &case.id, (source, &base), verdict);
                        self.put(&case, &base, &state, started)?;
                    }
                    None => unreachable!("a row is asked about to the end"),
                }
            }
        }
        Ok(case.case_ix)
    }

    /// A case of which there is nothing to see.
    fn without_base(
        &self,
        case: &OpenCase,
        row: &Val<'_>,
        verdict: &Verdict,
        started: Instant,
    ) -> Result<u64, RunError> {
        let state = self.rows.without_evidence(self.plan, &case.id, (case.place.source, row), verdict);
        self.put(case, row, &state, started)?;
        Ok(case.case_ix)
    }

    /// Asks what is to be asked, all that may be asked at a time, until every task is done.
    async fn judged<'s>(
        &self,
        mut state: CaseState<'s>,
        case: &OpenCase,
        name: CaseLabel<'_>,
    ) -> Result<CaseState<'s>, RunError> {
        let memory = &Memory::default();
        let around = Around { case, name, evidence: state.evidence(), memory };
        let mut asked: Vec<StepSite> = Vec::new();
        let mut running = None;
        loop {
            let mut ready: Vec<(StepSite, Request, u32)> = state
                .steps()
                .filter(|it| !asked.contains(&it.site))
                .take(if self.most_open == 1 { 1 } else { usize::MAX })
                .map(|it| (it.site, it.request.into(), it.max_requests))
                .collect();
            // A set of one would be looked at twice whenever something comes, and needs room while the case waits for its turn.
            if asked.is_empty()
                && ready.len() == 1
                && let Some((site, request, max_requests)) = ready.pop()
            {
                let outcome = self.outcome(around, site, &request, max_requests).await?;
                state.apply(site, outcome);
                continue;
            }
            if asked.is_empty() && ready.is_empty() {
                return Ok(state);
            }
            let running = running.get_or_insert_with(FuturesUnordered::new);
            for (site, request, max_requests) in ready {
                asked.push(site);
                running.push(async move { (site, self.outcome(around, site, &request, max_requests).await) });
            }
            if let Some((site, outcome)) = running.next().await {
                state.apply(site, outcome?);
                asked.retain(|it| *it != site);
            }
        }
    }

    /// What a step of a case comes to.
    async fn outcome(
        &self,
        around: Around<'_>,
        site: StepSite,
        request: &Request,
        max_requests: u32,
    ) -> Result<Outcome, RunError> {
        let Around { case, name, evidence, memory } = around;
        let at = At { case_ix: case.case_ix, name, site, node: None, clock: None };
        match request {
            Request::Model(request) => self.effects.outcome(at, request, max_requests).await,
            Request::Deed(deed) => {
                let surroundings = self.surroundings(site, case, evidence, memory);
                let (callable, tools, patience) = (None, None, PATIENCE);
                let (surroundings, stop) = (Some(&surroundings), self.stop);
                let act = Act { deed, callable, tools, surroundings, patience, stop };
                Box::pin(self.effects.done(at, act)).await
            }
        }
    }

    /// What a check sees around it: files beside its definition and beside the rows that runs come from, and the evidence.
    fn surroundings<'e>(
        &self,
        site: StepSite,
        case: &OpenCase,
        evidence: &'e Val<'e>,
        memory: &'e Memory,
    ) -> Surroundings<'e> {
        let task = site.asker.task().and_then(|it| self.plan.tasks.get(it.index()));
        let check = task.and_then(|it| it.work.check());
        let definition = check.map(|it| it.home().to_owned()).unwrap_or_default();
        let run = match case.agent.map(|ix| &self.plan.cases[ix]) {
            Some(agent) => match &agent.artifact {
                Some(artifact) => artifact.parent().map(Path::to_owned),
                None => agents::directory_of(evidence, self.kept),
            },
            None => self.rows.home(case.place.source).map(Path::to_owned),
        };
        let run = run.unwrap_or_else(|| definition.clone());
        let source = check.map(|it| it.source.clone()).unwrap_or_default();
        Surroundings { sight: Sight { definition, run }, source, evidence, memory }
    }

    /// Has an agent run a case, then judges what it left.
    async fn agent(&self, case: &OpenCase, ix: usize, started: Instant) -> Result<(), RunError> {
        let agent = &*self.plan.cases[ix];
        let place = (case.case_ix % self.asked.len().max(1) as u64) as usize;
        let asked = &self.asked[place];
        let name = CaseLabel { id: &agent.id, variant: self.variants.get(place) };
        // The subject may be several models; any other role is one.
        let model = agent.agent.asks().map(|it| if it == "subject" { asked.model.as_str() } else { it });
        let deed = agents::deed(agent, model, asked.replicate);
        let at = At { case_ix: case.case_ix, name, site: SUBJECT, node: None, clock: None };
        let patience = agent.agent.limits.time.saturating_add(PATIENCE);
        let act = Act { deed: &deed, callable: None, tools: None, surroundings: None, patience, stop: self.stop };
        let outcome = self.effects.done(at, act).await?;
        let evidence = match outcome {
            Outcome::Returned(returned) => run::evidence(returned.value).map_err(Verdict::error),
            Outcome::Fault(fault) => Err(Verdict::error(format!("the agent could not be run: {}", fault.message))),
            Outcome::NotRun(reason) => Err(Verdict::NotRun(reason)),
            Outcome::Answer(_) => Err(Verdict::error("a model is no agent")),
        };
        match &evidence {
            Ok(evidence) => {
                let text = evidence.to_json();
                let state = with_case_name(agent, |case| CaseState::start_for(self.plan, evidence, case));
                let state = self.judged(state, case, name).await?;
                self.put_text(case, &text, evidence, &state, started)
            }
            Err(verdict) => {
                let state = with_case_name(agent, |case| CaseState::without_evidence(self.plan, case, verdict));
                self.put_text(case, "{}", &Val::Null, &state, started)
            }
        }
    }

    /// Talks to a subject along a graph, then judges what happened.
    async fn scenario(&self, case: &OpenCase, ix: usize, started: Instant) -> Result<(), RunError> {
        let ready = &self.plan.scenarios[ix];
        let place = (case.case_ix % self.asked.len().max(1) as u64) as usize;
        let asked = &self.asked[place];
        let name = CaseLabel { id: &ready.scenario.name, variant: self.variants.get(place) };
        let traversal = || Traversal::start(ready, asked.model.as_str(), asked.name.as_str(), asked.replicate);
        // A conversation that was done is not held again. One that was interrupted is, from its first turn, unless all that it did
        // stands: its tools may not be in the state that they were left in.
        let talked = match self.told(traversal(), case, name)? {
            Some(told) => told,
            None => {
                let clock = Clock::start(ready.scenario.turn_timeout, ready.scenario.timeout);
                self.held(traversal(), Some(&clock), case, name).await?
            }
        };
        match talked.end() {
            Some(End::Execution(execution)) => {
                let evidence = execution.to_value();
                let text = evidence.to_json();
                let state = with_name(&ready.scenario, |case| CaseState::start_for(self.plan, &evidence, case));
                let state = self.judged(state, case, name).await?;
                self.put_text(case, &text, &evidence, &state, started)
            }
            Some(End::NotRun(reason)) => {
                let verdict = Verdict::NotRun(*reason);
                let state = with_name(&ready.scenario, |case| CaseState::without_evidence(self.plan, case, &verdict));
                self.put_text(case, "{}", &Val::Null, &state, started)
            }
            None => unreachable!("a conversation is held to its end"),
        }
    }

    fn put(&self, case: &OpenCase, base: &Val<'_>, state: &CaseState<'_>, started: Instant) -> Result<(), RunError> {
        self.put_text(case, &case.text, base, state, started)
    }

    fn put_text(
        &self,
        case: &OpenCase,
        text: &str,
        base: &Val<'_>,
        state: &CaseState<'_>,
        started: Instant,
    ) -> Result<(), RunError> {
        let done = Done {
            case_ix: case.case_ix,
            id: &case.id,
            place: case.place,
            text,
            base,
            state,
            took: started.elapsed(),
            is_scenario: case.scenario.is_some() || case.agent.is_some(),
        };
        let verdict = self.keeping.put(&mut self.block.borrow_mut(), &done);
        self.progress.done.fetch_add(1, Ordering::Relaxed);
        self.progress.count(verdict);
        if self.fail_fast && matches!(verdict, CaseVerdict::Failed | CaseVerdict::Error) {
            self.stop.close(StopReason::FailFast);
        }
        let is_full = self.block.borrow().is_full();
        if is_full { self.hand_on() } else { Ok(()) }
    }
}

/// What the steps of a case have around them.
#[derive(Clone, Copy)]
struct Around<'c> {
    case: &'c OpenCase,
    name: CaseLabel<'c>,
    evidence: &'c Val<'c>,
    memory: &'c Memory,
}

/// How long a tool may take where nothing else says: its server has a limit of its own.
pub(crate) const PATIENCE: Duration = Duration::from_secs(3600);

/// The question of a case to its subject.
pub(crate) const SUBJECT: StepSite = StepSite { asker: Asker::Case, seat: 0, turn: 0 };
