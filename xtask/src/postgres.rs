//! `cargo xtask postgres`: the journal that a team shares, tested with a real PostgreSQL server.
//!
//! The server is the one of the system. Where there is none, it is installed as Debian has it; each test starts one of its own, on loopback and with its own data.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use chores::chore::{Arguments, Chore, Failure};
use chores::installation::with_remedy;
use chores::program;

pub(crate) const CHORE: Chore = Chore {
    name: "postgres",
    arguments: "[ARGUMENTS]",
    about: "tests the shared journal with PostgreSQL, which is installed by `apt-get` where it is missing\n\
            ARGUMENTS   given to the test program, such as a part of a test's name",
    run,
};

/// Where Debian puts the programs of each version.
const VERSIONS: &str = "/usr/lib/postgresql";

fn run(arguments: Arguments) -> Result<(), Failure> {
    let programs = programs()?;
    let mut cargo = program::cargo();
    cargo.args(["test", "--locked", "--workspace", "--test", "postgres", "--"]).args(arguments.words());
    program::run(cargo.env("JURAT_TEST_POSTGRES", programs))
}

/// The folder with the programs of the server.
fn programs() -> Result<PathBuf, Failure> {
    if let Some(found) = found() {
        return Ok(found);
    }
    eprintln!("installing PostgreSQL");
    let installed = install();
    with_remedy(installed, "a PostgreSQL server is needed; on Debian: `apt-get install postgresql`")?;
    found().ok_or_else(|| Failure::new(format!("`apt-get` left no server in {VERSIONS}")))
}

fn install() -> Result<(), Failure> {
    let apt = || {
        let mut apt = Command::new("apt-get");
        apt.args(["--quiet", "--quiet"]).env("DEBIAN_FRONTEND", "noninteractive");
        apt
    };
    program::output(apt().arg("update"))?;
    program::output(apt().args(["install", "--yes", "--no-install-recommends", "postgresql"])).map(drop)
}

/// The newest version of the system that has a server, or the one of the search path.
fn found() -> Option<PathBuf> {
    let has_server = |it: &Path| ["initdb", "postgres", "psql"].iter().all(|name| it.join(name).is_file());
    let versions = fs::read_dir(VERSIONS).into_iter().flatten().filter_map(Result::ok).map(|it| it.path());
    let mut versions: Vec<(u32, PathBuf)> = versions.filter_map(|it| Some((number(&it)?, it.join("bin")))).collect();
    versions.sort();
    let search = std::env::var_os("PATH").unwrap_or_default();
    let folders = versions.into_iter().rev().map(|it| it.1).chain(std::env::split_paths(&search));
    folders.into_iter().find(|it| has_server(it))
}

fn number(version: &Path) -> Option<u32> {
    version.file_name()?.to_str()?.parse().ok()
}
