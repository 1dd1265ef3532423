//! A line of a comparison: one metric of two sides, and how far it differs.

use crate::calibration::CorrectedDifference;
use crate::statistics::{FlipOdds, Interval, Pairs, Word};

/// What a line is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum About {
    /// The share of cases that passed.
    Cases,
    /// The pass rate over all counted tasks.
    Judgements,
    /// The pass rate of a task.
    Task {
        id: String,
        /// Whether it is a gate that only routes.
        is_condition: bool,
    },
    /// The mean score of a task.
    Score {
        task: String,
    },
    /// The cases with one value at a path; `None` for those without one.
    Slice {
        path: String,
        value: Option<String>,
    },
    /// What a case cost.
    Cost(Payer),
    InputTokens(Payer),
    OutputTokens(Payer),
    Latency,
}

/// What answers were for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payer {
    /// The subject: asking, turns, agents.
    Subject,
    Judging,
}

impl Payer {
    pub fn name(self) -> &'static str {
        match self {
            Payer::Subject => "subject",
            Payer::Judging => "judging",
        }
    }
}

impl About {
    /// The word for it, as JSON has it.
    pub fn name(&self) -> &'static str {
        match self {
            About::Cases => "cases",
            About::Judgements => "judgements",
            About::Task { .. } => "task",
            About::Score { .. } => "score",
            About::Slice { .. } => "slice",
            About::Cost(_) => "cost",
            About::InputTokens(_) => "input_tokens",
            About::OutputTokens(_) => "output_tokens",
            About::Latency => "latency",
        }
    }

    /// Whether it is a share of what passed, which is counted in points.
    pub fn is_rate(&self) -> bool {
        matches!(self, About::Cases | About::Judgements | About::Task { .. } | About::Slice { .. })
    }

    /// The task that it is about.
    pub fn task(&self) -> Option<&str> {
        match self {
            About::Task { id, .. } => Some(id),
            About::Score { task } => Some(task),
            _ => None,
        }
    }
}

/// How an interval and a p value were computed, in the names of `docs/statistics.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Method {
    pub interval: &'static str,
    pub test: &'static str,
}

/// How large a difference is, beside its estimate.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Effect {
    pub flip_odds: Option<FlipOdds>,
    /// The mean difference in standard deviations of the units' differences.
    pub d_z: Option<f64>,
    pub rank_biserial: Option<f64>,
}

/// Something that a reader of a line must know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// p is small although 0 lies in the interval.
    Borderline,
    /// The intervals are rough, because there are fewer than 30 clusters.
    FewClusters,
    /// A side stopped because of what it saw: intervals and p values of a fixed number of rows do not hold.
    StoppedEarly,
}

impl Mark {
    pub fn name(self) -> &'static str {
        match self {
            Mark::Borderline => "borderline",
            Mark::FewClusters => "few_clusters",
            Mark::StoppedEarly => "stopped_early",
        }
    }
}

/// One metric of two sides, and how far it differs.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    pub about: About,
    pub pairs: u64,
    /// How many clusters the pairs form, where that is not the number of pairs of rows.
    pub clusters: Option<u64>,
    pub base: Option<f64>,
    pub new: Option<f64>,
    /// NEW − BASE; for cost, tokens and latency NEW / BASE.
    pub difference: Option<f64>,
    pub interval: Option<Interval>,
    pub p: Option<f64>,
    /// p, adjusted for the other lines of its family; `None` for a family of one.
    pub q: Option<f64>,
    pub method: Method,
    pub table: Option<Pairs>,
    pub effect: Effect,
    /// Units that are better, the same and worse.
    pub moved: Option<[u64; 3]>,
    pub unknown: u64,
    pub not_applicable: u64,
    /// The difference if all that is unknown had gone against NEW, and for it.
    pub least: Option<f64>,
    pub most: Option<f64>,
    /// Whether all three lead to the same word.
    pub robust: Option<bool>,
    /// The smallest difference that would have been shown with 80 % probability. `Some(None)`: none would.
    pub mde: Option<Option<f64>>,
    pub word: Word,
    pub marks: Vec<Mark>,
    /// The 95 % quantiles of both sides, each with its interval; of latency alone.
    pub p95: Option<[(f64, Option<Interval>); 2]>,
    /// How many units are left out because a part of them is not known.
    pub left_out: u64,
    /// How many answers behind it are of another day.
    pub reused: u64,
    /// The standard error of the difference, where it is estimated from clusters.
    pub se: Option<f64>,
    /// The difference as people would have judged, by a calibration of the judge.
    pub corrected: Option<CorrectedDifference>,
}

/// What an interval of a difference shows; nothing without one.
pub(super) fn word_of(interval: Option<Interval>) -> Word {
    interval.map_or(Word::NotShown, Word::of)
}

impl Line {
    /// The standard error of the difference: that of clusters, or of pairs that are 0 or 1.
    pub fn standard_error(&self) -> Option<f64> {
        let of_pairs = || {
            let (table, difference) = (self.table?, self.difference?);
            let (n, discordant) = (table.n() as f64, table.discordant() as f64);
            Some(((discordant / n - difference * difference).max(0.0) / n).sqrt())
        };
        self.se.or_else(of_pairs)
    }

    /// The same line where a side stopped because of what it saw. What holds only for a number of rows that was fixed before is left out; its confidence sequence,
    /// where there is one, stands in the place of the interval.
    pub fn of_stopped(self, sequence: Option<Interval>) -> Line {
        let interval = if sequence.is_some() { "cs_mean" } else { "" };
        let marks = self.marks.into_iter().filter(|it| *it != Mark::Borderline).chain([Mark::StoppedEarly]).collect();
        Line {
            interval: sequence,
            p: None,
            q: None,
            method: Method { interval, test: "" },
            effect: Effect { flip_odds: None, ..self.effect },
            robust: None,
            mde: None,
            word: word_of(sequence),
            marks,
            p95: self.p95.map(|it| it.map(|(value, _)| (value, None))),
            se: None,
            corrected: None,
            ..self
        }
    }

    pub fn is_of_stopped(&self) -> bool {
        self.marks.contains(&Mark::StoppedEarly)
    }

    /// A line about which nothing is known.
    pub fn empty(about: About) -> Line {
        Line {
            about,
            pairs: 0,
            clusters: None,
            base: None,
            new: None,
            difference: None,
            interval: None,
            p: None,
            q: None,
            method: Method::default(),
            table: None,
            effect: Effect::default(),
            moved: None,
            unknown: 0,
            not_applicable: 0,
            least: None,
            most: None,
            robust: None,
            mde: None,
            word: Word::NotShown,
            marks: Vec::new(),
            p95: None,
            left_out: 0,
            reused: 0,
            se: None,
            corrected: None,
        }
    }
}
