//! Any text as a definition ends in a suite or in problems, and whatever was read can be planned and judged.

#![no_main]

use std::cell::Cell;
use std::path::Path;

use jurat_core::plan::{Plan, Samples, examine};
use jurat_core::suite::{Loaded, RowSource, Suite, load};
use jurat_format::problem::Severity;
use jurat_format::source::{Files, ReadError};
use jurat_format::value::{Context, Value, parse_json};

libfuzzer_sys::fuzz_target!(|text: &str| {
    for name in ["suite.yaml", "suite.json"] {
        plans_and_judges(&read(name, text).suite);
    }
});

/// One definition and one prompt.
struct InMemory<'t> {
    definition: Cell<Option<&'t str>>,
}

impl Files for InMemory<'_> {
    fn read(&self, path: &Path, _: u64) -> Result<Vec<u8>, ReadError> {
        let text = match path.to_str() {
            Some("prompt.md") => Some("Judge ${answer}"),
            Some("suite.yaml" | "suite.json") => self.definition.take(),
            _ => None,
        };
        text.map(|it| it.as_bytes().to_vec()).ok_or(ReadError::NotFound)
    }
}

fn read(name: &str, text: &str) -> Loaded {
    load(Path::new(name), &InMemory { definition: Cell::new(Some(text)) })
}

fn plans_and_judges(suite: &Suite) {
    let samples = Samples { rows: rows(suite), ..Samples::default() };
    let problems = examine(suite, &samples);
    let Ok((plan, _)) = Plan::build(suite, &samples) else {
        assert!(problems.iter().any(|it| it.severity() == Severity::Error));
        return;
    };
    for row in &samples.rows {
        for task in &plan.tasks {
            if let Some(assertion) = &task.then {
                let _ = assertion.judge(Context::of(row)).to_string();
            }
            if let Some(judge) = task.work.judge() {
                let _ = judge.prompt.bind(Vec::new(), Context::of(row), &[]);
            }
        }
    }
}

/// The rows that the suite holds, and two more.
fn rows(suite: &Suite) -> Vec<Value> {
    let fixed = [
        r#"{"id": 1, "answer": "The invoice is paid.", "score": 7, "tags": ["a", "b"], "reply": "{\"ok\": true}"}"#,
        r#"{"id": 2, "answer": null, "score": 0.5, "tags": []}"#,
    ];
    let fixed = fixed.map(|it| parse_json(it).expect("these rows are JSON").value.into_owned());
    let inline = suite.records.iter().flat_map(|it| match &it.from {
        RowSource::Inline(rows) => rows.as_slice(),
        _ => &[],
    });
    inline.map(|it| it.value.clone()).chain(fixed).collect()
}
