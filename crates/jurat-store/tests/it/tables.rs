//! Tables that are written as Parquet, read back.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use arrow_array::{Array, ArrayRef, BooleanArray, Int32Array, ListViewArray, RecordBatch};
use arrow_schema::{DataType, Field};
use jurat_core::suite::RowFormat;
use jurat_format::value::Val;
use jurat_store::records::{SampleLimits, sample, write_rows};
use jurat_store::{Cell, CellType, ParquetTable};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};

const COLUMNS: [(&str, CellType); 4] =
    [("text", CellType::Text), ("whole", CellType::Whole), ("real", CellType::Real), ("flag", CellType::Flag)];

/// Memory that can be looked at afterwards.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no thread panics here").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn written(write: impl FnOnce(&mut ParquetTable<Memory>) -> io::Result<()>) -> Vec<u8> {
    let memory = Memory::default();
    let mut table = ParquetTable::new(memory.clone(), &COLUMNS).expect("a table");
    write(&mut table).expect("rows");
    table.end().expect("an end");
    drop(table);
    let bytes = memory.0.lock().expect("no thread panics here");
    bytes.clone()
}

fn rows(bytes: &[u8]) -> Vec<String> {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("table.parquet");
    std::fs::write(&path, bytes).expect("a file");
    let limits = SampleLimits::default();
    sample(&path, Some(RowFormat::Parquet), &[], limits).expect("rows").rows.iter().map(Val::to_json).collect()
}

#[test]
fn what_is_written_comes_back() {
    let bytes = written(|table| {
        table.row([Cell::Text("ä\n\"x\""), Cell::Whole(i64::MIN), Cell::Real(0.1), Cell::Flag(true)])?;
        table.row([Cell::Nothing; 4])?;
        // What is left out is nothing.
        table.row([Cell::Text("")])
    });
    assert_eq!(
        rows(&bytes),
        [
            r#"{"text":"ä\n\"x\"","whole":-9223372036854775808,"real":0.1,"flag":true}"#,
            r#"{"text":null,"whole":null,"real":null,"flag":null}"#,
            r#"{"text":"","whole":null,"real":null,"flag":null}"#,
        ]
    );
    assert_eq!(rows(&written(|_| Ok(()))), [""; 0]);
}

#[test]
fn large_tables_are_written_in_groups() {
    // Text that does not become much shorter: groups are measured as they are written.
    let mut state = 1_u64;
    let mut letter = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b' ' + (state >> 58) as u8)
    };
    let texts: Vec<String> = (0..5000).map(|_| (0..4000).map(|_| letter()).collect()).collect();
    let bytes = written(|table| texts.iter().try_for_each(|it| table.row([Cell::Text(it)])));
    let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).expect("Parquet");
    let groups: Vec<i64> = reader.metadata().row_groups().iter().map(RowGroupMetaData::num_rows).collect();
    assert_eq!(groups.iter().sum::<i64>(), 5000);
    assert!(groups.len() > 1, "{groups:?}");
}

#[test]
fn a_cell_of_another_type_is_refused() {
    let mut table = ParquetTable::new(Memory::default(), &COLUMNS).expect("a table");
    let error = table.row([Cell::Whole(1)]).expect_err("a number is no text").to_string();
    assert_eq!(error, "a column of another type cannot hold Whole(1)");
}

#[test]
fn a_reader_that_went_away_is_known_as_that() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let ended = ParquetTable::new(Closed, &COLUMNS).and_then(|mut table| {
        table.row([Cell::Text("a")])?;
        table.end()
    });
    assert_eq!(ended.expect_err("no reader is there").kind(), io::ErrorKind::BrokenPipe);
}

#[test]
fn lists_with_offsets_of_their_own_are_written() {
    let items: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 3, 4]));
    let item = Arc::new(Field::new("item", DataType::Int32, true));
    let nulls = BooleanArray::from(vec![Some(true), Some(true), None, Some(true)]).nulls().cloned();
    // The second list shares an item with the first, and the last stands before both.
    let (offsets, sizes) = (vec![1, 2, 0, 0], vec![2, 2, 0, 1]);
    let lists = ListViewArray::new(item, offsets.into(), sizes.into(), items, nulls);
    let batch = RecordBatch::try_from_iter([("items", Arc::new(lists) as ArrayRef)]).expect("a batch");
    let mut json = Vec::new();
    write_rows(&batch, &mut json).expect("rows");
    let expected = ["{\"items\":[2,3]}", "{\"items\":[3,4]}", "{\"items\":null}", "{\"items\":[1]}"];
    assert_eq!(String::from_utf8_lossy(&json).lines().collect::<Vec<_>>(), expected);
}
