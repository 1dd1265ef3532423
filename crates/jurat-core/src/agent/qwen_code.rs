//! `qwen_code`: Qwen Code, headless. It tells what happens as Claude Code does.

use super::anthropic_stream::{self, Dialect};
use super::launch::{Errand, Launch, ModelAt};
use super::told::Told;

pub(super) fn launch(errand: &Errand<'_>, model: &ModelAt) -> Launch {
    let mut launch = Launch::of(errand);
    launch.args(["-p", errand.message, "--output-format", "stream-json", "--yolo", "--auth-type", "openai"]);
    match errand.turn {
        0 => launch.args(["--session-id", errand.session]),
        _ => launch.args(["--resume", errand.session]),
    }
    if let Some(system) = errand.system {
        launch.args(["--append-system-prompt", system]);
    }
    if let Some(turns) = errand.agent.limits.turns {
        launch.args(["--max-session-turns", &turns.to_string()]);
    }
    launch.env("OPENAI_BASE_URL", &model.under("/v1"));
    launch.env("OPENAI_API_KEY", &model.key);
    launch.env("OPENAI_MODEL", &model.model);
    launch.env("QWEN_CODE_SUPPRESS_YOLO_WARNING", "1");
    launch.home_file(errand, ".qwen/settings.json", SETTINGS);
    launch.finished(errand)
}

const SETTINGS: &str = r#"{"privacy":{"usageStatisticsEnabled":false},"general":{"disableAutoUpdate":true,"disableUpdateNag":true}}
"#;

pub(super) fn read(stream: &str) -> Told {
    anthropic_stream::read(stream, Dialect { input_has_cached: true, version: "qwen_code_version" })
}
