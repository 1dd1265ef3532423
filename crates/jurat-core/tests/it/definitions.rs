//! Definitions: what is read from them, and values that are written as YAML.

use std::path::Path;

use jurat_core::suite::{Loaded, RowSource, load};
use jurat_format::problem::Severity;
use jurat_format::value::{Val, Value};
use jurat_format::yaml_writer::yaml_text;
use proptest::prelude::*;

use crate::InMemory;
use crate::arbitrary::value;

fn read(name: &str, text: &str) -> Loaded {
    load(Path::new(name), &InMemory(&[(name, text)]))
}

proptest! {
    #![proptest_config(crate::laws())]

    #[test]
    fn a_value_reads_back_from_yaml(value in value()) {
        let text = yaml_text(&records([value.clone()]));
        prop_assert_eq!(rows(&text), vec![value], "written as\n{}", text);
    }
}

fn records(rows: impl IntoIterator<Item = Value>) -> Value {
    let rows = rows.into_iter().map(|it| Val::Map([("row", it)].into_iter().collect())).collect();
    Val::Map([("records", rows)].into_iter().collect())
}

/// The rows of a suite that holds them.
#[track_caller]
fn rows(text: &str) -> Vec<Value> {
    let Loaded { suite, problems, .. } = read("suite.yaml", text);
    assert!(problems.iter().all(|it| it.severity() == Severity::Warning), "{problems:?} in\n{text}");
    let rows = suite.records.iter().flat_map(|it| match &it.from {
        RowSource::Inline(rows) => rows.as_slice(),
        _ => &[],
    });
    rows.map(|it| it.value.get("row").cloned().unwrap_or(Val::Null)).collect()
}

/// The rows are written as YAML that reads back the same.
#[track_caller]
fn survives(text: &str) {
    let read = rows(text);
    assert_eq!(rows(&yaml_text(&records(read.clone()))), read);
}

#[test]
fn servers_have_several_spellings() {
    let read = |text: &str| read("suite.yaml", text).suite.tools.remove(0).reach;
    assert_eq!(
        read("tools: { a: { command: x, args: [y], env: { K: { from_env: N } } } }\n"),
        read("tools: { a: { command: [x, y], env: { K: '${N}' } } }\n")
    );
}

#[test]
fn servers_stand_in_the_folder_of_the_file_that_defines_them() {
    let files = [
        ("all/suite.yaml", "include: [more/servers.yaml]\ntools: { a: { command: x } }\n"),
        ("all/more/servers.yaml", "tools: { b: { command: x } }\n"),
    ];
    let suite = load(Path::new("all/suite.yaml"), &InMemory(&files)).suite;
    let folders: Vec<(&str, &Path)> =
        suite.tools.iter().map(|it| (it.name.value.as_str(), it.folder.as_path())).collect();
    assert_eq!(folders, [("b", Path::new("all/more")), ("a", Path::new("all"))]);
}

#[test]
fn a_quoted_merge_key_is_a_key() {
    survives("records: [row: {'<<': {a: 1}}]\n");
    survives("records: [row: {'<<': text, <<: {a: 1}}]\n");
}

#[test]
fn a_number_beyond_floats_stays_as_json_writes_it() {
    survives("records: [row: {a: .5e999, b: 01e999, c: +1.e999, d: -00.10E+400, e: 0012345678901234567890123}]\n");
}

#[test]
fn a_long_key_is_a_key() {
    let key = "k".repeat(3000);
    survives(&format!("records: [row: {{? '{key} x' : 1, ? {key} : {{? '{key} y' : 2}}}}]\n"));
}

#[test]
fn a_short_output_is_not_too_deep_when_it_is_written_out() {
    let task = |depth: usize| {
        let (open, close) = ("{a: ".repeat(depth), "}".repeat(depth));
        format!("tasks: [{{id: a, judge: {{prompt: '${{q}}', output: {open}string{close}}}}}]\n")
    };
    assert!(read("suite.yaml", &task(30)).problems.is_empty());
    let messages: Vec<_> = read("suite.yaml", &task(40)).problems.into_iter().map(|it| it.message).collect();
    assert_eq!(messages, ["an `output` whose schema is nested more than 64 deep"]);
}

#[test]
fn a_list_without_a_path_is_not_read() {
    let messages = |text: &str| read("suite.yaml", text).problems.into_iter().map(|it| it.message).collect::<Vec<_>>();
    assert_eq!(messages("records: {path: []}\n"), ["`path` without a file"]);
    assert_eq!(messages("records: []\n"), ["`records` without a row"]);
}

#[test]
fn a_count_beyond_reason_is_not_taken_for_the_default() {
    let text = "tasks: [{id: a, judge: {prompt: '${q}', max_retries: 5000000000}}]\n";
    let messages: Vec<_> = read("suite.yaml", text).problems.into_iter().map(|it| it.message).collect();
    assert_eq!(messages, ["`max_retries` must be a whole number from 0 to 4294967295, not 5000000000"]);
}
