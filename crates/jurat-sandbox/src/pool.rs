//! A pool of worker processes.
//!
//! A fixed number of threads takes jobs in the order in which they come. For each they look for an idle process that serves the source, or start one. A process never
//! serves a second source: whatever code does to the process it runs in concerns later calls of the same code at most. Processes are started by these
//! threads because the system ties a process to the *thread* that started it, and theirs live as long as the pool.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::oneshot;

use crate::interpreter::{Asked, Interpreter, Interpreters};
use crate::orders::{Job, Orders, Role};
use crate::process::{Process, StartError};
use crate::returned::{Failure, Return};
use crate::round::{Results, Round};
use crate::{
    Arguments, CodeRunner, Isolation, Language, Layer, Limits, Parameter, Passing, Pending, Prepared, Refused,
    Signature, Source, tags, typescript, worker,
};

/// How a pool is made.
#[derive(Debug, Clone)]
pub struct PoolOptions {
    /// What is started as a worker.
    pub program: Program,
    /// How many calls run at the same time.
    pub n_workers: usize,
    /// Whether code is run where the system cannot isolate it.
    pub is_unsafe: bool,
    pub interpreters: Interpreters,
    /// Protections to leave out, to show that they protect.
    #[doc(hidden)]
    pub without: BTreeSet<Layer>,
}

/// A program that is a worker when it is started so.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Program {
    pub path: PathBuf,
    pub arguments: Vec<String>,
}

impl Program {
    /// This program itself. It has to call [`worker::main`] when its first argument is [`worker::WORD`].
    ///
    /// # Errors
    /// When the system does not say where this program is.
    pub fn this() -> std::io::Result<Program> {
        Ok(Program { path: std::env::current_exe()?, arguments: vec![worker::WORD.to_owned()] })
    }
}

impl PoolOptions {
    /// Workers that are a program, as many as there are processors.
    pub fn of(program: Program) -> PoolOptions {
        let n_workers = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let interpreters = Interpreters::default();
        PoolOptions { program, n_workers, is_unsafe: false, interpreters, without: BTreeSet::new() }
    }
}

/// Workers, and the threads that look after them. They end when it is dropped.
#[derive(Debug)]
pub struct Pool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    options: PoolOptions,
    state: Mutex<State>,
    has_work: Condvar,
    interpreters: Mutex<HashMap<Option<PathBuf>, Result<Interpreter, Refused>>>,
}

#[derive(Debug, Default)]
struct State {
    tasks: VecDeque<Task>,
    /// Processes that wait, the one that has waited longest first.
    idle: VecDeque<(Arc<Source>, Process)>,
    is_over: bool,
}

#[derive(Debug)]
enum Task {
    Prepare(Source, oneshot::Sender<Result<Prepared, Refused>>),
    Call(Prepared, Vec<Arguments>, oneshot::Sender<Results>),
}

/// How many calls go into one message. A process that ends takes what is left of its message with it, which is then sent to another.
const MESSAGE: usize = 64;
const MESSAGE_BYTES: usize = 1 << 20;

/// How many idle processes are retained for each worker.
const IDLE: usize = 4;

/// After how much work a process is put aside; long before its processor time is used up.
const WORN_OUT: Duration = Duration::from_secs(1200);

impl Pool {
    /// Makes one. No process is started before it is needed.
    pub fn new(options: PoolOptions) -> Pool {
        let n_workers = options.n_workers.max(1);
        let shared = Arc::new(Shared {
            options,
            state: Mutex::default(),
            has_work: Condvar::new(),
            interpreters: Mutex::default(),
        });
        let threads = (0..n_workers)
            .map(|ix| {
                let shared = Arc::clone(&shared);
                let thread = std::thread::Builder::new().name(format!("sandbox-{ix}"));
                thread.spawn(move || shared.work()).expect("a thread can be started")
            })
            .collect();
        Pool { shared, threads }
    }

    /// How many processes there are that wait.
    #[doc(hidden)]
    pub fn n_idle(&self) -> usize {
        self.shared.lock().idle.len()
    }

    fn submit(&self, task: Task) {
        self.shared.lock().tasks.push_back(task);
        self.shared.has_work.notify_one();
    }
}

impl CodeRunner for Pool {
    fn prepare(&self, source: Source) -> Pending<Result<Prepared, Refused>> {
        let (sender, pending) = Pending::new();
        self.submit(Task::Prepare(source, sender));
        pending
    }

    fn call(&self, prepared: &Prepared, batch: Vec<Arguments>) -> Pending<Vec<Result<Return, Failure>>> {
        let (sender, pending) = Pending::new();
        self.submit(Task::Call(prepared.clone(), batch, sender));
        pending
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let idle = {
            let mut state = self.shared.lock();
            state.is_over = true;
            std::mem::take(&mut state.idle)
        };
        self.shared.has_work.notify_all();
        drop(idle);
        for thread in self.threads.drain(..) {
            // A thread that panicked has said so.
            thread.join().unwrap_or_default();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes jobs until there will be none.
    fn work(&self) {
        while let Some(task) = self.next() {
            // The caller may have gone away.
            match task {
                Task::Prepare(source, sender) => drop(sender.send(self.prepare(source))),
                Task::Call(prepared, batch, sender) => {
                    let is_over = || self.lock().is_over;
                    let mut round = Round::new(&is_over);
                    round.add(batch, sender);
                    self.gather(&prepared.source, &mut round);
                    self.call(&prepared, &mut round);
                }
            }
        }
    }

    /// The next job. Those that are left when the pool ends get an answer, too: no caller waits for them, or they are cancelled.
    fn next(&self) -> Option<Task> {
        let mut state = self.lock();
        loop {
            if let Some(task) = state.tasks.pop_front() {
                return Some(task);
            }
            if state.is_over {
                return None;
            }
            state = self.has_work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn prepare(&self, source: Source) -> Result<Prepared, Refused> {
        let (job, known) = self.job(&source)?;
        let (mut process, found) = self.start(&source, &job)?;
        let signature = known.or(found);
        let source = Arc::new(source);
        let in_force = process.in_force().clone();
        if process.is_clean(false) {
            self.keep(&source, process);
        }
        let interpreter = match source.language {
            Language::Python => self.interpreter(&source)?.identity,
            Language::JavaScript | Language::TypeScript => worker::JAVASCRIPT.to_owned(),
        };
        Ok(Prepared { source, job: Arc::new(job), signature, in_force, interpreter })
    }

    /// Takes further calls of the same source into a round, a worker's share of those that wait next: one message for many calls costs little more
    /// than one for one.
    fn gather(&self, source: &Arc<Source>, round: &mut Round<'_>) {
        let n_workers = self.options.n_workers.max(1);
        let mut state = self.lock();
        let is_same = |it: &Task| matches!(it, Task::Call(other, ..) if Arc::ptr_eq(&other.source, source));
        let n_waiting = state.tasks.iter().take(MESSAGE * n_workers).take_while(|it| is_same(it)).count();
        for _ in 0..n_waiting / n_workers {
            if round.n_calls() >= MESSAGE {
                break;
            }
            if let Some(Task::Call(_, batch, sender)) = state.tasks.pop_front() {
                round.add(batch, sender);
            }
        }
    }

    fn call(&self, prepared: &Prepared, round: &mut Round<'_>) {
        while !round.left().is_empty() {
            if !round.is_wanted() {
                return round.give_up(&Failure::GivenUp);
            }
            let mut process = match self.process(prepared) {
                Ok(process) => process,
                Err(refused) => return round.give_up(&Failure::NotStarted(refused.to_string())),
            };
            let n_calls = first_message(round.left());
            let (last, is_usable) = process.call(n_calls, &prepared.source.limits, round);
            let looks_for_threads = !self.options.without.contains(&Layer::Threads);
            if is_usable && process.busy < WORN_OUT && process.is_clean(looks_for_threads) {
                self.keep(&prepared.source, process);
            }
            // Only now: a caller that gets it and calls again finds the process idle.
            round.deliver(last);
        }
    }

    /// A process for a source: one that waits, or a new one.
    fn process(&self, prepared: &Prepared) -> Result<Process, Refused> {
        while let Some((source, mut process)) = self.take_idle(&prepared.source) {
            // They differ only where sources may share processes, which tests do to show why they must not.
            let is_ready = source == prepared.source || process.prepare(&prepared.job).is_ok();
            if is_ready && process.is_clean(false) {
                return Ok(process);
            }
        }
        Ok(self.start(&prepared.source, &prepared.job)?.0)
    }

    fn take_idle(&self, source: &Arc<Source>) -> Option<(Arc<Source>, Process)> {
        let serves_any = self.options.without.contains(&Layer::OneSource);
        let is_it = |it: &Arc<Source>| Arc::ptr_eq(it, source) || it == source || serves_any;
        let mut state = self.lock();
        let ix = state.idle.iter().rposition(|(it, _)| is_it(it))?;
        state.idle.remove(ix)
    }

    fn keep(&self, source: &Arc<Source>, process: Process) {
        let mut state = self.lock();
        state.idle.push_back((Arc::clone(source), process));
        let is_full = state.is_over || state.idle.len() > IDLE * self.options.n_workers.max(1);
        let oldest = if is_full { state.idle.pop_front() } else { None };
        drop(state);
        // Ending a process takes a moment, which no other thread has to wait for.
        drop(oldest);
    }

    /// Starts a process for a source.
    fn start(&self, source: &Source, job: &Job) -> Result<(Process, Option<Signature>), Refused> {
        let role = match source.language {
            Language::Python => {
                let Interpreter { executable, readable, start, .. } = self.interpreter(source)?;
                Role::Python { executable, readable, start }
            }
            Language::JavaScript | Language::TypeScript => Role::JavaScript,
        };
        let mut process = self.worker(role, source.isolation, source.limits.memory)?;
        let signature = process.prepare(job)?;
        Ok((process, signature))
    }

    /// Starts a worker that has given everything up.
    fn worker(&self, role: Role, isolation: Isolation, memory: u64) -> Result<Process, Refused> {
        let layers = Layer::ALL.into_iter().filter(|it| !self.options.without.contains(it)).collect();
        let is_unsafe = self.options.is_unsafe;
        let orders = Orders { role, isolation, memory, layers, is_unsafe, parent: std::process::id() };
        let Program { path, arguments } = &self.options.program;
        Process::start(Command::new(path).args(arguments), &orders).map_err(|error| match error {
            StartError::Unprotected(missing) => Refused::Unprotected(missing),
            StartError::Other(why) => Refused::Interpreter(why),
        })
    }

    /// The interpreter for a source. Each is looked for once.
    fn interpreter(&self, source: &Source) -> Result<Interpreter, Refused> {
        let mut interpreters = self.interpreters.lock().unwrap_or_else(PoisonError::into_inner);
        let find = |named: &Option<PathBuf>| {
            Interpreter::find(named.as_deref(), &self.options.interpreters, &|asked| self.ask(asked))
        };
        interpreters.entry(source.python.clone()).or_insert_with_key(find).clone()
    }

    /// Asks an interpreter about itself, in a worker.
    fn ask(&self, asked: &Asked) -> Result<Vec<u8>, Refused> {
        let Asked { executable, readable, packages } = asked.clone();
        let role = Role::Asked { executable, readable, packages };
        self.worker(role, Isolation::Process, Limits::default().memory)?.answer_of(&asked.executable)
    }

    /// What a process receives of a source, and what is known of its function before any process is asked.
    fn job(&self, source: &Source) -> Result<(Job, Option<Signature>), Refused> {
        let (text, signature) = match source.language {
            Language::Python => (source.text.clone(), None),
            language => typescript::read(&source.text, &source.entry, language)?,
        };
        let filter = match source.isolation {
            Isolation::Fork if !self.options.without.contains(&Layer::Seccomp) => copy_filter()?,
            _ => Vec::new(),
        };
        let passing = signature.as_ref().map_or(Passing::Object, |it| it.passing);
        let names = signature.iter().flat_map(|it| &it.parameters).map(|it: &Parameter| it.name.clone()).collect();
        let job = Job {
            text,
            entry: source.entry.clone(),
            output: source.limits.output,
            value: source.limits.value,
            depth: tags::MAX_DEPTH,
            isolation: source.isolation,
            fresh: !self.options.without.contains(&Layer::Names),
            explains: !self.options.is_unsafe,
            passing,
            names,
            filter,
        };
        Ok((job, signature))
    }
}

/// How many calls go into one message.
fn first_message(batch: &[Arguments]) -> usize {
    let mut n_bytes = 0;
    let fits = |it: &&Arguments| {
        n_bytes += it.as_json().len();
        n_bytes <= MESSAGE_BYTES
    };
    batch.iter().take(MESSAGE).take_while(fits).count().max(1)
}

#[cfg(target_os = "linux")]
fn copy_filter() -> Result<Vec<(u16, u8, u8, u32)>, Refused> {
    let program = worker::calls::copy_filter().map_err(|error| Refused::Unprotected(vec![error.to_string()]))?;
    Ok(program.into_iter().map(|it| (it.code, it.jt, it.jf, it.k)).collect())
}

#[cfg(not(target_os = "linux"))]
fn copy_filter() -> Result<Vec<(u16, u8, u8, u32)>, Refused> {
    Ok(Vec::new())
}
