//! Conversations with programs that others wrote: llama.cpp with real weights, which embeds too, and servers with tools.
//!
//! `cargo xtask test` starts them and says where they are: `JURAT_TEST_LLAMA` and `JURAT_TEST_MCP` are addresses without a path, and
//! `JURAT_TEST_MCP_PROGRAMS` is the folder of servers that are programs. What is tested is that a conversation is led, recorded and replayed, never the
//! wit of the model: its weights are small.

mod conversations;
mod embeddings;
mod tools;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

/// The address of a server, or the folder of servers.
fn address(variable: &str) -> String {
    match std::env::var(variable) {
        Ok(address) if !address.is_empty() => address,
        _ => panic!("`{variable}` is not set: these tests need real servers, which `cargo xtask test` starts"),
    }
}

/// The root of the repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the crate lies two levels below the root")
}

/// A folder with a suite, which is where the command runs.
struct Desk(TempDir);

impl Desk {
    fn with(suite: &str) -> Desk {
        let desk = Desk(TempDir::new().expect("the system has a place for temporary files"));
        desk.write("suite.yaml", suite);
        desk
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, text).expect("files can be written");
        path
    }

    /// What the command writes. Whether all tasks passed is for the model to say: any of the two exit codes of a run will do.
    #[track_caller]
    fn jurat(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jurat"));
        command.args(arguments).current_dir(self.0.path()).env("OPENAI_API_KEY", "sk-test");
        let ended = command.output().expect("the command starts");
        let [stdout, stderr] = [ended.stdout, ended.stderr].map(|it| String::from_utf8(it).expect("it writes UTF-8"));
        assert!(matches!(ended.status.code(), Some(0 | 1)), "{arguments:?}: {}\n{stdout}\n{stderr}", ended.status);
        stdout
    }

    /// Runs the suite, then replays what was recorded where no model can be reached: the results must be the same. Returns what was asked and answered, and
    /// the results.
    #[track_caller]
    fn run_and_replay(&self) -> (Vec<Value>, Value) {
        self.jurat(&["run", "suite.yaml"]);
        let effects = self.jurat(&["export", "--effects"]);
        let results = self.jurat(&["export", "--json", "--results-only"]);
        self.write("effects.jsonl", &effects);
        self.jurat(&["run", "suite.yaml", "--replay", "effects.jsonl"]);
        assert_eq!(self.jurat(&["export", "--json", "--results-only"]), results);
        assert_eq!(answers(&self.jurat(&["export", "--effects"])), answers(&effects));
        let results: Value = serde_json::from_str(&results).expect("results are JSON");
        let counts = &results["results"]["counts"];
        assert_eq!((&counts["error"], &counts["not_run"]), (&0.into(), &0.into()), "{results}");
        (lines(&effects), results)
    }
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|it| serde_json::from_str(it).expect("a line is JSON")).collect()
}

/// The requests by name, with what came of them.
fn answers(effects: &str) -> Vec<(Value, Value)> {
    lines(effects).into_iter().map(|it| (it["key"].clone(), it["outcome"].clone())).collect()
}
