//! How a run ended, in one word.

use jurat_core::suite::Thresholds;
use jurat_core::verdict::StopReason;
use jurat_report::model::RunReport;

/// How a run ended, in one word. When several apply, the one that says most about how far the others can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Conclusion {
    /// Something was judged, and all of it is good enough.
    Passed,
    /// Something counted failed, or a threshold was missed.
    Failed,
    /// Something could not be judged.
    Undecided,
    /// A budget or a time limit came first.
    Limited,
    /// Nothing was selected, or nothing could be judged.
    Nothing,
    /// Somebody stopped it.
    Interrupted,
}

impl Conclusion {
    /// How a run ended. Thresholds, where there are any, decide what counts as a failure. `is_budget_exhausted` says that
    /// something was not asked because a budget was used up.
    pub fn of(report: &RunReport, thresholds: &Thresholds, is_budget_exhausted: bool) -> Conclusion {
        let has_thresholds = thresholds.pass_rate.is_some() || !thresholds.tasks.is_empty();
        let failed = if has_thresholds { !report.missed.is_empty() } else { report.counts.failed > 0 };
        let is_limited = is_budget_exhausted
            || matches!(report.stopped, Some(StopReason::Budget | StopReason::Deadline))
            || report.cases.not_run > 0;
        match () {
            () if report.stopped == Some(StopReason::Interrupted) => Conclusion::Interrupted,
            () if is_limited && report.stopped != Some(StopReason::FailFast) => Conclusion::Limited,
            () if report.cases.error > 0 => Conclusion::Undecided,
            () if failed => Conclusion::Failed,
            () if report.counts.passed + report.counts.failed == 0 => Conclusion::Nothing,
            () => Conclusion::Passed,
        }
    }
}
