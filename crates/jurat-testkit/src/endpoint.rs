//! The running endpoint: a thread of its own with a socket on loopback.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::mpsc;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, oneshot};

use crate::batch::{self, Answered, Batching, Store};
use crate::delivery::{Delivery, Then};
use crate::http::{self, Message, Unreadable};
use crate::log::Log;
use crate::request::{Request, digest};
use crate::script::{Script, Wait};
use crate::stats::{Ending, Stats};
use crate::wire::{Asked, Incoming, Trouble, Wire};

/// A model endpoint on loopback. It stops when it is dropped.
#[derive(Debug)]
pub struct Endpoint {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

/// How long [`Endpoint::wait_until`] waits before it gives up.
const TIMEOUT: Duration = Duration::from_secs(60);

impl Endpoint {
    /// Starts an endpoint on a free port.
    ///
    /// # Panics
    ///
    /// When there is no free port, or the log cannot be written.
    pub fn start(script: Script) -> Endpoint {
        Endpoint::bind(0, script).expect("loopback has a free port, and the log can be written")
    }

    /// Starts an endpoint on this port of loopback; 0 is a free one.
    pub fn bind(port: u16, script: Script) -> io::Result<Endpoint> {
        let log = script.log.as_deref().map(Log::append).transpose()?;
        let shared = Arc::new(Shared {
            script,
            seen: Mutex::default(),
            changed: Condvar::new(),
            log: log.map(Mutex::new),
            released: Semaphore::new(0),
            batches: Mutex::default(),
        });
        let (stop, stopped) = oneshot::channel();
        let (ready, bound) = mpsc::channel();
        let served = Arc::clone(&shared);
        let thread = thread::Builder::new().name("endpoint".to_owned()).spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            match runtime {
                Ok(runtime) => runtime.block_on(serve(port, served, &ready, stopped)),
                Err(error) => drop(ready.send(Err(error))),
            }
        })?;
        let address = bound.recv().expect("the thread says how it went")?;
        Ok(Endpoint { address, shared, stop: Some(stop), thread: Some(thread) })
    }

    /// Returns its address without a path: `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Returns what it has seen so far.
    pub fn stats(&self) -> Stats {
        self.shared.seen().stats.clone()
    }

    /// Starts counting anew and forgets the requests that it recorded.
    pub fn reset(&self) {
        self.shared.reset();
    }

    /// Returns the requests that it understood so far, if the script says that they are [recorded](Script::keep_requests).
    pub fn requests(&self) -> Vec<Request> {
        self.shared.seen().requests.clone()
    }

    /// Waits until the counts are as wanted.
    ///
    /// # Panics
    ///
    /// When they are not within a minute.
    #[track_caller]
    pub fn wait_until(&self, wanted: impl Fn(&Stats) -> bool) {
        let waited = self.shared.changed.wait_timeout_while(self.shared.seen(), TIMEOUT, |seen| !wanted(&seen.stats));
        let (seen, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        assert!(!timeout.timed_out(), "what was waited for did not happen: {:?}", seen.stats);
    }

    /// Releases this many of the answers that a [held](Script::held) script holds back, now or later.
    pub fn release(&self, n: usize) {
        self.shared.released.add_permits(n);
    }

    /// Lets all answers go that a held script holds back, and holds no more.
    pub fn release_all(&self) {
        self.shared.released.close();
    }

    /// Ends the batches that a [held](crate::BatchScript::held) script holds back, and holds no more.
    pub fn release_batches(&self) {
        self.shared.batches.lock().unwrap_or_else(PoisonError::into_inner).release();
    }

    /// Waits for ever; for a program that is nothing but an endpoint.
    pub fn serve(mut self) {
        if let Some(thread) = self.thread.take() {
            // An error would be a panic of the thread, which was already printed.
            let _ = thread.join();
        }
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[derive(Debug)]
struct Shared {
    script: Script,
    seen: Mutex<Seen>,
    changed: Condvar,
    log: Option<Mutex<Log>>,
    released: Semaphore,
    batches: Mutex<Store>,
}

#[derive(Debug, Default)]
struct Seen {
    stats: Stats,
    /// Unlike the count, it never starts anew.
    last_number: u64,
    requests: Vec<Request>,
}

async fn serve(
    port: u16,
    shared: Arc<Shared>,
    ready: &mpsc::Sender<io::Result<SocketAddr>>,
    stopped: oneshot::Receiver<()>,
) {
    let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.and_then(|it| Ok((it.local_addr()?, it)));
    let listener = match bound {
        Ok((address, listener)) => {
            let _ = ready.send(Ok(address));
            listener
        }
        Err(error) => {
            let _ = ready.send(Err(error));
            return;
        }
    };
    let accepting = async {
        loop {
            let Ok((socket, _)) = listener.accept().await else {
                // Accepting fails for want of file descriptors; some connection will be closed.
                tokio::time::sleep(Duration::from_millis(10)).await;
                continue;
            };
            let _ = socket.set_nodelay(true);
            tokio::spawn(Connection::open(socket, Arc::clone(&shared)).serve());
        }
    };
    tokio::select! {
        () = accepting => {}
        _ = stopped => {}
    }
}

struct Connection {
    socket: TcpStream,
    shared: Arc<Shared>,
}

impl Connection {
    fn open(socket: TcpStream, shared: Arc<Shared>) -> Connection {
        shared.change(|seen| seen.stats.opened());
        Connection { socket, shared }
    }

    async fn serve(mut self) {
        let mut buffer = Vec::new();
        loop {
            let then = match http::read(&mut self.socket, &mut buffer).await {
                Ok(message) => match self.answer(&message).await {
                    Some(Then::Next) if message.is_last() => Some(Then::Close),
                    then => then,
                },
                Err(Unreadable::Gone) => return,
                Err(Unreadable::Malformed) => {
                    let body = json!({ "error": "this is not HTTP" });
                    let _ = deliver(&mut self.socket, &Delivery::json(400, &body, &[]), || {}).await;
                    return;
                }
            };
            match then {
                Some(Then::Next) => {}
                Some(Then::Reset) => {
                    let _ = self.socket.set_zero_linger();
                    return;
                }
                Some(Then::Hang) => {
                    http::gone(&self.socket).await;
                    return;
                }
                Some(Then::Close) | None => return,
            }
        }
    }

    /// Answers one request and says what becomes of the connection; `None` when the client went away.
    async fn answer(&mut self, message: &Message) -> Option<Then> {
        let (path, query) = message.target.split_once('?').unwrap_or((&message.target, ""));
        let path = path.replace("%3A", ":").replace("%3a", ":");
        if let Some(wire) = Wire::at(&path).filter(|_| message.method == "POST") {
            return self.answer_model(&path, query, wire, message).await;
        }
        if batch::is_at(&path) {
            let delivery = self.shared.answer_batch(&path, message);
            deliver(&mut self.socket, &delivery, || {}).await.ok()?;
            return Some(delivery.then);
        }
        let delivery = self.shared.aside(&message.method, &path, query);
        deliver(&mut self.socket, &delivery, || {}).await.ok()?;
        Some(delivery.then)
    }

    /// Answers one question to a model.
    async fn answer_model(&mut self, path: &str, query: &str, wire: Wire, message: &Message) -> Option<Then> {
        let flight = Flight::arrived(Arc::clone(&self.shared), message);
        let (delivery, wait) = match flight.request(path, query, wire, message) {
            Ok(request) => {
                let answer = self.shared.script.answer_among(&request, flight.in_flight);
                let wait = self.shared.script.wait(&request, &answer);
                let delivery = Delivery::of(&request, &answer, self.shared.script.pace);
                self.shared.record(request);
                (delivery, wait)
            }
            Err((status, message)) => {
                let trouble = Trouble { status, message: &message, retry_after: None };
                (Delivery::error(wire, &trouble, &[]), Wait::For(Duration::ZERO))
            }
        };
        let work = async {
            match wait {
                Wait::For(time) if time.is_zero() => {}
                Wait::For(time) => tokio::time::sleep(time).await,
                // A closed semaphore blocks no request.
                Wait::ToBeReleased => {
                    if let Ok(permit) = self.shared.released.acquire().await {
                        permit.forget();
                    }
                }
            }
        };
        tokio::select! {
            biased;
            () = work => {}
            () = http::gone(&self.socket) => return None,
        }
        if delivery.then == Then::Hang {
            http::gone(&self.socket).await;
            return None;
        }
        // Counted before the client can have all of it: a test that has the reply finds it in the counts, and the next
        // request of that client is never in flight beside this one.
        deliver(&mut self.socket, &delivery, || flight.ended(delivery.ending)).await.ok()?;
        Some(delivery.then)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.shared.change(|seen| seen.stats.closed());
    }
}

/// Writes the pieces; calls `before_last` when all but the last of them are written.
async fn deliver(socket: &mut TcpStream, delivery: &Delivery, before_last: impl FnOnce()) -> io::Result<()> {
    let Some((last, pieces)) = delivery.pieces.split_last() else {
        before_last();
        return Ok(());
    };
    for piece in pieces {
        socket.write_all(piece).await?;
        if !delivery.pace.is_zero() {
            tokio::time::sleep(delivery.pace).await;
        }
    }
    before_last();
    socket.write_all(last).await
}

/// A request that has no answer yet. One that is dropped before it ended was abandoned.
struct Flight {
    shared: Arc<Shared>,
    number: u64,
    repeat: u64,
    digest: u64,
    /// How many were in flight when it arrived, itself among them.
    in_flight: u64,
    ending: Ending,
}

impl Flight {
    fn arrived(shared: Arc<Shared>, message: &Message) -> Flight {
        let digest = digest(&message.target, &String::from_utf8_lossy(&message.body));
        let (number, repeat, in_flight) = shared.change(|seen| {
            seen.last_number += 1;
            (seen.last_number, seen.stats.arrived(digest), seen.stats.in_flight)
        });
        shared.log(|log| log.arrived(number, digest, &message.target));
        Flight { shared, number, repeat, digest, in_flight, ending: Ending::Abandoned }
    }

    fn ended(mut self, ending: Ending) {
        self.ending = ending;
    }

    /// The request, understood; or the status and message that the provider would answer with.
    fn request(&self, path: &str, query: &str, wire: Wire, message: &Message) -> Result<Request, (u16, String)> {
        let wrong = |message: String| (400, message);
        let body = String::from_utf8(message.body.clone()).map_err(|_| wrong("the body is no UTF-8".to_owned()))?;
        let json: Value =
            serde_json::from_str(&body).map_err(|error| wrong(format!("the body is no JSON: {error}")))?;
        let incoming = Incoming { path, query, headers: &message.headers, body: &json };
        let key = self.shared.script.key.as_deref();
        if key.is_some_and(|key| (wire.format().key)(&incoming).is_some_and(|it| it != key)) {
            return Err((401, "the key is missing or wrong".to_owned()));
        }
        let asked = (wire.format().read)(&incoming).map_err(wrong)?;
        let must_call = asked.called().cloned();
        let Asked { model, conversation, schema, tools, stream, .. } = asked;
        let prompt = conversation.iter().rev().find(|(role, _)| role == "user");
        Ok(Request {
            number: self.number,
            repeat: self.repeat,
            wire,
            path: message.target.clone(),
            headers: message.headers.clone(),
            prompt: prompt.map(|(_, text)| text.clone()).unwrap_or_default(),
            body,
            json,
            model,
            conversation,
            schema,
            tools,
            must_call,
            stream,
        })
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.shared.log(|log| log.ended(self.number, self.digest, self.ending));
        self.shared.change(|seen| seen.stats.ended(self.ending));
    }
}

impl Shared {
    /// Answers a request about batches.
    fn answer_batch(self: &Arc<Shared>, path: &str, message: &Message) -> Delivery {
        let each = |body: Vec<u8>, url: &str| {
            let Some(wire) = Wire::at(url) else {
                return Answered { status: 404, body: json!({ "error": "no such path" }) };
            };
            let (method, headers) = ("POST".to_owned(), message.headers.clone());
            let item = Message { method, target: url.to_owned(), headers, body };
            let flight = Flight::arrived(Arc::clone(self), &item);
            let answered = match flight.request(url, "", wire, &item) {
                Ok(request) => batch::answered(&request, &self.script.answer(&request)),
                Err((status, message)) => {
                    let trouble = Trouble { status, message: &message, retry_after: None };
                    Answered { status, body: (wire.format().error)(&trouble) }
                }
            };
            flight.ended(if answered.status < 400 { Ending::Answer } else { Ending::Error });
            answered
        };
        let batching = Batching { script: &self.script.batches, each: &each };
        let mut store = self.batches.lock().unwrap_or_else(PoisonError::into_inner);
        let delivery = batching.answer(&mut store, &message.method, path, message);
        let (n_batches, n_polls) = store.counts();
        drop(store);
        self.change(|seen| (seen.stats.batches, seen.stats.polls) = (n_batches, n_polls));
        delivery
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T>(&self, change: impl FnOnce(&mut Seen) -> T) -> T {
        let result = change(&mut self.seen());
        self.changed.notify_all();
        result
    }

    fn log(&self, write: impl FnOnce(&mut Log)) {
        if let Some(log) = &self.log {
            write(&mut log.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    fn record(&self, request: Request) {
        if self.script.keeps_requests {
            self.seen().requests.push(request);
        }
    }

    fn reset(&self) {
        self.change(|seen| {
            seen.stats.reset();
            seen.requests.clear();
        });
    }

    /// What is not a question to a model, and is not counted.
    fn aside(&self, method: &str, path: &str, query: &str) -> Delivery {
        let (status, body) = match (method, path) {
            ("GET", "/stats") if query == "bodies" => (200, self.seen().stats.bodies_to_json()),
            ("GET", "/stats") => (200, self.seen().stats.to_json()),
            ("GET", "/requests") => (200, self.seen().requests.iter().map(Request::to_json).collect()),
            ("POST", "/reset") => {
                self.reset();
                (200, json!({}))
            }
            ("GET", "/health") => (200, json!({ "status": "ok" })),
            _ => (404, json!({ "error": { "message": format!("there is nothing at `{method} {path}`") } })),
        };
        Delivery::json(status, &body, &[])
    }
}
