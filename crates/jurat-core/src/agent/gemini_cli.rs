//! `gemini_cli`: Gemini CLI, headless.

use jurat_format::value::Val;
use serde::Deserialize;

use super::launch::{Launch, ModelAt, TurnInput, Wire, object};
use super::lines::lines;
use super::runner::{Package, Performer, Program, Runner};
use super::turn_report::{FaultSource, TurnReport, count, owned_text, picked, text};
use crate::artifact::Tokens;

pub(super) static RUNNER: Runner = Runner {
    name: "gemini_cli",
    performer: Performer::Program(Program {
        name: "gemini",
        package: Package::Npm("@google/gemini-cli"),
        tested: "0.61.0",
        wire: Wire::Gemini,
        launch,
        read: |it| read(it.stdout),
        side_file: None,
        counts_session: false,
        failed_calls: Some(failed_calls),
    }),
    takes_turns: true,
    limits_steps: true,
    takes_servers: true,
    skills: Some(".gemini/skills"),
    keys: &[],
};

fn launch(input: &TurnInput<'_>, model: &ModelAt) -> Launch {
    let mut launch = Launch::of(input);
    launch.args(["-p", input.message, "--output-format", "stream-json", "--yolo", "--model", &model.model]);
    match input.turn {
        0 => launch.args(["--session-id", input.session]),
        // A home of its own has one session.
        _ => launch.args(["--resume", "latest"]),
    }
    launch.env("GOOGLE_GEMINI_BASE_URL", &model.base_url);
    launch.env("GEMINI_API_KEY", &model.key);
    launch.env("GEMINI_CLI_TRUST_WORKSPACE", "true");
    // Without a chosen way of signing in the program ends at once.
    let turns = input.agent.limits.turns.map_or(String::new(), |it| format!(r#","model":{{"maxSessionTurns":{it}}}"#));
    let entry = |url| object([("httpUrl", url), ("trust", Val::Bool(true))]);
    let servers = input.server_entries(entry).map_or(String::new(), |it| format!(r#","mcpServers":{}"#, it.to_json()));
    let settings = format!(
        r#"{{"security":{{"auth":{{"selectedType":"gemini-api-key"}}}},"general":{{"enableAutoUpdate":false}},"privacy":{{"usageStatisticsEnabled":false}}{turns}{servers}}}
"#
    );
    launch.home_file(input, ".gemini/settings.json", &settings);
    if let Some(system) = input.system {
        launch.home_file(input, ".gemini/GEMINI.md", system);
    }
    launch.finished(input)
}

fn read(stream: &str) -> TurnReport {
    let mut report = TurnReport::default();
    let mut has_result = false;
    // What the agent says comes in pieces.
    let mut saying: Option<(Option<String>, String)> = None;
    let finish = |report: &mut TurnReport, saying: &mut Option<(Option<String>, String)>| {
        if let Some((at, said)) = saying.take() {
            report.response = Some(said.clone());
            report.said(at, "assistant", said);
        }
    };
    for line in lines(stream) {
        let Some(event) = report.event(line, "printed") else { continue };
        let at = owned_text(&event, "timestamp");
        let is_piece = text(&event, "type") == Some("message")
            && text(&event, "role") == Some("assistant")
            && event.get("delta") == Some(&Val::Bool(true));
        if is_piece {
            let (_, said) = saying.get_or_insert_with(|| (at.clone(), String::new()));
            said.push_str(text(&event, "content").unwrap_or_default());
            continue;
        }
        finish(&mut report, &mut saying);
        match text(&event, "type") {
            Some("init") => {
                report.session = owned_text(&event, "session_id");
                report.model = owned_text(&event, "model");
                report.note(at, "init", picked(&event, &["session_id", "model"]));
            }
            Some("message") => {
                let said = owned_text(&event, "content").unwrap_or_default();
                let role = text(&event, "role").unwrap_or("assistant");
                if role == "assistant" {
                    report.response = Some(said.clone());
                }
                report.said(at, role, said);
            }
            Some("tool_use") => {
                let name = owned_text(&event, "tool_name").unwrap_or_default();
                report.called(at, owned_text(&event, "tool_id"), name, event.get("parameters").unwrap_or(&Val::Null));
                // What was said before a call is not the final message.
                report.response = None;
            }
            Some("tool_result") => {
                let is_error = text(&event, "status").map(|it| it != "success");
                let output = event.get("output").or_else(|| event.get("error")).unwrap_or(&Val::Null);
                report.returned(at, owned_text(&event, "tool_id"), is_error, output.clone().into_owned());
            }
            Some("error") => report.note(at, "error", picked(&event, &["severity", "message"])),
            Some("result") => {
                has_result = true;
                result(&mut report, at, &event);
            }
            other => report.note(at, other.unwrap_or("event"), event.clone().into_owned()),
        }
    }
    finish(&mut report, &mut saying);
    if !has_result {
        report.fail(FaultSource::Stream, "stream_broken_off", "the stream ends without its `result` event");
    }
    report
}

fn result(report: &mut TurnReport, at: Option<String>, event: &Val<'_>) {
    if let Some(stats) = event.get("stats") {
        let (input, output) = (count(stats, "input_tokens"), count(stats, "output_tokens"));
        report.took(&Tokens {
            input,
            output,
            total: count(stats, "total_tokens"),
            cached_input: count(stats, "cached"),
            ..Tokens::default()
        });
        report.usage.raw_provider_usage = Some(stats.clone().into_owned());
        report.note(at, "result", picked(stats, &["duration_ms", "tool_calls"]));
    }
    if text(event, "status") == Some("success") {
        return;
    }
    report.response = None;
    let error = event.get("error").unwrap_or(&Val::Null);
    let message = text(error, "message").unwrap_or("the program does not say why");
    let is_provider = message.contains("API Error");
    let code = if is_provider { "provider_error" } else { text(error, "type").unwrap_or("error") };
    report.fail(if is_provider { FaultSource::Provider } else { FaultSource::Agent }, code, message);
}

/// What a result of a tool begins with in a request.
const RESULT: &str = "\"functionResponse\":";

#[derive(Deserialize)]
struct ResultWire {
    id: Option<String>,
    response: Option<OutputWire>,
}

#[derive(Deserialize)]
struct OutputWire {
    output: Option<String>,
}

/// The ids of calls whose command ended with another code than 0: the program prints every result of a command as a success.
fn failed_calls(request: &str) -> Vec<String> {
    results(request).filter_map(failed).collect()
}

/// The results in a request. What was recorded of it may break off.
fn results(request: &str) -> impl Iterator<Item = ResultWire> {
    request.match_indices(RESULT).filter_map(|(at, _)| {
        let mut values = serde_json::Deserializer::from_str(&request[at + RESULT.len()..]).into_iter();
        values.next()?.ok()
    })
}

fn failed(result: ResultWire) -> Option<String> {
    let output = result.response?.output?;
    let code = output.lines().find_map(|it| it.strip_prefix("Exit Code: "))?;
    result.id.filter(|_| code.trim() != "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_failed_is_known_by_its_code() {
        let result = |id: &str, output: &str| {
            format!(
                r#"{{"functionResponse":{{"name":"run_shell_command","response":{{"output":"{output}"}},"id":"{id}"}}}}"#
            )
        };
        let request = format!(
            r#"{{"contents":[{{"parts":[{},{},{}]}}]"#,
            result("a", "Output: oops\\nExit Code: 3\\nProcess Group PGID: 1"),
            result("b", "Output: fine\\nExit Code: 0"),
            result("c", "no code"),
        );
        assert_eq!(failed_calls(&request), ["a"]);
        assert_eq!(failed_calls(&request[..request.len() - 200]), ["a"]);
        assert_eq!(failed_calls("no JSON"), Vec::<String>::new());
    }
}
