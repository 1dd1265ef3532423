//! What the answers of two sides took, and which of them are the same.

use std::collections::{HashMap, HashSet};

use jurat_core::contrast::spending::{Spending, latency_line, ratio_line};
use jurat_core::contrast::{About, Line, Payer};
use jurat_core::plan::{CaseIx, VariantCount};
use jurat_core::statistics::Confidence;

use super::selection::Group;
use super::table::{Amount, Asked, CaseAsked, Table};

/// The cases of a unit: a row with some of its variants.
#[derive(Debug, Clone, Copy)]
pub(super) struct UnitCases<'u> {
    n_variants: VariantCount,
    row: u32,
    variants: &'u [usize],
}

impl<'u> UnitCases<'u> {
    pub(super) fn of(table: &dyn Table, row: u32, variants: &'u [usize]) -> UnitCases<'u> {
        UnitCases { n_variants: table.n_variants(), row, variants }
    }

    pub(super) fn cases(self) -> impl Iterator<Item = CaseIx> + Clone + use<'u> {
        self.variants.iter().map(move |it| self.n_variants.case(self.row.into(), *it))
    }

    /// The case that stands for the unit.
    pub(super) fn first(self) -> CaseIx {
        self.cases().next().unwrap_or_else(|| self.n_variants.first(self.row.into()))
    }
}

/// The lines about cost, tokens and latency, gathered pair by pair.
#[derive(Debug, Default)]
pub(super) struct SpendingLines {
    cost: [Spending; 2],
    input: [Spending; 2],
    output: [Spending; 2],
    latency: Spending,
    reused: u64,
}

impl SpendingLines {
    pub(super) fn add(&mut self, asked: [&Asked; 2], units: [UnitCases<'_>; 2], cluster: u32) {
        for (ix, of) in [|it: &CaseAsked| it.subject, |it: &CaseAsked| it.judging].into_iter().enumerate() {
            let [base, new] = [0, 1].map(|side| amounts(asked[side], units[side], of));
            let mean = |amounts: &[Amount], what: fn(&Amount) -> Option<f64>| {
                let known: Option<Vec<f64>> = amounts.iter().map(what).collect();
                known.filter(|it| !it.is_empty()).map(|it| it.iter().sum::<f64>() / it.len() as f64)
            };
            let both = |what: fn(&Amount) -> Option<f64>| (mean(&base, what), mean(&new, what));
            let (was, now) = both(|it| (it.unpriced == 0).then_some(it.usd));
            self.cost[ix].add(was, now, cluster);
            let (was, now) = both(|it| Some(it.input as f64));
            self.input[ix].add(was, now, cluster);
            let (was, now) = both(|it| Some(it.output as f64));
            self.output[ix].add(was, now, cluster);
            if ix == 0 {
                let (was, now) = both(|it| Some(it.seconds));
                self.latency.add(was, now, cluster);
                self.reused += base.iter().chain(&new).map(|it| it.n_reused).sum::<u64>();
            }
        }
    }

    pub(super) fn finish(&self, confidence: Confidence) -> Vec<Line> {
        let mut lines = Vec::new();
        for (ix, payer) in [Payer::Subject, Payer::Judging].into_iter().enumerate() {
            let parts = [
                (About::Cost(payer), &self.cost),
                (About::InputTokens(payer), &self.input),
                (About::OutputTokens(payer), &self.output),
            ];
            for (about, of) in parts {
                let is_there = of[ix].base.iter().chain(&of[ix].new).any(|it| *it > 0.0) || of[ix].left_out > 0;
                if is_there {
                    lines.push(ratio_line(about, &of[ix], confidence));
                }
            }
        }
        if self.latency.base.iter().chain(&self.latency.new).any(|it| *it > 0.0) {
            lines.push(latency_line(&self.latency, self.reused, confidence));
        }
        lines
    }
}

/// What the cases of a unit took; cases in which nothing was asked are left out.
pub(super) fn amounts(asked: &Asked, unit: UnitCases<'_>, of: fn(&CaseAsked) -> Amount) -> Vec<Amount> {
    let of_case = |case: CaseIx| asked.cases.get(&case).map(of).filter(|it| it.answers > 0);
    unit.cases().filter_map(of_case).collect()
}

/// Whether both sides rest on the same answer: each side has one, and they are equal.
pub(super) fn same_answer(asked: [&Asked; 2], units: [UnitCases<'_>; 2]) -> Option<bool> {
    let answers = |side: usize| -> Vec<u128> {
        let of_case = |case: CaseIx| asked[side].cases.get(&case).map(|it| it.answer).filter(|it| *it != 0);
        units[side].cases().filter_map(of_case).collect()
    };
    let (base, new) = (answers(0), answers(1));
    (!base.is_empty() && !new.is_empty()).then(|| base == new)
}

/// The cases of a side that rest on the recorded answer that a repetition before them rests on too.
pub(super) fn reused_cases(
    asked: &Asked,
    groups: &[Group],
    is_base: bool,
    n_variants: VariantCount,
) -> HashSet<CaseIx> {
    let mut dropped = HashSet::new();
    if asked.cases.values().all(|it| it.reused.is_none()) {
        return dropped;
    }
    let group_of: HashMap<usize, usize> = groups
        .iter()
        .enumerate()
        .flat_map(|(ix, it)| if is_base { &it.base } else { &it.new }.iter().map(move |variant| (*variant, ix)))
        .collect();
    let mut seen = HashSet::new();
    let mut cases: Vec<CaseIx> = asked.cases.keys().copied().collect();
    cases.sort_unstable();
    for case in cases {
        let Some(group) = group_of.get(&n_variants.variant(case)) else { continue };
        if let Some(reused) = asked.cases[&case].reused
            && !seen.insert((n_variants.place(case), *group, reused))
        {
            dropped.insert(case);
        }
    }
    dropped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contrast::table::CaseAsked;

    #[test]
    fn repetitions_that_rest_on_one_recorded_answer_count_once() {
        // Two rows with three repetitions each. The first two of the first row rest on one answer of another day.
        let group = Group { base: vec![0, 1, 2], new: vec![0, 1, 2], ..Group::default() };
        let reused = |answer: Option<u128>| CaseAsked { reused: answer, ..CaseAsked::default() };
        let answers = [Some(7), Some(7), Some(8), Some(7), None, None];
        let cases = CaseIx::each().zip(answers.map(reused)).collect();
        let asked = Asked { cases, ..Asked::default() };
        assert_eq!(reused_cases(&asked, &[group], false, VariantCount::of(3)), HashSet::from([CaseIx::numbered(1)]));
    }
}
