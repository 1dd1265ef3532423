//! Queries of cases: whatever is asked, columns and rows find what a filter over the results finds.

use std::collections::BTreeSet;

use jurat::compare::{contains, equals, has_length_less_than};
use jurat::format::JSON_LINES;
use jurat::{Assertion, Run, RunOptions, Suite};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::directory;

const N: usize = 24;

/// A row of the run. Ids, languages, sizes and texts repeat with different periods, so that every combination of terms finds something else.
fn row(ix: usize) -> Value {
    let lang = ["de", "en", "fr"][ix % 3];
    let text = ["ja", "Nein, danke", "a \"quoted\" text\nof two lines", "REFUND"][ix % 4];
    json!({ "id": format!("case-{ix:02}"), "lang": lang, "text": text, "size": ix % 7 })
}

/// The run, and its cases in the order of input, each with its row, its verdict and those of its tasks.
fn run(directory: &std::path::Path) -> (Run, Vec<Case>) {
    let suite = Suite::builder("queried")
        .records((0..N).map(row))
        .group_by(["lang"])
        .task(Assertion::new("short", "text", has_length_less_than(10)))
        .task(Assertion::new("german", "lang", equals("de")).gate())
        .task(Assertion::new("says_ja", "text", contains("ja")).depends_on(["german"]))
        .build()
        .expect("the suite is sound");
    let run = suite.run(RunOptions::in_directory(directory)).expect("it runs");
    let mut lines = Vec::new();
    run.to_export().write(&JSON_LINES, &mut lines).expect("it can be exported");
    let mut cases: Vec<Case> =
        (0..N).map(|ix| Case { row: row(ix), verdict: String::new(), tasks: Vec::new() }).collect();
    for line in String::from_utf8(lines).expect("JSON is text").lines() {
        let line: Value = serde_json::from_str(line).expect("it is JSON");
        let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
        let case = cases.iter_mut().find(|it| it.row["id"] == line["record"]).expect("it has a row");
        case.verdict = text("case_verdict");
        case.tasks.push((text("task"), text("verdict")));
    }
    (run, cases)
}

#[derive(Debug)]
struct Case {
    row: Value,
    verdict: String,
    tasks: Vec<(String, String)>,
}

/// A query, before it is text.
#[derive(Debug, Clone)]
enum Asked {
    Verdict(bool, Vec<&'static str>),
    Task(&'static str, bool, Vec<&'static str>),
    Group(bool, Vec<&'static str>),
    Id(&'static str),
    /// A number of the row, compared.
    Size(&'static str, u64),
    Lang(&'static str),
    Word(&'static str),
    Not(Box<Asked>),
    All(Vec<Asked>),
    Any(Vec<Asked>),
}

impl Asked {
    fn text(&self) -> String {
        let is = |turned: &bool| if *turned { "!=" } else { "=" };
        let joined = |parts: &[Asked], with: &str| parts.iter().map(Asked::text).collect::<Vec<_>>().join(with);
        match self {
            Asked::Verdict(turned, words) => format!("verdict{}{}", is(turned), words.join(",")),
            Asked::Task(id, turned, words) => format!("task:{id}{}{}", is(turned), words.join(",")),
            Asked::Group(turned, values) => format!("group:lang{}{}", is(turned), values.join(",")),
            Asked::Id(glob) => format!("id:{glob}"),
            Asked::Size(operator, size) => format!("row.size{operator}{size}"),
            Asked::Lang(value) => format!("row.lang={value}"),
            Asked::Word(word) => format!("\"{}\"", word.replace('"', "\\\"")),
            Asked::Not(part) => format!("-({})", part.text()),
            Asked::All(parts) => format!("({})", joined(parts, " ")),
            Asked::Any(parts) => format!("({})", joined(parts, " OR ")),
        }
    }

    /// Whether it finds a case, by looking at it alone.
    fn finds(&self, case: &Case) -> bool {
        match self {
            Asked::Verdict(turned, words) => words.contains(&case.verdict.as_str()) != *turned,
            Asked::Task(id, turned, words) => {
                let verdict = case.tasks.iter().find(|it| it.0 == *id).map_or("", |it| it.1.as_str());
                words.contains(&verdict) != *turned
            }
            Asked::Group(turned, values) => values.iter().any(|it| case.row["lang"] == **it) != *turned,
            Asked::Id(glob) => fits(case.row["id"].as_str().expect("it has an id"), glob),
            Asked::Size(operator, wanted) => {
                let size = case.row["size"].as_u64().expect("it has a size");
                match *operator {
                    "<" => size < *wanted,
                    "<=" => size <= *wanted,
                    ">" => size > *wanted,
                    _ => size >= *wanted,
                }
            }
            Asked::Lang(value) => case.row["lang"] == **value,
            Asked::Word(word) => has_word(&case.row, word),
            Asked::Not(part) => !part.finds(case),
            Asked::All(parts) => parts.iter().all(|it| it.finds(case)),
            Asked::Any(parts) => parts.iter().any(|it| it.finds(case)),
        }
    }
}

fn fits(id: &str, glob: &str) -> bool {
    match (glob.strip_prefix('*'), glob.strip_suffix('*')) {
        (Some(end), _) => id.ends_with(end),
        (None, Some(start)) => id.starts_with(start),
        (None, None) => id == glob,
    }
}

/// A text in small letters is found in any, one with a capital as it is. Keys are no text of the row.
fn has_word(row: &Value, word: &str) -> bool {
    let is_exact = word.chars().any(char::is_uppercase);
    let has = |it: &str| if is_exact { it.contains(word) } else { it.to_lowercase().contains(word) };
    row.as_object().expect("a row is an object").values().any(|it| match it {
        Value::String(text) => has(text),
        other => has(&other.to_string()),
    })
}

fn asked() -> impl Strategy<Value = Asked> {
    let some = |of: &'static [&'static str]| proptest::sample::subsequence(of.to_vec(), 1..=2);
    let verdicts: &[&str] = &["passed", "failed", "error", "not_judged"];
    let of_tasks: &[&str] = &["passed", "failed", "skipped"];
    let term = prop_oneof![
        (any::<bool>(), some(verdicts)).prop_map(|(turned, words)| Asked::Verdict(turned, words)),
        (proptest::sample::select(vec!["short", "german", "says_ja"]), any::<bool>(), some(of_tasks))
            .prop_map(|(id, turned, words)| Asked::Task(id, turned, words)),
        (any::<bool>(), some(&["de", "en", "fr"])).prop_map(|(turned, values)| Asked::Group(turned, values)),
        proptest::sample::select(vec!["case-1*", "*3", "case-07", "none", "*"]).prop_map(Asked::Id),
        (proptest::sample::select(vec!["<", "<=", ">", ">="]), 0_u64..8)
            .prop_map(|(operator, size)| Asked::Size(operator, size)),
        proptest::sample::select(vec!["de", "en", "it"]).prop_map(Asked::Lang),
        proptest::sample::select(vec!["ja", "refund", "Refund", "a \"quoted\"", "lines", "6", "text"])
            .prop_map(Asked::Word),
    ];
    term.prop_recursive(3, 16, 3, |part| {
        prop_oneof![
            part.clone().prop_map(|it| Asked::Not(Box::new(it))),
            proptest::collection::vec(part.clone(), 1..4).prop_map(Asked::All),
            proptest::collection::vec(part, 1..4).prop_map(Asked::Any),
        ]
    })
}

#[test]
fn a_query_finds_what_a_filter_over_the_results_finds() {
    let directory = directory();
    let (run, cases) = run(directory.path());
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(400));
    let tested = runner.run(&asked(), |asked| {
        let query = asked.text();
        let mut lines = Vec::new();
        let export = run.to_export().found_by(&query).expect("the query is sound");
        export.write(&JSON_LINES, &mut lines).expect("it can be exported");
        let lines = String::from_utf8(lines).expect("JSON is text");
        let id = |it: &str| serde_json::from_str::<Value>(it).expect("it is JSON")["record"].to_string();
        let found: BTreeSet<String> = lines.lines().map(id).collect();
        let expected: BTreeSet<String> =
            cases.iter().filter(|it| asked.finds(it)).map(|it| it.row["id"].to_string()).collect();
        prop_assert_eq!(found, expected, "{}", query);
        Ok(())
    });
    tested.unwrap_or_else(|error| panic!("{error}"));
}
