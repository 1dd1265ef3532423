//! The server that leases: `jurat coordinate`.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use serde_json::{Value, json};

use super::file::{LedgerFile, LedgerFileError};
use super::http::{Asked, read_request, write_reply};
use super::ledger::{Input, LeaseReply, Limits, Settlement, ShardProgress};
use crate::budget::Amount;

/// How many requests are answered at a time. A process that is turned away asks again.
const MOST_AT_A_TIME: usize = 256;

/// How a coordinator is started.
#[derive(Debug, Clone)]
pub struct CoordinatorOptions {
    /// Where it listens.
    pub listen: SocketAddr,
    /// What all processes together may spend and do.
    pub limits: Limits,
    /// The file of its books.
    pub file: PathBuf,
    /// What requests must have.
    pub token: String,
    /// The hash of the plan whose shards are run. Processes with another one are refused. None: it leases to all that have the token.
    pub plan: String,
    pub n_shards: usize,
    /// The wall clock, in milliseconds since 1970.
    pub now_ms: fn() -> u64,
}

/// Why a coordinator cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum CoordinatorError {
    #[error("the coordinator cannot listen on {address}: {source}")]
    Listen { address: SocketAddr, source: io::Error },
    #[error(transparent)]
    Books(#[from] LedgerFileError),
    #[error("the coordinator cannot be started: {0}")]
    Thread(io::Error),
}

/// How far the shards of a plan are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// Shards that are done.
    pub n_done: usize,
    /// Shards of the plan.
    pub n_planned: usize,
    /// Processes that have a lease.
    pub n_workers: usize,
    /// What was spent; a lease that ran out counts in full.
    pub spent: Amount,
}

/// A coordinator that answers, until it is dropped.
#[derive(Debug)]
pub struct Coordinator {
    shared: Arc<Shared>,
    address: SocketAddr,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    options: CoordinatorOptions,
    books: Mutex<LedgerFile>,
    is_over: AtomicBool,
    n_open: AtomicUsize,
}

impl Coordinator {
    /// Opens the books, and begins to answer.
    pub fn start(options: CoordinatorOptions) -> Result<Coordinator, CoordinatorError> {
        let mut books = LedgerFile::open(&options.file)?;
        books.apply((options.now_ms)(), Input::Limits(options.limits))?;
        let unusable = |source| CoordinatorError::Listen { address: options.listen, source };
        let listener = TcpListener::bind(options.listen).map_err(unusable)?;
        let address = listener.local_addr().map_err(unusable)?;
        let (is_over, n_open) = (AtomicBool::new(false), AtomicUsize::new(0));
        let shared = Arc::new(Shared { options, books: Mutex::new(books), is_over, n_open });
        let serving = Arc::clone(&shared);
        let thread = thread::Builder::new().name("jurat-coordinator".to_owned());
        let thread = thread.spawn(move || serve(&listener, &serving)).map_err(CoordinatorError::Thread)?;
        Ok(Coordinator { shared, address, thread: Some(thread) })
    }

    /// Where it is reached.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Leases nothing more: processes finish what is in flight.
    pub fn stop(&self) -> Result<(), CoordinatorError> {
        Ok(self.shared.apply(Input::Stop).map(drop)?)
    }

    /// Everything, as `GET /state` says it.
    pub fn state(&self) -> Value {
        self.shared.state()
    }

    /// How far the shards are, and what was spent.
    pub fn standing(&self) -> Standing {
        // Leases that ran out are noticed with the next input.
        let books = self.shared.books();
        let ledger = books.ledger();
        Standing {
            n_done: ledger.n_shards(ShardProgress::Done),
            n_planned: self.shared.options.n_shards,
            n_workers: ledger.n_workers((self.shared.options.now_ms)()),
            spent: ledger.spent(),
        }
    }
}

impl Drop for Coordinator {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        // The thread waits for a connection.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.is_over.load(Ordering::Relaxed) {
            return;
        }
        let Ok(stream) = stream else { continue };
        if shared.n_open.fetch_add(1, Ordering::Relaxed) >= MOST_AT_A_TIME {
            shared.n_open.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let answering = Arc::clone(shared);
        // A process that is slow to ask must not keep others waiting.
        let spawned = thread::Builder::new().spawn(move || {
            answering.answer(&stream);
            answering.n_open.fetch_sub(1, Ordering::Relaxed);
        });
        if spawned.is_err() {
            shared.n_open.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// What a request gets: a status, the type of the body, and the body.
type Reply = (u16, &'static str, String);

const JSON: &str = "application/json";

impl Shared {
    fn answer(&self, stream: &TcpStream) {
        let Ok(asked) = read_request(stream) else { return };
        let (status, content_type, body) = match self.is_known(&asked.token) {
            true => self.reply(&asked),
            false => refused(401, "the token is missing or wrong"),
        };
        // A process that is gone asks again, or not.
        let _ = write_reply(stream, status, content_type, &body);
    }

    /// Hashes are compared, which takes the same time whatever differs.
    fn is_known(&self, token: &str) -> bool {
        blake3::hash(token.as_bytes()) == blake3::hash(self.options.token.as_bytes())
    }

    fn reply(&self, asked: &Asked) -> Reply {
        match (asked.method.as_str(), asked.path.as_str()) {
            ("GET", "/state") => (200, JSON, self.state().to_string()),
            ("GET", "/metrics") => (200, "text/plain; version=0.0.4", self.books().ledger().metrics()),
            ("POST", "/lease") => self.taken(&asked.body, Input::Lease),
            ("POST", "/settle") => self.taken::<Settlement>(&asked.body, Input::Settle),
            ("POST", "/shard") => self.taken(&asked.body, Input::Shard),
            ("POST", "/stop") => self.applied(Input::Stop),
            _ => refused(404, "there is `POST` to /lease, /settle, /shard and /stop, `GET` of /state and /metrics"),
        }
    }

    fn taken<T: serde::de::DeserializeOwned>(&self, body: &[u8], input: fn(T) -> Input) -> Reply {
        match serde_json::from_slice(body) {
            Ok(body) => self.applied(input(body)),
            Err(error) => refused(400, &error.to_string()),
        }
    }

    fn applied(&self, input: Input) -> Reply {
        match self.apply(input) {
            Ok(Some(reply)) => (200, JSON, serde_json::to_string(&reply).expect("texts and numbers are JSON")),
            Ok(None) => (200, JSON, json!({ "ok": true }).to_string()),
            // What is not written down must not be promised.
            Err(error) => refused(500, &error.to_string()),
        }
    }

    fn apply(&self, input: Input) -> Result<Option<LeaseReply>, LedgerFileError> {
        self.books().apply((self.options.now_ms)(), input)
    }

    fn state(&self) -> Value {
        let mut state = self.books().ledger().state();
        state["version"] = env!("CARGO_PKG_VERSION").into();
        state["plan"] = self.options.plan.as_str().into();
        state["shards"]["planned"] = self.options.n_shards.into();
        state
    }

    fn books(&self) -> MutexGuard<'_, LedgerFile> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn refused(status: u16, why: &str) -> Reply {
    (status, JSON, json!({ "error": why }).to_string())
}
