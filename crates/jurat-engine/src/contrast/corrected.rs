//! Calibrations of the judges of a side.

use jurat_core::calibration::{Calibration, Fit};
use jurat_format::id::same_id;

use super::table::Table;

/// What is known of the judge of a task.
pub(super) enum Fitting<'c> {
    /// Nothing.
    None,
    /// There is a calibration that does not hold for it: why.
    Unfit(String),
    Fits(&'c Calibration),
}

/// The calibration of a task of a side. One that fits comes before one that does not.
pub(super) fn fitting<'c>(
    calibrations: &'c [Calibration],
    table: &dyn Table,
    task: &str,
    age: Option<(u64, u64)>,
) -> Fitting<'c> {
    let parts = table.tasks().iter().find(|it| it.id == task).and_then(|it| table.judge_parts(it.column));
    let own = calibrations.iter().filter(|it| it.suite == table.side().suite && same_id(&it.task, task));
    let mut found = Fitting::None;
    for calibration in own {
        let Some(parts) = &parts else {
            found = Fitting::Unfit("not checked: a baseline does not hold the definition of the judge".to_owned());
            continue;
        };
        let fit = match age {
            Some((now_ms, max_age_ms)) => calibration.fit_at(parts, now_ms, Some(max_age_ms)),
            None => calibration.fit(parts),
        };
        found = match fit {
            Fit::Fits => return Fitting::Fits(calibration),
            Fit::Stale(changed) => Fitting::Unfit(changed.words(task)),
            Fit::TooOld { days } => Fitting::Unfit(format!("too old: it was made {days} days ago")),
        };
    }
    found
}
