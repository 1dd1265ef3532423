//! `aider`: Aider with one message. It calls no tools: its model writes edits and commands into its reply, and Aider applies and runs them. Both are calls here.
//!
//! What was said and done stands in its chat history, which is Markdown; what it used and how it ended in the log of its own analytics, which is JSON lines among
//! what it prints.

use std::collections::VecDeque;

use jurat_format::value::{Val, parse_json};

use super::launch::{Launch, ModelAt, TurnInput, Wire, moment, object};
use super::lines::Line;
use super::runner::{Package, Performer, Printed, Program, Runner, SideFile};
use super::turn_report::{FaultSource, TurnReport, count, owned_text, text};
use crate::artifact::Tokens;

/// Where the chat history is, below its home.
const HISTORY: &str = "chat.md";

pub(super) static RUNNER: Runner = Runner {
    name: "aider",
    performer: Performer::Program(Program {
        name: "aider",
        package: Package::PyPi("aider-chat"),
        tested: "0.86.2",
        wire: Wire::OpenAiChat,
        launch,
        read,
        side_file: Some(SideFile::Text(HISTORY)),
        counts_session: false,
        failed_calls: None,
    }),
    takes_turns: true,
    limits_steps: false,
    takes_servers: false,
    skills: None,
    keys: &[],
};

fn launch(input: &TurnInput<'_>, model: &ModelAt) -> Launch {
    let mut launch = Launch::of(input);
    launch.args(["--model", &format!("openai/{}", model.model), "--message", &input.with_system()]);
    // It would make a repository of the workspace, and commit to one that is there.
    launch.args(["--no-git", "--no-gitignore", "--no-auto-commits"]);
    launch.args(["--no-pretty", "--no-stream", "--no-fancy-input", "--no-detect-urls"]);
    launch.args(["--no-check-update", "--no-show-release-notes", "--no-show-model-warnings"]);
    launch.args(["--chat-history-file", &input.places.at_home(HISTORY)]);
    launch.args(["--input-history-file", &input.places.at_home("input-history.txt")]);
    // Nothing is sent. With `--yes-always` it would run no commands; without an answer it takes `yes`, which is the default of its questions.
    launch.args(["--no-analytics", "--analytics-log", "/proc/self/fd/1"]);
    if input.turn > 0 {
        launch.args(["--restore-chat-history"]);
    }
    launch.env("OPENAI_API_BASE", &model.under("/v1"));
    launch.env("OPENAI_API_KEY", &model.key);
    launch.env("LITELLM_LOCAL_MODEL_COST_MAP", "True");
    // What it prints and what it logs are in order then.
    launch.env("PYTHONUNBUFFERED", "1");
    launch.finished(input)
}

fn read(printed: Printed<'_>) -> TurnReport {
    let mut report = TurnReport::default();
    let mut history = History {
        report: &mut report,
        outputs: outputs(printed.stdout),
        asked: String::new(),
        said: String::new(),
        n_calls: 0,
    };
    let complaint = history.take(printed.side);
    let has_end = logged(&mut report, printed.stdout);
    if let Some(complaint) = complaint {
        report.fail(FaultSource::Provider, "provider_error", complaint);
    }
    if !has_end {
        report.fail(FaultSource::Stream, "stream_broken_off", "the log ends without its `exit` event");
    }
    if report.fault.is_some() {
        report.response = None;
    }
    report
}

/// What an entry of its log begins with. One may stand behind a question, which ends no line.
const ENTRY: &str = "{\"event\": ";

/// Takes in what its log says it used; returns whether the log says that it ended.
fn logged(report: &mut TurnReport, stdout: &str) -> bool {
    let mut has_end = false;
    for line in stdout.lines() {
        let entry = line.find(ENTRY).and_then(|it| parse_json(&line[it..]).ok());
        let Some(entry) = entry.map(|it| it.value) else { continue };
        let properties = entry.get("properties").unwrap_or(&Val::Null);
        let at = count(&entry, "time").and_then(|it| moment(it.saturating_mul(1000)));
        match text(&entry, "event") {
            Some("message_send") => {
                report.took(&Tokens {
                    total: count(properties, "total_tokens"),
                    ..Tokens::of(count(properties, "prompt_tokens"), count(properties, "completion_tokens"))
                });
                report.cost(properties.get("cost").and_then(Val::as_f64).filter(|it| *it > 0.0));
            }
            Some("message_send_exception") => {
                report.note(at, "message_send_exception", properties.clone().into_owned());
                let why = owned_text(properties, "exception").unwrap_or_default();
                report.fail(FaultSource::Agent, "message_send_exception", why);
            }
            Some("exit") => {
                has_end = true;
                report.note(at, "exit", properties.clone().into_owned());
            }
            _ => {}
        }
    }
    has_end
}

const RUNNING: &str = "Running ";
const ASKS_TO_ADD: &str = "Add command output to the chat?";

/// The commands that it ran and what they printed, in order, as far as it shows where their output ends.
fn outputs(stdout: &str) -> VecDeque<(&str, String)> {
    let mut outputs = VecDeque::new();
    let mut running: Option<(&str, String)> = None;
    for line in stdout.lines() {
        if let Some(command) = line.strip_prefix(RUNNING) {
            outputs.extend(running.replace((command, String::new())));
        } else if line.contains(ASKS_TO_ADD) || line.contains(ENTRY) {
            outputs.extend(running.take());
        } else if let Some((_, output)) = &mut running {
            output.push_str(line);
            output.push('\n');
        }
    }
    outputs
}

/// The chat history while it is read.
struct History<'r, 't> {
    report: &'r mut TurnReport,
    outputs: VecDeque<(&'t str, String)>,
    /// The message to it, which has a line for each of its own.
    asked: String,
    /// What the model is saying.
    said: String,
    n_calls: usize,
}

impl History<'_, '_> {
    /// Takes in what was said and done in this turn; returns what an endpoint did wrong, if that was the end.
    fn take(&mut self, history: &str) -> Option<String> {
        let turn = history.rsplit_once("# aider chat started at ").map_or("", |(_, it)| it);
        let mut complaint: Option<String> = None;
        // The first line is the time at which it started. Lines of its own end with two spaces, as line breaks of Markdown do.
        for line in turn.split('\n').skip(1) {
            let own = line.strip_suffix("  ");
            if let Some(message) = own.and_then(|it| it.strip_prefix("#### ")) {
                self.finish_saying();
                self.asked.push_str(message);
                self.asked.push('\n');
                continue;
            }
            self.finish_asking();
            if let Some(own) = own.and_then(|it| it.strip_prefix("> ")) {
                self.finish_saying();
                self.did(own);
                if own.starts_with("litellm.") {
                    complaint = Some(own.to_owned());
                }
            } else {
                // What came right in the end was no failure.
                complaint = complaint.filter(|_| line.trim().is_empty());
                self.said.push_str(line);
                self.said.push('\n');
            }
        }
        self.finish_saying();
        complaint
    }

    fn finish_asking(&mut self) {
        let asked = std::mem::take(&mut self.asked);
        if !asked.is_empty() {
            self.report.said(None, "user", asked.trim_end().to_owned());
        }
    }

    fn finish_saying(&mut self) {
        let said = std::mem::take(&mut self.said);
        if !said.trim().is_empty() {
            self.report.response = Some(said.trim().to_owned());
            self.report.said(None, "assistant", said.trim().to_owned());
        }
    }

    /// Something that Aider itself did or said.
    fn did(&mut self, line: &str) {
        if let Some(path) = line.strip_prefix("Applied edit to ") {
            self.called("edit", object([("path", Val::from(path.to_owned()))]), Some(false), Val::Null);
        } else if let Some(command) = line.strip_prefix(RUNNING) {
            // Whether the command failed is not shown.
            let output = self.outputs.pop_front().filter(|(it, _)| *it == command).map(|(_, it)| Val::from(it));
            let arguments = object([("command", Val::from(command.to_owned()))]);
            self.called("shell", arguments, None, output.unwrap_or(Val::Null));
        } else if let Some(version) = line.strip_prefix("Aider v") {
            self.report.version = Some(version.to_owned());
        } else {
            self.report.event(Line::Printed(line), "printed");
        }
    }

    fn called(&mut self, name: &str, arguments: Val<'static>, is_error: Option<bool>, output: Val<'static>) {
        self.n_calls += 1;
        let id = Some(format!("{name}-{}", self.n_calls));
        self.report.called(None, id.clone(), name.to_owned(), &arguments);
        self.report.returned(None, id, is_error, output);
    }
}
