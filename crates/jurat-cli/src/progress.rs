//! How far a run has come, on standard error: a line that is updated on a terminal, a line now and then elsewhere, or lines of JSON for programs.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use clap::ValueEnum;
use jurat::Watch;

/// How often a line is updated.
const REDRAW: Duration = Duration::from_millis(100);
/// How often a line is written where there is no terminal.
const REWRITE: Duration = Duration::from_secs(10);
/// What takes less is not worth a line.
const DELAY: Duration = Duration::from_millis(400);

/// How often a line of JSON is written.
const REPORT: Duration = Duration::from_secs(1);

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ProgressFormat {
    /// A line for people
    #[default]
    Auto,
    /// A line of JSON every second, and one at the end
    Json,
}

/// What of the progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shows {
    Nothing,
    Line,
    Json,
}

impl ProgressFormat {
    /// What is shown when a line for people would be `wanted`.
    pub(crate) fn shows(self, wanted: bool) -> Shows {
        match (self, wanted) {
            (ProgressFormat::Json, _) => Shows::Json,
            (ProgressFormat::Auto, true) => Shows::Line,
            (ProgressFormat::Auto, false) => Shows::Nothing,
        }
    }
}

/// A line that shows progress until it is dropped.
pub(crate) struct Shown {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Shown {
    /// Shows how a run gets on.
    pub(crate) fn start(watch: Watch, shows: Shows) -> Shown {
        let (stop, stopped) = channel();
        let thread = thread::Builder::new().name("jurat-progress".to_owned());
        let thread = match shows {
            Shows::Nothing => return Shown { stop: None, thread: None },
            Shows::Line => Shown::lines(thread, watch, stopped),
            Shows::Json => thread.spawn(move || {
                while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(REPORT) {
                    let _ = writeln!(io::stderr(), "{}", watch.progress().json("progress"));
                }
                let _ = writeln!(io::stderr(), "{}", watch.progress().json("ended"));
            }),
        };
        Shown { stop: Some(stop), thread: thread.ok() }
    }

    /// A line for people.
    fn lines(thread: thread::Builder, watch: Watch, stopped: Receiver<()>) -> io::Result<JoinHandle<()>> {
        thread.spawn(move || {
            let is_terminal = io::stderr().is_terminal() && !crate::format::is_dumb();
            let mut wait = DELAY.max(if is_terminal { REDRAW } else { REWRITE });
            let mut is_shown = false;
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(wait) {
                let line = watch.progress();
                let mut out = io::stderr().lock();
                let _ = if is_terminal {
                    write!(out, "\r\x1b[2K{}", line.bar(width().unwrap_or(80).saturating_sub(1)))
                } else {
                    writeln!(out, "{}", line.plain())
                };
                let _ = out.flush();
                is_shown = is_terminal;
                wait = if is_terminal { REDRAW } else { REWRITE };
            }
            if is_shown {
                let _ = write!(io::stderr(), "\r\x1b[2K");
            }
        })
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// How wide the terminal is that standard output goes to; nothing when it is none.
pub(crate) fn window() -> Option<usize> {
    if io::stdout().is_terminal() { width() } else { None }
}

/// How wide the terminal is.
fn width() -> Option<usize> {
    let columns = std::env::var("COLUMNS").ok().and_then(|it| it.parse().ok());
    columns.or_else(|| terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)))
}
