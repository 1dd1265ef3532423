//! Traces: spans in any format become runs of agents, so that checks, judges and outcomes work on them.
//!
//! Containers ([`otlp_json`], [`otlp_protobuf`]) give [`Span`]s; [`convention`] knows what their attributes mean; [`conversation`] puts messages
//! and calls in order; [`run`] makes the artifact. Other kinds whose files hold spans use [`write`].

mod convention;
mod conversation;
mod message;
mod otlp_json;
mod otlp_protobuf;
mod protobuf;
mod run;
mod span;

use std::collections::{HashMap, HashSet};

use jurat_format::value::{Val, Value};

pub(crate) use conversation::Conversation;
pub(crate) use message::from_value;
pub(crate) use otlp_json::span as span_of_json;
pub use run::Unfinished;
pub(crate) use span::{Span, SpanEvent, Spans};

use convention::SpanKind;
use run::Unit;

use crate::document::plain;
use crate::input::{Content, Input};
use crate::kind::{Import, ImportError, Kind, counted};

pub(crate) static OTLP: Kind = Kind {
    name: "otlp",
    help: "traces of OpenTelemetry (OTLP)",
    recognises: |input| match &input.content {
        Content::Binary(bytes) => otlp_protobuf::looks_like_request(bytes),
        _ => input.json().is_some_and(otlp_json::is_request),
    },
    read: |import| {
        let mut spans = Spans::default();
        let mut records = Vec::new();
        for input in import.inputs {
            read(input, &mut spans, &mut records)?;
        }
        let n_lost =
            records.into_iter().filter(|(trace, span, event)| !spans.add_event(trace, span, event.clone())).count();
        if n_lost > 0 {
            let at = import.inputs.first().map_or("", |it| it.name.as_str()).to_owned();
            import.report.dropped(&at, counted(n_lost, "log record"), "their spans are not in the input");
        }
        write(import, spans, &HashMap::new());
        Ok(())
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

/// The most spans of one trace.
const MAX_SPANS: usize = 100_000;

fn read(input: &Input, spans: &mut Spans, records: &mut otlp_json::Records) -> Result<(), ImportError> {
    let unreadable = |why: String| ImportError::unreadable(&input.name, why);
    if let Content::Binary(bytes) = &input.content {
        return otlp_protobuf::read(&input.name, bytes, spans).map_err(unreadable);
    }
    for value in input.values() {
        let (line, value) = value?;
        let at = format!("{}:{line}", input.name);
        otlp_json::read(&at, &value, spans, records).map_err(|why| unreadable(format!("line {line}: {why}")))?;
    }
    Ok(())
}

/// Writes the runs of spans. `extra` has further members of `request.metadata`, by trace.
pub(crate) fn write(import: &mut Import<'_>, spans: Spans, extra: &HashMap<String, Value>) {
    let traces = spans.traces();
    let n_spans = traces.iter().map(Vec::len).sum::<usize>();
    let (mut lines, mut n_others) = (Vec::new(), 0);
    let (small, large): (Vec<&Vec<Span>>, Vec<&Vec<Span>>) = traces.iter().partition(|it| it.len() <= MAX_SPANS);
    for trace in large {
        let why = format!("it has {} spans; {MAX_SPANS} are the most", trace.len());
        import.report.dropped(&trace[0].at, format!("trace `{}`", trace[0].trace_id), why);
    }
    for unit in units(&small, import.options.by) {
        let what = format!("trace `{}`", unit.id);
        match run::artifact(&unit, import.options.unfinished) {
            Err(why) => import.report.dropped(&unit.root.at, what, why),
            Ok(mut built) => {
                if let Some(extra) = extra.get(&unit.root.trace_id) {
                    add_members(&mut built.artifact.request.metadata, extra);
                }
                let into = format!("run `{}`", built.artifact.identity.run_id);
                match built.lacks_messages {
                    true => import.report.approximate(&unit.root.at, what, into, WITHOUT_MESSAGES),
                    false => import.report.exact(&unit.root.at, what, into),
                }
                n_others += built.n_others;
                lines.push(run::line(&built));
            }
        }
    }
    if n_others > 0 {
        let at = import.inputs.first().map_or("", |it| it.name.as_str()).to_owned();
        import.report.dropped(&at, counted(n_others, "span"), "they are about no model, agent or tool");
    }
    import.summary.push(counted(n_spans, "span"));
    import.summary.push(counted(lines.len(), "run"));
    import.lines("runs.jsonl", &lines);
}

const WITHOUT_MESSAGES: &str = "no messages were recorded (content capture is off by default); checks of tokens, duration, cost and tools still work";

fn add_members(metadata: &mut Value, extra: &Value) {
    let mut members = crate::document::Object::from(metadata.as_map().cloned().unwrap_or_default());
    for (key, value) in crate::document::members(extra) {
        members.put(key, value.clone());
    }
    *metadata = members.into();
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
    Unit { id: root.trace_id.clone(), root, spans: trace.iter().collect() }
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
            None => units.push(Unit { id: format!("{}:{agent}", root.trace_id), root, spans: vec![span] }),
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

/// The traces of each session as one run; a trace without a session is one by itself.
fn sessions<'s>(traces: &[&'s Vec<Span>]) -> Vec<Unit<'s>> {
    let mut units: Vec<Unit<'s>> = Vec::new();
    for trace in traces {
        let unit = whole(trace);
        let session =
            trace.iter().find_map(|it| it.attribute("session.id").or_else(|| it.attribute("gen_ai.conversation.id")));
        let Some(session) = session.map(plain) else {
            units.push(unit);
            continue;
        };
        match units.iter_mut().find(|it| it.id == session) {
            Some(known) => known.spans.extend(unit.spans),
            None => units.push(Unit { id: session, ..unit }),
        }
    }
    units
}

/// Members of an object whose values are not null.
pub(crate) fn present(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    crate::document::members(value).filter(|(_, it)| !matches!(it, Val::Null))
}
