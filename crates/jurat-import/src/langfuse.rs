//! Exports of Langfuse: observations, one a row, in snake case (blob export) or camel case (the page), and scores beside them.

use std::collections::HashMap;

use jurat_format::value::{Val, Value};

use crate::document::{Object, first_of, maybe_json, plain, text};
use crate::input::{Content, Input};
use crate::kind::{Import, ImportError, Kind};
use crate::trace::{self, Span, Spans};

pub(crate) static KIND: Kind = Kind {
    name: "langfuse",
    help: "observations or scores of Langfuse",
    recognises: |input| match &input.content {
        Content::Text(text) => text.lines().next().is_some_and(is_header),
        _ => input.json().and_then(first_row).is_some_and(|it| is_observation(it) || is_score(it)),
    },
    read,
};

fn first_row(value: &Value) -> Option<&Value> {
    match value {
        Val::List(items) => items.first(),
        other => other.get("data").and_then(Val::as_list).and_then(<[Value]>::first).or(Some(other)),
    }
}

fn is_header(line: &str) -> bool {
    let has = |name: &str| line.split(',').any(|it| it.trim_matches('"') == name);
    (has("trace_id") || has("traceId")) && has("type") && (has("start_time") || has("startTime"))
}

fn is_observation(value: &Value) -> bool {
    let has = |keys: &[&str]| first_of(value, keys).is_some();
    has(&["trace_id", "traceId"])
        && has(&["type"])
        && has(&["start_time", "startTime"])
        && value.get("attributes").is_none()
}

fn is_score(value: &Value) -> bool {
    let has = |keys: &[&str]| first_of(value, keys).is_some();
    has(&["trace_id", "traceId"]) && has(&["name"]) && has(&["dataType", "data_type"])
}

fn read(import: &mut Import<'_>) -> Result<(), ImportError> {
    let mut spans = Spans::default();
    let mut scores: HashMap<String, Object> = HashMap::new();
    for input in import.inputs {
        for (line, row) in rows(input)? {
            let at = format!("{}:{line}", input.name);
            let trace_id = first_of(&row, &["trace_id", "traceId"]).map(plain).unwrap_or_default();
            if is_score(&row) {
                let name = row.get("name").map(plain).unwrap_or_default();
                let value = first_of(&row, &["stringValue", "string_value", "value"]).cloned().unwrap_or(Val::Null);
                scores.entry(trace_id).or_default().put(&name, value);
                import.report.exact(&at, format!("score `{name}`"), "`request.metadata.scores`");
                continue;
            }
            match span(&at, &row) {
                Ok(span) => spans.add(span),
                Err(why) => import.report.dropped(&at, "an observation", why),
            }
        }
    }
    let extra = scores.into_iter().map(|(trace, it)| (trace, Object::new().with("scores", it).into())).collect();
    trace::write(import, spans, &extra);
    Ok(())
}

fn rows(input: &Input) -> Result<Vec<(usize, Value)>, ImportError> {
    if let Content::Text(table) = &input.content {
        return of_table(input, table);
    }
    let mut rows = Vec::new();
    for value in input.values() {
        let (line, value) = value?;
        let list = value.as_list().or_else(|| value.get("data").and_then(Val::as_list));
        match list {
            Some(items) => rows.extend(items.iter().cloned().enumerate().map(|(ix, it)| (ix + 1, it))),
            None => rows.push((line, value)),
        }
    }
    Ok(rows)
}

fn of_table(input: &Input, table: &str) -> Result<Vec<(usize, Value)>, ImportError> {
    let unreadable = |error: csv::Error| ImportError::unreadable(&input.name, error.to_string());
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let header: Vec<String> = reader.headers().map_err(unreadable)?.iter().map(str::to_owned).collect();
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(unreadable)?;
        let line = record.position().map_or(0, csv::Position::line);
        let mut row = Object::new();
        for (column, cell) in header.iter().zip(&record).filter(|(_, cell)| !cell.is_empty()) {
            row.put(column, text(cell));
        }
        rows.push((usize::try_from(line).unwrap_or_default(), row.into()));
    }
    Ok(rows)
}

/// An observation as a span with the attributes that the SDK of Langfuse writes.
fn span(at: &str, row: &Value) -> Result<Span, String> {
    let own = |keys: &[&str]| first_of(row, keys).map(plain).filter(|it| !it.is_empty());
    let trace_id = own(&["trace_id", "traceId"]).ok_or("it has no `trace_id`")?;
    let span_id = own(&["id"]).ok_or("it has no `id`")?;
    let kind = own(&["type"]).unwrap_or_default().to_ascii_lowercase();
    let start = own(&["start_time", "startTime"]).as_deref().and_then(nanos);
    let start = start.ok_or("`start_time` is no date")?;
    let is_there = |keys: &[&str]| first_of(row, keys).is_some();
    if kind == "generation" && !is_there(&["input"]) && !is_there(&["output"]) {
        return Err("the export has neither `input` nor `output`: export these fields, too".to_owned());
    }
    let mut attributes =
        Object::new().with("langfuse.observation.type", text(if kind.is_empty() { "span" } else { &kind }));
    for (keys, into) in ATTRIBUTES {
        let value = first_of(row, keys).cloned();
        attributes.put_some(into, value.map(|it| it.as_str().map_or_else(|| it.clone(), maybe_json)));
    }
    let level = own(&["level"]).unwrap_or_default();
    Ok(Span {
        at: at.to_owned(),
        trace_id,
        span_id,
        parent_id: own(&["parent_observation_id", "parentObservationId"]),
        name: own(&["name"]).unwrap_or_default(),
        start,
        end: own(&["end_time", "endTime"]).as_deref().and_then(nanos).or(Some(start)),
        attributes,
        events: Vec::new(),
        is_error: level == "ERROR",
        message: own(&["status_message", "statusMessage"]).unwrap_or_default(),
        service: own(&["trace_name", "traceName"]),
    })
}

/// Columns, and the attributes that hold the same.
const ATTRIBUTES: [(&[&str], &str); 9] = [
    (&["input"], "langfuse.observation.input"),
    (&["output"], "langfuse.observation.output"),
    (&["provided_model_name", "providedModelName", "model"], "langfuse.observation.model.name"),
    (&["usage_details", "usageDetails"], "langfuse.observation.usage_details"),
    (&["cost_details", "costDetails"], "langfuse.observation.cost_details"),
    (&["session_id", "sessionId"], "session.id"),
    (&["user_id", "userId"], "user.id"),
    (&["tags", "trace_tags"], "langfuse.trace.tags"),
    (&["metadata"], "metadata"),
];

/// A date with or without its zone, as nanoseconds since 1970; without one it is universal time.
fn nanos(date: &str) -> Option<u64> {
    let at = date.parse::<jiff::Timestamp>().ok().or_else(|| {
        let civil = date.replace(' ', "T").parse::<jiff::civil::DateTime>().ok()?;
        civil.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|it| it.timestamp())
    });
    u64::try_from(at?.as_nanosecond()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_without_a_zone_are_universal_time() {
        assert_eq!(nanos("2026-11-16 20:20:41.270291"), nanos("2026-11-16T20:20:41.270291Z"));
        assert_eq!(nanos("yesterday"), None);
    }
}
