//! The Python package: built as a wheel, installed into an environment of its own, tested there.
//!
//! `python/requirements.txt` says what the tests need besides. A stamp keeps what was installed: as long as it fits there is nothing to do.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::chore::{Arguments, Chore, Failure};
use crate::program;

pub(crate) const CHORE: Chore = Chore {
    name: "wheel",
    arguments: "",
    about: "builds the wheel of the Python package as it is published, into `target/wheels`; takes several minutes",
    run,
};

const REQUIREMENTS: &str = "python/requirements.txt";

fn run(arguments: Arguments) -> Result<(), Failure> {
    arguments.finish()?;
    let environment = environment()?;
    let wheel = wheel(&environment, Build::Published)?;
    println!("{}", wheel.display());
    Ok(())
}

/// Builds the package as it is developed, and runs its tests. They start a model endpoint, which is built first.
pub(crate) fn test() -> Result<(), Failure> {
    let environment = environment()?;
    program::run(program::cargo().args(["build", "--locked", "--quiet", "--package", "jurat-testkit"]))?;
    let wheel = wheel(&environment, Build::Dev)?;
    install(&environment, &wheel)?;
    let endpoint = program::target_directory().join("debug/jurat-endpoint");
    let mut pytest = Command::new(environment.join("bin/python"));
    // The tests see what is installed, and not what lies here.
    pytest.args(["-m", "pytest", "-q", "python"]).env("PYTHONSAFEPATH", "1").current_dir(program::root());
    program::run(pytest.env("JURAT_ENDPOINT", endpoint))
}

/// What a wheel is built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Build {
    /// To be tested here: packed as quickly as can be.
    Dev,
    /// To be measured.
    Measured,
    /// To be published.
    Published,
}

impl Build {
    fn profile(self) -> &'static str {
        match self {
            Build::Dev => "dev",
            Build::Measured => "measured",
            Build::Published => "dist",
        }
    }

    fn compression(self) -> &'static str {
        match self {
            Build::Dev => "stored",
            Build::Measured | Build::Published => "deflated",
        }
    }
}

/// The wheel, built so.
fn wheel(environment: &Path, build: Build) -> Result<PathBuf, Failure> {
    let profile = build.profile();
    let directory = program::target_directory().join("wheels").join(profile);
    let cannot = |error: io::Error| Failure::new(format!("cannot prepare {}: {error}", directory.display()));
    // An older wheel would be taken for the new one.
    if directory.exists() {
        fs::remove_dir_all(&directory).map_err(cannot)?;
    }
    let mut maturin = Command::new(environment.join("bin/maturin"));
    maturin.args(["build", "--locked", "--profile", profile, "--compression-method", build.compression(), "--out"]);
    maturin.arg(&directory).current_dir(program::root()).env("VIRTUAL_ENV", environment);
    // maturin tells PyO3 which Python it builds for, and nobody else does: in a directory that they shared, each would build anew what the other built.
    maturin.env("CARGO_TARGET_DIR", program::target_directory().join("python-build"));
    program::run(&mut maturin)?;
    let built = fs::read_dir(&directory).map_err(cannot)?.filter_map(Result::ok).map(|it| it.path());
    let mut wheels = built.filter(|it| it.extension().is_some_and(|it| it == "whl"));
    wheels.next().ok_or_else(|| Failure::new(format!("maturin left no wheel in {}", directory.display())))
}

/// An environment that has the package, optimised as whole runs are measured.
pub(crate) fn measured() -> Result<PathBuf, Failure> {
    let environment = environment()?;
    let wheel = wheel(&environment, Build::Measured)?;
    install(&environment, &wheel)?;
    Ok(environment)
}

/// Installs the wheel, in place of any other.
fn install(environment: &Path, wheel: &Path) -> Result<(), Failure> {
    let mut pip = pip(environment);
    program::output(pip.args(["--no-deps", "--force-reinstall", "--no-index"]).arg(wheel)).map(drop)
}

/// Where the tests run, with everything that they need.
fn environment() -> Result<PathBuf, Failure> {
    environment_of("python", &program::root().join(REQUIREMENTS))
}

/// An environment of this name, with what a list says.
pub(crate) fn environment_of(name: &str, requirements: &Path) -> Result<PathBuf, Failure> {
    let environment = program::target_directory().join(name);
    let cannot = |error: io::Error| Failure::new(format!("cannot prepare {}: {error}", environment.display()));
    program::ensure("python3")?;
    let version = program::output(Command::new("python3").args(["-c", "import sys; print(sys.version)"]))?;
    let wanted = version + &fs::read_to_string(requirements).map_err(cannot)?;
    let stamp = environment.join("installed");
    if fs::read_to_string(&stamp).is_ok_and(|it| it == wanted) {
        return Ok(environment);
    }
    eprintln!("installing what {} lists into {}", requirements.display(), environment.display());
    if environment.exists() {
        fs::remove_dir_all(&environment).map_err(cannot)?;
    }
    program::output(Command::new("python3").args(["-m", "venv"]).arg(&environment)).map_err(|failure| {
        let remedy = "Python's `venv` is needed; on Debian: `apt-get install python3-venv`";
        Failure::new(format!("{}\n{remedy}", failure.message()))
    })?;
    let mut pip = pip(&environment);
    program::output(pip.arg("--requirement").arg(requirements)).map_err(|failure| {
        let remedy = "pip needs PyPI, or an index that its configuration names, and a Python of 3.10 or later";
        Failure::new(format!("{}\n{remedy}", failure.message()))
    })?;
    fs::write(&stamp, wanted).map_err(cannot)?;
    Ok(environment)
}

fn pip(environment: &Path) -> Command {
    let mut pip = Command::new(environment.join("bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]);
    pip
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_is_pinned() {
        let list = fs::read_to_string(program::root().join(REQUIREMENTS)).expect("there is a list");
        let packages: Vec<&str> = list.lines().filter(|it| !it.starts_with('#')).collect();
        assert!(!packages.is_empty() && packages.iter().all(|it| it.contains("==")), "{packages:#?}");
    }
}
