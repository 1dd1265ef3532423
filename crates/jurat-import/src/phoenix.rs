//! Exports of Phoenix: spans of its REST interface, and examples of data sets as JSON and CSV.

use std::collections::HashMap;

use jurat_format::value::{Val, Value};

use crate::document::{Object, first_of, maybe_json, plain, text, text_at};
use crate::input::{Content, Element, Input};
use crate::kind::{Import, ImportError, Kind, counted};
use crate::report::{NOT_KNOWN, Unused};
use crate::trace::{Found, Runs, Span, SpanEvent, Survey, span_of_json};

pub(crate) static SPANS: Kind = Kind {
    name: "phoenix",
    help: "spans of Phoenix",
    recognises: |input| input.json().is_some_and(|it| spans(it).first().is_some_and(is_span)),
    read: read_spans,
};

pub(crate) static DATASET: Kind = Kind {
    name: "phoenix-dataset",
    help: "a data set of Phoenix",
    recognises: |input| match &input.content {
        Content::Json(value, _) => examples(value).is_some(),
        Content::Text(text) => text.lines().next().is_some_and(is_header),
        _ => false,
    },
    read: read_dataset,
};

fn spans(value: &Value) -> &[Value] {
    value.get("data").unwrap_or(value).as_list().unwrap_or_default()
}

fn is_span(value: &Value) -> bool {
    let in_context = value.get("context").is_some_and(|it| it.get("trace_id").is_some());
    in_context
        || (value.get("trace_id").is_some() && value.get("span_id").is_some() && value.get("attributes").is_some())
}

fn read_spans(import: &mut Import<'_>) -> Result<(), ImportError> {
    let mut survey = Survey::new(import.options.by);
    let mut annotations: HashMap<String, Object> = HashMap::new();
    for input in import.inputs {
        for span in each_span(input) {
            let (span, value) = span?;
            for (name, annotation) in annotations_of(&value) {
                annotations.entry(span.trace_id.clone()).or_default().gather(&name, annotation);
            }
            survey.see(&Found::Span(span));
        }
        for _ in 0..n_with_further_pages(input)? {
            import.report.dropped(&input.name, "further pages", "`next_cursor` says that the export has more spans");
        }
    }
    let annotations = annotations.into_iter().map(|(trace, it)| (trace, Object::new().with("annotations", it).into()));
    let mut runs = Runs::new(survey, annotations.collect());
    for input in import.inputs {
        for span in each_span(input) {
            runs.take(import, Found::Span(span?.0))?;
        }
    }
    runs.finish(import)
}

/// The spans of an input, and what each was read from.
fn each_span(input: &Input) -> impl Iterator<Item = Result<(Span, Value), ImportError>> + '_ {
    let is_of_list = |it: &Result<Element, ImportError>| it.as_ref().map_or(true, |it| it.ix.is_some());
    input.elements(&[&["data"], &[]]).filter(is_of_list).map(|element| {
        let Element { line, ix, value } = element?;
        let ix = ix.unwrap_or_default();
        let at = format!("{}:{}", input.name, if line > 1 { line } else { ix + 1 });
        let span = match value.get("context") {
            Some(context) => Ok(rest_span(&at, &value, context)),
            None => span_of_json(&at, &value),
        };
        let span = span.map_err(|why| ImportError::unreadable(&input.name, format!("data[{ix}]: {why}")))?;
        Ok((span, value))
    })
}

/// How many of its documents say that there is more than is in them.
fn n_with_further_pages(input: &Input) -> Result<usize, ImportError> {
    let has_more = |it: &Value| it.get("next_cursor").is_some_and(|it| !matches!(it, Val::Null));
    match &input.content {
        Content::Json(value, _) => Ok(usize::from(has_more(value))),
        _ => input.values().try_fold(0, |n, value| Ok(n + usize::from(has_more(&value?.1)))),
    }
}

/// A span as the REST interface has it: the kind stands beside the attributes, and times are dates.
fn rest_span(at: &str, value: &Value, context: &Value) -> Span {
    let own = |key: &str| text_at(value, key).map(str::to_owned);
    let nanos = |key: &str| {
        let date: jiff::Timestamp = text_at(value, key)?.parse().ok()?;
        u64::try_from(date.as_nanosecond()).ok()
    };
    let mut attributes = Object::from(value.get("attributes").and_then(Val::as_map).cloned().unwrap_or_default());
    if let Some(kind) = own("span_kind").filter(|it| it != "UNKNOWN") {
        attributes.put("openinference.span.kind", text(kind));
    }
    let events = value.get("events").and_then(Val::as_list).unwrap_or_default();
    let event = |it: &Value| SpanEvent {
        name: text_at(it, "name").unwrap_or_default().to_owned(),
        attributes: it.get("attributes").and_then(Val::as_map).cloned().map(Object::from).unwrap_or_default(),
    };
    Span {
        at: at.to_owned(),
        trace_id: text_at(context, "trace_id").unwrap_or_default().to_owned(),
        span_id: text_at(context, "span_id").unwrap_or_default().to_owned(),
        parent_id: own("parent_id").filter(|it| !it.is_empty()),
        name: own("name").unwrap_or_default(),
        start: nanos("start_time").unwrap_or_default(),
        end: nanos("end_time"),
        attributes,
        events: events.iter().map(event).collect(),
        n_links: 0,
        is_error: text_at(value, "status_code") == Some("ERROR"),
        message: own("status_message").unwrap_or_default(),
        service: None,
    }
}

/// What people and judges said about a span, for comparing judges with them: the name of each annotation, and what it says.
fn annotations_of(span: &Value) -> Vec<(String, Object)> {
    let list = span.get("span_annotations").or_else(|| span.get("annotations")).and_then(Val::as_list);
    let read = |annotation: &Value| {
        let result = annotation.get("result").unwrap_or(annotation);
        let mut read = Object::new();
        for key in ["label", "score", "explanation"] {
            read.put_some(key, result.get(key).filter(|it| !matches!(it, Val::Null)).cloned());
        }
        read.put_some("annotator_kind", annotation.get("annotator_kind").cloned());
        (text_at(annotation, "name").unwrap_or("annotation").to_owned(), read)
    };
    list.unwrap_or_default().iter().map(read).collect()
}

fn examples(value: &Value) -> Option<&[Value]> {
    let examples = value.get("data").and_then(|it| it.get("examples")).or_else(|| value.get("examples"))?.as_list()?;
    examples.iter().all(|it| it.get("input").is_some() && it.get("output").is_some()).then_some(examples)
}

fn is_header(line: &str) -> bool {
    let has = |prefix: &str| line.split(',').any(|it| it.trim_matches('"').starts_with(prefix));
    has("input.") && has("output.")
}

/// Members of an example that are read, or say when it was made.
const EXAMPLE: [&str; 7] = ["id", "example_id", "input", "output", "metadata", "updated_at", "created_at"];

fn read_dataset(import: &mut Import<'_>) -> Result<(), ImportError> {
    let mut unused = Unused::default();
    for input in import.inputs {
        let found: Box<dyn Iterator<Item = Result<Value, ImportError>>> = match &input.content {
            Content::Text(table) => Box::new(of_table(input, table)?.into_iter().map(Ok)),
            Content::Json(value, _) if examples(value).is_some() => {
                Box::new(input.elements(&[&["data", "examples"], &["examples"]]).map(|it| it.map(|it| it.value)))
            }
            _ => Box::new(std::iter::empty()),
        };
        for (ix, example) in found.enumerate() {
            let example = example?;
            let id = first_of(&example, &["id", "example_id"]).map(plain).filter(|it| !it.is_empty());
            let id = id.unwrap_or_else(|| format!("e{}", import.n_rows() + 1));
            unused.note_others(&format!("{}:{}", input.name, ix + 1), &example, &EXAMPLE);
            let mut row = Object::new().with("id", text(&id));
            row.put_some("input", example.get("input").cloned());
            row.put_some("reference", example.get("output").cloned());
            row.put_some("metadata", example.get("metadata").cloned());
            import.report.exact(&format!("{}:{}", input.name, ix + 1), "an example", format!("row `{id}`"));
            import.row(&row.into())?;
        }
    }
    unused.report(&mut import.report, "example", NOT_KNOWN);
    import.summary.push(counted(import.n_rows(), "row"));
    import.rows_file("rows.jsonl");
    Ok(())
}

/// The rows of a table whose columns are `input.X`, `output.X` and `metadata.X`.
fn of_table(input: &Input, table: &str) -> Result<Vec<Value>, ImportError> {
    let unreadable = |error: csv::Error| ImportError::unreadable(&input.name, error.to_string());
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let header: Vec<String> = reader.headers().map_err(unreadable)?.iter().map(str::to_owned).collect();
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(unreadable)?;
        let mut groups = [("input", Object::new()), ("output", Object::new()), ("metadata", Object::new())];
        let mut row = Object::new();
        for (column, cell) in header.iter().zip(&record) {
            match column.split_once('.') {
                Some((group, key)) if groups.iter().any(|(it, _)| *it == group) => {
                    groups.iter_mut().filter(|(it, _)| *it == group).for_each(|(_, it)| it.put(key, maybe_json(cell)));
                }
                _ => row.put(column, text(cell)),
            }
        }
        groups.into_iter().for_each(|(key, it)| row.put(key, it));
        rows.push(row.into());
    }
    Ok(rows)
}
