//! Finding a Python interpreter, and what of the file system it needs.
//!
//! Where it is follows from files alone ([`location`]). Where its packages are depends on how it was installed, and only it knows: it is asked, once, before
//! any code of an author is near. It is asked in isolated mode, without the environment and the current directory, where a file called like one of
//! its modules would be run; and inside the sandbox, unless it is a program of the user that does not start there.

mod location;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use crate::Refused;
use location::{Location, Owner, Version};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Interpreters {
    /// The one that a source names, else `python3` of the search path.
    #[default]
    Named,
    /// Only `python3` of the search path, and only outside of these folders; without its packages, which is enough to parse. Where the version
    /// that a source asks for is not there, none is started.
    OutsideOf(Vec<PathBuf>),
}

/// Whether there is an interpreter as it is named, or `python3`. Only files are looked at.
///
/// # Errors
/// With the reason, when there is none.
pub fn look_for_interpreter(named: Option<&Path>) -> Result<(), String> {
    Location::find(named, &[]).map(drop)
}

/// An interpreter that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Interpreter {
    pub(crate) executable: PathBuf,
    /// Files and folders that it has to read.
    pub(crate) readable: Vec<PathBuf>,
    /// Its version and that of every package it finds, in words.
    pub(crate) identity: String,
    version: Version,
    pub(crate) start: Start,
}

/// How an interpreter is started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Start {
    /// As always. It looks for its packages by itself, and runs what they ask it to run at the start.
    Whole,
    /// Without a search: it receives the places of its packages. That takes a fraction of the time, and is the same unless packages change how
    /// modules are imported.
    Located {
        /// Where modules are looked for.
        path: Vec<String>,
        /// The folder that it is installed in, or that of its virtual environment.
        prefix: String,
        /// The same for what depends on the platform.
        exec_prefix: String,
    },
}

/// Asks an interpreter about itself. Folders of what it has loaded are among the answers, for systems that have libraries elsewhere. A user waits for the
/// answer, so nothing is imported that takes long. With an argument, the answer is a message to that descriptor.
///
/// Packages that change how modules are imported do so by finders. Those of the interpreter are types; one that comes with setuptools only looks after
/// `distutils`, which is no business of evaluators.
pub(crate) const QUESTION: &str = r#"
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
answer = '{"identity":%s,"executable":%s,"implementation":%s,"version":[%d,%d],"folders":%s,"is_plain":%s,"path":%s,"prefixes":%s}' % (
    listed([sys.version, sys.platform] + sorted(packages)),
    quoted(sys.executable),
    quoted(sys.implementation.name),
    sys.version_info[0],
    sys.version_info[1],
    listed(known),
    "true" if is_plain else "false",
    listed([it for it in sys.path if it]),
    listed([sys.prefix, sys.exec_prefix]),
)
if len(sys.argv) > 1:
    body = b"V" + answer.encode()
    with open(int(sys.argv[1]), "wb", closefd=False) as replies:
        replies.write(len(body).to_bytes(4, "little") + body)
else:
    print(answer)
"#;

#[derive(Deserialize)]
struct Answer {
    identity: Vec<String>,
    executable: PathBuf,
    implementation: String,
    version: Version,
    folders: Vec<PathBuf>,
    is_plain: bool,
    path: Vec<String>,
    prefixes: [String; 2],
}

/// The oldest version that has all that is used.
const OLDEST: Version = (3, 8);

/// What an interpreter is asked with.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) executable: PathBuf,
    /// Files and folders that it needs to start.
    pub(crate) readable: Vec<PathBuf>,
    pub(crate) packages: Packages,
}

/// Whether an interpreter looks for its packages. They may run code when it starts (`.pth`, `sitecustomize`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Packages {
    Included,
    LeftOut,
}

impl Packages {
    /// The options that an interpreter is asked with.
    pub(crate) fn options(self) -> &'static [&'static str] {
        match self {
            Packages::Included => &["-I", "-B", "-c", QUESTION],
            Packages::LeftOut => &["-I", "-S", "-B", "-c", QUESTION],
        }
    }
}

/// Asks an interpreter inside the sandbox.
pub(crate) type AskInside<'a> = &'a dyn Fn(&Asked) -> Result<Vec<u8>, Refused>;

impl Interpreter {
    /// Finds one: `python3`, or what was named.
    pub(crate) fn find(
        named: Option<&Path>,
        interpreters: &Interpreters,
        ask_inside: AskInside<'_>,
    ) -> Result<Interpreter, Refused> {
        match interpreters {
            Interpreters::Named => {
                let location = Location::find(named, &[]).map_err(Refused::Interpreter)?;
                Interpreter::at(&location, Packages::Included, ask_inside)
            }
            Interpreters::OutsideOf(folders) => Interpreter::to_parse(named, folders, ask_inside),
        }
    }

    /// One that reads code as the one that was named would. That one is not started.
    fn to_parse(named: Option<&Path>, excluded: &[PathBuf], ask_inside: AskInside<'_>) -> Result<Interpreter, Refused> {
        let meant = Location::find(named, &[]).map_err(Refused::Interpreter)?;
        let wanted = meant.version();
        let exact = wanted.map(|(major, minor)| PathBuf::from(format!("python{major}.{minor}")));
        let names = exact.as_deref().into_iter().chain([Path::new("python3")]);
        for location in names.filter_map(|it| Location::find(Some(it), excluded).ok()) {
            let is_meant = location == meant;
            if let Ok(found) = Interpreter::at(&location, Packages::LeftOut, ask_inside)
                && (is_meant || wanted == Some(found.version))
            {
                return Ok(found);
            }
        }
        let shown = meant.program.display();
        Err(Refused::Interpreter(format!("no interpreter outside of the project reads code as `{shown}` does")))
    }

    fn at(location: &Location, packages: Packages, ask_inside: AskInside<'_>) -> Result<Interpreter, Refused> {
        let Location { program, owner } = location;
        let asked = Asked { executable: program.clone(), readable: location.readable(), packages };
        let answer = match owner {
            Owner::Definition => ask_inside(&asked)?,
            // A program that chooses between interpreters is a script, and starts others.
            Owner::User if location.is_script() => ask_outside(program, packages)?,
            Owner::User => ask_inside(&asked).or_else(|_| ask_outside(program, packages))?,
        };
        Interpreter::read(location, &answer).map_err(Refused::Interpreter)
    }

    fn read(location: &Location, answer: &[u8]) -> Result<Interpreter, String> {
        let shown = location.program.display();
        let answer: Answer = serde_json::from_slice(answer)
            .map_err(|error| format!("`{shown}` is no Python interpreter: it answers something else ({error})"))?;
        let (major, minor) = answer.version;
        if answer.implementation != "cpython" || (major, minor) < OLDEST {
            let implementation = answer.implementation;
            return Err(format!(
                "`{shown}` is {implementation} {major}.{minor}; evaluators need CPython {}.{} or later",
                OLDEST.0, OLDEST.1
            ));
        }
        // The interpreter that a script of the user chose says where it is; any other is the file that was found.
        let executable = match location.owner {
            Owner::User => answer.executable,
            Owner::Definition => location.program.clone(),
        };
        // A link is followed where access is granted, but the name that was used says which environment is meant.
        let mut readable = vec![executable.canonicalize().map_err(|error| format!("`{shown}`: {error}"))?];
        readable.extend(location.readable());
        readable.extend(answer.folders.into_iter().filter(|it| it.exists() && location.may_claim(it)));
        let [prefix, exec_prefix] = answer.prefixes;
        let located = Start::Located { path: answer.path, prefix, exec_prefix };
        Ok(Interpreter {
            executable,
            readable,
            identity: answer.identity.join("\n"),
            version: answer.version,
            start: if answer.is_plain { located } else { Start::Whole },
        })
    }
}

/// Asks a program of the user. A script that chooses between interpreters needs to know where programs and its own settings are.
fn ask_outside(program: &Path, packages: Packages) -> Result<Vec<u8>, Refused> {
    let mut command = Command::new(program);
    command.args(packages.options()).stdin(Stdio::null()).current_dir("/").env_clear();
    for variable in ["PATH", "HOME"] {
        command.envs(std::env::var_os(variable).map(|it| (variable, it)));
    }
    let output = command.output().map_err(|error| cannot_start(program, &error))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().rev().find(|it| !it.trim().is_empty()).unwrap_or("it says nothing");
        return Err(does_not_work(program, &output.status.to_string(), last));
    }
    Ok(output.stdout)
}

pub(crate) fn cannot_start(program: &Path, error: &dyn std::fmt::Display) -> Refused {
    Refused::Interpreter(format!("`{}` cannot be started: {error}", program.display()))
}

pub(crate) fn does_not_work(program: &Path, how: &str, said: &str) -> Refused {
    Refused::Interpreter(format!("`{}` does not work ({how}): {said}", program.display()))
}
