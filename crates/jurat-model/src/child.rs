//! Programs that end with us.

use tokio::process::Child;

/// A program with everything that it started itself. It leads a group of processes; all of it ends when this is dropped, unless the program has
/// ended before.
#[derive(Debug)]
pub(crate) struct Started(pub(crate) Child);

impl Started {
    /// Ends it now.
    pub(crate) fn kill(&mut self) {
        // Once it was waited for, its number may be another's.
        #[cfg(unix)]
        if let Some(group) = self.0.id().and_then(|it| i32::try_from(it).ok()).and_then(rustix::process::Pid::from_raw)
        {
            // A group that is gone has ended, which is what is wanted.
            rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap_or_default();
        }
        #[cfg(not(unix))]
        self.0.start_kill().unwrap_or_default();
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.kill();
    }
}
