//! `pi`: the pi coding agent, headless.

use jurat_format::value::Val;

use super::launch::{Launch, ModelAt, TurnInput, Wire, object};
use super::lines::lines;
use super::pi_messages;
use super::runner::{Package, Performer, Program, Runner};
use super::turn_report::{FaultSource, TurnReport, owned_text, picked, text};

pub(super) static RUNNER: Runner = Runner {
    name: "pi",
    performer: Performer::Program(Program {
        name: "pi",
        package: Package::Npm("@mariozechner/pi-coding-agent"),
        tested: "0.73.1",
        wire: Wire::OpenAiChat,
        launch,
        read: |it| read(it.stdout),
        side_file: None,
        counts_session: false,
        failed_calls: None,
    }),
    takes_turns: true,
    limits_steps: false,
    takes_servers: false,
    skills: Some(".pi/agent/skills"),
    keys: &[],
};

fn launch(input: &TurnInput<'_>, model: &ModelAt) -> Launch {
    let mut launch = Launch::of(input);
    launch.args(["-p", "--mode", "json", "--provider", "jurat", "--model", &model.model]);
    if input.turn > 0 {
        // A home of its own has one session.
        launch.args(["--continue"]);
    }
    if let Some(system) = input.system {
        launch.args(["--append-system-prompt", system]);
    }
    launch.args([input.message]);
    launch.env("PI_OFFLINE", "1");
    launch.env("PI_TELEMETRY", "0");
    let provider = object([
        ("baseUrl", Val::from(model.under("/v1"))),
        ("api", Val::from("openai-completions")),
        ("apiKey", Val::from(model.key.clone())),
        ("models", [model.entry()].into_iter().collect()),
    ]);
    let models = object([("providers", object([("jurat", provider)]))]);
    launch.home_file(input, ".pi/agent/models.json", &format!("{}\n", models.to_json()));
    launch.finished(input)
}

fn read(stream: &str) -> TurnReport {
    let mut report = TurnReport::default();
    let mut has_end = false;
    for line in lines(stream) {
        let Some(event) = report.event(line, "printed") else { continue };
        match text(&event, "type") {
            Some("session") => {
                report.session = owned_text(&event, "id");
                report.note(owned_text(&event, "timestamp"), "session", picked(&event, &["id", "version"]));
            }
            Some("message_end") => {
                let message = event.get("message").unwrap_or(&Val::Null);
                pi_messages::take(&mut report, None, message);
                match text(message, "role") {
                    Some("assistant") => {
                        report.response = pi_messages::last_word(message);
                        report.fault = None;
                        failed(&mut report, message);
                    }
                    Some("toolResult") => report.response = None,
                    _ => {}
                }
            }
            Some("agent_end") => has_end = true,
            // All of these are repeated by the message that they belong to.
            Some(
                "agent_start"
                | "turn_start"
                | "turn_end"
                | "message_start"
                | "message_update"
                | "tool_execution_start"
                | "tool_execution_update"
                | "tool_execution_end",
            ) => {}
            other => report.note(None, other.unwrap_or("event"), event.clone().into_owned()),
        }
    }
    if !has_end {
        report.fail(FaultSource::Stream, "stream_broken_off", "the stream ends without `agent_end`");
    }
    if report.fault.is_some() {
        report.response = None;
    }
    report
}

/// A message that ended in an error; one that was tried again is not the last.
fn failed(report: &mut TurnReport, message: &Val<'_>) {
    match text(message, "stopReason") {
        Some("error") => {
            let why = text(message, "errorMessage").unwrap_or("the program does not say why");
            report.fail(FaultSource::Provider, "provider_error", why);
        }
        Some("aborted") => {
            let why = text(message, "errorMessage").unwrap_or("the model aborted the response");
            report.fail(FaultSource::Agent, "aborted", why);
        }
        _ => {}
    }
}
