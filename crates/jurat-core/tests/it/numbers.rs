//! Numbers are compared by exact value, whatever they were read into.

use std::cmp::Ordering;

use jurat_format::value::{Val, Value, compare_numbers, decimal_equal, parse_json};
use proptest::prelude::*;

use crate::arbitrary::number;

/// A number, and another that is equal to it or near it.
fn neighbours() -> impl Strategy<Value = (Value, Value)> {
    (any::<i64>(), -2_i64..=2).prop_map(|(number, away)| {
        let near = number.saturating_add(away);
        (Val::I(number), Val::F(near as f64))
    })
}

proptest! {
    #![proptest_config(crate::laws())]

    #[test]
    fn order_is_antisymmetric((left, right) in prop_oneof![(number(), number()), neighbours()]) {
        let order = compare_numbers(&left, &right);
        prop_assert!(order.is_some());
        prop_assert_eq!(order, compare_numbers(&right, &left).map(Ordering::reverse));
        prop_assert_eq!(compare_numbers(&left, &left), Some(Ordering::Equal));
    }

    #[test]
    fn order_is_transitive(numbers in proptest::collection::vec(number(), 3), (fourth, fifth) in neighbours()) {
        let mut sorted = numbers;
        sorted.extend([fourth, fifth]);
        sorted.sort_by(|left, right| compare_numbers(left, right).expect("all are numbers"));
        for (ix, left) in sorted.iter().enumerate() {
            for right in &sorted[ix..] {
                prop_assert_ne!(compare_numbers(left, right), Some(Ordering::Greater), "{} and {}", left, right);
            }
        }
    }

    #[test]
    fn integers_compare_as_integers(left in any::<i128>(), right in any::<i128>(), near in -2_i128..=2) {
        for right in [right, left.saturating_add(near)] {
            // Shifted so that some fit 64 bits and some do not.
            for shift in [0, 50, 64, 100] {
                let (left, right) = (left >> shift, right >> shift);
                prop_assert_eq!(compare_numbers(&read(left), &read(right)), Some(left.cmp(&right)));
                prop_assert_eq!(decimal_equal(&read(left), &right.to_string()), left == right);
            }
        }
    }

    #[test]
    fn floats_compare_as_floats(left in any::<f64>(), right in any::<f64>()) {
        prop_assert_eq!(compare_numbers(&Val::F(left), &Val::F(right)), left.partial_cmp(&right));
    }

    #[test]
    fn integers_and_floats_compare_as_floats_where_those_are_exact(left in -(1_i64 << 53)..1 << 53, right in any::<f64>()) {
        for right in [right, left as f64, left as f64 + 0.5] {
            prop_assert_eq!(compare_numbers(&Val::I(left), &Val::F(right)), (left as f64).partial_cmp(&right));
        }
    }

    #[test]
    fn a_number_equals_its_own_text(number in number()) {
        prop_assert!(decimal_equal(&number, &number.to_string()), "{}", number);
    }
}

fn read(integer: i128) -> Value {
    parse_json(&integer.to_string()).expect("an integer is JSON").value.into_owned()
}
