//! Tables as other programs write them: the samples in `tests/tables` were made by openpyxl, pyarrow and datasets (`make.py` there).

use std::fs::{self, File};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::slice::from_ref;
use std::sync::Arc;

use arrow_array::types::{Int8Type, Int64Type};
use arrow_array::{
    ArrayRef, Date64Array, DictionaryArray, FixedSizeListArray, Int8Array, LargeListArray, LargeStringArray,
    RecordBatch, StringArray, StringViewArray, Time32SecondArray, TimestampSecondArray,
};
use arrow_ipc::writer::FileWriter;
use jurat_core::suite::{CellType, Records, RowFormat, RowSource};
use jurat_format::value::{Span, Spanned, Val};
use jurat_store::records::{RowLimits, SampleLimits, read_all_within, sample_of};

use crate::rows::one_file;

fn tables() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tables")
}

fn spanned<T>(value: T) -> Spanned<T> {
    Spanned::new(value, Span::default())
}

fn records(path: &Path) -> Records {
    one_file(&path.display().to_string(), path)
}

/// All rows as `number@line: JSON`, and an error as the last line. The sample of a file has the same rows, or the same error.
fn read(records: &Records) -> String {
    let mut lines = Vec::new();
    let limits = RowLimits { chunk: 64, ..RowLimits::default() };
    let all = read_all_within(from_ref(records), &mut std::io::empty(), limits, &mut |chunk| {
        lines.extend(chunk.iter().map(|(at, text)| format!("{}@{}: {text}", at.number, at.line)));
        ControlFlow::Continue(())
    });
    let RowSource::Files(files) = &records.from else { panic!("rows of a file") };
    let sampled = sample_of(records, &files[0].path, SampleLimits::default());
    match all {
        Ok(summary) => {
            assert_eq!(summary.rows, lines.len() as u64);
            let sampled: Vec<String> = sampled.expect("a sample").rows.iter().map(Val::to_json).collect();
            let read: Vec<&str> = lines.iter().filter_map(|it| Some(it.split_once(": ")?.1)).collect();
            assert_eq!(sampled, read);
        }
        Err(error) => {
            let sampled = sampled.map_or_else(|it| it.to_string(), |it| it.fault.expect("a fault").to_string());
            assert_eq!(sampled, error.fault.to_string());
            lines.push(error.fault.to_string());
        }
    }
    lines.join("\n")
}

#[track_caller]
fn reads(name: &str, expected: &str) {
    assert_eq!(read(&records(&tables().join(name))), expected);
}

/// A file with this text.
fn written(name: &str, text: &str) -> String {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join(name);
    fs::write(&path, text).expect("it can be written");
    read(&records(&path))
}

#[test]
fn a_workbook_has_the_types_of_its_cells() {
    reads(
        "typed.xlsx",
        r#"1@2: {"id":"r1","question":"How much?","score":4,"ok":true,"on":"2026-05-03","at":"2026-05-03T09:30:00","clock":"09:30:00","tags":"[\"a\", \"b\"]"}
2@4: {"id":"r2","question":"Größe 10 €?","score":2.5,"ok":false,"on":null,"at":"2026-05-03T09:30:15.250","clock":null,"tags":null}"#,
    );
}

#[test]
fn types_are_for_texts_of_workbooks_too() {
    let mut typed = records(&tables().join("typed.xlsx"));
    typed.types = vec![(spanned("tags".to_owned()), CellType::Json)];
    assert!(read(&typed).contains(r#""tags":["a","b"]"#));
    typed.types = vec![(spanned("question".to_owned()), CellType::Number)];
    let wrong = "row 1, which begins on line 2: the column `question` should hold a number, found `How much?`";
    assert_eq!(read(&typed), wrong);
    typed.types = vec![(spanned("answer".to_owned()), CellType::Number)];
    assert!(read(&typed).starts_with("`types` names the column `answer`, but the header has `id`, `question`"));
}

#[test]
fn a_workbook_with_several_sheets_asks_which() {
    let several = records(&tables().join("several.xlsx"));
    let which = "it cannot be read as an Excel workbook: several of its sheets have rows; say which: `sheet: Second`, out of `First` or `Second`";
    assert_eq!(read(&several), which);
    let named = Records { sheet: Some(spanned("Second".to_owned())), ..several.clone() };
    assert_eq!(read(&named), r#"1@2: {"a":2,"b":3}"#);
    let unknown = Records { sheet: Some(spanned("Third".to_owned())), ..several };
    assert!(read(&unknown).ends_with("it has no sheet `Third`; it has `First` or `Second`"), "{}", read(&unknown));
}

#[test]
fn what_a_workbook_cannot_mean_is_an_error() {
    reads("repeated.xlsx", "the header has the column `a` twice; give one of them another name");
    reads(
        "faulty.xlsx",
        "row 1: the column `b` holds an error such as `#N/A`, which JSON cannot express; replace it by null",
    );
    reads(
        "beyond.xlsx",
        "it cannot be read as an Excel workbook: row 2 of the sheet has `stray` beyond the last column of the header",
    );
    assert!(written("a.xlsx", "no workbook").starts_with("it cannot be read as an Excel workbook: "));
}

const TABLE: &str = r#"1@1: {"id":"r1","text":"one","kind":"x","score":0.5,"n":1,"day":"2026-05-03","at":"2026-05-03T09:30:00Z","passages":["a","b"],"pair":[1,2],"meta":{"k":1},"view":"v"}
2@2: {"id":"r2","text":"zwei","kind":"y","score":2.0,"n":9223372036854775808,"day":null,"at":"2026-05-03T09:30:00Z","passages":[],"pair":[3,4],"meta":{"k":2},"view":"w"}
3@3: {"id":"r3","text":null,"kind":"x","score":null,"n":3,"day":"1999-12-31","at":"2026-05-03T09:30:00Z","passages":null,"pair":null,"meta":null,"view":null}"#;

#[test]
fn arrow_files_and_streams_have_the_same_rows() {
    reads("table.feather", TABLE);
    reads("table-lz4.feather", TABLE);
    reads("stream.arrow", TABLE);
}

/// Arrow has several forms for one kind of value. None of them changes what a row says.
#[test]
fn every_form_of_arrow_is_read() {
    let words: DictionaryArray<Int8Type> = [Some("b"), None, Some("b")].into_iter().collect();
    let without_values =
        DictionaryArray::<Int8Type>::new(Int8Array::new_null(3), Arc::new(StringArray::from_iter_values([""; 0])));
    let long = |it: [Option<i64>; 2]| Some(it.to_vec());
    let columns: [(&str, ArrayRef); 9] = [
        ("words", Arc::new(words)),
        ("without_values", Arc::new(without_values)),
        ("large", Arc::new(LargeStringArray::from(vec![Some("ä\"x"), None, Some("")]))),
        ("view", Arc::new(StringViewArray::from(vec![Some("v"), None, Some("a text that is not inlined")]))),
        (
            "lists",
            Arc::new(LargeListArray::from_iter_primitive::<Int64Type, _, _>([
                long([Some(1), None]),
                None,
                Some(vec![]),
            ])),
        ),
        (
            "pairs",
            Arc::new(FixedSizeListArray::from_iter_primitive::<Int64Type, _, _>(
                [long([Some(1), None]), None, long([Some(2), Some(3)])],
                2,
            )),
        ),
        ("time", Arc::new(Time32SecondArray::from(vec![Some(34_200), None, Some(0)]))),
        ("at", Arc::new(TimestampSecondArray::from(vec![Some(1_460_367_000), None, Some(-1)]))),
        ("day", Arc::new(Date64Array::from(vec![Some(86_400_000), None, Some(-86_400_000)]))),
    ];
    let batch =
        RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true))).expect("a batch");
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("forms.arrow");
    let mut writer = FileWriter::try_new(File::create(&path).expect("a file"), &batch.schema()).expect("a writer");
    // A part of an array has an offset, which every form must respect.
    writer
        .write(&batch.slice(2, 1))
        .and_then(|()| writer.write(&batch.slice(0, 2)))
        .and_then(|()| writer.finish())
        .expect("it can be written");
    assert_eq!(
        read(&records(&path)),
        r#"1@1: {"words":"b","without_values":null,"large":"","view":"a text that is not inlined","lists":[],"pairs":[2,3],"time":"00:00:00","at":"1969-12-31T23:59:59","day":"1969-12-31"}
2@2: {"words":"b","without_values":null,"large":"ä\"x","view":"v","lists":[1,null],"pairs":[1,null],"time":"09:30:00","at":"2016-04-11T09:30:00","day":"1970-01-02"}
3@3: {"words":null,"without_values":null,"large":null,"view":null,"lists":null,"pairs":null,"time":null,"at":null,"day":null}"#
    );
}

#[test]
fn bytes_in_arrow_are_refused_by_name() {
    reads("bytes.arrow", "the column `raw` holds bytes, which JSON cannot express; turn it into text, or leave it out");
}

/// Whatever is cut off or changed ends in rows or an error, and in bounded memory.
#[test]
fn damaged_arrow_is_an_error() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    for name in ["stream.arrow", "table.feather"] {
        let sound = fs::read(tables().join(name)).expect("the sample is there");
        let path = directory.path().join(name);
        for n in (0..sound.len()).step_by(97) {
            fs::write(&path, &sound[..n]).expect("it can be written");
            let error = read(&records(&path));
            assert!(name == "stream.arrow" || error.starts_with("it cannot be read as Arrow: "), "{n}: {error}");
            let mut changed = sound.clone();
            changed[n] = changed[n].wrapping_add(255);
            fs::write(&path, &changed).expect("it can be written");
            // Some bytes are padding, and some only change a value.
            let _ =
                read_all_within(from_ref(&records(&path)), &mut std::io::empty(), RowLimits::default(), &mut |_| {
                    ControlFlow::Continue(())
                });
        }
    }
    let huge = [&[0xff; 4][..], &0x7fff_ffff_u32.to_le_bytes(), &[0; 16]].concat();
    fs::write(directory.path().join("huge.arrow"), huge).expect("it can be written");
    let error = read(&records(&directory.path().join("huge.arrow")));
    assert_eq!(error, "it cannot be read as Arrow: it is cut off, or no Arrow file");
}

const DATASET: &str = r#"1@1: {"id":"q0","question":"Question 0?","label":0,"contexts":[]}
2@2: {"id":"q1","question":"Question 1?","label":1,"contexts":["c"]}
3@3: {"id":"q2","question":"Question 2?","label":0,"contexts":["c","c"]}
4@4: {"id":"q3","question":"Question 3?","label":1,"contexts":["c","c","c"]}
5@5: {"id":"q4","question":"Question 4?","label":1,"contexts":["c","c","c","c"]}"#;

#[test]
fn a_dataset_on_disk_has_the_rows_of_its_shards_in_order() {
    reads("dataset", DATASET);
    reads("splits/train", DATASET);
    reads("parquet", DATASET);
    assert!(read(&records(&tables().join("selected"))).starts_with(r#"1@1: {"id":"q4""#));
    let said = Records { format: Some(RowFormat::Dataset), ..records(&tables().join("dataset")) };
    assert_eq!(read(&said), DATASET);
}

#[test]
fn a_dataset_with_splits_asks_which() {
    reads(
        "splits",
        "it cannot be read as a dataset: it has splits: `train` or `test`; name one of them: `splits/train`",
    );
}

#[test]
fn a_dataset_names_no_file_outside_of_its_folder() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    for (state, expected) in [
        (r#"{"_data_files": [{"filename": "../x.arrow"}]}"#, "`state.json` names a file outside of the folder"),
        (r#"{"_data_files": [{"filename": "/etc/passwd"}]}"#, "`state.json` names a file outside of the folder"),
        (r#"{"_data_files": [{}]}"#, "`state.json` has a file without `filename`"),
        ("{}", "`state.json` has no `_data_files`"),
        (r#"{"_data_files": [{"filename": "gone.arrow"}]}"#, ""),
    ] {
        fs::write(directory.path().join("state.json"), state).expect("it can be written");
        let error = read(&records(directory.path()));
        let whole = format!("it cannot be read as a dataset: {expected}");
        assert!(error == whole || (expected.is_empty() && error == "`gone.arrow`: there is no such file"), "{error}");
    }
}

#[test]
fn tab_separated_values_are_read_like_comma_separated_ones() {
    assert_eq!(
        written("a.tsv", "id\ttext, with commas\nr1\t\"two\nlines\"\nr2\tx"),
        "1@2: {\"id\":\"r1\",\"text, with commas\":\"two\\nlines\"}\n2@4: {\"id\":\"r2\",\"text, with commas\":\"x\"}"
    );
    assert_eq!(written("a.tab", "a\tb\n1\n"), "the row at line 2 has 1 cells, but the header has 2");
    assert_eq!(written("a.tsv", "a\tb\n1\t\"x\ty\n"), "line 2, column 3: the quote that opens here is never closed");
}

#[test]
fn yaml_is_a_list_of_rows_or_one_row() {
    assert_eq!(
        written("a.yaml", "- { id: r1, n: 1 }\n- id: r2\n  texts: [a, b]\n"),
        "1@1: {\"id\":\"r1\",\"n\":1}\n2@2: {\"id\":\"r2\",\"texts\":[\"a\",\"b\"]}"
    );
    assert_eq!(written("a.yml", "id: only\n"), "1@1: {\"id\":\"only\"}");
    assert_eq!(written("a.yaml", "\n"), "");
    assert_eq!(written("a.yaml", "just text\n"), "line 1, column 1: expected a list of rows or one object");
    assert!(written("a.yaml", "- [1\n").starts_with("line "), "{}", written("a.yaml", "- [1\n"));
    assert_eq!(
        written("a.yaml", "- n: .nan\n"),
        "row 1 holds `.nan`, which JSON cannot write; write `null`, or text in quotes"
    );
}
