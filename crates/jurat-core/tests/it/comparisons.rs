//! Every comparison answers for every value, and its answers agree with each other.

use std::sync::LazyLock;

use jurat_compare::{Arrays, Entry, Judgement, Operator, Origin, entries, find};
use jurat_format::value::{Kind, Val, Value, json_node, parse_json};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::arbitrary::scalar;
use crate::vocabulary::{fitting_operand, operator, operators, revealing_value};

static OPERATORS: LazyLock<Vec<Operator>> = LazyLock::new(operators);

fn any_operator() -> impl Strategy<Value = Operator> {
    select(OPERATORS.as_slice())
}

/// A comparison with an operand, which as often as not is one that it takes.
fn with_operand() -> impl Strategy<Value = (Operator, Value)> {
    any_operator().prop_flat_map(|operator| {
        let fitting = fitting_operand(&operator).prop_map(|it| it.unwrap_or(Val::Null));
        (Just(operator), prop_oneof![2 => fitting, 1 => revealing_value()])
    })
}

/// Comparisons by name that say the opposite of each other.
const OPPOSITES: &[(&str, &str)] = &[
    ("equals", "not_equal"),
    ("in_range", "not_in_range"),
    ("is_empty", "is_not_empty"),
    ("contains", "not_contains"),
];

fn opposites() -> impl Strategy<Value = (Operator, Operator, Value)> {
    select(OPPOSITES).prop_flat_map(|(one, other)| {
        let (one, other) = (named(one), named(other));
        let operand = fitting_operand(&one).prop_map(|it| it.unwrap_or(Val::Null));
        (Just(one), Just(other), operand)
    })
}

fn named(name: &str) -> Operator {
    let entry = find(name).into_iter().find(|it| it.origin == Origin::Operator).expect("an operator");
    operator(entry, "{}")
}

/// What a comparison answers, an operand that it cannot use included.
fn judged(operator: &Operator, operand: &Value, value: &Val<'_>) -> Judgement {
    match operator.bind(operand.borrowed()) {
        Ok(comparison) => comparison.judge(value),
        Err(inapplicable) => Judgement::Error(Box::new(inapplicable)),
    }
}

/// Whether a list is judged item by item.
fn is_judged_by_item(entry: &Entry, operand: &Value, value: &Val<'_>) -> bool {
    let Val::List(items) = value else { return false };
    match entry.arrays {
        Arrays::Whole => false,
        Arrays::Each => true,
        Arrays::WholeAgainstList => operand.kind() != Kind::List && !items.is_empty(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4 * crate::laws().cases, ..crate::laws() })]

    #[test]
    fn every_comparison_is_total((operator, operand) in with_operand(), value in revealing_value()) {
        let Ok(comparison) = operator.bind(operand.borrowed()) else { return Ok(()) };
        let judgement = comparison.judge(&value);
        let words = judgement.to_string();
        prop_assert!(!words.chars().any(char::is_control), "{:?}", words);
        prop_assert!(!comparison.expected().is_empty());
        comparison.flaw();
        let score = comparison.score(&value);
        let is_graded = operator.entry().name.ends_with("Graded");
        match (&judgement, score) {
            (Judgement::Error(why), score) => prop_assert_eq!(score, Err((**why).clone())),
            (_, Ok(score)) if is_graded => prop_assert!(score.is_nan() || (0.0..=1.0).contains(&score), "{}", score),
            (Judgement::Passed, score) => prop_assert_eq!(score, Ok(1.0)),
            (Judgement::Failed(_), score) => prop_assert_eq!(score, Ok(0.0)),
        }
    }

    #[test]
    fn a_kind_that_cannot_pass_never_does((operator, operand) in with_operand(), value in revealing_value()) {
        let entry = operator.entry();
        if !entry.passes.contains(value.kind()) && !is_judged_by_item(entry, &operand, &value) {
            prop_assert_ne!(judged(&operator, &operand, &value), Judgement::Passed, "{} of {}", entry.name, value);
        }
    }

    #[test]
    fn a_list_is_judged_item_by_item((operator, operand) in with_operand(), items in vec(revealing_value(), 1..4)) {
        let value = Val::List(items);
        if is_judged_by_item(operator.entry(), &operand, &value) && let Ok(comparison) = operator.bind(operand.borrowed()) {
            let items = value.as_list().unwrap_or_default().iter();
            let first = items.map(|it| comparison.judge_one(it)).find(|it| *it != Judgement::Passed);
            let whole = comparison.judge(&value);
            let same = match (&first, &whole) {
                (None, Judgement::Passed) => true,
                (Some(Judgement::Failed(item)), Judgement::Failed(whole)) => item.expected == whole.expected,
                (Some(Judgement::Error(item)), Judgement::Error(whole)) => item.fault == whole.fault,
                _ => false,
            };
            prop_assert!(same, "{:?} for an item, {:?} for the list", first, whole);
        }
    }

    #[test]
    fn opposites_disagree((one, other, operand) in opposites(), value in scalar()) {
        match (judged(&one, &operand, &value), judged(&other, &operand, &value)) {
            (Judgement::Error(one), Judgement::Error(other)) => prop_assert_eq!(one, other),
            (one, other) => prop_assert_ne!(one == Judgement::Passed, other == Judgement::Passed),
        }
    }

    #[test]
    fn equality_has_no_direction(left in scalar(), right in prop_oneof![scalar(), revealing_value()]) {
        let equals = named("equals");
        for right in [&right, &left] {
            if right.kind() != Kind::List {
                let (one, other) = (judged(&equals, right, &left), judged(&equals, &left, right));
                prop_assert_eq!(one == Judgement::Passed, other == Judgement::Passed, "{} and {}", left, right);
            }
        }
    }

    #[test]
    fn parameters_make_the_same_comparison_again(operator in any_operator()) {
        let written = Val::Map(operator.parameters().into_iter().collect()).to_string();
        prop_assert_eq!(crate::vocabulary::operator(operator.entry(), &written), operator);
    }
}

#[test]
fn a_list_scores_what_it_is_judged() {
    let comparison = named("greater_than").bind(Val::I(2)).unwrap();
    let value = json_node("[3, 4]", Default::default()).unwrap().0.into_val();
    assert_eq!((comparison.judge(&value), comparison.score(&value)), (Judgement::Passed, Ok(1.0)));
}

#[test]
fn a_bound_that_is_no_number_cannot_move_the_cursor() {
    let comparison = named("greater_than").bind(Val::from("\u{7f}\u{1b}[2J")).unwrap();
    let words = comparison.judge(&Val::I(1)).to_string();
    assert_eq!(words, "error: `expected_value` must be a number, not `\\u{7f}\\u{1b}[2J`");
}

#[test]
fn names_are_found_in_both_spellings() {
    for entry in entries() {
        for name in [entry.name.to_owned(), entry.snake_case()] {
            assert!(find(&name).iter().any(|it| std::ptr::eq(*it, entry)), "{name}");
        }
    }
}

/// Comparisons that are about the kind itself judge every kind, and null is empty.
fn is_about_kind(entry: &Entry, kind: Kind) -> bool {
    const KINDS: [&str; 6] = ["IsNumeric", "IsString", "IsBoolean", "IsNull", "IsArray", "IsObject"];
    KINDS.contains(&entry.name) || (entry.name == "IsNotEmpty" && kind == Kind::Null)
}

/// One rule for all of them: a value of a kind that could never pass says nothing about the subject.
#[test]
fn a_value_of_the_wrong_kind_is_an_error() {
    let values = ["null", "true", "5", "\"a text\"", "[]", "[\"a\"]", "{}", "{\"a\": 1}"];
    let mut n_judged = 0;
    for operator in OPERATORS.iter() {
        let entry = operator.entry();
        let operand =
            fitting_operand(operator).new_tree(&mut TestRunner::deterministic()).expect("an operand").current();
        let operand = operand.unwrap_or(Val::Null);
        for value in values.map(|it| parse_json(it).expect("JSON").value) {
            let kind = value.kind();
            if entry.passes.contains(kind) || is_about_kind(entry, kind) || is_judged_by_item(entry, &operand, &value) {
                continue;
            }
            let judged = judged(operator, &operand, &value);
            assert!(matches!(judged, Judgement::Error(_)), "{} {operand} on {value}: {judged}", entry.name);
            n_judged += 1;
        }
    }
    assert!(n_judged > 150, "{n_judged}");
}

/// NaN is neither inside nor outside of anything, so that it must not pass the opposite of what it fails.
#[test]
fn what_is_not_a_number_cannot_be_compared() {
    let range = Val::List(vec![Val::I(1), Val::I(2)]);
    for (name, operand) in [
        ("greater_than", Val::I(1)),
        ("less_than_or_equal", Val::I(1)),
        ("in_range", range.clone()),
        ("not_in_range", range.clone()),
        ("is_positive", Val::Null),
        ("approximately_equals", range),
    ] {
        let judged = judged(&named(name), &operand, &Val::F(f64::NAN)).to_string();
        assert_eq!(judged, "error: needs a number, found NaN", "{name}");
    }
}
