//! The lines of a comparison, column by column.

use jurat_core::contrast::provenance::{Finding, Note};
use jurat_core::contrast::{About, JudgementLine, LabelChanges, LabelLine, Line, RateLine, ScoreLine, adjust};
use jurat_core::plan::CaseIx;
use jurat_store::run::Code;

use super::changes::ChangedUnits;
use super::{Contrasting, Unit};
use crate::contrast::CompareError;
use crate::contrast::pairing::Column;
use crate::contrast::spending::{SpendingLines, UnitCases};
use crate::contrast::table::TaskInfo;

impl Contrasting<'_> {
    pub(super) fn task_line(
        &self,
        was: &TaskInfo,
        now: &TaskInfo,
        judgements: &mut JudgementLine,
        listed: [&mut ChangedUnits; 2],
        lines: &mut Vec<Line>,
    ) -> Result<(), CompareError> {
        let codes = self.codes(was.column, now.column)?;
        let is_counted = !was.is_condition && !now.is_condition;
        let mut line = RateLine::new(self.clustering);
        self.each(&codes, |unit, base, new| {
            let cluster = self.cluster(unit);
            line.add(base, new, cluster);
            if is_counted {
                judgements.add(base, new, cluster);
            }
        });
        let (base, new) = (Column::new(&codes[0], self.base), Column::new(&codes[1], self.new));
        let ended = |unit: Unit| {
            let ((base_row, new_row), group) = (self.rows.shared[unit.row], &self.groups.groups[unit.group]);
            [base.unit(base_row, &group.base), new.unit(new_row, &group.new)]
        };
        listed.into_iter().for_each(|it| it.add_task(&was.id, ended));
        let about = About::Task { id: was.id.clone(), is_condition: was.is_condition };
        let line = line.finish(about, self.options.confidence);
        if line.pairs + line.unknown > 0 && (was.judges || now.judges) {
            lines.push(line);
        }
        Ok(())
    }

    pub(super) fn score_line(&self, was: &TaskInfo, now: &TaskInfo) -> Result<Option<Line>, CompareError> {
        let scores = [self.base.scores(was.column)?, self.new.scores(now.column)?];
        if scores.iter().all(Vec::is_empty) {
            return Ok(None);
        }
        let mut line = ScoreLine::new(self.clustering);
        self.each_unit(|unit, cases| {
            line.add(mean_score(&scores[0], cases[0]), mean_score(&scores[1], cases[1]), self.cluster(unit));
        });
        let line = line.finish(About::Score { task: was.id.clone() }, self.options.confidence, self.options.score_test);
        Ok(Some(line).filter(|it| it.pairs + it.unknown > 0))
    }

    pub(super) fn label_changes(&self, was: &TaskInfo, now: &TaskInfo) -> Result<Option<LabelChanges>, CompareError> {
        if was.judges || now.judges {
            return Ok(None);
        }
        let labels = [self.base.labels(was.column)?, self.new.labels(now.column)?];
        let mut line = LabelLine::default();
        self.each_unit(|_, cases| {
            let first = |side: usize| {
                let of_case = |case: CaseIx| labels[side].get(case.index()).and_then(Option::as_deref);
                cases[side].cases().find_map(of_case)
            };
            line.add(first(0), first(1));
        });
        Ok(line.finish(&was.id))
    }

    /// A line for each value at the paths of `group_by`, over cases. The lines of one path are a family.
    pub(super) fn slice_lines(&mut self, codes: &[Vec<Option<Code>>; 2]) -> Result<Vec<Line>, CompareError> {
        let mut lines = Vec::new();
        for path in self.base.group_by() {
            let Some(values) = self.base.values(&path)? else {
                let words = format!("`{path}` of some rows of `{}`", self.base.side().name);
                self.notes.push(Note::new(Finding::RowsNotRead, words, ""));
                continue;
            };
            // By the place of their texts; those of rows without one are last.
            let n = values.texts().len();
            let mut slices: Vec<Option<RateLine>> = (0..=n).map(|_| None).collect();
            self.each(codes, |unit, base, new| {
                let place = values.number(u64::from(self.rows.shared[unit.row].0)).unwrap_or(n);
                let slice = slices[place].get_or_insert_with(|| RateLine::new(self.clustering));
                slice.add(base, new, self.cluster(unit));
            });
            let line = |(place, line): (usize, &Option<RateLine>)| {
                let about = About::Slice { path: path.to_string(), value: values.texts().get(place).cloned() };
                Some(line.as_ref()?.finish(about, self.options.confidence))
            };
            let mut of_path: Vec<Line> = slices.iter().enumerate().filter_map(line).collect();
            adjust(&mut of_path.iter_mut().collect::<Vec<_>>(), self.options.confidence);
            lines.extend(of_path);
        }
        Ok(lines)
    }

    pub(super) fn spending(&self, units: &[Unit]) -> Vec<Line> {
        let mut lines = SpendingLines::default();
        let asked = [&self.asked[0], &self.asked[1]];
        units.iter().for_each(|unit| lines.add(asked, self.cases(*unit), self.cluster(*unit)));
        lines.finish(self.options.confidence)
    }
}

/// The mean score of the cases of a unit that have one.
pub(in crate::contrast) fn mean_score(scores: &[Option<f64>], cases: UnitCases<'_>) -> Option<f64> {
    let of_case = |case: CaseIx| scores.get(case.index()).copied().flatten();
    let known: Vec<f64> = cases.cases().filter_map(of_case).collect();
    (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
}
