//! Intervals of pass rates.

use jurat_core::statistics::{Confidence, Interval, wilson};
use proptest::prelude::*;

/// Counts with something judged, small ones often.
fn counts() -> impl Strategy<Value = (u64, u64)> {
    let judged = prop_oneof![4 => 1_u64..30, 2 => 1_u64..5_000, 1 => 1..u64::MAX];
    judged.prop_flat_map(|judged| {
        let passed = prop_oneof![1 => Just(0), 1 => Just(judged), 4 => 0..=judged];
        (passed, Just(judged))
    })
}

#[track_caller]
fn interval(passed: u64, judged: u64) -> Interval {
    wilson(passed, judged, Confidence::USUAL).expect("something was judged")
}

#[test]
fn intervals_are_those_of_the_literature() {
    // The first four are examples of Newcombe (1998), method 3, rounded as there.
    for (passed, judged, expected) in [
        (81, 263, "0.2553 0.3662"),
        (15, 148, "0.0624 0.1605"),
        (1, 29, "0.0061 0.1718"),
        (0, 20, "0.0000 0.1611"),
        (10, 10, "0.7225 1.0000"),
        (500, 1000, "0.4691 0.5309"),
    ] {
        let Interval { low, high } = interval(passed, judged);
        assert_eq!(format!("{low:.4} {high:.4}"), expected, "{passed} of {judged}");
    }
}

#[test]
fn nothing_judged_has_no_interval() {
    assert_eq!(wilson(0, 0, Confidence::USUAL), None);
    assert_eq!(wilson(2, 1, Confidence::USUAL), None);
}

proptest! {
    #![proptest_config(crate::laws())]

    #[test]
    fn the_rate_lies_inside((passed, judged) in counts()) {
        let Interval { low, high } = interval(passed, judged);
        let rate = passed as f64 / judged as f64;
        prop_assert!(0.0 <= low && low <= rate && rate <= high && high <= 1.0, "{low} {rate} {high}");
    }

    #[test]
    fn counting_the_failures_mirrors_it((passed, judged) in counts()) {
        let (own, mirrored) = (interval(passed, judged), interval(judged - passed, judged));
        prop_assert!((own.low - (1.0 - mirrored.high)).abs() < 1e-12, "{own:?} {mirrored:?}");
        prop_assert!((own.high - (1.0 - mirrored.low)).abs() < 1e-12, "{own:?} {mirrored:?}");
    }

    #[test]
    fn more_of_the_same_makes_it_narrower((passed, judged) in (0_u64..=100, 1_u64..=100), times in 2_u64..1_000) {
        let (passed, judged) = (passed.min(judged), judged);
        prop_assert!(interval(passed * times, judged * times).width() < interval(passed, judged).width());
    }

    #[test]
    fn one_more_success_moves_it_up((passed, judged) in counts()) {
        prop_assume!(passed < judged && judged < 1_000_000);
        let (fewer, more) = (interval(passed, judged), interval(passed + 1, judged));
        prop_assert!(fewer.low < more.low && fewer.high < more.high, "{fewer:?} {more:?}");
    }
}
