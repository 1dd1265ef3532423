//! A transcript for programs: everything, whole.

use std::io::{self, Write};

use jurat_core::report::transcript::{EdgeStep, FieldStep, OutcomeStep, TestedStep, ToolStep, Transcript, Turn};
use jurat_core::scenario::TurnFailure;

use super::super::json::{VERSION, write_conversation};
use crate::json::optional;
use crate::json_text::{Members, write_line};

/// Writes a transcript as one JSON object.
pub fn write_transcript_json(out: &mut dyn Write, transcript: &Transcript) -> io::Result<()> {
    write_line(out, |members| {
        members.number("version", VERSION);
        members.text("suite", &transcript.suite);
        members.text("run_id", &transcript.run_id);
        members.text("case", &transcript.case);
        optional(transcript.subject.as_deref(), |it| members.text("subject", it));
        optional(transcript.replicate, |it| members.number("replicate", u64::from(it)));
        members.text("verdict", transcript.verdict.name());
        members.object("transcript", |it| write_members(it, transcript));
    })
}

/// Writes what was said, without whose it is.
pub(in super::super) fn write_members(members: &mut Members<'_>, it: &Transcript) {
    optional(it.description.as_deref(), |it| members.text("description", it));
    optional(it.status.as_deref(), |it| members.text("status", it));
    members.number("turn_limit", u64::from(it.turn_limit));
    members.objects("turns", &it.turns, write_turn);
    optional(it.failure.as_ref(), |(node, failure)| {
        members.object("terminal_failure", |it| {
            it.text("node", node);
            write_failure(it, failure);
        });
    });
    optional(it.final_state.as_ref(), |it| members.value("final_state", it));
    members.objects("outcomes", &it.outcomes, write_outcome);
}

fn write_turn(members: &mut Members<'_>, it: &Turn) {
    members.text("node", &it.node);
    members.text("question", &it.question);
    optional(it.sent.as_deref(), |it| members.text("sent", it));
    optional(it.reply.as_deref(), |it| members.text("reply", it));
    members.objects_if_any("tool_calls", &it.tool_calls, write_tool);
    members.value("parsed", &it.parsed);
    optional(it.verify_result, |it| members.flag("verify_result", it));
    optional(it.judged_by.as_deref(), |it| members.text("judged_by", it));
    optional(it.score, |it| members.float("score", it));
    members.objects("fields", &it.fields, write_field);
    members.objects("rubric", &it.rubric, |it, (name, rating)| {
        it.text("trait", name);
        it.value("value", rating);
    });
    if !it.rubric_errors.is_empty() {
        members.objects("rubric_errors", &it.rubric_errors, |it, (name, reason)| {
            it.text("trait", name);
            it.text("reason", reason);
        });
    }
    optional(it.failure.as_ref(), |failure| members.object("failure", |it| write_failure(it, failure)));
    optional(it.update_error.as_deref(), |it| members.text("update_error", it));
    members.objects("tested", &it.tested, write_tested);
    optional(it.taken.as_ref(), |edge| members.object("taken", |it| write_edge(it, edge)));
    optional(it.state.as_ref(), |it| members.value("state", it));
    members.objects("conversations", &it.conversations, write_conversation);
}

pub(in super::super) fn write_tool(members: &mut Members<'_>, it: &ToolStep) {
    optional(it.server.as_deref(), |it| members.text("server", it));
    members.text("tool", &it.tool);
    members.value("arguments", &it.arguments);
    optional(it.output.as_deref(), |it| members.text("output", it));
    members.flag("is_error", it.is_error);
}

fn write_field(members: &mut Members<'_>, it: &FieldStep) {
    members.text("field", &it.name);
    optional(it.result, |it| members.flag("result", it));
    optional(it.expected.as_deref(), |it| members.text("expected", it));
    members.text("found", &it.found);
    optional(it.problem.as_deref(), |it| members.text("problem", it));
}

fn write_failure(members: &mut Members<'_>, it: &TurnFailure) {
    members.text("category", it.category.name());
    members.text("stage", &it.stage);
    members.text("reason", &it.reason);
}

fn write_tested(members: &mut Members<'_>, it: &TestedStep) {
    write_edge(members, &it.edge);
    match &it.held {
        Ok(held) => members.flag("held", *held),
        Err(reason) => members.text("problem", reason),
    }
    members.objects("saw", &it.saw, |it, (path, saw)| {
        it.text("path", path);
        it.value("value", saw);
    });
}

fn write_edge(members: &mut Members<'_>, it: &EdgeStep) {
    members.number("edge", it.edge as u64);
    optional(it.when.as_deref(), |it| members.text("when", it));
    members.text("to", &it.to);
}

fn write_outcome(members: &mut Members<'_>, it: &OutcomeStep) {
    members.text("outcome", &it.name);
    optional(it.description.as_deref(), |it| members.text("description", it));
    match &it.result {
        Some(Ok(result)) => members.value("came_to", result),
        Some(Err(reason)) => members.text("problem", reason),
        None => {}
    }
    optional(it.decided.as_ref(), |it| members.value("decided", &it.to_value()));
}
