//! `script/FILE`: a model whose answers are written down beforehand.
//!
//! A script is JSON lines. For each request the first line that matches and is not used up answers it:
//!
//! ```json
//! {"match": {"task": "tone", "contains": "refund"}, "reply": {"label": "polite"}}
//! {"match": {"task": "tone"}, "reply": "not JSON at all", "times": 2}
//! {"fault": "status:500", "times": "*"}
//! ```
//!
//! `match` may say what the prompt `contains`, a `regex` it matches, and which `role`, `task` or `case` asks; all of them must
//! hold, and a line without it matches everything. `reply` is text, or a JSON value. `fault` instead of `reply` makes the request fail.
//! `times` is how often the line may answer: once unless said, `"*"` for ever. A request that no line answers is an error that shows
//! the prompt, so that a script cannot fall silent unnoticed.

use jurat_core::effect::{Answer, Fault, FaultKind, Message, ModelRequest, Outcome};
use jurat_core::value::{Val, parse_json, shown_within};
use regex::Regex;

/// A script, with how often each line has answered.
#[derive(Debug, Clone)]
pub struct Script {
    lines: Vec<Line>,
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

/// Who asks.
#[derive(Debug, Clone, Copy)]
pub struct Asker<'a> {
    /// The id of the case.
    pub case: &'a str,
    /// The id of the task.
    pub task: &'a str,
}

#[derive(Debug, Clone)]
struct Line {
    contains: Option<String>,
    regex: Option<Regex>,
    role: Option<String>,
    task: Option<String>,
    case: Option<String>,
    says: Says,
    /// `None` is for ever.
    left: Option<u64>,
}

#[derive(Debug, Clone)]
enum Says {
    Reply(String),
    Fault(String),
}

impl Script {
    /// Reads a script; blank lines are skipped.
    pub fn parse(text: &str) -> Result<Script, ScriptError> {
        let numbered = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let lines = numbered.map(|(ix, line)| read_line(line).map_err(|message| ScriptError { line: ix + 1, message }));
        Ok(Script { lines: lines.collect::<Result<_, _>>()? })
    }

    /// Answers a request. A fault that may be repeated is, as a transport would: `max_requests` times at most.
    pub fn answer(&mut self, asker: Asker<'_>, request: &ModelRequest, max_requests: u32) -> Outcome {
        let prompt: Vec<&str> = request.messages.iter().map(Message::text).collect();
        let prompt = prompt.join("\n\n");
        let mut n_requests = 0;
        loop {
            n_requests += 1;
            let found =
                self.lines.iter_mut().find(|it| it.left != Some(0) && it.matches(asker, &request.model, &prompt));
            let Some(line) = found else {
                let shown = shown_within(&Val::from(prompt.as_str()), 300);
                let message = format!(
                    "no line of the script answers `{}` for `{}`; the prompt is {shown}",
                    asker.task, asker.case
                );
                return Outcome::Fault(Box::new(Fault::new(FaultKind::NoAnswer, message, n_requests)));
            };
            line.left = line.left.map(|left| left - 1);
            match &line.says {
                Says::Reply(text) => {
                    return Outcome::Answer(Box::new(Answer { n_requests, ..Answer::new(text.clone()) }));
                }
                Says::Fault(fault) if n_requests >= max_requests || !may_be_repeated(fault) => {
                    return Outcome::Fault(Box::new(Fault::new(kind(fault), described(fault), n_requests)));
                }
                Says::Fault(_) => {}
            }
        }
    }
}

impl Line {
    fn matches(&self, asker: Asker<'_>, role: &str, prompt: &str) -> bool {
        let is = |wanted: &Option<String>, found: &str| wanted.as_ref().is_none_or(|it| it == found);
        is(&self.role, role)
            && is(&self.task, asker.task)
            && is(&self.case, asker.case)
            && self.contains.as_ref().is_none_or(|it| prompt.contains(it))
            && self.regex.as_ref().is_none_or(|it| it.is_match(prompt))
    }
}

/// The faults that suite-format names; what a transport repeats is marked.
const FAULTS: [(&str, bool, &str); 5] = [
    ("cut", true, "the connection ended in the middle of the answer"),
    ("truncate", false, "the answer was cut off"),
    ("timeout", true, "no answer in time"),
    ("reset", true, "the connection was reset"),
    ("refusal", false, "the model refused to answer"),
];

fn may_be_repeated(fault: &str) -> bool {
    match fault.strip_prefix("status:") {
        Some(status) => matches!(status, "408" | "409" | "429") || status.starts_with('5'),
        None => FAULTS.iter().any(|(name, repeated, _)| *name == fault && *repeated),
    }
}

fn kind(fault: &str) -> FaultKind {
    match fault.strip_prefix("status:").and_then(|it| it.parse().ok()) {
        Some(status) => FaultKind::Status(status),
        None => match fault {
            "timeout" => FaultKind::Timeout,
            "refusal" => FaultKind::Judging,
            "truncate" => FaultKind::Garbled,
            _ => FaultKind::Cut,
        },
    }
}

fn described(fault: &str) -> String {
    match fault.strip_prefix("status:") {
        Some(status) => format!("the model answered with status {status}"),
        None => {
            FAULTS.iter().find(|(name, ..)| *name == fault).map_or_else(String::new, |(.., words)| (*words).to_owned())
        }
    }
}

fn read_line(line: &str) -> Result<Line, String> {
    let value = parse_json(line).map_err(|error| error.to_string())?.value;
    let map = value.as_map().ok_or("a line is an object")?;
    const KEYS: [&str; 8] = ["match", "reply", "tool_calls", "usage", "latency_ms", "fault", "retry_after", "times"];
    known_keys(map.keys(), &KEYS)?;
    let matched = value.get("match");
    if let Some(matched) = matched {
        let matched = matched.as_map().ok_or("`match` is an object")?;
        known_keys(matched.keys(), &["contains", "regex", "role", "task", "case"])?;
    }
    if value.get("tool_calls").is_some() {
        return Err("`tool_calls` are not answered by this version".to_owned());
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
        left: times(&value)?,
    })
}

fn says(line: &Val<'_>) -> Result<Says, String> {
    match (line.get("reply"), line.get("fault")) {
        (Some(Val::Str(text)), None) => Ok(Says::Reply(text.clone().into_owned())),
        (Some(json), None) => Ok(Says::Reply(json.to_json())),
        (None, Some(Val::Str(fault))) if is_fault(fault) => Ok(Says::Fault(fault.clone().into_owned())),
        (None, Some(fault)) => Err(format!(
            "{fault} is no fault; there are \"status:NNN\", \"cut\", \"truncate\", \"timeout\", \"reset\" and \"refusal\""
        )),
        (None, None) => Err("a line needs `reply` or `fault`".to_owned()),
        (Some(_), Some(_)) => Err("a line has either `reply` or `fault`".to_owned()),
    }
}

fn is_fault(fault: &str) -> bool {
    let status = fault.strip_prefix("status:").and_then(|it| it.parse::<u16>().ok());
    status.is_some_and(|it| (100..600).contains(&it)) || FAULTS.iter().any(|(name, ..)| *name == fault)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(script: &mut Script, task: &str, prompt: &str) -> String {
        let request = ModelRequest::new("judge", vec![Message::User(prompt.to_owned())]);
        match script.answer(Asker { case: "c1", task }, &request, 3) {
            Outcome::Answer(answer) => format!("{} after {}", answer.text, answer.n_requests),
            Outcome::Fault(fault) => format!("fault: {} after {}", fault.message, fault.n_requests),
            Outcome::NotRun(_) => "not run".to_owned(),
        }
    }

    #[test]
    fn the_first_unused_match_answers() {
        let mut script = Script::parse(concat!(
            "{\"match\": {\"task\": \"tone\", \"contains\": \"refund\"}, \"reply\": {\"label\": \"polite\"}}\n\n",
            "{\"match\": {\"regex\": \"^Judge\\\\s\"}, \"reply\": \"second\", \"times\": 2}\n",
            "{\"match\": {\"task\": \"flaky\"}, \"fault\": \"status:500\", \"times\": 2}\n",
            "{\"match\": {\"task\": \"flaky\"}, \"reply\": \"well\"}\n",
            "{\"match\": {\"task\": \"dead\"}, \"fault\": \"status:400\", \"times\": \"*\"}\n",
        ))
        .unwrap();
        assert_eq!(asked(&mut script, "tone", "Judge the refund"), "{\"label\":\"polite\"} after 1");
        assert_eq!(asked(&mut script, "tone", "Judge the refund"), "second after 1");
        assert_eq!(asked(&mut script, "other", "Judge it"), "second after 1");
        assert_eq!(asked(&mut script, "flaky", "x"), "well after 3");
        assert_eq!(asked(&mut script, "dead", "x"), "fault: the model answered with status 400 after 1");
        assert_eq!(
            asked(&mut script, "tone", "Judge it"),
            "fault: no line of the script answers `tone` for `c1`; the prompt is `Judge it` after 1"
        );
    }

    #[test]
    fn a_script_that_cannot_be_read_says_where() {
        for (text, message) in [
            ("{}", "line 1: a line needs `reply` or `fault`"),
            (
                "\n{\"reply\": 1, \"tims\": 2}",
                "line 2: there is no key `tims`; there are match, reply, tool_calls, usage, latency_ms, fault, retry_after, times",
            ),
            ("{\"reply\": 1, \"times\": 0}", "line 1: `times` is a number of at least 1, or \"*\""),
            (
                "{\"fault\": \"boom\"}",
                "line 1: \"boom\" is no fault; there are \"status:NNN\", \"cut\", \"truncate\", \"timeout\", \"reset\" and \"refusal\"",
            ),
            ("[", "line 1: EOF while parsing a list (line 1, column 1)"),
        ] {
            assert_eq!(Script::parse(text).unwrap_err().to_string(), message);
        }
    }
}
