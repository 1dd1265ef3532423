//! `openclaw`: OpenClaw without a gateway: one isolated turn, or several in one session.
//!
//! It prints one document at its end. What happened is in its transcript, which this version has in a database and earlier ones in
//! files of JSON lines; the engine reads either as lines.

use jurat_format::value::{Map, Val, Value};

use super::launch::{Launch, ModelAt, TurnInput, Wire, object};
use super::lines::{document, lines};
use super::pi_messages;
use super::runner::{Package, Performer, Program, Runner, SideFile, TranscriptFiles};
use super::turn_report::{FaultSource, TurnReport, owned_text, picked, text};

/// Where its state is below its home.
const STATE: &str = ".openclaw-state";

const CONFIG: &str = "openclaw.json";

/// The agent that is spoken to.
const AGENT: &str = "main";

/// The system prompt of an agent. This version has no setting for it.
const PROMPT: &str = "prompt";

pub(super) static RUNNER: Runner = Runner {
    name: "openclaw",
    performer: Performer::Program(Program {
        name: "openclaw",
        package: Package::Npm("openclaw"),
        tested: "2026.9.6",
        wire: Wire::OpenAiChat,
        launch,
        read: |it| read(it.stdout, it.side),
        side_file: Some(SideFile::Transcript(TranscriptFiles {
            database: ".openclaw-state/agents/main/agent/openclaw-agent.sqlite",
            query: "SELECT event_json, event_zstd FROM transcript_events ORDER BY session_id, seq",
            folder: ".openclaw-state/agents/main/sessions",
        })),
        counts_session: false,
        failed_calls: None,
    }),
    takes_turns: true,
    limits_steps: false,
    takes_servers: true,
    skills: None,
    keys: &["config"],
};

fn launch(input: &TurnInput<'_>, model: &ModelAt) -> Launch {
    let mut launch = Launch::of(input);
    let (config, state) = (input.places.at_home(CONFIG), input.places.at_home(STATE));
    let seconds = input.agent.limits.time.as_secs().max(1).to_string();
    // The program owns its system prompt, so that of the agent is put before the first message.
    let prompt = input.agent.config.agent.get(PROMPT).and_then(Val::as_str).filter(|_| input.turn == 0);
    let message = match prompt {
        Some(prompt) => format!("{prompt}\n\n{}", input.with_system()),
        None => input.with_system(),
    };
    if input.n_turns == 1 {
        launch.args(["agent", "exec", &message, "--config", &config, "--cwd", &input.places.workspace]);
        launch.args(["--state-dir", &state, "--json", "--timeout", &seconds]);
    } else {
        launch.args(["agent", "--local", "--json", "--agent", AGENT, "--session-id", input.session]);
        launch.args(["--message", &message, "--timeout", &seconds]);
        launch.env("OPENCLAW_CONFIG_PATH", &config);
        launch.env("OPENCLAW_STATE_DIR", &state);
    }
    launch.home_file(input, CONFIG, &format!("{}\n", config_of(input, model).to_json()));
    // The directory has to be there.
    launch.home_file(input, &format!("{STATE}/.keep"), "");
    launch.finished(input)
}

fn config_of(input: &TurnInput<'_>, model: &ModelAt) -> Value {
    let name = format!("jurat/{}", model.model);
    let fragments = &input.agent.config;
    let mut alias: Map<'static> = [("alias", Val::from("subject"))].into_iter().collect();
    if !fragments.params.is_empty() {
        alias.insert("params".into(), Val::Map(fragments.params.clone()));
    }
    let known = Val::Map([(name.clone(), Val::Map(alias))].into_iter().collect::<Map<'static>>());
    let own = vec![
        ("workspace", Val::from(input.places.workspace.clone())),
        // Its own files in the workspace would be in the way of who looks at what the agent changed.
        ("skipBootstrap", Val::Bool(true)),
        ("model", object([("primary", Val::from(name.clone()))])),
        ("models", known),
    ];
    // What is ours stands last, because it is what is evaluated.
    let mut defaults = tidied(&fragments.defaults);
    for (key, value) in own {
        defaults.insert(key.into(), value);
    }
    let provider = object([
        ("baseUrl", Val::from(model.under("/v1"))),
        ("apiKey", Val::from(model.key.clone())),
        ("api", Val::from("openai-completions")),
        ("models", [model.entry()].into_iter().collect()),
    ]);
    let mut agents: Map<'static> = [("defaults", Val::Map(defaults))].into_iter().collect();
    if !fragments.agent.is_empty() {
        let mut agent = tidied(&fragments.agent);
        for (key, value) in [("id", Val::from(AGENT)), ("default", Val::Bool(true)), ("model", Val::from(name))] {
            agent.insert(key.into(), value);
        }
        agents.insert("list".into(), [Val::Map(agent)].into_iter().collect());
    }
    let models = object([("mode", Val::from("merge")), ("providers", object([("jurat", provider)]))]);
    let mut members = vec![("agents", Val::Map(agents)), ("models", models)];
    let entry = |url| object([("url", url), ("transport", Val::from("streamable-http"))]);
    members.extend(input.server_entries(entry).map(|it| ("mcp", object([("servers", it)]))));
    Val::Map(members.into_iter().collect::<Map<'static>>())
}

/// Parts of a configuration as this version has them: its prompt goes into the message, and where it runs is settled outside.
fn tidied(fragment: &Map<'static>) -> Map<'static> {
    let mut tidy: Map<'static> = Map::default();
    for (key, value) in fragment.iter() {
        match (key, value) {
            (PROMPT, _) => continue,
            ("sandbox", Val::Str(_)) => tidy.insert("sandbox".into(), object([("mode", Val::from("off"))])),
            (key, value) => tidy.insert(key.to_owned().into(), value.clone()),
        };
    }
    tidy
}

/// The report of a turn: the document that it printed, and the transcript as lines.
fn read(printed: &str, transcript: &str) -> TurnReport {
    let mut report = TurnReport::default();
    for line in lines(transcript) {
        let Some(event) = report.event(line, "transcript") else { continue };
        let at = owned_text(&event, "timestamp");
        match text(&event, "type") {
            Some("session") => {
                report.session = owned_text(&event, "id");
                report.note(at, "session", picked(&event, &["id", "version"]));
            }
            Some("message") => pi_messages::take(&mut report, at, event.get("message").unwrap_or(&Val::Null)),
            Some("model_change") => report.note(at, "model_change", picked(&event, &["provider", "modelId"])),
            Some("thinking_level_change") => {
                report.note(at, "thinking_level_change", picked(&event, &["thinkingLevel"]));
            }
            // What the program notes for itself.
            Some("custom") => report.note(at, "custom", picked(&event, &["customType"])),
            other => report.note(at, other.unwrap_or("event"), event.clone().into_owned()),
        }
    }
    let has_transcript = !report.events.is_empty();
    match document(printed) {
        Some(envelope) => take_envelope(&mut report, &envelope, has_transcript),
        None => report.fail(FaultSource::Stream, "no_envelope", "the program printed no document at its end"),
    }
    if !has_transcript {
        report.fail(FaultSource::Stream, "no_transcript", "the program left no transcript of what happened");
    }
    if report.fault.is_some() {
        report.response = None;
    }
    report
}

/// The document of `agent exec`, or that of `agent --local`, whose parts stand elsewhere.
fn take_envelope(report: &mut TurnReport, envelope: &Val<'_>, has_transcript: bool) {
    let meta = envelope.get("meta").unwrap_or(&Val::Null);
    let of_agent = meta.get("agentMeta").unwrap_or(&Val::Null);
    let keys = ["status", "assistantTurns", "toolSummary", "codeModeEngaged"];
    let summary = match meta {
        Val::Null => picked(envelope, &keys),
        _ => picked(meta, &["durationMs", "stopReason", "aborted", "toolSummary"]),
    };
    report.note(None, "envelope", summary);
    report.session = report
        .session
        .take()
        .or_else(|| owned_text(envelope, "sessionId"))
        .or_else(|| owned_text(of_agent, "sessionId"));
    report.model =
        report.model.take().or_else(|| owned_text(envelope, "model")).or_else(|| owned_text(of_agent, "model"));
    if let Some(usage) = envelope.get("usage").or_else(|| of_agent.get("usage")) {
        // The transcript says it message by message; without one this has to do.
        if !has_transcript {
            report.took(&pi_messages::tokens(usage));
        }
        report.usage.raw_provider_usage = Some(usage.clone().into_owned());
    }
    let texts = envelope.get("payloads").and_then(Val::as_list).unwrap_or_default();
    let texts: Vec<&str> = texts.iter().filter_map(|it| text(it, "text")).collect();
    let said = text(envelope, "final").or_else(|| text(meta, "finalAssistantVisibleText"));
    report.response = said.map(str::to_owned).or_else(|| (!texts.is_empty()).then(|| texts.join("\n")));
    let error = envelope.get("error").or_else(|| meta.get("error")).filter(|it| !matches!(it, Val::Null));
    let message = error.and_then(|it| it.as_str().or_else(|| text(it, "message")));
    let kind = error.and_then(|it| text(it, "kind")).unwrap_or("error");
    match text(envelope, "status") {
        Some("timeout") => report.fail(FaultSource::Time, "timeout", message.unwrap_or("the program ran out of time")),
        Some("ok") | None if error.is_none() && meta.get("aborted") != Some(&Val::Bool(true)) => {}
        _ => {
            let message = message.unwrap_or("the program does not say why");
            report.fail(source(kind, message), kind, message);
        }
    }
}

fn source(kind: &str, message: &str) -> FaultSource {
    const OF_ENDPOINT: [&str; 7] = ["auth", "provider", "rate", "billing", "overload", "network", "model"];
    if kind.contains("config") || message.starts_with("Invalid config") {
        FaultSource::Configuration
    } else if kind.contains("timeout") {
        FaultSource::Time
    } else if OF_ENDPOINT.iter().any(|it| kind.contains(it)) || message.contains("HTTP ") {
        FaultSource::Provider
    } else {
        FaultSource::Agent
    }
}
