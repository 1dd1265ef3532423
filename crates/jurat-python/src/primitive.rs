//! Verification primitives, operators, and normalisers.

use std::borrow::Cow;

use jurat_compare::normalise::{Normaliser, normalise};
use jurat_compare::{Fault, Inapplicable, Judgement, Operator, Origin, entries};
use jurat_format::value::{Map, SourceId, Val, json_node};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::error::named;
use crate::{json, value};

/// A verification primitive with its parameters.
#[pyclass(frozen, module = "jurat._jurat")]
pub(crate) struct Primitive(Operator);

#[pymethods]
impl Primitive {
    #[new]
    fn new(py: Python<'_>, name: &str, parameters: &Bound<'_, PyDict>) -> PyResult<Primitive> {
        let mut stored = json::value(parameters)?;
        if let Val::Map(members) = &mut stored {
            members.insert("type".into(), Val::from(name.to_owned()));
        }
        let text = stored.to_json();
        let wrong = |reason: String| named(py, "PrimitiveError", format!("`{name}`: {reason}"));
        let (node, _) = json_node(&text, SourceId::default()).map_err(|error| wrong(error.to_string()))?;
        Operator::from_stored(&node).map(Primitive).map_err(|error| wrong(error.message))
    }

    /// Its stored form: its name under `type`, and all its parameters.
    fn stored<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let name = ("type", Val::from(self.0.entry().name));
        value::object(py, &Val::Map([name].into_iter().chain(self.0.parameters()).collect::<Map<'static>>()))
    }

    /// Whether a value is as expected.
    fn check(&self, py: Python<'_>, found: &Bound<'_, PyAny>, expected: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (found, expected) = (json::value(found)?, json::value(expected)?);
        let comparison = self.0.bind(expected).map_err(|error| inapplicable(py, &error))?;
        match comparison.judge(&found) {
            Judgement::Passed => Ok(true),
            Judgement::Failed(_) => Ok(false),
            Judgement::Error(error) => Err(inapplicable(py, &error)),
        }
    }

    /// How much of it is, from 0 to 1.
    fn score(&self, py: Python<'_>, found: &Bound<'_, PyAny>, expected: &Bound<'_, PyAny>) -> PyResult<f64> {
        let (found, expected) = (json::value(found)?, json::value(expected)?);
        let comparison = self.0.bind(expected).map_err(|error| inapplicable(py, &error))?;
        comparison.score(&found).map_err(|error| inapplicable(py, &error))
    }
}

fn inapplicable(py: Python<'_>, error: &Inapplicable) -> PyErr {
    let class = match error.fault {
        Fault::Kind => "PrimitiveTypeError",
        Fault::Unsupported => "PrimitiveNotImplementedError",
        _ => "PrimitiveError",
    };
    named(py, class, error.to_string())
}

/// Text after normalisers.
#[pyfunction]
pub(crate) fn normalise_text(py: Python<'_>, text: &str, normalisers: &Bound<'_, PyList>) -> PyResult<String> {
    let stored = json::text(normalisers)?;
    let wrong = |message: String| named(py, "PrimitiveError", message);
    let (node, _) = json_node(&stored, SourceId::default()).map_err(|error| wrong(error.to_string()))?;
    let read: Result<Vec<Normaliser>, String> = node.as_list().unwrap_or(&[]).iter().map(Normaliser::read).collect();
    let normalised = normalise(&read.map_err(wrong)?, Cow::Borrowed(text)).map_err(|error| inapplicable(py, &error))?;
    Ok(normalised.into_owned())
}

/// The operators: the name in Scouter's spelling, the name as files have it, and whether it takes an operand.
#[pyfunction]
pub(crate) fn operators() -> Vec<(&'static str, String, bool)> {
    let operators = entries().filter(|it| it.origin == Origin::Operator);
    operators.map(|it| (it.name, it.snake_case(), it.operand.is_required())).collect()
}

/// The name of a parameter, and its default as JSON when it has one.
type Parameter = (&'static str, Option<&'static str>);

/// The primitives: the name, and the names of the parameters with their defaults as JSON; `None` for those that must be given.
#[pyfunction]
pub(crate) fn primitives() -> Vec<(&'static str, Vec<Parameter>)> {
    let primitives = entries().filter(|it| it.origin == Origin::Primitive);
    primitives.map(|it| (it.name, it.params.iter().map(|it| (it.name, it.default)).collect())).collect()
}
