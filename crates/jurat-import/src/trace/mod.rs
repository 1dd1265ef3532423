//! Traces: spans in any format become runs of agents, so that checks, judges and outcomes work on them.
//!
//! Containers ([`otlp_json`], [`otlp_protobuf`]) give [`Span`]s; [`convention`] knows what their attributes mean; [`conversation`] puts messages
//! and calls in order; [`run`] makes the artifact. Other kinds whose files hold spans use [`gather`] as well, which holds no more spans than those of traces of
//! which more is to come.

mod convention;
mod conversation;
mod gather;
mod message;
mod otlp_json;
mod otlp_protobuf;
mod protobuf;
mod run;
mod span;

use std::collections::{HashMap, HashSet};

use jurat_format::value::{Map, Val, Value};

pub(crate) use conversation::Conversation;
pub(crate) use gather::{Found, Runs, Survey};
pub(crate) use message::from_value;
pub(crate) use otlp_json::span as span_of_json;
pub use run::Unfinished;
pub(crate) use run::media;
pub(crate) use span::{Span, SpanEvent};

use convention::SpanKind;
use run::Unit;

use crate::document::{Object, plain};
use crate::input::{Content, Input, Text};
use crate::kind::{ImportError, Kind, counted};

pub(crate) static OTLP: Kind = Kind {
    name: "otlp",
    help: "traces of OpenTelemetry (OTLP)",
    recognises: |input| match &input.content {
        Content::Binary(bytes) => otlp_protobuf::looks_like_request(bytes),
        _ => input.json().is_some_and(|it| otlp_json::is_request(it) || otlp_json::has_metrics(it)),
    },
    read: |import| {
        let mut survey = Survey::new(import.options.by);
        for input in import.inputs {
            let n_metrics = read(input, &mut |found| {
                survey.see(&found);
                Ok(())
            })?;
            if n_metrics > 0 {
                let why = "metrics are about no single run";
                import.report.dropped(&input.name, counted(n_metrics, "request with metrics"), why);
            }
        }
        let mut runs = Runs::new(survey, HashMap::new());
        for input in import.inputs {
            let _ = read(input, &mut |found| runs.take(import, found))?;
        }
        runs.finish(import)
    },
};

/// What is one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum By {
    /// A trace.
    #[default]
    Trace,
    /// The outermost span of an agent.
    Agent,
    /// All traces of a session, one after the other.
    Session,
}

/// What is done with something that was found.
type Take<'t> = dyn FnMut(Found) -> Result<(), ImportError> + 't;

/// Reads an input, and says how many of its requests have metrics.
fn read(input: &Input, take: &mut Take<'_>) -> Result<usize, ImportError> {
    let unreadable = |why: String| ImportError::unreadable(&input.name, why);
    match &input.content {
        Content::Binary(bytes) => {
            let spans = otlp_protobuf::read(&input.name, bytes).map_err(unreadable)?;
            return spans.into_iter().try_for_each(|it| take(Found::Span(it))).map(|()| 0);
        }
        Content::Json(document, Text::Streamed(_)) => return read_large(input, document, take),
        _ => {}
    }
    let mut n_metrics = 0;
    for value in input.values() {
        let (line, value) = value?;
        n_metrics += usize::from(otlp_json::has_metrics(&value));
        let is_empty = value.as_map().is_some_and(Map::is_empty);
        if !otlp_json::is_request(&value) && !otlp_json::has_metrics(&value) && !is_empty {
            return Err(unreadable(format!("line {line}: it is no request with spans or log records")));
        }
        read_request(input, line, &value, take)?;
    }
    Ok(n_metrics)
}

/// A large document is read resource by resource.
fn read_large(input: &Input, document: &Value, take: &mut Take<'_>) -> Result<usize, ImportError> {
    for (key, path) in otlp_json::LISTS.iter().filter(|(key, _)| document.get(key).and_then(Val::as_list).is_some()) {
        for element in input.elements(path) {
            let request = Object::new().with(key, Val::List(vec![element?.value])).into();
            read_request(input, 1, &request, take)?;
        }
    }
    Ok(usize::from(otlp_json::has_metrics(document)))
}

fn read_request(input: &Input, line: usize, request: &Value, take: &mut Take<'_>) -> Result<(), ImportError> {
    let at = format!("{}:{line}", input.name);
    let found = otlp_json::read(&at, request);
    let found = found.map_err(|why| ImportError::unreadable(&input.name, format!("line {line}: {why}")))?;
    found.into_iter().try_for_each(take)
}

/// The runs that traces hold.
fn units<'s>(traces: &[&'s Vec<Span>], by: By) -> Vec<Unit<'s>> {
    match by {
        By::Trace => traces.iter().map(|it| whole(it)).collect(),
        By::Agent => traces.iter().flat_map(|it| agents(it)).collect(),
        By::Session => sessions(traces),
    }
}

/// A trace as one run. Its outermost span is one whose parent is not there: that of an agent, else the first.
fn whole(trace: &[Span]) -> Unit<'_> {
    let ids: HashSet<&str> = trace.iter().map(|it| it.span_id.as_str()).collect();
    let is_root = |it: &&Span| it.parent_id.as_deref().is_none_or(|parent| !ids.contains(parent));
    let roots: Vec<&Span> = trace.iter().filter(is_root).collect();
    let agent = roots.iter().find(|it| convention::kind(it) == SpanKind::Agent);
    let root = agent.or(roots.first()).copied().unwrap_or(&trace[0]);
    let is_cut = root.parent_id.as_deref().is_some_and(|parent| !ids.contains(parent));
    Unit { id: root.trace_id.clone(), root, turns: vec![root], spans: trace.iter().collect(), is_cut }
}

/// The outermost agents of a trace; the trace itself when it has none.
fn agents(trace: &[Span]) -> Vec<Unit<'_>> {
    let by_id: HashMap<&str, &Span> = trace.iter().map(|it| (it.span_id.as_str(), it)).collect();
    // The outermost agent above a span, itself included. Spans that are their own ancestors have none.
    let agent_of = |span: &Span| {
        let (mut found, mut at, mut n_steps) = (None, Some(span), 0);
        while let Some(span) = at.filter(|_| n_steps <= trace.len()) {
            if convention::kind(span) == SpanKind::Agent {
                found = Some(span.span_id.clone());
            }
            at = span.parent_id.as_deref().and_then(|it| by_id.get(it).copied());
            n_steps += 1;
        }
        found
    };
    let mut units: Vec<Unit<'_>> = Vec::new();
    for span in trace {
        let Some(agent) = agent_of(span) else { continue };
        let root = by_id[agent.as_str()];
        match units.iter_mut().find(|it| it.root.span_id == agent) {
            Some(unit) => unit.spans.push(span),
            None => {
                let is_cut = root.parent_id.as_deref().is_some_and(|parent| !by_id.contains_key(parent));
                let id = format!("{}:{agent}", root.trace_id);
                units.push(Unit { id, root, turns: vec![root], spans: vec![span], is_cut });
            }
        }
    }
    match units.as_mut_slice() {
        [] => vec![whole(trace)],
        [one] => {
            one.id.clone_from(&one.root.trace_id);
            units
        }
        _ => units,
    }
}

/// The traces of each session as one run; a trace without a session is one by itself. A trace that is about nothing is no turn.
fn sessions<'s>(traces: &[&'s Vec<Span>]) -> Vec<Unit<'s>> {
    let mut units: Vec<Unit<'s>> = Vec::new();
    for trace in traces {
        let unit = whole(trace);
        let session = trace.iter().find_map(Span::session);
        let Some(session) = session.map(plain) else {
            units.push(unit);
            continue;
        };
        match units.iter_mut().find(|it| it.id == session) {
            Some(known) => {
                if !run::is_about_nothing(&unit) {
                    known.turns.extend(unit.turns);
                }
                known.spans.extend(unit.spans);
                known.is_cut |= unit.is_cut;
            }
            None => units.push(Unit { id: session, ..unit }),
        }
    }
    units
}
