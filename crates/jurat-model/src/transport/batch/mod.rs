//! Batches: requests that may wait, gathered and sent together at half the price.
//!
//! [`Batches::ask`] is to a batch what [`Transport::ask`] is to a single request: it returns when there is an outcome. Requests of one model wait in a queue until
//! [`Batches::attend`] makes a batch of them: when as many wait as a batch may hold, when every case that is open waits for requests, so that no more can
//! come, or when none came for a while. What depends on a response is in the next batch.
//!
//! A batch belongs to the project, not to the process: its record is on disk before it is submitted ([`ledger`]). A request that is found there is not sent
//! again; its result is collected. Results belong to requests by the keys under which responses are stored, so it makes no difference to later runs how a
//! response came.
//!
//! [`protocol`] says how providers are spoken to, [`driver`] submits, polls and collects.

mod anthropic;
mod driver;
mod ledger;
mod openai;
mod protocol;

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use jurat_core::effect::{EffectKey, Fault, FaultClass, FaultKind, ModelRequest, Outcome};
use jurat_core::verdict::StopReason;
use tokio::time::Instant;

use self::ledger::{Ledger, Record};
pub(crate) use self::protocol::BatchApi;
use self::protocol::Item;
use super::meter::Reserved;
use super::{Bound, Failed, Failures, Meter, Settled, Transport, bounding_price, may_be_repeated, unless_closed};
use crate::codec::Reply;
use crate::model::{Kind, Model};
use crate::price::{Price, cost};

/// How requests are batched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchOptions {
    /// Where submitted batches are recorded.
    pub directory: PathBuf,
    /// The longest time between two looks at a batch. The first ones follow each other more closely.
    pub longest_poll: Duration,
    /// The most requests of a batch, where its provider does not take fewer.
    pub most_requests: usize,
    /// The most bytes of a batch, where its provider does not take fewer: they are in memory until it is submitted.
    pub most_bytes: usize,
}

impl BatchOptions {
    pub fn new(directory: impl AsRef<Path>) -> BatchOptions {
        BatchOptions {
            directory: directory.as_ref().to_owned(),
            longest_poll: Duration::from_secs(60),
            most_requests: 50_000,
            most_bytes: 64 << 20,
        }
    }
}

/// A request that may wait.
#[derive(Debug, Clone, Copy)]
pub struct Deferred<'r> {
    /// What its response is stored under.
    pub key: EffectKey,
    /// Batches that were made earlier are not used for it.
    pub not_before_ms: Option<u64>,
    pub request: &'r ModelRequest,
    pub max_requests: u32,
}

/// How far the batches of a run are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BatchProgress {
    /// Batches that were submitted and are not collected.
    pub n_batches: u64,
    /// The requests in them.
    pub n_requests: u64,
    /// Of them, those that the providers are done with.
    pub n_done: u64,
}

/// Requests that wait, and the batches that they are in.
#[derive(Debug)]
pub struct Batches {
    options: BatchOptions,
    ledger: Ledger,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    waiting: HashMap<EffectKey, Waiting>,
    /// How many of them have no result.
    n_waiting: usize,
    queues: BTreeMap<QueueName, Queue>,
    /// By their names in the project.
    batches: BTreeMap<String, Batch>,
    /// The newest batch that holds a request whose result was not taken yet.
    by_key: HashMap<EffectKey, String>,
    n_made: u64,
    /// Wakes what attends to them.
    attending: Option<Waker>,
}

/// A request that waits.
#[derive(Debug)]
struct Waiting {
    model: Arc<Model>,
    place: Place,
    result: Option<Got>,
    waker: Option<Waker>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The budget has no room for it yet.
    Outside,
    Queued,
    /// Its batch is being submitted: whether the provider has it is not known.
    Submitting,
    InBatch,
}

/// What became of a request.
#[derive(Debug)]
enum Got {
    Reply(Box<Reply>),
    Failed(Failed),
    /// It was not processed, through no fault of its own: it goes into another batch.
    Again,
}

/// What shares a batch: one endpoint and key, one model, one path.
type QueueName = ([u8; 32], String, String);

#[derive(Debug)]
struct Queue {
    model: Arc<Model>,
    api: BatchApi,
    items: VecDeque<(EffectKey, Vec<u8>)>,
    n_bytes: usize,
    /// When the last of them came.
    last_came: Instant,
    most_requests: usize,
    /// Whether the provider takes one batch at a time only.
    is_alone: bool,
}

#[derive(Debug)]
struct Batch {
    record: Record,
    /// Where it came from, when this process made it.
    queue: Option<QueueName>,
    /// One of the models that wait for it, with whose key the provider is asked.
    model: Option<Arc<Model>>,
    stage: Stage,
    n_done: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// No request waits for it yet.
    Known,
    Wanted,
    Running,
    Ended,
}

impl Batches {
    /// Opens the batches of a project; those of earlier runs among them.
    pub fn open(options: BatchOptions, now_ms: u64) -> io::Result<Batches> {
        let (ledger, records) = Ledger::open(&options.directory, now_ms)?;
        let mut state = State::default();
        for record in records {
            state.note(&record);
            let batch = Batch { queue: None, model: None, stage: Stage::Known, n_done: 0, record };
            state.batches.insert(batch.record.token.clone(), batch);
        }
        Ok(Batches { options, ledger, state: Mutex::new(state) })
    }

    /// Asks a model that has a batch interface. The outcome is there when the batch is collected; when the run is stopped, a batch that was submitted
    /// stays with its provider.
    pub async fn ask(
        &self,
        transport: &Transport,
        model: &Arc<Model>,
        asked: Deferred<'_>,
        meter: &dyn Meter,
    ) -> Outcome {
        let request = asked.request;
        let mut encoded = match encoded(model, request) {
            Ok(encoded) => Some(encoded),
            Err(message) => {
                let fault = Fault::new(FaultKind::Unsupported, message, 0);
                return Outcome::Fault(Box::new(Fault { role: Some(request.model.clone()), ..fault }));
            }
        };
        let n_bytes = encoded.as_ref().map_or(0, |it| it.body.len() as u64);
        let price = model.price.as_ref().map(Price::halved);
        let bound_price = bounding_price(price.as_ref(), request);
        let bound = Bound { input_tokens: n_bytes, output_tokens: model.max_tokens, price: bound_price };
        let mut failures = Failures { model, role: &request.model, class: FaultClass::Other, failed: Vec::new() };
        let ticket = Ticket::enter(self, asked.key, model);
        loop {
            let reserved = match unless_closed(meter, Reserved::new(meter, &bound)).await {
                Ok(reserved) => reserved,
                Err(reason) => return failures.stopped(reason),
            };
            // What was sent before is written again: it is not held while a batch is processed.
            let Some(body) = encoded.take().or_else(|| self::encoded(model, request).ok()) else {
                return failures.stopped(StopReason::Interrupted);
            };
            ticket.join(body, asked.not_before_ms);
            let got = tokio::select! {
                biased;
                got = ticket.got() => got,
                reason = meter.closed() => {
                    let was_sent = ticket.is_sent().await;
                    reserved.settle(if was_sent { Settled::Unknown } else { Settled::Nothing });
                    return failures.stopped(reason);
                }
            };
            match got {
                Got::Again => reserved.settle(Settled::Nothing),
                Got::Reply(reply) => {
                    let cost_usd = match price {
                        Some(price) => reply.usage.map(|usage| cost(&usage, &price)).or(reply.cost_usd),
                        None => reply.cost_usd,
                    };
                    reserved.settle(Settled::Answer { usage: reply.usage, cost_usd });
                    return transport.answer(*reply, cost_usd, Duration::ZERO, failures.failed);
                }
                Got::Failed(error) => {
                    reserved.settle(if error.may_cost { Settled::Unknown } else { Settled::Nothing });
                    let is_last = error.is_final || !may_be_repeated(error.kind);
                    meter.failed(failures.push(error, Duration::ZERO));
                    if is_last || failures.n_requests() >= asked.max_requests {
                        return failures.fault("");
                    }
                }
            }
        }
    }

    /// How many requests have to wait for a batch to be as large as it can be.
    pub fn most_requests(&self) -> usize {
        self.options.most_requests
    }

    /// Forgets the batches whose results were all taken. To be called when what followed from them is on disk.
    pub fn forget_collected(&self) {
        let mut state = self.lock();
        let state = &mut *state;
        let held: HashSet<&String> = state.by_key.values().collect();
        let over: Vec<String> = state.batches.keys().filter(|it| !held.contains(it)).cloned().collect();
        for token in over {
            self.ledger.remove(&token);
            state.batches.remove(&token);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Notes which requests a batch holds.
    fn note(&mut self, record: &Record) {
        for key in record.keys.iter().filter_map(|it| EffectKey::parse(it)) {
            self.by_key.insert(key, record.token.clone());
        }
    }

    /// Hands a result to the request that waits for it in this batch.
    fn give(&mut self, token: &str, key: EffectKey, got: Got) {
        if !self.expects(token, key) {
            return;
        }
        self.by_key.remove(&key);
        self.put(key, got);
    }

    /// Whether a request waits for what this batch has for it.
    fn expects(&self, token: &str, key: EffectKey) -> bool {
        let is_there = |it: &Waiting| it.result.is_none() && matches!(it.place, Place::InBatch | Place::Submitting);
        self.by_key.get(&key).is_some_and(|it| it == token) && self.waiting.get(&key).is_some_and(is_there)
    }

    fn put(&mut self, key: EffectKey, got: Got) {
        if let Some(waiting) = self.waiting.get_mut(&key) {
            waiting.result = Some(got);
            self.n_waiting -= 1;
            waiting.waker.take().inspect(Waker::wake_by_ref);
        }
    }

    fn progress(&self) -> BatchProgress {
        let mut progress = BatchProgress::default();
        for batch in self.batches.values().filter(|it| it.stage == Stage::Running && it.record.id.is_some()) {
            progress.n_batches += 1;
            progress.n_requests += batch.record.keys.len() as u64;
            progress.n_done += batch.n_done;
        }
        progress
    }
}

/// A request as its provider wants it.
struct Encoded {
    path: String,
    body: Vec<u8>,
}

fn encoded(model: &Model, request: &ModelRequest) -> Result<Encoded, String> {
    let Kind::Http(http) = &model.kind else { return Err("it is not asked over the network".to_owned()) };
    let wire = http.codec.encode(&model.endpoint, request, false).map_err(|it| it.to_string())?;
    Ok(Encoded { path: wire.path, body: wire.body })
}

/// The place of a request among those that wait. When it is dropped, the request does not wait any more.
struct Ticket<'b> {
    batches: &'b Batches,
    model: &'b Arc<Model>,
    key: EffectKey,
}

impl<'b> Ticket<'b> {
    /// From here on the request waits, be it for room in the budget: no case that waits may keep a batch from being submitted.
    fn enter(batches: &'b Batches, key: EffectKey, model: &'b Arc<Model>) -> Ticket<'b> {
        let mut state = batches.lock();
        let waiting = Waiting { model: Arc::clone(model), place: Place::Outside, result: None, waker: None };
        if state.waiting.insert(key, waiting).is_none_or(|it| it.result.is_some()) {
            state.n_waiting += 1;
        }
        drop(state);
        Ticket { batches, model, key }
    }

    /// Waits for the batch that holds the request, or for the next that is made.
    fn join(&self, encoded: Encoded, not_before_ms: Option<u64>) {
        let mut state = self.batches.lock();
        let state = &mut *state;
        let (Some(waiting), Some(api)) = (state.waiting.get_mut(&self.key), self.model.batch) else { return };
        let batch = state.by_key.get(&self.key).and_then(|it| state.batches.get_mut(it));
        let is_good = |it: &&mut Batch| not_before_ms.is_none_or(|oldest| it.record.created_at_ms >= oldest);
        if let Some(batch) = batch.filter(is_good) {
            waiting.place = Place::InBatch;
            batch.model.get_or_insert_with(|| Arc::clone(self.model));
            if batch.stage != Stage::Running {
                batch.stage = Stage::Wanted;
                state.attending.take().inspect(Waker::wake_by_ref);
            }
            return;
        }
        waiting.place = Place::Queued;
        let name = (self.model.lane, self.model.endpoint.model.clone(), encoded.path);
        let most_requests = api.protocol().most_requests.min(self.batches.options.most_requests).max(1);
        let queue = state.queues.entry(name).or_insert_with(|| Queue {
            model: Arc::clone(self.model),
            api,
            items: VecDeque::new(),
            n_bytes: 0,
            last_came: Instant::now(),
            most_requests,
            is_alone: false,
        });
        queue.n_bytes += encoded.body.len();
        queue.last_came = Instant::now();
        queue.items.push_back((self.key, encoded.body));
        state.attending.take().inspect(Waker::wake_by_ref);
    }

    /// Waits for the result.
    async fn got(&self) -> Got {
        std::future::poll_fn(|context| {
            let mut state = self.batches.lock();
            let Some(waiting) = state.waiting.get_mut(&self.key) else { return Poll::Pending };
            waiting.waker = Some(context.waker().clone());
            let Some(got) = waiting.result.take() else { return Poll::Pending };
            waiting.place = Place::Outside;
            state.n_waiting += 1;
            Poll::Ready(got)
        })
        .await
    }

    /// Whether the request is with its provider. While it is being sent, that is waited for: its batch could not be found again otherwise.
    async fn is_sent(&self) -> bool {
        std::future::poll_fn(|context| {
            let mut state = self.batches.lock();
            let Some(waiting) = state.waiting.get_mut(&self.key) else { return Poll::Ready(false) };
            waiting.waker = Some(context.waker().clone());
            match waiting.place {
                Place::Submitting if waiting.result.is_none() => Poll::Pending,
                place => Poll::Ready(place == Place::InBatch),
            }
        })
        .await
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        let mut state = self.batches.lock();
        if state.waiting.remove(&self.key).is_some_and(|it| it.result.is_none()) {
            state.n_waiting -= 1;
        }
    }
}

/// Adds requests to those of a batch, as many as fit, and returns their keys.
fn gathered(state: &mut State, name: &QueueName, most_bytes: usize) -> (Vec<EffectKey>, Vec<u8>) {
    let State { queues, waiting, .. } = state;
    let (mut keys, mut requests) = (Vec::new(), Vec::new());
    let Some(queue) = queues.get_mut(name) else { return (keys, requests) };
    let protocol = queue.api.protocol();
    let most_bytes = most_bytes.min(protocol.most_bytes);
    while keys.len() < queue.most_requests {
        // The rest of a line is shorter than this.
        let fits =
            |(_, body): &mut (EffectKey, Vec<u8>)| keys.is_empty() || requests.len() + body.len() + LINE <= most_bytes;
        let Some((key, body)) = queue.items.pop_front_if(fits) else { break };
        queue.n_bytes -= body.len();
        // The case that asked may be over, or have asked again.
        let Some(waiting) = waiting.get_mut(&key).filter(|it| it.place == Place::Queued) else { continue };
        waiting.place = Place::Submitting;
        (protocol.add)(&mut requests, &Item { key: &key.to_string(), path: &name.2, body: &body });
        keys.push(key);
    }
    (keys, requests)
}

/// The most bytes that a line of a batch has beside the request.
const LINE: usize = 256;
