//! The journal that a team shares, beside the local one of a project.
//!
//! A thread has the connection. It looks answers up that the local journal does not have, many at a time, and sends what was written here, after it was written. Nothing waits for
//! what is sent. When the shared journal cannot be reached, lookups find nothing, the run is one with its local journal alone, and what is not sent stays noted there for the next run or `jurat journal push`.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use jurat_core::effect::EffectKey;
use jurat_model::trusted_tls;
use jurat_postgres::{Address, PostgresJournal};
use jurat_store::DatabaseError;
use jurat_store::journal::{Journal, JournalAnswer, SharedError, SharedJournal, Unsent};
use tokio::sync::oneshot;

/// The variable that names the shared journal.
pub const SHARED_JOURNAL: &str = "JURAT_SHARED_JOURNAL";
/// The variable with its password, where the address has none.
const PASSWORD: &str = "PGPASSWORD";
/// In place of an address: no shared journal, whatever the variable says.
const NONE: &str = "none";

/// How often the local journal is looked at for what was written.
const LOOK: Duration = Duration::from_millis(250);
/// How long a journal that could not be reached is left alone.
const REST: Duration = Duration::from_secs(60);
/// How long the end of a run waits until everything is sent.
const END_TIMEOUT: Duration = Duration::from_secs(10);
/// The most requests that are looked up together.
const MOST_KEYS: usize = 512;

/// The address of the shared journal: the one that is given, or that of the variable.
///
/// Arguments are seen by all users of the machine, so a password is taken from variables only.
pub fn shared_address(
    given: Option<&str>,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<Address>, BadSharedJournal> {
    let of_variable = || env(SHARED_JOURNAL).filter(|it| !it.is_empty());
    let Some(url) = given.map(str::to_owned).or_else(of_variable).filter(|it| it != NONE) else { return Ok(None) };
    let address = Address::read(&url)?;
    if given.is_some() && address.has_password() {
        return Err(BadSharedJournal::Password);
    }
    Ok(Some(address.with_password(env(PASSWORD))))
}

/// Why no shared journal can be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadSharedJournal {
    #[error("the shared journal: {0}")]
    Address(#[from] jurat_postgres::BadAddress),
    #[error(
        "the given address of the shared journal has a password, which every user of this machine could read; give the password in `{PASSWORD}`, or the whole address in `{SHARED_JOURNAL}`"
    )]
    Password,
    #[error(
        "`--shared-journal` is not for shards of a cluster, which store their responses in the directory of the plan; add them with `jurat journal add` and send them with `jurat journal push`"
    )]
    Shard,
}

/// Connects to a shared journal.
pub fn connect(address: &Address) -> Result<PostgresJournal, SharedError> {
    PostgresJournal::connect(address, &trusted_tls)
}

/// What was sent to a shared journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pushed {
    /// How many answers are new there.
    pub new: u64,
    /// How many were there already.
    pub known: u64,
}

/// Why answers were not sent.
#[derive(Debug, thiserror::Error)]
pub enum PushError {
    #[error(transparent)]
    Local(#[from] DatabaseError),
    #[error("the shared journal: {0}")]
    Shared(#[from] SharedError),
}

/// Sends everything that a shared journal has not acknowledged.
pub fn push(journal: &Journal, shared: &mut dyn SharedJournal) -> Result<Pushed, PushError> {
    let unsent = Unsent::of(journal, shared.id())?;
    let mut pushed = Pushed::default();
    while let Some((new, n)) = send(&unsent, shared)? {
        pushed.new += new;
        pushed.known += n - new;
    }
    Ok(pushed)
}

/// Sends the next answers, and returns how many are new and how many they were; `None` when there are none.
fn send(unsent: &Unsent, shared: &mut dyn SharedJournal) -> Result<Option<(u64, u64)>, PushError> {
    let Some(batch) = unsent.next()? else { return Ok(None) };
    let new = shared.add(&batch.answers)?;
    unsent.acknowledge(&batch)?;
    Ok(Some((new, batch.answers.len() as u64)))
}

/// Makes a connection, again after one was lost.
type Connect = Box<dyn FnMut() -> Result<Box<dyn SharedJournal>, SharedError> + Send>;

/// A shared journal that a run uses.
pub struct Sharing {
    lookups: Sender<Lookup>,
    thread: Option<JoinHandle<Ended>>,
}

struct Lookup {
    key: EffectKey,
    found: oneshot::Sender<Option<JournalAnswer>>,
}

/// What became of a shared journal in a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ended {
    /// How many answers it does not have yet; `None` where that is not known, because it was never reached.
    pub n_unsent: Option<u64>,
    /// What went wrong last.
    pub problem: Option<String>,
}

impl Ended {
    /// Everything is sent.
    pub fn sent() -> Ended {
        Ended { n_unsent: Some(0), problem: None }
    }
}

impl Sharing {
    /// Connects to a shared journal, and says why it cannot be reached if so. Later attempts follow.
    pub(crate) fn open(address: Address, journal: &Journal) -> (Sharing, Option<SharedError>) {
        let connect = move || connect(&address).map(|it| Box::new(it) as Box<dyn SharedJournal>);
        Sharing::start(Box::new(connect), journal.path())
    }

    fn start(connect: Connect, journal: &Path) -> (Sharing, Option<SharedError>) {
        let mut link = Link { connect, journal: journal.to_owned(), state: State::Down(Instant::now()), problem: None };
        let problem = link.ready().is_none().then(|| link.problem.clone()).flatten();
        let (lookups, waiting) = channel();
        let thread = thread::Builder::new().name("jurat-sharing".to_owned()).spawn(move || link.run(&waiting));
        // Without a thread lookups find nothing, as with a journal that cannot be reached.
        (Sharing { lookups, thread: thread.ok() }, problem)
    }

    /// The newest answer to a request, unless it is from before a certain time.
    pub(crate) async fn find(&self, key: EffectKey, not_before_ms: Option<u64>) -> Option<JournalAnswer> {
        let (found, answer) = oneshot::channel();
        self.lookups.send(Lookup { key, found }).ok()?;
        let answer = answer.await.ok().flatten();
        answer.filter(|it| not_before_ms.is_none_or(|earliest| it.at_ms >= earliest))
    }

    /// Waits until everything is sent, for as long as the timeout allows.
    pub(crate) fn end(self) -> Ended {
        drop(self.lookups);
        self.thread.and_then(|it| it.join().ok()).unwrap_or_default()
    }
}

/// The connection, which belongs to the thread.
struct Link {
    connect: Connect,
    journal: PathBuf,
    state: State,
    /// What went wrong last.
    problem: Option<SharedError>,
}

enum State {
    Up {
        shared: Box<dyn SharedJournal>,
        unsent: Unsent,
        /// Whether it takes answers: a user may be allowed to read only.
        takes: bool,
    },
    /// It is tried again from then on.
    Down(Instant),
}

impl Link {
    fn run(mut self, lookups: &Receiver<Lookup>) -> Ended {
        let mut looked = Instant::now();
        loop {
            match lookups.recv_timeout(LOOK.saturating_sub(looked.elapsed())) {
                Ok(first) => self.look_up(first, lookups),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return self.end(),
            }
            if looked.elapsed() >= LOOK && !self.send() {
                looked = Instant::now();
            }
        }
    }

    /// Looks up what is waited for, all at once.
    fn look_up(&mut self, first: Lookup, lookups: &Receiver<Lookup>) {
        let all: Vec<Lookup> = std::iter::once(first).chain(lookups.try_iter().take(MOST_KEYS - 1)).collect();
        let keys: Vec<EffectKey> = all.iter().map(|it| it.key).collect();
        let found = match self.ready() {
            Some((shared, ..)) => shared.find(&keys),
            None => Ok(Vec::new()),
        };
        let found = found.unwrap_or_else(|error| {
            self.lose(error);
            Vec::new()
        });
        for Lookup { key, found: waiting } in all {
            let answer = found.iter().find(|it| it.0 == key).map(|it| it.1.clone());
            // A case that was dropped waits no more.
            let _ = waiting.send(answer);
        }
    }

    /// Sends answers that were written; whether there may be more.
    fn send(&mut self) -> bool {
        let Some((shared, unsent, takes)) = self.ready().filter(|it| *it.2) else { return false };
        match send(unsent, shared.as_mut()) {
            Ok(sent) => sent.is_some(),
            Err(PushError::Shared(error @ SharedError::Refused(_))) => {
                *takes = false;
                self.problem = Some(error);
                false
            }
            Err(PushError::Shared(error)) => {
                self.lose(error);
                false
            }
            // The run itself meets what is wrong with its journal.
            Err(PushError::Local(_)) => false,
        }
    }

    /// The connection, made anew when it is time to.
    fn ready(&mut self) -> Option<(&mut Box<dyn SharedJournal>, &Unsent, &mut bool)> {
        if matches!(self.state, State::Down(until) if until <= Instant::now()) {
            match self.reach() {
                Ok(up) => self.state = up,
                Err(error) => self.lose(error),
            }
        }
        match &mut self.state {
            State::Up { shared, unsent, takes } => Some((shared, unsent, takes)),
            State::Down(_) => None,
        }
    }

    fn reach(&mut self) -> Result<State, SharedError> {
        let shared = (self.connect)()?;
        let unsent = Journal::open(&self.journal).and_then(|it| Unsent::of(&it, shared.id()));
        let unsent = unsent.map_err(|it| SharedError::Unreachable(it.to_string()))?;
        self.problem = None;
        Ok(State::Up { shared, unsent, takes: true })
    }

    fn lose(&mut self, error: SharedError) {
        self.problem = Some(error);
        self.state = State::Down(Instant::now() + REST);
    }

    /// The run is over: sends what is left.
    fn end(mut self) -> Ended {
        let end = Instant::now() + END_TIMEOUT;
        while Instant::now() < end && self.send() {}
        let n_unsent = match &self.state {
            State::Up { unsent, .. } => unsent.n().ok(),
            State::Down(_) => None,
        };
        Ended { n_unsent, problem: self.problem.map(|it| it.to_string()) }
    }
}

#[cfg(test)]
mod tests;
