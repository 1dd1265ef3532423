//! `claude_code`: Claude Code, headless.

use jurat_format::value::Val;

use super::anthropic_stream::{self, Dialect};
use super::launch::{Launch, ModelAt, TurnInput, Wire, object};
use super::runner::{Package, Performer, Program, Runner};
use super::turn_report::FaultSource;

pub(super) static RUNNER: Runner = Runner {
    name: "claude_code",
    performer: Performer::Program(Program {
        name: "claude",
        package: Package::Npm("@anthropic-ai/claude-code"),
        tested: "2.1.325",
        wire: Wire::Anthropic,
        launch,
        read: |it| {
            anthropic_stream::read(
                it.stdout,
                Dialect { input_has_cached: false, version: "claude_code_version", words: FaultSource::ProviderWords },
            )
        },
        side_file: None,
        counts_session: false,
        failed_calls: None,
    }),
    takes_turns: true,
    limits_steps: true,
    takes_servers: true,
    skills: Some(".claude/skills"),
    keys: &[],
};

fn launch(input: &TurnInput<'_>, model: &ModelAt) -> Launch {
    let mut launch = Launch::of(input);
    launch.args(["-p", input.message, "--output-format", "stream-json", "--verbose"]);
    // Its own questions would get no answer; what it may do is decided by the sandbox.
    launch.args(["--dangerously-skip-permissions", "--model", &model.model]);
    match input.turn {
        0 => launch.args(["--session-id", input.session]),
        _ => launch.args(["--resume", input.session]),
    }
    if let Some(system) = input.system {
        launch.args(["--append-system-prompt", system]);
    }
    if let Some(turns) = input.agent.limits.turns {
        launch.args(["--max-turns", &turns.to_string()]);
    }
    let entry = |url| object([("type", Val::from("http")), ("url", url)]);
    if let Some(servers) = input.server_entries(entry) {
        // Those of the workspace and of the user are not part of the suite.
        launch.args(["--mcp-config", &object([("mcpServers", servers)]).to_json(), "--strict-mcp-config"]);
    }
    launch.env("ANTHROPIC_BASE_URL", &model.base_url);
    launch.env("ANTHROPIC_API_KEY", &model.key);
    // Without it the program refuses to skip questions as root, which it is in a namespace of its own.
    launch.env("IS_SANDBOX", "1");
    launch.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    launch.env("DISABLE_AUTOUPDATER", "1");
    launch.finished(input)
}
