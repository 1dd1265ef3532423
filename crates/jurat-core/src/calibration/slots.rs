//! A judge with itself, and judges with each other: what several of them said about one answer.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::estimate::Estimate;
use crate::statistics::{Confidence, Confusion, Level, Weights, cohen_kappa, krippendorff_alpha, wilson};

/// How far judges agree that were asked about the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SlotFigures {
    /// Cases with at least two replies.
    pub cases: u64,
    /// The share of cases in which all replies are equal.
    pub equal: Estimate,
    pub alpha: Estimate,
    /// Each two of them; empty where it is one judge that was asked several times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<SlotPair>,
}

/// Two judges of a panel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SlotPair {
    pub one: String,
    pub other: String,
    pub cases: u64,
    pub kappa: Estimate,
}

/// How far replies agree: a list for each case, with what each slot said. `names` are the judges of a panel; none where one judge has all slots. `None` without a case that has two.
pub fn slot_figures(said: &[Vec<Option<String>>], names: &[String], confidence: Confidence) -> Option<SlotFigures> {
    let mut values: BTreeMap<&str, usize> = said.iter().flatten().flatten().map(|it| (it.as_str(), 0)).collect();
    values.values_mut().enumerate().for_each(|(ix, it)| *it = ix);
    let mut ratings: Vec<Vec<Option<usize>>> = said
        .iter()
        .map(|case| case.iter().map(|it| it.as_deref().map(|it| values[it])).collect::<Vec<_>>())
        .filter(|it| it.iter().flatten().count() > 1)
        .collect();
    ratings.sort_unstable();
    let is_equal = |it: &&Vec<Option<usize>>| {
        let mut given = it.iter().flatten();
        let first = given.next();
        given.all(|it| Some(it) == first)
    };
    let (cases, equal) = (ratings.len() as u64, ratings.iter().filter(is_equal).count() as u64);
    let as_numbers: Vec<Vec<Option<f64>>> =
        ratings.iter().map(|it| it.iter().map(|it| it.map(|it| it as f64)).collect()).collect();
    let alpha = krippendorff_alpha(&as_numbers, Level::Nominal, confidence);
    let share = (cases > 0).then(|| equal as f64 / cases as f64);
    (cases > 0).then(|| SlotFigures {
        cases,
        equal: Estimate { value: share, interval: wilson(equal, cases, confidence), n: Some(cases as f64) },
        alpha: Estimate::new(alpha.alpha, alpha.interval),
        pairs: pairs(&ratings, names, values.len(), confidence),
    })
}

fn pairs(ratings: &[Vec<Option<usize>>], names: &[String], labels: usize, confidence: Confidence) -> Vec<SlotPair> {
    let pair = |one: usize, other: usize| {
        let mut rows = vec![vec![0.0; labels]; labels];
        let mut cases = 0;
        for case in ratings {
            if let (Some(Some(left)), Some(Some(right))) = (case.get(one), case.get(other)) {
                rows[*left][*right] += 1.0;
                cases += 1;
            }
        }
        let found = Confusion::new(rows).and_then(|it| cohen_kappa(&it, Weights::None, confidence));
        let kappa = found.map_or_else(Estimate::default, |it| Estimate::new(it.kappa, it.interval));
        SlotPair { one: names[one].clone(), other: names[other].clone(), cases, kappa }
    };
    let n = names.len();
    (0..n).flat_map(|one| (one + 1..n).map(move |other| (one, other))).map(|(one, other)| pair(one, other)).collect()
}
