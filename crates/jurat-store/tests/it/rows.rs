//! All rows, in chunks.

use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;
use std::slice::from_ref;

use jurat_core::suite::{CellType, Records, RowFile, RowFormat, RowSource};
use jurat_format::value::{Span, Spanned, Val, parse_json};
use jurat_store::records::{
    Chunk, ReadSummary, RowLimits, RowNames, RowsError, read_all, read_all_within, sections_by_source,
};
use proptest::prelude::*;
use serde_json::Value as Json;

fn spanned<T>(value: T) -> Spanned<T> {
    Spanned::new(value, Span::default())
}

fn records(from: RowSource) -> Records {
    Records {
        from,
        format: None,
        id: None,
        sheet: None,
        types: Vec::new(),
        tags: Vec::new(),
        is_runs: false,
        defaults: Default::default(),
    }
}

fn files(directory: &Path, names: &[&str]) -> Records {
    let file = |name: &&str| RowFile { written: spanned((*name).to_owned()), path: directory.join(name) };
    records(RowSource::Files(names.iter().map(file).collect()))
}

/// A section with one file, which is written as it is named here.
pub(crate) fn one_file(written: &str, path: &Path) -> Records {
    records(RowSource::Files(vec![RowFile { written: spanned(written.to_owned()), path: path.to_owned() }]))
}

fn typed(mut records: Records, types: &[(&str, CellType)]) -> Records {
    records.types = types.iter().map(|(name, it)| (spanned((*name).to_owned()), *it)).collect();
    records
}

/// All chunks of one section, and how the reading ended.
fn chunks(records: &Records, stdin: &[u8], limits: RowLimits) -> (Vec<Chunk>, Result<ReadSummary, RowsError>) {
    all_chunks(from_ref(records), stdin, limits)
}

/// All chunks of all sections, and how the reading ended.
fn all_chunks(sections: &[Records], stdin: &[u8], limits: RowLimits) -> (Vec<Chunk>, Result<ReadSummary, RowsError>) {
    let mut chunks = Vec::new();
    let mut stdin = stdin;
    let summary = read_all_within(sections, &mut stdin, limits, &mut |chunk| {
        chunks.push(chunk);
        ControlFlow::Continue(())
    });
    (chunks, summary)
}

/// Reads with chunks of every small size and rows of up to 1000 bytes. A row is printed as `line: JSON`, and an error is
/// the last line.
#[track_caller]
fn reads(name: &str, content: impl AsRef<[u8]>, expected: &str) {
    reads_typed(name, &[], content, expected);
}

#[track_caller]
fn reads_typed(name: &str, types: &[(&str, CellType)], content: impl AsRef<[u8]>, expected: &str) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(directory.path().join(name), &content).expect("it is writable");
    let records = typed(files(directory.path(), &[name]), types);
    for chunk in [1, 2, 3, 7, 16, 1000, 1 << 20] {
        let (chunks, summary) = chunks(&records, b"", RowLimits { chunk, row: 1000 });
        assert_eq!(shown(&chunks, &summary), expected, "with chunks of {chunk}");
        let rows: Vec<_> = chunks.iter().flat_map(Chunk::iter).collect();
        assert!((1..).zip(&rows).all(|(number, (row, _))| row.number == number && row.source == 0));
        assert!(chunks.iter().all(|it| it.rows.len() == 1 || it.text.len() <= chunk), "{chunks:?}");
        for (row, text) in rows {
            let slice =
                row.offset.map(|it| &content.as_ref()[usize::try_from(it).expect("a small file")..][..text.len()]);
            assert!(slice.is_none_or(|it| it == text.as_bytes()));
        }
    }
}

fn shown(chunks: &[Chunk], summary: &Result<ReadSummary, RowsError>) -> String {
    let rows = chunks.iter().flat_map(Chunk::iter).map(|(row, text)| format!("{}: {text}\n", row.line));
    let error = summary.as_ref().err().map(ToString::to_string);
    rows.chain(error).collect()
}

#[test]
fn json_lines() {
    reads("a.jsonl", "", "");
    reads("a.jsonl", "\n \r\n\t\n", "");
    reads("a.jsonl", "{\"a\": 1}\n{\"a\": 2}\n", "1: {\"a\": 1}\n2: {\"a\": 2}\n");
    reads("a.ndjson", "\u{feff}1\r\n\r\n  \n \"two\" \r\n3", "1: 1\n4: \"two\"\n5: 3\n");
    reads("a.jsonl", "\"日本語\"\n\"🦀\"", "1: \"日本語\"\n2: \"🦀\"\n");
    // Whether a line is JSON is decided by the parser.
    reads("a.jsonl", "1\n\0\n{\n", "1: 1\n2: \0\n3: {\n");
}

#[test]
fn bad_json_lines_say_where() {
    reads("a.jsonl", b"1\n\n\xff\xfe\n4\n", "1: 1\n`a.jsonl`: line 3 is not UTF-8 text; save the file as UTF-8");
    reads("a.jsonl", b"1\n\"\xe6\x97\"\n", "1: 1\n`a.jsonl`: line 2 is not UTF-8 text; save the file as UTF-8");
    reads("a.jsonl", b"1\n\"\xe6\x97", "1: 1\n`a.jsonl`: line 2 is not UTF-8 text; save the file as UTF-8");
    reads("a.jsonl", b"\xff\xfe1\0\n\0", "`a.jsonl`: line 1 is not UTF-8 text; save the file as UTF-8");
}

#[test]
fn a_row_has_a_longest_length() {
    let longest = format!("\"{}\"", "é".repeat(499));
    let longer = format!("\"{}a\"", "é".repeat(499));
    let too_long = "row 2, which begins on line 2, is longer than 1000 bytes, the most a row may have";
    reads("a.jsonl", format!("1\n{longest}\n2\n"), &format!("1: 1\n2: {longest}\n3: 2\n"));
    reads("a.jsonl", format!("1\n{longest}"), &format!("1: 1\n2: {longest}\n"));
    reads("a.jsonl", format!("1\n{longer}\n2\n"), &format!("1: 1\n`a.jsonl`: {too_long}"));
    reads("a.jsonl", format!("1\n{longer}"), &format!("1: 1\n`a.jsonl`: {too_long}"));
    reads("a.json", format!("[1,\n{longest},\n2]"), &format!("1: 1\n2: {longest}\n3: 2\n"));
    reads("a.json", format!("[1,\n{longer},\n2]"), &format!("1: 1\n`a.json`: {too_long}"));
    reads("a.csv", format!("a\n1\n\n{}\n2\n", "é".repeat(500)), &{
        format!("2: {{\"a\":\"1\"}}\n4: {{\"a\":\"{}\"}}\n5: {{\"a\":\"2\"}}\n", "é".repeat(500))
    });
    reads(
        "a.csv",
        format!("a\n1\n\"{}\n", "é".repeat(500)),
        "2: {\"a\":\"1\"}\n`a.csv`: row 2, which begins on line 3, is longer than 1000 bytes, the most a row may have",
    );
}

#[test]
fn a_json_list_of_rows() {
    reads("a.json", "[]", "");
    reads("a.json", "\u{feff} [1,\n {\"a\": [2]} ] \n", "1: 1\n2: {\"a\": [2]}\n");
    reads(
        "a.json",
        "[12,-3.5e10,\"日\\\"本\",null,true,[ ],{\n}]",
        "1: 12\n1: -3.5e10\n1: \"日\\\"本\"\n1: null\n1: true\n1: [ ]\n1: {\n}\n",
    );
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    reads("a.json", format!("[{deep}]"), &format!("1: {deep}\n"));
}

#[test]
fn one_json_object_is_one_row() {
    reads("a.json", " {\"a\": 1}\n", "1: {\"a\": 1}\n");
    reads("a.json", "\n{\"a\":\n1}", "2: {\"a\":\n1}\n");
    reads(
        "a.json",
        "{}\n{}\n",
        "1: {}\n`a.json`: line 2, column 1: trailing characters; a file with one value per line is named `.jsonl`",
    );
}

#[test]
fn bad_json_says_where() {
    reads("a.json", "", "`a.json`: line 1, column 1: expected a list of rows or one object");
    reads("a.json", "\n 12", "`a.json`: line 2, column 2: expected a list of rows or one object");
    reads("a.json", "[1 2]", "1: 1\n`a.json`: line 1, column 4: expected `,` or `]`");
    reads("a.json", "[1,]", "1: 1\n`a.json`: line 1, column 4: expected value");
    reads("a.json", "[\"é\",\n {\"é\" 2}]", "1: \"é\"\n`a.json`: line 2, column 7: expected `:`");
    reads("a.json", "[1,\n {\"a\": [", "1: 1\n`a.json`: line 2, column 2: the row that begins here does not end");
    reads("a.json", "[1, 2 ", "1: 1\n1: 2\n`a.json`: line 1, column 7: the list is not closed");
    reads("a.json", "{\"a\": 1", "`a.json`: line 1, column 1: the row that begins here does not end");
    reads("a.json", "[1]  x", "1: 1\n`a.json`: line 1, column 6: trailing characters");
    reads("a.json", b"[1,\n \"\xff\"]", "1: 1\n`a.json`: line 2 is not UTF-8 text; save the file as UTF-8");
    reads("a.json", b"[1]\n\xff", "1: 1\n`a.json`: line 2 is not UTF-8 text; save the file as UTF-8");
    reads("a.json", b"[1, \"\xe6\x97", "1: 1\n`a.json`: line 1 is not UTF-8 text; save the file as UTF-8");
    reads(
        "a.json",
        "[\"\0\"]",
        "`a.json`: line 1, column 2: control character (\\u0000-\\u001F) found while parsing a string",
    );
}

#[test]
fn csv() {
    reads("a.csv", "", "");
    reads("a.csv", "id,text\n", "");
    reads(
        "a.csv",
        "\u{feff}id,text\r\n1,\"a, \"\"b\"\"\nc\"\r\n2,\0\\",
        "2: {\"id\":\"1\",\"text\":\"a, \\\"b\\\"\\nc\"}\n4: {\"id\":\"2\",\"text\":\"\\u0000\\\\\"}\n",
    );
    reads("a.csv", "id\n1\n\n2\n\n", "2: {\"id\":\"1\"}\n4: {\"id\":\"2\"}\n");
    reads("a.csv", "a,a\n1,2\n", "`a.csv`: the header has the column `a` twice; give one of them another name");
    reads("a.csv", "\"a\"\"b\nc\"\nx\n", "3: {\"a\\\"b\\nc\":\"x\"}\n");
}

#[test]
fn bad_csv_says_where() {
    reads(
        "a.csv",
        "a,b\r\n1,2\r\n\r\n3\r\n",
        "2: {\"a\":\"1\",\"b\":\"2\"}\n`a.csv`: the row at line 4 has 1 cells, but the header has 2",
    );
    reads(
        "a.csv",
        "a,b\n\n1,é \"\"\"x\n2,\"y\n3,z\n",
        "3: {\"a\":\"1\",\"b\":\"é \\\"\\\"\\\"x\"}\n`a.csv`: line 4, column 3: the quote that opens here is never closed",
    );
    reads(
        "a.csv",
        b"a\n1\n\n\"x\n\xff\"\n",
        "2: {\"a\":\"1\"}\n`a.csv`: line 5 is not UTF-8 text; save the file as UTF-8",
    );
    reads("a.csv", "\"a\n1\n", "`a.csv`: line 1, column 1: the quote that opens here is never closed");
    reads("a.csv", ",".repeat(900), "");
}

#[test]
fn csv_cells_have_types() {
    use CellType::{Boolean, Integer, Json, Number};
    let types = [("n", Number), ("i", Integer), ("b", Boolean), ("j", Json)];
    reads_typed(
        "a.csv",
        &types,
        "t,n,i,b,j\n1, 1.50 ,123456789012345678901234567890,true,\"{\"\"a\"\": [1]}\"\n,,,,\n",
        "2: {\"t\":\"1\",\"n\":1.50,\"i\":123456789012345678901234567890,\"b\":true,\"j\":{\"a\": [1]}}\n\
         3: {\"t\":\"\",\"n\":null,\"i\":null,\"b\":null,\"j\":null}\n",
    );
    for (column, cell, expected) in [
        ("n", "1,5", "a number, found `1,5`"),
        ("i", "1.0", "a whole number, found `1.0`"),
        ("b", "yes", "`true` or `false`, found `yes`"),
        ("j", "{", "JSON, found `{`"),
    ] {
        reads_typed(
            "a.csv",
            &types,
            format!(
                "n,i,b,j\n,,,\n\n{}\n",
                ["n", "i", "b", "j"]
                    .map(|it| if it == column { format!("\"{cell}\"") } else { String::new() })
                    .join(",")
            ),
            &format!(
                "2: {{\"n\":null,\"i\":null,\"b\":null,\"j\":null}}\n\
                 `a.csv`: row 2, which begins on line 4: the column `{column}` should hold {expected}"
            ),
        );
    }
    reads_typed(
        "a.csv",
        &types[..1],
        "a,b\n1,2\n",
        "`a.csv`: `types` names the column `n`, but the header has `a`, `b`",
    );
}

#[test]
fn rows_of_the_definition() {
    let rows = ["{\"a\": [1, \"é\"]}", "2", "123456789012345678901234567890"];
    let values = rows.map(|it| spanned(parse_json(it).unwrap().value.into_owned()));
    let (read, summary) = chunks(&records(RowSource::Inline(values.to_vec())), b"", RowLimits::default());
    assert_eq!(shown(&read, &summary), "1: {\"a\":[1,\"é\"]}\n2: 2\n3: 123456789012345678901234567890\n");
    let values = vec![spanned(Val::I(1)), spanned(Val::List(vec![Val::F(f64::NAN)]))];
    let (read, summary) = chunks(&records(RowSource::Inline(values)), b"", RowLimits::default());
    assert_eq!(
        shown(&read, &summary),
        "1: 1\n`records`: row 2 holds `.nan`, which JSON cannot write; write `null`, or text in quotes"
    );
}

#[test]
fn standard_input_is_json_lines_by_default() {
    let mut records = records(RowSource::StandardInput);
    let (read, summary) = chunks(&records, b"1\n2\n", RowLimits::default());
    assert_eq!(shown(&read, &summary), "1: 1\n2: 2\n");
    let in_no_file = |chunks: &[Chunk]| chunks.iter().flat_map(|it| &it.rows).all(|it| it.offset.is_none());
    assert!(in_no_file(&read), "what came once cannot be read again: {read:?}");
    records.format = Some(RowFormat::Json);
    let (read, summary) = chunks(&records, b"[1, 2", RowLimits::default());
    assert!(in_no_file(&read), "{read:?}");
    assert_eq!(shown(&read, &summary), "1: 1\nstandard input: line 1, column 5: the row that begins here does not end");
}

#[test]
fn files_are_read_in_order() {
    let directory = tempfile::tempdir().unwrap();
    for (name, content) in [("a.jsonl", "1\n2"), ("b.json", "[3]"), ("c.csv", "x\n4\n")] {
        std::fs::write(directory.path().join(name), content).unwrap();
    }
    let (read, summary) = chunks(&files(directory.path(), &["a.jsonl", "b.json", "c.csv"]), b"", RowLimits::default());
    let rows: Vec<_> = read.iter().flat_map(Chunk::iter).map(|(row, text)| (row.source, row.number, text)).collect();
    assert_eq!(rows, [(0, 1, "1"), (0, 2, "2"), (1, 1, "3"), (2, 1, "{\"x\":\"4\"}")]);
    assert_eq!(summary.unwrap(), ReadSummary { rows: 4, stopped: false });
    let (read, summary) = chunks(&files(directory.path(), &["a.jsonl", "missing.json"]), b"", RowLimits::default());
    assert_eq!(shown(&read, &summary), "1: 1\n2: 2\n`missing.json`: there is no such file");
}

#[test]
fn sections_are_read_in_order_as_one() {
    let directory = tempfile::tempdir().unwrap();
    for (name, content) in [("a.jsonl", "1\n2"), ("b.txt", "x\n3\n"), ("c.csv", "x\n4\n")] {
        std::fs::write(directory.path().join(name), content).unwrap();
    }
    let inline = |number| records(RowSource::Inline(vec![spanned(Val::I(number)), spanned(Val::I(number + 1))]));
    let csv = Records { format: Some(RowFormat::Csv), ..files(directory.path(), &["b.txt", "c.csv"]) };
    let sections = [
        inline(5),
        files(directory.path(), &["a.jsonl"]),
        typed(csv, &[("x", CellType::Number)]),
        records(RowSource::StandardInput),
        inline(7),
    ];
    let (read, summary) = all_chunks(&sections, b"9\n", RowLimits::default());
    let names = RowNames::of_all(&sections);
    let shown: Vec<String> = read
        .iter()
        .flat_map(Chunk::iter)
        .map(|(row, text)| format!("{} {}: {text}", row.source, names.row(row.source, row.number)))
        .collect();
    assert_eq!(
        shown,
        [
            "0 row 1 of `records` number 1: 5",
            "0 row 2 of `records` number 1: 6",
            "1 row 1 of `a.jsonl`: 1",
            "1 row 2 of `a.jsonl`: 2",
            "2 row 1 of `b.txt`: {\"x\":3}",
            "3 row 1 of `c.csv`: {\"x\":4}",
            "4 row 1 of standard input: 9",
            "5 row 1 of `records` number 5: 7",
            "5 row 2 of `records` number 5: 8",
        ]
    );
    assert_eq!(summary.unwrap(), ReadSummary { rows: 9, stopped: false });
    let by_source: Vec<usize> = sections_by_source(&sections)
        .into_iter()
        .map(|it| sections.iter().position(|section| std::ptr::eq(section, it)).expect("one of the sections"))
        .collect();
    assert_eq!(by_source, [0, 1, 2, 2, 3, 4]);
}

#[test]
fn a_section_that_cannot_be_read_is_found_before_the_others_are() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("a.jsonl"), "1\n").unwrap();
    let sections = [files(directory.path(), &["a.jsonl"]), files(directory.path(), &["b.txt"])];
    let (read, summary) = all_chunks(&sections, b"", RowLimits::default());
    assert_eq!(read, []);
    assert!(summary.unwrap_err().to_string().starts_with("`b.txt`: the ending `.txt` does not say the format"));
}

#[test]
fn a_name_without_a_format_is_refused_before_reading() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("a.jsonl"), "1\n").unwrap();
    let ended = |names: &[&str]| {
        let (read, summary) = chunks(&files(directory.path(), names), b"", RowLimits::default());
        shown(&read, &summary)
    };
    assert!(ended(&["a.jsonl", "b.txt"]).starts_with("`b.txt`: the ending `.txt` does not say the format"));
    let refused = chunks(&records(RowSource::StandardInput), b"", RowLimits { chunk: usize::MAX, row: 0 });
    assert_eq!(shown(&refused.0, &refused.1), "");
}

#[test]
fn reading_stops_when_it_is_asked_to() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("a.jsonl"), "1\n2\n3\n").unwrap();
    std::fs::write(directory.path().join("a.json"), "[1, 2, 3, not JSON").unwrap();
    std::fs::write(directory.path().join("a.csv"), "a\n1\n2\n3\n4,5\n").unwrap();
    for name in ["a.jsonl", "a.json", "a.csv"] {
        let records = files(directory.path(), &[name, "missing.jsonl"]);
        let mut n_chunks = 0;
        let limits = RowLimits { chunk: 2, row: 100 };
        let summary = read_all_within(from_ref(&records), &mut std::io::empty(), limits, &mut |_| {
            n_chunks += 1;
            if n_chunks == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert_eq!((summary.unwrap(), n_chunks), (ReadSummary { rows: 2, stopped: true }, 2), "{name}");
    }
}

#[test]
fn an_input_without_end_is_bounded() {
    for (format, first) in [(RowFormat::JsonLines, "\""), (RowFormat::Json, "[\""), (RowFormat::Csv, "a\n\"")] {
        let mut records = records(RowSource::StandardInput);
        records.format = Some(format);
        let mut input = first.as_bytes().chain(std::io::repeat(b'x'));
        let ended =
            read_all_within(from_ref(&records), &mut input, RowLimits { chunk: 1000, row: 100_000 }, &mut |_| {
                ControlFlow::Continue(())
            });
        assert!(ended.unwrap_err().to_string().contains("is longer than 100000 bytes"), "{format:?}");
    }
}

#[test]
fn chunks_have_a_size() {
    let directory = tempfile::tempdir().unwrap();
    let row = format!("\"{}\"", "a".repeat(998));
    let long = format!("\"{}\"", "b".repeat(3 << 20));
    let rows: Vec<&str> = (0..2000).map(|ix| if ix == 1000 { &*long } else { &*row }).collect();
    std::fs::write(directory.path().join("a.jsonl"), rows.join("\n")).unwrap();
    std::fs::write(directory.path().join("a.json"), format!("[{}]", rows.join(","))).unwrap();
    std::fs::write(directory.path().join("a.csv"), format!("a\n{}", rows.join("\n"))).unwrap();
    for name in ["a.jsonl", "a.json", "a.csv"] {
        let mut sizes = Vec::new();
        let summary = read_all(&[files(directory.path(), &[name])], &mut std::io::empty(), &mut |chunk| {
            sizes.push((chunk.text.len(), chunk.rows.len()));
            ControlFlow::Continue(())
        });
        assert_eq!(summary.unwrap().rows, 2000, "{name}");
        assert!(sizes.len() <= 8, "{name}: {sizes:?}");
        let (long, others): (Vec<_>, Vec<_>) = sizes.into_iter().partition(|(size, _)| *size > 512 << 10);
        assert!(matches!(long[..], [(_, 1)]), "{name}: {long:?}");
        assert!(others.iter().filter(|(size, _)| *size < 256 << 10).count() <= 2, "{name}: {others:?}");
    }
}

/// Any JSON value that is not nested deep.
fn json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        any::<String>().prop_map(Json::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            prop::collection::vec((any::<String>(), inner), 0..4).prop_map(|it| Json::Object(it.into_iter().collect())),
        ]
    })
}

fn texts(name: &str, content: &[u8], chunk: usize) -> Vec<String> {
    let directory = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(directory.path().join(name), content).expect("it is writable");
    let (chunks, summary) = chunks(&files(directory.path(), &[name]), b"", RowLimits { chunk, row: 1 << 20 });
    summary.expect("it is well formed");
    chunks.iter().flat_map(Chunk::iter).map(|(_, text)| text.to_owned()).collect()
}

proptest! {
    #[test]
    fn rows_come_back_whatever_the_chunk(
        rows in prop::collection::vec(json(), 0..8),
        chunk in 1_usize..200,
        space in "[ \n\r\t]{0,3}",
    ) {
        let rows: Vec<String> = rows.iter().map(Json::to_string).collect();
        prop_assert_eq!(&texts("a.jsonl", rows.join("\n").as_bytes(), chunk), &rows);
        prop_assert_eq!(&texts("a.jsonl", format!("{}\r\n", rows.join("\r\n\n")).as_bytes(), chunk), &rows);
        let list = format!("{space}[{space}{}{space}]{space}", rows.join(&format!("{space},{space}")));
        prop_assert_eq!(&texts("a.json", list.as_bytes(), chunk), &rows);
    }

    #[test]
    fn csv_rows_come_back_whatever_the_chunk(
        names in prop::collection::btree_set(any::<String>(), 2..4),
        cells in prop::collection::vec(prop::collection::vec(any::<String>(), 4), 0..6),
        chunk in 1_usize..200,
    ) {
        let mut file = csv::Writer::from_writer(Vec::new());
        file.write_record(&names)?;
        let mut expected = Vec::new();
        for cells in &cells {
            file.write_record(&cells[..names.len()])?;
            expected.push(names.iter().cloned().zip(cells.iter().map(|it| Json::from(it.as_str()))).collect::<Json>());
        }
        let read: Vec<Json> = texts("a.csv", &file.into_inner()?, chunk)
            .iter()
            .map(|it| serde_json::from_str(it))
            .collect::<Result<_, _>>()?;
        prop_assert_eq!(read, expected);
    }

    #[test]
    fn any_input_is_read_or_refused(
        content in prop::collection::vec(prop::sample::select(super::records::PIECES), 0..12),
        chunk in 1_usize..12,
        row in 1_usize..12,
        format in prop::sample::select(&[RowFormat::JsonLines, RowFormat::Json, RowFormat::Csv][..]),
    ) {
        let mut records = records(RowSource::StandardInput);
        records.format = Some(format);
        let content = content.concat();
        let (short, _) = chunks(&records, &content, RowLimits { chunk, row });
        prop_assert!(short.iter().all(|it| it.rows.len() == 1 || it.text.len() <= chunk));
        let (pieces, ended) = chunks(&records, &content, RowLimits { chunk, row: 1000 });
        let (whole, ended_whole) = chunks(&records, &content, RowLimits { chunk: 1 << 20, row: 1000 });
        prop_assert_eq!(shown(&pieces, &ended), shown(&whole, &ended_whole));
    }
}
