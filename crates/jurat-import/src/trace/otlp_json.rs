//! `ExportTraceServiceRequest` and `ExportLogsServiceRequest` as JSON: canonical, with snake case, or with every member of a union written out.

use jurat_format::value::{Val, Value};

use super::gather::Found;
use super::span::{Span, SpanEvent};
use crate::document::{Object, count, first_of, plain, text_at};

/// Whether a value is a request with spans or log records.
pub(super) fn is_request(value: &Value) -> bool {
    first_of(value, &["resourceSpans", "resource_spans", "resourceLogs", "resource_logs"]).is_some()
}

/// Whether a value is a request with metrics, of which no run is made.
pub(super) fn has_metrics(value: &Value) -> bool {
    first_of(value, &["resourceMetrics", "resource_metrics"]).is_some()
}

/// The keys of a request whose lists may be long, and the paths to them.
pub(super) const LISTS: [(&str, &[&[&str]]); 4] = [
    ("resourceSpans", &[&["resourceSpans"]]),
    ("resource_spans", &[&["resource_spans"]]),
    ("resourceLogs", &[&["resourceLogs"]]),
    ("resource_logs", &[&["resource_logs"]]),
];

/// The spans and log records of a request.
pub(super) fn read(at: &str, request: &Value) -> Result<Vec<Found>, String> {
    let mut found = Vec::new();
    for resource in list(request, &["resourceSpans", "resource_spans"]) {
        let service = resource.get("resource").map(|it| attributes(it.get("attributes")));
        let service = service.and_then(|it| text_at(&it.into(), "service.name").map(str::to_owned));
        for scope in list(resource, &["scopeSpans", "scope_spans", "instrumentationLibrarySpans"]) {
            for value in list(scope, &["spans"]) {
                let mut span = span(at, value)?;
                span.service.clone_from(&service);
                found.push(Found::Span(span));
            }
        }
    }
    for resource in list(request, &["resourceLogs", "resource_logs"]) {
        for scope in list(resource, &["scopeLogs", "scope_logs"]) {
            found.extend(list(scope, &["logRecords", "log_records"]).iter().filter_map(record));
        }
    }
    Ok(found)
}

fn list<'v>(value: &'v Value, keys: &[&str]) -> &'v [Value] {
    first_of(value, keys).and_then(Val::as_list).unwrap_or_default()
}

/// One span.
pub(crate) fn span(at: &str, value: &Value) -> Result<Span, String> {
    let id = |keys: &[&str]| first_of(value, keys).and_then(Val::as_str).map(hexadecimal).unwrap_or_default();
    let (trace_id, span_id) = (id(&["traceId", "trace_id"]), id(&["spanId", "span_id"]));
    if trace_id.is_empty() || span_id.is_empty() {
        return Err("a span has no `traceId` or no `spanId`".to_owned());
    }
    let time = |keys: &[&str]| first_of(value, keys).and_then(count);
    let status = value.get("status").cloned().unwrap_or(Val::Null);
    let code = status.get("code").map(plain).unwrap_or_default();
    let parent_id = id(&["parentSpanId", "parent_span_id"]);
    Ok(Span {
        at: at.to_owned(),
        trace_id,
        span_id,
        parent_id: Some(parent_id).filter(|it| !it.is_empty()),
        name: text_at(value, "name").unwrap_or_default().to_owned(),
        start: time(&["startTimeUnixNano", "start_time_unix_nano"]).unwrap_or_default(),
        end: time(&["endTimeUnixNano", "end_time_unix_nano"]).filter(|it| *it > 0),
        attributes: attributes(value.get("attributes")),
        events: list(value, &["events"]).iter().map(event).collect(),
        n_links: list(value, &["links"]).len(),
        is_error: matches!(code.as_str(), "2" | "STATUS_CODE_ERROR"),
        message: text_at(&status, "message").unwrap_or_default().to_owned(),
        service: None,
    })
}

/// Ids are hexadecimal; base64 is what the general JSON form of protocol buffers has.
fn hexadecimal(id: &str) -> String {
    let is_hexadecimal = matches!(id.len(), 16 | 32) && id.bytes().all(|it| it.is_ascii_hexdigit());
    if is_hexadecimal || id.is_empty() {
        return id.to_ascii_lowercase();
    }
    base64(id).map_or_else(|| id.to_owned(), |bytes| bytes.iter().map(|it| format!("{it:02x}")).collect())
}

fn base64(text: &str) -> Option<Vec<u8>> {
    const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut n_bits, mut bytes) = (0_u32, 0, Vec::new());
    for letter in text.trim_end_matches('=').bytes() {
        let value = LETTERS.bytes().position(|it| it == letter)?;
        bits = (bits << 6 | value as u32) & 0xffff;
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            bytes.push((bits >> n_bits) as u8);
        }
    }
    matches!(bytes.len(), 8 | 16).then_some(bytes)
}

fn event(value: &Value) -> SpanEvent {
    SpanEvent {
        name: text_at(value, "name").unwrap_or_default().to_owned(),
        attributes: attributes(value.get("attributes")),
    }
}

fn record(value: &Value) -> Option<Found> {
    let id = |keys: &[&str]| first_of(value, keys).and_then(Val::as_str).map(hexadecimal);
    let (trace_id, span_id) = (id(&["traceId", "trace_id"])?, id(&["spanId", "span_id"])?);
    let mut members = attributes(value.get("attributes"));
    if let Some(Val::Map(body)) = value.get("body").map(any_value) {
        for (key, it) in body {
            members.put(&key, it);
        }
    }
    let name = first_of(value, &["eventName", "event_name"]).or_else(|| members.get("event.name")).map(plain);
    Some(Found::Record(trace_id, span_id, SpanEvent { name: name.unwrap_or_default(), attributes: members }))
}

/// Attributes: a list of keys and values, or an object.
pub(crate) fn attributes(value: Option<&Value>) -> Object {
    let mut attributes = Object::new();
    match value {
        Some(Val::List(items)) => {
            for item in items {
                let value = item.get("value").map_or(Val::Null, any_value);
                attributes.put(text_at(item, "key").unwrap_or_default(), value);
            }
        }
        Some(Val::Map(map)) => return Object::from(map.clone()),
        _ => {}
    }
    attributes
}

/// The value of a union of which one member is there and not null.
fn any_value(value: &Value) -> Value {
    let Some(members) = value.as_map() else { return value.clone() };
    let found = members.iter().find(|(_, it)| !matches!(it, Val::Null));
    match found {
        Some(("stringValue" | "string_value" | "boolValue" | "bool_value" | "doubleValue" | "double_value", it)) => {
            it.clone()
        }
        Some(("intValue" | "int_value", it)) => match it {
            Val::Str(text) => text.parse::<i64>().map_or_else(|_| it.clone(), Val::I),
            it => it.clone(),
        },
        Some(("arrayValue" | "array_value", it)) => list(it, &["values"]).iter().map(any_value).collect(),
        Some(("kvlistValue" | "kvlist_value", it)) => attributes(it.get("values")).into(),
        Some(("bytesValue" | "bytes_value", it)) => it.clone(),
        _ => Val::Null,
    }
}
