//! The units that ended otherwise, and those that a side could not judge.

use std::collections::HashMap;
use std::sync::Arc;

use jurat_core::contrast::{
    Change, ChangeCounts, ChangeList, ChangeSide, Direction, Repetitions, Standing, TaskChange,
};
use jurat_core::plan::CaseIx;
use jurat_store::run::{Code, Column as RunColumn};

use super::{Contrasting, Unit};
use crate::contrast::CompareError;
use crate::contrast::pairing::Column;
use crate::contrast::spending::{UnitCases, same_answer};

/// Units, and the tasks of each that ended otherwise: twelve bytes for each, because a million may have changed.
#[derive(Debug, Default)]
pub(super) struct ChangedUnits {
    units: Vec<ChangedUnit>,
    sets: TaskSets,
}

#[derive(Debug)]
struct ChangedUnit {
    row: u32,
    group: u32,
    tasks: SetIx,
}

impl ChangedUnit {
    fn new(unit: Unit) -> ChangedUnit {
        ChangedUnit { row: unit.row as u32, group: unit.group as u32, tasks: TaskSets::NONE }
    }

    fn unit(&self) -> Unit {
        Unit { row: self.row as usize, group: self.group as usize }
    }
}

/// The tasks that changed together, in the same way. There are few such sets, so each is held once.
#[derive(Debug)]
struct TaskSets {
    sets: Vec<TaskSet>,
    /// The set that one becomes with the task that is looked at, by how it ended on both sides.
    with_task: HashMap<(SetIx, Repetitions, Repetitions), SetIx>,
}

#[derive(Debug, Clone, Default)]
struct TaskSet {
    names: Arc<[String]>,
    changes: Arc<[TaskChange]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct SetIx(u32);

impl Default for TaskSets {
    fn default() -> TaskSets {
        TaskSets { sets: vec![TaskSet::default()], with_task: HashMap::new() }
    }
}

impl TaskSets {
    const NONE: SetIx = SetIx(0);

    fn with(&mut self, set: SetIx, task: &str, base: &Repetitions, new: &Repetitions) -> SetIx {
        let TaskSets { sets, with_task } = self;
        *with_task.entry((set, *base, *new)).or_insert_with(|| {
            let TaskSet { names, changes } = &sets[set.0 as usize];
            let names = names.iter().cloned().chain([task.to_owned()]).collect();
            let changes = changes.iter().cloned().chain([task_change(task, base, new)]).collect();
            sets.push(TaskSet { names, changes });
            SetIx(sets.len() as u32 - 1)
        })
    }
}

impl ChangedUnits {
    /// Adds a task to the units in which its rate changed.
    pub(super) fn add_task(&mut self, task: &str, ended: impl Fn(Unit) -> [Repetitions; 2]) {
        self.sets.with_task.clear();
        // Neighbours mostly changed alike.
        let mut last = None;
        for it in &mut self.units {
            let [base, new] = ended(it.unit());
            if base.rate() != new.rate() {
                let change = (it.tasks, base, new);
                let known = last.filter(|(before, _)| *before == change);
                let (_, set) = known.unwrap_or_else(|| (change, self.sets.with(it.tasks, task, &base, &new)));
                last = Some((change, set));
                it.tasks = set;
            }
        }
    }
}

impl Contrasting<'_> {
    /// The units whose rate changed.
    pub(super) fn changed_units(&self, codes: &[Vec<Option<Code>>; 2]) -> ChangedUnits {
        self.units_that(codes, |base, new| base.against(new) == Standing::Pair && base.rate() != new.rate())
    }

    /// The first units that a side could not judge, in the order of BASE.
    pub(super) fn unjudged_units(&self, codes: &[Vec<Option<Code>>; 2]) -> ChangedUnits {
        if self.options.most_unjudged == 0 {
            return ChangedUnits::default();
        }
        let mut unjudged = self.units_that(codes, |base, new| base.against(new) == Standing::Unknown);
        unjudged.units.truncate(self.options.most_unjudged);
        unjudged
    }

    /// The units that ended in some way, in the order of BASE: there cases are read block by block.
    fn units_that(
        &self,
        codes: &[Vec<Option<Code>>; 2],
        is_meant: impl Fn(&Repetitions, &Repetitions) -> bool,
    ) -> ChangedUnits {
        let mut found = ChangedUnits::default();
        self.each(codes, |unit, base, new| {
            if is_meant(base, new) {
                found.units.push(ChangedUnit::new(unit));
            }
        });
        found.units.sort_unstable_by_key(|it| self.rows.shared[it.row as usize].0);
        found
    }

    /// How many units changed, and those that are listed, in order; the first of each direction with what was answered.
    pub(super) fn described(
        &self,
        changed: &ChangedUnits,
        n_units: u64,
    ) -> Result<(ChangeCounts, Vec<Change>), CompareError> {
        if self.options.listed == 0 {
            return Ok((self.counted(changed)?, Vec::new()));
        }
        let mut list = ChangeList::new(self.options.listed);
        self.each_named(changed, |it| list.add(it))?;
        let (counts, mut changes) = list.finish(n_units);
        for direction in [Direction::Regression, Direction::Fix] {
            let own = changes.iter_mut().filter(|it| it.direction() == direction);
            for change in own.take(self.options.described) {
                let tasks = Arc::clone(&change.tasks);
                let task = tasks.first().map(String::as_str);
                self.base.describe(CaseIx::numbered(change.base.case_ix), task, &mut change.base)?;
                self.new.describe(CaseIx::numbered(change.new.case_ix), task, &mut change.new)?;
            }
        }
        Ok((counts, changes))
    }

    /// How many units changed, without a look at any of them.
    fn counted(&self, changed: &ChangedUnits) -> Result<ChangeCounts, CompareError> {
        let codes = self.codes(RunColumn::CASE, RunColumn::CASE)?;
        let (base, new) = (Column::new(&codes[0], self.base), Column::new(&codes[1], self.new));
        let is_regression = |it: &&ChangedUnit| {
            let (group, (was, now)) = (&self.groups.groups[it.group as usize], self.rows.shared[it.row as usize]);
            new.unit(now, &group.new).rate() < base.unit(was, &group.base).rate()
        };
        let regressions = changed.units.iter().filter(is_regression).count() as u64;
        Ok(ChangeCounts { regressions, fixes: changed.units.len() as u64 - regressions })
    }

    /// Units with their names, in the order of BASE.
    pub(super) fn named(&self, units: &ChangedUnits) -> Result<Vec<Change>, CompareError> {
        let mut named = Vec::new();
        self.each_named(units, |it| named.push(it))?;
        Ok(named)
    }

    fn each_named(&self, units: &ChangedUnits, mut take: impl FnMut(Change)) -> Result<(), CompareError> {
        let codes = self.codes(RunColumn::CASE, RunColumn::CASE)?;
        for it in &units.units {
            take(self.change(it.unit(), units.sets.sets[it.tasks.0 as usize].clone(), &codes)?);
        }
        Ok(())
    }

    fn change(&self, unit: Unit, tasks: TaskSet, codes: &[Vec<Option<Code>>; 2]) -> Result<Change, CompareError> {
        let group = &self.groups.groups[unit.group];
        let (base_row, new_row) = self.rows.shared[unit.row];
        let base = Column::new(&codes[0], self.base).unit(base_row, &group.base);
        let new = Column::new(&codes[1], self.new).unit(new_row, &group.new);
        let cases = self.cases(unit);
        let asked = [&self.asked[0], &self.asked[1]];
        let side = |unit: &Repetitions, cases: UnitCases<'_>, codes: &[Option<Code>]| {
            let coded = |case: CaseIx| Some((case, codes.get(case.index()).copied().flatten()?));
            change_side(unit, cases.cases().filter_map(coded))
        };
        let base_side = side(&base, cases[0], &codes[0]);
        Ok(Change {
            id: self.base.id(CaseIx::numbered(base_side.case_ix))?,
            prompt: group.prompt.clone(),
            subject: group.subject.clone(),
            tasks: tasks.names,
            of_tasks: tasks.changes,
            is_flaky_in_base: base.is_flaky(),
            is_critical: self.base.has_tag(CaseIx::numbered(base_side.case_ix), CRITICAL)?,
            same_answer: same_answer(asked, cases),
            new: side(&new, cases[1], &codes[1]),
            base: base_side,
            p: None,
            is_likely: false,
        })
    }
}

/// The tag of cases that come first in every list.
pub(in crate::contrast) const CRITICAL: &str = "critical";

/// One side of a change: how the unit ended, and the case to look at. A repetition that failed says more than one that passed.
pub(in crate::contrast) fn change_side(
    unit: &Repetitions,
    cases: impl Iterator<Item = (CaseIx, Code)> + Clone,
) -> ChangeSide {
    let ended = |wanted: Code| cases.clone().find(|it| it.1 == wanted);
    let case = ended(Code::Failed).or_else(|| ended(Code::Passed)).or_else(|| cases.clone().next());
    ChangeSide {
        passed: unit.passed(),
        judged: unit.judged(),
        word: unit.word(),
        case_ix: case.map_or(0, |it| it.0.number()),
        ..ChangeSide::default()
    }
}

pub(in crate::contrast) fn task_change(task: &str, base: &Repetitions, new: &Repetitions) -> TaskChange {
    let words = |it: &Repetitions| match it.judged() {
        0 | 1 => it.word().to_owned(),
        n => format!("{}/{n}", it.passed()),
    };
    let direction = match (base.rate(), new.rate()) {
        (Some(was), Some(now)) if now < was => Some(Direction::Regression),
        (Some(_), Some(_)) => Some(Direction::Fix),
        _ => None,
    };
    TaskChange { task: task.to_owned(), was: words(base), now: words(new), direction }
}
