//! The evidence of an agent's run: its artifact, and what can be read from it more easily than from a trace.

use std::borrow::Cow;

use jurat_format::value::{Map, Val, Value, parse_json};

use crate::artifact::{self, RunArtifact};
use crate::check::{arguments, is_blank};
use crate::tool_kind::ToolKind;

/// The names that the evidence of a run has, after those of its artifact.
pub const KEYS: [&str; 5] = ["input", "context", "final_response", "tool_calls", "workspace"];

/// The evidence of a run, from the document of its artifact; or what is wrong with that.
pub fn evidence(artifact: Val<'_>) -> Result<Val<'_>, String> {
    match RunArtifact::read(&artifact) {
        Ok(_) => Ok(evidence_of(artifact)),
        Err(problems) => Err(format!("this is no run artifact: {}", artifact::listed(&problems))),
    }
}

/// The evidence of a run, from the document of an artifact that was read.
///
/// `final_response` is null when the run said nothing. `workspace` and `context` are there when its runner recorded them, `input` when the run was asked something.
pub(crate) fn evidence_of(artifact: Val<'_>) -> Val<'_> {
    let response = final_response(&artifact).map_or(Val::Null, |it| Val::from(it.into_owned()));
    let calls = tool_calls(&artifact);
    let recorded = artifact.get("workspace").or_else(|| artifact.get("runner_metadata")?.get("workspace"));
    let workspace = recorded.filter(|it| it.as_map().is_some()).cloned();
    let metadata = |key: &str| artifact.get("runner_metadata")?.get(key).filter(|it| !matches!(it, Val::Null));
    let (input, context) = (input(&artifact).map(Val::from), metadata("context").cloned());
    let Val::Map(blocks) = artifact else { return artifact };
    let others = blocks.into_iter().filter(|(key, _)| !KEYS.contains(&&**key));
    let added = [
        ("input", input),
        ("context", context),
        ("final_response", Some(response)),
        ("tool_calls", Some(calls)),
        ("workspace", workspace),
    ];
    let added = added.into_iter().filter_map(|(key, value)| Some((Cow::Borrowed(key), value?)));
    Val::Map(others.chain(added).collect::<Map<'_>>())
}

fn events<'e>(artifact: &'e Val<'e>, kind: &'e str) -> impl DoubleEndedIterator<Item = &'e Val<'e>> {
    let trace = artifact.get("trace").and_then(Val::as_list).unwrap_or(&[]);
    trace.iter().filter(move |it| text(it, "event_type") == Some(kind))
}

fn text<'e>(value: &'e Val<'_>, key: &str) -> Option<&'e str> {
    value.get(key).and_then(Val::as_str)
}

/// What the run was asked: as its runner recorded it, else the first message of the user. A trace may begin with what a system says.
fn input(artifact: &Val<'_>) -> Option<String> {
    let recorded = artifact.get("runner_metadata").and_then(|it| text(it, "input"));
    let of_user = |it: &&Val<'_>| text(it, "role") == Some("user");
    let said = || events(artifact, "message").filter(of_user).find_map(|it| text(it, "content"));
    recorded.or_else(said).filter(|it| !is_blank(it)).map(str::to_owned)
}

/// The last thing that the agent said. `openclaw` may leave it to its last message, or wrap it into what its command prints.
fn final_response<'e>(artifact: &'e Val<'e>) -> Option<Cow<'e, str>> {
    let is_openclaw = artifact.get("identity").and_then(|it| text(it, "runner_type")) == Some("openclaw");
    let said = |it: &'e Val<'e>| text(it, "content").filter(|it| !is_blank(it));
    if let Some(last) = events(artifact, "final_output").rev().find_map(said) {
        let unwrapped = is_openclaw.then(|| unwrapped(last)).flatten();
        return Some(unwrapped.map_or(Cow::Borrowed(last), Cow::Owned));
    }
    let of_agent = |it: &&Val<'_>| text(it, "role") == Some("assistant");
    let message = || events(artifact, "message").rev().filter(of_agent).find_map(said);
    is_openclaw.then(message).flatten().map(Cow::Borrowed)
}

/// What an agent said, out of the document that its command printed.
fn unwrapped(printed: &str) -> Option<String> {
    let printed = parse_json(printed.trim()).ok()?.value;
    let visible = |it: &Val<'_>| text(it, "finalAssistantVisibleText").map(str::to_owned);
    let said = text(&printed, "final").map(str::to_owned);
    let said = said.or_else(|| visible(&printed)).or_else(|| printed.get("meta").and_then(visible));
    said.or_else(|| {
        let payloads = printed.get("payloads")?.as_list()?;
        Some(payloads.iter().filter_map(|it| text(it, "text")).collect::<Vec<_>>().join("\n"))
    })
}

/// The calls of tools, each with what came back: the first result of the same call that no call has yet.
fn tool_calls<'e>(artifact: &Val<'e>) -> Val<'e> {
    let mut results: Vec<Option<&Val<'e>>> = Vec::new();
    let trace = artifact.get("trace").and_then(Val::as_list).unwrap_or(&[]);
    results.extend(trace.iter().filter(|it| text(it, "event_type") == Some("tool_result")).map(Some));
    let calls = trace.iter().filter(|it| text(it, "event_type") == Some("tool_call"));
    let one = |call: &Val<'e>| {
        let id = text(call, "call_id");
        let result = results.iter_mut().find(|it| it.is_some_and(|it| text(it, "call_id") == id));
        let result = result.and_then(Option::take);
        let parsed = call.get("parsed_arguments").filter(|it| it.as_map().is_some());
        let arguments = match parsed.or_else(|| call.get("raw_arguments")) {
            Some(written) => arguments(Some(written)).into_owned().into_owned(),
            None => Val::Null,
        };
        let part = |key: &str| result.and_then(|it| it.get(key)).cloned().unwrap_or(Val::Null);
        let members = [
            ("call_id", call.get("call_id").cloned().unwrap_or(Val::Null)),
            ("name", call.get("tool_name").cloned().unwrap_or(Val::Null)),
            ("kind", text(call, "tool_name").map_or(Val::Null, |it| Val::from(ToolKind::of(it).name()))),
            ("arguments", arguments),
            ("status", part("status")),
            ("output", part("output")),
        ];
        Val::Map(members.into_iter().collect::<Map<'e>>())
    };
    calls.map(one).collect()
}

/// The JSON Schema of the evidence: the artifact, and what is read from it.
pub fn schema() -> Value {
    parse_json(include_str!("run.schema.json")).expect("the schema is JSON").value.into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn asked(trace: &str, metadata: &str, expected: Option<&str>) {
        let artifact = format!(r#"{{"trace": [{trace}], "runner_metadata": {metadata}}}"#);
        let evidence = evidence_of(parse_json(&artifact).expect("JSON").value);
        assert_eq!(text(&evidence, "input"), expected, "{artifact}");
    }

    /// What a system says comes first, and is not what the run was asked.
    #[test]
    fn a_run_is_asked_by_its_user() {
        const SYSTEM: &str = r#"{"event_type": "message", "role": "system", "content": "Be brief."}"#;
        const USER: &str = r#"{"event_type": "message", "role": "user", "content": "Where?"}"#;
        asked(&format!("{SYSTEM}, {USER}"), "{}", Some("Where?"));
        asked(&format!("{SYSTEM}, {USER}"), r#"{"input": "Q"}"#, Some("Q"));
        asked(&format!("{SYSTEM}, {USER}"), r#"{"input": [{"role": "user"}]}"#, Some("Where?"));
        asked(SYSTEM, "{}", None);
    }

    #[test]
    fn documents_of_retrievers_are_the_context() {
        let artifact = parse_json(r#"{"trace": [], "runner_metadata": {"context": ["One."]}}"#).expect("JSON").value;
        assert_eq!(evidence_of(artifact).get("context").map(Val::to_json).as_deref(), Some(r#"["One."]"#));
    }
}
