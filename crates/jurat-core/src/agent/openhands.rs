//! `openhands`: the OpenHands CLI, headless. It prints its events as JSON lines between lines for people; what it used is not among them.

use jurat_format::value::{Val, parse_json};

use super::launch::{Launch, ModelAt, TurnInput, Wire, object};
use super::lines::lines;
use super::runner::{Package, Performer, Program, Runner};
use super::turn_report::{FaultSource, TurnReport, joined, owned_text, picked, text};
use crate::artifact::Happening;

pub(super) static RUNNER: Runner = Runner {
    name: "openhands",
    performer: Performer::Program(Program {
        name: "openhands",
        package: Package::PyPi("openhands"),
        tested: "1.16.0",
        wire: Wire::OpenAiChat,
        launch,
        read: |it| read(it.stdout),
        side_file: None,
        counts_session: false,
        failed_calls: None,
    }),
    takes_turns: true,
    limits_steps: false,
    takes_servers: true,
    skills: Some(".openhands/skills"),
    keys: &[],
};

fn launch(input: &TurnInput<'_>, model: &ModelAt) -> Launch {
    let mut launch = Launch::of(input);
    let message = input.with_system();
    launch.args(["--headless", "--json", "--always-approve", "--override-with-envs", "-t", &message]);
    if input.turn > 0 {
        launch.args(["--resume", input.session]);
    }
    launch.env("LLM_MODEL", &format!("openai/{}", model.model));
    launch.env("LLM_BASE_URL", &model.under("/v1"));
    launch.env("LLM_API_KEY", &model.key);
    launch.env("LITELLM_LOCAL_MODEL_COST_MAP", "True");
    launch.env("OPENHANDS_SUPPRESS_BANNER", "1");
    let entry = |url| object([("url", url), ("transport", Val::from("http"))]);
    if let Some(servers) = input.server_entries(entry) {
        let config = object([("mcpServers", servers)]);
        launch.home_file(input, ".openhands/mcp.json", &format!("{}\n", config.to_json()));
    }
    launch.finished(input)
}

/// What it prints in a line before a summary of what its events said, and before the name of the session, which is its end.
const SUMMARY: &str = " CONVERSATION SUMMARY ";
const SESSION: &str = "\nConversation ID: ";

fn read(stream: &str) -> TurnReport {
    let mut report = TurnReport::default();
    let (events, end) = stream.split_at(summary(stream));
    for line in lines(events) {
        let Some(event) = report.event(line, "printed") else { continue };
        take(&mut report, &event);
    }
    report.session = end.rsplit_once(SESSION).and_then(|(_, it)| session(it));
    if report.session.is_none() {
        report.fail(FaultSource::Stream, "stream_broken_off", "the stream ends without the id of its conversation");
    }
    if report.fault.is_some() {
        report.response = None;
    }
    report
}

/// Where the summary begins. Events may hold the same words: an agent reads and writes anything.
fn summary(stream: &str) -> usize {
    let is_heading = |it: &str| it.starts_with('─') && it.contains(SUMMARY);
    stream.split_inclusive('\n').take_while(|it| !is_heading(it)).map(str::len).sum()
}

/// A line of 32 digits, of which none is missing.
fn session(text: &str) -> Option<String> {
    let id = text.lines().next()?.trim();
    (id.len() == 32 && id.bytes().all(|it| it.is_ascii_hexdigit())).then(|| id.to_owned())
}

fn take(report: &mut TurnReport, event: &Val<'_>) {
    let at = owned_text(event, "timestamp");
    match text(event, "kind") {
        Some("MessageEvent") => message(report, at, event),
        Some("ActionEvent") => called(report, at, event),
        Some("ObservationEvent") => returned(report, at, event),
        Some("AgentErrorEvent" | "UserRejectObservation") => {
            let why = event.get("error").or_else(|| event.get("rejection_reason")).unwrap_or(&Val::Null);
            report.returned(at, owned_text(event, "tool_call_id"), Some(true), why.clone().into_owned());
        }
        Some("ConversationErrorEvent") => fail(report, event),
        other => report.note(at, other.unwrap_or("event"), event.clone().into_owned()),
    }
}

fn message(report: &mut TurnReport, at: Option<String>, event: &Val<'_>) {
    let message = event.get("llm_message").unwrap_or(&Val::Null);
    let content = message.get("content").map_or(Val::Null, joined);
    let is_empty = content.as_str().is_some_and(str::is_empty);
    if text(event, "source") == Some("agent") {
        report.response = content.as_str().filter(|it| !it.is_empty()).map(str::to_owned);
    }
    if !is_empty {
        report.said(at, text(message, "role").unwrap_or("assistant"), content);
    }
}

/// A call, with what was thought before it. A tool of a server is named so, because the program shows it under the name of the tool alone.
fn called(report: &mut TurnReport, at: Option<String>, event: &Val<'_>) {
    let thought = event.get("thought").map_or(Val::Null, joined);
    if thought.as_str().is_some_and(|it| !it.is_empty()) {
        report.said(at.clone(), "assistant", thought);
    }
    if let Some(reasoning) = text(event, "reasoning_content").filter(|it| !it.is_empty()) {
        report.note(at.clone(), "reasoning", Val::from(reasoning.to_owned()));
    }
    let action = event.get("action").unwrap_or(&Val::Null);
    let name = owned_text(event, "tool_name").unwrap_or_default();
    // What was said before a call is not the final message; what it finishes with is.
    report.response = if name == "finish" { owned_text(action, "message") } else { None };
    let tool_name = if text(action, "kind") == Some("MCPToolAction") { format!("mcp__{name}") } else { name };
    let written = event.get("tool_call").and_then(|it| owned_text(it, "arguments")).unwrap_or_default();
    let parsed = parse_json(&written).ok().map(|it| it.value.into_owned()).filter(|it| it.as_map().is_some());
    report.push(
        at,
        Happening::ToolCall {
            call_id: owned_text(event, "tool_call_id"),
            tool_name,
            raw_arguments: Val::from(written),
            parsed_arguments: parsed,
        },
    );
}

fn returned(report: &mut TurnReport, at: Option<String>, event: &Val<'_>) {
    let observation = event.get("observation").unwrap_or(&Val::Null);
    let is_error = match (observation.get("is_error"), observation.get("exit_code")) {
        (Some(Val::Bool(true)), _) => Some(true),
        // The command still runs: it was not waited for any longer.
        (_, Some(Val::I(-1))) => None,
        (_, Some(Val::I(code))) => Some(*code != 0),
        (Some(Val::Bool(false)), _) => Some(false),
        _ => None,
    };
    let output = observation.get("content").map_or_else(|| observation.clone().into_owned(), joined);
    report.returned(at, owned_text(event, "tool_call_id"), is_error, output);
}

/// Parts of the names that errors of an endpoint have.
const OF_ENDPOINT: [&str; 8] =
    ["Authentication", "RateLimit", "API", "Timeout", "ServiceUnavailable", "BadRequest", "InternalServer", "NotFound"];

fn fail(report: &mut TurnReport, event: &Val<'_>) {
    report.note(owned_text(event, "timestamp"), "error", picked(event, &["code", "detail"]));
    let code = text(event, "code").unwrap_or("error");
    let is_provider = OF_ENDPOINT.iter().any(|it| code.contains(it));
    let source = if is_provider { FaultSource::Provider } else { FaultSource::Agent };
    report.fail(source, code, text(event, "detail").unwrap_or("the program does not say why"));
}
