//! Two sides whose cases were run several times, or share something.

use jurat_core::statistics::{Clusters, Confidence, Interval, Pairs, cluster_mean, effective_difference};

use crate::methods::{excludes_zero, holds, wald_paired, z};
use crate::paired::shares;
use crate::random::Random;
use crate::table::{Counter, Row, Scale, Study, rows};

const COUNTED: &[&str] = &[
    "held: jurat",
    "held: CR1 and z",
    "held: CR2 and t",
    "held: all independent",
    "shown: jurat",
    "shown: CR1 and z",
    "shown: CR2 and t",
    "shown: all independent",
];

pub static REPEATED: Study = Study {
    title: "Cases that were run several times",
    about: "Each case passes with a probability of its own, and is run several times on both sides; a repetition is no case of its own. *noise*: the probabilities of NEW are those \
of BASE; *other cases*: each case got a new probability, the average stayed; *better*: some cases that mostly failed now mostly pass. jurat uses as many pairs as the cases are \
worth (`effective_difference`) and flips signs of whole cases. The others: the robust variance of Miller (2024) and NeMo Evaluator with a normal quantile; its better form with Student's \
t; and each repetition counted as a pair of its own.",
    settings: &["cases", "repeat", "rate", "what changed"],
    counted: COUNTED,
    rows: repeated,
};

pub static CLUSTERS: Study = Study {
    title: "Cases that share a document or a customer",
    about: "`cluster_by` says what cases share. *together* is the share of clusters that change as a whole. Below 30 clusters a line has the mark `few_clusters`, below 20 a gate decides nothing. In these settings the method holds what it promises; in others that were tried while it was chosen it held as little as 86 % with 20 clusters and 92 % with 25 to 50.",
    settings: &["clusters", "cases in each", "together", "differ", "difference"],
    counted: COUNTED,
    rows: clusters,
};

/// What two sides gave: the difference of each unit, its cluster, and the pairs as if nothing belonged together.
struct Drawn {
    differences: Vec<f64>,
    clusters: Clusters,
    flat: Pairs,
}

impl Drawn {
    fn intervals(&self) -> [Option<Interval>; 4] {
        let ours = effective_difference(&self.differences, &self.clusters, Confidence::USUAL);
        let mean = cluster_mean(&self.differences, &self.clusters, Confidence::USUAL);
        let by_cr1 = mean.and_then(|it| {
            let reach = z() * it.spread?.cr1.sqrt();
            Some(Interval { low: it.mean - reach, high: it.mean + reach })
        });
        [ours.and_then(|it| it.interval), by_cr1, mean.and_then(|it| it.interval), Some(wald_paired(self.flat, z()))]
    }
}

/// Counts what four methods do with draws.
fn row(setting: Vec<String>, truth: f64, draws: u64, mut draw: impl FnMut() -> Drawn) -> Row {
    let mut held = [Counter::default(); 4];
    let mut shown = [Counter::default(); 4];
    for _ in 0..draws {
        for (ix, interval) in draw().intervals().into_iter().enumerate() {
            held[ix].add(interval.is_some_and(|it| holds(it, truth)));
            shown[ix].add(interval.is_some_and(excludes_zero));
        }
    }
    Row { setting, shares: shares(&held, &shown, truth == 0.0) }
}

/// The probability with which a hard case passes, and an easy one.
const HARD: f64 = 0.1;
const EASY: f64 = 0.95;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Change {
    Noise,
    OtherCases,
    Better,
}

#[derive(Debug, Clone, Copy)]
struct Repeated {
    rows: usize,
    repeat: u64,
    /// The share of easy cases.
    easy: f64,
    change: Change,
}

/// The share of hard cases that become easy.
const FIXED: f64 = 0.3;

fn repeated_settings() -> Vec<Repeated> {
    let mut settings = Vec::new();
    for rows in [20, 50, 200, 1_000] {
        for repeat in [3, 5] {
            for easy in [0.2, 0.5, 0.9] {
                for change in [Change::Noise, Change::OtherCases, Change::Better] {
                    settings.push(Repeated { rows, repeat, easy, change });
                }
            }
        }
    }
    settings
}

fn repeated(scale: Scale) -> Vec<Row> {
    let settings = repeated_settings().into_iter().filter(|it| it.rows as u64 <= scale.most_cases);
    rows(&settings.collect::<Vec<_>>(), |it| it.row(scale.draws))
}

impl Repeated {
    fn row(&self, draws: u64) -> Row {
        let rate = self.easy * EASY + (1.0 - self.easy) * HARD;
        let word = match self.change {
            Change::Noise => "noise",
            Change::OtherCases => "other cases",
            Change::Better => "better",
        };
        let setting = vec![self.rows.to_string(), self.repeat.to_string(), format!("{rate:.2}"), word.to_owned()];
        let mut random = Random::of(&format!("repeated {}", setting.join(" ")));
        row(setting, self.truth(), draws, || self.draw(&mut random))
    }

    fn truth(&self) -> f64 {
        match self.change {
            Change::Noise | Change::OtherCases => 0.0,
            Change::Better => (1.0 - self.easy) * FIXED * (EASY - HARD),
        }
    }

    fn probabilities(&self, random: &mut Random) -> (f64, f64) {
        let mut case = || random.chance(self.easy);
        let was = case();
        let now = match self.change {
            Change::Noise => was,
            Change::OtherCases => case(),
            Change::Better => was || random.chance(FIXED),
        };
        let probability = |is_easy| if is_easy { EASY } else { HARD };
        (probability(was), probability(now))
    }

    fn draw(&self, random: &mut Random) -> Drawn {
        let mut drawn =
            Drawn { differences: Vec::with_capacity(self.rows), clusters: Clusters::Alone, flat: Pairs::default() };
        for _ in 0..self.rows {
            let (was, now) = self.probabilities(random);
            let (mut base, mut new) = (0.0, 0.0);
            for _ in 0..self.repeat {
                let pair = (random.chance(was), random.chance(now));
                base += f64::from(u8::from(pair.0));
                new += f64::from(u8::from(pair.1));
                add(&mut drawn.flat, pair);
            }
            drawn.differences.push((new - base) / self.repeat as f64);
        }
        drawn
    }
}

fn add(pairs: &mut Pairs, (base, new): (bool, bool)) {
    *match (base, new) {
        (true, true) => &mut pairs.both,
        (true, false) => &mut pairs.only_base,
        (false, true) => &mut pairs.only_new,
        (false, false) => &mut pairs.neither,
    } += 1;
}

#[derive(Debug, Clone, Copy)]
struct Clustered {
    clusters: u32,
    size: usize,
    together: f64,
    discordance: f64,
    difference: f64,
}

fn cluster_settings() -> Vec<Clustered> {
    let mut settings = Vec::new();
    for clusters in [20, 30, 50, 200] {
        for together in [0.0, 0.5, 1.0] {
            for (discordance, difference) in [(0.1, 0.0), (0.1, 0.05), (0.3, 0.0), (0.3, 0.1)] {
                settings.push(Clustered { clusters, size: 5, together, discordance, difference });
            }
        }
    }
    settings
}

fn clusters(scale: Scale) -> Vec<Row> {
    let settings = cluster_settings().into_iter().filter(|it| u64::from(it.clusters) <= scale.most_cases);
    rows(&settings.collect::<Vec<_>>(), |it| it.row(scale.draws))
}

impl Clustered {
    fn row(&self, draws: u64) -> Row {
        let shares = [self.together, self.discordance, self.difference].map(|it| it.to_string());
        let setting: Vec<String> =
            [self.clusters.to_string(), self.size.to_string()].into_iter().chain(shares).collect();
        let mut random = Random::of(&format!("clusters {}", setting.join(" ")));
        row(setting, self.difference, draws, || self.draw(&mut random))
    }

    fn draw(&self, random: &mut Random) -> Drawn {
        let mut drawn = Drawn { differences: Vec::new(), clusters: Clusters::Alone, flat: Pairs::default() };
        let mut names = Vec::new();
        let one = |random: &mut Random| match random.share() {
            it if it < (self.discordance - self.difference) / 2.0 => (true, false),
            it if it < self.discordance => (false, true),
            _ => (true, true),
        };
        for cluster in 0..self.clusters {
            let whole = random.chance(self.together).then(|| one(random));
            for _ in 0..self.size {
                let pair = whole.unwrap_or_else(|| one(random));
                add(&mut drawn.flat, pair);
                drawn.differences.push(f64::from(u8::from(pair.1)) - f64::from(u8::from(pair.0)));
                names.push(cluster);
            }
        }
        drawn.clusters = Clusters::by_key(names);
        drawn
    }
}
