//! The compiled module `jurat._jurat` of the Python package. It is private: what people import is the typed layer in `python/jurat`.
//!
//! * [`json`]: objects of Python written as JSON; [`value`]: values as objects of Python; [`error`]: what goes wrong, as exceptions.
//! * [`suite`], [`running`], [`run`]: definitions, runs in progress, runs that are over; [`comparison`]: runs compared, and gates; [`calibration`]: judges compared with people; [`rows`], [`lines`]: where rows come from; [`arrow`]: tables; [`batches`]: batches judged without a run; [`coordinator`]: what leases to many processes;
//!   [`desk`]: where calls of Python wait; [`model`], [`function`]: code of the caller's.
//! * [`scenario`], [`outcome`], [`primitive`], [`evaluator`], [`check`]: the other kinds of evaluation, one file each.
//! * [`command`]: the command `jurat`, and workers.
//!
//! Nothing is decided here that the crates below do not decide; Python is attached only while an object of Python is read or made.

mod arrow;
mod batches;
mod calibration;
mod check;
mod command;
mod comparison;
mod coordinator;
mod desk;
mod error;
mod evaluator;
mod function;
mod json;
mod lines;
mod model;
mod outcome;
mod primitive;
mod results;
mod rows;
mod run;
mod running;
mod scenario;
mod suite;
mod value;

use pyo3::prelude::*;

/// The compiled module. It needs no global lock: its classes are frozen, and what changes behind them is behind locks of its own, which no thread waits for
/// while another one that holds them waits for Python.
#[pymodule(gil_used = false)]
mod _jurat {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::batches::BatchEvaluator;
    #[pymodule_export]
    use super::calibration::{calibrate_run, label_sheet};
    #[pymodule_export]
    use super::check::run_checks;
    #[pymodule_export]
    use super::command::{main, run_code_with, worker};
    #[pymodule_export]
    use super::comparison::{compare_runs, gate_run};
    #[pymodule_export]
    use super::coordinator::Coordinator;
    #[pymodule_export]
    use super::desk::call_figures;
    #[pymodule_export]
    use super::evaluator::normalize;
    #[pymodule_export]
    use super::json::to_json;
    #[pymodule_export]
    use super::outcome::evaluate_outcome;
    #[pymodule_export]
    use super::primitive::{Primitive, normalise_text, operators, primitives};
    #[pymodule_export]
    use super::run::{Part, Parts, Run, Table, find_run, format_of_file, formats, list_runs, open_run};
    #[pymodule_export]
    use super::running::Running;
    #[pymodule_export]
    use super::scenario::{Scenario, ScenarioBuilder, read_checkpoint};
    #[pymodule_export]
    use super::suite::{Suite, load_suite, rows_digest, run_options};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
