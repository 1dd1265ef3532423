//! `command`: any program. It reads one JSON object with its task from standard input, and prints events as JSON lines; or it
//! prints what it has to say, when its author says so (`output: text`).
//!
//! ```json
//! {"type": "message", "role": "assistant", "text": "I look at the file first."}
//! {"type": "tool_call", "id": "1", "name": "read", "arguments": {"path": "a.md"}}
//! {"type": "tool_result", "id": "1", "output": "…", "is_error": false}
//! {"type": "usage", "input_tokens": 120, "output_tokens": 30, "cost_usd": 0.001}
//! {"type": "note", "name": "retry", "detail": "the endpoint was busy"}
//! {"type": "error", "source": "provider", "message": "the endpoint does not answer"}
//! {"type": "refusal", "text": "I cannot help with that."}
//! {"type": "final", "text": "done"}
//! ```

use jurat_format::value::{Map, Val, Value};

use super::launch::{Launch, ModelAt, TurnInput, object};
use super::lines::lines;
use super::runner::{Performer, Printed, Runner};
use super::turn_report::{FaultSource, TurnReport, count, owned_text, picked, text};
use crate::artifact::Tokens;

pub(super) static RUNNER: Runner = Runner {
    name: "command",
    performer: Performer::Command,
    takes_turns: true,
    limits_steps: false,
    takes_servers: true,
    skills: None,
    keys: &["command", "output"],
};

pub(super) fn launch(input: &TurnInput<'_>, model: Option<&ModelAt>) -> Launch {
    let mut launch = Launch::of(input);
    launch.stdin = format!("{}\n", asked(input, model).to_json());
    launch.env("JURAT_TURN", &input.turn.to_string());
    launch.env("JURAT_SESSION", input.session);
    if let Some(model) = model {
        launch.env("JURAT_BASE_URL", &model.base_url);
        launch.env("JURAT_API_KEY", &model.key);
        launch.env("JURAT_MODEL", &model.model);
    }
    launch.finished(input)
}

/// The input of an agent in a turn.
pub(super) fn asked(input: &TurnInput<'_>, model: Option<&ModelAt>) -> Value {
    let mut members: Map<'static> = [
        ("task", Val::from(input.message.to_owned())),
        ("turn", Val::from(input.turn as u64)),
        ("turns", Val::from(input.n_turns as u64)),
        ("session", Val::from(input.session.to_owned())),
        ("workspace", Val::from(input.places.workspace.clone())),
    ]
    .into_iter()
    .collect();
    if let Some(system) = input.system {
        members.insert("system".into(), Val::from(system.to_owned()));
    }
    if let Some(model) = model {
        let model = object([
            ("api", Val::from(model.wire.name())),
            ("base_url", Val::from(model.base_url.clone())),
            ("model", Val::from(model.model.clone())),
            ("api_key", Val::from(model.key.clone())),
        ]);
        members.insert("model".into(), model);
    }
    if let Some(servers) = input.server_entries(|url| object([("url", url)])) {
        members.insert("mcp_servers".into(), servers);
    }
    Val::Map(members)
}

/// What a program that has no events printed.
pub(super) fn read_text(printed: &str) -> TurnReport {
    let said = printed.trim();
    let mut report = TurnReport::default();
    if !said.is_empty() {
        report.said(None, "assistant", said.to_owned());
        report.response = Some(said.to_owned());
    }
    report
}

pub(super) fn read(printed: Printed<'_>) -> TurnReport {
    if printed.is_text {
        return read_text(printed.stdout);
    }
    let mut events = Events::default();
    for line in lines(printed.stdout) {
        if let Some(event) = events.report.event(line, "printed") {
            events.take(&event);
        }
    }
    events.finish()
}

/// Events that are read one after the other.
#[derive(Default)]
pub(super) struct Events {
    report: TurnReport,
    has_final: bool,
}

impl Events {
    pub(super) fn take(&mut self, event: &Val<'_>) {
        let Events { report, has_final } = self;
        let at = owned_text(event, "timestamp");
        match text(event, "type") {
            Some("message") => {
                let role = text(event, "role").unwrap_or("assistant");
                let said = event.get("text").or_else(|| event.get("content")).unwrap_or(&Val::Null);
                match role {
                    "system" | "user" | "assistant" | "tool" => report.said(at, role, said.clone().into_owned()),
                    other => report.note(at, format!("message.{other}"), event.clone().into_owned()),
                }
            }
            Some("tool_call") => {
                let name = owned_text(event, "name").unwrap_or_default();
                let arguments = event.get("arguments").unwrap_or(&Val::Null);
                report.called(at, owned_text(event, "id"), name, arguments);
            }
            Some("tool_result") => {
                let is_error = match event.get("is_error") {
                    Some(Val::Bool(is_error)) => Some(*is_error),
                    _ => None,
                };
                let output = event.get("output").cloned().unwrap_or(Val::Null).into_owned();
                report.returned(at, owned_text(event, "id"), is_error, output);
            }
            Some("usage") => took(report, event),
            Some("note") => {
                let name = owned_text(event, "name").unwrap_or_else(|| "note".to_owned());
                report.note(at, name, event.get("detail").cloned().unwrap_or(Val::Null).into_owned());
            }
            Some("session") => {
                report.session = owned_text(event, "id");
                report.version = owned_text(event, "version");
                report.model = owned_text(event, "model");
                report.note(at, "session", picked(event, &["id", "version", "model"]));
            }
            Some("error") => {
                let message = text(event, "message").unwrap_or("the program does not say why");
                let source = match text(event, "source") {
                    Some("provider") => FaultSource::Provider,
                    Some("configuration") => FaultSource::Configuration,
                    _ => FaultSource::Agent,
                };
                let code = text(event, "code").unwrap_or(match source {
                    FaultSource::Provider => "provider_error",
                    FaultSource::Configuration => "configuration_refused",
                    _ => "agent_error",
                });
                report.fail(source, code, message);
            }
            Some("refusal") => {
                report.fail(FaultSource::Refusal, "refused", text(event, "text").unwrap_or_default());
            }
            Some("final") => {
                *has_final = true;
                report.response = owned_text(event, "text");
            }
            other => report.note(at, other.unwrap_or("event"), event.clone().into_owned()),
        }
    }

    /// The report of the events. A stream without a `final` event broke off.
    pub(super) fn finish(self) -> TurnReport {
        let Events { mut report, has_final } = self;
        if !has_final {
            report.fail(FaultSource::Stream, "stream_broken_off", "the stream ends without its `final` event");
        }
        report
    }
}

fn took(report: &mut TurnReport, event: &Val<'_>) {
    let counted = Tokens::of(count(event, "input_tokens"), count(event, "output_tokens"));
    report.took(&Tokens {
        total: count(event, "total_tokens").or(counted.total),
        reasoning: count(event, "reasoning_tokens"),
        cached_input: count(event, "cached_input_tokens"),
        cache_write: count(event, "cache_write_tokens"),
        ..counted
    });
    report.cost(event.get("cost_usd").and_then(Val::as_f64).filter(|it| *it >= 0.0));
}
