//! Whether a judge agrees with people as it did before.

use serde::{Deserialize, Serialize};

use super::file::RatedCase;
use crate::statistics::{Confidence, Interval, Pairs, Word, paired_difference};

/// How far agreement differs from an earlier calibration, on the cases that both have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// The run of the earlier one.
    pub run_id: String,
    pub cases: u64,
    pub before: Option<f64>,
    pub now: Option<f64>,
    pub difference: Option<f64>,
    pub interval: Option<Interval>,
    pub p: Option<f64>,
    /// `better`, `worse` or `not_shown`.
    pub word: String,
}

impl Drift {
    pub fn between(run_id: &str, before: &[RatedCase], now: &[RatedCase], confidence: Confidence) -> Drift {
        let was = |case: &RatedCase| before.iter().find(|it| it.case == case.case).map(RatedCase::is_agreed);
        let mut table = Pairs::default();
        for case in now {
            match (was(case), case.is_agreed()) {
                (Some(true), true) => table.both += 1,
                (Some(true), false) => table.only_base += 1,
                (Some(false), true) => table.only_new += 1,
                (Some(false), false) => table.neither += 1,
                (None, _) => {}
            }
        }
        let n = table.n();
        let share = |agreed: u64| (n > 0).then(|| agreed as f64 / n as f64);
        let found = paired_difference(table, confidence);
        Drift {
            run_id: run_id.to_owned(),
            cases: n,
            before: share(table.both + table.only_base),
            now: share(table.both + table.only_new),
            difference: found.as_ref().map(|it| it.difference),
            interval: found.as_ref().map(|it| it.interval),
            p: found.as_ref().map(|it| it.p),
            word: found.map_or(Word::NotShown, |it| Word::of(it.interval)).as_str().to_owned(),
        }
    }
}
