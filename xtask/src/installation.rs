//! Packages of PyPI and npm, installed into a folder of their own.
//!
//! A stamp in the folder records what was installed: as long as it fits, nothing is installed again.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::Command;

use crate::chore::Failure;
use crate::program;

/// Sees to it that a folder has what is wanted: `make` fills it, which is empty or not there. `what` names the packages for people.
pub fn installed(
    folder: &Path,
    what: &str,
    wanted: &str,
    make: impl FnOnce() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let cannot = |error: io::Error| Failure::new(format!("cannot prepare {}: {error}", folder.display()));
    folder.parent().map_or(Ok(()), fs::create_dir_all).map_err(cannot)?;
    // Two chores at once would install over each other.
    let lock = File::create(folder.with_extension("lock")).map_err(cannot)?;
    lock.lock().map_err(cannot)?;
    let stamp = folder.join("installed");
    if fs::read_to_string(&stamp).is_ok_and(|it| it == wanted) {
        return Ok(());
    }
    eprintln!("installing {what} into {}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(cannot)?;
    }
    make()?;
    fs::write(&stamp, wanted).map_err(cannot)
}

/// The interpreter that every chore uses unless its caller names another.
pub const PYTHON: &str = "python3";

/// The version of Python that environments are made with.
pub fn python_version(python: &str) -> Result<String, Failure> {
    program::ensure(python)?;
    program::output(Command::new(python).args(["-c", "import sys; print(sys.version)"]))
}

/// Makes an environment of Python.
pub fn make_environment(python: &str, folder: &Path) -> Result<(), Failure> {
    program::ensure(python)?;
    let made = program::output(Command::new(python).args(["-m", "venv"]).arg(folder)).map(drop);
    with_remedy(made, "Python's `venv` is needed; on Debian: `apt-get install python3-venv`")
}

/// `pip install` in an environment; the caller adds what.
pub fn pip(environment: &Path) -> Command {
    let mut pip = Command::new(environment.join("bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]);
    pip
}

/// Runs what [`pip`] was made into.
pub fn run_pip(pip: &mut Command) -> Result<(), Failure> {
    let remedy = "pip needs PyPI, or an index that its configuration names, and a Python of 3.10 or later";
    with_remedy(program::output(pip).map(drop), remedy)
}

/// Adds what to do about a failure.
pub fn with_remedy(done: Result<(), Failure>, remedy: &str) -> Result<(), Failure> {
    done.map_err(|failure| Failure::new(format!("{}\n{remedy}", failure.message())))
}
