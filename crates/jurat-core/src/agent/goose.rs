//! `goose`: Goose, headless.

use jurat_format::value::{Map, Val};

use super::launch::{Launch, ModelAt, TurnInput, Wire, moment, object};
use super::lines::lines;
use super::runner::{Package, Performer, Program, Runner};
use super::turn_report::{FaultSource, TurnReport, count, joined, owned_text, picked, text};
use crate::artifact::Tokens;

pub(super) static RUNNER: Runner = Runner {
    name: "goose",
    performer: Performer::Program(Program {
        name: "goose",
        package: Package::Npm("@aaif/goose-acp"),
        tested: "1.50.0",
        wire: Wire::OpenAiChat,
        launch,
        read: |it| read(it.stdout),
        side_file: None,
        counts_session: true,
        failed_calls: None,
    }),
    takes_turns: true,
    limits_steps: true,
    takes_servers: true,
    skills: Some(".config/goose/skills"),
    keys: &[],
};

fn launch(input: &TurnInput<'_>, model: &ModelAt) -> Launch {
    let mut launch = Launch::of(input);
    launch.args(["run", "-t", input.message, "--output-format", "stream-json", "--quiet", "--name", input.session]);
    if input.turn > 0 {
        launch.args(["--resume"]);
    }
    if let Some(system) = input.system {
        launch.args(["--system", system]);
    }
    if let Some(turns) = input.agent.limits.turns {
        launch.args(["--max-turns", &turns.to_string()]);
    }
    launch.env("GOOSE_PROVIDER", "openai");
    launch.env("GOOSE_MODEL", &model.model);
    launch.env("GOOSE_MODE", "auto");
    launch.env("GOOSE_DISABLE_KEYRING", "1");
    launch.env("GOOSE_TELEMETRY_ENABLED", "false");
    launch.env("OPENAI_HOST", &model.base_url);
    launch.env("OPENAI_BASE_URL", &model.under("/v1"));
    launch.env("OPENAI_API_KEY", &model.key);
    if let Some(config) = config(input) {
        launch.home_file(input, ".config/goose/config.yaml", &config);
    }
    launch.finished(input)
}

/// Its configuration is YAML, and JSON is YAML, too.
fn config(input: &TurnInput<'_>) -> Option<String> {
    let entry = |name: &str, url: &str| {
        object([
            ("enabled", Val::Bool(true)),
            ("type", Val::from("streamable_http")),
            ("name", Val::from(name.to_owned())),
            ("description", Val::from("")),
            ("uri", Val::from(url.to_owned())),
        ])
    };
    let entries = input.servers.iter().map(|it| (it.name.clone(), entry(&it.name, &it.url)));
    let servers = Val::Map(entries.collect::<Map<'static>>());
    (!input.servers.is_empty()).then(|| format!("{}\n", object([("extensions", servers)]).to_json()))
}

fn read(stream: &str) -> TurnReport {
    let mut reader = Reader::default();
    let mut has_end = false;
    for line in lines(stream) {
        let Some(event) = reader.report.event(line, "printed") else { continue };
        match text(&event, "type") {
            Some("message") => reader.message(event.get("message").unwrap_or(&Val::Null)),
            Some("complete") => {
                has_end = true;
                reader.finish_saying();
                reader.report.took(&tokens(&event));
            }
            Some("error") => {
                has_end = true;
                reader.finish_saying();
                fail(&mut reader.report, text(&event, "error").unwrap_or("the program does not say why"));
            }
            other => {
                reader.finish_saying();
                reader.report.note(None, other.unwrap_or("event"), event.clone().into_owned());
            }
        }
    }
    reader.finish_saying();
    let Reader { mut report, complaint, .. } = reader;
    if let Some(complaint) = complaint {
        fail(&mut report, &complaint);
    }
    if !has_end {
        report.fail(FaultSource::Stream, "stream_broken_off", "the stream ends without `complete` or `error`");
    }
    if report.fault.is_some() {
        report.response = None;
    }
    report
}

/// What Goose says when it stops before the agent is done, and the code of that.
const GIVES_UP: [(&str, &str); 2] = [
    (
        "I've reached the maximum number of actions I can do without user input. Would you like me to continue?",
        "max_turns",
    ),
    ("The model returned an empty response. Please resend your message to continue.", "empty_response"),
];

/// What has been read, and what the agent is saying: that comes in pieces, each as a message.
#[derive(Default)]
struct Reader {
    report: TurnReport,
    saying: Option<(Option<String>, String)>,
    /// What went wrong last, while nothing came after it. Not every version ends with an event for it.
    complaint: Option<String>,
}

impl Reader {
    fn message(&mut self, message: &Val<'_>) {
        let at = count(message, "created").and_then(|it| moment(it.saturating_mul(1000)));
        let role = text(message, "role").unwrap_or("assistant");
        let is_of_model = message.get("metadata").is_some_and(|it| it.get("inference").is_some());
        for part in message.get("content").and_then(Val::as_list).unwrap_or_default() {
            let kind = text(part, "type");
            if let (Some("text"), "assistant") = (kind, role) {
                if !is_of_model {
                    self.give_up(text(part, "text").unwrap_or_default());
                }
                let (_, said) = self.saying.get_or_insert_with(|| (at.clone(), String::new()));
                said.push_str(text(part, "text").unwrap_or_default());
                self.complaint = None;
                continue;
            }
            self.finish_saying();
            self.part(at.clone(), role, part);
        }
    }

    /// Takes the words that Goose itself says in the place of the agent when it stops, and ends with success all the same. Only a model has `inference`.
    fn give_up(&mut self, words: &str) {
        if let Some((_, code)) = GIVES_UP.iter().find(|(known, _)| *known == words) {
            self.finish_saying();
            self.report.fail(FaultSource::Agent, *code, words);
        }
    }

    fn finish_saying(&mut self) {
        if let Some((at, said)) = self.saying.take() {
            self.report.response = Some(said.clone());
            self.report.said(at, "assistant", said);
        }
    }

    fn part(&mut self, at: Option<String>, role: &str, part: &Val<'_>) {
        let report = &mut self.report;
        match text(part, "type") {
            Some("text") => report.said(at, role, owned_text(part, "text").unwrap_or_default()),
            Some("toolRequest") => {
                let call = part.get("toolCall").and_then(|it| it.get("value")).unwrap_or(&Val::Null);
                let name = owned_text(call, "name").unwrap_or_default();
                report.called(at, owned_text(part, "id"), name, call.get("arguments").unwrap_or(&Val::Null));
                // What was said before a call is not the final message.
                report.response = None;
                self.complaint = None;
            }
            Some("toolResponse") => returned(report, at, part),
            Some("error") => {
                self.complaint = owned_text(part, "message");
                report.note(at, "error", picked(part, &["kind", "message"]));
            }
            other => report.note(at, other.unwrap_or("part"), part.clone().into_owned()),
        }
    }
}

fn returned(report: &mut TurnReport, at: Option<String>, part: &Val<'_>) {
    let result = part.get("toolResult").unwrap_or(&Val::Null);
    let value = result.get("value").unwrap_or(&Val::Null);
    let is_error = match (text(result, "status"), value.get("isError")) {
        (Some("success"), Some(Val::Bool(is_error))) => Some(*is_error),
        (Some("success"), _) => Some(false),
        (Some(_), _) => Some(true),
        (None, _) => None,
    };
    let output = value.get("content").map(joined).or_else(|| result.get("error").map(|it| it.clone().into_owned()));
    report.returned(at, owned_text(part, "id"), is_error, output.unwrap_or(Val::Null));
}

fn fail(report: &mut TurnReport, message: &str) {
    const OF_ENDPOINT: [&str; 6] = [
        "Authentication error",
        "Rate limit exceeded",
        "Server error",
        "Request failed",
        "Network error",
        "Context length exceeded",
    ];
    let is_provider = OF_ENDPOINT.iter().any(|it| message.contains(it));
    let (source, code) =
        if is_provider { (FaultSource::Provider, "provider_error") } else { (FaultSource::Agent, "error") };
    report.fail(source, code, message);
}

fn tokens(event: &Val<'_>) -> Tokens {
    Tokens {
        input: count(event, "input_tokens"),
        output: count(event, "output_tokens"),
        total: count(event, "total_tokens"),
        reasoning: None,
        cached_input: count(event, "cache_read_input_tokens"),
        cache_write: count(event, "cache_write_input_tokens"),
    }
}
