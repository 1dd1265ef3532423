//! What repeating cases showed: pass@k, the variance of asking again, and the cases that flip.

use std::collections::{BTreeMap, BTreeSet};

use jurat_core::plan::CaseIx;
use jurat_core::report::{AttemptRate, Attempts, FlakyCase, Repetition};
use jurat_core::statistics::{
    Clusters, Confidence, Interval, Side, Tally, clopper_pearson, cluster_mean, effective_rate, is_flaky, pass_all_k,
    pass_at_k, variance_components, wilson,
};
use jurat_store::run::{Code, Column, Variant};

use super::{RunView, ViewError};

/// A row asked of one subject with one prompt: its place, and the first of the variants that are its repetitions.
pub(super) type UnitKey = (u64, usize);

/// What repeating the cases of a run showed, for some numbers of attempts; `None` for a run whose cases were run once.
pub(super) fn repetition(view: &RunView, ks: &[u64]) -> Result<Option<Repetition>, ViewError> {
    let repeat = repeat(view);
    if repeat < 2 {
        return Ok(None);
    }
    let units: Vec<Tally> = tallies(view, Column::CASE)?.into_values().filter(|it| it.judged > 0).collect();
    let ks = if ks.is_empty() { vec![1, repeat] } else { ks.to_vec() };
    let outcomes = |it: &Tally| {
        let failed = (it.judged - it.passed) as usize;
        [vec![1.0; it.passed as usize], vec![0.0; failed]].concat()
    };
    Ok(Some(Repetition {
        attempts: ks.into_iter().map(|k| attempts(&units, k)).collect(),
        variance: variance_components(&units.iter().map(outcomes).collect::<Vec<Vec<f64>>>()),
        n_units: units.len() as u64,
        n_flaky: units.iter().filter(|it| is_flaky(**it)).count() as u64,
    }))
}

fn repeat(view: &RunView) -> u64 {
    u64::from(view.reader.head().variants.iter().map(|it| it.replicate + 1).max().unwrap_or(1))
}

fn attempts(units: &[Tally], k: u64) -> Attempts {
    let any: Vec<f64> = units.iter().filter_map(|it| pass_at_k(*it, k)).collect();
    let all: Vec<f64> = units.iter().filter_map(|it| pass_all_k(*it, k)).collect();
    let n_units = any.len() as u64;
    Attempts { k, any: rate(&any), all: rate(&all), n_units, n_too_few: units.len() as u64 - n_units }
}

/// The mean of the units' values. Where all are alike they show no variance, and each unit counts as one judgement.
fn rate(values: &[f64]) -> Option<AttemptRate> {
    let found = cluster_mean(values, &Clusters::Alone, Confidence::USUAL)?;
    let is_alike = values.iter().all(|it| (it - found.mean).abs() < 1e-12);
    let interval = match is_alike {
        true => alike(found.mean, values.len()),
        false => found.interval.map(|it| Interval { low: it.low.max(0.0), high: it.high.min(1.0) }),
    };
    Some(AttemptRate { rate: found.mean, interval })
}

fn alike(rate: f64, n: usize) -> Option<Interval> {
    let passed = u64::from(rate >= 0.5);
    match rate {
        0.0 | 1.0 => effective_rate(&vec![Tally { passed, judged: 1 }; n], Confidence::USUAL, Side::Both)?.interval,
        _ if n > 1 => clopper_pearson(rate * n as f64, n as f64, Confidence::USUAL, Side::Both),
        _ => None,
    }
}

/// The units that passed sometimes and failed sometimes, the most undecided first.
pub(super) fn flaky(view: &RunView) -> Result<Vec<FlakyCase>, ViewError> {
    let units = tallies(view, Column::CASE)?;
    let mut flaky: Vec<(UnitKey, Tally)> = units.into_iter().filter(|it| is_flaky(it.1)).collect();
    let distance = |it: &Tally| it.rate().map_or(1.0, |rate| (rate - 0.5).abs());
    flaky.sort_by(|(one_key, one), (other_key, other)| {
        distance(one).total_cmp(&distance(other)).then_with(|| one_key.cmp(other_key))
    });
    let tasks = flipping_tasks(view)?;
    flaky.into_iter().map(|(key, tally)| flaky_case(view, key, tally, tasks.get(&key))).collect()
}

fn flaky_case(view: &RunView, key: UnitKey, tally: Tally, tasks: Option<&Vec<String>>) -> Result<FlakyCase, ViewError> {
    let head = view.reader.head();
    let case_ix: CaseIx = head.n_variants().case(key.0, key.1);
    let case = view.reader.case(case_ix)?.map_or_else(String::new, |it| it.id.clone());
    let variant = head.variants.get(key.1);
    let names = variant.into_iter().flat_map(|it| [it.prompt.as_str(), it.subject.as_str()]);
    let names: Vec<&str> = names.filter(|it| !it.is_empty()).collect();
    Ok(FlakyCase {
        case,
        variant: names.join(" / "),
        passed: tally.passed,
        judged: tally.judged,
        interval: wilson(tally.passed, tally.judged, Confidence::USUAL),
        tasks: tasks.cloned().unwrap_or_default(),
    })
}

/// The tasks of each unit that passed sometimes and failed sometimes.
fn flipping_tasks(view: &RunView) -> Result<BTreeMap<UnitKey, Vec<String>>, ViewError> {
    let mut found: BTreeMap<UnitKey, Vec<String>> = BTreeMap::new();
    for (ix, task) in view.plan.task_ixs().zip(&view.suite.tasks) {
        for (key, _) in tallies(view, Column::from(ix))?.into_iter().filter(|it| is_flaky(it.1)) {
            found.entry(key).or_default().push(task.id.value.clone());
        }
    }
    Ok(found)
}

/// The units that passed sometimes and failed sometimes.
pub(super) fn flaky_units(view: &RunView) -> Result<BTreeSet<UnitKey>, ViewError> {
    Ok(tallies(view, Column::CASE)?.into_iter().filter(|it| is_flaky(it.1)).map(|(key, _)| key).collect())
}

/// How often each unit was judged in a column, and passed. Repetitions that could not be judged are in neither.
fn tallies(view: &RunView, column: Column) -> Result<BTreeMap<UnitKey, Tally>, ViewError> {
    let head = view.reader.head();
    let n_variants = head.n_variants();
    let firsts: Vec<usize> = first_repetitions(view);
    let mut units: BTreeMap<UnitKey, Tally> = BTreeMap::new();
    view.reader.each_verdict(column, &mut |case, code| {
        let variant = n_variants.variant(case);
        let key = (n_variants.place(case), firsts.get(variant).copied().unwrap_or(variant));
        let tally = units.entry(key).or_default();
        tally.judged += u64::from(matches!(code, Code::Passed | Code::Failed));
        tally.passed += u64::from(code == Code::Passed);
    })?;
    Ok(units)
}

/// The first variant with the same prompt and subject, for each variant.
pub(super) fn first_repetitions(view: &RunView) -> Vec<usize> {
    let variants = &view.reader.head().variants;
    let first = |it: &Variant| {
        variants.iter().position(|other| other.prompt == it.prompt && other.subject == it.subject).unwrap_or(0)
    };
    variants.iter().map(first).collect()
}
