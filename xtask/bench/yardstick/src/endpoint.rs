//! An endpoint that answers every chat completion with the same verdict after a fixed time, and counts.
//!
//! It runs on one thread and does not look into what it is asked, so that it is never what a run waits for. Beside
//! `POST /v1/chat/completions` there are `GET /tally`, which tells what was counted, and `POST /reset`, which starts again;
//! either ends its connection.

use std::io::{self, Read};
use std::net::Ipv4Addr;
use std::process;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::Said;
use crate::http::{self, Message};
use crate::questions;

/// Prints the address, then answers until standard input ends. Whoever started it holds the other end, so it never
/// outlives them.
pub(crate) fn serve(latency: Duration) -> Said {
    thread::spawn(|| {
        // Whether it ends or breaks, nobody is there any more.
        let _ = io::stdin().read_to_end(&mut Vec::new());
        process::exit(0);
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = listener()?;
        println!("{}", listener.local_addr()?);
        accept(listener, Arc::new(Endpoint::new(latency))).await?;
        Ok(Value::Null)
    })
}

/// Listens where there is room. Those who come in hundreds at the same moment would find the usual queue full, and try again after a second.
fn listener() -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
    socket.listen(QUEUE)
}

/// How many may wait to be let in.
const QUEUE: u32 = 4096;

/// Answers whoever connects.
pub(crate) async fn accept(listener: TcpListener, endpoint: Arc<Endpoint>) -> io::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let endpoint = Arc::clone(&endpoint);
        tokio::spawn(async move {
            // A client that goes away in the middle is its own business; what it asked is counted.
            let _ = endpoint.converse(stream).await;
        });
    }
}

/// What is answered, when, and what was counted.
pub(crate) struct Endpoint {
    latency: Duration,
    reply: Vec<u8>,
    tally: Mutex<Tally>,
}

/// What the endpoint has seen since it was started or reset.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Tally {
    pub(crate) requests: u64,
    /// Connections that asked at least once.
    pub(crate) connections: u64,
    in_flight: u64,
    /// The most requests that were in flight at once.
    pub(crate) peak: u64,
    /// When the first request was there, since 1970.
    first: Option<Duration>,
    /// When the last reply went out.
    last: Option<Duration>,
}

impl Tally {
    fn arrived(&mut self, now: Duration, has_asked_before: bool) {
        self.requests += 1;
        self.connections += u64::from(!has_asked_before);
        self.in_flight += 1;
        self.peak = self.peak.max(self.in_flight);
        self.first.get_or_insert(now);
    }

    fn answered(&mut self, now: Duration) {
        self.in_flight -= 1;
        self.last = Some(now);
    }

    fn to_json(&self) -> Value {
        let microseconds = |it: Option<Duration>| it.map(|it| it.as_micros() as u64);
        json!({
            "requests": self.requests,
            "connections": self.connections,
            "peak": self.peak,
            "first_us": microseconds(self.first),
            "last_us": microseconds(self.last),
        })
    }
}

impl Endpoint {
    pub(crate) fn new(latency: Duration) -> Endpoint {
        Endpoint { latency, reply: response("200 OK", &completion()), tally: Mutex::default() }
    }

    pub(crate) fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().expect("nothing panics while it counts")
    }

    async fn converse(&self, mut stream: TcpStream) -> io::Result<()> {
        let mut buffer = Vec::with_capacity(8192);
        let mut has_asked = false;
        loop {
            let Some(message) = next(&mut stream, &mut buffer).await? else { return Ok(()) };
            let line = buffer.split(|it| *it == b'\r').next().unwrap_or_default();
            match line {
                b"POST /v1/chat/completions HTTP/1.1" => {
                    self.tally().arrived(now(), has_asked);
                    has_asked = true;
                    if !self.latency.is_zero() {
                        tokio::time::sleep(self.latency).await;
                    }
                    // Before the reply: what a client sends after it must not find this one still in flight.
                    self.tally().answered(now());
                    stream.write_all(&self.reply).await?;
                }
                b"GET /tally HTTP/1.1" => {
                    let tally = self.tally().to_json();
                    return stream.write_all(&response("200 OK", &tally)).await;
                }
                b"POST /reset HTTP/1.1" => {
                    *self.tally() = Tally::default();
                    return stream.write_all(&response("200 OK", &json!({}))).await;
                }
                other => {
                    let message = format!("there is nothing at `{}`", String::from_utf8_lossy(other));
                    let error = json!({ "error": { "message": message, "type": "not_found" } });
                    stream.write_all(&response("404 Not Found", &error)).await?;
                }
            }
            buffer.drain(..message.whole);
        }
    }
}

/// Reads until the buffer starts with a whole message; nothing when the other side is done.
pub(crate) async fn next(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> io::Result<Option<Message>> {
    loop {
        let found = http::message(buffer).map_err(|it| io::Error::new(io::ErrorKind::InvalidData, it))?;
        if found.is_some() {
            return Ok(found);
        }
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
}

fn response(status: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}")
        .into_bytes()
}

fn completion() -> Value {
    json!({
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_767_225_600,
        "model": "yardstick",
        "choices": [{
            "index": 0,
            "message": { "role": "assistant", "content": questions::verdict().to_string() },
            "finish_reason": "stop",
        }],
        "usage": { "prompt_tokens": 90, "completion_tokens": 20, "total_tokens": 110 },
    })
}

/// The time as other processes see it too.
fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tally_knows_how_many_were_in_flight_at_once() {
        let mut tally = Tally::default();
        let at = Duration::from_micros;
        tally.arrived(at(10), false);
        tally.arrived(at(11), false);
        tally.answered(at(12));
        tally.arrived(at(13), true);
        tally.answered(at(14));
        tally.answered(at(15));
        let expected = json!({ "requests": 3, "connections": 2, "peak": 2, "first_us": 10, "last_us": 15 });
        assert_eq!(tally.to_json(), expected);
    }
}
