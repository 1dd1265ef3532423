//! Exports of Langfuse: observations, one a row, in snake case (blob export) or camel case (the page), and scores beside them.

use std::collections::HashMap;

use jurat_format::value::{Val, Value};

use crate::document::{Object, first_of, maybe_json, plain, text};
use crate::input::{Content, Element, Input};
use crate::kind::{Import, ImportError, Kind};
use crate::report::{NOT_KNOWN, Unused};
use crate::trace::{Found, Runs, Span, Survey};

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
    let mut survey = Survey::new(import.options.by);
    let (mut scores, mut unused, mut unused_scores) = (Scores::default(), Unused::default(), Unused::default());
    for input in import.inputs {
        for row in rows(input)? {
            let (line, row) = row?;
            let at = format!("{}:{line}", input.name);
            let trace_id = first_of(&row, &["trace_id", "traceId"]).map(plain).unwrap_or_default();
            if is_score(&row) {
                unused_scores.note_others(&at, &row, &OF_SCORE);
                scores.add(&at, trace_id, &row);
                continue;
            }
            match span(&at, &row) {
                Ok(span) => {
                    unused.note_others(&at, &row, &known());
                    survey.see(&Found::Span(span));
                }
                Err(why) => import.report.dropped(&at, "an observation", why),
            }
        }
    }
    unused.report(&mut import.report, "observation", NOT_KNOWN);
    unused_scores.report(&mut import.report, "score", NOT_KNOWN);
    scores.report(import, &survey);
    let mut runs = Runs::new(survey, scores.extra());
    for input in import.inputs {
        for row in rows(input)? {
            let (line, row) = row?;
            // What is no span was reported when it was seen first.
            if let Some(span) = span(&format!("{}:{line}", input.name), &row).ok().filter(|_| !is_score(&row)) {
                runs.take(import, Found::Span(span))?;
            }
        }
    }
    runs.finish(import)
}

/// Members of a score that are read, or say how it came about.
const OF_SCORE: [&str; 17] = [
    "id",
    "traceId",
    "trace_id",
    "observationId",
    "observation_id",
    "name",
    "value",
    "stringValue",
    "string_value",
    "dataType",
    "data_type",
    "comment",
    "timestamp",
    "source",
    "createdAt",
    "updatedAt",
    "projectId",
];

/// Scores of traces.
#[derive(Default)]
struct Scores {
    /// Values and comments of each trace, by the name of the score.
    of_traces: HashMap<String, (Object, Object)>,
    /// Where each score stands, its trace and its name.
    found: Vec<(String, String, String)>,
}

impl Scores {
    fn add(&mut self, at: &str, trace_id: String, row: &Value) {
        let name = row.get("name").map(plain).unwrap_or_default();
        let value = first_of(row, &["stringValue", "string_value", "value"]).cloned().unwrap_or(Val::Null);
        let (values, comments) = self.of_traces.entry(trace_id.clone()).or_default();
        values.gather(&name, value);
        if let Some(comment) = row.get("comment").and_then(Val::as_str).filter(|it| !it.is_empty()) {
            comments.gather(&name, text(comment));
        }
        self.found.push((at.to_owned(), trace_id, name));
    }

    /// Says what becomes of each.
    fn report(&self, import: &mut Import<'_>, survey: &Survey) {
        for (at, trace_id, name) in &self.found {
            let what = format!("score `{name}`");
            match survey.has(trace_id) {
                true => import.report.exact(at, what, "`request.metadata.scores`"),
                false => import.report.dropped(at, what, format!("its trace `{trace_id}` is not in the input")),
            }
        }
    }

    /// The members of `request.metadata`, by trace.
    fn extra(self) -> HashMap<String, Value> {
        let members = |(values, comments): (Object, Object)| {
            let mut members = Object::new().with("scores", values);
            members.put_some("score_comments", Some(comments).filter(|it| !it.is_empty()));
            members.into()
        };
        self.of_traces.into_iter().map(|(trace, it)| (trace, members(it))).collect()
    }
}

/// Columns of an observation that are read, or say nothing about what happened.
fn known() -> Vec<&'static str> {
    const OTHERS: [&str; 30] = [
        "id",
        "trace_id",
        "traceId",
        "type",
        "parent_observation_id",
        "parentObservationId",
        "name",
        "trace_name",
        "traceName",
        "start_time",
        "startTime",
        "end_time",
        "endTime",
        "level",
        "status_message",
        "statusMessage",
        "latency",
        "total_cost",
        "totalCost",
        "calculatedTotalCost",
        "tool_calls",
        "toolCalls",
        "created_at",
        "createdAt",
        "updated_at",
        "updatedAt",
        "project_id",
        "projectId",
        "bookmarked",
        "public",
    ];
    ATTRIBUTES.iter().flat_map(|(keys, _)| keys.iter().copied()).chain(OTHERS).collect()
}

type Lines<'i> = Box<dyn Iterator<Item = Result<(usize, Value), ImportError>> + 'i>;

/// The rows of an input, with their lines or numbers.
fn rows(input: &Input) -> Result<Lines<'_>, ImportError> {
    if let Content::Text(table) = &input.content {
        return of_table(input, table);
    }
    let numbered = |it: Element| (it.ix.map_or(it.line, |ix| ix + 1), it.value);
    Ok(Box::new(input.elements(&[&[], &["data"]]).map(move |it| it.map(numbered))))
}

fn of_table<'i>(input: &'i Input, table: &'i str) -> Result<Lines<'i>, ImportError> {
    let unreadable = |error: csv::Error| ImportError::unreadable(&input.name, error.to_string());
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let header: Vec<String> = reader.headers().map_err(unreadable)?.iter().map(str::to_owned).collect();
    Ok(Box::new(reader.into_records().map(move |record| {
        let record = record.map_err(unreadable)?;
        let line = record.position().map_or(0, csv::Position::line);
        let mut row = Object::new();
        for (column, cell) in header.iter().zip(&record).filter(|(_, cell)| !cell.is_empty()) {
            row.put(column, text(cell));
        }
        Ok((usize::try_from(line).unwrap_or_default(), row.into()))
    })))
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
    add_cost(row, &mut attributes);
    add_calls(row, &mut attributes);
    let level = own(&["level"]).unwrap_or_default();
    Ok(Span {
        at: at.to_owned(),
        trace_id,
        span_id,
        parent_id: own(&["parent_observation_id", "parentObservationId"]),
        name: own(&["name"]).unwrap_or_default(),
        start,
        // An event has no end; anything else without one was still running.
        end: own(&["end_time", "endTime"]).as_deref().and_then(nanos).or((kind == "event").then_some(start)),
        attributes,
        events: Vec::new(),
        n_links: 0,
        is_error: level == "ERROR",
        message: own(&["status_message", "statusMessage"]).unwrap_or_default(),
        service: own(&["trace_name", "traceName"]),
    })
}

/// What an observation cost, where the details are not there.
fn add_cost(row: &Value, attributes: &mut Object) {
    const DETAILS: &str = "langfuse.observation.cost_details";
    let is_known = attributes.get(DETAILS).and_then(Val::as_map).is_some_and(|it| !it.is_empty());
    let total = first_of(row, &["total_cost", "totalCost", "calculatedTotalCost"]);
    let total = total.and_then(|it| it.as_f64().or_else(|| it.as_str()?.trim().parse().ok()));
    if let Some(total) = total.filter(|_| !is_known) {
        attributes.put(DETAILS, Object::new().with("total", Val::F(total)));
    }
}

/// The calls of tools that stand in a column of their own, as a part of what the model answered.
fn add_calls(row: &Value, attributes: &mut Object) {
    const OUTPUT: &str = "langfuse.observation.output";
    let read = |it: &Value| it.as_str().map_or_else(|| it.clone(), maybe_json);
    let calls = first_of(row, &["tool_calls", "toolCalls"]).map(read);
    let calls: Vec<Value> = calls.iter().filter_map(Val::as_list).flatten().map(read).collect();
    let output = attributes.get(OUTPUT).cloned();
    if calls.is_empty() || output.as_ref().is_some_and(|it| it.to_json().contains("\"tool_calls\"")) {
        return;
    }
    let said = output.filter(|it| it.as_str().is_some());
    let message = Object::new().with("role", text("assistant")).with("content", said.unwrap_or(Val::Null));
    attributes.put(OUTPUT, message.with("tool_calls", Val::List(calls)));
}

/// Columns, and the attributes that hold the same.
const ATTRIBUTES: [(&[&str], &str); 11] = [
    (&["input"], "langfuse.observation.input"),
    (&["output"], "langfuse.observation.output"),
    (&["provided_model_name", "providedModelName", "model"], "langfuse.observation.model.name"),
    (&["usage_details", "usageDetails"], "langfuse.observation.usage_details"),
    (&["cost_details", "costDetails"], "langfuse.observation.cost_details"),
    (&["session_id", "sessionId"], "session.id"),
    (&["user_id", "userId"], "user.id"),
    (&["tags", "trace_tags"], "langfuse.trace.tags"),
    (&["metadata"], "metadata"),
    (&["model_parameters", "modelParameters"], "llm.invocation_parameters"),
    (&["environment"], "langfuse.trace.metadata.environment"),
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
