//! A run on its way.

use std::collections::hash_map::RandomState;
use std::future::Future;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, JoinHandle, Thread};
use std::time::{Duration, Instant};

use jurat_compare::expression::Expression;
use jurat_core::suite::RowSource;
use jurat_engine::{
    Definition, Functions, How, Recording, Rerun, Resources, Selection, Stop, World, launch, open_recording,
};
use jurat_model::dotenv::Environment;
use jurat_model::{Proxies, TransportOptions};
use jurat_report::ProgressLine;
use jurat_store::{Disk, Project};
use tokio::sync::oneshot;

use crate::error::launch_error;
use crate::{Error, Model, Run, RunOptions, Suite, worker};

/// A run on its way, on threads of its own: a future that can be watched and stopped. When it is dropped, the run goes on by itself.
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

/// How far a run has come; see [`Running::progress`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Cases that are done.
    pub done: u64,
    /// Of them, those that failed.
    pub failed: u64,
    /// Of them, those that could not be judged.
    pub errors: u64,
    /// Requests that were made.
    pub requests: u64,
    /// Requests that wait for an answer.
    pub in_flight: u64,
    /// What answers cost in dollars, as far as that is known.
    pub cost_usd: f64,
    /// How many cases there are, once that is known.
    pub total: Option<u64>,
    /// How long it runs by now.
    pub elapsed: Duration,
}

impl Progress {
    /// One line for a window of this width, as the command shows it: a bar when it is known how many cases there are, what is done, how fast, and how long
    /// the rest will take. What matters least is left out where there is no room.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use jurat::Progress;
    ///
    /// let progress = Progress {
    ///     done: 30, failed: 2, errors: 0, requests: 30, in_flight: 0, cost_usd: 0.0, total: Some(60), elapsed: Duration::from_secs(6),
    /// };
    /// assert_eq!(progress.bar(80), "━━━━━━━━━━──────────  50 %  30/60  2 failed  5.0/s  6 s left");
    /// ```
    pub fn bar(&self, width: usize) -> String {
        let rate = (self.done > 0).then(|| self.done as f64 / self.elapsed.as_secs_f64().max(1e-9));
        let left = self.total.map(|total| total.saturating_sub(self.done)).filter(|it| *it > 0);
        let line = ProgressLine {
            done: self.done,
            total: self.total,
            failed: self.failed,
            errors: self.errors,
            cost_usd: Some(self.cost_usd).filter(|it| *it > 0.0),
            rate,
            eta: left.zip(rate).and_then(|(left, rate)| Duration::try_from_secs_f64(left as f64 / rate).ok()),
            in_flight: self.in_flight,
            slow_case: None,
        };
        line.bar(width)
    }
}

/// Watches and stops a run that somebody else waits for; see [`Running::watch`].
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

    /// How far the run has come.
    pub fn progress(&self) -> Progress {
        let jurat_engine::Progress { done, failed, errors, n_requests, in_flight, nano_usd, total, .. } =
            &*self.progress;
        let [done, failed, errors, requests, in_flight, nano_usd, total] =
            [done, failed, errors, n_requests, in_flight, nano_usd, total].map(|it| it.load(Ordering::Relaxed));
        let (cost_usd, total) = (nano_usd as f64 / 1e9, Some(total).filter(|it| *it != u64::MAX));
        Progress { done, failed, errors, requests, in_flight, cost_usd, total, elapsed: self.began.elapsed() }
    }
}

impl Running {
    pub(crate) fn start(suite: &Suite, options: RunOptions) -> Result<Running, Error> {
        let prepared = Prepared::of(suite, options)?;
        let (stop, progress) = (Arc::new(Stop::new()), Arc::new(jurat_engine::Progress::default()));
        let (send, ended) = oneshot::channel();
        let thread = {
            let (stop, progress) = (Arc::clone(&stop), Arc::clone(&progress));
            // The engine waits on the thread that starts it, which an asynchronous caller must not.
            thread::Builder::new().name("jurat-run".to_owned()).spawn(move || {
                let _ = send.send(prepared.run(&stop, &progress));
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

    /// Stops it: nothing new is asked, what is in flight is finished and kept. The second time, what is in flight is dropped. Running the
    /// suite again goes on with it.
    pub fn stop(&self) {
        self.stop.interrupt();
    }

    /// How far it has come.
    pub fn progress(&self) -> Progress {
        self.watch().progress()
    }

    /// What can watch and stop it while somebody else waits for it.
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
    filter: Option<Expression>,
    input: Box<dyn Read + Send>,
    options: RunOptions,
}

impl Prepared {
    fn of(suite: &Suite, mut options: RunOptions) -> Result<Prepared, Error> {
        // What code came to is recorded; only a run that calls it needs it.
        if suite.0.examined.has_errors() && options.replay.is_none() {
            return Err(Error::Suite(suite.0.warnings.clone()));
        }
        options.repeat = options.repeat.or(suite.0.examined.suite.repeat);
        let directory = if options.directory.as_os_str().is_empty() { Path::new(".") } else { &options.directory };
        let project = Project::find_or_create(directory).map_err(|error| Error::Run(Box::new(error)))?;
        let environment = environment(suite, directory, &options)?;
        let filter = options.filter.as_deref().map(Expression::compile_condition).transpose();
        let filter = filter.map_err(|error| Error::Usage(format!("the filter: {error}")))?;
        let mut functions = suite.0.functions.clone();
        for (role, model) in &options.models {
            if model.has_settings() {
                let message = format!(
                    "the model that the run gives `{role}` has settings; a run replaces who is asked, and settings belong to the suite"
                );
                return Err(Error::Usage(message));
            }
            functions.extend(model.function.clone());
        }
        let reads_input = suite.0.examined.suite.records.iter().any(|it| it.from == RowSource::StandardInput);
        let input = match (options.input.take(), reads_input) {
            (Some(input), true) => input,
            (None, false) => Box::new(io::empty()),
            (None, true) => {
                let message = "the suite takes its rows when it is run: give them with `RunOptions::rows`, or with \
                               `RunOptions::input`, for example `std::io::stdin()`";
                return Err(Error::Usage(message.to_owned()));
            }
            (Some(_), false) => {
                let message = "the suite has rows of its own, and the run gives it others; build it with `records_at_run`, or write \
                               `records: \"-\"`";
                return Err(Error::Usage(message.to_owned()));
            }
        };
        Ok(Prepared { suite: suite.clone(), project, environment, functions, filter, input, options })
    }

    fn run(self, stop: &Stop, progress: &jurat_engine::Progress) -> Result<Run, Error> {
        let Prepared { suite, project, environment, functions, filter, mut input, options } = self;
        let recording = options.replay.as_deref().map(|it| open_recording(it, &project)).transpose();
        let recording = recording.map_err(|error| Error::Read(Box::new(error)))?;
        let (env, env_files) = (|name: &str| environment.get(name), environment.looked_for());
        let rerun = rerun(&options, &suite, &project)?;
        let how = how(&options, filter, rerun, recording.as_deref(), &env);
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
        let ready = &*suite.0;
        let definition =
            Definition { suite: &ready.examined.suite, sources: &ready.examined.sources, plan: &ready.plan };
        let launched = launch(definition, &how, &mut world, stop, progress, &mut |_| {});
        let launched = launched.map_err(|error| launch_error(error, &ready.examined.sources))?;
        Run::read(&launched.ran.path)
    }
}

fn how<'h>(
    options: &RunOptions,
    filter: Option<Expression>,
    rerun: Option<Rerun>,
    replay: Option<&'h dyn Recording>,
    env: &dyn Fn(&str) -> Option<String>,
) -> How<'h> {
    let defaults = TransportOptions::default();
    let cores = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let model = |(role, model): &(String, Model)| (role.clone(), model.spec.clone());
    How {
        options: jurat_engine::RunOptions {
            models: options.models.iter().map(model).collect(),
            limit: options.limit,
            filter: options.filter.clone(),
            tags: options.tags.clone(),
            rerun: rerun.as_ref().map(Rerun::words),
            repeat: options.repeat.unwrap_or(1),
            fresh: options.fresh,
            replay_of: options.replay.clone(),
            unsafe_code: options.unsafe_code,
            unsafe_host: options.unsafe_host,
        },
        selection: Selection { limit: options.limit, filter, tags: options.tags.clone(), rerun },
        threads: options.concurrency.map_or(cores, |it| it.min(cores)),
        deadline: options.timeout,
        fail_fast: options.fail_fast,
        keep_going: options.keep_going,
        keep_all: options.keep_all,
        durable: options.durable,
        budget: options.budget,
        max_age: options.max_age,
        transport: TransportOptions {
            concurrency: options.concurrency.map_or(defaults.concurrency, NonZeroUsize::get),
            request_timeout: options.request_timeout.unwrap_or(defaults.request_timeout),
            stream: options.stream,
            proxies: Proxies::from_environment(env),
            ..defaults
        },
        replay,
    }
}

/// The cases of an earlier run that alone are run.
fn rerun(options: &RunOptions, suite: &Suite, project: &Project) -> Result<Option<Rerun>, Error> {
    if options.rerun.is_empty() {
        return Ok(None);
    }
    let name = suite.0.examined.suite.name.as_ref().map_or("suite", |it| it.value.as_str());
    let found = Rerun::find(project, name, &options.rerun, options.rerun_from.as_deref());
    found.map(Some).map_err(|error| Error::Read(Box::new(error)))
}

/// Variables of the process, those of the `.env` files of the suite and the directory, and those that the run was given, which win.
pub(crate) fn environment(suite: &Suite, directory: &Path, options: &RunOptions) -> Result<Environment, Error> {
    let process =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let given = options.variables.iter().map(|(name, value)| (name.clone(), value.clone()));
    let file = suite.0.examined.sources.iter().next().map(|(_, it)| it.path.as_path()).filter(|it| it.is_file());
    let found = Environment::find(process.chain(given), file, directory);
    found.map_err(|error| Error::Usage(error.to_string()))
}
