//! Units that ended otherwise in NEW than in BASE.

use std::cmp::Ordering;

use crate::statistics::{Tally, benjamini_hochberg, fisher};

/// Which way a unit changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// It passes less often.
    Regression,
    /// It passes more often.
    Fix,
}

/// How a changed unit ended on one side.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ChangeSide {
    pub passed: u32,
    pub judged: u32,
    /// The verdict, in one word.
    pub word: String,
    /// The number of one of its cases, for those who look it up.
    pub case_ix: u64,
    /// What was answered, where it is known; of one repetition.
    pub response: Option<String>,
    /// Why it failed, in words.
    pub message: String,
}

impl ChangeSide {
    fn tally(&self) -> Tally {
        Tally { passed: self.passed.into(), judged: self.judged.into() }
    }

    fn rate(&self) -> f64 {
        f64::from(self.passed) / f64::from(self.judged.max(1))
    }
}

/// A task of a unit that ended otherwise, in words: `passed`, or `2/3` for repeated units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskChange {
    pub task: String,
    pub was: String,
    pub now: String,
    /// `None` when a side could not be judged.
    pub direction: Option<Direction>,
}

/// A unit that ended otherwise.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Change {
    pub id: String,
    /// The prompt and the subject, where they belong to the key.
    pub prompt: Option<String>,
    pub subject: Option<String>,
    /// The tasks that ended otherwise, the first of the suite first.
    pub tasks: Vec<String>,
    /// How each of them ended before and now.
    pub of_tasks: Vec<TaskChange>,
    pub base: ChangeSide,
    pub new: ChangeSide,
    /// That of Fisher's test, for repeated units.
    pub p: Option<f64>,
    /// Whether the change is probably no chance, for repeated units.
    pub is_likely: bool,
    pub is_flaky_in_base: bool,
    pub is_critical: bool,
    /// Whether both sides rest on the same answer, so that it is the judging that differs; `None` when that is not known.
    pub same_answer: Option<bool>,
}

/// A change is probably no chance when its q is at most this.
const LIKELY: f64 = 0.1;

impl Change {
    pub fn direction(&self) -> Direction {
        if self.size() < 0.0 { Direction::Regression } else { Direction::Fix }
    }

    /// By how much its rate changed.
    pub fn size(&self) -> f64 {
        self.new.rate() - self.base.rate()
    }

    fn is_repeated(&self) -> bool {
        self.base.judged > 1 || self.new.judged > 1
    }
}

/// Says which changes of repeated units are probably no chance, and puts changes in order: critical ones first, then by size, then by id.
/// `n_units` is how many units were compared: those that did not change are part of the family too.
pub fn rank_changes(changes: &mut [Change], n_units: u64) {
    let p: Vec<f64> =
        changes.iter().filter(|it| it.is_repeated()).filter_map(|it| fisher(it.base.tally(), it.new.tally())).collect();
    // A unit that did not change has p = 1, which is the last of any order and changes no other q.
    let unchanged = usize::try_from(n_units).unwrap_or(usize::MAX).saturating_sub(p.len());
    let family: Vec<f64> = p.iter().copied().chain(std::iter::repeat_n(1.0, unchanged)).collect();
    let adjusted = if p.is_empty() { Vec::new() } else { benjamini_hochberg(&family) };
    for ((change, p), q) in changes.iter_mut().filter(|it| it.is_repeated()).zip(p).zip(adjusted) {
        change.p = Some(p);
        change.is_likely = q <= LIKELY;
    }
    changes.sort_by(order);
}

fn order(one: &Change, other: &Change) -> Ordering {
    let size = |it: &Change| it.size().abs();
    let named = |it: &Change| (it.id.clone(), it.prompt.clone(), it.subject.clone());
    (other.is_critical.cmp(&one.is_critical))
        .then_with(|| size(other).total_cmp(&size(one)))
        .then_with(|| named(one).cmp(&named(other)))
}
