//! A run artifact from the spans of one run.

use jurat_core::artifact::{
    Identity, Provider, RunArtifact, RunFault, RunRequest, RunStatus, RunUsage, Timing, Tokens,
};
use jurat_format::value::{Val, Value};

use super::convention::{self, SpanKind};
use super::conversation::Conversation;
use super::span::Span;
use crate::document::Object;
use crate::identifier;

/// The spans of one run, the outermost first of all.
pub(super) struct Unit<'s> {
    pub(super) id: String,
    pub(super) root: &'s Span,
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
}

const WITHOUT_MESSAGES: &str = "no messages were recorded (content capture is off by default); checks of tokens, duration, cost and tools still work";

/// Whether spans are about no model, agent or tool and hold no response: the trace of a health check is no run that failed.
pub(super) fn is_about_nothing(unit: &Unit<'_>) -> bool {
    let is_about = |it: &&Span| !matches!(convention::kind(it), SpanKind::Step | SpanKind::Other);
    !unit.spans.iter().any(is_about) && convention::final_response(unit.root).is_none()
}

/// The artifact; the reason when there is none.
pub(super) fn artifact(unit: &Unit<'_>, unfinished: Unfinished) -> Result<Built, String> {
    let Unit { root, spans, .. } = unit;
    if root.end.is_none() && unfinished == Unfinished::Dropped {
        return Err(format!(
            "the span `{}` has no end: it was still running; `--unfinished timed_out` takes it",
            root.name
        ));
    }
    let conversation = conversation(spans);
    let models = of_kind(spans, SpanKind::Model);
    let response = convention::final_response(root).or_else(|| conversation.last_text.clone());
    // A trace of tools and agents alone may say what came of it; where it does not, nothing of what was said was recorded.
    let lacks_messages = (!models.is_empty() || response.is_none())
        && models.iter().all(|it| convention::input(it).is_empty() && convention::output(it).is_empty());
    let (status, error) = status(unit, response.is_some(), lacks_messages);
    let response = response.filter(|_| status == RunStatus::Success);
    let n_others = of_kind(spans, SpanKind::Other).len();
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
        runner_metadata: Object::new().with("spans", spans.len() as i64).into(),
    };
    Ok(Built { artifact, lacks: lacks(unit, lacks_messages), n_others })
}

/// What is missing from a run, in words.
fn lacks(unit: &Unit<'_>, lacks_messages: bool) -> Option<String> {
    let cut = unit.is_cut.then(|| {
        format!(
            "the parent of its outermost span `{}` is not in the input, so what came before may be missing",
            unit.root.name
        )
    });
    let reasons: Vec<String> = lacks_messages.then(|| WITHOUT_MESSAGES.to_owned()).into_iter().chain(cut).collect();
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

fn of_kind<'s>(spans: &[&'s Span], kind: SpanKind) -> Vec<&'s Span> {
    spans.iter().copied().filter(|it| convention::kind(it) == kind).collect()
}

fn conversation(spans: &[&Span]) -> Conversation {
    let mut conversation = Conversation::default();
    for span in spans {
        match convention::kind(span) {
            SpanKind::Model => {
                conversation.ask(convention::input(span));
                conversation.answer(convention::output(span));
            }
            SpanKind::Tool => {
                let tool = convention::tool(span);
                conversation.tool(tool.call, tool.output, span.is_error, seconds(span));
            }
            SpanKind::Retriever => conversation.step(&span.name, convention::documents(span)),
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
    let end = unit.spans.iter().filter_map(|it| it.end).max().filter(|_| unit.root.end.is_some());
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
        execution_parameters: Object::new().into(),
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
    if unit.root.end.is_none() {
        return (RunStatus::TimedOut, Some(fault(RunStatus::TimedOut, "the outermost span has no end", None)));
    }
    if unit.root.is_error {
        let failing = unit.spans.iter().rev().find(|it| it.is_error && convention::kind(it) == SpanKind::Model);
        let failing = *failing.unwrap_or(&unit.root);
        let exception = exception(failing);
        let is_transport =
            convention::kind(failing) == SpanKind::Model && exception.as_deref().is_some_and(is_of_provider);
        let status = if is_transport { RunStatus::ProviderError } else { RunStatus::Failed };
        let message = if failing.message.is_empty() { &unit.root.message } else { &failing.message };
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
