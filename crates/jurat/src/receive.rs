//! A receiver of traces on this machine (OTLP over HTTP): what programs send is written to files, which [`crate::import`] reads.
//!
//! It listens on the loopback address alone, and refuses requests that name another host, so that a page in a browser cannot reach it under a
//! name of its own. Each request is a file as soon as it is answered: ending the process loses nothing.

use std::fs::{self, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use jurat_import::{Input, KINDS, NoFolder, Options, import};

/// The port that OTLP over HTTP usually has.
pub const USUAL_PORT: u16 = 4318;

/// The most bytes of one request.
const MAX_BODY: usize = 64 << 20;
/// The most bytes of the lines before the body.
const MAX_HEAD: usize = 64 << 10;
/// The most connections at a time.
const MAX_CONNECTIONS: usize = 64;
/// How long a connection may be silent.
const IDLE: Duration = Duration::from_secs(60);

/// A receiver that listens.
#[derive(Debug)]
pub struct Receiver {
    listener: TcpListener,
    directory: PathBuf,
}

/// A request that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// The file.
    pub file: PathBuf,
    /// How many bytes it has.
    pub bytes: usize,
}

impl Receiver {
    /// Listens on a port of the loopback address, 0 for any that is free, and writes to a directory, which is made.
    pub fn bind(port: u16, directory: &Path) -> io::Result<Receiver> {
        fs::create_dir_all(directory)?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        Ok(Receiver { listener, directory: directory.to_owned() })
    }

    /// Where it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Receives until `received` returns `false`, which is asked after each request that was written.
    pub fn serve(self, mut received: impl FnMut(&Received) -> bool) -> io::Result<()> {
        let (sender, receiver) = channel();
        let files = Arc::new(Mutex::new(Files { directory: self.directory, n_files: 0 }));
        let listener = self.listener;
        thread::spawn(move || {
            let connections = Arc::new(());
            for stream in listener.incoming().flatten() {
                if Arc::strong_count(&connections) > MAX_CONNECTIONS {
                    continue;
                }
                let (connection, files, sender) = (Arc::clone(&connections), Arc::clone(&files), sender.clone());
                thread::spawn(move || {
                    // A connection that breaks off is the sender's; the others are served.
                    let _ = converse(&stream, &files, &sender);
                    drop(connection);
                });
            }
        });
        for written in receiver {
            if !received(&written?) {
                break;
            }
        }
        Ok(())
    }
}

/// The files that were written, which are numbered.
struct Files {
    directory: PathBuf,
    n_files: usize,
}

impl Files {
    fn write(&mut self, ending: &str, body: &[u8]) -> io::Result<Received> {
        loop {
            self.n_files += 1;
            let file = self.directory.join(format!("request-{:06}.{ending}", self.n_files));
            match OpenOptions::new().write(true).create_new(true).open(&file) {
                // Those of an earlier receiver stay.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
                Ok(mut opened) => {
                    opened.write_all(body)?;
                    return Ok(Received { file, bytes: body.len() });
                }
            }
        }
    }
}

/// Answers the requests of a connection, one after the other.
fn converse(stream: &TcpStream, files: &Mutex<Files>, sender: &Sender<io::Result<Received>>) -> io::Result<()> {
    stream.set_read_timeout(Some(IDLE))?;
    stream.set_write_timeout(Some(IDLE))?;
    let mut reader = BufReader::new(stream);
    while let Some(head) = Head::read(&mut reader)? {
        match request(&head, &mut reader) {
            Err(refusal) => {
                answer(stream, refusal.status, "text/plain", refusal.reason.as_bytes())?;
                return Ok(());
            }
            Ok(body) => {
                let is_json = head.value("content-type").is_some_and(|it| it.starts_with("application/json"));
                // What an import would refuse is not stored: one such file would keep all others from being read.
                let checked = checked(&body);
                if let Err(why) = &checked {
                    answer(stream, "400 Bad Request", "text/plain", format!("{why}\n").as_bytes())?;
                    continue;
                }
                let (ending, kind, reply) =
                    if is_json { ("json", "application/json", "{}") } else { ("pb", "application/x-protobuf", "") };
                if checked == Ok(Holds::Nothing) {
                    answer(stream, "200 OK", kind, reply.as_bytes())?;
                    continue;
                }
                let written = files.lock().unwrap_or_else(PoisonError::into_inner).write(ending, &body);
                let status = if written.is_ok() { "200 OK" } else { "500 Internal Server Error" };
                let answered = answer(stream, status, kind, reply.as_bytes());
                // The last request may end the process, so its sender is answered first.
                let _ = sender.send(written);
                answered?;
            }
        }
    }
    Ok(())
}

fn answer(mut stream: &TcpStream, status: &str, kind: &str, body: &[u8]) -> io::Result<()> {
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(&[head.as_bytes(), body].concat())
}

/// Why a request is not taken.
struct Refusal {
    status: &'static str,
    reason: String,
}

/// What a body has in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// Traces or log records, as they are imported.
    Records,
    /// A request without any, of which there is nothing to store.
    Nothing,
}

/// What a body holds; why it is none that is imported.
fn checked(body: &[u8]) -> Result<Holds, String> {
    if matches!(body.trim_ascii(), b"" | b"{}") {
        return Ok(Holds::Nothing);
    }
    let otlp = KINDS.iter().copied().find(|it| it.name == "otlp");
    let input = Input::new("the body", body.to_vec()).map_err(|it| it.to_string())?;
    import(&[input], otlp, &NoFolder, &Options::default()).map_err(|it| it.to_string())?;
    Ok(Holds::Records)
}

/// The body of a request with traces or log records.
fn request(head: &Head, reader: &mut BufReader<&TcpStream>) -> Result<Vec<u8>, Refusal> {
    let refused = |status, reason: &str| Refusal { status, reason: format!("{reason}\n") };
    let host = head.value("host").unwrap_or_default();
    let host = host
        .rsplit_once(':')
        .filter(|(_, port)| port.bytes().all(|it| it.is_ascii_digit()))
        .map_or(host, |(host, _)| host);
    if !matches!(host, "127.0.0.1" | "localhost" | "[::1]") {
        return Err(refused("403 Forbidden", "this receiver is for programs on this machine"));
    }
    if head.method != "POST" {
        return Err(refused("405 Method Not Allowed", "POST traces to /v1/traces"));
    }
    if !matches!(head.path.as_str(), "/v1/traces" | "/v1/logs") {
        return Err(refused("404 Not Found", "traces are taken at /v1/traces, log records at /v1/logs"));
    }
    let body = match head.value("transfer-encoding") {
        Some(it) if it.eq_ignore_ascii_case("chunked") => chunked(reader),
        Some(_) => return Err(refused("501 Not Implemented", "this transfer encoding is not known")),
        None => match head.value("content-length").and_then(|it| it.trim().parse::<usize>().ok()) {
            Some(length) if length > MAX_BODY => None,
            Some(length) => Some(exactly(reader, length)),
            None => return Err(refused("411 Length Required", "a request needs a length")),
        }
        .transpose(),
    };
    match body {
        Ok(Some(body)) => Ok(body),
        Ok(None) => Err(refused("413 Content Too Large", "a request may have 64 MiB")),
        Err(_) => Err(refused("400 Bad Request", "the body is cut off")),
    }
}

fn exactly(reader: &mut impl Read, length: usize) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    reader.take(length as u64).read_to_end(&mut body)?;
    if body.len() < length { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(body) }
}

/// A body in chunks; `None` when it is too large.
fn chunked(reader: &mut BufReader<&TcpStream>) -> io::Result<Option<Vec<u8>>> {
    let mut body = Vec::new();
    loop {
        let line = line(reader)?;
        let size = line.split(';').next().and_then(|it| usize::from_str_radix(it.trim(), 16).ok());
        let size = size.ok_or(io::ErrorKind::InvalidData)?;
        if body.len().saturating_add(size) > MAX_BODY {
            return Ok(None);
        }
        body.extend(exactly(reader, size)?);
        self::line(reader)?;
        if size == 0 {
            return Ok(Some(body));
        }
    }
}

/// The lines before the body.
struct Head {
    method: String,
    path: String,
    fields: Vec<(String, String)>,
}

impl Head {
    /// Reads them; `None` when the connection has ended.
    fn read(reader: &mut BufReader<&TcpStream>) -> io::Result<Option<Head>> {
        let first = line(reader)?;
        let mut words = first.split(' ');
        let (Some(method), Some(path), Some(_)) = (words.next(), words.next(), words.next()) else { return Ok(None) };
        let (method, path) = (method.to_owned(), path.split('?').next().unwrap_or(path).to_owned());
        let (mut fields, mut n_bytes) = (Vec::new(), 0);
        loop {
            let line = line(reader)?;
            n_bytes += line.len();
            if line.is_empty() {
                return Ok(Some(Head { method, path, fields }));
            }
            if n_bytes > MAX_HEAD {
                return Err(io::ErrorKind::InvalidData.into());
            }
            if let Some((name, value)) = line.split_once(':') {
                fields.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
            }
        }
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }
}

fn line(reader: &mut impl io::BufRead) -> io::Result<String> {
    let mut bytes = Vec::new();
    reader.take(MAX_HEAD as u64).read_until(b'\n', &mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}
