//! One worker process, seen from outside.
//!
//! Nothing that comes from it is trusted: answers have a length that they may have, answer what was asked, in order, and are read as they come; what is
//! not so ends the process. All of it happens against a clock, and nothing that the process does, or leaves undone, makes its owner wait longer.

use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::interpreter::does_not_work;
use crate::orders::{Job, Orders};
use crate::returned::{Failure, Output, Return};
use crate::round::Round;
use crate::tail::Tail;
use crate::{Arguments, InForce, Layer, Refused, Signature, frame};

/// How long a worker may take to start and to parse its code.
const START: Duration = Duration::from_secs(30);

/// How often a wait checks whether its caller is still there.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// How long a process that closed its end may take to exit before it is killed. On a busy machine it waits for its turn on a processor.
const TO_EXIT: Duration = Duration::from_secs(1);

/// How long copies may take to end once they were killed.
const TO_END: Duration = Duration::from_secs(5);

/// What one read takes at most.
const CHUNK: usize = 64 << 10;

/// A process that serves one source.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    requests: ChildStdin,
    replies: ChildStdout,
    stderr: ChildStderr,
    /// What came and was not taken yet.
    came: Vec<u8>,
    chunk: Box<[u8]>,
    /// What was written below the language since the last answer.
    native: Tail,
    /// The number of the next call.
    next: u64,
    n_threads: Option<usize>,
    in_force: InForce,
    /// How it ended, once it was reaped.
    ended: Option<ExitStatus>,
    /// How long it has worked.
    pub(crate) busy: Duration,
}

/// Why a process does not start.
#[derive(Debug)]
pub(crate) enum StartError {
    /// It cannot be protected, for these reasons.
    Unprotected(Vec<String>),
    /// Anything else.
    Other(String),
}

/// Why a process gave no answer. It has to be ended.
#[derive(Debug)]
enum Lost {
    Deadline,
    Ended,
    Garbled(String),
    GivenUp,
}

/// Whether a caller still waits.
pub(crate) type IsWanted<'w> = &'w dyn Fn() -> bool;

impl Process {
    /// Starts a worker and has it give up everything.
    pub(crate) fn start(command: &mut Command, orders: &Orders) -> Result<Process, StartError> {
        let other = |error: io::Error| StartError::Other(format!("a worker cannot be started: {error}"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).current_dir("/");
        if orders.layers.contains(&Layer::Environment) {
            command.env_clear();
        }
        // It ends with everything that it started, and Ctrl-C in a terminal is not for it.
        std::os::unix::process::CommandExt::process_group(command, 0);
        let mut child = command.spawn().map_err(other)?;
        let (Some(requests), Some(replies), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(StartError::Other("a worker has no standard input or output".to_owned()));
        };
        let mut process = Process {
            child,
            requests,
            replies,
            stderr,
            came: Vec::new(),
            chunk: vec![0; CHUNK].into(),
            native: Tail::new(64 << 10),
            next: 0,
            n_threads: None,
            in_force: InForce::default(),
            ended: None,
            busy: Duration::ZERO,
        };
        process.never_block().map_err(other)?;
        let text = serde_json::to_vec(orders).map_err(|it| StartError::Other(it.to_string()))?;
        let (kind, body) = process.ask(&frame::framed(frame::ORDERS, &text)).map_err(|it| process.not_started(&it))?;
        match kind {
            frame::HARDENED => {
                process.in_force = serde_json::from_slice(&body).map_err(|it| StartError::Other(it.to_string()))?;
                Ok(process)
            }
            _ => Err(StartError::Unprotected(serde_json::from_slice(&body).unwrap_or_default())),
        }
    }

    /// What an interpreter says about itself. It ends with that.
    pub(crate) fn answer_of(&mut self, program: &Path) -> Result<Vec<u8>, Refused> {
        match self.ask(&[]) {
            Ok((frame::VALUE, body)) => Ok(body),
            Ok((frame::REFUSED, body)) => {
                let why = serde_json::from_slice::<Vec<String>>(&body).unwrap_or_default();
                Err(Refused::Interpreter(why.join("; ")))
            }
            // An empty answer is none of an interpreter.
            Ok(_) | Err(Lost::Garbled(_)) => Ok(Vec::new()),
            Err(Lost::Deadline | Lost::GivenUp) => {
                let why = format!("it did not answer within {} s", START.as_secs());
                Err(does_not_work(program, "it was ended", &why))
            }
            Err(Lost::Ended) => match self.kill() {
                Some(status) if status.success() => Ok(Vec::new()),
                status => {
                    self.drain_stderr();
                    let said = self.native.take().text;
                    let last = said.lines().rev().find(|it| !it.trim().is_empty()).unwrap_or("it says nothing");
                    let how = status.map_or_else(|| "its end is not known".to_owned(), how_it_ended);
                    Err(does_not_work(program, &how, last))
                }
            },
        }
    }

    /// Gives it the only code that it will ever run. It is parsed, not run.
    pub(crate) fn prepare(&mut self, job: &Job) -> Result<Option<Signature>, Refused> {
        let text = serde_json::to_vec(job).expect("texts and numbers are JSON");
        let (kind, body) = match self.ask(&frame::framed(frame::JOB, &text)) {
            Ok(answer) => answer,
            Err(lost) => {
                return Err(match self.not_started(&lost) {
                    StartError::Unprotected(missing) => Refused::Unprotected(missing),
                    StartError::Other(why) => Refused::Interpreter(why),
                });
            }
        };
        let garbled = |it: serde_json::Error| Refused::Interpreter(format!("a worker answered something else: {it}"));
        match kind {
            frame::READY => {
                self.n_threads = threads(self.child.id());
                serde_json::from_slice(&body).map_err(garbled)
            }
            frame::WRONG => {
                let Wrong { message, line, column } = serde_json::from_slice(&body).map_err(garbled)?;
                Err(Refused::Source { message, line, column })
            }
            frame::REFUSED => {
                Err(Refused::Interpreter(serde_json::from_slice::<Vec<String>>(&body).map_err(garbled)?.join("; ")))
            }
            _ => Err(Refused::Interpreter("a worker answered something else".to_owned())),
        }
    }

    /// The protections that it says are in force. It said so before it knew any code.
    pub(crate) fn in_force(&self) -> &InForce {
        &self.in_force
    }

    /// Makes the next calls of a round, until one ends the process. Returns what came of the last one that was made, which is yet to be delivered, and
    /// whether the process can be used again.
    pub(crate) fn call(
        &mut self,
        n_calls: usize,
        limits: &crate::Limits,
        round: &mut Round<'_>,
    ) -> (Result<Return, Failure>, bool) {
        let begun = Instant::now();
        let made = self.exchange(n_calls, limits, round);
        self.busy += begun.elapsed();
        made
    }

    fn exchange(
        &mut self,
        n_calls: usize,
        limits: &crate::Limits,
        round: &mut Round<'_>,
    ) -> (Result<Return, Failure>, bool) {
        self.native = Tail::new(limits.output);
        let max = 2 * limits.output + limits.value + (64 << 10);
        let body = frame::batch(self.next, round.left().iter().take(n_calls).map(Arguments::as_json));
        let mut unsent = &frame::framed(frame::BATCH, &body)[..];
        for n_left in (0..n_calls).rev() {
            let deadline = Instant::now() + limits.deadline;
            let answer = self.answer(&mut unsent, max, deadline, &|| round.is_wanted());
            let read = answer.and_then(|(kind, body)| self.read_answer(kind, &body));
            let result = match read {
                Ok(result) => result,
                Err(lost) => return (Err(self.end(lost, limits.deadline)), false),
            };
            self.next += 1;
            if n_left == 0 {
                return (result, unsent.is_empty() && self.came.is_empty());
            }
            round.deliver(result);
        }
        (Err(Failure::GivenUp), false)
    }

    /// Whether it left something behind: output that no call asked for, or threads.
    pub(crate) fn is_clean(&mut self, looks_for_threads: bool) -> bool {
        let mut byte = [0; 1];
        let is_silent = matches!(self.replies.read(&mut byte), Err(error) if error.kind() == io::ErrorKind::WouldBlock);
        is_silent && self.came.is_empty() && (!looks_for_threads || self.n_threads == threads(self.child.id()))
    }

    fn read_answer(&mut self, kind: u8, body: &[u8]) -> Result<Result<Return, Failure>, Lost> {
        let garbled = |what: &str| Lost::Garbled(what.to_owned());
        let answer = frame::Answer::read(body).ok_or_else(|| garbled("an answer is cut off"))?;
        if answer.call != self.next {
            return Err(garbled("an answer to another call"));
        }
        let text = std::str::from_utf8(answer.text).map_err(|_| garbled("an answer is not UTF-8"))?;
        let stdout = Output::read(answer.stdout);
        let mut stderr = Output::read(answer.stderr);
        // What is below the language writes without saying to whom; it is said with the call that is answered then.
        self.drain_stderr();
        stderr.append(self.native.take());
        Ok(match kind {
            frame::VALUE => match serde_json::from_str::<serde::de::IgnoredAny>(text) {
                Ok(_) => Ok(Return { value: text.to_owned(), stdout, stderr }),
                Err(error) => return Err(Lost::Garbled(format!("a value is no JSON: {error}"))),
            },
            frame::RAISED => {
                let raised: Raised = serde_json::from_str(text).map_err(|_| garbled("an error is no JSON"))?;
                Err(Failure::Raised { kind: raised.kind, message: raised.message, line: raised.line, stdout, stderr })
            }
            frame::NOT_STORED => Err(Failure::NotStored { why: text.to_owned(), stdout, stderr }),
            frame::DIED => Err(Failure::Died { how: text.to_owned(), stderr }),
            _ => return Err(garbled("a message of no kind")),
        })
    }

    /// Says something and waits for one message, before there is any code.
    fn ask(&mut self, message: &[u8]) -> Result<(u8, Vec<u8>), Lost> {
        let mut unsent = message;
        self.answer(&mut unsent, 4 << 20, Instant::now() + START, &|| true)
    }

    /// Writes what is unsent and reads what comes, until there is a whole message.
    fn answer(
        &mut self,
        unsent: &mut &[u8],
        max: usize,
        deadline: Instant,
        is_wanted: IsWanted<'_>,
    ) -> Result<(u8, Vec<u8>), Lost> {
        loop {
            match frame::take(&mut self.came, max) {
                Ok(Some(message)) => return Ok(message),
                Ok(None) => {}
                Err(frame::TooLong(length)) => return Err(Lost::Garbled(format!("a message of {length} bytes"))),
            }
            if self.read_replies()? {
                continue;
            }
            if !unsent.is_empty() {
                match self.requests.write(unsent) {
                    Ok(n_written) => *unsent = &unsent[n_written..],
                    Err(error) if is_passing(&error) => {}
                    Err(_) => return Err(Lost::Ended),
                }
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Lost::Deadline);
            }
            if !self.wait(!unsent.is_empty(), left.min(POLL_INTERVAL)) && !is_wanted() {
                return Err(Lost::GivenUp);
            }
        }
    }

    /// Reads what is there. Returns whether there was anything.
    fn read_replies(&mut self) -> Result<bool, Lost> {
        match self.replies.read(&mut self.chunk) {
            Ok(0) => Err(Lost::Ended),
            Ok(n_read) => {
                self.came.extend_from_slice(&self.chunk[..n_read]);
                Ok(true)
            }
            Err(error) if is_passing(&error) => Ok(false),
            Err(_) => Err(Lost::Ended),
        }
    }

    /// Waits until something can be read or written. Returns whether it can.
    fn wait(&mut self, to_write: bool, at_most: Duration) -> bool {
        let timeout = Timespec { tv_sec: at_most.as_secs().cast_signed(), tv_nsec: i64::from(at_most.subsec_nanos()) };
        let mut events = vec![
            PollFd::new(&self.replies, PollFlags::IN),
            PollFd::new(&self.stderr, PollFlags::IN),
            PollFd::new(&self.requests, PollFlags::OUT),
        ];
        if !to_write {
            events.pop();
        }
        let n_ready = rustix::event::poll(&mut events, Some(&timeout)).unwrap_or_default();
        let has_written = !events[1].revents().is_empty();
        let has_answered = !events[0].revents().is_empty();
        if has_written && self.drain_stderr() && !has_answered {
            // Its standard error is closed and would be ready for ever.
            std::thread::sleep(Duration::from_millis(1));
        }
        n_ready > 0
    }

    /// Takes what was written to standard error. Returns whether that is over.
    fn drain_stderr(&mut self) -> bool {
        // As much as a pipe holds: a process that writes without end must not hold us up.
        for _ in 0..16 {
            match self.stderr.read(&mut self.chunk) {
                Ok(0) => return true,
                Ok(n_read) => self.native.write(&self.chunk[..n_read]),
                Err(_) => return false,
            }
        }
        false
    }

    fn never_block(&self) -> io::Result<()> {
        use rustix::fs::{OFlags, fcntl_setfl};
        fcntl_setfl(&self.requests, OFlags::NONBLOCK)?;
        fcntl_setfl(&self.replies, OFlags::NONBLOCK)?;
        Ok(fcntl_setfl(&self.stderr, OFlags::NONBLOCK)?)
    }

    fn not_started(&mut self, lost: &Lost) -> StartError {
        let why = match self.end(Lost::Ended, START) {
            _ if matches!(lost, Lost::Deadline) => format!("a worker did not start within {} s", START.as_secs()),
            Failure::Died { how, stderr } => format!("a worker did not start: {how}{}", said(&stderr)),
            other => other.to_string(),
        };
        StartError::Other(why)
    }

    /// Ends it, and says what that means for the call that was under way.
    fn end(&mut self, lost: Lost, deadline: Duration) -> Failure {
        match lost {
            Lost::Deadline => Failure::Deadline(deadline),
            Lost::Garbled(what) => Failure::Garbled(what),
            Lost::GivenUp => Failure::GivenUp,
            Lost::Ended => {
                let how = self.kill().map_or_else(|| "of unknown cause".to_owned(), how_it_ended);
                self.drain_stderr();
                Failure::Died { how, stderr: self.native.take() }
            }
        }
    }

    /// Ends it with its copies. Returns how the process itself ended.
    fn kill(&mut self) -> Option<ExitStatus> {
        // A process that closed its end is about to end by itself, and then its own way of ending is the one to report.
        let begun = Instant::now();
        while begun.elapsed() < TO_EXIT && !self.has_ended() {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.kill_now()
    }

    /// Whether the process itself has ended. It is not reaped, so its id still names its group.
    fn has_ended(&self) -> bool {
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        self.group().is_none_or(|it| waitid(WaitId::Pid(it), options).is_ok_and(|it| it.is_some()))
    }

    fn group(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }

    /// Kills the whole group, and only then reaps its leader: a leader that ended first may have left a copy that nothing else would end, and
    /// once the leader is reaped its id may name another group.
    fn kill_now(&mut self) -> Option<ExitStatus> {
        if self.ended.is_none() {
            if let Some(group) = self.group() {
                // A group that is gone has ended, which is what is wanted.
                kill_process_group(group, Signal::KILL).unwrap_or_default();
            }
            self.ended = self.child.wait().ok();
            self.await_copies();
        }
        self.ended
    }

    /// Waits for the end of copies, which are not our children: they hold standard error as long as they live. Code that closed it is waited for no longer.
    fn await_copies(&mut self) {
        let begun = Instant::now();
        while !self.drain_stderr() && begun.elapsed() < TO_END {
            let timeout = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
            let mut events = [PollFd::new(&self.stderr, PollFlags::IN)];
            rustix::event::poll(&mut events, Some(&timeout)).map(drop).unwrap_or_default();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill_now();
    }
}

#[derive(serde::Deserialize)]
struct Raised {
    kind: String,
    message: String,
    line: Option<u32>,
}

#[derive(serde::Deserialize)]
struct Wrong {
    message: String,
    line: Option<u32>,
    column: Option<u32>,
}

fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

fn how_it_ended(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("it exited with status {code}"),
        (None, Some(signal)) => format!("signal {signal}{}", signal_name(signal)),
        (None, None) => status.to_string(),
    }
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        libc::SIGSEGV => ", it used memory that it does not have",
        libc::SIGBUS => ", it used memory that is not there",
        libc::SIGABRT => ", it gave up",
        libc::SIGILL => ", it ran something that is no instruction",
        libc::SIGFPE => ", an error of arithmetic",
        libc::SIGSYS => ", it made a system call that is forbidden",
        libc::SIGXCPU => ", it used up its processor time",
        libc::SIGKILL => ", the system ended it",
        _ => "",
    }
}

fn said(stderr: &Output) -> String {
    let last = stderr.text.lines().rev().find(|it| !it.trim().is_empty());
    last.map_or_else(String::new, |it| format!("; it said `{it}`"))
}

/// How many threads a process has, where the system reports it.
fn threads(process: u32) -> Option<usize> {
    let status = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in brackets may hold anything, brackets too.
    let (_, fields) = status.rsplit_once(") ")?;
    fields.split(' ').nth(17)?.parse().ok()
}
