//! Functions of the caller's that are models.

use std::sync::Arc;

use jurat::{Model, Question, Reply};
use jurat_format::value::{Map, Val};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use tokio::sync::oneshot;

use crate::value::{Object, dict};
use crate::{desk, json};

/// A callable as a model. It is given a dict with what is asked, and returns text, or a dict with one of `text`, `json` and `refusal`, and perhaps
/// `tokens` and `tool_calls`.
pub(crate) fn model(name: &str, callable: Py<PyAny>) -> Model {
    let callable = Arc::new(callable);
    Model::async_function(name, move |question| {
        let (send, answered) = oneshot::channel();
        // The caller may have given up.
        desk::call(&callable, move |py| asked(py, &question), reply, move |answer| drop(send.send(answer)));
        async move { answered.await.unwrap_or_else(|_| Err("the run ended before the function did".to_owned())) }
    })
}

fn asked<'py>(py: Python<'py>, question: &Question) -> PyResult<Bound<'py, PyAny>> {
    let asked = dict!(py,
        case: question.case(),
        task: question.task(),
        prompt: question.prompt(),
        system: question.system(),
        messages: question.messages().collect::<Vec<_>>(),
        schema: question.schema().map(Object),
        repetition: question.repetition(),
    );
    Ok(asked.into_any())
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
    let reply = match answer.get_item(intern!(py, "tool_calls"))? {
        Some(calls) => reply.tool_calls(json::value(&calls)?.as_list().unwrap_or_default().iter().map(tool_call)),
        None => reply,
    };
    Ok(match answer.get_item(intern!(py, "tokens"))? {
        Some(tokens) => {
            let (input, output): (u64, u64) = tokens.extract()?;
            reply.tokens(input, output)
        }
        None => reply,
    })
}

/// A tool that was called: `{name, arguments}`.
fn tool_call(call: &Val<'_>) -> (String, jurat::Value) {
    let name = call.get("name").and_then(Val::as_str).unwrap_or_default().to_owned();
    let arguments = call.get("arguments").map_or_else(|| Val::Map(Map::default()), |it| it.clone().into_owned());
    (name, jurat::Value::from(arguments))
}
