//! `cargo xtask agents`: the agents that users really run, installed and driven through a task.
//!
//! Each [`Agent`] is installed from npm or PyPI into a folder of its own under the target directory, in the version that its runner is tested with. What they are driven
//! through, and what must come of it, is the test `agents` of `jurat-cli`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use chores::chore::{Arguments, Chore, Failure};
use chores::installation::{PYTHON, installed, make_environment, pip, run_pip, with_remedy};
use chores::program;

pub(crate) const CHORE: Chore = Chore {
    name: "agents",
    arguments: "[NAME… | all | some]",
    about: "installs real agents, drives each through a task with two calls of tools and a file written, and prints a row for each\n\
            NAME   a runner that starts a program of its own; default: all of them\n\
            some   those that `test` drives: openclaw, claude_code, codex",
    run,
};

/// An agent to install.
struct Agent {
    /// The name of its runner.
    name: &'static str,
    package: Package,
    version: &'static str,
    /// Its program, relative to where it is installed.
    program: String,
}

/// The Node that the newest of them needs: the package brings the program.
fn node() -> Agent {
    let program = "node_modules/node/bin/node".to_owned();
    Agent { name: "node", package: Package::Npm("node"), version: "24.21.0", program }
}

/// What an agent needs and its package does not declare.
const UNDECLARED: [(&str, &str); 1] = [("mini_swe_agent", "mcp")];

/// An agent that runs on one version of Python alone, and that version.
const ONLY_ON: [(&str, &str); 1] = [("openhands", "python3.12")];

/// The programs of all runners, as `cargo xtask generate` lists them.
const PROGRAMS: &str = include_str!("../agents.txt");

fn agents() -> impl Iterator<Item = Agent> {
    PROGRAMS.lines().filter_map(Agent::read)
}

/// Where an agent is installed from.
#[derive(Clone, Copy)]
enum Package {
    Npm(&'static str),
    PyPi(&'static str),
}

/// Those that every full test drives.
const ALWAYS: [&str; 3] = ["openclaw", "claude_code", "codex"];

fn run(mut arguments: Arguments) -> Result<(), Failure> {
    let mut names = Vec::new();
    while let Some(name) = arguments.word() {
        names.push(name);
    }
    arguments.finish()?;
    if names == ["some"] {
        names = ALWAYS.map(str::to_owned).to_vec();
    }
    let is_all = names.is_empty() || names.iter().any(|it| it == "all");
    if let Some(unknown) = names.iter().find(|it| *it != "all" && agents().all(|agent| agent.name != **it)) {
        let known = agents().map(|it| it.name).collect::<Vec<_>>().join(", ");
        return Err(Failure::Usage(format!("there is no agent `{unknown}`; there are {known}")));
    }
    drive(agents().filter(|it| is_all || names.iter().any(|name| name == it.name)))
}

/// Installs the agents that every full test drives.
pub(crate) fn install_some() -> Result<(), Failure> {
    let wanted = agents().filter(|it| ALWAYS.contains(&it.name));
    std::iter::once(node()).chain(wanted).try_for_each(|it| it.install())
}

fn drive(agents: impl Iterator<Item = Agent>) -> Result<(), Failure> {
    let node = node();
    node.install()?;
    let mut programs = Vec::new();
    for agent in agents {
        agent.install()?;
        programs.push(format!("{}={}", agent.name, agent.program_file().display()));
    }
    let node = node.program_file();
    let mut cargo = program::cargo();
    cargo.args(["test", "--locked", "--workspace", "--test", "agents", "--", "--nocapture"]);
    cargo.env("JURAT_TEST_AGENTS", programs.join("\n"));
    cargo.env("JURAT_TEST_NODE", node.parent().unwrap_or(Path::new("/")));
    program::run(&mut cargo)
}

impl Agent {
    /// Reads a line of [`PROGRAMS`].
    fn read(line: &'static str) -> Option<Agent> {
        let mut words = line.split(' ');
        let [name, registry, package, version, program] = std::array::from_fn(|_| words.next().unwrap_or_default());
        let (package, folder) = match registry {
            "npm" => (Package::Npm(package), "node_modules/.bin"),
            "pypi" => (Package::PyPi(package), "bin"),
            _ => return None,
        };
        Some(Agent { name, package, version, program: format!("{folder}/{program}") })
    }

    fn program_file(&self) -> PathBuf {
        self.folder().join(&self.program)
    }

    fn folder(&self) -> PathBuf {
        directory().join(self.name)
    }

    /// The packages to install, in exact versions.
    fn packages(&self) -> Vec<String> {
        let package = match self.package {
            Package::Npm(name) => format!("{name}@{}", self.version),
            Package::PyPi(name) => format!("{name}=={}", self.version),
        };
        let undeclared = UNDECLARED.iter().filter(|(agent, _)| *agent == self.name).map(|(_, it)| (*it).to_owned());
        [package].into_iter().chain(undeclared).collect()
    }

    /// Sees to it that it is installed, in the version that is pinned.
    fn install(&self) -> Result<(), Failure> {
        let folder = self.folder();
        installed(&folder, &format!("`{}`", self.name), &self.packages().join("\n"), || match self.package {
            Package::Npm(_) => self.npm(&folder),
            Package::PyPi(_) => {
                let only = ONLY_ON.iter().find(|(agent, _)| *agent == self.name).map(|(_, it)| *it);
                make_environment(only.unwrap_or(PYTHON), &folder)?;
                run_pip(pip(&folder).args(self.packages()))
            }
        })
    }

    fn npm(&self, folder: &Path) -> Result<(), Failure> {
        program::ensure("npm")?;
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(folder.join("package.json"), "{\"private\": true}\n"))
            .map_err(|error| Failure::new(format!("cannot write package.json: {error}")))?;
        let mut npm = Command::new("npm");
        npm.current_dir(folder).arg("install").args(self.packages()).args([
            "--no-audit",
            "--no-fund",
            "--loglevel=error",
        ]);
        // Some of them look at the Node that installs them.
        let node = node().program_file();
        if let Some(bin) = node.parent().filter(|it| it.is_dir()) {
            let path = std::env::var("PATH").unwrap_or_default();
            npm.env("PATH", format!("{}:{path}", bin.display()));
        }
        let remedy =
            "npm needs its registry, or one that its configuration names; what was installed before is kept and used";
        with_remedy(program::output(&mut npm).map(drop), remedy)
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
        assert!(agents().any(|it| it.name == "mini_swe_agent"), "{PROGRAMS}");
        for Agent { name, version, .. } in agents().chain([node()]) {
            assert!(version.starts_with(|it: char| it.is_ascii_digit()), "{name} {version}");
        }
    }
}
