//! How an answer goes over the wire: the bytes, the pauses between them, and how the connection is left.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::fault::{Fault, RetryAfter};
use crate::http::{LAST_CHUNK, Length, answer_head, chunk};
use crate::instance::{self, instance};
use crate::reply::{Reply, Said};
use crate::request::Request;
use crate::script::{Answer, Content};
use crate::stats::Ending;
use crate::wire::{Trouble, Wire};

/// Everything that happens on the socket after a request.
#[derive(Debug)]
pub(crate) struct Delivery {
    pub(crate) pieces: Vec<Vec<u8>>,
    /// The time after each piece but the last.
    pub(crate) pace: Duration,
    pub(crate) then: Then,
    /// What it counts as when all of it was done.
    pub(crate) ending: Ending,
}

/// What becomes of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    Next,
    Close,
    Reset,
    /// Nothing happens any more.
    Hang,
}

impl Delivery {
    /// The answer of a script.
    pub(crate) fn of(request: &Request, answer: &Answer, pace: Duration) -> Delivery {
        let frame = Frame { request, headers: &answer.headers, pace };
        match &answer.content {
            Content::Reply(reply) => frame.reply(reply),
            Content::Fault(fault) => frame.fault(fault),
            Content::Raw { status, content_type, body } => whole(*status, content_type, &answer.headers, body),
        }
    }

    /// An error in the envelope of the wire format.
    pub(crate) fn error(wire: Wire, trouble: &Trouble<'_>, headers: &[(String, String)]) -> Delivery {
        let headers: Vec<_> = headers.iter().cloned().chain(trouble.retry_after.and_then(RetryAfter::header)).collect();
        Delivery::json(trouble.status, &(wire.format().error)(trouble), &headers)
    }

    pub(crate) fn json(status: u16, body: &Value, headers: &[(String, String)]) -> Delivery {
        whole(status, "application/json", headers, body.to_string().as_bytes())
    }

    pub(crate) fn nothing(then: Then) -> Delivery {
        Delivery { pieces: Vec::new(), pace: Duration::ZERO, then, ending: Ending::Broken }
    }
}

/// What surrounds every reply to one request.
struct Frame<'r> {
    request: &'r Request,
    headers: &'r [(String, String)],
    pace: Duration,
}

impl Frame<'_> {
    fn reply(&self, reply: &Reply) -> Delivery {
        self.said(&reply.said(self.request))
    }

    fn said(&self, said: &Said) -> Delivery {
        if self.request.stream {
            let mut events = self.events(said);
            events.content.append(&mut events.finish);
            self.stream(&events.content)
        } else {
            self.body(said, str::as_bytes)
        }
    }

    fn fault(&self, fault: &Fault) -> Delivery {
        let said = || Reply::fitting().said(self.request);
        match fault {
            Fault::Status { status, retry_after } => self.error(*status, *retry_after),
            Fault::Reset => Delivery::nothing(Then::Reset),
            Fault::Close => Delivery::nothing(Then::Close),
            Fault::Silence => Delivery::nothing(Then::Hang),
            Fault::CutBody => cut(self.said(&said())),
            Fault::NoFinish if self.request.stream => broken(self.stream(&self.events(&said()).content)),
            Fault::TruncatedBody | Fault::NoFinish => self.truncated(&said()),
            Fault::StreamError => self.stream_error(&said()),
            Fault::TruncatedText => self.reply(&truncated_text(said())),
            Fault::WrongLabel => self.reply(&wrong_label(self.request)),
            Fault::Refusal => self.reply(&Reply::refusal("I can't help with that.")),
            Fault::Blocked => self.reply(&Reply::blocked()),
        }
    }

    fn error(&self, status: u16, retry_after: Option<RetryAfter>) -> Delivery {
        let trouble = Trouble { status, message: "this failure is part of the test", retry_after };
        Delivery::error(self.request.wire, &trouble, self.headers)
    }

    fn events(&self, said: &Said) -> Events {
        let streamed = (self.request.wire.format().stream)(self.request, said);
        let written = |events: Vec<_>| events.iter().map(|it| self.request.wire.format().framing.written(it)).collect();
        Events { content: written(streamed.content), finish: written(streamed.finish) }
    }

    fn stream(&self, events: &[String]) -> Delivery {
        let mut headers =
            vec![("content-type".to_owned(), self.request.wire.format().framing.content_type().to_owned())];
        headers.extend_from_slice(self.headers);
        let mut pieces = vec![answer_head(200, &headers, Length::Chunked)];
        for event in events {
            let bytes = event.as_bytes();
            // The middle may be inside a character: so it is on real networks.
            let (first, second) = bytes.split_at(if self.pace.is_zero() { bytes.len() } else { bytes.len() / 2 });
            pieces.extend([first, second].into_iter().filter(|it| !it.is_empty()).map(chunk));
        }
        pieces.push(LAST_CHUNK.to_vec());
        Delivery { pieces, pace: self.pace, then: Then::Next, ending: Ending::Answer }
    }

    fn body(&self, said: &Said, part: fn(&str) -> &[u8]) -> Delivery {
        let body = (self.request.wire.format().whole)(self.request, said).to_string();
        whole(200, "application/json", self.headers, part(&body))
    }

    fn truncated(&self, said: &Said) -> Delivery {
        let half = |text: &str| -> usize { text.len() / 2 };
        if !self.request.stream {
            return broken(self.body(said, |it| &it.as_bytes()[..it.len() / 2]));
        }
        let mut events = self.events(said).content;
        if let Some(last) = events.last_mut() {
            let end = (0..=half(last)).rev().find(|at| last.is_char_boundary(*at)).unwrap_or(0);
            last.truncate(end);
        }
        broken(self.stream(&events))
    }

    fn stream_error(&self, said: &Said) -> Delivery {
        if !self.request.stream {
            return self.error(500, None);
        }
        let mut events = self.events(said).content;
        let trouble = Trouble { status: 500, message: "this failure is part of the test", retry_after: None };
        let format = self.request.wire.format();
        events.push(format.framing.written(&(format.stream_error)(&trouble)));
        broken(self.stream(&events))
    }
}

/// A stream, written.
struct Events {
    content: Vec<String>,
    finish: Vec<String>,
}

pub(crate) fn whole(status: u16, content_type: &str, headers: &[(String, String)], body: &[u8]) -> Delivery {
    let mut all = vec![("content-type".to_owned(), content_type.to_owned())];
    all.extend_from_slice(headers);
    // One piece, so that a small answer is one packet.
    let pieces = vec![[answer_head(status, &all, Length::Bytes(body.len())).as_slice(), body].concat()];
    let ending = if status < 400 { Ending::Answer } else { Ending::Error };
    Delivery { pieces, pace: Duration::ZERO, then: Then::Next, ending }
}

fn broken(delivery: Delivery) -> Delivery {
    Delivery { ending: Ending::Broken, ..delivery }
}

/// Ends in the middle of the body. The length that the head promised is never reached.
pub(crate) fn cut(mut delivery: Delivery) -> Delivery {
    if let [only] = delivery.pieces.as_mut_slice() {
        let body = only.windows(4).position(|it| it == b"\r\n\r\n").map_or(0, |at| at + 4);
        only.truncate(body + (only.len() - body) / 2);
    } else {
        delivery.pieces.truncate(1 + (delivery.pieces.len() - 1) / 2);
    }
    broken(Delivery { then: Then::Close, ..delivery })
}

fn truncated_text(said: Said) -> Reply {
    let mut text = said.text;
    let half = text.chars().count() / 2;
    text = text.chars().take(half).collect();
    // Half of `12` is `1`, which no check would notice.
    if serde_json::from_str::<Value>(&text).is_ok() {
        text = "{".to_owned();
    }
    Reply::text(text)
}

/// An instance of the schema in which every word from a fixed list is another word.
fn wrong_label(request: &Request) -> Reply {
    match &request.schema {
        Some(schema) => Reply::json(instance(&relabelled(schema), request.seed())),
        None => Reply::text(instance::NO_LABEL),
    }
}

fn relabelled(schema: &Value) -> Value {
    match schema {
        Value::Object(map) => {
            let change = |(key, value): (&String, &Value)| match key.as_str() {
                "enum" => (key.clone(), Value::from(vec![instance::NO_LABEL])),
                "const" => (key.clone(), Value::from(instance::NO_LABEL)),
                _ => (key.clone(), relabelled(value)),
            };
            Value::Object(map.iter().map(change).collect::<Map<_, _>>())
        }
        Value::Array(items) => Value::Array(items.iter().map(relabelled).collect()),
        other => other.clone(),
    }
}
