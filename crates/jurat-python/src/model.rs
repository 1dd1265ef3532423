//! Functions of the caller's that play a role.

use jurat::{Model, Question, Reply};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::function::told;
use crate::{json, value};

/// A callable as a model. It is given a dict with what is asked, and returns text, or a dict with one of `text`, `json` and `refusal`, and perhaps
/// `tokens`.
pub(crate) fn model(name: &str, callable: Py<PyAny>) -> Model {
    Model::function(name, move |question| {
        Python::attach(|py| asked(callable.bind(py), question).map_err(|error| told(py, &error)))
    })
}

fn asked(callable: &Bound<'_, PyAny>, question: &Question) -> PyResult<Reply> {
    let py = callable.py();
    let dict = PyDict::new(py);
    dict.set_item("case", question.case())?;
    dict.set_item("task", question.task())?;
    dict.set_item("prompt", question.prompt())?;
    dict.set_item("system", question.system())?;
    dict.set_item("messages", question.messages().collect::<Vec<_>>())?;
    dict.set_item("schema", value::optional(py, question.schema())?)?;
    dict.set_item("repetition", question.repetition())?;
    reply(&callable.call1((dict,))?)
}

fn reply(answer: &Bound<'_, PyAny>) -> PyResult<Reply> {
    let py = answer.py();
    if let Ok(text) = answer.cast::<PyString>() {
        return Ok(Reply::text(text.to_str()?));
    }
    let answer = answer.cast::<PyDict>()?;
    let reply = if let Some(text) = answer.get_item(intern!(py, "text"))? {
        Reply::text(text.extract::<String>()?)
    } else if let Some(text) = answer.get_item(intern!(py, "refusal"))? {
        Reply::refusal(text.extract::<String>()?)
    } else {
        match answer.get_item(intern!(py, "json"))? {
            Some(object) => Reply::text(json::text(&object)?),
            None => Reply::text(json::text(answer)?),
        }
    };
    Ok(match answer.get_item(intern!(py, "tokens"))? {
        Some(tokens) => {
            let (input, output): (u64, u64) = tokens.extract()?;
            reply.tokens(input, output)
        }
        None => reply,
    })
}
