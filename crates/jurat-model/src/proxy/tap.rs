//! A reply in progress, read as it passes to the agent.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use jurat_core::effect::{Endpoint, Finish, Usage};

use super::scrubber::Scrubber;
use super::serve::Shared;
use super::spending::SetAside;
use crate::codec::{Codec, Failure, Received, Reply, StreamDecoder};
use crate::transport::connection::Connection;

/// The largest reply whose tokens are counted when it comes in one piece.
const MAX_WHOLE: usize = 64 << 20;

/// Reads a reply as it passes.
pub(super) enum Reading {
    /// In pieces.
    Stream(Box<StreamDecoder>, Result<(), Failure>),
    /// In one piece, once it is complete.
    Whole(Codec, Vec<u8>),
    /// Not at all.
    Nothing,
}

impl Reading {
    pub(super) fn of(codec: Option<Codec>, is_streamed: bool) -> Reading {
        match codec {
            None => Reading::Nothing,
            Some(codec) if is_streamed => Reading::Stream(Box::new(codec.stream(&Endpoint::default())), Ok(())),
            Some(codec) => Reading::Whole(codec, Vec::new()),
        }
    }

    pub(super) fn take(&mut self, bytes: &[u8]) {
        match self {
            Reading::Stream(decoder, read @ Ok(())) => *read = decoder.push(bytes),
            Reading::Whole(_, whole) if whole.len() + bytes.len() <= MAX_WHOLE => whole.extend_from_slice(bytes),
            Reading::Stream(..) | Reading::Whole(..) | Reading::Nothing => {}
        }
    }

    /// What a reply says, or what is wrong with it.
    pub(super) fn finish(self, status: u16) -> Result<ReplyRead, Failure> {
        let reply = match self {
            Reading::Nothing => return Ok(ReplyRead::default()),
            Reading::Stream(decoder, Ok(())) => decoder.finish(),
            Reading::Stream(_, Err(failure)) => Err(failure),
            Reading::Whole(codec, whole) => {
                codec.decode(&Endpoint::default(), &Received { status, header: &|_| None, body: &whole, at_ms: 0 })
            }
        };
        reply.map(ReplyRead::of)
    }
}

/// What is read from a reply that passes.
#[derive(Debug, Default)]
pub(super) struct ReplyRead {
    pub(super) usage: Option<Usage>,
    pub(super) finish: Option<Finish>,
    /// The words of a refusal.
    pub(super) refusal: Option<String>,
}

impl ReplyRead {
    fn of(reply: Reply) -> ReplyRead {
        let Reply { text, finish, usage, .. } = reply;
        let refusal = (finish == Finish::Refusal).then_some(text);
        ReplyRead { usage, finish: Some(finish), refusal }
    }
}

/// A reply in progress.
pub(super) struct Tap {
    inner: Incoming,
    connection: Option<Connection>,
    shared: Arc<Shared>,
    /// Which exchange it belongs to.
    exchange: usize,
    status: u16,
    begun: Instant,
    reading: Reading,
    scrubber: Scrubber,
    recorded: Vec<u8>,
    n_bytes: u64,
    /// What is set aside for it, until it is known what it took.
    _set_aside: Option<SetAside>,
}

impl Tap {
    pub(super) fn new(
        inner: Incoming,
        connection: Connection,
        shared: Arc<Shared>,
        (exchange, begun, set_aside): (usize, Instant, Option<SetAside>),
        status: u16,
        reading: Reading,
        scrubber: Scrubber,
    ) -> Tap {
        Tap {
            inner,
            connection: Some(connection),
            shared,
            exchange,
            status,
            begun,
            reading,
            scrubber,
            recorded: Vec::new(),
            n_bytes: 0,
            _set_aside: set_aside,
        }
    }

    /// Reads a part of the reply, and returns what of it can be passed on.
    fn take(&mut self, bytes: &Bytes) -> Bytes {
        self.n_bytes += bytes.len() as u64;
        self.reading.take(bytes);
        let clean = self.scrubber.push(bytes);
        self.record(&clean);
        clean
    }

    /// The record has what is passed on: a key that is spread over events could not be found in it later.
    fn record(&mut self, clean: &Bytes) {
        let room = self.shared.options.recorded_bytes.saturating_sub(self.recorded.len());
        self.recorded.extend_from_slice(&clean[..room.min(clean.len())]);
    }

    /// What was held back, when nothing more comes.
    fn rest(&mut self) -> Bytes {
        let rest = self.scrubber.finish();
        self.record(&rest);
        rest
    }

    /// Writes down what passed, once.
    fn conclude(&mut self, end: End) {
        let Some(connection) = self.connection.take() else { return };
        if end == End::NotWaitedFor && self.n_bytes == 0 {
            self.shared.not_answered(self.exchange, self.begun.elapsed());
        }
        if end == End::Complete {
            self.shared.idle.put(connection);
        }
        let reading = std::mem::replace(&mut self.reading, Reading::Nothing);
        let read = match end {
            End::Complete => reading.finish(self.status),
            End::Cut => Err(Failure::Cut),
            // What it counted so far counts: it was worked for.
            End::NotWaitedFor => Ok(reading.finish(self.status).unwrap_or_default()),
        };
        let note = (end == End::NotWaitedFor).then_some("the agent did not wait for the end");
        self.shared.conclude(
            self.exchange,
            self.status,
            (&self.recorded, self.n_bytes),
            read,
            note,
            self.begun.elapsed(),
        );
    }
}

/// How a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Complete,
    Cut,
    NotWaitedFor,
}

impl Body for Tap {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        loop {
            let Poll::Ready(frame) = Pin::new(&mut self.inner).poll_frame(context) else { return Poll::Pending };
            let passed = match frame {
                Some(Ok(frame)) => {
                    // What follows a body is not passed on: nothing in it is for the agent.
                    let Ok(bytes) = frame.into_data() else { continue };
                    self.take(&bytes)
                }
                Some(Err(error)) => {
                    self.rest();
                    self.conclude(End::Cut);
                    return Poll::Ready(Some(Err(error)));
                }
                None => {
                    let rest = self.rest();
                    self.conclude(End::Complete);
                    return Poll::Ready((!rest.is_empty()).then(|| Ok(Frame::data(rest))));
                }
            };
            if self.inner.is_end_stream() && self.scrubber.holds_nothing() {
                self.conclude(End::Complete);
            }
            if !passed.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(passed))));
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream() && self.scrubber.holds_nothing()
    }

    fn size_hint(&self) -> SizeHint {
        // A key takes another number of bytes than what stands in its place.
        if self.scrubber.is_idle() { self.inner.size_hint() } else { SizeHint::default() }
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        // A reply without a body is never asked for a piece.
        let end = if self.inner.is_end_stream() { End::Complete } else { End::NotWaitedFor };
        self.rest();
        self.conclude(end);
    }
}
