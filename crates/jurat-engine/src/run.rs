//! A run from its first row to its last commit.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::Read;
use std::num::NonZeroU64;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use jurat_core::effect::EffectKey;
use jurat_core::effect::wire::read_outcome;
use jurat_core::verdict::StopReason;
use jurat_store::run::{
    BlockBuilder, CaseRanges, Column, Document, Ended, FinishState, RunLog, RunReader, RunWriter, ShardMark,
    WriterOptions,
};

use crate::breaker::Breaker;
use crate::case_source::{DefinedCases, OpenCase};
use crate::case_store::{CaseSink, CaseStore};
use crate::clock::now_ms;
use crate::definition::RESUMED;
use crate::effect_lane::{AT_A_TIME, EffectLane};
use crate::effects::{Effects, OutcomeLog, Shares, Source};
use crate::job::{Job, Mode, Target};
use crate::perform::Activity;
use crate::record_lane::RecordLane;
use crate::row_order::RowOrder;
use crate::rows::{Batch, Rows};
use crate::shard::ShardPart;
use crate::tally::{MOST_LABELS, Taken, Tally};
use crate::unseen::Unseen;
use crate::{Progress, RunError, Stop};

/// How many batches of rows may be read and not yet judged.
const BATCHES: usize = 4;

/// How many cases that ask are handed on at once: each time wakes a thread, which costs more than a case.
const HANDFUL: usize = 64;

/// The least number of cases between the oldest that is open and the newest that may be.
pub(crate) const WINDOW: u64 = 4096;

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    pub path: PathBuf,
    /// What came before its end.
    pub stopped: Option<StopReason>,
    pub wall: Duration,
}

/// Runs a job. It returns when everything is on disk.
pub fn run(
    job: &Job<'_>,
    target: Target<'_>,
    stdin: &mut (dyn Read + Send),
    stop: &Stop,
    progress: &Progress,
) -> Result<Ran, RunError> {
    let started = Instant::now();
    let journal = match job.mode {
        Mode::Ask { journal, .. } => journal,
        Mode::Replay(..) => None,
    };
    let options = WriterOptions { durable: job.durable, journal };
    let (writer, log, began_at_ms) = match target {
        Target::New(path, head) => (RunWriter::create(path, head, options)?, None, head.created_at_ms),
        Target::Resume(path) => {
            let writer = RunWriter::resume(path, options)?;
            (writer, Some(RunLog::open(path)?), RunReader::open(path)?.head().created_at_ms)
        }
    };
    if log.is_some() {
        writer.document(Document { name: RESUMED.to_owned(), body: now_ms().to_string().into_bytes() })?;
    }
    let only = match job.mode {
        Mode::Replay(recording, _) => recording.reached()?,
        Mode::Ask { .. } => None,
    };
    // What was answered since the plan of a shard was made is an answer of this run.
    let began_at_ms = job.shard.map_or(began_at_ms, |it| it.planned_at_ms);
    let n_rows = AtomicU64::new(0);
    let going =
        Going { job, writer: &writer, log: log.as_ref(), began_at_ms, only, stop, progress, started, n_rows: &n_rows };
    let ended = going.judge_all(stdin);
    // A replay ends as what it replays. A budget that is used up does not stop what costs nothing, but what was not asked is missing.
    let recorded = match job.mode {
        Mode::Replay(recording, _) => recording.stopped(),
        Mode::Ask { perform, .. } => perform.exhausted(),
    };
    let stopped = stop.reason().or(recorded);
    if let Some(watch) = &job.watch {
        writer.document(watch.record().document())?;
    }
    // One that was stopped is not whole: the next attempt resumes it.
    if let Some(shard) = job.shard.filter(|_| ended.is_ok() && stopped.is_none()) {
        let (ix, plan, rows) = (shard.ix, shard.plan.clone(), n_rows.load(Ordering::Relaxed));
        writer.shard(&ShardMark { ix, plan, rows })?;
    }
    let path = writer.path().to_owned();
    let wall = started.elapsed();
    let state = FinishState {
        ended: match (&ended, stopped) {
            (Err(_), _) => Ended::Failed,
            (Ok(()), Some(reason)) => Ended::Stopped(reason),
            (Ok(()), None) => Ended::Done,
        },
        resumable: ended.is_ok() && is_resumable(stopped) && matches!(job.mode, Mode::Ask { .. }),
        at_ms: now_ms(),
        wall,
    };
    drop(log);
    let finished = writer.finish(state).map_err(RunError::from);
    // Why a run failed says more than that it could not be finished after that.
    ended.and(finished)?;
    if let Mode::Ask { perform, .. } = job.mode {
        perform.finish();
    }
    Ok(Ran { path, stopped, wall })
}

/// Whether the same command resumes a run. One that knows enough is done.
fn is_resumable(stopped: Option<StopReason>) -> bool {
    stopped.is_some_and(|it| it != StopReason::Decided)
}

/// A run in progress.
struct Going<'g> {
    job: &'g Job<'g>,
    writer: &'g RunWriter,
    /// What a resumed run was answered before.
    log: Option<&'g RunLog>,
    began_at_ms: u64,
    /// The cases that there are; `None` for all. A run that was stopped is replayed as far as it came.
    only: Option<CaseRanges>,
    stop: &'g Stop,
    progress: &'g Progress,
    started: Instant,
    /// How many rows were read.
    n_rows: &'g AtomicU64,
}

impl Going<'_> {
    fn judge_all(&self, stdin: &mut (dyn Read + Send)) -> Result<(), RunError> {
        let Going { job, writer, stop, progress, started, n_rows, .. } = *self;
        let asks = job.plan.asks();
        let is_sequential = match job.mode {
            Mode::Ask { perform, .. } => asks && perform.is_sequential(),
            Mode::Replay(..) => false,
        };
        let wanted = match job.mode {
            Mode::Ask { perform, .. } => perform.most_open(),
            Mode::Replay(..) => None,
        };
        let most_open = wanted.unwrap_or(job.concurrency.saturating_mul(2).max(64));
        let most_open = if is_sequential { 1 } else { most_open };
        // Cases that ask have to arrive in order: with several threads a chunk of rows apart, those that are ahead would wait for room in
        // the window while those that make room wait behind them.
        // Where a run may stop, threads that are ahead would judge rows that are not looked at.
        let n_threads = if asks || job.watch.is_some() { 1 } else { job.threads.get() };
        let rows = if asks { Rows::asked_about(job.records) } else { Rows::of(job.records) };
        let part = job.shard.map(|it| &it.part);
        let rows = rows.within(part);
        let layout = job.plan.layout(job.variants.len());
        let before = self.log.map(paid_before).transpose()?;
        let (paid, shares) = match before {
            Some((paid, keys)) => (paid, Shares::resumed(self.began_at_ms, keys)),
            None => (Taken::default(), Shares::since(self.began_at_ms)),
        };
        progress.nano_usd.store(paid.nano_usd(), Ordering::Relaxed);
        let tally = Tally::new(job.plan.tasks.len(), job.variants.len(), layout, paid);
        let store = CaseStore {
            plan: job.plan,
            layout,
            variants: &job.variants,
            tally: &tally,
            keep_all: job.keep_all,
            sink: CaseSink::Run(writer),
            progress,
            stop,
            fail_fast: job.fail_fast,
            watch: job.watch.as_ref(),
        };
        let failure: Mutex<Option<(u64, RunError)>> = Mutex::new(None);
        // What is wrong with the first rows is reported, whichever thread found something first.
        let fail_at = |batch: u64, error: RunError| {
            let mut failure = failure.lock().unwrap_or_else(PoisonError::into_inner);
            let is_first = |(first, known): &(u64, RunError)| known.is_echo() || (batch < *first && !error.is_echo());
            if failure.as_ref().is_none_or(is_first) {
                *failure = Some((batch, error));
            }
        };
        // Reading fails behind the batches that were handed on.
        let fail = |error: RunError| fail_at(u64::MAX, error);
        let unseen = if asks { Unseen::of(job, &rows, stop)? } else { None };
        let unseen = unseen.as_ref();
        let (open, arriving) = tokio::sync::mpsc::channel(1);
        let lane = RecordLane {
            rows: &rows,
            store,
            open: asks.then_some(open),
            hand: if is_sequential { 1 } else { HANDFUL },
            ids: asks.then(|| Mutex::new(HashMap::new())),
            only: self.only.as_ref(),
            rerun: job.selection.rerun.as_ref(),
            defined: Mutex::default(),
            unseen,
        };
        thread::scope(|scope| {
            let (batches, waiting) = sync_channel(BATCHES);
            let order = std::sync::Arc::new(RowOrder::new(waiting, n_threads));
            let (rows, fail_at, fail, selection, deadline) = (&rows, &fail_at, &fail, job.selection, job.deadline);
            let watch = job.watch.as_ref();
            let defined = DefinedCases { plan: job.plan, layout, n_row_sources: rows.n_sources() };
            let opened = match defined.selected(selection, stop) {
                // Another shard runs them.
                Ok(_) if matches!(part, Some(ShardPart::Rows(_))) => Vec::new(),
                Ok(opened) => opened,
                Err(error) => {
                    fail(error);
                    return;
                }
            };
            let n_defined = opened.len() as u64;
            // Cases of the definition run among the rows where their order is random.
            let opened = match watch {
                Some(watch) => {
                    *lane.defined.lock().unwrap_or_else(PoisonError::into_inner) = watch.ordered(opened).into();
                    Vec::new()
                }
                None => opened,
            };
            let (ended, end) = sync_channel::<()>(0);
            if let Some(deadline) = deadline {
                // The threads that judge cannot look at the clock while they evaluate an expression.
                scope.spawn(move || {
                    let is_late =
                        end.recv_timeout(deadline.saturating_sub(started.elapsed())) == Err(RecvTimeoutError::Timeout);
                    if is_late {
                        stop.close(StopReason::Deadline);
                    }
                });
            }
            let (saying, said) = sync_channel::<()>(0);
            scope.spawn(move || store.report_progress(&said));
            scope.spawn(move || {
                let mut each = |batch: Batch| {
                    if deadline.is_some_and(|it| started.elapsed() >= it) {
                        stop.close(StopReason::Deadline);
                    }
                    if batches.send(batch).is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
                };
                if unseen.is_some() {
                    let mut ahead = |batch: Batch| each(batch.ahead());
                    // What cannot be read now cannot be read again.
                    if let Err(error) = rows.read(selection, n_defined, &mut std::io::empty(), stop, &mut ahead) {
                        fail(error);
                        return;
                    }
                }
                let read = match watch {
                    Some(watch) => watch.index.deliver(stop, &mut each),
                    None => rows
                        .read(selection, n_defined, stdin, stop, &mut each)
                        .map(|n| n_rows.store(n, Ordering::Relaxed)),
                };
                read.unwrap_or_else(fail);
            });
            // The cases are counted while the first of them are asked, so that progress has a total. What is wrong with rows is reported by the
            // threads that judge them.
            if let Some(watch) = watch {
                progress.total.store(watch.n_cases(), Ordering::Relaxed);
            } else if asks && selection.takes_all() {
                let n_cases: usize = opened.iter().map(|it| layout.n_cases(it.source)).sum();
                scope.spawn(move || {
                    if let Some(n_rows) = rows.count(stop) {
                        let n_rows = selection.limit.map_or(n_rows, |it| n_rows.min(it.saturating_sub(n_defined)));
                        let total = n_cases as u64 + n_rows * layout.n_cases(layout.of_row(0)) as u64;
                        progress.total.store(total, Ordering::Relaxed);
                    }
                });
            }
            let lane = std::sync::Arc::new(lane);
            for _ in 0..n_threads {
                let (order, lane) = (order.clone(), lane.clone());
                let (opened, working) = (opened.clone(), (ended.clone(), saying.clone()));
                scope.spawn(move || {
                    let _working = working;
                    match lane.begin(&opened) {
                        Ok(()) => lane.work(&order, fail_at),
                        Err(error) => fail(error),
                    }
                });
            }
            // The threads hold what they need; when they end, the channels close.
            drop((order, lane));
            if asks {
                self.ask_all(rows, store, shares, most_open, arriving).unwrap_or_else(fail);
            }
            // The deadline is no longer waited for when the last of these is gone, and progress is no longer reported.
            drop((ended, saying));
        });
        if let Some((_, error)) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        recount_labels(&tally, writer)?;
        // Where nothing was asked, tasks may have given scores and labels all the same.
        let summary = if asks { tally.rows(&job.variants) } else { tally.task_rows() };
        if !summary.is_empty() {
            writer.summary(summary)?;
        }
        Ok(())
    }

    /// Takes the cases that ask to their end, on this thread.
    fn ask_all(
        &self,
        rows: &Rows<'_>,
        store: CaseStore<'_>,
        shares: Shares,
        most_open: usize,
        arriving: tokio::sync::mpsc::Receiver<Vec<OpenCase>>,
    ) -> Result<(), RunError> {
        let Going { job, writer, log, began_at_ms, stop, progress, started, .. } = *self;
        let source = match job.mode {
            Mode::Replay(recording, roles) => Source::Recording(recording, roles),
            Mode::Ask { perform, journal, shared, fresh, max_age } => Source::World {
                perform,
                log,
                journal,
                shared,
                not_before_ms: not_before(fresh, max_age, began_at_ms, now_ms()),
            },
        };
        let effects = Effects {
            plan: job.plan,
            source,
            log: OutcomeLog::Run(writer),
            stop,
            progress,
            tally: store.tally,
            now_ms: &now_ms,
            breaker: Breaker::new(stop, job.keep_going),
            // Were the oldest always first, the last few conversations of a run would be left to be held one turn after another while no
            // other case asks. With one place only there is none to leave behind.
            abreast: NonZeroU64::new(2 * job.concurrency as u64)
                .filter(|_| job.concurrency > 1)
                .unwrap_or(NonZeroU64::MIN),
            in_flight: RefCell::new(HashMap::new()),
            activity: Activity::default(),
            shares,
        };
        let lane = EffectLane {
            rows,
            effects: &effects,
            store,
            asked: &job.asked,
            most_open,
            window: WINDOW.max(4 * job.concurrency as u64).max(most_open as u64),
            block: RefCell::new(BlockBuilder::new(job.plan.tasks.len(), store.layout.n_variants())),
            only: self.only.as_ref(),
            home: match job.mode {
                Mode::Ask { .. } => Some(&job.home),
                Mode::Replay(..) => None,
            },
            agent_files: &job.agent_files,
            own_tools: match job.mode {
                Mode::Ask { perform, .. } => Some(perform),
                Mode::Replay(..) => None,
            },
        };
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().max_io_events_per_tick(AT_A_TIME).build()?;
        let deadline = job.deadline.map(|it| tokio::time::Instant::from_std(started + it));
        let _entered = stop.evaluations().enter();
        runtime.block_on(async {
            let watch = async {
                match deadline {
                    Some(deadline) => {
                        tokio::time::sleep_until(deadline).await;
                        stop.drop_all(StopReason::Deadline);
                        std::future::pending::<()>().await;
                    }
                    None => std::future::pending().await,
                }
            };
            let attend = async {
                match job.mode {
                    Mode::Ask { perform, .. } => perform.attend(&effects.activity, progress).await,
                    Mode::Replay(..) => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                result = lane.run(arriving) => result,
                () = watch => Ok(()),
                // Polled after the cases: whether more requests can come is known when none of them can be taken further.
                () = attend => Ok(()),
            }
        })
    }
}

/// What earlier processes of a run paid for, failed requests and responses that no case uses included, and the keys of their requests.
fn paid_before(log: &RunLog) -> Result<(Taken, Vec<EffectKey>), RunError> {
    let (mut paid, mut keys) = (Taken::default(), Vec::new());
    log.each_paid(|key, kind, outcome| {
        keys.push(key);
        // What cannot be read is asked for again, and reported there.
        if let Ok(outcome) = read_outcome(kind, outcome) {
            paid.pay(&outcome);
        }
    })?;
    Ok((paid, keys))
}

/// Counts the labels of tasks that gave very many from what is stored, so that which of them are named does not depend on the order in which they came.
fn recount_labels(tally: &Tally, writer: &RunWriter) -> Result<(), RunError> {
    let tasks = tally.tasks_with_other_labels();
    if tasks.is_empty() {
        return Ok(());
    }
    writer.sync()?;
    let reader = RunReader::open(writer.path())?;
    for task in tasks {
        tally.recount(task, reader.label_counts(Column::from(task), MOST_LABELS)?);
    }
    Ok(())
}

/// Since when answers of the journal are good. What this run itself was answered stays good however old it is: equal questions share an answer, and a run that was
/// killed is resumed.
pub(crate) fn not_before(fresh: bool, max_age: Option<Duration>, began_at_ms: u64, now_ms: u64) -> Option<u64> {
    let oldest = max_age.map(|it| now_ms.saturating_sub(u64::try_from(it.as_millis()).unwrap_or(u64::MAX)));
    if fresh { Some(began_at_ms) } else { oldest.map(|it| it.min(began_at_ms)) }
}

#[cfg(test)]
mod tests;
