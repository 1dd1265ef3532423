//! Tables: rows that come as Arrow, and results that go out as Arrow.
//!
//! Rows are written as JSON lines a batch at a time, in the form that rows of Parquet files have.

use std::io;
use std::path::Path;
use std::sync::Arc;

use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_pyarrow::FromPyArrow;
use arrow_schema::{ArrowError, SchemaRef};
use jurat::table::{self, Cells};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::error::{data, raised};
use crate::lines::Source;
use crate::results::{LongTexts, Results};
use crate::rows::Failed;

/// How many cases are in a batch of results.
const CASES: u64 = 4096;

/// How many rows are written before the next are asked for.
const ROWS: usize = 1024;

/// Rows that come in batches.
pub(crate) struct Batches {
    reader: ArrowArrayStreamReader,
    /// What is left of the last batch.
    rest: Option<RecordBatch>,
    failed: Failed,
}

impl Batches {
    /// Whatever has a stream of Arrow.
    pub(crate) fn of(rows: &Bound<'_, PyAny>, failed: Failed) -> PyResult<Batches> {
        let reader = ArrowArrayStreamReader::from_pyarrow_bound(rows)?;
        Ok(Batches { reader, rest: None, failed })
    }

    fn next(&mut self) -> Option<Result<RecordBatch, ArrowError>> {
        match self.rest.take() {
            Some(rest) => Some(Ok(rest)),
            None => self.reader.next(),
        }
    }

    fn fail(&self, message: String) -> io::Error {
        Python::attach(|py| self.failed.put(data(py, message.clone())));
        io::Error::other(message)
    }
}

impl Source for Batches {
    fn fill(&mut self, lines: &mut Vec<u8>) -> io::Result<()> {
        while lines.is_empty() {
            let Some(batch) = self.next() else { return Ok(()) };
            let batch = batch.map_err(|error| self.fail(error.to_string()))?;
            let n = ROWS.min(batch.num_rows());
            jurat_store::records::write_rows(&batch.slice(0, n), lines)
                .map_err(|error| self.fail(error.to_string()))?;
            if n < batch.num_rows() {
                self.rest = Some(batch.slice(n, batch.num_rows() - n));
            }
        }
        Ok(())
    }
}

/// The result of each task of each case of a run, as a stream: by what its file alone says, or with everything that can be concluded from it again.
pub(crate) fn stream<'py>(
    py: Python<'py>,
    run: &Path,
    is_detailed: bool,
    texts: LongTexts,
) -> PyResult<Bound<'py, PyCapsule>> {
    capsule(py, reader(py, run, is_detailed, texts)?)
}

/// The same, to be read here.
pub(crate) fn reader(
    py: Python<'_>,
    run: &Path,
    is_detailed: bool,
    texts: LongTexts,
) -> PyResult<Box<dyn RecordBatchReader + Send>> {
    // A run of its own: the stream is read later, and on another thread.
    let run = py.detach(|| jurat::Run::open(run)).map_err(|error| raised(py, &error))?;
    Ok(match is_detailed {
        true => Box::new(Details { run, schema: table::schema(jurat::Run::columns()), next: 0 }),
        false => Box::new(Results::of(run, texts)),
    })
}

pub(crate) fn capsule(py: Python<'_>, reader: Box<dyn RecordBatchReader + Send>) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), c"arrow_array_stream")
}

struct Details {
    run: jurat::Run,
    schema: SchemaRef,
    next: u64,
}

impl Iterator for Details {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut cells: Vec<Cells> = jurat::Run::columns().map(|it| Cells::of(it.kind)).collect();
        let range = self.next..self.next + CASES;
        let read = self.run.read_rows(range, &mut |row| {
            cells.iter_mut().zip(row).for_each(|(cells, datum)| cells.put(*datum));
        });
        match read {
            Err(error) => Some(Err(ArrowError::ExternalError(Box::new(error)))),
            Ok(0) => None,
            Ok(_) => {
                self.next += CASES;
                let columns = cells.iter_mut().map(Cells::finish).collect();
                Some(RecordBatch::try_new(Arc::clone(&self.schema), columns))
            }
        }
    }
}

impl RecordBatchReader for Details {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
