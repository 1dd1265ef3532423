//! What gates let pass and what they block.

use jurat_core::gate::{Bounds, GateVerdict, Wants, condition_verdict};
use jurat_core::statistics::{
    ClusterMean, Clusters, Confidence, Interval, Pairs, Side, Tally, amount_mean, amount_ratio, clopper_pearson,
    cluster_mean, effective_rate, normal_quantile, paired_difference, quantile_interval, wilson,
};

use crate::methods::{Says, nemo_gate, wald_paired, wald_rate};
use crate::paired;
use crate::random::Random;
use crate::table::{ALARMS, Counter, Row, Scale, Study, rows};

pub static STUDY: Study = Study {
    title: "Gates at their bound",
    about: "The worst that a condition must not let pass is a system that lies exactly at its bound. *passed*: how often it passes, which must not exceed 5 %; *failed*: how often jurat fails it; \
the rest is undecided. *normal*: the same rule with a Wald interval (for `at_least`, Wilson's). *as observed*: the bare figure against the bound, as `thresholds` and most products have it: a coin toss.",
    settings: &["condition", "cases", "details"],
    counted: &["passed: jurat", "passed: normal", "passed: as observed", "failed: jurat"],
    rows: at_the_bound,
};

pub static CHANGES: Study = Study {
    title: "What becomes of changes",
    about: "`not_worse: 0.05` over changes of several sizes. *as observed* compares the difference with the margin. NeMo Evaluator's rule passes without a pair that differs, blocks by the difference as observed, \
and calls everything else inconclusive until hundreds of pairs differ.",
    settings: &["cases", "differ", "true difference"],
    counted: &[
        "passed: jurat",
        "passed: as observed",
        "passed: NeMo",
        "failed: jurat",
        "failed: as observed",
        "failed: NeMo",
    ],
    rows: changes,
};

/// One-sided at 95 %: the two-sided interval at 90 %.
fn both() -> Confidence {
    Confidence::USUAL.two_sided().unwrap_or(Confidence::USUAL)
}

fn one_sided_z() -> f64 {
    normal_quantile(Confidence::USUAL.level())
}

/// A condition and a system that lies exactly at its bound.
#[derive(Debug, Clone, Copy)]
enum AtBound {
    AtLeast { cases: u64, rate: f64 },
    AtLeastClustered { clusters: u64, size: u64, rate: f64 },
    NotWorse { cases: u64, discordance: f64, margin: f64 },
    Better { cases: u64, discordance: f64 },
    Score { cases: u64, margin: f64 },
    Cost { cases: u64, ratio: f64 },
    Tokens { cases: u64 },
    LatencyP95 { cases: u64 },
}

/// What was found of a condition: bounds, the normal bounds, the bare figure.
struct Found {
    bounds: Bounds,
    normal: Option<Bounds>,
    observed: f64,
}

fn bounds(interval: Option<Interval>) -> Bounds {
    Bounds { low: interval.map(|it| it.low), high: interval.map(|it| it.high) }
}

fn settings() -> Vec<AtBound> {
    let mut settings = Vec::new();
    for cases in [20, 50, 200, 1_000] {
        settings.extend([0.5, 0.8, 0.9, 0.95].map(|rate| AtBound::AtLeast { cases, rate }));
        settings.extend([(0.1, 0.03), (0.2, 0.05), (0.3, 0.1)].map(|(discordance, margin)| AtBound::NotWorse {
            cases,
            discordance,
            margin,
        }));
        settings.push(AtBound::Better { cases, discordance: 0.2 });
        settings.push(AtBound::Score { cases, margin: 0.2 });
        settings.push(AtBound::Cost { cases, ratio: 1.2 });
        settings.push(AtBound::Tokens { cases });
        settings.push(AtBound::LatencyP95 { cases });
    }
    settings.extend([30, 50, 200].map(|clusters| AtBound::AtLeastClustered { clusters, size: 5, rate: 0.8 }));
    settings
}

fn at_the_bound(scale: Scale) -> Vec<Row> {
    let settings: Vec<AtBound> = settings().into_iter().filter(|it| it.cases() <= scale.most_cases).collect();
    rows(&settings, |it| it.row(scale.draws))
}

impl AtBound {
    fn row(&self, draws: u64) -> Row {
        let setting = self.words();
        let mut random = Random::of(&format!("gate {}", setting.join(" ")));
        let (bound, wants) = self.bound();
        let [mut passed, mut by_normal, mut as_observed, mut failed] = [Counter::default(); 4];
        let mut has_normal = false;
        for _ in 0..draws {
            let found = self.draw(&mut random);
            let verdict = condition_verdict(found.bounds, bound, wants);
            passed.add(verdict == GateVerdict::Pass);
            failed.add(verdict == GateVerdict::Fail);
            if let Some(normal) = found.normal {
                has_normal = true;
                by_normal.add(condition_verdict(normal, bound, wants) == GateVerdict::Pass);
            }
            let exactly = Bounds { low: Some(found.observed), high: Some(found.observed) };
            as_observed.add(condition_verdict(exactly, bound, wants) == GateVerdict::Pass);
        }
        let [passed, by_normal, as_observed] = [passed, by_normal, as_observed].map(|it| it.share().promised(ALARMS));
        let passed = passed.held_to(ALARMS);
        let shares = vec![Some(passed), has_normal.then_some(by_normal), Some(as_observed), Some(failed.share())];
        Row { setting, shares }
    }

    fn cases(&self) -> u64 {
        match *self {
            AtBound::AtLeastClustered { clusters, size, .. } => clusters * size,
            AtBound::AtLeast { cases, .. }
            | AtBound::NotWorse { cases, .. }
            | AtBound::Better { cases, .. }
            | AtBound::Score { cases, .. }
            | AtBound::Cost { cases, .. }
            | AtBound::Tokens { cases }
            | AtBound::LatencyP95 { cases } => cases,
        }
    }

    fn words(&self) -> Vec<String> {
        let (condition, details) = match self {
            AtBound::AtLeast { rate, .. } => (format!("`at_least: {rate}`"), String::new()),
            AtBound::AtLeastClustered { clusters, size, rate } => {
                (format!("`at_least: {rate}`"), format!("{clusters} clusters of {size}"))
            }
            AtBound::NotWorse { discordance, margin, .. } => {
                (format!("`not_worse: {margin}`"), format!("{discordance} differ"))
            }
            AtBound::Better { discordance, .. } => ("`better: 0`".to_owned(), format!("{discordance} differ")),
            AtBound::Score { margin, .. } => (format!("`score`, `not_worse: {margin}`"), String::new()),
            AtBound::Cost { ratio, .. } => (format!("`cost`, at most {ratio} of base"), "skewed".to_owned()),
            AtBound::Tokens { .. } => ("`tokens`, at most".to_owned(), "skewed".to_owned()),
            AtBound::LatencyP95 { .. } => ("`latency_p95_ms`, at most".to_owned(), "skewed".to_owned()),
        };
        vec![condition, self.cases().to_string(), details]
    }

    fn bound(&self) -> (f64, Wants) {
        match self {
            AtBound::AtLeast { rate, .. } | AtBound::AtLeastClustered { rate, .. } => (*rate, Wants::AtLeast),
            AtBound::NotWorse { margin, .. } | AtBound::Score { margin, .. } => (-margin, Wants::AtLeast),
            AtBound::Better { .. } => (0.0, Wants::MoreThan),
            AtBound::Cost { ratio, .. } => (*ratio, Wants::AtMost),
            AtBound::Tokens { .. } => (skewed_mean(), Wants::AtMost),
            AtBound::LatencyP95 { .. } => ((SPREAD * normal_quantile(0.95)).exp(), Wants::AtMost),
        }
    }

    fn draw(&self, random: &mut Random) -> Found {
        match *self {
            AtBound::AtLeast { cases, rate } => of_rate(random.count(cases, rate), cases),
            AtBound::AtLeastClustered { clusters, size, rate } => of_clusters(random, clusters, size, rate),
            AtBound::NotWorse { cases, discordance, margin } => of_pairs(random, cases, discordance, -margin),
            AtBound::Better { cases, discordance } => of_pairs(random, cases, discordance, 0.0),
            AtBound::Score { cases, margin } => {
                let differences: Vec<f64> = (0..cases).map(|_| random.normal() - margin).collect();
                of_mean(&differences, cluster_mean(&differences, &Clusters::Alone, both()))
            }
            AtBound::Cost { cases, ratio } => of_ratio(random, cases, ratio),
            AtBound::Tokens { cases } => {
                let tokens = skewed(random, cases);
                of_mean(&tokens, amount_mean(&tokens, &Clusters::Alone, both()))
            }
            AtBound::LatencyP95 { cases } => of_p95(&skewed(random, cases)),
        }
    }
}

/// The standard deviation of the logarithm of amounts: the largest of a hundred is about ten times the median of all.
const SPREAD: f64 = 0.8;

/// The mean of amounts whose median is 1.
fn skewed_mean() -> f64 {
    (SPREAD * SPREAD / 2.0).exp()
}

fn skewed(random: &mut Random, cases: u64) -> Vec<f64> {
    (0..cases).map(|_| (SPREAD * random.normal()).exp()).collect()
}

/// The bounds of a pass rate, as gates have them.
pub(crate) fn bounds_of_rate(passed: u64, cases: u64, confidence: Confidence) -> Bounds {
    let exact = |side| clopper_pearson(passed as f64, cases as f64, confidence, side);
    Bounds { low: exact(Side::Lower).map(|it| it.low), high: exact(Side::Upper).map(|it| it.high) }
}

/// The bounds of a difference, as gates have them.
pub(crate) fn bounds_of_pairs(pairs: Pairs, confidence: Confidence) -> Bounds {
    let found = confidence.two_sided().and_then(|it| paired_difference(pairs, it));
    bounds(found.map(|it| it.interval))
}

fn of_rate(passed: u64, cases: u64) -> Found {
    Found {
        bounds: bounds_of_rate(passed, cases, Confidence::USUAL),
        normal: Some(bounds(wilson(passed, cases, both()))),
        observed: passed as f64 / cases as f64,
    }
}

/// Half of the clusters are good, half bad.
fn of_clusters(random: &mut Random, clusters: u64, size: u64, rate: f64) -> Found {
    let spread = (1.0 - rate).min(rate);
    let mut cluster = || {
        let own = if random.chance(0.5) { rate + spread } else { rate - spread };
        Tally { passed: random.count(size, own), judged: size }
    };
    let tallies: Vec<Tally> = (0..clusters).map(|_| cluster()).collect();
    let end = |side| effective_rate(&tallies, Confidence::USUAL, side).and_then(|it| it.interval);
    let (passed, judged) = (tallies.iter().map(|it| it.passed).sum(), clusters * size);
    Found {
        bounds: Bounds { low: end(Side::Lower).map(|it| it.low), high: end(Side::Upper).map(|it| it.high) },
        normal: Some(bounds(Some(wald_rate(passed, judged, one_sided_z())))),
        observed: passed as f64 / judged as f64,
    }
}

fn of_pairs(random: &mut Random, pairs: u64, discordance: f64, difference: f64) -> Found {
    let pairs = paired::Setting { pairs, rate: 0.7, discordance, difference }.draw(random);
    Found {
        bounds: bounds_of_pairs(pairs, Confidence::USUAL),
        normal: Some(bounds(Some(wald_paired(pairs, one_sided_z())))),
        observed: pairs.difference().unwrap_or_default(),
    }
}

fn of_mean(values: &[f64], found: Option<ClusterMean>) -> Found {
    let normal = cluster_mean(values, &Clusters::Alone, both()).and_then(|it| {
        let reach = one_sided_z() * it.spread?.cr1.sqrt();
        Some(Interval { low: it.mean - reach, high: it.mean + reach })
    });
    Found {
        bounds: bounds(found.and_then(|it| it.interval)),
        normal: normal.map(|it| bounds(Some(it))),
        observed: found.map_or(0.0, |it| it.mean),
    }
}

/// What a case costs depends on the case, and a little on the side.
fn of_ratio(random: &mut Random, cases: u64, ratio: f64) -> Found {
    const OWN: f64 = 0.4;
    let base = skewed(random, cases);
    let new: Vec<f64> = base.iter().map(|it| ratio * it * (OWN * random.normal() - OWN * OWN / 2.0).exp()).collect();
    let found = amount_ratio(&base, &new, &Clusters::Alone, both());
    Found {
        bounds: bounds(found.and_then(|it| it.interval)),
        normal: None,
        observed: found.map_or(f64::NAN, |it| it.ratio),
    }
}

fn of_p95(values: &[f64]) -> Found {
    let found = quantile_interval(values, 0.95, both());
    Found {
        bounds: found.map_or_else(Bounds::default, |it| Bounds { low: it.low, high: it.high }),
        normal: None,
        observed: found.map_or(f64::NAN, |it| it.value),
    }
}

/// The margin of the changes.
const MARGIN: f64 = 0.05;

fn changes(scale: Scale) -> Vec<Row> {
    let mut settings = Vec::new();
    for pairs in [50, 200, 1_000].into_iter().filter(|it| *it <= scale.most_cases) {
        for discordance in [0.1, 0.3] {
            for difference in [-0.1, -0.05, -0.02, 0.0, 0.05] {
                settings.push(paired::Setting { pairs, rate: 0.7, discordance, difference });
            }
        }
    }
    rows(&settings, |it| change(it, scale.draws))
}

fn change(setting: &paired::Setting, draws: u64) -> Row {
    let words = vec![setting.pairs.to_string(), setting.discordance.to_string(), setting.difference.to_string()];
    let mut random = Random::of(&format!("changes {}", words.join(" ")));
    let mut passed = [Counter::default(); 3];
    let mut failed = [Counter::default(); 3];
    for _ in 0..draws {
        let pairs = setting.draw(&mut random);
        for (ix, says) in verdicts(pairs).into_iter().enumerate() {
            passed[ix].add(says == Says::Pass);
            failed[ix].add(says == Says::Block);
        }
    }
    let is_bad = setting.difference <= -MARGIN;
    let (mut passed, mut failed) = (passed.map(|it| it.share()), failed.map(|it| it.share()));
    let wrong = if is_bad { &mut passed } else { &mut failed };
    wrong.iter_mut().for_each(|it| *it = it.promised(ALARMS));
    wrong[0] = wrong[0].held_to(ALARMS);
    Row { setting: words, shares: passed.into_iter().chain(failed).map(Some).collect() }
}

fn verdicts(pairs: Pairs) -> [Says; 3] {
    let found = bounds_of_pairs(pairs, Confidence::USUAL);
    let ours = match condition_verdict(found, -MARGIN, Wants::AtLeast) {
        GateVerdict::Pass => Says::Pass,
        GateVerdict::Fail => Says::Block,
        GateVerdict::Undecided => Says::Inconclusive,
    };
    let is_below = pairs.difference().unwrap_or_default() < -MARGIN - 1e-12;
    [ours, if is_below { Says::Block } else { Says::Pass }, nemo_gate(pairs, MARGIN)]
}
