//! What goes wrong, as exceptions. Their classes are in `jurat.errors`; the text is what the command prints.

use jurat::{Error, Problems};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::value::dict;

/// An exception of `jurat.errors` by its name.
pub(crate) fn named(py: Python<'_>, class: &str, message: String) -> PyErr {
    let made = py.import("jurat.errors").and_then(|it| it.getattr(class)).and_then(|it| it.call1((message,)));
    made.map_or_else(|error| error, PyErr::from_value)
}

/// A value that is no data.
pub(crate) fn data(py: Python<'_>, message: String) -> PyErr {
    named(py, "DataError", message)
}

/// Whether an exception says that a value is no data.
pub(crate) fn is_data(py: Python<'_>, error: &PyErr) -> bool {
    let class = py.import("jurat.errors").and_then(|it| it.getattr("DataError"));
    class.is_ok_and(|it| error.is_instance(py, &it))
}

/// What was asked for does not fit together.
pub(crate) fn usage(py: Python<'_>, message: String) -> PyErr {
    named(py, "UsageError", message)
}

/// An error as an exception.
pub(crate) fn raised(py: Python<'_>, error: &Error) -> PyErr {
    let class = match error {
        Error::Suite(found) => return suite(py, error.to_string(), found),
        Error::Value { .. } => "DataError",
        Error::Usage(_) => "UsageError",
        Error::Model(_) => "ModelError",
        Error::Read(_) => "ReadError",
        Error::Write(_) => "WriteError",
        Error::Run(_) if error.is_duplicate_id() => "DuplicateIdError",
        _ => "RunError",
    };
    named(py, class, error.to_string())
}

fn suite(py: Python<'_>, message: String, found: &Problems) -> PyErr {
    let is_missing = found.codes().any(|it| it == "file::not_found");
    let class = if is_missing { "SuiteNotFoundError" } else { "SuiteError" };
    let made = py.import("jurat.errors").and_then(|it| it.getattr(class));
    let made = made.and_then(|it| it.call1((message.trim_end(), problems(py, found)?)));
    made.map_or_else(|error| error, PyErr::from_value)
}

/// Problems, each of which becomes a dict.
pub(crate) fn problems<'py>(py: Python<'py>, found: &Problems) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let problem = |it: jurat::Problem<'_>| {
        Ok(dict!(py,
            code: it.code(),
            is_error: it.is_error(),
            message: it.message(),
            help: it.help().collect::<Vec<_>>(),
            line: it.line(),
        ))
    };
    found.iter().map(problem).collect()
}
