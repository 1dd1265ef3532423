//! One request and its reply.

use std::error::Error as _;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, LOCATION};
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use jurat_core::effect::{Endpoint, FaultClass, FaultKind};
use tokio::time::Instant;

use super::connection::{Target, Unanswered, Wire, words};
use super::lane::Lane;
use super::secret::Secrets;
use super::{Failed, Question, Transport, timed_out};
use crate::codec::{Codec, Failure, Received, Reply, WireRequest};
use crate::key::{Issued, Key, Signable};
use crate::model::{Kind, Model};

/// The largest reply that is read.
const MAX_REPLY: usize = 64 << 20;

/// How many addresses a request is sent to, one after the other.
const MAX_HOPS: usize = 5;

/// A model that is asked over HTTP.
#[derive(Debug)]
pub(crate) struct Http {
    pub(crate) codec: Codec,
    pub(crate) target: Target,
    /// Everything but the host. Values that are secrets are marked so, and are not shown.
    pub(crate) headers: HeaderMap,
    pub(crate) secrets: Secrets,
    /// What authenticates requests beside the headers.
    pub(crate) key: Key,
}

impl Transport {
    /// Makes one request, and another one with a new key where a command gives one for the key that was refused. The connection comes back when
    /// another request can use it.
    pub(super) async fn exchange(
        &self,
        lane: &Lane,
        http: &Http,
        endpoint: &Endpoint,
        question: &Question,
        stream: bool,
    ) -> (Result<Reply, Failed>, Option<Wire>) {
        let mut refused = None;
        loop {
            let now_ms = (self.options.now_ms)();
            let issued = match http.key.issued(refused.as_ref(), now_ms, self.options.supervisor.as_ref()).await {
                Ok(issued) => issued,
                Err(failed) => return (Err(failed), None),
            };
            let (result, wire) = self.once(lane, http, issued.as_ref(), (endpoint, question), stream).await;
            match (&result, issued) {
                (Err(failed), Some(issued)) if failed.class == FaultClass::WrongKey && refused.is_none() => {
                    refused = Some(issued);
                }
                _ => return (result, wire),
            }
        }
    }

    async fn once(
        &self,
        lane: &Lane,
        http: &Http,
        issued: Option<&Arc<Issued>>,
        (endpoint, question): (&Endpoint, &Question),
        stream: bool,
    ) -> (Result<Reply, Failed>, Option<Wire>) {
        let started = Instant::now();
        let scrubbed = |message| {
            let message = http.secrets.scrubbed(message);
            issued.map_or_else(|| message.clone(), |it| it.secrets.scrubbed(message.clone()))
        };
        let (mut wire, response) = match self.followed(lane, http, issued, question).await {
            Ok(sent) => sent,
            Err(failed) => {
                return (Err(Failed { message: scrubbed(failed.message), ..failed }), None);
            }
        };
        // What fails after a status of success has been worked on, an error in the middle of a stream too.
        let may_cost = response.status().is_success();
        let streamed_since = (stream || http.codec.always_streams(endpoint)).then_some(started);
        let result = self.receive(http, endpoint, (&mut wire, response), streamed_since).await;
        // One whose reply was not read to its end closes, and the request that takes it then notices.
        let wire = (!wire.is_closed()).then_some(wire);
        let result = match result {
            Ok(mut reply) => {
                http.secrets.scrub_reply(&mut reply);
                issued.inspect(|it| it.secrets.scrub_reply(&mut reply));
                Ok(reply)
            }
            Err(failed) => {
                let may_cost = failed.may_cost || may_cost;
                Err(Failed { message: scrubbed(failed.message), may_cost, ..failed })
            }
        };
        (result, wire)
    }

    /// Makes a request that asks no model, such as one about a batch, and hands on the body of its reply piece by piece. What a failure leaves of it is
    /// handed on, too.
    pub(super) async fn fetch(
        &self,
        model: &Model,
        request: &WireRequest,
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<(), Failed> {
        let Kind::Http(http) = &model.kind else {
            return Err(Failed::new(FaultKind::Unsupported, "it is not asked over the network"));
        };
        let question = Question::of(request.clone()).map_err(|it| Failed::new(FaultKind::Unsupported, it))?;
        let lane = self.lane(model);
        let mut refused = None;
        loop {
            let now_ms = (self.options.now_ms)();
            let issued = http.key.issued(refused.as_ref(), now_ms, self.options.supervisor.as_ref()).await?;
            let fetched = self.fetch_once(&lane, (model, http), issued.as_ref(), &question, take).await;
            match (fetched, issued) {
                (Err(failed), Some(issued)) if failed.class == FaultClass::WrongKey && refused.is_none() => {
                    refused = Some(issued);
                }
                (fetched, issued) => {
                    return fetched.map_err(|failed| {
                        let message = http.secrets.scrubbed(failed.message);
                        let message = issued.map_or_else(|| message.clone(), |it| it.secrets.scrubbed(message.clone()));
                        Failed { message, ..failed }
                    });
                }
            }
        }
    }

    /// The time limit is one for the head of the reply and for each piece: a large file takes as long as it takes.
    async fn fetch_once(
        &self,
        lane: &Lane,
        (model, http): (&Model, &Http),
        issued: Option<&Arc<Issued>>,
        question: &Question,
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<(), Failed> {
        let limit = model.timeout.unwrap_or(self.options.request_timeout);
        let late = |_| timed_out(model, limit);
        let sent = Box::pin(self.followed(lane, http, issued, question));
        let (mut wire, response) = tokio::time::timeout(limit, sent).await.map_err(late)??;
        let host = http.target.host_and_port();
        let (head, mut body) = response.into_parts();
        uncompressed(&head.headers, host)?;
        if !head.status.is_success() {
            let body = tokio::time::timeout(limit, whole(&mut wire, &mut body, host)).await.map_err(late)??;
            let header = |name: &str| head.headers.get(name).and_then(|it| it.to_str().ok());
            let received =
                Received { status: head.status.as_u16(), header: &header, body: &body, at_ms: (self.options.now_ms)() };
            return http.codec.decode(&model.endpoint, &received).map(drop).map_err(|it| Failed::of(it, host));
        }
        while let Some(piece) = tokio::time::timeout(limit, next(&mut wire, &mut body, host)).await.map_err(late)?? {
            take(&piece);
        }
        Ok(())
    }

    /// Sends a request, and once more where the server says that it is elsewhere on the same host.
    async fn followed(
        &self,
        lane: &Lane,
        http: &Http,
        issued: Option<&Arc<Issued>>,
        question: &Question,
    ) -> Result<(Wire, Response<Incoming>), Failed> {
        let Question { method, content_type, body, .. } = question;
        let mut path = http.target.with_query(format!("{}{}", http.target.base_path, question.path));
        for _ in 0..MAX_HOPS {
            let mut headers = http.headers.clone();
            match content_type {
                Some(it) => drop(headers.insert(CONTENT_TYPE, HeaderValue::from_static(it))),
                None => drop(headers.remove(CONTENT_TYPE)),
            }
            let uri = format!("{}{path}", http.target.shown());
            let signable = Signable { method: method.as_str(), uri: &uri, body, now_ms: (self.options.now_ms)() };
            http.key.authenticate(&mut headers, issued.map(|it| &**it), &signable)?;
            let request = self.dialer.request(&http.target, method.clone(), path, headers, body.clone());
            let request = request.map_err(|it| Failed::new(FaultKind::Unsupported, it))?;
            let (wire, response) = self.send(lane, http, request).await?;
            match redirected(&http.target, &response)? {
                None => return Ok((wire, response)),
                Some(elsewhere) => path = elsewhere,
            }
        }
        let message = format!("{} redirects without end", http.target.host_and_port());
        Err(Failed { is_final: true, ..Failed::new(FaultKind::Status(308), message) })
    }

    /// Sends a request over an idle connection, or over a new one. A connection that turns out to be closed before anything was sent is
    /// replaced; that is no failure of the request.
    async fn send(
        &self,
        lane: &Lane,
        http: &Http,
        mut request: Request<Full<Bytes>>,
    ) -> Result<(Wire, Response<Incoming>), Failed> {
        loop {
            let idle = lane.idle_wire();
            let is_new = idle.is_none();
            let mut wire = match idle {
                Some(wire) => wire,
                None => Box::pin(self.dialer.wire(&http.target)).await.map_err(|error| Failed {
                    is_final: error.is_final,
                    ..Failed::new(
                        FaultKind::Connect,
                        format!("no connection to {}: {}", http.target.shown(), error.message),
                    )
                })?,
            };
            match wire.send(request).await {
                Ok(response) => return Ok((wire, response)),
                Err(Unanswered::Closed(unsent)) if !is_new => request = unsent,
                Err(Unanswered::Closed(_)) => {
                    let message = format!("{} closed the connection", http.target.shown());
                    return Err(Failed::new(FaultKind::Connect, message));
                }
                Err(Unanswered::Failed(mut error)) => match error.take_message() {
                    Some(unsent) if !is_new => request = unsent,
                    _ => return Err(ended(error.error(), http.target.host_and_port())),
                },
            }
        }
    }

    /// Reads a reply. `streamed_since` is when a reply was asked for that comes in pieces.
    async fn receive(
        &self,
        http: &Http,
        endpoint: &Endpoint,
        (wire, response): (&mut Wire, Response<Incoming>),
        streamed_since: Option<Instant>,
    ) -> Result<Reply, Failed> {
        let (codec, host) = (http.codec, http.target.host_and_port());
        let (head, mut body) = response.into_parts();
        uncompressed(&head.headers, host)?;
        let content_type = head.headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let is_streamed = content_type.is_some_and(is_streamed) || codec.always_streams(endpoint);
        if let Some(started) = streamed_since.filter(|_| is_streamed && head.status.is_success()) {
            let (mut decoder, mut n_bytes, mut first_token) = (codec.stream(endpoint), 0, None);
            while let Some(piece) = next(wire, &mut body, host).await? {
                n_bytes += piece.len();
                if n_bytes > MAX_REPLY {
                    return Err(too_large(host));
                }
                decoder.push(&piece).map_err(|it| Failed::of(it, host))?;
                if first_token.is_none() && decoder.has_begun() {
                    first_token = Some(started.elapsed());
                }
            }
            let reply = decoder.finish().map_err(|it| Failed::of(it, host))?;
            return Ok(Reply { first_token, ..reply });
        }
        let body = whole(wire, &mut body, host).await?;
        let header = |name: &str| head.headers.get(name).and_then(|it| it.to_str().ok());
        let received =
            Received { status: head.status.as_u16(), header: &header, body: &body, at_ms: (self.options.now_ms)() };
        codec.decode(endpoint, &received).map_err(|it| Failed::of(it, host))
    }
}

/// The path on the same host that a reply sends a request to; `None` when it is a reply like any other. To another host nothing is sent: it would
/// get the key.
fn redirected(target: &Target, response: &Response<Incoming>) -> Result<Option<String>, Failed> {
    let status = response.status();
    let location = response.headers().get(LOCATION).and_then(|it| it.to_str().ok());
    let Some(location) = location.filter(|_| status.is_redirection()) else { return Ok(None) };
    let path = location.parse().ok().and_then(|it| target.path_of(&it));
    match path.filter(|_| matches!(status.as_u16(), 307 | 308)) {
        Some(path) => Ok(Some(path)),
        None => {
            let (host, status) = (target.host_and_port(), status.as_u16());
            let message = format!(
                "HTTP {status} from {host}: it redirects to `{location}`, which is not followed; if that address is right, \
                 make it `base_url`"
            );
            Err(Failed { is_final: true, ..Failed::new(FaultKind::Status(status), message) })
        }
    }
}

/// Whether a body comes as it is. Nothing else was asked for, and asking again would be paid for again.
fn uncompressed(headers: &HeaderMap, host: &str) -> Result<(), Failed> {
    match headers.get(CONTENT_ENCODING).filter(|it| *it != "identity" && !it.is_empty()) {
        None => Ok(()),
        Some(encoding) => {
            let encoding = String::from_utf8_lossy(encoding.as_bytes());
            let message =
                format!("the reply of {host} is compressed (`{encoding}`), although `identity` was asked for");
            Err(Failed { is_final: true, ..Failed::new(FaultKind::Garbled, message) })
        }
    }
}

/// Some servers answer a request for a stream with an ordinary reply, which is as good.
fn is_streamed(content_type: &str) -> bool {
    ["text/event-stream", "application/x-ndjson"].iter().any(|it| content_type.starts_with(it))
}

async fn whole(wire: &mut Wire, body: &mut Incoming, host: &str) -> Result<Bytes, Failed> {
    let Some(first) = next(wire, body, host).await? else { return Ok(Bytes::new()) };
    let Some(second) = next(wire, body, host).await? else { return Ok(first) };
    let mut all = Vec::with_capacity((first.len() + second.len()) * 2);
    all.extend_from_slice(&first);
    all.extend_from_slice(&second);
    while let Some(piece) = next(wire, body, host).await? {
        if all.len() + piece.len() > MAX_REPLY {
            return Err(too_large(host));
        }
        all.extend_from_slice(&piece);
    }
    Ok(Bytes::from(all))
}

/// Asking again would be paid for again, and hardly be answered otherwise.
fn too_large(host: &str) -> Failed {
    let message = format!("the reply of {host} has more than {} MiB", MAX_REPLY >> 20);
    Failed { is_final: true, ..Failed::new(FaultKind::Garbled, message) }
}

async fn next(wire: &mut Wire, body: &mut Incoming, host: &str) -> Result<Option<Bytes>, Failed> {
    loop {
        match wire.frame(body).await {
            None => return Ok(None),
            Some(Ok(frame)) => match frame.into_data() {
                Ok(data) if !data.is_empty() => return Ok(Some(data)),
                _ => {}
            },
            Some(Err(error)) => return Err(ended(&error, host)),
        }
    }
}

/// A connection that ended, or brought something that is not HTTP.
fn ended(error: &hyper::Error, host: &str) -> Failed {
    if error.is_parse() {
        return Failed::new(FaultKind::Garbled, format!("the reply of {host} is not HTTP: {}", words(error)));
    }
    let io = error.source().and_then(|it| it.downcast_ref::<std::io::Error>());
    let message = match io.map(std::io::Error::kind) {
        Some(std::io::ErrorKind::ConnectionReset) => format!("{host} reset the connection"),
        Some(_) => format!("the connection to {host} ended: {}", words(error)),
        None => format!("the connection to {host} ended before the reply was complete"),
    };
    Failed::new(FaultKind::Cut, message)
}

impl Failed {
    /// A failure with the host that it came from.
    pub(super) fn of(failure: Failure, host: &str) -> Failed {
        match failure {
            Failure::Api(error) => {
                let colon = if error.message.is_empty() { "" } else { ": " };
                let message = format!("HTTP {} from {host}{colon}{}", error.status, error.message);
                Failed {
                    class: error.class,
                    retry_after: error.retry_after,
                    is_final: error.is_final,
                    ..Failed::new(FaultKind::Status(error.status), message)
                }
            }
            Failure::Garbled(message) => {
                Failed::new(FaultKind::Garbled, format!("invalid reply from {host}: {message}"))
            }
            Failure::Cut => Failed::new(FaultKind::Cut, format!("the reply of {host} ended before it was complete")),
        }
    }
}
