//! `mini_swe_agent`: mini-swe-agent. It leaves no stream but one document, its trajectory; and it ends only with a command that submits what it did.

use jurat_format::value::{Val, parse_json};

use super::launch::{Launch, ModelAt, TurnInput, Wire};
use super::lines::document;
use super::runner::{Package, Performer, Program, Runner, SideFile};
use super::turn_report::{FaultSource, TurnReport, count, owned_text, picked, text};
use crate::artifact::{Happening, Tokens};

/// Where the trajectory is, below its home.
const TRAJECTORY: &str = "trajectory.json";

/// How many steps it may take unless its author says: it would go on for ever with a model that never submits.
const MOST_STEPS: u32 = 250;

pub(super) static RUNNER: Runner = Runner {
    name: "mini_swe_agent",
    performer: Performer::Program(Program {
        name: "mini",
        package: Package::PyPi("mini-swe-agent"),
        tested: "2.4.6",
        wire: Wire::OpenAiChat,
        launch,
        read: |it| read(it.side),
        side_file: Some(SideFile::Text(TRAJECTORY)),
        counts_session: false,
        failed_calls: None,
    }),
    takes_turns: false,
    limits_steps: true,
    takes_servers: false,
    skills: None,
    keys: &[],
};

fn launch(input: &TurnInput<'_>, model: &ModelAt) -> Launch {
    let mut launch = Launch::of(input);
    let message = input.with_system();
    launch.args(["-m", &format!("openai/{}", model.model), "-t", &message, "-y", "--exit-immediately"]);
    launch.args(["-o", &input.places.at_home(TRAJECTORY), "-c", "mini.yaml"]);
    let steps = input.agent.limits.turns.unwrap_or(MOST_STEPS);
    launch.args(["-c", &format!("agent.step_limit={steps}")]);
    launch.env("OPENAI_API_BASE", &model.under("/v1"));
    launch.env("OPENAI_API_KEY", &model.key);
    launch.env("MSWEA_CONFIGURED", "true");
    launch.env("MSWEA_COST_TRACKING", "ignore_errors");
    launch.env("MSWEA_SILENT_STARTUP", "1");
    launch.env("LITELLM_LOCAL_MODEL_COST_MAP", "True");
    launch.finished(input)
}

fn read(trajectory: &str) -> TurnReport {
    let mut report = TurnReport::default();
    let Some(document) = document(trajectory) else {
        report.fail(FaultSource::Stream, "no_trajectory", "the program left no trajectory");
        return report;
    };
    for message in document.get("messages").and_then(Val::as_list).unwrap_or_default() {
        take(&mut report, message);
    }
    let info = document.get("info").unwrap_or(&Val::Null);
    report.version = owned_text(info, "mini_version");
    report.note(None, "info", picked(info, &["exit_status", "model_stats", "mini_version"]));
    let cost = info.get("model_stats").and_then(|it| it.get("instance_cost")).and_then(Val::as_f64);
    report.usage.cost_usd = cost.filter(|it| *it > 0.0);
    match text(info, "exit_status") {
        Some("Submitted") => {
            report.response = owned_text(info, "submission").filter(|it| !it.trim().is_empty());
            submitted(&mut report);
        }
        Some(status) => {
            let why = last_words(&document).unwrap_or_else(|| format!("it ended with `{status}`"));
            let is_provider = status.ends_with("Error") && OF_ENDPOINT.iter().any(|it| status.contains(it));
            let source = if is_provider { FaultSource::Provider } else { FaultSource::Agent };
            report.fail(source, status, why);
        }
        None => report.fail(FaultSource::Stream, "stream_broken_off", "the trajectory does not say how the run ended"),
    }
    report
}

/// The command that submits ends the program before it can return, which is recorded as a code of -1. It did not fail.
fn submitted(report: &mut TurnReport) {
    let last = report.events.iter_mut().rev().find_map(|it| match &mut it.what {
        Happening::ToolResult { is_error, .. } => Some(is_error),
        _ => None,
    });
    if let Some(is_error) = last {
        *is_error = Some(false);
    }
}

/// Parts of the names that errors of an endpoint have.
const OF_ENDPOINT: [&str; 7] =
    ["Authentication", "RateLimit", "API", "Timeout", "ServiceUnavailable", "BadRequest", "InternalServer"];

fn last_words(document: &Val<'_>) -> Option<String> {
    let last = document.get("messages")?.as_list()?.last()?;
    let extra = last.get("extra").unwrap_or(&Val::Null);
    let said = text(extra, "exception_str").or_else(|| text(last, "content")).map(str::trim);
    said.filter(|it| !it.is_empty()).map(str::to_owned)
}

fn take(report: &mut TurnReport, message: &Val<'_>) {
    let extra = message.get("extra").unwrap_or(&Val::Null);
    let at = extra.get("timestamp").and_then(Val::as_f64).filter(|it| *it > 0.0);
    let at = at.and_then(|it| super::launch::moment((it * 1000.0) as u64));
    let content = message.get("content").unwrap_or(&Val::Null);
    match text(message, "role") {
        Some(role @ ("system" | "user")) => report.said(at, role, content.clone().into_owned()),
        Some("assistant") => {
            if let Some(said) = content.as_str().filter(|it| !it.is_empty()) {
                report.said(at.clone(), "assistant", said.to_owned());
            }
            for call in message.get("tool_calls").and_then(Val::as_list).unwrap_or_default() {
                let function = call.get("function").unwrap_or(&Val::Null);
                let written = owned_text(function, "arguments").unwrap_or_default();
                let parsed =
                    parse_json(&written).ok().map(|it| it.value.into_owned()).filter(|it| it.as_map().is_some());
                report.push(
                    at.clone(),
                    Happening::ToolCall {
                        call_id: owned_text(call, "id"),
                        tool_name: owned_text(function, "name").unwrap_or_default(),
                        raw_arguments: Val::from(written),
                        parsed_arguments: parsed,
                    },
                );
            }
            let response = extra.get("response").unwrap_or(&Val::Null);
            report.model = owned_text(response, "model").or(report.model.take());
            if let Some(usage) = response.get("usage") {
                report.took(&tokens(usage));
                report.usage.raw_provider_usage = Some(usage.clone().into_owned());
            }
        }
        Some("tool") => {
            let output = extra.get("raw_output").filter(|it| it.as_str().is_some()).unwrap_or(content);
            let is_error = match extra.get("returncode") {
                Some(Val::I(code)) => Some(*code != 0),
                _ => None,
            };
            report.returned(at, owned_text(message, "tool_call_id"), is_error, output.clone().into_owned());
        }
        // What it ended with stands in `info`, too.
        Some("exit") => {}
        other => report.note(at, format!("message.{}", other.unwrap_or("unknown")), message.clone().into_owned()),
    }
}

fn tokens(usage: &Val<'_>) -> Tokens {
    let details = |key: &str, name: &str| usage.get(key).and_then(|it| count(it, name));
    Tokens {
        input: count(usage, "prompt_tokens"),
        output: count(usage, "completion_tokens"),
        total: count(usage, "total_tokens"),
        reasoning: details("completion_tokens_details", "reasoning_tokens"),
        cached_input: details("prompt_tokens_details", "cached_tokens"),
        cache_write: None,
    }
}
