//! The thread on which models are asked about batches, one batch after the other.
//!
//! Connections and limits belong to that thread and live as long as the evaluator: were they made for each batch, an endpoint would see as many of them as
//! there are batches.

use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use arrow_array::RecordBatch;
use jurat_core::report::TaskTotal;
use jurat_core::verdict::StopReason;
use jurat_engine::batches::{AskingBatches, BatchPlan, Batches, JudgedCase};
use jurat_engine::{Resources, Stop};
use jurat_store::{Disk, Project};

use super::{BatchOptions, Judged, Results, failure, interrupted};
use crate::checked::environment;
use crate::error::launch_error;
use crate::shards::leases_of_batches;
use crate::{Error, RunOptions, Suite, worker};

/// How often the caller is asked whether to continue.
const TICK: Duration = Duration::from_millis(100);

/// As much as the first thread of a process usually has.
const STACK: usize = 8 << 20;

/// Called first on the thread.
pub(super) type Enter = Arc<dyn Fn() + Send + Sync>;

/// What all batches share: the plan, the names of its tasks, and what results are.
pub(super) type Parts = (Arc<BatchPlan>, Arc<[TaskTotal]>, Arc<BatchOptions>);

/// A way to the thread. It ends when the last of these is gone.
#[derive(Clone)]
pub(super) struct Session(Sender<Job>);

struct Job {
    rows: RecordBatch,
    stop: Arc<Stop>,
    judged: SyncSender<Result<Judged, Error>>,
}

/// Whether what the suite asks is ready; if not, the options are given back.
type Opened = Result<(), (Error, Box<RunOptions>)>;

impl Session {
    /// Starts the thread, and waits until everything that the suite asks is ready.
    pub(super) fn open(
        suite: &Suite,
        parts: Parts,
        options: Box<RunOptions>,
        enter: Enter,
    ) -> Result<Session, (Error, Box<RunOptions>)> {
        let (jobs, waiting) = channel();
        let (ready, opened) = sync_channel::<Opened>(1);
        let suite = suite.clone();
        let serving = thread::Builder::new().name("jurat-batches".to_owned()).stack_size(STACK).spawn(move || {
            enter();
            serve(&suite, &parts, options, &ready, &waiting);
        });
        let opened = match serving {
            Ok(_) => opened.recv().ok(),
            Err(_) => None,
        };
        match opened {
            Some(opened) => opened.map(|()| Session(jobs)),
            None => Err((Error::Run("the machine gives no thread".into()), Box::default())),
        }
    }

    /// Has a batch judged.
    pub(super) fn judge(&self, rows: &RecordBatch, tick: &mut dyn FnMut() -> ControlFlow<()>) -> Result<Judged, Error> {
        let gone = || Error::Run("the thread that asks models has ended".into());
        let (judged, done) = sync_channel(1);
        let stop = Arc::new(Stop::new());
        self.0.send(Job { rows: rows.clone(), stop: Arc::clone(&stop), judged }).map_err(|_| gone())?;
        loop {
            match done.recv_timeout(TICK) {
                Ok(_) if stop.reason() == Some(StopReason::Interrupted) => return Err(interrupted()),
                Ok(judged) => return judged,
                Err(RecvTimeoutError::Disconnected) => return Err(gone()),
                Err(RecvTimeoutError::Timeout) if tick().is_break() => stop.drop_all(StopReason::Interrupted),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

fn serve(
    suite: &Suite,
    (plan, tasks, batches): &Parts,
    mut options: Box<RunOptions>,
    ready: &SyncSender<Opened>,
    waiting: &Receiver<Job>,
) {
    let mut functions = suite.0.functions.clone();
    functions.append(&mut options.functions.clone());
    let asking = match asking(suite, plan, &mut options, &functions, batches) {
        Ok(asking) => asking,
        Err(error) => {
            let _ = ready.send(Err((error, options)));
            return;
        }
    };
    // Who waits for the answer is there: it holds the lock.
    let _ = ready.send(Ok(()));
    for Job { rows, stop, judged } in waiting {
        let results = Mutex::new(Results::of(plan, tasks, batches));
        let take = |case: &JudgedCase<'_>| results.lock().unwrap_or_else(PoisonError::into_inner).put(case, 0);
        let done = asking.judge(&rows, &stop, &take).map_err(failure);
        let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        // The caller may have ended meanwhile.
        let _ = judged.send(done.map(|()| results.finish()));
    }
}

/// Everything that the suite asks, ready.
fn asking<'a>(
    suite: &'a Suite,
    plan: &'a BatchPlan,
    options: &mut RunOptions,
    functions: &jurat_engine::Functions,
    batches: &BatchOptions,
) -> Result<AskingBatches<'a>, Error> {
    let environment = environment(&suite.0.examined, &options.directory, options)?;
    let env = |name: &str| environment.get(name);
    let resources = Resources {
        files: &Disk,
        env: &env,
        env_files: &environment.looked_for(),
        functions,
        evaluators: &suite.0.evaluators,
        agents: &suite.0.agents,
        worker: worker::program(),
    };
    if let Some(url) = &batches.coordinator {
        options.leases = Some(Arc::new(leases_of_batches(url)?));
    }
    let project = batches.journal.as_deref().map(Project::find_or_create).transpose();
    let project = project.map_err(|error| Error::Run(Box::new(error)))?;
    let journal = project.map(|it| it.journal_path());
    let definition = suite.definition_to_run();
    AskingBatches::open(Batches { definition, batch: plan }, options, &resources, journal.as_deref())
        .map_err(|error| launch_error(error, definition.sources))
}
