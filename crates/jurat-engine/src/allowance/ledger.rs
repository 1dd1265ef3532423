//! The books of a coordinator: who leased what, what was spent, how many requests may be in flight where.
//!
//! Pure: the time is an argument, and equal inputs lead to equal books. A coordinator that is started again has its books from the inputs that it wrote down.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use crate::budget::{Amount, Grant};

/// How long a lease is valid. A process renews it much sooner.
pub(super) const VALID_MS: u64 = 10_000;

/// Limits a minute are kept over any minute, although a lease is used at any time while it is valid.
const WINDOW_MS: u64 = 60_000 + VALID_MS;

/// How long a process waits before it asks again for what may be returned by others.
const WAIT_MS: u64 = 200;

/// How often the number of requests in flight is lowered or raised at most.
const ADAPT_MS: u64 = 2_000;

/// What all processes together may spend and do; `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    pub nano_usd: Option<u64>,
    pub tokens: Option<u64>,
    pub calls: Option<u64>,
    /// Requests in flight.
    pub concurrency: Option<u32>,
    /// Requests a minute.
    pub rpm: Option<u64>,
    /// Tokens a minute.
    pub tpm: Option<u64>,
}

impl Limits {
    fn budget(&self) -> Amount {
        Amount {
            nano_usd: self.nano_usd.unwrap_or(u64::MAX),
            tokens: self.tokens.unwrap_or(u64::MAX),
            calls: self.calls.unwrap_or(u64::MAX),
        }
    }
}

/// Something that changes the books.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    Limits(Limits),
    Lease(LeaseRequest),
    Settle(Settlement),
    Shard(ShardReport),
    Stop,
}

/// A process asks for a lease, in exchange for the one that it has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeaseRequest {
    pub worker: String,
    pub shard: u32,
    /// Counts the requests of the process. One that is repeated, because its reply was lost, gets the same reply.
    pub seq: u64,
    /// What became of the lease that it had.
    #[serde(default)]
    pub previous: Option<Settlement>,
    /// What requests in flight may take at most. It was leased before, and is leased again whatever happens.
    #[serde(default)]
    pub reserved: Amount,
    /// What the next request needs.
    #[serde(default)]
    pub least: Amount,
    /// What it would like to have, to ask less often.
    #[serde(default)]
    pub wanted: Amount,
}

/// What became of a lease.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settlement {
    pub worker: String,
    pub lease: u64,
    pub spent: Amount,
    /// How many requests were refused because there were too many.
    #[serde(default)]
    pub throttled: u64,
    /// How many requests failed otherwise.
    #[serde(default)]
    pub failed: u64,
}

/// How a shard gets on. Saying the same twice changes nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShardReport {
    pub worker: String,
    pub shard: u32,
    pub state: ShardProgress,
    #[serde(default)]
    pub cases: CaseNumbers,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShardProgress {
    Begun,
    Done,
    Failed,
}

/// How the cases of a shard ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CaseNumbers {
    pub passed: u64,
    pub failed: u64,
    pub error: u64,
    pub not_run: u64,
    /// Those that were measured or skipped.
    pub other: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeaseReply {
    pub state: LeaseState,
    pub grant: Grant,
    /// When to ask again, where there was not enough.
    #[serde(default)]
    pub wait_ms: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeaseState {
    /// There is enough for the next request.
    Granted,
    /// There may be enough later.
    Wait,
    /// The budget is used up.
    Exhausted,
    /// Nothing new is to be asked.
    Stopped,
}

/// The books.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Ledger {
    limits: Limits,
    spent: Amount,
    leases: BTreeMap<u64, Lease>,
    /// Leases that ran out. Each counts as spent in full until its process says otherwise.
    expired: BTreeMap<u64, Amount>,
    last_lease: u64,
    workers: BTreeMap<String, Worker>,
    /// What was granted in the last minute, by lease.
    window: VecDeque<Granted>,
    /// How many requests may be in flight now: fewer than the limit while the endpoint refuses some.
    ceiling: Option<u32>,
    adapted_at_ms: u64,
    shards: BTreeMap<u32, ShardReport>,
    is_stopped: bool,
    throttled: u64,
    failed: u64,
    waited_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Lease {
    amount: Amount,
    until_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Worker {
    shard: u32,
    /// How many requests it may have in flight; none once its lease ran out.
    concurrency: u32,
    /// How many it has in flight at most: more than it may have, after that was lowered.
    in_flight: u32,
    until_ms: u64,
    is_live: bool,
    seq: u64,
    reply: LeaseReply,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Granted {
    lease: u64,
    at_ms: u64,
    calls: u64,
    tokens: u64,
}

/// Figures of one name, by their labels.
type Samples = Vec<(&'static str, f64)>;

impl Ledger {
    /// Takes in an input. A lease has a reply.
    pub fn apply(&mut self, at_ms: u64, input: &Input) -> Option<LeaseReply> {
        self.expire(at_ms);
        match input {
            Input::Limits(limits) => {
                (self.limits, self.ceiling) = (*limits, limits.concurrency);
                self.is_stopped = false;
            }
            Input::Lease(request) => return Some(self.lease(at_ms, request)),
            Input::Settle(settlement) => {
                self.settle(at_ms, settlement, Amount::default());
                self.workers.remove(&settlement.worker);
            }
            Input::Shard(report) => {
                // A second attempt at a shard that is done changes nothing.
                let is_done = |it: &ShardReport| it.state == ShardProgress::Done;
                if !self.shards.get(&report.shard).is_some_and(is_done) {
                    self.shards.insert(report.shard, report.clone());
                }
            }
            Input::Stop => self.is_stopped = true,
        }
        None
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What was spent, as far as is known: leases that ran out count in full.
    pub fn spent(&self) -> Amount {
        self.spent
    }

    /// What is leased and not settled.
    pub fn leased(&self) -> Amount {
        self.leases.values().fold(Amount::default(), |sum, it| sum.plus(it.amount))
    }

    /// How many requests the processes may have in flight in all.
    pub fn concurrency_granted(&self) -> u64 {
        self.workers.values().map(|it| u64::from(it.concurrency)).sum()
    }

    /// How many shards are in a state.
    pub fn n_shards(&self, state: ShardProgress) -> usize {
        self.shards.values().filter(|it| it.state == state).count()
    }

    /// How many processes have a lease.
    pub fn n_workers(&self, at_ms: u64) -> usize {
        self.workers.values().filter(|it| it.is_live && it.until_ms > at_ms).count()
    }

    fn lease(&mut self, at_ms: u64, request: &LeaseRequest) -> LeaseReply {
        if self.workers.get(&request.worker).is_some_and(|it| it.seq == request.seq) {
            return self.repeated(at_ms, &request.worker);
        }
        if let Some(previous) = &request.previous {
            self.settle(at_ms, previous, request.reserved);
        }
        let concurrency = self.concurrency(&request.worker);
        let (state, amount) = self.granted(request, concurrency);
        self.last_lease += 1;
        let grant = Grant { lease: self.last_lease, amount, valid_ms: VALID_MS, concurrency };
        let wait_ms = if state == LeaseState::Wait { WAIT_MS } else { 0 };
        self.waited_ms += wait_ms;
        let reply = LeaseReply { state, grant, wait_ms };
        let until_ms = at_ms + VALID_MS;
        self.leases.insert(grant.lease, Lease { amount, until_ms });
        let new = amount.minus(request.reserved);
        self.window.push_back(Granted { lease: grant.lease, at_ms, calls: new.calls, tokens: new.tokens });
        let running = u32::try_from(request.reserved.calls).unwrap_or(u32::MAX);
        let LeaseRequest { worker, shard, seq, .. } = request.clone();
        let known = Worker {
            shard,
            concurrency: concurrency.unwrap_or(0),
            in_flight: concurrency.map_or(0, |it| it.max(running)),
            until_ms,
            is_live: true,
            seq,
            reply: reply.clone(),
        };
        self.workers.insert(worker, known);
        reply
    }

    /// The last reply again: it did not arrive. A lease that ran out meanwhile was not used, and is valid again.
    fn repeated(&mut self, at_ms: u64, name: &str) -> LeaseReply {
        let room = self.concurrency(name);
        let Some(worker) = self.workers.get_mut(name) else { unreachable!("it was found") };
        if !worker.is_live {
            let Grant { lease, amount, concurrency, .. } = &mut worker.reply.grant;
            let until_ms = at_ms + VALID_MS;
            if let Some(amount) = self.expired.remove(lease) {
                self.spent = self.spent.minus(amount);
                self.leases.insert(*lease, Lease { amount, until_ms });
            }
            let new = Granted { lease: *lease, at_ms, calls: amount.calls, tokens: amount.tokens };
            self.window.push_back(new);
            *concurrency = (*concurrency).min(room);
            (worker.is_live, worker.until_ms, worker.concurrency) = (true, until_ms, concurrency.unwrap_or(0));
            worker.in_flight = worker.concurrency;
        }
        worker.reply.clone()
    }

    /// How much is leased: what is wanted, or as much of it as there is, when that is enough for one request. What is in flight is always leased again.
    fn granted(&self, request: &LeaseRequest, concurrency: Option<u32>) -> (LeaseState, Amount) {
        let LeaseRequest { reserved, least, wanted, .. } = request;
        if self.is_stopped {
            return (LeaseState::Stopped, *reserved);
        }
        let unspent = self.limits.budget().minus(self.spent);
        // What is in flight, here and elsewhere, may turn out to cost less than was set aside for it.
        if !least.is_within(unspent) {
            return (LeaseState::Exhausted, *reserved);
        }
        let (free, rate) = (unspent.minus(self.leased()).minus(*reserved), self.rate_left());
        if concurrency == Some(0) || !least.is_within(free) || !least.is_within(rate) {
            return (LeaseState::Wait, *reserved);
        }
        let more = wanted.at_least(*least).at_most(free).at_most(rate);
        (LeaseState::Granted, reserved.plus(more))
    }

    /// What may still be asked in the present minute.
    fn rate_left(&self) -> Amount {
        let (calls, tokens) = self.window.iter().fold((0, 0), |sum, it| (sum.0 + it.calls, sum.1 + it.tokens));
        let left = |limit: Option<u64>, used: u64| limit.map_or(u64::MAX, |it| it.saturating_sub(used));
        Amount { nano_usd: u64::MAX, calls: left(self.limits.rpm, calls), tokens: left(self.limits.tpm, tokens) }
    }

    /// How many requests a process may have in flight: an equal part, as far as others leave it room.
    fn concurrency(&self, worker: &str) -> Option<u32> {
        let ceiling = self.ceiling?;
        let others = self.workers.iter().filter(|it| it.0 != worker && it.1.is_live).map(|it| it.1.in_flight);
        let (n, taken) = others.fold((1, 0_u32), |(n, sum), it| (n + 1, sum.saturating_add(it)));
        Some((ceiling / n).max(1).min(ceiling.saturating_sub(taken)))
    }

    /// Counts what a lease took. One that was settled before changes nothing.
    fn settle(&mut self, at_ms: u64, settlement: &Settlement, still_reserved: Amount) {
        let Settlement { lease, spent, throttled, failed, .. } = settlement;
        let leased = match (self.leases.remove(lease), self.expired.remove(lease)) {
            (Some(lease), _) => lease.amount,
            (None, Some(amount)) => {
                self.spent = self.spent.minus(amount);
                amount
            }
            (None, None) => return,
        };
        self.spent = self.spent.plus(*spent);
        let unused = leased.minus(*spent).minus(still_reserved);
        if let Some(granted) = self.window.iter_mut().find(|it| it.lease == *lease) {
            granted.calls = granted.calls.saturating_sub(unused.calls);
            granted.tokens = granted.tokens.saturating_sub(unused.tokens);
        }
        self.throttled += throttled;
        self.failed += failed;
        self.adapt(at_ms, *throttled, spent.calls);
    }

    /// Fewer requests in flight while the endpoint refuses some, more again when it does not.
    fn adapt(&mut self, at_ms: u64, n_throttled: u64, n_calls: u64) {
        let (Some(ceiling), Some(most)) = (self.ceiling, self.limits.concurrency) else { return };
        if at_ms < self.adapted_at_ms + ADAPT_MS || (n_throttled == 0 && (n_calls == 0 || ceiling == most)) {
            return;
        }
        self.adapted_at_ms = at_ms;
        let raised = ceiling.saturating_add((most / 16).max(1)).min(most);
        self.ceiling = Some(if n_throttled > 0 { (ceiling - ceiling / 4).max(1) } else { raised });
    }

    /// Leases that ran out were spent in full, as far as is known, and their processes are gone.
    fn expire(&mut self, at_ms: u64) {
        let is_over = |it: &Lease| it.until_ms <= at_ms;
        for (lease, Lease { amount, .. }) in self.leases.extract_if(.., |_, it| is_over(it)) {
            self.spent = self.spent.plus(amount);
            self.expired.insert(lease, amount);
        }
        for worker in self.workers.values_mut().filter(|it| it.until_ms <= at_ms) {
            (worker.is_live, worker.concurrency, worker.in_flight) = (false, 0, 0);
        }
        while self.window.front().is_some_and(|it| it.at_ms + WINDOW_MS <= at_ms) {
            self.window.pop_front();
        }
    }

    /// Everything, for people and programs.
    pub fn state(&self) -> serde_json::Value {
        let count = |state: ShardProgress| self.n_shards(state);
        let cases = self.cases();
        serde_json::json!({
            "limits": self.limits,
            "spent": self.spent,
            "leased": self.leased(),
            "expired_leases": self.expired.len(),
            "concurrency": self.ceiling,
            "concurrency_granted": self.concurrency_granted(),
            "workers": self.workers.iter().filter(|it| it.1.is_live).map(|(name, it)| (name, it.shard)).collect::<BTreeMap<_, _>>(),
            "shards": {
                "begun": count(ShardProgress::Begun), "done": count(ShardProgress::Done),
                "failed": count(ShardProgress::Failed),
            },
            "cases": cases,
            "throttled": self.throttled,
            "failed_requests": self.failed,
            "lease_wait_ms": self.waited_ms,
            "is_stopped": self.is_stopped,
        })
    }

    /// The same for Prometheus.
    pub fn metrics(&self) -> String {
        let dollars = |amount: Amount| amount.nano_usd as f64 / 1e9;
        let CaseNumbers { passed, failed, error, not_run, other } = self.cases();
        let shards = |state: ShardProgress| self.n_shards(state) as f64;
        let answered = self.spent.calls.saturating_sub(self.throttled + self.failed);
        let families: [(&str, &str, Samples); 8] = [
            (
                "jurat_cases_total",
                "counter",
                vec![
                    ("{verdict=\"passed\"}", passed as f64),
                    ("{verdict=\"failed\"}", failed as f64),
                    ("{verdict=\"error\"}", error as f64),
                    ("{verdict=\"not_run\"}", not_run as f64),
                    ("{verdict=\"other\"}", other as f64),
                ],
            ),
            (
                "jurat_requests_total",
                "counter",
                vec![
                    ("{outcome=\"answered\"}", answered as f64),
                    ("{outcome=\"throttled\"}", self.throttled as f64),
                    ("{outcome=\"failed\"}", self.failed as f64),
                ],
            ),
            ("jurat_spent_usd", "gauge", vec![("", dollars(self.spent))]),
            ("jurat_leased_usd", "gauge", vec![("", dollars(self.leased()))]),
            ("jurat_spent_tokens", "gauge", vec![("", self.spent.tokens as f64)]),
            (
                "jurat_shards",
                "gauge",
                vec![
                    ("{state=\"begun\"}", shards(ShardProgress::Begun)),
                    ("{state=\"done\"}", shards(ShardProgress::Done)),
                    ("{state=\"failed\"}", shards(ShardProgress::Failed)),
                ],
            ),
            ("jurat_workers", "gauge", vec![("", self.workers.values().filter(|it| it.is_live).count() as f64)]),
            ("jurat_lease_wait_seconds", "counter", vec![("", self.waited_ms as f64 / 1e3)]),
        ];
        let mut text = String::new();
        for (name, kind, samples) in families {
            text.push_str(&format!("# TYPE {name} {kind}\n"));
            samples.iter().for_each(|(labels, value)| text.push_str(&format!("{name}{labels} {value}\n")));
        }
        text
    }

    fn cases(&self) -> CaseNumbers {
        let add = |sum: CaseNumbers, it: &ShardReport| CaseNumbers {
            passed: sum.passed + it.cases.passed,
            failed: sum.failed + it.cases.failed,
            error: sum.error + it.cases.error,
            not_run: sum.not_run + it.cases.not_run,
            other: sum.other + it.cases.other,
        };
        self.shards.values().fold(CaseNumbers::default(), add)
    }
}

#[cfg(test)]
mod tests;
