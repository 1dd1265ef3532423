//! Replies that come in pieces: server-sent events, or a JSON object a line.
//!
//! The pieces may be cut anywhere, in the middle of a letter too. What a stream says is decided by its events alone.

use jurat_core::effect::Endpoint;

use super::{Entry, Events, Failure, Reply};

/// The largest event that is read.
const MAX_EVENT: usize = 64 << 20;

/// Reads a reply that comes in pieces.
#[derive(Debug)]
pub struct StreamDecoder {
    lines: Lines,
    events: Box<dyn Events>,
}

/// A reply that never comes in pieces.
#[derive(Debug)]
struct Whole;

impl Events for Whole {
    fn take(&mut self, _: &[u8]) -> Result<(), Failure> {
        Err(Failure::Garbled("embeddings do not come in pieces".to_owned()))
    }

    fn has_begun(&self) -> bool {
        false
    }

    fn finish(self: Box<Self>) -> Result<Reply, Failure> {
        Err(Failure::Cut)
    }
}

impl StreamDecoder {
    pub(super) fn new(codec: &Entry, endpoint: &Endpoint) -> StreamDecoder {
        let (is_sse, events) = match &codec.pieces {
            Some(pieces) => ((pieces.is_sse)(endpoint), (pieces.events)(endpoint)),
            None => (true, Box::new(Whole) as Box<dyn Events>),
        };
        StreamDecoder { lines: Lines { is_sse, ..Lines::default() }, events }
    }

    /// Takes in the next piece.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let events = &mut self.events;
        self.lines.push(bytes, &mut |data| events.take(data))
    }

    /// Whether something that the model said has come.
    pub fn has_begun(&self) -> bool {
        self.events.has_begun()
    }

    /// The reply, once everything came. Without the provider's mark of the end it is [`Failure::Cut`].
    pub fn finish(mut self) -> Result<Reply, Failure> {
        let events = &mut self.events;
        // The last event may lack the empty line that ends it. If it cannot be read, it was cut.
        self.lines.finish(&mut |data| events.take(data)).map_err(|error| match error {
            Failure::Garbled(_) => Failure::Cut,
            other => other,
        })?;
        self.events.finish().map(Reply::counted)
    }
}

/// Cuts bytes into events. The names of events are not looked at: every provider repeats them in the data.
#[derive(Debug, Default)]
struct Lines {
    is_sse: bool,
    line: Vec<u8>,
    data: Vec<u8>,
}

type Each<'f> = &'f mut dyn FnMut(&[u8]) -> Result<(), Failure>;

impl Lines {
    fn push(&mut self, mut bytes: &[u8], each: Each<'_>) -> Result<(), Failure> {
        while let Some(at) = bytes.iter().position(|it| *it == b'\n') {
            self.line.extend_from_slice(&bytes[..at]);
            bytes = &bytes[at + 1..];
            self.end_line(each)?;
        }
        self.line.extend_from_slice(bytes);
        match self.line.len() + self.data.len() > MAX_EVENT {
            true => Err(Failure::Garbled(format!("an event has more than {} MiB", MAX_EVENT >> 20))),
            false => Ok(()),
        }
    }

    fn finish(&mut self, each: Each<'_>) -> Result<(), Failure> {
        self.end_line(each)?;
        self.end_event(each)
    }

    fn end_line(&mut self, each: Each<'_>) -> Result<(), Failure> {
        let line = self.line.strip_suffix(b"\r").unwrap_or(&self.line);
        if line.is_empty() {
            self.line.clear();
            return self.end_event(each);
        }
        let data = if self.is_sse { line.strip_prefix(b"data:") } else { Some(line) };
        if let Some(data) = data {
            if !self.data.is_empty() {
                self.data.push(b'\n');
            }
            self.data.extend_from_slice(data.strip_prefix(b" ").unwrap_or(data));
        }
        self.line.clear();
        if self.is_sse { Ok(()) } else { self.end_event(each) }
    }

    fn end_event(&mut self, each: Each<'_>) -> Result<(), Failure> {
        if self.data.is_empty() {
            return Ok(());
        }
        let taken = each(&self.data);
        self.data.clear();
        taken
    }
}
