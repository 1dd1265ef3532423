//! A client on the bare socket, so that no library fixes what the endpoint breaks.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

/// An answer as it came.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
    /// Whether the body is complete.
    pub(crate) complete: bool,
}

impl Answer {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }

    /// The data of each event of a stream, whatever the framing.
    pub(crate) fn events(&self) -> Vec<&str> {
        let data = |line: &'_ str| !line.is_empty() && !line.starts_with("event: ");
        self.body.lines().filter(|it| data(it)).map(|it| it.strip_prefix("data: ").unwrap_or(it)).collect()
    }
}

/// A connection that stays open.
pub(crate) struct Client(BufReader<TcpStream>);

impl Client {
    pub(crate) fn connect(port: u16) -> Client {
        Client(BufReader::new(TcpStream::connect(("127.0.0.1", port)).expect("the endpoint listens")))
    }

    /// Sends a request and does not wait for its answer.
    pub(crate) fn send(&mut self, path: &str, headers: &str, body: &str) {
        let length = body.len();
        let request = format!("POST {path} HTTP/1.1\r\nhost: test\r\n{headers}content-length: {length}\r\n\r\n{body}");
        self.0.get_mut().write_all(request.as_bytes()).expect("the endpoint listens");
    }

    /// Sends bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.0.get_mut().write_all(bytes).expect("the endpoint listens");
    }

    /// Reads an answer. The error is that of the socket: a reset, or an end before the first byte.
    pub(crate) fn receive(&mut self) -> std::io::Result<Answer> {
        let first = self.line()?;
        let status = first.split(' ').nth(1).and_then(|it| it.parse().ok()).expect("a status line");
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(": ") else { break };
            headers.push((name.to_owned(), value.to_owned()));
        }
        let mut answer = Answer { status, headers, body: String::new(), complete: false };
        if status == 100 {
            return Ok(answer);
        }
        let (body, complete) = match answer.header("content-length") {
            Some(length) => self.exactly(length.parse().expect("a number")),
            None => self.chunks(),
        };
        answer.body = String::from_utf8_lossy(&body).into_owned();
        answer.complete = complete;
        Ok(answer)
    }

    fn line(&mut self) -> std::io::Result<String> {
        let mut line = String::new();
        match self.0.read_line(&mut line)? {
            0 => Err(std::io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(line.trim_end().to_owned()),
        }
    }

    fn exactly(&mut self, length: usize) -> (Vec<u8>, bool) {
        let mut body = Vec::new();
        let read = self.0.by_ref().take(length as u64).read_to_end(&mut body);
        let complete = read.is_ok() && body.len() == length;
        (body, complete)
    }

    fn chunks(&mut self) -> (Vec<u8>, bool) {
        let mut body = Vec::new();
        loop {
            let Ok(line) = self.line() else { return (body, false) };
            let length = usize::from_str_radix(&line, 16).expect("the length of a chunk");
            let (chunk, complete) = self.exactly(length);
            body.extend(chunk);
            let ended = self.exactly(2).1;
            if length == 0 || !complete || !ended {
                return (body, complete && ended);
            }
        }
    }
}

/// Asks once, on a connection of its own.
#[track_caller]
pub(crate) fn post(port: u16, path: &str, body: &Value) -> Answer {
    try_post(port, path, body).expect("an answer")
}

pub(crate) fn try_post(port: u16, path: &str, body: &Value) -> std::io::Result<Answer> {
    let mut client = Client::connect(port);
    client.send(path, "anthropic-version: 2023-06-01\r\n", &body.to_string());
    client.receive()
}

pub(crate) fn get(port: u16, path: &str) -> Answer {
    let mut client = Client::connect(port);
    client.write(format!("GET {path} HTTP/1.1\r\nhost: test\r\n\r\n").as_bytes());
    client.receive().expect("an answer")
}

pub(crate) const CHAT: &str = "/v1/chat/completions";

/// A question in the format of OpenAI chat.
pub(crate) fn question(text: &str) -> Value {
    json!({ "model": "test-1", "messages": [{ "role": "user", "content": text }] })
}

/// The text of an answer in the format of OpenAI chat.
#[track_caller]
pub(crate) fn text(answer: &Answer) -> String {
    answer.json()["choices"][0]["message"]["content"].as_str().expect("a text").to_owned()
}
