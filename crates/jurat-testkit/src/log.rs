//! The log of requests, for tests that kill the endpoint and ask afterwards what it had seen.
//!
//! A line is written with one call and without a buffer of ours, so whatever was logged is in the file even if the process
//! is killed the next moment. A request is logged before it is looked at, and an answer after its last byte was handed to
//! the system: an answer that the log calls sent can reach the client, and one that it does not mention may have.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use serde_json::{Value, json};

use crate::stats::Ending;

/// One line of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// The request it is about. Numbers continue where the file ended, so they are unique in it.
    pub number: u64,
    /// The [digest](crate::Request::digest) of the request.
    pub digest: u64,
    pub event: Event,
}

/// What happened to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// It arrived whole.
    Arrived,
    /// A complete reply with status 200 was sent.
    Sent,
    /// It ended in another way: with an error status, a broken answer, or because the client went away.
    Failed,
}

impl Event {
    const NAMES: [(Event, &str); 3] = [(Event::Arrived, "arrived"), (Event::Sent, "sent"), (Event::Failed, "failed")];

    fn name(self) -> &'static str {
        Event::NAMES.iter().find(|(it, _)| *it == self).map(|(_, name)| *name).expect("every event has a name")
    }
}

/// Reads a log. A last line that was not finished is left out.
pub fn read_log(file: impl AsRef<Path>) -> io::Result<Vec<LogLine>> {
    let text = fs::read_to_string(file)?;
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().map(|line| read_line(line).ok_or_else(|| invalid(line))).collect()
}

fn read_line(line: &str) -> Option<LogLine> {
    let line: Value = serde_json::from_str(line).ok()?;
    let (event, _) = Event::NAMES.iter().find(|(_, name)| line["event"] == *name)?;
    let digest = u64::from_str_radix(line["body"].as_str()?, 16).ok()?;
    Some(LogLine { number: line["request"].as_u64()?, digest, event: *event })
}

fn invalid(line: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("`{line}` is no line of a request log"))
}

/// A log that is being written.
#[derive(Debug)]
pub(crate) struct Log {
    file: File,
    before: u64,
}

impl Log {
    /// Continues where the file ends, if there is one. It may be a pipe.
    pub(crate) fn append(path: &Path) -> io::Result<Log> {
        let is_file = fs::metadata(path).is_ok_and(|it| it.is_file());
        let before = if is_file { repaired(path)? } else { 0 };
        Ok(Log { file: OpenOptions::new().append(true).create(true).open(path)?, before })
    }

    pub(crate) fn arrived(&mut self, number: u64, digest: u64, path: &str) {
        self.write(number, digest, Event::Arrived, ("path", json!(path)));
    }

    pub(crate) fn ended(&mut self, number: u64, digest: u64, ending: Ending) {
        let (event, how) = match ending {
            Ending::Answer => (Event::Sent, "answer"),
            Ending::Error => (Event::Failed, "error"),
            Ending::Broken => (Event::Failed, "broken"),
            Ending::Abandoned => (Event::Failed, "abandoned"),
        };
        self.write(number, digest, event, ("how", json!(how)));
    }

    fn write(&mut self, number: u64, digest: u64, event: Event, (name, value): (&str, Value)) {
        let (number, body) = (self.before + number, format!("{digest:016x}"));
        let line = json!({ "request": number, "body": body, "event": event.name(), name: value });
        // A test would draw wrong conclusions from a log with holes.
        self.file.write_all(format!("{line}\n").as_bytes()).expect("the request log can be written");
    }
}

/// Removes a last line that was not finished, because the next one would be glued to it. Returns the last number.
fn repaired(path: &Path) -> io::Result<u64> {
    let whole = fs::read(path)?.iter().rposition(|it| *it == b'\n').map_or(0, |end| end + 1);
    OpenOptions::new().write(true).open(path)?.set_len(whole as u64)?;
    Ok(read_log(path)?.iter().map(|it| it.number).max().unwrap_or(0))
}
