//! Built-in evaluators: their numbers against those of the packages they are known from, their words, their laws.

use std::collections::BTreeMap;

use jurat_core::evaluator::builtin::bleu::{Bleu, Smooth, Tokenize};
use jurat_core::evaluator::builtin::chrf::Chrf;
use jurat_core::evaluator::builtin::rouge::{Rouge, Variant};
use jurat_core::evaluator::builtin::{Builtin, ENTRIES, document, edit, entry, token_f1, vector};
use jurat_core::evaluator::{LabelValue, OutputConfig, OutputKind};
use jurat_format::value::{Val, parse_json};
use proptest::prelude::*;

use crate::laws;

const PAIRS: &str = include_str!("../metrics/pairs.json");

#[test]
fn metrics_equal_those_of_sacrebleu_and_rouge_score() {
    let sentence = Bleu::default();
    let bleus = BTreeMap::from([
        ("sentence", sentence),
        ("corpus", Bleu { effective_order: false, ..sentence }),
        ("floor", Bleu { smooth: Smooth::Floor(0.1), ..sentence }),
        ("add-k", Bleu { smooth: Smooth::AddK(1.0), ..sentence }),
        ("none", Bleu { smooth: Smooth::None, ..sentence }),
        ("lowercase", Bleu { lowercase: true, ..sentence }),
        ("char", Bleu { tokenize: Tokenize::Char, ..sentence }),
        ("order2", Bleu { max_order: 2, ..sentence }),
    ]);
    let plain = Chrf::default();
    let chrfs = BTreeMap::from([
        ("chrf", plain),
        ("chrf++", Chrf { word_order: 2, ..plain }),
        ("lowercase", Chrf { lowercase: true, ..plain }),
        ("whitespace", Chrf { whitespace: true, word_order: 1, ..plain }),
        ("eps", Chrf { eps_smoothing: true, beta: 1.0, ..plain }),
    ]);
    let rouges = BTreeMap::from([
        ("rouge1", Variant::N(1)),
        ("rouge2", Variant::N(2)),
        ("rougeL", Variant::L),
        ("rougeLsum", Variant::Lsum),
    ]);
    let pairs = parse_json(PAIRS).expect("it is JSON").value;
    let pairs = pairs.as_list().expect("it is a list");
    assert_eq!(pairs.len(), 200);
    let mut wrong = Vec::new();
    let mut n_figures = 0;
    for (ix, pair) in pairs.iter().enumerate() {
        let output = pair.get("output").and_then(Val::as_str).expect("there is an output");
        let references = pair.get("references").and_then(Val::as_list).expect("there are references");
        let references: Vec<&str> = references.iter().filter_map(Val::as_str).collect();
        let mut figure = |what: String, got: f64, expected: Option<f64>| {
            n_figures += 1;
            if expected.is_none_or(|it| (got - it).abs() > 1e-9) {
                wrong.push(format!("{ix} {output:?}: {what} is {got}, not {expected:?}"));
            }
        };
        let expected = |metric: &str, name: &str| pair.get(metric)?.get(name)?.as_f64();
        for (name, bleu) in &bleus {
            figure(format!("bleu {name}"), bleu.score(output, &references), expected("bleu", name));
        }
        for (name, chrf) in &chrfs {
            figure(format!("chrf {name}"), chrf.score(output, &references), expected("chrf", name));
        }
        for (name, variant) in &rouges {
            let rouge = Rouge::score(*variant, output, &references);
            let triple = pair.get("rouge").and_then(|it| it.get(name)).and_then(Val::as_list).expect("three numbers");
            for (got, expected) in [rouge.precision, rouge.recall, rouge.f_measure].iter().zip(triple) {
                figure((*name).to_owned(), *got, expected.as_f64());
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {n_figures} differ\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(n_figures, 200 * (8 + 5 + 12));
}

/// What an evaluator says: its label or score, and why.
#[track_caller]
fn said(name: &str, settings: &str, arguments: &str, words: &str) {
    let read = |text: &str| parse_json(text).expect("it is JSON").value.into_owned();
    let builtin = Builtin::new(entry(name).expect(name), read(settings)).expect("the parameters are of use");
    let shown = match builtin.evaluate("e", &builtin.output(), &read(arguments)).map(|it| it.result) {
        Ok(Ok(triple)) => {
            let what = triple.label.unwrap_or_else(|| format!("{:?}", triple.score.expect("a score")));
            triple.explanation.map_or(what.clone(), |why| format!("{what}: {why}"))
        }
        Ok(Err(rejection)) => format!("rejected: {rejection}"),
        Err(why) => format!("error: {why}"),
    };
    assert_eq!(shown, words, "{name} {settings} {arguments}");
}

#[test]
fn texts_that_would_take_hours_are_refused() {
    let refused = |name: &str, settings: &str, text: &str, parts: &str| {
        let arguments = format!(r#"{{"output": "{text}", "reference": ["", "{text}"]}}"#);
        let why = format!(
            "error: the output has 20000 {parts} and the reference 20000, and at most 200000000 pairs of them are compared; \
             cut the texts, or use `token_f1` or `chrf`"
        );
        said(name, settings, &arguments, &why);
    };
    refused("edit_distance", "{}", &"ä".repeat(20_000), "characters");
    refused("edit_similarity", "{}", &"x".repeat(20_000), "characters");
    refused("rouge", r#"{"variant": "rougeL"}"#, &"w ".repeat(20_000), "words");
    refused("rouge", r#"{"variant": "rougeLsum"}"#, &"w ".repeat(20_000), "words");
    // Words and runs of words are counted, which takes no longer than reading them.
    let long = format!(r#"{{"output": "{0}", "reference": "{0}"}}"#, "w ".repeat(20_000));
    said("rouge", r#"{"variant": "rouge1"}"#, &long, "1.0");
}

#[test]
fn built_in_evaluators_say_what_they_found() {
    let same = r#"{"output": "Paris", "reference": "Paris"}"#;
    said("exact_match", "{}", same, "match");
    said("exact_match", "{}", r#"{"output": " paris", "reference": "Paris"}"#, "mismatch");
    said(
        "exact_match",
        r#"{"ignore_case": true, "ignore_space": true}"#,
        r#"{"output": " paris\n", "reference": "Paris"}"#,
        "match",
    );
    said("exact_match", "{}", r#"{"output": "b", "reference": ["a", "b"]}"#, "match");
    said("exact_match", "{}", r#"{"output": {"a": 1}, "reference": "{\"a\":1}"}"#, "match");
    said("exact_match", "{}", r#"{"output": "a", "reference": null}"#, "error: there is no `reference` to look at");
    said("exact_match", "{}", r#"{"output": "a", "reference": []}"#, "error: there is no `reference` to look at");
    said("exact_match", "{}", r#"{"reference": "a"}"#, "error: there is no `output` to look at");
    said("contains", r#"{"words": ["a", "x"]}"#, r#"{"output": "abc"}"#, "present: contains `a`");
    said("contains", r#"{"words": ["a", "x"], "mode": "all"}"#, r#"{"output": "abc"}"#, "absent: does not contain `x`");
    said("contains", r#"{"words": "X", "ignore_case": true}"#, r#"{"output": "x"}"#, "present: contains `X`");
    said("contains", r#"{"words": ["y", "z"]}"#, r#"{"output": "x"}"#, "absent: contains none of `y`, `z`");
    said("regex", r#"{"pattern": "[a-c]+"}"#, r#"{"output": "xabcx"}"#, "match");
    said("regex", r#"{"pattern": "a|abc", "match": "full"}"#, r#"{"output": "abc"}"#, "match");
    said("regex", r#"{"pattern": "ABC", "match": "full"}"#, r#"{"output": "abc"}"#, "mismatch");
    said("regex", r#"{"pattern": "ABC", "ignore_case": true}"#, r#"{"output": "abc"}"#, "match");
    said("edit_distance", "{}", r#"{"output": "kitten", "reference": ["sitting", "mitten"]}"#, "1.0");
    said("edit_similarity", "{}", r#"{"output": "abcd", "reference": "abc"}"#, "0.75");
    said("edit_similarity", "{}", r#"{"output": "", "reference": ""}"#, "1.0");
    said("json_equality", "{}", r#"{"output": "{\"b\": 1.0, \"a\": [1]}", "reference": {"a": [1], "b": 1}}"#, "match");
    said(
        "json_equality",
        "{}",
        r#"{"output": "{", "reference": {}}"#,
        "mismatch: `output` is not JSON: EOF while parsing an object (line 1, column 1)",
    );
    said(
        "json_equality",
        "{}",
        r#"{"output": "{}", "reference": "x"}"#,
        "error: `reference` is not JSON: expected value (line 1, column 1)",
    );
    said(
        "json_distance",
        "{}",
        r#"{"output": {"a": 1, "b": [1, 2]}, "reference": {"a": 2, "b": [1], "c": {"d": 1, "e": 2}}}"#,
        "4.0",
    );
    said("json_schema", r#"{"schema": {"type": "array"}}"#, r#"{"output": "[1]"}"#, "valid");
    said(
        "json_schema",
        r#"{"schema": {"type": "array"}}"#,
        r#"{"output": "{}"}"#,
        "invalid: {} is not of type \"array\"",
    );
    said(
        "numeric_tolerance",
        r#"{"absolute": 0.5}"#,
        r#"{"output": "3.25", "reference": 3}"#,
        "match: 0.25 away, 0.5 allowed",
    );
    said(
        "numeric_tolerance",
        r#"{"relative": 0.1}"#,
        r#"{"output": 112, "reference": "100"}"#,
        "mismatch: 12.0 away, 10.0 allowed",
    );
    said("numeric_tolerance", "{}", r#"{"output": "about 3", "reference": 3}"#, "mismatch: not a number: `about 3`");
    said(
        "numeric_tolerance",
        "{}",
        r#"{"output": 3, "reference": "three"}"#,
        "error: `reference` is not a number: `three`",
    );
    said("bleu", "{}", r#"{"output": "the cat sat on the mat", "reference": "the cat sat on the mat"}"#, "100.0");
    said(
        "rouge",
        r#"{"variant": "rouge1", "measure": "recall"}"#,
        r#"{"output": "the cat", "reference": "the cat sat down"}"#,
        "0.5",
    );
    said("chrf", "{}", r#"{"output": "same", "reference": "same"}"#, "100.0");
    said("token_f1", "{}", r#"{"output": "The Eiffel Tower!", "reference": ["eiffel tower", "tower"]}"#, "1.0");
    said("token_f1", "{}", r#"{"output": "the", "reference": "a"}"#, "1.0");
}

#[test]
fn an_author_may_name_the_labels() {
    let values = ["good", "bad"].map(|label| LabelValue { label: label.to_owned(), score: None });
    let kind = OutputKind::Categorical(values.into());
    let config = OutputConfig { name: "tone".to_owned(), description: None, direction: None, kind };
    let builtin =
        Builtin::new(entry("regex").expect("it exists"), parse_json(r#"{"pattern": "x"}"#).expect("JSON").value)
            .expect("the parameters are of use");
    let arguments = |text: &'static str| Val::Map([("output", Val::from(text))].into_iter().collect());
    for (output, label) in [("x", "good"), ("y", "bad")] {
        let evaluation = builtin.evaluate("e", &config, &arguments(output)).expect("it can look");
        assert_eq!(evaluation.result.expect("the label is configured").label.as_deref(), Some(label));
    }
}

#[test]
fn parameters_of_no_use_are_refused_in_words() {
    for (name, settings, words) in [
        ("contains", "{}", "`contains` needs `words`: what is looked for: a text or a list of texts"),
        ("contains", r#"{"words": []}"#, "`words` must be a text or a list of texts, not []"),
        ("contains", r#"{"words": "x", "mode": "some"}"#, "`mode` must be one of `any`, `all`, not `some`"),
        ("regex", r#"{"pattern": "("}"#, "not a regular expression: unclosed group"),
        ("bleu", r#"{"max_order": 0}"#, "`max_order` must be a whole number from 1 to 12, not 0"),
        ("token_f1", r#"{"stem": true}"#, "`token_f1` has no parameter `stem`; it has no parameters"),
        ("rouge", r#"{"kind": "L"}"#, "`rouge` has no parameter `kind`; it has `variant`, `measure`"),
        ("numeric_tolerance", r#"{"absolute": -1}"#, "`absolute` must be a number of at least 0, not -1"),
        ("json_schema", r#"{"schema": {"type": "lisst"}}"#, "not a JSON Schema: "),
    ] {
        let settings = parse_json(settings).expect("it is JSON").value;
        let refused = Builtin::new(entry(name).expect(name), settings).expect_err(words).to_string();
        assert!(refused.starts_with(words), "{refused}");
    }
}

#[test]
fn every_default_is_of_use() {
    for entry in ENTRIES {
        for param in entry.params.iter().filter(|it| it.default.is_some_and(|it| it != "null")) {
            let default = parse_json(param.default.expect("it was asked for")).expect(param.name).value.into_owned();
            let settings = Val::Map([(param.name, default)].into_iter().collect());
            let is_refused = Builtin::new(entry, settings).is_err_and(|it| it.name.is_some());
            assert!(!is_refused, "{}: {}", entry.name, param.name);
        }
    }
}

#[test]
fn vectors_are_compared_by_their_direction() {
    let close = |left: Option<f64>, right: f64| left.is_some_and(|it| (it - right).abs() < 1e-12);
    assert!(close(vector::cosine(&[1.0, 0.0], &[0.0, 2.0]), 0.0));
    assert!(close(vector::cosine(&[1e300, 1e300], &[1e-300, 1e-300]), 1.0));
    assert!(close(vector::cosine(&[1.0, 2.0], &[-1.0, -2.0]), -1.0));
    assert_eq!(vector::cosine(&[1.0], &[1.0, 2.0]), None);
    assert_eq!(vector::cosine(&[0.0], &[1.0]), None);
    assert_eq!(vector::cosine(&[], &[]), None);
}

proptest! {
    #![proptest_config(laws())]

    /// Whatever the texts, scores stay in their ranges; a text compared with itself has the best.
    #[test]
    fn scores_are_in_range(output in "\\PC{0,20}|[ab ,.\n1-]{0,30}", reference in "\\PC{0,20}|[ab ,.\n1-]{0,30}") {
        let percent = [Bleu::default().score(&output, &[&reference]), Chrf::default().score(&output, &[&reference])];
        prop_assert!(percent.iter().all(|it| (0.0..=100.0).contains(it)), "{percent:?}");
        let rouge = [Variant::N(1), Variant::N(2), Variant::L, Variant::Lsum].map(|it| Rouge::score(it, &output, &[&reference]).f_measure);
        let shares = [token_f1::token_f1(&output, &[&reference]), edit::similarity(&output, &reference)];
        prop_assert!(rouge.iter().chain(&shares).all(|it| (0.0..=1.0).contains(it)));
        prop_assert_eq!(token_f1::token_f1(&output, &[&output]), 1.0);
        prop_assert_eq!(edit::distance(&output, &reference), edit::distance(&reference, &output));
    }

    /// Documents are as far from each other as the other way round, and nothing is away from itself.
    #[test]
    fn the_distance_of_documents_is_one(left in crate::arbitrary::value(), right in crate::arbitrary::value()) {
        prop_assert_eq!(document::distance(&left, &right), document::distance(&right, &left));
        prop_assert_eq!(document::is_equal(&left, &right), document::distance(&left, &right) == 0);
    }
}
