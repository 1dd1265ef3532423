//! Chores that are packages of their own, in folders of this one: what they need takes long to compile, and the other
//! chores do not wait for it.

use std::process::Command;

use chores::chore::{Arguments, Chore, Failure};
use chores::program;

pub(crate) const BENCH: Chore = Chore {
    name: "bench",
    arguments: "compare | gate [--accept] | run [--only PART]... [--quick] [--json] [--jurat PATH] | peers [--quick] [--wheel PATH] | scale [--engines] [--scaling] [--quick] [--wheel PATH] | statistics [--draws N] [--write]",
    about: "measures comparing and reading, and whole runs\n\
            compare    prints times and instructions beside their targets\n\
            gate       counts instructions and fails when a work needs more than is recorded\n\
            --accept   records what was counted\n\
            run        measures the command `jurat` beside the least that its work could cost; takes ten minutes or more\n\
            --only     measures this part: records, startup, judges, journal, show, view, contrast, scenarios, agents, checks or evaluators; may be given several times\n\
            --quick    smaller sizes and fewer rounds, for a few minutes\n\
            --json     prints one JSON object\n\
            --jurat    measures this program instead of building one\n\
            peers      measures the Python package beside a peer from PyPI; builds an optimised wheel first, or takes the one at PATH\n\
            scale      measures batches of Arrow beside a run of the same rows; builds an optimised wheel first, or takes the one at PATH\n\
            --engines  measures what Ray, Spark and Daft add to batches, and segments and leases to judge calls\n\
            --scaling  measures two workers beside one: processes of this machine, Ray and Spark; and leases\n\
            statistics simulates comparisons and gates, and compares docs/statistics.md with what it finds\n\
            --draws    the number of comparisons for each setting [default: 20,000]; with another number the page is left alone\n\
            --write    writes the page",
    run: |arguments| start("xtask-bench", arguments),
};

pub(crate) const CONFORMANCE: Chore = Chore {
    name: "conformance",
    arguments: "FILE...",
    about: "runs files of recorded cases and prints those on which we differ",
    run: |arguments| start("xtask-conformance", arguments),
};

pub(crate) const GENERATE: Chore = Chore {
    name: "generate",
    arguments: "",
    about: "writes the files that are made from the program: indexes, schemas, reference pages",
    run: |arguments| start("xtask-reference", arguments),
};

/// Builds the program of a package and runs it in the current directory. It prints its own errors.
fn start(package: &str, arguments: Arguments) -> Result<(), Failure> {
    let program = program::built(program::cargo_as_tested().args(["--quiet", "--bin", package]))?;
    let mut command = Command::new(program);
    let status = command.args(arguments.words()).status();
    let status = status.map_err(|error| Failure::new(format!("cannot start `{package}`: {error}")))?;
    if status.success() { Ok(()) } else { Err(Failure::Printed(status.code().unwrap_or(1))) }
}
