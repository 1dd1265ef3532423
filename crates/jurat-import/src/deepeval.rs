//! Test cases of `DeepEval`, as data sets are saved: JSON with snake case or camel case, and CSV.

use jurat_format::value::{Val, Value};

use crate::document::{Object, first_of, maybe_json, text, texts};
use crate::input::{Content, Element, Input};
use crate::kind::{Import, ImportError, Kind, counted};
use crate::report::Unused;

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

/// Where the cases of a document are, when it is no list of them. A test run has both kinds in two lists.
const LISTS: [&str; 6] =
    ["testCases", "test_cases", "conversationalTestCases", "conversational_test_cases", "goldens", "data"];

/// The cases of a document: a list, or the list of a data set or test run.
fn cases(value: &Value) -> &[Value] {
    match value {
        Val::List(items) => items,
        Val::Map(_) if is_case(value) => std::slice::from_ref(value),
        other => {
            let lists = LISTS.iter().filter_map(|it| other.get(it).and_then(Val::as_list));
            lists.into_iter().find(|it| !it.is_empty()).unwrap_or_default()
        }
    }
}

fn is_case(value: &Value) -> bool {
    let has = |keys: &[&str]| keys.iter().any(|it| value.get(it).is_some());
    has(&["input"]) && has(&["actual_output", "actualOutput", "expected_output", "expectedOutput"])
        || is_conversation(value)
}

/// Whether a case is a conversation: a list of turns, each with a role.
fn is_conversation(value: &Value) -> bool {
    let turns = value.get("turns").and_then(Val::as_list).unwrap_or_default();
    let is_turn = |it: &Value| it.get("role").is_some() && it.get("content").is_some();
    !turns.is_empty() && turns.iter().all(is_turn)
}

/// Members of a test case, and what a row calls them.
const MEMBERS: [(&[&str], &str); 13] = [
    (&["turns"], "messages"),
    (&["scenario"], "scenario"),
    (&["expected_outcome", "expectedOutcome"], "reference"),
    (&["chatbot_role", "chatbotRole"], "chatbot_role"),
    (&["user_description", "userDescription"], "user_description"),
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
    let mut unused = Unused::default();
    for input in import.inputs {
        for (ix, case) in found(input)?.enumerate() {
            let (at, case) = (format!("{}:{}", input.name, ix + 1), case?);
            if !is_case(&case) && case.get("input").is_none() {
                import.report.dropped(&at, "a test case", "it has neither `input` nor `turns`");
                continue;
            }
            let row = row(import, &at, &case, &mut unused);
            import.row(&row)?;
        }
        note_document(import, input);
    }
    unused.report(&mut import.report, "test case", JUDGED_ANEW);
    import.summary.push(counted(import.n_rows(), "row"));
    import.rows_file("rows.jsonl");
    Ok(())
}

const JUDGED_ANEW: &str = "jurat judges anew: verdicts and metrics of DeepEval are not taken over";

/// What a document has beside its cases.
fn note_document(import: &mut Import<'_>, input: &Input) {
    let Content::Json(document @ Val::Map(_), _) = &input.content else { return };
    if !is_case(document) {
        let mut unused = Unused::default();
        unused.note_others(&input.name, document, &LISTS);
        unused.report(&mut import.report, "test run", JUDGED_ANEW);
    }
}

type Cases<'i> = Box<dyn Iterator<Item = Result<Value, ImportError>> + 'i>;

/// The cases of an input, one after the other.
fn found(input: &Input) -> Result<Cases<'_>, ImportError> {
    let Content::Text(table) = &input.content else {
        let found: Box<dyn Iterator<Item = _>> = match &input.content {
            Content::Json(document @ Val::Map(_), _) if !is_case(document) => {
                let lists = PATHS.iter().filter(|it| document.get(it[0][0]).and_then(Val::as_list).is_some());
                Box::new(lists.flat_map(|it| input.elements(it)))
            }
            _ => input.elements(&[&[], &["testCases"], &["test_cases"], &["goldens"], &["data"]]),
        };
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
        // An answer may be empty; a list without anything in its cell is not there.
        let cells = header.iter().zip(&record).filter(|(key, cell)| !cell.is_empty() || !is_structured(key));
        Ok(cells.fold(Object::new(), |row, (key, it)| row.with(key, cell(key, it))).into())
    })))
}

/// The lists of a document as paths into it.
const PATHS: [&[&[&str]]; 6] = [
    &[&["testCases"]],
    &[&["test_cases"]],
    &[&["conversationalTestCases"]],
    &[&["conversational_test_cases"]],
    &[&["goldens"]],
    &[&["data"]],
];

/// Columns that hold lists of texts.
const TEXTS: [&str; 3] = ["context", "retrieval_context", "retrievalContext"];

/// Whether a column holds lists or objects.
fn is_structured(key: &str) -> bool {
    const OTHERS: [&str; 6] =
        ["tools_called", "toolsCalled", "expected_tools", "expectedTools", "additional_metadata", "additionalMetadata"];
    TEXTS.contains(&key) || OTHERS.contains(&key)
}

/// A cell of a table. Lists are JSON, or texts with bars between them.
fn cell(key: &str, cell: &str) -> Value {
    match maybe_json(cell) {
        Val::Str(_) if TEXTS.contains(&key) => texts(cell.split('|').map(str::trim)),
        read if is_structured(key) => read,
        _ => text(cell),
    }
}

fn row(import: &mut Import<'_>, at: &str, case: &Value, unused: &mut Unused) -> Value {
    let name = case.get("name").and_then(Val::as_str).filter(|it| !it.is_empty());
    let id = format!("c{}", import.n_rows() + 1);
    let mut row = Object::new().with("id", text(&id));
    row.put_some("name", name.map(text));
    for (keys, into) in MEMBERS {
        row.put_some(into, first_of(case, keys).cloned());
    }
    import.report.exact(at, "a test case", format!("row `{id}`"));
    let known: Vec<&str> = MEMBERS.iter().flat_map(|(keys, _)| keys.iter().copied()).chain(["name"]).collect();
    unused.note_others(at, case, &known);
    row.into()
}
