//! Every unit of two sides with how it stands, and which of them a query finds.
//!
//! Small enough to stay in memory while a comparison is looked at: names, tasks and answers are read of the units that are shown.

mod gather;
mod query;

use std::collections::{BTreeMap, HashSet};

use jurat_core::contrast::{Cause, Change, ChangeKind, ChangeSide, Circumstances, Repetitions, TestedChanges};
use jurat_core::plan::CaseIx;
use jurat_store::run::{Code, Column};

pub use query::FindError;

use super::contrasting::{CRITICAL, change_side, task_change};
use super::selection::Group;
use super::spending::UnitCases;
use super::table::{Table, TaskInfo};
use super::{CompareError, ComparedSide};
use crate::view::ViewError;
use crate::view::query::Mask;

/// The units of two sides.
#[derive(Debug)]
pub struct PairedUnits {
    /// In the order of BASE; those that NEW alone has come last.
    units: Vec<PairedUnit>,
    groups: Vec<Group>,
    /// Cases that rest on an answer that a repetition before them rests on.
    dropped: [HashSet<CaseIx>; 2],
    tested: TestedChanges,
    counts: UnitCounts,
}

/// How many units there are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UnitCounts {
    pub kinds: BTreeMap<ChangeKind, u64>,
    /// Why units ended otherwise; one may have two reasons.
    pub causes: BTreeMap<Cause, u64>,
}

/// Twenty bytes for each, because there may be a million.
#[derive(Debug)]
struct PairedUnit {
    /// The numbers of its rows, BASE first; [`NO_ROW`] for a side that lacks it.
    rows: [u32; 2],
    group: u32,
    /// By how much its rate changed.
    size: f32,
    kind: ChangeKind,
    /// Of units that changed.
    same_answer: Option<bool>,
    is_redefined: bool,
    is_critical: bool,
}

const NO_ROW: u32 = u32::MAX;

/// What a query finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundUnits {
    /// By their places: what went wrong first, critical ones before others, then the largest change, then in the order of BASE.
    pub units: Vec<u32>,
    /// The terms that must all hold, each as text, with the query that is left without it.
    pub terms: Vec<(String, String)>,
}

/// A unit that is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownUnit {
    pub kind: ChangeKind,
    pub causes: Vec<Cause>,
    pub change: Change,
}

impl PairedUnit {
    fn row(&self, side: usize) -> Option<u32> {
        Some(self.rows[side]).filter(|it| *it != NO_ROW)
    }

    fn causes(&self) -> Vec<Cause> {
        if !self.kind.is_change() {
            return Vec::new();
        }
        let is_judged = self.kind != ChangeKind::Unknown;
        let (same_answer, is_redefined) = (self.same_answer, self.is_redefined);
        Circumstances { judged: [is_judged; 2], same_answer, is_redefined }.causes()
    }
}

impl PairedUnits {
    pub fn len(&self) -> usize {
        self.units.len()
    }

    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// How many units there are of each kind and of each cause.
    pub fn counts(&self) -> &UnitCounts {
        &self.counts
    }

    /// The units that a query finds; without one, those that ended otherwise or could not be judged. `sides` are BASE and NEW.
    pub fn find(&self, sides: [&ComparedSide; 2], query: &str) -> Result<FoundUnits, FindError> {
        match query.trim().is_empty() {
            true => Ok(self.changed()),
            false => query::find(self, tables(sides), query),
        }
    }

    /// The units that ended otherwise or could not be judged.
    pub fn changed(&self) -> FoundUnits {
        let changed = Mask::of(self.units.iter().map(|it| it.kind.is_change()));
        FoundUnits { units: query::ordered(self, &changed), terms: Vec::new() }
    }

    /// What there is to say about a unit, by its place.
    pub fn shown(&self, sides: [&ComparedSide; 2], place: u32) -> Result<ShownUnit, CompareError> {
        let (unit, tables) = (&self.units[place as usize], tables(sides));
        let codes = [self.codes(unit, tables, 0)?, self.codes(unit, tables, 1)?];
        let tasks = shared_tasks(tables);
        let moved = tasks.iter().map(|[was, now]| (&was.id, codes[0].ended(was.column), codes[1].ended(now.column)));
        let moved = moved.filter(|(_, was, now)| was.rate() != now.rate());
        let of_tasks: Vec<_> = moved.map(|(id, was, now)| task_change(id, &was, &now)).collect();
        let group = &self.groups[unit.group as usize];
        let [base, new] = [codes[0].side(), codes[1].side()];
        let (named, case) = if unit.row(0).is_some() { (tables[0], &base) } else { (tables[1], &new) };
        let mut change = Change {
            id: named.id(CaseIx::numbered(case.case_ix))?,
            prompt: group.prompt.clone(),
            subject: group.subject.clone(),
            tasks: of_tasks.iter().map(|it| it.task.clone()).collect(),
            of_tasks: of_tasks.into(),
            is_flaky_in_base: codes[0].ended(Column::CASE).is_flaky(),
            is_critical: named.has_tag(CaseIx::numbered(case.case_ix), CRITICAL)?,
            same_answer: unit.same_answer,
            base,
            new,
            ..Change::default()
        };
        self.tested.mark(&mut change);
        describe(unit, tables, &mut change)?;
        Ok(ShownUnit { kind: unit.kind, causes: unit.causes(), change })
    }

    /// The cases of a unit on one side.
    fn cases(&self, unit: &PairedUnit, table: &dyn Table, side: usize) -> Option<UnitCases<'_>> {
        let group = &self.groups[unit.group as usize];
        let variants = if side == 0 { &group.base } else { &group.new };
        Some(UnitCases::of(table, unit.row(side)?, variants))
    }

    fn counts_case(&self, side: usize, case: CaseIx) -> bool {
        !self.dropped[side].contains(&case)
    }

    fn codes(&self, unit: &PairedUnit, tables: Tables<'_>, side: usize) -> Result<UnitCodes, ViewError> {
        let cases = self.cases(unit, tables[side], side).into_iter().flat_map(UnitCases::cases);
        let counted = cases.filter(|it| self.counts_case(side, *it));
        counted.map(|case| Ok((case, tables[side].codes_of(case)?))).collect::<Result<_, _>>().map(UnitCodes)
    }
}

impl UnitCounts {
    fn of(units: &[PairedUnit]) -> UnitCounts {
        let mut counts = UnitCounts::default();
        for unit in units {
            *counts.kinds.entry(unit.kind).or_default() += 1;
            unit.causes().into_iter().for_each(|it| *counts.causes.entry(it).or_default() += 1);
        }
        counts
    }
}

type Tables<'t> = [&'t dyn Table; 2];

fn tables(sides: [&ComparedSide; 2]) -> Tables<'_> {
    sides.map(|it| &*it.0)
}

/// The tasks that both sides have.
fn shared_tasks(tables: Tables<'_>) -> Vec<[TaskInfo; 2]> {
    let partner = |it: &TaskInfo| tables[1].tasks().iter().find(|task| task.id == it.id).cloned();
    tables[0].tasks().iter().filter_map(|it| Some([it.clone(), partner(it)?])).collect()
}

fn describe(unit: &PairedUnit, tables: Tables<'_>, change: &mut Change) -> Result<(), ViewError> {
    let task = change.tasks.first().cloned();
    for (ix, side) in [&mut change.base, &mut change.new].into_iter().enumerate() {
        if unit.row(ix).is_some() {
            tables[ix].describe(CaseIx::numbered(side.case_ix), task.as_deref(), side)?;
        }
    }
    Ok(())
}

/// How the cases of a unit and their tasks ended, on one side.
struct UnitCodes(Vec<(CaseIx, Vec<Code>)>);

impl UnitCodes {
    fn of(&self, column: Column) -> impl Iterator<Item = (CaseIx, Code)> + Clone {
        self.0.iter().filter_map(move |(case, codes)| Some((*case, *codes.get(column.index())?)))
    }

    fn ended(&self, column: Column) -> Repetitions {
        self.of(column).map(|it| it.1.ending()).collect()
    }

    fn side(&self) -> ChangeSide {
        change_side(&self.ended(Column::CASE), self.of(Column::CASE))
    }
}
