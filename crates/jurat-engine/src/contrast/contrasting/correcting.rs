//! Lines of calibrated judges, with what people would have judged.

use jurat_core::contrast::Line;
use jurat_core::contrast::provenance::{Finding, Note};

use super::super::corrected::{Fitting, fitting};
use super::Contrasting;

impl Contrasting<'_> {
    /// Adds to the lines of tasks what people would have judged, where their judges were calibrated; names calibrations that are stale.
    pub(super) fn correct(&mut self, tasks: &mut [Line]) {
        for line in tasks {
            let Some(task) = line.about.task().map(str::to_owned) else { continue };
            match fitting(&self.options.calibrations, self.new, &task, None) {
                Fitting::None => {}
                Fitting::Unfit(why) => {
                    self.notes.push(Note::new(Finding::CalibrationStale, why, "").of_task(&task));
                }
                // One judge for both sides is what makes its errors cancel in part.
                Fitting::Fits(_) if self.judged_otherwise(&task) => {}
                Fitting::Fits(calibration) => {
                    let found = line.difference.zip(line.standard_error());
                    line.corrected = found.and_then(|(difference, se)| {
                        calibration.figures.corrected_difference(difference, se, self.options.confidence)
                    });
                }
            }
        }
    }

    /// Whether the verdicts of a task rest on other definitions on the two sides.
    pub(in super::super) fn judged_otherwise(&self, task: &str) -> bool {
        self.notes.iter().any(|it| it.task.as_deref() == Some(task) && it.finding.hinders().is_some())
    }
}
