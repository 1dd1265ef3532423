//! Where the outcomes of a run in progress come from: its log, and calls.

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::time::Duration;

use jurat_core::case::{Case, gathers};
use jurat_core::effect::{Outcome, Request, Step, StepSite};
use jurat_core::plan::CaseSource;
use jurat_format::value::Val;
use jurat_host::HostFiles;
use jurat_model::tool::Toolbox;

use super::EffectLane;
use crate::attachments::{Attachments, ReadMedia};
use crate::case_source::OpenCase;
use crate::clock::Clock;
use crate::drive::{Moment, Outcomes};
use crate::effects::{At, LoggedOutcome};
use crate::perform::{ActionContext, CheckEnvironment, Memory};
use crate::{CaseLabel, RunError, agents};

/// How long a tool may take where nothing else says: its server has a limit of its own.
const TIMEOUT: Duration = Duration::from_secs(3600);

/// Outcomes by calling models, tools, code and agents, or from a recording that stands in for them.
pub(crate) struct Live<'l> {
    pub(crate) lane: &'l EffectLane<'l>,
    pub(crate) case: &'l OpenCase,
    pub(crate) name: CaseLabel<'l>,
    /// The time that a conversation may take.
    pub(crate) clock: Option<Clock>,
    /// The tools that are the case's own.
    pub(crate) tools: Option<Toolbox>,
    pub(crate) memory: Memory,
    media: ReadMedia,
    turn: Cell<Option<u32>>,
}

impl<'l> Live<'l> {
    pub(crate) fn new(lane: &'l EffectLane<'l>, case: &'l OpenCase, name: CaseLabel<'l>) -> Live<'l> {
        let (clock, tools, memory, turn) = (None, None, Memory::default(), Cell::new(None));
        Live { lane, case, name, clock, tools, memory, media: ReadMedia::default(), turn }
    }

    /// What a check sees: files in the directory of its definition and in that of the rows that runs come from, and the evidence.
    fn environment<'e>(&'e self, site: StepSite, evidence: &'e Val<'e>) -> CheckEnvironment<'e> {
        let plan = self.lane.store.plan;
        let task = site.asker.task().and_then(|it| plan.tasks.get(it.index()));
        let check = task.and_then(|it| it.work.check());
        let definition = check.map(|it| it.home().to_owned()).unwrap_or_default();
        let run = match self.case.source {
            CaseSource::Agent(ix) => match &plan.cases[ix].artifact {
                Some(artifact) => artifact.parent().map(Path::to_owned),
                None => agents::directory_of(evidence, self.lane.agent_files),
            },
            CaseSource::Row(_) | CaseSource::Probe(_) | CaseSource::Scenario(_) => {
                self.lane.rows.home(self.case.place.source).map(Path::to_owned)
            }
        };
        let run = run.unwrap_or_else(|| definition.clone());
        let source = check.map(|it| it.source.clone()).unwrap_or_default();
        CheckEnvironment { host_files: HostFiles { definition, run }, source, evidence, memory: &self.memory }
    }

    /// Where files are that are sent: beside the row, or beside the prompt that names them.
    fn attachments(&self, site: StepSite) -> Attachments<'_> {
        let plan = self.lane.store.plan;
        let task = site.asker.task().and_then(|it| plan.tasks.get(it.index()));
        let chat = match task {
            Some(task) => task.work.judge().map(|it| &it.prompt),
            None => plan.ask.as_ref().and_then(|it| it.chats().next()),
        };
        let definition = chat.map(|it| it.home.clone()).unwrap_or_default();
        let rows = self.lane.rows.home(self.case.place.source).map_or_else(|| definition.clone(), Path::to_owned);
        Attachments { rows, definition, read: &self.media }
    }

    /// What an action gets: one that gathers evidence, the time that is left and the tools of the case; one that judges it, what a check sees.
    fn context<'e>(&'e self, moment: Moment<'e>, step: &'e Step) -> ActionContext<'e> {
        let callable = step.callable.as_ref();
        let attachments = Some(self.attachments(step.site));
        match moment.evidence.filter(|_| !gathers(step.site.asker)) {
            Some(evidence) => {
                let check = Some(self.environment(step.site, evidence));
                ActionContext { callable: None, tools: None, check, attachments, timeout: TIMEOUT }
            }
            None => {
                let timeout = match self.case.source {
                    CaseSource::Agent(ix) => self.lane.store.plan.cases[ix].agent.limits.time.saturating_add(TIMEOUT),
                    _ => self.clock.as_ref().and_then(Clock::left).unwrap_or(TIMEOUT),
                };
                ActionContext { callable, tools: self.tools.as_ref(), check: None, attachments, timeout }
            }
        }
    }
}

impl Outcomes for Live<'_> {
    async fn outcome(&self, moment: Moment<'_>, step: Step) -> Result<Option<Outcome>, RunError> {
        let clock = self.clock.as_ref().filter(|_| gathers(step.site.asker));
        let (case_ix, name, site) = (self.case.case_ix, self.name, step.site);
        let at = At { case_ix, turn: self.case.turn, name, site, node: moment.node, clock };
        let context = match step.request {
            Request::Model(_) => {
                ActionContext { attachments: Some(self.attachments(site)), ..ActionContext::default() }
            }
            Request::Action(_) => self.context(moment, &step),
        };
        self.lane.effects.outcome(at, &step.request, step.max_requests, &context).await.map(Some)
    }

    /// Begins the time of a new turn, and writes the files that the subject reads in it.
    fn prepare(&self, case: &Case<'_>) -> Result<(), RunError> {
        let Some((turn, _)) = case.turn() else { return Ok(()) };
        if self.turn.replace(Some(turn)).is_some_and(|it| it != turn) {
            self.clock.iter().for_each(Clock::next_turn);
        }
        let Some(home) = self.lane.home else { return Ok(()) };
        for (path, text) in case.files() {
            let path = home.join(path);
            if !path.exists() {
                std::fs::create_dir_all(path.parent().unwrap_or(home))?;
                std::fs::write(&path, text)?;
            }
        }
        Ok(())
    }

    fn at_once(&self) -> usize {
        if self.lane.most_open == 1 { 1 } else { usize::MAX }
    }
}

/// The evidence of a case from the log of this run. A conversation that was done is not held again. One that was interrupted is, from its first turn, unless
/// all that it did is in the log: its tools may not be in the state that they were left in.
pub(crate) struct Logged<'l> {
    lane: &'l EffectLane<'l>,
    case: &'l OpenCase,
    name: CaseLabel<'l>,
    found: RefCell<Vec<(StepSite, LoggedOutcome)>>,
}

impl<'l> Logged<'l> {
    pub(crate) fn new(lane: &'l EffectLane<'l>, case: &'l OpenCase, name: CaseLabel<'l>) -> Logged<'l> {
        Logged { lane, case, name, found: RefCell::default() }
    }

    /// Counts what was found, once it is used.
    pub(crate) fn count(&self) {
        for (site, found) in self.found.borrow().iter() {
            self.lane.effects.count_logged(self.case.case_ix, *site, found);
        }
    }
}

impl Outcomes for Logged<'_> {
    async fn outcome(&self, _: Moment<'_>, step: Step) -> Result<Option<Outcome>, RunError> {
        let OpenCase { case_ix, turn, .. } = *self.case;
        let at = At { case_ix, turn, name: self.name, site: step.site, node: None, clock: None };
        let logged = self.lane.effects.logged(at, &step.request)?;
        let is_whole =
            |it: &LoggedOutcome| matches!(it.outcome, Outcome::Answer(_) | Outcome::Returned(_) | Outcome::Ran(_));
        let Some(logged) = logged.filter(is_whole) else { return Ok(None) };
        let outcome = logged.outcome.clone();
        self.found.borrow_mut().push((step.site, logged));
        Ok(Some(outcome))
    }
}
