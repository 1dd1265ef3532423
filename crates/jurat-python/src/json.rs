//! Objects of Python written as JSON: records, definitions, whatever a caller has.
//!
//! | Python | JSON |
//! |---|---|
//! | `None`, `bool`, `int`, `str`, `list`, `tuple`, `dict` | as they are; integers of any size |
//! | `float` | the shortest number that reads back the same; NaN and infinities are null |
//! | sets, and other mappings | lists, objects |
//! | pydantic models, dataclasses, named tuples | objects |
//! | enumerations | their value |
//! | dates and times | text as in ISO 8601 |
//! | `Decimal` | a number with all its digits |
//! | `Path`, `UUID` | text |
//! | numpy arrays and numbers | lists, numbers |
//!
//! Whatever else there is, bytes above all, is refused by name, so that it does not become text by accident.

use pyo3::exceptions::PyUnicodeEncodeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyIterator, PyList, PyMapping, PySet, PyString,
    PyTuple, PyType,
};

use crate::error;

/// How deep lists and objects may stand in each other.
const MOST_LEVELS: usize = 200;

/// An object as JSON text.
#[pyfunction]
pub(crate) fn to_json(value: &Bound<'_, PyAny>) -> PyResult<String> {
    text(value)
}

/// An object as JSON text.
pub(crate) fn text(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let mut json = Vec::new();
    write(value, &mut json)?;
    String::from_utf8(json).map_err(|error| error::data(value.py(), error.to_string()))
}

/// An object as a value.
pub(crate) fn value(value: &Bound<'_, PyAny>) -> PyResult<jurat_format::value::Value> {
    let json = text(value)?;
    let parsed = jurat_format::value::parse_json(&json).map_err(|it| error::data(value.py(), it.to_string()))?;
    Ok(parsed.value.into_owned())
}

/// Appends an object as JSON.
pub(crate) fn write(value: &Bound<'_, PyAny>, json: &mut Vec<u8>) -> PyResult<()> {
    any(value, json, 0).map_err(|it| it.raised(value.py()))
}

/// Why an object cannot be written, and where in the whole it stands.
struct Refusal {
    error: PyErr,
    /// From the inside out: names of members, and places in lists.
    path: Vec<String>,
}

impl From<PyErr> for Refusal {
    fn from(error: PyErr) -> Refusal {
        Refusal { error, path: Vec::new() }
    }
}

impl Refusal {
    /// The same, seen from the object or list around it.
    fn within(mut self, part: impl FnOnce() -> String) -> Refusal {
        self.path.push(part());
        self
    }

    /// The exception, with the place when it is ours: one of the caller's code is raised as it is.
    fn raised(self, py: Python<'_>) -> PyErr {
        if self.path.is_empty() || !error::is_data(py, &self.error) {
            return self.error;
        }
        let mut path = String::new();
        for part in self.path.iter().rev() {
            let dot = if path.is_empty() || part.starts_with('[') { "" } else { "." };
            path.push_str(dot);
            path.push_str(part);
        }
        error::data(py, format!("`{path}`: {}", self.error.value(py)))
    }
}

/// Whether an object could be written.
type Written = Result<(), Refusal>;

fn any(value: &Bound<'_, PyAny>, json: &mut Vec<u8>, level: usize) -> Written {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(string(text, json)?);
    }
    if level > MOST_LEVELS {
        let message = format!("a value has more than {MOST_LEVELS} levels; does it hold itself?");
        return Err(error::data(value.py(), message).into());
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        return members(dict.iter().map(Ok), json, level);
    }
    if value.is_none() {
        json.extend_from_slice(b"null");
        return Ok(());
    }
    if let Ok(flag) = value.cast::<PyBool>() {
        json.extend_from_slice(if flag.is_true() { b"true" } else { b"false" });
        return Ok(());
    }
    if value.cast::<PyInt>().is_ok() && !is_enumeration(value)? {
        return Ok(integer(value, json)?);
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        float(number.value(), json);
        return Ok(());
    }
    if let Ok(list) = value.cast::<PyList>() {
        return items(list.iter().map(Ok), json, level);
    }
    if let Ok(tuple) = value.cast::<PyTuple>() {
        return match named_fields(tuple)? {
            Some(fields) => members(fields.into_iter().map(Ok), json, level),
            None => items(tuple.iter().map(Ok), json, level),
        };
    }
    rare(value, json, level)
}

/// What is not among the usual.
fn rare(value: &Bound<'_, PyAny>, json: &mut Vec<u8>, level: usize) -> Written {
    let py = value.py();
    if is_called(value, "decimal", "Decimal")? {
        return Ok(decimal(value, json)?);
    }
    if let Some(plain) = plain(value)? {
        return any(&plain, json, level + 1);
    }
    if let Ok(set) = value.cast::<PySet>() {
        return items(set.iter().map(Ok), json, level);
    }
    if let Ok(set) = value.cast::<PyFrozenSet>() {
        return items(set.iter().map(Ok), json, level);
    }
    if !value.is_instance_of::<PyType>() && value.hasattr(intern!(py, "__dataclass_fields__"))? {
        let fields = value.getattr(intern!(py, "__dataclass_fields__"))?;
        let names: Vec<Bound<'_, PyAny>> = PyIterator::from_object(&fields)?.collect::<PyResult<_>>()?;
        let fields = names.into_iter().map(|name| {
            let field = value.getattr(name.cast::<PyString>()?)?;
            Ok((name, field))
        });
        return members(fields, json, level);
    }
    if let Ok(mapping) = value.cast::<PyMapping>() {
        let pairs = mapping.items()?;
        return members(pairs.iter().map(|it| it.extract::<Pair<'_>>()), json, level);
    }
    Err(refused(value).into())
}

/// The object that stands for one of a kind that is not JSON's own.
fn plain<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = value.py();
    if value.is_instance_of::<PyBytes>() || value.is_instance_of::<PyByteArray>() || value.is_instance_of::<PyType>() {
        return Err(refused(value));
    }
    if is_enumeration(value)? {
        return value.getattr(intern!(py, "value")).map(Some);
    }
    if value.hasattr(intern!(py, "model_dump"))? {
        let options = PyDict::new(py);
        options.set_item(intern!(py, "mode"), intern!(py, "json"))?;
        return value.call_method(intern!(py, "model_dump"), (), Some(&options)).map(Some);
    }
    for method in [intern!(py, "tolist"), intern!(py, "isoformat"), intern!(py, "__fspath__")] {
        if value.hasattr(method)? {
            return value.call_method0(method).map(Some);
        }
    }
    if is_called(value, "uuid", "UUID")? { value.str().map(|it| Some(it.into_any())) } else { Ok(None) }
}

fn is_called(value: &Bound<'_, PyAny>, module: &str, name: &str) -> PyResult<bool> {
    let class = value.get_type();
    Ok(class.name()?.to_str()? == name && class.module()?.to_str()? == module)
}

/// The digits of a decimal number, all of them; one that is none, such as NaN, is null.
fn decimal(value: &Bound<'_, PyAny>, json: &mut Vec<u8>) -> PyResult<()> {
    let py = value.py();
    if value.call_method0(intern!(py, "is_finite"))?.extract()? {
        let digits = value.call_method1(intern!(py, "__format__"), (intern!(py, "f"),))?;
        json.extend_from_slice(digits.cast::<PyString>()?.to_str()?.as_bytes());
    } else {
        json.extend_from_slice(b"null");
    }
    Ok(())
}

fn is_enumeration(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    // Integers that are exactly integers are by far the most frequent, and none of them.
    Ok(!value.is_exact_instance_of::<PyInt>() && value.get_type().hasattr(intern!(value.py(), "__members__"))?)
}

type Pair<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);

/// The fields of a named tuple.
fn named_fields<'py>(tuple: &Bound<'py, PyTuple>) -> PyResult<Option<Vec<Pair<'py>>>> {
    if tuple.is_exact_instance_of::<PyTuple>() || !tuple.hasattr(intern!(tuple.py(), "_fields"))? {
        return Ok(None);
    }
    let names = tuple.getattr(intern!(tuple.py(), "_fields"))?;
    let names: Vec<Bound<'_, PyAny>> = PyIterator::from_object(&names)?.collect::<PyResult<_>>()?;
    Ok(Some(names.into_iter().zip(tuple.iter()).collect()))
}

fn members<'py>(pairs: impl Iterator<Item = PyResult<Pair<'py>>>, json: &mut Vec<u8>, level: usize) -> Written {
    json.push(b'{');
    let mut is_first = true;
    for pair in pairs {
        let (key, value) = pair?;
        if !is_first {
            json.push(b',');
        }
        is_first = false;
        match key.cast::<PyString>() {
            Ok(key) => string(key, json)?,
            Err(_) => odd_key(&key, json)?,
        }
        json.push(b':');
        any(&value, json, level + 1).map_err(|it| it.within(|| key.to_string()))?;
    }
    json.push(b'}');
    Ok(())
}

/// A key that is no text, as Python's own `json` writes it.
fn odd_key(key: &Bound<'_, PyAny>, json: &mut Vec<u8>) -> Written {
    let is_scalar = key.is_none() || key.is_instance_of::<PyInt>() || key.is_instance_of::<PyFloat>();
    if !is_scalar {
        let message = format!("a key of type `{}` cannot be written as JSON; keys are text", type_name(key));
        return Err(error::data(key.py(), message).into());
    }
    json.push(b'"');
    any(key, json, 0)?;
    json.push(b'"');
    Ok(())
}

fn items<'py>(list: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>, json: &mut Vec<u8>, level: usize) -> Written {
    json.push(b'[');
    for (ix, item) in list.enumerate() {
        if ix > 0 {
            json.push(b',');
        }
        any(&item?, json, level + 1).map_err(|it| it.within(|| format!("[{ix}]")))?;
    }
    json.push(b']');
    Ok(())
}

fn integer(value: &Bound<'_, PyAny>, json: &mut Vec<u8>) -> PyResult<()> {
    match value.extract::<i64>() {
        Ok(number) => json.extend_from_slice(number.to_string().as_bytes()),
        Err(_) => {
            let digits = value.py().get_type::<PyInt>().call_method1(intern!(value.py(), "__repr__"), (value,))?;
            json.extend_from_slice(digits.cast::<PyString>()?.to_str()?.as_bytes());
        }
    }
    Ok(())
}

fn float(number: f64, json: &mut Vec<u8>) {
    // Writing to memory cannot fail; what is no number is written as null.
    let _ = serde_json::to_writer(json, &number);
}

fn string(text: &Bound<'_, PyString>, json: &mut Vec<u8>) -> PyResult<()> {
    let text = text.to_str().map_err(|error| {
        let py = text.py();
        if error.is_instance_of::<PyUnicodeEncodeError>(py) {
            error::data(py, "a text has half of a surrogate pair, which is no character".to_owned())
        } else {
            error
        }
    })?;
    // Writing to memory cannot fail.
    let _ = serde_json::to_writer(json, text);
    Ok(())
}

fn refused(value: &Bound<'_, PyAny>) -> PyErr {
    let message = if value.is_instance_of::<PyType>() {
        let name = value.getattr(intern!(value.py(), "__name__")).map_or_else(|_| "?".to_owned(), |it| it.to_string());
        format!("the class `{name}` is no value; give an instance of it")
    } else {
        format!(
            "a value of type `{}` cannot be written as JSON; give text, numbers, lists, dicts, dataclasses or pydantic models",
            type_name(value)
        )
    };
    error::data(value.py(), message)
}

fn type_name(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "?".to_owned(), |it| it.to_string())
}
