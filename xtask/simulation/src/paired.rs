//! Two sides that judged the same cases once.

use jurat_core::statistics::{Confidence, Interval, Pairs, paired_difference};

use crate::methods::{excludes_zero, holds, student_paired, unpaired, wald_paired, z};
use crate::random::Random;
use crate::table::{ALARMS, Counter, HELD, Row, Scale, Share, Study, rows};

pub static STUDY: Study = Study {
    title: "Two runs of the same cases",
    about: "*Held*: how often the interval of 95 % holds the true difference. *Shown*: how often a difference is shown; where the true difference is 0 that is a false alarm, and \
must not exceed 5 %. *differ* is the share of cases that one side alone passes. jurat uses Tango's interval and McNemar's mid-p test, joined. Wald's interval is that of \
NeMo Evaluator, Student's t that of lmms-eval, the unpaired test that of lm-evaluation-harness, which leaves the pairing out and shows far fewer of the differences that \
are there.",
    settings: &["cases", "base rate", "differ", "difference"],
    counted: &[
        "held: jurat",
        "held: Wald",
        "held: t",
        "held: unpaired",
        "shown: jurat",
        "shown: Wald",
        "shown: t",
        "shown: unpaired",
    ],
    rows: simulated,
};

/// Two sides: how many cases, and how often they pass, differ and became better.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting {
    pub(crate) pairs: u64,
    pub(crate) rate: f64,
    pub(crate) discordance: f64,
    pub(crate) difference: f64,
}

/// Without a change, and with one half as large as could be, over rates; then without a change over shares of cases that differ.
fn settings() -> Vec<Setting> {
    let mut settings = Vec::new();
    for pairs in [20, 50, 200, 1_000] {
        for rate in [0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98_f64] {
            // Half of what independent sides would differ in: the cases are the same, so are their difficulties.
            let discordance = thousandths(rate * (1.0 - rate));
            for difference in [0.0, thousandths(discordance / 2.0)] {
                settings.push(Setting { pairs, rate, discordance, difference });
            }
        }
        for discordance in [0.02, 0.05, 0.1, 0.2, 0.4] {
            settings.push(Setting { pairs, rate: 0.7, discordance, difference: 0.0 });
        }
    }
    settings
}

fn thousandths(share: f64) -> f64 {
    (share * 1e3).round() / 1e3
}

fn simulated(scale: Scale) -> Vec<Row> {
    let settings: Vec<Setting> = settings().into_iter().filter(|it| it.pairs <= scale.most_cases).collect();
    rows(&settings, |it| it.row(scale.draws))
}

impl Setting {
    pub(crate) fn draw(&self, random: &mut Random) -> Pairs {
        let only_base = (self.discordance - self.difference) / 2.0;
        let only_new = (self.discordance + self.difference) / 2.0;
        let both = self.rate - only_base;
        let mut pairs = Pairs::default();
        for _ in 0..self.pairs {
            let share = random.share();
            *match () {
                () if share < only_base => &mut pairs.only_base,
                () if share < self.discordance => &mut pairs.only_new,
                () if share < self.discordance + both => &mut pairs.both,
                () => &mut pairs.neither,
            } += 1;
        }
        debug_assert!(both >= -1e-9 && self.discordance + both <= 1.0 + 1e-9 && only_new >= 0.0, "{self:?}");
        pairs
    }

    fn row(&self, draws: u64) -> Row {
        let words = [self.rate, self.discordance, self.difference].map(|it| it.to_string());
        let setting: Vec<String> = std::iter::once(self.pairs.to_string()).chain(words).collect();
        let mut random = Random::of(&format!("paired {}", setting.join(" ")));
        let mut held = [Counter::default(); 4];
        let mut shown = [Counter::default(); 4];
        for _ in 0..draws {
            let pairs = self.draw(&mut random);
            for (ix, interval) in intervals(pairs).into_iter().enumerate() {
                held[ix].add(interval.is_some_and(|it| holds(it, self.difference)));
                shown[ix].add(interval.is_some_and(excludes_zero));
            }
        }
        Row { setting, shares: shares(&held, &shown, self.difference == 0.0) }
    }
}

/// The shares of several methods, ours first: how often an interval held the truth, and how often a difference was shown.
pub(crate) fn shares(held: &[Counter], shown: &[Counter], is_false_alarm: bool) -> Vec<Option<Share>> {
    let mut held: Vec<Share> = held.iter().map(|it| it.share().promised(HELD)).collect();
    let mut shown: Vec<Share> = shown.iter().map(Counter::share).collect();
    held[0] = held[0].held_to(HELD);
    if is_false_alarm {
        shown.iter_mut().for_each(|it| *it = it.promised(ALARMS));
        shown[0] = shown[0].held_to(ALARMS);
    }
    held.into_iter().chain(shown).map(Some).collect()
}

fn intervals(pairs: Pairs) -> [Option<Interval>; 4] {
    let ours = paired_difference(pairs, Confidence::USUAL).map(|it| it.interval);
    [ours, Some(wald_paired(pairs, z())), Some(student_paired(pairs)), Some(unpaired(pairs))]
}
