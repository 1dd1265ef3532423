//! The cases of a run as they finish, handed to the monitors in the order of the run.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use jurat_core::case::CaseState;
use jurat_core::contrast::Repetitions;
use jurat_core::plan::{CaseIx, CaseLayout, TaskIx};
use jurat_core::stopping::{Monitoring, Prefix, RowSteps, Step};
use jurat_core::verdict::{CaseVerdict, StopReason, Verdict};
use jurat_store::run::Code;

use super::condition::{CaseValue, Watched, is_judged, is_judgement, joined, share};
use super::index::RowIndex;
use crate::case_source::OpenCase;
use crate::stopping_record::StoppingRecord;
use crate::{Progress, Stop};

/// How a run that may stop early is watched.
pub(crate) struct StopWatch {
    pub(crate) index: RowIndex,
    conditions: Vec<Watched>,
    layout: CaseLayout,
    /// Whether a decision ends the run. A replay ends as its recording did, and a run that was resumed after its decision continues.
    ends_run: bool,
    /// For each turn, whether it is the last of its step.
    ends_step: Vec<bool>,
    state: Mutex<State>,
    design: StoppingRecord,
}

/// What was seen so far.
struct State {
    open: HashMap<u32, RowSoFar>,
    prefix: Prefix<RowResult>,
    /// The rows of the step that is not complete.
    step: Vec<RowResult>,
    next: u32,
    monitoring: Monitoring,
}

/// A row of which not all cases have finished.
struct RowSoFar {
    left: usize,
    cases: Vec<(usize, Vec<CaseValue>)>,
    verdicts: Repetitions,
}

/// A row that has finished.
struct RowResult {
    verdicts: Repetitions,
    steps: Vec<Option<Step>>,
    is_breach: bool,
}

impl StopWatch {
    pub(super) fn new(
        index: RowIndex,
        conditions: Vec<Watched>,
        layout: CaseLayout,
        monitoring: Monitoring,
        design: StoppingRecord,
    ) -> StopWatch {
        let steps = index.order().step_of_turns();
        let ends_step = (0..steps.len()).map(|it| steps.get(it + 1) != steps.get(it)).collect();
        let state = State { open: HashMap::new(), prefix: Prefix::default(), step: Vec::new(), next: 0, monitoring };
        StopWatch { index, conditions, layout, ends_run: true, ends_step, state: Mutex::new(state), design }
    }

    /// The same, but the run continues after a decision.
    pub(crate) fn continuing(mut self) -> StopWatch {
        self.ends_run = false;
        self
    }

    /// The cases of the definition with their turns, in order.
    pub(crate) fn ordered(&self, defined: Vec<OpenCase>) -> Vec<OpenCase> {
        let variants = self.layout.n_variants();
        let turn = |it: &OpenCase| self.index.turn(variants.place(it.case_ix)).unwrap_or(u32::MAX);
        let with_turn = |it: OpenCase| OpenCase { turn: variants.first(turn(&it).into()).number(), ..it };
        let mut ordered: Vec<OpenCase> = defined.into_iter().map(with_turn).collect();
        ordered.sort_by_key(|it| it.turn);
        ordered
    }

    /// How many cases there are.
    pub(crate) fn n_cases(&self) -> u64 {
        let of = |turn: u32| self.layout.n_cases(self.index.at_turn(turn).source) as u64;
        (0..self.index.n_rows() as u32).map(of).sum()
    }

    /// What is written into the run's file before its first case.
    pub(crate) fn design(&self) -> &StoppingRecord {
        &self.design
    }

    /// Takes in a case that has finished, and stops the run when enough is known.
    pub(crate) fn take(
        &self,
        case: CaseIx,
        state: &CaseState<'_>,
        verdict: CaseVerdict,
        stop: &Stop,
        progress: &Progress,
    ) {
        // What did not run, or was dropped, ends the prefix: it says nothing, and was not left out by chance.
        if verdict == CaseVerdict::NotRun || stop.dropped_for().is_some() {
            return;
        }
        let variants = self.layout.n_variants();
        let Some(turn) = self.index.turn(variants.place(case)) else { return };
        let values = self.conditions.iter().map(|it| value(it, state, verdict)).collect();
        let mut seen = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let n_cases = self.layout.n_cases(self.layout.source(case));
        let row = seen.open.entry(turn).or_insert_with(|| RowSoFar {
            left: n_cases,
            cases: Vec::new(),
            verdicts: Repetitions::default(),
        });
        row.left -= 1;
        row.cases.push((variants.variant(case), values));
        row.verdicts.add(Code::from(verdict).ending());
        if row.left > 0 {
            return;
        }
        let Some(row) = seen.open.remove(&turn) else { return };
        seen.prefix.put(u64::from(turn), self.result(turn, row));
        let before = seen.monitoring.ended();
        self.advance(&mut seen);
        if before.is_none() && seen.monitoring.ended().is_some() && self.ends_run {
            stop.close(StopReason::Decided);
        }
        if seen.monitoring.steps().is_multiple_of(SHOWN_EVERY) {
            progress.watch(&seen.monitoring);
        }
    }

    /// Hands the finished prefix on, step by step.
    fn advance(&self, seen: &mut State) {
        while let Some(row) = seen.prefix.next() {
            seen.step.push(row);
            let is_last = self.ends_step[seen.next as usize];
            seen.next += 1;
            if is_last {
                let rows = std::mem::take(&mut seen.step);
                seen.monitoring.add(&self.step(&rows));
            }
        }
    }

    fn result(&self, turn: u32, row: RowSoFar) -> RowResult {
        let of = |ix: usize| row.cases.iter().map(|it| (it.0, it.1[ix])).collect::<Vec<_>>();
        let steps = self.conditions.iter().enumerate();
        let steps = steps.filter(|it| it.1.is_monitored()).map(|(ix, it)| it.step(turn, &of(ix))).collect();
        let is_breach = self.conditions.iter().enumerate().any(|(ix, it)| it.is_breached(turn, &of(ix)));
        RowResult { verdicts: row.verdicts, steps, is_breach }
    }

    /// The rows of one step together.
    fn step(&self, rows: &[RowResult]) -> RowSteps {
        let judged = rows.iter().map(|it| &it.verdicts).filter(|it| is_judged(it));
        let cases = joined(&judged.map(|it| Step::Share(share(it))).collect::<Vec<_>>(), 1.0);
        let of = |(ix, condition): (usize, &Watched)| {
            let own: Vec<Step> = rows.iter().filter_map(|it| it.steps[ix]).collect();
            joined(&own, condition.span.unwrap_or(1.0))
        };
        let monitored = self.conditions.iter().filter(|it| it.is_monitored());
        let conditions = monitored.enumerate().map(of).collect();
        RowSteps { cases, conditions, is_breach: rows.iter().any(|it| it.is_breach) }
    }

    /// What there is to say when the run is over.
    pub(crate) fn record(&self) -> StoppingRecord {
        let seen = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut record = self.design.clone();
        record.conclude(&seen.monitoring);
        record
    }
}

/// How many steps pass between two changes of the progress line.
const SHOWN_EVERY: u64 = 8;

/// What a case says about a condition.
fn value(condition: &Watched, state: &CaseState<'_>, verdict: CaseVerdict) -> CaseValue {
    let mut found = CaseValue::default();
    for column in &condition.columns {
        let code = match column.task() {
            None => Code::from(verdict),
            Some(task) => of_task(state, task).map_or(Code::Absent, Code::from),
        };
        let ending = code.ending();
        // Of several tasks, those that had nothing to judge say nothing.
        if condition.columns.len() == 1 || is_judgement(ending) {
            found.endings.add(ending);
        }
        if condition.span.is_some() {
            found.score = column.task().and_then(|it| score(state, it));
        }
    }
    found
}

fn of_task<'s>(state: &'s CaseState<'_>, task: TaskIx) -> Option<&'s Verdict> {
    state.result(task).map(|it| &it.verdict)
}

fn score(state: &CaseState<'_>, task: TaskIx) -> Option<f64> {
    state.marks(task)?.score
}
