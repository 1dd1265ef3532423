//! `cargo xtask scale`: the package inside the engines that distribute rows.
//!
//! Their packages are large, slow to start, and want other versions of pyarrow than the tests of the package, so `test` runs none of them. Spark needs a Java runtime (17 or later) on the machine.

use chores::chore::{Arguments, Chore, Failure};
use chores::python;

pub(crate) const CHORE: Chore = Chore {
    name: "scale",
    arguments: "",
    about: "tests the Python package with Ray, Spark, Daft and Dask from PyPI; Spark needs a Java runtime",
    run,
};

fn run(arguments: Arguments) -> Result<(), Failure> {
    arguments.finish()?;
    python::test_folder("scale", "tests/scale")
}
