//! Parts of sources: read one after the other they are the whole.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use jurat_core::suite::{Records, RowFormat};
use jurat_store::records::{Chunk, PartSize, RowLimits, parts, read_all_within, read_part_within};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use proptest::prelude::*;

use crate::rows::one_file;

/// Small chunks, so that few rows are many.
const LIMITS: RowLimits = RowLimits { chunk: 16, row: 1 << 20 };

/// The text of each row, and where in the file it is.
type Rows = Vec<(String, Option<u64>)>;

fn taken(rows: &mut Rows) -> impl FnMut(Chunk) -> ControlFlow<()> {
    |chunk| {
        rows.extend(chunk.iter().map(|(at, text)| (text.to_owned(), at.offset)));
        ControlFlow::Continue(())
    }
}

/// Reads the whole and its parts; returns how many parts there are.
#[track_caller]
fn same(bytes: &[u8], format: RowFormat, size: PartSize) -> usize {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("rows");
    std::fs::write(&path, bytes).expect("it can be written");
    let sections = [Records { format: Some(format), ..one_file("rows", &path) }];
    let (mut whole, mut joined) = (Rows::new(), Rows::new());
    read_all_within(&sections, &mut io::empty(), LIMITS, &mut taken(&mut whole)).expect("rows");
    let cut = parts(&sections, size).expect("it can be cut");
    for part in &cut {
        let before = joined.len();
        let read = read_part_within(&sections, part, LIMITS, &mut taken(&mut joined)).expect("rows");
        assert_eq!(read.rows as usize, joined.len() - before);
    }
    assert_eq!(joined, whole, "{cut:?}");
    cut.len()
}

fn size() -> impl Strategy<Value = PartSize> {
    prop_oneof![(1_u64..9).prop_map(PartSize::Rows), (1_u64..12).prop_map(PartSize::Parts)]
}

proptest! {
    #[test]
    fn lines_are_read_once(
        lines in proptest::collection::vec("(|[0-9]{1,40}| \"[a-zä]{0,9}\" \r?)", 0..30), has_mark: bool, ends: bool, size in size(),
    ) {
        let mark = if has_mark { "\u{feff}" } else { "" };
        let end = if ends { "\n" } else { "" };
        same(format!("{mark}{}{end}", lines.join("\n")).as_bytes(), RowFormat::JsonLines, size);
    }

    #[test]
    fn rows_of_tables_are_read_once(
        cells in proptest::collection::vec("([a-z0-9]{1,5}|\"[a-z,\n\r]{0,6}(\"\"[a-z]?)?\")", 0..20), has_mark: bool, is_dos: bool, size in size(),
    ) {
        let (mark, end) = (if has_mark { "\u{feff}" } else { "" }, if is_dos { "\r\n" } else { "\n" });
        let rows: String = cells.iter().map(|it| format!("x,{it}{end}")).collect();
        same(format!("{mark}a,b{end}{rows}").as_bytes(), RowFormat::Csv, size);
    }

    #[test]
    fn row_groups_are_read_once(n in 1_i64..20, n_group in 1_usize..6, size in size()) {
        let column: ArrayRef = Arc::new(Int64Array::from_iter_values(0..n));
        let batch = RecordBatch::try_from_iter([("a", column)]).expect("a batch");
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(n_group)).build();
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).expect("a writer");
        writer.write(&batch).expect("it can be written");
        writer.close().expect("it can be written");
        same(&bytes, RowFormat::Parquet, size);
    }
}

#[test]
fn parts_are_as_many_as_were_wanted() {
    let lines: String = (0..100).map(|it| format!("{it:05}\n")).collect();
    let cut = |size| same(lines.as_bytes(), RowFormat::JsonLines, size);
    assert_eq!([1, 2, 7, 100].map(|n| cut(PartSize::Parts(n))), [1, 2, 7, 100]);
    assert_eq!([1, 3, 50, 1000].map(|n| cut(PartSize::Rows(n))), [100, 34, 2, 1]);
    // A line that is longer than a part is in one.
    let long = format!("1\n\"{}\"\n2\n", "x".repeat(100));
    assert_eq!(same(long.as_bytes(), RowFormat::JsonLines, PartSize::Parts(10)), 2);
    assert_eq!(same(b"a,b\n", RowFormat::Csv, PartSize::Parts(4)), 1);
    assert_eq!(same(b"", RowFormat::JsonLines, PartSize::Rows(4)), 1);
}
