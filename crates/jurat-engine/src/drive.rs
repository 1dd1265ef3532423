//! A case taken to its end: one loop, wherever its outcomes come from.

use futures_util::FutureExt;
use futures_util::stream::{FuturesUnordered, StreamExt};
use jurat_core::case::{Case, CaseState};
use jurat_core::effect::{Outcome, Step, StepSite};
use jurat_format::value::Val;

use crate::RunError;

/// Where outcomes come from: calls, the run's log, or a record of what happened.
pub(crate) trait Outcomes {
    /// The outcome of a step. `None` when this source has none; the step then stays open.
    async fn outcome(&self, moment: Moment<'_>, step: Step) -> Result<Option<Outcome>, RunError>;

    /// Called before the steps of a case are taken.
    fn prepare(&self, _: &Case<'_>) -> Result<(), RunError> {
        Ok(())
    }

    /// How many steps of the case may be taken at once.
    fn at_once(&self) -> usize {
        usize::MAX
    }
}

/// What a case is at when a step is taken.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment<'m> {
    /// The node of the conversation.
    pub(crate) node: Option<&'m str>,
    pub(crate) evidence: Option<&'m Val<'m>>,
}

/// How far a case is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// Its evidence is gathered, or cannot be had.
    Evidence,
    /// No step is left that has an outcome.
    End,
}

/// Takes a case on, all steps at once that may be taken, in whatever order their outcomes arrive.
pub(crate) async fn drive<'p>(case: &mut Case<'p>, outcomes: &impl Outcomes, until: Until) -> Result<(), RunError> {
    // Those that are being taken, and those that have no outcome.
    let mut made: Vec<StepSite> = Vec::new();
    let mut running = None;
    loop {
        let n_running = running.as_ref().map_or(0, FuturesUnordered::len);
        let is_far_enough = until == Until::Evidence && case.tasks().is_some();
        if is_far_enough && n_running == 0 {
            return Ok(());
        }
        outcomes.prepare(case)?;
        let mut steps = if is_far_enough { Vec::new() } else { case.steps(&made) };
        steps.truncate(outcomes.at_once());
        let moment: Moment<'p> =
            Moment { node: case.turn().map(|(_, node)| node), evidence: case.tasks().map(CaseState::evidence) };
        // A set of one would be polled twice whenever something arrives, and needs room while the case waits for its turn.
        if n_running == 0
            && steps.len() == 1
            && let Some(step) = steps.pop()
        {
            let site = step.site;
            match outcomes.outcome(moment, step).await? {
                Some(outcome) => case.apply(site, outcome),
                None => made.push(site),
            }
            continue;
        }
        if n_running == 0 && steps.is_empty() {
            return Ok(());
        }
        let running = running.get_or_insert_with(FuturesUnordered::new);
        for step in steps {
            let site = step.site;
            made.push(site);
            running.push(async move { (site, outcomes.outcome(moment, step).await) });
        }
        if let Some((site, outcome)) = running.next().await
            && let Some(outcome) = outcome?
        {
            case.apply(site, outcome);
            made.retain(|it| *it != site);
        }
    }
}

/// The same with a source that has its outcomes at once.
pub(crate) fn drive_now(case: &mut Case<'_>, outcomes: &impl Outcomes, until: Until) -> Result<(), RunError> {
    drive(case, outcomes, until).now_or_never().unwrap_or_else(|| unreachable!("the source never waits"))
}
