//! What rows are known by.

use jurat_core::value::{FieldPath, parse_json};
use jurat_store::records::{RowId, row_id};

/// Tells what rows are known by, or why they are not.
#[track_caller]
fn known(path: Option<&str>, rows: &[&str], expected: &str) {
    let path = path.map(|it| FieldPath::parse(it).expect("a path"));
    let mut told = Vec::new();
    for row in rows {
        let value = parse_json(row).expect("JSON").value;
        told.push(match row_id(&value, path.as_ref(), row) {
            Ok(RowId::Given(id)) => id.into_owned(),
            Ok(RowId::Content(hash)) => format!("{hash:032x}"),
            Err(error) => error.to_string(),
        });
    }
    assert_eq!(told.join("\n"), expected);
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
        "the id at `id` is null; an id is text, a number or a boolean\n\
         the id at `case_id` is a list; an id is text, a number or a boolean",
    );
    known(
        Some("key"),
        &["{\"id\": 1}", "2", "{\"key\": {}}"],
        "no id at `key`: the context has no `key`; it has id\n\
         no id at `key`: the context is a number, so it has no `key`\n\
         the id at `key` is an object; an id is text, a number or a boolean",
    );
}

#[test]
fn a_row_without_an_id_is_known_by_its_bytes() {
    // Runs are stored with these ids and compared by them, so they must stay the same.
    known(None, &["1", "1 "], "df3ce784d856334d65cd25028f98f158\n0c06d830118a6a7fd76d90ffb495ae42");
}
