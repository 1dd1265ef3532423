//! What code evaluators return, made label, score and explanation.

use jurat_core::evaluator::{
    Direction, Evaluation, LabelValue, Language, Object, OutputConfig, OutputKind, Triple, check_names, normalise,
    transport,
};
use jurat_core::scenario::Function;
use jurat_format::value::Val;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyComplex, PyDict, PyFloat, PyFrozenSet, PyInt, PyIterator, PyList, PySet, PyString,
    PyTuple, PyType,
};

use crate::error::named;
use crate::value::dict;
use crate::{function, json};

/// A callable as an evaluator of a suite: it is given its arguments as one dict.
pub(crate) fn function(callable: Py<PyAny>) -> Function {
    function::reading(callable, |returned| Ok(transport::write(&object(returned)?)))
}

/// What a value of an evaluator means for each of its outputs: a list of dicts with `name`, `label`, `score`, `explanation` and `error`.
#[pyfunction]
pub(crate) fn normalize<'py>(
    py: Python<'py>,
    returned: &Bound<'_, PyAny>,
    outputs: &Bound<'_, PyList>,
    name: &str,
    language: &str,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let outputs = json::value(outputs)?;
    let wrong = |message: String| named(py, "EvaluatorError", message);
    let known: Vec<&str> = Language::NAMED.iter().map(|(it, _)| *it).collect();
    let language = Language::NAMED.iter().find(|(it, _)| *it == language).map(|(_, it)| *it);
    let language = language.ok_or_else(|| wrong(format!("the language must be one of {}", known.join(", "))))?;
    let configs: Result<Vec<OutputConfig>, String> = outputs.as_list().unwrap_or(&[]).iter().map(config).collect();
    let configs = configs.map_err(wrong)?;
    let checked = configs.iter().try_for_each(OutputConfig::check).and_then(|()| check_names(&configs));
    checked.map_err(|error| wrong(error.message))?;
    let normalised = |Evaluation { name, result }| {
        let (triple, error) = match result {
            Ok(triple) => (triple, None),
            Err(rejection) => (Triple::default(), Some(rejection.to_string())),
        };
        let Triple { label, score, explanation } = triple;
        Ok(dict!(py, name: name, label: label, score: score, explanation: explanation, error: error))
    };
    normalise(name, language, &configs, &object(returned)?).into_iter().map(normalised).collect()
}

/// An output as it is written: `{name, type, …}`, where what it has says its type when it does not.
fn config(stored: &Val<'_>) -> Result<OutputConfig, String> {
    let text = |of: &Val<'_>, key: &str| of.get(key).and_then(Val::as_str).map(str::to_owned);
    let name = text(stored, "name").ok_or("an output needs a `name`")?;
    let number = |key: &str| stored.get(key).and_then(Val::as_f64);
    let (lower_bound, upper_bound) = (number("lower_bound"), number("upper_bound"));
    let kind = match (text(stored, "type").as_deref(), stored.get("values")) {
        (Some("categorical") | None, Some(values)) => {
            let value = |it: &Val<'_>| {
                let label = text(it, "label").ok_or_else(|| format!("a value of `{name}` needs a `label`"))?;
                Ok(LabelValue { label, score: it.get("score").and_then(Val::as_f64) })
            };
            let values = values.as_list().ok_or_else(|| format!("`values` of `{name}` must be a list"))?;
            OutputKind::Categorical(values.iter().map(value).collect::<Result<_, String>>()?)
        }
        (Some("categorical"), None) => return Err(format!("the categorical output `{name}` needs `values`")),
        (Some("continuous") | None, _) => OutputKind::Continuous { lower_bound, upper_bound },
        (Some("freeform"), _) => OutputKind::Freeform { lower_bound, upper_bound, thresholds: Vec::new() },
        (Some(other), _) => {
            return Err(format!("the type of `{name}` must be categorical, continuous or freeform, not `{other}`"));
        }
    };
    let direction = text(stored, "optimization_direction").map(|it| it.to_ascii_lowercase());
    let direction = direction.map(|it| {
        let known = Direction::NAMED.iter().find(|(name, _)| *name == it).map(|(_, value)| *value);
        known.ok_or_else(|| {
            format!("`optimization_direction` of `{name}` must be maximize, minimize or none, not `{it}`")
        })
    });
    let direction = direction.transpose()?;
    Ok(OutputConfig { description: text(stored, "description"), direction, kind, name })
}

/// An object as code returned it, with everything that JSON loses. Instances of subclasses are what they extend: `np.float64` is a float, a `StrEnum` a text.
fn object(value: &Bound<'_, PyAny>) -> PyResult<Object> {
    let items = |list: &Bound<'_, PyAny>| -> PyResult<Vec<Object>> {
        PyIterator::from_object(list)?.map(|it| object(&it?)).collect()
    };
    Ok(if value.is_none() {
        Object::None
    } else if let Ok(it) = value.cast_exact::<PyBool>() {
        Object::Bool(it.is_true())
    } else if let Some(plain) = plain(value)? {
        object(&plain)?
    } else if value.is_instance_of::<PyInt>() {
        match value.extract::<i64>() {
            Ok(number) => Object::Int(number),
            Err(_) => Object::integer(value.str()?.to_str()?).unwrap_or(Object::None),
        }
    } else if let Ok(it) = value.cast::<PyFloat>() {
        Object::Float(it.value())
    } else if let Some(text) = value.cast::<PyString>().ok().and_then(|it| it.to_str().ok()) {
        Object::Str(text.to_owned())
    } else if let Ok(dict) = value.cast::<PyDict>() {
        Object::Dict(dict.iter().map(|(key, it)| Ok((object(&key)?, object(&it)?))).collect::<PyResult<_>>()?)
    } else if value.is_instance_of::<PyList>() {
        Object::List(items(value)?)
    } else if value.is_instance_of::<PyTuple>() {
        Object::Tuple(items(value)?)
    } else if value.is_instance_of::<PySet>() || value.is_instance_of::<PyFrozenSet>() {
        Object::Set(items(value)?)
    } else if value.is_instance_of::<PyBytes>() || value.is_instance_of::<PyByteArray>() {
        Object::Bytes(value.extract::<Vec<u8>>()?)
    } else if let Ok(it) = value.cast::<PyComplex>() {
        Object::Complex { re: it.real(), im: it.imag() }
    } else {
        Object::Other { type_name: value.get_type().name()?.to_string(), repr: value.repr()?.to_string() }
    })
}

/// The object that stands for one of a kind that is not Python's own: the value of an enumeration, the number in a scalar of numpy, the fields of a dataclass or
/// of a pydantic model. `None` for all others.
fn plain<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = value.py();
    let class = value.get_type();
    let is_usual = value.is_exact_instance_of::<PyString>()
        || value.is_exact_instance_of::<PyFloat>()
        || value.is_exact_instance_of::<PyInt>()
        || value.is_exact_instance_of::<PyDict>();
    if is_usual || value.is_instance_of::<PyType>() {
        return Ok(None);
    }
    if class.hasattr(intern!(py, "__members__"))? {
        return value.getattr(intern!(py, "value")).map(Some);
    }
    if value.hasattr(intern!(py, "model_dump"))? {
        return present(&value.call_method0(intern!(py, "model_dump"))?).map(Some);
    }
    if value.hasattr(intern!(py, "__dataclass_fields__"))? {
        let names = value.getattr(intern!(py, "__dataclass_fields__"))?;
        let fields = PyDict::new(py);
        for name in PyIterator::from_object(&names)? {
            let name = name?;
            fields.set_item(&name, value.getattr(name.cast::<PyString>()?)?)?;
        }
        return present(&fields).map(Some);
    }
    let module = class.module()?;
    match (module.to_str()?, class.name()?.to_str()?) {
        // A scalar; an array is no answer, and is reported as what it is.
        ("numpy", name) if name != "ndarray" && value.hasattr(intern!(py, "item"))? => {
            let item = value.call_method0(intern!(py, "item"))?;
            Ok(Some(item).filter(|it| !it.get_type().is(&class)))
        }
        ("decimal", "Decimal") => value.call_method0(intern!(py, "__float__")).map(Some),
        _ => Ok(None),
    }
}

/// The fields that are there: one that is `None` was not given.
fn present<'py>(fields: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let given = PyDict::new(fields.py());
    for (name, value) in fields.cast::<PyDict>()?.iter().filter(|(_, value)| !value.is_none()) {
        given.set_item(name, value)?;
    }
    Ok(given.into_any())
}
