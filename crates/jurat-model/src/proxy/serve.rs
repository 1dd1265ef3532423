//! Listening, and what is done with each request.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue};
use http::request::Parts;
use http::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt as _, Either, Full, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use jurat_core::effect::{Answer, FaultKind, Outcome};
use serde_json::json;
use tokio::sync::oneshot;

use super::refusal::refusal;
use super::scrubber::Scrubber;
use super::spending::{SetAside, Unreserved};
use super::tap::{Reading, ReplyRead, Tap};
use super::translation;
use super::upstream::{Passed, Unanswered, has_key, passed, without_key};
use super::{
    Asked, Body, Exchange, Given, Listen, OnBehalf, Operation, ProviderFailure, ProxyOptions, Record, Spent,
    TOOLS_PATH, Upstream,
};
use crate::codec::{Codec, Failure, Reply as Said};
use crate::model::Kind;
use crate::price::cost;
use crate::transport::connection::{Connection, Dialer, Idle, seconds};
use crate::transport::http::Http;
use crate::transport::secret::Secrets;
use crate::transport::{Reservation, Settled};
use crate::{Asker, Model, Transport, TransportOptions, Unmetered};

/// The largest request that is passed on.
const MAX_REQUEST: usize = 64 << 20;

/// A proxy that listens, on a thread of its own. It stops when it is finished or dropped.
#[derive(Debug)]
pub struct Proxy {
    shared: Arc<Shared>,
    port: Option<u16>,
    socket: Option<PathBuf>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Why a proxy cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ProxyError {
    /// It cannot listen.
    #[error("the proxy cannot listen: {0}")]
    Listen(#[from] io::Error),
}

impl Proxy {
    /// Begins to listen.
    ///
    /// # Errors
    /// When it cannot.
    pub fn start(listen: &Listen, options: ProxyOptions) -> Result<Proxy, ProxyError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let _entered = runtime.enter();
        let (listener, port, socket) = match listen {
            Listen::Unix(path) => {
                let listener = Listener::Unix(tokio::net::UnixListener::bind(path)?);
                (listener, None, Some(path.clone()))
            }
            Listen::Loopback => {
                let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
                listener.set_nonblocking(true)?;
                let port = listener.local_addr()?.port();
                (Listener::Tcp(tokio::net::TcpListener::from_std(listener)?), Some(port), None)
            }
        };
        drop(_entered);
        let dialer = Dialer::new(&options.proxies, options.connect_timeout);
        let record = Record { cost_usd: price(&options).map(|_| 0.0), ..Record::default() };
        let state = Mutex::new(State { record, set_aside: BTreeMap::new() });
        let timeouts = TransportOptions {
            request_timeout: options.timeout,
            now_ms: options.now_ms,
            ..TransportOptions::default()
        };
        let transport = Transport::new(timeouts);
        let shared = Arc::new(Shared { options, dialer, transport, state, idle: Idle::default() });
        let (stop, stopped) = oneshot::channel();
        let served = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("proxy".to_owned()).spawn(move || {
            runtime.block_on(serve(listener, served, stopped));
            // Requests that are under way are given up; they write down how far they came.
            runtime.shutdown_background();
        })?;
        Ok(Proxy { shared, port, socket, stop: Some(stop), thread: Some(thread) })
    }

    /// The port, when it listens on one.
    pub fn port(&self) -> Option<u16> {
        self.port
    }

    /// The key that requests must have.
    pub fn key(&self) -> Option<&str> {
        self.shared.options.key.as_deref()
    }

    pub fn record(&self) -> Record {
        self.shared.state().record.clone()
    }

    /// The limit that was reached.
    pub fn spent(&self) -> Option<Spent> {
        self.shared.state().record.spent
    }

    /// Stops, and returns what passed.
    pub fn finish(mut self) -> Record {
        self.stop();
        std::mem::take(&mut self.shared.state().record)
    }

    fn stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            stop.send(()).unwrap_or_default();
        }
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap_or_default();
        }
        if let Some(socket) = self.socket.take() {
            std::fs::remove_file(socket).unwrap_or_default();
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.stop();
    }
}

#[derive(Debug)]
enum Listener {
    Unix(tokio::net::UnixListener),
    Tcp(tokio::net::TcpListener),
}

/// What all requests share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) options: ProxyOptions,
    pub(super) dialer: Dialer,
    /// Asks models that are not asked over HTTP.
    transport: Transport,
    state: Mutex<State>,
    pub(super) idle: Idle,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) record: Record,
    /// What is set aside for exchanges that are under way.
    pub(super) set_aside: BTreeMap<usize, Reservation>,
}

async fn serve(listener: Listener, shared: Arc<Shared>, mut stopped: oneshot::Receiver<()>) {
    loop {
        let accepted = async {
            match &listener {
                Listener::Unix(it) => it.accept().await.map(|(it, _)| Box::new(it) as Box<dyn Stream>),
                Listener::Tcp(it) => it.accept().await.map(|(it, _)| Box::new(it) as Box<dyn Stream>),
            }
        };
        let accepted = tokio::select! {
            _ = &mut stopped => return,
            accepted = accepted => accepted,
        };
        match accepted {
            Ok(stream) => drop(tokio::spawn(connection(stream, Arc::clone(&shared)))),
            // Out of descriptors, most likely; some will be free again.
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

trait Stream: tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + Unpin {}
impl<T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + Unpin> Stream for T {}

async fn connection(stream: Box<dyn Stream>, shared: Arc<Shared>) {
    let service = service_fn(|request| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(answered(shared, request).await) }
    });
    // It ends with the client; what went wrong is in the exchange that met it.
    http1::Builder::new().serve_connection(TokioIo::new(stream), service).with_upgrades().await.unwrap_or_default();
}

type Reply = Response<Either<Tap, Full<Bytes>>>;

async fn answered(shared: Arc<Shared>, request: Request<Incoming>) -> Reply {
    if request.method() == Method::CONNECT {
        return shared.tunnel(request).await.map(Either::Right);
    }
    let begun = Instant::now();
    let (head, body) = request.into_parts();
    let operation = Operation::read(&head.method, head.uri.path());
    if let Some(key) = &shared.options.key
        && !has_key(key, &head.uri, &head.headers)
    {
        return given(refusal(operation.as_ref(), 401, "this port answers only the agent that it was opened for"));
    }
    let body = match Limited::new(body, MAX_REQUEST).collect().await {
        Ok(body) => body.to_bytes(),
        Err(_) => return given(refusal(operation.as_ref(), 413, "the request is too large, or ended before its end")),
    };
    if let Some(tools) = shared.options.tools.as_ref().filter(|_| head.uri.path().starts_with(TOOLS_PATH)) {
        let exchange = shared.begin(&head, None, &body);
        let answer = tools.answer(&head.method, head.uri.path(), &body).await;
        shared.answer(exchange, &answer, begun.elapsed());
        return given(answer);
    }
    let model = shared.model();
    let asked = operation.as_ref().map(|it| {
        is_plain(&head.headers)?;
        is_of_events(it, &head.uri)?;
        passed(it, &body, model.filter(|_| !shared.options.keeps_model))
    });
    let readable = asked.as_ref().and_then(|it| it.as_ref().ok());
    let exchange = shared.begin(&head, readable, &body);
    let mut waiting = Waiting { shared: Arc::clone(&shared), exchange, begun, is_over: false };
    let refused = |status: u16, message: &str| {
        let refusal = refusal(operation.as_ref(), status, message);
        shared.refuse(exchange, &refusal, message, begun.elapsed());
        given(refusal)
    };
    let (Some(operation), Some(asked)) = (&operation, asked) else {
        return refused(404, "jurat passes on requests to models, and this is none");
    };
    let mut asked = match asked {
        Ok(asked) => asked,
        Err(problem) => return refused(400, &problem),
    };
    let mut set_aside = None;
    if operation.is_asking() {
        let reserved = match shared.reserve() {
            Ok(()) => shared.set_aside(exchange, operation, &mut asked.body).await,
            Err(spent) => Err(Unreserved::Spent(spent)),
        };
        set_aside = match reserved {
            Ok(set_aside) => set_aside,
            Err(Unreserved::Unreadable(problem)) => return refused(400, &problem),
            Err(Unreserved::Spent(Spent::Budget)) => {
                return refused(429, "the budget is used up; no more requests are answered");
            }
            Err(Unreserved::Spent(spent)) => {
                let name = spent.name();
                return refused(
                    429,
                    &format!("the limit of {name} for this run is reached; no more requests are answered"),
                );
            }
        };
    }
    match &shared.options.upstream {
        Upstream::NoModel => refused(404, "this run has no model"),
        Upstream::Answer(answer) => {
            let asked = Asked { operation: operation.clone(), is_streamed: asked.is_streamed, body: asked.body };
            let answer = answer.answer(&asked);
            shared.conclude_given(exchange, operation, &answer, begun.elapsed());
            given(answer)
        }
        Upstream::Model(it) => {
            let Kind::Http(http) = &it.kind else {
                return match shared.asked_instead(exchange, it, operation, asked).await {
                    Ok(answer) => {
                        shared.conclude_given(exchange, operation, &answer, begun.elapsed());
                        given(answer)
                    }
                    Err((status, message)) => {
                        shared.settle(exchange, Settled::Nothing);
                        refused(status, &message)
                    }
                };
            };
            let model = model.filter(|_| !shared.options.keeps_model);
            let sent = shared.send(http, operation, (head.method, &head.uri, &head.headers), model, asked.body).await;
            match sent {
                Err(Unanswered { message, was_sent }) => {
                    if !was_sent {
                        shared.settle(exchange, Settled::Nothing);
                    }
                    let message = http.secrets.scrubbed(message);
                    // What was sent may have been lost on a connection that was there.
                    let kind = if was_sent { FaultKind::Cut } else { FaultKind::Connect };
                    let answer = refused(502, &format!("the model cannot be asked: {message}"));
                    shared.fail(exchange, operation, ProviderFailure { status: None, class: kind.into(), message });
                    answer
                }
                Ok((connection, response)) => {
                    waiting.is_over = true;
                    let place = (exchange, begun, set_aside);
                    pass_back(Arc::clone(&shared), http, operation, place, connection, response).await
                }
            }
        }
    }
}

impl Exchange {
    /// Whether a model is asked.
    fn is_asking(&self) -> bool {
        let path = self.path.split('?').next().unwrap_or_default();
        Operation::read(&Method::POST, path).is_some_and(|it| it.is_asking())
    }
}

/// A request whose response has not begun. Its future is dropped when the agent closes the connection.
struct Waiting {
    shared: Arc<Shared>,
    exchange: usize,
    begun: Instant,
    is_over: bool,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if !self.is_over {
            self.shared.not_answered(self.exchange, self.begun.elapsed());
        }
    }
}

/// Whether the body of a request is sent as it is. What is compressed cannot be checked.
fn is_plain(headers: &HeaderMap) -> Result<(), String> {
    match headers.get_all(CONTENT_ENCODING).iter().find(|it| *it != "identity") {
        None => Ok(()),
        Some(_) => Err("the body must not be compressed: leave out `content-encoding`".to_owned()),
    }
}

/// Whether the reply to a request is whole or a stream of events. Gemini's other stream, a JSON array in pieces, is neither counted nor searched for keys.
fn is_of_events(operation: &Operation, uri: &Uri) -> Result<(), String> {
    let has_alt = || uri.query().is_some_and(|it| it.split('&').any(|it| it == "alt=sse"));
    match operation {
        Operation::Generate { is_streamed: true, .. } if !has_alt() => {
            Err("a stream must be one of server-sent events: add `alt=sse` to the query".to_owned())
        }
        _ => Ok(()),
    }
}

/// Passes a reply back as it comes, without keys. What is an error comes whole, because providers like to say which key was wrong.
async fn pass_back(
    shared: Arc<Shared>,
    http: &Http,
    operation: &Operation,
    (exchange, begun, set_aside): (usize, Instant, Option<SetAside>),
    connection: Connection,
    response: Response<Incoming>,
) -> Reply {
    let (head, body) = response.into_parts();
    let content_type = head.headers.get(CONTENT_TYPE).cloned();
    if is_plain(&head.headers).is_err() {
        // A key in it could not be seen, nor its tokens counted.
        let answer = refusal(Some(operation), 502, "the model's reply is compressed, although that was not asked for");
        shared.conclude_given(exchange, operation, &answer, begun.elapsed());
        let message = "the reply is compressed, although that was not asked for".to_owned();
        let failure = ProviderFailure { status: Some(502), class: FaultKind::Garbled.into(), message };
        shared.fail(exchange, operation, failure);
        return given(answer);
    }
    let mut reply = if head.status.is_success() {
        let is_streamed =
            content_type.as_ref().and_then(|it| it.to_str().ok()).is_some_and(|it| it.starts_with("text/event-stream"));
        let codec = operation.codec().filter(|_| operation.is_asking());
        let reading = Reading::of(codec, is_streamed);
        let status = head.status.as_u16();
        let scrubber = if is_streamed { Scrubber::of_events(&http.secrets) } else { Scrubber::new(&http.secrets) };
        let place = (exchange, begun, set_aside);
        Response::new(Either::Left(Tap::new(body, connection, shared, place, status, reading, scrubber)))
    } else {
        let whole = Limited::new(body, MAX_REQUEST)
            .collect()
            .await
            .map(http_body_util::Collected::to_bytes)
            .unwrap_or_default();
        shared.idle.put(connection);
        let text = http.secrets.scrubbed(String::from_utf8_lossy(&whole).into_owned());
        let content_type =
            content_type.as_ref().and_then(|it| it.to_str().ok()).unwrap_or("application/json").to_owned();
        let answer = Given { status: head.status.as_u16(), content_type, body: Bytes::from(text) };
        shared.conclude_given(exchange, operation, &answer, begun.elapsed());
        given(answer)
    };
    *reply.status_mut() = head.status;
    for (name, value) in &head.headers {
        if !HOP.contains(name)
            && let Some(value) = without_keys(&http.secrets, name, value)
        {
            reply.headers_mut().insert(name, value);
        }
    }
    reply
}

/// The value of a header without keys; `None` when the header cannot be passed on.
fn without_keys(secrets: &Secrets, name: &HeaderName, value: &HeaderValue) -> Option<HeaderValue> {
    if secrets.long_enough().any(|it| name.as_str().contains(&it.to_ascii_lowercase())) {
        return None;
    }
    let mut scrubber = Scrubber::new(secrets);
    let bytes = scrubber.push(&Bytes::copy_from_slice(value.as_bytes()));
    HeaderValue::from_bytes(&[bytes, scrubber.finish()].concat()).ok()
}

/// Headers of a reply that concern one connection.
const HOP: [HeaderName; 5] = [
    http::header::CONNECTION,
    http::header::CONTENT_LENGTH,
    http::header::TRANSFER_ENCODING,
    http::header::SET_COOKIE,
    HeaderName::from_static("keep-alive"),
];

fn given(given: Given) -> Reply {
    let is_error = given.status >= 400;
    let mut response = Response::new(Either::Right(Full::new(given.body)));
    *response.status_mut() = StatusCode::from_u16(given.status).unwrap_or(StatusCode::BAD_GATEWAY);
    if let Ok(value) = HeaderValue::try_from(given.content_type) {
        response.headers_mut().insert(CONTENT_TYPE, value);
    }
    if is_error {
        // The clients of two providers honour it: asking again is useless.
        response.headers_mut().insert(HeaderName::from_static("x-should-retry"), HeaderValue::from_static("false"));
    }
    response
}

/// What is wrong with a reply that cannot be used.
fn explained(failure: Failure, status: u16) -> ProviderFailure {
    let unreadable = |kind: FaultKind, message| ProviderFailure { status: Some(status), class: kind.into(), message };
    match failure {
        Failure::Api(error) => {
            ProviderFailure { status: Some(error.status), class: error.class, message: error.message }
        }
        Failure::Garbled(message) => unreadable(FaultKind::Garbled, message),
        Failure::Cut => unreadable(FaultKind::Cut, "the reply ended before it was complete".to_owned()),
    }
}

fn price(options: &ProxyOptions) -> Option<crate::Price> {
    options.price.or(match &options.upstream {
        Upstream::Model(model) => model.price,
        Upstream::Answer(_) | Upstream::NoModel => None,
    })
}

impl Shared {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The model that requests go to.
    fn model(&self) -> Option<&str> {
        match &self.options.upstream {
            Upstream::Model(model) => Some(&model.endpoint.model),
            Upstream::Answer(_) | Upstream::NoModel => None,
        }
    }

    /// Text to be written down, without keys.
    fn shown(&self, bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(bytes).into_owned();
        match &self.options.upstream {
            Upstream::Model(model) => match &model.kind {
                Kind::Http(http) => http.secrets.scrubbed(text),
                _ => text,
            },
            Upstream::Answer(_) | Upstream::NoModel => text,
        }
    }

    fn body(&self, bytes: &[u8], n_bytes: u64) -> Body {
        let recorded = &bytes[..bytes.len().min(self.options.recorded_bytes)];
        Body { text: self.shown(recorded), n_bytes }
    }

    /// Asks a model in the agent's place, and returns its answer in the agent's form, or a refusal.
    async fn asked_instead(
        &self,
        exchange: usize,
        model: &Model,
        operation: &Operation,
        asked: Passed,
    ) -> Result<Given, (u16, String)> {
        // About four bytes a token: an agent that asks for a count wants to know whether there is room.
        let n_tokens = asked.body.len() / 4;
        match operation {
            Operation::Models => {
                let entry = json!({ "id": model.endpoint.model, "object": "model", "type": "model", "name": format!("models/{}", model.endpoint.model) });
                return Ok(Given::json(json!({ "object": "list", "data": [entry], "models": [entry] }).to_string()));
            }
            Operation::CountMessages => return Ok(Given::json(json!({ "input_tokens": n_tokens }).to_string())),
            Operation::CountGenerate { .. } => return Ok(Given::json(json!({ "totalTokens": n_tokens }).to_string())),
            Operation::Chat | Operation::Responses | Operation::Messages | Operation::Generate { .. } => {}
        }
        let Some(format) = operation.format() else { return Err((404, "there is nothing to ask".to_owned())) };
        let OnBehalf { case, task, role } = &self.options.on_behalf;
        let request = translation::question(format, &asked.body, role).map_err(|it| (400, it))?;
        let asker = Asker { case, task, turn: None, priority: 0 };
        let number = self.state().record.n_requests;
        match self.transport.ask(model, asker, &request, 1, &Unmetered).await {
            Outcome::Answer(answer) => {
                let Answer { text, tool_calls, reasoning, finish, usage, cost_usd, served, .. } = *answer;
                let reply = Said { text, tool_calls, reasoning, finish, usage, cost_usd, served, ..Said::default() };
                let named = asked.requested_model.as_deref().unwrap_or(&model.endpoint.model);
                Ok(translation::answer(format, named, &reply, asked.is_streamed, number))
            }
            Outcome::Fault(fault) => {
                let status = match fault.kind {
                    FaultKind::Status(status) => status,
                    _ => 502,
                };
                let (class, message) = (fault.class, fault.message.clone());
                self.fail(exchange, operation, ProviderFailure { status: Some(status), class, message });
                Err((status, fault.message))
            }
            other => Err((502, format!("the model was not asked: {other:?}"))),
        }
    }

    /// Writes a request down and returns its place.
    fn begin(&self, head: &Parts, asked: Option<&Passed>, body: &Bytes) -> usize {
        let (path, query) = without_key(&head.uri);
        let exchange = Exchange {
            at_ms: (self.options.now_ms)(),
            method: head.method.to_string(),
            path: query.map_or(path.clone(), |it| format!("{path}?{it}")),
            requested_model: asked.and_then(|it| it.requested_model.clone()),
            offers_tools: asked.is_some_and(|it| it.offers_tools),
            request: self.body(body, body.len() as u64),
            status: None,
            reply: Body::default(),
            usage: None,
            finish: None,
            refusal: None,
            error: None,
            failure: None,
            is_unanswered: false,
            duration: Duration::ZERO,
        };
        let exchanges = &mut self.state().record.exchanges;
        exchanges.push(exchange);
        exchanges.len() - 1
    }

    /// Counts a request, unless there may be no more.
    fn reserve(&self) -> Result<(), Spent> {
        let limits = &self.options.limits;
        let mut state = self.state();
        let record = &mut state.record;
        let is_reached =
            |spent: Option<f64>, limit: Option<f64>| spent.zip(limit).is_some_and(|(spent, limit)| spent >= limit);
        let spent = match () {
            () if record.spent.is_some() => record.spent,
            () if limits.requests.is_some_and(|it| record.n_requests >= it) => Some(Spent::Requests),
            () if limits.tokens.is_some_and(|it| record.usage.total() >= it) => Some(Spent::Tokens),
            () if is_reached(record.cost_usd, limits.usd) => Some(Spent::Usd),
            () => None,
        };
        let Some(spent) = spent else {
            record.n_requests += 1;
            return Ok(());
        };
        drop(state);
        Err(self.say_spent(spent))
    }

    /// Says that a request is not passed on because the budget is used up, though it was counted.
    pub(super) fn gone(&self, spent: Spent) -> Spent {
        self.state().record.n_requests -= 1;
        self.say_spent(spent)
    }

    fn say_spent(&self, spent: Spent) -> Spent {
        let n_refused = {
            let record = &mut self.state().record;
            record.spent = Some(spent);
            record.n_refused += 1;
            record.n_refused
        };
        if let Some(on_spent) = &self.options.on_spent {
            (on_spent.0)(spent, n_refused);
        }
        spent
    }

    pub(super) fn price(&self) -> Option<crate::Price> {
        price(&self.options)
    }

    /// Writes down a refusal of our own.
    fn refuse(&self, exchange: usize, given: &Given, message: &str, duration: Duration) {
        self.answer(exchange, given, duration);
        if let Some(it) = self.state().record.exchanges.get_mut(exchange) {
            it.error = Some(message.to_owned());
        }
    }

    /// Writes down an answer of our own.
    fn answer(&self, exchange: usize, given: &Given, duration: Duration) {
        let reply = self.body(&given.body, given.body.len() as u64);
        if let Some(it) = self.state().record.exchanges.get_mut(exchange) {
            (it.status, it.reply, it.duration) = (Some(given.status), reply, duration);
        }
    }

    /// Writes down that the agent closed a request before a response came, unless it has one.
    pub(super) fn not_answered(&self, exchange: usize, duration: Duration) {
        let mut state = self.state();
        let Some(it) = state.record.exchanges.get_mut(exchange).filter(|it| it.status.is_none()) else { return };
        it.is_unanswered = it.is_asking();
        it.duration = duration;
        let waited = seconds(duration);
        it.error = Some(format!("the agent closed its request to the model after {waited} without a response"));
    }

    /// Writes down that the provider failed.
    fn fail(&self, exchange: usize, operation: &Operation, failure: ProviderFailure) {
        if let Some(it) = self.state().record.exchanges.get_mut(exchange).filter(|_| operation.is_asking()) {
            it.failure = Some(failure);
        }
    }

    fn conclude_given(&self, exchange: usize, operation: &Operation, given: &Given, duration: Duration) {
        let is_streamed = given.content_type.starts_with("text/event-stream");
        let is_success = (200..300).contains(&given.status);
        let codec: Option<Codec> = operation.codec().filter(|_| operation.is_asking());
        let mut reading = Reading::of(codec, is_streamed && is_success);
        reading.take(&given.body);
        let read = reading.finish(given.status);
        self.conclude(exchange, given.status, (&given.body, given.body.len() as u64), read, None, duration);
    }

    /// Writes down what came back, and counts it.
    pub(super) fn conclude(
        &self,
        exchange: usize,
        status: u16,
        (recorded, n_bytes): (&[u8], u64),
        read: Result<ReplyRead, Failure>,
        note: Option<&str>,
        duration: Duration,
    ) {
        let reply = self.body(recorded, n_bytes);
        let (ReplyRead { usage, finish, refusal }, failure) = match read {
            Ok(read) => (read, None),
            Err(failure) => (ReplyRead::default(), Some(explained(failure, status))),
        };
        let failure = failure.map(|it| ProviderFailure { message: self.shown(it.message.as_bytes()), ..it });
        let is_refused = failure.is_some() && status >= 400;
        let settled = match usage {
            Some(it) => Settled::Answer { usage, cost_usd: self.price().map(|price| cost(&it, &price)) },
            None if is_refused => Settled::Nothing,
            None => Settled::Unknown,
        };
        self.settle(exchange, settled);
        let mut state = self.state();
        let record = &mut state.record;
        let Some(it) = record.exchanges.get_mut(exchange) else { return };
        (it.status, it.reply, it.usage, it.duration) = (Some(status), reply, usage, duration);
        (it.finish, it.refusal) = (finish, refusal.map(|it| self.shown(it.as_bytes())));
        it.error =
            failure.as_ref().map(|it| it.message.clone()).or(it.error.take()).or_else(|| note.map(str::to_owned));
        if !it.is_asking() {
            return;
        }
        match (usage, failure) {
            (Some(usage), _) => {
                record.usage.merge(&usage);
                record.cost_usd =
                    record.cost_usd.zip(price(&self.options)).map(|(sum, price)| sum + cost(&usage, &price));
            }
            (None, Some(ProviderFailure { status: Some(400 | 413 | 422), .. })) => {}
            (None, Some(failure)) => it.failure = Some(failure),
            (None, None) => record.n_uncounted += 1,
        }
    }
}
