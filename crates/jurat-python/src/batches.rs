//! Batches of Arrow judged without a run.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_pyarrow::{FromPyArrow, ToPyArrow};
use arrow_schema::Schema;
use jurat::batches::{BatchOptions, Keep, Layout};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::desk;
use crate::error::{raised, usage};
use crate::suite::{Suite, read};

/// What the results of batches are, as Python says it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Wanted {
    layout: String,
    keep: String,
    id: Option<String>,
    carry: Vec<String>,
    strings: bool,
    journal: Option<PathBuf>,
    coordinator: Option<String>,
}

/// A suite over batches.
#[pyclass(frozen, module = "jurat._jurat")]
pub(crate) struct BatchEvaluator(jurat::batches::BatchEvaluator);

#[pymethods]
impl BatchEvaluator {
    /// A suite whose rows are given, with options of a run. `caller` says where coroutines of the program are awaited.
    #[new]
    fn new(
        py: Python<'_>,
        suite: &Bound<'_, Suite>,
        options: &Bound<'_, PyDict>,
        wanted: Wanted,
        caller: Py<PyAny>,
    ) -> PyResult<BatchEvaluator> {
        let options = read(options)?;
        let Wanted { layout, keep, id, carry, strings, journal, coordinator } = wanted;
        let (layout, keep) = (chosen(py, "layout", &layout, &Layout::NAMED)?, chosen(py, "keep", &keep, &Keep::NAMED)?);
        let batches = BatchOptions { layout, keep, id, carry, strings, journal, coordinator };
        let (suite, caller) = (&suite.get().0, Arc::new(caller));
        let enter = move || desk::enter(Some(Arc::clone(&caller)));
        let made = py.detach(|| jurat::batches::BatchEvaluator::within(suite, options, batches, enter));
        made.map(BatchEvaluator).map_err(|error| raised(py, &error))
    }

    /// Whether it makes requests.
    #[getter]
    fn asks(&self) -> bool {
        self.0.asks()
    }

    /// Makes ready what the suite asks.
    fn open(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.open()).map_err(|error| raised(py, &error))
    }

    /// The columns of the results of rows with these columns.
    fn schema<'py>(&self, py: Python<'py>, rows: Option<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        let rows = rows.map_or_else(|| Ok(Schema::empty()), |it| Schema::from_pyarrow_bound(&it))?;
        self.0.schema(&Arc::new(rows)).map_err(|error| raised(py, &error))?.to_pyarrow(py)
    }

    /// Judges a batch. Other threads of Python run meanwhile, and signals are looked at.
    fn evaluate<'py>(&self, py: Python<'py>, rows: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (rows, mut signal) = (RecordBatch::from_pyarrow_bound(rows)?, None);
        let mut tick = || {
            Python::attach(|py| match py.check_signals() {
                Ok(()) => ControlFlow::Continue(()),
                Err(raised) => {
                    signal = Some(raised);
                    ControlFlow::Break(())
                }
            })
        };
        let judged = py.detach(|| self.0.evaluate(&rows, &mut tick));
        match signal {
            Some(signal) => Err(signal),
            None => judged.map_err(|error| raised(py, &error))?.to_pyarrow(py),
        }
    }
}

/// The choice of a name.
fn chosen<T: Copy>(py: Python<'_>, option: &str, name: &str, named: &[(&str, T)]) -> PyResult<T> {
    let known = named.iter().find(|(it, _)| *it == name).map(|(_, it)| *it);
    known.ok_or_else(|| {
        let names: Vec<String> = named.iter().map(|(it, _)| format!("`{it}`")).collect();
        usage(py, format!("`{option}` is {}, not `{name}`", names.join(" or ")))
    })
}
