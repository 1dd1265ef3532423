//! A run artifact from the spans of one run.

use std::collections::HashMap;

use jurat_core::artifact::{
    Identity, Provider, RunArtifact, RunFault, RunRequest, RunStatus, RunUsage, Timing, Tokens,
};
use jurat_format::value::{Val, Value};

use super::convention::{self, SpanKind};
use super::conversation::Conversation;
use super::span::Span;
use crate::document::{Object, text, texts};
use crate::identifier;
use crate::kind::counted;

/// The spans of one run, the outermost first of all.
pub(super) struct Unit<'s> {
    pub(super) id: String,
    pub(super) root: &'s Span,
    /// The outermost span of each turn, in order: several of a session, else the one.
    pub(super) turns: Vec<&'s Span>,
    pub(super) spans: Vec<&'s Span>,
    /// Whether the parent of the outermost span is not in the input, so that what came before it is missing.
    pub(super) is_cut: bool,
}

/// What is made of spans without an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unfinished {
    /// They are not imported.
    #[default]
    Dropped,
    /// They ran out of time.
    TimedOut,
}

pub(super) struct Built {
    pub(super) artifact: RunArtifact,
    /// What is missing from it, in words.
    pub(super) lacks: Option<String>,
    /// How many spans are about something else.
    pub(super) n_others: usize,
    /// How many requests were recorded twice: by a gateway, and by the client inside of it.
    pub(super) n_inner: usize,
    /// How many links to other spans there are.
    pub(super) n_links: usize,
}

const WITHOUT_MESSAGES: &str = "no messages were recorded (content capture is off by default); checks of tokens, duration, cost and tools still work";

/// Whether spans are about no model, agent or tool and hold no response: the trace of a health check is no run that failed.
pub(super) fn is_about_nothing(unit: &Unit<'_>) -> bool {
    let is_about = |it: &&Span| !matches!(convention::kind(it), SpanKind::Step | SpanKind::Other);
    !unit.spans.iter().any(is_about) && convention::final_response(unit.root).is_none()
}

/// The artifact; the reason when there is none.
pub(super) fn artifact(unit: &Unit<'_>, unfinished: Unfinished) -> Result<Built, String> {
    let Unit { spans, .. } = unit;
    if let Some(open) = open_turn(unit).filter(|_| unfinished == Unfinished::Dropped) {
        return Err(format!(
            "the span `{}` has no end: it was still running; `--unfinished timed_out` takes it",
            open.name
        ));
    }
    let requests = Requests::of(spans);
    let conversation = conversation(spans, &requests);
    let models = requests.counted(spans);
    // What came of a session is what its last turn said.
    let response = convention::final_response(last_turn(unit)).or_else(|| conversation.last_text.clone());
    // A trace of tools and agents alone may say what came of it; where it does not, nothing of what was said was recorded.
    let lacks_messages = (!models.is_empty() || response.is_none())
        && models.iter().all(|it| convention::input(it).is_empty() && convention::output(it).is_empty());
    let (status, error) = status(unit, response.is_some(), lacks_messages);
    let response = response.filter(|_| status == RunStatus::Success);
    let n_others = of_kind(spans, SpanKind::Other).len();
    let n_links = spans.iter().map(|it| it.n_links).sum();
    let lacks = lacks(unit, lacks_messages, conversation.n_media);
    let artifact = RunArtifact {
        identity: identity(unit),
        status,
        timing: timing(unit),
        request: request(unit, &models),
        provider: provider(&models),
        usage: usage(&models),
        trace: conversation.finish(response),
        output_artifacts: Vec::new(),
        error,
        runner_metadata: runner_metadata(unit),
    };
    Ok(Built { artifact, lacks, n_others, n_inner: requests.n_inner(), n_links })
}

/// The outermost span of the last turn.
fn last_turn<'s>(unit: &Unit<'s>) -> &'s Span {
    unit.turns.last().copied().unwrap_or(unit.root)
}

/// The outermost span of the first turn that has no end.
fn open_turn<'s>(unit: &Unit<'s>) -> Option<&'s Span> {
    unit.turns.iter().copied().find(|it| it.end.is_none())
}

/// What is no part of an artifact: what was asked first, and what retrievers found, for judges that read them.
fn runner_metadata(unit: &Unit<'_>) -> Value {
    let mut metadata = Object::new().with("spans", unit.spans.len() as i64);
    metadata.put_some("input", convention::question(unit.root).map(text));
    let retrievers = of_kind(&unit.spans, SpanKind::Retriever);
    let found: Vec<String> = retrievers.iter().flat_map(|it| convention::document_texts(it)).collect();
    if !found.is_empty() {
        metadata.put("context", texts(found));
    }
    metadata.into()
}

/// What is missing from a run, in words.
fn lacks(unit: &Unit<'_>, lacks_messages: bool, n_media: usize) -> Option<String> {
    let cut = unit.is_cut.then(|| {
        format!(
            "the parent of its outermost span `{}` is not in the input, so what came before may be missing",
            unit.root.name
        )
    });
    let media = (n_media > 0).then(|| format!("{} of its messages are not in it", media(n_media)));
    let without = lacks_messages.then(|| WITHOUT_MESSAGES.to_owned());
    let reasons: Vec<String> = without.into_iter().chain(cut).chain(media).collect();
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

fn of_kind<'s>(spans: &[&'s Span], kind: SpanKind) -> Vec<&'s Span> {
    spans.iter().copied().filter(|it| convention::kind(it) == kind).collect()
}

/// Images, audio and files, counted.
pub(crate) fn media(n_media: usize) -> String {
    counted(n_media, "image, recording or other part")
        .replace("image, recording or other parts", "images, recordings or other parts")
}

/// Which requests of a run are counted. A gateway around a client records a request that the client records as well: a request inside of another, with no
/// tool or agent between them.
struct Requests {
    /// For each span the request that it is a part of.
    outer: Vec<Option<usize>>,
    /// For each request those inside of it.
    inner: HashMap<usize, Vec<usize>>,
    is_request: Vec<bool>,
    has_tokens: Vec<bool>,
}

impl Requests {
    fn of(spans: &[&Span]) -> Requests {
        let places: HashMap<(&str, &str), usize> =
            spans.iter().enumerate().map(|(ix, it)| ((it.trace_id.as_str(), it.span_id.as_str()), ix)).collect();
        let kinds: Vec<SpanKind> = spans.iter().map(|it| convention::kind(it)).collect();
        let parent = |ix: usize| Some(*places.get(&(spans[ix].trace_id.as_str(), spans[ix].parent_id.as_deref()?))?);
        let outer = |ix: usize| {
            let (mut found, mut at, mut n_steps) = (None, parent(ix), 0);
            while let Some(above) = at.filter(|_| kinds[ix] == SpanKind::Model && n_steps <= spans.len()) {
                match kinds[above] {
                    SpanKind::Model => found = Some(above),
                    SpanKind::Step | SpanKind::Other => {}
                    SpanKind::Agent | SpanKind::Tool | SpanKind::Retriever | SpanKind::Noted => break,
                }
                (at, n_steps) = (parent(above), n_steps + 1);
            }
            found
        };
        let outer: Vec<Option<usize>> = (0..spans.len()).map(outer).collect();
        let mut inner: HashMap<usize, Vec<usize>> = HashMap::new();
        for (ix, outer) in outer.iter().enumerate() {
            if let Some(outer) = outer {
                inner.entry(*outer).or_default().push(ix);
            }
        }
        Requests {
            outer,
            inner,
            is_request: kinds.iter().map(|it| *it == SpanKind::Model).collect(),
            has_tokens: spans.iter().map(|it| convention::tokens(it).iter().any(Option::is_some)).collect(),
        }
    }

    fn inner(&self, outer: usize) -> &[usize] {
        self.inner.get(&outer).map_or(&[], Vec::as_slice)
    }

    /// How many requests are not counted.
    fn n_inner(&self) -> usize {
        self.outer.iter().flatten().count()
    }

    /// The requests whose tokens are added up: the outer ones. One that names none stands for those inside of it.
    fn counted<'s>(&self, spans: &[&'s Span]) -> Vec<&'s Span> {
        let is_counted = |ix: usize| match self.outer[ix] {
            None => self.has_tokens[ix] || self.inner(ix).iter().all(|it| !self.has_tokens[*it]),
            Some(outer) => !self.has_tokens[outer] && self.has_tokens[ix],
        };
        (0..spans.len()).filter(|ix| self.is_request[*ix] && is_counted(*ix)).map(|ix| spans[ix]).collect()
    }

    /// Whether the messages of a request are those of the run. One with several inside of it is a loop of them, which have what was said between; one that
    /// has no messages leaves them to those inside.
    fn speaks(&self, spans: &[&Span], ix: usize) -> bool {
        let says = |ix: usize| !convention::input(spans[ix]).is_empty() || !convention::output(spans[ix]).is_empty();
        let is_loop = |ix: usize| {
            let n_inner = self.inner(ix).iter().filter(|it| says(**it)).count();
            n_inner > 1 || (n_inner == 1 && !says(ix))
        };
        self.outer[ix].map_or_else(|| !is_loop(ix), is_loop)
    }
}

fn conversation(spans: &[&Span], requests: &Requests) -> Conversation {
    let mut conversation = Conversation::default();
    let mut trace_id = None;
    for (ix, span) in spans.iter().enumerate() {
        // The next turn of a session: what the one before said is no response to it.
        if trace_id.replace(&span.trace_id).is_some_and(|it| *it != span.trace_id) {
            conversation.last_text = None;
        }
        match convention::kind(span) {
            SpanKind::Model if !requests.speaks(spans, ix) => {}
            SpanKind::Model => {
                conversation.ask(convention::input(span));
                conversation.answer(convention::output(span));
            }
            SpanKind::Tool => {
                let tool = convention::tool(span);
                conversation.tool(tool.call, tool.output, span.is_error, seconds(span));
            }
            SpanKind::Retriever => conversation.step(&span.name, convention::documents(span)),
            SpanKind::Noted => conversation.step(&span.name, convention::noted(span)),
            SpanKind::Agent | SpanKind::Step | SpanKind::Other => {}
        }
    }
    conversation
}

fn seconds(span: &Span) -> Option<f64> {
    span.end.map(|end| end.saturating_sub(span.start) as f64 / 1e9)
}

fn identity(unit: &Unit<'_>) -> Identity {
    let service = unit.spans.iter().find_map(|it| it.service.as_deref()).unwrap_or("traces");
    Identity {
        run_id: identifier::run_id(&unit.id),
        case_id: identifier::identity_with(&unit.root.name, "trace", &unit.id),
        suite_id: identifier::identity(service, "traces"),
        run_profile_id: "trace".to_owned(),
        runner_type: "trace".to_owned(),
    }
}

fn timing(unit: &Unit<'_>) -> Timing {
    let start = unit.spans.iter().map(|it| it.start).min().unwrap_or(unit.root.start);
    let end = unit.spans.iter().filter_map(|it| it.end).max().filter(|_| open_turn(unit).is_none());
    let date = |nanos: u64| {
        let at = jiff::Timestamp::from_nanosecond(i128::from(nanos)).ok().filter(|_| nanos > 0)?;
        Some(at.to_string())
    };
    Timing {
        queued_at: None,
        started_at: date(start),
        completed_at: end.and_then(date),
        duration_seconds: duration(unit),
    }
}

/// How long the outermost span took; of a session, from the first to the last.
fn duration(unit: &Unit<'_>) -> Option<f64> {
    let is_session = unit.spans.iter().any(|it| it.trace_id != unit.root.trace_id);
    if !is_session {
        return seconds(unit.root);
    }
    let last = unit.spans.iter().filter_map(|it| it.end).max()?;
    Some(last.saturating_sub(unit.root.start) as f64 / 1e9)
}

fn request(unit: &Unit<'_>, models: &[&Span]) -> RunRequest {
    let asked = models.iter().find_map(|it| convention::models(it).0);
    let mut labels = Object::new();
    // Outer spans often lack what only instrumented requests have.
    for span in std::iter::once(&unit.root).chain(&unit.spans) {
        convention::labels(span, &mut labels);
    }
    RunRequest {
        requested_model: asked.unwrap_or_else(|| "unknown".to_owned()),
        gateway: None,
        execution_parameters: models.first().map(|it| convention::parameters(it)).unwrap_or_default().into(),
        metadata: labels.into(),
    }
}

fn provider(models: &[&Span]) -> Provider {
    let Some(last) = models.last() else { return Provider::default() };
    Provider {
        provider_name: last.text(&["gen_ai.provider.name", "llm.provider", "llm.system", "gen_ai.system"]),
        provider_model_id: convention::models(last).1,
        response_id: last.text(&["gen_ai.response.id"]),
        finish_reason: convention::finish_reason(last),
        ..Provider::default()
    }
}

fn usage(models: &[&Span]) -> RunUsage {
    let mut sums: [Option<u64>; 6] = [None; 6];
    for span in models {
        for (sum, tokens) in sums.iter_mut().zip(convention::tokens(span)) {
            if let Some(tokens) = tokens {
                *sum = Some(sum.unwrap_or(0).saturating_add(tokens));
            }
        }
    }
    let [input, output, total, reasoning, cached_input, cache_write] = sums;
    let total = total.or_else(|| input.zip(output).map(|(input, output)| input.saturating_add(output)));
    let costs: Vec<f64> = models.iter().filter_map(|it| convention::cost(it)).collect();
    RunUsage {
        normalized: Tokens { input, output, total, reasoning, cached_input, cache_write },
        cost_usd: (!costs.is_empty()).then(|| costs.iter().sum()),
        raw_provider_usage: None,
    }
}

fn status(unit: &Unit<'_>, has_response: bool, lacks_messages: bool) -> (RunStatus, Option<RunFault>) {
    if open_turn(unit).is_some() {
        return (RunStatus::TimedOut, Some(fault(RunStatus::TimedOut, "the outermost span has no end", None)));
    }
    // A session failed when one of its turns did.
    if let Some(root) = unit.turns.iter().rev().find(|it| it.is_error) {
        let is_failing =
            |it: &&&Span| it.is_error && it.trace_id == root.trace_id && convention::kind(it) == SpanKind::Model;
        let failing = *unit.spans.iter().rev().find(is_failing).unwrap_or(root);
        let exception = exception(failing);
        let is_transport =
            convention::kind(failing) == SpanKind::Model && exception.as_deref().is_some_and(is_of_provider);
        let status = if is_transport { RunStatus::ProviderError } else { RunStatus::Failed };
        let message = if failing.message.is_empty() { &root.message } else { &failing.message };
        let message = if message.is_empty() { "the outermost span says that it failed" } else { message.as_str() };
        return (status, Some(fault(status, message, exception)));
    }
    if has_response || lacks_messages {
        return (RunStatus::Success, None);
    }
    (RunStatus::Invalid, Some(fault(RunStatus::Invalid, "the trace has no final response", None)))
}

fn fault(status: RunStatus, message: &str, error_type: Option<String>) -> RunFault {
    RunFault {
        code: status.name().to_owned(),
        message: message.to_owned(),
        error_type,
        retryable: None,
        provider_code: None,
        metadata: None,
    }
}

/// The name of what went wrong.
fn exception(span: &Span) -> Option<String> {
    let of_event = || {
        let event = span.events.iter().find(|it| it.name == "exception")?;
        event.attributes.get("exception.type").and_then(Val::as_str).map(str::to_owned)
    };
    span.text(&["error.type"]).or_else(of_event)
}

/// Whether an exception is of the way to the model rather than of the program.
fn is_of_provider(exception: &str) -> bool {
    const WORDS: [&str; 12] = [
        "connection",
        "timeout",
        "ratelimit",
        "status",
        "http",
        "server",
        "unavailable",
        "authentication",
        "permission",
        "badrequest",
        "apierror",
        "overloaded",
    ];
    let name: String = exception.to_ascii_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
    WORDS.iter().any(|it| name.contains(it)) || exception.parse::<u16>().is_ok()
}

/// The artifact as a line of `runs.jsonl`.
pub(super) fn line(built: &Built) -> Value {
    built.artifact.to_value()
}
