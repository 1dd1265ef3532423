//! A server that is asked over streamable HTTP.
//!
//! Sessions, versions and streams that are taken up again are `rmcp`'s; this makes the requests, over the same connections, proxies and TLS as
//! those to models. A stream of unrequested messages is not opened: only answers are of use here.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ::http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use ::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri};
use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use jurat_format::value::{Val, shown_within};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};

use super::server::Address;
use super::verbatim::Verbatim;
use crate::transport::connection::{Connection, Dialer, Idle, SendError, words};

/// The longest message that is read.
const MAX_MESSAGE: usize = 64 << 20;

/// How much of an error's body is shown.
const SHOWN: usize = 300;

const SESSION: &str = "mcp-session-id";
const LAST_EVENT: &str = "last-event-id";

/// Makes the requests to one server.
#[derive(Debug, Clone)]
pub(super) struct HttpClient(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    address: Address,
    dialer: Arc<Dialer>,
    verbatim: Arc<Verbatim>,
    idle: Idle,
}

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct HttpFault(pub(super) String);

type Failed = StreamableHttpError<HttpFault>;

impl HttpFault {
    fn of(failed: Failed) -> HttpFault {
        if let StreamableHttpError::Client(fault) = failed { fault } else { HttpFault(failed.to_string()) }
    }
}

fn failed(message: impl Into<String>) -> Failed {
    StreamableHttpError::Client(HttpFault(message.into()))
}

impl HttpClient {
    pub(super) fn new(address: &Address, dialer: &Arc<Dialer>, verbatim: &Arc<Verbatim>) -> HttpClient {
        HttpClient(Arc::new(Inner {
            address: address.clone(),
            dialer: Arc::clone(dialer),
            verbatim: Arc::clone(verbatim),
            idle: Idle::default(),
        }))
    }

    /// Sends a request, with a token where the server wants one. One that the server refuses is renewed, once.
    async fn exchange(&self, mut request: Request<Full<Bytes>>) -> Result<(Connection, Response<Incoming>), Failed> {
        let Inner { address: Address { tokens: Some(tokens), .. }, dialer, .. } = &*self.0 else {
            return self.send(request).await;
        };
        let token = tokens.current(dialer).await.map_err(failed)?;
        if let Some(token) = &token {
            request.headers_mut().insert(AUTHORIZATION, token.header.clone());
        }
        let (connection, response) = self.send(request.clone()).await?;
        if response.status() != StatusCode::UNAUTHORIZED {
            return Ok((connection, response));
        }
        let challenges = response.headers().get_all(WWW_AUTHENTICATE).iter().filter_map(|it| it.to_str().ok());
        let challenge = challenges.collect::<Vec<_>>().join(", ");
        self.whole(connection, response.into_body()).await?;
        let token = tokens.renewed(dialer, token.as_ref(), &challenge).await.map_err(failed)?;
        request.headers_mut().insert(AUTHORIZATION, token.header);
        self.send(request).await
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> Result<(Connection, Response<Incoming>), Failed> {
        let Inner { address: Address { target, .. }, dialer, idle, .. } = &*self.0;
        idle.send(dialer, target, request).await.map_err(|error| match error {
            SendError::NoConnection(error) => failed(format!("no connection to {}: {}", target.shown(), error.message)),
            SendError::Closed => failed("it closed the connection"),
            SendError::Ended { message, .. } => failed(format!("the connection ended: {message}")),
        })
    }

    fn request(&self, method: Method, body: Bytes, headers: HeaderMap) -> Result<Request<Full<Bytes>>, Failed> {
        self.request_at(self.0.address.path.clone(), method, body, headers)
    }

    fn request_at(
        &self,
        path: String,
        method: Method,
        body: Bytes,
        mut headers: HeaderMap,
    ) -> Result<Request<Full<Bytes>>, Failed> {
        let Inner { address: Address { target, headers: ours, .. }, dialer, .. } = &*self.0;
        for (name, value) in ours {
            headers.insert(name, value.clone());
        }
        dialer.request(target, method, path, headers, body).map_err(failed)
    }

    /// The path of an address on the same host.
    pub(super) fn path_of(&self, uri: &Uri) -> Option<String> {
        self.0.address.target.path_of(uri)
    }

    /// Opens the stream of events of a server that says everything there.
    pub(super) async fn subscribe(&self) -> Result<BoxStream<'static, Result<Sse, SseError>>, HttpFault> {
        let headers = headers("text/event-stream", None, None, HashMap::new()).map_err(HttpFault::of)?;
        let request = self.request(Method::GET, Bytes::new(), headers).map_err(HttpFault::of)?;
        let (connection, response) = self.exchange(request).await.map_err(HttpFault::of)?;
        let status = response.status();
        if status.is_success() && is_of_type(&response, "text/event-stream") {
            return Ok(self.events(connection, response.into_body()));
        }
        let body = self.whole(connection, response.into_body()).await.map_err(HttpFault::of)?;
        match status.is_success() {
            true => Err(HttpFault(
                "it answers with something else than a stream of events; is it `transport: http`?".to_owned(),
            )),
            false => Err(HttpFault::of(refused(status, &body))),
        }
    }

    /// Sends a message to a path. What it is answered comes elsewhere.
    pub(super) async fn post(&self, path: String, message: Vec<u8>) -> Result<(), HttpFault> {
        let mut headers = headers("*/*", None, None, HashMap::new()).map_err(HttpFault::of)?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let request = self.request_at(path, Method::POST, Bytes::from(message), headers).map_err(HttpFault::of)?;
        let (connection, response) = self.exchange(request).await.map_err(HttpFault::of)?;
        let status = response.status();
        let body = self.whole(connection, response.into_body()).await.map_err(HttpFault::of)?;
        if status.is_success() { Ok(()) } else { Err(HttpFault::of(refused(status, &body))) }
    }

    async fn whole(&self, connection: Connection, mut body: Incoming) -> Result<Vec<u8>, Failed> {
        let mut all = Vec::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|it| failed(format!("the connection ended: {}", words(&it))))?;
            if let Ok(data) = frame.into_data() {
                if all.len() + data.len() > MAX_MESSAGE {
                    return Err(failed(too_long()));
                }
                all.extend_from_slice(&data);
            }
        }
        self.0.idle.put(connection);
        Ok(all)
    }

    /// The events of an answer that comes in pieces, each looked at for what it says word for word.
    fn events(&self, connection: Connection, body: Incoming) -> BoxStream<'static, Result<Sse, SseError>> {
        let n_pending = Arc::new(AtomicUsize::new(0));
        let pieces =
            Pieces { body, connection: Some(connection), client: self.clone(), n_pending: Arc::clone(&n_pending) };
        let pieces = stream::unfold(pieces, async |mut it| Some((it.next().await?, it)));
        let client = self.clone();
        let events = SseStream::from_bytes_stream(Box::pin(pieces));
        let noted = events.inspect(move |event| {
            n_pending.store(0, Ordering::Relaxed);
            if let Ok(Sse { data: Some(data), .. }) = event {
                client.0.verbatim.note(data);
            }
        });
        noted.boxed()
    }
}

/// The pieces of a stream of events. The connection is given back at its end.
struct Pieces {
    body: Incoming,
    connection: Option<Connection>,
    client: HttpClient,
    /// The bytes since the last event.
    n_pending: Arc<AtomicUsize>,
}

impl Pieces {
    async fn next(&mut self) -> Option<Result<Bytes, HttpFault>> {
        loop {
            let Some(frame) = self.body.frame().await else {
                self.connection.take().into_iter().for_each(|it| self.client.0.idle.put(it));
                return None;
            };
            match frame {
                Err(error) => return Some(Err(HttpFault(format!("the connection ended: {}", words(&error))))),
                Ok(frame) => {
                    let Ok(data) = frame.into_data() else { continue };
                    if self.n_pending.fetch_add(data.len(), Ordering::Relaxed) + data.len() > MAX_MESSAGE {
                        return Some(Err(HttpFault(too_long())));
                    }
                    return Some(Ok(data));
                }
            }
        }
    }
}

fn too_long() -> String {
    format!("a message has more than {} MiB", MAX_MESSAGE >> 20)
}

/// The headers of a request besides those of the definition.
fn headers(
    accept: &'static str,
    session: Option<&str>,
    token: Option<&str>,
    further: HashMap<HeaderName, HeaderValue>,
) -> Result<HeaderMap, Failed> {
    let mut headers: HeaderMap = further.into_iter().collect();
    headers.insert(ACCEPT, HeaderValue::from_static(accept));
    if let Some(session) = session {
        let session = HeaderValue::try_from(session).map_err(|_| failed("the name of the session is no header"))?;
        headers.insert(HeaderName::from_static(SESSION), session);
    }
    if let Some(token) = token {
        let mut token =
            HeaderValue::try_from(format!("Bearer {token}")).map_err(|_| failed("the token is no header"))?;
        token.set_sensitive(true);
        headers.insert(AUTHORIZATION, token);
    }
    Ok(headers)
}

fn text_header<'r>(response: &'r Response<Incoming>, name: &str) -> Option<&'r str> {
    response.headers().get(name).and_then(|it| it.to_str().ok())
}

fn is_of_type(response: &Response<Incoming>, wanted: &str) -> bool {
    let found = text_header(response, CONTENT_TYPE.as_str()).and_then(|it| it.split(';').next());
    found.is_some_and(|it| it.trim().eq_ignore_ascii_case(wanted))
}

fn refused(status: StatusCode, body: &[u8]) -> Failed {
    let text = String::from_utf8_lossy(body);
    match text.trim() {
        "" => failed(format!("status {}", status.as_u16())),
        text => failed(format!("status {}: {}", status.as_u16(), shown_within(&Val::from(text), SHOWN))),
    }
}

impl StreamableHttpClient for HttpClient {
    type Error = HttpFault;

    async fn post_message(
        &self,
        _: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        further: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let mut headers =
            headers("application/json, text/event-stream", session.as_deref(), token.as_deref(), further)?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let body = serde_json::to_vec(&message).map_err(StreamableHttpError::Deserialize)?;
        let request = self.request(Method::POST, Bytes::from(body), headers)?;
        let (connection, response) = self.exchange(request).await?;
        let status = response.status();
        if status == StatusCode::NOT_FOUND && session.is_some() {
            return Err(StreamableHttpError::SessionExpired);
        }
        let is_asked = matches!(message, ClientJsonRpcMessage::Request(_));
        let session = text_header(&response, SESSION).map(str::to_owned);
        if status.is_success() && is_of_type(&response, "text/event-stream") {
            let events = self.events(connection, response.into_body());
            return Ok(StreamableHttpPostResponse::Sse(events, session));
        }
        let is_json = is_of_type(&response, "application/json");
        let body = self.whole(connection, response.into_body()).await?;
        if !status.is_success() {
            return Err(refused(status, &body));
        }
        if !is_asked {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        let text = std::str::from_utf8(&body).ok().filter(|_| is_json);
        match text.and_then(|it| serde_json::from_str::<ServerJsonRpcMessage>(it).ok().map(|message| (it, message))) {
            Some((text, message)) => {
                self.0.verbatim.note(text);
                Ok(StreamableHttpPostResponse::Json(message, session))
            }
            None => {
                let shown = shown_within(&Val::Str(String::from_utf8_lossy(&body)), SHOWN);
                Err(failed(format!("it answered with something else than a message: {shown}")))
            }
        }
    }

    async fn delete_session(
        &self,
        _: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        further: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failed> {
        let headers = headers("*/*", Some(&session), token.as_deref(), further)?;
        let request = self.request(Method::DELETE, Bytes::new(), headers)?;
        // A server may not know how to end sessions, which is its own affair.
        self.exchange(request).await.map(drop)
    }

    async fn get_stream(
        &self,
        _: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        further: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failed> {
        let Some(last_event) = last_event else { return Err(StreamableHttpError::ServerDoesNotSupportSse) };
        let mut headers = headers("text/event-stream", session.as_deref(), token.as_deref(), further)?;
        let last_event = HeaderValue::try_from(last_event).map_err(|_| failed("the name of an event is no header"))?;
        headers.insert(HeaderName::from_static(LAST_EVENT), last_event);
        let (connection, response) = self.exchange(self.request(Method::GET, Bytes::new(), headers)?).await?;
        let status = response.status();
        if status.is_success() && is_of_type(&response, "text/event-stream") {
            return Ok(self.events(connection, response.into_body()));
        }
        if status == StatusCode::NOT_FOUND && session.is_some() {
            return Err(StreamableHttpError::SessionExpired);
        }
        let body = self.whole(connection, response.into_body()).await?;
        Err(refused(status, &body))
    }
}
