//! `jurat run --engine local:N`: shards run by processes of this machine, and merged.
//!
//! Each process is this command with `--shard`. A process that is killed is started again, and resumes what it had written. Ctrl-C is passed on once to each, so
//! that what is in flight is finished; the same command then resumes.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, IsTerminal, Read, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use jurat::shards::{MergeOptions, PartSize, Shards};
use jurat::{RunOptions, Suite};
use jurat_format::value::Val;

use crate::engine::{self, Ended, Place, passed_on, written};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::interrupt;
use crate::progress::Shows;

/// How many shards there are for each process: a process that is done early takes another.
const SHARDS_EACH: u64 = 4;
/// How often a shard is tried whose process is killed.
const MOST_ATTEMPTS: u32 = 3;
/// How many requests are in flight when the command does not say.
const USUAL_CONCURRENCY: usize = 16;

/// Runs a suite on `n` processes.
pub(crate) fn run(
    suite: &Suite,
    options: &RunOptions,
    n: NonZeroUsize,
    place: &Place,
    shows: Shows,
) -> Result<Ended, Failure> {
    let (out, is_named) = (place.out.clone(), place.out.is_some());
    let shards = Shards::plan_here(suite, options, PartSize::Parts(n.get() as u64 * SHARDS_EACH), out)?;
    let lock = shards.lock(place.take_over)?;
    let driver = Arc::new(Driver::new(suite, options, n, &shards, shows)?);
    let signalled = Arc::clone(&driver);
    interrupt::on_each(move |n_before| signalled.interrupt(n_before));
    thread::scope(|scope| {
        for slot in 0..driver.n_processes {
            let driver = &driver;
            scope.spawn(move || driver.work(slot));
        }
    });
    driver.clear_line();
    let (n_shards, n_open) = (shards.n(), shards.open_shards()?.len());
    match driver.failure() {
        Some((Exit::Wrong, reason)) => return Err(Failure::Reason(reason)),
        Some((exit, reason)) => {
            let _ = writeln!(io::stderr(), "{reason}; the same command resumes");
            return Ok(Ended::Stopped(exit, reason));
        }
        None => {}
    }
    if driver.is_stopping() && n_open > 0 {
        let done = n_shards - n_open;
        let sentence = format!("interrupted: {done} of {n_shards} shards are done; the same command resumes");
        let _ = writeln!(io::stderr(), "{sentence}");
        return Ok(Ended::Stopped(Exit::Interrupted, sentence));
    }
    drop(lock);
    let merged = match is_named {
        true => shards.merge(&MergeOptions::default())?,
        false => shards.merge_into_project(&options.directory)?,
    };
    Ok(Ended::Merged(Box::new(jurat::Run::open(&merged.path)?)))
}

/// Starts processes, and remembers what became of them.
struct Driver {
    program: PathBuf,
    /// What every process is started with, before the name of its shard.
    arguments: Vec<String>,
    directory: String,
    n_processes: usize,
    concurrency: usize,
    /// The shards that are still to be run, the next one last.
    open: Mutex<Vec<u32>>,
    n_open: usize,
    timeout: Option<Duration>,
    began: Instant,
    running: Mutex<HashMap<u32, Child>>,
    is_stopping: AtomicBool,
    failure: Mutex<Option<(Exit, String)>>,
    /// What processes noted and was printed.
    noted: Mutex<BTreeSet<String>>,
    shows: Shows,
}

/// What a process wrote to standard error.
#[derive(Debug, PartialEq, Eq)]
struct Said {
    /// What its run noted, such as that the shared journal cannot be used.
    notes: Vec<String>,
    /// Why it failed, when it did.
    reason: String,
}

impl Said {
    fn read(text: &str) -> Said {
        let is_note = |it: &&str| ["note: ", "warning: "].iter().any(|word| it.starts_with(word));
        let (notes, others): (Vec<&str>, Vec<&str>) = text.trim().lines().partition(is_note);
        // The reason comes last.
        let reason = match others.iter().rposition(|it| it.starts_with(ERROR)) {
            Some(at) => others[at..].join("\n").trim_start_matches(ERROR).to_owned(),
            None => others.join("\n"),
        };
        Said { notes: notes.into_iter().map(str::to_owned).collect(), reason }
    }
}

/// What the reason of a failure begins with.
const ERROR: &str = "error: ";

/// How a process ended.
enum Attempt {
    Done,
    /// It was killed.
    Lost(String),
    /// It said why it cannot run its shard.
    Refused(Exit, String),
}

impl Driver {
    fn new(
        suite: &Suite,
        options: &RunOptions,
        n: NonZeroUsize,
        shards: &Shards,
        shows: Shows,
    ) -> Result<Driver, Failure> {
        let (program, words) = match engine::python() {
            Some(python) => (python.to_owned(), ["-m", "jurat", "run"].as_slice()),
            None => (this_program()?, ["run"].as_slice()),
        };
        let mut arguments: Vec<String> = words.iter().map(|it| (*it).to_owned()).collect();
        arguments.extend(passed_on(options));
        let total = options.concurrency.map_or(USUAL_CONCURRENCY, NonZeroUsize::get);
        let n_processes = if suite.makes_requests() { n.get().min(total) } else { n.get() };
        let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        // Where nothing is asked, this is the number of threads that judge.
        let concurrency = if suite.makes_requests() { total } else { cores.max(n_processes) };
        let mut open = shards.open_shards()?;
        open.reverse();
        Ok(Driver {
            program,
            arguments,
            directory: shards.directory().display().to_string(),
            n_processes,
            concurrency,
            n_open: open.len(),
            open: Mutex::new(open),
            timeout: options.timeout,
            began: Instant::now(),
            running: Mutex::default(),
            is_stopping: AtomicBool::new(false),
            failure: Mutex::default(),
            noted: Mutex::default(),
            shows: if shows == Shows::Line && !io::stderr().is_terminal() { Shows::Nothing } else { shows },
        })
    }

    /// Runs shards until there are no more.
    fn work(&self, slot: usize) {
        while let Some(ix) = self.next() {
            if let Err((exit, reason)) = self.run_shard(ix, slot) {
                locked(&self.failure).get_or_insert((exit, reason));
                self.interrupt(0);
            }
            self.show();
        }
    }

    /// The next shard. The list is locked no longer than it takes to look.
    fn next(&self) -> Option<u32> {
        if self.is_stopping() { None } else { locked(&self.open).pop() }
    }

    fn run_shard(&self, ix: u32, slot: usize) -> Result<(), (Exit, String)> {
        let mut attempt = 1;
        loop {
            match self.attempt(ix, slot) {
                Attempt::Done => return Ok(()),
                _ if self.is_stopping() => return Ok(()),
                Attempt::Refused(exit, reason) => return Err((exit, reason)),
                Attempt::Lost(why) if attempt == MOST_ATTEMPTS => {
                    let alone = format!("jurat run --shard {}:{ix}", self.directory);
                    return Err((
                        Exit::Wrong,
                        format!("shard {ix} failed {attempt} times: {why}; run it alone: {alone}"),
                    ));
                }
                Attempt::Lost(_) => attempt += 1,
            }
        }
    }

    /// One process for one shard.
    fn attempt(&self, ix: u32, slot: usize) -> Attempt {
        let share = self.concurrency / self.n_processes + usize::from(slot < self.concurrency % self.n_processes);
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).args(["--quiet", "-j", &share.max(1).to_string()]);
        if let Some(timeout) = self.timeout {
            // The time limit is for the whole.
            let left = timeout.saturating_sub(self.began.elapsed()).max(Duration::from_millis(1));
            command.args(["--timeout", &written(left)]);
        }
        command.args(["--shard", &format!("{}:{ix}", self.directory)]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        // A terminal interrupts all processes of its group: these would be interrupted twice, by it and by us.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => return Attempt::Lost(error.to_string()),
        };
        let output = child.stderr.take();
        locked(&self.running).insert(ix, child);
        if self.is_stopping() {
            self.pass_on(0);
        }
        let mut said = Vec::new();
        // It ends when the process does.
        let _ = output.map(|mut it| it.read_to_end(&mut said));
        let Said { notes, reason } = Said::read(&String::from_utf8_lossy(&said));
        self.note(notes);
        let Some(mut child) = locked(&self.running).remove(&ix) else { return Attempt::Lost(reason) };
        match child.wait().map(|it| it.code()) {
            Ok(Some(0)) => Attempt::Done,
            Ok(Some(3)) => Attempt::Refused(Exit::Undecided, reason_or(reason, "an endpoint fails every request")),
            Ok(Some(4)) => Attempt::Refused(Exit::Limited, reason_or(reason, "the time limit was reached")),
            Ok(Some(_)) => Attempt::Refused(Exit::Wrong, reason_or(reason, "the process ended early")),
            Ok(None) => Attempt::Lost(reason_or(reason, "the process was killed")),
            Err(error) => Attempt::Lost(error.to_string()),
        }
    }

    /// Prints what a process noted, unless another noted the same.
    fn note(&self, notes: Vec<String>) {
        for note in notes {
            if locked(&self.noted).insert(note.clone()) {
                self.clear_line();
                let _ = writeln!(io::stderr(), "{note}");
            }
        }
    }

    fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Relaxed)
    }

    fn failure(&self) -> Option<(Exit, String)> {
        locked(&self.failure).clone()
    }

    /// Starts no more processes, and interrupts those that run.
    fn interrupt(&self, n_before: u32) {
        self.is_stopping.store(true, Ordering::Relaxed);
        self.pass_on(n_before);
    }

    /// Passes an interrupt on; the third ends what still runs.
    fn pass_on(&self, n_before: u32) {
        for child in locked(&self.running).values_mut() {
            if n_before < 2 { signal(child) } else { drop(child.kill()) }
        }
    }

    fn show(&self) {
        let n_done = self.n_open - locked(&self.open).len() - locked(&self.running).len();
        let n_open = self.n_open;
        let _ = match self.shows {
            Shows::Nothing => Ok(()),
            Shows::Line => write!(io::stderr(), "\r\x1b[2K{n_done} of {n_open} shards"),
            Shows::Json => {
                let members = [
                    ("version", Val::I(1)),
                    ("event", Val::from("progress")),
                    ("shards_done", (n_done as u64).into()),
                    ("shards", (n_open as u64).into()),
                ];
                writeln!(io::stderr(), "{}", Val::Map(members.into_iter().collect()).to_json())
            }
        };
    }

    fn clear_line(&self) {
        if self.shows == Shows::Line {
            let _ = write!(io::stderr(), "\r\x1b[2K");
        }
    }
}

fn this_program() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(|it| Failure::Reason(format!("this program cannot be started again: {it}")))
}

#[cfg(unix)]
fn signal(child: &Child) {
    let _ = rustix::process::kill_process(rustix::process::Pid::from_child(child), rustix::process::Signal::INT);
}

#[cfg(not(unix))]
fn signal(child: &mut Child) {
    let _ = child.kill();
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn reason_or(reason: String, usual: &str) -> String {
    if reason.is_empty() { usual.to_owned() } else { reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_do_not_replace_the_reason_of_a_failure() {
        let said = |text: &str| {
            let Said { notes, reason } = Said::read(text);
            (notes.join("|"), reason)
        };
        let (warning, note) = ("warning: the shared journal cannot be used", "note: responses are not shared");
        assert_eq!(said(""), (String::new(), String::new()));
        assert_eq!(said(&format!("{note}\n{warning}\n")), (format!("{note}|{warning}"), String::new()));
        let failed = format!("resuming the run that was interrupted\n{warning}\nerror: no space is left\n");
        assert_eq!(said(&failed), (warning.to_owned(), "no space is left".to_owned()));
        let problem = format!("{warning}\nerror[model::no_key]: a key is missing\n  --> suite.yaml:1:1\n");
        assert_eq!(said(&problem).1, "error[model::no_key]: a key is missing\n  --> suite.yaml:1:1");
    }
}
