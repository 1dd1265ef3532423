//! Parquet: each row is written as a JSON object, with the names of the columns as keys.
//!
//! The types are those of Parquet itself; what the program that wrote a file noted beside them is not looked at. Columns
//! that JSON has no form for are refused before a row is read. Batches are as many rows as a chunk is expected to hold,
//! so that memory depends on the pages of a file and not on its size.

mod cells;
mod moment;

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit};
use jurat_format::value::Val;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::{Compression, Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};

use super::chunk::{self, Delivery};
use super::{RowsFault, SampleError};
use cells::Column;

pub(super) fn read(file: File, delivery: &mut Delivery<'_>) -> Result<ControlFlow<()>, RowsFault> {
    let mut rows = Rows::open(file, delivery.limits.chunk as u64)?;
    let (limit, mut left) = (delivery.limits.row, delivery.most_bytes);
    chunk::write_rows(delivery, |json| {
        let n_before = json.len();
        if !rows.write_next(json)? {
            return Ok(None);
        }
        let length = json.len() - n_before;
        match left.checked_sub(length as u64) {
            Some(rest) if length <= limit => left = rest,
            _ => return Err(RowsFault::RowTooLong { row: rows.number, line: None, limit }),
        }
        Ok(Some((rows.number, rows.number)))
    })
}

/// The rows of a file, one after the other.
struct Rows {
    reader: ParquetRecordBatchReader,
    /// What an object has before each value: `,"name":`.
    keys: Vec<String>,
    /// The columns of the batch that is being read.
    columns: Vec<Column>,
    /// Which of its rows is next.
    next: usize,
    n_rows: usize,
    /// Which row of the file was written last, from 1.
    number: u64,
}

/// The most rows of a batch.
const MOST_ROWS: u64 = 1024;

impl Rows {
    /// Opens a file. A batch is about as many rows as take `usual` bytes.
    fn open(mut file: File, usual: u64) -> Result<Rows, SampleError> {
        check_ends(&mut file)?;
        unless_damaged(|| Rows::opened(file, usual))
    }

    fn opened(file: File, usual: u64) -> Result<Rows, SampleError> {
        // Moments of the oldest kind become nanoseconds by default, and most of time has no place in those.
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let metadata = ArrowReaderMetadata::load(&file, options).map_err(not_parquet)?;
        let schema = Arc::new(with_wide_moments(metadata.schema(), metadata.metadata()));
        let options = ArrowReaderOptions::new().with_schema(schema.clone());
        let parquet = metadata.metadata().clone();
        let metadata = ArrowReaderMetadata::try_new(parquet.clone(), options).map_err(not_parquet)?;

        check_compression(&parquet)?;
        for field in schema.fields() {
            Column::check(field)?;
        }
        let counted = |n: i64| u64::try_from(n).unwrap_or(0);
        let n_total = counted(parquet.file_metadata().num_rows());
        let sizes = parquet.row_groups().iter().map(|it| counted(it.total_byte_size()));
        let n_bytes = sizes.fold(0, u64::saturating_add);
        let n_batch = (usual / (n_bytes / n_total.max(1)).max(1)).clamp(1, MOST_ROWS);
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata);
        let builder = builder.with_batch_size(usize::try_from(n_batch).unwrap_or(1));
        Ok(Rows {
            reader: builder.build().map_err(not_parquet)?,
            keys: keys(schema.fields()),
            columns: Vec::new(),
            next: 0,
            n_rows: 0,
            number: 0,
        })
    }

    /// Writes the next row; `false` when there is none. After an error there is nothing more to be had.
    fn write_next(&mut self, json: &mut Vec<u8>) -> Result<bool, SampleError> {
        unless_damaged(|| self.written_next(json))
    }

    fn written_next(&mut self, json: &mut Vec<u8>) -> Result<bool, SampleError> {
        while self.next == self.n_rows {
            let Some(batch) = self.reader.next() else { return Ok(false) };
            let batch = batch.map_err(|error| not_parquet(ParquetError::ArrowError(error.to_string())))?;
            let columns = batch.schema_ref().fields().iter().zip(batch.columns());
            self.columns = columns.map(|(field, array)| Column::of(field, array)).collect::<Result<_, _>>()?;
            (self.next, self.n_rows) = (0, batch.num_rows());
        }
        self.number += 1;
        write_row(&self.keys, &self.columns, self.next, self.number, json)?;
        self.next += 1;
        Ok(true)
    }
}

/// Writes the rows of a batch as JSON, a line each, as rows of files are written.
///
/// # Errors
/// When JSON has no form for a column or a cell.
pub fn write_rows(batch: &RecordBatch, json: &mut Vec<u8>) -> Result<(), SampleError> {
    let fields = batch.schema_ref().fields();
    let columns = fields.iter().zip(batch.columns()).map(|(field, array)| Column::of(field, array));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    let keys: Vec<String> = keys(fields);
    for ix in 0..batch.num_rows() {
        write_row(&keys, &columns, ix, ix as u64 + 1, json)?;
        json.push(b'\n');
    }
    Ok(())
}

/// What an object has before each value: `,"name":`.
fn keys(fields: &Fields) -> Vec<String> {
    let key = |(ix, field): (usize, &Arc<Field>)| {
        format!("{}{}:", if ix == 0 { "" } else { "," }, Val::from(field.name().as_str()))
    };
    fields.iter().enumerate().map(key).collect()
}

/// Writes a row of a batch; `number` is what people know it by.
fn write_row(
    keys: &[String],
    columns: &[Column],
    ix: usize,
    number: u64,
    json: &mut Vec<u8>,
) -> Result<(), SampleError> {
    json.push(b'{');
    for (key, column) in keys.iter().zip(columns) {
        json.extend_from_slice(key.as_bytes());
        column.write(ix, json).map_err(|odd| SampleError::OddCell {
            row: number,
            column: odd.column.to_string(),
            found: odd.found,
        })?;
    }
    json.push(b'}');
    Ok(())
}

/// A file of this format says so at both of its ends.
fn check_ends(file: &mut File) -> Result<(), SampleError> {
    let mut end = |from| -> io::Result<[u8; 4]> {
        let mut end = [0; 4];
        file.seek(from)?;
        file.read_exact(&mut end)?;
        Ok(end)
    };
    let message = match (end(SeekFrom::Start(0)), end(SeekFrom::End(-4))) {
        (Ok(first), Ok(last)) => match (&first, &last) {
            (b"PAR1", b"PAR1") => return Ok(()),
            (_, b"PARE") => "it is encrypted",
            (b"PAR1", _) => "it does not end as such a file does; it may be cut off",
            _ => "it does not begin as such a file does",
        },
        _ => "it is too short",
    };
    Err(SampleError::NotParquet { message: message.to_owned() })
}

/// What is done with a file. The library panics about some bytes that no sound file has, and the owner of a damaged file
/// is owed an error.
fn unless_damaged<T>(done: impl FnOnce() -> Result<T, SampleError>) -> Result<T, SampleError> {
    let damaged = |_| Err(SampleError::NotParquet { message: "the file is damaged".to_owned() });
    catch_unwind(AssertUnwindSafe(done)).unwrap_or_else(damaged)
}

/// What the library says about a file.
fn not_parquet(error: ParquetError) -> SampleError {
    let message = match error {
        ParquetError::General(message) | ParquetError::EOF(message) | ParquetError::ArrowError(message) => message,
        other => other.to_string(),
    };
    SampleError::NotParquet { message }
}

fn check_compression(metadata: &ParquetMetaData) -> Result<(), SampleError> {
    let columns = metadata.row_groups().iter().flat_map(RowGroupMetaData::columns);
    let unknown = columns
        .map(ColumnChunkMetaData::compression)
        .find(|it| matches!(it, Compression::BROTLI(_) | Compression::LZO));
    match unknown {
        Some(compression) => {
            let codec = if compression == Compression::LZO { "LZO" } else { "Brotli" };
            Err(SampleError::Compression { codec })
        }
        None => Ok(()),
    }
}

/// The schema with microseconds for the moments of 96 bits that older programs write.
fn with_wide_moments(schema: &Schema, metadata: &ParquetMetaData) -> Schema {
    let leaves = metadata.file_metadata().schema_descr().columns();
    let mut leaves = leaves.iter().map(|it| it.physical_type());
    Schema::new(widened(schema.fields(), &mut leaves))
}

fn widened(fields: &Fields, leaves: &mut dyn Iterator<Item = Type>) -> Fields {
    fields.iter().map(|field| widened_field(field, leaves)).collect()
}

fn widened_field(field: &Field, leaves: &mut dyn Iterator<Item = Type>) -> Arc<Field> {
    let kind = match field.data_type() {
        DataType::Struct(fields) => DataType::Struct(widened(fields, leaves)),
        DataType::List(item) => DataType::List(widened_field(item, leaves)),
        DataType::Map(entries, sorted) => DataType::Map(widened_field(entries, leaves), *sorted),
        kind => match leaves.next() {
            Some(Type::INT96) => DataType::Timestamp(TimeUnit::Microsecond, None),
            _ => kind.clone(),
        },
    };
    Arc::new(field.clone().with_data_type(kind))
}

#[cfg(test)]
mod tests {
    use parquet::file::metadata::FileMetaData;
    use parquet::schema::parser::parse_message_type;
    use parquet::schema::types::SchemaDescriptor;

    use super::*;

    /// What is said about a file whose one column is compressed in this way.
    fn compressed(compression: Compression) -> String {
        let schema = Arc::new(parse_message_type("message m { required INT32 a; }").expect("a schema"));
        let schema = Arc::new(SchemaDescriptor::new(schema));
        let column = ColumnChunkMetaData::builder(schema.column(0)).set_compression(compression).build();
        let columns = vec![column.expect("a column")];
        let group = RowGroupMetaData::builder(schema.clone()).set_column_metadata(columns).build();
        let file = FileMetaData::new(1, 0, None, None, schema, None);
        let metadata = ParquetMetaData::new(file, vec![group.expect("a row group")]);
        check_compression(&metadata).map_or_else(|it| it.to_string(), |()| "read".to_owned())
    }

    #[test]
    fn compression_that_is_not_read_is_named() {
        let refused = |codec: &str| {
            format!("it is compressed with {codec}, which is not read; write it with Zstandard or Snappy")
        };
        assert_eq!(compressed(Compression::SNAPPY), "read");
        assert_eq!(compressed(Compression::LZO), refused("LZO"));
        assert_eq!(compressed(Compression::BROTLI(Default::default())), refused("Brotli"));
    }
}
