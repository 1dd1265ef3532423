//! The log of Aider: what its model replied, which commands it ran, and its own events.
//!
//! Three of its settings name the same file, so that all of it is in order. Lines of a prompt or of a reply begin with the role that says them there, and
//! lines of what was typed or run with `+`: nothing that a model writes can be taken for anything else.

use std::ops::Range;

use jurat_format::value::{Val, parse_json};

use super::turn_report::text;

/// The log while it is read, and what is in it.
#[derive(Default)]
pub(super) struct Log<'t> {
    /// The replies of earlier turns.
    pub(super) earlier: Vec<String>,
    /// What happened in this turn.
    pub(super) steps: Vec<Step<'t>>,
    /// The events of this turn.
    pub(super) events: Vec<Val<'t>>,
    place: Place,
}

pub(super) enum Step<'t> {
    Reply(String),
    Ran(&'t str),
}

#[derive(Default, PartialEq, Clone, Copy)]
enum Place {
    /// Before the model is asked. What was typed is logged as commands are.
    #[default]
    Before,
    Prompt,
    Reply,
    After,
}

impl<'t> Log<'t> {
    pub(super) fn read(text: &'t str) -> Log<'t> {
        let mut log = Log::default();
        text.split('\n').for_each(|it| log.take(it));
        log
    }

    fn take(&mut self, line: &'t str) {
        if self.place == Place::Reply && self.say(line) {
            return;
        }
        if line.starts_with("LLM RESPONSE ") {
            self.place = Place::Reply;
            self.steps.push(Step::Reply(String::new()));
        } else if self.place == Place::Prompt {
            // Some parts of prompts have lines without a role.
        } else if line.starts_with("TO LLM ") {
            self.place = Place::Prompt;
        } else if let Some(command) = line.strip_prefix("+/run ").filter(|_| self.place == Place::After) {
            self.steps.push(Step::Ran(command.trim()));
        } else if let Some(event) = line.strip_prefix('{').and_then(|_| parse_json(line).ok()) {
            self.event(event.value);
        }
    }

    /// Takes a line of a reply; returns whether it is one.
    fn say(&mut self, line: &str) -> bool {
        if let (Some(said), Some(Step::Reply(reply))) = (line.strip_prefix("ASSISTANT "), self.steps.last_mut()) {
            reply.push_str(said);
            reply.push('\n');
            return true;
        }
        self.place = Place::After;
        false
    }

    fn event(&mut self, event: Val<'t>) {
        if text(&event, "event") == Some("launched") {
            let replies = self.steps.drain(..).filter_map(|it| match it {
                Step::Reply(reply) => Some(reply),
                Step::Ran(_) => None,
            });
            self.earlier.extend(replies);
            self.events.clear();
            self.place = Place::Before;
        }
        self.events.push(event);
    }

    /// The replies of all turns.
    pub(super) fn replies(&self) -> impl Iterator<Item = &str> {
        self.earlier.iter().map(String::as_str).chain(self.steps.iter().filter_map(Step::reply))
    }

    pub(super) fn has_ended(&self) -> bool {
        self.events.iter().any(|it| text(it, "event") == Some("exit"))
    }

    /// The commands of this turn and what they printed, as far as it is shown where that ends.
    pub(super) fn commands(&self, stdout: &str) -> Vec<(&'t str, Option<String>)> {
        let places = self.places(stdout);
        let ends = places.iter().skip(1).map(|it| it.as_ref().map(|it| it.start)).chain([Some(stdout.len())]);
        let outputs = places.iter().zip(ends).map(|(place, end)| {
            let printed = stdout.get(place.as_ref()?.end..end?)?;
            Some(output(printed, end? < stdout.len(), self.has_ended()).to_owned())
        });
        let steps = self.steps.iter().zip(outputs);
        steps.filter_map(|(step, output)| step.command().map(|it| (it, output))).collect()
    }

    /// Where replies, and the lines that announce commands, stand in what Aider printed: one after the other, as they are in the log.
    fn places(&self, stdout: &str) -> Vec<Option<Range<usize>>> {
        let mut from = 0;
        let mut place = |step: &Step<'_>| {
            let announced = step.command().map(|it| format!("{RUNNING}{it}"));
            let words = announced.as_deref().or(step.reply()).unwrap_or_default();
            let place = found(stdout, from, words)?;
            from = place.end;
            Some(place)
        };
        self.steps.iter().map(&mut place).collect()
    }
}

impl<'t> Step<'t> {
    pub(super) fn reply(&self) -> Option<&str> {
        match self {
            Step::Reply(reply) => Some(reply),
            Step::Ran(_) => None,
        }
    }

    fn command(&self) -> Option<&'t str> {
        match self {
            Step::Reply(_) => None,
            Step::Ran(command) => Some(command),
        }
    }
}

/// What stands before a command that is run.
pub(super) const RUNNING: &str = "Running ";

/// What Aider asks behind the output of commands, if there was any, and before further ones.
const ASKS_TO_ADD: &str = "Add command output to the chat? (Y)es/(N)o/(D)on't ask again [Yes]: ";
const ASKS_TO_RUN: &str = "Run shell command";

/// What a command printed, of what stands between it and the next step.
fn output(printed: &str, has_next: bool, has_ended: bool) -> &str {
    if let Some(end) = printed.rfind(ASKS_TO_ADD) {
        return &printed[..end];
    }
    let is_asked = printed.trim_end().rsplit('\n').next().is_some_and(|it| it.starts_with(ASKS_TO_RUN));
    match has_next {
        true if is_asked => "",
        // Before a further command of the same block is an empty line.
        true => printed.strip_suffix('\n').unwrap_or(printed),
        // It would have been asked about.
        false if has_ended => "",
        false => printed,
    }
}

/// The lines from a place on that say this and nothing else.
fn found(text: &str, from: usize, words: &str) -> Option<Range<usize>> {
    let breaks = text.get(from..)?.match_indices('\n').map(|(ix, _)| from + ix + 1);
    [from].into_iter().chain(breaks).find_map(|start| {
        let rest = behind(&text[start..], words)?;
        let rest = rest.trim_start_matches(' ');
        let end = text.len() - rest.strip_prefix('\n').or(rest.is_empty().then_some(rest))?.len();
        Some(start..end)
    })
}

/// What follows words that a text begins with. Aider breaks long lines where it prints them, and lines elsewhere than its model does: white space is
/// passed over.
pub(super) fn behind<'t>(text: &'t str, words: &str) -> Option<&'t str> {
    let is_shown = |it: &char| !it.is_whitespace() && !it.is_control();
    let mut rest = text;
    let mut n_found = 0;
    for wanted in words.chars().filter(is_shown) {
        let is_passed = |it: char| !is_shown(&it) && (n_found > 0 || (it.is_control() && it != '\n'));
        rest = rest.trim_start_matches(is_passed).strip_prefix(wanted)?;
        n_found += 1;
    }
    (n_found > 0).then_some(rest)
}
