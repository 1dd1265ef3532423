//! What a judge is shown of a case: the task, what is expected, the results of checks, and the evidence.
//!
//! What authors wrote stands as text. What came from the run stands as JSON, one thing a line, so that nothing in it can pass for a heading or an
//! instruction of ours. Which model ran is not shown. Everything that is left out says so where it stood.

use jurat_format::value::{Map, Val, Value};

use super::{Brief, CheckSeen, Profile};
use crate::artifact::Tokens;
use crate::effect::Message;
use crate::verdict::Verdict;

/// How much of the evidence is shown, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Of one text: a message, an argument, what a tool returned, a file.
    pub text: usize,
    /// Of all events together, and of all files together.
    pub whole: usize,
}

impl Limits {
    pub const DEFAULT: Limits = Limits { text: 8_000, whole: 120_000 };
}

/// The messages that a judge gets.
pub fn messages(profile: &Profile, brief: &Brief, evidence: &Val<'_>, checks: &[CheckSeen<'_>]) -> Vec<Message> {
    let mut text = String::new();
    task(&mut text, brief);
    expected(&mut text, brief);
    rubric(&mut text, profile, brief);
    checked(&mut text, checks);
    run(&mut text, evidence, profile.limits);
    let scale = brief.scale();
    text.push_str(&format!(
        "# Your answer\n\nScore each dimension from {} to {}: {}. Then the run as a whole (`overall`). Name the evidence for every score.\n",
        scale.min,
        scale.max,
        profile.dimensions.join(", ")
    ));
    vec![Message::System(profile.system.clone()), Message::User(text)]
}

fn task(text: &mut String, brief: &Brief) {
    text.push_str("# Task\n\n");
    if let Some(system) = &brief.system {
        text.push_str(&format!("The agent was told to be:\n\n{system}\n\n"));
    }
    match brief.turns.as_slice() {
        [] => text.push_str("The messages of the user in the evidence say what the task was.\n\n"),
        [only] => text.push_str(&format!("{only}\n\n")),
        several => {
            for (nth, turn) in (1..).zip(several) {
                let nth: u32 = nth;
                text.push_str(&format!("Turn {nth}:\n\n{turn}\n\n"));
            }
        }
    }
}

fn expected(text: &mut String, brief: &Brief) {
    let expectations = &brief.expectations;
    if expectations.is_empty() {
        return;
    }
    text.push_str("# Expectations\n\n");
    for (heading, all) in
        [("Hard: these must be met.", &expectations.hard), ("Soft: these should be met.", &expectations.soft)]
    {
        if all.is_empty() {
            continue;
        }
        text.push_str(&format!("{heading}\n"));
        let is_weighted = all.iter().any(|it| it.weight != 1.0);
        for it in all {
            let weight = if is_weighted { format!(" (weight {})", it.weight) } else { String::new() };
            text.push_str(&format!("- {}{weight}\n", it.text));
        }
        text.push('\n');
    }
}

fn rubric(text: &mut String, profile: &Profile, brief: &Brief) {
    if let Some(rubric) = &brief.rubric {
        text.push_str(&format!("# Rubric\n\nScores are from {} to {}.\n", rubric.scale.min, rubric.scale.max));
        for (score, meaning) in &rubric.scale.anchors {
            text.push_str(&format!("- {score}: {meaning}\n"));
        }
        for it in &rubric.criteria {
            text.push_str(&format!("\n{}\n- good: {}\n- bad: {}\n", it.name, it.good, it.bad));
        }
        if let Some(instructions) = &rubric.scoring_instructions {
            text.push_str(&format!("\n{instructions}\n"));
        }
        text.push('\n');
    }
    if !profile.anchors.is_empty() {
        text.push_str("# Examples of what scores mean\n\n");
        for anchor in &profile.anchors {
            text.push_str(&format!("{}:\n{}\n\n", anchor.label, anchor.text));
        }
    }
}

fn checked(text: &mut String, checks: &[CheckSeen<'_>]) {
    text.push_str("# Deterministic checks\n\n");
    if checks.is_empty() {
        text.push_str("There are none.\n\n");
        return;
    }
    let n = |is: fn(&Verdict) -> bool| checks.iter().filter(|it| is(it.verdict)).count();
    text.push_str(&format!(
        "{} passed, {} failed, {} could not be decided, {} did not run.\n",
        n(|it| *it == Verdict::Passed),
        n(|it| matches!(it, Verdict::Failed(_))),
        n(|it| matches!(it, Verdict::Error(_))),
        n(|it| matches!(it, Verdict::Skipped(_) | Verdict::NotRun(_) | Verdict::Measured)),
    ));
    for check in checks {
        let mut line = object(vec![
            ("check", Val::from(check.id.to_owned())),
            ("kind", Val::from(check.kind.to_owned())),
            ("dimensions", check.dimensions.iter().map(|it| Val::from(it.clone())).collect()),
            ("outcome", Val::from(check.verdict.name())),
        ]);
        let message = match check.verdict {
            Verdict::Failed(mismatch) => Some(mismatch.to_string()),
            Verdict::Error(reason) => Some(reason.0.clone()),
            _ => None,
        };
        if let Some(message) = message {
            line.insert("message".into(), Val::from(message));
        }
        if let Some(description) = check.description {
            line.insert("description".into(), Val::from(description.to_owned()));
        }
        text.push_str(&Val::Map(line).to_json());
        text.push('\n');
    }
    text.push('\n');
}

/// The evidence of the run.
fn run(text: &mut String, evidence: &Val<'_>, limits: Limits) {
    text.push_str("# Evidence\n\n## How it ended\n\n");
    text.push_str(&Val::Map(ended(evidence)).to_json());
    text.push_str("\n\n## What happened, in order\n\n");
    listed(text, &events(evidence, limits), limits.whole, "events");
    text.push_str("\n## Final response\n\n");
    let response = evidence.get("final_response").filter(|it| it.as_str().is_some());
    text.push_str(&response.map_or("null".to_owned(), |it| cut(it, limits.text.saturating_mul(2)).to_json()));
    text.push('\n');
    if let Some(workspace) = evidence.get("workspace") {
        text.push_str("\n## What it made of its workspace\n\n");
        let paths = |key: &str| workspace.get(key).cloned().unwrap_or_else(|| Val::List(Vec::new())).into_owned();
        let changes = ["added", "changed", "removed"].map(|key| (key, paths(key)));
        text.push_str(&cut(&Val::Map(changes.into_iter().collect::<Map<'static>>()), limits.whole).to_json());
        text.push('\n');
        listed(text, &files(workspace, limits), limits.whole, "files");
    }
    let outputs = outputs(evidence, limits);
    if !outputs.is_empty() {
        text.push_str("\n## Key outputs\n\n");
        listed(text, &outputs, limits.whole, "outputs");
    }
    text.push('\n');
}

fn ended(evidence: &Val<'_>) -> Map<'static> {
    let mut members = object(vec![("status", part(evidence, "status"))]);
    if let Some(error) = evidence.get("error").filter(|it| it.as_map().is_some()) {
        let error = object(vec![("code", part(error, "code")), ("message", part(error, "message"))]);
        members.insert("error".into(), Val::Map(error));
    }
    let timing = evidence.get("timing").map(|it| part(it, "duration_seconds"));
    if let Some(duration) = timing.filter(|it| *it != Val::Null) {
        members.insert("duration_seconds".into(), duration);
    }
    if let Some(usage) = evidence.get("usage") {
        let tokens = usage.get("normalized").unwrap_or(&Val::Null);
        for (key, value) in Tokens::NAMES.into_iter().map(|it| (it, part(tokens, it))) {
            if value != Val::Null {
                members.insert(key.into(), value);
            }
        }
        let cost = part(usage, "cost_usd");
        if cost != Val::Null {
            members.insert("cost_usd".into(), cost);
        }
    }
    members
}

/// What happened. What runners say about themselves may name the model, so it is left out.
fn events(evidence: &Val<'_>, limits: Limits) -> Vec<String> {
    let trace = evidence.get("trace").and_then(Val::as_list).unwrap_or(&[]);
    let mut lines = Vec::new();
    for (nth, event) in trace.iter().enumerate() {
        let shown: &[&str] = match event.get("event_type").and_then(Val::as_str) {
            Some("message") => &["role", "name", "content"],
            Some("tool_call") => &["call_id", "tool_name", "arguments"],
            Some("tool_result") => &["call_id", "status", "output"],
            Some("final_output") => &["content"],
            _ => continue,
        };
        let mut line = object(vec![("n", Val::from(nth as u64)), ("event", part(event, "event_type"))]);
        for key in shown {
            let value = match *key {
                "arguments" => event
                    .get("parsed_arguments")
                    .filter(|it| **it != Val::Null)
                    .or_else(|| event.get("raw_arguments"))
                    .unwrap_or(&Val::Null),
                key => event.get(key).unwrap_or(&Val::Null),
            };
            if *value != Val::Null {
                line.insert((*key).into(), cut(value, limits.text));
            }
        }
        lines.push(Val::Map(line).to_json());
    }
    lines
}

/// The texts of what is new or other.
fn files(workspace: &Val<'_>, limits: Limits) -> Vec<String> {
    let touched = ["added", "changed"]
        .into_iter()
        .flat_map(|key| workspace.get(key).and_then(Val::as_list).unwrap_or(&[]).iter().filter_map(Val::as_str));
    touched.filter_map(|path| file(workspace, path, limits)).collect()
}

fn file(workspace: &Val<'_>, path: &str, limits: Limits) -> Option<String> {
    // A path may have any character, so it is a key, not a field path.
    let file = workspace.get("files").and_then(Val::as_map)?.get(path)?;
    let mut line = object(vec![("file", Val::from(path.to_owned())), ("size", part(file, "size"))]);
    if let Some(diff) = file.get("diff").filter(|it| it.as_str().is_some()) {
        line.insert("diff".into(), cut(diff, limits.text));
    }
    match file.get("text").filter(|it| it.as_str().is_some()) {
        Some(text) => {
            line.insert("text".into(), cut(text, limits.text));
            if file.get("is_cut") == Some(&Val::Bool(true)) {
                line.insert("cut".into(), Val::from("more of it was not kept"));
            }
        }
        None => {
            line.insert("cut".into(), Val::from("its content was not kept"));
        }
    }
    Some(Val::Map(line).to_json())
}

/// The files that the author declared, where they are not among those that changed.
fn outputs(evidence: &Val<'_>, limits: Limits) -> Vec<String> {
    let outputs = evidence.get("output_artifacts").and_then(Val::as_list).unwrap_or(&[]);
    let workspace = evidence.get("workspace");
    let one = |it: &Val<'_>| {
        let path = it.get("metadata").and_then(|it| it.get("workspace_relative_path")).and_then(Val::as_str);
        let is_shown = |path: &str| {
            let touched = ["added", "changed"].into_iter().filter_map(|key| workspace?.get(key)?.as_list());
            touched.flatten().any(|it| it.as_str() == Some(path))
        };
        let text = path.filter(|it| !is_shown(it)).and_then(|path| file(workspace?, path, limits));
        text.unwrap_or_else(|| {
            let mut line = object(vec![
                ("output", part(it, "artifact_id")),
                ("type", part(it, "artifact_type")),
                ("size", part(it, "byte_size")),
            ]);
            if let Some(path) = path {
                line.insert("file".into(), Val::from(path.to_owned()));
            }
            Val::Map(line).to_json()
        })
    };
    outputs.iter().map(one).collect()
}

/// Lines up to a limit: when there are more, the first and the last of them stay.
fn listed(text: &mut String, lines: &[String], limit: usize, what: &str) {
    if lines.is_empty() {
        text.push_str("(nothing)\n");
        return;
    }
    let lengths: Vec<usize> = lines.iter().map(|it| it.chars().count() + 1).collect();
    let (first, last) = retained(&lengths, limit);
    for line in &lines[..first] {
        text.push_str(line);
        text.push('\n');
    }
    if first < last {
        let n_left_out: usize = lengths[first..last].iter().sum();
        text.push_str(&format!("[cut: {} {what} with {n_left_out} characters are left out here]\n", last - first));
    }
    for line in &lines[last..] {
        text.push_str(line);
        text.push('\n');
    }
}

/// How many lines stay at the beginning, and from which on at the end: turn by turn, as long as there is room.
fn retained(lengths: &[usize], limit: usize) -> (usize, usize) {
    let (mut first, mut last, mut left) = (0, lengths.len(), limit);
    while first < last {
        let at_end = first > lengths.len() - last;
        let length = if at_end { lengths[last - 1] } else { lengths[first] };
        let Some(rest) = left.checked_sub(length) else { break };
        left = rest;
        if at_end { last -= 1 } else { first += 1 }
    }
    (first, last)
}

/// A value of which texts are cut; one that is too long all the same is cut as the text it is.
fn cut(value: &Val<'_>, limit: usize) -> Value {
    let cut_text = |text: &str| -> Option<String> {
        let n = text.chars().count();
        let head = limit - limit / 3;
        (n > limit).then(|| {
            let begin: String = text.chars().take(head).collect();
            let end: String = text.chars().skip(n - limit / 3).collect();
            format!("{begin}[cut: {} characters]{end}", n - limit)
        })
    };
    match value {
        Val::Str(text) => cut_text(text).map_or_else(|| value.clone().into_owned(), Val::from),
        Val::List(_) | Val::Map(_) => {
            let json = value.to_json();
            cut_text(&json).map_or_else(|| value.clone().into_owned(), Val::from)
        }
        _ => value.clone().into_owned(),
    }
}

fn part(value: &Val<'_>, key: &str) -> Value {
    value.get(key).cloned().unwrap_or(Val::Null).into_owned()
}

fn object(members: Vec<(&'static str, Value)>) -> Map<'static> {
    members.into_iter().collect()
}
