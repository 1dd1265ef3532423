//! Criteria over a scenario that is over, in whichever program it ran.

use jurat_compare::Fault;
use jurat_core::outcome::Check;
use jurat_format::value::{SourceId, Val, json_node};
use pyo3::prelude::*;

use crate::error::named;
use crate::{json, value};

/// Evaluates a check, in its stored form, over a result: true, false, or a number.
#[pyfunction]
pub(crate) fn evaluate_outcome<'py>(
    py: Python<'py>,
    check: &Bound<'py, PyAny>,
    result: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let check = read(check)?;
    let result = json::value(result)?;
    match check.evaluate(&result) {
        Ok(outcome) => value::object(py, &outcome),
        Err(error) => {
            let class = if error.fault == Fault::Kind { "OutcomeTypeError" } else { "OutcomeError" };
            Err(named(py, class, error.to_string()))
        }
    }
}

/// A check from its stored form.
pub(crate) fn read(stored: &Bound<'_, PyAny>) -> PyResult<Check> {
    let text = json::text(stored)?;
    let wrong = |message: String| named(stored.py(), "ScenarioError", message);
    let (node, _) = json_node(&text, SourceId::default()).map_err(|error| wrong(error.to_string()))?;
    Check::from_stored(&node).map_err(|error| wrong(format!("a check: {}", error.message)))
}

/// An object of a definition as a node, with its text.
pub(crate) fn with_node<T>(
    py: Python<'_>,
    value: &Val<'_>,
    read: impl FnOnce(&jurat_format::value::Node<'_>) -> T,
) -> PyResult<T> {
    let text = value.to_json();
    let (node, _) =
        json_node(&text, SourceId::default()).map_err(|error| named(py, "ScenarioError", error.to_string()))?;
    Ok(read(&node))
}
