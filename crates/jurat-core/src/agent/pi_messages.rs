//! Messages as pi has them, which OpenClaw has in its transcripts: `user`, `assistant` with calls of tools, `toolResult`.

use jurat_format::value::Val;

use super::launch::moment;
use super::turn_report::{TurnReport, count, joined, owned_text, picked, text};
use crate::artifact::Tokens;

pub(super) fn take(report: &mut TurnReport, at: Option<String>, message: &Val<'_>) {
    let at = at.or_else(|| count(message, "timestamp").and_then(moment));
    let content = message.get("content").unwrap_or(&Val::Null);
    match text(message, "role") {
        Some(role @ ("user" | "system")) => report.said(at, role, joined(content)),
        Some("assistant") => {
            assistant(report, at, content);
            if let Some(usage) = message.get("usage") {
                took(report, usage);
            }
            report.model = owned_text(message, "model").or(report.model.take());
        }
        Some("toolResult") => {
            let is_error = match message.get("isError") {
                Some(Val::Bool(is_error)) => Some(*is_error),
                _ => None,
            };
            // A command that ended with another code than 0 is marked by some tools only in their details.
            let exit = message.get("details").and_then(|it| it.get("exitCode"));
            let is_error = if matches!(exit, Some(Val::I(code)) if *code != 0) { Some(true) } else { is_error };
            report.returned(at, owned_text(message, "toolCallId"), is_error, joined(content));
        }
        other => report.note(at, format!("message.{}", other.unwrap_or("unknown")), message.clone().into_owned()),
    }
}

/// What the message says, when it is the agent's and calls nothing.
pub(super) fn last_word(message: &Val<'_>) -> Option<String> {
    if text(message, "role") != Some("assistant") {
        return None;
    }
    let content = message.get("content")?;
    let parts = match content {
        Val::Str(said) => return Some(said.clone().into_owned()),
        _ => content.as_list()?,
    };
    if parts.iter().any(|it| text(it, "type") == Some("toolCall")) {
        return None;
    }
    let texts: Vec<&str> =
        parts.iter().filter(|it| text(it, "type") == Some("text")).filter_map(|it| text(it, "text")).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn assistant(report: &mut TurnReport, at: Option<String>, content: &Val<'_>) {
    if let Val::Str(said) = content {
        report.said(at, "assistant", said.clone().into_owned());
        return;
    }
    for part in content.as_list().unwrap_or_default() {
        match text(part, "type") {
            Some("text") => report.said(at.clone(), "assistant", owned_text(part, "text").unwrap_or_default()),
            Some("toolCall") => {
                let name = owned_text(part, "name").unwrap_or_default();
                report.called(at.clone(), owned_text(part, "id"), name, part.get("arguments").unwrap_or(&Val::Null));
            }
            Some("thinking") => report.note(at.clone(), "thinking", picked(part, &["thinking"])),
            other => {
                report.note(at.clone(), format!("assistant.{}", other.unwrap_or("part")), part.clone().into_owned());
            }
        }
    }
}

fn took(report: &mut TurnReport, usage: &Val<'_>) {
    report.took(&tokens(usage));
    let cost = usage.get("cost").and_then(|it| it.get("total")).and_then(Val::as_f64);
    // A model whose price is not given costs nothing there.
    report.cost(cost.filter(|it| *it > 0.0));
}

/// `input` is what was not in a cache.
pub(super) fn tokens(usage: &Val<'_>) -> Tokens {
    let (read, write) = (count(usage, "cacheRead"), count(usage, "cacheWrite"));
    let input = count(usage, "input").map(|it| it + read.unwrap_or(0) + write.unwrap_or(0));
    Tokens { cached_input: read, cache_write: write, ..Tokens::of(input, count(usage, "output")) }
}
