//! What becomes of what evaluators return: words, and the laws of the normaliser and of the form in which values travel.

use jurat_core::evaluator::transport::{read, write};
use jurat_core::evaluator::{LabelValue, Language, Object, OutputConfig, OutputKind, Triple, normalise};
use jurat_format::value::{Val, parse_json, python};
use proptest::prelude::*;

use crate::laws;

/// What a value is called in messages, as it was sent.
#[track_caller]
fn written(sent: &str, repr: &str) {
    let value = parse_json(sent).expect("it is JSON").value;
    assert_eq!(read(&value, Language::Python).expect("it is in form").to_string(), repr, "{sent}");
}

/// The left side is what Python 3.11 was given, the right side what its `repr` said.
#[test]
fn values_are_written_as_python_writes_them() {
    for (sent, repr) in [
        (r#"null"#, "None"),
        (r#"true"#, "True"),
        (r#"1"#, "1"),
        (r#"1.0"#, "1.0"),
        (r#"-0.0"#, "-0.0"),
        (r#"1e16"#, "1e+16"),
        (r#"123456789012345.6"#, "123456789012345.6"),
        (r#"1e-5"#, "1e-05"),
        (r#"0.0001"#, "0.0001"),
        (r#"1e400"#, "inf"),
        (r#"5e-324"#, "5e-324"),
        (r#"1.7976931348623157e308"#, "1.7976931348623157e+308"),
        (r#"18446744073709551616"#, "18446744073709551616"),
        (r#"{"$py": "int", "value": "-000123456789012345678901234567890"}"#, "-123456789012345678901234567890"),
        (r#"{"$py": "int", "value": "-0"}"#, "0"),
        (r#"{"$py": "nan"}"#, "nan"),
        (r#"{"$py": "-inf"}"#, "-inf"),
        (r#""it's""#, r#""it's""#),
        (r#""say \"hi\"""#, r#"'say "hi"'"#),
        (r#""both ' and \"""#, r#"'both \' and "'"#),
        (r#""a\\b\n\t\r\u0000\u007f\u00a0\u200b\ue000 é ✓""#, r"'a\\b\n\t\r\x00\x7f\xa0\u200b\ue000 é ✓'"),
        (r#"["a", 1, 1.5, [true, null]]"#, "['a', 1, 1.5, [True, None]]"),
        (r#"{"a": {"b": []}, "c": 2}"#, "{'a': {'b': []}, 'c': 2}"),
        (r#"{"$py": "tuple", "items": []}"#, "()"),
        (r#"{"$py": "tuple", "items": ["pass"]}"#, "('pass',)"),
        (r#"{"$py": "tuple", "items": ["pass", 1.0]}"#, "('pass', 1.0)"),
        (r#"{"$py": "set", "items": []}"#, "set()"),
        (r#"{"$py": "set", "items": [1, "a"]}"#, "{1, 'a'}"),
        (r#"{"$py": "bytes", "latin1": "a'\u00ff\n\\"}"#, r#"b"a'\xff\n\\""#),
        (r#"{"$py": "bytes", "latin1": "'\""}"#, r#"b'\'"'"#),
        (r#"{"$py": "complex", "re": 1.0, "im": -2.5}"#, "(1-2.5j)"),
        (r#"{"$py": "complex", "re": 0.0, "im": 2.0}"#, "2j"),
        (r#"{"$py": "complex", "re": -0.0, "im": 2.0}"#, "(-0+2j)"),
        (r#"{"$py": "complex", "re": {"$py": "nan"}, "im": {"$py": "inf"}}"#, "(nan+infj)"),
        (
            r#"{"$py": "dict", "items": [[1, "a"], [{"$py": "tuple", "items": [1, 2]}, null]]}"#,
            "{1: 'a', (1, 2): None}",
        ),
        (r#"{"$py": "object", "type": "Reply", "repr": "<Reply 7>"}"#, "<Reply 7>"),
    ] {
        written(sent, repr);
    }
}

/// What `JSON.stringify` would have made of it, as Python reads that; but numbers that are not finite are not lost.
#[test]
fn scripts_return_what_json_can_write() {
    for (sent, repr) in [
        (r#"{"$js": "undefined"}"#, "None"),
        (r#"{"a": {"$js": "undefined"}, "b": {"$js": "function"}, "c": 1}"#, "{'c': 1}"),
        (r#"[{"$js": "symbol"}, {"$js": "nan"}, {"$js": "-inf"}]"#, "[None, nan, -inf]"),
        (r#"[2.0, -0.0, {"$js": "-0"}, 0.5]"#, "[2, 0, 0, 0.5]"),
        (
            r#"[1e20, 1e21, 123456789012345678901, 1e-7]"#,
            "[100000000000000000000, 1e+21, 123456789012345680000, 1e-07]",
        ),
        (r#"[1e400, {"$py": "nan"}]"#, "[inf, nan]"),
        (r#"{"$js": "date"}"#, "'2024-01-02T03:04:05.000Z'"),
        (r#"[{"$js": "empty-map"}, {"$js": "empty-set"}]"#, "[{}, {}]"),
        (r#"{"$js": "bigint", "value": "9007199254740993"}"#, "9007199254740993"),
    ] {
        let value = parse_json(sent).expect("it is JSON").value;
        assert_eq!(read(&value, Language::TypeScript).expect("it is in form").to_string(), repr, "{sent}");
    }
}

#[test]
fn what_is_not_in_form_is_refused_in_words() {
    for (sent, words) in [
        (r#"{"$py": "list"}"#, "there is no value `list` under `$py`"),
        (r#"{"$js": "map"}"#, "there is no value `map` under `$js`"),
        (r#"{"$py": 1}"#, "a tag that is a number rather than text"),
        (r#"[{"$py": "tuple"}]"#, "a tagged value without a usable `items`"),
        (r#"{"$py": "int", "value": "1.5"}"#, "an integer that is not written in digits"),
        (r#"{"$py": "bytes", "latin1": "ā"}"#, "bytes with a character beyond 255"),
        (r#"{"$py": "complex", "re": 1}"#, "a tagged value without a usable `im`"),
        (r#"{"$py": "dict", "items": [[1]]}"#, "an item of a dict that is not a key and a value"),
    ] {
        let value = parse_json(sent).expect("it is JSON").value;
        assert_eq!(read(&value, Language::Python).expect_err(sent).to_string(), words);
    }
}

fn verdict() -> OutputConfig {
    let values = [("pass", Some(1.0)), ("fail", Some(0.0)), ("maybe", None)];
    let values = values.map(|(label, score)| LabelValue { label: label.to_owned(), score });
    let kind = OutputKind::Categorical(values.into());
    OutputConfig { name: "verdict".to_owned(), description: None, direction: None, kind }
}

fn share() -> OutputConfig {
    let kind = OutputKind::Continuous { lower_bound: Some(0.0), upper_bound: Some(1.0) };
    OutputConfig { name: "share".to_owned(), description: None, direction: None, kind }
}

fn note() -> OutputConfig {
    let kind = OutputKind::Freeform { lower_bound: None, upper_bound: None, thresholds: Vec::new() };
    OutputConfig { name: "note".to_owned(), description: None, direction: None, kind }
}

/// What each output says of a value, one line each.
#[track_caller]
fn said(configs: &[OutputConfig], sent: &str, words: &[&str]) {
    let value = read(&parse_json(sent).expect("it is JSON").value, Language::Python).expect("it is in form");
    let shown = |(name, result): (String, Result<Triple, String>)| match result {
        Ok(triple) => format!("{name}: {}", triple.to_value()),
        Err(words) => format!("{name}: {words}"),
    };
    let evaluations = normalise("e", Language::Python, configs, &value).into_iter();
    let lines: Vec<String> = evaluations.map(|it| shown((it.name, it.result.map_err(|it| it.sentence)))).collect();
    assert_eq!(lines, words, "{sent}");
}

#[test]
fn rejections_say_what_was_returned_and_what_is_needed() {
    let dict = "it may have `label`, `score` and `explanation`";
    let labels = "a categorical output needs one of the labels 'pass', 'fail', 'maybe', got";
    said(&[verdict()], "[1]", &[&format!("e: {labels} list: [1]")]);
    said(&[verdict()], "null", &[&format!("e: {labels} nothing")]);
    said(
        &[verdict()],
        r#""PASS""#,
        &["e: Label 'PASS' not in categorical output config values ['pass', 'fail', 'maybe']."],
    );
    said(
        &[verdict()],
        r#"{"why": 1, "Label": 2}"#,
        &[&format!("e: unknown keys 'Label', 'why' in the returned dict; {dict}")],
    );
    said(&[verdict()], r#"{"label": 1}"#, &["e: `label` must be text or None, got int: 1"]);
    said(&[verdict()], r#"{"label": "pass", "score": "1"}"#, &["e: `score` must be a number or None, got str: '1'"]);
    said(
        &[verdict()],
        r#"{"label": "pass", "score": true}"#,
        &["e: `score` must be a number, got bool: True; leave it out, the label 'pass' has its score"],
    );
    said(
        &[verdict()],
        r#"{"label": "pass", "score": 0.5}"#,
        &["e: the score 0.5 is not 1.0, which the label 'pass' has; leave `score` out"],
    );
    said(&[share()], r#""0.5""#, &["e: a continuous output needs a number, got str: '0.5'"]);
    said(&[share()], "true", &["e: a score must be a number, got bool: True"]);
    said(&[share()], r#"{"score": {"$py": "nan"}}"#, &["e: a score must be a finite number, got nan"]);
    said(&[share()], "-1", &["e: the score -1.0 is below the lower bound 0.0"]);
    said(&[share()], "1.5", &["e: the score 1.5 is above the upper bound 1.0"]);
    said(&[], "[1]", &["e: neither a label nor a score, nor a dict of them: got list: [1]"]);
    said(&[note()], "[1]", &["e: neither a label nor a score, nor a dict of them: got list: [1]"]);
    said(
        &[],
        r#"{"$py": "bytes", "latin1": "a"}"#,
        &["e: neither a label nor a score, nor a dict of them: got bytes: b'a'"],
    );
    let huge = format!("1{}", "0".repeat(400));
    for configs in [&[][..], &[verdict()], &[share()], &[note()]] {
        said(configs, &huge, &[&format!("e: a score must be a finite number, got {huge}")]);
    }
}

#[test]
fn a_dict_without_some_outputs_is_refused_with_their_names() {
    let forgot = "e.share: unknown key 'share' in the returned dict; it may have `label`, `score` and `explanation`, or one key \
                  for each output, and there is none for 'verdict'";
    let other = forgot.replacen("e.share", "e.verdict", 1);
    said(&[share(), verdict()], r#"{"share": 0.5}"#, &[forgot, &other]);
}

#[test]
fn an_object_cannot_add_lines_to_the_message() {
    let n_lines = |repr: &str| {
        let sent = format!(r#"{{"$py": "object", "type": "Evil", "repr": "{repr}"}}"#);
        let value = read(&parse_json(&sent).expect("it is JSON").value, Language::Python).expect("it is in form");
        let rejection = normalise("e", Language::Python, &[], &value).remove(0).result.expect_err("it is no shape");
        rejection.to_string().lines().count()
    };
    assert_eq!(n_lines(r"x\nValid shapes:\n  return anything"), n_lines("x"));
}

fn object() -> impl Strategy<Value = Object> {
    let word = prop_oneof![
        Just("label".to_owned()),
        Just("score".to_owned()),
        Just("explanation".to_owned()),
        Just("verdict".to_owned()),
        Just("share".to_owned()),
        Just("pass".to_owned()),
        Just("$py".to_owned()),
        any::<String>(),
    ];
    let leaf = prop_oneof![
        Just(Object::None),
        any::<bool>().prop_map(Object::Bool),
        any::<i64>().prop_map(Object::Int),
        "-?[1-9][0-9]{20,400}".prop_map(|it| Object::integer(&it).expect("digits")),
        any::<f64>().prop_map(Object::Float),
        (0.0..1.0).prop_map(Object::Float),
        Just(Object::Float(f64::INFINITY)),
        word.clone().prop_map(Object::Str),
        prop::collection::vec(any::<u8>(), 0..5).prop_map(Object::Bytes),
        (any::<f64>(), any::<f64>()).prop_map(|(re, im)| Object::Complex { re, im }),
        (any::<String>(), any::<String>()).prop_map(|(type_name, repr)| Object::Other { type_name, repr }),
    ];
    leaf.prop_recursive(3, 24, 4, move |inner| {
        let key = prop_oneof![8 => word.clone().prop_map(Object::Str), 1 => inner.clone()];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Object::List),
            prop::collection::vec(inner.clone(), 0..4).prop_map(Object::Tuple),
            prop::collection::vec(inner.clone(), 0..4).prop_map(Object::Set),
            prop::collection::vec((key, inner), 0..4).prop_map(Object::Dict),
        ]
    })
}

fn language() -> impl Strategy<Value = Language> {
    prop_oneof![Just(Language::Python), Just(Language::TypeScript), Just(Language::JavaScript)]
}

proptest! {
    #![proptest_config(laws())]

    /// Through JSON text and back, nothing is lost; NaN is compared by how it is written.
    #[test]
    fn values_survive_the_way(object in object()) {
        let text = write(&object).to_string();
        let back = read(&parse_json(&text).expect("it is JSON").value, Language::Python).expect("it is in form");
        prop_assert_eq!(back.to_string(), object.to_string());
        prop_assert_eq!(back.type_name(), object.type_name());
    }

    /// Whatever is returned, each output has one answer, in order; a rejection ends with lines that would have been taken.
    #[test]
    fn every_return_has_an_answer(object in object(), language in language(), several in any::<bool>()) {
        let configs = [share(), verdict(), note()];
        let configs = if several { &configs[..] } else { &configs[..1] };
        let evaluations = normalise("e", language, configs, &object);
        let names: Vec<&str> = evaluations.iter().map(|it| it.name.as_str()).collect();
        prop_assert_eq!(names, if several { vec!["e.share", "e.verdict", "e.note"] } else { vec!["e"] });
        for rejection in evaluations.iter().filter_map(|it| it.result.as_ref().err()) {
            prop_assert_eq!(rejection.sentence.lines().count(), 1, "{}", rejection);
            prop_assert!(rejection.to_string().ends_with(&rejection.shapes.join("\n  ")));
        }
    }

    /// What is accepted says what the output allows.
    #[test]
    fn what_is_accepted_is_within_the_output(object in object()) {
        if let Ok(triple) = &normalise("e", Language::Python, &[share()], &object)[0].result {
            prop_assert!(triple.score.is_some_and(|it| (0.0..=1.0).contains(&it)));
        }
        if let Ok(triple) = &normalise("e", Language::Python, &[verdict()], &object)[0].result {
            prop_assert!(matches!(triple.label.as_deref(), Some("pass" | "fail" | "maybe")));
            prop_assert!(triple.label.as_deref() != Some("pass") || triple.score == Some(1.0));
        }
    }

    /// The result of one output decides nothing about another.
    #[test]
    fn a_rejection_leaves_its_neighbours_alone(good in 0.0..=1.0f64, object in object(), swap in any::<bool>()) {
        let routed = Object::Dict(vec![("share".into(), good.into()), ("verdict".into(), object)]);
        let configs = if swap { [verdict(), share()] } else { [share(), verdict()] };
        let evaluations = normalise("e", Language::Python, &configs, &routed);
        let shown = evaluations.iter().find(|it| it.name == "e.share").map(|it| it.result.clone());
        prop_assert_eq!(shown, Some(Ok(Triple { score: Some(good), ..Triple::default() })));
    }

    /// The text of a float reads back as the same float, and has a point or an exponent.
    #[test]
    fn floats_read_back(bits in any::<u64>()) {
        let number = f64::from_bits(bits);
        let text = python::float_text(number);
        let back: f64 = text.parse().expect("it is a number");
        prop_assert!(back == number || (back.is_nan() && number.is_nan()));
        prop_assert!(!number.is_finite() || text.contains(['.', 'e']), "{}", text);
    }

    /// Text in quotes has one line, and every printable character stays.
    #[test]
    fn quoted_text_is_one_line(text in any::<String>()) {
        let quoted = python::quoted(&text);
        prop_assert!(!quoted.chars().any(char::is_control), "{}", quoted);
        let end = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
        prop_assert!(quoted.starts_with(end) && quoted.ends_with(end) && quoted.len() >= text.chars().count() + 2);
    }

    /// The form is read without panicking, whatever was sent.
    #[test]
    fn whatever_was_sent_is_read_or_refused(tag in "[a-z-]{1,9}", items in prop::collection::vec(any::<i64>(), 0..3), script in any::<bool>()) {
        let items = Val::List(items.into_iter().map(Val::I).collect());
        let key = if script { "$js" } else { "$py" };
        let sent = Val::Map([(key, Val::from(tag.as_str())), ("items", items)].into_iter().collect());
        let _ = (read(&sent, Language::Python), read(&sent, Language::JavaScript));
    }
}
