//! An explanation for people.
//!
//! What other people or models wrote stands behind a bar, line by line, so that none of it can pose as ours.

use std::io::{self, Write};
use std::time::Duration;

use jurat_core::effect::{Attempt, Candidate, Logprobs, Message, PrintedText, TokenLogprob, ToolCall};
use jurat_core::outcome::Trace;
use jurat_core::report::explanation::{Called, Conversation, Explanation, Operands, Origin, Purpose, Reply};
use jurat_core::report::{TaskVerdict, gate_name};
use jurat_format::value::{Map, Value};

use super::transcript::write_transcript;
use crate::Style;
use crate::style::Meaning;
use crate::visible::{visible, visible_line};
use crate::words::{self, cut, variant_name};
use crate::wrap::{BAR, hanging};

/// How much of a value is shown on a line.
pub(super) const ROOM: usize = 200;

/// How much of a prompt or a reply is shown.
const ROOM_FOR_TEXTS: usize = 4000;

/// Below which probability of a token the model is said to be unsure of it, and how many such tokens are shown.
const SURE: f64 = 0.9;
const MOST_UNSURE: usize = 5;

/// Writes an explanation as text, in a window of this width when there is one.
pub fn write_text(
    out: &mut dyn Write,
    explanation: &Explanation,
    style: Style,
    width: Option<usize>,
) -> io::Result<()> {
    fitted(out, width, |out| write_explanation(out, explanation, style))?;
    explanation.transcript.as_ref().map_or(Ok(()), |it| write_transcript(out, it, style, width))
}

/// Writes lines so that they fit a window of this width, when there is one.
pub(super) fn fitted(
    out: &mut dyn Write,
    width: Option<usize>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    if width.is_none() {
        return write(out);
    }
    let mut text = Vec::new();
    write(&mut text)?;
    out.write_all(hanging(&String::from_utf8_lossy(&text), width).as_bytes())
}

fn write_explanation(out: &mut dyn Write, explanation: &Explanation, style: Style) -> io::Result<()> {
    let mut writer = Writer { out, style };
    writer.head(explanation)?;
    writer.gates(explanation)?;
    if let Some(operands) = &explanation.operands {
        writer.operands(operands)?;
    }
    if let Some(decided) = &explanation.decided {
        writer.decided(decided)?;
    }
    writer.spread(explanation)?;
    writer.context(explanation)?;
    if let Some(called) = &explanation.called {
        writer.called(called)?;
    }
    for conversation in &explanation.conversations {
        match conversation.purpose {
            // What tools did stands below what their subject was asked.
            Purpose::Tool | Purpose::Tools => {}
            _ => writer.conversation(conversation)?,
        }
        if conversation.purpose == Purpose::Subject {
            writer.tools(explanation)?;
        }
    }
    Ok(())
}

pub(super) struct Writer<'w> {
    pub(super) out: &'w mut dyn Write,
    pub(super) style: Style,
}

impl Writer<'_> {
    fn head(&mut self, it: &Explanation) -> io::Result<()> {
        let case = variant_name(&it.case, it.prompt.as_deref(), it.subject.as_deref(), it.replicate);
        let name = format!("{} of {}", cut(&it.task, ROOM), cut(&case, ROOM));
        let verdict = self.verdict(it.verdict);
        writeln!(self.out, "{}: {verdict}", self.style.meant(Meaning::Name, &name))?;
        self.said(&it.message)?;
        writeln!(self.out)?;
        let suite = format!("{} in run {}", it.suite, it.run_id);
        self.line("suite", &suite)?;
        if let Some(row) = &it.row {
            let number = row.row.map_or_else(String::new, |it| format!(", row {it}"));
            let offset = row.offset.map_or_else(String::new, |it| format!(", from byte {it}"));
            self.line("row", &format!("{}{number}{offset}", row.file))?;
        }
        let gate = gate_name(it.gate);
        let gate = if gate.is_empty() { String::new() } else { format!(", {gate}") };
        self.line("task", &format!("{}{gate}, stage {}", it.kind, it.stage))?;
        self.optional("about", it.description.as_deref())?;
        self.optional("label", it.label.as_deref())?;
        self.optional("score", it.score.map(words::score).as_deref())?;
        if let Some(explanation) = &it.explanation {
            let who = if it.kind == "evaluate" { "evaluator" } else { "judge" };
            self.title(&format!("in the words of the {who}"))?;
            self.quoted(explanation)?;
        }
        Ok(())
    }

    fn gates(&mut self, it: &Explanation) -> io::Result<()> {
        if it.gates.is_empty() {
            return Ok(());
        }
        self.title("gates above it, from the top")?;
        for step in &it.gates {
            let verdict = self.verdict(step.verdict);
            let message =
                if step.message.is_empty() { String::new() } else { format!(": {}", cut(&step.message, ROOM)) };
            writeln!(self.out, "  {} {verdict}{message}", cut(&step.task, ROOM))?;
        }
        Ok(())
    }

    fn operands(&mut self, it: &Operands) -> io::Result<()> {
        self.title("compared")?;
        self.line("path", it.path.as_deref().unwrap_or("(everything)"))?;
        self.line("operator", &it.operator)?;
        self.value("expected", it.expected.as_ref(), "(nothing needed)")?;
        self.value("found", it.found.as_ref(), "(nothing)")
    }

    fn decided(&mut self, it: &Trace) -> io::Result<()> {
        self.title("how it was decided")?;
        // Paths and expressions are the author's, and values are other people's: each line stays one.
        it.to_string().lines().try_for_each(|line| writeln!(self.out, "  {}", visible_line(line)))
    }

    fn spread(&mut self, it: &Explanation) -> io::Result<()> {
        // One judge alone has no spread.
        if it.spread.len() < 2 {
            return Ok(());
        }
        self.title("what each judge said")?;
        for (judge, said) in it.spread.iter().enumerate() {
            self.value(&format!("judge {}", judge + 1), Some(said), "")?;
        }
        Ok(())
    }

    fn context(&mut self, it: &Explanation) -> io::Result<()> {
        if !it.seen.is_empty() {
            self.title("what it could read")?;
        }
        for seen in &it.seen {
            let from = if seen.is_output { " (a task)" } else { "" };
            let cost = seen.value.as_f64().filter(|_| seen.name == "cost_usd").map(words::money);
            let value = cost.unwrap_or_else(|| words::value(&seen.value, ROOM));
            writeln!(self.out, "  {}{from}: {value}", cut(&seen.name, ROOM))?;
        }
        if !it.unseen.is_empty() {
            self.title("what it could not read")?;
        }
        for unseen in &it.unseen {
            writeln!(self.out, "  {}: {}", cut(&unseen.name, ROOM), cut(&unseen.reason, ROOM))?;
        }
        Ok(())
    }

    fn called(&mut self, it: &Called) -> io::Result<()> {
        self.title(&format!("what {} was called with", cut(&it.evaluator, ROOM)))?;
        for (name, argument) in it.arguments.as_map().into_iter().flat_map(Map::iter) {
            writeln!(self.out, "  {}: {}", cut(name, ROOM), words::value(argument, ROOM))?;
        }
        self.title("what came of it")?;
        let latency = it.latency.map(words::duration);
        let facts: Vec<String> = [origin("called", it.origin, it.age)].into_iter().chain(latency).collect();
        writeln!(self.out, "  {}", facts.join(", "))?;
        self.value("returned", it.returned.as_ref(), "")?;
        self.optional("problem", it.problem.as_deref())?;
        self.printed("what it printed", &it.printed.stdout)?;
        self.printed("what it printed to standard error", &it.printed.stderr)
    }

    fn printed(&mut self, title: &str, it: &PrintedText) -> io::Result<()> {
        if it.is_empty() {
            return Ok(());
        }
        self.title(title)?;
        if it.n_dropped > 0 {
            writeln!(self.out, "    … {} before this were not stored", words::counted(it.n_dropped, "byte"))?;
        }
        self.quoted(it.text.strip_suffix('\n').unwrap_or(&it.text))
    }

    fn conversation(&mut self, it: &Conversation) -> io::Result<()> {
        self.title(&format!("what the {} was asked", it.purpose.name()))?;
        for message in &it.messages {
            writeln!(self.out, "  {}", message.role())?;
            let calls: &[ToolCall] = if let Message::Assistant { tool_calls, .. } = message { tool_calls } else { &[] };
            // A message that only calls tools has no words.
            if calls.is_empty() || !message.text().is_empty() {
                self.quoted(message.text())?;
            }
            self.tool_calls(calls)?;
        }
        if let Some(schema) = &it.schema {
            writeln!(self.out, "  schema of the answer")?;
            self.quoted(&schema.to_string())?;
        }
        for reply in &it.replies {
            self.reply(it, reply)?;
        }
        Ok(())
    }

    fn tools(&mut self, it: &Explanation) -> io::Result<()> {
        if it.tool_calls.is_empty() {
            return Ok(());
        }
        self.title("the tools that it called")?;
        it.tool_calls.iter().try_for_each(|it| self.tool(it))?;
        let of_tools = |it: &&Conversation| matches!(it.purpose, Purpose::Tool | Purpose::Tools);
        it.conversations.iter().filter(of_tools).try_for_each(|it| self.requests(it))
    }

    fn reply(&mut self, conversation: &Conversation, it: &Reply) -> io::Result<()> {
        let slots = conversation.replies.iter().map(|it| it.slot).max().unwrap_or(1);
        let slot = if slots > 1 { format!(" {}", it.slot) } else { String::new() };
        let turn = match (conversation.purpose, it.turn) {
            (_, ..=1) => String::new(),
            (Purpose::Subject, _) => ", with what tools returned".to_owned(),
            (_, turn) => format!(", asked the {} time", ordinal(turn)),
        };
        self.title(&format!("{}{slot} ({}){turn}", conversation.purpose.name(), cut(&it.model, ROOM)))?;
        writeln!(self.out, "  {}", facts(it).join(", "))?;
        for attempt in &it.attempts {
            self.attempt(attempt)?;
        }
        if let Some(reasoning) = &it.reasoning {
            writeln!(self.out, "  reasoning")?;
            self.quoted(reasoning)?;
            writeln!(self.out, "  answer")?;
        }
        // An answer that only calls tools has no words.
        if let Some(text) = it.text.as_ref().filter(|text| it.tool_calls.is_empty() || !text.is_empty()) {
            self.quoted(text)?;
        }
        if let Some(logprobs) = &it.logprobs {
            self.logprobs(logprobs)?;
        }
        self.tool_calls(&it.tool_calls)?;
        self.value("read as", it.parsed.as_ref(), "")?;
        self.optional("problem", it.problem.as_deref())
    }

    /// How sure the model was, and the tokens of which it was least sure, with what it might have written instead.
    fn logprobs(&mut self, logprobs: &Logprobs) -> io::Result<()> {
        let Logprobs(tokens) = logprobs;
        let share = |it: &Candidate| format!("`{}` {:.1} %", cut(&it.text(), 20), it.probability() * 100.0);
        let mean = logprobs.mean().unwrap_or(0.0);
        let n_tokens = words::counted(tokens.len() as u64, "token");
        writeln!(self.out, "  logprobs  {n_tokens}, geometric mean {:.1} %", mean.exp() * 100.0)?;
        let mut unsure: Vec<&TokenLogprob> = tokens.iter().filter(|it| it.token.probability() < SURE).collect();
        unsure.sort_by(|one, other| one.token.logprob.total_cmp(&other.token.logprob));
        for it in unsure.into_iter().take(MOST_UNSURE) {
            let others = it.top.iter().filter(|other| other.bytes != it.token.bytes).take(3);
            let others: Vec<String> = others.map(share).collect();
            let others = if others.is_empty() { String::new() } else { format!("; else {}", others.join(", ")) };
            writeln!(self.out, "            {}{others}", share(&it.token))?;
        }
        Ok(())
    }

    fn tool_calls(&mut self, calls: &[ToolCall]) -> io::Result<()> {
        for call in calls {
            let arguments = words::value(&call.arguments, ROOM);
            writeln!(self.out, "  calls     {} with {arguments}", cut(&call.name, ROOM))?;
        }
        Ok(())
    }

    pub(super) fn attempt(&mut self, it: &Attempt) -> io::Result<()> {
        let wait = it.retry_after.map_or_else(String::new, |it| format!(", asked to wait {}", words::duration(it)));
        let took = words::duration(it.took);
        writeln!(self.out, "  failed after {took} ({}{wait}): {}", it.kind.name(), cut(&it.message, ROOM))
    }

    pub(super) fn title(&mut self, title: &str) -> io::Result<()> {
        writeln!(self.out, "\n{}", self.style.meant(Meaning::Name, title))
    }

    pub(super) fn line(&mut self, name: &str, text: &str) -> io::Result<()> {
        writeln!(self.out, "  {name:<9} {}", cut(text, ROOM))
    }

    pub(super) fn optional(&mut self, name: &str, text: Option<&str>) -> io::Result<()> {
        text.map_or(Ok(()), |it| self.line(name, it))
    }

    /// A value on a line; what stands for none may be empty, then there is no line.
    pub(super) fn value(&mut self, name: &str, value: Option<&Value>, none: &str) -> io::Result<()> {
        match value {
            Some(value) => writeln!(self.out, "  {name:<9} {}", words::value(value, ROOM)),
            None if none.is_empty() => Ok(()),
            None => writeln!(self.out, "  {name:<9} {none}"),
        }
    }

    fn said(&mut self, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        // What is rejected lists what would have been taken, a line each, and what code raises may have lines of its own.
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        writeln!(self.out, "{}", visible_line(first))?;
        if rest.is_empty() { Ok(()) } else { self.quoted(rest) }
    }

    /// Other people's text behind a bar.
    pub(super) fn quoted(&mut self, text: &str) -> io::Result<()> {
        let (shown, n_more) = match text.char_indices().nth(ROOM_FOR_TEXTS) {
            Some((at, _)) => (&text[..at], text[at..].chars().count()),
            None => (text, 0),
        };
        for line in visible(shown).split('\n') {
            writeln!(self.out, "{}", format!("{BAR}{line}").trim_end())?;
        }
        if n_more > 0 {
            let more = words::counted(n_more as u64, "more character");
            writeln!(self.out, "    … and {more}; as JSON it is whole")?;
        }
        Ok(())
    }

    fn verdict(&self, verdict: TaskVerdict) -> String {
        let name = verdict.name().replace('_', " ");
        match verdict {
            TaskVerdict::Passed => self.style.meant(Meaning::Good, &name),
            TaskVerdict::Failed => self.style.meant(Meaning::Bad, &name),
            TaskVerdict::Error => self.style.meant(Meaning::Unknown, &name),
            TaskVerdict::Measured | TaskVerdict::Skipped | TaskVerdict::NotRun => name,
        }
    }
}

/// Where a reply comes from, and what it took.
pub(super) fn facts(it: &Reply) -> Vec<String> {
    let mut facts = vec![origin("asked", it.origin, it.age)];
    facts.extend(it.served.model.as_ref().map(|it| format!("served by {}", cut(it, ROOM))));
    facts.extend(it.served.fingerprint.as_ref().map(|it| format!("fingerprint {}", cut(it, ROOM))));
    facts.extend(it.served.request_id.as_ref().map(|it| format!("request {}", cut(it, ROOM))));
    facts.extend(it.served.batch.as_ref().map(|it| format!("batch {}", cut(it, ROOM))));
    facts.extend(it.usage.as_ref().map(words::tokens));
    facts.extend(it.cost_usd.map(words::money));
    facts.extend(it.latency.map(words::duration));
    facts.extend(it.first_token.map(|it| format!("first words after {}", words::duration(it))));
    facts.extend(it.finish.as_ref().map(|it| format!("finish {}", cut(it, ROOM))));
    facts
}

/// Where it comes from; what is of this run was `done` in it.
fn origin(done: &str, origin: Origin, age: Option<Duration>) -> String {
    match (origin, age) {
        (Origin::Live, _) => format!("{done} in this run"),
        (Origin::Journal, Some(age)) => format!("from the journal, {} old", words::span(age)),
        (Origin::Journal, None) => "from the journal".to_owned(),
        (Origin::Log, Some(age)) => format!("from the log of the run, {} old", words::span(age)),
        (Origin::Log, None) => "from the log of the run".to_owned(),
    }
}

/// `2nd`, `3rd`, `11th`
fn ordinal(n: u32) -> String {
    let end = match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{n}{end}")
}
