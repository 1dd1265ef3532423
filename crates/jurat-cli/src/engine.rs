//! `jurat run --engine`: what runs the shards of a run. Processes of this machine are in `local`; Ray and Spark are here.
//!
//! The engines are used through the Python package, whose interpreter this process is: it starts `python -m jurat._shards`, which runs `jurat run --shard` once for each
//! shard on the workers. Planning and merging are done here, as for any other shards.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use jurat::shards::{MergeOptions, PartSize, Shards};
use jurat::{Run, RunOptions, Suite};

use crate::exit::Exit;
use crate::failure::Failure;

/// How many rows a shard has, about.
const ROWS: u64 = 200_000;

/// What runs shards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Engine {
    /// This many processes of this machine.
    Local(NonZeroUsize),
    /// `ray` or `spark`, perhaps with the address of a cluster.
    Cluster(String),
}

impl Engine {
    pub(crate) fn parse(text: &str) -> Result<Engine, String> {
        let n = text.strip_prefix("local:").and_then(|it| it.parse().ok()).map(Engine::Local);
        let (name, address) = text.split_once("://").map_or((text, None), |(name, it)| (name, Some(it)));
        let is_cluster = matches!(name, "ray" | "spark") && address.is_none_or(|it| !it.is_empty());
        n.or(is_cluster.then(|| Engine::Cluster(text.to_owned()))).ok_or_else(|| {
            "write `local:N` for N processes of this machine, `ray` or `spark`, or either with the address of a cluster, \
             for example `ray://10.0.0.5:10001`"
                .to_owned()
        })
    }
}

/// The interpreter that this command is a part of.
static PYTHON: OnceLock<PathBuf> = OnceLock::new();

/// Says that this command is a part of a Python package, and which interpreter has that package. The program of this process does not say: in a virtual environment it is the
/// interpreter that the environment was made from, which has no packages.
pub fn use_python(interpreter: PathBuf) {
    // The first stays: a process has one.
    let _ = PYTHON.set(interpreter);
}

/// The interpreter that this command is a part of; `None` for the program without Python.
pub(crate) fn python() -> Option<&'static Path> {
    PYTHON.get().map(PathBuf::as_path)
}

/// Where the shards of a run are, and who may run them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Place {
    /// The directory, when one is named.
    pub(crate) out: Option<PathBuf>,
    /// Whether a process of another machine that was silent for long is taken for dead.
    pub(crate) take_over: bool,
}

/// How a run on several processes ended.
pub(crate) enum Ended {
    Merged(Box<jurat::Run>),
    Stopped(Exit, String),
}

/// Runs a suite on a cluster.
pub(crate) fn run(
    suite: &Suite,
    options: &RunOptions,
    engine: &str,
    place: &Place,
    coordinator: Option<&str>,
) -> Result<Ended, Failure> {
    let name = engine.split("://").next().unwrap_or(engine);
    let Some(python) = python() else {
        return Err(Failure::Reason(format!(
            "`--engine {name}` needs the command of the Python package: `pip install 'jurat[{name}]'`, and then `python -m jurat run …`"
        )));
    };
    let Some(out) = &place.out else {
        return Err(Failure::Reason(format!("`--engine {name}` needs `--out DIR`, a directory that all workers see")));
    };
    if options.timeout.is_some() {
        return Err(Failure::Reason(format!("`--timeout` is for one process; `--engine {name}` has its own limits")));
    }
    let out = std::path::absolute(out).unwrap_or_else(|_| out.clone());
    let shards = Shards::plan(suite, options, PartSize::Rows(ROWS), &out)?;
    let lock = shards.lock(place.take_over)?;
    let mut command = Command::new(python);
    command.args(["-m", "jurat._shards", engine]).arg(&out).args(arguments(options, coordinator));
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
    let status = status.map_err(|it| Failure::Reason(format!("Python cannot be started: {it}")))?;
    if !status.success() {
        return Err(Failure::Printed);
    }
    drop(lock);
    let merged = shards.merge(&MergeOptions::default())?;
    Ok(Ended::Merged(Box::new(Run::open(&merged.path)?)))
}

/// What each shard is run with, beside its name.
fn arguments(options: &RunOptions, coordinator: Option<&str>) -> Vec<String> {
    let mut arguments = passed_on(options);
    if let Some(concurrency) = options.concurrency {
        arguments.extend(["-j".to_owned(), concurrency.to_string()]);
    }
    if let Some(url) = coordinator {
        arguments.extend(["--coordinator".to_owned(), url.to_owned()]);
    }
    arguments
}

/// The options of a run that do not change its results: the others are in the plan.
pub(crate) fn passed_on(options: &RunOptions) -> Vec<String> {
    let timeout = options.request_timeout.map(|it| ["--request-timeout".to_owned(), written(it)]);
    let flags = [("--keep-going", options.keep_going), ("--stream", options.stream), ("--durable", options.durable)];
    let flags = flags.into_iter().filter(|it| it.1).map(|it| it.0.to_owned());
    let shared = options.shared_journal.clone().map(|it| ["--shared-journal".to_owned(), it]);
    timeout.into_iter().chain(shared).flatten().chain(flags).collect()
}

/// A time as the command reads it.
pub(crate) fn written(time: Duration) -> String {
    format!("{}ms", time.as_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_is_read_from_text() {
        let cluster = |text: &str| Ok(Engine::Cluster(text.to_owned()));
        assert_eq!(Engine::parse("local:4"), Ok(Engine::Local(NonZeroUsize::new(4).expect("not zero"))));
        for text in ["ray", "spark", "ray://10.0.0.5:10001", "spark://master:7077"] {
            assert_eq!(Engine::parse(text), cluster(text));
        }
        for wrong in ["", "local", "local:0", "ray:", "ray://", "dask", "slurm://x"] {
            assert!(Engine::parse(wrong).is_err_and(|it| it.contains("`local:N`")), "{wrong}");
        }
    }
}
