//! Ctrl-C, and what a process is told to end with.

use std::sync::Arc;
use std::thread;

use jurat_engine::Stop;

/// Stops a run when the process is asked to: the first time what is in flight is finished, the second time it is dropped.
pub(crate) fn watch(stop: &Arc<Stop>, told: impl Fn() + Send + 'static) {
    let stop = Arc::clone(stop);
    // Without a thread Ctrl-C ends the process at once, which loses nothing that is committed.
    let _ = thread::Builder::new().name("jurat-signals".to_owned()).spawn(move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() else { return };
        runtime.block_on(async {
            while next_signal().await {
                stop.interrupt();
                told();
            }
        });
    });
}

#[cfg(unix)]
async fn next_signal() -> bool {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return false;
    };
    tokio::select! {
        it = interrupt.recv() => it.is_some(),
        it = terminate.recv() => it.is_some(),
    }
}

#[cfg(not(unix))]
async fn next_signal() -> bool {
    tokio::signal::ctrl_c().await.is_ok()
}
