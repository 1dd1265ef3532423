//! How many rows a question needs, and what the rows at hand could show, before anything is asked.
//!
//! What is not known before a run is assumed, and the report says so: how often cases pass, and how often two runs end differently on the same case.

use crate::gate::{Condition, Kind, Policy};
use crate::statistics::{Confidence, mde_paired, pairs_needed, pairs_needed_not_worse, power_paired, rows_needed};

/// What is asked about.
#[derive(Debug, Clone, PartialEq)]
pub struct PowerQuestion<'q> {
    /// The difference to be shown, as a share; `None` to ask about the conditions of the policy.
    pub effect: Option<f64>,
    pub policy: Option<&'q Policy>,
    pub known: Known,
    pub confidence: Confidence,
    /// The probability of showing what is there.
    pub power: f64,
    /// The rows at hand.
    pub rows: u64,
    pub spending: Spending,
}

/// What is known of cases before the run.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    /// The share of cases that pass.
    pub rate: f64,
    /// The share of cases on which two runs end differently; `None` to assume one from the rate.
    pub discordance: Option<f64>,
    /// The variance of one case over its repetitions; `None` where no run repeated cases.
    pub within: Option<f64>,
    /// Where it comes from, in words.
    pub from: String,
}

/// What one repetition of one row takes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spending {
    pub calls: f64,
    /// `None` where it is not known.
    pub usd: Option<f64>,
}

/// What rows could show.
#[derive(Debug, Clone, PartialEq)]
pub struct PowerReport {
    pub rate: f64,
    pub discordance: f64,
    pub is_assumed: bool,
    pub from: String,
    pub confidence: f64,
    pub power: f64,
    pub rows: u64,
    pub questions: Vec<RowsFor>,
    /// Rows and repetitions, and the smallest difference that each would show.
    pub table: Vec<Combination>,
    pub stopping: Stopping,
}

/// What one question takes.
#[derive(Debug, Clone, PartialEq)]
pub struct RowsFor {
    pub id: String,
    /// What is to be shown, in words.
    pub shown: String,
    /// The rows that show it; `None` when no number does.
    pub rows: Option<u64>,
    /// The probability that the rows at hand show it, where it can be counted.
    pub power: Option<f64>,
    pub calls: Option<f64>,
    pub usd: Option<f64>,
    /// The rows of a fixed test with power 0.9, which stopping early is measured by.
    pub fixed: Option<u64>,
}

/// A number of rows, each run this many times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Combination {
    pub rows: u64,
    pub repetitions: u32,
    /// The smallest difference that it shows with the power; `None` when none is.
    pub mde: Option<f64>,
    pub calls: f64,
    pub usd: Option<f64>,
    /// Whether it is the cheapest that shows the effect.
    pub is_cheapest: bool,
}

/// What stopping early would save and give away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopping {
    /// Twice the rows of a fixed test: calls are saved at equal error.
    RowsToSpare,
    /// Fewer: calls are saved, and power is given away.
    FewRows,
    /// How many rows a fixed test takes is not known.
    Unknown,
}

/// The power of the fixed test that stopping early is measured by.
const FIXED: f64 = 0.9;
/// Beyond this number of pairs counting all tables takes longer than people wait.
const MOST_COUNTED: u64 = 2000;
const REPETITIONS: [u32; 4] = [1, 2, 3, 5];

impl PowerQuestion<'_> {
    pub fn answered(&self) -> PowerReport {
        let (discordance, is_assumed) = self.discordance();
        let questions = self.questions(discordance);
        let fixed: Vec<u64> = questions.iter().filter_map(|it| it.fixed).collect();
        let stopping = match fixed.iter().max() {
            None => Stopping::Unknown,
            Some(most) if self.rows >= 2 * most => Stopping::RowsToSpare,
            Some(_) => Stopping::FewRows,
        };
        PowerReport {
            rate: self.known.rate,
            discordance,
            is_assumed,
            from: self.known.from.clone(),
            confidence: self.confidence.level(),
            power: self.power,
            rows: self.rows,
            table: self.table(discordance, &questions),
            questions,
            stopping,
        }
    }

    /// How often two runs end differently on a case: as observed, or half of what independent runs would.
    fn discordance(&self) -> (f64, bool) {
        let Known { rate, discordance, .. } = self.known;
        match discordance {
            Some(known) => (known.min(1.0), false),
            None => (2.0 * rate * (1.0 - rate) * (1.0 - 0.5), true),
        }
    }

    fn questions(&self, discordance: f64) -> Vec<RowsFor> {
        let of_policy = self.policy.into_iter().flat_map(|it| &it.conditions).filter_map(|it| self.of(it, discordance));
        match self.effect {
            Some(effect) => vec![self.of_effect(effect, discordance)],
            None => of_policy.collect(),
        }
    }

    /// A difference in either direction.
    fn of_effect(&self, effect: f64, discordance: f64) -> RowsFor {
        let needed = |power: f64| pairs_needed(effect, discordance, self.confidence.alpha(), power);
        let counted = (self.rows <= MOST_COUNTED && self.rows > 0)
            .then(|| power_paired(self.rows, discordance, effect, self.confidence.alpha()))
            .flatten();
        let shown = format!("a difference of {:.1} points", effect * 100.0);
        self.row("effect", shown, needed(self.power), counted, needed(FIXED))
    }

    /// A condition of the policy that more rows decide.
    fn of(&self, condition: &Condition, discordance: f64) -> Option<RowsFor> {
        let confidence = condition.confidence.unwrap_or(self.confidence);
        let id = &condition.id.value;
        match condition.kind {
            Kind::AtLeast(least) => {
                let expected = condition.expect.unwrap_or(self.known.rate);
                let needed = |power: f64| rows_needed(least, expected, confidence, power).map(|it| it.rows);
                let shown = format!("at least {:.1} % when {:.1} % pass", least * 100.0, expected * 100.0);
                Some(self.row(id, shown, needed(self.power), None, needed(FIXED)))
            }
            Kind::NotWorse(margin) if !condition.selector.is_score => {
                let needed = |power: f64| pairs_needed_not_worse(margin, 0.0, discordance, confidence, power);
                let shown = format!("at most {:.1} points worse when nothing changed", margin * 100.0);
                Some(self.row(id, shown, needed(self.power), None, needed(FIXED)))
            }
            Kind::Better(least) if !condition.selector.is_score => {
                let gain = condition.expect?;
                let needed = |power: f64| pairs_needed_not_worse(-least, least + gain, discordance, confidence, power);
                let shown =
                    format!("more than {:.1} points better when it is {:.1}", least * 100.0, (least + gain) * 100.0);
                Some(self.row(id, shown, needed(self.power), None, needed(FIXED)))
            }
            _ => None,
        }
    }

    fn row(&self, id: &str, shown: String, rows: Option<u64>, power: Option<f64>, fixed: Option<u64>) -> RowsFor {
        let of = |each: f64| rows.map(|it| it as f64 * each);
        let Spending { calls, usd } = self.spending;
        RowsFor { id: id.to_owned(), shown, rows, power, calls: of(calls), usd: usd.and_then(of), fixed }
    }

    /// What more rows and more repetitions would show.
    fn table(&self, discordance: f64, questions: &[RowsFor]) -> Vec<Combination> {
        let needed = questions.iter().filter_map(|it| it.rows).max().unwrap_or(self.rows);
        let mut numbers = vec![self.rows, needed, 2 * self.rows.max(1), 4 * self.rows.max(1)];
        numbers.retain(|it| *it > 0);
        numbers.sort_unstable();
        numbers.dedup();
        let repetitions: &[u32] = if self.known.within.is_some() { &REPETITIONS } else { &REPETITIONS[..1] };
        let mut table: Vec<Combination> = numbers
            .iter()
            .flat_map(|rows| repetitions.iter().map(|it| self.combination(*rows, *it, discordance)))
            .collect();
        let target = self.effect.unwrap_or(f64::INFINITY);
        let shows = |it: &Combination| it.mde.is_some_and(|mde| mde <= target + 1e-9);
        let least = table
            .iter()
            .filter(|it| self.effect.is_some() && shows(it))
            .map(|it| it.rows * u64::from(it.repetitions))
            .min();
        if let Some(cheapest) =
            table.iter_mut().find(|it| shows(it) && Some(it.rows * u64::from(it.repetitions)) == least)
        {
            cheapest.is_cheapest = true;
        }
        table
    }

    /// Repetitions take away the noise of asking again, on both sides; how much cases differ stays.
    fn combination(&self, rows: u64, repetitions: u32, discordance: f64) -> Combination {
        let noise = 2.0 * self.known.within.unwrap_or_default() * (1.0 - 1.0 / f64::from(repetitions));
        let left = (discordance - noise).max(discordance / f64::from(repetitions)).max(f64::MIN_POSITIVE);
        let n = rows as f64 * f64::from(repetitions);
        let Spending { calls, usd } = self.spending;
        Combination {
            rows,
            repetitions,
            mde: mde_paired(rows, left, self.confidence.alpha(), self.power),
            calls: n * calls,
            usd: usd.map(|it| it * n),
            is_cheapest: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question<'q>() -> PowerQuestion<'q> {
        PowerQuestion {
            effect: Some(0.05),
            policy: None,
            known: Known { rate: 0.8, discordance: Some(0.2), within: None, from: "given".to_owned() },
            confidence: Confidence::USUAL,
            power: 0.8,
            rows: 100,
            spending: Spending { calls: 2.0, usd: Some(0.01) },
        }
    }

    #[test]
    fn an_effect_has_the_rows_of_its_test() {
        let report = question().answered();
        let effect = &report.questions[0];
        assert_eq!((effect.rows, effect.calls), (pairs_needed(0.05, 0.2, 0.05, 0.8), Some(1252.0)));
        assert!(effect.power.is_some_and(|it| (0.1..0.3).contains(&it)), "{:?}", effect.power);
        assert_eq!(report.stopping, Stopping::FewRows);
        assert_eq!(PowerQuestion { rows: 2000, ..question() }.answered().stopping, Stopping::RowsToSpare);
        let cheapest = report.table.iter().find(|it| it.is_cheapest).expect("one shows it");
        assert_eq!((cheapest.rows, cheapest.repetitions), (626, 1));
    }

    #[test]
    fn what_is_not_known_is_assumed_and_said() {
        let known = Known { discordance: None, ..question().known };
        let report = PowerQuestion { known, ..question() }.answered();
        assert_eq!((format!("{:.2}", report.discordance), report.is_assumed), ("0.16".to_owned(), true));
    }

    #[test]
    fn repetitions_help_where_the_noise_is_large() {
        let known = Known { within: Some(0.09), ..question().known };
        let report = PowerQuestion { known, ..question() }.answered();
        let mde = |repetitions: u32| {
            report.table.iter().find(|it| it.rows == 100 && it.repetitions == repetitions).and_then(|it| it.mde)
        };
        assert!(mde(3) < mde(1), "{:?} {:?}", mde(3), mde(1));
    }
}
