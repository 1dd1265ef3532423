//! Rows of Python for a run: taken from an iterator a batch at a time, and never held as a whole.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use jurat::REFUSED;
use jurat_format::value::Val;
use pyo3::exceptions::PyException;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator};

use crate::lines::Source;
use crate::{error, json};

/// How much is written before Python is let go.
const BATCH: usize = 256 << 10;

/// The name under which a record's id stands in its row, where records have ids: no name that a context would have.
const ID_NAME: &str = "@id";
const ID: &[u8] = b"{\"@id\":";

/// What went wrong while rows were read: the engine knows only that something did.
#[derive(Debug, Clone, Default)]
pub(crate) struct Failed(Arc<Mutex<Option<PyErr>>>);

impl Failed {
    /// Takes what went wrong.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(crate) fn put(&self, error: PyErr) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }
}

/// What the items of an iterator are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Items {
    /// Rows.
    Rows,
    /// Records: their context is the row.
    Records,
    /// Records with ids.
    RecordsWithIds,
}

/// Rows that an iterator gives.
pub(crate) struct Rows {
    iterator: Py<PyIterator>,
    items: Items,
    n_rows: u64,
    failed: Failed,
}

impl Rows {
    pub(crate) fn of(rows: &Bound<'_, PyAny>, items: Items, failed: Failed) -> PyResult<Rows> {
        Ok(Rows { iterator: PyIterator::from_object(rows)?.unbind(), items, n_rows: 0, failed })
    }
}

impl Source for Rows {
    fn fill(&mut self, lines: &mut Vec<u8>) -> io::Result<()> {
        let Rows { iterator, items, n_rows, failed } = self;
        Python::attach(|py| {
            let mut iterator = iterator.bind(py).clone();
            while lines.len() < BATCH {
                let Some(row) = iterator.next() else { break };
                *n_rows += 1;
                row.and_then(|it| line_or_refusal(&it, *items, *n_rows, lines)).map_err(|error| {
                    let reported = io::Error::other(error.to_string());
                    failed.put(error);
                    reported
                })?;
            }
            Ok(())
        })
    }
}

/// Writes a row. One with a value that is no data is written without it, and with the reason: its case is an error, and all others are judged.
fn line_or_refusal(row: &Bound<'_, PyAny>, items: Items, number: u64, lines: &mut Vec<u8>) -> PyResult<()> {
    let start = lines.len();
    let Err(error) = line(row, items, lines) else { return Ok(()) };
    lines.truncate(start);
    let py = row.py();
    if !error.is_instance_of::<PyException>(py) {
        return Err(error);
    }
    let reason = format!("row {number} cannot be judged: {}", described_shortly(py, &error));
    let record = if items == Items::Rows { Ok(row.clone()) } else { row.getattr(intern!(py, "context")) };
    let members = PyDict::new(py);
    if items == Items::RecordsWithIds {
        members.set_item(ID_NAME, row.getattr(intern!(py, "record_id"))?)?;
    }
    if let Ok(fields) = record.and_then(|it| Ok(it.cast_into::<PyDict>()?)) {
        for (name, value) in fields.iter().filter(|(_, value)| json::text(value).is_ok()) {
            members.set_item(name, value)?;
        }
    }
    // The engine looks for a first member that stands there twice.
    let refused = format!("{}:{}", Val::from(REFUSED).to_json(), Val::from(&*reason).to_json());
    lines.extend_from_slice(format!("{{{refused},{refused}").as_bytes());
    let rest = json::text(&members)?;
    if !members.is_empty() {
        lines.push(b',');
    }
    lines.extend_from_slice(&rest.as_bytes()[1..]);
    lines.push(b'\n');
    Ok(())
}

/// What an exception says; its class as well when it is not ours.
fn described_shortly(py: Python<'_>, error: &PyErr) -> String {
    if error::is_data(py, error) { error.value(py).to_string() } else { error.to_string() }
}

fn line(row: &Bound<'_, PyAny>, items: Items, lines: &mut Vec<u8>) -> PyResult<()> {
    let py = row.py();
    match items {
        Items::Rows => json::write(row, lines)?,
        Items::Records => json::write(&row.getattr(intern!(py, "context"))?, lines)?,
        Items::RecordsWithIds => {
            lines.extend_from_slice(ID);
            json::write(&row.getattr(intern!(py, "record_id"))?, lines)?;
            let start = lines.len();
            json::write(&row.getattr(intern!(py, "context"))?, lines)?;
            match &lines[start..] {
                b"{}" => lines.truncate(start + 1),
                [b'{', ..] => lines[start] = b',',
                // What is no object stands under the name that the engine gives it.
                _ => {
                    lines.splice(start..start, b",\"value\":".iter().copied());
                    lines.push(b'}');
                }
            }
            if lines.last() == Some(&b'{') {
                lines.pop();
                lines.push(b'}');
            }
        }
    }
    lines.push(b'\n');
    Ok(())
}
