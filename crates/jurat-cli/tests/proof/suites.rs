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

/// Scenarios `s1`, `s2`, …, each with two or three turns, no two of which ask the same.
pub(crate) fn talked(n: usize) -> String {
    let mut suite = "
suite: talked
models: { subject: openai/subject, parser: openai/parser }
templates:
  city: { city: { type: string, description: the city, ground_truth: Rome }, sure: { type: boolean, description: is it sure } }
scenarios:
"
    .to_owned();
    for ix in 1..=n {
        let _ = write!(
            suite,
            "  s{ix}:
    system: Be brief.
    entry: ask
    nodes:
      ask: {{ question: 's{ix}, which city?', template: city, state_update: {{ cel: '{{\"sure\": has(parsed.sure) && parsed.sure}}' }} }}
      again: {{ question: 's{ix}, are you sure?', template: city }}
      last: {{ question: 's{ix}, and why?', rubric: [{{ name: clear, kind: boolean, description: is it clear }}] }}
    edges:
      - {{ from: ask, to: again, when: {{ accumulated.sure: true }} }}
      - {{ from: ask, to: last, handover: transcript_prepend }}
      - {{ from: again, to: last }}
    outcomes:
      right: {{ any_turn: {{ verify_result: true }} }}
      clear: {{ last_turn: {{ rubric.clear: true }} }}
      n_turns: {{ count_turns: {{}} }}
"
        );
    }
    suite
}
