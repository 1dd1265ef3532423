//! The examples of the catalogue are tasks that can be copied.

use std::path::Path;

use jurat_compare::{Entry, entries};
use jurat_core::plan::{Samples, examine};
use jurat_core::suite::{RowSource, load};

use crate::InMemory;

/// A row for every example: each field is of a kind that its comparison can judge.
const ROW: &str = r#"{ answer: text, status: paid, score: 8, confidence: 0.9, latency_ms: 1200, calls: 2, tags: [billing], steps: [search],
    mail: text, story: text, tips: [a], title: text, sources: [a], post: text, refund: true, error: null, reply: {},
    warnings: [], contact: text, source: text, request_id: text, due: text, agent_response: text, price: 12, age: 30,
    delta: 1.5, error_count: 0, value: 3.14, code: text, slug: text, country_code: DE, eligible: true, gene: text,
    mechanism: text, design: text, trial: text, n: 342, dose: 100, p_value: 0.01, estimate: 97, cost: 9, drugs: [aspirin],
    authors: [Smith J], phase: III, approved: text, published: text }"#;

/// What reading and planning a suite with this task say about it.
fn problems(task: &str) -> Vec<String> {
    let text = format!("records: [{ROW}, {{ refund: {{ amount: 5 }} }}]\ntasks:\n  - {task}\n");
    let loaded = load(Path::new("suite.yaml"), &InMemory(&[("suite.yaml", &text)]));
    let rows = loaded.suite.records.iter().flat_map(|it| match &it.from {
        RowSource::Inline(rows) => rows.iter().map(|it| it.value.clone()).collect(),
        _ => Vec::new(),
    });
    let samples = Samples { rows: rows.collect(), ..Samples::default() };
    let planned = examine(&loaded.suite, &samples);
    loaded.problems.iter().chain(&planned).map(|it| format!("{}: {}", it.code.name, it.message)).collect()
}

fn needs_a_model(entry: &Entry) -> bool {
    entry.name == "SemanticMatch"
}

#[test]
fn every_example_is_a_sound_task() {
    for entry in entries().filter(|it| !needs_a_model(it)) {
        let found = problems(entry.example);
        assert!(found.is_empty(), "{}\n{found:#?}", entry.example);
    }
}

#[test]
fn the_one_that_needs_a_model_says_to_ask_one() {
    for entry in entries().filter(|it| needs_a_model(it)) {
        let advice = "`semantic_match`: a comparison does not compare meanings; use a judge instead";
        assert_eq!(problems(entry.example).first(), Some(&format!("suite::bad_operand: {advice}")));
    }
}

#[test]
fn every_example_uses_its_comparison() {
    for entry in entries() {
        let names = [entry.name.to_owned(), entry.snake_case()];
        assert!(names.iter().any(|it| entry.example.contains(it.as_str())), "{}: {}", entry.name, entry.example);
    }
}
