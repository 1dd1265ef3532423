//! Test cases of `DeepEval`, as data sets are saved: JSON with snake case or camel case, and CSV.

use jurat_format::value::{Val, Value};

use crate::document::{Object, first_of, text};
use crate::input::Content;
use crate::kind::{Import, ImportError, Kind, counted};
use crate::trace::present;

pub(crate) static KIND: Kind = Kind {
    name: "deepeval",
    help: "test cases of DeepEval",
    recognises: |input| match &input.content {
        Content::Text(table) => table.lines().next().is_some_and(|it| {
            let has = |name: &str| it.split(',').any(|it| it.trim_matches('"') == name);
            has("input") && (has("actual_output") || has("expected_output"))
        }),
        _ => input.json().is_some_and(|it| cases(it).first().is_some_and(is_case)),
    },
    read,
};

/// The cases of a document: a list, or the list of a data set or test run.
fn cases(value: &Value) -> &[Value] {
    const LISTS: [&str; 4] = ["testCases", "test_cases", "goldens", "data"];
    match value {
        Val::List(items) => items,
        Val::Map(_) if is_case(value) => std::slice::from_ref(value),
        other => first_of(other, &LISTS).and_then(Val::as_list).unwrap_or_default(),
    }
}

fn is_case(value: &Value) -> bool {
    let has = |keys: &[&str]| keys.iter().any(|it| value.get(it).is_some());
    has(&["input"]) && has(&["actual_output", "actualOutput", "expected_output", "expectedOutput"])
}

/// Members of a test case, and what a row calls them.
const MEMBERS: [(&[&str], &str); 8] = [
    (&["input"], "input"),
    (&["actual_output", "actualOutput"], "output"),
    (&["expected_output", "expectedOutput"], "reference"),
    (&["context"], "context"),
    (&["retrieval_context", "retrievalContext"], "retrieval_context"),
    (&["tools_called", "toolsCalled"], "tools_called"),
    (&["expected_tools", "expectedTools"], "expected_tools"),
    (&["additional_metadata", "additionalMetadata"], "metadata"),
];

fn read(import: &mut Import<'_>) -> Result<(), ImportError> {
    let mut lines: Vec<Value> = Vec::new();
    for input in import.inputs {
        let mut found = Vec::new();
        match &input.content {
            Content::Text(table) => {
                let mut reader = csv::Reader::from_reader(table.as_bytes());
                let unreadable = |error: csv::Error| ImportError::unreadable(&input.name, error.to_string());
                let header: Vec<String> = reader.headers().map_err(unreadable)?.iter().map(str::to_owned).collect();
                for record in reader.records() {
                    let record = record.map_err(unreadable)?;
                    let row =
                        header.iter().zip(&record).fold(Object::new(), |row, (key, cell)| row.with(key, text(cell)));
                    found.push(row.into());
                }
            }
            _ => {
                for value in input.values() {
                    found.extend(cases(&value?.1).to_vec());
                }
            }
        }
        for (ix, case) in found.iter().enumerate() {
            lines.push(row(import, &format!("{}:{}", input.name, ix + 1), lines.len() + 1, case));
        }
    }
    import.summary.push(counted(lines.len(), "row"));
    import.lines("rows.jsonl", &lines);
    Ok(())
}

fn row(import: &mut Import<'_>, at: &str, number: usize, case: &Value) -> Value {
    let name = case.get("name").and_then(Val::as_str).filter(|it| !it.is_empty());
    let id = format!("c{number}");
    let mut row = Object::new().with("id", text(&id));
    row.put_some("name", name.map(text));
    for (keys, into) in MEMBERS {
        row.put_some(into, first_of(case, keys).cloned());
    }
    import.report.exact(at, "a test case", format!("row `{id}`"));
    let known = |key: &str| MEMBERS.iter().any(|(keys, _)| keys.contains(&key)) || key == "name";
    for (key, _) in present(case).filter(|(key, _)| !known(key)) {
        import.report.dropped(
            at,
            format!("`{key}` of a test case"),
            "jurat judges anew: verdicts and metrics of DeepEval are not taken over",
        );
    }
    row.into()
}
