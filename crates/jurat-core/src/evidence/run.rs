//! The evidence of an agent's run: its artifact, and what can be read from it more easily than from a trace.

use std::borrow::Cow;

use jurat_format::value::{Map, Val, Value, parse_json};

use crate::artifact::{self, RunArtifact};
use crate::check::{arguments, is_blank};

/// The names that the evidence of a run has, after those of its artifact.
pub const KEYS: [&str; 3] = ["final_response", "tool_calls", "workspace"];

/// The evidence of a run, from its artifact; or what is wrong with that.
///
/// `final_response` is null when the run said nothing. `workspace` is there when its runner recorded it.
pub fn evidence(artifact: Val<'_>) -> Result<Val<'_>, String> {
    if let Err(problems) = RunArtifact::read(&artifact) {
        return Err(format!("this is no run artifact: {}", artifact::listed(&problems)));
    }
    let response = final_response(&artifact).map_or(Val::Null, |it| Val::from(it.into_owned()));
    let calls = tool_calls(&artifact);
    let recorded = artifact.get("workspace").or_else(|| artifact.get("runner_metadata")?.get("workspace"));
    let workspace = recorded.filter(|it| it.as_map().is_some()).cloned();
    let Val::Map(blocks) = artifact else { return Err("a run artifact is an object".to_owned()) };
    let others = blocks.into_iter().filter(|(key, _)| !KEYS.contains(&&**key));
    let added = [("final_response", Some(response)), ("tool_calls", Some(calls)), ("workspace", workspace)];
    let added = added.into_iter().filter_map(|(key, value)| Some((Cow::Borrowed(key), value?)));
    Ok(Val::Map(others.chain(added).collect::<Map<'_>>()))
}

fn events<'e>(artifact: &'e Val<'e>, kind: &'e str) -> impl DoubleEndedIterator<Item = &'e Val<'e>> {
    let trace = artifact.get("trace").and_then(Val::as_list).unwrap_or(&[]);
    trace.iter().filter(move |it| text(it, "event_type") == Some(kind))
}

fn text<'e>(value: &'e Val<'_>, key: &str) -> Option<&'e str> {
    value.get(key).and_then(Val::as_str)
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
    let schema = r#"{
        "type": "object",
        "properties": {
            "identity": {
                "type": "object",
                "description": "which run it is",
                "properties": {
                    "schema_version": {"const": 1},
                    "run_id": {"type": "string"},
                    "case_id": {"type": "string"},
                    "suite_id": {"type": "string"},
                    "run_profile_id": {"type": "string"},
                    "runner_type": {"type": "string", "description": "`command`, `openclaw`, `claude_code` and so on"}
                },
                "required": ["run_id", "case_id", "suite_id", "run_profile_id", "runner_type"]
            },
            "status": {"enum": ["success", "failed", "timed_out", "invalid", "provider_error", "refused"], "description": "how it ended"},
            "timing": {
                "type": "object",
                "properties": {
                    "queued_at": {"type": "string"},
                    "started_at": {"type": "string"},
                    "completed_at": {"type": "string"},
                    "duration_seconds": {"type": "number", "minimum": 0}
                }
            },
            "request": {
                "type": "object",
                "description": "what was asked for",
                "properties": {
                    "requested_model": {"type": "string"},
                    "gateway": {"type": "string"},
                    "execution_parameters": {"type": "object"},
                    "metadata": {"type": "object"}
                },
                "required": ["requested_model"]
            },
            "provider": {"type": "object", "description": "who answered"},
            "usage": {
                "type": "object",
                "description": "what it took",
                "properties": {
                    "normalized": {
                        "type": "object",
                        "properties": {
                            "input_tokens": {"type": "integer", "minimum": 0},
                            "output_tokens": {"type": "integer", "minimum": 0},
                            "total_tokens": {"type": "integer", "minimum": 0},
                            "reasoning_tokens": {"type": "integer", "minimum": 0},
                            "cached_input_tokens": {"type": "integer", "minimum": 0},
                            "cache_write_tokens": {"type": "integer", "minimum": 0}
                        }
                    },
                    "cost_usd": {"type": "number", "minimum": 0},
                    "raw_provider_usage": {}
                }
            },
            "trace": {
                "type": "array",
                "description": "what happened, in order",
                "items": {
                    "type": "object",
                    "properties": {
                        "sequence": {"type": "integer", "minimum": 0},
                        "event_type": {"enum": ["message", "tool_call", "tool_result", "runner", "final_output"]},
                        "timestamp": {"type": "string"}
                    },
                    "required": ["sequence", "event_type"],
                    "additionalProperties": true
                }
            },
            "output_artifacts": {
                "type": "array",
                "description": "the files it left that its author declared",
                "items": {
                    "type": "object",
                    "properties": {
                        "artifact_id": {"type": "string"},
                        "artifact_type": {"type": "string"},
                        "uri": {"type": "string"},
                        "media_type": {"type": "string"},
                        "byte_size": {"type": "integer", "minimum": 0},
                        "sha256": {"type": "string"},
                        "metadata": {"type": "object"}
                    },
                    "required": ["artifact_id", "artifact_type", "uri"]
                }
            },
            "error": {
                "type": "object",
                "description": "why it did not succeed; absent when it did",
                "properties": {"code": {"type": "string"}, "message": {"type": "string"}, "retryable": {"type": "boolean"}},
                "required": ["code", "message"]
            },
            "runner_metadata": {"type": "object", "description": "whatever its runner adds"},
            "final_response": {"type": ["string", "null"], "description": "the last thing that the agent said"},
            "tool_calls": {
                "type": "array",
                "description": "the tools that it called, in order",
                "items": {
                    "type": "object",
                    "properties": {
                        "call_id": {"type": ["string", "null"]},
                        "name": {"type": "string"},
                        "arguments": {"description": "an object, or the text when it is none"},
                        "status": {"enum": ["success", "error", null]},
                        "output": {"description": "what came back"}
                    },
                    "required": ["call_id", "name", "arguments", "status", "output"],
                    "additionalProperties": false
                }
            },
            "workspace": {
                "type": "object",
                "description": "what the run made of its workspace, when its runner recorded it; paths are relative to it",
                "properties": {
                    "added": {"type": "array", "items": {"type": "string"}},
                    "changed": {"type": "array", "items": {"type": "string"}},
                    "removed": {"type": "array", "items": {"type": "string"}},
                    "files": {
                        "type": "object",
                        "description": "every file after the run",
                        "additionalProperties": {
                            "type": "object",
                            "properties": {
                                "kind": {"enum": ["file", "directory", "link", "other"]},
                                "size": {"type": "integer", "minimum": 0},
                                "sha256": {"type": "string"},
                                "not_hashed": {"type": "boolean", "description": "whether it is too large, or too much of it a hole, to hash"},
                                "target": {"type": "string", "description": "of a link: its target, as it is written"},
                                "leads_to": {"type": "string", "description": "of a link within the workspace: the path it leads to"},
                                "leads_out": {"type": "boolean", "description": "of a link: whether it leads out of the workspace, where it is not followed"},
                                "text": {"type": "string", "description": "up to 512,000 bytes of it, when it is text"},
                                "is_cut": {"type": "boolean", "description": "whether there is more"},
                                "diff": {"type": "string", "description": "a unified diff, when it is a text that was another before"}
                            }
                        }
                    }
                }
            }
        },
        "required": ["identity", "status", "request", "final_response", "tool_calls"],
        "additionalProperties": false
    }"#;
    parse_json(schema).expect("the schema is JSON").value.into_owned()
}
