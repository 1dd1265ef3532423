//! `claude_code`: Claude Code, headless.

use super::anthropic_stream::{self, Dialect};
use super::launch::{Errand, Launch, ModelAt};
use super::told::Told;

pub(super) fn launch(errand: &Errand<'_>, model: &ModelAt) -> Launch {
    let mut launch = Launch::of(errand);
    launch.args(["-p", errand.message, "--output-format", "stream-json", "--verbose"]);
    // Its own questions would wait for somebody who is not there; what it may do is decided by the walls around it.
    launch.args(["--dangerously-skip-permissions", "--model", &model.model]);
    match errand.turn {
        0 => launch.args(["--session-id", errand.session]),
        _ => launch.args(["--resume", errand.session]),
    }
    if let Some(system) = errand.system {
        launch.args(["--append-system-prompt", system]);
    }
    if let Some(turns) = errand.agent.limits.turns {
        launch.args(["--max-turns", &turns.to_string()]);
    }
    launch.env("ANTHROPIC_BASE_URL", &model.base_url);
    launch.env("ANTHROPIC_API_KEY", &model.key);
    // Without it the program refuses to skip questions as root, which it is in a namespace of its own.
    launch.env("IS_SANDBOX", "1");
    launch.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    launch.env("DISABLE_AUTOUPDATER", "1");
    launch.finished(errand)
}

pub(super) fn read(stream: &str) -> Told {
    anthropic_stream::read(stream, Dialect { input_has_cached: false, version: "claude_code_version" })
}
