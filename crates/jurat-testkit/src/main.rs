//! The program `jurat-endpoint`: a scripted model endpoint as a process of its own, for tests that kill it and for
//! trying things by hand.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{self, ExitCode};
use std::thread;
use std::time::Duration;

use clap::Parser;
use jurat_testkit::{Endpoint, Fault, Reply, Script, When};

/// A model endpoint for tests, on loopback. It says its port on the first line and its counts at `/stats`; a POST to
/// `/reset` starts counting anew.
#[derive(Parser)]
#[command(name = "jurat-endpoint")]
struct Options {
    /// The port; default: a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// How long each answer takes, in milliseconds: `20`, or between two numbers: `1..50`
    #[arg(long, value_name = "MS|MS..MS", value_parser = latency, default_value = "0")]
    latency: (Duration, Duration),
    /// What random latencies start from
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Dribbles streams: milliseconds between two pieces
    #[arg(long, value_name = "MS", default_value_t = 0)]
    pace: u64,
    /// What every reply says; default: what the request asks for
    #[arg(long, value_name = "TEXT")]
    reply: Option<String>,
    /// Fails: `always=reset`, `first:2=503`, `each-first:1=429+retry-after=1`, `every:7=cut-body`. May be given several
    /// times; the first that applies decides
    #[arg(long = "fault", value_name = "WHEN=FAULT", value_parser = fault)]
    faults: Vec<(When, Fault)>,
    /// The key that requests must carry
    #[arg(long)]
    key: Option<String>,
    /// A file that gets a line when a request has arrived and one when its answer has been sent
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Records all requests, for `/requests`
    #[arg(long)]
    keep: bool,
    /// Ends when standard input does, so that it does not outlive its parent
    #[arg(long)]
    until_input_ends: bool,
}

fn main() -> ExitCode {
    let options = Options::parse();
    if options.until_input_ends {
        thread::spawn(end_with_input);
    }
    let started = Endpoint::bind(options.port, options.script());
    let ended = started.and_then(|endpoint| {
        let mut stdout = std::io::stdout();
        writeln!(stdout, "{}", endpoint.port()).and_then(|()| stdout.flush())?;
        Ok(endpoint)
    });
    match ended {
        Ok(endpoint) => {
            endpoint.serve();
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: cannot start the endpoint: {error}");
            ExitCode::FAILURE
        }
    }
}

impl Options {
    fn script(&self) -> Script {
        let (from, to) = self.latency;
        let mut script = Script::new().latency_between(from, to, self.seed).pace(Duration::from_millis(self.pace));
        for (when, fault) in &self.faults {
            script = script.fault(*when, fault.clone());
        }
        if let Some(text) = &self.reply {
            script = script.reply(Reply::text(text));
        }
        if let Some(key) = &self.key {
            script = script.key(key);
        }
        if let Some(file) = &self.log {
            script = script.log(file);
        }
        if self.keep {
            script = script.keep_requests();
        }
        script
    }
}

fn end_with_input() {
    // Whether it ended well or not, the parent is gone.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    process::exit(0);
}

fn latency(text: &str) -> Result<(Duration, Duration), String> {
    let (from, to) = text.split_once("..").unwrap_or((text, text));
    let read = |text: &str| text.parse().map(Duration::from_millis);
    match (read(from), read(to)) {
        (Ok(from), Ok(to)) if from <= to => Ok((from, to)),
        _ => Err("expected milliseconds such as `20` or `1..50`".to_owned()),
    }
}

fn fault(text: &str) -> Result<(When, Fault), String> {
    let (when, fault) = text.split_once('=').ok_or("expected WHEN=FAULT such as `every:7=503`")?;
    Ok((when.parse()?, fault.parse()?))
}
