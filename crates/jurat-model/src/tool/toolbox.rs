//! The servers of a suite: which of them are open, and which cases share them.

use std::sync::Arc;
use std::time::Duration;

use jurat_core::effect::{Fault, FaultKind, Media, Outcome, Returned};
use jurat_core::suite::ServerSpec;
use jurat_core::tool::ServerTool;
use jurat_format::problem::nearest;
use jurat_format::value::Value;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::server::{Server, ToolboxError};
use super::session::{Identity, ServerEnvironment, Session};
use crate::child::Supervisor;
use crate::transport::connection::Dialer;
use crate::transport::{Proxies, wall_clock};

/// The least time that a server has to start. Programs that fetch themselves first take a while.
const TO_START: Duration = Duration::from_secs(60);

/// How servers are talked to.
#[derive(Debug, Clone)]
pub struct ToolboxOptions {
    /// The proxies for servers that are asked over HTTP.
    pub proxies: Proxies,
    /// How long opening a connection may take.
    pub connect_timeout: Duration,
    /// How long a program has to end by itself when its input is closed, before it is killed.
    pub grace: Duration,
    /// What starts programs, if anything stands between.
    pub supervisor: Option<Supervisor>,
    /// The wall clock, in milliseconds since 1970.
    pub now_ms: fn() -> u64,
}

impl Default for ToolboxOptions {
    fn default() -> ToolboxOptions {
        ToolboxOptions {
            proxies: Proxies::default(),
            connect_timeout: Duration::from_secs(10),
            grace: Duration::from_secs(2),
            supervisor: None,
            now_ms: wall_clock,
        }
    }
}

/// The servers of a suite. Each is opened when it is first asked, once for all cases that share it, and again when it has ended meanwhile.
///
/// Programs end with it: those that it opened have their input closed when it is dropped, and are killed if they do not end then.
/// [`Toolbox::close`] waits for that.
#[derive(Debug)]
pub struct Toolbox {
    held: Vec<Held>,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    environment: ServerEnvironment,
    now_ms: fn() -> u64,
}

/// A server in a toolbox.
#[derive(Debug)]
struct Held {
    slot: Arc<Slot>,
    /// Whether it is closed with this toolbox.
    is_ours: bool,
}

/// A server that may be open.
#[derive(Debug)]
struct Slot {
    server: Arc<Server>,
    session: Mutex<Option<Arc<Session>>>,
    /// Whether it belongs to one case. It is not opened again then: what the case did to it would be lost without a word.
    is_of_case: bool,
}

impl Toolbox {
    /// A toolbox of these servers. Variables that they name are taken from `env` now; nothing is started or asked.
    pub fn open(
        specs: &[ServerSpec],
        env: &dyn Fn(&str) -> Option<String>,
        options: ToolboxOptions,
    ) -> Result<Toolbox, ToolboxError> {
        let servers = specs.iter().map(|it| Server::prepare(it, env)).collect::<Result<Vec<_>, _>>()?;
        let held = |server| Held { slot: Slot::new(Arc::new(server), false), is_ours: true };
        let dialer = Arc::new(Dialer::new(&options.proxies, options.connect_timeout));
        let environment = ServerEnvironment { dialer, grace: options.grace, supervisor: options.supervisor };
        let shared = Arc::new(Shared { environment, now_ms: options.now_ms });
        Ok(Toolbox { held: servers.into_iter().map(held).collect(), shared })
    }

    /// A toolbox for one case: servers that are `per_case` are its own, the others are shared with this one.
    pub fn fresh(&self) -> Toolbox {
        let fresh = |held: &Held| match held.slot.server.per_case {
            true => Held { slot: Slot::new(Arc::clone(&held.slot.server), true), is_ours: true },
            false => Held { slot: Arc::clone(&held.slot), is_ours: false },
        };
        Toolbox { held: self.held.iter().map(fresh).collect(), shared: Arc::clone(&self.shared) }
    }

    /// Whether some server must not be shared by cases, so that each needs a [`Toolbox::fresh`] one.
    pub fn has_per_case(&self) -> bool {
        self.held.iter().any(|it| it.slot.server.per_case)
    }

    /// Asks a server for its tools, within `timeout`. The value is a list that
    /// [`ServerTool::listed`] reads.
    pub async fn list(&self, server: &str, timeout: Duration) -> Outcome {
        let (started, until) = (Instant::now(), after(timeout));
        let listed = async {
            let slot = self.find(server)?;
            let session = slot.session(&self.shared.environment, until).await?;
            session.tools(until).await
        };
        match listed.await {
            Ok(tools) => {
                let value: Value = tools.iter().map(ServerTool::to_value).collect();
                self.returned(value, Vec::new(), false, started.elapsed())
            }
            Err(fault) => Outcome::Fault(Box::new(fault)),
        }
    }

    /// Calls a tool, within `timeout` and the server's own `timeout`. The value is `{text, structured}`: all texts of the result with a line
    /// end between them, words about what is no text, and the structured content if there is any. Images, audio and documents are there besides.
    pub async fn call(&self, server: &str, tool: &str, arguments: &Value, timeout: Duration) -> Outcome {
        let until = after(timeout);
        let called = async {
            let slot = self.find(server)?;
            let session = slot.session(&self.shared.environment, until).await?;
            session.call(tool, arguments, until).await
        };
        match called.await {
            Ok((said, took)) => self.returned(said.value, said.media, said.is_error, took),
            Err(fault) => Outcome::Fault(Box::new(fault)),
        }
    }

    /// The name and version of a server, if it is open.
    pub async fn identity(&self, server: &str) -> Option<Identity> {
        self.find(server).ok()?.session.lock().await.as_ref()?.identity()
    }

    /// Closes the servers that this toolbox opened, and waits until they are closed.
    pub async fn close(self) {
        let closing = self.held.iter().filter(|it| it.is_ours).map(|it| it.slot.close());
        futures_util::future::join_all(closing).await;
    }

    fn find(&self, server: &str) -> Result<&Slot, Fault> {
        let found = self.held.iter().find(|it| it.slot.server.name == server);
        found.map(|it| &*it.slot).ok_or_else(|| {
            let near = nearest(server, self.held.iter().map(|it| it.slot.server.name.as_str()));
            let hint = near.map(|it| format!("; did you mean `{it}`?")).unwrap_or_default();
            Fault::new(FaultKind::Tool, format!("there is no server `{server}` under `tools`{hint}"), 0)
        })
    }

    fn returned(&self, value: Value, media: Vec<Media>, is_error: bool, latency: Duration) -> Outcome {
        let returned = Returned::new(value, is_error, latency, (self.shared.now_ms)());
        Outcome::Returned(Box::new(Returned { media, ..returned }))
    }
}

impl Slot {
    fn new(server: Arc<Server>, is_of_case: bool) -> Arc<Slot> {
        Arc::new(Slot { server, session: Mutex::default(), is_of_case })
    }

    /// The open server. Calls that come while it is being opened wait for it.
    async fn session(&self, environment: &ServerEnvironment, until: Instant) -> Result<Arc<Session>, Fault> {
        let fault = |kind, what: &str| Fault::new(kind, format!("the server `{}` {what}", self.server.name), 0);
        let Ok(mut session) = tokio::time::timeout_at(until, self.session.lock()).await else {
            return Err(fault(FaultKind::Timeout, "is still being opened by another case, and the time is over"));
        };
        if let Some(open) = session.as_ref() {
            if !open.has_ended() {
                return Ok(Arc::clone(open));
            }
            if self.is_of_case {
                return Err(fault(FaultKind::Tool, "has ended, and what this case did to it is lost"));
            }
        }
        // The old one goes first: there may be only one of them.
        if let Some(old) = session.take().and_then(Arc::into_inner) {
            old.close().await;
        }
        let timeout = until.saturating_duration_since(Instant::now());
        let limit = timeout.min(self.server.timeout.max(TO_START));
        let open = Arc::new(Box::pin(Session::open(&self.server, environment, limit)).await?);
        Ok(Arc::clone(session.insert(open)))
    }

    async fn close(&self) {
        let session = self.session.lock().await.take();
        if let Some(session) = session.and_then(Arc::into_inner) {
            session.close().await;
        }
    }
}

/// The end of a time. One that is beyond clocks is a day, which no call may take.
fn after(timeout: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(timeout).unwrap_or(now + Duration::from_secs(86_400))
}
