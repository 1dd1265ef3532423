//! A server that answers with bytes exactly as a test gives them, for what no orderly endpoint would send.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    /// The request line and the headers, in lower case.
    pub(crate) head: Vec<String>,
    pub(crate) body: Vec<u8>,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.iter().find_map(|it| it.strip_prefix(name)?.strip_prefix(": "))
    }
}

/// A server on its own thread. Each connection carries one request.
pub(crate) struct Raw {
    pub(crate) address: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Raw {
    /// Answers the request with this number, from 0; the connection is closed after it.
    pub(crate) fn start(mut answer: impl FnMut(usize, &mut TcpStream) + Send + 'static) -> Raw {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let address = listener.local_addr().expect("it has an address").to_string();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&seen);
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let Some(request) = request(&stream) else { continue };
                let number = {
                    let mut seen = shared.lock().expect("no test panics with it");
                    seen.push(request);
                    seen.len() - 1
                };
                answer(number, &mut stream);
            }
        });
        Raw { address, seen }
    }

    /// Answers every request with these bytes.
    pub(crate) fn saying(bytes: impl Into<Vec<u8>>) -> Raw {
        let bytes = bytes.into();
        // A client that has seen enough closes first.
        Raw::start(move |_, stream| drop(stream.write_all(&bytes)))
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("no test panics with it").clone()
    }
}

/// An answer with a length. It says that the connection ends with it, so that no client sends its next request on one that is about to close.
pub(crate) fn answer(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let mut bytes =
        format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n{headers}\r\n", body.len())
            .into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

fn request(stream: &TcpStream) -> Option<Seen> {
    let mut reader = BufReader::new(stream);
    let lines = reader.by_ref().lines().map_while(Result::ok);
    let head: Vec<String> = lines.take_while(|it| !it.is_empty()).map(|it| it.to_ascii_lowercase()).collect();
    let mut seen = Seen { head, body: Vec::new() };
    let length = seen.header("content-length").and_then(|it| it.parse().ok()).unwrap_or(0);
    seen.body.resize(length, 0);
    reader.read_exact(&mut seen.body).ok()?;
    (!seen.head.is_empty()).then_some(seen)
}
