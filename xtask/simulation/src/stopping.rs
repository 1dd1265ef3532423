//! Runs that stop once they know enough.

use std::collections::BTreeSet;

use jurat_core::gate::{GateVerdict, Wants, condition_verdict};
use jurat_core::statistics::{Confidence, Pairs, e_rate, pairs_needed_not_worse, rows_needed};
use jurat_core::stopping::{Claim, Decision, LEAST_STEPS, Monitor, Order, Prefix, Risk, Rule, Step};

use crate::gates::{bounds_of_pairs, bounds_of_rate};
use crate::random::Random;
use crate::table::{ALARMS, Bar, Counter, Row, Scale, Share, Study, rows};

pub static SAVED: Study = Study {
    title: "Stopping early: what it saves",
    about: "`--stop-when decided` at 95 %. *needed* is the number of rows that a fixed test with a power of 90 % takes, *rows* how many there are. *passed*: how often a system at the bound passes, which must not exceed 5 %, \
and how often one that is as expected passes, beside the fixed test on the rows that are needed. *calls*: the mean number of rows that are asked, as a share of those that are needed, for five truths and their mean. With rows to spare, stopping \
early saves about half of the calls on the average of these five truths at equal error: less where things are as expected, and least half-way to the bound. With no more rows than needed, power is given away.",
    settings: &["condition", "expected", "needed", "rows"],
    counted: &[
        "passed: at the bound",
        "passed: as expected",
        "passed: fixed test",
        "calls: twice as bad",
        "calls: at the bound",
        "calls: half-way",
        "calls: as expected",
        "calls: better",
        "calls: mean",
    ],
    rows: saved,
};

pub static ORDERS: Study = Study {
    title: "Stopping early: why the order matters",
    about: "A system at the bound, in a file that has the easy rows first, with 50 requests at a time; hard rows take eight times as long. jurat runs rows in a random order that the seed of the run fixes, and looks at the finished \
beginning of that order alone. Looking at rows in the order of the file, or as they arrive, lets bad systems pass: the same monitor, wrongly fed.",
    settings: &["condition", "rows"],
    counted: &["passed: jurat", "passed: order of the file", "passed: order of arrival"],
    rows: orders,
};

/// A condition, and what is thought to be.
#[derive(Debug, Clone, Copy)]
enum Wanted {
    Rate { least: f64, expected: f64 },
    NotWorse { margin: f64, discordance: f64 },
}

const WANTED: [Wanted; 6] = [
    Wanted::Rate { least: 0.85, expected: 0.92 },
    Wanted::Rate { least: 0.6, expected: 0.7 },
    Wanted::Rate { least: 0.95, expected: 0.98 },
    Wanted::NotWorse { margin: 0.03, discordance: 0.08 },
    Wanted::NotWorse { margin: 0.04, discordance: 0.15 },
    Wanted::NotWorse { margin: 0.08, discordance: 0.25 },
];

/// What one row gave: whether it passed, or by how much it changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Passed(bool),
    Changed(i8),
}

impl Found {
    fn step(self) -> Step {
        match self {
            Found::Passed(passed) => Step::share(f64::from(u8::from(passed))),
            Found::Changed(by) => Step::pair(f64::from(u8::from(by < 0)), f64::from(u8::from(by > 0))),
        }
    }
}

impl Wanted {
    fn words(self) -> [String; 2] {
        match self {
            Wanted::Rate { least, expected } => [format!("`at_least: {least}`"), expected.to_string()],
            Wanted::NotWorse { margin, discordance } => {
                [format!("`not_worse: {margin}`"), format!("0, {discordance} differ")]
            }
        }
    }

    fn claim(self) -> Claim {
        match self {
            Wanted::Rate { least, expected } => Claim::Rate { least, expected: Some(expected) },
            Wanted::NotWorse { margin, .. } => Claim::not_worse(margin),
        }
    }

    /// The rows that a fixed test takes.
    fn needed(self) -> u64 {
        let found = match self {
            Wanted::Rate { least, expected } => rows_needed(least, expected, Confidence::USUAL, 0.9).map(|it| it.rows),
            Wanted::NotWorse { margin, discordance } => {
                pairs_needed_not_worse(margin, 0.0, discordance, Confidence::USUAL, 0.9)
            }
        };
        found.expect("what is expected is better than the bound")
    }

    /// Twice as bad as the bound, at it, half-way to what is expected, as expected, and better.
    fn truths(self) -> [f64; 5] {
        let (bound, gap) = match self {
            Wanted::Rate { least, expected } => (least, expected - least),
            Wanted::NotWorse { margin, .. } => (-margin, margin),
        };
        [-1.0, 0.0, 0.5, 1.0, 2.0].map(|it| (bound + it * gap).min(1.0))
    }

    fn draw(self, truth: f64, random: &mut Random) -> Found {
        match self {
            Wanted::Rate { .. } => Found::Passed(random.chance(truth)),
            Wanted::NotWorse { discordance, .. } => Found::Changed(match random.share() {
                it if it < (discordance - truth) / 2.0 => -1,
                it if it < discordance => 1,
                _ => 0,
            }),
        }
    }

    /// The test of a gate over all rows.
    fn passes(self, seen: &Seen, confidence: Confidence) -> bool {
        let (bounds, bound) = match self {
            Wanted::Rate { least, .. } => (bounds_of_rate(seen.passed, seen.n, confidence), least),
            Wanted::NotWorse { margin, .. } => (bounds_of_pairs(seen.pairs(), confidence), -margin),
        };
        condition_verdict(bounds, bound, Wants::AtLeast) == GateVerdict::Pass
    }
}

/// What was seen so far, in numbers.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    n: u64,
    passed: u64,
    worse: u64,
    better: u64,
}

impl Seen {
    fn add(&mut self, found: Found) {
        self.n += 1;
        match found {
            Found::Passed(passed) => self.passed += u64::from(passed),
            Found::Changed(by) => {
                self.worse += u64::from(by < 0);
                self.better += u64::from(by > 0);
            }
        }
    }

    fn pairs(&self) -> Pairs {
        Pairs { both: self.n - self.worse - self.better, only_base: self.worse, only_new: self.better, neither: 0 }
    }
}

/// The numbers of passes at which the monitor of a rate decides, after each row. Its evidence depends on counts alone, so they are computed once; that
/// they are those of [`Monitor`] is a test.
#[derive(Debug)]
struct Limits(Vec<Limit>);

#[derive(Debug, Clone, Copy)]
struct Limit {
    least_passing: u64,
    /// One more than the most passes at which it fails, and at which it is given up.
    fails_below: u64,
    hopeless_below: u64,
}

impl Limits {
    fn of(least: f64, expected: f64, risk: Risk, rows: u64) -> Limits {
        let enough = -risk.monitor.ln();
        let limit = |n: u64| {
            let evidence =
                |passed: u64| e_rate(passed, n - passed, least, Some(expected)).expect("the threshold is a share");
            Limit {
                least_passing: first(n, |it| evidence(it).ln_above >= enough),
                fails_below: first(n, |it| evidence(it).ln_below < enough),
                hopeless_below: first(n, |it| evidence(it).ln_hopeless.is_none_or(|it| it < 10_f64.ln())),
            }
        };
        Limits((0..=rows).map(limit).collect())
    }

    fn rule(&self, seen: &Seen) -> Option<Rule> {
        let limit = &self.0[seen.n as usize];
        match seen.passed {
            _ if seen.n < LEAST_STEPS => None,
            it if it >= limit.least_passing => Some(Rule::Pass),
            it if it < limit.fails_below => Some(Rule::Fail),
            it if it < limit.hopeless_below => Some(Rule::Hopeless),
            _ => None,
        }
    }
}

/// The first number up to `n` for which something holds that then holds for all larger ones; one more than `n` when there is none.
fn first(n: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, n + 1);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    low
}

/// A monitor of either kind, fed row by row.
enum Watch<'w> {
    Counts(&'w Limits, Seen),
    Bets(Box<Monitor>),
}

impl Watch<'_> {
    fn add(&mut self, found: Found) -> Option<Rule> {
        match self {
            Watch::Counts(limits, seen) => {
                seen.add(found);
                limits.rule(seen)
            }
            Watch::Bets(monitor) => monitor.add(found.step()).map(|Decision { rule, .. }| rule),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Setting {
    wanted: Wanted,
    /// How many times the rows that are needed.
    times: u64,
}

fn saved(scale: Scale) -> Vec<Row> {
    let settings = [2, 1].into_iter().flat_map(|times| WANTED.map(|wanted| Setting { wanted, times }));
    let settings: Vec<Setting> =
        settings.filter(|it| it.wanted.needed() <= scale.most_cases.saturating_mul(8)).collect();
    rows(&settings, |it| it.row(scale.draws))
}

/// How a run ended.
struct Ended {
    passed: bool,
    calls: u64,
}

impl Setting {
    fn row(&self, draws: u64) -> Row {
        let Setting { wanted, times } = *self;
        let needed = wanted.needed();
        let rows = needed * times;
        let [condition, expected] = wanted.words();
        let setting = vec![condition, expected, needed.to_string(), rows.to_string()];
        let mut random = Random::of(&format!("stopping {}", setting.join(" ")));
        let risk = Risk::divide(Confidence::USUAL, rows, Some(needed));
        let limits = self.limits(risk, rows);
        let mut passed = [Counter::default(); 5];
        let mut calls = [0.0; 5];
        for (ix, truth) in wanted.truths().into_iter().enumerate() {
            // What passes is looked at where it is at the bound and as expected; for a mean number of calls fewer draws do.
            let draws = if matches!(ix, 1 | 3) { draws } else { draws.div_ceil(5) };
            for _ in 0..draws {
                let Ended { passed: has_passed, calls: n } = self.run(truth, rows, risk, limits.as_ref(), &mut random);
                passed[ix].add(has_passed);
                calls[ix] += n as f64 / (needed * draws) as f64;
            }
        }
        let fixed = self.fixed(needed, draws, &mut random);
        let (slack, most_calls) = if times > 1 { (0.03, 0.60) } else { (0.20, 0.58) };
        let figure = |value: f64| Share { value, nominal: None, bar: None };
        let mean = figure(calls.iter().sum::<f64>() / 5.0).held_to(Bar::AtMost(most_calls));
        let shares = [
            passed[1].share().promised(ALARMS).held_to(ALARMS),
            passed[3].share().held_to(Bar::AtLeast(fixed.value - slack)),
            fixed,
        ];
        let shares = shares.into_iter().chain(calls.map(figure)).chain([mean]).map(Some).collect();
        Row { setting, shares }
    }

    fn limits(&self, risk: Risk, rows: u64) -> Option<Limits> {
        match self.wanted {
            Wanted::Rate { least, expected } => Some(Limits::of(least, expected, risk, rows)),
            Wanted::NotWorse { .. } => None,
        }
    }

    fn watch<'w>(&self, risk: Risk, limits: Option<&'w Limits>) -> Watch<'w> {
        match limits {
            Some(limits) => Watch::Counts(limits, Seen::default()),
            None => Watch::Bets(Box::new(Monitor::new(self.wanted.claim(), risk))),
        }
    }

    fn run(&self, truth: f64, rows: u64, risk: Risk, limits: Option<&Limits>, random: &mut Random) -> Ended {
        let mut watch = self.watch(risk, limits);
        let mut seen = Seen::default();
        for calls in 1..=rows {
            let found = self.wanted.draw(truth, random);
            seen.add(found);
            if let Some(rule) = watch.add(found) {
                return Ended { passed: rule.verdict() == GateVerdict::Pass, calls };
            }
        }
        let at_the_end = risk.end_confidence().is_some_and(|it| self.wanted.passes(&seen, it));
        Ended { passed: at_the_end, calls: rows }
    }

    /// How often the fixed test passes a system that is as expected.
    fn fixed(&self, needed: u64, draws: u64, random: &mut Random) -> Share {
        let mut passed = Counter::default();
        for _ in 0..draws {
            let mut seen = Seen::default();
            (0..needed).for_each(|_| seen.add(self.wanted.draw(self.wanted.truths()[3], random)));
            passed.add(self.wanted.passes(&seen, Confidence::USUAL));
        }
        passed.share()
    }
}

/// The share of rows that are hard, how many are asked at a time, and how long a hard row takes where an easy one takes 1.
const HARD: f64 = 0.4;
const AT_A_TIME: usize = 50;
const SLOW: f64 = 8.0;

fn orders(scale: Scale) -> Vec<Row> {
    let settings = [Wanted::Rate { least: 0.85, expected: 0.92 }, Wanted::NotWorse { margin: 0.08, discordance: 0.25 }];
    rows(&settings.map(|wanted| Setting { wanted, times: 2 }), |it| it.orders(scale.draws))
}

impl Setting {
    fn orders(&self, draws: u64) -> Row {
        let rows = self.wanted.needed() * self.times;
        let setting = vec![self.wanted.words()[0].clone(), rows.to_string()];
        let mut random = Random::of(&format!("orders {}", setting.join(" ")));
        let risk = Risk::divide(Confidence::USUAL, rows, Some(self.wanted.needed()));
        let limits = self.limits(risk, rows);
        let mut passed = [Counter::default(); 3];
        for seed in 0..draws {
            let file = self.file(rows as usize, &mut random);
            let order = Order::of_rows(seed, rows as u32);
            let arrivals = arrivals(order.rows(), &file, &mut random);
            let mut prefix = Prefix::default();
            let in_order = arrivals.iter().flat_map(|(turn, row)| {
                prefix.put(*turn as u64, file[*row].found);
                std::iter::from_fn(|| prefix.next()).collect::<Vec<Found>>()
            });
            let fed: [Vec<Found>; 3] = [
                in_order.collect(),
                file.iter().map(|it| it.found).collect(),
                arrivals.iter().map(|it| file[it.1].found).collect(),
            ];
            for (passed, fed) in passed.iter_mut().zip(fed) {
                let mut watch = self.watch(risk, limits.as_ref());
                let rule = fed.into_iter().find_map(|it| watch.add(it));
                passed.add(rule.is_some_and(|it| it.verdict() == GateVerdict::Pass));
            }
        }
        let [ours, file, arrival] = passed.map(|it| it.share().promised(ALARMS));
        // A simulation in which the wrong orders do no harm would prove nothing.
        let breaks = Bar::AtLeast(0.1);
        Row {
            setting,
            shares: vec![Some(ours.held_to(ALARMS)), Some(file.held_to(breaks)), Some(arrival.held_to(breaks))],
        }
    }

    /// Rows of a system at the bound, the easy ones first. Everything that is wrong with it is in the hard ones.
    fn file(&self, rows: usize, random: &mut Random) -> Vec<FileRow> {
        let n_hard = (HARD * rows as f64) as usize;
        let at = |truth: f64| truth * rows as f64 / n_hard as f64;
        (0..rows)
            .map(|row| {
                let is_hard = row >= rows - n_hard;
                let found = match self.wanted {
                    Wanted::Rate { least, .. } => Found::Passed(!is_hard || random.chance(1.0 - at(1.0 - least))),
                    Wanted::NotWorse { margin, .. } => Found::Changed(-i8::from(is_hard && random.chance(at(margin)))),
                };
                FileRow { found, is_hard }
            })
            .collect()
    }
}

struct FileRow {
    found: Found,
    is_hard: bool,
}

/// The turns and rows in the order in which they arrive, when rows are asked in this order.
fn arrivals(order: &[u32], file: &[FileRow], random: &mut Random) -> Vec<(usize, usize)> {
    // Times in thousandths, so that they are ordered.
    let mut in_flight: BTreeSet<(u64, usize)> = BTreeSet::new();
    let mut arrived = Vec::with_capacity(order.len());
    let mut now = 0;
    for (turn, row) in order.iter().enumerate() {
        if in_flight.len() == AT_A_TIME
            && let Some((at, first)) = in_flight.pop_first()
        {
            now = at;
            arrived.push((first, order[first] as usize));
        }
        let slow = if file[*row as usize].is_hard { SLOW } else { 1.0 };
        in_flight.insert((now + (1e3 * slow * (0.5 + random.share())) as u64, turn));
    }
    arrived.extend(in_flight.into_iter().map(|(_, turn)| (turn, order[turn] as usize)));
    arrived
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limits_are_those_of_the_monitor() {
        let (least, expected) = (0.85, 0.92);
        let setting = Setting { wanted: Wanted::Rate { least, expected }, times: 2 };
        let risk = Risk { monitor: 0.05, end: None };
        let limits = Limits::of(least, expected, risk, 150);
        let mut random = Random::of("limits");
        for rate in [0.6, 0.85, 0.9, 0.97] {
            for _ in 0..10 {
                let mut monitor = Monitor::new(setting.wanted.claim(), risk);
                let mut watch = setting.watch(risk, Some(&limits));
                for _ in 0..150 {
                    let found = setting.wanted.draw(rate, &mut random);
                    let (one, other) = (watch.add(found), monitor.add(found.step()).map(|it| it.rule));
                    assert_eq!(one, other, "{monitor:?}");
                    if one.is_some() {
                        break;
                    }
                }
            }
        }
    }

    #[test]
    fn rows_arrive_later_when_they_are_hard() {
        let row = |is_hard| FileRow { found: Found::Passed(true), is_hard };
        let file: Vec<FileRow> = (0..200).map(|it| row(it % 2 == 0)).collect();
        let order: Vec<u32> = (0..200).collect();
        let arrived = arrivals(&order, &file, &mut Random::of("arrivals"));
        let mut turns: Vec<usize> = arrived.iter().map(|it| it.0).collect();
        assert!(arrived[..40].iter().all(|it| !file[it.1].is_hard));
        turns.sort_unstable();
        assert_eq!(turns, (0..200).collect::<Vec<_>>());
    }
}
