//! Asking models: one way through for all of them.
//!
//! [`Transport::ask`] makes one effect: it asks until there is an answer, or until asking again is useless or not allowed, and writes down
//! every request that failed. Requests wait in [`lane`]s, one for each endpoint and key; budgets are asked through a [`Meter`]
//! before each request. The future may be dropped at any point and gives back what it holds.
//!
//! What a reply says is not looked at here: any complete reply is an answer, also a refusal and text that is not the JSON that a judge
//! hoped for.

mod backoff;
mod batch;
pub(crate) mod connection;
pub(crate) mod http;
mod lane;
mod meter;
pub(crate) mod secret;
mod session;
mod window;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use ::http::Method;
use bytes::Bytes;
use jurat_core::effect::{Answer, Attempt, Fault, FaultClass, FaultKind, ModelRequest, Outcome, Role};
use jurat_core::verdict::StopReason;
use tokio::time::Instant;

use self::connection::{Dialer, Wire, seconds};
use self::lane::{Ending, Lane};
use self::meter::Reserved;
use self::session::{Session, Sessions};
use crate::child::Supervisor;
use crate::codec::{Reply, Sending, WireRequest};
use crate::model::{Kind, Model};
use crate::price::{Price, cost};

pub use backoff::Backoff;
pub(crate) use batch::BatchApi;
pub use batch::{BatchOptions, BatchProgress, Batches, Deferred};
pub(crate) use connection::Target;
pub use connection::{Proxies, trusted_tls};
pub use meter::{Bound, Meter, Reservation, Settled, Unmetered};

/// How many requests of one effect may time out and be repeated.
const MOST_TIMEOUTS: usize = 1;

/// The case and the task that a request is made for.
#[derive(Debug, Clone, Copy)]
pub struct Asker<'a> {
    /// The id of the case.
    pub case: &'a str,
    /// The id of the task; empty when it is none that asks.
    pub task: &'a str,
    /// The turn of a scenario, when it is one that asks.
    pub turn: Option<Turn<'a>>,
    /// The place in the order: those with smaller numbers go first.
    pub priority: u64,
}

/// A turn of a scenario.
#[derive(Debug, Clone, Copy)]
pub struct Turn<'a> {
    /// The node that is talked at.
    pub node: &'a str,
    /// Which turn it is, from 1.
    pub number: u32,
}

#[derive(Debug, Clone)]
pub struct TransportOptions {
    /// How many requests may be under way at an endpoint: where adapting starts, and its ceiling.
    pub concurrency: usize,
    /// How long a request may take, from its first byte to the last one of the reply.
    pub request_timeout: Duration,
    /// How long opening a connection may take.
    pub connect_timeout: Duration,
    /// The waits between requests of one effect.
    pub backoff: Backoff,
    /// The longest wait that a provider may ask for. A longer one ends the effect.
    pub max_pause: Duration,
    pub seed: u64,
    /// Whether replies are asked for in pieces.
    pub stream: bool,
    /// The proxies to use.
    pub proxies: Proxies,
    /// What starts models that are programs, if anything stands between.
    pub supervisor: Option<Supervisor>,
    /// The wall clock, in milliseconds since 1970.
    pub now_ms: fn() -> u64,
}

impl Default for TransportOptions {
    fn default() -> TransportOptions {
        TransportOptions {
            concurrency: 16,
            request_timeout: Duration::from_secs(300),
            connect_timeout: Duration::from_secs(10),
            backoff: Backoff::default(),
            max_pause: Duration::from_secs(600),
            seed: 0,
            stream: false,
            proxies: Proxies::default(),
            supervisor: None,
            now_ms: wall_clock,
        }
    }
}

/// Asks models.
#[derive(Debug)]
pub struct Transport {
    options: TransportOptions,
    dialer: Dialer,
    lanes: Mutex<HashMap<[u8; 32], Arc<Lane>>>,
    sessions: Sessions,
    n_waits: AtomicU64,
}

/// One request that failed.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) kind: FaultKind,
    pub(crate) class: FaultClass,
    pub(crate) message: String,
    pub(crate) retry_after: Option<Duration>,
    /// Whether asking again is useless, although the kind would allow it.
    pub(crate) is_final: bool,
    /// Whether the provider may have done the work all the same.
    pub(crate) may_cost: bool,
}

impl Failed {
    pub(crate) fn new(kind: FaultKind, message: impl Into<String>) -> Failed {
        let may_cost = !matches!(kind, FaultKind::Status(_) | FaultKind::Connect);
        Failed { kind, class: kind.into(), message: message.into(), retry_after: None, is_final: false, may_cost }
    }
}

impl Transport {
    /// A transport without any connection yet.
    pub fn new(options: TransportOptions) -> Transport {
        let dialer = Dialer::new(&options.proxies, options.connect_timeout);
        Transport {
            options,
            dialer,
            lanes: Mutex::default(),
            sessions: Sessions::default(),
            n_waits: AtomicU64::new(0),
        }
    }

    /// Asks a model. At most `max_requests` requests are made, at least one unless the meter forbids it.
    pub async fn ask(
        &self,
        model: &Model,
        asker: Asker<'_>,
        request: &ModelRequest,
        max_requests: u32,
        meter: &dyn Meter,
    ) -> Outcome {
        let session = self.sessions.of(model, asker, request, (self.options.now_ms)());
        let question = match Question::prepare(model, request, self.options.stream, &session) {
            Ok(question) => question,
            Err(message) => {
                let fault = Fault::new(FaultKind::Unsupported, message, 0);
                return Outcome::Fault(Box::new(Fault { role: Some(request.model.clone()), ..fault }));
            }
        };
        let price = bounding_price(model.price.as_ref(), request);
        let bound = Bound { input_tokens: question.n_bytes, output_tokens: model.max_tokens, price };
        // About four bytes a token: for limits a minute an estimate will do, and it is corrected afterwards.
        let n_tokens = (bound.input_tokens / 4).saturating_add(model.max_tokens.unwrap_or(0));
        let lane = self.lane(model);
        let queue = lane.queue(&model.endpoint.model, model.rpm, model.tpm);
        let timeout = model.timeout.unwrap_or(self.options.request_timeout);
        let mut failures = Failures { model, role: &request.model, class: FaultClass::Other, failed: Vec::new() };
        loop {
            let turn = async {
                let reserved = Reserved::new(meter, &bound).await?;
                Ok((reserved, lane.enter(queue, asker.priority, n_tokens).await))
            };
            let (mut reserved, place) = match unless_closed(meter, turn).await {
                Ok(turn) => turn,
                Err(reason) => return failures.stopped(reason),
            };
            reserved.sending();
            let started = Instant::now();
            let tried = self.attempt(&lane, model, asker, &question, request);
            let (result, wire) = match tokio::time::timeout(timeout, tried).await {
                Ok(tried) => tried,
                Err(_) => (Err(timed_out(model, timeout)), None),
            };
            let took = started.elapsed();
            let error = match result {
                Ok(reply) => {
                    self.sessions.note(&session, reply.session.as_deref());
                    place.leave(wire, Ending::Good, reply.usage.map(|it| it.total()));
                    // What runs on this machine costs nothing, unless its author says what it costs.
                    let cost_usd = match model.price {
                        None if model.is_local() => Some(0.0),
                        // A gateway knows what it charges, unless the author knows better.
                        None => reply.cost_usd,
                        Some(price) => reply.usage.map(|usage| cost(&usage, &price)).or(reply.cost_usd),
                    };
                    reserved.settle(Settled::Answer { usage: reply.usage, cost_usd });
                    return self.answer(reply, cost_usd, took, failures.failed);
                }
                // A message that the application may have taken in would be another one the second time.
                Err(error) => Failed { is_final: error.is_final || (session.is_stateful && error.may_cost), ..error },
            };
            // A wait that holds for every request begins before the place is free, else the next one would slip through.
            let note = self.too_long_a_wait(&error);
            let again = self.wait_before_another(&lane, &error, failures.failed.len() + 1, model.is_local());
            place.leave(wire, ending(&error), (!error.may_cost).then_some(0));
            reserved.settle(if error.may_cost { Settled::Unknown } else { Settled::Nothing });
            meter.failed(failures.push(error, took));
            // The provider may have done the work each time, and be paid for it.
            if failures.n_timeouts() > MOST_TIMEOUTS && max_requests > failures.n_requests() {
                let n = failures.n_requests();
                return failures
                    .fault(&format!("; it was asked {n} times and not again, because each request may be paid for"));
            }
            let Some(wait) = again.filter(|_| failures.n_requests() < max_requests) else {
                return failures.fault(&note);
            };
            if !wait.is_zero()
                && let Err(reason) = unless_closed(meter, waited(wait)).await
            {
                return failures.stopped(reason);
            }
        }
    }

    async fn attempt(
        &self,
        lane: &Lane,
        model: &Model,
        asker: Asker<'_>,
        question: &Question,
        request: &ModelRequest,
    ) -> (Result<Reply, Failed>, Option<Wire>) {
        match &model.kind {
            // Boxed, because requests that wait for their turn need none of its room.
            Kind::Http(http) => {
                Box::pin(self.exchange(lane, http, &model.endpoint, question, self.options.stream)).await
            }
            Kind::Script(script) => (script.attempt(asker, request).await, None),
            Kind::Exec(exec) => {
                let supervisor = self.options.supervisor.as_ref();
                (Box::pin(exec.attempt(question.body.clone(), supervisor)).await, None)
            }
            Kind::Function(called) => (called.attempt(asker, request).await, None),
        }
    }

    fn answer(&self, reply: Reply, cost_usd: Option<f64>, latency: Duration, failed: Vec<Attempt>) -> Outcome {
        let Reply { text, tool_calls, used, reasoning, logprobs, finish, usage, served, first_token, .. } = reply;
        Outcome::Answer(Box::new(Answer {
            text,
            tool_calls,
            used,
            reasoning,
            logprobs,
            finish,
            usage,
            cost_usd,
            served,
            latency,
            first_token,
            at_ms: (self.options.now_ms)(),
            n_requests: u32::try_from(failed.len() + 1).unwrap_or(u32::MAX),
            failed,
        }))
    }

    /// That the provider asks for a longer wait than there is, in words after its message.
    fn too_long_a_wait(&self, error: &Failed) -> String {
        let most = self.options.max_pause;
        match error.retry_after.filter(|it| *it > most && !error.is_final && may_be_repeated(error.kind)) {
            Some(wait) => format!(
                "; it was not asked again, because the endpoint asks to wait {} (`retry-after`) and jurat waits at most {}",
                seconds(wait),
                seconds(most)
            ),
            None => String::new(),
        }
    }

    /// How long this caller waits before it asks again; `None` when it should not. A wait that the provider asked for holds for every
    /// caller of the lane, so this one only has to queue again.
    fn wait_before_another(&self, lane: &Lane, error: &Failed, n_failed: usize, is_local: bool) -> Option<Duration> {
        if error.is_final || !may_be_repeated(error.kind) {
            return None;
        }
        match error.retry_after {
            Some(wait) if wait > self.options.max_pause => None,
            Some(wait) => {
                if !wait.is_zero() {
                    lane.pause_until(Instant::now() + wait);
                }
                Some(Duration::ZERO)
            }
            // What is on this machine does not recover by being left alone.
            None if is_local => Some(Duration::ZERO),
            None => {
                let count = self.n_waits.fetch_add(1, Ordering::Relaxed);
                let n_failed = u32::try_from(n_failed).unwrap_or(u32::MAX);
                Some(self.options.backoff.wait(n_failed, backoff::random(self.options.seed, count)))
            }
        }
    }

    fn lane(&self, model: &Model) -> Arc<Lane> {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(lanes.entry(model.lane).or_insert_with(|| Lane::new(self.options.concurrency)))
    }
}

/// The price that a request is bounded with: writing into the provider's cache may cost more than reading.
fn bounding_price(price: Option<&Price>, request: &ModelRequest) -> Option<Price> {
    price.map(|it| if request.prompt_cache.is_empty() { *it } else { it.with_cache_writes() })
}

/// A request as its model wants it.
struct Question {
    method: Method,
    path: String,
    content_type: Option<&'static str>,
    body: Bytes,
    n_bytes: u64,
}

impl Question {
    fn prepare(model: &Model, request: &ModelRequest, stream: bool, session: &Session) -> Result<Question, String> {
        match &model.kind {
            Kind::Http(http) => {
                let sending = Sending { stream, session: session.id.as_deref(), is_first: session.is_first };
                Question::of(http.codec.encode_in(&model.endpoint, request, sending).map_err(|it| it.to_string())?)
            }
            Kind::Exec(_) => {
                let body = crate::exec::encode(&model.endpoint, request);
                Ok(Question { n_bytes: body.len() as u64, body: Bytes::from(body), ..Question::empty() })
            }
            Kind::Script(_) | Kind::Function(_) => {
                let n_bytes = request.messages.iter().map(|it| it.text().len() as u64).sum();
                Ok(Question { n_bytes, ..Question::empty() })
            }
        }
    }

    fn of(wire: WireRequest) -> Result<Question, String> {
        let method = Method::from_bytes(wire.method.as_bytes()).map_err(|it| it.to_string())?;
        let n_bytes = if wire.content_type.is_some() { wire.body.len() } else { wire.path.len() } as u64;
        let (path, content_type, body) = (wire.path, wire.content_type, Bytes::from(wire.body));
        Ok(Question { method, path, content_type, body, n_bytes })
    }

    fn empty() -> Question {
        Question { method: Method::POST, path: String::new(), content_type: None, body: Bytes::new(), n_bytes: 0 }
    }
}

/// Waits for something, unless nothing new is to be asked.
async fn unless_closed<T>(
    meter: &dyn Meter,
    wait: impl Future<Output = Result<T, StopReason>>,
) -> Result<T, StopReason> {
    tokio::select! {
        biased;
        reason = meter.closed() => Err(reason),
        waited = wait => waited,
    }
}

/// A wait that cannot fail, for callers that may be dropped meanwhile.
async fn waited(wait: Duration) -> Result<(), StopReason> {
    tokio::time::sleep(wait).await;
    Ok(())
}

/// The requests of one effect that failed so far.
struct Failures<'a> {
    model: &'a Model,
    role: &'a Role,
    /// The class of the last one.
    class: FaultClass,
    failed: Vec<Attempt>,
}

/// Why a run was stopped, after "because".
fn stopped_words(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Budget => "the budget of the run is used up",
        StopReason::Deadline => "the time of the run is over",
        StopReason::FailFast => "the run stops at the first failure (`--fail-fast`)",
        StopReason::Interrupted => "the run was interrupted",
        StopReason::EndpointFault => "the run was stopped: its endpoint fails every request",
        StopReason::Decided => "the run stops because enough is known (`--stop-when`)",
    }
}

impl Failures<'_> {
    fn push(&mut self, error: Failed, took: Duration) -> &Attempt {
        let Failed { kind, class, message, retry_after, .. } = error;
        self.class = class;
        self.failed.push_mut(Attempt { kind, message, retry_after, took })
    }

    fn n_requests(&self) -> u32 {
        u32::try_from(self.failed.len()).unwrap_or(u32::MAX)
    }

    fn n_timeouts(&self) -> usize {
        self.failed.iter().filter(|it| it.kind == FaultKind::Timeout).count()
    }

    /// The outcome when nothing more may be asked.
    fn stopped(self, reason: StopReason) -> Outcome {
        if self.failed.is_empty() {
            return Outcome::NotRun(reason);
        }
        self.fault(&format!("; it was not asked again, because {}", stopped_words(reason)))
    }

    fn fault(self, note: &str) -> Outcome {
        let (n_requests, class) = (self.n_requests(), self.class);
        let (kind, message) = self.failed.last().map_or((FaultKind::NoAnswer, ""), |it| (it.kind, &it.message));
        let message = format!("{message}{note}");
        // A script names the task and the case for which it has no line.
        let role = (kind != FaultKind::NoAnswer).then(|| self.role.clone());
        let key_env = self.model.key_env.clone();
        Outcome::Fault(Box::new(Fault { kind, class, message, role, key_env, n_requests, failed: self.failed }))
    }
}

fn timed_out(model: &Model, limit: Duration) -> Failed {
    let host = model.host().map_or_else(String::new, |it| format!(" from {it}"));
    Failed::new(FaultKind::Timeout, format!("no answer{host} within {}", seconds(limit)))
}

/// Which failures may pass by themselves.
pub(crate) fn may_be_repeated(kind: FaultKind) -> bool {
    match kind {
        FaultKind::Status(status) => matches!(status, 408 | 409 | 429 | 500..=599),
        FaultKind::Timeout | FaultKind::Connect | FaultKind::Cut | FaultKind::Garbled => true,
        _ => false,
    }
}

/// What a failure says about the load. A provider that says to come back at once is not overloaded.
fn ending(error: &Failed) -> Ending {
    let at_once = error.retry_after.is_some_and(|it| it.is_zero());
    match error.kind {
        FaultKind::Status(429 | 503 | 529) if !at_once => Ending::TooMuch,
        FaultKind::Timeout => Ending::TooMuch,
        _ => Ending::Else,
    }
}

pub(crate) fn wall_clock() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
