//! Some of the pairs of units, as the conditions of a gate select them.

use std::collections::HashSet;

use jurat_core::contrast::{Repetitions, ScoreLine};
use jurat_store::run::{Column as RunColumn, Variant};

use super::lines::mean_score;
use super::{Contrasting, Unit};
use crate::contrast::CompareError;

/// Some of the pairs of units.
#[derive(Debug, Clone, Default)]
pub(in crate::contrast) struct Part {
    /// The numbers of rows of NEW; all of them when absent.
    pub(in crate::contrast) rows: Option<HashSet<u64>>,
    pub(in crate::contrast) prompt: Option<String>,
    pub(in crate::contrast) subject: Option<String>,
}

impl Contrasting<'_> {
    /// Whether a pair of units belongs to a part.
    fn is_in(&self, part: &Part, unit: Unit) -> bool {
        let group = &self.groups.groups[unit.group];
        let is = |wanted: &Option<String>, found: &Option<String>, of: &dyn Fn(&Variant) -> String| {
            wanted.as_ref().is_none_or(|wanted| {
                // What is not in the key is the same for all variants of NEW.
                found
                    .as_ref()
                    .map_or_else(|| self.new.variants().iter().all(|it| of(&it.1) == *wanted), |it| it == wanted)
            })
        };
        let row = u64::from(self.rows.shared[unit.row].1);
        part.rows.as_ref().is_none_or(|it| it.contains(&row))
            && is(&part.prompt, &group.prompt, &|it| it.prompt.clone())
            && is(&part.subject, &group.subject, &|it| it.subject.clone())
    }

    /// Does something with each pair of units of a part.
    pub(in crate::contrast) fn each_in(
        &self,
        part: &Part,
        column: RunColumn,
        mut take: impl FnMut(Unit, u32, &Repetitions, &Repetitions),
    ) -> Result<(), CompareError> {
        let of_base = self.base_column(column);
        let codes = self.codes(of_base, column)?;
        self.each(&codes, |unit, base, new| {
            if self.is_in(part, unit) {
                take(unit, self.cluster(unit), base, new);
            }
        });
        Ok(())
    }

    /// The column of BASE for the task that NEW has in a column.
    fn base_column(&self, column: RunColumn) -> RunColumn {
        let Some(task) = self.new.tasks().iter().find(|it| it.column == column) else { return RunColumn::CASE };
        self.base.tasks().iter().find(|it| it.id == task.id).map_or(RunColumn::CASE, |it| it.column)
    }

    /// The mean scores of each pair of units of a part, with their clusters.
    pub(in crate::contrast) fn scores_in(&self, part: &Part, column: RunColumn) -> Result<ScoreLine, CompareError> {
        let scores = [self.base.scores(self.base_column(column))?, self.new.scores(column)?];
        let mut line = ScoreLine::new(self.clustering);
        self.each_unit(|unit, cases| {
            if self.is_in(part, unit) {
                line.add(mean_score(&scores[0], cases[0]), mean_score(&scores[1], cases[1]), self.cluster(unit));
            }
        });
        Ok(line)
    }
}
