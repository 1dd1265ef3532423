//! What a program reported about a turn.

use jurat_format::value::{Map, Val, Value};

use super::lines::Line;
use crate::artifact::{Event, Happening, RunUsage, Tokens};
use crate::effect::FaultClass;

/// What a program reported about a turn.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TurnReport {
    /// What happened, in order. The final message is not among them.
    pub events: Vec<Event>,
    /// What it took, as far as the program says.
    pub usage: RunUsage,
    /// The final message of the agent.
    pub response: Option<String>,
    /// What went wrong, in the program's words.
    pub fault: Option<ReportedFault>,
    /// What the program calls the session, for the next turn.
    pub session: Option<String>,
    pub model: Option<String>,
    /// The version of the program.
    pub version: Option<String>,
    /// What was printed beside events, and what was left out.
    pub bounds: Bounds,
}

/// How much of a program's output became events, so that it takes no more than a small multiple of its size in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bounds {
    /// The bytes of lines beside events that are in the trace.
    pub n_printed: usize,
    /// The lines beside events that were left out.
    pub n_lines_left_out: u64,
    /// The events that were left out.
    pub n_events_left_out: u64,
}

/// How many events of one turn are read. Agents that work for hours have a few thousand.
const MOST_EVENTS: usize = 50_000;

/// How many bytes of lines that are no events are in the trace of one turn. All of them are in the log.
const MOST_PRINTED: usize = 256 << 10;

/// What went wrong, as a program reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedFault {
    pub source: FaultSource,
    pub code: String,
    pub message: String,
    /// What it means for further requests, where the model was asked by jurat itself.
    pub class: Option<FaultClass>,
}

/// Where a fault comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultSource {
    /// The agent gave up.
    Agent,
    /// The endpoint of its model failed.
    Provider,
    /// Its response reads as if the endpoint had failed. What the proxy saw decides: a model may well say so.
    ProviderWords,
    /// Its configuration was refused.
    Configuration,
    /// Its output cannot be read, or breaks off.
    Stream,
    /// It ran out of time by its own clock.
    Time,
    /// Its model refused; the message has the words of the refusal.
    Refusal,
}

impl TurnReport {
    pub(super) fn push(&mut self, timestamp: Option<String>, what: Happening) {
        if self.events.len() >= MOST_EVENTS {
            self.bounds.n_events_left_out += 1;
            return;
        }
        self.events.push(Event { timestamp, metadata: None, what });
    }

    /// Adds an event that is about the program rather than the agent, or one that is not known.
    pub(super) fn note(&mut self, timestamp: Option<String>, name: impl Into<String>, detail: Value) {
        self.push(timestamp, Happening::Runner { name: name.into(), detail });
    }

    /// The event of a line. What a program printed beside its events is noted under a name of its own.
    pub(super) fn event<'t>(&mut self, line: Line<'t>, beside: &str) -> Option<Val<'t>> {
        match line {
            Line::Event(event) => Some(event),
            Line::Printed(printed) => {
                self.printed(printed, beside);
                None
            }
        }
    }

    /// Lines that follow one another become one event.
    fn printed(&mut self, line: &str, beside: &str) {
        if self.bounds.n_printed + line.len() > MOST_PRINTED {
            self.bounds.n_lines_left_out += 1;
            return;
        }
        self.bounds.n_printed += line.len() + 1;
        let last = self.events.last_mut().map(|it| &mut it.what);
        if let Some(Happening::Runner { name, detail: Val::Str(text) }) = last
            && name == beside
        {
            let text = text.to_mut();
            text.push('\n');
            text.push_str(line);
            return;
        }
        self.note(None, beside, Val::from(line.to_owned()));
    }

    /// Says what was left out. A run whose events are not all known is no success.
    pub(super) fn finish(mut self) -> TurnReport {
        let Bounds { n_lines_left_out, n_events_left_out, .. } = self.bounds;
        if n_lines_left_out > 0 {
            let said = format!("{n_lines_left_out} more lines that are no events; the log has them");
            self.events.push(Event {
                timestamp: None,
                metadata: None,
                what: Happening::Runner { name: "left_out".to_owned(), detail: Val::from(said) },
            });
        }
        if n_events_left_out > 0 {
            let said =
                format!("the program printed {n_events_left_out} events more than the {MOST_EVENTS} that are read");
            self.fail(FaultSource::Stream, "too_many_events", said);
            self.response = None;
        }
        self
    }

    pub(super) fn said(&mut self, timestamp: Option<String>, role: &str, content: impl Into<Value>) {
        self.push(timestamp, Happening::Message { role: role.to_owned(), content: content.into(), name: None });
    }

    pub(super) fn called(&mut self, timestamp: Option<String>, id: Option<String>, name: String, arguments: &Val<'_>) {
        let raw = arguments.clone().into_owned();
        let parsed = raw.as_map().is_some().then(|| raw.clone());
        let what = Happening::ToolCall { call_id: id, tool_name: name, raw_arguments: raw, parsed_arguments: parsed };
        self.push(timestamp, what);
    }

    pub(super) fn returned(
        &mut self,
        timestamp: Option<String>,
        id: Option<String>,
        is_error: Option<bool>,
        output: Value,
    ) {
        self.push(timestamp, Happening::ToolResult { call_id: id, is_error, output });
    }

    /// Notes what went wrong, unless something is known to have gone wrong already: the first fault is the cause.
    pub(super) fn fail(&mut self, source: FaultSource, code: impl Into<String>, message: impl Into<String>) {
        if self.fault.is_none() {
            self.fault = Some(ReportedFault { source, code: code.into(), message: message.into(), class: None });
        }
    }

    /// The response, where it reads as if the endpoint had failed.
    pub(super) fn words_of_provider(&self) -> Option<&str> {
        let fault = self.fault.as_ref().filter(|it| it.source == FaultSource::ProviderWords);
        fault.map(|it| it.message.as_str())
    }

    /// Adds to what the turn cost, as far as that is known.
    pub(super) fn cost(&mut self, usd: Option<f64>) {
        if let Some(usd) = usd {
            *self.usage.cost_usd.get_or_insert(0.0) += usd;
        }
    }

    /// Adds tokens to what the turn took.
    pub(super) fn took(&mut self, tokens: &Tokens) {
        add(&mut self.usage.normalized, tokens);
    }
}

/// Adds counts; what neither knows stays unknown.
pub(super) fn add(sum: &mut Tokens, more: &Tokens) {
    let plus = |sum: &mut Option<u64>, more: Option<u64>| {
        if let Some(more) = more {
            *sum = Some(sum.unwrap_or(0).saturating_add(more));
        }
    };
    plus(&mut sum.input, more.input);
    plus(&mut sum.output, more.output);
    plus(&mut sum.total, more.total);
    plus(&mut sum.reasoning, more.reasoning);
    plus(&mut sum.cached_input, more.cached_input);
    plus(&mut sum.cache_write, more.cache_write);
}

pub(super) fn text<'v>(value: &'v Val<'_>, key: &str) -> Option<&'v str> {
    value.get(key).and_then(Val::as_str)
}

/// A text member of one's own.
pub(super) fn owned_text(value: &Val<'_>, key: &str) -> Option<String> {
    text(value, key).map(str::to_owned)
}

/// The highest count that is believed: sums of a thousand such still fit.
const MOST: u64 = 9_000_000_000_000_000;

/// A count. One that no program can have reached is not known.
pub(super) fn count(value: &Val<'_>, key: &str) -> Option<u64> {
    let count = match value.get(key)? {
        Val::I(number) => u64::try_from(*number).ok()?,
        Val::U(number) => *number,
        Val::F(number) if *number >= 0.0 && number.fract() == 0.0 && *number < MOST as f64 => *number as u64,
        _ => return None,
    };
    (count <= MOST).then_some(count)
}

/// The members of an object that say something, by these keys.
pub(super) fn picked(value: &Val<'_>, keys: &[&str]) -> Value {
    let member = |key: &&str| {
        let value = value.get(key).filter(|it| !matches!(it, Val::Null))?;
        Some(((*key).to_owned(), value.clone().into_owned()))
    };
    Val::Map(keys.iter().filter_map(member).collect::<Map<'static>>())
}

/// What parts of a message say: their text when all of them are text, else the parts as they are.
pub(super) fn joined(content: &Val<'_>) -> Value {
    let Some(parts) = content.as_list() else { return content.clone().into_owned() };
    let texts: Option<Vec<&str>> =
        parts.iter().map(|it| if text(it, "type") == Some("text") { text(it, "text") } else { None }).collect();
    match texts {
        Some(texts) => Val::from(texts.join("\n")),
        None => content.clone().into_owned(),
    }
}
