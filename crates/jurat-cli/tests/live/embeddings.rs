//! How like two texts are, by the embeddings of real weights.

use crate::{Desk, address};

#[test]
fn texts_are_as_like_as_their_embeddings() {
    let desk = Desk::with(&format!(
        "\
suite: alike
models:
  embedder: {{ model: openai/smollm2, base_url: '{}/v1' }}
records:
  - {{ id: same, output: The kettle is red., reference: The kettle is red. }}
  - {{ id: near, output: The kettle is red., reference: The kettle is blue. }}
  - {{ id: far, output: The kettle is red., reference: 'SELECT id FROM orders WHERE total > 10' }}
evaluators:
  likeness: {{ builtin: embedding_similarity }}
tasks:
  - {{ id: likeness, evaluate: likeness, field_path: score, operator: greater_than, expected_value: 0.5 }}
",
        address("JURAT_TEST_LLAMA")
    ));
    let (effects, results) = desk.run_and_replay();
    assert_eq!(effects.len(), 3, "{effects:?}");
    let score = |case: &str| {
        let cases = results["results"]["cases"].as_array().expect("cases");
        let it = cases.iter().find(|it| it["id"] == case).unwrap_or_else(|| panic!("no case `{case}`: {results}"));
        it["tasks"][0]["score"].as_f64().unwrap_or_else(|| panic!("no score: {it}"))
    };
    let (same, near, far) = (score("same"), score("near"), score("far"));
    // The server computes with floats of half the width, and one batch is not another.
    assert!((same - 1.0).abs() < 1e-3, "{same}");
    assert!(same > near && near > far && far >= -1.0, "{same} {near} {far}");
}
