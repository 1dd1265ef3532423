//! Cases that were run several times: what repeating them showed.

use crate::statistics::{Interval, VarianceComponents};

/// What repeating cases showed. A *unit* is a row asked of one subject with one prompt, with all its repetitions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Repetition {
    /// pass@k and pass^k, for one attempt and for as many as there were, or for those that were asked for.
    pub attempts: Vec<Attempts>,
    /// How much of what varies is the noise of asking again; `None` where nothing was judged.
    pub variance: Option<VarianceComponents>,
    /// How many units were judged at least once.
    pub n_units: u64,
    /// How many of them passed sometimes and failed sometimes.
    pub n_flaky: u64,
}

/// How likely k attempts at a unit pass, estimated without bias.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Attempts {
    pub k: u64,
    /// At least one passes; `None` when no unit has k judged repetitions.
    pub any: Option<AttemptRate>,
    /// All pass.
    pub all: Option<AttemptRate>,
    /// Units with at least k judged repetitions.
    pub n_units: u64,
    /// Units with fewer, which say nothing about k attempts.
    pub n_too_few: u64,
}

/// A mean over units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AttemptRate {
    pub rate: f64,
    /// The 95 % interval; `None` for a single unit.
    pub interval: Option<Interval>,
}

/// A unit that passed sometimes and failed sometimes.
#[derive(Debug, Clone, PartialEq)]
pub struct FlakyCase {
    pub case: String,
    /// The prompt and the subject, when there are several.
    pub variant: String,
    pub passed: u64,
    pub judged: u64,
    /// The 95 % interval of its pass rate.
    pub interval: Option<Interval>,
    /// The tasks that passed sometimes and failed sometimes.
    pub tasks: Vec<String>,
}
