//! Talks: a conversation along a graph, or a question about a row whose model may call tools. Held step by step, or told by the log.

use futures_util::stream::{FuturesUnordered, StreamExt};
use jurat_core::case::ProbeState;
use jurat_core::effect::{Outcome, Request, StepSite};
use jurat_core::scenario::{Step, Traversal};
use jurat_model::tool::Toolbox;

use crate::CaseLabel;
use crate::RunError;
use crate::clock::Clock;
use crate::effect_lane::{EffectLane, PATIENCE};
use crate::effects::At;
use crate::perform::{Act, Perform};
use crate::record_lane::OpenCase;

/// Something that says what may be asked now, and takes in what came of it.
pub(crate) trait Talk<'p> {
    /// What may be asked now.
    fn steps(&self) -> Vec<Step>;

    /// Takes in what came of it.
    fn apply(&mut self, site: StepSite, outcome: Outcome);

    /// Whether nothing is left to be asked.
    fn is_over(&self) -> bool;

    /// The turn that is under way, and its node, when it has turns.
    fn turn(&self) -> Option<(u32, &'p str)> {
        None
    }

    /// Files that have to be there before the steps are performed, by path.
    fn files(&self) -> &[(String, String)] {
        &[]
    }
}

impl<'p> Talk<'p> for Traversal<'p> {
    fn steps(&self) -> Vec<Step> {
        self.steps()
    }

    fn apply(&mut self, site: StepSite, outcome: Outcome) {
        self.apply(site, outcome);
    }

    fn is_over(&self) -> bool {
        self.end().is_some()
    }

    fn turn(&self) -> Option<(u32, &'p str)> {
        Some((self.turn(), self.node_id()))
    }

    fn files(&self) -> &[(String, String)] {
        self.files()
    }
}

impl<'p> Talk<'p> for ProbeState<'p> {
    fn steps(&self) -> Vec<Step> {
        self.steps().into_iter().map(Step::from).collect()
    }

    fn apply(&mut self, site: StepSite, outcome: Outcome) {
        self.apply(site, outcome);
    }

    fn is_over(&self) -> bool {
        self.end().is_some()
    }
}

/// What the steps of a talk have around them.
#[derive(Clone, Copy)]
struct Spoken<'t> {
    case: &'t OpenCase,
    name: CaseLabel<'t>,
    node: Option<&'t str>,
    clock: Option<&'t Clock>,
    tools: Option<&'t Toolbox>,
}

impl EffectLane<'_> {
    /// A talk that this run's log tells whole; `None` when it does not, or when there is none.
    pub(crate) fn told<'p, T: Talk<'p>>(
        &self,
        mut talk: T,
        case: &OpenCase,
        name: CaseLabel<'_>,
    ) -> Result<Option<T>, RunError> {
        if !self.effects.has_log() {
            return Ok(None);
        }
        let mut told = Vec::new();
        while !talk.is_over() {
            for step in talk.steps() {
                let at = At { case_ix: case.case_ix, name, site: step.site, node: None, clock: None };
                match self.effects.logged(at, &step.request)? {
                    Some((outcome @ (Outcome::Answer(_) | Outcome::Returned(_)), is_reused)) => {
                        told.push((step.site, outcome.clone(), is_reused));
                        talk.apply(step.site, outcome);
                    }
                    _ => return Ok(None),
                }
            }
        }
        for (site, outcome, is_reused) in &told {
            self.effects.count(case.case_ix, *site, outcome, *is_reused);
        }
        Ok(Some(talk))
    }

    /// Holds a talk to its end.
    pub(crate) async fn held<'p, T: Talk<'p>>(
        &self,
        mut talk: T,
        clock: Option<&Clock>,
        case: &OpenCase,
        name: CaseLabel<'_>,
    ) -> Result<T, RunError> {
        let tools = self.own_tools.and_then(Perform::own_tools);
        let mut turn = talk.turn();
        let mut asked: Vec<StepSite> = Vec::new();
        let mut running = None;
        loop {
            if std::mem::replace(&mut turn, talk.turn()) != talk.turn() {
                clock.into_iter().for_each(Clock::next_turn);
            }
            self.write_files(talk.files())?;
            let steps = talk.steps().into_iter().filter(|it| !asked.contains(&it.site));
            let mut steps: Vec<Step> = steps.take(if self.most_open == 1 { 1 } else { usize::MAX }).collect();
            let node = talk.turn().map(|(_, node)| node);
            let spoken = Spoken { case, name, node, clock, tools: tools.as_ref() };
            // A set of one would be looked at twice whenever something comes.
            if asked.is_empty()
                && steps.len() == 1
                && let Some(step) = steps.pop()
            {
                talk.apply(step.site, self.said(spoken, &step).await?);
                continue;
            }
            if asked.is_empty() && steps.is_empty() {
                break;
            }
            let running = running.get_or_insert_with(FuturesUnordered::new);
            for step in steps {
                asked.push(step.site);
                running.push(async move { (step.site, self.said(spoken, &step).await) });
            }
            if let Some((site, outcome)) = running.next().await {
                talk.apply(site, outcome?);
                asked.retain(|it| *it != site);
            }
        }
        drop(running);
        if let Some(tools) = tools {
            tools.close().await;
        }
        Ok(talk)
    }

    /// What a step of a talk comes to.
    async fn said(&self, spoken: Spoken<'_>, step: &Step) -> Result<Outcome, RunError> {
        let Spoken { case, name, node, clock, tools } = spoken;
        let at = At { case_ix: case.case_ix, name, site: step.site, node, clock };
        match &step.request {
            Request::Model(request) => self.effects.outcome(at, request, step.max_requests).await,
            Request::Deed(deed) => {
                let patience = clock.and_then(Clock::left).unwrap_or(PATIENCE);
                let (callable, surroundings, stop) = (step.callable.as_ref(), None, self.stop);
                let act = Act { deed, callable, tools, surroundings, patience, stop };
                self.effects.done(at, act).await
            }
        }
    }

    /// Writes the files that a turn is told to read.
    fn write_files(&self, files: &[(String, String)]) -> Result<(), RunError> {
        let Some(home) = self.home else { return Ok(()) };
        for (path, text) in files {
            let path = home.join(path);
            if !path.exists() {
                std::fs::create_dir_all(path.parent().unwrap_or(home))?;
                std::fs::write(&path, text)?;
            }
        }
        Ok(())
    }
}
