//! The journal of a project: the cache of responses that were paid for.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jurat_core::report::journal::JournalReport;
use jurat_engine::now_ms;
use jurat_engine::shards::ShardPlan;
use jurat_engine::sharing::{PushError, Pushed, SHARED_JOURNAL, connect, push, shared_address};
use jurat_model::dotenv::Environment;
use jurat_store::journal::{Added, Cleaning, Journal as Stored, Removed};
use jurat_store::{DatabaseError, Project};

use crate::Error;
use crate::checked::process_variables;

/// The responses that a project has paid for. Runs look responses up here before they ask a model.
///
/// ```
/// use jurat::Journal;
///
/// # let directory = tempfile::tempdir()?;
/// assert!(Journal::open(directory.path())?.is_none(), "nothing was asked there");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Journal(Stored);

impl Journal {
    /// The journal of the project that a directory belongs to, when it has one.
    pub fn open(directory: impl AsRef<Path>) -> Result<Option<Journal>, Error> {
        found(directory.as_ref(), Stored::open)
    }

    /// The same, to be read only: it may be on a disk that cannot be written to.
    pub fn open_to_read(directory: impl AsRef<Path>) -> Result<Option<Journal>, Error> {
        found(directory.as_ref(), Stored::open_to_read)
    }

    /// The journal of the project that a directory belongs to; it is made if there is none.
    pub fn open_or_create(directory: impl AsRef<Path>) -> Result<Journal, Error> {
        let project = Project::find_or_create(directory.as_ref()).map_err(|error| Error::Run(Box::new(error)))?;
        Stored::open(&project.journal_path()).map(Journal).map_err(unreadable)
    }

    /// Takes the responses that shards were given, from the directories of their plans. What is there already is not added again.
    pub fn add_shards(&self, directories: &[PathBuf]) -> Result<Added, Error> {
        let mut files = Vec::new();
        for directory in directories {
            files.extend(ShardPlan::segment_files(directory).map_err(crate::shards::wrong)?);
        }
        self.0.add_segments(&files).map_err(unreadable)
    }

    /// Sends the responses that a shared journal does not have yet, and returns how many they were. Without an address, that of `JURAT_SHARED_JOURNAL` is used; the password
    /// may be in `PGPASSWORD`.
    pub fn push(&self, address: Option<&str>) -> Result<Pushed, Error> {
        let env = Environment::find(process_variables(), None, Path::new("."));
        let env = env.map_err(|error| Error::Run(Box::new(error)))?;
        let address =
            shared_address(address, &|name| env.get(name)).map_err(|error| Error::Usage(error.to_string()))?;
        let Some(address) = address else {
            let message = format!("no shared journal is named: set `{SHARED_JOURNAL}`, or give its address");
            return Err(Error::Usage(message));
        };
        let failed = |error: &dyn std::fmt::Display| {
            Error::Usage(format!("the shared journal at `{address}` cannot be used: {error}"))
        };
        let mut shared = connect(&address).map_err(|error| failed(&error))?;
        push(&self.0, &mut shared).map_err(|error| match error {
            PushError::Local(error) => unreadable(error),
            PushError::Shared(error) => failed(&error),
        })
    }

    /// What it holds, by model.
    pub fn report(&self) -> Result<JournalReport, Error> {
        self.0.report().map_err(unreadable)
    }

    /// Removes the responses that are older than this.
    pub fn remove_older_than(&self, age: Duration) -> Result<Removed, Error> {
        let age_ms = u64::try_from(age.as_millis()).unwrap_or(u64::MAX);
        self.remove(&Cleaning::Before(now_ms().saturating_sub(age_ms)))
    }

    /// Removes the responses of a model, which is called as its provider calls it.
    pub fn remove_model(&self, model: impl Into<String>) -> Result<Removed, Error> {
        self.remove(&Cleaning::Model(model.into()))
    }

    /// Removes all responses.
    pub fn remove_all(&self) -> Result<Removed, Error> {
        self.remove(&Cleaning::All)
    }

    fn remove(&self, which: &Cleaning) -> Result<Removed, Error> {
        self.0.clean(which).map_err(unreadable)
    }
}

/// Looking makes no journal.
fn found(directory: &Path, open: fn(&Path) -> Result<Stored, DatabaseError>) -> Result<Option<Journal>, Error> {
    let project = Project::find(directory).filter(|it| it.journal_path().exists());
    project.map(|it| open(&it.journal_path()).map(Journal)).transpose().map_err(unreadable)
}

fn unreadable(error: DatabaseError) -> Error {
    Error::Read(Box::new(error))
}
