//! What rows are known by.

use jurat_core::suite::{Records, RowFile, RowSource};
use jurat_format::value::{FieldPath, Span, Spanned, parse_json};
use jurat_store::records::{Ids, RowAt, RowNames, row_id};

/// Admits rows as two to each of the files `a.jsonl`, `b.jsonl`, …, and lists their ids, then the error.
#[track_caller]
fn known(path: Option<&str>, rows: &[&str], expected: &str) {
    let path = path.map(|it| FieldPath::parse(it).expect("a path"));
    let file = |name: &str| RowFile { written: Spanned::new(name.to_owned(), Span::default()), path: name.into() };
    let from = RowSource::Files(["a.jsonl", "b.jsonl", "c.jsonl"].map(file).to_vec());
    let names = RowNames::of_all(&[Records {
        from,
        format: None,
        id: None,
        sheet: None,
        types: Vec::new(),
        tags: Vec::new(),
        is_runs: false,
        defaults: Default::default(),
    }]);
    let mut ids = Ids::new(names.clone());
    let mut shown = Vec::new();
    for (ix, row) in (0_u32..).zip(rows) {
        let at = RowAt { range: 0..0, source: ix / 2, number: u64::from(ix % 2 + 1), line: 1, offset: None };
        let value = parse_json(row).expect("JSON").value;
        let id = match row_id(&value, path.as_ref(), row) {
            Ok(id) => ids.admit(id, &at).map(String::from).unwrap_or_else(|it| it.to_string()),
            Err(error) => format!("{}: {error}", names.row(at.source, at.number)),
        };
        shown.push(id);
    }
    assert_eq!(shown.join("\n"), expected);
}

#[test]
fn a_row_is_known_by_the_id_it_holds() {
    known(None, &["{\"id\": \"x\"}", "{\"record_id\": 1.50}", "{\"case_id\": true, \"record_id\": 7}"], "x\n1.5\n7");
    known(
        Some("meta.key"),
        &["{\"id\": 1, \"meta\": {\"key\": 123456789012345678901234567890}}"],
        "123456789012345678901234567890",
    );
    known(Some("tags[0].@json"), &["{\"tags\": [\"\\\"inner\\\"\"]}"], "inner");
}

#[test]
fn what_is_no_id_is_refused() {
    known(
        None,
        &["{\"id\": null}", "{\"case_id\": [1]}"],
        "row 1 of `a.jsonl`: the id at `id` is null; an id is text, a number or a boolean\n\
         row 2 of `a.jsonl`: the id at `case_id` is a list; an id is text, a number or a boolean",
    );
    known(
        Some("key"),
        &["{\"id\": 1}", "2", "{\"key\": {}}"],
        "row 1 of `a.jsonl`: no id at `key`: the context has no `key`; it has id\n\
         row 2 of `a.jsonl`: no id at `key`: the context is a number, so it has no `key`\n\
         row 1 of `b.jsonl`: the id at `key` is an object; an id is text, a number or a boolean",
    );
}

#[test]
fn an_id_is_held_once() {
    known(
        None,
        &["{\"id\": \"1\"}", "{\"id\": 2}", "{\"id\": 1}", "{\"id\": 3}", "{\"id\": \"\"}", "{\"record_id\": \"\"}"],
        "1\n2\nrow 1 of `a.jsonl` and row 1 of `b.jsonl` have the same id, `1`; give each row its own, or leave ids out\n3\n\n\
         row 1 of `c.jsonl` and row 2 of `c.jsonl` have the same id, empty text; give each row its own, or leave ids out",
    );
}

#[test]
fn equal_contents_are_numbered() {
    // Runs are stored with these ids and compared by them, so they must stay the same.
    let (one, spaced) = ("df3ce784d856334d65cd25028f98f158", "0c06d830118a6a7fd76d90ffb495ae42");
    known(None, &["1", "1", "1 ", "1"], &format!("{one}\n{one}-2\n{spaced}\n{one}-3"));
    let taken = format!("{{\"id\": \"{one}-2\"}}");
    known(None, &["1", &taken, "1", "1"], &format!("{one}\n{one}-2\n{one}-3\n{one}-4"));
}
