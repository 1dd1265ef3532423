//! `cargo xtask scale`: the package inside the engines that distribute rows; with `--kills N`, processes that run shards, workers and drivers that are killed, N times each.
//!
//! Their packages are large, slow to start, and want other versions of pyarrow than the tests of the package, so `test` runs none of them. Spark needs a Java runtime (17 or later) on the machine.

use chores::chore::{Arguments, Chore, Failure};
use chores::{program, python};

pub(crate) const CHORE: Chore = Chore {
    name: "scale",
    arguments: "[--rows N] [--kills N]",
    about: "tests the Python package with Ray, Spark, Daft and Dask from PyPI; Spark needs a Java runtime\n\
            --rows    compares the verdicts of this many rows on every engine [default: 100,000]\n\
            --kills   kills processes that run shards, workers of Ray and Spark, and drivers, this many times in each way",
    run,
};

/// How many trials there are.
const TRIALS: &str = "JURAT_KILL_TRIALS";

fn run(mut arguments: Arguments) -> Result<(), Failure> {
    let (rows, kills) = (arguments.number("--rows")?, arguments.number("--kills")?);
    arguments.finish()?;
    match (kills, rows) {
        (Some(n), _) => kill(n),
        (None, Some(n)) => tested("test_equality.py", &[("JURAT_SCALE_ROWS", n.to_string())]),
        (None, None) => tested("", &[]),
    }
}

fn tested(part: &str, variables: &[(&str, String)]) -> Result<(), Failure> {
    python::test_folder("scale", "tests/scale", part, variables)
}

/// The tests that kill processes, with as many trials of each.
fn kill(n: u64) -> Result<(), Failure> {
    let mut cargo = program::cargo();
    cargo.args(["test", "--package", "jurat-cli", "--test", "it", "kill_trials", "--", "--nocapture"]);
    program::run(cargo.env(TRIALS, n.to_string()))?;
    tested("test_kills.py", &[(TRIALS, n.to_string())])
}
