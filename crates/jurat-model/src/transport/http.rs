//! One request and its reply.

use std::error::Error as _;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST, PROXY_AUTHORIZATION};
use http::{HeaderMap, Method, Request, Response, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use jurat_core::effect::FaultKind;

use super::connection::{Target, Unanswered, Wire, words};
use super::lane::Lane;
use super::secret::Secrets;
use super::{Failed, Transport};
use crate::codec::{Codec, Failure, Received, Reply};

/// The largest reply that is read.
const MAX_REPLY: usize = 64 << 20;

/// A model that is asked over HTTP.
#[derive(Debug)]
pub(crate) struct Http {
    pub(crate) codec: Codec,
    pub(crate) target: Target,
    /// Everything but the host. Values that are secrets are marked so, and are not shown.
    pub(crate) headers: HeaderMap,
    pub(crate) secrets: Secrets,
}

impl Transport {
    /// Makes one request. The connection comes back when another request can use it.
    pub(super) async fn exchange(
        &self,
        lane: &Lane,
        http: &Http,
        path: &str,
        body: Bytes,
        stream: bool,
    ) -> (Result<Reply, Failed>, Option<Wire>) {
        let request = match self.request(http, path, body) {
            Ok(request) => request,
            Err(failed) => return (Err(failed), None),
        };
        let (mut wire, response) = match self.send(lane, http, request).await {
            Ok(sent) => sent,
            Err(failed) => return (Err(failed), None),
        };
        // What fails after a status of success has been worked on, an error in the middle of a stream too.
        let may_cost = response.status().is_success();
        let result = self.receive(http, &mut wire, response, stream).await;
        // One whose reply was not read to its end closes, and whoever takes it then notices.
        let wire = (!wire.is_closed()).then_some(wire);
        let result = match result {
            Ok(mut reply) => {
                http.secrets.scrub_reply(&mut reply);
                Ok(reply)
            }
            Err(failed) => {
                let may_cost = failed.may_cost || may_cost;
                Err(Failed { message: http.secrets.scrubbed(failed.message), may_cost, ..failed })
            }
        };
        (result, wire)
    }

    fn request(&self, http: &Http, path: &str, body: Bytes) -> Result<Request<Full<Bytes>>, Failed> {
        let Target { origin, authority, base_path } = &http.target;
        let path = format!("{base_path}{path}");
        let proxy = self.dialer.plain_proxy(&http.target);
        let uri = match proxy {
            // A proxy is told where to go.
            Some(_) => format!(
                "{}://{}{path}",
                origin.scheme_str().unwrap_or("http"),
                origin.authority().map_or("", |it| it.as_str())
            ),
            None => path,
        };
        let uri = Uri::try_from(uri).map_err(|it| Failed::new(FaultKind::Unsupported, format!("no address: {it}")))?;
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = uri;
        let headers = request.headers_mut();
        headers.clone_from(&http.headers);
        headers.insert(HOST, authority.clone());
        if let Some(auth) = proxy.as_ref().and_then(|it| it.basic_auth()) {
            headers.insert(PROXY_AUTHORIZATION, auth.clone());
        }
        Ok(request)
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
                        format!("no connection to {}: {}", shown(&http.target), error.message),
                    )
                })?,
            };
            match wire.send(request).await {
                Ok(response) => return Ok((wire, response)),
                Err(Unanswered::Closed(unsent)) if !is_new => request = unsent,
                Err(Unanswered::Closed(_)) => {
                    let message = format!("{} closed the connection", shown(&http.target));
                    return Err(Failed::new(FaultKind::Connect, message));
                }
                Err(Unanswered::Failed(mut error)) => match error.take_message() {
                    Some(unsent) if !is_new => request = unsent,
                    _ => return Err(ended(error.error(), http.target.host_and_port())),
                },
            }
        }
    }

    async fn receive(
        &self,
        http: &Http,
        wire: &mut Wire,
        response: Response<Incoming>,
        stream: bool,
    ) -> Result<Reply, Failed> {
        let (codec, host) = (http.codec, http.target.host_and_port());
        let (head, mut body) = response.into_parts();
        let is_stream = stream
            && head.status.is_success()
            && head.headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok()).is_some_and(is_streamed);
        if is_stream {
            let mut decoder = codec.stream();
            while let Some(piece) = next(wire, &mut body, host).await? {
                decoder.push(&piece).map_err(|it| Failed::of(it, host))?;
            }
            return decoder.finish().map_err(|it| Failed::of(it, host));
        }
        let body = whole(wire, &mut body, host).await?;
        let header = |name: &str| head.headers.get(name).and_then(|it| it.to_str().ok());
        let received =
            Received { status: head.status.as_u16(), header: &header, body: &body, at_ms: (self.options.now_ms)() };
        codec.decode(&received).map_err(|it| Failed::of(it, host))
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
            return Err(Failed::new(
                FaultKind::Garbled,
                format!("the reply of {host} has more than {} MiB", MAX_REPLY >> 20),
            ));
        }
        all.extend_from_slice(&piece);
    }
    Ok(Bytes::from(all))
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

fn shown(target: &Target) -> String {
    target.origin.to_string().trim_end_matches('/').to_owned()
}

impl Failed {
    /// A failure with the host that it came from.
    fn of(failure: Failure, host: &str) -> Failed {
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
