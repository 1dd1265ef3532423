//! Rows of Python for a run: taken from an iterator a batch at a time, and never held as a whole.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyIterator;

use crate::json;
use crate::lines::Source;

/// How much is written before Python is let go.
const BATCH: usize = 256 << 10;

/// The name under which a record's id stands in its row, where records have ids: no name that a context would have.
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
    failed: Failed,
}

impl Rows {
    pub(crate) fn of(rows: &Bound<'_, PyAny>, items: Items, failed: Failed) -> PyResult<Rows> {
        Ok(Rows { iterator: PyIterator::from_object(rows)?.unbind(), items, failed })
    }
}

impl Source for Rows {
    fn fill(&mut self, lines: &mut Vec<u8>) -> io::Result<()> {
        let Rows { iterator, items, failed } = self;
        Python::attach(|py| {
            let mut iterator = iterator.bind(py).clone();
            while lines.len() < BATCH {
                let Some(row) = iterator.next() else { break };
                row.and_then(|it| line(&it, *items, lines)).map_err(|error| {
                    let reported = io::Error::other(error.to_string());
                    failed.put(error);
                    reported
                })?;
            }
            Ok(())
        })
    }
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
