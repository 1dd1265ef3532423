//! `aider`: Aider with one message. It calls no tools: its model writes edits and commands into its reply, and Aider applies and runs them. Both are calls here.
//!
//! What was said and done stands in its chat history ([`super::aider_history`]); what its model said in it, what was run, what it used and how it ended in its
//! log ([`super::aider_log`]); what commands printed among what it prints.

use std::collections::VecDeque;

use jurat_format::value::Val;

use super::aider_history::{History, Part};
use super::aider_log::{Log, RUNNING};
use super::launch::{Launch, ModelAt, TurnInput, Wire, moment, object};
use super::lines::Line;
use super::runner::{Package, Performer, Printed, Program, Runner, SideFile};
use super::turn_report::{FaultSource, TurnReport, count, owned_text, text};
use crate::artifact::Tokens;

/// Where the chat history and the log are, below its home.
const HISTORY: &str = "chat.md";
const LOG: &str = "log.txt";

pub(super) static RUNNER: Runner = Runner {
    name: "aider",
    performer: Performer::Program(Program {
        name: "aider",
        package: Package::PyPi("aider-chat"),
        tested: "0.86.2",
        wire: Wire::OpenAiChat,
        launch,
        read,
        side_file: Some(SideFile::Logged { text: HISTORY, log: LOG }),
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
    // Replies, commands and events are in one file, in order. Nothing is sent.
    let log = input.places.at_home(LOG);
    launch.args(["--llm-history-file", &log, "--input-history-file", &log, "--analytics-log", &log, "--no-analytics"]);
    // With `--yes-always` it would run no commands; without an answer it takes `yes`, which is the default of its questions.
    if input.turn > 0 {
        launch.args(["--restore-chat-history"]);
    }
    launch.env("OPENAI_API_BASE", &model.under("/v1"));
    launch.env("OPENAI_API_KEY", &model.key);
    launch.env("LITELLM_LOCAL_MODEL_COST_MAP", "True");
    // What it prints and what its commands print are in order then.
    launch.env("PYTHONUNBUFFERED", "1");
    launch.finished(input)
}

fn read(printed: Printed<'_>) -> TurnReport {
    let log = Log::read(printed.log);
    let mut turn = Turn { report: TurnReport::default(), commands: log.commands(printed.stdout).into(), n_calls: 0 };
    let History { parts, missing } = History::read(printed.side, log.replies());
    let complaint = turn.take(parts);
    // What ran is known from the log alone.
    while let Some((command, output)) = turn.commands.pop_front() {
        turn.ran(command, output);
    }
    let Turn { mut report, .. } = turn;
    log.events.iter().for_each(|it| logged(&mut report, it));
    if let Some(complaint) = complaint {
        report.fail(FaultSource::Provider, "provider_error", complaint);
    }
    if !log.has_ended() {
        report.fail(FaultSource::Stream, "stream_broken_off", "the log ends without its `exit` event");
    }
    if !missing.is_empty() {
        report.fail(FaultSource::Stream, "history_incomplete", "the chat history lacks a reply that is in the log");
    }
    if report.fault.is_some() {
        report.response = None;
    }
    report
}

/// Takes in what an event of its log says that it used, or how it ended.
fn logged(report: &mut TurnReport, event: &Val<'_>) {
    let properties = event.get("properties").unwrap_or(&Val::Null);
    let at = count(event, "time").and_then(|it| moment(it.saturating_mul(1000)));
    match text(event, "event") {
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
        Some("exit") => report.note(at, "exit", properties.clone().into_owned()),
        _ => {}
    }
}

/// A turn while it is read.
struct Turn<'t> {
    report: TurnReport,
    /// The commands that were run and are not in the report yet, with what they printed.
    commands: VecDeque<(&'t str, Option<String>)>,
    n_calls: usize,
}

impl Turn<'_> {
    /// Takes in what was said and done; returns what an endpoint did wrong, if that was the end.
    fn take(&mut self, parts: Vec<Part<'_>>) -> Option<String> {
        let mut complaint: Option<String> = None;
        for part in parts {
            match part {
                Part::Asked(message) => self.report.said(None, "user", message),
                Part::Reply(reply) => {
                    // What came right in the end was no failure.
                    complaint = None;
                    self.report.response = Some(reply.to_owned());
                    self.report.said(None, "assistant", reply.to_owned());
                }
                Part::Did(line) => {
                    complaint = line.starts_with("litellm.").then(|| line.to_owned()).or(complaint);
                    self.did(line);
                }
                Part::Printed(text) => self.printed(&text),
            }
        }
        complaint
    }

    /// Something that Aider itself did or said.
    fn did(&mut self, line: &str) {
        let command = line.strip_prefix(RUNNING).map(str::trim);
        // Before the first reply it shows the message, which may have any lines.
        let edited = line.strip_prefix("Applied edit to ").filter(|_| self.report.response.is_some());
        if let Some(path) = edited {
            self.called("edit", object([("path", Val::from(path.to_owned()))]), Some(false), Val::Null);
        } else if let Some((ran, output)) = self.commands.pop_front_if(|(it, _)| Some(*it) == command) {
            self.ran(ran, output);
        } else if let Some(version) = line.strip_prefix("Aider v") {
            self.report.version = Some(version.to_owned());
        } else {
            self.printed(line);
        }
    }

    fn printed(&mut self, text: &str) {
        for line in text.lines().map(str::trim_end).filter(|it| !it.is_empty()) {
            self.report.event(Line::Printed(line), "printed");
        }
    }

    /// A command. Whether it failed is not shown.
    fn ran(&mut self, command: &str, output: Option<String>) {
        let arguments = object([("command", Val::from(command.to_owned()))]);
        self.called("shell", arguments, None, output.map_or(Val::Null, Val::from));
    }

    fn called(&mut self, name: &str, arguments: Val<'static>, is_error: Option<bool>, output: Val<'static>) {
        self.n_calls += 1;
        let id = Some(format!("{name}-{}", self.n_calls));
        self.report.called(None, id.clone(), name.to_owned(), &arguments);
        self.report.returned(None, id, is_error, output);
    }
}
