//! Test cases of `DeepEval`, as data sets are saved: JSON with snake case or camel case, and CSV.

use jurat_format::value::{Val, Value};

use crate::document::{Object, first_of, text};
use crate::input::{Content, Element, Input};
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
    for input in import.inputs {
        for (ix, case) in found(input)?.enumerate() {
            let row = row(import, &format!("{}:{}", input.name, ix + 1), &case?);
            import.row(&row)?;
        }
    }
    import.summary.push(counted(import.n_rows(), "row"));
    import.rows_file("rows.jsonl");
    Ok(())
}

type Cases<'i> = Box<dyn Iterator<Item = Result<Value, ImportError>> + 'i>;

/// The cases of an input, one after the other.
fn found(input: &Input) -> Result<Cases<'_>, ImportError> {
    let Content::Text(table) = &input.content else {
        let found = input.elements(&[&[], &["testCases"], &["test_cases"], &["goldens"], &["data"]]);
        // A document that is neither a list nor a case has none.
        let is_one = |it: &Result<Element, ImportError>| match it {
            Ok(it) => it.ix.is_some() || is_case(&it.value),
            Err(_) => true,
        };
        return Ok(Box::new(found.filter(is_one).map(|it| it.map(|it| it.value))));
    };
    let unreadable = |error: csv::Error| ImportError::unreadable(&input.name, error.to_string());
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let header: Vec<String> = reader.headers().map_err(unreadable)?.iter().map(str::to_owned).collect();
    Ok(Box::new(reader.into_records().map(move |record| {
        let record = record.map_err(unreadable)?;
        let row = header.iter().zip(&record).fold(Object::new(), |row, (key, cell)| row.with(key, text(cell)));
        Ok(row.into())
    })))
}

fn row(import: &mut Import<'_>, at: &str, case: &Value) -> Value {
    let name = case.get("name").and_then(Val::as_str).filter(|it| !it.is_empty());
    let id = format!("c{}", import.n_rows() + 1);
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
