//! The program `yardstick`, which stands in `xtask/bench/yardstick`: data, references, an endpoint, and the meter under which
//! everything is run.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{env, fs, io};

use serde_json::Value;

use super::measured;
use chores::chore::Failure;
use chores::program;

/// The program, compiled.
pub(super) struct Yardstick(PathBuf);

/// What a program cost.
#[derive(Debug)]
pub(super) struct Cost {
    /// The exit code; nothing when a signal ended it.
    pub(super) code: Option<i32>,
    /// How it ended, in words.
    pub(super) ended: String,
    /// When it was started, since 1970.
    pub(super) started: Duration,
    pub(super) wall: Duration,
    /// Processor time in the program and, on its behalf, in the kernel.
    pub(super) cpu: Duration,
    /// The most memory that it held at once, in megabytes.
    pub(super) peak_mb: f64,
    /// What it wrote to standard output.
    pub(super) output: PathBuf,
    /// What it wrote to standard error.
    pub(super) errors: PathBuf,
}

impl Cost {
    pub(super) fn cpu_us(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6
    }

    /// Whatever it wrote to standard output.
    pub(super) fn said(&self) -> Result<String, Failure> {
        let read = fs::read(&self.output).map(|it| String::from_utf8_lossy(&it).into_owned());
        read.map_err(|error| Failure::new(format!("cannot read {}: {error}", self.output.display())))
    }
}

/// A directory with `suite.yaml` and `records.jsonl`.
#[derive(Debug)]
pub(super) struct Data {
    pub(super) directory: PathBuf,
    pub(super) rows: u64,
    /// How many rows fail all their assertions.
    pub(super) failing: u64,
    /// The id of a row in the middle.
    pub(super) middle: String,
}

impl Yardstick {
    pub(super) fn build() -> Result<Yardstick, Failure> {
        measured("yardstick").map(Yardstick)
    }

    /// Writes rows of a shape, so many percent of which fail, and the suite over them.
    pub(super) fn records(&self, directory: PathBuf, shape: &str, rows: u64, percent: u64) -> Result<Data, Failure> {
        let mut command = self.command("records");
        command.arg(&directory).args([shape, &rows.to_string(), &percent.to_string()]);
        let said = json(&program::output(&mut command)?)?;
        let (failing, middle) = (said["failing"].as_u64(), said["middle"].as_str());
        let (Some(failing), Some(middle)) = (failing, middle) else { return Err(nonsense(&said)) };
        Ok(Data { directory, rows, failing, middle: middle.to_owned() })
    }

    /// Writes the flat rows of a directory as Parquet to another, and the suite over them.
    pub(super) fn table(&self, directory: PathBuf, data: &Data) -> Result<Data, Failure> {
        let mut command = self.command("table");
        command.arg(&data.directory).arg(&directory);
        program::output(&mut command)?;
        Ok(Data { directory, rows: data.rows, failing: data.failing, middle: data.middle.clone() })
    }

    /// Writes rows for a judge, and the suite that has them judged by an endpoint.
    pub(super) fn questions(&self, directory: &Path, rows: u64, endpoint: &Endpoint) -> Result<(), Failure> {
        let mut command = self.command("questions");
        command.arg(directory).args([&rows.to_string(), &endpoint.address]);
        program::output(&mut command).map(drop)
    }

    /// Judges rows by hand, and checks that it found what was written.
    pub(super) fn floor(&self, shape: &str, data: &Data) -> Result<Cost, Failure> {
        let (records, verdicts) = (data.directory.join("records.jsonl"), data.directory.join("verdicts.jsonl"));
        let words = ["floor", shape, &records.to_string_lossy(), &verdicts.to_string_lossy()];
        let cost = self.meter(&self.0, &words, &data.directory)?;
        let said = json(&cost.said()?)?;
        let expected = (Some(data.rows), Some(data.rows - data.failing));
        if (said["rows"].as_u64(), said["passing"].as_u64()) == expected {
            Ok(cost)
        } else {
            Err(Failure::new(format!("the bare loop judged wrongly: {said}")))
        }
    }

    /// Writes the verdicts of rows as plain columns; returns their file.
    pub(super) fn columns(&self, shape: &str, data: &Data) -> Result<PathBuf, Failure> {
        let columns = data.directory.join("columns");
        let mut command = self.command("columns");
        command.arg(shape).arg(data.directory.join("records.jsonl")).arg(&columns);
        program::output(&mut command).map(|_| columns)
    }

    /// Joins two files of columns. Returns what that cost, and how many cases one side alone passes.
    pub(super) fn contrast(&self, place: &Path, base: &Path, new: &Path) -> Result<(Cost, u64), Failure> {
        let cost = self.meter(&self.0, &["contrast", &base.to_string_lossy(), &new.to_string_lossy()], place)?;
        let said = json(&cost.said()?)?;
        let changed = said["only_base"].as_u64().zip(said["only_new"].as_u64()).map(|(base, new)| base + new);
        Ok((cost, changed.ok_or_else(|| nonsense(&said))?))
    }

    /// Asks an endpoint with nothing around it. Returns what that cost, and its time from the first connection to the last
    /// reply.
    pub(super) fn load(&self, place: &Path, endpoint: &Endpoint, calls: u64, at_once: u64) -> Result<Load, Failure> {
        let words = ["load", &endpoint.address, &calls.to_string(), &at_once.to_string()];
        let cost = self.meter(&self.0, &words, place)?;
        let said = json(&cost.said()?)?;
        let wall = said["wall_us"].as_u64().map(Duration::from_micros).ok_or_else(|| nonsense(&said))?;
        Ok(Load { cost, wall })
    }

    /// Starts and ends a program that does nothing.
    pub(super) fn nothing(&self, place: &Path) -> Result<Cost, Failure> {
        self.meter(&self.0, &["nothing"], place)
    }

    /// Runs a program in a directory and says what it cost. What it writes is kept beside the directory.
    pub(super) fn meter(&self, measured: &Path, words: &[&str], directory: &Path) -> Result<Cost, Failure> {
        let (output, errors) = (directory.with_extension("output"), directory.with_extension("errors"));
        let mut command = self.command("meter");
        command.arg(&output).arg(&errors).arg(measured).args(words).current_dir(directory);
        // Proxies, keys and logging of whoever runs this would change what is measured. The key is one that the
        // endpoint does not look at.
        command.env_clear().envs(env::var_os("PATH").map(|it| ("PATH", it)));
        command.env("OPENAI_API_KEY", "unused").env("NO_PROXY", "127.0.0.1");
        let said = json(&program::output(&mut command)?)?;
        let number = |key: &str| said[key].as_u64().ok_or_else(|| nonsense(&said));
        let microseconds = |key: &str| number(key).map(Duration::from_micros);
        Ok(Cost {
            code: said["code"].as_i64().and_then(|it| it.try_into().ok()),
            ended: said["ended"].as_str().unwrap_or_default().to_owned(),
            started: microseconds("started_us")?,
            wall: microseconds("wall_us")?,
            cpu: microseconds("cpu_us")?,
            peak_mb: number("peak_kb")? as f64 * 1024.0 / 1e6,
            output,
            errors,
        })
    }

    /// Starts an endpoint that answers after so long.
    pub(super) fn endpoint(&self, latency: Duration) -> Result<Endpoint, Failure> {
        let mut command = self.command("endpoint");
        command.arg(latency.as_micros().to_string()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let failed = |error: io::Error| Failure::new(format!("cannot start an endpoint: {error}"));
        let mut process = command.spawn().map_err(failed)?;
        let mut address = String::new();
        if let Some(stdout) = process.stdout.take() {
            BufReader::new(stdout).read_line(&mut address).map_err(failed)?;
        }
        Ok(Endpoint { process, address: address.trim_end().to_owned() })
    }

    fn command(&self, form: &str) -> Command {
        let mut command = Command::new(&self.0);
        command.arg(form);
        command
    }
}

/// What asking with nothing around it cost.
pub(super) struct Load {
    pub(super) cost: Cost,
    pub(super) wall: Duration,
}

/// An endpoint that is running. It ends when this is dropped.
pub(super) struct Endpoint {
    process: Child,
    address: String,
}

/// What an endpoint has seen.
#[derive(Debug)]
pub(super) struct Tally {
    pub(super) requests: u64,
    pub(super) connections: u64,
    /// The most requests in flight at once.
    pub(super) peak: u64,
    /// When the first request was there, since 1970.
    pub(super) first: Option<Duration>,
}

impl Endpoint {
    /// Where it listens, as `HOST:PORT`.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Starts counting again.
    pub(super) fn reset(&self) -> Result<(), Failure> {
        self.ask("POST /reset").map(drop)
    }

    /// What was counted since.
    pub(super) fn tally(&self) -> Result<Tally, Failure> {
        let said = self.ask("GET /tally")?;
        let number = |key: &str| said[key].as_u64().ok_or_else(|| nonsense(&said));
        Ok(Tally {
            requests: number("requests")?,
            connections: number("connections")?,
            peak: number("peak")?,
            first: said["first_us"].as_u64().map(Duration::from_micros),
        })
    }

    fn ask(&self, what: &str) -> Result<Value, Failure> {
        let asked = || {
            let mut stream = TcpStream::connect(&self.address)?;
            write!(stream, "{what} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", self.address)?;
            let mut reply = String::new();
            stream.read_to_string(&mut reply)?;
            Ok(reply)
        };
        let reply =
            asked().map_err(|error: io::Error| Failure::new(format!("the endpoint does not answer: {error}")))?;
        json(reply.split_once("\r\n\r\n").map_or("", |(_, body)| body))
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        // It ends by itself when its standard input does, so neither can fail in a way that matters.
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

fn json(text: &str) -> Result<Value, Failure> {
    serde_json::from_str(text).map_err(|error| Failure::new(format!("the yardstick said no JSON: {error}: {text}")))
}

fn nonsense(said: &Value) -> Failure {
    Failure::new(format!("the yardstick said something unexpected: {said}"))
}
