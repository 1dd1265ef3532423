//! `jurat receive`: traces that programs on this machine send.

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use jurat::receive::{Receiver, USUAL_PORT};
use jurat_report::{bytes, counted, visible_line};

use crate::exit::Exit;
use crate::failure::{Failure, exit};

/// Receives traces of programs on this machine (OTLP over HTTP) and writes them to files
///
/// Listens on 127.0.0.1 alone, for /v1/traces and /v1/logs. Each request is a file of its own; `jurat import DIR` reads them. Ctrl-C ends it, and nothing is lost.
#[derive(Args)]
pub(crate) struct Receive {
    /// Directory to write to; created if it does not exist
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,
    /// Port to listen on; 0 for any that is free
    #[arg(long, default_value_t = USUAL_PORT)]
    port: u16,
    /// End after this number of requests
    #[arg(long, value_name = "N")]
    requests: Option<NonZeroUsize>,
}

impl Receive {
    pub(crate) fn run(&self) -> Exit {
        exit(self.receive())
    }

    fn receive(&self) -> Result<Exit, Failure> {
        let cannot = |error: io::Error| {
            Failure::Reason(format!("port {} of 127.0.0.1 cannot be listened on: {error}", self.port))
        };
        let receiver = Receiver::bind(self.port, &self.output).map_err(cannot)?;
        let address = receiver.address().map_err(cannot)?;
        let mut out = io::stdout();
        writeln!(out, "listening on http://{address}/v1/traces")?;
        out.flush()?;
        let (mut n_requests, mut n_bytes) = (0, 0);
        receiver.serve(|received| {
            n_requests += 1;
            n_bytes += received.bytes;
            self.requests.is_none_or(|most| n_requests < most.get())
        })?;
        let directory = self.output.display().to_string();
        writeln!(out, "{} received, {}", counted(n_requests as u64, "request"), bytes(n_bytes as u64))?;
        writeln!(out, "next: jurat import {} -o runs", visible_line(&directory))?;
        Ok(Exit::Good)
    }
}
