//! `opencode`: OpenCode, headless.

use jurat_format::value::{Map, Val};

use super::launch::{Launch, ModelAt, TurnInput, Wire, object};
use super::lines::lines;
use super::runner::{Package, Performer, Program, Runner};
use super::turn_report::{FaultSource, TurnReport, count, owned_text, picked, text};
use crate::artifact::Tokens;

pub(super) static RUNNER: Runner = Runner {
    name: "opencode",
    performer: Performer::Program(Program {
        name: "opencode",
        package: Package::Npm("opencode-ai"),
        tested: "1.18.33",
        wire: Wire::OpenAiChat,
        launch,
        read: |it| read(it.stdout),
        side_file: None,
        counts_session: false,
        failed_calls: None,
    }),
    takes_turns: true,
    limits_steps: true,
    takes_servers: true,
    skills: Some(".config/opencode/skills"),
    keys: &[],
};

fn launch(input: &TurnInput<'_>, model: &ModelAt) -> Launch {
    let mut launch = Launch::of(input);
    launch.args(["run", "--format", "json"]);
    if input.turn > 0 {
        launch.args(["--session", input.session]);
    }
    launch.args([input.message]);
    launch.env("OPENCODE_DISABLE_AUTOUPDATE", "1");
    launch.env("OPENCODE_DISABLE_MODELS_FETCH", "1");
    launch.env("OPENCODE_DISABLE_LSP_DOWNLOAD", "1");
    launch.home_file(input, ".config/opencode/opencode.json", &config(input, model));
    if let Some(system) = input.system {
        launch.home_file(input, ".config/opencode/AGENTS.md", system);
    }
    launch.finished(input)
}

fn config(input: &TurnInput<'_>, model: &ModelAt) -> String {
    let text = |it: &str| Val::from(it.to_owned());
    let options = object([("baseURL", text(&model.under("/v1"))), ("apiKey", text(&model.key))]);
    let named = object([("name", text(&model.model))]);
    let models = Val::Map([(model.model.clone(), named)].into_iter().collect::<Map<'static>>());
    let provider = object([
        ("npm", text("@ai-sdk/openai-compatible")),
        ("name", text("jurat")),
        ("options", options),
        ("models", models),
    ]);
    let mut members = vec![
        ("model", text(&format!("jurat/{}", model.model))),
        // Titles of sessions are asked for, too; a second model would be asked in vain.
        ("small_model", text(&format!("jurat/{}", model.model))),
        ("autoupdate", Val::Bool(false)),
        ("share", text("disabled")),
        ("permission", object([("*", text("allow"))])),
        ("provider", object([("jurat", provider)])),
    ];
    if let Some(turns) = input.agent.limits.turns {
        members.push(("agent", object([("build", object([("steps", Val::from(turns))]))])));
    }
    let entry = |url| object([("type", text("remote")), ("url", url), ("enabled", Val::Bool(true))]);
    members.extend(input.server_entries(entry).map(|it| ("mcp", it)));
    let mut json = Val::Map(members.into_iter().collect::<Map<'static>>()).to_json();
    json.push('\n');
    json
}

fn read(stream: &str) -> TurnReport {
    let mut report = TurnReport::default();
    let mut last_reason: Option<String> = None;
    for line in lines(stream) {
        let Some(event) = report.event(line, "printed") else { continue };
        report.session = report.session.take().or_else(|| owned_text(&event, "sessionID"));
        let at = millis(&event, "timestamp");
        let part = event.get("part").unwrap_or(&Val::Null);
        match text(&event, "type") {
            Some("step_start") => {
                report.note(at, "step_start", Val::Null);
                // The final message is what the last step says.
                report.response = None;
                last_reason = None;
            }
            Some("text") => {
                let said = owned_text(part, "text").unwrap_or_default();
                match &mut report.response {
                    Some(before) => {
                        before.push('\n');
                        before.push_str(&said);
                    }
                    None => report.response = Some(said.clone()),
                }
                report.said(at, "assistant", said);
            }
            Some("reasoning") => report.note(at, "reasoning", picked(part, &["text"])),
            Some("tool_use") => tool(&mut report, at, part),
            Some("step_finish") => {
                last_reason = owned_text(part, "reason");
                if let Some(used) = part.get("tokens") {
                    report.took(&tokens(used));
                }
                report.cost(part.get("cost").and_then(Val::as_f64).filter(|it| *it > 0.0));
                report.note(at, "step_finish", picked(part, &["reason"]));
            }
            Some("error") => {
                let error = event.get("error").unwrap_or(&Val::Null);
                let data = error.get("data").unwrap_or(error);
                let message = text(data, "message").or_else(|| text(error, "name"));
                let is_provider = text(error, "name").is_some_and(|it| it.contains("API") || it.contains("Provider"));
                let source = if is_provider { FaultSource::Provider } else { FaultSource::Agent };
                let code = if is_provider { "provider_error" } else { text(error, "name").unwrap_or("error") };
                report.fail(source, code, message.unwrap_or("the program does not say why"));
                report.note(at, "error", error.clone().into_owned());
            }
            other => report.note(at, other.unwrap_or("event"), event.clone().into_owned()),
        }
    }
    // There is no event for the end: what ends in the middle of a step, or with one that calls tools, broke off.
    if last_reason.as_deref().is_none_or(|it| it == "tool-calls") {
        report.fail(FaultSource::Stream, "stream_broken_off", "the stream ends before its last step is finished");
    }
    if report.fault.is_some() {
        report.response = None;
    }
    report
}

/// A call and what came back, in one event.
fn tool(report: &mut TurnReport, at: Option<String>, part: &Val<'_>) {
    let (id, name) = (owned_text(part, "callID"), owned_text(part, "tool").unwrap_or_default());
    let state = part.get("state").unwrap_or(&Val::Null);
    let times = state.get("time").unwrap_or(&Val::Null);
    let began = millis(times, "start").or_else(|| at.clone());
    report.called(began, id.clone(), name, state.get("input").unwrap_or(&Val::Null));
    let status = text(state, "status");
    let output = state.get("output").or_else(|| state.get("error")).cloned().unwrap_or(Val::Null);
    let exit = state.get("metadata").and_then(|it| it.get("exit"));
    let is_error = match (status, exit) {
        (Some("completed"), Some(Val::I(code))) => Some(*code != 0),
        (Some("completed"), _) => Some(false),
        (Some("error"), _) => Some(true),
        _ => None,
    };
    report.returned(millis(times, "end").or(at), id, is_error, output.into_owned());
}

/// `input` is what was not in a cache.
fn tokens(used: &Val<'_>) -> Tokens {
    let cache = used.get("cache").unwrap_or(&Val::Null);
    let (read, write) = (count(cache, "read"), count(cache, "write"));
    let input = count(used, "input").map(|it| it + read.unwrap_or(0) + write.unwrap_or(0));
    let reasoning = count(used, "reasoning");
    let output = count(used, "output").map(|it| it + reasoning.unwrap_or(0));
    Tokens { reasoning, cached_input: read, cache_write: write, ..Tokens::of(input, output) }
}

/// A moment that is written in milliseconds since 1970.
fn millis(value: &Val<'_>, key: &str) -> Option<String> {
    count(value, key).and_then(super::launch::moment)
}
