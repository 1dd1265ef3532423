//! One request, one answer. Enough to see whether a server is there; what we say to models is said by `jurat-model`.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// A model of 135 million weights on one busy core takes its time.
const TIMEOUT: Duration = Duration::from_secs(120);

#[derive(Debug, PartialEq)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: String,
}

pub(super) fn get(port: u16, path: &str) -> io::Result<Answer> {
    exchange(port, &format!("GET {path} HTTP/1.0\r\nhost: 127.0.0.1\r\n\r\n"))
}

pub(super) fn post(port: u16, path: &str, key: &str, body: &str) -> io::Result<Answer> {
    let length = body.len();
    let headers = format!("content-type: application/json\r\nauthorization: Bearer {key}\r\ncontent-length: {length}");
    exchange(port, &format!("POST {path} HTTP/1.0\r\nhost: 127.0.0.1\r\n{headers}\r\n\r\n{body}"))
}

/// A server of HTTP/1.0 sends no chunks and closes the connection, so the answer ends where the bytes do.
fn exchange(port: u16, request: &str) -> io::Result<Answer> {
    let mut socket = TcpStream::connect_timeout(&SocketAddr::from(([127, 0, 0, 1], port)), TIMEOUT)?;
    socket.set_read_timeout(Some(TIMEOUT))?;
    socket.write_all(request.as_bytes())?;
    let mut bytes = Vec::new();
    socket.read_to_end(&mut bytes)?;
    answer(&String::from_utf8_lossy(&bytes))
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "the answer is no HTTP"))
}

fn answer(text: &str) -> Option<Answer> {
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.strip_prefix("HTTP/1.")?.split(' ').nth(1)?.parse().ok()?;
    Some(Answer { status, body: body.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_a_status_and_a_body() {
        let read = answer("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
        assert_eq!(read, Some(Answer { status: 200, body: "{}".to_owned() }));
        assert_eq!(answer("HTTP/1.1 200 OK\r\n"), None);
        assert_eq!(answer("hello\r\n\r\n"), None);
    }
}
