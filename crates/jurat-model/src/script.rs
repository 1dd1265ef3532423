//! `script/FILE`: a model whose answers are written down beforehand.
//!
//! A script is JSON lines. For each request the first line that matches and is not used up answers it:
//!
//! ```json
//! {"match": {"task": "tone", "contains": "refund"}, "reply": {"label": "polite"}}
//! {"match": {"task": "tone"}, "reply": "not JSON at all", "times": 2}
//! {"match": {"task": "weather"}, "tool_calls": [{"name": "forecast", "arguments": {"city": "Ghent"}}]}
//! {"fault": "status:500", "times": "*"}
//! ```
//!
//! `match` may say what the prompt `contains`, a `regex` it matches, and which `role`, `task` or `case` asks; all of them must
//! hold, and a line without it matches everything. `reply` is text, or a JSON value; `logprobs` are tokens that spell it, with their probabilities. `fault` instead of it makes the request fail, or
//! makes the answer a refusal. `times` is the number of times that the line may answer (default: 1), `"*"` for ever. A request that no line answers is an
//! error that shows the prompt, so that a script cannot fall silent unnoticed.

use std::cell::LazyCell;
use std::ops::Deref;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jurat_core::effect::{FaultKind, Finish, Logprobs, Message, ModelRequest, Reasoning, Role, ToolCall, Usage};
use jurat_format::value::{Val, parse_json, shown_within};
use regex::Regex;

use crate::codec::Reply;
use crate::provider::Local;
use crate::transport::{Asker, Failed, Turn};

pub(crate) static PROVIDER: Local = Local {
    name: "script",
    doc: "a file of replies: [Scripts](scripts.md)",
    example: "replies.jsonl",
    revision: 1,
    is_address: false,
};

/// A script, with how often each line has answered.
#[derive(Debug)]
pub struct Script {
    lines: Vec<Line>,
    /// How often each line may still answer; `None` is for ever.
    left: Mutex<Vec<Option<u64>>>,
}

/// A script that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct ScriptError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

#[derive(Debug)]
struct Line {
    contains: Option<String>,
    regex: Option<Regex>,
    role: Option<String>,
    task: Option<String>,
    case: Option<String>,
    says: Says,
    latency: Duration,
    /// `None` is for ever.
    times: Option<u64>,
}

#[derive(Debug)]
enum Says {
    Reply(Box<Reply>),
    Fault { kind: FaultKind, message: String, retry_after: Option<Duration> },
}

impl Script {
    /// Reads a script; blank lines are skipped.
    pub fn parse(text: &str) -> Result<Script, ScriptError> {
        let numbered = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let lines = numbered.map(|(ix, line)| read_line(line).map_err(|message| ScriptError { line: ix + 1, message }));
        let lines: Vec<Line> = lines.collect::<Result<_, _>>()?;
        Ok(Script { left: Mutex::new(lines.iter().map(|it| it.times).collect()), lines })
    }

    /// Whether its answers depend on the order in which it is asked: that is so once a line answers a limited number of times.
    pub fn is_sequential(&self) -> bool {
        self.lines.iter().any(|it| it.times.is_some())
    }

    /// Answers one request, after the time that the line says.
    pub(crate) async fn attempt(&self, asker: Asker<'_>, request: &ModelRequest) -> Result<Reply, Failed> {
        let line = self.take(asker, request)?;
        if !line.latency.is_zero() {
            tokio::time::sleep(line.latency).await;
        }
        match &line.says {
            Says::Reply(reply) => Ok(Reply::clone(reply)),
            Says::Fault { kind, message, retry_after } => {
                Err(Failed { retry_after: *retry_after, ..Failed::new(*kind, message.clone()) })
            }
        }
    }

    /// The line that answers, which is then used once more.
    fn take(&self, asker: Asker<'_>, request: &ModelRequest) -> Result<&Line, Failed> {
        // Only put together where a line matches on it: a long conversation is asked with again and again.
        let prompt = LazyCell::new(|| {
            let texts: Vec<&str> = request.messages.iter().map(Message::text).collect();
            texts.join("\n\n")
        });
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let found = self
            .lines
            .iter()
            .zip(left.iter_mut())
            .find(|(line, left)| **left != Some(0) && line.matches(asker, &request.model, &prompt));
        let Some((line, left)) = found else {
            let shown = shown_within(&Val::from(prompt.as_str()), 300);
            let place = place(asker, &request.model);
            let message = format!("no line of the script answers {place}; the prompt is {shown}");
            return Err(Failed::new(FaultKind::NoAnswer, message));
        };
        *left = left.map(|it| it - 1);
        Ok(line)
    }
}

impl Line {
    fn matches(&self, asker: Asker<'_>, role: &Role, prompt: &dyn Deref<Target = String>) -> bool {
        let is = |wanted: &Option<String>, found: &str| wanted.as_ref().is_none_or(|it| it == found);
        self.role.as_ref().is_none_or(|it| is_role(it, role))
            && is(&self.task, asker.task)
            && is(&self.case, asker.case)
            && self.contains.as_ref().is_none_or(|it| prompt.contains(it.as_str()))
            && self.regex.as_ref().is_none_or(|it| it.is_match(prompt))
    }
}

/// Whether a line is for a role: `subject` for all of its models, `subject#2` for one.
fn is_role(wanted: &str, asked: &Role) -> bool {
    asked.name() == wanted || asked.to_string() == wanted
}

fn place(asker: Asker<'_>, role: &Role) -> String {
    match asker {
        Asker { case, turn: Some(Turn { node, number }), .. } => {
            format!("`{role}` in turn {number} (node `{node}`) of the scenario `{case}`")
        }
        Asker { case, task: "", .. } => format!("`{role}` for `{case}`"),
        Asker { case, task, .. } => format!("`{task}` for `{case}`"),
    }
}

/// The faults beside `status:NNN`, and what they are. A refusal is none: it is an answer.
const FAULTS: [(&str, FaultKind, &str); 4] = [
    ("cut", FaultKind::Cut, "the connection ended in the middle of the answer"),
    ("truncate", FaultKind::Garbled, "the answer was cut off"),
    ("timeout", FaultKind::Timeout, "no answer in time"),
    ("reset", FaultKind::Cut, "the connection was reset"),
];

fn read_line(line: &str) -> Result<Line, String> {
    let value = parse_json(line).map_err(|error| error.to_string())?.value;
    let map = value.as_map().ok_or("a line is an object")?;
    const KEYS: [&str; 12] = [
        "match",
        "reply",
        "tool_calls",
        "usage",
        "finish",
        "reasoning",
        "logprobs",
        "latency_ms",
        "fault",
        "message",
        "retry_after",
        "times",
    ];
    known_keys(map.keys(), &KEYS)?;
    let matched = value.get("match");
    if let Some(matched) = matched {
        let matched = matched.as_map().ok_or("`match` is an object")?;
        known_keys(matched.keys(), &["contains", "regex", "role", "task", "case"])?;
    }
    let text = |key: &str| match matched.and_then(|it| it.get(key)) {
        None => Ok(None),
        Some(Val::Str(text)) => Ok(Some(text.clone().into_owned())),
        Some(_) => Err(format!("`{key}` in `match` is text")),
    };
    let regex = text("regex")?
        .map(|it| Regex::new(&it).map_err(|_| format!("`{it}` is not a regular expression")))
        .transpose()?;
    Ok(Line {
        contains: text("contains")?,
        regex,
        role: text("role")?,
        task: text("task")?,
        case: text("case")?,
        says: says(&value)?,
        latency: time(&value, "latency_ms", 0.001, "milliseconds")?.unwrap_or_default(),
        times: times(&value)?,
    })
}

const LOGPROBS: &str =
    "`logprobs` is a list of objects with `token`, `logprob` (at most 0) and `top`, a list of others";

fn says(line: &Val<'_>) -> Result<Says, String> {
    let (reply, calls, fault) = (line.get("reply"), line.get("tool_calls"), line.get("fault"));
    let retry_after = time(line, "retry_after", 1.0, "seconds")?;
    let logprobs = line.get("logprobs").map(|it| Logprobs::from_value(it).ok_or(LOGPROBS)).transpose()?.map(Box::new);
    let text = match reply {
        None => logprobs.as_ref().map_or_else(String::new, |it| it.text()),
        Some(Val::Str(text)) => text.clone().into_owned(),
        Some(json) => json.to_json(),
    };
    let tool_calls = calls.map_or(Ok(Vec::new()), tool_calls)?;
    let is_refusal = fault.and_then(Val::as_str) == Some("refusal");
    match fault {
        None if reply.is_none() && calls.is_none() && logprobs.is_none() => {
            return Err("a line needs `reply`, `tool_calls` or `fault`".to_owned());
        }
        None => {}
        Some(_) if is_refusal && calls.is_none() => {}
        Some(_) if reply.is_some() || calls.is_some() => return Err("a line has either `reply` or `fault`".to_owned()),
        Some(fault) => {
            if let Some(key) =
                ["usage", "finish", "reasoning", "logprobs"].into_iter().find(|it| line.get(it).is_some())
            {
                return Err(format!("`{key}` is for replies"));
            }
            let (kind, message) = self::fault(fault)?;
            let message = optional_text(line, "message")?.unwrap_or(message);
            return Ok(Says::Fault { kind, message, retry_after });
        }
    }
    if retry_after.is_some() {
        return Err("`retry_after` is for faults".to_owned());
    }
    if line.get("message").is_some() {
        return Err("`message` is for faults".to_owned());
    }
    let finish = match optional_text(line, "finish")? {
        Some(word) => Finish::named(&word),
        None if is_refusal => Finish::Refusal,
        None if !tool_calls.is_empty() => Finish::ToolCalls,
        None => Finish::Stop,
    };
    let usage = line.get("usage").map(usage).transpose()?;
    let thoughts = optional_text(line, "reasoning")?;
    let reasoning = thoughts.and_then(|it| Reasoning::new(it.clone(), Val::from(it)));
    if let Some(other) = logprobs.as_ref().map(|it| it.text()).filter(|it| *it != text) {
        return Err(format!(
            "the tokens of `logprobs` spell {}, and the reply is {}",
            Val::from(other),
            Val::from(text)
        ));
    }
    Ok(Says::Reply(Box::new(Reply { text, tool_calls, reasoning, logprobs, finish, usage, ..Reply::default() })))
}

fn optional_text(line: &Val<'_>, key: &str) -> Result<Option<String>, String> {
    match line.get(key) {
        None => Ok(None),
        Some(Val::Str(text)) => Ok(Some(text.clone().into_owned())),
        Some(_) => Err(format!("`{key}` is text")),
    }
}

fn fault(fault: &Val<'_>) -> Result<(FaultKind, String), String> {
    let name = fault.as_str().unwrap_or_default();
    let status = name.strip_prefix("status:").and_then(|it| it.parse::<u16>().ok());
    if let Some(status) = status.filter(|it| (100..600).contains(it)) {
        return Ok((FaultKind::Status(status), format!("the model answered with status {status}")));
    }
    match FAULTS.iter().find(|(it, ..)| *it == name) {
        Some((_, kind, message)) => Ok((*kind, (*message).to_owned())),
        None => Err(format!(
            "{fault} is no fault; there are \"status:NNN\", \"cut\", \"truncate\", \"timeout\", \"reset\" and \"refusal\""
        )),
    }
}

fn tool_calls(calls: &Val<'_>) -> Result<Vec<ToolCall>, String> {
    const SHAPE: &str = "`tool_calls` is a list of objects with `name` and `arguments`";
    let call = |(ix, call): (usize, &Val<'_>)| {
        known_keys(call.as_map().ok_or(SHAPE)?.keys(), &["id", "name", "arguments"])?;
        let text = |key: &str| call.get(key).and_then(Val::as_str).map(str::to_owned);
        let arguments =
            call.get("arguments").map_or_else(|| Val::Map(Default::default()), |it| it.clone().into_owned());
        Ok(ToolCall { id: text("id").unwrap_or_else(|| format!("#{ix}")), name: text("name").ok_or(SHAPE)?, arguments })
    };
    calls.as_list().filter(|it| !it.is_empty()).ok_or(SHAPE)?.iter().enumerate().map(call).collect()
}

fn usage(usage: &Val<'_>) -> Result<Usage, String> {
    const SHAPE: &str =
        "`usage` is an object of numbers of tokens: `input`, `output`, `cached`, `reasoning` and `cache_write`";
    known_keys(usage.as_map().ok_or(SHAPE)?.keys(), &["input", "output", "cached", "reasoning", "cache_write"])?;
    let tokens = |key: &str| match usage.get(key) {
        None => Ok(0),
        Some(Val::I(number)) => u64::try_from(*number).map_err(|_| SHAPE),
        Some(_) => Err(SHAPE),
    };
    Ok(Usage {
        input: tokens("input")?,
        output: tokens("output")?,
        cached: tokens("cached")?,
        reasoning: tokens("reasoning")?,
        cache_write: tokens("cache_write")?,
    })
}

fn time(line: &Val<'_>, key: &str, unit: f64, words: &str) -> Result<Option<Duration>, String> {
    let Some(value) = line.get(key) else { return Ok(None) };
    let time = value.as_f64().and_then(|it| Duration::try_from_secs_f64(it * unit).ok());
    time.map(Some).ok_or_else(|| format!("`{key}` is a number of {words}"))
}

fn times(line: &Val<'_>) -> Result<Option<u64>, String> {
    match line.get("times") {
        None => Ok(Some(1)),
        Some(Val::Str(star)) if star == "*" => Ok(None),
        Some(Val::I(times)) if *times > 0 => Ok(Some(times.unsigned_abs())),
        Some(_) => Err("`times` is a number of at least 1, or \"*\"".to_owned()),
    }
}

fn known_keys<'k>(keys: impl Iterator<Item = &'k str>, known: &[&str]) -> Result<(), String> {
    for key in keys {
        if !known.contains(&key) {
            return Err(format!("there is no key `{key}`; there are {}", known.join(", ")));
        }
    }
    Ok(())
}
