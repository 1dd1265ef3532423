//! The first rows of a file.

use std::path::Path;

use jurat_core::suite::RowFormat;
use jurat_store::records::{Sample, SampleError, SampleLimits, sample};
use proptest::prelude::*;

/// Samples two rows of a file within its first 64 bytes. A row is printed per line; `+` says that there are more, `!`
/// that a key was repeated.
#[track_caller]
fn sampled(name: &str, content: impl AsRef<[u8]>, expected: &str) {
    sampled_as(None, name, content, expected);
}

#[track_caller]
fn sampled_as(format: Option<RowFormat>, name: &str, content: impl AsRef<[u8]>, expected: &str) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join(name);
    std::fs::write(&path, content).expect("it is writable");
    assert_eq!(shown(sample(&path, format, &[], SampleLimits { rows: 2, bytes: 64 })), expected);
}

fn shown(sample: Result<Sample, SampleError>) -> String {
    match sample {
        Ok(sample) => {
            let rows: String = sample.rows.iter().map(|row| format!("{row}\n")).collect();
            format!(
                "{rows}{}{}",
                if sample.more { "+" } else { "" },
                if sample.repeated_key.is_some() { "!" } else { "" }
            )
        }
        Err(error) => error.to_string(),
    }
}

#[test]
fn json_lines() {
    sampled("a.jsonl", "{\"a\": 1}\n{\"a\": 2}\n", "{\"a\": 1}\n{\"a\": 2}\n");
    sampled("a.NDJSON", "\u{feff}1\r\n\r\n  \n\"two\"", "1\n\"two\"\n");
    sampled("a.jsonl", "1\n2\n3\n", "1\n2\n+");
    sampled("a.jsonl", "1\n2\n\n \n", "1\n2\n");
    sampled("a.jsonl", "1\n2\nnever looked at", "1\n2\n+");
    sampled("a.jsonl", "", "");
    sampled(
        "a.jsonl",
        "{\"a\": 1, \"a\": 123456789012345678901234567890}\n",
        "{\"a\": 123456789012345678901234567890}\n!",
    );
}

#[test]
fn bad_json_lines_say_where() {
    sampled("a.jsonl", "1\n\n{\"é\" 2}\n", "line 3, column 6: expected `:`");
    sampled("a.jsonl", "{\"a\": 1", "line 1, column 7: EOF while parsing an object");
    sampled("a.jsonl", "1\n{} {}\n", "line 2, column 4: trailing characters");
    sampled("a.jsonl", b"1\n\xff\xfe\n", "line 2 is not UTF-8 text; save the file as UTF-8");
    sampled("a.jsonl", b"1\n2\n\xff\xfe\n", "1\n2\n+");
}

#[test]
fn json_lines_are_cut_at_the_limit() {
    let long = format!("\"{}\"", "a".repeat(100));
    let too_long = "the first row does not end within the first 64 bytes, which is as much as is read to check a suite";
    sampled("a.jsonl", &long, too_long);
    sampled("a.jsonl", " \n".repeat(64), too_long);
    sampled("a.jsonl", format!("1\n{long}\n2\n"), "1\n+");
    // The limit falls into a character.
    sampled("a.jsonl", format!("1\n\"{}\"\n", "日".repeat(40)), "1\n+");
}

#[test]
fn a_json_list_of_rows() {
    sampled("a.json", "[]", "");
    sampled("a.json", "\u{feff} [1,\n {\"a\": [2]} ] \n", "1\n{\"a\": [2]}\n");
    sampled("a.json", "[1, 2, not looked at", "1\n2\n+");
    sampled("a.json", "[{\"a\": 1, \"a\": 18446744073709551616}]", "{\"a\": 18446744073709551616}\n!");
}

#[test]
fn one_json_object_is_one_row() {
    sampled("a.json", " {\"a\": 1}\n", "{\"a\": 1}\n");
    sampled(
        "a.json",
        "{}\n{}\n",
        "line 2, column 1: trailing characters; a file with one value per line is named `.jsonl`",
    );
    sampled_as(Some(RowFormat::JsonLines), "a.json", "{}\n{}\n", "{}\n{}\n");
}

#[test]
fn bad_json_says_where() {
    sampled("a.json", "", "line 1, column 1: expected a list of rows or one object");
    sampled("a.json", "\n 12", "line 2, column 2: expected a list of rows or one object");
    sampled("a.json", "[1 2]", "line 1, column 4: expected `,` or `]`");
    sampled("a.json", "[1,]", "line 1, column 4: expected value");
    sampled("a.json", "[\"é\",\n {\"é\" 2}]", "line 2, column 7: expected `:`");
    sampled("a.json", "[1,\n {\"a\": [", "line 2, column 2: the row that begins here does not end");
    sampled("a.json", "[1", "line 1, column 2: the row that begins here does not end");
    sampled("a.json", "[1 ", "line 1, column 4: the list is not closed");
    sampled("a.json", "[1] x", "line 1, column 5: trailing characters");
    sampled("a.json", b"[1,\n \"\xff\"]", "line 2 is not UTF-8 text; save the file as UTF-8");
    sampled("a.json", b"\xff\xfe[\0]\0", "line 1 is not UTF-8 text; save the file as UTF-8");
}

#[test]
fn json_is_cut_at_the_limit() {
    let long = format!("\"{}\"", "a".repeat(100));
    let too_long = "the first row does not end within the first 64 bytes, which is as much as is read to check a suite";
    sampled("a.json", format!("[{long}]"), too_long);
    sampled("a.json", format!("{{\"a\": {long}}}"), too_long);
    sampled("a.json", format!("[1, {long}]"), "1\n+");
    // The limit falls into a number, whose start looks like a number.
    sampled("a.json", format!("[1, {}]", "9".repeat(100)), "1\n+");
    // The limit falls behind the `e` of a number, whose start looks like a mistake.
    sampled("a.json", format!("[1, {}e5]", "9".repeat(59)), "1\n+");
}

#[test]
fn csv() {
    sampled("a.csv", "", "");
    sampled("a.csv", "id,text\n", "");
    sampled(
        "a.csv",
        "\u{feff}id,text\r\n1,\"a, \"\"b\"\"\nc\"\r\n",
        "{\"id\": \"1\", \"text\": \"a, \\\"b\\\"\\nc\"}\n",
    );
    sampled("a.csv", "id\n1\n\n2\n3\n", "{\"id\": \"1\"}\n{\"id\": \"2\"}\n+");
    sampled("a.csv", "id\n1\n2\n\n", "{\"id\": \"1\"}\n{\"id\": \"2\"}\n");
    sampled("a.csv", "a,a\n1,2\n", "the header has the column `a` twice; give one of them another name");
    sampled("a.csv", "size\n5\" pipe\n", "{\"size\": \"5\\\" pipe\"}\n");
}

#[test]
fn bad_csv_says_where() {
    sampled("a.csv", "a,b\r\n1,2\r\n\r\n3\r\n", "the row at line 4 has 1 cells, but the header has 2");
    sampled("a.csv", "a,b\n1,2,3\n", "the row at line 2 has 3 cells, but the header has 2");
    sampled("a.csv", "a,b\n\n1,é \"\"\"x\n2,\"y\n3,z\n", "line 4, column 3: the quote that opens here is never closed");
    sampled("a.csv", b"a\n1\n\xff\n", "line 3 is not UTF-8 text; save the file as UTF-8");
    sampled("a.csv", b"a\n1\n2\n\xff\n", "{\"a\": \"1\"}\n{\"a\": \"2\"}\n+");
}

#[test]
fn csv_is_cut_at_the_limit() {
    let long = "a".repeat(100);
    let too_long = "the first row does not end within the first 64 bytes, which is as much as is read to check a suite";
    sampled("a.csv", &long, too_long);
    sampled("a.csv", format!("a\n{long}\n"), too_long);
    sampled("a.csv", format!("a,b\n1,2\n3{long},4\n"), "{\"a\": \"1\", \"b\": \"2\"}\n+");
}

#[test]
fn a_csv_header_has_a_width() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("wide.csv");
    std::fs::write(&path, format!("{}\n", ",".repeat(20_000))).unwrap();
    let error = sample(&path, None, &[], SampleLimits::default()).unwrap_err();
    assert_eq!(error.to_string(), "the header has 20001 columns; 16384 are the most");
}

#[test]
fn the_name_gives_the_format() {
    let endings = "name the file `.jsonl`, `.ndjson`, `.json`, `.csv`, `.tsv`, `.tab`, `.yaml`, `.yml`, `.xlsx`, `.parquet`, `.arrow` or `.feather`, or say `format`";
    sampled("a.txt", "", &format!("the ending `.txt` does not say the format of the records; {endings}"));
    sampled("records", "", &format!("a name without an ending does not say the format of the records; {endings}"));
    sampled_as(Some(RowFormat::Csv), "records", "a\n1\n", "{\"a\": \"1\"}\n");
    sampled("a.parquet", "", "it cannot be read as Parquet: it is too short");
}

#[test]
fn what_is_no_file_is_refused_in_words() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("missing.jsonl");
    assert_eq!(shown(sample(&missing, None, &[], SampleLimits::default())), "there is no such file");
    let refused = sample(directory.path(), Some(RowFormat::Csv), &[], SampleLimits::default());
    assert_eq!(shown(refused), "it is a directory, not a file");
}

#[cfg(unix)]
#[test]
fn a_device_without_end_is_refused() {
    let zeros = sample(Path::new("/dev/zero"), Some(RowFormat::JsonLines), &[], SampleLimits::default());
    assert_eq!(shown(zeros), "it is a device, not a file");
}

#[test]
fn by_default_a_hundred_rows_are_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("many.json");
    std::fs::write(&path, format!("[{}0]", "{\"a\": 1},".repeat(2_000_000))).unwrap();
    let sample = sample(&path, None, &[], SampleLimits::default()).unwrap();
    assert_eq!((sample.rows.len(), sample.more), (100, true));
}

proptest! {
    #[test]
    fn any_file_can_be_looked_at(
        content in prop::collection::vec(prop::sample::select(PIECES), 0..12),
        bytes in 0_u64..24,
        rows in 0_usize..4,
        format in prop::sample::select(&[RowFormat::JsonLines, RowFormat::Json, RowFormat::Csv][..]),
    ) {
        let directory = tempfile::tempdir()?;
        let path = directory.path().join("records");
        std::fs::write(&path, content.concat())?;
        if let Ok(sample) = sample(&path, Some(format), &[], SampleLimits { rows, bytes }) {
            prop_assert!(sample.rows.len() <= rows);
        }
    }
}

/// What files of records are made of, and what they should not be made of.
pub(super) const PIECES: &[&[u8]] = &[
    b"[",
    b"]",
    b"{",
    b"}",
    b"\"",
    b"\"a\"",
    b":",
    b",",
    b"1",
    b"-",
    b"true",
    b" ",
    b"\n",
    b"\r\n",
    b"\r",
    b"x",
    "é".as_bytes(),
    "\u{feff}".as_bytes(),
    b"\xff",
    b"\0",
];
