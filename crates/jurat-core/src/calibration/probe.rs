//! What a judge says when something changes that should not matter.

use serde::{Deserialize, Serialize};

use super::estimate::Estimate;
use super::rated::{Rated, gold};
use super::scale::{FAIL, PASS, Scale};
use crate::statistics::{
    Confidence, Interval, Pairs, Tally, Word, mde_paired, newcombe_unpaired, paired_difference, wilson,
};

/// What was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeKind {
    /// The options that the judge chooses from, in reverse.
    Order,
    /// The answer, with a neutral paragraph behind it that restates the question.
    Verbosity,
    /// Nothing: the same was asked again.
    Repeat,
}

impl ProbeKind {
    pub fn name(self) -> &'static str {
        match self {
            ProbeKind::Order => "order",
            ProbeKind::Verbosity => "verbosity",
            ProbeKind::Repeat => "repeat",
        }
    }
}

/// What the judge said about a case before, and what it says now; `None` where it gave no verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbePair {
    pub was: Option<bool>,
    pub now: Option<bool>,
}

/// What became of verdicts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbeResult {
    pub kind: ProbeKind,
    /// Cases with both verdicts, and those that lack one.
    pub cases: u64,
    pub n_unknown: u64,
    /// The share of verdicts that changed.
    pub flipped: Estimate,
    /// The pass rate now less that before.
    pub difference: Option<f64>,
    pub interval: Option<Interval>,
    pub p: Option<f64>,
    /// The smallest difference that would have been shown with 80 % probability.
    pub mde: Option<f64>,
    /// `better`, `worse` or `not_shown`.
    pub word: String,
}

/// The probability with which a difference should be shown.
const POWER: f64 = 0.8;

pub fn probed(kind: ProbeKind, pairs: &[ProbePair], confidence: Confidence) -> ProbeResult {
    let mut table = Pairs::default();
    let mut n_unknown = 0;
    for pair in pairs {
        match (pair.was, pair.now) {
            (Some(true), Some(true)) => table.both += 1,
            (Some(true), Some(false)) => table.only_base += 1,
            (Some(false), Some(true)) => table.only_new += 1,
            (Some(false), Some(false)) => table.neither += 1,
            _ => n_unknown += 1,
        }
    }
    let (n, flipped) = (table.n(), table.only_base + table.only_new);
    let found = paired_difference(table, confidence);
    let discordance = (n > 0).then(|| (flipped as f64 / n as f64).max(3.0 / n as f64));
    ProbeResult {
        kind,
        cases: n,
        n_unknown,
        flipped: Estimate {
            value: (n > 0).then(|| flipped as f64 / n as f64),
            interval: wilson(flipped, n, confidence),
            n: Some(n as f64),
        },
        difference: found.as_ref().map(|it| it.difference),
        interval: found.as_ref().map(|it| it.interval),
        p: found.as_ref().map(|it| it.p),
        mde: discordance.and_then(|it| mde_paired(n, it, confidence.alpha(), POWER)),
        word: found.map_or(Word::NotShown, |it| Word::of(it.interval)).as_str().to_owned(),
    }
}

/// Whether a judge passes wrong answers of its own provider more readily than those of others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SelfPreference {
    pub provider: String,
    /// What people failed and the judge passed, of what people failed: for its own provider, and for the others.
    pub own: Estimate,
    pub others: Estimate,
    pub difference: Option<f64>,
    pub interval: Option<Interval>,
    /// Why it was not tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Compares how often the judge passes what people failed, for subjects of its own provider and for those of others.
pub fn self_preference(rated: &[Rated], scale: &Scale, judge: &str, confidence: Confidence) -> SelfPreference {
    let provider = provider(judge).to_owned();
    let mut tallies = [Tally::default(); 2];
    for it in rated.iter().filter(|it| gold(&it.people, scale) == Some(FAIL as f64)) {
        let Some(subject) = &it.subject else { continue };
        let tally = &mut tallies[usize::from(self::provider(subject) != provider)];
        tally.judged += 1;
        tally.passed += u64::from(it.judge == PASS as f64);
    }
    let share = |it: Tally| Estimate {
        value: it.rate(),
        interval: wilson(it.passed, it.judged, confidence),
        n: Some(it.judged as f64),
    };
    let [own, others] = tallies;
    let reason = match () {
        () if *scale != Scale::PassFail => Some("the judge neither passes nor fails"),
        () if own.judged == 0 => Some("people failed no answer of the judge's own provider"),
        () if others.judged == 0 => Some("people failed no answer of another provider"),
        () => None,
    };
    let found = reason.is_none().then(|| newcombe_unpaired(others, own, confidence)).flatten();
    SelfPreference {
        provider,
        own: share(own),
        others: share(others),
        difference: found.as_ref().map(|it| it.difference),
        interval: found.as_ref().map(|it| it.interval),
        reason: reason.map(str::to_owned),
    }
}

/// The part of a model's name before its first slash.
fn provider(model: &str) -> &str {
    model.split('/').next().unwrap_or(model)
}
