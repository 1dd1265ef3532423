//! Each kind is recognised by its content and gives what its page says.

use jurat_format::value::Value;
use jurat_import::{KINDS, Options};

use crate::{imported, lines, sample};

#[test]
fn samples_are_recognised_by_their_content() {
    for (file, kind, summary) in [
        ("promptfoo/promptfooconfig.yaml", "promptfoo", "3 rows, 2 prompts, 1 model, 9 tasks"),
        ("promptfoo/results_first_five.json", "promptfoo-results", "5 rows, 9 tasks"),
        ("promptfoo/results_first_three.jsonl", "promptfoo-results", "3 rows, 4 tasks"),
        ("promptfoo/results.csv", "promptfoo-results", "12 rows"),
        ("otlp/genai_semconv.otlp.jsonl", "otlp", "5 spans, 2 runs"),
        ("otlp/genai_chat_span.pb", "otlp", "1 span, 1 run"),
        ("langfuse/sdk_v5_trace.pb", "otlp", "4 spans, 1 run"),
        ("langfuse/score_post.json", "langfuse", "0 spans, 0 runs"),
        ("phoenix/spans_rest.json", "phoenix", "6 spans, 3 runs"),
        ("inspect/demo_v2_zstd.eval", "inspect", "6 runs, 2 tasks"),
        ("inspect/demo_v2_three_samples.json", "inspect", "3 runs, 2 tasks"),
        ("evals/openai_evals_repo_style.jsonl", "openai-evals", "2 rows, 1 task"),
        ("evals/openai_evals_api_style.jsonl", "openai-evals", "2 rows"),
        ("evals/phoenix_openai_evals.jsonl", "openai-evals", "2 rows, 1 task"),
        ("evals/phoenix_dataset.csv", "phoenix-dataset", "2 rows"),
        ("evals/phoenix_examples.json", "phoenix-dataset", "2 rows"),
    ] {
        // The name says nothing.
        let found = imported(&[("file", sample(file))], &Options::default()).expect("it can be imported");
        assert_eq!((found.kind.name, found.summary.as_str()), (kind, summary), "{file}");
    }
    let names: Vec<&str> = KINDS.iter().map(|it| it.name).collect();
    let mut unique = names.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), names.len(), "two kinds share a name");
}

#[test]
fn both_forms_of_a_log_of_inspect_give_the_same_runs() {
    let archive = imported(&[("a", sample("inspect/demo_v2_zstd.eval"))], &Options::default()).expect("an archive");
    let document =
        imported(&[("a", sample("inspect/demo_v2_three_samples.json"))], &Options::default()).expect("a document");
    // Two evaluations with the same answers: only the ids of calls differ.
    let trace = |it: &Value| {
        let events = it.get("trace").and_then(Value::as_list).expect("a trace");
        let events: Vec<_> =
            events.iter().map(|it| (it.get("event_type").cloned(), it.get("content").cloned())).collect();
        (it.get("identity").cloned(), it.get("status").cloned(), events)
    };
    let all: Vec<_> = lines(&archive, "runs.jsonl").iter().map(trace).collect();
    for run in lines(&document, "runs.jsonl").iter().map(trace) {
        assert!(all.contains(&run), "{run:?}");
    }
}

#[test]
fn test_cases_of_deepeval_become_rows() {
    let text = r#"[{"input": "Hi?", "actual_output": "Hello.", "expected_output": "Hello!", "retrieval_context": ["a"], "metrics_data": [1]}]"#;
    let found = imported(&[("cases.json", text.into())], &Options::default()).expect("it can be imported");
    assert_eq!(found.kind.name, "deepeval");
    let row = lines(&found, "rows.jsonl")[0].to_json();
    assert_eq!(row, r#"{"id":"c1","input":"Hi?","output":"Hello.","reference":"Hello!","retrieval_context":["a"]}"#);
    assert_eq!(found.report.totals().dropped, 1);
    let table = "input,actual_output,expected_output\nHi?,Hello.,Hello!\n";
    assert_eq!(imported(&[("cases.csv", table.into())], &Options::default()).expect("a table").summary, "1 row");
}

#[test]
fn files_of_two_kinds_are_refused_together() {
    let files = [("a", sample("otlp/genai_chat_span.pb")), ("b", sample("promptfoo/promptfooconfig.yaml"))];
    let error = imported(&files, &Options::default()).expect_err("two kinds");
    let message = "`b` is a configuration of promptfoo, and `a` is traces of OpenTelemetry (OTLP); import them one after the other";
    assert_eq!(error.to_string(), message);
}
