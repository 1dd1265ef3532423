//! An example of the repository, led with real weights that decode under a JSON Schema.

use std::fs;

use serde_json::Value;

use crate::{Desk, address, root};

/// An example with other models.
fn example(name: &str, models: &str) -> String {
    let suite =
        fs::read_to_string(root().join("examples/scenarios").join(name).join("suite.yaml")).expect("an example");
    let (before, after) = suite.split_once("\nmodels:\n").expect("it has models");
    let (_, after) = after.split_once("\n\n").expect("something follows them");
    format!("{before}\nmodels:\n{models}\n\n{after}")
}

#[test]
fn every_turn_is_parsed_and_the_conversation_can_be_replayed() {
    let model =
        format!("model: openai/smollm2, base_url: '{}/v1', temperature: 0, seed: 1", address("JURAT_TEST_LLAMA"));
    let models = format!("  subject: {{ {model}, max_tokens: 40 }}\n  parser: {{ {model}, max_tokens: 100 }}");
    // Its fields are choices and its three turns come in any case, so nothing depends on what is said.
    let desk = Desk::with(&example("progressive-disclosure", &models));
    let (effects, results) = desk.run_and_replay();
    assert_eq!(results["results"]["case_counts"]["total"], 1, "{results}");

    let of = |role: &'static str| effects.iter().filter(move |it| it["request"]["role"] == role);
    let said = |it: &Value| it["outcome"]["answer"]["text"].as_str().expect("an answer").to_owned();
    assert!(of("subject").all(|it| !said(it).is_empty()), "{effects:?}");
    // Each turn has all that was said before: a system message, then questions and answers in turn.
    let lengths: Vec<usize> =
        of("subject").map(|it| it["request"]["messages"].as_array().map_or(0, Vec::len)).collect();
    assert_eq!(lengths, [2, 4, 6]);

    // For each turn the template, then the rubric; every reply fits its schema the first time.
    let replies: Vec<(u64, Value)> = of("parser")
        .map(|it| (it["scenario_turn"].as_u64().expect("a turn"), said(it)))
        .map(|(turn, it)| (turn, serde_json::from_str(&it).unwrap_or_else(|error| panic!("{error}: {it}"))))
        .collect();
    assert_eq!(replies.iter().map(|(turn, _)| *turn).collect::<Vec<_>>(), [0, 0, 1, 1, 2, 2], "{replies:?}");
    for ((_, reply), field) in replies.iter().zip(["action", "caution", "danger", "caution", "action", "caution"]) {
        let value = &reply[field];
        let fits = match field {
            "action" => value.is_null() || ["descale", "replace_fuse", "stop_using"].map(Value::from).contains(value),
            "danger" => value.is_null() || value.is_boolean(),
            _ => value.as_u64().is_some_and(|it| (1..=5).contains(&it)),
        };
        assert!(fits, "`{field}` of {reply}");
    }
}
