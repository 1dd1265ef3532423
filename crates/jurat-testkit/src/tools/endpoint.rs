//! The tools behind streamable HTTP, and behind the stream of events that came before it.

use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};

use super::guard::{Given, Guard};
use super::{Manners, Reply, Tools};
use crate::http::{Message, gone, read};

/// A server with tools on loopback, at `/mcp`. It ends when it is dropped.
#[derive(Debug)]
pub struct ToolEndpoint {
    port: u16,
    state: Arc<Mutex<State>>,
    _end: oneshot::Sender<()>,
}

#[derive(Debug)]
struct State {
    tools: Tools,
    is_streamed: bool,
    /// The one session there is, by number. A request of another one is answered that there is none.
    n_sessions: usize,
    seen: Vec<String>,
    refusal: Option<u16>,
    /// What wants tokens, if anything does.
    guard: Option<Guard>,
    given: Given,
    /// Where answers go that were asked for at `/messages`.
    stream: Option<mpsc::UnboundedSender<String>>,
}

impl ToolEndpoint {
    /// Starts one that answers with JSON, or with streams of events.
    ///
    /// # Panics
    ///
    /// When loopback has no free port.
    pub fn start(manners: Manners, is_streamed: bool) -> ToolEndpoint {
        ToolEndpoint::with_state(State {
            tools: Tools::new(manners),
            is_streamed,
            n_sessions: 0,
            seen: Vec::new(),
            refusal: None,
            guard: None,
            given: Given::default(),
            stream: None,
        })
    }

    /// Starts one that wants tokens, and gives them.
    pub fn guarded(guard: Guard) -> ToolEndpoint {
        let endpoint = ToolEndpoint::start(Manners::default(), false);
        endpoint.lock().guard = Some(guard);
        endpoint
    }

    fn with_state(state: State) -> ToolEndpoint {
        let state = Arc::new(Mutex::new(state));
        let (end, ended) = oneshot::channel::<()>();
        let (port_sender, port) = std::sync::mpsc::channel();
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
            runtime.block_on(async move {
                let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("loopback has a free port");
                port_sender
                    .send(listener.local_addr().expect("it has an address").port())
                    .expect("the test waits for it");
                tokio::select! {
                    () = serve(listener, shared) => {}
                    _ = ended => {}
                }
            });
        });
        ToolEndpoint { port: port.recv().expect("it says its port"), state, _end: end }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    /// The address of the stream of events, in the way of 2024-11-05.
    pub fn sse_url(&self) -> String {
        format!("http://127.0.0.1:{}/sse", self.port)
    }

    /// Returns what it was asked: method of HTTP, method of the message, and the header `x-key` if there is one.
    pub fn seen(&self) -> Vec<String> {
        self.lock().seen.clone()
    }

    /// Forgets the session, as a server that was started again does.
    pub fn forget_session(&self) {
        self.lock().n_sessions += 1;
    }

    /// Refuses every token that it gave so far.
    pub fn revoke_tokens(&self) {
        self.lock().given.revoke();
    }

    /// The address where tokens are given.
    pub fn token_url(&self) -> String {
        format!("http://127.0.0.1:{}/as/token", self.port)
    }

    /// Returns the forms that asked for tokens.
    pub fn token_requests(&self) -> Vec<String> {
        self.lock().seen.iter().filter_map(|it| it.strip_prefix("token ").map(str::to_owned)).collect()
    }

    /// Answers everything with this status from now on.
    pub fn refuse(&self, status: u16) {
        self.lock().refusal = Some(status);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(listener: TcpListener, state: Arc<Mutex<State>>) {
    while let Ok((socket, _)) = listener.accept().await {
        tokio::spawn(converse(socket, Arc::clone(&state)));
    }
}

/// What is done about a request.
enum Reaction {
    Send(String),
    /// The connection is closed after it.
    SendAndClose(String),
    /// There will be no answer.
    Wait,
    /// Events follow, as long as the other end is held.
    Subscribe(mpsc::UnboundedReceiver<String>),
}

async fn converse(mut socket: TcpStream, state: Arc<Mutex<State>>) {
    let mut buffer = Vec::new();
    while let Ok(request) = read(&mut socket, &mut buffer).await {
        let reaction = lock(&state).react(&request);
        let (text, is_last) = match reaction {
            Reaction::Send(text) => (text, false),
            Reaction::SendAndClose(text) => (text, true),
            Reaction::Wait => return gone(&socket).await,
            Reaction::Subscribe(events) => return stream(socket, events).await,
        };
        if socket.write_all(text.as_bytes()).await.is_err() || is_last {
            return;
        }
    }
}

async fn stream(mut socket: TcpStream, mut events: mpsc::UnboundedReceiver<String>) {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let first = chunk(": welcome\n\n") + &chunk("event: endpoint\ndata: /messages?session_id=7\n\n");
    if socket.write_all((head.to_owned() + &first).as_bytes()).await.is_err() {
        return;
    }
    while let Some(event) = events.recv().await {
        if socket.write_all(chunk(&event).as_bytes()).await.is_err() {
            return;
        }
    }
    // A client that has closed its end does not read the end of ours.
    let _ = socket.write_all(chunk("").as_bytes()).await;
}

impl State {
    fn react(&mut self, request: &Message) -> Reaction {
        let message: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let key = request.header("x-key").map(|it| format!(" {it}")).unwrap_or_default();
        let method = message["method"].as_str().unwrap_or("-");
        self.seen.push(match request.target.as_str() {
            "/as/token" => format!("token {}", String::from_utf8_lossy(&request.body)),
            _ => format!("{} {method}{key}", request.method),
        });
        let guarded = self.guard.as_ref().and_then(|it| it.answer(&mut self.given, request));
        if let Some((status, headers, body)) = guarded {
            let length = body.len();
            return Reaction::Send(format!(
                "HTTP/1.1 {status} Status\r\n{headers}content-length: {length}\r\n\r\n{body}"
            ));
        }
        if let Some(status) = self.refusal {
            return Reaction::Send(plain(status, "go away"));
        }
        let session = self.n_sessions.to_string();
        let is_lost = request.header("mcp-session-id").is_some_and(|it| it != session);
        match request.method.as_str() {
            _ if is_lost => Reaction::Send(plain(404, "no such session")),
            "DELETE" => Reaction::Send(plain(200, "")),
            "GET" if request.target == "/sse" => {
                let (sender, events) = mpsc::unbounded_channel();
                self.stream = Some(sender);
                Reaction::Subscribe(events)
            }
            "POST" if request.target == "/messages?session_id=7" => self.answer_in_stream(&message),
            "POST" => self.answer(&message, &session),
            _ => Reaction::Send(plain(405, "")),
        }
    }

    fn answer_in_stream(&mut self, message: &Value) -> Reaction {
        match (self.tools.take(message), &self.stream) {
            (Reply::Answer(answer), Some(stream)) => drop(stream.send(format!("event: message\ndata: {answer}\n\n"))),
            (Reply::Die, _) => self.stream = None,
            _ => {}
        }
        Reaction::Send(plain(202, "Accepted"))
    }

    fn answer(&mut self, message: &Value, session: &str) -> Reaction {
        let head = |kind: &str| format!("HTTP/1.1 200 OK\r\nmcp-session-id: {session}\r\ncontent-type: {kind}\r\n");
        let streamed = head("text/event-stream") + "transfer-encoding: chunked\r\n\r\n";
        match self.tools.take(message) {
            Reply::Nothing if message.get("id").is_none() => Reaction::Send(plain(202, "")),
            Reply::Nothing | Reply::Messages(_) => Reaction::Wait,
            // The beginning of an answer whose end never comes.
            Reply::Die if self.is_streamed => Reaction::SendAndClose(streamed + &chunk(": so far\n\n")),
            Reply::Die => Reaction::SendAndClose(head("application/json") + "content-length: 100\r\n\r\n{"),
            Reply::Answer(answer) if self.is_streamed => {
                // Cut within a line, as networks do.
                let event = format!("event: message\ndata: {answer}\n\n");
                let (first, second) = event.split_at(event.len() / 2);
                Reaction::Send(streamed + &chunk(first) + &chunk(second) + &chunk(""))
            }
            Reply::Answer(answer) => {
                let answer = answer.to_string();
                Reaction::Send(format!("{}content-length: {}\r\n\r\n{answer}", head("application/json"), answer.len()))
            }
        }
    }
}

fn plain(status: u16, text: &str) -> String {
    format!("HTTP/1.1 {status} Status\r\ncontent-type: text/plain\r\ncontent-length: {}\r\n\r\n{text}", text.len())
}

/// A piece of a body; the empty one ends it.
fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}
