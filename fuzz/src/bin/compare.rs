//! Any comparison answers for any parameters, operand and value, and its answers agree with each other.
//!
//! The first byte chooses the comparison. Then come three lines: its parameters, the operand, the value. A line that is not
//! JSON is text.

#![no_main]

use jurat_compare::{Args, Arrays, Comparison, Entry, Judgement, Operator, entries};
use jurat_format::value::{SourceId, Val, json_node, parse_json};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((choice, rest)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    let all: Vec<&'static Entry> = entries().collect();
    let entry = all[usize::from(*choice) % all.len()];
    let mut lines = text.split('\n');
    let mut line = || lines.next().unwrap_or_default();
    let Some(operator) = operator(entry, line()) else { return };
    reads_back(entry, &operator);
    let Ok(comparison) = operator.bind(value(line())) else { return };
    judges(&comparison, &value(line()));
});

fn value(line: &str) -> Val<'_> {
    parse_json(line).map_or(Val::from(line), |it| it.value)
}

/// The comparison with the parameters that a line holds; without any when it holds no object.
fn operator(entry: &'static Entry, line: &str) -> Option<Operator> {
    let (node, _) = json_node(line, SourceId(0)).or_else(|_| json_node("{}", SourceId(0))).ok()?;
    Operator::read(entry, &mut Args::new(&node).ok()?).ok()
}

/// The parameters, written out, make the same comparison.
fn reads_back(entry: &'static Entry, operator: &Operator) {
    let parameters = Val::Map(operator.parameters().into_iter().collect()).to_string();
    // A parameter such as "inf" is an infinity, which JSON cannot write.
    if parse_json(&parameters).is_ok() {
        assert_eq!(self::operator(entry, &parameters).as_ref(), Some(operator), "written as {parameters}");
    }
}

fn judges(comparison: &Comparison<'_>, value: &Val<'_>) {
    let judgement = comparison.judge(value);
    let words = format!("{judgement} {} {:?}", comparison.expected(), comparison.flaw());
    // What a model wrote must not reach a terminal as it is.
    assert!(!words.contains(char::is_control), "{words:?}");
    match comparison.score(value) {
        Ok(score) => assert!(score.is_nan() || (0.0..=1.0).contains(&score), "a score of {score}"),
        Err(_) => assert!(matches!(judgement, Judgement::Error(_)), "{judgement} without a score"),
    }
    if let (Val::List(items), Arrays::Each) = (value, comparison.entry().arrays) {
        let all = !items.is_empty() && items.iter().all(|it| comparison.judge_one(it) == Judgement::Passed);
        assert_eq!(judgement == Judgement::Passed, all, "each item of {value}");
    }
}
