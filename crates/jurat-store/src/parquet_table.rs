//! Tables written as Parquet: rows in, row groups out, so that memory does not depend on how many rows there are.

use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

/// What can stand in a column, apart from nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellType {
    /// UTF-8.
    Text,
    /// Whole numbers of 64 bits with a sign.
    Whole,
    /// Doubles.
    Real,
    /// Yes or no.
    Flag,
}

/// What stands in a place of a table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'c> {
    Nothing,
    Text(&'c str),
    /// A whole number.
    Whole(i64),
    /// A double.
    Real(f64),
    /// Yes or no.
    Flag(bool),
}

/// Rows that are gathered before they are encoded.
const BATCH_ROWS: usize = 1024;
/// The same by the bytes of their texts.
const BATCH_BYTES: usize = 1 << 20;
/// A row group ends after this number of rows, or when it has this number of bytes.
const GROUP_ROWS: usize = 1 << 17;
const GROUP_BYTES: usize = 8 << 20;

/// Writes a table as Parquet.
pub struct ParquetTable<W: Write + Send> {
    writer: ArrowWriter<W>,
    schema: Arc<Schema>,
    columns: Vec<Column>,
    n_rows: usize,
    n_bytes: usize,
}

impl<W: Write + Send> ParquetTable<W> {
    /// Begins a table with these columns. Any place of it may be empty.
    pub fn new(out: W, columns: &[(&str, CellType)]) -> io::Result<ParquetTable<W>> {
        let field = |(name, kind): &(&str, CellType)| Field::new(*name, kind.data_type(), true);
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .build();
        let writer = ArrowWriter::try_new(out, schema.clone(), Some(properties)).map_err(output)?;
        let columns = columns.iter().map(|(_, kind)| Column::new(*kind)).collect();
        Ok(ParquetTable { writer, schema, columns, n_rows: 0, n_bytes: 0 })
    }

    /// Writes a row, a cell for each column.
    pub fn row<'c>(&mut self, cells: impl IntoIterator<Item = Cell<'c>>) -> io::Result<()> {
        let mut cells = cells.into_iter();
        for column in &mut self.columns {
            let cell = cells.next().unwrap_or(Cell::Nothing);
            self.n_bytes += if let Cell::Text(text) = cell { text.len() } else { 0 };
            column.push(cell)?;
        }
        self.n_rows += 1;
        if self.n_rows >= BATCH_ROWS || self.n_bytes >= BATCH_BYTES { self.encode() } else { Ok(()) }
    }

    /// Writes what is left, and what follows the rows. Nothing may be written after it.
    pub fn end(&mut self) -> io::Result<()> {
        self.encode()?;
        self.writer.finish().map(drop).map_err(output)
    }

    fn encode(&mut self) -> io::Result<()> {
        if self.n_rows == 0 {
            return Ok(());
        }
        let columns = self.columns.iter_mut().map(Column::take).collect();
        let batch = RecordBatch::try_new(self.schema.clone(), columns).map_err(|it| output(it.into()))?;
        (self.n_rows, self.n_bytes) = (0, 0);
        self.writer.write(&batch).map_err(output)?;
        if self.writer.in_progress_size() >= GROUP_BYTES { self.writer.flush().map_err(output) } else { Ok(()) }
    }
}

impl<W: Write + Send> fmt::Debug for ParquetTable<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParquetTable").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl CellType {
    fn data_type(self) -> DataType {
        match self {
            CellType::Text => DataType::Utf8,
            CellType::Whole => DataType::Int64,
            CellType::Real => DataType::Float64,
            CellType::Flag => DataType::Boolean,
        }
    }
}

/// The cells of a column that are not encoded yet.
enum Column {
    Text(StringBuilder),
    Whole(Int64Builder),
    Real(Float64Builder),
    Flag(BooleanBuilder),
}

impl Column {
    fn new(kind: CellType) -> Column {
        match kind {
            CellType::Text => Column::Text(StringBuilder::new()),
            CellType::Whole => Column::Whole(Int64Builder::new()),
            CellType::Real => Column::Real(Float64Builder::new()),
            CellType::Flag => Column::Flag(BooleanBuilder::new()),
        }
    }

    fn push(&mut self, cell: Cell<'_>) -> io::Result<()> {
        match (self, cell) {
            (Column::Text(builder), Cell::Text(text)) => builder.append_value(text),
            (Column::Text(builder), Cell::Nothing) => builder.append_null(),
            (Column::Whole(builder), Cell::Whole(number)) => builder.append_value(number),
            (Column::Whole(builder), Cell::Nothing) => builder.append_null(),
            (Column::Real(builder), Cell::Real(number)) => builder.append_value(number),
            (Column::Real(builder), Cell::Nothing) => builder.append_null(),
            (Column::Flag(builder), Cell::Flag(flag)) => builder.append_value(flag),
            (Column::Flag(builder), Cell::Nothing) => builder.append_null(),
            (_, cell) => {
                let message = format!("a column of another type cannot hold {cell:?}");
                return Err(io::Error::new(io::ErrorKind::InvalidData, message));
            }
        }
        Ok(())
    }

    fn take(&mut self) -> ArrayRef {
        match self {
            Column::Text(builder) => Arc::new(builder.finish()),
            Column::Whole(builder) => Arc::new(builder.finish()),
            Column::Real(builder) => Arc::new(builder.finish()),
            Column::Flag(builder) => Arc::new(builder.finish()),
        }
    }
}

/// What went wrong with writing. The kind of error is preserved: the reader of a pipe may go away.
fn output(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(source) => io::Error::other(source),
        },
        other => io::Error::other(other),
    }
}
