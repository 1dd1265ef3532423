//! A server that is a program: messages are lines on its standard input and output.
//!
//! The program leads a group of processes of its own and ends with us: its input is closed, and what does not end then is killed. What it writes
//! to standard error is not passed on; the last of it is shown when something goes wrong.

use std::process::Stdio;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::server::Launch;
use super::session::ServerEnvironment;
use super::tail::Tail;
use super::verbatim::Verbatim;
use crate::child::{Started, TO_END, read_line};

/// The connection to a program that runs.
pub(super) struct Program {
    /// `None` once its input is closed.
    lines: Option<mpsc::UnboundedSender<Vec<u8>>>,
    output: BufReader<ChildStdout>,
    line: Vec<u8>,
    complaints: JoinHandle<()>,
    started: Started,
    seen: Arc<Seen>,
    grace: Duration,
}

/// What is known about a program from outside.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) verbatim: Arc<Verbatim>,
    pub(super) complaints: Tail,
    pub(super) ended: OnceLock<String>,
    /// The number of times that it said that its tools changed.
    pub(super) n_changes: AtomicU64,
}

/// A message that cannot be sent.
#[derive(Debug, thiserror::Error)]
#[error("its input is closed")]
pub(super) struct Closed;

impl Program {
    /// Starts a program. Once its input is closed it has the grace of the environment to end by itself.
    pub(super) fn start(
        launch: &Launch,
        environment: &ServerEnvironment,
        seen: &Arc<Seen>,
    ) -> std::io::Result<Program> {
        let supervisor = environment.supervisor.as_ref();
        let mut command = launch.launched().command(supervisor)?;
        command.env_clear().envs(launch.variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let (Some(input), Some(output), Some(errors)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(std::io::Error::other("it has no standard input or output"));
        };
        let (lines, queue) = mpsc::unbounded_channel();
        tokio::spawn(write(input, queue));
        Ok(Program {
            lines: Some(lines),
            output: BufReader::new(output),
            line: Vec::new(),
            complaints: tokio::spawn(listen(errors, Arc::clone(seen))),
            started: Started::new(child, supervisor),
            seen: Arc::clone(seen),
            grace: environment.grace,
        })
    }

    /// The next message; `None` once there will be no more. May be dropped at any point: what was read stays.
    async fn next_message(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            match read_line(&mut self.output, &mut self.line).await {
                Ok(true) => {}
                Ok(false) => {
                    self.note_end("closed its output").await;
                    return None;
                }
                Err(why) => {
                    self.note_end(&why).await;
                    return None;
                }
            }
            let line = std::mem::take(&mut self.line);
            let Ok(text) = std::str::from_utf8(&line) else {
                self.stray(&line);
                continue;
            };
            match serde_json::from_str(text) {
                Ok(message) => {
                    self.seen.verbatim.note(text);
                    return Some(message);
                }
                Err(_) => self.stray(&line),
            }
        }
    }

    /// Programs greet on their standard output although they must not. That is passed over, and shown if nothing better comes.
    fn stray(&self, line: &[u8]) {
        const SHOWN: usize = 500;
        if !line.iter().all(u8::is_ascii_whitespace) {
            self.seen.complaints.push(&line[..line.len().min(SHOWN)]);
            self.seen.complaints.push(b"\n");
        }
    }

    async fn note_end(&mut self, why: &str) {
        let why = self.started.ended().await.map_or_else(|| why.to_owned(), |status| format!("ended ({status})"));
        // What it said last may not have arrived; another process may hold the other end open.
        drop(tokio::time::timeout(TO_END, &mut self.complaints).await);
        self.seen.ended.get_or_init(|| why);
    }
}

impl Transport<RoleClient> for Program {
    type Error = Closed;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Closed>> + Send + 'static {
        let mut line = serde_json::to_vec(&message).expect("messages are JSON");
        line.push(b'\n');
        // It is written elsewhere, because the future that sends may be dropped in the middle of a line.
        let sent = self.lines.as_ref().is_some_and(|it| it.send(line).is_ok());
        std::future::ready(if sent { Ok(()) } else { Err(Closed) })
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        self.next_message().await
    }

    async fn close(&mut self) -> Result<(), Closed> {
        self.lines = None;
        let ended = tokio::time::timeout(self.grace, self.started.child.wait()).await;
        if ended.is_err() {
            self.started.kill();
        }
        Ok(())
    }
}

/// Writes messages one after the other. The input is closed when the last sender is gone.
async fn write(mut input: ChildStdin, mut lines: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(line) = lines.recv().await {
        if input.write_all(&line).await.is_err() || input.flush().await.is_err() {
            return;
        }
    }
}

/// Stores the last of what a program complains about.
async fn listen(mut errors: ChildStderr, seen: Arc<Seen>) {
    let mut piece = [0; 1024];
    while let Ok(n @ 1..) = errors.read(&mut piece).await {
        seen.complaints.push(&piece[..n]);
    }
}
