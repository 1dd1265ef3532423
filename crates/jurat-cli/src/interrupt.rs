//! Ctrl-C, and what a process is told to end with.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use jurat_core::verdict::StopReason;
use jurat_engine::Stop;

use crate::exit::Exit;

/// Somebody who listens for signals for as long as the process lives.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    is_over: Arc<AtomicBool>,
}

impl Watch {
    /// Stops a run when the process is asked to: the first time what is in flight is finished, the second time it is dropped, and
    /// whoever asks once more waits for nothing.
    pub(crate) fn start(stop: &Arc<Stop>, told: impl Fn() + Send + 'static) -> Watch {
        let watch = Watch::default();
        let (stop, is_over) = (Arc::clone(stop), Arc::clone(&watch.is_over));
        // Without a thread Ctrl-C ends the process at once, which loses nothing that is committed.
        let _ = thread::Builder::new().name("jurat-signals".to_owned()).spawn(move || {
            let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() else { return };
            runtime.block_on(async {
                // Made once: a signal that comes while the last is looked at is not missed.
                let Some(mut signals) = Signals::new() else { return };
                while signals.next().await {
                    if is_over.load(Ordering::Relaxed) || stop.dropped_for().is_some() {
                        std::process::exit(Exit::Interrupted.code().into());
                    }
                    let is_first = stop.reason() != Some(StopReason::Interrupted);
                    stop.interrupt();
                    if is_first {
                        told();
                    }
                }
            });
        });
        watch
    }

    /// Says that the run is on disk: whoever interrupts now has seen enough.
    pub(crate) fn run_is_over(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

/// Both ways in which people end a program.
#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> Option<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        let (interrupt, terminate) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
        Some(Signals { interrupt: interrupt.ok()?, terminate: terminate.ok()? })
    }

    /// Waits for the next signal; `false` when there will be none.
    async fn next(&mut self) -> bool {
        tokio::select! {
            it = self.interrupt.recv() => it.is_some(),
            it = self.terminate.recv() => it.is_some(),
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> Option<Signals> {
        Some(Signals)
    }

    /// Waits for the next signal; `false` when there will be none.
    async fn next(&mut self) -> bool {
        tokio::signal::ctrl_c().await.is_ok()
    }
}
