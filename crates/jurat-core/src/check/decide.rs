//! Deciding a check: what it has to look at first, and what follows.

use jurat_compare::{Assertion, Fault, Inapplicable, Judgement, Mismatch};
use jurat_format::problem::{listed as names_of, listed_all};
use jurat_format::value::{Context, FieldPath, Val, shown, shown_within};

use super::calls::{Call, CallPattern, calls, wanted};
use super::workspace::{self, Found, is_file, looks_of, references, seen_of};
use super::{
    Base, Check, ContentRule, Figure, Files, Look, MOST_TEXT, Place, Rule, Seen, Wants, Which, folded, is_blank,
};

/// The most that is read of a key output to know whether it says something.
const MOST_KEY_OUTPUT: u64 = 256_000;

/// The runner whose key outputs stand for a final response.
const OPENCLAW: &str = "openclaw";

impl Check {
    /// What has to be looked at before it can be decided; nothing for most.
    pub fn looks(&self, evidence: &Val<'_>) -> Vec<Look> {
        let place = |place: &Place, wants: Wants| match place {
            Place::Host(path) => vec![Look { path: path.clone(), base: Base::Definition, wants }],
            Place::Workspace(path) => workspace::looks(evidence, path),
        };
        match &self.rule {
            Rule::FileExists(it) | Rule::PathExists(it) => place(it, Wants::Kind),
            Rule::FileContains { place: it, text } => place(it, Wants::Search(text.clone())),
            Rule::FileMatches { place: it, .. } => place(it, Wants::Text(MOST_TEXT)),
            Rule::FinalResponsePresent if !has_response(evidence) => {
                key_outputs(evidence).into_iter().flat_map(|it| looks_of(it, MOST_KEY_OUTPUT)).collect()
            }
            Rule::WorkspaceFilePresent { runner, .. } if is_for(*runner, evidence) => {
                references(evidence).iter().flat_map(|it| looks_of(it, MOST_TEXT)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// What follows from the evidence of a run, and from what was seen at each of [`Check::looks`], in order.
    pub fn decide(&self, evidence: &Val<'_>, seen: &[Seen]) -> Judgement {
        match self.decided(evidence, seen) {
            Ok(None) => Judgement::Passed,
            Ok(Some(mismatch)) => Judgement::Failed(Box::new(mismatch)),
            Err(inapplicable) => Judgement::Error(Box::new(inapplicable)),
        }
    }

    pub fn run(&self, evidence: &Val<'_>, files: &dyn Files) -> Judgement {
        let seen: Vec<Seen> = self.looks(evidence).iter().map(|it| files.look(it)).collect();
        self.decide(evidence, &seen)
    }

    fn decided(&self, evidence: &Val<'_>, seen: &[Seen]) -> Decided {
        match &self.rule {
            Rule::FinalResponsePresent => final_response_present(evidence, seen),
            Rule::FinalResponse(assertion) => final_response(evidence, assertion),
            Rule::ToolCallCount { expected, response } => {
                let n_calls = listed(evidence, response.as_ref())?.len() as u64;
                Ok((n_calls != *expected).then(|| mismatch(times(*expected, "tool call"), times(n_calls, "tool call"))))
            }
            Rule::ToolCalled { calls, min, max, response } => {
                tool_called(&listed(evidence, response.as_ref())?, calls, *min, *max)
            }
            Rule::ToolOrder { calls, is_exact, response } => {
                Ok(tool_order(&listed(evidence, response.as_ref())?, calls, *is_exact))
            }
            Rule::ToolResult { calls, result, which, response } => {
                tool_result(&listed(evidence, response.as_ref())?, calls, result, *which)
            }
            Rule::FileExists(place) => file_exists(evidence, place, seen),
            Rule::PathExists(place) => path_exists(evidence, place, seen),
            Rule::FileContains { place, text } => file_contains(evidence, place, text, seen),
            Rule::FileMatches { place, .. } => self.file_matches(evidence, place, seen),
            Rule::StatusIs(status) => {
                let found = member(evidence, &["status"])?;
                Ok((found.as_str() != Some(status.name())).then(|| mismatch(quoted(status.name()), shown(found))))
            }
            Rule::ExitStatus(expected) => {
                let found = member(evidence, &["runner_metadata", "exit_status"])?;
                Ok((*found != Val::I(*expected)).then(|| mismatch(format!("exit status {expected}"), shown(found))))
            }
            Rule::OutputArtifactPresent { artifact_type, artifact_id, uri } => {
                let wanted = [("artifact_type", artifact_type), ("artifact_id", artifact_id), ("uri", uri)];
                output_artifact_present(evidence, &wanted)
            }
            Rule::WorkspaceFilePresent { relative_path, content, runner } => {
                workspace_file_present(evidence, relative_path, content, *runner, seen)
            }
            Rule::WorkspaceUnchanged { except } => {
                let mut changes = Vec::new();
                for part in ["added", "changed", "removed"] {
                    let paths = member(evidence, &["workspace", part])?.as_list().unwrap_or(&[]);
                    let paths = paths.iter().filter_map(Val::as_str);
                    changes.extend(paths.filter(|path| !except.iter().any(|it| it.matches(path))).map(|it| (part, it)));
                }
                Ok(unchanged(&changes, except.iter().map(super::Glob::as_str).collect()))
            }
            Rule::Within { figure, min, max } => within(evidence, *figure, *min, *max),
            // The engine calls code; what it returns is a verdict of its own.
            Rule::Hook(_) => Err(cannot_tell("a hook is decided by its code, which was not called")),
        }
    }

    fn file_matches(&self, evidence: &Val<'_>, place: &Place, seen: &[Seen]) -> Decided {
        let Rule::FileMatches { assertion, schema, .. } = &self.rule else { return Ok(None) };
        let path = path_of(place);
        let (text, is_cut) = match file(evidence, place, seen)? {
            Found::File { text: Some(text), is_cut } => (text, is_cut),
            Found::File { text: None, .. } => {
                return Err(cannot_tell(format!("the text of `{path}` was not recorded, or is none")));
            }
            Found::Directory => return Ok(Some(mismatch(format!("a file `{path}`"), "a directory"))),
            Found::Nothing => return Ok(Some(mismatch(format!("a file `{path}`"), "nothing there"))),
            Found::Link(link) => return Ok(Some(mismatch(format!("a file `{path}`"), link))),
            Found::Unknown(reason) => return Err(cannot_tell(reason)),
        };
        if is_cut {
            let reason = format!("`{path}` has more than {MOST_TEXT} bytes, so only its beginning was read");
            return Err(cannot_tell(reason));
        }
        if let Some(assertion) = assertion
            && let Some(decided) = not_passed(assertion.judge_reply(&Val::from(&*text), Context::of(evidence)))
        {
            return decided;
        }
        let Some(schema) = schema else { return Ok(None) };
        // Whether a file is JSON is for the agent to see to.
        Ok(schema.problems(&text).map(|it| mismatch("JSON that fits the schema", it)))
    }
}

/// `None` when it passes.
type Decided = Result<Option<Mismatch>, Inapplicable>;

fn mismatch(expected: impl Into<String>, found: impl Into<String>) -> Mismatch {
    Mismatch { expected: expected.into(), found: found.into() }
}

fn cannot_tell(reason: impl Into<String>) -> Inapplicable {
    Inapplicable { fault: Fault::Content, reason: reason.into() }
}

fn not_passed(judgement: Judgement) -> Option<Decided> {
    match judgement {
        Judgement::Passed => None,
        Judgement::Failed(mismatch) => Some(Ok(Some(*mismatch))),
        Judgement::Error(inapplicable) => Some(Err(*inapplicable)),
    }
}

fn quoted(text: &str) -> String {
    format!("`{text}`")
}

fn times(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// A part of the evidence that must be there.
fn member<'e>(evidence: &'e Val<'e>, path: &[&str]) -> Result<&'e Val<'e>, Inapplicable> {
    let found = path.iter().try_fold(evidence, |value, key| value.get(key));
    found.filter(|it| **it != Val::Null).ok_or_else(|| cannot_tell(format!("the evidence has no `{}`", path.join("."))))
}

fn listed<'e>(evidence: &'e Val<'e>, response: Option<&FieldPath>) -> Result<Vec<Call<'e>>, Inapplicable> {
    calls(evidence, response).map_err(cannot_tell)
}

fn runner<'e>(evidence: &'e Val<'e>) -> &'e str {
    evidence.get("identity").and_then(|it| it.get("runner_type")).and_then(Val::as_str).unwrap_or_default()
}

fn is_for(wanted: Option<&str>, evidence: &Val<'_>) -> bool {
    wanted.is_none_or(|it| it == runner(evidence))
}

/// The texts of events of one kind.
fn said<'e>(evidence: &'e Val<'e>, kind: &'e str) -> impl Iterator<Item = (&'e Val<'e>, &'e str)> {
    let trace = evidence.get("trace").and_then(Val::as_list).unwrap_or(&[]);
    let of_kind = move |it: &&Val<'_>| it.get("event_type").and_then(Val::as_str) == Some(kind);
    trace.iter().filter(of_kind).filter_map(|it| Some((it, it.get("content")?.as_str()?)))
}

/// Whether the trace alone has a final response. An assistant's message is one for `openclaw` only.
fn has_response(evidence: &Val<'_>) -> bool {
    let is_said = |(_, text): (&Val<'_>, &str)| !is_blank(text);
    let by_assistant = |(it, _): &(&Val<'_>, &str)| it.get("role").and_then(Val::as_str) == Some("assistant");
    said(evidence, "final_output").any(is_said)
        || (runner(evidence) == OPENCLAW && said(evidence, "message").filter(by_assistant).any(is_said))
        // What is no run of an agent has its answer elsewhere.
        || (evidence.get("trace").is_none() && response(evidence).is_some_and(|it| !is_blank(it)))
}

/// What was said at the end, as the evidence has it: of a run, or of a question to a model.
fn response<'e>(evidence: &'e Val<'e>) -> Option<&'e str> {
    evidence.get("final_response").or_else(|| evidence.get("output")).and_then(Val::as_str)
}

/// The key outputs that stand for a final response.
fn key_outputs<'e>(evidence: &'e Val<'e>) -> Vec<&'e Val<'e>> {
    let is_key = |it: &&Val<'_>| it.get("artifact_type").and_then(Val::as_str) == Some("openclaw_key_output");
    match runner(evidence) {
        OPENCLAW => references(evidence).iter().filter(is_key).collect(),
        _ => Vec::new(),
    }
}

fn final_response_present(evidence: &Val<'_>, seen: &[Seen]) -> Decided {
    if evidence.get("trace").is_none() && response(evidence).is_none() {
        return Err(cannot_tell("the evidence has neither a `trace` nor a `final_response`"));
    }
    if has_response(evidence) {
        return Ok(None);
    }
    let outputs = key_outputs(evidence);
    let seen = seen_of(&outputs, MOST_KEY_OUTPUT, seen);
    if seen.iter().any(|(_, seen)| !is_blank(workspace::text(*seen))) {
        return Ok(None);
    }
    outside(&seen)?;
    let n_finals = said(evidence, "final_output").count();
    Ok(Some(mismatch("a final response", if n_finals == 0 { "none" } else { "nothing but space" })))
}

/// What lies outside was not looked at, so it is not known what is there.
fn outside(seen: &[(&Val<'_>, Option<&Seen>)]) -> Result<(), Inapplicable> {
    match seen.iter().find(|(_, seen)| matches!(seen, Some(Seen::Outside))) {
        Some((reference, _)) => Err(cannot_tell(format!(
            "{} leads out of the run's directory, so jurat does not look there",
            shown(reference.get("uri").unwrap_or(&Val::Null))
        ))),
        None => Ok(()),
    }
}

fn final_response(evidence: &Val<'_>, assertion: &Assertion) -> Decided {
    if evidence.get("final_response").is_none() && evidence.get("output").is_none() {
        return Err(cannot_tell("the evidence has no `final_response`"));
    }
    let Some(text) = response(evidence) else {
        return Ok(Some(mismatch(format!("a final response: {}", wanted(assertion)), "none")));
    };
    not_passed(assertion.judge_reply(&Val::from(text), Context::of(evidence))).unwrap_or(Ok(None))
}

/// Which tools were called, in words.
fn names(calls: &[Call<'_>]) -> String {
    const MOST: usize = 12;
    if calls.is_empty() {
        return "no tool call".to_owned();
    }
    let named = calls.iter().take(MOST).map(|it| quoted(&it.name)).collect::<Vec<_>>().join(", ");
    let more = if calls.len() > MOST { format!(", and {} more", calls.len() - MOST) } else { String::new() };
    format!("{named}{more}")
}

fn tool_called(calls: &[Call<'_>], pattern: &CallPattern, min: u64, max: Option<u64>) -> Decided {
    let n_matching = calls.iter().filter(|it| pattern.matches(it)).count() as u64;
    if n_matching >= min && max.is_none_or(|it| n_matching <= it) {
        return Ok(None);
    }
    let phrase = pattern.phrase();
    let expected = match (min, max) {
        (_, Some(0)) => format!("no call of {phrase}"),
        (min, Some(max)) if min == max => format!("{} of {phrase}", times(min, "call")),
        (0, Some(max)) => format!("at most {} of {phrase}", times(max, "call")),
        (min, Some(max)) => format!("{min} to {} of {phrase}", times(max, "call")),
        (1, None) => format!("a call of {phrase}"),
        (min, None) => format!("at least {} of {phrase}", times(min, "call")),
    };
    // Calls of the right tool with the wrong arguments are what the reader wants to see.
    let near: Vec<String> = calls.iter().filter(|it| pattern.is_named(it)).take(3).map(Call::shown).collect();
    let found = match (n_matching, near.is_empty()) {
        (0, true) => names(calls),
        (0, false) => near.join(", "),
        (n, _) => times(n, "such call"),
    };
    Ok(Some(mismatch(expected, found)))
}

fn tool_order(calls: &[Call<'_>], patterns: &[CallPattern], is_exact: bool) -> Option<Mismatch> {
    let mut left = calls.iter();
    let is_in_order = match is_exact {
        true => calls.len() == patterns.len() && patterns.iter().zip(calls).all(|(it, call)| it.matches(call)),
        // The earliest call that fits leaves the most for the others.
        false => patterns.iter().all(|it| left.any(|call| it.matches(call))),
    };
    (!is_in_order).then(|| {
        let order = patterns.iter().map(CallPattern::phrase).collect::<Vec<_>>().join(", then ");
        mismatch(if is_exact { format!("exactly {order}") } else { order }, names(calls))
    })
}

fn tool_result(calls: &[Call<'_>], pattern: &CallPattern, result: &CallPattern, which: Which) -> Decided {
    let matching: Vec<&Call<'_>> = calls.iter().filter(|it| pattern.matches(it)).collect();
    let results: Vec<&Call<'_>> =
        matching.iter().copied().filter(|it| it.output.is_some() || it.is_error.is_some()).collect();
    let looked_at: &[&Call<'_>] = match which {
        Which::Every | Which::Any => &results,
        Which::First => results.get(..1).unwrap_or(&[]),
        Which::Last => results.last().map_or(&[], std::slice::from_ref),
    };
    let expected = || {
        format!(
            "{} result of {}{}",
            which.name(),
            pattern.phrase(),
            CallPattern { tools: Vec::new(), arguments: Vec::new(), ..result.clone() }
                .phrase()
                .trim_start_matches("any tool")
        )
    };
    if matching.is_empty() {
        return Ok(Some(mismatch(expected(), names(calls))));
    }
    if results.is_empty() {
        return Err(cannot_tell("the evidence has no results of these calls"));
    }
    let passes = |it: &&&Call<'_>| result.matches(it);
    let is_good = match which {
        Which::Any => looked_at.iter().any(|it| passes(&it)),
        Which::Every | Which::First | Which::Last => looked_at.iter().all(|it| passes(&it)),
    };
    let first_bad = looked_at.iter().find(|it| !result.matches(it));
    Ok(first_bad.filter(|_| !is_good).map(|call| {
        let output = call.output.as_ref().map_or("nothing".to_owned(), |it| shown_within(it, 60));
        let status = if call.is_error == Some(true) { "an error: " } else { "" };
        mismatch(expected(), format!("{} gave {status}{output}", call.shown()))
    }))
}

fn path_of(place: &Place) -> &str {
    match place {
        Place::Host(path) | Place::Workspace(path) => path,
    }
}

/// A file, wherever it is.
fn file<'f>(evidence: &'f Val<'f>, place: &Place, seen: &'f [Seen]) -> Result<Found<'f>, Inapplicable> {
    match place {
        Place::Workspace(path) => Ok(workspace::find(evidence, path, seen)),
        Place::Host(path) => Ok(match first(path, seen)? {
            Seen::File(file) => match &file.unread {
                Some(reason) => Found::Unknown(format!("`{path}` cannot be read: {reason}")),
                None => Found::File { text: file.text.as_deref().map(Into::into), is_cut: file.is_cut },
            },
            Seen::Directory => Found::Directory,
            Seen::Nothing | Seen::Other => Found::Nothing,
            Seen::Hidden(reason) => Found::Unknown(format!("`{path}` cannot be looked at: {reason}")),
            Seen::Outside => Found::Unknown(format!("`{path}` leads out of the run's directory")),
        }),
    }
}

/// What was seen at the one path that a check looks at.
fn first<'s>(path: &str, seen: &'s [Seen]) -> Result<&'s Seen, Inapplicable> {
    match seen.first() {
        Some(Seen::Hidden(reason)) => Err(cannot_tell(format!("`{path}` cannot be looked at: {reason}"))),
        Some(seen) => Ok(seen),
        None => Err(cannot_tell(format!("`{path}` was not looked at"))),
    }
}

fn file_exists(evidence: &Val<'_>, place: &Place, seen: &[Seen]) -> Decided {
    let expected = format!("a file `{}`", path_of(place));
    Ok(match place {
        Place::Host(path) => match first(path, seen)? {
            Seen::File(_) => None,
            other => Some(mismatch(expected, other.phrase())),
        },
        Place::Workspace(path) => match workspace::find(evidence, path, seen) {
            Found::File { .. } => None,
            Found::Directory => Some(mismatch(expected, "a directory")),
            Found::Nothing => Some(mismatch(expected, "nothing there")),
            Found::Link(link) => Some(mismatch(expected, link)),
            Found::Unknown(reason) => return Err(cannot_tell(reason)),
        },
    })
}

fn path_exists(evidence: &Val<'_>, place: &Place, seen: &[Seen]) -> Decided {
    let nothing = || Some(mismatch(format!("something at `{}`", path_of(place)), "nothing there"));
    Ok(match place {
        Place::Host(path) => match first(path, seen)? {
            Seen::Nothing => nothing(),
            _ => None,
        },
        Place::Workspace(path) => match workspace::find(evidence, path, seen) {
            Found::File { .. } | Found::Directory => None,
            Found::Nothing => nothing(),
            Found::Link(link) => Some(mismatch(format!("something at `{}`", path_of(place)), link)),
            Found::Unknown(reason) => return Err(cannot_tell(reason)),
        },
    })
}

fn file_contains(evidence: &Val<'_>, place: &Place, text: &str, seen: &[Seen]) -> Decided {
    let path = path_of(place);
    let expected = || format!("a file `{path}` with {}", shown(&Val::from(text)));
    match place {
        Place::Host(path) => match first(path, seen)? {
            Seen::File(file) => match (&file.unread, file.found) {
                (Some(reason), _) => Err(cannot_tell(format!("`{path}` cannot be read: {reason}"))),
                (None, Some(true)) => Ok(None),
                (None, Some(false)) => {
                    Ok(Some(mismatch(expected(), Seen::File(file.clone()).phrase() + " without it")))
                }
                (None, None) => Err(cannot_tell(format!("`{path}` was not searched"))),
            },
            other => Ok(Some(mismatch(expected(), other.phrase()))),
        },
        Place::Workspace(_) => match workspace::find(evidence, path, seen) {
            Found::File { text: Some(found), .. } if found.contains(text) => Ok(None),
            Found::File { text: Some(_), is_cut: false } => Ok(Some(mismatch(expected(), "a file without it"))),
            Found::File { text: Some(_), is_cut: true } => {
                Err(cannot_tell(format!("of `{path}` only the beginning was recorded, and it is not in there")))
            }
            Found::File { text: None, .. } => {
                Err(cannot_tell(format!("the text of `{path}` was not recorded, or is none")))
            }
            Found::Directory => Ok(Some(mismatch(expected(), "a directory"))),
            Found::Nothing => Ok(Some(mismatch(expected(), "nothing there"))),
            Found::Link(link) => Ok(Some(mismatch(expected(), link))),
            Found::Unknown(reason) => Err(cannot_tell(reason)),
        },
    }
}

fn output_artifact_present(evidence: &Val<'_>, wanted: &[(&str, &Option<String>)]) -> Decided {
    if evidence.get("identity").is_none() {
        return Err(cannot_tell("the evidence is no run of an agent: it has no `output_artifacts`"));
    }
    let fits = |reference: &Val<'_>| {
        let has = |(key, wanted): &(&str, &Option<String>)| {
            wanted.as_deref().is_none_or(|it| reference.get(key).and_then(Val::as_str) == Some(it))
        };
        wanted.iter().all(has)
    };
    let references = references(evidence);
    if references.iter().any(fits) {
        return Ok(None);
    }
    let wanted: Vec<String> =
        wanted.iter().filter_map(|(key, it)| it.as_ref().map(|it| format!("`{key}: {it}`"))).collect();
    let id = |it: &Val<'_>| it.get("artifact_id").map(shown).unwrap_or_default();
    let found = match references {
        [] => "none".to_owned(),
        some => some.iter().take(8).map(id).collect::<Vec<_>>().join(", "),
    };
    Ok(Some(mismatch(format!("an output artifact with {}", wanted.join(" and ")), found)))
}

fn workspace_file_present(
    evidence: &Val<'_>,
    relative_path: &str,
    content: &ContentRule,
    for_runner: Option<&'static str>,
    seen: &[Seen],
) -> Decided {
    if evidence.get("identity").is_none() {
        return Err(cannot_tell("the evidence is no run of an agent: it has no `output_artifacts`"));
    }
    let expected = || match content {
        ContentRule::Any => format!("a workspace file `{relative_path}`"),
        ContentRule::Exactly(text) => format!("a workspace file `{relative_path}` with {}", shown(&Val::from(&**text))),
        ContentRule::Folded { all, any } => {
            let all = (!all.is_empty()).then(|| listed_all(all.iter().map(String::as_str)));
            let any = any.as_ref().map(|it| names_of(it.iter().map(String::as_str)));
            let parts: Vec<String> = all.into_iter().chain(any).collect();
            format!("a workspace file `{relative_path}` with {}", parts.join(", and with "))
        }
    };
    if let Some(wanted) = for_runner.filter(|_| !is_for(for_runner, evidence)) {
        return Ok(Some(mismatch(format!("a run of `{wanted}`"), format!("one of {}", quoted(runner(evidence))))));
    }
    let all: Vec<&Val<'_>> = references(evidence).iter().collect();
    let seen = seen_of(&all, MOST_TEXT, seen);
    let files: Vec<&(&Val<'_>, Option<&Seen>)> =
        seen.iter().filter(|(reference, seen)| is_file(reference, *seen, relative_path)).collect();
    if files.iter().any(|(_, seen)| content.holds(workspace::text(*seen))) {
        return Ok(None);
    }
    // A run that recorded its workspace needs no disk.
    if for_runner.is_none() && files.is_empty() && evidence.get("workspace").and_then(|it| it.get("files")).is_some() {
        return recorded_file_present(evidence, relative_path, content, &expected());
    }
    outside(&seen)?;
    let found = match files.as_slice() {
        [] if seen.is_empty() => "no output artifact".to_owned(),
        [] => "no such file among the output artifacts".to_owned(),
        files => {
            let is_cut = files.iter().any(|(_, seen)| seen.and_then(Seen::file).is_some_and(|it| it.is_cut));
            let unread = files.iter().find_map(|(_, seen)| seen.and_then(Seen::file)?.unread.clone());
            match (unread, is_cut) {
                (Some(reason), _) => format!("a file that cannot be read: {reason}"),
                (None, true) => format!("a file without that in its first {MOST_TEXT} bytes"),
                (None, false) => "a file without that".to_owned(),
            }
        }
    };
    Ok(Some(mismatch(expected(), found)))
}

/// The same of a run that recorded every file of its workspace.
fn recorded_file_present(evidence: &Val<'_>, path: &str, content: &ContentRule, expected: &str) -> Decided {
    let files = evidence.get("workspace").and_then(|it| it.get("files")).and_then(Val::as_map);
    let ends = |it: &&str| workspace::ends_with(it, path);
    let files: Vec<&str> = files.map(|it| it.keys().filter(ends).collect()).unwrap_or_default();
    for path in &files {
        match workspace::find(evidence, path, &[]) {
            Found::File { .. } if *content == ContentRule::Any => return Ok(None),
            Found::File { text: Some(text), .. } if content.holds(&text) => return Ok(None),
            Found::File { text: None, .. } => {
                return Err(cannot_tell(format!("the text of `{path}` was not recorded, or is none")));
            }
            Found::Link(link) => return Ok(Some(mismatch(expected, link))),
            _ => {}
        }
    }
    let found = if files.is_empty() { "no such file" } else { "a file without that" };
    Ok(Some(mismatch(expected, found)))
}

impl ContentRule {
    /// Whether a text is as it should be.
    pub(super) fn holds(&self, text: &str) -> bool {
        match self {
            ContentRule::Any => true,
            ContentRule::Exactly(wanted) => text.contains(wanted.as_str()),
            ContentRule::Folded { all, any } => {
                let text = folded(text);
                let has = |term: &String| text.contains(folded(term).as_str());
                all.iter().all(has) && any.as_ref().is_none_or(|it| it.iter().any(has))
            }
        }
    }
}

fn unchanged(changes: &[(&str, &str)], except: Vec<&str>) -> Option<Mismatch> {
    const MOST: usize = 8;
    if changes.is_empty() {
        return None;
    }
    let expected = match except.is_empty() {
        true => "an unchanged workspace".to_owned(),
        false => {
            format!("a workspace unchanged except for {}", listed_all(except))
        }
    };
    let named = changes.iter().take(MOST).map(|(part, path)| format!("`{path}` {part}")).collect::<Vec<_>>().join(", ");
    let more = if changes.len() > MOST { format!(", and {} more", changes.len() - MOST) } else { String::new() };
    Some(mismatch(expected, format!("{named}{more}")))
}

fn within(evidence: &Val<'_>, figure: Figure, min: Option<f64>, max: Option<f64>) -> Decided {
    let (name, found) = match figure {
        // A question to a model has its figures on the top level.
        Figure::CostUsd => {
            ("dollars", member(evidence, &["usage", "cost_usd"]).or_else(|it| evidence.get("cost_usd").ok_or(it))?)
        }
        Figure::Tokens(name) => {
            let of_run = member(evidence, &["usage", "normalized", name]);
            ("tokens", of_run.or_else(|it| evidence.get("usage").and_then(|it| it.get(name)).ok_or(it))?)
        }
        Figure::DurationSeconds => ("seconds", member(evidence, &["timing", "duration_seconds"])?),
        Figure::Turns => {
            return turns(evidence).map(|n| bounded("turns", n as f64, n.to_string(), min, max));
        }
    };
    let Some(number) = found.as_f64() else {
        return Err(cannot_tell(format!("{} is no number of {name}", shown(found))));
    };
    Ok(bounded(name, number, found.to_string(), min, max))
}

fn bounded(name: &str, number: f64, found: String, min: Option<f64>, max: Option<f64>) -> Option<Mismatch> {
    if min.is_none_or(|it| number >= it) && max.is_none_or(|it| number <= it) {
        return None;
    }
    let expected = match (min, max) {
        (Some(min), Some(max)) => format!("{min} to {max} {name}"),
        (Some(min), None) => format!("at least {min} {name}"),
        (None, Some(max)) => format!("at most {max} {name}"),
        (None, None) => name.to_owned(),
    };
    Some(mismatch(expected, found))
}

/// How often the agent spoke: what its runner counted, else the messages of the trace that are its own.
fn turns(evidence: &Val<'_>) -> Result<u64, Inapplicable> {
    if let Some(Val::I(counted)) = evidence.get("runner_metadata").and_then(|it| it.get("turns")) {
        return u64::try_from(*counted).map_err(|_| cannot_tell("`runner_metadata.turns` is below 0"));
    }
    let trace = member(evidence, &["trace"])?.as_list().unwrap_or(&[]);
    let has = |it: &Val<'_>, key: &str, wanted: &str| it.get(key).and_then(Val::as_str) == Some(wanted);
    let is_own = |it: &&Val<'_>| has(it, "event_type", "message") && has(it, "role", "assistant");
    Ok(trace.iter().filter(is_own).count() as u64)
}
