//! Queries: what `--where` finds is what a filter over the export would.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value;

use crate::command::{Folder, root};
use crate::view_pages::copy;
use crate::viewer::Viewer;

const SUITE: &str = "
suite: queries
records: { path: rows.jsonl }
group_by: [lang, meta.kind]
tasks:
  - { id: short, field_path: text, operator: has_length_less_than, expected_value: 20 }
  - { id: german, field_path: lang, operator: equals, expected_value: de, condition: true }
  - { id: says_ja, field_path: text, operator: contains, expected_value: ja, depends_on: [german] }
";

/// A folder with a run of 60 rows.
fn folder() -> Folder {
    let mut rows = String::new();
    for ix in 0..60 {
        let lang = ["de", "en", "fr"][ix % 3];
        let text = match ix % 5 {
            0 => format!("ja {ix}"),
            1 => format!("Ein \\\"Zitat\\\" mit Umbruch\\n und caf\\u00e9 {ix}"),
            2 => "nein".to_owned(),
            3 => format!("A long text about REFUNDS, number {ix}"),
            _ => "x".to_owned(),
        };
        // Writing to memory cannot fail.
        let _ = writeln!(
            rows,
            r#"{{"id": "case-{ix:02}", "lang": "{lang}", "text": "{text}", "meta": {{"kind": "k{}"}}, "n": {ix}, "tags": ["t{}", "all"]}}"#,
            ix % 2,
            ix % 4
        );
    }
    let folder = Folder::with("suite.yaml", SUITE).and("rows.jsonl", rows);
    let ended = folder.jurat(&["run", "suite.yaml"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    folder
}

/// A case, as the export has it: its row and the verdicts of its tasks.
struct Exported {
    id: String,
    verdict: String,
    row: Value,
    tasks: Vec<(String, String)>,
}

impl Exported {
    fn task(&self, id: &str) -> &str {
        self.tasks.iter().find(|(it, _)| it == id).map_or("", |(_, verdict)| verdict.as_str())
    }

    fn text(&self) -> &str {
        self.row["text"].as_str().unwrap_or_default()
    }

    fn lang(&self) -> &str {
        self.row["lang"].as_str().unwrap_or_default()
    }

    fn number(&self) -> u64 {
        self.row["n"].as_u64().unwrap_or_default()
    }
}

fn exported(folder: &Folder) -> Vec<Exported> {
    let printed = folder.jurat(&["show", "--json", "--tasks"]).stdout;
    let report: Value = serde_json::from_str(&printed).expect("it is JSON");
    let rows = std::fs::read_to_string(folder.path().join("rows.jsonl")).expect("rows are there");
    let rows: Vec<Value> = rows.lines().map(|it| serde_json::from_str(it).expect("a row is JSON")).collect();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let cases = report["results"]["cases"].as_array().expect("cases are listed");
    let of = |case: &Value| {
        let id = text(&case["id"]);
        let row = rows.iter().find(|it| it["id"] == case["id"]).cloned().unwrap_or_default();
        let tasks = case["tasks"].as_array().expect("tasks are listed");
        let tasks = tasks.iter().map(|it| (text(&it["task"]), text(&it["verdict"]))).collect();
        Exported { id, verdict: text(&case["verdict"]), row, tasks }
    };
    cases.iter().map(of).collect()
}

const ASKED: &str = "
suite: asked
records: { path: rows.jsonl }
models: { judge: script/judge.jsonl }
tasks:
  - { id: fine, judge: { prompt: 'Is this fine? ${text}' }, operator: contains, expected_value: 'yes' }
  - { id: kind, judge: { prompt: 'Is this kind? ${text}' }, operator: contains, expected_value: 'yes' }
";

#[test]
fn what_cases_took_is_what_their_answers_used() {
    let (mut rows, mut replies) = (String::new(), String::new());
    for ix in 0..12_u64 {
        let _ = writeln!(rows, r#"{{"id": "c{ix:02}", "text": "text {ix}"}}"#);
        let (input, output) = (10 * (ix * 5 % 12), ix);
        let usage = format!(r#""usage": {{"input": {input}, "output": {output}}}"#);
        let _ = writeln!(replies, r#"{{"match": {{"case": "c{ix:02}"}}, "reply": "yes", {usage}, "times": "*"}}"#);
    }
    let folder = Folder::with("suite.yaml", ASKED).and("rows.jsonl", rows).and("judge.jsonl", replies);
    assert_eq!(folder.jurat(&["run", "suite.yaml"]).code, Some(0));
    let tokens = |ix: u64| 2 * (10 * (ix * 5 % 12) + ix);
    let viewer = Viewer::start(&folder, &[]);
    let run = viewer.data("/.json")["runs"][0]["run_id"].as_str().expect("there is a run").to_owned();
    let found = |parameters: &str| -> Vec<String> {
        let data = viewer.data(&format!("/runs/{run}/cases.json?{parameters}"));
        let cases = data["cases"].as_array().expect("cases are listed").clone();
        cases.iter().map(|it| it["id"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let named = |ixs: Vec<u64>| ixs.into_iter().map(|it| format!("c{it:02}")).collect::<Vec<_>>();
    for bound in [0, 50, 100, 200] {
        let expected = named((0..12).filter(|it| tokens(*it) > bound).collect());
        assert_eq!(found(&format!("q=tokens%3E{bound}")), expected, "tokens>{bound}");
    }
    assert_eq!(found("q=requests%3E2"), named(Vec::new()));
    assert_eq!(found("q=requests%3D2").len(), 12);
    let mut by_tokens: Vec<u64> = (0..12).collect();
    by_tokens.sort_by_key(|it| std::cmp::Reverse(tokens(*it)));
    assert_eq!(found("sort=tokens&dir=desc"), named(by_tokens));
}

type Filter = fn(&Exported) -> bool;

const QUERIES: [(&str, Filter); 32] = [
    ("", |_| true),
    ("verdict:failed", |it| it.verdict == "failed"),
    ("verdict:passed,error", |it| it.verdict == "passed" || it.verdict == "error"),
    ("-verdict:passed", |it| it.verdict != "passed"),
    ("verdict!=failed", |it| it.verdict != "failed"),
    ("task:short=failed", |it| it.task("short") == "failed"),
    ("task:\"says_ja\"=skipped", |it| it.task("says_ja") == "skipped"),
    ("task:says_ja=skipped,failed", |it| it.task("says_ja") == "skipped" || it.task("says_ja") == "failed"),
    ("task:german=passed task:says_ja=passed", |it| it.task("german") == "passed" && it.task("says_ja") == "passed"),
    ("group:lang=de", |it| it.lang() == "de"),
    ("group:lang=de,fr", |it| it.lang() != "en"),
    ("-group:lang=de", |it| it.lang() != "de"),
    ("group:meta.kind=k1 -group:lang=en", |it| it.number() % 2 == 1 && it.lang() != "en"),
    ("(verdict:failed OR group:lang=fr)", |it| it.verdict == "failed" || it.lang() == "fr"),
    ("(group:lang=de task:short=failed OR group:lang=fr)", |it| {
        (it.lang() == "de" && it.task("short") == "failed") || it.lang() == "fr"
    }),
    ("-(group:lang=de OR group:lang=fr)", |it| it.lang() == "en"),
    ("id:case-03", |it| it.id == "case-03"),
    ("id:case-1*", |it| it.id.starts_with("case-1")),
    ("id:*7", |it| it.id.ends_with('7')),
    ("id:*-2*", |it| it.id.contains("-2")),
    ("refunds", |it| it.text().to_lowercase().contains("refunds")),
    ("Refunds", |it| it.text().contains("Refunds")),
    ("REFUNDS", |it| it.text().contains("REFUNDS")),
    ("\"\\\"Zitat\\\"\"", |it| it.text().contains("\"Zitat\"")),
    ("\"umbruch\\n und\"", |it| it.text().to_lowercase().contains("umbruch\n und")),
    ("café -group:lang=de", |it| it.text().contains("café") && it.lang() != "de"),
    ("row.n<10", |it| it.number() < 10),
    ("row.tags=t3", |it| it.number() % 4 == 3),
    ("row.tags=all -row.tags=t1,t2", |it| it.number() % 4 == 0 || it.number() % 4 == 3),
    ("row.n>=50 row.lang=fr", |it| it.number() >= 50 && it.lang() == "fr"),
    ("(refunds OR row.n=0)", |it| it.text().to_lowercase().contains("refunds") || it.number() == 0),
    ("why:\"length of less\"", |it| it.task("short") == "failed"),
];

#[test]
fn a_query_finds_what_a_filter_over_the_export_does() {
    let folder = folder();
    let cases = exported(&folder);
    assert_eq!(cases.len(), 60);
    let viewer = Viewer::start(&folder, &[]);
    let run = viewer.get("/runs/latest").header("location").expect("it leads to the run").to_owned();
    let run = run.replace("/runs/", "");
    let list = folder.jurat(&["show", "--list", "--json"]).stdout;
    let list: Value = serde_json::from_str(&list).expect("it is JSON");
    let id = list["runs"][0]["run_id"].as_str().expect("there is a run");
    assert_eq!(run, id.to_lowercase());
    for (query, filter) in QUERIES {
        let expected: BTreeSet<&str> = cases.iter().filter(|it| filter(it)).map(|it| it.id.as_str()).collect();
        let printed = folder.jurat(&["show", "--json", "--where", query]);
        let report: Value = serde_json::from_str(&printed.stdout).unwrap_or_else(|_| panic!("{query}: {printed:?}"));
        let shown = report["results"]["cases"].as_array().expect("cases are listed");
        let shown: BTreeSet<&str> = shown.iter().filter_map(|it| it["id"].as_str()).collect();
        assert_eq!(shown, expected, "{query}");
        let page = viewer.data(&format!("/runs/{id}/cases.json?q={}", encoded(query)));
        let listed = page["cases"].as_array().expect("cases are listed");
        let listed: BTreeSet<&str> = listed.iter().filter_map(|it| it["id"].as_str()).collect();
        assert_eq!(listed, expected, "{query}");
    }
}

#[test]
fn conversations_are_found_by_the_nodes_and_edges_that_they_visited() {
    let folder = Folder::empty();
    copy(&root().join("tests/cases/scenario/over-rows"), folder.path());
    folder.jurat(&["run", "suite.yaml"]);
    let found = |query: &str| -> BTreeSet<String> {
        let printed = folder.jurat(&["export", "--to", "csv", "--columns", "record", "--where", query]);
        assert_eq!(printed.code, Some(0), "{query}: {printed:?}");
        printed.stdout.lines().skip(1).map(str::to_owned).collect()
    };
    for (query, expected) in [
        ("node:stands_firm=doubt", &["au", "br"][..]),
        ("edge:stands_firm=ask>doubt", &["au", "br"]),
        ("edge:stands_firm=ask>__end__", &["pe"]),
        ("edge:stands_firm=ask>doubt,ask>__end__ -id:br", &["au", "pe"]),
        ("-node:stands_firm=doubt id:pe", &["pe"]),
    ] {
        assert_eq!(found(query), expected.iter().map(|it| (*it).to_owned()).collect(), "{query}");
    }
    for (query, expected) in [
        (
            "edge:stands_firm=ask>doubts",
            "there is no edge `ask>doubts`; there are `ask>doubt`, `ask>__end__` and `doubt>__end__`",
        ),
        ("node:stand_firm=ask", "the scenarios are `stands_firm` at character 6; did you mean `node:stands_firm=ask`?"),
    ] {
        let ended = folder.jurat(&["show", "--where", query]);
        assert!(ended.code == Some(2) && ended.stderr.contains(expected), "{query}: {ended:?}");
    }
}

fn encoded(text: &str) -> String {
    text.bytes().map(|it| format!("%{it:02X}")).collect()
}

#[test]
fn what_is_wrong_with_a_query_is_said_with_its_place() {
    let folder = folder();
    for (query, expected) in [
        (
            "task:shrt=failed",
            "the run has no task `shrt`; it has `short`, `german` and `says_ja` at character 6; did you mean `task:short=failed`?",
        ),
        (
            "verdict:faild",
            "`faild` is no verdict here; there are `passed`, `failed`, `measured`, `error`, `not_run` and `not_judged` at character 9; did you mean `verdict:failed`?",
        ),
        (
            "group:lang=dee",
            "there is no value `dee`; there are `de`, `en` and `fr` at character 12; did you mean `group:lang=de`?",
        ),
        ("grup:lang=de", "there is no key `grup`"),
        ("label:short=rude", "the run has no label here at character 13"),
        ("took>2", "`2` is not a time such as `2s`, with `us`, `ms`, `s` or `m` at character 6"),
        ("change:regression", "`change:` is about two runs: it is for comparisons at character 1"),
        ("verdict:failed OR verdict:error", "`OR` stands in parentheses"),
    ] {
        let ended = folder.jurat(&["show", "--where", query]);
        assert_eq!(ended.code, Some(2), "{query}");
        assert!(ended.stderr.contains(expected), "{query}: {}", ended.stderr);
    }
    let nothing = folder.jurat(&["show", "--where", "id:nothing"]);
    assert_eq!(nothing.code, Some(0));
    assert!(nothing.stdout.contains("fits the query"), "{nothing:?}");
    let exported =
        folder.jurat(&["export", "--to", "csv", "--columns", "record", "--where", "id:case-0* task:short=failed"]);
    assert_eq!(
        exported.stdout.lines().skip(1).collect::<BTreeSet<_>>(),
        ["case-01", "case-03", "case-06", "case-08"].into()
    );
    let whole = folder.jurat(&["export", "--to", "markdown", "--where", "id:*"]);
    assert!(whole.stderr.contains("`--where` is for"), "{whole:?}");
}

#[test]
fn cases_are_sorted_and_those_without_a_value_come_last() {
    let folder = folder();
    let viewer = Viewer::start(&folder, &[]);
    let list = viewer.data("/.json");
    let id = list["runs"][0]["run_id"].as_str().expect("there is a run").to_owned();
    let ids = |query: &str| -> Vec<String> {
        let page = viewer.data(&format!("/runs/{id}/cases.json?{query}"));
        let cases = page["cases"].as_array().expect("cases are listed");
        cases.iter().filter_map(|it| it["id"].as_str()).map(str::to_owned).collect()
    };
    let up = ids("sort=id");
    assert!(up.is_sorted(), "{up:?}");
    let mut down = ids("sort=id&dir=desc");
    down.reverse();
    assert_eq!(up, down);
    // What failed comes before what passed.
    assert_eq!(ids("sort=verdict")[0], "case-01");
    let pages: Vec<String> = [ids("n=25"), ids("n=25&from=25"), ids("n=25&from=50")].concat();
    assert_eq!(pages, ids(""));
    assert_eq!(viewer.get(&format!("/runs/{id}/cases?sort=score:nothing")).status, 400);
}

#[test]
fn a_text_finds_what_was_said_and_not_what_could_have_been() {
    let suite = "
suite: said
models: { subject: { model: script/subject.jsonl, logprobs: 2 } }
records: [{ id: peru, country: Peru }]
ask: { prompt: \"Capital of ${country}?\" }
tasks: [{ id: said, field_path: output, operator: is_not_empty }]
";
    let reply = r#"{"logprobs": [{"token": "Lima", "logprob": -0.1, "top": [{"token": "Lima", "logprob": -0.1}, {"token": "Cusco", "logprob": -2.5}]}], "reasoning": "Think of Pizarro."}"#;
    let folder = Folder::with("suite.yaml", suite).and("subject.jsonl", reply);
    assert_eq!(folder.jurat(&["run", "suite.yaml"]).code, Some(0));
    let finds = |query: &str| folder.jurat(&["show", "--where", query]).stdout.contains("peru");
    assert!(finds("Lima") && finds("pizarro") && finds("Peru"));
    // Another token in the place of what was said, a probability, and how the answer ended.
    for query in ["Cusco", "-2.5", "stop"] {
        assert!(!finds(&format!("\"{query}\"")), "{query}");
    }
}
