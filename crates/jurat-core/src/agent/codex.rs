//! `codex`: Codex, headless.

use jurat_format::value::{Map, Val, Value};

use super::launch::{Launch, ModelAt, ServerAt, TurnInput, Wire, toml_text};
use super::lines::lines;
use super::runner::{Package, Performer, Program, Runner};
use super::turn_report::{FaultSource, TurnReport, count, owned_text, picked, text};
use crate::artifact::{Happening, Tokens};

pub(super) static RUNNER: Runner = Runner {
    name: "codex",
    performer: Performer::Program(Program {
        name: "codex",
        package: Package::Npm("@openai/codex"),
        tested: "0.166.0",
        wire: Wire::OpenAiResponses,
        launch,
        read: |it| read(it.stdout),
        side_file: None,
        counts_session: true,
        failed_calls: None,
    }),
    takes_turns: true,
    limits_steps: false,
    takes_servers: true,
    skills: Some(".codex/skills"),
    keys: &[],
};

fn launch(input: &TurnInput<'_>, model: &ModelAt) -> Launch {
    let mut launch = Launch::of(input);
    launch.args(["exec"]);
    if input.turn > 0 {
        launch.args(["resume"]);
    }
    launch.args(["--json", "--skip-git-repo-check"]);
    if input.turn > 0 {
        launch.args([input.session]);
    }
    launch.args([input.message]);
    launch.env("CODEX_HOME", &input.places.at_home(".codex"));
    launch.env("JURAT_API_KEY", &model.key);
    let system = input.system.map_or(String::new(), |it| format!("developer_instructions = {}\n", toml_text(it)));
    // Its own sandbox needs what the sandbox around it takes away, and its questions would get no answer.
    let config = format!(
        "model = {}\nmodel_provider = \"jurat\"\napproval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"\n\
         check_for_update_on_startup = false\n{system}\n\
         [analytics]\nenabled = false\n\n\
         [model_providers.jurat]\nname = \"jurat\"\nbase_url = {}\nenv_key = \"JURAT_API_KEY\"\nwire_api = \"responses\"\n",
        toml_text(&model.model),
        toml_text(&model.under("/v1")),
    );
    let entry = |it: &ServerAt| format!("\n[mcp_servers.{}]\nurl = {}\n", toml_text(&it.name), toml_text(&it.url));
    let servers: String = input.servers.iter().map(entry).collect();
    launch.home_file(input, ".codex/config.toml", &format!("{config}{servers}"));
    launch.finished(input)
}

fn read(stream: &str) -> TurnReport {
    let mut report = TurnReport::default();
    let mut has_end = false;
    // The last thing that went wrong on the way: what is tried again may still come right.
    let mut complaint: Option<String> = None;
    for line in lines(stream) {
        let Some(event) = report.event(line, "printed") else { continue };
        match text(&event, "type") {
            Some("thread.started") => {
                report.session = owned_text(&event, "thread_id");
                report.note(None, "thread.started", picked(&event, &["thread_id"]));
            }
            Some("turn.started") => report.note(None, "turn.started", Val::Null),
            Some("item.started") => started(&mut report, event.get("item").unwrap_or(&Val::Null)),
            Some("item.completed") => completed(&mut report, event.get("item").unwrap_or(&Val::Null)),
            // What is not yet done comes again when it is.
            Some("item.updated") => {}
            Some("turn.completed") => {
                has_end = true;
                if let Some(usage) = event.get("usage") {
                    report.took(&tokens(usage));
                    report.usage.raw_provider_usage = Some(usage.clone().into_owned());
                }
            }
            Some("turn.failed") => {
                has_end = true;
                let error = event.get("error").unwrap_or(&Val::Null);
                let message = owned_text(error, "message").or(complaint.take());
                fail(&mut report, message.unwrap_or_else(|| "the program does not say why".to_owned()));
            }
            Some("error") => {
                complaint = owned_text(&event, "message");
                report.note(None, "error", picked(&event, &["message"]));
            }
            other => report.note(None, other.unwrap_or("event"), event.clone().into_owned()),
        }
    }
    if !has_end {
        match complaint {
            Some(message) => fail(&mut report, message),
            None => report.fail(
                FaultSource::Stream,
                "stream_broken_off",
                "the stream ends without `turn.completed` or `turn.failed`",
            ),
        }
    }
    if report.fault.is_some() {
        report.response = None;
    }
    report
}

fn fail(report: &mut TurnReport, message: String) {
    const OF_ENDPOINT: [&str; 5] =
        ["unexpected status", "stream disconnected", "error sending request", "stream error", "exceeded retry limit"];
    let is_provider = OF_ENDPOINT.iter().any(|it| message.contains(it));
    let (source, code) =
        if is_provider { (FaultSource::Provider, "provider_error") } else { (FaultSource::Agent, "turn_failed") };
    report.fail(source, code, message);
}

/// What is called, and with what, by the kind of an item.
fn call(item: &Val<'_>) -> Option<(String, Value)> {
    let kind = text(item, "type")?;
    match kind {
        "command_execution" => Some((kind.to_owned(), picked(item, &["command"]))),
        "file_change" => Some((kind.to_owned(), picked(item, &["changes"]))),
        "web_search" => Some((kind.to_owned(), picked(item, &["query"]))),
        "mcp_tool_call" => {
            let name = [text(item, "server"), text(item, "tool")].into_iter().flatten().collect::<Vec<_>>().join(".");
            let arguments = item.get("arguments").cloned().unwrap_or_else(|| Val::Map(Map::default()));
            Some((name, arguments.into_owned()))
        }
        _ => None,
    }
}

fn has_call(report: &TurnReport, id: Option<&str>) -> bool {
    let is_it = |it: &crate::artifact::Event| matches!(&it.what, Happening::ToolCall { call_id, .. } if call_id.as_deref() == id);
    report.events.iter().any(is_it)
}

fn started(report: &mut TurnReport, item: &Val<'_>) {
    if let Some((name, arguments)) = call(item) {
        report.called(None, owned_text(item, "id"), name, &arguments);
    }
}

fn completed(report: &mut TurnReport, item: &Val<'_>) {
    let id = owned_text(item, "id");
    if let Some((name, arguments)) = call(item) {
        // Some items are reported only once they are done.
        if !has_call(report, id.as_deref()) {
            report.called(None, id.clone(), name, &arguments);
        }
        let is_error = match text(item, "status") {
            Some("completed") => {
                item.get("exit_code").map_or(Some(false), |it| Some(!matches!(it, Val::I(0) | Val::Null)))
            }
            Some(_) => Some(true),
            None => None,
        };
        let keys = ["aggregated_output", "result", "error"];
        let output = keys.iter().find_map(|key| item.get(key).filter(|it| !matches!(it, Val::Null)));
        report.returned(None, id, is_error, output.map_or(Val::Null, |it| it.clone().into_owned()));
        // What was said before a call is not the final message.
        report.response = None;
        return;
    }
    match text(item, "type") {
        Some("agent_message") => {
            let said = owned_text(item, "text").unwrap_or_default();
            report.response = Some(said.clone());
            report.said(None, "assistant", said);
        }
        Some(kind @ ("reasoning" | "todo_list" | "error")) => {
            report.note(None, kind, picked(item, &["text", "items", "message"]));
        }
        other => report.note(None, format!("item.{}", other.unwrap_or("unknown")), item.clone().into_owned()),
    }
}

fn tokens(usage: &Val<'_>) -> Tokens {
    Tokens {
        reasoning: count(usage, "reasoning_output_tokens"),
        cached_input: count(usage, "cached_input_tokens"),
        cache_write: count(usage, "cache_write_input_tokens"),
        ..Tokens::of(count(usage, "input_tokens"), count(usage, "output_tokens"))
    }
}
