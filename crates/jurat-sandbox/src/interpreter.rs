//! Finding a Python interpreter, and what of the file system it needs.
//!
//! The interpreter is asked itself, once, before any code of an author is near: where its packages are depends on how it was installed, and only it knows.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

/// An interpreter that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Interpreter {
    pub(crate) executable: PathBuf,
    /// Files and folders that it has to read.
    pub(crate) readable: Vec<PathBuf>,
    /// Its version and that of every package it finds, in words.
    pub(crate) identity: String,
    pub(crate) start: Start,
}

/// How an interpreter is started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Start {
    /// As always. It looks for its packages by itself, and runs what they ask it to run at the start.
    Whole,
    /// Without looking for anything: it is told where its packages are. That takes a fraction of the time, and is the same unless packages change how
    /// modules are imported.
    Told {
        /// Where modules are looked for.
        path: Vec<String>,
        /// The folder that it is installed in, or that of its virtual environment.
        prefix: String,
        /// The same for what depends on the platform.
        exec_prefix: String,
    },
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

/// Asks an interpreter about itself. Folders of what it has loaded are among the answers, for systems that keep libraries elsewhere. Somebody waits for the
/// answer, so what takes long to import is not.
///
/// Packages that change how modules are imported do so by finders. Those of the interpreter are types; one that comes with setuptools only looks after
/// `distutils`, which is no business of evaluators.
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
known = [folder for folder in dict.fromkeys(folders) if folder.startswith("/")]
import os
from _json import encode_basestring_ascii as quoted
packages = set()
for folder in sys.path:
    try:
        packages.update(it for it in os.listdir(folder) if it.endswith((".dist-info", ".egg-info", ".egg-link")))
    except OSError:
        pass
finders = [it for it in sys.meta_path if not isinstance(it, type) and type(it).__name__ != "DistutilsMetaFinder"]
is_plain = not finders and len(sys.path_hooks) == 2
def listed(texts):
    return "[" + ",".join(quoted(it) for it in texts) + "]"
print('{"identity":%s,"executable":%s,"implementation":%s,"version":[%d,%d],"folders":%s,"is_plain":%s,"path":%s,"prefixes":%s}' % (
    listed([sys.version, sys.platform] + sorted(packages)),
    quoted(sys.executable),
    quoted(sys.implementation.name),
    sys.version_info[0],
    sys.version_info[1],
    listed(known),
    "true" if is_plain else "false",
    listed([it for it in sys.path if it]),
    listed([sys.prefix, sys.exec_prefix]),
))
"#;

#[derive(Deserialize)]
struct Answer {
    identity: Vec<String>,
    executable: PathBuf,
    implementation: String,
    version: (u32, u32),
    folders: Vec<PathBuf>,
    is_plain: bool,
    path: Vec<String>,
    prefixes: [String; 2],
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
        let [prefix, exec_prefix] = answer.prefixes;
        let told = Start::Told { path: answer.path, prefix, exec_prefix };
        Ok(Interpreter {
            executable: answer.executable,
            readable,
            identity: answer.identity.join("\n"),
            start: if answer.is_plain { told } else { Start::Whole },
        })
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
