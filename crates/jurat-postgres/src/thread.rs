//! The thread that waits for the server, with a time limit for everything that it waits for.

use std::io;
use std::time::Duration;

use jurat_store::journal::SharedError;
use tokio::runtime::{Builder, Runtime};

/// Reads and writes a connection while something is waited for, on the thread that waits.
pub(crate) struct Thread(Option<Runtime>);

impl Thread {
    pub(crate) fn new() -> io::Result<Thread> {
        Builder::new_current_thread().enable_io().enable_time().build().map(|it| Thread(Some(it)))
    }

    /// What comes of a request, or that it took too long.
    pub(crate) fn within<T>(
        &self,
        limit: Duration,
        request: impl Future<Output = Result<T, SharedError>>,
    ) -> Result<T, SharedError> {
        let late = || SharedError::Unreachable(format!("no answer within {} s", limit.as_secs_f64().ceil()));
        let runtime = self.0.as_ref().expect("it is there until it is dropped");
        runtime.block_on(async { tokio::time::timeout(limit, request).await }).unwrap_or_else(|_| Err(late()))
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        // The system may look for the name of a host for minutes, on a thread that cannot be ended: it is not waited for.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn what_blocks_for_long_is_not_waited_for() {
        let (end, ended) = channel::<()>();
        let thread = Thread::new().expect("a runtime");
        let found = thread.within(Duration::from_millis(1), async {
            let looked_up = tokio::task::spawn_blocking(move || ended.recv());
            looked_up.await.map(drop).map_err(|it| SharedError::Unreachable(it.to_string()))
        });
        assert_eq!(found, Err(SharedError::Unreachable("no answer within 1 s".to_owned())));
        drop(thread);
        drop(end);
    }
}
