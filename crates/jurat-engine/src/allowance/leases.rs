//! The leases of one process: asked for ahead of its requests, renewed while it runs, settled at its end.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use jurat_core::verdict::StopReason;
use serde_json::Value;

use super::http::ask;
use super::ledger::{LeaseReply, LeaseRequest, LeaseState, Limits, Settlement, ShardReport};
use crate::budget::{Budget, BudgetLimits, LeaseUse, PERIOD};

/// How long a coordinator may not be reached.
const MOST_SILENCE: Duration = Duration::from_secs(60);

/// How long before a coordinator that was not reached is asked again.
const AGAIN: Duration = Duration::from_millis(250);

/// Why nothing can be leased.
#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    #[error("`{url}` is not the address of a coordinator; write `http://HOST:PORT`")]
    Address { url: String },
    #[error("the coordinator at {address} cannot be reached: {why}")]
    Unreachable { address: String, why: String },
    #[error("the coordinator at {address} refuses this process: {why}")]
    Refused { address: String, why: String },
    #[error("the coordinator at {address} has jurat {theirs}, and this process {own}; use the same version everywhere")]
    Version { address: String, theirs: String, own: &'static str },
    #[error("the coordinator at {address} is for another plan of shards")]
    Plan { address: String },
}

/// The leases of one process.
#[derive(Debug)]
pub struct Leases {
    connection: Connection,
    shard: u32,
    limits: Limits,
    running: Mutex<Option<Running>>,
    /// Why nothing can be leased any more.
    lost: Mutex<Option<Arc<LeaseError>>>,
}

#[derive(Debug, Clone)]
struct Connection {
    address: String,
    token: String,
    worker: String,
}

#[derive(Debug)]
struct Running {
    budget: Arc<Budget>,
    thread: JoinHandle<Option<LeaseError>>,
}

impl Leases {
    /// Reaches a coordinator. One of another version or another plan is refused; one that is for no plan leases to every process that has its token.
    pub fn connect(url: &str, token: &str, worker: String, plan: &str, shard: u32) -> Result<Leases, LeaseError> {
        let address = url.strip_prefix("http://").map(|it| it.trim_end_matches('/').to_owned());
        let address =
            address.filter(|it| it.contains(':')).ok_or_else(|| LeaseError::Address { url: url.to_owned() })?;
        let connection = Connection { address: address.clone(), token: token.to_owned(), worker };
        let state = connection.ask("GET", "/state", "")?;
        let own = env!("CARGO_PKG_VERSION");
        let theirs = state["version"].as_str().unwrap_or_default().to_owned();
        if theirs != own {
            return Err(LeaseError::Version { address, theirs, own });
        }
        if state["plan"].as_str().is_none_or(|it| !it.is_empty() && it != plan) {
            return Err(LeaseError::Plan { address });
        }
        let limits = serde_json::from_value(state["limits"].clone()).unwrap_or_default();
        Ok(Leases { connection, shard, limits, running: Mutex::default(), lost: Mutex::default() })
    }

    /// The budget of the whole: models need prices and bounds for what it limits.
    pub(crate) fn budget_limits(&self) -> BudgetLimits {
        let Limits { nano_usd, tokens, calls, .. } = self.limits;
        BudgetLimits { usd: nano_usd.map(|it| it as f64 / 1e9), tokens, calls }
    }

    /// Settles what was leased. What is not settled counts as spent once it runs out.
    fn settle(&self) -> Option<LeaseError> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        running.budget.end();
        running.thread.join().ok().flatten()
    }

    /// Begins to lease. Requests ask the budget.
    pub(crate) fn start(&self) -> io::Result<Arc<Budget>> {
        let budget = Arc::new(Budget::leased());
        let (connection, shard, leased) = (self.connection.clone(), self.shard, Arc::clone(&budget));
        let thread = thread::Builder::new().name("jurat-leases".to_owned());
        let thread = thread.spawn(move || Renewing { connection, shard, budget: leased, seq: 0, held: None }.run())?;
        let running = Running { budget: Arc::clone(&budget), thread };
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = Some(running);
        Ok(budget)
    }

    /// Gives back what is not used, because nothing is asked for a while. Fails when nothing can be leased any more, this time and every later one.
    pub(crate) fn rest(&self) -> Result<(), Arc<LeaseError>> {
        let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ended) = running.take_if(|it| it.thread.is_finished())
            && let Ok(Some(error)) = ended.thread.join()
        {
            *lost = Some(Arc::new(error));
        }
        if let Some(running) = &*running {
            running.budget.rest();
        }
        lost.clone().map_or(Ok(()), Err)
    }

    /// Settles what was leased, and reports how the shard ended. Returns why nothing could be leased any more, if that was so.
    pub fn finish(&self, report: &ShardReport) -> Result<(), LeaseError> {
        match self.settle() {
            Some(error) => Err(error),
            None => self.report(report),
        }
    }

    /// Reports how the shard gets on.
    pub fn report(&self, report: &ShardReport) -> Result<(), LeaseError> {
        self.connection.ask("POST", "/shard", &json(report)).map(drop)
    }

    /// What the coordinator knows this process by.
    pub fn worker(&self) -> &str {
        &self.connection.worker
    }
}

impl Drop for Leases {
    fn drop(&mut self) {
        // Where it cannot be settled, the coordinator counts it as spent.
        let _ = self.settle();
    }
}

impl Connection {
    fn ask(&self, method: &str, path: &str, body: &str) -> Result<Value, LeaseError> {
        let address = &self.address;
        let unreachable = |why: String| LeaseError::Unreachable { address: address.clone(), why };
        let (status, body) = ask(address, &self.token, method, path, body).map_err(|it| unreachable(it.to_string()))?;
        let value: Value = serde_json::from_slice(&body).map_err(|it| unreachable(it.to_string()))?;
        match status {
            200 => Ok(value),
            // Its disk may be full; that may pass.
            500.. => Err(unreachable(value["error"].to_string())),
            _ => {
                let why = value["error"].as_str().unwrap_or("no reason is given").to_owned();
                Err(LeaseError::Refused { address: address.clone(), why })
            }
        }
    }
}

/// The thread that renews.
struct Renewing {
    connection: Connection,
    shard: u32,
    budget: Arc<Budget>,
    seq: u64,
    /// The lease that it has.
    held: Option<u64>,
}

impl Renewing {
    fn run(mut self) -> Option<LeaseError> {
        let mut pause = Duration::ZERO;
        while self.budget.wait_until_wanted(pause, PERIOD) {
            match self.renewed() {
                Ok(wait) => pause = wait,
                Err(error) => {
                    self.budget.close(StopReason::EndpointFault);
                    return Some(error);
                }
            }
        }
        self.settled().err()
    }

    /// Exchanges the lease for a new one. Meanwhile no new request begins, so that what is reported stays true until there is a reply, however late.
    fn renewed(&mut self) -> Result<Duration, LeaseError> {
        let used = self.budget.freeze();
        self.seq += 1;
        let request = LeaseRequest {
            worker: self.connection.worker.clone(),
            shard: self.shard,
            seq: self.seq,
            previous: self.held.map(|lease| self.settlement(lease, &used)),
            reserved: used.reserved,
            least: used.least,
            wanted: used.wanted,
        };
        let reply = self.asked("/lease", &json(&request))?;
        let reply: LeaseReply = serde_json::from_value(reply).map_err(|it| LeaseError::Refused {
            address: self.connection.address.clone(),
            why: format!("its reply is not one to a lease: {it}"),
        })?;
        self.held = Some(reply.grant.lease);
        self.budget.renew(&reply.grant);
        match reply.state {
            LeaseState::Granted | LeaseState::Wait => {}
            LeaseState::Exhausted => self.budget.close(StopReason::Budget),
            LeaseState::Stopped => self.budget.close(StopReason::Interrupted),
        }
        Ok(Duration::from_millis(reply.wait_ms))
    }

    fn settled(&mut self) -> Result<(), LeaseError> {
        let Some(lease) = self.held.take() else { return Ok(()) };
        let used = self.budget.freeze();
        self.asked("/settle", &json(&self.settlement(lease, &used))).map(drop)
    }

    fn settlement(&self, lease: u64, used: &LeaseUse) -> Settlement {
        let LeaseUse { spent, throttled, failed, .. } = *used;
        Settlement { worker: self.connection.worker.clone(), lease, spent, throttled, failed }
    }

    /// Asks until there is a reply, or for too long.
    fn asked(&self, path: &str, body: &str) -> Result<Value, LeaseError> {
        let began = Instant::now();
        loop {
            match self.connection.ask("POST", path, body) {
                Err(LeaseError::Unreachable { .. }) if began.elapsed() < MOST_SILENCE => thread::sleep(AGAIN),
                asked => return asked,
            }
        }
    }
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("texts and numbers are JSON")
}
