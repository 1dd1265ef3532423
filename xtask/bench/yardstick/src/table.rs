//! Flat rows as a Parquet file: the same values in columns, compressed as most programs do by default.

use std::error::Error;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use serde_json::{Map, Value, json};

use crate::Said;

/// How many rows are written at a time.
const BATCH: usize = 10_000;

/// Writes the rows of `records.jsonl` in a directory to `records.parquet` in another, and the suite over them.
pub(crate) fn write(from: &Path, to: &Path) -> Said {
    fs::create_dir_all(to)?;
    let suite = fs::read_to_string(from.join("suite.yaml"))?;
    fs::write(to.join("suite.yaml"), suite.replace("records.jsonl", "records.parquet"))?;
    let mut lines = BufReader::new(File::open(from.join("records.jsonl"))?).lines();
    let mut writer: Option<ArrowWriter<File>> = None;
    loop {
        let rows: Vec<Map<String, Value>> = lines
            .by_ref()
            .take(BATCH)
            .map(|it| Ok(serde_json::from_str(&it?)?))
            .collect::<Result<_, Box<dyn Error>>>()?;
        if rows.is_empty() {
            break;
        }
        let batch = batch(&rows)?;
        let writer = match &mut writer {
            Some(writer) => writer,
            none => {
                let snappy = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
                let file = File::create(to.join("records.parquet"))?;
                none.insert(ArrowWriter::try_new(file, batch.schema(), Some(snappy))?)
            }
        };
        writer.write(&batch)?;
    }
    writer.map(ArrowWriter::close).transpose()?;
    Ok(json!({}))
}

/// Rows that have the same keys with values of the same kind.
fn batch(rows: &[Map<String, Value>]) -> Result<RecordBatch, Box<dyn Error>> {
    let columns = rows.first().into_iter().flatten().map(|(key, first)| {
        let cells = || rows.iter().map(|it| &it[key]);
        let column: ArrayRef = match first {
            Value::String(_) => Arc::new(StringArray::from_iter(cells().map(Value::as_str))),
            it if it.is_i64() => Arc::new(Int64Array::from_iter(cells().map(Value::as_i64))),
            _ => Arc::new(Float64Array::from_iter(cells().map(Value::as_f64))),
        };
        (key.clone(), column)
    });
    Ok(RecordBatch::try_from_iter(columns)?)
}
