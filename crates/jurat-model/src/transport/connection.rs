//! Opening connections: addresses, proxies, TLS.
//!
//! One connection carries one request at a time (HTTP/1.1 everywhere): a server then sees exactly as many connections as requests under
//! way. That is also why connections are owned by the lanes and not by a pool of a client library, which opens another connection
//! whenever the last one is not back yet.

use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt as _;
use http::header::{HOST, PROXY_AUTHORIZATION};
use http::{HeaderMap, HeaderValue, Method, Request, Response, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Frame, Incoming};
use hyper::client::conn::TrySendError;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::rt::{Read, Write};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio_rustls::TlsConnector;
use tower_service::Service as _;

/// How many bytes of an answer are read at a time.
const READ_BUFFER: usize = 4 << 10;

/// An open connection that looks after itself.
pub(crate) struct Connection {
    pub(crate) sender: SendRequest<Full<Bytes>>,
}

impl Connection {
    pub(crate) fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }
}

/// Connections to one target that wait for another request.
#[derive(Debug, Default)]
pub(crate) struct Idle(Mutex<Vec<Connection>>);

/// The most connections that wait.
const MAX_IDLE: usize = 16;

/// Why a request has no reply, when it is sent over a [`Connection`].
pub(crate) enum SendError {
    NoConnection(DialError),
    /// The connection was closed before anything was sent.
    Closed,
    /// The connection ended.
    Ended {
        message: String,
        was_sent: bool,
    },
}

impl Idle {
    /// Sends a request over an idle connection, or over a new one. A connection that turns out to be closed before anything was sent is
    /// replaced.
    pub(crate) async fn send(
        &self,
        dialer: &Dialer,
        target: &Target,
        mut request: Request<Full<Bytes>>,
    ) -> Result<(Connection, Response<Incoming>), SendError> {
        loop {
            let idle = self.take();
            let is_new = idle.is_none();
            let mut connection = match idle {
                Some(connection) => connection,
                None => Box::pin(dialer.dial(target)).await.map_err(SendError::NoConnection)?,
            };
            if connection.sender.ready().await.is_err() {
                if is_new {
                    return Err(SendError::Closed);
                }
                continue;
            }
            match connection.sender.try_send_request(request).await {
                Ok(response) => return Ok((connection, response)),
                Err(mut error) => match error.take_message() {
                    Some(unsent) if !is_new => request = unsent,
                    unsent => {
                        return Err(SendError::Ended { message: words(error.error()), was_sent: unsent.is_none() });
                    }
                },
            }
        }
    }

    fn take(&self) -> Option<Connection> {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|it| !it.is_closed());
        idle.pop()
    }

    /// Stores a connection whose reply was read to its end.
    pub(crate) fn put(&self, connection: Connection) {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MAX_IDLE && !connection.is_closed() {
            idle.push(connection);
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("is_closed", &self.is_closed()).finish()
    }
}

/// An open connection that is read and written by the task that waits for something on it, so that no other task has to be woken.
pub(crate) struct Wire {
    sender: Option<SendRequest<Full<Bytes>>>,
    /// What reads and writes; `None` when the connection has ended.
    driver: Option<Box<Driver>>,
    /// How many requests were sent since HTTP was begun on the stream.
    n_sent: u32,
}

type Driver = http1::Connection<Box<dyn Stream>, Full<Bytes>>;

/// What carries bytes both ways.
trait Stream: Read + Write + Unpin + Send {}

impl<T: Read + Write + Unpin + Send> Stream for T {}

/// After this number of requests HTTP is begun anew on the same stream. The queue that leads to the driver never has more than one request in it, but gives each a place of its
/// own, 300 bytes long, and does not free what it used: with a thousand connections that is 18 MB after 60 requests each.
const MANY: u32 = 5;

/// Why a request has no reply.
pub(crate) enum Unanswered {
    /// The connection was closed before anything was sent.
    Closed(Request<Full<Bytes>>),
    /// It failed. The request comes back when nothing of it was sent.
    Failed(TrySendError<Request<Full<Bytes>>>),
}

impl Wire {
    async fn over(stream: Box<dyn Stream>) -> hyper::Result<Wire> {
        let mut builder = http1::Builder::new();
        // Left to itself the buffer doubles whenever it was filled, and a thousand connections hold what one long answer needed.
        builder.read_buf_exact_size(Some(READ_BUFFER));
        let (sender, driver) = builder.handshake(stream).await?;
        Ok(Wire { sender: Some(sender), driver: Some(Box::new(driver)), n_sent: 0 })
    }

    /// The connection, read and written by a task of its own; `None` when it has ended.
    fn attended(self) -> Option<Connection> {
        // It ends with the connection; what went wrong is reported by the request that met it.
        self.driver.map(|driver| tokio::spawn(async move { driver.await.unwrap_or_default() }));
        self.sender.map(|sender| Connection { sender })
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.driver.is_none() || self.sender.as_ref().is_none_or(SendRequest::is_closed)
    }

    /// Sends a request and waits for the beginning of its reply. Only now it is noticed when the connection was closed meanwhile.
    pub(crate) async fn send(&mut self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, Unanswered> {
        if self.is_ready().await && self.n_sent >= MANY {
            self.begin_anew().await;
        }
        if !self.is_ready().await {
            return Err(Unanswered::Closed(request));
        }
        let Some(sender) = &mut self.sender else { return Err(Unanswered::Closed(request)) };
        self.n_sent += 1;
        let sent = sender.try_send_request(request);
        driven(&mut self.driver, sent).await.map_err(Unanswered::Failed)
    }

    /// Waits until a request can be sent; never again when the connection has ended.
    async fn is_ready(&mut self) -> bool {
        match &mut self.sender {
            Some(sender) => driven(&mut self.driver, sender.ready()).await.is_ok(),
            None => false,
        }
    }

    /// Begins HTTP anew on the stream, between two requests.
    async fn begin_anew(&mut self) {
        // The old queue goes first, so that the new one can have its room.
        self.sender = None;
        let Some(driver) = self.driver.take() else { return };
        let http1::Parts { io, read_buf, .. } = driver.into_parts();
        // A server that sends something unasked would be taken to answer the next request.
        if read_buf.is_empty()
            && let Ok(anew) = Wire::over(io).await
        {
            *self = anew;
        }
    }

    /// The next piece of a reply that came this way.
    pub(crate) async fn frame(&mut self, body: &mut Incoming) -> Option<hyper::Result<Frame<Bytes>>> {
        driven(&mut self.driver, body.frame()).await
    }
}

impl fmt::Debug for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wire").field("is_closed", &self.is_closed()).finish()
    }
}

/// Waits for something while the connection is read and written.
async fn driven<F: Future>(driver: &mut Option<Box<Driver>>, awaited: F) -> F::Output {
    let mut awaited = pin!(awaited);
    poll_fn(|context| {
        // First, because being waited for is what makes the driver read.
        if let Poll::Ready(it) = awaited.as_mut().poll(context) {
            return Poll::Ready(it);
        }
        if driver.as_mut().is_some_and(|it| it.poll_unpin(context).is_ready()) {
            *driver = None;
        }
        awaited.as_mut().poll(context)
    })
    .await
}

/// Where requests go.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    /// `scheme://host:port`
    pub(crate) origin: Uri,
    /// The host and, where it is not the usual one, the port.
    pub(crate) authority: HeaderValue,
    /// What stands before every path.
    pub(crate) base_path: String,
    /// What every query begins with.
    query: Option<String>,
}

impl Target {
    /// The target of an address; `None` when it is no address.
    pub(crate) fn read(address: &str) -> Option<Target> {
        let uri: Uri = address.parse().ok()?;
        let authority = uri.authority()?.clone();
        let scheme = uri.scheme_str().filter(|it| matches!(*it, "http" | "https"))?.to_owned();
        let origin =
            Uri::builder().scheme(scheme.as_str()).authority(authority.clone()).path_and_query("/").build().ok()?;
        Some(Target {
            origin,
            authority: HeaderValue::from_str(authority.as_str()).ok()?,
            base_path: uri.path().trim_end_matches('/').to_owned(),
            query: uri.query().filter(|it| !it.is_empty()).map(str::to_owned),
        })
    }

    /// A path that may have a query of its own, with what every query has.
    pub(crate) fn with_query(&self, path: String) -> String {
        match &self.query {
            None => path,
            Some(query) if path.contains('?') => format!("{path}&{query}"),
            Some(query) => format!("{path}?{query}"),
        }
    }

    /// The path of an address on this host; `None` when it is on another one.
    pub(crate) fn path_of(&self, uri: &Uri) -> Option<String> {
        let is_here = match (uri.scheme_str(), uri.authority()) {
            (None, None) => uri.path().starts_with('/'),
            (Some(scheme), Some(authority)) => {
                Some(scheme) == self.origin.scheme_str() && authority.as_str() == self.host_and_port()
            }
            _ => false,
        };
        is_here.then(|| uri.path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string))
    }

    /// The host with its port, for messages.
    pub(crate) fn host_and_port(&self) -> &str {
        self.origin.authority().map_or("", |it| it.as_str())
    }

    /// Its address without a path, for messages and for proxies.
    pub(crate) fn shown(&self) -> String {
        self.origin.to_string().trim_end_matches('/').to_owned()
    }

    pub(crate) fn is_tls(&self) -> bool {
        self.origin.scheme_str() == Some("https")
    }

    fn host(&self) -> &str {
        self.origin.host().unwrap_or("")
    }

    /// Whether it is this machine, which no proxy can reach.
    pub(crate) fn is_loopback(&self) -> bool {
        let host = self.host().trim_start_matches('[').trim_end_matches(']');
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(|it| it.is_loopback())
    }
}

/// Which proxies to go through, as the usual variables say.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Proxies {
    http: Option<String>,
    https: Option<String>,
    all: Option<String>,
    none_for: Option<String>,
}

impl Proxies {
    /// The proxies of `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`, in capital or small letters. This machine itself is
    /// always reached directly.
    pub fn from_environment(env: &dyn Fn(&str) -> Option<String>) -> Proxies {
        let variable = |name: &str| env(&name.to_lowercase()).or_else(|| env(name)).filter(|it| !it.is_empty());
        Proxies {
            http: variable("HTTP_PROXY"),
            https: variable("HTTPS_PROXY"),
            all: variable("ALL_PROXY"),
            none_for: variable("NO_PROXY"),
        }
    }

    fn matcher(&self) -> Option<Matcher> {
        if self.http.is_none() && self.https.is_none() && self.all.is_none() {
            return None;
        }
        let text = |it: &Option<String>| it.clone().unwrap_or_default();
        let builder = Matcher::builder().http(text(&self.http)).https(text(&self.https)).all(text(&self.all));
        Some(builder.no(text(&self.none_for)).build())
    }
}

/// Their addresses may hold passwords.
impl fmt::Debug for Proxies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_set = |it: &Option<String>| it.is_some();
        f.debug_struct("Proxies")
            .field("http", &is_set(&self.http))
            .field("https", &is_set(&self.https))
            .field("all", &is_set(&self.all))
            .field("none_for", &self.none_for)
            .finish()
    }
}

/// Opens connections.
pub(crate) struct Dialer {
    connector: HttpConnector,
    proxies: Option<Matcher>,
    /// Made when first needed: reading what the system trusts takes a while.
    tls: OnceLock<Result<Arc<ClientConfig>, String>>,
    timeout: Duration,
}

impl fmt::Debug for Dialer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dialer").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

/// Why there is no connection.
#[derive(Debug)]
pub(crate) struct DialError {
    pub(crate) message: String,
    /// Whether trying again is useless.
    pub(crate) is_final: bool,
}

impl DialError {
    fn new(message: impl Into<String>) -> DialError {
        DialError { message: message.into(), is_final: false }
    }

    fn last(message: impl Into<String>) -> DialError {
        DialError { message: message.into(), is_final: true }
    }
}

impl Dialer {
    pub(crate) fn new(proxies: &Proxies, timeout: Duration) -> Dialer {
        let mut connector = HttpConnector::new();
        connector.enforce_http(false);
        connector.set_nodelay(true);
        connector.set_keepalive(Some(Duration::from_secs(60)));
        Dialer { connector, proxies: proxies.matcher(), tls: OnceLock::new(), timeout }
    }

    fn proxy(&self, target: &Target) -> Option<Intercept> {
        let matcher = self.proxies.as_ref().filter(|_| !target.is_loopback())?;
        matcher.intercept(&target.origin)
    }

    /// A request to a target, in the form that the target or the proxy before it takes.
    pub(crate) fn request(
        &self,
        target: &Target,
        method: Method,
        path: String,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Request<Full<Bytes>>, String> {
        let proxy = if target.is_tls() { None } else { self.proxy(target) };
        // A proxy needs the whole address.
        let uri = if proxy.is_some() { format!("{}{path}", target.shown()) } else { path };
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = Uri::try_from(uri).map_err(|it| format!("no address: {it}"))?;
        *request.headers_mut() = headers;
        request.headers_mut().insert(HOST, target.authority.clone());
        if let Some(auth) = proxy.as_ref().and_then(|it| it.basic_auth()) {
            request.headers_mut().insert(PROXY_AUTHORIZATION, auth.clone());
        }
        Ok(request)
    }

    /// Opens a connection that looks after itself.
    pub(crate) async fn dial(&self, target: &Target) -> Result<Connection, DialError> {
        let ended = || DialError::new("the connection ended at once");
        self.wire(target).await?.attended().ok_or_else(ended)
    }

    pub(crate) async fn wire(&self, target: &Target) -> Result<Wire, DialError> {
        match tokio::time::timeout(self.timeout, self.open(target)).await {
            Ok(opened) => opened,
            Err(_) => Err(DialError::new(format!("no connection within {}", seconds(self.timeout)))),
        }
    }

    /// A bare connection to a host, through the proxy where there is one.
    pub(crate) async fn tunnel(&self, host: &str, port: u16) -> Result<tokio::net::TcpStream, DialError> {
        let unknown = || DialError::last(format!("`{host}` is no name"));
        let target = Target::read(&format!("https://{host}:{port}")).ok_or_else(unknown)?;
        match tokio::time::timeout(self.timeout, self.bare(&target)).await {
            Ok(opened) => opened,
            Err(_) => Err(DialError::new(format!("no connection within {}", seconds(self.timeout)))),
        }
    }

    async fn bare(&self, target: &Target) -> Result<tokio::net::TcpStream, DialError> {
        let mut connector = self.connector.clone();
        let Some(proxy) = self.usable_proxy(target)? else {
            let stream = connector.call(target.origin.clone()).await.map_err(|it| DialError::new(words(&it)))?;
            return Ok(stream.into_inner());
        };
        let mut tunnel = Tunnel::new(proxy.uri().clone(), connector);
        if let Some(auth) = proxy.basic_auth() {
            tunnel = tunnel.with_auth(auth.clone());
        }
        let failed = |error: &(dyn Error + 'static)| DialError::new(format!("through the proxy: {}", words(error)));
        Ok(tunnel.call(target.origin.clone()).await.map_err(|it| failed(&it))?.into_inner())
    }

    fn usable_proxy(&self, target: &Target) -> Result<Option<Intercept>, DialError> {
        let proxy = self.proxy(target);
        match proxy.as_ref().and_then(|it| it.uri().scheme_str()).filter(|it| *it != "http") {
            None => Ok(proxy),
            Some(scheme) => Err(DialError::last(format!(
                "a proxy is asked over `http`, not `{scheme}`; change the variables for proxies"
            ))),
        }
    }

    async fn open(&self, target: &Target) -> Result<Wire, DialError> {
        if target.is_tls() {
            return self.secured(target, self.bare(target).await?).await;
        }
        let mut connector = self.connector.clone();
        match self.usable_proxy(target)? {
            None => {
                let stream = connector.call(target.origin.clone()).await.map_err(|it| DialError::new(words(&it)))?;
                begun(stream).await
            }
            Some(proxy) => {
                let failed = |error: &(dyn Error + 'static)| DialError::new(format!("to the proxy: {}", words(error)));
                begun(connector.call(proxy.uri().clone()).await.map_err(|it| failed(&it))?).await
            }
        }
    }

    async fn secured(&self, target: &Target, stream: tokio::net::TcpStream) -> Result<Wire, DialError> {
        let tls = self.tls.get_or_init(tls).as_ref().map_err(|it| DialError::last(it.clone()))?;
        let host = target.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let name = ServerName::try_from(host).map_err(|it| DialError::last(it.to_string()))?;
        let stream = TlsConnector::from(Arc::clone(tls)).connect(name, stream).await.map_err(|error| {
            // A certificate does not become right by trying again; a connection that ended may.
            let is_final = error.get_ref().and_then(|it| it.downcast_ref::<rustls::Error>()).is_some();
            DialError { message: format!("no secure connection: {}", words(&error)), is_final }
        })?;
        begun(TokioIo::new(stream)).await
    }
}

async fn begun(stream: impl Stream + 'static) -> Result<Wire, DialError> {
    Wire::over(Box::new(stream)).await.map_err(|it| DialError::new(words(&it)))
}

/// TLS with what the system trusts, for requests to models.
fn tls() -> Result<Arc<ClientConfig>, String> {
    let mut config = Arc::unwrap_or_clone(trusted_tls()?);
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// TLS with what the system trusts. The one place that names the library for the cryptography.
pub fn trusted_tls() -> Result<Arc<ClientConfig>, String> {
    let failed = |error: &dyn Error| format!("what the system trusts cannot be read: {error}");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.and_then(rustls::ConfigBuilder::with_platform_verifier).map_err(|it| failed(&it))?;
    Ok(Arc::new(builder.with_no_client_auth()))
}

/// The innermost error: the outer ones say that a connection failed, which is known.
pub(crate) fn words(error: &(dyn Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    let message = innermost.to_string();
    // Messages are lower-case fragments; a second capital is an acronym.
    let mut letters = message.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() => first.to_lowercase().chain(letters).collect(),
        _ => message,
    }
}

pub(crate) fn seconds(duration: Duration) -> String {
    format!("{} s", duration.as_millis() as f64 / 1000.0)
}
