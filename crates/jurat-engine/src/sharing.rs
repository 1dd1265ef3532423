//! The journal that a team shares, beside the local one of a project.
//!
//! A thread has the connection. It looks answers up that the local journal does not have, many at a time, and sends what was written here, after it was written. Nothing waits for
//! what is sent, and a lookup is waited for no longer than two seconds. When the shared journal cannot be reached, lookups find nothing, the run is one with its local journal alone, and what is not sent stays
//! noted there for the next run or `jurat journal push`.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread;
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
/// How long it may take to connect, and to send.
const LIMIT: Duration = Duration::from_secs(10);
/// How long a request waits for what is looked up.
const LOOKUP: Duration = Duration::from_secs(2);
/// How long the end of a run waits until everything is sent, and when nothing more is begun, so that there is time to say what is left.
const END: Duration = Duration::from_secs(10);
const LAST_SENT: Duration = Duration::from_secs(9);
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
    PostgresJournal::connect(address, &trusted_tls, LIMIT)
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
    while let Some((new, n)) = send(&unsent, shared, LIMIT)? {
        pushed.new += new;
        pushed.known += n - new;
    }
    Ok(pushed)
}

/// Sends the next answers, and returns how many are new and how many they were; `None` when there are none.
fn send(unsent: &Unsent, shared: &mut dyn SharedJournal, limit: Duration) -> Result<Option<(u64, u64)>, PushError> {
    let Some(batch) = unsent.next()? else { return Ok(None) };
    let new = if batch.answers.is_empty() { 0 } else { shared.add(&batch.answers, limit)? };
    unsent.acknowledge(&batch)?;
    Ok(Some((new, batch.answers.len() as u64)))
}

/// Makes a connection within a time, again after one was lost.
type Connect = Box<dyn FnMut(Duration) -> Result<Box<dyn SharedJournal>, SharedError> + Send>;

/// A shared journal that a run uses.
pub struct Sharing {
    lookups: Sender<Lookup>,
    /// How many lookups were not answered.
    n_unanswered: AtomicU64,
    /// When nothing more is begun; set when the run is over.
    end_by: Arc<OnceLock<Instant>>,
    ended: Receiver<Ended>,
}

struct Lookup {
    key: EffectKey,
    found: oneshot::Sender<Result<Option<JournalAnswer>, NoAnswer>>,
}

/// The journal was not reached, so what it has is not known.
#[derive(Debug)]
struct NoAnswer;

/// What became of a shared journal in a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ended {
    /// How many answers it does not have yet; `None` where that is not known, because it was never reached, there are very many, or there was no time to count.
    pub n_unsent: Option<u64>,
    /// How many lookups it did not answer, so that models were asked.
    pub n_unanswered: u64,
    /// What went wrong last.
    pub problem: Option<String>,
}

impl Sharing {
    /// Connects to a shared journal, and says why it cannot be reached if so. Later attempts follow.
    pub(crate) fn open(address: Address, journal: &Journal) -> (Sharing, Option<SharedError>) {
        let connect = move |limit| {
            PostgresJournal::connect(&address, &trusted_tls, limit).map(|it| Box::new(it) as Box<dyn SharedJournal>)
        };
        Sharing::start(Box::new(connect), journal.path())
    }

    pub(crate) fn start(connect: Connect, journal: &Path) -> (Sharing, Option<SharedError>) {
        let end_by = Arc::new(OnceLock::new());
        let mut link = Link::new(connect, journal, Arc::clone(&end_by));
        let problem = link.ready().is_none().then(|| link.problem.clone()).flatten();
        let (lookups, waiting) = channel();
        let (report, ended) = channel();
        let run = move || {
            // The receiver is gone when the end of the run did not wait this long.
            let _ = report.send(link.run(&waiting));
        };
        // Without a thread lookups are not answered, as with a journal that cannot be reached.
        let _ = thread::Builder::new().name("jurat-sharing".to_owned()).spawn(run);
        (Sharing { lookups, n_unanswered: AtomicU64::new(0), end_by, ended }, problem)
    }

    /// The newest answer to a request, unless it is from before a certain time.
    pub(crate) async fn find(&self, key: EffectKey, not_before_ms: Option<u64>) -> Option<JournalAnswer> {
        let (found, answer) = oneshot::channel();
        // Where there is no thread, the sender is dropped with what was to be sent.
        let _ = self.lookups.send(Lookup { key, found });
        let Ok(Ok(Ok(answer))) = tokio::time::timeout(LOOKUP, answer).await else {
            self.n_unanswered.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        answer.filter(|it| not_before_ms.is_none_or(|earliest| it.at_ms >= earliest))
    }

    /// Waits until everything is sent, for as long as the timeout allows.
    pub(crate) fn end(self) -> Ended {
        let _ = self.end_by.set(Instant::now() + LAST_SENT);
        drop(self.lookups);
        let ended = self.ended.recv_timeout(END).unwrap_or_else(|error| {
            let late = matches!(error, RecvTimeoutError::Timeout).then(too_late);
            Ended { problem: late.map(|it| it.to_string()), ..Ended::default() }
        });
        Ended { n_unanswered: self.n_unanswered.into_inner(), ..ended }
    }
}

fn too_late() -> SharedError {
    SharedError::Unreachable(format!("it took longer than {} s", LAST_SENT.as_secs()))
}

/// The connection, which belongs to the thread.
struct Link {
    connect: Connect,
    journal: PathBuf,
    state: State,
    /// What is not sent, as the connection that was lost last knew it.
    unsent: Option<Unsent>,
    /// What went wrong last.
    problem: Option<SharedError>,
    /// From when on answers are sent, and whether that failed last: a server that answers and takes nothing must not keep lookups waiting.
    sends_from: Instant,
    has_failed: bool,
    end_by: Arc<OnceLock<Instant>>,
}

enum State {
    Up(Up),
    Down {
        /// It is tried again from then on.
        until: Instant,
        /// Whether that is at once, because a connection that was up is gone: the server may be there.
        is_retry: bool,
    },
}

struct Up {
    shared: Box<dyn SharedJournal>,
    unsent: Unsent,
    /// Whether it takes answers: a user may be allowed to read only.
    takes: bool,
    /// Whether it was made because another was lost, and nothing has come of it yet.
    is_retry: bool,
}

impl Link {
    fn new(connect: Connect, journal: &Path, end_by: Arc<OnceLock<Instant>>) -> Link {
        let now = Instant::now();
        Link {
            connect,
            journal: journal.to_owned(),
            state: State::Down { until: now, is_retry: false },
            unsent: None,
            problem: None,
            sends_from: now,
            has_failed: false,
            end_by,
        }
    }

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
        let all = std::iter::once(first).chain(lookups.try_iter().take(MOST_KEYS - 1));
        // For a case that waits no more nothing is looked up.
        let all: Vec<Lookup> = all.filter(|it| !it.found.is_closed()).collect();
        let keys: Vec<EffectKey> = all.iter().map(|it| it.key).collect();
        let found = if keys.is_empty() { Some(Vec::new()) } else { self.find(&keys) };
        for Lookup { key, found: waiting } in all {
            let answer =
                |found: &Vec<(EffectKey, JournalAnswer)>| found.iter().find(|it| it.0 == key).map(|it| it.1.clone());
            let _ = waiting.send(found.as_ref().map(answer).ok_or(NoAnswer));
        }
    }

    /// The answers to requests; `None` when the journal does not answer. When a connection that was up does not, a new one is asked once.
    fn find(&mut self, keys: &[EffectKey]) -> Option<Vec<(EffectKey, JournalAnswer)>> {
        for _ in 0..2 {
            let up = self.ready()?;
            match up.shared.find(keys) {
                Ok(found) => {
                    up.is_retry = false;
                    return Some(found);
                }
                Err(error) => self.lose(error),
            }
        }
        None
    }

    /// Sends answers that were written; whether there may be more.
    fn send(&mut self) -> bool {
        let limit = self.limit();
        if Instant::now() < self.sends_from {
            return false;
        }
        let Some(up) = self.ready().filter(|it| it.takes) else { return false };
        match send(&up.unsent, up.shared.as_mut(), limit) {
            Ok(sent) => {
                up.is_retry &= sent.is_none_or(|(_, n)| n == 0);
                self.has_failed &= sent.is_none_or(|(_, n)| n == 0);
                sent.is_some()
            }
            Err(PushError::Shared(error @ SharedError::Refused(_))) => {
                up.takes = false;
                self.problem = Some(error);
                false
            }
            Err(PushError::Shared(error)) => {
                self.lose(error);
                self.sends_again()
            }
            // The run itself meets what is wrong with its journal.
            Err(PushError::Local(_)) => false,
        }
    }

    /// Whether answers that were not taken are sent again at once; else they are left alone for a while.
    fn sends_again(&mut self) -> bool {
        let has_failed = std::mem::replace(&mut self.has_failed, true);
        if has_failed {
            self.sends_from = Instant::now() + REST;
        }
        !has_failed
    }

    /// How long the next request to the server may take.
    fn limit(&self) -> Duration {
        let left = self.end_by.get().map(|it| it.saturating_duration_since(Instant::now()));
        left.map_or(LIMIT, |it| it.min(LIMIT))
    }

    /// The connection, made anew when it is time to.
    fn ready(&mut self) -> Option<&mut Up> {
        if let State::Down { until, is_retry } = self.state
            && until <= Instant::now()
        {
            match self.reach(is_retry) {
                Ok(up) => self.state = State::Up(up),
                Err(error) => self.lose(error),
            }
        }
        match &mut self.state {
            State::Up(up) => Some(up),
            State::Down { .. } => None,
        }
    }

    fn reach(&mut self, is_retry: bool) -> Result<Up, SharedError> {
        let limit = self.limit();
        let shared = (self.connect)(limit)?;
        let unsent = Journal::open(&self.journal).and_then(|it| Unsent::of(&it, shared.id()));
        let unsent = unsent.map_err(|it| SharedError::Unreachable(it.to_string()))?;
        Ok(Up { shared, unsent, takes: true, is_retry })
    }

    /// Notes that the server did not answer. A connection that was up may have been closed on the way, so a new one is made at once; after that the server is left alone for a while.
    fn lose(&mut self, error: SharedError) {
        let was_up = matches!(&self.state, State::Up(up) if !up.is_retry);
        let is_retry = was_up && matches!(error, SharedError::Unreachable(_));
        let until = if is_retry { Instant::now() } else { Instant::now() + REST };
        if let State::Up(up) = std::mem::replace(&mut self.state, State::Down { until, is_retry }) {
            self.unsent = Some(up.unsent);
        }
        self.problem = Some(error);
    }

    /// The run is over: sends what is left.
    fn end(mut self) -> Ended {
        let end = *self.end_by.get_or_init(|| Instant::now() + LAST_SENT);
        (self.sends_from, self.has_failed) = (Instant::now(), false);
        while self.send() {
            if Instant::now() >= end {
                self.problem = Some(too_late());
                break;
            }
        }
        let unsent = match &self.state {
            State::Up(up) => Some(&up.unsent),
            State::Down { .. } => self.unsent.as_ref(),
        };
        let n_unsent = unsent.and_then(|it| it.n().ok().flatten());
        Ended { n_unsent, n_unanswered: 0, problem: self.problem.map(|it| it.to_string()) }
    }
}

#[cfg(test)]
mod tests;
