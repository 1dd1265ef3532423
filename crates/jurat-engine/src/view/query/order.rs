//! The order of cases that were found.

use std::cmp::Ordering;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use jurat_core::plan::TaskIx;
use jurat_store::run::{CaseTexts, Code, Column};

use super::columns::{Columns, Ids};
use super::spent::Spent;
use super::term::Figure;
use crate::view::{RunView, ViewError};

/// By what cases are ordered. What has no value comes last in both directions, and ties stay in the order of input.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Sort {
    #[default]
    Input,
    Id,
    Verdict,
    Took,
    Cost,
    Tokens,
    Latency,
    /// By the score of a task.
    Score(String),
    /// By the label of a task.
    Label(String),
}

impl Sort {
    /// What can be written, in words.
    pub const ACCEPTED: &str =
        "`input`, `id`, `verdict`, `took`, `cost`, `tokens`, `latency`, `score:TASK` or `label:TASK`";

    const PLAIN: [(&'static str, Sort); 7] = [
        ("input", Sort::Input),
        ("id", Sort::Id),
        ("verdict", Sort::Verdict),
        ("took", Sort::Took),
        ("cost", Sort::Cost),
        ("tokens", Sort::Tokens),
        ("latency", Sort::Latency),
    ];

    /// Reads an order as it is printed.
    pub fn parse(text: &str) -> Option<Sort> {
        let of_task = |key: &str| text.strip_prefix(key).filter(|it| !it.is_empty()).map(str::to_owned);
        let plain = Sort::PLAIN.into_iter().find(|(name, _)| *name == text).map(|(_, sort)| sort);
        plain.or_else(|| of_task("score:").map(Sort::Score)).or_else(|| of_task("label:").map(Sort::Label))
    }
}

impl fmt::Display for Sort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sort::Score(task) => write!(f, "score:{task}"),
            Sort::Label(task) => write!(f, "label:{task}"),
            plain => f.write_str(Sort::PLAIN.iter().find(|(_, it)| it == plain).map_or("input", |(name, _)| name)),
        }
    }
}

/// An order of the cases of one run. A page of it is found without putting all cases in order.
#[derive(Debug)]
pub struct Order {
    keys: Keys,
    descending: bool,
}

/// Where a case is among others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// How many cases come before it.
    pub before: u64,
    pub previous: Option<u32>,
    pub next: Option<u32>,
}

#[derive(Debug)]
enum Keys {
    Input,
    Ids(Arc<Ids>),
    Codes(Arc<Vec<Option<Code>>>),
    Took(Arc<Vec<u64>>),
    Spent(Arc<Vec<Spent>>, Figure),
    Scores(Arc<Vec<f64>>),
    Labels(Arc<CaseTexts>),
}

impl Sort {
    /// The order over a run; a task that it does not have is the inner error.
    pub fn order(
        &self,
        descending: bool,
        view: &RunView,
        columns: &Columns<'_>,
    ) -> Result<Result<Order, String>, ViewError> {
        let keys = match self {
            Sort::Input => Keys::Input,
            Sort::Id => Keys::Ids(columns.ids(view)?),
            Sort::Verdict => Keys::Codes(columns.codes(view, Column::CASE)?),
            Sort::Took => Keys::Took(columns.took(view)?),
            Sort::Cost => Keys::Spent(columns.spent(view)?, Figure::Dollars),
            Sort::Tokens => Keys::Spent(columns.spent(view)?, Figure::Tokens),
            Sort::Latency => Keys::Spent(columns.spent(view)?, Figure::Latency),
            Sort::Score(task) | Sort::Label(task) => {
                let Some(ix) = view.plan().tasks.iter().position(|it| it.id == *task) else {
                    return Ok(Err(format!("the run has no task `{task}`")));
                };
                let column = Column::from(TaskIx(ix as u32));
                match self {
                    Sort::Score(_) => Keys::Scores(columns.scores(view, column)?),
                    _ => Keys::Labels(columns.labels(view, column)?),
                }
            }
        };
        Ok(Ok(Order { keys, descending }))
    }
}

impl Order {
    /// The cases at some places of the order. `cases` are in the order of input.
    pub fn page(&self, mut cases: Vec<u32>, places: Range<usize>) -> Vec<u32> {
        let (start, end) = (places.start.min(cases.len()), places.end.min(cases.len()));
        if start >= end {
            return Vec::new();
        }
        if matches!(self.keys, Keys::Input) {
            if self.descending {
                cases.reverse();
            }
            return cases[start..end].to_vec();
        }
        let compare = |one: &u32, other: &u32| self.compare(*one, *other);
        if end < cases.len() {
            cases.select_nth_unstable_by(end, compare);
            cases.truncate(end);
        }
        if start > 0 {
            cases.select_nth_unstable_by(start, compare);
        }
        let mut page = cases.split_off(start);
        page.sort_unstable_by(compare);
        page
    }

    /// Where a case is among some; `None` when it is not one of them.
    pub fn place(&self, cases: impl Iterator<Item = u32>, case: u32) -> Option<Place> {
        let (mut place, mut is_there) = (Place { before: 0, previous: None, next: None }, false);
        for other in cases {
            match self.compare(other, case) {
                Ordering::Equal => is_there = true,
                Ordering::Less => {
                    place.before += 1;
                    if place.previous.is_none_or(|it| self.compare(other, it).is_gt()) {
                        place.previous = Some(other);
                    }
                }
                Ordering::Greater => {
                    if place.next.is_none_or(|it| self.compare(other, it).is_lt()) {
                        place.next = Some(other);
                    }
                }
            }
        }
        is_there.then_some(place)
    }

    /// What has no value comes last in both directions, and ties stay in the order of input.
    fn compare(&self, one: u32, other: u32) -> Ordering {
        let by_input = one.cmp(&other);
        match &self.keys {
            Keys::Input => {
                if self.descending {
                    by_input.reverse()
                } else {
                    by_input
                }
            }
            Keys::Ids(ids) => {
                let id = |case| Some(ids.get(case)).filter(|it| !it.is_empty());
                self.compared(id(one), id(other), Ord::cmp)
            }
            Keys::Codes(codes) => {
                let severity = |case: u32| codes.get(case as usize).copied().flatten().map(severity);
                self.compared(severity(one), severity(other), Ord::cmp)
            }
            Keys::Took(took) => {
                let of = |case: u32| took.get(case as usize).filter(|it| **it != u64::MAX);
                self.compared(of(one), of(other), Ord::cmp)
            }
            Keys::Spent(spent, figure) => {
                let of = |case: u32| spent.get(case as usize).and_then(|it| figure.of(it));
                self.compared(of(one), of(other), f64::total_cmp)
            }
            Keys::Scores(scores) => {
                let of = |case: u32| scores.get(case as usize).copied().filter(|it| !it.is_nan());
                self.compared(of(one), of(other), f64::total_cmp)
            }
            Keys::Labels(labels) => {
                let of = |case: u32| labels.numbers.get(case as usize).filter(|it| **it != CaseTexts::NONE);
                self.compared(of(one), of(other), Ord::cmp)
            }
        }
        .then(by_input)
    }

    fn compared<K>(&self, one: Option<K>, other: Option<K>, compare: impl Fn(&K, &K) -> Ordering) -> Ordering {
        match (one, other) {
            (Some(one), Some(other)) if self.descending => compare(&other, &one),
            (Some(one), Some(other)) => compare(&one, &other),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => Ordering::Equal,
        }
    }
}

/// What people look at first comes first.
fn severity(code: Code) -> u8 {
    match code {
        Code::Error => 0,
        Code::Failed => 1,
        Code::NotRun => 2,
        Code::NotJudged => 3,
        Code::Measured => 4,
        Code::SkippedByGate | Code::SkippedByError | Code::Absent => 5,
        Code::Passed => 6,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The whole order, the slow way.
    fn sorted(took: &[u64], cases: &[u32], descending: bool) -> Vec<u32> {
        let mut cases = cases.to_vec();
        let key = |case: u32| Some(took[case as usize]).filter(|it| *it != u64::MAX);
        cases.sort_by(|one, other| match (key(*one), key(*other)) {
            (Some(one), Some(other)) if descending => other.cmp(&one),
            (Some(one), Some(other)) => one.cmp(&other),
            (one, other) => one.is_none().cmp(&other.is_none()),
        });
        cases
    }

    proptest! {
        #[test]
        fn a_page_is_a_part_of_the_whole_order(
            took in proptest::collection::vec(prop_oneof![3 => 0_u64..4, 1 => Just(u64::MAX)], 1..40),
            is_in in proptest::collection::vec(any::<bool>(), 40),
            descending in any::<bool>(), start in 0_usize..45, n in 0_usize..20,
        ) {
            let cases: Vec<u32> = (0..took.len() as u32).filter(|it| is_in[*it as usize]).collect();
            let whole = sorted(&took, &cases, descending);
            let order = Order { keys: Keys::Took(Arc::new(took)), descending };
            let expected: Vec<u32> = whole.iter().copied().skip(start).take(n).collect();
            prop_assert_eq!(order.page(cases.clone(), start..start + n), expected);
            for (at, case) in whole.iter().enumerate() {
                let place = order.place(cases.iter().copied(), *case).expect("it is one of them");
                let previous = at.checked_sub(1).map(|it| whole[it]);
                prop_assert_eq!(place, Place { before: at as u64, previous, next: whole.get(at + 1).copied() });
            }
        }
    }
}
