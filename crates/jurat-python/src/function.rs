//! Code of the caller's, called at the rim: Python is attached for the call, and what went wrong is told with its traceback.

use jurat_core::scenario::Function;
use jurat_core::value::{Val, Value};
use pyo3::prelude::*;
use pyo3::types::PyTracebackMethods;

use crate::{json, value};

/// A function from an object of named values to a value. The callable is given one dict.
pub(crate) fn function(callable: Py<PyAny>) -> Function {
    Function::new(move |names: &Val<'_>| {
        Python::attach(|py| called(callable.bind(py), names).map_err(|error| told(py, &error)))
    })
}

fn called(callable: &Bound<'_, PyAny>, names: &Val<'_>) -> PyResult<Value> {
    json::value(&callable.call1((value::object(callable.py(), names)?,))?)
}

/// An exception in words: its traceback, and what it says.
pub(crate) fn told(py: Python<'_>, error: &PyErr) -> String {
    let trace = error.traceback(py).and_then(|it| it.format().ok()).unwrap_or_default();
    let said = error.value(py).str().map(|it| it.to_string()).unwrap_or_default();
    let class = error.get_type(py).name().map(|it| it.to_string()).unwrap_or_default();
    let said = if said.is_empty() { class } else { format!("{class}: {said}") };
    if trace.is_empty() { said } else { format!("{said}\n{}", trace.trim_end()) }
}
