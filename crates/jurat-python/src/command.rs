//! The command `jurat`, and workers that run the code of evaluators.

use std::ffi::OsString;
use std::path::PathBuf;

use jurat_sandbox::worker::main as serve;
use pyo3::prelude::*;

/// How a worker of this package is started: `python -I -m jurat._worker`.
pub(crate) const WORKER: [&str; 3] = ["-I", "-m", "jurat._worker"];

/// Runs the command with these arguments, the name of the program first, and returns its exit code. `python` is the interpreter that workers and
/// shards run in.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, arguments: Vec<OsString>, python: Option<PathBuf>) -> u8 {
    if let Some(python) = python {
        jurat_cli::use_python(python.clone());
        run_code_with(python);
    }
    py.detach(|| jurat_cli::run(arguments))
}

/// Serves as a worker, and returns the exit code.
#[pyfunction]
pub(crate) fn worker(py: Python<'_>) -> u8 {
    py.detach(serve)
}

/// Says which interpreter workers of this process run in.
#[pyfunction]
pub(crate) fn run_code_with(python: PathBuf) {
    jurat::run_code_with(python, WORKER);
}
