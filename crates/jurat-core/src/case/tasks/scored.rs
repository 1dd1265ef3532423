//! Tasks that have judges score the run of an agent, dimension by dimension.

use jurat_format::value::{Context, Value};

use super::CaseState;
use super::judged::{asking, ends};
use super::task::TaskState;
use crate::check::Check;
use crate::effect::{Outcome, StepSite};
use crate::evaluation::{CheckSeen, conclude};
use crate::judge::{Asking, End, TaskResult, combine};
use crate::plan::{PlannedEvaluation, TaskIx};

pub(super) fn begin(case: &CaseState<'_>, evaluation: &PlannedEvaluation) -> TaskState {
    let requests = evaluation.requests(case.id.as_deref(), case.base, &checks(case, evaluation));
    asking(requests, evaluation.judge.max_retries)
}

pub(super) fn apply(
    case: &CaseState<'_>,
    evaluation: &PlannedEvaluation,
    mut slots: Vec<Asking>,
    (site, outcome): (StepSite, Outcome),
    context: Context<'_>,
) -> TaskState {
    if let Some(asking) = slots.get_mut(site.slot as usize) {
        asking.apply(site.turn, outcome, &evaluation.brief(case.id.as_deref()).form);
    }
    match ends(&slots) {
        Some(ends) => TaskState::Done(concluded(case, evaluation, &ends, context)),
        None => TaskState::Asking(slots),
    }
}

/// The result of all replies. A slot without one leaves it undecided, as it does for any panel.
fn concluded(case: &CaseState<'_>, evaluation: &PlannedEvaluation, ends: &[&End], context: Context<'_>) -> TaskResult {
    let replies: Option<Vec<&Value>> =
        ends.iter().map(|it| if let End::Reply(reply) = it { Some(reply) } else { None }).collect();
    let Some(replies) = replies else { return combine(ends, None, evaluation.judge.vote(), context) };
    let scale = evaluation.brief(case.id.as_deref()).brief.scale();
    let concluded = conclude(&evaluation.profile, &scale, &replies, &checks(case, evaluation));
    TaskResult { verdict: concluded.verdict, output: Some(concluded.output), said: concluded.said }
}

/// The verdicts of the checks of this case, in the order in which they are written.
fn checks<'c>(case: &'c CaseState<'_>, evaluation: &PlannedEvaluation) -> Vec<CheckSeen<'c>> {
    let seen = |ix: &TaskIx| {
        let task = &case.plan.tasks[ix.index()];
        Some(CheckSeen {
            id: &task.id,
            kind: task.work.check().map_or("", Check::kind),
            description: task.description.as_deref(),
            dimensions: &task.dimensions,
            verdict: &case.result(*ix)?.verdict,
        })
    };
    evaluation.sees.iter().filter_map(seen).collect()
}
