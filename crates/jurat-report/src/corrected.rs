//! Pass rates corrected for the errors of their judges, in the reports of runs.

use jurat_core::report::{CorrectedTotal, RunReport};

use crate::calibration::corrected;
use crate::json::{optional, write_interval};
use crate::json_text::Members;

/// What calibrations say about a run, a sentence for each task.
pub(crate) fn sentences(run: &RunReport) -> Vec<String> {
    run.corrected.iter().map(sentence).collect()
}

fn sentence(total: &CorrectedTotal) -> String {
    if let Some(stale) = &total.stale {
        return format!(
            "no corrected pass rate: the calibration is {stale}; calibrate it again with `jurat calibrate`"
        );
    }
    let doubt =
        if total.too_few { format!(" {} labelled cases are too few to rely on.", total.labels) } else { String::new() };
    let found = total.corrected.as_ref().map(|it| corrected(it, total.confidence)).unwrap_or_default();
    format!("`{}`: {found}{doubt}", total.task)
}

pub(crate) fn write_total(members: &mut Members<'_>, total: &CorrectedTotal) {
    members.text("task", &total.task);
    optional(total.stale.as_deref(), |it| members.text("stale", it));
    if let Some(found) = &total.corrected {
        members.or_null("observed", found.observed, Members::float);
        members.or_null("rate", found.rate, Members::float);
        write_interval(members, found.interval);
        optional(found.method, |it| members.text("method", it.name()));
        optional(found.reason.as_deref(), |it| members.text("reason", it));
    }
    members.number("labels", total.labels);
    members.flag("too_few", total.too_few);
    members.float("confidence", total.confidence);
}
