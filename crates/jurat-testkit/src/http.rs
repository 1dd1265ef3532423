//! As much HTTP/1.1 as a model endpoint needs, on the socket itself: faults are sequences of bytes that no server library
//! would send, and the log wants to know when the last byte was handed over.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A request as it stands on the wire.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// Why no request could be read.
#[derive(Debug)]
pub(crate) enum Unreadable {
    /// The client closed the connection, in order or not.
    Gone,
    /// This is not HTTP.
    Malformed,
}

const MOST_HEADERS: usize = 128;
const LONGEST_HEAD: usize = 256 << 10;
const LONGEST_BODY: usize = 64 << 20;

/// Reads one request. The buffer holds what came after it.
pub(crate) async fn read(socket: &mut TcpStream, buffer: &mut Vec<u8>) -> Result<Message, Unreadable> {
    let (mut message, length) = loop {
        match head(buffer)? {
            Some(read) => break read,
            None if buffer.len() > LONGEST_HEAD => return Err(Unreadable::Malformed),
            None => more(socket, buffer).await?,
        }
    };
    buffer.drain(..length);
    if message.header("expect").is_some_and(|it| it.eq_ignore_ascii_case("100-continue")) {
        socket.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
    }
    message.body = if message.header("transfer-encoding").is_some_and(|it| it.eq_ignore_ascii_case("chunked")) {
        chunked_body(socket, buffer).await?
    } else {
        let length = message.header("content-length").map_or(Ok(0), str::parse).map_err(|_| Unreadable::Malformed)?;
        exactly(socket, buffer, length).await?
    };
    Ok(message)
}

/// Waits until the client closes its side. One that sends more instead is still there.
pub(crate) async fn gone(socket: &TcpStream) {
    match socket.peek(&mut [0]).await {
        Ok(0) | Err(_) => {}
        Ok(_) => std::future::pending().await,
    }
}

/// The first lines of an answer.
pub(crate) fn answer_head(status: u16, headers: &[(String, String)], length: Length) -> Vec<u8> {
    let mut text = format!("HTTP/1.1 {status} {}\r\n", reason(status));
    for (name, value) in headers {
        text += &format!("{name}: {value}\r\n");
    }
    text += &match length {
        Length::Bytes(length) => format!("content-length: {length}\r\n\r\n"),
        Length::Chunked => "transfer-encoding: chunked\r\n\r\n".to_owned(),
    };
    text.into_bytes()
}

/// How a client knows where the body ends.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Length {
    Bytes(usize),
    Chunked,
}

/// A piece of a chunked body.
pub(crate) fn chunk(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

/// The end of a chunked body.
pub(crate) const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

impl Message {
    /// Whether the client wants the connection to be closed after the answer.
    pub(crate) fn is_last(&self) -> bool {
        self.header("connection").is_some_and(|it| it.eq_ignore_ascii_case("close"))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }
}

impl From<io::Error> for Unreadable {
    fn from(_: io::Error) -> Unreadable {
        Unreadable::Gone
    }
}

/// Reads what stands before the body, if it is all there, and says how long it is.
fn head(buffer: &[u8]) -> Result<Option<(Message, usize)>, Unreadable> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let Ok(status) = request.parse(buffer) else { return Err(Unreadable::Malformed) };
    let httparse::Status::Complete(length) = status else { return Ok(None) };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let headers = request.headers.iter().map(|it| (it.name.to_ascii_lowercase(), text(it.value))).collect();
    let (method, target) = (request.method.unwrap_or_default().to_owned(), request.path.unwrap_or_default().to_owned());
    Ok(Some((Message { method, target, headers, body: Vec::new() }, length)))
}

async fn chunked_body(socket: &mut TcpStream, buffer: &mut Vec<u8>) -> Result<Vec<u8>, Unreadable> {
    let mut body = Vec::new();
    loop {
        let (head, length) = loop {
            match httparse::parse_chunk_size(buffer) {
                Ok(httparse::Status::Complete(read)) => break read,
                Ok(httparse::Status::Partial) => more(socket, buffer).await?,
                Err(_) => return Err(Unreadable::Malformed),
            }
        };
        buffer.drain(..head);
        let length = usize::try_from(length).map_err(|_| Unreadable::Malformed)?;
        let chunk = exactly(socket, buffer, length).await?;
        exactly(socket, buffer, 2).await?;
        if chunk.is_empty() {
            return Ok(body);
        }
        body.extend(chunk);
        if body.len() > LONGEST_BODY {
            return Err(Unreadable::Malformed);
        }
    }
}

async fn exactly(socket: &mut TcpStream, buffer: &mut Vec<u8>, length: usize) -> Result<Vec<u8>, Unreadable> {
    if length > LONGEST_BODY {
        return Err(Unreadable::Malformed);
    }
    while buffer.len() < length {
        more(socket, buffer).await?;
    }
    let rest = buffer.split_off(length);
    Ok(std::mem::replace(buffer, rest))
}

async fn more(socket: &mut TcpStream, buffer: &mut Vec<u8>) -> Result<(), Unreadable> {
    if socket.read_buf(buffer).await? == 0 { Err(Unreadable::Gone) } else { Ok(()) }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        408 => "Request Timeout",
        413 => "Payload Too Large",
        422 => "Unprocessable Entity",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Status",
    }
}
