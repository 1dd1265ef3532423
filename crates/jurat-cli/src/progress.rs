//! How far a run has come, on standard error: a line that is drawn again on a terminal, a line now and then elsewhere.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use jurat_engine::Progress;
use jurat_report::ProgressLine;

/// How often a line is drawn again.
const REDRAW: Duration = Duration::from_millis(100);
/// How often a line is written where there is no terminal.
const REWRITE: Duration = Duration::from_secs(10);
/// What takes less is not worth a line.
const PATIENCE: Duration = Duration::from_millis(400);

/// A line that shows progress until it is dropped.
pub(crate) struct Shown {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Shown {
    /// Shows how a run gets on; nothing when `is_wanted` is false.
    pub(crate) fn start(progress: &Arc<Progress>, is_wanted: bool) -> Shown {
        if !is_wanted {
            return Shown { stop: None, thread: None };
        }
        let progress = Arc::clone(progress);
        let (stop, stopped) = channel();
        let thread = thread::Builder::new().name("jurat-progress".to_owned()).spawn(move || {
            let is_terminal = io::stderr().is_terminal() && !crate::format::is_dumb();
            let started = Instant::now();
            let mut wait = PATIENCE.max(if is_terminal { REDRAW } else { REWRITE });
            let mut is_drawn = false;
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(wait) {
                let line = line(&progress, started.elapsed());
                let mut out = io::stderr().lock();
                let _ = if is_terminal {
                    write!(out, "\r\x1b[2K{}", line.bar(width().unwrap_or(80).saturating_sub(1)))
                } else {
                    writeln!(out, "{}", line.plain())
                };
                let _ = out.flush();
                is_drawn = is_terminal;
                wait = if is_terminal { REDRAW } else { REWRITE };
            }
            if is_drawn {
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

/// How wide the terminal is.
pub(crate) fn width() -> Option<usize> {
    let columns = std::env::var("COLUMNS").ok().and_then(|it| it.parse().ok());
    columns.or_else(|| terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)))
}

fn line(progress: &Progress, elapsed: Duration) -> ProgressLine {
    let total = Some(progress.total.load(Ordering::Relaxed)).filter(|it| *it != u64::MAX);
    let done = progress.done.load(Ordering::Relaxed);
    let rate = (done > 0).then(|| done as f64 / elapsed.as_secs_f64().max(1e-9));
    let left = total.map(|total| total.saturating_sub(done)).filter(|it| *it > 0);
    let nano_usd = progress.nano_usd.load(Ordering::Relaxed);
    ProgressLine {
        done,
        total,
        failed: progress.failed.load(Ordering::Relaxed),
        errors: progress.errors.load(Ordering::Relaxed),
        cost_usd: (nano_usd > 0).then_some(nano_usd as f64 / 1e9),
        rate,
        eta: left.zip(rate).and_then(|(left, rate)| Duration::try_from_secs_f64(left as f64 / rate).ok()),
        in_flight: progress.in_flight.load(Ordering::Relaxed),
        slow_case: progress.slow_case(),
    }
}
