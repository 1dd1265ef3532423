//! `cargo xtask scale`: the package inside the engines that distribute rows; with `--kills N`, processes that run shards, workers, nodes and drivers that are killed, N times each.
//!
//! Their packages are large, slow to start, and want other versions of pyarrow than the tests of the package, so `test` runs none of them. Spark needs a Java runtime (17 or later) on the machine.

use std::path::Path;

use chores::chore::{Arguments, Chore, Failure};
use chores::{program, python};

pub(crate) const CHORE: Chore = Chore {
    name: "scale",
    arguments: "[--rows N] [--kills N] [--wheel FILE]",
    about: "tests the Python package with Ray, Spark, Daft and Dask from PyPI; Spark needs a Java runtime\n\
            --rows    compares the verdicts of this many rows on every engine [default: 100,000]\n\
            --kills   kills processes that run shards, workers and nodes of Ray and Spark, and drivers, this many times in each way\n\
            --wheel   tests this wheel [default: one is built without optimisation, which is slow with many rows]",
    run,
};

/// How many trials there are.
const TRIALS: &str = "JURAT_KILL_TRIALS";

fn run(mut arguments: Arguments) -> Result<(), Failure> {
    let (rows, kills) = (arguments.number("--rows")?, arguments.number("--kills")?);
    let wheel = arguments.text("--wheel")?;
    arguments.finish()?;
    if let Some(n) = kills {
        kill_shards(n)?;
    }
    let environment = python::installed_for_folder("scale", "tests/scale", wheel.as_deref().map(Path::new))?;
    // Tests of many trials and rows say what they measured.
    let counted = |name: &str, n: u64| {
        [(name.to_owned(), n.to_string()), ("PYTEST_ADDOPTS".to_owned(), "-rP --show-capture=stdout".to_owned())]
    };
    match (kills, rows) {
        (Some(n), _) => python::tested(&environment, "tests/scale/test_kills.py", &counted(TRIALS, n)),
        (None, Some(n)) => {
            python::tested(&environment, "tests/scale/test_equality.py", &counted("JURAT_SCALE_ROWS", n))
        }
        (None, None) => python::tested(&environment, "tests/scale", &[]),
    }
}

/// The tests of the command that kill processes, with as many trials of each.
fn kill_shards(n: u64) -> Result<(), Failure> {
    let mut cargo = program::cargo();
    cargo.args(["test", "--package", "jurat-cli", "--test", "it", "kill_trials", "--", "--nocapture"]);
    program::run(cargo.env(TRIALS, n.to_string()))
}
