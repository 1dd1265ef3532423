//! A span, whatever format it came in.

use std::collections::HashMap;

use jurat_format::value::Value;

use crate::document::{Object, plain};

/// One span of a trace. Attributes have their dotted names.
#[derive(Debug, Clone, Default)]
pub(crate) struct Span {
    /// Where it was read: `traces.jsonl:3`.
    pub(crate) at: String,
    pub(crate) trace_id: String,
    pub(crate) span_id: String,
    pub(crate) parent_id: Option<String>,
    pub(crate) name: String,
    /// Nanoseconds since 1970.
    pub(crate) start: u64,
    pub(crate) end: Option<u64>,
    pub(crate) attributes: Object,
    pub(crate) events: Vec<SpanEvent>,
    /// How many links to other spans it has.
    pub(crate) n_links: usize,
    pub(crate) is_error: bool,
    pub(crate) message: String,
    /// What `service.name` of its resource says.
    pub(crate) service: Option<String>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct SpanEvent {
    pub(crate) name: String,
    pub(crate) attributes: Object,
}

impl Span {
    pub(crate) fn attribute(&self, key: &str) -> Option<&Value> {
        self.attributes.get(key)
    }

    /// The session that it belongs to.
    pub(crate) fn session(&self) -> Option<&Value> {
        self.attribute("session.id").or_else(|| self.attribute("gen_ai.conversation.id"))
    }

    /// The first of these attributes that is text, or is written as one.
    pub(crate) fn text(&self, keys: &[&str]) -> Option<String> {
        keys.iter().find_map(|it| self.attribute(it)).map(plain).filter(|it| !it.is_empty())
    }
}

/// The spans of an input, by trace. A span that comes twice is there once, with the later end.
#[derive(Debug, Default)]
pub(crate) struct Spans {
    spans: Vec<Span>,
    places: HashMap<(String, String), usize>,
}

impl Spans {
    pub(crate) fn add(&mut self, span: Span) {
        let key = (span.trace_id.clone(), span.span_id.clone());
        match self.places.get(&key) {
            Some(ix) if self.spans[*ix].end < span.end => self.spans[*ix] = span,
            Some(_) => {}
            None => {
                self.places.insert(key, self.spans.len());
                self.spans.push(span);
            }
        }
    }

    /// Adds what a log record says about a span.
    pub(crate) fn add_event(&mut self, trace_id: &str, span_id: &str, event: &SpanEvent) -> bool {
        let place = self.places.get(&(trace_id.to_owned(), span_id.to_owned()));
        let Some(span) = place.map(|ix| &mut self.spans[*ix]) else { return false };
        for (key, value) in event.attributes.members() {
            if key.starts_with("gen_ai.") && span.attributes.get(key).is_none() {
                span.attributes.put(key, value.clone());
            }
        }
        span.events.push(event.clone());
        true
    }

    /// The spans of each trace in order of their start, and the traces in order of theirs: the order of the input changes nothing.
    pub(crate) fn traces(self) -> Vec<Vec<Span>> {
        let mut spans = self.spans;
        spans.sort_by(|left, right| {
            (left.start, &left.trace_id, &left.span_id).cmp(&(right.start, &right.trace_id, &right.span_id))
        });
        let mut traces: Vec<Vec<Span>> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for span in spans {
            let ix = *places.entry(span.trace_id.clone()).or_insert(traces.len());
            match traces.get_mut(ix) {
                Some(trace) => trace.push(span),
                None => traces.push(vec![span]),
            }
        }
        traces
    }
}
