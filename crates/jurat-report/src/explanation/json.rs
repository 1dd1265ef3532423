//! An explanation for programs: everything, whole.

use std::io::{self, Write};

use jurat_core::effect::{Attempt, Media, Message, Part, PrintedText, ToolCall};
use jurat_core::report::explanation::{Called, Conversation, Explanation, Operands, Reply};
use jurat_core::report::gate_name;

use super::transcript::{write_members, write_tool};
use crate::columns::millis;
use crate::json::{optional, write_usage};
use crate::json_text::{Members, value, write_line};

/// The version of this shape. Members may be added without changing it.
pub(super) const VERSION: u64 = 1;

/// Writes an explanation as one JSON object.
pub fn write_json(out: &mut dyn Write, explanation: &Explanation) -> io::Result<()> {
    write_line(out, |members| write_explanation(members, explanation))
}

fn write_explanation(members: &mut Members<'_>, it: &Explanation) {
    members.number("version", VERSION);
    members.text("suite", &it.suite);
    members.text("run_id", &it.run_id);
    members.text("case", &it.case);
    optional(it.prompt.as_deref(), |it| members.text("prompt", it));
    optional(it.subject.as_deref(), |it| members.text("subject", it));
    optional(it.replicate, |it| members.number("replicate", u64::from(it)));
    optional(it.row.as_ref(), |row| {
        members.object("row", |it| {
            it.text("file", &row.file);
            optional(row.row, |row| it.number("row", row));
            optional(row.offset, |offset| it.number("offset", offset));
        });
    });
    members.text("task", &it.task);
    members.text("kind", &it.kind);
    optional(Some(gate_name(it.gate)).filter(|it| !it.is_empty()), |it| members.text("gate", it));
    members.number("stage", it.stage as u64);
    optional(it.description.as_deref(), |it| members.text("description", it));
    members.text("verdict", it.verdict.name());
    optional(Some(&*it.message).filter(|it| !it.is_empty()), |it| members.text("message", it));
    optional(it.label.as_deref(), |it| members.text("label", it));
    optional(it.score, |it| members.float("score", it));
    optional(it.explanation.as_deref(), |it| members.text("explanation", it));
    members.objects("gates", &it.gates, |it, gate| {
        it.text("task", &gate.task);
        it.text("verdict", gate.verdict.name());
        optional(Some(&*gate.message).filter(|it| !it.is_empty()), |message| it.text("message", message));
    });
    optional(it.operands.as_ref(), |operands| members.object("compared", |it| write_operands(it, operands)));
    optional(it.decided.as_ref(), |it| members.value("decided", &it.to_value()));
    members.objects("seen", &it.seen, |it, seen| {
        it.text("name", &seen.name);
        it.text("from", if seen.is_output { "task" } else { "case" });
        it.value("value", &seen.value);
    });
    members.objects("unseen", &it.unseen, |it, unseen| {
        it.text("name", &unseen.name);
        it.text("reason", &unseen.reason);
    });
    optional(it.called.as_ref(), |called| members.object("called", |it| write_called(it, called)));
    members.objects("conversations", &it.conversations, write_conversation);
    members.objects_if_any("tool_calls", &it.tool_calls, write_tool);
    members.list("spread", &it.spread, value);
    optional(it.transcript.as_ref(), |said| members.object("transcript", |it| write_members(it, said)));
}

fn write_operands(members: &mut Members<'_>, it: &Operands) {
    optional(it.path.as_deref(), |it| members.text("path", it));
    members.text("operator", &it.operator);
    optional(it.expected.as_ref(), |it| members.value("expected", it));
    optional(it.found.as_ref(), |it| members.value("found", it));
}

fn write_called(members: &mut Members<'_>, it: &Called) {
    members.text("evaluator", &it.evaluator);
    members.value("arguments", &it.arguments);
    optional(it.returned.as_ref(), |it| members.value("returned", it));
    optional(it.problem.as_deref(), |it| members.text("problem", it));
    for (name, printed) in [("stdout", &it.printed.stdout), ("stderr", &it.printed.stderr)] {
        optional(Some(printed).filter(|it| !it.is_empty()), |printed: &PrintedText| {
            members.object(name, |it| {
                it.text("text", &printed.text);
                it.number("dropped_bytes", printed.n_dropped);
            });
        });
    }
    optional(it.latency, |it| members.float("latency_ms", millis(it)));
    members.text("origin", it.origin.name());
    optional(it.age, |it| members.float("age_ms", millis(it)));
}

pub(super) fn write_conversation(members: &mut Members<'_>, it: &Conversation) {
    members.text("purpose", it.purpose.name());
    members.objects("messages", &it.messages, write_message);
    optional(it.schema.as_ref(), |it| members.value("schema", it));
    members.objects("replies", &it.replies, write_reply);
}

fn write_message(members: &mut Members<'_>, it: &Message) {
    members.text("role", it.role());
    members.text("text", it.text());
    match it {
        Message::System(_) | Message::User(_) => {}
        Message::Parts(parts) => members.objects("parts", parts.iter().as_slice(), write_part),
        Message::Assistant { tool_calls, .. } => write_tool_calls(members, tool_calls),
        Message::Tool { call_id, name, media, is_error, .. } => {
            members.text("call_id", call_id);
            members.text("name", name);
            if !media.is_empty() {
                members.objects("media", media, write_media);
            }
            members.flag("is_error", *is_error);
        }
    }
}

fn write_part(members: &mut Members<'_>, it: &Part) {
    match it {
        Part::Text(text) => members.text("text", text),
        Part::Media(media) => write_media(members, media),
    }
}

fn write_media(members: &mut Members<'_>, media: &Media) {
    members.text("kind", media.kind.name());
    members.text("media_type", &media.media_type);
    members.text("digest", &media.digest.to_string());
    members.number("bytes", media.n_bytes);
    optional(media.name.as_ref(), |it| members.text("name", it));
}

fn write_tool_calls(members: &mut Members<'_>, calls: &[ToolCall]) {
    if calls.is_empty() {
        return;
    }
    members.objects("tool_calls", calls, |it, call| {
        it.text("id", &call.id);
        it.text("name", &call.name);
        it.value("arguments", &call.arguments);
    });
}

fn write_reply(members: &mut Members<'_>, it: &Reply) {
    members.number("seat", u64::from(it.slot));
    members.number("turn", u64::from(it.turn));
    members.text("model", &it.model);
    optional(it.served.model.as_deref(), |it| members.text("served_model", it));
    optional(it.served.fingerprint.as_deref(), |it| members.text("fingerprint", it));
    optional(it.served.request_id.as_deref(), |it| members.text("request_id", it));
    optional(it.served.batch.as_deref(), |it| members.text("batch", it));
    optional(it.text.as_deref(), |it| members.text("text", it));
    optional(it.reasoning.as_deref(), |it| members.text("reasoning", it));
    optional(it.logprobs.as_ref(), |it| members.value("logprobs", &it.to_value()));
    write_tool_calls(members, &it.tool_calls);
    optional(it.parsed.as_ref(), |it| members.value("parsed", it));
    optional(it.problem.as_deref(), |it| members.text("problem", it));
    optional(it.finish.as_deref(), |it| members.text("finish", it));
    optional(it.usage, |usage| members.object("usage", |it| write_usage(it, &usage)));
    optional(it.cost_usd, |it| members.float("cost_usd", it));
    optional(it.latency, |it| members.float("latency_ms", millis(it)));
    optional(it.first_token, |it| members.float("first_token_ms", millis(it)));
    members.objects("failed", &it.attempts, write_attempt);
    members.text("origin", it.origin.name());
    optional(it.age, |it| members.float("age_ms", millis(it)));
}

fn write_attempt(members: &mut Members<'_>, it: &Attempt) {
    members.text("kind", &it.kind.name());
    members.text("message", &it.message);
    optional(it.retry_after, |it| members.float("retry_after_ms", millis(it)));
    members.float("took_ms", millis(it.took));
}
