//! A condition of the policy, as it is looked at while a run is in progress.

use jurat_core::contrast::{Ending, Repetitions, Standing};
use jurat_core::gate::{Condition, Kind, RepetitionRule, Wants};
use jurat_core::plan::TaskIx;
use jurat_core::statistics::{Confidence, pairs_needed_not_worse, rows_needed};
use jurat_core::stopping::{Claim, Look, Range, Rest, Risk, Step};
use jurat_core::suite::{Suite, Task};
use jurat_format::id::same_id;
use jurat_format::value::{FieldPath, Spanned};
use jurat_store::run::Column;

use super::index::{IndexedRow, RowIndex};
use super::{StopError, task_name};
use crate::contrast::{Group, Reference, passes};

/// The power of the fixed test whose rows decide how the risk is divided.
const POWER: f64 = 0.9;

/// What a condition looks at.
pub(super) struct Watched {
    pub(super) id: String,
    pub(super) kind: Kind,
    pub(super) selector: String,
    pub(super) advisory: bool,
    pub(super) confidence: Confidence,
    repetitions: RepetitionRule,
    /// The tasks whose verdicts count; that of the case where there are none.
    pub(super) columns: Vec<Column>,
    /// The length of the scale, where scores are compared.
    pub(super) span: Option<f64>,
    pub(super) expect: Option<f64>,
    groups: Vec<Group>,
    /// Which turns it selects; all where absent.
    selected: Option<Vec<bool>>,
    /// What BASE has in each turn and group; empty where it is not compared with BASE.
    base: Vec<Option<Vec<BaseUnit>>>,
}

/// A unit of BASE.
#[derive(Debug, Clone, Copy)]
struct BaseUnit {
    endings: Repetitions,
    score: Option<f64>,
}

/// What a case of the run says about a condition.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CaseValue {
    pub(super) endings: Repetitions,
    pub(super) score: Option<f64>,
}

impl Watched {
    pub(super) fn new(
        suite: &Suite,
        condition: &Condition,
        confidence: Confidence,
        groups: &[Group],
        index: &RowIndex,
        paths: &[FieldPath],
    ) -> Result<Watched, StopError> {
        let selector = &condition.selector;
        let text = |it: &Option<Spanned<String>>| it.as_ref().map(|it| it.value.clone());
        let (prompt, subject) = (text(&selector.prompt), text(&selector.subject));
        let is_meant = |it: &&Group| {
            let is = |wanted: &Option<String>, found: &Option<String>| wanted.is_none() || wanted == found;
            is(&prompt, &it.prompt) && is(&subject, &it.subject)
        };
        let named = selector.task.as_ref().map(|it| it.value.as_str());
        let task = suite.tasks.iter().find(|it| named.is_some_and(|name| same_id(name, &task_name(it))));
        let range = condition.range.or_else(|| task.and_then(Task::score_range));
        let span = range.map(|(low, high)| high - low).filter(|_| selector.is_score);
        if selector.is_score && span.is_none() {
            return Err(StopError::NoRange { condition: condition.id.value.clone() });
        }
        if matches!(condition.kind, Kind::Better(_)) && condition.expect.is_none() {
            return Err(StopError::NoExpectation { condition: condition.id.value.clone() });
        }
        Ok(Watched {
            id: condition.id.value.clone(),
            kind: condition.kind,
            selector: selector.words(),
            advisory: condition.advisory,
            confidence: condition.confidence.unwrap_or(confidence),
            repetitions: condition.repetitions,
            columns: columns(suite, condition)?,
            span,
            expect: condition.expect,
            groups: groups.iter().filter(is_meant).cloned().collect(),
            selected: selected(condition, index, paths),
            base: Vec::new(),
        })
    }

    /// The same with what BASE has in each row.
    pub(super) fn against(mut self, base: &Reference, suite: &Suite, index: &RowIndex) -> Result<Watched, StopError> {
        let column = |own: &Column| match own.task() {
            None => Ok(Column::CASE),
            Some(task) => {
                let task = super::task_name(&suite.tasks[task.index()]);
                base.column(&task).ok_or(StopError::NoTask { side: "BASE", task })
            }
        };
        let columns = self.columns.iter().map(column).collect::<Result<Vec<Column>, StopError>>()?;
        let codes = columns.iter().map(|it| base.codes(*it)).collect::<Result<Vec<_>, _>>()?;
        let scores = match (self.span, columns.first()) {
            (Some(_), Some(column)) => base.scores(*column)?,
            _ => Vec::new(),
        };
        let is_alone = columns.len() == 1;
        let unit = |row: u32, group: &Group| {
            let mut endings = Repetitions::default();
            for codes in &codes {
                merge(&mut endings, &base.unit(codes, row, group), |it| is_alone || is_judgement(it));
            }
            BaseUnit { endings, score: base.score(&scores, row, group) }
        };
        let of_turn = |turn: u32| {
            let row = index.at_turn(turn);
            let row = base.row(row.key, row.question)?;
            Some(self.groups.iter().map(|group| unit(row, group)).collect())
        };
        self.base = (0..index.n_rows() as u32).map(of_turn).collect();
        Ok(self)
    }

    /// Whether evidence decides it while the run is in progress.
    pub(super) fn is_monitored(&self) -> bool {
        matches!(self.kind, Kind::AtLeast(_) | Kind::NotWorse(_) | Kind::Better(_))
    }

    /// Whether only the last row can make it pass.
    pub(super) fn waits_for_end(&self) -> bool {
        !self.advisory
            && !self.is_monitored()
            && !matches!(self.kind, Kind::Errors(_) | Kind::Flaky(_) | Kind::Judge(_))
    }

    fn has(&self, turn: u32) -> bool {
        self.selected.as_ref().is_none_or(|it| it[turn as usize])
    }

    fn of_base(&self, turn: u32) -> Option<&[BaseUnit]> {
        self.base.get(turn as usize).and_then(Option::as_deref)
    }

    /// How many turns belong to it, as far as that is known before the run.
    fn n_turns(&self, n_rows: u32) -> u64 {
        let needs_base = self.kind.needs_base();
        (0..n_rows).filter(|it| self.has(*it) && (!needs_base || self.of_base(*it).is_some())).count() as u64
    }

    /// The rate of BASE over the rows that belong to it.
    fn base_rate(&self, n_rows: u32) -> Option<f64> {
        let units = (0..n_rows).filter(|it| self.has(*it)).filter_map(|it| self.of_base(it)).flatten();
        let rates: Vec<f64> = units.filter_map(|it| it.endings.rate()).collect();
        (!rates.is_empty()).then(|| rates.iter().sum::<f64>() / rates.len() as f64)
    }

    /// What is to be shown; `None` for conditions that no evidence decides.
    pub(super) fn claim(&self, n_rows: u32) -> Option<Claim> {
        let difference = |bound: f64, gain: f64| match self.span {
            Some(span) => Claim::Score { bound, gain, span },
            None => Claim::Difference { bound, gain },
        };
        match self.kind {
            Kind::AtLeast(least) => {
                Some(Claim::Rate { least, expected: self.expect.or_else(|| self.base_rate(n_rows)) })
            }
            Kind::NotWorse(margin) => Some(difference(-margin, margin)),
            Kind::Better(least) => Some(difference(least, self.expect?)),
            _ => None,
        }
    }

    /// How its risk is divided: by the rows at hand and those that a fixed test takes.
    pub(super) fn risk(&self, claim: Claim, n_rows: u32) -> (Risk, u64) {
        let n = self.n_turns(n_rows);
        let discordance = self.base_rate(n_rows).map(|rate| (rate * (1.0 - rate)).max(3.0 / n.max(1) as f64).min(1.0));
        let needed = match claim {
            Claim::Rate { least, expected } => {
                expected.and_then(|it| rows_needed(least, it, self.confidence, POWER)).map(|it| it.rows)
            }
            Claim::Difference { bound, gain } => {
                discordance.and_then(|it| pairs_needed_not_worse(-bound, bound + gain, it, self.confidence, POWER))
            }
            Claim::Score { .. } => None,
        };
        (Risk::divide(self.confidence, n, needed), n)
    }

    /// The test of all rows, where it can be foreseen: every row is one case, and a step.
    pub(super) fn look(&self, claim: Claim, risk: Risk, index: &RowIndex) -> Option<Look> {
        let confidence = risk.end_confidence()?;
        let is_single = self.groups.len() == 1 && self.columns.len() == 1 && !index.is_clustered();
        let is_once = self.groups.iter().all(|it| it.new.len() == 1 && it.base.len() <= 1);
        if !is_single || !is_once || self.span.is_some() {
            return None;
        }
        let n_rows = index.n_rows() as u32;
        match (claim, self.kind) {
            (Claim::Rate { least, .. }, _) => Some(Look::at_rate(self.n_turns(n_rows), least, confidence)),
            (Claim::Difference { bound, .. }, kind) => {
                let mut rest = Rest::default();
                let units = (0..n_rows).filter(|it| self.has(*it)).filter_map(|it| self.of_base(it)).flatten();
                for unit in units {
                    match unit.endings.rate() {
                        None => rest.unknown += 1,
                        Some(rate) if rate >= 1.0 => rest.passed += 1,
                        Some(_) => rest.failed += 1,
                    }
                }
                let wants = if matches!(kind, Kind::Better(_)) { Wants::MoreThan } else { Wants::AtLeast };
                Some(Look::at_pairs(rest, bound, wants, confidence))
            }
            (Claim::Score { .. }, _) => None,
        }
    }

    /// What a finished row says about it; `None` when the row does not belong to it.
    pub(super) fn step(&self, turn: u32, cases: &[(usize, CaseValue)]) -> Option<Step> {
        if !self.has(turn) {
            return None;
        }
        let units = self.groups.iter().map(|group| unit_of(group, cases));
        if !self.kind.needs_base() {
            let steps: Vec<Step> = units.filter(is_applicable).map(|it| Step::Share(share(&it.endings))).collect();
            return joined(&steps, 1.0);
        }
        let base = self.of_base(turn)?;
        let pairs = base.iter().zip(units).filter(|(base, new)| base.endings.n() > 0 && new.endings.n() > 0);
        let step = |(base, new): (&BaseUnit, CaseValue)| match self.span {
            Some(_) => {
                let known = |it: Option<f64>| it.map(Range::known);
                Some(Step::Pair { base: known(base.score), new: known(new.score) })
            }
            None if base.endings.against(&new.endings) == Standing::NotApplicable => None,
            None => Some(Step::Pair { base: share(&base.endings), new: share(&new.endings) }),
        };
        joined(&pairs.filter_map(step).collect::<Vec<_>>(), self.span.unwrap_or(1.0))
    }

    /// Whether a finished row breaches a condition that counts cases.
    pub(super) fn is_breached(&self, turn: u32, cases: &[(usize, CaseValue)]) -> bool {
        if self.advisory || !self.has(turn) {
            return false;
        }
        let fails = |unit: &CaseValue| passes(self.repetitions, &unit.endings) == Some(false);
        let mut units = self.groups.iter().map(|group| unit_of(group, cases));
        match self.kind {
            Kind::AllPass => units.any(|it| is_applicable(&it) && fails(&it)),
            Kind::NoNewFailures => {
                let did_pass = |base: &BaseUnit| {
                    base.endings.passed() > 0 && passes(self.repetitions, &base.endings) != Some(false)
                };
                let base = self.of_base(turn).unwrap_or_default();
                base.iter().zip(units).any(|(base, new)| did_pass(base) && new.endings.n() > 0 && fails(&new))
            }
            _ => false,
        }
    }
}

/// The verdicts of all cases of a row that belong to a group, and their mean score.
fn unit_of(group: &Group, cases: &[(usize, CaseValue)]) -> CaseValue {
    let mut endings = Repetitions::default();
    let own = || cases.iter().filter(|it| group.new.contains(&it.0)).map(|it| &it.1);
    own().for_each(|it| merge(&mut endings, &it.endings, |_| true));
    let scores: Vec<f64> = own().filter_map(|it| it.score).collect();
    let score = (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64);
    CaseValue { endings, score }
}

fn is_applicable(unit: &CaseValue) -> bool {
    is_judged(&unit.endings)
}

/// Whether there was something to judge.
pub(super) fn is_judged(endings: &Repetitions) -> bool {
    endings.n() > 0 && endings.only().is_none_or(is_judgement)
}

pub(super) fn is_judgement(ending: Ending) -> bool {
    !matches!(ending, Ending::Skipped | Ending::Measured | Ending::Absent)
}

/// Adds what one unit has to another.
fn merge(sum: &mut Repetitions, other: &Repetitions, is_meant: impl Fn(Ending) -> bool) {
    for ending in Ending::ALL.into_iter().filter(|it| is_meant(*it)) {
        (0..other.count(ending)).for_each(|_| sum.add(ending));
    }
}

/// Between which shares the rate of a unit lies; `None` when nothing of it is known.
pub(super) fn share(endings: &Repetitions) -> Option<Range> {
    (endings.judged() > 0).then(|| Range { least: endings.least(), most: endings.most() })
}

/// Several units, or several rows of a cluster, as one step: their mean.
pub(super) fn joined(steps: &[Step], span: f64) -> Option<Step> {
    let (first, rest) = steps.split_first()?;
    if rest.is_empty() {
        return Some(*first);
    }
    let widest = Range { least: 0.0, most: span };
    let mean = |of: &dyn Fn(&Step) -> Option<Range>| {
        let n = steps.len() as f64;
        let sum = steps.iter().map(|it| of(it).unwrap_or(widest));
        let sum = sum.fold((0.0, 0.0), |sum, it| (sum.0 + it.least, sum.1 + it.most));
        Some(Range { least: sum.0 / n, most: sum.1 / n })
    };
    let of_base = |it: &Step| if let Step::Pair { base, .. } = it { *base } else { None };
    let of_new = |it: &Step| match it {
        Step::Share(share) => *share,
        Step::Pair { new, .. } => *new,
    };
    Some(match first {
        Step::Share(_) => Step::Share(mean(&of_new)),
        Step::Pair { .. } => Step::Pair { base: mean(&of_base), new: mean(&of_new) },
    })
}

/// The columns of the tasks that a condition is about.
fn columns(suite: &Suite, condition: &Condition) -> Result<Vec<Column>, StopError> {
    let numbered = || suite.tasks.iter().enumerate().map(|(ix, it)| (Column::from(TaskIx(ix as u32)), it));
    if condition.selector.on_judgements {
        return Ok(numbered().filter(|it| it.1.gate.is_counted() && it.1.judges()).map(|it| it.0).collect());
    }
    let Some(task) = &condition.selector.task else { return Ok(vec![Column::CASE]) };
    let found = numbered().find(|it| super::task_name(it.1) == task.value);
    let none = || StopError::NoTask { side: "the suite", task: task.value.clone() };
    Ok(vec![found.ok_or_else(none)?.0])
}

/// The turns that a condition selects by tag or slice.
fn selected(condition: &Condition, index: &RowIndex, paths: &[FieldPath]) -> Option<Vec<bool>> {
    let (slice, tag) = (&condition.selector.slice, &condition.selector.tag);
    if slice.is_none() && tag.is_none() {
        return None;
    }
    let has_value = |row: &IndexedRow| {
        slice.as_ref().is_none_or(|(path, value)| {
            let at = paths.iter().position(|it| *it == path.value);
            at.and_then(|it| row.values[it].as_ref()) == Some(value)
        })
    };
    let has_tag = |row: &IndexedRow| tag.as_ref().is_none_or(|tag| row.tags.contains(&tag.value));
    let is_selected = |turn: u32| has_value(index.at_turn(turn)) && has_tag(index.at_turn(turn));
    Some((0..index.n_rows() as u32).map(is_selected).collect())
}
