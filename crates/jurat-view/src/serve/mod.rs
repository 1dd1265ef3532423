//! The server: one thread for sockets, a few that read runs.

mod events;
mod guard;
mod handle;
mod key;
mod readers;
mod response;

use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::sync::Semaphore;

pub(crate) use readers::{Cancel, OpenRuns};

use crate::Library;
use crate::answer::Shared;
use crate::labels::Labels;
use crate::route::Route;
use guard::{BadOrigin, Guard};
use handle::Handler;
use key::Key;
use readers::Readers;

/// The first port that is tried.
pub const DEFAULT_PORT: u16 = 7411;
/// The last one.
const LAST_PORT: u16 = 7420;

/// How many connections are open at a time; further ones wait.
const CONNECTIONS: usize = 64;
/// How long the head of a request may be, and how long it may take.
const HEAD_BYTES: usize = 16 << 10;
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// How the server is reached, and what it may do.
#[derive(Debug, Clone)]
pub struct Options {
    /// The port; 0 takes any. Default: 7411, or the next that is free up to 7420.
    pub port: Option<u16>,
    /// The address that is listened on.
    pub host: IpAddr,
    /// Further origins under which the server is reached, such as that of a proxy in front of it.
    pub origins: Vec<String>,
    /// Whether nothing can be written.
    pub read_only: bool,
    /// The file that labels are read from and added to. Default: `labels.jsonl` beside the suite of a run, or in the directory of the project.
    pub labels: Option<PathBuf>,
    /// Who gives labels.
    pub annotator: String,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            port: None,
            host: Ipv4Addr::LOCALHOST.into(),
            origins: Vec::new(),
            read_only: false,
            labels: None,
            annotator: "unnamed".to_owned(),
        }
    }
}

/// Why the viewer cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("port {port} cannot be used: {source}; `--port 0` takes any that is free")]
    Port { port: u16, source: io::Error },
    #[error("no port from {DEFAULT_PORT} to {LAST_PORT} is free; `--port 0` takes any that is")]
    NoPort,
    #[error(
        "an address that other machines reach needs the origin under which they do: `--origin https://…`; an SSH tunnel to 127.0.0.1 needs neither"
    )]
    NoOrigin,
    #[error("{0}")]
    Origin(String),
    #[error("the viewer cannot be started: {0}")]
    Start(String),
}

impl From<BadOrigin> for ServeError {
    fn from(bad: BadOrigin) -> ServeError {
        ServeError::Origin(bad.to_string())
    }
}

/// A server that listens and does not answer yet.
#[derive(Debug)]
pub struct Server {
    listener: std::net::TcpListener,
    address: SocketAddr,
    key: Key,
    handler: Arc<Handler>,
}

impl Server {
    /// Listens for requests about these runs.
    pub fn bind(library: Library, options: &Options) -> Result<Server, ServeError> {
        if !options.host.is_loopback() && options.origins.is_empty() {
            return Err(ServeError::NoOrigin);
        }
        let start = |it: &dyn std::fmt::Display| ServeError::Start(it.to_string());
        let listener = listen(options)?;
        let address = listener.local_addr().map_err(|it| start(&it))?;
        let key = Key::of_project(library.root()).map_err(|it| start(&it))?;
        let guard = Guard::new(key.clone(), address.port(), options)?;
        let readers = Readers::start().map_err(|it| start(&it))?;
        let home = library.home().map_or_else(|| PathBuf::from("."), Path::to_owned);
        let labels = Labels::new(options.labels.clone(), home, options.annotator.clone(), options.read_only);
        let shared = Arc::new(Shared::new(library, labels));
        let listeners = Arc::new(Semaphore::new(events::LISTENERS));
        Ok(Server { listener, address, key, handler: Arc::new(Handler { guard, readers, shared, listeners }) })
    }

    /// The address of a page, with the key.
    pub fn url(&self, route: &Route) -> String {
        let route = route.to_string();
        let mark = if route.contains('?') { '&' } else { '?' };
        format!("http://{}{route}{mark}key={}", self.address, self.key.text())
    }

    /// Answers requests until `stop` is done.
    pub fn run(self, stop: impl Future<Output = ()>) -> Result<(), ServeError> {
        let start = |it: io::Error| ServeError::Start(it.to_string());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(start)?;
        self.listener.set_nonblocking(true).map_err(start)?;
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener).map_err(start)?;
            tokio::select! {
                () = accept(listener, self.handler) => {}
                () = stop => {}
            }
            Ok(())
        })
    }
}

fn listen(options: &Options) -> Result<std::net::TcpListener, ServeError> {
    let bind = |port: u16| std::net::TcpListener::bind((options.host, port));
    match options.port {
        Some(port) => bind(port).map_err(|source| ServeError::Port { port, source }),
        None => (DEFAULT_PORT..=LAST_PORT).find_map(|port| bind(port).ok()).ok_or(ServeError::NoPort),
    }
}

async fn accept(listener: tokio::net::TcpListener, handler: Arc<Handler>) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Too many open files, for example: what is open may end.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let handler = Arc::clone(&handler);
        tokio::spawn(async move {
            let service = service_fn(|request| Arc::clone(&handler).handle(request));
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_TIMEOUT)
                .max_buf_size(HEAD_BYTES)
                .serve_connection(TokioIo::new(stream), service);
            // A browser that goes away is no fault.
            let _ = connection.await;
            drop(permit);
        });
    }
}
