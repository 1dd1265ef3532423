//! `qwen_code`: Qwen Code, headless. It prints the same events as Claude Code.

use jurat_format::value::Val;

use super::anthropic_stream::{self, Dialect};
use super::launch::{Launch, ModelAt, TurnInput, Wire, object};
use super::runner::{Package, Performer, Program, Runner};
use super::turn_report::FaultSource;

pub(super) static RUNNER: Runner = Runner {
    name: "qwen_code",
    performer: Performer::Program(Program {
        name: "qwen",
        package: Package::Npm("@qwen-code/qwen-code"),
        tested: "0.24.4",
        wire: Wire::OpenAiChat,
        launch,
        read: |it| {
            anthropic_stream::read(
                it.stdout,
                Dialect { input_has_cached: true, version: "qwen_code_version", words: FaultSource::Provider },
            )
        },
        side_file: None,
        counts_session: true,
        failed_calls: None,
    }),
    takes_turns: true,
    limits_steps: true,
    takes_servers: true,
    skills: Some(".qwen/skills"),
    keys: &[],
};

fn launch(input: &TurnInput<'_>, model: &ModelAt) -> Launch {
    let mut launch = Launch::of(input);
    launch.args(["-p", input.message, "--output-format", "stream-json", "--yolo", "--auth-type", "openai"]);
    match input.turn {
        0 => launch.args(["--session-id", input.session]),
        _ => launch.args(["--resume", input.session]),
    }
    if let Some(system) = input.system {
        launch.args(["--append-system-prompt", system]);
    }
    if let Some(turns) = input.agent.limits.turns {
        launch.args(["--max-session-turns", &turns.to_string()]);
    }
    launch.env("OPENAI_BASE_URL", &model.under("/v1"));
    launch.env("OPENAI_API_KEY", &model.key);
    launch.env("OPENAI_MODEL", &model.model);
    launch.env("QWEN_CODE_SUPPRESS_YOLO_WARNING", "1");
    let entry = |url| object([("httpUrl", url), ("trust", Val::Bool(true))]);
    let servers = input.server_entries(entry).map_or(String::new(), |it| format!(r#","mcpServers":{}"#, it.to_json()));
    launch.home_file(input, ".qwen/settings.json", &format!("{{{SETTINGS}{servers}}}\n"));
    launch.finished(input)
}

const SETTINGS: &str =
    r#""privacy":{"usageStatisticsEnabled":false},"general":{"disableAutoUpdate":true,"disableUpdateNag":true}"#;
