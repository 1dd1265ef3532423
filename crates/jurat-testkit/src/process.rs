//! The program `jurat-endpoint` as a child, for tests that kill it.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

/// A running `jurat-endpoint`. It is killed when it is dropped, and ends by itself when we are killed.
#[derive(Debug)]
pub struct Process {
    child: Child,
    port: u16,
}

impl Process {
    /// Builds the program if need be and starts it with these arguments; `jurat-endpoint --help` lists them.
    ///
    /// # Panics
    ///
    /// When it cannot be built, or ends before it says its port. What it says about that is on standard error.
    pub fn start<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Process {
        let mut command = Command::new(Process::program());
        command.arg("--until-input-ends").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the program was built");
        let mut line = String::new();
        let stdout = child.stdout.as_mut().expect("it was asked for");
        BufReader::new(stdout).read_line(&mut line).expect("its first line is text");
        let port = line.trim().parse().expect("`jurat-endpoint` says its port before anything else");
        Process { child, port }
    }

    /// Returns where the program is. It is built the first time.
    ///
    /// # Panics
    ///
    /// When it cannot be built.
    pub fn program() -> &'static Path {
        static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
        PROGRAM.get_or_init(|| built("jurat-endpoint"))
    }

    /// Returns its address without a path: `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns its port. Start the next one with `--port` to have it at the same address.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the id of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Asks it for its counts.
    ///
    /// # Panics
    ///
    /// When it does not answer.
    pub fn stats(&self) -> Value {
        let mut socket = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).expect("the endpoint runs");
        socket.write_all(b"GET /stats HTTP/1.1\r\nconnection: close\r\n\r\n").expect("the endpoint listens");
        let mut answer = String::new();
        socket.read_to_string(&mut answer).expect("the endpoint answers");
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        serde_json::from_str(body).expect("counts are JSON")
    }

    /// Kills it without warning, and waits until it is gone.
    pub fn kill(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Cargo builds programs for the tests of their own crate only, and an old one would be worse than none.
pub(crate) fn built(program: &str) -> PathBuf {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(env!("CARGO_MANIFEST_DIR")).stderr(Stdio::inherit());
    cargo.args(["build", "--locked", "--quiet", "--bin", program]);
    let built = cargo.args(["--message-format", "json-render-diagnostics"]).output().expect("cargo starts");
    assert!(built.status.success(), "`{program}` does not build");
    let messages = String::from_utf8(built.stdout).expect("cargo writes text");
    let executable = |line: &str| -> Option<PathBuf> {
        let message: Value = serde_json::from_str(line).ok()?;
        message["executable"].as_str().map(PathBuf::from)
    };
    messages.lines().find_map(executable).expect("cargo says where the program is")
}
