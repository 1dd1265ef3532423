//! Cases that people and the judge rated.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::scale::Scale;

/// A case that people labelled and the judge judged.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rated {
    /// What the case is called, with its prompt, subject and repetition where there are several.
    pub case: String,
    pub subject: Option<String>,
    pub judge: f64,
    /// What each annotator said, in the order of the annotators.
    pub people: Vec<Option<f64>>,
    /// The part of the cases that it was drawn from, and how many cases it stands for.
    pub stratum: Option<String>,
    pub weight: Option<f64>,
}

/// How the judge rated all cases of the run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Population {
    /// How many cases got each label of the scale; empty for scores.
    pub by_label: Vec<u64>,
}

/// How the cases that people labelled were chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Design {
    /// A number from each verdict of the judge: every label stands for as many cases as its verdict has for each label.
    Strata,
    /// By weights that the sheet has.
    Weights,
    /// A simple random part of the run.
    Random,
    /// It is not known. Figures hold for the labelled cases alone.
    Unknown,
}

impl Design {
    /// How cases were chosen, as far as their labels show it.
    pub fn of(rated: &[Rated], is_random: bool) -> Design {
        let all = |is: &dyn Fn(&Rated) -> bool| !rated.is_empty() && rated.iter().all(is);
        if is_random {
            Design::Random
        } else if all(&|it| it.stratum.is_some()) && is_by_verdict(rated) {
            Design::Strata
        } else if all(&|it| it.weight.is_some()) {
            Design::Weights
        } else {
            Design::Unknown
        }
    }

    pub fn is_weighted(self) -> bool {
        matches!(self, Design::Strata | Design::Weights)
    }
}

/// Whether each stratum holds one verdict of the judge, and each verdict is in one stratum.
fn is_by_verdict(rated: &[Rated]) -> bool {
    let mut verdicts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut strata: BTreeMap<u64, &str> = BTreeMap::new();
    rated.iter().all(|it| {
        let (stratum, verdict) = (it.stratum.as_deref().unwrap_or_default(), it.judge.to_bits());
        *verdicts.entry(stratum).or_insert(verdict) == verdict && *strata.entry(verdict).or_insert(stratum) == stratum
    })
}

/// What people say of a case together: the label that more than half of them gave, the median of scores. `None` when no label has a majority.
///
/// ```
/// use jurat_core::calibration::{Scale, gold};
///
/// assert_eq!(gold(&[Some(1.0), Some(1.0), Some(0.0)], &Scale::PassFail), Some(1.0));
/// assert_eq!(gold(&[Some(1.0), None, Some(0.0)], &Scale::PassFail), None);
/// assert_eq!(gold(&[Some(1.0), Some(4.0)], &Scale::Scores), Some(2.5));
/// ```
pub fn gold(people: &[Option<f64>], scale: &Scale) -> Option<f64> {
    let mut given: Vec<f64> = people.iter().flatten().copied().collect();
    given.sort_by(f64::total_cmp);
    let half = given.len() / 2;
    let middle = *given.get(half)?;
    if *scale == Scale::Scores {
        return Some(if given.len() % 2 == 1 { middle } else { f64::midpoint(given[half - 1], middle) });
    }
    // What more than half gave is in the middle.
    (given.iter().filter(|it| **it == middle).count() * 2 > given.len()).then_some(middle)
}
