//! `cargo xtask scale`: the package inside the engines that distribute rows; with `--kills N`, processes that run shards and are killed, N times.
//!
//! Their packages are large, slow to start, and want other versions of pyarrow than the tests of the package, so `test` runs none of them. Spark needs a Java runtime (17 or later) on the machine.

use chores::chore::{Arguments, Chore, Failure};
use chores::{program, python};

pub(crate) const CHORE: Chore = Chore {
    name: "scale",
    arguments: "[--kills N]",
    about: "tests the Python package with Ray, Spark, Daft and Dask from PyPI; Spark needs a Java runtime. With `--kills`, kills processes that run shards",
    run,
};

fn run(mut arguments: Arguments) -> Result<(), Failure> {
    let kills = arguments.number("--kills")?;
    arguments.finish()?;
    match kills {
        Some(n) => kill(n),
        None => python::test_folder("scale", "tests/scale"),
    }
}

/// The tests that kill processes, with as many trials of each.
fn kill(n: u64) -> Result<(), Failure> {
    let mut cargo = program::cargo();
    cargo.args(["test", "--package", "jurat-cli", "--test", "it", "kill_trials", "--", "--nocapture"]);
    program::run(cargo.env("JURAT_KILL_TRIALS", n.to_string()))
}
