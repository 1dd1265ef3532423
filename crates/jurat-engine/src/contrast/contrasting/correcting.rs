//! Lines of calibrated judges, with what people would have judged.

use std::collections::HashMap;

use jurat_core::calibration::{Calibration, CorrectedDifference, Design, LabelledDifferences, Scale};
use jurat_core::contrast::provenance::{Finding, Note};
use jurat_core::contrast::{Clustering, Line};

use super::super::corrected::{Fitting, fitting};
use super::{Contrasting, Unit};
use crate::case_label::CaseLabel;
use crate::contrast::CompareError;
use crate::contrast::table::Table;

impl Contrasting<'_> {
    /// Adds to the lines of tasks what people would have judged, where their judges were calibrated; names calibrations that are stale.
    pub(super) fn correct(&mut self, tasks: &mut [Line]) -> Result<(), CompareError> {
        for line in tasks {
            let Some(task) = line.about.task().map(str::to_owned) else { continue };
            if let Some(corrected) = self.by_labels_of_both(&task)? {
                line.corrected = Some(corrected);
                continue;
            }
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
        Ok(())
    }

    /// The difference by what people said of cases on both sides, sharpened by what the judges said of all. It is unbiased whatever the judges do, so they may differ.
    fn by_labels_of_both(&self, task: &str) -> Result<Option<CorrectedDifference>, CompareError> {
        let labelled = [self.labelled(self.base, task), self.labelled(self.new, task)];
        let [Some(base), Some(new)] = &labelled else { return Ok(None) };
        let column = |table: &dyn Table| table.tasks().iter().find(|it| it.id == task).map(|it| it.column);
        // A repetition is no case of its own, and cases of a cluster are not a random part of the run.
        let (Some(was), Some(now), Clustering::Single) = (column(self.base), column(self.new), self.clustering) else {
            return Ok(None);
        };
        let codes = self.codes(was, now)?;
        let (mut differences, mut failure) = (LabelledDifferences::default(), None);
        self.each(&codes, |unit, base_unit, new_unit| {
            let Some((was, now)) = base_unit.rate().zip(new_unit.rate()) else { return };
            match self.people(unit, [base, new]) {
                Ok(Some((base, new))) => differences.add_labelled([base, new], now - was),
                Ok(None) => differences.add_rest(now - was),
                Err(error) => failure = Some(error),
            }
        });
        match failure {
            Some(error) => Err(error),
            None => Ok(differences.corrected(self.options.confidence)),
        }
    }

    /// What people said of the cases of a side that they labelled: where those are a simple random part of it.
    fn labelled(&self, table: &dyn Table, task: &str) -> Option<HashMap<&str, bool>> {
        let is_own = |it: &&Calibration| {
            it.run_id.as_ref() == Some(&table.side().run_id)
                && it.figures.design == Design::Random
                && it.figures.scale == Scale::PassFail
        };
        let own: Vec<Calibration> = self.options.calibrations.iter().filter(is_own).cloned().collect();
        let Fitting::Fits(found) = fitting(&own, table, task, None) else { return None };
        let calibration = self.options.calibrations.iter().find(|it| *it == found)?;
        let said = calibration.cases.iter().filter_map(|it| Some((it.case.as_str(), it.people.as_deref()? == "pass")));
        Some(said.collect())
    }

    /// What people said of a pair, where they labelled both sides of it.
    fn people(&self, unit: Unit, said: [&HashMap<&str, bool>; 2]) -> Result<Option<(bool, bool)>, CompareError> {
        let mut found = [None; 2];
        for (side, table) in [self.base, self.new].into_iter().enumerate() {
            let Some(case) = self.cases(unit)[side].cases().next() else { return Ok(None) };
            let number = table.n_variants().variant(case);
            let variant = table.variants().iter().find(|it| it.0 == number).map(|it| &it.1);
            let label = CaseLabel { id: &table.id(case)?, variant }.to_string();
            found[side] = said[side].get(label.as_str()).copied();
        }
        Ok(found[0].zip(found[1]))
    }

    /// Whether the verdicts of a task rest on other definitions on the two sides.
    pub(in super::super) fn judged_otherwise(&self, task: &str) -> bool {
        self.notes.iter().any(|it| it.task.as_deref() == Some(task) && it.finding.hinders().is_some())
    }
}
