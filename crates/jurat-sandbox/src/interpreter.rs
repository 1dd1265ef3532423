//! Finding a Python interpreter, and what of the file system it needs.
//!
//! The interpreter is asked itself, once, before any code of an author is near: where its packages are depends on how it was installed, and only it knows.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

/// An interpreter that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Interpreter {
    pub(crate) executable: PathBuf,
    /// Files and folders that it has to read.
    pub(crate) readable: Vec<PathBuf>,
    /// Its version and that of every package it finds, in words.
    pub(crate) identity: String,
}

/// Where libraries are that any program may use, and what they read. What is not there does not matter.
const SYSTEM: [&str; 8] = [
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/share/zoneinfo",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf.d",
];

/// Asks an interpreter about itself. Folders of what it has loaded are among the answers, for systems that keep libraries elsewhere.
const QUESTION: &str = r#"
import sys
folders = list(sys.path)
for prefix in {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}:
    folders += [prefix + "/pyvenv.cfg"] + ([prefix + "/lib", prefix + "/lib64"] if prefix != "/" else [])
try:
    with open("/proc/self/maps") as maps:
        files = {line.split(maxsplit=5)[5].strip() for line in maps if "/" in line}
    folders += [file.rpartition("/")[0] for file in files if ".so" in file and file.startswith("/")]
except OSError:
    pass
import json
known = [folder for folder in dict.fromkeys(folders) if folder.startswith("/")]
import os
packages = set()
for folder in sys.path:
    try:
        packages.update(it for it in os.listdir(folder) if it.endswith((".dist-info", ".egg-info", ".egg-link")))
    except OSError:
        pass
print(json.dumps({
    "identity": [sys.version, sys.platform] + sorted(packages),
    "executable": sys.executable,
    "implementation": sys.implementation.name,
    "version": list(sys.version_info[:2]),
    "folders": known,
}))
"#;

#[derive(Deserialize)]
struct Answer {
    identity: Vec<String>,
    executable: PathBuf,
    implementation: String,
    version: (u32, u32),
    folders: Vec<PathBuf>,
}

/// The oldest version that has all that is used.
const OLDEST: (u32, u32) = (3, 8);

impl Interpreter {
    /// Finds one: `python3`, or what was named.
    pub(crate) fn find(named: Option<&Path>) -> Result<Interpreter, String> {
        let program = named.map_or_else(|| PathBuf::from("python3"), in_environment);
        let mut command = Command::new(&program);
        command.args(["-s", "-B", "-c", QUESTION]).stdin(Stdio::null());
        for variable in ["PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONINSPECT"] {
            command.env_remove(variable);
        }
        let shown = program.display();
        let output = command.output().map_err(|error| {
            let help = if named.is_none() { "; install Python, or name an interpreter with `python`" } else { "" };
            format!("`{shown}` cannot be started: {error}{help}")
        })?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let last = said.lines().rev().find(|it| !it.trim().is_empty()).unwrap_or("it says nothing");
            return Err(format!("`{shown}` does not work ({}): {last}", output.status));
        }
        let answer: Answer = serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("`{shown}` is no Python interpreter: it answers something else ({error})"))?;
        let (major, minor) = answer.version;
        if answer.implementation != "cpython" || (major, minor) < OLDEST {
            let implementation = answer.implementation;
            return Err(format!(
                "`{shown}` is {implementation} {major}.{minor}; evaluators need CPython {}.{} or later",
                OLDEST.0, OLDEST.1
            ));
        }
        // A link is followed where access is granted, but the name that was used says which environment is meant.
        let real = answer.executable.canonicalize().map_err(|error| format!("`{shown}`: {error}"))?;
        let mut readable = vec![real];
        readable.extend(SYSTEM.iter().map(PathBuf::from).chain(answer.folders).filter(|it| it.exists()));
        Ok(Interpreter { executable: answer.executable, readable, identity: answer.identity.join("\n") })
    }
}

/// The interpreter of a virtual environment, when its folder was named.
fn in_environment(named: &Path) -> PathBuf {
    let candidates = [named.join("bin/python3"), named.join("bin/python")];
    if named.is_dir() {
        let found = candidates.iter().find(|it| it.exists());
        return found.cloned().unwrap_or_else(|| candidates[0].clone());
    }
    named.to_owned()
}
