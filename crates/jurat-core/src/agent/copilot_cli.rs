//! `copilot_cli`: GitHub Copilot CLI, headless and offline, with a model of one's own.

use jurat_format::value::{Map, Val};

use super::launch::{Launch, ModelAt, TurnInput, Wire, object};
use super::lines::{document, lines};
use super::runner::{Package, Performer, Printed, Program, Runner, SideFile};
use super::turn_report::{FaultSource, TurnReport, add, count, owned_text, picked, text};
use crate::artifact::Tokens;

/// Where it writes what it used, below its home. Its events do not say.
const USAGE: &str = ".copilot/usage.json";

pub(super) static RUNNER: Runner = Runner {
    name: "copilot_cli",
    performer: Performer::Program(Program {
        name: "copilot",
        package: Package::Npm("@github/copilot"),
        tested: "1.0.102",
        wire: Wire::OpenAiChat,
        launch,
        read,
        side_file: Some(SideFile::Text(USAGE)),
        counts_session: true,
        failed_calls: None,
    }),
    takes_turns: true,
    limits_steps: false,
    takes_servers: true,
    skills: Some(".copilot/skills"),
    keys: &[],
};

fn launch(input: &TurnInput<'_>, model: &ModelAt) -> Launch {
    let mut launch = Launch::of(input);
    launch.args(["-p", input.message, "--output-format", "json", "--stream", "off", "--allow-all", "--no-ask-user"]);
    // The same option names a new session and resumes one.
    launch.args(["--session-id", input.session, "--usage-output-file", &input.places.at_home(USAGE)]);
    launch.env("COPILOT_HOME", &input.places.at_home(".copilot"));
    launch.env("COPILOT_OFFLINE", "true");
    launch.env("COPILOT_AUTO_UPDATE", "false");
    launch.env("COPILOT_MODEL", &model.model);
    launch.env("COPILOT_PROVIDER_TYPE", "openai");
    launch.env("COPILOT_PROVIDER_BASE_URL", &model.under("/v1"));
    launch.env("COPILOT_PROVIDER_API_KEY", &model.key);
    if let Some(tokens) = model.max_tokens {
        launch.env("COPILOT_PROVIDER_MAX_OUTPUT_TOKENS", &tokens.to_string());
    }
    let all = || [Val::from("*")].into_iter().collect();
    let entry = |url| object([("type", Val::from("http")), ("url", url), ("tools", all())]);
    if let Some(servers) = input.server_entries(entry) {
        let config = object([("mcpServers", servers)]);
        launch.home_file(input, ".copilot/mcp-config.json", &format!("{}\n", config.to_json()));
    }
    if let Some(system) = input.system {
        launch.home_file(input, ".copilot/copilot-instructions.md", system);
    }
    launch.finished(input)
}

/// Events that announce in pieces, or in figures of its own, what others say as a whole.
const PIECES: [&str; 13] = [
    "assistant.idle",
    "assistant.message_delta",
    "assistant.message_start",
    "assistant.reasoning_delta",
    "assistant.tool_call_delta",
    "assistant.turn_end",
    "assistant.turn_start",
    "model.call_final_result",
    "model.call_finished",
    "model.call_start",
    "session.background_tasks_changed",
    "tool.execution_partial_result",
    "tool.shell_output",
];

fn read(printed: Printed<'_>) -> TurnReport {
    let mut report = TurnReport::default();
    let mut has_result = false;
    for line in lines(printed.stdout) {
        let Some(event) = report.event(line, "printed") else { continue };
        let at = owned_text(&event, "timestamp");
        match text(&event, "type") {
            Some(kind) if PIECES.contains(&kind) => {}
            Some("result") => {
                has_result = true;
                result(&mut report, at, &event);
            }
            Some(kind) => take(&mut report, at, kind, &event),
            None => report.note(at, "event", event.clone().into_owned()),
        }
    }
    if !has_result {
        report.fail(FaultSource::Stream, "stream_broken_off", "the stream ends without its `result` event");
    }
    if let Some(usage) = document(printed.side) {
        took(&mut report, &usage);
    }
    if report.fault.is_some() {
        report.response = None;
    }
    report
}

fn take(report: &mut TurnReport, at: Option<String>, kind: &str, event: &Val<'_>) {
    let data = event.get("data").unwrap_or(&Val::Null);
    match kind {
        "user.message" => report.said(at, "user", owned_text(data, "content").unwrap_or_default()),
        "assistant.message" => message(report, at, event, data),
        "tool.execution_start" => called(report, at, data),
        "tool.execution_complete" => returned(report, at, data),
        "session.tools_updated" => report.model = owned_text(data, "model"),
        "session.error" => fail(report, data),
        "session.skills_loaded" => {}
        "model.call_failure" => report.note(at, kind, picked(data, &["statusCode", "errorMessage", "retryAttempt"])),
        _ => report.note(at, kind, data.clone().into_owned()),
    }
}

fn message(report: &mut TurnReport, at: Option<String>, event: &Val<'_>, data: &Val<'_>) {
    if let Some(reasoning) = text(data, "reasoningText").filter(|it| !it.is_empty()) {
        report.note(at.clone(), "reasoning", Val::from(reasoning.to_owned()));
    }
    let said = owned_text(data, "content").filter(|it| !it.is_empty());
    // An agent that this one started has an id of its own; what it says is not the final message.
    if event.get("agentId").is_some_and(|it| !matches!(it, Val::Null)) {
        report.note(at, "agent.message", picked(data, &["content"]));
        return;
    }
    let has_calls = data.get("toolRequests").and_then(Val::as_list).is_some_and(|it| !it.is_empty());
    report.response = said.clone().filter(|_| !has_calls);
    if let Some(said) = said {
        report.said(at, "assistant", said);
    }
}

/// A tool of a server has the names of both, as they are in the suite.
fn called(report: &mut TurnReport, at: Option<String>, data: &Val<'_>) {
    let name = match (text(data, "mcpServerName"), text(data, "mcpToolName")) {
        (Some(server), Some(tool)) => format!("{server}.{tool}"),
        _ => owned_text(data, "toolName").unwrap_or_default(),
    };
    report.called(at, owned_text(data, "toolCallId"), name, data.get("arguments").unwrap_or(&Val::Null));
}

fn returned(report: &mut TurnReport, at: Option<String>, data: &Val<'_>) {
    let code = data.get("shellExecution").and_then(|it| it.get("exitCode"));
    let is_error = match (data.get("success"), code) {
        // A command that ended with another code than 0 is a success of the tool.
        (Some(Val::Bool(true)), Some(Val::I(code))) => Some(*code != 0),
        (Some(Val::Bool(is_success)), _) => Some(!is_success),
        _ => None,
    };
    let content = data.get("result").and_then(|it| it.get("content"));
    let output = content.or_else(|| data.get("error")).unwrap_or(&Val::Null);
    report.returned(at, owned_text(data, "toolCallId"), is_error, output.clone().into_owned());
}

fn fail(report: &mut TurnReport, data: &Val<'_>) {
    const OF_ENDPOINT: [&str; 5] = ["authentication", "authorization", "quota", "rate_limit", "context_limit"];
    let kind = text(data, "errorType").unwrap_or("error");
    let is_provider = OF_ENDPOINT.contains(&kind) || count(data, "statusCode").is_some();
    let (source, code) =
        if is_provider { (FaultSource::Provider, "provider_error") } else { (FaultSource::Agent, kind) };
    report.fail(source, code, text(data, "message").unwrap_or("the program does not say why"));
}

fn result(report: &mut TurnReport, at: Option<String>, event: &Val<'_>) {
    report.session = owned_text(event, "sessionId");
    report.note(at, "result", picked(event, &["exitCode", "usage"]));
    if count(event, "exitCode") != Some(0) {
        report.fail(FaultSource::Agent, "exit_code", "the program ended with a code that says that it failed");
    }
}

/// What all models of the session used.
fn took(report: &mut TurnReport, document: &Val<'_>) {
    let models = document.get("modelMetrics");
    let mut sum = Tokens::default();
    for (_, model) in models.and_then(Val::as_map).into_iter().flat_map(Map::iter) {
        let usage = model.get("usage").unwrap_or(&Val::Null);
        let tokens = Tokens {
            reasoning: count(usage, "reasoningTokens"),
            cached_input: count(usage, "cacheReadTokens"),
            cache_write: count(usage, "cacheWriteTokens"),
            ..Tokens::of(count(usage, "inputTokens"), count(usage, "outputTokens"))
        };
        add(&mut sum, &tokens);
    }
    report.took(&sum);
    report.usage.raw_provider_usage = models.map(|it| it.clone().into_owned());
}
