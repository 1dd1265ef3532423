//! As much of HTTP as a coordinator and its processes need: one request for each connection, short bodies of JSON.
//!
//! Both sides are ours, on a network that is trusted with the token. What is longer than it may be, or takes too long, is given up.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// How long a side waits for the other.
const TIMEOUT: Duration = Duration::from_secs(5);
const LONGEST_HEAD: u64 = 16 << 10;
/// The state of a thousand workers fits.
const LONGEST_BODY: u64 = 4 << 20;

/// What is asked.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) method: String,
    pub(super) path: String,
    /// What follows `Bearer`.
    pub(super) token: String,
    pub(super) body: Vec<u8>,
}

/// Reads the request of a connection.
pub(super) fn read_request(stream: &TcpStream) -> io::Result<Asked> {
    limit(stream)?;
    let mut reader = BufReader::new(stream);
    let (first, headers) = head(&mut reader)?;
    let mut words = first.split(' ');
    let (Some(method), Some(path)) = (words.next(), words.next()) else { return Err(malformed()) };
    let token = headers.get("authorization").and_then(|it| it.strip_prefix("Bearer ")).unwrap_or_default().trim();
    let body = body(&mut reader, &headers)?;
    Ok(Asked { method: method.to_owned(), path: path.to_owned(), token: token.to_owned(), body })
}

/// Answers a request.
pub(super) fn write_reply(mut stream: &TcpStream, status: u16, content_type: &str, body: &str) -> io::Result<()> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status} {}\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n",
        if status == 200 { "OK" } else { "No" }
    );
    stream.write_all(&[head.as_bytes(), body.as_bytes()].concat())
}

/// Asks, and returns the status and the body of the reply.
pub(super) fn ask(address: &str, token: &str, method: &str, path: &str, body: &str) -> io::Result<(u16, Vec<u8>)> {
    let mut error = io::Error::new(io::ErrorKind::NotFound, format!("`{address}` has no address"));
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, TIMEOUT) {
            Ok(stream) => return ask_over(&stream, &address.to_string(), token, method, path, body),
            Err(refused) => error = refused,
        }
    }
    Err(error)
}

fn ask_over(
    mut stream: &TcpStream,
    host: &str,
    token: &str,
    method: &str,
    path: &str,
    sent: &str,
) -> io::Result<(u16, Vec<u8>)> {
    limit(stream)?;
    let length = sent.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{sent}"
    );
    stream.write_all(request.as_bytes())?;
    let mut reader = BufReader::new(stream);
    let (first, headers) = head(&mut reader)?;
    let status = first.split(' ').nth(1).and_then(|it| it.parse().ok()).ok_or_else(malformed)?;
    Ok((status, body(&mut reader, &headers)?))
}

fn limit(stream: &TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    stream.set_nodelay(true)
}

/// The first line, and the headers by their names in small letters.
fn head(reader: &mut impl BufRead) -> io::Result<(String, BTreeMap<String, String>)> {
    let mut limited = reader.take(LONGEST_HEAD);
    let mut line = || -> io::Result<String> {
        let mut line = String::new();
        limited.read_line(&mut line)?;
        line.strip_suffix("\r\n").map(str::to_owned).ok_or_else(malformed)
    };
    let (first, mut headers) = (line()?, BTreeMap::new());
    loop {
        let line = line()?;
        if line.is_empty() {
            return Ok((first, headers));
        }
        let (name, value) = line.split_once(':').ok_or_else(malformed)?;
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
}

fn body(reader: &mut impl BufRead, headers: &BTreeMap<String, String>) -> io::Result<Vec<u8>> {
    let length = headers.get("content-length").map_or(Ok(0), |it| it.parse().map_err(|_| malformed()))?;
    if length > LONGEST_BODY {
        return Err(malformed());
    }
    let mut body = vec![0; length as usize];
    reader.read_exact(&mut body)?;
    Ok(body)
}

fn malformed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the message is not HTTP, or too long")
}
