//! Cases that ask, each a future on one thread.
//!
//! The number of open cases is limited: enough to use every endpoint fully, few enough that memory does not grow with the number of
//! cases. None may run further ahead of the oldest that is not done than a window allows, so that one slow case does not leave
//! a long tail behind.

mod live;

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use futures_util::stream::{FuturesUnordered, StreamExt};
use jurat_compare::expression::Interrupt;
use jurat_core::case::{Case, Room};
use jurat_core::plan::CaseSource;
use jurat_core::scenario::CompiledScenario;
use jurat_core::verdict::StopReason;
use jurat_format::value::{Record, Val, parse_json};
use jurat_store::records::RowId;
use jurat_store::run::{BlockBuilder, CaseRanges, Variant};
use tokio::sync::mpsc::Receiver;

use crate::case_source::OpenCase;
use crate::case_store::{CaseStore, Done};
use crate::clock::Clock;
use crate::drive::{Until, drive};
use crate::effects::Effects;
use crate::perform::Perform;
use crate::rows::{Rows, id_text};
use crate::variants::Asked;
use crate::{CaseLabel, RunError};
use live::{Live, Logged};

/// How many answers are read, and how many cases opened, before what they lead to is asked. Were all that come at once read first, the endpoints
/// would have nothing to do meanwhile.
pub(crate) const AT_A_TIME: usize = 8;

/// A block is written after so long even if it is not full.
const BLOCK_TIME: Duration = Duration::from_millis(250);

/// What the cases that ask need.
pub(crate) struct EffectLane<'r> {
    pub(crate) rows: &'r Rows<'r>,
    pub(crate) effects: &'r Effects<'r>,
    pub(crate) store: CaseStore<'r>,
    /// What each variant asks, and whom.
    pub(crate) asked: &'r [Asked],
    /// How many cases are open at a time.
    pub(crate) most_open: usize,
    /// How far a case may be ahead of the oldest.
    pub(crate) window: u64,
    pub(crate) block: RefCell<BlockBuilder>,
    /// The cases that there are; `None` for all.
    pub(crate) only: Option<&'r CaseRanges>,
    /// Where files for subjects are written; `None` when no subject would read them.
    pub(crate) home: Option<&'r Path>,
    /// Where what agents leave is stored.
    pub(crate) agent_files: &'r Path,
    /// What has tools for one case; `None` when no requests are made.
    pub(crate) own_tools: Option<&'r dyn Perform>,
}

impl EffectLane<'_> {
    /// Takes cases to their end until there are no more.
    pub(crate) async fn run(&self, mut arriving: Receiver<Vec<OpenCase>>) -> Result<(), RunError> {
        let mut running = FuturesUnordered::new();
        let mut open: BTreeMap<u64, RowId<'static>> = BTreeMap::new();
        let mut is_held_up = false;
        let mut waiting: VecDeque<OpenCase> = VecDeque::new();
        let mut is_closed = false;
        let mut flush = tokio::time::interval(BLOCK_TIME);
        flush.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            // Enough is known: what has not begun does not begin.
            if self.store.stop.reason() == Some(StopReason::Decided) {
                waiting.clear();
            }
            let mut n_opened = 0;
            while running.len() < self.most_open
                && n_opened < AT_A_TIME
                && let Some(case) = waiting.pop_front_if(|it| self.is_near(&open, it.turn))
            {
                open.insert(case.turn, case.id.clone());
                running.push(self.case(case));
                n_opened += 1;
            }
            let has_room = running.len() < self.most_open;
            let is_far_ahead = waiting.front().is_some_and(|it| !self.is_near(&open, it.turn));
            let is_full = !has_room || is_far_ahead || (is_closed && waiting.is_empty());
            self.effects.activity.is_full.set(is_full);
            self.effects.activity.n_open.set(running.len());
            let slow = open.first_key_value().filter(|_| has_room && !waiting.is_empty());
            if slow.is_some() || is_held_up {
                self.store.progress.wait_for(slow.map(|(_, id)| id_text(id).into_owned()));
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
                    debug_assert!(waiting.iter().is_sorted_by_key(|it| it.turn));
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

    fn is_near(&self, open: &BTreeMap<u64, RowId<'static>>, turn: u64) -> bool {
        open.first_key_value().is_none_or(|(oldest, _)| turn <= oldest.saturating_add(self.window))
    }

    fn hand_on(&self) -> Result<(), RunError> {
        self.store.hand_on(&mut self.block.borrow_mut()).map(drop)
    }

    /// Takes one case to its end and returns its turn.
    async fn case(&self, open: OpenCase) -> Result<u64, RunError> {
        let started = Instant::now();
        if self.only.is_some_and(|it| !it.contains(open.case_ix)) {
            return Ok(open.turn);
        }
        match open.source {
            CaseSource::Row(_) | CaseSource::Probe(_) => self.row(&open, started).await?,
            CaseSource::Scenario(_) | CaseSource::Agent(_) => Box::pin(self.defined(&open, started)).await?,
        }
        Ok(open.turn)
    }

    /// A row, about which a model may be asked.
    async fn row(&self, open: &OpenCase, started: Instant) -> Result<(), RunError> {
        // It was read before, when it was found to have something to ask.
        let Record { value: row, repeated_key } =
            parse_json(&open.text).unwrap_or(Record { value: Val::Null, repeated_key: false });
        let (id, source) = (id_text(&open.id), open.place.source);
        let label = CaseLabel { id: &id, variant: self.variant(open) };
        let base = self.rows.base(source, Record { value: row.borrowed(), repeated_key });
        let (room, asked) = (Room::default(), self.store.plan.ask.as_ref().map(|_| self.asked(open)));
        let begin = || self.rows.begin(self.store.plan, (&id, source), (&row, &base), asked, &room);
        let has_tools = self.store.plan.ask.as_ref().is_some_and(|it| !it.tools.is_empty());
        let case = self.driven(&begin, open, label, has_tools || self.talk(open).is_some()).await?;
        let evidence = room.evidence().or(base.as_ref().ok()).unwrap_or(&row);
        self.put(open, &open.text, evidence, &case, started)
    }

    /// A case that stands in the definition: a conversation, or a task for an agent.
    async fn defined(&self, open: &OpenCase, started: Instant) -> Result<(), RunError> {
        let (id, room, asked) = (id_text(&open.id), Room::default(), self.asked(open).subject());
        let label = CaseLabel { id: &id, variant: self.variant(open) };
        let begin = || match open.source {
            CaseSource::Agent(ix) => Case::of_agent(self.store.plan, &self.store.plan.cases[ix], asked, &room),
            CaseSource::Scenario(ix) => {
                Case::of_scenario(self.store.plan, (&self.store.plan.scenarios[ix], None), asked, &room)
            }
            CaseSource::Row(_) | CaseSource::Probe(_) => unreachable!("rows do not stand in the definition"),
        };
        let is_talk = matches!(open.source, CaseSource::Scenario(_));
        let case = self.driven(&begin, open, label, is_talk).await?;
        let text = room.evidence().map_or_else(|| "{}".to_owned(), Val::to_json);
        self.put(open, &text, room.evidence().unwrap_or(&Val::Null), &case, started)
    }

    /// Takes a case to its end. `is_talk` says that its evidence takes several steps, which are taken together or not at all.
    async fn driven<'p>(
        &self,
        begin: &dyn Fn() -> Case<'p>,
        open: &OpenCase,
        label: CaseLabel<'_>,
        is_talk: bool,
    ) -> Result<Case<'p>, RunError> {
        let mut case = begin();
        let mut live = Live::new(self, open, label);
        if is_talk && self.effects.has_log() && !self.is_logged(&mut case, open, label).await? {
            case = begin();
        }
        if case.tasks().is_none() {
            live.tools =
                self.own_tools.filter(|_| !matches!(open.source, CaseSource::Agent(_))).and_then(Perform::own_tools);
            live.clock = self.talk(open).map(|it| Clock::start(it.scenario.turn_timeout, it.scenario.timeout));
            Box::pin(drive(&mut case, &live, Until::Evidence)).await?;
            if let Some(tools) = live.tools.take() {
                tools.close().await;
            }
        }
        drive(&mut case, &live, Until::End).await?;
        Ok(case)
    }

    /// Whether the log of this run has all of the evidence; the case then has it.
    async fn is_logged(&self, case: &mut Case<'_>, open: &OpenCase, label: CaseLabel<'_>) -> Result<bool, RunError> {
        let logged = Logged::new(self, open, label);
        Box::pin(drive(case, &logged, Until::Evidence)).await?;
        let is_whole = case.tasks().is_some();
        if is_whole {
            logged.count();
        }
        Ok(is_whole)
    }

    /// The conversation that a case is.
    fn talk(&self, open: &OpenCase) -> Option<&CompiledScenario> {
        let prompt = self.asked.get(self.store.layout.n_variants().variant(open.case_ix)).map_or(0, |it| it.prompt);
        self.store.plan.talk(open.source, prompt)
    }

    fn asked(&self, open: &OpenCase) -> &Asked {
        &self.asked[self.store.layout.n_variants().variant(open.case_ix)]
    }

    fn variant(&self, open: &OpenCase) -> Option<&Variant> {
        self.store.variants.get(self.store.layout.variant(open.case_ix)?)
    }

    fn put(
        &self,
        open: &OpenCase,
        text: &str,
        base: &Val<'_>,
        case: &Case<'_>,
        started: Instant,
    ) -> Result<(), RunError> {
        // An expression of this case, or of another on this thread, may have been interrupted: it is judged when the run is resumed.
        let not_run =
            Interrupt::was_noticed().then(|| case.not_run(self.store.stop.reason().unwrap_or(StopReason::Interrupted)));
        let (case, text, base) = match &not_run {
            Some(not_run) => (not_run, "{}", &Val::Null),
            None => (case, text, base),
        };
        let Some(state) = case.tasks() else { unreachable!("a case is taken to its end") };
        let (case_ix, id, place) = (open.case_ix, &open.id, open.place);
        let done = Done { case_ix, id, place, text, base, state, took: started.elapsed() };
        self.store.put(&mut self.block.borrow_mut(), &done);
        self.store.progress.done.fetch_add(1, Ordering::Relaxed);
        let is_full = self.block.borrow().is_full();
        if is_full { self.hand_on() } else { Ok(()) }
    }
}
