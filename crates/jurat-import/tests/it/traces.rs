//! Spans become runs, whatever container and order they come in.

use jurat_core::artifact::RunArtifact;
use jurat_format::value::{FieldPath, Value, parse_json};
use jurat_import::{By, Options, Unfinished};

use crate::{imported, lines, sample};

#[track_caller]
fn runs(files: &[(&str, Vec<u8>)], options: &Options) -> Vec<Value> {
    let runs = lines(&imported(files, options).expect("it can be imported"), "runs.jsonl");
    for run in &runs {
        assert!(RunArtifact::read(run).is_ok(), "{run}");
    }
    runs
}

fn at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    FieldPath::parse(path).expect("a path").reach(value)
}

/// What a first draft concluded from the samples, member by member. Models, times and labels have been added since.
#[test]
fn the_samples_of_three_conventions_become_the_expected_runs() {
    for (file, expected) in [
        ("otlp/openinference.otlp.jsonl", "expected/oi_runs.jsonl"),
        ("otlp/genai_semconv.otlp.jsonl", "expected/genai_runs.jsonl"),
        ("langfuse/sdk_v5.otlp.jsonl", "expected/lf_runs.jsonl"),
    ] {
        let found = runs(&[("traces.jsonl", sample(file))], &Options::default());
        let expected = String::from_utf8(sample(expected)).expect("text");
        let expected: Vec<Value> =
            expected.lines().map(|it| parse_json(it).expect("JSON").value.into_owned()).collect();
        assert_eq!(found.len(), expected.len(), "{file}");
        for (found, expected) in found.iter().zip(&expected) {
            for path in
                ["identity", "status", "timing.duration_seconds", "usage.normalized.input_tokens", "error.message"]
            {
                let is_zero = at(expected, path) == Some(&Value::I(0));
                assert!(is_zero || at(found, path) == at(expected, path), "{file}: {path}");
            }
            assert_eq!(events(found), events(expected), "{file}");
        }
    }
}

/// The events without spellings and durations: arguments of calls may be written with other spaces.
fn events(run: &Value) -> Vec<String> {
    let events = at(run, "trace").and_then(Value::as_list).expect("a trace");
    let compared = ["event_type", "role", "content", "call_id", "tool_name", "parsed_arguments", "status", "output"];
    let event = |it: &Value| {
        compared
            .iter()
            .filter_map(|key| Some(format!("{key}={}", it.get(key)?.to_json())))
            .collect::<Vec<_>>()
            .join(" ")
    };
    events.iter().map(event).collect()
}

#[test]
fn both_encodings_of_a_trace_give_the_same_run() {
    let json = runs(&[("a", sample("langfuse/sdk_v5.otlp.jsonl"))], &Options::default());
    let binary = runs(&[("a", sample("langfuse/sdk_v5_trace.pb"))], &Options::default());
    assert_eq!(json, binary);

    // The same message with its length before it, twice.
    let message = sample("langfuse/sdk_v5_trace.pb");
    let length = [(message.len() as u8 & 0x7f) | 0x80, (message.len() >> 7) as u8];
    let delimited = [&length[..], &message, &length, &message].concat();
    assert_eq!(runs(&[("a", delimited)], &Options::default()), json);
}

#[test]
fn the_order_of_lines_and_files_changes_nothing() {
    let text = String::from_utf8(sample("otlp/openinference.otlp.jsonl")).expect("text");
    let expected = runs(&[("a", text.clone().into_bytes())], &Options::default());
    let mut reversed: Vec<&str> = text.lines().rev().collect();
    assert_eq!(runs(&[("a", reversed.join("\n").into_bytes())], &Options::default()), expected);
    // Spans that come twice.
    reversed.extend(text.lines());
    assert_eq!(runs(&[("a", reversed.join("\n").into_bytes())], &Options::default()), expected);
    let files: Vec<(&str, Vec<u8>)> = text.lines().map(|it| ("a", it.as_bytes().to_vec())).collect();
    assert_eq!(runs(&files, &Options::default()), expected);
}

#[test]
fn spans_of_phoenix_give_the_same_conversations() {
    let expected = runs(&[("a", sample("otlp/openinference.otlp.jsonl"))], &Options::default());
    let found = runs(&[("a", sample("phoenix/spans_rest.json"))], &Options::default());
    assert_eq!(found.iter().map(events).collect::<Vec<_>>(), expected.iter().map(events).collect::<Vec<_>>());
    assert_eq!(runs(&[("a", sample("phoenix/spans_otlpv1_one.json"))], &Options::default()).len(), 1);
}

#[test]
fn the_traces_of_a_session_are_one_run() {
    let by_session = Options { by: By::Session, ..Options::default() };
    let found = runs(&[("a", sample("otlp/openinference.otlp.jsonl"))], &by_session);
    assert_eq!(found.len(), 2);
    assert_eq!(at(&found[0], "identity.run_id").and_then(Value::as_str), Some("sess-1"));
    let said = events(&found[0]);
    assert_eq!(said.iter().filter(|it| it.contains("role=\"user\"")).count(), 2, "{said:#?}");
}

#[test]
fn a_trace_without_an_end_is_dropped_unless_it_counts_as_timed_out() {
    let text = r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331",
        "name":"chat","startTimeUnixNano":"1","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}}]}]}]}]}"#;
    let found = imported(&[("a.json", text.into())], &Options::default()).expect("it can be imported");
    assert_eq!(lines(&found, "runs.jsonl").len(), 0);
    assert_eq!(found.report.totals().dropped, 1);
    let timed_out = Options { unfinished: Unfinished::TimedOut, ..Options::default() };
    let found = runs(&[("a.json", text.into())], &timed_out);
    assert_eq!(at(&found[0], "status").and_then(Value::as_str), Some("timed_out"));
}

#[test]
fn a_trace_without_messages_is_approximate() {
    let text = r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"CvdlGRbNQ92ESOshHIAxnA==","spanId":"t61rcWkgMzE=","name":"chat",
        "startTimeUnixNano":"1","endTimeUnixNano":"2000000001","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},
        {"key":"gen_ai.usage.input_tokens","value":{"intValue":"7"}}]}]}]}]}"#;
    let found = imported(&[("a.json", text.into())], &Options::default()).expect("it can be imported");
    assert_eq!(found.report.totals().approximate, 1);
    let run = &lines(&found, "runs.jsonl")[0];
    assert_eq!(at(run, "identity.run_id").and_then(Value::as_str), Some("0af7651916cd43dd8448eb211c80319c"));
    assert_eq!(at(run, "usage.normalized.input_tokens"), Some(&Value::I(7)));
    assert_eq!(at(run, "status").and_then(Value::as_str), Some("success"));
}

#[test]
fn messages_in_log_records_belong_to_their_span() {
    let spans = r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331","name":"chat",
        "startTimeUnixNano":"1","endTimeUnixNano":"2","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}}]}]}]}]}"#;
    let records = r#"{"resourceLogs":[{"scopeLogs":[{"logRecords":[
        {"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331","eventName":"gen_ai.user.message","body":{"kvlistValue":{"values":[{"key":"content","value":{"stringValue":"Hi?"}}]}}},
        {"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331","eventName":"gen_ai.choice","body":{"kvlistValue":{"values":[{"key":"message","value":{"kvlistValue":{"values":[{"key":"content","value":{"stringValue":"Hello."}}]}}}]}}}]}]}]}"#;
    let found = runs(&[("logs.json", records.into()), ("spans.json", spans.into())], &Options::default());
    let said = events(&found[0]);
    assert_eq!(
        said,
        [
            r#"event_type="message" role="user" content="Hi?""#,
            r#"event_type="message" role="assistant" content="Hello.""#,
            r#"event_type="final_output" content="Hello.""#
        ]
    );
}

#[test]
fn scores_of_langfuse_stand_beside_the_run() {
    let rows = r#"[{"id":"o1","trace_id":"t1","parent_observation_id":"","type":"GENERATION","name":"llm","start_time":"2026-11-16 20:20:41.270291",
        "end_time":"2026-11-16 20:20:42.270291","input":"[{\"role\":\"user\",\"content\":\"Hi?\"}]","output":"Hello.","provided_model_name":"m",
        "usage_details":"{\"input\":3,\"output\":2}","session_id":"s"}]"#;
    let scores = r#"[{"id":"x","traceId":"t1","name":"helpful","value":1.0,"dataType":"NUMERIC"}]"#;
    let found = runs(&[("observations.json", rows.into()), ("scores.json", scores.into())], &Options::default());
    assert_eq!(at(&found[0], "request.metadata.scores.helpful"), Some(&Value::F(1.0)));
    assert_eq!(at(&found[0], "timing.duration_seconds"), Some(&Value::F(1.0)));
    assert_eq!(at(&found[0], "usage.normalized.total_tokens"), Some(&Value::I(5)));
}
