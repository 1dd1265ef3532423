//! Results of promptfoo (`-o results.json`, `.jsonl`, `.csv`): rows with the recorded answers, which the assertions of the tests judge anew.
//!
//! What promptfoo decided stands beside each answer under `recorded`; it is never a verdict of jurat.

use std::collections::HashMap;

use jurat_format::value::{Val, Value};

use super::groups;
use super::places::Places;
use super::suite::{Suite, without_last_breaks};
use super::tests::{NOT_HERE, Spec, Test};
use crate::document::{Object, first_of, maybe_json, plain, text, text_at};
use crate::input::{Content, Element, Input};
use crate::kind::{Import, ImportError, Kind, counted};

pub(crate) static RESULTS: Kind = Kind {
    name: "promptfoo-results",
    help: "results of promptfoo",
    recognises: |input| match &input.content {
        Content::Json(value, _) => {
            is_result(value) || value.get("results").is_some_and(|it| it.get("results").is_some())
        }
        Content::JsonLines(value, _) => is_result(value),
        Content::Text(text) => text.lines().next().is_some_and(is_header),
        _ => false,
    },
    read,
};

fn is_result(value: &Value) -> bool {
    value.get("promptIdx").is_some() && value.get("testIdx").is_some()
}

/// The heading of a CSV file: of each prompt the answer, then six or more columns.
fn is_header(line: &str) -> bool {
    line.contains(",Status,Score,Named Scores,") && line.contains(",Grader Reason,Comment")
}

fn read(import: &mut Import<'_>) -> Result<(), ImportError> {
    if let [Input { name, content: Content::Text(table) }] = import.inputs {
        table_rows(name, table, import)?;
        import.summary.push(counted(import.n_rows(), "row"));
        import.rows_file("rows.jsonl");
        return Ok(());
    }
    let mut places = Places::new(import.folder);
    // It is the report of the import while rows are written beside it.
    let mut report = std::mem::take(&mut import.report);
    let mut suite = Suite::new(&mut places, &mut report, Test::default());
    let mut known: HashMap<String, usize> = HashMap::new();
    for input in import.inputs {
        for element in input.elements(&[&["results", "results"]]) {
            let Element { line: number, ix, value: entry } = element?;
            let at = match ix {
                Some(ix) => format!("{}: results[{ix}]", input.name),
                None => format!("{}:{number}", input.name),
            };
            if !is_result(&entry) {
                suite.dropped(&at, "a line", "it is no result: it has no `promptIdx` and `testIdx`");
                continue;
            }
            suite.is_structured |= entry.get("response").and_then(|it| it.get("output")).is_some_and(is_structure);
            let next = known.len();
            let test_ix = *known.entry(entry.get("testIdx").unwrap_or(&Val::Null).to_json()).or_insert(next);
            if test_ix == next {
                let case = entry.get("testCase").unwrap_or(&Val::Null);
                for (key, why) in NOT_HERE.iter().filter(|(key, _)| says_something(case.get(key))) {
                    suite.dropped(&at, &format!("`{key}` of a test"), why);
                }
                suite.recorded_test(test(&at, &entry));
            }
            let id = suite.recorded_row(&at, test_ix, vars(&entry).unwrap_or(Val::Null));
            import.row(&line(&id, &entry))?;
        }
    }
    suite.assertions();
    let name = import.options.name.clone().unwrap_or_else(|| "promptfoo-results".to_owned());
    let finished = suite.finish_recorded(&name, import.n_rows());
    import.report = report;
    finished.write(import)
}

fn says_something(value: Option<&Value>) -> bool {
    value.is_some_and(|it| !matches!(it, Val::Null) && it.as_list().is_none_or(|it| !it.is_empty()))
}

/// Whether an answer was read as JSON, so that assertions saw its members.
fn is_structure(output: &Value) -> bool {
    matches!(output, Val::Map(_) | Val::List(_))
}

fn test(at: &str, entry: &Value) -> Test {
    let case = entry.get("testCase").cloned().unwrap_or(Val::Null);
    let list = case.get("assert").and_then(Val::as_list).unwrap_or_default();
    let assertions = list.iter().map(|it| Spec { at: at.to_owned(), value: as_written(it, entry) }).collect();
    let options = case.get("options").and_then(Val::as_map).cloned().map(Object::from).unwrap_or_default();
    Test {
        at: at.to_owned(),
        assertions,
        options,
        description: text_at(&case, "description").map(str::to_owned),
        threshold: groups::threshold(case.get("threshold")),
        ..Test::default()
    }
}

fn vars(entry: &Value) -> Option<Value> {
    let vars = entry.get("vars").filter(|it| !matches!(it, Val::Null))?;
    Some(vars.as_map().map_or_else(|| vars.clone(), |it| Val::Map(without_last_breaks(it))))
}

/// An assertion with its text as it was written: promptfoo stores texts that are JSON without their spaces in the test, and as they were beside their verdict.
fn as_written(assertion: &Value, entry: &Value) -> Value {
    let stored = assertion.get("value").and_then(Val::as_str).map(maybe_json);
    let Some(stored @ (Val::Map(_) | Val::List(_))) = stored else { return assertion.clone() };
    let results = entry.get("gradingResult").and_then(|it| it.get("componentResults")).and_then(Val::as_list);
    let written = results.unwrap_or_default().iter().filter_map(|it| it.get("assertion")).find_map(|it| {
        let value = it.get("value").filter(|it| it.as_str().is_some_and(|it| maybe_json(it) == stored))?;
        (it.get("type") == assertion.get("type")).then_some(value)
    });
    match (written, assertion.as_map()) {
        (Some(value), Some(members)) => Object::from(members.clone()).with("value", value.clone()).into(),
        _ => assertion.clone(),
    }
}

/// A row with what was asked, answered and decided.
fn line(id: &str, entry: &Value) -> Value {
    let there = |value: Option<&Value>| value.filter(|it| !matches!(it, Val::Null)).cloned();
    let response = entry.get("response").cloned().unwrap_or(Val::Null);
    let mut line = Object::new().with("id", text(id));
    let prompt = entry.get("prompt").cloned().unwrap_or(Val::Null);
    line.put_some("description", there(entry.get("testCase").and_then(|it| it.get("description"))));
    line.put_some("input", there(prompt.get("raw")));
    line.put_some("output", there(response.get("output")).map(|it| text(plain(&it))));
    line.put_some("vars", vars(entry));
    line.put_some("metadata", there(entry.get("testCase").and_then(|it| it.get("metadata"))));
    line.put_some("latency_ms", there(entry.get("latencyMs")));
    line.put_some("cost_usd", there(entry.get("cost")));
    line.put_some("finish_reason", there(response.get("finishReason")));
    if let Some(usage) = entry.get("tokenUsage") {
        let mut tokens = Object::new();
        for (from, into) in [("prompt", "input_tokens"), ("completion", "output_tokens"), ("total", "total_tokens")] {
            tokens.put_some(into, there(usage.get(from)));
        }
        line.put("usage", tokens);
    }
    let provider = entry.get("provider").cloned().unwrap_or(Val::Null);
    line.put_some(
        "subject",
        first_of(&provider, &["label", "id"])
            .cloned()
            .or_else(|| there(Some(&provider)).filter(|it| it.as_str().is_some())),
    );
    line.put_some("prompt", there(prompt.get("label")));
    // An answer that promptfoo could not get is an error of its own; a failed assertion also has a text there.
    let has_no_answer = matches!(entry.get("failureReason"), Some(Val::I(2)));
    line.put_some("error", there(entry.get("error")).filter(|_| has_no_answer));
    line.put("recorded", recorded(entry));
    line.into()
}

fn recorded(entry: &Value) -> Value {
    let mut whole = Object::new();
    for (from, into) in [("success", "pass"), ("score", "score"), ("namedScores", "named_scores")] {
        whole.put_some(into, entry.get(from).filter(|it| !matches!(it, Val::Null)).cloned());
    }
    let components = entry.get("gradingResult").and_then(|it| it.get("componentResults")).and_then(Val::as_list);
    let components: Value = components.unwrap_or_default().iter().map(component).collect();
    whole.with("assertions", components).into()
}

fn component(result: &Value) -> Value {
    let assertion = result.get("assertion").cloned().unwrap_or(Val::Null);
    let mut component = Object::new().with("type", text(text_at(&assertion, "type").unwrap_or("assert-set")));
    component.put_some("metric", assertion.get("metric").cloned());
    for key in ["pass", "score", "reason"] {
        component.put_some(key, result.get(key).cloned());
    }
    component.into()
}

/// The rows of a CSV file: one for each answer. Columns have repeated names, so they are read by position.
fn table_rows(name: &str, table: &str, import: &mut Import<'_>) -> Result<(), ImportError> {
    let unreadable = |error: csv::Error| ImportError::unreadable(name, error.to_string());
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(table.as_bytes());
    let header: Vec<String> = reader.headers().map_err(unreadable)?.iter().map(str::to_owned).collect();
    let is_answer = |ix: &usize| header.get(ix + 1).is_some_and(|it| it == "Status");
    let answers: Vec<usize> = (0..header.len()).filter(is_answer).collect();
    let n_vars = answers.first().copied().unwrap_or(header.len());
    for record in reader.records() {
        let record = record.map_err(unreadable)?;
        let at = format!("{name}:{}", record.position().map_or(0, csv::Position::line));
        let cell = |ix: usize| record.get(ix).unwrap_or_default();
        let mut vars = Object::new();
        for ix in (0..n_vars).filter(|ix| header[*ix] != "Description") {
            vars.put(&header[ix], text(cell(ix)));
        }
        let description = (0..n_vars).find(|ix| header[*ix] == "Description").map(cell).filter(|it| !it.is_empty());
        for ix in &answers {
            // The columns of an answer end where those of the next begin.
            let end = answers.iter().find(|it| *it > ix).copied().unwrap_or(header.len());
            let column =
                |name: &str| (*ix..end).find(|it| header[*it] == name).map(cell).filter(|it| !it.is_empty()).map(text);
            let (subject, prompt) = match header[*ix].strip_prefix('[').and_then(|it| it.split_once("] ")) {
                Some((subject, prompt)) => (subject, prompt),
                None => ("", header[*ix].as_str()),
            };
            let is_error = cell(ix + 1) == "ERROR";
            let mut recorded = Object::new()
                .with("pass", cell(ix + 1) == "PASS")
                .with("score", cell(ix + 2).parse::<f64>().map_or(Val::Null, Val::F))
                .with("named_scores", maybe_json(cell(ix + 3)));
            recorded.put_some("reason", column("Grader Reason"));
            recorded.put_some("comment", column("Comment"));
            let mut row = Object::new().with("id", text(format!("r{}", import.n_rows() + 1)));
            row.put_some("description", description.map(text));
            // The text of an answer that promptfoo could not get is its error.
            row.put(if is_error { "error" } else { "output" }, text(cell(*ix)));
            let row = row
                .with("vars", vars.clone())
                .with("subject", text(subject))
                .with("prompt", text(prompt))
                .with("recorded", recorded);
            import.row(&row.into())?;
        }
        import.report.approximate(
            &at,
            "a test",
            counted(answers.len(), "row"),
            "the table has no single assertions: export JSON to have tasks",
        );
    }
    Ok(())
}
