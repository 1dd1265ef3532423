//! Suites built in Rust are the suites that YAML says.

use std::collections::HashMap;
use std::path::Path;

use jurat::compare::{self, equals, found_at, greater_than, is_not_empty, less_than, primitive};
use jurat::{Aggregate, Ask, Assertion, Error, Judge, Model, Output, Prompt, RowFiles, RowType, Suite, SuiteBuilder};
use jurat_compare::Fill;
use jurat_core::suite::{ExpectedValue, RowSource, Suite as Written, load};
use jurat_format::source::{Files, ReadError};
use jurat_format::value::{Context, Val, parse_json};
use proptest::prelude::*;
use serde_json::json;
use tempfile::TempDir;

/// One text as a file.
struct OneText<'t>(&'t str);

impl Files for OneText<'_> {
    fn read(&self, path: &Path, _: u64) -> Result<Vec<u8>, ReadError> {
        if path.extension().is_some_and(|it| it == "md") {
            return Ok(b"Rate ${answer}".to_vec());
        }
        Ok(self.0.as_bytes().to_vec())
    }
}

fn read(text: &str) -> Written {
    let loaded = load(Path::new("suite.yaml"), &OneText(text));
    assert!(loaded.problems.is_empty(), "{text}\n{:?}", loaded.problems);
    loaded.suite
}

#[track_caller]
fn says(builder: SuiteBuilder, yaml: &str) {
    let directory = TempDir::new().expect("the system has a place for temporary files");
    for (ix, file) in ["prompt.md", "rows.csv", "more.csv"].into_iter().enumerate() {
        let text = format!("number,price,answer\n{ix},2,Rate ${{answer}}\n");
        std::fs::write(directory.path().join(file), text).expect("files can be written");
    }
    let suite = builder.directory(directory.path()).build().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(without_places(&read(suite.definition())), without_places(&read(yaml)), "{}", suite.definition());
}

/// The words of a suite but for the places of its parts, sorted: the members of a value have no order.
fn without_places(suite: &Written) -> Vec<String> {
    let shown = format!("{suite:?}");
    let mut parts = shown.split("Span {");
    let first = parts.next().unwrap_or_default().to_owned();
    let text = parts.fold(first, |text, part| text + part.split_once('}').map_or("", |(_, rest)| rest));
    let mut words: Vec<String> = text.split([' ', ',', '(', ')', '[', ']', '{', '}']).map(str::to_owned).collect();
    words.sort();
    words.retain(|it| !it.is_empty());
    words
}

fn one_row() -> SuiteBuilder {
    Suite::builder("s").record(json!({ "id": "r1", "answer": "yes", "scores": [1, 2], "reference": "yes", "limit": 9 }))
}

const ONE_ROW: &str = "suite: s\nrecords: [{ id: r1, answer: 'yes', scores: [1, 2], reference: 'yes', limit: 9 }]\n";

#[test]
fn assertions_say_what_yaml_says() {
    says(
        one_row()
            .task(Assertion::new("a", "answer", equals("yes")).description("one").required())
            .task(Assertion::new("b", "scores", greater_than(0).in_each("x").failing_when_missing()).depends_on(["a"]))
            .task(Assertion::new("c", "answer", equals(found_at("reference"))).depends_on(["a"]).depends_on(["b"]))
            .task(Assertion::new("d", "scores[0]", less_than(found_at("limit"))).tags(["t"]).dimensions(["task"]))
            .task(Assertion::new("e", "scores[1]", primitive("numeric_tolerance").with("tolerance", 0.5).against(2)))
            .task(Assertion::of_everything("f", compare::is_object()).on_ids(["r1"]))
            .task(Assertion::new("g", "answer", compare::in_range(1, 2.5)).on_tag("numbers")),
        &format!(
            "{ONE_ROW}tasks:
- {{ id: a, description: one, required: true, field_path: answer, operator: equals, expected_value: 'yes' }}
- {{ id: b, depends_on: [a], field_path: scores, item_field_path: x, operator: greater_than, expected_value: 0, missing: fail }}
- {{ id: c, depends_on: [a, b], field_path: answer, operator: equals, expected_value: '${{reference}}' }}
- {{ id: d, tags: [t], dimensions: [task], field_path: 'scores[0]', operator: less_than, expected_value: '${{limit}}' }}
- {{ id: e, field_path: 'scores[1]', operator: {{ type: NumericTolerance, tolerance: 0.5 }}, expected_value: 2 }}
- {{ id: f, on: [r1], field_path: null, operator: is_object }}
- {{ id: g, on: {{ tag: numbers }}, field_path: answer, operator: in_range, expected_value: [1, 2.5] }}
"
        ),
    );
}

#[test]
fn judges_and_models_say_what_yaml_says() {
    says(
        one_row()
            .description("judges")
            .group_by(["answer"])
            .dimensions(["warmth"])
            .threshold(0.5)
            .task_threshold("tone", 0.75)
            .model("judge", Model::new("openai/m").temperature(0.0).max_tokens(9).seed(1).top_p(0.5))
            .model("second", Model::new("openai/n").base_url("http://localhost/v1").api_key_env("KEY").header("a", "b"))
            .model("third", Model::new("openai/o").extra("k", [1]).price(1.0, 2.5).requests_per_minute(6).tokens_per_minute(7))
            .task(
                Judge::new("tone", "Rate ${answer}")
                    .system(Prompt::file("prompt.md"))
                    .output(Output::new().one_of("label", ["a", "b"]).text("why").number("n").integer("i").boolean("ok").texts("t"))
                    .passes_when("label", equals("a"))
                    .panel(["judge", "second"])
                    .repeat(2)
                    .aggregate(Aggregate::Majority)
                    .max_retries(1)
                    .gate(),
            )
            .task(
                Judge::new("other", Prompt::file("prompt.md"))
                    .model("third")
                    .output(Output::schema(json!({ "type": "object", "properties": { "n": { "type": "number" } } })))
                    .dimensions(["warmth"])
                    .depends_on(["tone"]),
            ),
        &format!(
            "{ONE_ROW}description: judges
group_by: [answer]
dimensions: [warmth]
thresholds: {{ pass_rate: 0.5, tasks: {{ tone: 0.75 }} }}
models:
  judge: {{ model: openai/m, temperature: 0.0, max_tokens: 9, seed: 1, top_p: 0.5 }}
  second: {{ model: openai/n, base_url: http://localhost/v1, api_key_env: KEY, headers: {{ a: b }} }}
  third: {{ model: openai/o, extra: {{ k: [1] }}, price: {{ input: 1.0, output: 2.5 }}, rpm: 6, tpm: 7 }}
tasks:
- id: tone
  condition: true
  judge:
    prompt: Rate ${{answer}}
    system: {{ file: prompt.md }}
    output: {{ label: {{ enum: [a, b] }}, why: string, n: number, i: integer, ok: boolean, t: [string] }}
    panel: [judge, second]
    repeat: 2
    aggregate: majority
    max_retries: 1
  field_path: label
  operator: equals
  expected_value: a
- id: other
  depends_on: [tone]
  dimensions: [warmth]
  judge: {{ prompt: {{ file: prompt.md }}, model: third, output: {{ type: object, properties: {{ n: {{ type: number }} }} }} }}
"
        ),
    );
}

#[test]
fn asking_and_files_say_what_yaml_says() {
    let files = RowFiles::new("rows.csv").and("more.csv").id("number").column("price", RowType::Number).tags(["x"]);
    says(
        Suite::builder("s")
            .records_from(files)
            .models("subject", ["openai/a", "openai/b"])
            .ask(
                Ask::prompts([("one", "${answer}"), ("two", "Well, ${answer}")])
                    .system("Be brief.")
                    .models(["subject", "openai/c"])
                    .output(Output::new().text("answer"))
                    .tools(["clock", "notes"])
                    .without_tool("notes", "forget")
                    .without_server("clock")
                    .max_retries(0),
            )
            .tool_server("clock", json!({ "command": ["serve"] }))
            .tool_server("notes", json!({ "command": ["serve"] }))
            .task(Assertion::new("answered", "output", is_not_empty())),
        "suite: s
records: { path: [rows.csv, more.csv], id: number, types: { price: number }, tags: [x] }
models: { subject: [openai/a, openai/b] }
ask:
  prompts: { one: '${answer}', two: 'Well, ${answer}' }
  system: Be brief.
  model: [subject, openai/c]
  output: { answer: string }
  tools: [clock, notes]
  tool_filter: { remove: [{ server: notes, tool: forget }, { server: clock }] }
  max_retries: 0
tools: { clock: { command: [serve] }, notes: { command: [serve] } }
tasks: [{ id: answered, field_path: output, operator: is_not_empty }]
",
    );
    says(
        Suite::builder("s")
            .records([json!("some text"), json!(["a", "list"])])
            .model("subject", "openai/a")
            .ask(Ask::new("${value}"))
            .task(Assertion::new("answered", "output", is_not_empty())),
        "suite: s
records: [{ value: some text }, [a, list]]
models: { subject: openai/a }
ask: { prompt: '${value}' }
tasks: [{ id: answered, field_path: output, operator: is_not_empty }]
",
    );
}

#[test]
fn all_problems_are_reported_at_once() {
    let built = one_row()
        .threshold(2.0)
        .task(Assertion::new("c", "answer", compare::matches("(")).depends_on(["missing"]))
        .task(Judge::new("d", "Rate ${answer}"))
        .build();
    let Err(Error::Suite(problems)) = built else { panic!("it is wrong") };
    let codes: Vec<&str> = problems.codes().collect();
    assert_eq!(
        codes,
        ["suite::bad_pattern", "suite::wrong_type", "plan::unknown_dependency", "plan::no_model"],
        "{problems}"
    );
    assert!(problems.to_string().contains("--> <suite.definition>:"), "{problems}");
    assert!(problems.iter().all(|it| it.line().is_some()), "{problems}");
}

#[test]
fn values_that_json_lacks_are_reported() {
    #[track_caller]
    fn reports(builder: SuiteBuilder, expected: &str) {
        assert_eq!(builder.build().expect_err("it is wrong").to_string(), expected);
    }
    let by_pair = HashMap::from([((1, 2), 3)]);
    reports(
        Suite::builder("s").record(json!(1)).record(&by_pair),
        "row 2 cannot be written as JSON: key must be a string",
    );
    reports(
        one_row().task(Assertion::new("a", "answer", equals(&by_pair))),
        "`expected_value` of the task `a` cannot be written as JSON: key must be a string",
    );
    reports(
        one_row().task(Assertion::new("a", "answer", greater_than(f64::NAN))),
        "`expected_value` of the task `a` cannot be written as JSON: NaN is no number of JSON",
    );
    reports(
        one_row().task(Judge::new("a", "${answer}").output(Output::schema(json!({})).text("b"))),
        "`output` of the task `a` cannot be written as JSON: the field `b` is added to a whole schema",
    );
    reports(
        one_row().records_at_run(),
        "rows come either from `record` and `records`, from `records_from`, or from `records_at_run`; this suite has several of them",
    );
}

/// Any JSON, with texts that YAML has opinions about.
fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let text = prop_oneof![
        any::<String>(),
        prop::sample::select(vec![
            "yes",
            "null",
            "~",
            "1.0",
            "0x1F",
            "- a",
            "a: b",
            "#",
            "${x}",
            "|",
            "2026-01-01",
            ""
        ])
        .prop_map(str::to_owned),
    ];
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|it| json!(it)),
        any::<i64>().prop_map(|it| json!(it)),
        any::<u64>().prop_map(|it| json!(it)),
        any::<f64>().prop_filter("JSON has no others", |it| it.is_finite()).prop_map(|it| json!(it)),
        text.clone().prop_map(|it| json!(it)),
    ];
    leaf.prop_recursive(3, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|it| json!(it)),
            prop::collection::hash_map(text.clone(), inner, 0..4).prop_map(|it| json!(it)),
        ]
    })
}

proptest! {
    /// A row that is given is the row that is judged, and an operand the one that is compared with.
    #[test]
    fn what_is_given_is_what_is_read(row in any_json(), operand in any_json(), prompt in any::<String>()) {
        let suite = Suite::builder("s")
            .record(json!({ "id": "r1", "row": row }))
            .model("judge", "script/replies.jsonl")
            .task(Assertion::new("same", "row", equals([&operand])))
            .task(Judge::new("asked", format!("${{id}} {prompt}")))
            .build();
        let suite = suite.unwrap_or_else(|error| panic!("{error}"));
        let read = load(Path::new("suite.yaml"), &OneText(suite.definition())).suite;
        let RowSource::Inline(rows) = &read.records[0].from else { panic!("rows are in the definition") };
        let text = row.to_string();
        prop_assert_eq!(rows[0].value.get("row"), Some(&parse_json(&text).unwrap().value));
        let comparison = read.tasks[0].comparison.as_ref().and_then(|it| it.expected.as_ref()).map(|it| &it.value);
        let compared_with = match comparison {
            Some(ExpectedValue::Literal(value)) => Some(value.clone()),
            Some(ExpectedValue::Filled(value)) => value.fill(Context::of(&Val::Null)).ok(),
            _ => None,
        };
        let text = json!([operand]).to_string();
        let expected = parse_json(&text).unwrap().value.into_owned();
        prop_assert_eq!(compared_with, Some(expected));
        let jurat_core::suite::TaskKind::Judge(judge) = &read.tasks[1].kind else { panic!("it is a judge") };
        prop_assert_eq!(judge.prompt.chat.text(), format!("${{id}} {prompt}"));
    }
}

#[test]
fn a_plan_names_what_a_run_would_refuse() {
    let directory = TempDir::new().expect("the system has a place for temporary files");
    let planned = |server: &str| {
        let suite = format!(
            "suite: desk\nrecords: [{{ id: a, n: 1 }}]\ntools: {{ desk: {{ command: [{server}] }} }}\n\
             tasks: [{{ id: one, field_path: n, operator: equals, expected_value: 1 }}]\n"
        );
        let file = directory.path().join("suite.yaml");
        std::fs::write(&file, suite).expect("files can be written");
        Suite::load(&file).expect("it is a suite").plan()
    };
    assert!(planned("sh").is_ok());
    let error = planned("no-such-server").expect_err("a program is missing").to_string();
    let message = "the server `desk` cannot be started: there is no program `no-such-server` in PATH";
    assert!(error.contains(message), "{error}");
}
