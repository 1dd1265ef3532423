//! Conditions that count cases, and estimate nothing.

use jurat_core::contrast::{Ending, Repetitions, Standing};
use jurat_core::gate::{Condition, GateVerdict, RepetitionRule};
use jurat_core::plan::CaseIx;

use super::words::percent;
use super::{Found, Gating};
use crate::contrast::CompareError;
use crate::contrast::contrasting::Part;

/// Whether a unit passes, by the rule for repetitions; `None` when that cannot be told.
pub(crate) fn passes(rule: RepetitionRule, unit: &Repetitions) -> Option<bool> {
    let (passed, failed) = (unit.passed(), unit.count(Ending::Failed));
    let unknown = unit.n() - unit.judged();
    let (least, most) = match rule {
        RepetitionRule::All => (failed == 0 && unknown == 0, failed == 0),
        RepetitionRule::Majority => (passed * 2 > unit.n(), (passed + unknown) * 2 > unit.n()),
        RepetitionRule::Any => (passed > 0, passed + unknown > 0),
    };
    (least == most).then_some(least)
}

impl Gating<'_> {
    pub(super) fn no_new_failures(&self, condition: &Condition, part: &Part) -> Result<Found, CompareError> {
        let Some(pair) = self.pair else { return Ok(Found::default()) };
        let (mut failed, mut n, mut unknown, mut n_selected) = (Vec::new(), 0, 0, 0);
        pair.each_in(part, self.column(condition), |unit, _, base, new| {
            n_selected += 1;
            // A repeated case of BASE that passed at least once is one that can fail anew.
            if base.passed() == 0 || passes(condition.repetitions, base) == Some(false) {
                return;
            }
            n += 1;
            match passes(condition.repetitions, new) {
                Some(true) => {}
                Some(false) => failed.push(pair.cases(unit)[1].first()),
                None => unknown += 1,
            }
        })?;
        self.counted(&failed, (n, n_selected), unknown, "failed, and passed in BASE", "no new failures")
    }

    pub(super) fn all_pass(&self, condition: &Condition, part: &Part) -> Result<Found, CompareError> {
        let (mut failed, mut n, mut unknown) = (Vec::new(), 0, 0);
        self.own.each_in(part, self.column(condition), |unit, _, base, new| {
            if base.against(new) == Standing::NotApplicable {
                return;
            }
            n += 1;
            match passes(condition.repetitions, new) {
                Some(true) => {}
                Some(false) => failed.push(self.own.cases(unit)[1].first()),
                None => unknown += 1,
            }
        })?;
        self.counted(&failed, (n, n), unknown, "failed", "all pass")
    }

    fn counted(
        &self,
        failed: &[CaseIx],
        (n, n_selected): (u64, u64),
        unknown: u64,
        words: &str,
        wanted: &str,
    ) -> Result<Found, CompareError> {
        let verdict = match (failed.is_empty(), unknown == 0 && n_selected > 0) {
            (false, _) => GateVerdict::Fail,
            (true, true) => GateVerdict::Pass,
            (true, false) => GateVerdict::Undecided,
        };
        let reason = match verdict {
            GateVerdict::Undecided if n_selected == 0 => "it selects no case".to_owned(),
            GateVerdict::Undecided => format!("{unknown} of {n} cases could not be judged"),
            _ => String::new(),
        };
        const NAMED: usize = 3;
        let mut failed = failed.to_vec();
        failed.sort_unstable();
        let names = failed.iter().take(NAMED).map(|it| self.new.id(*it)).collect::<Result<Vec<_>, _>>()?;
        let more = failed.len().saturating_sub(NAMED);
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        let words = match failed.len() {
            0 => format!("none of {n} failed"),
            _ => format!("{}{rest} {words}", names.join(", ")),
        };
        let value = Some(failed.len() as f64);
        Ok(Found {
            value,
            counted: Some(verdict),
            words,
            wanted_words: wanted.to_owned(),
            reason,
            pairs: n,
            ..Found::default()
        })
    }

    pub(super) fn errors(&self, condition: &Condition, part: &Part, most: f64) -> Result<Found, CompareError> {
        let (mut n, mut errors) = (0, 0);
        self.own.each_in(part, self.column(condition), |_, _, _, unit| {
            n += u64::from(unit.n());
            errors += u64::from(unit.count(Ending::Error) + unit.count(Ending::NotRun));
        })?;
        Ok(share_found(errors, n, most))
    }

    pub(super) fn flaky(&self, condition: &Condition, part: &Part, most: f64) -> Result<Found, CompareError> {
        let (mut n, mut flaky) = (0, 0);
        self.own.each_in(part, self.column(condition), |_, _, _, unit| {
            if unit.judged() > 1 {
                n += 1;
                flaky += u64::from(unit.is_flaky());
            }
        })?;
        let mut found = share_found(flaky, n, most);
        if n == 0 {
            found.reason = "no case was run more than once".to_owned();
        }
        Ok(found)
    }
}

fn share_found(n_found: u64, n: u64, most: f64) -> Found {
    let share = (n > 0).then(|| n_found as f64 / n as f64);
    let verdict = match share {
        None => GateVerdict::Undecided,
        Some(share) if share <= most => GateVerdict::Pass,
        Some(_) => GateVerdict::Fail,
    };
    Found {
        value: share,
        counted: Some(verdict),
        words: format!("{n_found} of {n} ({})", percent(share)),
        wanted: most,
        wanted_words: format!("at most {}", percent(Some(most))),
        reason: if n == 0 { "it selects no case".to_owned() } else { String::new() },
        pairs: n,
        ..Found::default()
    }
}
