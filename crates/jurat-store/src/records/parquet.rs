//! Parquet: a table that is read batch by batch.
//!
//! The types are those of Parquet itself; what the program that wrote a file noted beside them is not looked at. Columns
//! that JSON has no form for are refused before a row is read. Batches are as many rows as a chunk is expected to hold,
//! so that memory depends on the pages of a file and not on its size.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit};
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::{Compression, Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};

use super::chunk::Delivery;
use super::table::{self, Batch, unless_damaged};
use super::{RowsFault, SampleError};

pub(super) fn read(file: File, delivery: &mut Delivery<'_>) -> Result<ControlFlow<()>, RowsFault> {
    table::read(batches(file, delivery.limits.chunk as u64)?, delivery)
}

/// Hands over the rows of some row groups.
pub(super) fn read_groups(
    file: File,
    groups: Range<usize>,
    delivery: &mut Delivery<'_>,
) -> Result<ControlFlow<()>, RowsFault> {
    table::read(batches_of(file, delivery.limits.chunk as u64, Some(groups))?, delivery)
}

/// How many rows each row group has.
pub(super) fn group_rows(mut file: File) -> Result<Vec<u64>, SampleError> {
    check_ends(&mut file)?;
    let load = || ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).map_err(not_parquet);
    let metadata = unless_damaged(load, damaged)?;
    let groups = metadata.metadata().row_groups().iter();
    Ok(groups.map(|it| u64::try_from(it.num_rows()).unwrap_or(0)).collect())
}

/// The most rows of a batch.
const MOST_ROWS: u64 = 1024;

/// The batches of a file, each of about as many rows as take `usual` bytes.
pub(super) fn batches(file: File, usual: u64) -> Result<impl Iterator<Item = Batch>, SampleError> {
    batches_of(file, usual, None)
}

fn batches_of(
    mut file: File,
    usual: u64,
    groups: Option<Range<usize>>,
) -> Result<impl Iterator<Item = Batch>, SampleError> {
    check_ends(&mut file)?;
    let mut reader = unless_damaged(|| opened(file, usual, groups), damaged)?;
    let next = move || {
        let batch = unless_damaged(|| Ok(reader.next()), damaged).transpose()?;
        Some(batch.and_then(|it| it.map_err(|error| not_parquet(ParquetError::ArrowError(error.to_string())))))
    };
    Ok(std::iter::from_fn(next))
}

fn damaged(message: String) -> SampleError {
    SampleError::NotParquet { message }
}

fn opened(file: File, usual: u64, groups: Option<Range<usize>>) -> Result<ParquetRecordBatchReader, SampleError> {
    // Moments of the oldest kind become nanoseconds by default, and most of time has no place in those.
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let metadata = ArrowReaderMetadata::load(&file, options).map_err(not_parquet)?;
    let schema = Arc::new(with_wide_moments(metadata.schema(), metadata.metadata()));
    let options = ArrowReaderOptions::new().with_schema(schema.clone());
    let parquet = metadata.metadata().clone();
    let metadata = ArrowReaderMetadata::try_new(parquet.clone(), options).map_err(not_parquet)?;

    check_compression(&parquet)?;
    table::check(&schema)?;
    let counted = |n: i64| u64::try_from(n).unwrap_or(0);
    let n_total = counted(parquet.file_metadata().num_rows());
    let sizes = parquet.row_groups().iter().map(|it| counted(it.total_byte_size()));
    let n_bytes = sizes.fold(0, u64::saturating_add);
    let n_batch = (usual / (n_bytes / n_total.max(1)).max(1)).clamp(1, MOST_ROWS);
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata);
    let builder = match groups {
        Some(groups) => builder.with_row_groups(groups.collect()),
        None => builder,
    };
    builder.with_batch_size(usize::try_from(n_batch).unwrap_or(1)).build().map_err(not_parquet)
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
