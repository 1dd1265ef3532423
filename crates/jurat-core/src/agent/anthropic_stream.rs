//! Streams of messages in the manner of Anthropic: `system`, `assistant`, `user`, and one `result` at the end.

use jurat_format::value::{Map, Val};

use super::lines::lines;
use super::turn_report::{FaultSource, TurnReport, count, joined, owned_text, picked, text};
use crate::artifact::Tokens;

/// What the two programs that speak so mean differently.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dialect {
    /// Whether the count of tokens read already has those from a cache in it.
    pub(super) input_has_cached: bool,
    /// The member of `system` that has the version of the program.
    pub(super) version: &'static str,
    /// What it means that a result reads like a fault of the endpoint.
    pub(super) words: FaultSource,
}

pub(super) fn read(stream: &str, dialect: Dialect) -> TurnReport {
    let mut report = TurnReport::default();
    let mut has_result = false;
    for line in lines(stream) {
        let Some(event) = report.event(line, "printed") else { continue };
        let at = owned_text(&event, "timestamp");
        match text(&event, "type") {
            Some("system") if text(&event, "subtype") == Some("init") => {
                report.session = owned_text(&event, "session_id");
                report.model = owned_text(&event, "model");
                report.version = owned_text(&event, dialect.version);
                report.note(at, "init", picked(&event, &["session_id", "model", dialect.version, "tools"]));
            }
            Some("assistant") => assistant(&mut report, at, &event),
            Some("user") => user(&mut report, at, &event),
            Some("result") => {
                has_result = true;
                result(&mut report, at, &event, dialect);
            }
            // Pieces of messages that come whole later.
            Some("stream_event") if is_piece(&event) => {}
            other => {
                let kind = [other.unwrap_or("event"), text(&event, "subtype").unwrap_or_default()];
                let name = kind.iter().filter(|it| !it.is_empty()).copied().collect::<Vec<_>>().join(".");
                report.note(at, name, event.clone().into_owned());
            }
        }
    }
    if !has_result {
        report.fail(FaultSource::Stream, "stream_broken_off", "the stream ends without its `result` event");
    }
    report
}

fn is_piece(event: &Val<'_>) -> bool {
    const PIECES: [&str; 6] = [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ];
    event.get("event").and_then(|it| text(it, "type")).is_some_and(|it| PIECES.contains(&it))
}

fn assistant(report: &mut TurnReport, at: Option<String>, event: &Val<'_>) {
    let n_before = report.events.len();
    let content = event.get("message").and_then(|it| it.get("content")).unwrap_or(&Val::Null);
    match content {
        Val::Str(said) => report.said(at, "assistant", said.clone().into_owned()),
        _ => {
            for block in content.as_list().unwrap_or_default() {
                match text(block, "type") {
                    Some("text") => {
                        report.said(at.clone(), "assistant", owned_text(block, "text").unwrap_or_default());
                    }
                    Some("tool_use") => {
                        let arguments = block.get("input").unwrap_or(&Val::Null);
                        let name = owned_text(block, "name").unwrap_or_default();
                        report.called(at.clone(), owned_text(block, "id"), name, arguments);
                    }
                    other => {
                        let name = format!("assistant.{}", other.unwrap_or("block"));
                        report.note(at.clone(), name, block.clone().into_owned());
                    }
                }
            }
        }
    }
    below(report, n_before, event);
}

fn user(report: &mut TurnReport, at: Option<String>, event: &Val<'_>) {
    let n_before = report.events.len();
    let content = event.get("message").and_then(|it| it.get("content")).unwrap_or(&Val::Null);
    match content {
        Val::Str(said) => report.said(at, "user", said.clone().into_owned()),
        _ => {
            for block in content.as_list().unwrap_or_default() {
                match text(block, "type") {
                    Some("tool_result") => {
                        // Only what went wrong is marked by some versions.
                        let is_marked = block.get("is_error") == Some(&Val::Bool(true));
                        let output = joined(block.get("content").unwrap_or(&Val::Null));
                        let is_error = Some(is_marked || is_failed_command(&output));
                        report.returned(at.clone(), owned_text(block, "tool_use_id"), is_error, output);
                    }
                    Some("text") => report.said(at.clone(), "user", owned_text(block, "text").unwrap_or_default()),
                    other => {
                        let name = format!("user.{}", other.unwrap_or("block"));
                        report.note(at.clone(), name, block.clone().into_owned());
                    }
                }
            }
        }
    }
    below(report, n_before, event);
}

/// Whether a result of Qwen Code is that of a command that ended with another code than 0: not all of its versions mark it.
fn is_failed_command(output: &Val<'_>) -> bool {
    let Some(output) = output.as_str().filter(|it| it.starts_with("Command: ")) else { return false };
    output.lines().find_map(|it| it.strip_prefix("Exit Code: ")).is_some_and(|it| !matches!(it, "0" | "(none)"))
}

/// What an agent below the agent did carries the call that began it.
fn below(report: &mut TurnReport, n_before: usize, event: &Val<'_>) {
    let Some(parent) = owned_text(event, "parent_tool_use_id") else { return };
    for event in &mut report.events[n_before..] {
        let metadata = [("parent_tool_use_id", Val::from(parent.clone()))];
        event.metadata = Some(Val::Map(metadata.into_iter().collect::<Map<'static>>()));
    }
}

fn result(report: &mut TurnReport, at: Option<String>, event: &Val<'_>, dialect: Dialect) {
    let keys = ["subtype", "num_turns", "duration_ms", "stop_reason", "terminal_reason", "permission_denials"];
    report.note(at, "result", picked(event, &keys));
    if let Some(usage) = event.get("usage") {
        report.took(&tokens(usage, dialect));
        report.usage.raw_provider_usage = Some(usage.clone().into_owned());
    }
    report.usage.cost_usd = cost(event);
    let is_error = event.get("is_error") == Some(&Val::Bool(true));
    let subtype = text(event, "subtype").unwrap_or("success");
    let refused = text(event, "stop_reason") == Some("refusal");
    // Qwen Code calls a run whose endpoint failed a success, and what failed its result.
    let is_answer = text(event, "result").is_none_or(|it| !it.starts_with("[API Error"));
    if !is_error && subtype == "success" && is_answer && !refused {
        report.response = owned_text(event, "result");
        return;
    }
    let said = owned_text(event, "result")
        .filter(|it| !it.trim().is_empty())
        .or_else(|| errors(event))
        .unwrap_or_else(|| format!("the program ended with `{subtype}` and does not say why"));
    let status = event.get("api_error_status").filter(|it| !matches!(it, Val::Null));
    match status {
        _ if refused => report.fail(FaultSource::Refusal, "refused", said),
        Some(status) => report.fail(FaultSource::Provider, format!("status_{}", plain(status)), said),
        None if says_provider(&said) => report.fail(dialect.words, "provider_error", said),
        None => report.fail(FaultSource::Agent, subtype, said),
    }
}

/// The messages of a list of errors.
fn errors(event: &Val<'_>) -> Option<String> {
    let errors = event.get("errors").or_else(|| event.get("error"))?;
    let one = |it: &Val<'_>| it.as_str().or_else(|| text(it, "message")).map(str::to_owned);
    match errors.as_list() {
        Some(list) => Some(list.iter().filter_map(one).collect::<Vec<_>>().join("; ")).filter(|it| !it.is_empty()),
        None => one(errors),
    }
}

/// Both programs begin what the endpoint of a model said with these words.
fn says_provider(said: &str) -> bool {
    said.contains("API Error") || said.contains("Connection error")
}

fn plain(value: &Val<'_>) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn tokens(usage: &Val<'_>, dialect: Dialect) -> Tokens {
    let cached = count(usage, "cache_read_input_tokens");
    let written = count(usage, "cache_creation_input_tokens");
    let beside = if dialect.input_has_cached { 0 } else { cached.unwrap_or(0) + written.unwrap_or(0) };
    let input = count(usage, "input_tokens").map(|it| it + beside);
    Tokens {
        reasoning: usage.get("output_tokens_details").and_then(|it| count(it, "thinking_tokens")),
        cached_input: cached,
        cache_write: written,
        ..Tokens::of(input, count(usage, "output_tokens"))
    }
}

/// What it cost, unless the program says that it took a price for a model that it does not know.
fn cost(event: &Val<'_>) -> Option<f64> {
    let models = event.get("modelUsage").and_then(Val::as_map);
    let is_unknown = |it: &Val<'_>| text(it, "costBasis") == Some("unknown");
    if models.is_some_and(|it| it.iter().any(|(_, it)| is_unknown(it))) {
        return None;
    }
    event.get("total_cost_usd").and_then(Val::as_f64).filter(|it| *it >= 0.0)
}
