//! Run artifacts: what is wrong with one is reported, and what is written reads back the same.

use jurat_core::artifact::{
    Event, Happening, Identity, OutputArtifact, Provider, RunArtifact, RunFault, RunRequest, RunStatus, RunUsage,
    Timing, Tokens, listed,
};
use jurat_format::value::{Map, Val, Value, parse_json};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

const WHOLE: &str = r#"{
    "identity": {"schema_version": 1, "run_id": "R1:a", "case_id": "c", "suite_id": "s", "run_profile_id": "p", "runner_type": "command"},
    "status": "success",
    "request": {"requested_model": "m", "execution_parameters": {"max_turns": 3}},
    "trace": [{"sequence": 0, "event_type": "message", "role": "user", "content": "go"}]
}"#;

#[track_caller]
fn wrong(from: &str, to: &str, problems: &str) {
    assert!(WHOLE.contains(from), "{from}");
    let text = WHOLE.replace(from, to);
    let value = parse_json(&text).expect("the artifact is JSON").value;
    let shown = RunArtifact::read(&value).map_or_else(|it| listed(&it), |_| "nothing".to_owned());
    assert_eq!(shown, problems);
}

#[test]
fn problems_of_an_artifact_are_reported() {
    wrong("success", "success", "nothing");
    wrong(
        "\"R1:a\"",
        "\" a\"",
        "`identity.run_id` must be a name of lower-case letters, digits, `_` and `-`, not ` a`",
    );
    wrong(
        "\"command\"",
        "\"Command\"",
        "`identity.runner_type` must be a name of lower-case letters, digits, `_` and `-`, not `Command`",
    );
    wrong("\"schema_version\": 1", "\"schema_version\": 2", "`identity.schema_version` must be 1, not 2");
    wrong("\"requested_model\": \"m\", ", "", "`request.requested_model` is missing");
    wrong(
        "max_turns",
        "max_turn",
        "`request.execution_parameters.max_turn` is no part of a run artifact; did you mean `max_turns`?",
    );
    wrong(
        "\"max_turns\": 3",
        "\"max_turns\": 0",
        "`request.execution_parameters.max_turns` must be a whole number of at least 1, not 0",
    );
    wrong("\"success\"", "\"failed\"", "`error` must say why when `status` is `failed`");
    wrong(
        "\"status\": \"success\"",
        "\"status\": \"success\", \"error\": {\"code\": \"x\", \"message\": \"y\"}",
        "`error` must be absent when `status` is `success`",
    );
    wrong("\"sequence\": 0", "\"sequence\": 1", "`trace[0].sequence` must be 0, its place in the trace, not 1");
    wrong(
        "\"message\"",
        "\"thought\"",
        "`trace[0].event_type` must be `message`, `tool_call`, `tool_result`, `runner` or `final_output`, not `thought`",
    );
    wrong("\"user\"", "\"robot\"", "`trace[0].role` must be `system`, `user`, `assistant` or `tool`, not `robot`");
    wrong(
        "\"trace\": [",
        "\"trace\": [5, ",
        "`trace[0].event_type` is missing: it is `message`, `tool_call`, `tool_result`, `runner` or `final_output`; `trace[1].sequence` must be 1, its place in the trace, not 0",
    );
    wrong(
        "\"status\": \"success\"",
        "\"status\": \"success\", \"timing\": {\"started_at\": \"2026-01-02T00:00:00Z\", \"completed_at\": \"2026-01-01T00:00:00\", \"duration_seconds\": -1}",
        "`timing.completed_at` must not be before `started_at`; `timing.duration_seconds` must be a number of at least 0, not -1",
    );
    wrong(
        "\"status\": \"success\"",
        "\"status\": \"success\", \"timing\": {\"queued_at\": \"soon\"}",
        "`timing.queued_at` must be a date such as `2026-01-31T12:00:00Z`, not `soon`",
    );
    wrong(
        "\"status\": \"success\"",
        "\"status\": \"success\", \"runner_metadata\": {\"openclaw\": {\"logs\": {\"artifact_id\": \"a\"}}}",
        "`runner_metadata.openclaw.logs.artifact_type` is missing; `runner_metadata.openclaw.logs.uri` is missing",
    );
    wrong("\"status\": \"success\",", "", "`status` is missing");
    assert_eq!(RunArtifact::read(&Val::Null).map_err(|it| listed(&it)), Err("must be an object, not null".to_owned()));
}

fn word() -> impl Strategy<Value = String> {
    "[a-z0-9][a-z0-9_-]{0,6}"
}

fn object() -> impl Strategy<Value = Value> {
    vec(("[a-z]{1,3}", any::<i64>()), 1..3)
        .prop_map(|it| Val::Map(it.into_iter().map(|(key, number)| (key, Val::I(number))).collect::<Map<'static>>()))
}

fn happening() -> impl Strategy<Value = Happening> {
    let text = || ".{0,8}";
    prop_oneof![
        (prop::sample::select(vec!["system", "user", "assistant", "tool"]), text(), option::of(text())).prop_map(
            |(role, content, name)| Happening::Message { role: role.to_owned(), content: Val::from(content), name }
        ),
        (option::of(text()), text(), object(), option::of(object())).prop_map(
            |(call_id, tool_name, raw_arguments, parsed_arguments)| {
                Happening::ToolCall { call_id, tool_name, raw_arguments, parsed_arguments }
            }
        ),
        (option::of(text()), option::of(any::<bool>()), object())
            .prop_map(|(call_id, is_error, output)| Happening::ToolResult { call_id, is_error, output }),
        (text(), object()).prop_map(|(name, detail)| Happening::Runner { name, detail }),
        option::of(text()).prop_map(|content| Happening::FinalOutput { content }),
    ]
}

fn artifact() -> impl Strategy<Value = RunArtifact> {
    let event = (happening(), option::of(object()), any::<bool>()).prop_map(|(what, metadata, is_dated)| Event {
        timestamp: is_dated.then(|| "2026-01-01T00:00:00Z".to_owned()),
        metadata,
        what,
    });
    let output = (word(), word(), ".{0,8}", option::of(any::<u64>()), option::of(object())).prop_map(
        |(artifact_id, artifact_type, uri, byte_size, metadata)| OutputArtifact {
            artifact_id,
            artifact_type,
            uri,
            media_type: None,
            byte_size,
            sha256: Some("00".to_owned()),
            metadata,
        },
    );
    let status = prop::sample::select(RunStatus::NAMED.map(|(_, it)| it).to_vec());
    let tokens = option::of(any::<u64>());
    (word(), status, vec(event, 0..4), vec(output, 0..3), (tokens, option::of(0.0..9.0f64)), object()).prop_map(
        |(run_id, status, trace, output_artifacts, (total, cost_usd), runner_metadata)| RunArtifact {
            identity: Identity {
                run_id,
                case_id: "c".to_owned(),
                suite_id: "s".to_owned(),
                run_profile_id: "p".to_owned(),
                runner_type: "r".to_owned(),
            },
            status,
            timing: Timing { duration_seconds: cost_usd, ..Timing::default() },
            request: RunRequest {
                requested_model: "m".to_owned(),
                gateway: None,
                execution_parameters: Val::Map(Map::default()),
                metadata: runner_metadata.clone(),
            },
            provider: Provider { gateway: Some("g".to_owned()), ..Provider::default() },
            usage: RunUsage {
                normalized: Tokens { total, ..Tokens::default() },
                cost_usd,
                raw_provider_usage: Some(runner_metadata.clone()),
            },
            trace,
            output_artifacts,
            error: (status != RunStatus::Success).then(|| RunFault {
                code: "x".to_owned(),
                message: "y".to_owned(),
                error_type: None,
                retryable: Some(false),
                provider_code: None,
                metadata: None,
            }),
            runner_metadata,
        },
    )
}

proptest! {
    #![proptest_config(crate::laws())]

    #[test]
    fn what_is_written_reads_back(artifact in artifact()) {
        let text = artifact.to_value().to_json();
        let read = RunArtifact::read(&parse_json(&text).expect("it is JSON").value);
        prop_assert_eq!(read, Ok(artifact));
    }

    #[test]
    fn reading_never_panics(value in crate::arbitrary::value()) {
        let _ = RunArtifact::read(&value);
    }
}
