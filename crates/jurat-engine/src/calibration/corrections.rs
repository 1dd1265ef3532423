//! The pass rates of a run as people would have judged, by calibrations of its judges.

use jurat_core::calibration::{Calibration, Fit};
use jurat_core::plan::TaskIx;
use jurat_core::report::{CorrectedTotal, Independence, TaskTotal};
use jurat_format::id::same_id;

use crate::judge_definition::judge_parts;
use crate::view::RunView;

/// What calibrations say about the tasks of a run. One whose judge is defined otherwise is named as stale, and corrects nothing.
pub fn corrections(view: &RunView, tasks: &[TaskTotal], calibrations: &[Calibration]) -> Vec<CorrectedTotal> {
    let mut totals = Vec::new();
    for (ix, task) in tasks.iter().enumerate() {
        let own = calibrations.iter().filter(|it| it.suite == view.head().suite && same_id(&it.task, &task.id));
        let fit = |it: &Calibration| it.fit(&judge_parts(view, TaskIx(ix as u32)).0);
        let all: Vec<(&Calibration, Fit)> = own.map(|it| (it, fit(it))).collect();
        let fitting = all.iter().find(|it| it.1 == Fit::Fits).or(all.first());
        totals.extend(fitting.map(|(calibration, fit)| total(view, task, calibration, fit)));
    }
    totals
}

fn total(view: &RunView, task: &TaskTotal, calibration: &Calibration, fit: &Fit) -> CorrectedTotal {
    let judged = task.counts.passed + task.counts.failed;
    let worth = match task.independence {
        Independence::Full => judged as f64,
        Independence::Worth(worth) => worth,
        // All judgements of one row are one.
        Independence::Unknown => 1.0,
    };
    let rate = || calibration.corrected_rate(&view.head().id, task.counts.pass_rate(), worth);
    CorrectedTotal {
        task: task.id.clone(),
        corrected: (*fit == Fit::Fits).then(rate),
        stale: match fit {
            Fit::Stale(changed) => Some(changed.words(&task.id)),
            Fit::Fits | Fit::TooOld { .. } => None,
        },
        labels: calibration.figures.n,
        confidence: calibration.confidence,
        too_few: !calibration.figures.too_few.is_empty(),
    }
}
