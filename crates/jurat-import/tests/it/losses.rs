//! What is not taken over has a line that says so: nothing of a file is passed over in silence.

use jurat_format::value::{FieldPath, Value};
use jurat_import::{By, Class, Imported, Input, KINDS, NoFolder, Options, import};

use crate::{imported, lines, sample};

#[track_caller]
fn read(name: &str, text: &str) -> Imported {
    imported(&[(name, text.into())], &Options::default()).expect("it can be imported")
}

/// The entries of a class: what, and why.
fn of_class(imported: &Imported, class: Class) -> Vec<String> {
    let entries = imported.report.entries.iter().filter(|it| it.class == class);
    entries.map(|it| format!("{}: {}", it.what, it.why.as_deref().unwrap_or_default())).collect()
}

#[track_caller]
fn dropped(imported: &Imported, expected: &[&str]) {
    assert_eq!(of_class(imported, Class::Dropped), expected);
}

fn at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    FieldPath::parse(path).expect("a path").reach(value)
}

#[track_caller]
fn row(imported: &Imported, expected: &str) {
    assert_eq!(lines(imported, "rows.jsonl")[0].to_json(), expected);
}

/// A kind that was asked for is not the one that a file is of, or the file is cut off: an error, and not a report of nothing.
#[test]
fn a_file_that_is_cut_off_or_of_another_kind_is_an_error() {
    let refused = |kind: &str, bytes: Vec<u8>| {
        let kind = KINDS.iter().find(|it| it.name == kind).expect("a kind");
        let input = Input::new("it", bytes).expect("it can be looked at");
        import(&[input], Some(kind), &NoFolder, &Options::default()).expect_err("it is refused").to_string()
    };
    for kind in KINDS.iter().map(|it| it.name).filter(|it| *it != "promptfoo") {
        let why = refused(kind, b"hello\nyou\n".to_vec());
        assert_eq!(why, format!("`it` cannot be read: there is nothing of the kind `{kind}` in it"));
        let why = refused(kind, b"{\"a\": [1,\n 2".to_vec());
        assert!(why.starts_with("`it` cannot be read: line 2, column "), "{kind}: {why}");
    }
    assert!(refused("promptfoo", b"{\"prompts\": [".to_vec()).contains("line 1, column"));
    let why = refused("langfuse", sample("otlp/genai_semconv.otlp.jsonl"));
    assert!(why.ends_with("in it; it is traces of OpenTelemetry (OTLP)"), "{why}");
    let why = refused("otlp", b"{\"resourceSpans\": []}\n{\"foo\": 1}\n".to_vec());
    assert_eq!(why, "`it` cannot be read: line 2: it is no request with spans or log records");
    let cut = imported(&[("it", b"{\"resourceSpans\": [{".to_vec())], &Options::default()).expect_err("it is cut off");
    assert!(cut.to_string().starts_with("`it` cannot be read: line 1, column"), "{cut}");
}

const OBSERVATION: &str = r#"{"id":"o1","trace_id":"t1","type":"GENERATION","name":"llm","start_time":"2026-11-16 20:20:41","end_time":"2026-11-16 20:20:42","input":"Hi?","output":"Hello.""#;

#[test]
fn scores_of_langfuse_are_all_there_or_dropped() {
    let scores = r#"[{"id":"a","traceId":"t1","name":"helpful","value":1.0,"dataType":"NUMERIC","comment":"fine"},
        {"id":"b","traceId":"t1","name":"helpful","value":0.5,"dataType":"NUMERIC","authorUserId":"u"},
        {"id":"c","traceId":"t2","name":"helpful","value":0.0,"dataType":"NUMERIC"}]"#;
    let files = [("o.json", format!("[{OBSERVATION}}}]").into_bytes()), ("s.json", scores.into())];
    let found = imported(&files, &Options::default()).expect("it can be imported");
    let run = &lines(&found, "runs.jsonl")[0];
    assert_eq!(at(run, "request.metadata.scores.helpful").map(Value::to_json).as_deref(), Some("[1.0,0.5]"));
    assert_eq!(at(run, "request.metadata.score_comments.helpful").and_then(Value::as_str), Some("fine"));
    dropped(
        &found,
        &[
            "`authorUserId` of 1 score: not known to the importer",
            "score `helpful`: its trace `t2` is not in the input",
        ],
    );
    // A score alone is no run.
    let alone = imported(&[("s.json", sample("langfuse/score_post.json"))], &Options::default()).expect("a score");
    assert_eq!(alone.report.totals().dropped, 1);
}

#[test]
fn columns_of_langfuse_are_read_or_named() {
    let more = r#","total_cost":0.5,"model_parameters":"{\"temperature\":0.2}","environment":"live","version":"3",
        "tool_calls":["{\"id\":\"c\",\"name\":\"find\",\"arguments\":\"{}\"}"]"#;
    let open = OBSERVATION.replace("\"t1\"", "\"t2\"").replace(r#","end_time":"2026-11-16 20:20:42""#, "");
    let found = read("o.json", &format!("[{OBSERVATION}{more}}}, {open}}}]"));
    let run = &lines(&found, "runs.jsonl")[0];
    assert_eq!(at(run, "usage.cost_usd"), Some(&Value::F(0.5)));
    assert_eq!(at(run, "request.execution_parameters.temperature"), Some(&Value::F(0.2)));
    assert_eq!(at(run, "request.metadata.environment").and_then(Value::as_str), Some("live"));
    let trace = at(run, "trace").expect("a trace").to_json();
    assert!(trace.contains(r#""tool_name":"find""#) && trace.contains("Hello."), "{trace}");
    let lost = of_class(&found, Class::Dropped);
    assert_eq!(lost[0], "`version` of 1 observation: not known to the importer", "{lost:?}");
    assert!(lost[1].contains("has no end: it was still running"), "{lost:?}");
}

#[test]
fn annotations_of_phoenix_are_all_there() {
    let span = |id: &str, annotations: &str| {
        format!(
            r#"{{"name":"chat","context":{{"trace_id":"t","span_id":"{id}"}},"span_kind":"LLM","start_time":"2026-11-16T20:20:41Z","end_time":"2026-11-16T20:20:42Z",
                "status_code":"OK","attributes":{{}},"span_annotations":[{annotations}]}}"#
        )
    };
    let one = r#"{"name":"ok","result":{"label":"a"}},{"name":"ok","result":{"label":"b"}}"#;
    let two = r#"{"name":"ok","result":{"label":"c"}},{"name":"other","result":{"score":1}}"#;
    let found = read("spans.json", &format!(r#"{{"data":[{},{}]}}"#, span("1", one), span("2", two)));
    let annotations =
        at(&lines(&found, "runs.jsonl")[0], "request.metadata.annotations").expect("annotations").to_json();
    assert_eq!(annotations, r#"{"ok":[{"label":"a"},{"label":"b"},{"label":"c"}],"other":{"score":1}}"#);
}

#[test]
fn columns_of_a_data_set_of_phoenix_are_read_or_named() {
    let found = read("d.csv", "example_id,input.q,output.a,split,expected\nx1,Hi?,Hello.,train,Hello!\n");
    row(&found, r#"{"id":"x1","input":{"q":"Hi?"},"reference":{"a":"Hello."},"metadata":{}}"#);
    dropped(
        &found,
        &["`split` of 1 example: not known to the importer", "`expected` of 1 example: not known to the importer"],
    );
}

#[test]
fn what_deepeval_has_beside_cases_is_named() {
    let found = read(
        "run.json",
        r#"{"testCases":[{"input":"a","actualOutput":"b","success":true}],"conversationalTestCases":[{"turns":[{"role":"user","content":"Hi"}],
            "scenario":"greets","expectedOutcome":"a greeting"}],"hyperparameters":{"model":"m"}}"#,
    );
    let rows = lines(&found, "rows.jsonl");
    assert_eq!(rows[0].to_json(), r#"{"id":"c1","input":"a","output":"b"}"#);
    let conversation =
        r#"{"id":"c2","messages":[{"role":"user","content":"Hi"}],"scenario":"greets","reference":"a greeting"}"#;
    assert_eq!(rows[1].to_json(), conversation);
    let why = "jurat judges anew: verdicts and metrics of DeepEval are not taken over";
    dropped(&found, &[&format!("`hyperparameters` of 1 test run: {why}"), &format!("`success` of 1 test case: {why}")]);

    let found = read("c.csv", "input,actual_output,retrieval_context,context\nHi?,Hello.,c1|c2,\"[\"\"d\"\"]\"\n");
    row(&found, r#"{"id":"c1","input":"Hi?","output":"Hello.","context":["d"],"retrieval_context":["c1","c2"]}"#);
    let found = read("c.json", r#"[{"input":"a","actual_output":"b"},{"name":"neither"}]"#);
    dropped(&found, &["a test case: it has neither `input` nor `turns`"]);
}

#[test]
fn members_of_samples_of_openai_evals_are_read_or_named() {
    let text = r#"{"input":"Q","ideal":"A","metadata":{"k":1},"choices":["A","B"],"other":2}
{"no":"sample"}"#;
    let found = read("s.jsonl", text);
    row(&found, r#"{"id":"s1","question":"Q","reference":"A","choices":["A","B"],"metadata":{"k":1}}"#);
    dropped(
        &found,
        &[
            "`other` of 1 sample: not known to the importer",
            "a line: it is no sample: it has neither `ideal` nor `item`",
        ],
    );
    let answered = r#"{"item":{"q":"Q"},"sample":{"output_text":"A","model":"m","usage":{"total_tokens":3},"seed":1},"grades":{"g":1}}"#;
    let found = read("s.json", answered);
    row(&found, r#"{"id":"s1","item":{"q":"Q"},"output":"A","subject":"m","usage":{"total_tokens":3}}"#);
    dropped(
        &found,
        &["`grades` of 1 sample: not known to the importer", "`sample.seed` of 1 sample: not known to the importer"],
    );
}

fn log(status: &str, scorers: &str, sample: &str) -> String {
    format!(
        r#"{{"version":2,"status":"{status}","error":null,"eval":{{"task":"t","model":"m","scorers":[{scorers}]}},
            "samples":[{{"id":"A","epoch":1,"input":"Q","target":"Lima","messages":[],"output":{{"completion":"Lima."}},"scores":{{}}{sample}}},
                       {{"id":"A","epoch":2,"input":"Q","target":"Lima","messages":[],"output":{{"completion":"Lima."}},"scores":{{}}}}]}}"#
    )
}

#[test]
fn a_log_of_inspect_that_did_not_end_well_says_so() {
    let found = read("log.json", &log("error", "", r#","retries":3,"events":[{"event":"sandbox"},{"event":"model"}]"#));
    assert_eq!(of_class(&found, Class::Approximate), ["the log: its status is `error`; samples may be missing"]);
    dropped(
        &found,
        &[
            "`retries` of 1 sample: not known to the importer",
            "`events: sandbox` of 1 sample: not known to the importer",
        ],
    );
}

/// Epochs of a sample say the same thing again, so rates and intervals take them for one.
#[test]
fn epochs_of_inspect_are_clusters() {
    let found = read("log.json", &log("success", "", ""));
    let suite = found.files.iter().find(|it| it.name == "suite.yaml").expect("a suite").text().expect("text");
    assert!(suite.contains("cluster_by: \"runner_metadata.sample\"\n"), "{suite}");
    let samples: Vec<Value> = lines(&found, "runs.jsonl");
    assert!(samples.iter().all(|it| at(it, "runner_metadata.sample").and_then(Value::as_str) == Some("A")));
}

#[test]
fn options_of_scorers_are_read_or_named() {
    let scorers = r#"{"name":"match","options":{"location":"begin"}},{"name":"match","options":{"location":"exact","ignore_case":false}},
        {"name":"includes","options":{"ignore_case":false}},{"name":"match","options":{"numeric":true}}"#;
    let found = read("log.json", &log("success", scorers, ""));
    let code = |name: &str| found.files.iter().find(|it| it.name == name).expect("code").text().expect("text");
    assert!(code("evaluators/match.py").contains("LOCATION = 'begin'\nIGNORE_CASE = True\n"));
    assert!(code("evaluators/match_2.py").contains("LOCATION = 'exact'\nIGNORE_CASE = False\n"));
    assert!(code("evaluators/includes.py").contains("IGNORE_CASE = False\n"));
    dropped(
        &found,
        &[
            "scorer `match`: its option `numeric: true` is not taken over; its recorded value is `runner_metadata.scores`",
        ],
    );
}

#[test]
fn metadata_of_all_tests_are_those_of_each() {
    let config = "prompts: ['{{q}}']\nproviders: [ollama:chat:m]\ndefaultTest: { metadata: { a: 1, b: 1 } }\ntests:\n  - { vars: { q: x }, metadata: { b: 2 }, assert: [{ type: contains, value: a }] }\n";
    row(&read("promptfooconfig.yaml", config), r#"{"id":"r1","vars":{"q":"x"},"metadata":{"a":1,"b":2}}"#);
}

/// Promptfoo writes out lists that begin with a text, and no others.
#[test]
fn lists_of_numbers_are_one_value() {
    let config = "prompts: ['{{q}}']\nproviders: [ollama:chat:m]\ntests:\n  - { vars: { q: [x, y], n: [1, 2] }, assert: [{ type: contains, value: a }] }\n";
    let rows = lines(&read("promptfooconfig.yaml", config), "rows.jsonl");
    let rows: Vec<String> = rows.iter().map(|it| at(it, "vars").expect("variables").to_json()).collect();
    assert_eq!(rows, [r#"{"q":"x","n":[1,2]}"#, r#"{"q":"y","n":[1,2]}"#]);
}

fn code_of(imported: &Imported, name: &str) -> String {
    imported.files.iter().find(|it| it.name == name).expect("code").text().expect("text")
}

/// With a schema of answers promptfoo gives code what the text says; a threshold is one more condition of an object that Python returns.
#[test]
fn code_is_given_what_promptfoo_gives_it() {
    let config = |format: &str| {
        format!(
            "prompts: ['{{{{q}}}}']\nproviders: [{{ id: 'openai:gpt-4o', config: {{ response_format: {format} }} }}]\ntests:\n  - assert:\n    - {{ type: javascript, value: output.a === 1 }}\n    - {{ type: python, value: 'output[\"a\"] == 1', threshold: 0.5 }}\n"
        )
    };
    let structured = read("c.yaml", &config("{ type: json_schema, json_schema: { schema: { type: object } } }"));
    assert!(code_of(&structured, "evaluators/javascript.js").contains("assertion(parsed(output), "));
    let python = code_of(&structured, "evaluators/python.py");
    assert!(python.contains("_assertion(_parsed(output), "), "{python}");
    assert!(python.contains("passed = bool(passed) and score >= 0.5\n"), "{python}");
    let plain = read("c.yaml", &config("{ type: json_object }"));
    assert!(code_of(&plain, "evaluators/javascript.js").contains("assertion(output, "));
    assert!(!code_of(&plain, "evaluators/python.py").contains("_parsed"));
}

#[test]
fn results_of_promptfoo_keep_what_was_recorded() {
    let table = "Description,q,[m] p,Status,Score,Named Scores,Grader Reason,Comment,[n] p,Status,Score,Named Scores,Grader Reason,Comment\n\
                 first,x,Yes,FAIL,0.00,{},too short,mine,no connection,ERROR,0.00,{},,\n";
    let rows = lines(&read("r.csv", table), "rows.jsonl");
    let recorded = r#"{"pass":false,"score":0.0,"named_scores":{},"reason":"too short","comment":"mine"}"#;
    assert_eq!(at(&rows[0], "recorded").map(Value::to_json).as_deref(), Some(recorded));
    assert_eq!(at(&rows[0], "description").and_then(Value::as_str), Some("first"));
    assert_eq!(at(&rows[1], "error").and_then(Value::as_str), Some("no connection"));
    assert!(at(&rows[1], "output").is_none());

    let entry = r#"{"promptIdx":0,"testIdx":0,"response":{"output":{"a":1}},"testCase":{"threshold":0.5,"metadata":{"k":1},"assert":[{"type":"javascript","value":"output.a"}]}}"#;
    let found = read("r.jsonl", &format!("{entry}\n{{\"other\": 1}}\n"));
    dropped(&found, &["a line: it is no result: it has no `promptIdx` and `testIdx`"]);
    let suite = code_of(&found, "suite.yaml");
    assert!(suite.contains("group:\n      weights:\n        javascript: 1\n      threshold: 0.5\n"), "{suite}");
    assert_eq!(at(&lines(&found, "rows.jsonl")[0], "metadata.k"), Some(&Value::I(1)));
    assert!(code_of(&found, "evaluators/javascript.js").contains("assertion(parsed(output), "));
}

/// A span of one second, `start` seconds after the first.
fn span(trace: u8, id: u8, parent: u8, start: u64, attributes: &str, more: &str) -> String {
    let attributes: Vec<String> = attributes
        .split(", ")
        .filter_map(|it| it.split_once('='))
        .map(|(key, value)| {
            format!(r#"{{"key":"{key}","value":{{"stringValue":{}}}}}"#, Value::from(value.to_owned()).to_json())
        })
        .collect();
    let parent = if parent == 0 { String::new() } else { format!("{parent:016x}") };
    format!(
        r#"{{"traceId":"{trace:032x}","spanId":"{id:016x}","parentSpanId":"{parent}","name":"it","startTimeUnixNano":"{}","endTimeUnixNano":"{}","attributes":[{}]{more}}}"#,
        1_000_000_000 * (1 + start),
        1_000_000_000 * (2 + start),
        attributes.join(",")
    )
}

fn request(spans: &[String]) -> String {
    format!(r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{}]}}]}}]}}"#, spans.join(","))
}

/// A session ends with its last turn: what it said is what came of it, and a turn that failed is a failure.
#[test]
fn a_session_ends_as_its_last_turn_does() {
    let by_session = Options { by: By::Session, ..Options::default() };
    let turn = |trace: u8, output: &str, more: &str| {
        let attributes =
            format!("openinference.span.kind=AGENT, session.id=s, input.value=Q{trace}, output.value={output}");
        span(trace, 1, 0, u64::from(trace) * 10, &attributes, more)
    };
    let run = |spans: &[String]| {
        let found = imported(&[("t.json", request(spans).into_bytes())], &by_session).expect("traces");
        lines(&found, "runs.jsonl").remove(0)
    };
    let session = run(&[turn(1, "First.", ""), turn(2, "Second.", "")]);
    let last = |run: &Value| at(run, "trace[-1].content").and_then(Value::as_str).map(str::to_owned);
    assert_eq!(last(&session).as_deref(), Some("Second."));
    assert_eq!(at(&session, "runner_metadata.input").and_then(Value::as_str), Some("Q1"));
    let failed = run(&[turn(1, "First.", r#","status":{"code":2,"message":"broke"}"#), turn(2, "Second.", "")]);
    assert_eq!(at(&failed, "status").and_then(Value::as_str), Some("failed"));
    // What the first turn said is no response to the second.
    let silent = run(&[turn(1, "First.", ""), turn(2, "", "")]);
    assert_eq!(at(&silent, "status").and_then(Value::as_str), Some("success"), "content may not be recorded");
    let call = "openinference.span.kind=LLM, session.id=s, llm.output_messages.0.message.role=assistant, llm.output_messages.0.message.content=";
    let said = span(1, 1, 0, 1, &format!("{call}First."), "");
    let calls =
        span(2, 1, 0, 9, &format!("{call}, llm.output_messages.0.message.tool_calls.0.tool_call.function.name=f"), "");
    assert_eq!(at(&run(&[said, calls]), "status").and_then(Value::as_str), Some("invalid"));
}

/// A gateway and the client inside of it record one request twice.
#[test]
fn a_request_inside_of_a_request_counts_once() {
    let model = "openinference.span.kind=LLM, llm.token_count.prompt=10, llm.token_count.completion=5, llm.cost.total=1, llm.output_messages.0.message.role=assistant, llm.output_messages.0.message.content=Hello.";
    let spans = [span(1, 1, 0, 0, model, ""), span(1, 2, 1, 0, "http.method=POST", ""), span(1, 3, 2, 0, model, "")];
    let found = read("t.json", &request(&spans));
    let run = &lines(&found, "runs.jsonl")[0];
    assert_eq!(at(run, "usage.normalized.input_tokens"), Some(&Value::I(10)));
    let said = at(run, "trace").and_then(Value::as_list).expect("a trace");
    assert_eq!(said.len(), 2, "{said:?}");
    let lost = of_class(&found, Class::Dropped);
    assert!(lost.iter().any(|it| it.starts_with("1 request: they are inside of another request")), "{lost:?}");
    // Below a tool it is a request of its own.
    let spans = [
        span(1, 1, 0, 0, model, ""),
        span(1, 2, 1, 0, "openinference.span.kind=TOOL", ""),
        span(1, 3, 2, 0, model, ""),
    ];
    let found = read("t.json", &request(&spans));
    assert_eq!(at(&lines(&found, "runs.jsonl")[0], "usage.normalized.input_tokens"), Some(&Value::I(20)));
    // An outer one without tokens leaves them to the inner one.
    let outer = "openinference.span.kind=LLM, output.value=Hello.";
    let found = read("t.json", &request(&[span(1, 1, 0, 0, outer, ""), span(1, 2, 1, 0, model, "")]));
    assert_eq!(at(&lines(&found, "runs.jsonl")[0], "usage.normalized.input_tokens"), Some(&Value::I(10)));
}

#[test]
fn links_metrics_guardrails_and_images_of_traces_are_named() {
    let agent = span(1, 1, 0, 0, "openinference.span.kind=AGENT, output.value=Done.", r#","links":[{"traceId":"a"}]"#);
    let guard = span(1, 2, 1, 1, "openinference.span.kind=GUARDRAIL, input.value=Hi, output.value=blocked", "");
    let image = "openinference.span.kind=LLM, llm.input_messages.0.message.role=user, llm.input_messages.0.message.contents.0.message_content.type=image";
    let text = format!("{}\n{{\"resourceMetrics\": []}}\n", request(&[agent, guard, span(1, 3, 1, 2, image, "")]));
    let found = read("t.jsonl", &text);
    dropped(
        &found,
        &["1 request with metrics: metrics are about no single run", "1 span link: a run has no links to others"],
    );
    let differs = of_class(&found, Class::Approximate);
    assert!(differs[0].ends_with("1 image, recording or other part of its messages are not in it"), "{differs:?}");
    let trace = at(&lines(&found, "runs.jsonl")[0], "trace").expect("a trace").to_json();
    assert!(trace.contains(r#"{"kind":"guardrail","input":"Hi","output":"blocked"}"#), "{trace}");
}

/// A run of retrieval has its question and its documents where ready judges look for them.
#[test]
fn a_run_of_retrieval_has_its_question_and_its_context() {
    let root = span(
        1,
        1,
        0,
        0,
        "openinference.span.kind=CHAIN, input.value={\"question\": \"Where?\"}, output.value=Here.",
        "",
    );
    let documents = "openinference.span.kind=RETRIEVER, retrieval.documents.0.document.content=One., retrieval.documents.1.document.content=Two.";
    let found = read("t.json", &request(&[root, span(1, 2, 1, 1, documents, "")]));
    let run = &lines(&found, "runs.jsonl")[0];
    assert_eq!(at(run, "runner_metadata.input").and_then(Value::as_str), Some("Where?"));
    assert_eq!(at(run, "runner_metadata.context").map(Value::to_json).as_deref(), Some(r#"["One.","Two."]"#));
}
