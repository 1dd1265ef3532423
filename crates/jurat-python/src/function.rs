//! Code of the caller's, called at the rim: Python is attached for the call, and errors are reported with their traceback.

use std::sync::Arc;

use jurat_core::scenario::{Answer, Function};
use jurat_format::value::{Val, Value};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyTraceback, PyTracebackMethods};

use crate::{desk, json, value};

/// A function from an object of named values to a value. The callable is given one dict.
pub(crate) fn function(callable: Py<PyAny>) -> Function {
    reading(callable, json::value)
}

/// The same, with how what it returns is read.
pub(crate) fn reading(callable: Py<PyAny>, read: fn(&Bound<'_, PyAny>) -> PyResult<Value>) -> Function {
    let callable = Arc::new(callable);
    Function::deferred(move |names: &Val<'_>, answer: Answer| {
        let names = names.clone().into_owned();
        desk::call(&callable, move |py| value::object(py, &names), read, answer);
    })
}

/// An exception in words: its traceback, and what it says.
pub(crate) fn described(py: Python<'_>, error: &PyErr) -> String {
    let trace = error.traceback(py).and_then(|it| own_part(it).format().ok()).unwrap_or_default();
    let said = error.value(py).str().map(|it| it.to_string()).unwrap_or_default();
    let class = error.get_type(py).name().map(|it| it.to_string()).unwrap_or_default();
    let said = if said.is_empty() { class } else { format!("{class}: {said}") };
    if trace.is_empty() { said } else { format!("{said}\n{}", trace.trim_end()) }
}

/// A traceback without the calls of this package that lead to the caller's code. One that is all ours is left whole.
fn own_part(trace: Bound<'_, PyTraceback>) -> Bound<'_, PyTraceback> {
    let mut own = trace.clone();
    while is_ours(&own).unwrap_or(false) {
        let next = own.getattr(intern!(own.py(), "tb_next")).and_then(|it| Ok(it.cast_into::<PyTraceback>()?));
        match next {
            Ok(next) => own = next,
            Err(_) => return trace,
        }
    }
    own
}

fn is_ours(trace: &Bound<'_, PyTraceback>) -> PyResult<bool> {
    let py = trace.py();
    let names = trace.getattr(intern!(py, "tb_frame"))?.getattr(intern!(py, "f_globals"))?;
    let module: String = names.get_item(intern!(py, "__name__"))?.extract()?;
    Ok(module == "jurat" || module.starts_with("jurat."))
}
