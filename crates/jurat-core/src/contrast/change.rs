//! Units that ended otherwise in NEW than in BASE.

use std::cmp::Ordering;
use std::sync::Arc;

use super::chance::ChangeTests;

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
    pub word: &'static str,
    /// The number of one of its cases, for those who look it up.
    pub case_ix: u64,
    /// Only of the first: a million may have changed.
    pub said: Option<Box<Said>>,
}

/// What there is to say about one case of a changed unit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Said {
    /// What was answered, where it is known.
    pub response: Option<String>,
    /// Why it failed, in words.
    pub message: String,
}

impl ChangeSide {
    /// What was answered, where it is known; of one repetition.
    pub fn response(&self) -> Option<&str> {
        self.said.as_ref()?.response.as_deref()
    }

    /// Why it failed, in words; nothing where that is not known.
    pub fn message(&self) -> &str {
        self.said.as_ref().map_or("", |it| &it.message)
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
    pub tasks: Arc<[String]>,
    /// How each of them ended before and now.
    pub of_tasks: Arc<[TaskChange]>,
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

/// How many units ended otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChangeCounts {
    pub regressions: u64,
    pub fixes: u64,
}

impl ChangeCounts {
    pub fn of(&self, direction: Direction) -> u64 {
        match direction {
            Direction::Regression => self.regressions,
            Direction::Fix => self.fixes,
        }
    }
}

impl Change {
    pub fn direction(&self) -> Direction {
        if self.size() < 0.0 { Direction::Regression } else { Direction::Fix }
    }

    /// By how much its rate changed.
    pub fn size(&self) -> f64 {
        self.new.rate() - self.base.rate()
    }

    /// How often it passed and was judged in BASE, then in NEW.
    pub(super) fn tallies(&self) -> [u32; 4] {
        [self.base.passed, self.base.judged, self.new.passed, self.new.judged]
    }
}

/// Changes while they are gathered. Only those that are listed are held: of a million changes a reader sees twenty.
#[derive(Debug)]
pub struct ChangeList {
    /// How many of each direction are listed.
    most: usize,
    counts: ChangeCounts,
    regressions: Vec<Change>,
    fixes: Vec<Change>,
    tests: ChangeTests,
}

impl ChangeList {
    pub fn new(most: usize) -> ChangeList {
        ChangeList {
            most,
            counts: ChangeCounts::default(),
            regressions: Vec::new(),
            fixes: Vec::new(),
            tests: ChangeTests::default(),
        }
    }

    pub fn add(&mut self, change: Change) {
        self.tests.add(change.tallies());
        let (own, n) = match change.direction() {
            Direction::Regression => (&mut self.regressions, &mut self.counts.regressions),
            Direction::Fix => (&mut self.fixes, &mut self.counts.fixes),
        };
        *n += 1;
        own.push(change);
        // Sorted rarely, and never held by more than twice what is listed.
        if own.len() >= self.most.saturating_mul(2).max(64) {
            first(own, self.most);
        }
    }

    /// How many there are, and those that are listed: critical ones first, then by size, then by id. `n_units` is how many units were compared:
    /// those that did not change are part of the family too.
    pub fn finish(mut self, n_units: u64) -> (ChangeCounts, Vec<Change>) {
        let tested = self.tests.finish(n_units);
        first(&mut self.regressions, self.most);
        first(&mut self.fixes, self.most);
        let mut changes = self.regressions;
        changes.append(&mut self.fixes);
        changes.sort_unstable_by(order);
        changes.iter_mut().for_each(|it| tested.mark(it));
        (self.counts, changes)
    }
}

/// Leaves the first of some changes in their order.
fn first(changes: &mut Vec<Change>, most: usize) {
    changes.sort_unstable_by(order);
    changes.truncate(most);
}

fn order(one: &Change, other: &Change) -> Ordering {
    let size = |it: &Change| it.size().abs();
    fn named(it: &Change) -> (&str, Option<&str>, Option<&str>) {
        (&it.id, it.prompt.as_deref(), it.subject.as_deref())
    }
    (other.is_critical.cmp(&one.is_critical))
        .then_with(|| size(other).total_cmp(&size(one)))
        .then_with(|| named(one).cmp(&named(other)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::chance::LIKELY;
    use super::*;
    use crate::statistics::benjamini_hochberg;

    fn change(id: usize, base: (u32, u32), new: (u32, u32)) -> Change {
        let side = |(passed, judged)| ChangeSide { passed, judged, ..ChangeSide::default() };
        Change { id: format!("{id:03}"), base: side(base), new: side(new), ..Change::default() }
    }

    fn listed(changes: &[Change], most: usize, n_units: u64) -> (ChangeCounts, Vec<Change>) {
        let mut list = ChangeList::new(most);
        changes.iter().cloned().for_each(|it| list.add(it));
        list.finish(n_units)
    }

    fn sides() -> impl Strategy<Value = Vec<(u32, u32)>> {
        proptest::collection::vec((0..=3_u32, 0..=3_u32).prop_filter("it changed", |it| it.0 != it.1), 1..300)
    }

    proptest! {
        /// A short list is the beginning of the long one, and counts do not depend on it.
        #[test]
        fn what_is_listed_is_the_first_of_all(sides in sides(), most in 1_usize..20) {
            let changes: Vec<Change> = sides.iter().enumerate().map(|(ix, it)| change(ix, (it.0, 3), (it.1, 3))).collect();
            let (counts, all) = listed(&changes, usize::MAX, 1000);
            let (same, some) = listed(&changes, most, 1000);
            prop_assert_eq!(counts, same);
            for direction in [Direction::Regression, Direction::Fix] {
                let of = |it: &[Change]| it.iter().filter(|it| it.direction() == direction).cloned().collect::<Vec<_>>();
                prop_assert_eq!(of(&all).len() as u64, counts.of(direction));
                prop_assert_eq!(&of(&all)[..most.min(of(&all).len())], &of(&some)[..]);
            }
        }

        /// Testing each kind once gives what testing each unit gives.
        #[test]
        fn likely_changes_are_those_of_the_whole_family(sides in sides(), more in 0_u64..400) {
            let changes: Vec<Change> = sides.iter().enumerate().map(|(ix, it)| change(ix, (it.0, 3), (it.1, 3))).collect();
            let (_, all) = listed(&changes, usize::MAX, changes.len() as u64 + more);
            let p: Vec<f64> = all.iter().filter_map(|it| it.p).chain((0..more).map(|_| 1.0)).collect();
            for (change, q) in all.iter().zip(benjamini_hochberg(&p)) {
                prop_assert_eq!(change.is_likely, q <= LIKELY, "{:?}", change);
            }
        }
    }

    #[test]
    fn critical_changes_come_first_and_unrepeated_ones_have_no_p() {
        let mut critical = change(9, (1, 1), (0, 1));
        critical.is_critical = true;
        let (counts, changes) = listed(&[change(1, (1, 1), (0, 1)), critical, change(0, (0, 1), (1, 1))], 5, 3);
        assert_eq!(changes.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), ["009", "000", "001"]);
        assert_eq!(counts, ChangeCounts { regressions: 2, fixes: 1 });
        assert!(changes.iter().all(|it| it.p.is_none()));
    }
}
