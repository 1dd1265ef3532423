//! Values as objects of Python.

use jurat_format::value::Val;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};

/// The value as an object: numbers are exact, members keep their order.
pub(crate) fn object<'py>(py: Python<'py>, value: &Val<'_>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Val::Null => py.None().into_bound(py),
        Val::Bool(it) => PyBool::new(py, *it).to_owned().into_any(),
        Val::I(it) => it.into_pyobject(py)?.into_any(),
        Val::U(it) => it.into_pyobject(py)?.into_any(),
        Val::F(it) => PyFloat::new(py, *it).into_any(),
        Val::Big(digits) => {
            let is_whole = digits.bytes().all(|it| it.is_ascii_digit() || it == b'-');
            let kind = if is_whole { py.get_type::<PyInt>() } else { py.get_type::<PyFloat>() };
            kind.call1((&**digits,))?
        }
        Val::Str(text) => PyString::new(py, text).into_any(),
        Val::List(items) => {
            let items: Vec<Bound<'py, PyAny>> = items.iter().map(|it| object(py, it)).collect::<PyResult<_>>()?;
            PyList::new(py, items)?.into_any()
        }
        Val::Map(members) => {
            let dict = PyDict::new(py);
            for (key, value) in members.iter() {
                dict.set_item(key, object(py, value)?)?;
            }
            dict.into_any()
        }
    })
}

/// A dict: the names of its members with their values.
macro_rules! dict {
    ($py:expr, $($name:ident: $value:expr),* $(,)?) => {{
        let dict = ::pyo3::types::PyDict::new($py);
        $(dict.set_item(::pyo3::intern!($py, stringify!($name)), $value)?;)*
        dict
    }};
}

pub(crate) use dict;

/// A value that becomes an object where one of Python is made.
pub(crate) struct Object(pub(crate) jurat::Value);

impl<'py> IntoPyObject<'py> for Object {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        object(py, &self.0.into())
    }
}
