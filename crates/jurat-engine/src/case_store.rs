//! What is stored of a case: its verdicts, what there is to say about them, and its row where that has to be copied.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use jurat_core::case::CaseState;
use jurat_core::judge::Marks;
use jurat_core::plan::{CaseIx, CaseLayout, Plan, TaskIx};
use jurat_core::verdict::{CaseVerdict, StopReason, Verdict};
use jurat_format::value::Val;
use jurat_store::records::RowId;
use jurat_store::run::{
    Block, BlockBuilder, ByteRange, CaseRow, CaseTaken, Code, Column, Detail, RowPlace, RunWriter, Variant,
};

use crate::row_columns::{group, question_digest};
use crate::slice::Slice;
use crate::stopping::StopWatch;
use crate::tally::Tally;
use crate::{Progress, RunError, Stop};

/// Where cases go that are done.
#[derive(Clone, Copy)]
pub(crate) enum CaseSink<'k> {
    /// The file of a run, in blocks.
    Run(&'k RunWriter),
    /// Who asked for them to be judged; no file is written.
    Caller(&'k dyn TakeDone),
}

/// Takes cases that are done.
pub(crate) trait TakeDone: Sync {
    fn take(&self, done: &Done<'_>, taken: Option<CaseTaken>);
}

/// How cases are stored.
#[derive(Clone, Copy)]
pub(crate) struct CaseStore<'k> {
    pub(crate) plan: &'k Plan,
    pub(crate) layout: CaseLayout,
    pub(crate) variants: &'k [Variant],
    pub(crate) tally: &'k Tally,
    /// Whether every row is copied, also those that passed and are in a file.
    pub(crate) keep_all: bool,
    pub(crate) sink: CaseSink<'k>,
    pub(crate) progress: &'k Progress,
    pub(crate) stop: &'k Stop,
    /// Whether the first case that does not pass ends the run.
    pub(crate) fail_fast: bool,
    /// What ends the run when enough is known.
    pub(crate) watch: Option<&'k StopWatch>,
}

/// A case that is done.
pub(crate) struct Done<'d> {
    pub(crate) case_ix: CaseIx,
    pub(crate) id: &'d RowId<'d>,
    pub(crate) place: RowPlace,
    pub(crate) text: &'d str,
    pub(crate) base: &'d Val<'d>,
    pub(crate) state: &'d CaseState<'d>,
    pub(crate) took: Duration,
}

/// How often a run says how far it has come.
const SAY_PROGRESS: Duration = Duration::from_secs(1);

impl CaseStore<'_> {
    /// Says once a second how far the run has come, for those who read its file meanwhile, until the other end of the channel is gone. That something
    /// cannot be written is reported by the next that writes.
    pub(crate) fn report_progress(&self, end: &Receiver<()>) {
        let CaseSink::Run(writer) = self.sink else { return };
        let (mut total, mut said) = (u64::MAX, String::new());
        while end.recv_timeout(SAY_PROGRESS) == Err(RecvTimeoutError::Timeout) {
            let known = self.progress.total.load(Ordering::Relaxed);
            if known != total && writer.expected_cases(known).is_ok() {
                total = known;
            }
            let now = self.progress.json();
            if now != said && writer.progress(now.clone()).is_ok() {
                said = now;
                if self.plan.asks() {
                    let _ = writer.summary(self.tally.rows(self.variants));
                }
            }
        }
    }

    /// Writes a block, unless it is empty, and returns how many cases it has.
    pub(crate) fn hand_on(&self, block: &mut BlockBuilder) -> Result<u64, RunError> {
        block.close().map_or(Ok(0), |it| self.write(it))
    }

    /// Writes a block and returns how many cases it has.
    pub(crate) fn write(&self, block: Block) -> Result<u64, RunError> {
        let n_cases = block.n_cases() as u64;
        if let CaseSink::Run(writer) = self.sink {
            writer.block(block)?;
        }
        Ok(n_cases)
    }

    /// Puts a case into a block, and ends the run if that is what its verdict does.
    pub(crate) fn put(&self, block: &mut BlockBuilder, done: &Done<'_>) {
        // What was in progress when enough was known, and could not end: it is no case of the run.
        if done.state.verdict() == Some(CaseVerdict::NotRun) && self.stop.reason() == Some(StopReason::Decided) {
            return;
        }
        let verdict = match self.sink {
            CaseSink::Run(_) => self.put_case(block, done),
            CaseSink::Caller(caller) => {
                caller.take(done, self.tally.take(done.case_ix));
                done.state.verdict().unwrap_or(CaseVerdict::Error)
            }
        };
        self.progress.count(verdict);
        if let Some(watch) = self.watch {
            watch.take(done.case_ix, done.state, verdict, self.stop, self.progress);
        }
        if self.fail_fast && matches!(verdict, CaseVerdict::Failed | CaseVerdict::Error) {
            self.stop.close(StopReason::FailFast);
        }
    }

    fn put_case(&self, block: &mut BlockBuilder, done: &Done<'_>) -> CaseVerdict {
        let verdict = done.state.verdict().unwrap_or(CaseVerdict::Error);
        let keep = self.keep_all || verdict != CaseVerdict::Passed || self.plan.ask.is_some();
        block.case(done.case_ix, done.id, CaseRow { place: done.place, text: done.text, keep });
        block.took(done.took);
        if let Some(taken) = self.tally.take(done.case_ix) {
            block.taken(taken);
        }
        if !self.plan.question.is_empty() {
            block.question(question_digest(&self.plan.question, done.base));
        }
        if verdict != CaseVerdict::Passed {
            block.verdict(Column::CASE, Code::from(verdict));
        }
        if let Some(fault) = done.state.fault_without_task() {
            block.detail(Column::CASE, &Detail::of(fault));
        }
        for (ix, verdict) in self.plan.task_ixs().zip(done.state.verdicts()) {
            let (column, has_output) = (Column::from(ix), self.plan.tasks[ix.index()].work.has_output());
            match verdict {
                Some(Verdict::Passed) => {}
                Some(verdict) => {
                    block.verdict(column, Code::from(verdict));
                    let detail = Detail::of(verdict);
                    if !detail.is_empty() && !has_output {
                        block.detail(column, &detail);
                    }
                }
                None => block.verdict(column, Code::Absent),
            }
            if has_output {
                self.put_output(block, done.state, ix);
            }
        }
        self.put_slices(block, done);
        verdict
    }

    /// What a judge or an outcome gave beside its verdict.
    fn put_output(&self, block: &mut BlockBuilder, state: &CaseState<'_>, task: TaskIx) {
        let Some(result) = state.result(task) else { return };
        let column = Column::from(task);
        let mut detail = Detail::of(&result.verdict);
        let said: String;
        let marks: Marks;
        if let Some(reply) = &result.output {
            marks = state.marks(task).unwrap_or_default();
            self.tally.mark(task, &marks);
            if self.plan.tasks[task.index()].work.evaluation().is_some() {
                self.tally.mark_dimensions(task, reply);
            }
            if let Some(score) = marks.score {
                block.score(column, score);
            }
            if let Some(label) = &marks.label {
                block.label(column, label);
            }
            detail.explanation = marks.explanation.as_deref().map(Into::into);
        }
        if result.said.len() > 1 {
            said = result.said.iter().cloned().collect::<Val<'static>>().to_json();
            detail.said = Some(said.as_str().into());
        }
        if !detail.is_empty() {
            block.detail(column, &detail);
        }
    }

    fn put_slices(&self, block: &mut BlockBuilder, done: &Done<'_>) {
        for path in &self.plan.group_by {
            let (path, value) = (path.to_string(), group(path, done.base));
            block.group(&path, value.as_deref());
            block.slice(&Slice::Group { path, value }.to_string());
        }
        if let Some(path) = self.plan.cluster_by.as_ref().filter(|it| !self.plan.group_by.contains(it)) {
            block.group(&path.to_string(), group(path, done.base).as_deref());
        }
        if self.variants.len() > 1
            && let Some(variant) = self.layout.variant(done.case_ix)
        {
            let Variant { prompt, subject, .. } = self.variants[variant].clone();
            block.slice(&Slice::Subject { prompt, subject }.to_string());
        }
    }
}

/// Where a row is, as a run file says it.
pub(crate) fn place(at: &jurat_store::records::RowAt) -> RowPlace {
    let bytes = at.offset.map(|offset| ByteRange { offset, length: at.range.len() as u32 });
    RowPlace { source: at.source, number: at.number, bytes }
}
