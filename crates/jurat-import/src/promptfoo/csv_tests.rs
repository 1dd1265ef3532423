//! Tests in CSV files: a column for each variable, and columns with two underscores for everything else.

use jurat_format::value::{Val, Value};

use super::tests::{Spec, Test};
use crate::document::{Object, beginning, number, text};
use crate::report::Report;

pub(super) fn tests(path: &str, content: &str, report: &mut Report) -> Result<Vec<Test>, String> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(content.as_bytes());
    let header: Vec<String> = match reader.headers() {
        Ok(header) => header.iter().map(|it| it.trim().to_owned()).collect(),
        Err(error) => return Err(format!("`{path}`: {error}")),
    };
    for (column, why) in header.iter().filter_map(|it| Some((it, not_here(it)?))) {
        report.dropped(&format!("{path}:1"), format!("column `{column}`"), why);
    }
    let mut found = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| format!("`{path}`: {error}"))?;
        let line = record.position().map_or(0, csv::Position::line);
        found.push(test(&format!("{path}:{line}"), &header, &record, report));
    }
    Ok(found)
}

fn not_here(column: &str) -> Option<&'static str> {
    match column {
        "__provider" => Some("jurat asks every model about every row"),
        "__providerOutput" => Some("import the results of promptfoo to judge recorded answers"),
        _ => None,
    }
}

fn test(at: &str, header: &[String], record: &csv::StringRecord, report: &mut Report) -> Test {
    let mut test = Test { at: at.to_owned(), ..Test::default() };
    let (mut metadata, mut metric, mut threshold) = (Object::new(), None, None);
    for (column, cell) in header.iter().zip(record) {
        let number_of =
            |prefix: &str| column.strip_prefix(prefix).is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit()));
        match column.as_str() {
            _ if number_of("__expected") => {
                if !cell.trim().is_empty() {
                    test.assertions.push(Spec { at: at.to_owned(), value: expected(cell.trim()) });
                }
            }
            "__description" => test.description = Some(cell.to_owned()).filter(|it| !it.is_empty()),
            "__threshold" => test.threshold = cell.trim().parse().ok(),
            "__metric" => metric = Some(cell.to_owned()).filter(|it| !it.is_empty()),
            "__prefix" | "__suffix" => test.options.put(&column[2..], text(cell)),
            column if column.starts_with("__metadata:") => {
                let key = column["__metadata:".len()..].trim_end_matches("[]");
                metadata.put(key, text(cell));
            }
            column if column.starts_with("__config:") => threshold = threshold.or(config(column, cell)),
            column if column.starts_with("__") => {
                if not_here(column).is_none() && !cell.is_empty() {
                    report.dropped(at, format!("column `{}`", beginning(column)), "not known to the importer");
                }
            }
            column => test.vars.put(column, text(cell)),
        }
    }
    for spec in &mut test.assertions {
        add(spec, "metric", metric.as_deref().map(text));
        if let Some((ix, it)) = &threshold
            && (*ix == "__expected" || *ix == "__expected1")
        {
            add(spec, "threshold", Some(number(*it)));
        }
    }
    test.metadata = (!metadata.is_empty()).then(|| metadata.into());
    test
}

/// `__config:__expected:threshold`
fn config<'c>(column: &'c str, cell: &str) -> Option<(&'c str, f64)> {
    let (of, key) = column.strip_prefix("__config:")?.split_once(':')?;
    Some((of, cell.trim().parse().ok()?)).filter(|_| key == "threshold")
}

fn add(spec: &mut Spec, key: &str, value: Option<Value>) {
    if let (Val::Map(map), Some(value)) = (&mut spec.value, value)
        && map.get(key).is_none()
    {
        map.insert(key.to_owned().into(), value);
    }
}

/// An assertion in one cell: `type(threshold): value`, or a value that the answer equals.
fn expected(cell: &str) -> Value {
    let of =
        |kind: &str, value: &str| Value::from(Object::new().with("type", text(kind)).with("value", text(value.trim())));
    for (prefix, kind) in [
        ("grade:", "llm-rubric"),
        ("fn:", "javascript"),
        ("eval:", "javascript"),
        ("javascript:", "javascript"),
        ("python:", "python"),
    ] {
        if let Some(rest) = cell.strip_prefix(prefix) {
            return of(kind, rest);
        }
    }
    let Some((kind, rest)) =
        cell.split_once(':').map_or_else(|| Some((cell, "")), Some).filter(|(kind, _)| is_type(kind))
    else {
        return of("equals", cell);
    };
    let (kind, threshold) = match kind.split_once('(') {
        Some((kind, threshold)) => (kind, threshold.trim_end_matches(')').trim().parse::<f64>().ok()),
        None => (kind, None),
    };
    let value = rest.trim();
    let mut spec = Object::new().with("type", text(kind));
    if !value.is_empty() {
        let is_list = kind.ends_with("-any") || kind.ends_with("-all");
        let items = || value.split(',').map(|it| text(it.trim())).collect();
        spec.put("value", if is_list { items() } else { text(value) });
    }
    spec.put_some("threshold", threshold.map(number));
    spec.into()
}

/// Whether a word before a colon is a type of assertion rather than the beginning of an answer.
fn is_type(word: &str) -> bool {
    let kind = word.split('(').next().unwrap_or(word);
    super::assertion::is_known(kind)
}

#[cfg(test)]
mod unit {
    use super::*;

    #[track_caller]
    fn cell(cell: &str, json: &str) {
        assert_eq!(expected(cell).to_json(), json, "{cell}");
    }

    #[test]
    fn cells_are_assertions() {
        cell("Paris", r#"{"type":"equals","value":"Paris"}"#);
        cell("icontains: paris", r#"{"type":"icontains","value":"paris"}"#);
        cell("similar(0.8): Paris", r#"{"type":"similar","value":"Paris","threshold":0.8}"#);
        cell("levenshtein(5): Paris", r#"{"type":"levenshtein","value":"Paris","threshold":5}"#);
        cell("grade: is polite", r#"{"type":"llm-rubric","value":"is polite"}"#);
        cell("fn: output.length > 3", r#"{"type":"javascript","value":"output.length > 3"}"#);
        cell("is-json", r#"{"type":"is-json"}"#);
        cell("contains-any: a, b", r#"{"type":"contains-any","value":["a","b"]}"#);
        cell("Note: this", r#"{"type":"equals","value":"Note: this"}"#);
    }
}
