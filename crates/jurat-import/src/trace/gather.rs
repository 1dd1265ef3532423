//! Spans become runs as soon as the last one of a trace was read.
//!
//! An input is read twice: [`Survey`] sees where each trace ends, [`Runs`] then holds no more than the traces of which more is to come. What is written is in the
//! order of the traces, whatever the order of the input.

use std::collections::HashMap;

use jurat_format::value::{Val, Value};

use super::run::{self, Unit};
use super::span::{Span, SpanEvent, Spans};
use super::{By, units};
use crate::document::{Object, members, plain};
use crate::kind::{Import, ImportError, counted};

/// The most spans of one trace.
const MAX_SPANS: usize = 100_000;

/// Something that an input has about a trace.
#[derive(Debug)]
pub(crate) enum Found {
    Span(Span),
    /// A log record about a span: its trace, the span, and what it says.
    Record(String, String, SpanEvent),
}

impl Found {
    fn trace_id(&self) -> &str {
        match self {
            Found::Span(span) => &span.trace_id,
            Found::Record(trace_id, ..) => trace_id,
        }
    }
}

/// Where spans are in order: by their start.
type Place = (u64, String, String);

fn place(span: &Span) -> Place {
    (span.start, span.trace_id.clone(), span.span_id.clone())
}

/// What is known of traces before any of them is read.
#[derive(Debug)]
pub(crate) struct Survey {
    by: By,
    traces: HashMap<String, Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    /// How many spans and records it has.
    n_found: usize,
    /// Its session, by the first span that names one.
    session: Option<(Place, String)>,
}

impl Survey {
    pub(crate) fn new(by: By) -> Survey {
        Survey { by, traces: HashMap::new() }
    }

    /// Whether there is anything of a trace.
    pub(crate) fn has(&self, trace_id: &str) -> bool {
        self.traces.contains_key(trace_id)
    }

    pub(crate) fn see(&mut self, found: &Found) {
        if !self.traces.contains_key(found.trace_id()) {
            self.traces.insert(found.trace_id().to_owned(), Seen::default());
        }
        let Some(seen) = self.traces.get_mut(found.trace_id()) else { return };
        seen.n_found += 1;
        let Found::Span(span) = found else { return };
        if self.by == By::Session
            && let Some(session) = span.session().map(plain)
        {
            let place = place(span);
            if seen.session.as_ref().is_none_or(|(first, _)| place < *first) {
                seen.session = Some((place, session));
            }
        }
    }
}

/// Runs as they become complete.
pub(crate) struct Runs {
    by: By,
    /// Further members of `request.metadata`, by trace.
    extra: HashMap<String, Value>,
    /// The group of each trace: one trace, or all of a session.
    groups: HashMap<String, usize>,
    open: Vec<Group>,
    entries: Vec<Written>,
    n_spans: usize,
    n_others: usize,
    n_inner: usize,
    n_links: usize,
    /// How many would be runs of nothing.
    n_empty: usize,
    n_lost: usize,
}

/// Traces that become runs together.
#[derive(Debug, Default)]
struct Group {
    n_left: usize,
    spans: Spans,
    records: Vec<(String, String, SpanEvent)>,
}

/// What became of a unit, until its place in the report is known.
struct Written {
    /// What is too large comes first; then the first trace decides, and the number of the run in it.
    place: (bool, Place, usize),
    at: String,
    what: String,
    outcome: Outcome,
}

enum Outcome {
    /// The number of its row, what it is called, and what is missing from it.
    Run(usize, String, Option<String>),
    Dropped(String),
}

impl Runs {
    pub(crate) fn new(survey: Survey, extra: HashMap<String, Value>) -> Runs {
        let mut runs = Runs {
            by: survey.by,
            extra,
            groups: HashMap::new(),
            open: Vec::new(),
            entries: Vec::new(),
            n_spans: 0,
            n_others: 0,
            n_inner: 0,
            n_links: 0,
            n_empty: 0,
            n_lost: 0,
        };
        let mut sessions: HashMap<String, usize> = HashMap::new();
        for (trace_id, seen) in survey.traces {
            let next = runs.open.len();
            let ix = seen.session.map_or(next, |(_, it)| *sessions.entry(it).or_insert(next));
            if ix == next {
                runs.open.push(Group::default());
            }
            runs.open[ix].n_left += seen.n_found;
            runs.groups.insert(trace_id, ix);
        }
        runs
    }

    /// Takes in what was found; what is complete by it is written.
    pub(crate) fn take(&mut self, import: &mut Import<'_>, found: Found) -> Result<(), ImportError> {
        let Some(group) = self.groups.get(found.trace_id()).map(|ix| &mut self.open[*ix]) else { return Ok(()) };
        group.n_left = group.n_left.saturating_sub(1);
        match found {
            Found::Span(span) => group.spans.add(span),
            Found::Record(trace_id, span_id, event) => group.records.push((trace_id, span_id, event)),
        }
        match group.n_left {
            0 => {
                let group = std::mem::take(group);
                self.write(import, group)
            }
            _ => Ok(()),
        }
    }

    fn write(&mut self, import: &mut Import<'_>, group: Group) -> Result<(), ImportError> {
        let Group { mut spans, records, .. } = group;
        self.n_lost += records.into_iter().filter(|(trace, span, event)| !spans.add_event(trace, span, event)).count();
        let traces = spans.traces();
        self.n_spans += traces.iter().map(Vec::len).sum::<usize>();
        let (small, large): (Vec<&Vec<Span>>, Vec<&Vec<Span>>) = traces.iter().partition(|it| it.len() <= MAX_SPANS);
        for trace in large {
            let why = format!("it has {} spans; {MAX_SPANS} are the most", trace.len());
            self.entries.push(Written {
                place: (false, place(&trace[0]), 0),
                at: trace[0].at.clone(),
                what: format!("trace `{}`", trace[0].trace_id),
                outcome: Outcome::Dropped(why),
            });
        }
        let Some(first) = small.first().map(|it| place(&it[0])) else { return Ok(()) };
        for (ix, unit) in units(&small, self.by).iter().enumerate() {
            if run::is_about_nothing(unit) {
                self.n_empty += 1;
                continue;
            }
            let outcome = self.outcome(import, unit)?;
            self.entries.push(Written {
                place: (true, first.clone(), ix),
                at: unit.root.at.clone(),
                what: format!("trace `{}`", unit.id),
                outcome,
            });
        }
        Ok(())
    }

    fn outcome(&mut self, import: &mut Import<'_>, unit: &Unit<'_>) -> Result<Outcome, ImportError> {
        let mut built = match run::artifact(unit, import.options.unfinished) {
            Err(why) => return Ok(Outcome::Dropped(why)),
            Ok(built) => built,
        };
        let mut trace_ids: Vec<&str> = unit.turns.iter().map(|it| it.trace_id.as_str()).collect();
        trace_ids.dedup();
        for extra in trace_ids.into_iter().filter_map(|it| self.extra.get(it)) {
            add_members(&mut built.artifact.request.metadata, extra);
        }
        self.n_others += built.n_others;
        self.n_inner += built.n_inner;
        self.n_links += built.n_links;
        let into = format!("run `{}`", built.artifact.identity.run_id);
        let number = import.n_rows();
        import.row(&run::line(&built))?;
        Ok(Outcome::Run(number, into, built.lacks))
    }

    /// Says what became of the traces, in their order, and adds the file of runs.
    pub(crate) fn finish(mut self, import: &mut Import<'_>) -> Result<(), ImportError> {
        let at = import.inputs.first().map_or("", |it| it.name.as_str()).to_owned();
        if self.n_lost > 0 {
            import.report.dropped(&at, counted(self.n_lost, "log record"), "their spans are not in the input");
        }
        self.entries.sort_by(|left, right| left.place.cmp(&right.place));
        let mut order = Vec::new();
        for Written { at, what, outcome, .. } in self.entries {
            match outcome {
                Outcome::Dropped(why) => import.report.dropped(&at, what, why),
                Outcome::Run(number, into, lacks) => {
                    order.push(number);
                    match lacks {
                        Some(why) => import.report.approximate(&at, what, into, why),
                        None => import.report.exact(&at, what, into),
                    }
                }
            }
        }
        if self.n_empty > 0 {
            let why = "none of their spans is about a model, an agent or a tool";
            import.report.dropped(&at, counted(self.n_empty, "trace"), why);
        }
        if self.n_others > 0 {
            import.report.dropped(&at, counted(self.n_others, "span"), "they are about no model, agent or tool");
        }
        if self.n_inner > 0 {
            let why = "they are inside of another request, as a client's are inside of a gateway's, which is counted";
            import.report.dropped(&at, counted(self.n_inner, "request"), why);
        }
        if self.n_links > 0 {
            import.report.dropped(&at, counted(self.n_links, "span link"), "a run has no links to others");
        }
        import.arrange_rows(&order);
        import.summary.push(counted(self.n_spans, "span"));
        import.summary.push(counted(order.len(), "run"));
        import.rows_file("runs.jsonl");
        Ok(())
    }
}

/// Adds objects such as scores. What two traces of a session have under one name is a list.
fn add_members(metadata: &mut Value, extra: &Value) {
    let mut whole = Object::from(metadata.as_map().cloned().unwrap_or_default());
    for (key, value) in members(extra) {
        let mut known = Object::from(whole.get(key).and_then(Val::as_map).cloned().unwrap_or_default());
        for (name, value) in members(value) {
            match value {
                Val::List(items) => items.iter().for_each(|it| known.gather(name, it.clone())),
                one => known.gather(name, one.clone()),
            }
        }
        whole.put(key, known);
    }
    *metadata = whole.into();
}
