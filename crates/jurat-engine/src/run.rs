//! Cases in, results out, in order.

use std::collections::BTreeMap;
use std::io::Read;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use jurat_core::case::CaseState;
use jurat_core::effect::{Fault, FaultKind, Outcome};
use jurat_core::plan::{Plan, TaskIx};
use jurat_core::suite::Records;
use jurat_core::value::{FieldPath, JsonError, Val, parse_json, shown};
use jurat_core::verdict::{CaseVerdict, Counts, Verdict};
use jurat_model::Asker;
use jurat_store::records::{Chunk, DuplicateId, IdError, Ids, RowAt, RowId, RowNames, RowsError, read_rows, row_id};

use crate::Models;

/// How many chunks may be between the oldest that is not handed on and the newest that is read. It bounds memory when one
/// chunk takes long.
const WINDOW: usize = 16;

/// How a run is done.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// How many threads judge. Judges are asked by one, because a script answers in order.
    pub threads: NonZeroUsize,
    /// How many cases at most.
    pub limit: Option<u64>,
    /// Whether results say what each task found.
    pub details: bool,
}

/// What became of one case.
#[derive(Debug, Clone)]
pub struct CaseResult {
    /// Its id.
    pub id: String,
    /// How it ended.
    pub verdict: CaseVerdict,
    /// How many of its tasks ended how.
    pub counts: Counts,
    /// What it has at each path of `group_by`, in words; `None` when there is nothing.
    pub groups: Vec<Option<String>>,
    /// Its tasks, in the order of the plan.
    pub tasks: Vec<TaskResult>,
    /// How long it took.
    pub took: Duration,
}

/// What became of one task.
#[derive(Debug, Clone)]
pub struct TaskResult {
    /// How it ended.
    pub verdict: Verdict,
    /// What it compared, in words, when details are wanted.
    pub found: Option<String>,
}

/// What ends a run before its end. The cases before it have been handed on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The rows cannot be read.
    #[error(transparent)]
    Rows(#[from] RowsError),
    /// Two rows have one id.
    #[error(transparent)]
    Duplicate(#[from] DuplicateId),
    /// A row has no usable id.
    #[error("{row}: {error}")]
    Id {
        /// The row, in words.
        row: String,
        /// What is wrong with its id.
        error: IdError,
    },
    /// A row is not JSON.
    #[error("{row}: {error}")]
    Json {
        /// The row, in words.
        row: String,
        /// What is wrong with it.
        error: JsonError,
    },
}

/// A chunk on its way, with its place in the order of input.
type Numbered<T> = (u64, T);

/// What a chunk came to: its results, then perhaps why it ended early.
struct Judged {
    results: Vec<(RowAt, RowId<'static>, CaseResult)>,
    error: Option<RunError>,
}

/// Runs a plan over its rows and hands each result to `each`, in the order of input, until it says stop.
pub fn run(
    plan: &Plan,
    records: &Records,
    models: &Models,
    options: Options,
    stdin: &mut (dyn Read + Send),
    each: &mut dyn FnMut(CaseResult) -> ControlFlow<()>,
) -> Result<(), RunError> {
    let asks = plan.tasks.iter().any(|it| it.judge.is_some());
    let n_workers = if asks { 1 } else { options.threads.get() };
    let names = RowNames::of(records);
    let worker = Worker {
        plan,
        models,
        id_path: records.id.as_ref().map(|it| &it.value),
        names: &names,
        reads_whole: asks || plan.footprint.is_all(),
        details: options.details,
    };
    thread::scope(|scope| {
        let (permits, returned) = sync_channel::<()>(WINDOW);
        let (chunks, waiting) = sync_channel::<Numbered<Chunk>>(WINDOW);
        let (judged, arriving) = sync_channel::<Numbered<Judged>>(WINDOW);
        let reading = scope.spawn(move || read(records, stdin, &permits, &chunks));
        let waiting = std::sync::Arc::new(Mutex::new(waiting));
        for _ in 0..n_workers {
            let (waiting, judged, worker) = (waiting.clone(), judged.clone(), &worker);
            scope.spawn(move || worker.work(&waiting, &judged));
        }
        // The workers hold what they need; when they end, the channels close.
        drop((waiting, judged));
        let delivered = deliver(arriving, returned, Ids::new(names.clone()), options.limit, each);
        let read = reading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        delivered.and(read.map_err(RunError::from))
    })
}

/// Reads chunks for as long as somebody wants them.
fn read(
    records: &Records,
    stdin: &mut dyn Read,
    permits: &SyncSender<()>,
    chunks: &SyncSender<Numbered<Chunk>>,
) -> Result<(), RowsError> {
    let mut number = 0;
    let mut each = |chunk| {
        let sent = permits.send(()).is_ok() && chunks.send((number, chunk)).is_ok();
        number += 1;
        if sent { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    read_rows(records, stdin, &mut each).map(|_| ())
}

/// Puts the results in the order of input, gives cases their ids, and hands them on.
fn deliver(
    arriving: Receiver<Numbered<Judged>>,
    returned: Receiver<()>,
    mut ids: Ids,
    limit: Option<u64>,
    each: &mut dyn FnMut(CaseResult) -> ControlFlow<()>,
) -> Result<(), RunError> {
    let mut early = BTreeMap::new();
    let (mut next, mut n_cases) = (0, 0);
    for (number, judged) in &arriving {
        early.insert(number, judged);
        while let Some(Judged { results, error }) = early.remove(&next) {
            for (at, id, mut result) in results {
                if limit.is_some_and(|limit| n_cases >= limit) {
                    return Ok(());
                }
                result.id = ids.admit(id, &at)?.into_owned();
                n_cases += 1;
                if each(result).is_break() {
                    return Ok(());
                }
            }
            if let Some(error) = error {
                return Err(error);
            }
            next += 1;
            // Room for one more; the reader may have ended already.
            let _ = returned.try_recv();
        }
    }
    Ok(())
}

struct Worker<'p> {
    plan: &'p Plan,
    models: &'p Models,
    id_path: Option<&'p FieldPath>,
    names: &'p RowNames,
    /// Whether rows are read whole at once.
    reads_whole: bool,
    details: bool,
}

impl Worker<'_> {
    fn work(&self, waiting: &Mutex<Receiver<Numbered<Chunk>>>, judged: &SyncSender<Numbered<Judged>>) {
        loop {
            let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok((number, chunk)) = next else { return };
            if judged.send((number, self.judge_chunk(&chunk))).is_err() {
                return;
            }
        }
    }

    fn judge_chunk(&self, chunk: &Chunk) -> Judged {
        let mut results = Vec::with_capacity(chunk.rows.len());
        for (at, text) in chunk.iter() {
            match self.judge_row(at, text) {
                Ok((id, result)) => results.push((at.clone(), id, result)),
                Err(error) => return Judged { results, error: Some(error) },
            }
        }
        Judged { results, error: None }
    }

    /// Judges a row by the part of it that the plan reads. Whatever that part does not settle is judged again with the whole
    /// row there: messages should know what else the row has, and paths of a row that is not an object start with
    /// `value`, which is no part of it. Asking judges costs so much more than reading that they get the whole row at once.
    fn judge_row(&self, at: &RowAt, text: &str) -> Result<(RowId<'static>, CaseResult), RunError> {
        let started = Instant::now();
        let not_json = |error: JsonError| {
            // The place in the file, not in the row.
            let error = JsonError { line: at.line as usize + error.line - 1, ..error };
            RunError::Json { row: self.names.row(at.source, at.number), error }
        };
        if !self.reads_whole {
            let part = self.plan.footprint.read(text).map_err(not_json)?.value;
            if let Val::Map(_) = part
                && let Ok((id, result)) = self.judge_value(at, text, part)
                && result.verdict != CaseVerdict::Error
            {
                return Ok((id, CaseResult { took: started.elapsed(), ..result }));
            }
        }
        let whole = parse_json(text).map_err(not_json)?.value;
        self.judge_value(at, text, whole).map(|(id, result)| (id, CaseResult { took: started.elapsed(), ..result }))
    }

    fn judge_value(&self, at: &RowAt, text: &str, row: Val<'_>) -> Result<(RowId<'static>, CaseResult), RunError> {
        let id = row_id(&row, self.id_path, text)
            .map_err(|error| RunError::Id { row: self.names.row(at.source, at.number), error })?;
        let (id, name) = match id {
            RowId::Given(id) => (RowId::Given(id.to_string().into()), id.into_owned()),
            RowId::Content(hash) => (RowId::Content(hash), format!("{hash:032x}")),
        };
        let base = base_context(row);
        let state = self.finished(&base, &name);
        Ok((id, self.result(&state, &base)))
    }

    /// Takes a case to its end.
    fn finished<'c>(&'c self, base: &'c Val<'c>, case: &str) -> CaseState<'c> {
        let mut state = CaseState::start(self.plan, base);
        loop {
            let Some((site, outcome)) = state.steps().next().map(|ready| {
                let task = ready.site.asker.task().map_or("", |ix| self.plan.tasks[ix.index()].id.as_str());
                let answer = self.models.ask(Asker { case, task, priority: 0 }, ready.request, ready.max_requests);
                let nobody = || {
                    let message = format!("nobody plays `{}`", ready.request.model);
                    Outcome::Fault(Box::new(Fault::new(FaultKind::NoAnswer, message, 0)))
                };
                (ready.site, answer.unwrap_or_else(nobody))
            }) else {
                return state;
            };
            state.apply(site, outcome);
        }
    }

    fn result(&self, state: &CaseState<'_>, base: &Val<'_>) -> CaseResult {
        let group =
            |path: &FieldPath| path.find(base).ok().map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned));
        let task = |(ix, verdict): (usize, Option<&Verdict>)| {
            let ix = TaskIx(u32::try_from(ix).unwrap_or(u32::MAX));
            let found = self.details.then(|| state.compared(ix)).flatten().map(|it| shown(&it));
            TaskResult { verdict: verdict.cloned().unwrap_or_else(|| Verdict::error("the task did not end")), found }
        };
        CaseResult {
            id: String::new(),
            verdict: state.verdict().unwrap_or(CaseVerdict::Error),
            counts: state.counts(),
            groups: self.plan.group_by.iter().map(group).collect(),
            tasks: state.verdicts().enumerate().map(task).collect(),
            took: Duration::ZERO,
        }
    }
}

/// A row that is not an object has one name.
fn base_context(row: Val<'_>) -> Val<'_> {
    match row {
        Val::Map(_) => row,
        other => Val::Map([("value", other)].into_iter().collect()),
    }
}
