//! Ctrl-C, and what a process is told to end with.

use std::io::{self, Write};
use std::process;
use std::sync::Arc;
use std::thread;

use jurat_engine::Stop;

/// Stops a run when the process is asked to: the first time what is in flight is finished, the second time it is dropped. The third time
/// the process ends there and then, for runs that wait for rows which never come; nothing that is committed is lost.
pub(crate) fn watch(stop: &Arc<Stop>) {
    const WORDS: [&str; 2] =
        ["stopping: what is in flight is finished; once more to drop it", "stopping: what is in flight is dropped"];
    let stop = Arc::clone(stop);
    // Without a thread Ctrl-C ends the process at once, which loses nothing that is committed.
    let _ = thread::Builder::new().name("jurat-signals".to_owned()).spawn(move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() else { return };
        runtime.block_on(async {
            let Some(mut signals) = Signals::listen() else { return };
            for words in WORDS {
                signals.next().await;
                stop.interrupt();
                let _ = writeln!(io::stderr(), "\r{words}");
            }
            signals.next().await;
            process::exit(130);
        });
    });
}

/// Both ways in which people end a program.
#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn listen() -> Option<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        let interrupt = signal(SignalKind::interrupt()).ok()?;
        Some(Signals { interrupt, terminate: signal(SignalKind::terminate()).ok()? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn listen() -> Option<Signals> {
        Some(Signals)
    }

    async fn next(&mut self) {
        let _ = tokio::signal::ctrl_c().await;
    }
}
