//! Suites that ask.

use std::fmt::Write as _;

/// Two judges for each row.
pub(crate) const JUDGED: &str = "
suite: judged
records: rows.jsonl
models: { judge: openai/judge }
tasks:
  - id: tone
    judge: { prompt: 'tone of ${answer}', output: { label: { enum: [polite, rude] }, score: { type: integer, minimum: 1, maximum: 5 } } }
    field_path: label
    operator: equals
    expected_value: polite
  - id: facts
    judge: { prompt: 'facts of ${answer}', output: { label: { enum: [right, wrong] } } }
    field_path: label
    operator: equals
    expected_value: right
";

/// A subject for each row, and judges behind a gate.
pub(crate) const ASKED: &str = "
suite: asked
records: rows.jsonl
models: { subject: openai/subject, judge: openai/judge }
ask: { prompt: 'say something about ${answer}' }
tasks:
  - { id: spoken, field_path: output, operator: contains, expected_value: answer, condition: true }
  - id: tone
    depends_on: [spoken]
    judge: { prompt: 'tone of ${output}', output: { label: { enum: [polite, rude] } } }
    field_path: label
    operator: equals
    expected_value: polite
";

/// Rows `r1`, `r2`, …, each with an answer of its own and a tag.
pub(crate) fn rows(n: usize) -> String {
    let mut rows = String::new();
    for ix in 1..=n {
        let tag = if ix % 3 == 0 { "third" } else { "other" };
        let _ = writeln!(rows, r#"{{"id": "r{ix}", "n": {ix}, "answer": "answer {ix}", "tags": ["{tag}"]}}"#);
    }
    rows
}
