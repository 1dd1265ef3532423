//! A transcript for people.

use std::io::{self, Write};

use jurat_core::report::explanation::{Conversation, Purpose};
use jurat_core::report::transcript::{EdgeStep, FieldStep, OutcomeStep, TestedStep, ToolStep, Transcript, Turn};
use jurat_core::scenario::{END, TurnFailure};
use jurat_format::value::Value;

use super::super::text::{ROOM, Writer, facts, fitted};
use crate::Style;
use crate::style::Meaning;
use crate::visible::visible_line;
use crate::words::{self, counted, cut};

/// Writes a transcript as text, in a window of this width when there is one.
pub fn write_transcript(
    out: &mut dyn Write,
    transcript: &Transcript,
    style: Style,
    width: Option<usize>,
) -> io::Result<()> {
    fitted(out, width, |out| write_lines(out, transcript, style))
}

fn write_lines(out: &mut dyn Write, transcript: &Transcript, style: Style) -> io::Result<()> {
    let mut writer = Writer { out, style };
    writer.ending(transcript)?;
    for (number, turn) in (1..).zip(&transcript.turns) {
        writer.turn(number, turn)?;
    }
    if let Some(state) = &transcript.final_state {
        writer.title("what was known in the end")?;
        writer.members(state)?;
    }
    if !transcript.outcomes.is_empty() {
        writer.title("outcomes")?;
        transcript.outcomes.iter().try_for_each(|it| writer.outcome(it))?;
    }
    Ok(())
}

impl Writer<'_> {
    fn ending(&mut self, it: &Transcript) -> io::Result<()> {
        self.title("the conversation")?;
        self.optional("about", it.description.as_deref())?;
        let turns = counted(it.turns.len() as u64, "turn");
        match it.status.as_deref() {
            None => self.line("ended", "not held: the run was stopped before")?,
            Some("limit_reached") => {
                self.line("ended", &format!("limit reached, after {turns} of at most {}", it.turn_limit))?;
            }
            Some(status) => self.line("ended", &format!("{}, after {turns}", status.replace('_', " ")))?,
        }
        match &it.failure {
            Some((node, failure)) => self.line("because", &format!("{node}: {}", failure_words(failure))),
            None => Ok(()),
        }
    }

    fn turn(&mut self, number: usize, it: &Turn) -> io::Result<()> {
        self.title(&format!("turn {number}: {}", cut(&it.node, ROOM)))?;
        writeln!(self.out, "  {}", if it.sent.is_some() { "asked, with what was handed over" } else { "asked" })?;
        self.quoted(it.sent.as_deref().unwrap_or(&it.question))?;
        it.tool_calls.iter().try_for_each(|it| self.tool(it))?;
        if let Some(reply) = &it.reply {
            writeln!(self.out, "  answered")?;
            self.quoted(reply)?;
        }
        self.read(it)?;
        if let Some(failure) = &it.failure {
            self.line("failed", &failure_words(failure))?;
        }
        self.optional("no update", it.update_error.as_deref())?;
        it.tested.iter().try_for_each(|it| self.tested(it))?;
        match &it.taken {
            Some(edge) if edge.when.is_none() && !it.tested.is_empty() => {
                self.line("next", &format!("→ {}, because no other edge holds", target(edge)))?;
            }
            Some(edge) => self.line("next", &format!("→ {}", target(edge)))?,
            None => self.line("next", "nowhere")?,
        }
        self.accumulated(it.state.as_ref())?;
        it.conversations.iter().try_for_each(|it| self.requests(it))
    }

    pub(in super::super) fn tool(&mut self, it: &ToolStep) -> io::Result<()> {
        let server = it.server.as_ref().map_or_else(String::new, |it| format!("{}/", cut(it, ROOM)));
        let arguments = words::value(&it.arguments, ROOM);
        writeln!(self.out, "  called    {server}{} with {arguments}", cut(&it.tool, ROOM))?;
        match &it.output {
            Some(output) => {
                writeln!(self.out, "  {}", if it.is_error { "which failed" } else { "which returned" })?;
                self.quoted(output)
            }
            None => self.line("returned", "nothing"),
        }
    }

    /// What was read from an answer, and whether it is right.
    fn read(&mut self, it: &Turn) -> io::Result<()> {
        if it.parsed.as_map().is_some_and(|it| !it.is_empty()) {
            self.value("read as", Some(&it.parsed), "")?;
        }
        let by = it.judged_by.as_ref().map_or_else(String::new, |it| format!(", judged by {}", cut(it, ROOM)));
        let score = it.score.map_or_else(String::new, |it| format!(", score {}", words::score(it)));
        if it.verify_result.is_some() || it.judged_by.is_some() {
            let result = self.right_or_wrong(it.verify_result);
            writeln!(self.out, "  verified  {result}{by}{score}")?;
        }
        it.fields.iter().try_for_each(|it| self.field(it))?;
        for (name, value) in &it.rubric {
            writeln!(self.out, "  rubric    {}: {}", cut(name, ROOM), words::value(value, ROOM))?;
        }
        for (name, reason) in &it.rubric_errors {
            writeln!(self.out, "  rubric    {}: not rated: {}", cut(name, ROOM), cut(reason, ROOM))?;
        }
        Ok(())
    }

    fn field(&mut self, it: &FieldStep) -> io::Result<()> {
        let result = self.right_or_wrong(it.result);
        let expected = it.expected.as_ref().map_or_else(String::new, |it| format!("expected {}, ", cut(it, ROOM)));
        let problem = it.problem.as_ref().map_or_else(String::new, |it| format!(": {}", cut(it, ROOM)));
        let found = cut(&it.found, ROOM);
        writeln!(self.out, "  field     {} {result}: {expected}found {found}{problem}", cut(&it.name, ROOM))
    }

    fn right_or_wrong(&self, result: Option<bool>) -> String {
        match result {
            Some(true) => self.style.meant(Meaning::Good, "right"),
            Some(false) => self.style.meant(Meaning::Bad, "wrong"),
            None => "not judged".to_owned(),
        }
    }

    fn tested(&mut self, it: &TestedStep) -> io::Result<()> {
        let held = match &it.held {
            Ok(true) => "holds".to_owned(),
            Ok(false) => "does not hold".to_owned(),
            Err(reason) => format!("cannot be decided: {}", cut(reason, ROOM)),
        };
        let saw = it.saw.iter().map(|(path, value)| format!("{} is {}", cut(path, ROOM), words::value(value, ROOM)));
        let saw: Vec<String> = saw.collect();
        let saw = if saw.is_empty() { String::new() } else { format!(", as {}", saw.join(", ")) };
        writeln!(self.out, "  tested    {}: {held}{saw}", cut(&edge_words(&it.edge), ROOM))
    }

    /// What a turn added to what is known; the rest stands above it.
    fn accumulated(&mut self, state: Option<&Value>) -> io::Result<()> {
        let accumulated = state.and_then(|it| it.get("accumulated"));
        match accumulated.filter(|it| it.as_map().is_some_and(|it| !it.is_empty())) {
            Some(accumulated) => self.value("state", Some(accumulated), ""),
            None => Ok(()),
        }
    }

    /// The members of a value, a line each.
    fn members(&mut self, value: &Value) -> io::Result<()> {
        for (name, value) in value.as_map().into_iter().flat_map(jurat_format::value::Map::iter) {
            writeln!(self.out, "  {}: {}", cut(name, ROOM), words::value(value, ROOM))?;
        }
        Ok(())
    }

    /// Who was asked, and what that took. What was asked stands above, or follows from it; as JSON it is whole.
    pub(in super::super) fn requests(&mut self, it: &Conversation) -> io::Result<()> {
        for reply in &it.replies {
            let again = match it.purpose {
                Purpose::Subject if reply.turn > 1 => ", with what tools returned",
                Purpose::Parser | Purpose::Rubric if reply.turn > 1 => ", asked again",
                _ => "",
            };
            let who = format!("{} {}{again}", it.purpose.name(), cut(&reply.model, ROOM));
            writeln!(self.out, "  asks      {who}: {}", facts(reply).join(", "))?;
            for attempt in &reply.attempts {
                self.attempt(attempt)?;
            }
            self.optional("problem", reply.problem.as_deref())?;
        }
        Ok(())
    }

    fn outcome(&mut self, it: &OutcomeStep) -> io::Result<()> {
        let result = match &it.result {
            Some(Ok(value)) => words::value(value, ROOM),
            Some(Err(reason)) => format!("cannot be decided: {}", cut(reason, ROOM)),
            None => "not decided".to_owned(),
        };
        let about = it.description.as_ref().map_or_else(String::new, |it| format!(" ({})", cut(it, ROOM)));
        writeln!(self.out, "  {}{about}: {result}", self.style.meant(Meaning::Name, &cut(&it.name, ROOM)))?;
        let decided = it.decided.as_ref().map(ToString::to_string).unwrap_or_default();
        decided.lines().try_for_each(|line| writeln!(self.out, "    {}", visible_line(line)))
    }
}

fn failure_words(it: &TurnFailure) -> String {
    format!("{} ({}): {}", it.stage, it.category.name(), it.reason)
}

/// `verify_result is true → doubt`
fn edge_words(it: &EdgeStep) -> String {
    format!("{} → {}", it.when.as_deref().unwrap_or("else"), target(it))
}

fn target(it: &EdgeStep) -> &str {
    if it.to == END { "end" } else { &it.to }
}
