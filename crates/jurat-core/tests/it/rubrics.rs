//! Rubrics: what a model is asked, what comes of its replies, and what could not be rated.

use std::path::Path;
use std::sync::Arc;

use jurat_compare::expression::Expression;
use jurat_core::suite::{Loaded, load};
use jurat_core::template::rating::{INSTRUCTIONS, SORTING};
use jurat_core::template::{Metric, RatedTurn, Ratings, Rubric, Trait, TraitKind};
use jurat_format::problem::Severity;
use jurat_format::value::{Val, Value, parse_json};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::InMemory;
use crate::arbitrary::{text, value};
use crate::templates::blocks;

const PAGE: &str = include_str!("../../../../docs/reference/rubrics.md");

fn loaded(suite: &str) -> Loaded {
    load(Path::new("suite.yaml"), &InMemory(&[("suite.yaml", suite)]))
}

#[track_caller]
fn rubric(yaml: &str) -> Rubric {
    let Loaded { mut suite, problems, .. } = loaded(&format!("rubrics:\n  it: {yaml}\n"));
    assert!(problems.is_empty(), "{problems:?}");
    Rubric::new(suite.rubrics.remove(0).1).expect("a rubric")
}

fn json(text: &str) -> Value {
    parse_json(text).expect("the test has JSON").value.into_owned()
}

fn rated(rubric: &Rubric, answer: &str, replies: &[Result<Value, String>]) -> Ratings {
    let parsed = json(r#"{"n": 3}"#);
    let turn = RatedTurn { question: "Why?", raw_response: answer, parsed: &parsed, verify_result: Some(true) };
    rubric.ratings(turn, replies)
}

#[test]
fn the_page_has_the_prompts_word_for_word() {
    for prompt in [INSTRUCTIONS, SORTING] {
        assert!(PAGE.contains(&format!("```text\n{prompt}\n```")), "the page does not have:\n{prompt}");
    }
}

#[test]
fn the_rubrics_of_the_page_are_rubrics_and_rate_as_it_says() {
    let (mut last, mut turn, mut n_rated) = (None, None, 0);
    for (info, text) in blocks(PAGE) {
        match info {
            "yaml" => {
                let Loaded { mut suite, problems, .. } = loaded(text);
                assert!(problems.is_empty(), "{problems:?} in\n{text}");
                last = Some(Rubric::new(suite.rubrics.remove(0).1).expect("a rubric"));
            }
            "json" => turn = Some(json(text)),
            "json ratings" => {
                let rubric = last.as_ref().expect("a rubric comes before its ratings");
                let turn = turn.take().expect("a turn comes before its ratings");
                let of = |key: &str| turn.get(key).and_then(Val::as_str).unwrap_or_default();
                let requests = rubric.requests(of("question"), of("answer"));
                let replies = turn.get("replies").and_then(Val::as_list).unwrap_or(&[]);
                assert_eq!(requests.len(), replies.len());
                let replies: Vec<_> =
                    requests.iter().zip(replies).map(|(it, reply)| it.form.read(&reply.to_json())).collect();
                let rated = rated(rubric, of("answer"), &replies);
                assert_eq!((Val::Map(rated.values), rated.errors), (json(text), vec![]));
                n_rated += 1;
            }
            "text" => {}
            other => panic!("nobody checks blocks marked `{other}`"),
        }
    }
    assert_eq!(n_rated, 1);
}

#[test]
fn one_request_for_all_that_a_word_rates_and_one_for_each_metric() {
    let rubric = rubric(
        "[{ name: a, kind: boolean }, { name: m, items: [x] }, { name: Is it b?, kind: score }, { name: r, pattern: x }, { name: n, items: [y] }]",
    );
    let requests = rubric.requests("Q", "A");
    let covered: Vec<Vec<&str>> = requests.iter().map(|it| it.traits.clone()).collect();
    assert_eq!(covered, [vec!["a", "Is it b?"], vec!["m"], vec!["n"]]);
    assert_eq!(
        requests[0].schema.to_string(),
        r#"{"type": "object", "properties": {"a": {"type": "boolean"}, "trait_3": {"type": "integer", "minimum": 1, "maximum": 5, "description": "Is it b?."}}, "required": ["a", "trait_3"], "additionalProperties": false}"#
    );
    assert!(self::rubric("[{ name: r, pattern: x }]").requests("Q", "A").is_empty());
}

#[test]
fn what_could_not_be_rated_has_a_reason_and_no_value() {
    let rubric = rubric(
        "[{ name: a, kind: boolean }, { name: m, items: [x, y] }, { name: c, cel: '[parsed.n]' }, { name: d, cel: parsed.gone > 1 }, { name: e, cel: parsed.n > 2 }]",
    );
    let replies = [
        Err("the judge refused to answer".to_owned()),
        Ok(json(r#"{"true_positives": ["x"], "false_negatives": [], "false_positives": []}"#)),
    ];
    let Ratings { values, errors } = rated(&rubric, "", &replies);
    assert_eq!(Val::Map(values).to_string(), r#"{"e": true}"#);
    let errors: Vec<String> = errors.iter().map(|(name, reason)| format!("{name}: {reason}")).collect();
    assert_eq!(
        errors,
        [
            "a: the judge refused to answer",
            "m: the reply does not say whether `y` is there",
            "c: `[parsed.n]` gives [3], and must give true or false, a number or text",
            "d: `parsed.gone > 1` reads `gone`, which is not there; `has(….gone)` asks whether it is",
        ]
    );
    let unused = rated(&rubric, "", &[]);
    assert_eq!(unused.errors[0], ("a".to_owned(), "no model was asked".to_owned()));
}

#[test]
fn metrics_are_shares_of_what_was_sorted() {
    let plain = rubric("[{ name: m, items: [a, b, c, d] }]");
    let reply = |text: &str| [Ok(json(text))];
    let values = |rubric: &Rubric, text: &str| Val::Map(rated(rubric, "", &reply(text)).values).to_string();
    assert_eq!(
        // What is found twice counts once.
        values(
            &plain,
            r#"{"true_positives": ["a", "b", "c"], "false_negatives": ["d"], "false_positives": ["E", "e "]}"#
        ),
        r#"{"m.precision": 0.75, "m.recall": 0.75, "m.f1": 0.75}"#
    );
    assert_eq!(
        values(&plain, r#"{"true_positives": [], "false_negatives": ["a", "b", "c", "d"], "false_positives": []}"#),
        r#"{"m.precision": 0.0, "m.recall": 0.0, "m.f1": 0.0}"#
    );
    let full = rubric("[{ name: m, items: [a, b], unwanted: [u, v], metrics: [specificity, accuracy] }]");
    assert_eq!(
        values(
            &full,
            r#"{"true_positives": ["a"], "false_negatives": ["b"], "false_positives": [], "true_negatives": ["u", "v"]}"#
        ),
        r#"{"m.specificity": 1.0, "m.accuracy": 0.75}"#
    );
    let both = r#"{"true_positives": ["a", "b"], "false_negatives": ["b"], "false_positives": [], "true_negatives": ["u", "v"]}"#;
    assert_eq!(
        rated(&full, "", &reply(both)).errors,
        [("m".to_owned(), "the reply says both that `b` is there and that it is not".to_owned())]
    );
    // Unlisted things are refused where the reply is read.
    assert!(
        full.requests("", "")[0]
            .form
            .read(r#"{"true_positives": ["z"], "false_negatives": [], "false_positives": [], "true_negatives": []}"#)
            .is_err()
    );
}

#[test]
fn patterns_look_at_the_answer() {
    let rubric = rubric(
        "[{ name: a, pattern: '^yes' }, { name: b, pattern: YES, case_sensitive: false }, { name: c, kind: regex, pattern: no, invert: true }]",
    );
    let values = |answer: &str| Val::Map(rated(&rubric, answer, &[]).values).to_string();
    assert_eq!(values("yes"), r#"{"a": true, "b": true, "c": true}"#);
    assert_eq!(values("no, yes"), r#"{"a": false, "b": true, "c": false}"#);
}

#[test]
fn the_stored_form_of_karenina_is_read() {
    let stored = r#"{"llm_traits": [
        {"name": "clear", "description": "Is it clear?", "kind": "boolean", "min_score": 1, "max_score": 5, "classes": null, "summary": null,
         "deep_judgment_enabled": false, "higher_is_better": true},
        {"name": "depth", "description": null, "kind": "score", "min_score": 0, "max_score": 10, "higher_is_better": false},
        {"name": "tone", "kind": "literal", "min_score": 0, "max_score": 1, "classes": {"cold": "curt", "warm": "kind"}, "higher_is_better": true}],
      "regex_traits": [{"name": "cites", "pattern": "x", "case_sensitive": false, "invert_result": true, "higher_is_better": true}],
      "callable_traits": [],
      "metric_traits": [{"name": "facts", "evaluation_mode": "full_matrix", "metrics": ["f1"], "tp_instructions": ["a"], "tn_instructions": ["b"],
         "repeated_extraction": true}]}"#;
    let short = rubric(
        "[{ name: clear, kind: boolean, description: Is it clear? }, { name: depth, kind: score, min: 0, max: 10, higher_is_better: false },
         { name: tone, classes: { cold: curt, warm: kind } }, { name: cites, pattern: x, case_sensitive: false, invert: true },
         { name: facts, items: [a], unwanted: [b], metrics: [f1] }]",
    );
    assert_eq!(rubric(stored).traits(), short.traits());
    let Loaded { problems, .. } = loaded(r#"rubrics: { it: { callable_traits: [{ name: x, callable_code: AAAA }] } }"#);
    let messages: Vec<_> = problems.into_iter().map(|it| it.message).collect();
    assert_eq!(messages, ["`callable_traits` are not supported"]);
}

pub(crate) fn traits() -> impl Strategy<Value = Vec<Trait>> {
    let texts = |n| proptest::collection::btree_set("[a-z ]{1,9}", n).prop_map(|it| it.into_iter().collect::<Vec<_>>());
    let patterns = select(&["^a.c$", "(?P<x>[a-z])(?P=x)", "\\d+(?=x)"][..]);
    let sources = select(&["parsed.n > 2", "size(raw_response)", "verify_result == true && question != ''"][..]);
    let classes = proptest::collection::btree_map("[a-z ]*[a-z]", text(), 2..5);
    let metrics = proptest::sample::subsequence(Metric::NAMED.map(|(_, it)| it).to_vec(), 1..=5);
    let kind = prop_oneof![
        Just(TraitKind::Boolean),
        (-9_i64..9, 1_i64..9).prop_map(|(min, more)| TraitKind::Score { min, max: min + more }),
        classes.prop_map(|it| TraitKind::Literal { classes: it.into_iter().collect() }),
        (patterns, any::<bool>(), any::<bool>())
            .prop_map(|(it, case, invert)| TraitKind::regex(it, case, invert).expect("a pattern")),
        sources.prop_map(|it| TraitKind::Cel(Arc::new(Expression::compile(it).expect("an expression")))),
        (texts(1..4), texts(1..3), metrics).prop_map(|(items, unwanted, metrics)| TraitKind::Metric {
            items: items.into_iter().map(|it| format!("i{it}")).collect(),
            unwanted: unwanted.into_iter().map(|it| format!("u{it}")).collect(),
            metrics,
        }),
    ];
    let one = (kind, text(), any::<bool>(), text());
    vec(one, 0..6).prop_map(|them| {
        let it = |(ix, (kind, description, higher_is_better, name)): (usize, (TraitKind, String, bool, String))| {
            Trait { name: format!("{name}{ix}"), description, higher_is_better, kind }
        };
        (0..).zip(them).map(it).collect()
    })
}

proptest! {
    #![proptest_config(crate::laws())]

    #[test]
    fn a_rubric_reads_back(traits in traits()) {
        let written: Value = traits.iter().map(Trait::to_value).collect();
        let suite = format!("{{\"rubrics\": {{\"it\": {written}}}}}");
        let Loaded { suite: again, problems, .. } = load(Path::new("suite.json"), &InMemory(&[("suite.json", &suite)]));
        let new: Vec<_> = problems.iter().filter(|it| it.severity() == Severity::Error).collect();
        prop_assert!(new.is_empty(), "{:?} in {}", new, suite);
        prop_assert_eq!(&again.rubrics[0].1, &traits);
    }

    #[test]
    fn every_trait_has_values_or_a_reason(traits in traits(), replies in vec(value().prop_map(Ok), 0..8), answer in text()) {
        let rubric = Rubric::new(traits.clone()).expect("a rubric");
        let ratings = rated(&rubric, &answer, &replies);
        for it in &traits {
            let n_values = it.keys().iter().filter(|key| ratings.values.get(key).is_some()).count();
            let has_reason = ratings.errors.iter().any(|(name, _)| *name == it.name);
            prop_assert_eq!(n_values, if has_reason { 0 } else { it.keys().len() }, "{}", it.name);
        }
    }
}
