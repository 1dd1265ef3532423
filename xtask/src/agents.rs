//! `cargo xtask agents`: the agents that users really run, installed and driven through a task.
//!
//! Each [`Agent`] is installed from npm or PyPI into a folder of its own under the target directory, in the version that is pinned here. What they are driven
//! through, and what must come of it, is the test `agents` of `jurat-cli`.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::chore::{Arguments, Chore, Failure};
use crate::program;

pub(crate) const CHORE: Chore = Chore {
    name: "agents",
    arguments: "[NAME… | all]",
    about: "installs real agents, drives each through a task with two calls of tools and a file written, and prints a row for each\n\
            NAME   openclaw, claude_code, codex, gemini_cli, qwen_code, opencode, pi, mini_swe_agent; all of them unless said",
    run,
};

/// An agent to install.
struct Agent {
    /// The name of its runner.
    name: &'static str,
    from: From,
    /// Its program, relative to where it is installed.
    program: &'static str,
}

/// Where an agent comes from, with exact versions.
enum From {
    Npm(&'static str),
    PyPi(&'static [&'static str]),
}

/// The Node that the newest of them needs: the package brings the program.
const NODE: Agent = Agent { name: "node", from: From::Npm("node@24.21.0"), program: "node_modules/node/bin/node" };

const AGENTS: [Agent; 8] = [
    Agent { name: "openclaw", from: From::Npm("openclaw@2026.9.6"), program: "node_modules/.bin/openclaw" },
    Agent {
        name: "claude_code",
        from: From::Npm("@anthropic-ai/claude-code@2.1.325"),
        program: "node_modules/.bin/claude",
    },
    Agent { name: "codex", from: From::Npm("@openai/codex@0.166.0"), program: "node_modules/.bin/codex" },
    Agent { name: "gemini_cli", from: From::Npm("@google/gemini-cli@0.61.0"), program: "node_modules/.bin/gemini" },
    Agent { name: "qwen_code", from: From::Npm("@qwen-code/qwen-code@0.24.4"), program: "node_modules/.bin/qwen" },
    Agent { name: "opencode", from: From::Npm("opencode-ai@1.18.33"), program: "node_modules/.bin/opencode" },
    Agent { name: "pi", from: From::Npm("@mariozechner/pi-coding-agent@0.73.1"), program: "node_modules/.bin/pi" },
    Agent {
        name: "mini_swe_agent",
        // What it brings along needs `mcp` and does not say so.
        from: From::PyPi(&["mini-swe-agent==2.4.6", "mcp"]),
        program: "bin/mini",
    },
];

/// Those that every full test drives.
const ALWAYS: [&str; 3] = ["openclaw", "claude_code", "codex"];

fn run(mut arguments: Arguments) -> Result<(), Failure> {
    let mut names = Vec::new();
    while let Some(name) = arguments.word() {
        names.push(name);
    }
    arguments.finish()?;
    let is_all = names.is_empty() || names.iter().any(|it| it == "all");
    if let Some(unknown) = names.iter().find(|it| *it != "all" && AGENTS.iter().all(|agent| agent.name != **it)) {
        let known = AGENTS.map(|it| it.name).join(", ");
        return Err(Failure::Usage(format!("there is no agent `{unknown}`; there are {known}")));
    }
    drive(AGENTS.iter().filter(|it| is_all || names.iter().any(|name| name == it.name)))
}

/// Drives the agents that every full test drives.
pub(crate) fn some() -> Result<(), Failure> {
    drive(AGENTS.iter().filter(|it| ALWAYS.contains(&it.name)))
}

fn drive<'a>(agents: impl Iterator<Item = &'a Agent>) -> Result<(), Failure> {
    NODE.install()?;
    let mut programs = Vec::new();
    for agent in agents {
        agent.install()?;
        programs.push(format!("{}={}", agent.name, agent.folder().join(agent.program).display()));
    }
    let node = NODE.folder().join(NODE.program);
    let mut cargo = program::cargo();
    cargo.args([
        "test",
        "--locked",
        "--package",
        "jurat-cli",
        "--features",
        "live",
        "--test",
        "agents",
        "--",
        "--nocapture",
    ]);
    cargo.env("JURAT_TEST_AGENTS", programs.join("\n"));
    cargo.env("JURAT_TEST_NODE", node.parent().unwrap_or(Path::new("/")));
    program::run(&mut cargo)
}

impl Agent {
    fn folder(&self) -> PathBuf {
        directory().join(self.name)
    }

    /// All that decides what is installed.
    fn wanted(&self) -> String {
        match self.from {
            From::Npm(package) => package.to_owned(),
            From::PyPi(packages) => packages.join("\n"),
        }
    }

    /// Sees to it that it is installed, in the version that is pinned.
    fn install(&self) -> Result<(), Failure> {
        let cannot = |error: io::Error| Failure::new(format!("cannot prepare {}: {error}", directory().display()));
        fs::create_dir_all(directory()).map_err(cannot)?;
        // Two chores at once would install over each other.
        let lock = File::create(directory().join(format!("{}.lock", self.name))).map_err(cannot)?;
        lock.lock().map_err(cannot)?;
        let folder = self.folder();
        let stamp = folder.join("installed");
        if fs::read_to_string(&stamp).is_ok_and(|it| it == self.wanted()) {
            return Ok(());
        }
        eprintln!("installing `{}` into {}", self.name, folder.display());
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(cannot)?;
        }
        fs::create_dir_all(&folder).map_err(cannot)?;
        match self.from {
            From::Npm(package) => self.npm(&folder, package)?,
            From::PyPi(packages) => self.pip(&folder, packages)?,
        }
        fs::write(&stamp, self.wanted()).map_err(cannot)
    }

    fn npm(&self, folder: &Path, package: &str) -> Result<(), Failure> {
        program::ensure("npm")?;
        fs::write(folder.join("package.json"), "{\"private\": true}\n")
            .map_err(|error| Failure::new(format!("cannot write package.json: {error}")))?;
        let mut npm = Command::new("npm");
        npm.current_dir(folder).args(["install", package, "--no-audit", "--no-fund", "--loglevel=error"]);
        // Some of them look at the Node that installs them.
        let node = NODE.folder().join(NODE.program);
        if let Some(bin) = node.parent().filter(|it| it.is_dir()) {
            let path = std::env::var("PATH").unwrap_or_default();
            npm.env("PATH", format!("{}:{path}", bin.display()));
        }
        program::output(&mut npm).map(drop).map_err(|failure| {
            let remedy = "npm needs its registry, or one that its configuration names; what was installed before is kept and used";
            Failure::new(format!("cannot install `{}`: {}\n{remedy}", self.name, failure.message()))
        })
    }

    fn pip(&self, folder: &Path, packages: &[&str]) -> Result<(), Failure> {
        program::ensure("python3")?;
        program::output(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
        let mut pip = Command::new(folder.join("bin/python"));
        pip.args(["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]).args(packages);
        program::output(&mut pip).map(drop).map_err(|failure| {
            let remedy = "pip needs PyPI, or an index that its configuration names, and a Python of 3.10 or later";
            Failure::new(format!("cannot install `{}`: {}\n{remedy}", self.name, failure.message()))
        })
    }
}

/// Where agents are installed.
fn directory() -> PathBuf {
    program::target_directory().join("agents")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_is_pinned() {
        for agent in AGENTS.iter().chain([&NODE]) {
            let first = agent.wanted().lines().next().unwrap_or_default().to_owned();
            let version = first.rsplit(['@', '=']).next().unwrap_or_default();
            assert!(version.starts_with(|it: char| it.is_ascii_digit()), "{first}");
        }
    }
}
