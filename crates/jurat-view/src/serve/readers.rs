//! Threads that read runs. An open run belongs to one thread, so each has its own.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use jurat_engine::view::{RunView, ViewError};
use tokio::sync::oneshot;

/// How many requests are worked on at a time.
const THREADS: usize = 4;

/// How many runs a thread leaves open.
const OPEN: usize = 6;

type Job = Box<dyn FnOnce(&mut OpenRuns) + Send>;

/// The threads. They end when this is dropped and their work is done.
#[derive(Debug)]
pub(crate) struct Readers {
    jobs: Sender<Job>,
}

impl Readers {
    pub(crate) fn start() -> std::io::Result<Readers> {
        let (jobs, waiting) = channel::<Job>();
        let waiting = Arc::new(Mutex::new(waiting));
        for ix in 0..THREADS {
            let waiting = Arc::clone(&waiting);
            std::thread::Builder::new().name(format!("jurat-view-{ix}")).spawn(move || work(&waiting))?;
        }
        Ok(Readers { jobs })
    }

    /// Has a thread do something, and waits for the result: `None` when it panicked. When the caller stops waiting, the work is asked to stop.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut OpenRuns, &Cancel) -> T + Send + 'static,
    ) -> Option<T> {
        let (result, waiting) = oneshot::channel();
        let cancel = Cancel::default();
        let _on_drop = CancelOnDrop(cancel.clone());
        let job: Job = Box::new(move |runs| {
            if !cancel.is_cancelled() {
                // What was open may be in any state after a panic, and is opened again.
                let worked = catch_unwind(AssertUnwindSafe(|| work(runs, &cancel)));
                if worked.is_err() {
                    runs.0.clear();
                }
                let _ = result.send(worked.ok());
            }
        });
        self.jobs.send(job).ok()?;
        waiting.await.ok().flatten()
    }
}

fn work(waiting: &Mutex<Receiver<Job>>) {
    let mut runs = OpenRuns::default();
    loop {
        let job = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
        match job {
            Ok(job) => job(&mut runs),
            Err(_) => return,
        }
    }
}

/// Whether the result of some work is still wanted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cancel(Arc<AtomicBool>);

impl Cancel {
    pub(crate) fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// The runs that a thread has open, the one that was used last at the end.
#[derive(Debug, Default)]
pub(crate) struct OpenRuns(VecDeque<(PathBuf, FileIdentity, RunView)>);

impl OpenRuns {
    /// A run, opened unless it is open.
    pub(crate) fn open(&mut self, path: &Path) -> Result<&RunView, ViewError> {
        let identity = FileIdentity::of(path);
        let found = self.0.iter().position(|it| it.0 == path && it.1 == identity);
        let open = match found.and_then(|ix| self.0.remove(ix)) {
            Some(open) => open,
            None => {
                self.0.retain(|it| it.0 != path);
                (path.to_owned(), identity, RunView::open(path)?)
            }
        };
        if self.0.len() >= OPEN {
            self.0.pop_front();
        }
        self.0.push_back(open);
        Ok(&self.0.back().expect("one was pushed").2)
    }
}

/// What distinguishes a file from another that takes its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileIdentity(Option<(u64, u64)>);

impl FileIdentity {
    #[cfg(unix)]
    fn of(path: &Path) -> FileIdentity {
        use std::os::unix::fs::MetadataExt as _;
        FileIdentity(std::fs::metadata(path).ok().map(|it| (it.dev(), it.ino())))
    }

    #[cfg(not(unix))]
    fn of(path: &Path) -> FileIdentity {
        let created = std::fs::metadata(path).and_then(|it| it.created()).ok();
        let since = created.and_then(|it| it.duration_since(std::time::SystemTime::UNIX_EPOCH).ok());
        FileIdentity(since.map(|it| (it.as_secs(), u64::from(it.subsec_nanos()))))
    }
}
