//! A folder with a suite, where the built command runs without an environment.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

/// A folder that lives as long as the test. The command knows one endpoint, and nothing else of the world.
pub(crate) struct Project {
    folder: TempDir,
    /// Where `openai/…` is asked.
    base_url: Option<String>,
}

/// How the command ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// `None` when a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Project {
    /// A folder with the suite `suite.yaml` and its rows, whose models are asked at this address.
    pub(crate) fn new(suite: &str, rows: &str, url: &str) -> Project {
        let folder = TempDir::new().expect("the system has a place for temporary files");
        let project = Project { folder, base_url: Some(format!("{url}/v1")) };
        project.write("suite.yaml", suite);
        project.write("rows.jsonl", rows);
        project
    }

    /// The suite, its rows and one run in another folder, where no model can be reached.
    pub(crate) fn elsewhere(&self, run: &Path) -> Project {
        let folder = TempDir::new().expect("the system has a place for temporary files");
        let project = Project { folder, base_url: None };
        for name in ["suite.yaml", "rows.jsonl"] {
            fs::copy(self.path().join(name), project.path().join(name)).expect("files can be copied");
        }
        fs::copy(run, project.path().join("recorded.jurat")).expect("files can be copied");
        project
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, name: &str, content: &str) {
        fs::write(self.path().join(name), content).expect("files can be written");
    }

    /// The command, set up to run here.
    pub(crate) fn command(&self, arguments: &[impl AsRef<OsStr>]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jurat"));
        command.current_dir(self.path()).args(arguments).env_clear().stdin(Stdio::null());
        if let Some(base_url) = &self.base_url {
            command.env("OPENAI_BASE_URL", base_url);
        }
        command
    }

    /// Runs the command to its end.
    pub(crate) fn jurat(&self, arguments: &[&str]) -> Ended {
        ended(&mut self.command(arguments))
    }

    /// Runs the suite to its end.
    pub(crate) fn run(&self, options: &[&str]) -> Ended {
        self.jurat(&[&["run", "suite.yaml"], options].concat())
    }

    /// Runs the suite to its end and returns its results.
    pub(crate) fn results(&self, options: &[&str]) -> Ended {
        self.run(&[options, RESULTS].concat())
    }

    /// Starts the suite; what it prints can be read when it has ended.
    pub(crate) fn start(&self, options: &[&str]) -> Child {
        let mut command = self.command(&[&["run", "suite.yaml"], options].concat());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts")
    }

    /// The run files, the oldest first.
    pub(crate) fn runs(&self) -> Vec<PathBuf> {
        let Ok(files) = fs::read_dir(self.path().join(".jurat/runs")) else { return Vec::new() };
        let files = files.map(|it| it.expect("files can be listed").path());
        let mut runs: Vec<PathBuf> = files.filter(|it| it.extension() == Some(OsStr::new("jurat"))).collect();
        runs.sort();
        runs
    }

    /// The only run.
    #[track_caller]
    pub(crate) fn only_run(&self) -> PathBuf {
        let mut runs = self.runs();
        assert_eq!(runs.len(), 1, "{runs:?}");
        runs.remove(0)
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.path().join(".jurat/journal.db")
    }
}

/// The options that print what a replay reproduces.
pub(crate) const RESULTS: &[&str] = &["--json", "--results-only"];

/// Runs a command to its end.
pub(crate) fn ended(command: &mut Command) -> Ended {
    command.output().expect("the command starts").into()
}

impl From<Output> for Ended {
    fn from(Output { status, stdout, stderr }: Output) -> Ended {
        let text = |bytes| String::from_utf8(bytes).expect("the command writes UTF-8");
        Ended { code: status.code(), stdout: text(stdout), stderr: text(stderr) }
    }
}

/// Results without how long answers took, the one thing in them that differs when the same is asked again, and without the digests of
/// evidence, which holds that time.
pub(crate) fn timeless(results: &str) -> String {
    let without = |text: &str, member: &str, value: fn(char) -> bool| {
        let mut parts = text.split(member);
        let mut rest = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            rest.push_str(part.trim_start_matches(value));
        }
        rest
    };
    let number = |it: char| it.is_ascii_digit() || ".e-".contains(it);
    let results = without(results, ",\"latency_ms\":", number);
    let results = without(&results, ",\"mean_latency_ms\":", number);
    // The quotation mark that ends a digest stays, in all results alike.
    let results = without(&results, ",\"evidence\":\"", |it| it.is_ascii_hexdigit());
    // Each endpoint has a port of its own, which messages name.
    without(&results, "127.0.0.1:", |it| it.is_ascii_digit())
}
