//! A run in progress.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::future::Future;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Read};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, JoinHandle, Thread};
use std::time::{Duration, Instant};

use jurat_core::verdict::StopReason;
use jurat_engine::sharing::Ended;
use jurat_engine::{Functions, Resources, Stop, World, launch};
use jurat_model::dotenv::Environment;
use jurat_report::{BatchCounts, PassRate, Progress};
use jurat_store::{Disk, Project};
use tokio::sync::oneshot;

use crate::checked::environment;
use crate::error::launch_error;
use crate::{Error, Run, RunOptions, Suite, worker};

/// A run in progress, on threads of its own: a future that can be watched and stopped. When it is dropped, the run continues by itself.
///
/// ```
/// use jurat::{Assertion, RunOptions, Suite, compare::equals};
/// use serde_json::json;
///
/// # let directory = tempfile::tempdir()?;
/// # let options = RunOptions::in_directory(directory.path());
/// let suite = Suite::builder("invoices")
///     .record(json!({ "status": "paid" }))
///     .task(Assertion::new("paid", "status", equals("paid")))
///     .build()?;
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let run = suite.start(options)?.await?;
/// assert_eq!(run.pass_rate(), Some(1.0));
/// # Ok::<(), jurat::Error>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Running {
    thread: Option<JoinHandle<()>>,
    ended: oneshot::Receiver<Result<Run, Error>>,
    stop: Arc<Stop>,
    progress: Arc<jurat_engine::Progress>,
    began: Instant,
}

/// Something that the caller of a run may want to know before its first case; see [`Suite::start_with_notes`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// A nearer `.jurat` belongs to another user and is not used.
    OtherProject {
        /// Why.
        reason: String,
        /// Where runs are stored instead.
        root: PathBuf,
    },
    /// A variable of a `.env` file is not used.
    Variable(String),
    /// An interrupted run is resumed.
    Resumed,
    /// The journal was damaged. It is here now, and a new one is made.
    JournalSetAside(PathBuf),
    /// These models have no batches: their requests are sent by themselves.
    NotBatched(Vec<String>),
    /// The shared journal cannot be reached. The run uses the local one, and its responses are sent later.
    SharedJournal {
        /// Where it is: host, port and database.
        address: String,
        /// Why.
        reason: String,
    },
    /// These models are on this machine, so that the same address means another model to others: their responses are neither looked for in the shared journal nor sent there.
    NotShared(Vec<String>),
    /// The run is over, and the shared journal did not answer all lookups: models were asked instead.
    NotAnswered {
        /// How many.
        lookups: u64,
        /// What went wrong last.
        reason: Option<String>,
    },
    /// The run is over, and the shared journal does not have all of its responses yet.
    NotSent {
        /// How many; `None` where that is not known.
        responses: Option<u64>,
        /// What went wrong last.
        reason: Option<String>,
    },
    /// A model or a function answers in the order in which it is asked, so that cases run one after the other and a batch has the requests of one.
    OneCaseABatch,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::OtherProject { reason, root } => write!(f, "note: {reason}; runs are stored in `{}`", root.display()),
            Note::Variable(reason) => write!(f, "warning: {reason}"),
            Note::Resumed => f.write_str("resuming the run that was interrupted"),
            Note::JournalSetAside(path) => {
                write!(f, "the journal was damaged and is set aside as `{}`; a new one is made", path.display())
            }
            Note::NotBatched(models) => {
                write!(f, "no batches for {}: its requests are sent one by one, at the full price", listed(models))
            }
            Note::SharedJournal { address, reason } => write!(
                f,
                "warning: the shared journal at `{address}` cannot be used: {reason}; the run uses the local journal, and its responses are sent by a later run or by \
                 `jurat journal push`"
            ),
            Note::NotShared(models) => {
                let (names, are) = (listed(models), if models.len() == 1 { "it is" } else { "they are" });
                write!(
                    f,
                    "note: responses of {names} are not shared, because {are} on this machine; where its address and name are the same model for the whole team, give it \
                     `shared: true`"
                )
            }
            Note::NotAnswered { lookups, reason } => {
                let (lookups, reason) = (counted_were(*lookups, "lookup"), because(reason.as_deref()));
                write!(f, "warning: {lookups} not answered by the shared journal{reason}; the models were asked")
            }
            Note::NotSent { responses, reason } => {
                let responses = responses.map_or("responses were".to_owned(), |n| counted_were(n, "response"));
                let reason = because(reason.as_deref());
                write!(
                    f,
                    "warning: {responses} not sent to the shared journal{reason}; a later run or `jurat journal push` sends them"
                )
            }
            Note::OneCaseABatch => f.write_str(
                "note: a model of this suite answers in the order in which it is asked, so cases run one after the other, and each batch has \
                 the requests of one case; with a model whose answers depend on the question alone, batches are large",
            ),
        }
    }
}

fn listed(models: &[String]) -> String {
    models.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")
}

/// `1 response was`, `2 responses were`
fn counted_were(n: u64, thing: &str) -> String {
    format!("{} {}", jurat_report::counted(n, thing), if n == 1 { "was" } else { "were" })
}

/// A reason, where there is one.
fn because(reason: Option<&str>) -> String {
    reason.map_or(String::new(), |it| format!(": {it}"))
}

/// Watches and stops a run that another thread waits for; see [`Running::watch`].
#[derive(Debug, Clone)]
pub struct Watch {
    stop: Arc<Stop>,
    progress: Arc<jurat_engine::Progress>,
    began: Instant,
}

impl Watch {
    /// Stops the run, as [`Running::stop`] does.
    pub fn stop(&self) {
        self.stop.interrupt();
    }

    /// Drops what is in flight.
    pub fn abort(&self) {
        self.stop.drop_all(StopReason::Interrupted);
    }

    /// Why the run asks nothing new; nothing while it does.
    pub fn stopped(&self) -> Option<StopReason> {
        self.stop.reason()
    }

    /// Whether what is in flight is dropped.
    pub fn is_aborted(&self) -> bool {
        self.stop.dropped_for().is_some()
    }

    /// What went wrong with requests since this was called last, in words, for a log. At most the first thousand are held until then.
    pub fn take_notes(&self) -> Vec<String> {
        self.progress.take_notes()
    }

    /// How far the run has come.
    pub fn progress(&self) -> Progress {
        let jurat_engine::Progress { done, failed, errors, n_requests, in_flight, nano_usd, total, .. } =
            &*self.progress;
        let [done, failed, errors, requests, in_flight, nano_usd, total] =
            [done, failed, errors, n_requests, in_flight, nano_usd, total].map(|it| it.load(Ordering::Relaxed));
        let (cost_usd, total) = (nano_usd as f64 / 1e9, Some(total).filter(|it| *it != u64::MAX));
        let (slow_case, elapsed) = (self.progress.slow_case(), self.began.elapsed());
        let watched = self.progress.watched().map(|it| PassRate { rate: it.rate, low: it.low, high: it.high });
        let batches = self.progress.batches();
        let batches = (batches.n_batches > 0).then_some(BatchCounts {
            batches: batches.n_batches,
            done: batches.n_done,
            requests: batches.n_requests,
        });
        Progress { done, failed, errors, requests, in_flight, cost_usd, total, slow_case, watched, batches, elapsed }
    }
}

/// As much as the first thread of a process usually has.
const STACK: usize = 8 << 20;

impl Running {
    pub(crate) fn start(
        suite: &Suite,
        options: RunOptions,
        mut note: impl FnMut(Note) + Send + 'static,
        enter: impl FnOnce() + Send + 'static,
    ) -> Result<Running, Error> {
        let prepared = Prepared::of(suite, options)?;
        let (stop, progress) = (Arc::new(Stop::new()), Arc::new(jurat_engine::Progress::default()));
        let (send, ended) = oneshot::channel();
        let thread = {
            let (stop, progress) = (Arc::clone(&stop), Arc::clone(&progress));
            // The engine waits on the thread that starts it, which an asynchronous caller must not.
            thread::Builder::new().name("jurat-run".to_owned()).stack_size(STACK).spawn(move || {
                enter();
                let _ = send.send(prepared.run(&stop, &progress, &mut note));
            })
        };
        let thread = Some(thread.map_err(|error| Error::Run(Box::new(error)))?);
        Ok(Running { thread, ended, stop, progress, began: Instant::now() })
    }

    /// Waits for the end.
    pub fn wait(mut self) -> Result<Run, Error> {
        self.join();
        self.ended.try_recv().expect("a run that did not panic has ended")
    }

    /// Waits for the end, but no longer than this; nothing when it is not over by then.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use jurat::{Assertion, RunOptions, Suite, compare::exists};
    /// # let directory = tempfile::tempdir()?;
    /// # let options = RunOptions::in_directory(directory.path());
    /// # let suite = Suite::builder("s").record([("a", 1)].into_iter().collect::<std::collections::BTreeMap<_, _>>())
    /// #     .task(Assertion::new("there", "a", exists())).build()?;
    /// let mut running = suite.start(options)?;
    /// let run = loop {
    ///     match running.wait_for(Duration::from_millis(100)) {
    ///         Some(run) => break run?,
    ///         None => println!("{} cases are done", running.progress().done),
    ///     }
    /// };
    /// assert_eq!(run.pass_rate(), Some(1.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn wait_for(&mut self, time: Duration) -> Option<Result<Run, Error>> {
        struct Unpark(Thread);
        impl Wake for Unpark {
            fn wake(self: Arc<Self>) {
                self.0.unpark();
            }
        }
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        let end = Instant::now() + time;
        loop {
            if let Poll::Ready(ended) = Pin::new(&mut *self).poll(&mut Context::from_waker(&waker)) {
                return Some(ended);
            }
            let left = end.checked_duration_since(Instant::now()).filter(|it| !it.is_zero())?;
            thread::park_timeout(left);
        }
    }

    /// Stops it: nothing new is asked, what is in flight is finished and stored. The second time, what is in flight is dropped. Running the
    /// suite again resumes it.
    pub fn stop(&self) {
        self.stop.interrupt();
    }

    /// How far it has come.
    pub fn progress(&self) -> Progress {
        self.watch().progress()
    }

    /// Watches and stops it while another thread waits for it.
    pub fn watch(&self) -> Watch {
        Watch { stop: Arc::clone(&self.stop), progress: Arc::clone(&self.progress), began: self.began }
    }

    /// Waits for the thread. If it panicked, that was a function of the caller's or a mistake of ours: either should be heard.
    fn join(&mut self) {
        if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join) {
            resume_unwind(panic);
        }
    }
}

impl Future for Running {
    type Output = Result<Run, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match Pin::new(&mut self.ended).poll(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Ok(ended)) => Poll::Ready(ended),
            Poll::Ready(Err(_)) => {
                self.join();
                unreachable!("a run ends or panics")
            }
        }
    }
}

/// A run with everything that it needs, before it begins.
struct Prepared {
    suite: Suite,
    project: Project,
    environment: Environment,
    functions: Functions,
    input: Box<dyn Read + Send>,
    options: RunOptions,
}

impl Prepared {
    fn of(suite: &Suite, mut options: RunOptions) -> Result<Prepared, Error> {
        // What code returned is recorded; only a run that calls it needs it.
        if suite.0.examined.has_errors() && options.replay.is_none() {
            return Err(Error::Suite(suite.0.warnings.clone()));
        }
        if let Some(role) = options.roles_with_settings.first() {
            let message = format!(
                "the model that the run gives `{role}` has settings; a run replaces who is asked, and settings belong to the suite"
            );
            return Err(Error::Usage(message));
        }
        let directory = if options.directory.as_os_str().is_empty() { Path::new(".") } else { &options.directory };
        let project = Project::find_or_create(directory);
        let project = if options.is_probe { project.and_then(Project::for_probes) } else { project };
        let project = project.map_err(|error| Error::Run(Box::new(error)))?;
        let environment = environment(&suite.0.examined, directory, &options)?;
        let mut functions = suite.0.functions.clone();
        functions.append(&mut options.functions);
        let input = match (options.input.take(), suite.takes_rows()) {
            (Some(input), true) => input,
            (None, false) => Box::new(io::empty()),
            (None, true) => {
                return Err(Error::Usage("the suite takes its rows when it is run: give the run some".to_owned()));
            }
            (Some(_), false) => {
                let message = "the suite has rows of its own, and the run gives it others; a suite whose `records` are `-` takes those of the run";
                return Err(Error::Usage(message.to_owned()));
            }
        };
        Ok(Prepared { suite: suite.clone(), project, environment, functions, input, options })
    }

    /// What the caller may want to know before the first case.
    fn notes(&self, note: &mut dyn FnMut(Note)) {
        if let Some(untrusted) = self.project.passed_over() {
            note(Note::OtherProject { reason: untrusted.to_string(), root: self.project.root().to_owned() });
        }
        self.environment.notes().into_iter().for_each(|it| note(Note::Variable(it)));
    }

    fn run(self, stop: &Stop, progress: &jurat_engine::Progress, note: &mut dyn FnMut(Note)) -> Result<Run, Error> {
        self.notes(note);
        let Prepared { suite, project, environment, functions, mut input, options } = self;
        let (env, env_files) = (|name: &str| environment.get(name), environment.looked_for());
        let resources = Resources {
            files: &Disk,
            env: &env,
            env_files: &env_files,
            functions: &functions,
            evaluators: &suite.0.evaluators,
            agents: &suite.0.agents,
            worker: worker::program(),
        };
        let mut world = World {
            project: &project,
            resources,
            stdin: &mut input,
            random: RandomState::new().build_hasher().finish(),
        };
        let mut is_warned = false;
        let launched = launch(suite.definition_to_run(), &options, &mut world, stop, progress, &mut |begun| {
            if begun.is_resumed {
                note(Note::Resumed);
            }
            if let Some(aside) = begun.set_aside {
                note(Note::JournalSetAside(aside.to_owned()));
            }
            if !begun.unbatched.is_empty() {
                note(Note::NotBatched(begun.unbatched));
            }
            if !begun.unshared.is_empty() {
                note(Note::NotShared(begun.unshared));
            }
            if let Some((address, error)) = begun.unreachable {
                is_warned = true;
                note(Note::SharedJournal { address, reason: error.to_string() });
            }
            if begun.batches_one_case {
                note(Note::OneCaseABatch);
            }
        });
        let launched = launched.map_err(|error| launch_error(error, &suite.0.examined.sources))?;
        // One warning is enough.
        if let Some(ended) = launched.shared.filter(|_| !is_warned) {
            notes_of(ended, note);
        }
        Run::read(&launched.ran.path)
    }
}

/// What did not work with the shared journal.
fn notes_of(Ended { n_unsent, n_unanswered, problem }: Ended, note: &mut dyn FnMut(Note)) {
    if n_unanswered > 0 {
        note(Note::NotAnswered { lookups: n_unanswered, reason: problem.clone() });
    }
    if n_unsent != Some(0) {
        note(Note::NotSent { responses: n_unsent, reason: problem });
    }
}
