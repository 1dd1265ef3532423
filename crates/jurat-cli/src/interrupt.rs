//! Ctrl-C, and the signals that ask a process to end.
//!
//! A person who presses Ctrl-C waits for what is in flight and can press it again. A supervisor that sends SIGTERM, and a terminal that is closed (SIGHUP), do
//! neither: what is in flight then has a few seconds, is dropped, and the process ends.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use jurat::StopReason;
use jurat_report::Progress;

use crate::exit::Exit;

/// Listens for signals for as long as the process lives.
#[derive(Debug, Default)]
pub(crate) struct Listener {
    is_over: Arc<AtomicBool>,
}

/// How many runs of this process are in progress.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

impl Listener {
    /// Stops a run when the process is asked to: the first signal lets what is in flight finish, the second drops it, and the third ends the process.
    pub(crate) fn start(run: jurat::Watch) -> Listener {
        let listener = Listener::default();
        RUNNING.fetch_add(1, Ordering::Relaxed);
        let is_over = Arc::clone(&listener.is_over);
        // Without a thread Ctrl-C ends the process at once, which loses nothing that is committed.
        let _ = thread::Builder::new().name("jurat-signals".to_owned()).spawn(move || {
            let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
            runtime.block_on(async {
                // Made once: a signal that comes while the last is looked at is not missed.
                let Some(mut signals) = Signals::new() else { return };
                while let Some(signal) = signals.next().await {
                    let is_over = is_over.load(Ordering::Relaxed);
                    // Of several suites the one that is running now listens for itself.
                    if is_over && RUNNING.load(Ordering::Relaxed) > 0 {
                        continue;
                    }
                    if signal == Asked::ToEnd {
                        end_within_grace(&run);
                    }
                    if is_over || run.is_aborted() {
                        std::process::exit(Exit::Interrupted.code().into());
                    }
                    let is_first = run.stopped() != Some(StopReason::Interrupted);
                    run.stop();
                    if is_first {
                        // The line that shows progress is overwritten.
                        let clear = if io::stderr().is_terminal() { "\r\x1b[2K" } else { "" };
                        let _ = writeln!(io::stderr(), "{clear}{}", words(&run.progress()));
                    }
                }
            });
        });
        listener
    }

    /// Notes that the run is on disk: an interrupt ends the process now.
    pub(crate) fn run_is_over(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        RUNNING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Calls something whenever the process is asked to stop or to end, with how often it was asked before.
pub(crate) fn on_each(mut call: impl FnMut(u32) + Send + 'static) {
    let _ = thread::Builder::new().name("jurat-signals".to_owned()).spawn(move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        runtime.block_on(async {
            let Some(mut signals) = Signals::new() else { return };
            let mut n_before = 0;
            while signals.next().await.is_some() {
                call(n_before);
                n_before += 1;
            }
        });
    });
}

/// Waits until the process is asked to stop or to end.
pub(crate) async fn asked_to_end() {
    match Signals::new() {
        Some(mut signals) => drop(signals.next().await),
        // Without signals, the process is ended from outside.
        None => std::future::pending().await,
    }
}

/// What Ctrl-C leads to, and what a second one would.
fn words(progress: &Progress) -> String {
    if let Some(batches) = progress.batches {
        let batches = match batches.batches {
            1 => "1 batch stays".to_owned(),
            n => format!("{n} batches stay"),
        };
        return format!("Stopping; {batches} with the provider. To collect the results: {}", command());
    }
    match progress.in_flight {
        0 => "Stopping; press Ctrl-C again to abort".to_owned(),
        n => {
            let requests = jurat_report::counted(n, "running request");
            format!("Stopping after {requests}; press Ctrl-C again to abort {}", if n == 1 { "it" } else { "them" })
        }
    }
}

/// The command of this process, as it would be typed.
fn command() -> String {
    let words =
        std::env::args().skip(1).map(|it| if it.contains([' ', '"', '$', '*']) { format!("'{it}'") } else { it });
    std::iter::once("jurat".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// How long what is in flight may take when the process was asked to end, and how long dropping it may take. Together they are less than the ten seconds
/// after which supervisors usually kill.
const GRACE: Duration = Duration::from_secs(5);
const TO_DROP: Duration = Duration::from_secs(3);

/// Sees to it that the process ends, whatever is in flight.
fn end_within_grace(run: &jurat::Watch) {
    let run = run.clone();
    tokio::spawn(async move {
        tokio::time::sleep(GRACE).await;
        run.abort();
        tokio::time::sleep(TO_DROP).await;
        // Everything that was answered is committed, and what was started ends with this process.
        std::process::exit(Exit::Interrupted.code().into());
    });
}

/// What a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// A person would like it to stop.
    ToStop,
    /// It has to end.
    ToEnd,
}

/// The ways in which people and supervisors end a program.
#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    /// `None` where it is ignored, which is what `nohup` is for.
    hangup: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Signals {
    fn new() -> Option<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        let hangup = if ignores_hangup() { None } else { signal(SignalKind::hangup()).ok() };
        let (interrupt, terminate) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
        Some(Signals { interrupt: interrupt.ok()?, terminate: terminate.ok()?, hangup })
    }

    /// Waits for the next signal; `None` when there will be none.
    async fn next(&mut self) -> Option<Asked> {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            it = self.interrupt.recv() => it.map(|()| Asked::ToStop),
            it = self.terminate.recv() => it.map(|()| Asked::ToEnd),
            it = hangup => it.map(|()| Asked::ToEnd),
        }
    }
}

/// Whether this process was started with SIGHUP ignored. Listening to it would undo that. Only Linux says so in a file; elsewhere it is left alone.
#[cfg(unix)]
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|it| it.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|it| u64::from_str_radix(it.trim(), 16).ok());
    mask.is_none_or(|it| it & 1 != 0)
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> Option<Signals> {
        Some(Signals)
    }

    /// Waits for the next signal; `None` when there will be none.
    async fn next(&mut self) -> Option<Asked> {
        tokio::signal::ctrl_c().await.ok().map(|()| Asked::ToStop)
    }
}
