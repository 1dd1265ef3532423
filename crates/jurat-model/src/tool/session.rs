//! An open server, and what it is asked.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jurat_core::effect::{Fault, FaultKind};
use jurat_core::tool::ServerTool;
use jurat_format::problem::{listed_all, nearest};
use jurat_format::value::{Val, Value};
use rmcp::ClientHandler;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotificationParam, ClientCapabilities, ClientConfig,
    ClientRequest, ErrorCode, ErrorData, Implementation, ListToolsRequest, PaginatedRequestParams, ProtocolVersion,
    RequestId,
};
use rmcp::service::{
    ClientInitializeError, NotificationContext, Peer, PeerRequestOptions, RoleClient, RunningService, ServiceError,
    ServiceExt as _,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpError};
use serde_json::value::RawValue;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::content::{self, Page, Said};
use super::http::{HttpClient, HttpFault};
use super::program::{Program, Seen};
use super::resource;
use super::server::{Server, Way};
use super::sse::SseConnection;
use crate::child::Supervisor;
use crate::transport::connection::{Dialer, seconds};

/// The most pages of tools that are read. One that always names another page would never end.
const MAX_PAGES: usize = 1000;

/// Something that a server lists in pages.
#[derive(Debug, Clone, Copy)]
pub(super) struct Listing {
    pub(super) method: &'static str,
    /// The member of its results that has the items.
    pub(super) items: &'static str,
}

impl Listing {
    pub(super) const TOOLS: Listing = Listing { method: "tools/list", items: "tools" };
}

/// The name and version that a server reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Its name and version, when it gives them.
    pub name_and_version: Option<(String, String)>,
    /// The revision of the protocol that both agreed on.
    pub protocol: String,
}

/// An open server. It is closed when this is dropped.
#[derive(Debug)]
pub(super) struct Session {
    server: Arc<Server>,
    running: RunningService<RoleClient, Us>,
    seen: Arc<Seen>,
    is_broken: AtomicBool,
    tools: Mutex<Option<Listed>>,
}

/// The tools of a server.
#[derive(Debug)]
struct Listed {
    tools: Arc<[ServerTool]>,
    /// The value of [`Seen::n_changes`] when they were asked for.
    n_changes: u64,
}

/// What a server hears of us, and what we hear of it beside answers.
#[derive(Debug)]
struct Us {
    config: ClientConfig,
    seen: Arc<Seen>,
}

impl ClientHandler for Us {
    fn get_info(&self) -> ClientConfig {
        self.config.clone()
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.seen.n_changes.fetch_add(1, Ordering::Relaxed);
    }
}

/// What is needed to open a server besides its definition.
#[derive(Debug)]
pub(super) struct ServerEnvironment {
    pub(super) dialer: Arc<Dialer>,
    /// How long a program has to end by itself.
    pub(super) grace: Duration,
    /// What starts programs, if anything stands between.
    pub(super) supervisor: Option<Supervisor>,
}

impl Session {
    /// Starts a program and greets it, or greets a server that runs.
    pub(super) async fn open(
        server: &Arc<Server>,
        environment: &ServerEnvironment,
        limit: Duration,
    ) -> Result<Session, Fault> {
        let seen = Arc::new(Seen::default());
        let us = Implementation::new("jurat", env!("CARGO_PKG_VERSION"));
        let us = ClientConfig::new(ClientCapabilities::default(), us);
        // Later revisions have another greeting, and servers that know no other are rare yet.
        let config = us.with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE);
        let us = Us { config, seen: Arc::clone(&seen) };
        let greeting = async {
            match &server.way {
                Way::Program(launch) => {
                    let program = Program::start(launch, environment, &seen)
                        .map_err(|error| format!("cannot be started: `{}`: {error}", launch.program.display()))?;
                    us.serve(program).await.map_err(|it| refusal(&it, &seen))
                }
                Way::Http(address) => {
                    let client = HttpClient::new(address, &environment.dialer, &seen.verbatim);
                    let mut backoff = ExponentialBackoff::default();
                    (backoff.max_times, backoff.base_duration) = (Some(3), Duration::from_millis(250));
                    let mut config = StreamableHttpClientTransportConfig::with_uri("");
                    config.retry_config = Arc::new(backoff);
                    // The protocol asks for it. A session of one case may have held what its earlier calls did, which would be lost unsaid.
                    config.reinit_on_expired_session = !server.per_case;
                    let transport = StreamableHttpClientTransport::with_client(client, config);
                    us.serve(transport).await.map_err(|it| refusal(&it, &seen))
                }
                Way::Sse(address) => {
                    let client = HttpClient::new(address, &environment.dialer, &seen.verbatim);
                    let connection = SseConnection::open(client, &seen).await;
                    let connection = connection.map_err(|it| format!("cannot be reached: {it}"))?;
                    us.serve(connection).await.map_err(|it| refusal(&it, &seen))
                }
            }
        };
        let running = match tokio::time::timeout(limit, greeting).await {
            Ok(Ok(running)) => running,
            Ok(Err(what)) => return Err(troubled(server, &seen, FaultKind::Tool, &what)),
            Err(_) => {
                let what = format!("was not ready within {}", seconds(limit));
                return Err(troubled(server, &seen, FaultKind::Timeout, &what));
            }
        };
        Ok(Session {
            server: Arc::clone(server),
            running,
            seen,
            is_broken: AtomicBool::new(false),
            tools: Mutex::default(),
        })
    }

    /// Closes it, and waits until it is closed.
    pub(super) async fn close(mut self) {
        // Whatever it is that went wrong, it is closed.
        drop(self.running.close().await);
    }

    /// Whether it cannot be asked any more.
    pub(super) fn has_ended(&self) -> bool {
        self.is_broken.load(Ordering::Relaxed) || self.running.peer().is_transport_closed() || self.running.is_closed()
    }

    pub(super) fn identity(&self) -> Option<Identity> {
        let info = self.running.peer().peer_info()?;
        let name_and_version = info.server_info.as_ref().map(|it| (it.name.clone(), it.version.clone()));
        Some(Identity { name_and_version, protocol: info.protocol_version.to_string() })
    }

    /// The tools of the server, which are asked for once, and again when it says that they changed.
    pub(super) async fn tools(&self, until: Instant) -> Result<Arc<[ServerTool]>, Fault> {
        let Ok(mut known) = tokio::time::timeout_at(until, self.tools.lock()).await else {
            let what = "is still being asked for its tools by another case, and the time is over";
            return Err(fault(&self.server, FaultKind::Timeout, what));
        };
        let n_changes = self.seen.n_changes.load(Ordering::Relaxed);
        if let Some(listed) = known.as_ref().filter(|it| it.n_changes == n_changes) {
            return Ok(Arc::clone(&listed.tools));
        }
        let tools = self.list(until).await?;
        *known = Some(Listed { tools: Arc::clone(&tools), n_changes });
        Ok(tools)
    }

    async fn list(&self, until: Instant) -> Result<Arc<[ServerTool]>, Fault> {
        let request = |params: Option<_>| {
            ClientRequest::ListToolsRequest(params.map_or_else(Default::default, ListToolsRequest::with_param))
        };
        let read = |text: &str| content::page(Listing::TOOLS, text, |it| content::tool(&self.server.name, it));
        let wants_resources = self.server.resources;
        let mut tools = match self.pages(Listing::TOOLS, request, read, until).await {
            Ok(tools) => tools,
            Err(Refused::Fault(fault)) => return Err(fault),
            Err(Refused::Error(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => match wants_resources {
                true => Vec::new(),
                false => return Err(self.fault("has no tools")),
            },
            Err(Refused::Error(error)) => return Err(self.fault(&format!("refused `tools/list`: {}", shown(&error)))),
        };
        if wants_resources {
            self.need_resources(&tools)?;
            tools.extend(resource::tools(&self.server.name));
        }
        Ok(tools.into())
    }

    /// Whether its resources can be offered as tools.
    fn need_resources(&self, tools: &[ServerTool]) -> Result<(), Fault> {
        let info = self.running.peer().peer_info();
        if info.is_none_or(|it| it.capabilities.resources.is_none()) {
            return Err(self.fault("has no resources; leave out `resources: true`"));
        }
        resource::clash(tools).map_or(Ok(()), |it| Err(self.fault(&it)))
    }

    /// What a server has of something, on all pages.
    pub(super) async fn pages<T>(
        &self,
        listing: Listing,
        request: impl Fn(Option<PaginatedRequestParams>) -> ClientRequest,
        read: impl Fn(&str) -> Result<Page<T>, String>,
        until: Instant,
    ) -> Result<Vec<T>, Refused> {
        let mut items = Vec::new();
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let params = cursor.take().map(|it| PaginatedRequestParams::default().with_cursor(Some(it)));
            let text = self.request(request(params), &format!("`{}`", listing.method), until).await?;
            let page = read(text.get()).map_err(|it| Refused::Fault(self.fault(&it)))?;
            items.extend(page.items);
            match page.next {
                Some(next) => cursor = Some(next),
                None => return Ok(items),
            }
        }
        Err(Refused::Fault(self.fault(&format!("has more than {MAX_PAGES} pages of {}", listing.items))))
    }

    /// Calls a tool, which the server must have.
    pub(super) async fn call(&self, tool: &str, arguments: &Value, until: Instant) -> Result<(Said, Duration), Fault> {
        let tools = self.tools(until).await?;
        if !tools.iter().any(|it| it.name == tool) {
            return Err(self.fault(&unknown_tool(tool, &tools)));
        }
        let asked = Instant::now();
        let mut said = match tool {
            resource::LIST if self.server.resources => self.list_resources(until).await?,
            resource::READ if self.server.resources => self.read_resource(arguments, until).await?,
            _ => self.call_own(tool, arguments, until).await?,
        };
        let took = asked.elapsed();
        self.server.scrub_value(&mut said.value);
        Ok((said, took))
    }

    async fn call_own(&self, tool: &str, arguments: &Value, until: Instant) -> Result<Said, Fault> {
        let object = match arguments {
            Val::Null => serde_json::Map::new(),
            Val::Map(_) => serde_json::from_str(&arguments.to_json()).expect("an object is written as an object"),
            other => {
                let text = format!("the arguments of `{tool}` must be an object, not {}", other.kind().phrase());
                return Ok(Said::error(text));
            }
        };
        let request = CallToolRequest::new(CallToolRequestParams::new(tool.to_owned()).with_arguments(object));
        match self.request(ClientRequest::CallToolRequest(request), &format!("`{tool}`"), until).await {
            Ok(text) => content::said(tool, text.get()).map_err(|it| self.fault(&it)),
            Err(refused) => self.said_of(tool, refused),
        }
    }

    /// What a model hears of a call that has no result, or the fault that ends its case.
    pub(super) fn said_of(&self, tool: &str, refused: Refused) -> Result<Said, Fault> {
        let error = match refused {
            Refused::Fault(fault) => return Err(fault),
            Refused::Error(error) => error,
        };
        // The first three are about the way we talk, the last is a fault of the server: a tool that fails says so in a result with `isError`. Every
        // other error is the tool's: servers say so when it got arguments that it cannot use.
        let did = match error.code {
            ErrorCode::PARSE_ERROR | ErrorCode::INVALID_REQUEST | ErrorCode::METHOD_NOT_FOUND => "refused",
            ErrorCode::INTERNAL_ERROR => "failed in",
            _ => return Ok(Said::error(error.message.into_owned())),
        };
        Err(self.fault(&format!("{did} the call of `{tool}`: {}", shown(&error))))
    }

    /// The text of a result. It is waited for as long as the server may take, but no longer than `until`.
    pub(super) async fn request(
        &self,
        request: ClientRequest,
        what: &str,
        until: Instant,
    ) -> Result<Box<RawValue>, Refused> {
        let peer = self.running.peer();
        let limit = until.saturating_duration_since(Instant::now()).min(self.server.timeout);
        let timed_out = || {
            let what = format!("did not answer {what} within {}", seconds(limit));
            Refused::Fault(troubled(&self.server, &self.seen, FaultKind::Timeout, &what))
        };
        if limit.is_zero() {
            return Err(timed_out());
        }
        let sent = peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
        let handle = sent.map_err(|it| self.refused(it, what))?;
        let mut waiting = Waiting::begin(peer, handle.id.clone(), &self.seen);
        let answer = waiting.until_answered(handle.await_response(), limit, until).await.ok_or_else(timed_out)?;
        answer.map_err(|it| self.refused(it, what))?;
        let text = self.seen.verbatim.take(&waiting.id);
        text.ok_or_else(|| Refused::Fault(self.fault(&format!("answered {what} without a result"))))
    }

    fn refused(&self, error: ServiceError, what: &str) -> Refused {
        let reason = match error {
            ServiceError::McpError(error) => return Refused::Error(error),
            ServiceError::TransportSend(error) => format!("could not be asked for {what}: {}", words(&*error.error)),
            ServiceError::TransportClosed => match self.seen.ended.get() {
                Some(ended) => format!("{ended} before it answered {what}"),
                None => format!("closed the connection before it answered {what}"),
            },
            other => format!("gave no answer to {what}: {other}"),
        };
        self.is_broken.store(true, Ordering::Relaxed);
        Refused::Fault(troubled(&self.server, &self.seen, FaultKind::Tool, &reason))
    }

    /// What a server in good health said wrong.
    pub(super) fn fault(&self, what: &str) -> Fault {
        fault(&self.server, FaultKind::Tool, what)
    }
}

/// Why a request has no result.
pub(super) enum Refused {
    /// The server says so.
    Error(ErrorData),
    Fault(Fault),
}

/// A request that waits for its answer. Dropped before that, it sends the server a cancellation.
struct Waiting<'s> {
    peer: &'s Peer<RoleClient>,
    id: RequestId,
    seen: &'s Seen,
    is_over: bool,
}

impl<'s> Waiting<'s> {
    fn begin(peer: &'s Peer<RoleClient>, id: RequestId, seen: &'s Seen) -> Waiting<'s> {
        seen.verbatim.queue.sent(&id);
        Waiting { peer, id, seen, is_over: false }
    }

    /// The answer; `None` when the server took longer than it may, not counting the time that it took for older calls.
    async fn until_answered<T>(
        &mut self,
        answer: impl Future<Output = T>,
        timeout: Duration,
        until: Instant,
    ) -> Option<T> {
        let queue = &self.seen.verbatim.queue;
        let mut answer = std::pin::pin!(answer);
        loop {
            let changed = queue.changed();
            let deadline = queue.deadline(&self.id, timeout).min(until);
            tokio::select! {
                biased;
                answer = &mut answer => {
                    self.is_over = true;
                    queue.answered(&self.id);
                    return Some(answer);
                }
                () = changed => {}
                () = tokio::time::sleep_until(deadline) => return None,
            }
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        self.seen.verbatim.queue.give_up(&self.id);
        self.seen.verbatim.forget(&self.id);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let peer = self.peer.clone();
            let reason = Some("the request was cancelled".to_owned());
            let cancelled = CancelledNotificationParam::new(Some(self.id.clone()), reason);
            // A server that cannot be reached will notice by itself.
            runtime.spawn(async move { peer.notify_cancelled(cancelled).await.unwrap_or_default() });
        }
    }
}

fn fault(server: &Server, kind: FaultKind, what: &str) -> Fault {
    Fault::new(kind, server.scrubbed(format!("the server `{}` {what}", server.name)), 1)
}

/// A server that is silent or gone, with the last that it complained about.
fn troubled(server: &Server, seen: &Seen, kind: FaultKind, what: &str) -> Fault {
    match seen.complaints.text().as_str() {
        "" => fault(server, kind, what),
        complaints => fault(server, kind, &format!("{what}; it wrote: {complaints}")),
    }
}

fn unknown_tool(tool: &str, tools: &[ServerTool]) -> String {
    let names = || tools.iter().map(|it| it.name.as_str());
    match (nearest(tool, names()), tools) {
        (_, []) => format!("has no tool `{tool}`; it has no tools"),
        (Some(near), _) => format!("has no tool `{tool}`; did you mean `{near}`?"),
        (None, _) => format!("has no tool `{tool}`; it has {}", listed_all(names())),
    }
}

/// Why greeting a server failed.
fn refusal(error: &ClientInitializeError, seen: &Seen) -> String {
    if let Some(ended) = seen.ended.get() {
        return format!("{ended} before it was ready");
    }
    match error {
        ClientInitializeError::JsonRpcError(error) => format!("refused to begin: {}", shown(error)),
        ClientInitializeError::TransportError { error, .. } => format!("cannot be reached: {}", words(&*error.error)),
        ClientInitializeError::ConnectionClosed(_) => "closed the connection before it was ready".to_owned(),
        other => format!("does not speak the protocol: {other}"),
    }
}

fn shown(error: &ErrorData) -> String {
    format!("{} (error {})", error.message, error.code.0)
}

/// What went wrong with the connection, in our own words where they are ours.
fn words(error: &(dyn std::error::Error + Send + Sync + 'static)) -> String {
    match error.downcast_ref::<StreamableHttpError<HttpFault>>() {
        Some(StreamableHttpError::Client(HttpFault(message))) => message.clone(),
        Some(StreamableHttpError::SessionExpired) => "the session is over".to_owned(),
        _ => match error.downcast_ref::<HttpFault>() {
            Some(HttpFault(message)) => message.clone(),
            None => crate::transport::connection::words(error),
        },
    }
}
