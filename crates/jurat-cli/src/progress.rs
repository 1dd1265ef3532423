//! How far a run has come, on standard error: a line that is updated on a terminal, a line now and then elsewhere.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use jurat::Watch;

/// How often a line is updated.
const REDRAW: Duration = Duration::from_millis(100);
/// How often a line is written where there is no terminal.
const REWRITE: Duration = Duration::from_secs(10);
/// What takes less is not worth a line.
const DELAY: Duration = Duration::from_millis(400);

/// A line that shows progress until it is dropped.
pub(crate) struct Shown {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Shown {
    /// Shows how a run gets on; nothing when `is_wanted` is false.
    pub(crate) fn start(watch: Watch, is_wanted: bool) -> Shown {
        if !is_wanted {
            return Shown { stop: None, thread: None };
        }
        let (stop, stopped) = channel();
        let thread = thread::Builder::new().name("jurat-progress".to_owned()).spawn(move || {
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
        });
        Shown { stop: Some(stop), thread: thread.ok() }
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
