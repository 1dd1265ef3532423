//! Sides that stopped because of what they saw: intervals and tests of a fixed number of rows do not hold for them.

use jurat_core::contrast::{About, Line};
use jurat_core::statistics::Interval;

use super::Contrasting;
use crate::stopping_record::ConditionRecord;

impl Contrasting<'_> {
    /// A line as it holds: where a side stopped early, without what holds for a fixed number of rows.
    pub(super) fn valid(&self, line: Line) -> Line {
        let is_stopped = [self.base, self.new].iter().any(|it| it.definition().stopped.is_some());
        if !is_stopped {
            return line;
        }
        let sequence = if line.about == About::Cases { self.sequence() } else { None };
        line.of_stopped(sequence)
    }

    /// The confidence sequence of the difference of cases that NEW had when it stopped, if it was compared with this BASE.
    fn sequence(&self) -> Option<Interval> {
        let stopping = self.new.stopping().filter(|it| it.base_run.as_ref() == Some(&self.base.side().run_id))?;
        let is_meant = |it: &&ConditionRecord| it.kind != "at_least" && it.selector.is_empty() && !it.is_score;
        let is_confident = |it: &&ConditionRecord| it.confidence >= self.options.confidence.level();
        let of_cases = stopping.conditions.iter().filter(is_meant).find(is_confident)?;
        of_cases.sequence.map(|(low, high)| Interval { low, high })
    }
}
