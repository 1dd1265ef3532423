//! Statistics: values that other libraries compute too (mpmath, scipy, statsmodels), and what must hold for every input.

use jurat_core::statistics::{
    Clusters, Confidence, Confusion, Interval, Pairs, RowTally, Side, Tally, Weights, Word, benjamini_hochberg,
    beta_cdf, beta_quantile, clopper_pearson, cluster_mean, cohen_kappa, cs_rate, effective_difference, effective_rate,
    fisher, holm, mcnemar, mde_paired, newcombe_unpaired, normal_quantile, normal_sf, paired_difference, pass_all_k,
    pass_at_k, pooled_difference, power_paired, rows_needed, sign_flip, student_quantile, student_two_sided, tango,
    tango_test, wilcoxon, wilson,
};
use proptest::prelude::*;

const USUAL: Confidence = Confidence::USUAL;

#[track_caller]
fn near(got: f64, expected: f64) {
    assert!((got - expected).abs() <= 1e-12 + 1e-9 * expected.abs(), "got {got:?}, expected {expected:?}");
}

/// Equal to nine digits, however small.
#[track_caller]
fn near_relative(got: f64, expected: f64) {
    assert!((got / expected - 1.0).abs() <= 1e-9, "got {got:?}, expected {expected:?}");
}

#[track_caller]
fn near_ends(got: Option<Interval>, low: f64, high: f64) {
    let got = got.expect("there is an interval");
    near(got.low, low);
    near(got.high, high);
}

#[test]
fn distributions_keep_their_digits_in_the_tails() {
    for (a, b, x, expected) in [
        (0.5, 0.5, 1e-10, 6.366_197_723_781_917e-6),
        (2.5, 7.25, 0.3, 0.660_482_273_581_907_2),
        (1000.0, 1000.0, 0.45, 3.683_198_869_007_578e-6),
        (100_000.0, 50.0, 0.9993, 0.005_070_975_778_721_689),
        (3.0, 1_000_000.0, 2e-6, 0.323_324_666_500_194_87),
        (0.01, 40.0, 1e-8, 0.867_836_484_512_359_1),
    ] {
        near_relative(beta_cdf(a, b, x), expected);
        near_relative(beta_quantile(a, b, expected), x);
    }
    for (t, df, expected) in [
        (0.5, 1.0, 0.704_832_764_699_133_5),
        (2.5, 3.7, 0.071_822_022_911_826_77),
        (40.0, 200.0, 2.248_739_653_520_250_7e-97),
        (1e10, 1.0, 6.366_197_723_675_813e-11),
        (1e25, 2.0, 1e-50),
        (1e-5, 7.0, 0.999_992_300_170_983_5),
    ] {
        near_relative(student_two_sided(t, df), expected);
        near_relative(-student_quantile(expected / 2.0, df), t);
    }
    for (x, expected) in [
        (1e-8, 0.499_999_996_010_577_2),
        (1.0, 0.158_655_253_931_457_05),
        (5.0, 2.866_515_718_791_939e-7),
        (36.0, 4.182_624_065_797_283e-284),
        (-3.0, 0.998_650_101_968_369_9),
    ] {
        near_relative(normal_sf(x), expected);
    }
    near_relative(normal_quantile(4.182_624_065_797_283e-284), -36.0);
    assert_eq!(normal_quantile(0.5), 0.0);
}

#[test]
fn intervals_of_rates_are_those_of_statsmodels() {
    for (passed, judged, level, exact, score) in [
        (
            3,
            11,
            0.95,
            (0.060_217_734_172_906_67, 0.609_742_559_572_421_2),
            (0.097_460_592_900_248_89, 0.565_645_301_176_129_1),
        ),
        (
            97,
            100,
            0.9,
            (0.924_289_206_250_17, 0.991_774_170_892_347_3),
            (0.927_289_656_713_096, 0.987_948_185_750_720_1),
        ),
    ] {
        let confidence = Confidence::new(level).unwrap();
        near_ends(clopper_pearson(f64::from(passed), f64::from(judged), confidence, Side::Both), exact.0, exact.1);
        near_ends(wilson(passed as u64, judged as u64, confidence), score.0, score.1);
    }
    let (base, new) = (Tally { passed: 40, judged: 100 }, Tally { passed: 55, judged: 110 });
    let found = newcombe_unpaired(base, new, USUAL).map(|it| it.interval);
    near_ends(found, -0.034_311_119_495_685_99, 0.229_012_056_508_817_8);
}

#[test]
fn tests_of_no_difference_are_those_of_scipy() {
    let tally = |passed, judged| Tally { passed, judged };
    near(fisher(tally(40, 100), tally(55, 110)).unwrap(), 0.166_102_506_431_712_8);
    near(fisher(tally(0, 8), tally(3, 8)).unwrap(), 0.2);
    near(fisher(tally(7, 12), tally(5, 9)).unwrap(), 1.0);
    near(mcnemar(3, 9).exact, 0.145_996_093_75);
    near(mcnemar(30, 55).exact, 0.008_836_205_876_094_518);
    near(mcnemar(210, 160).exact, 0.010_755_092_334_491_201);
    let differences = [0.4, -0.1, 0.7, 0.2, -0.3, 0.55, 0.15, -0.6, 0.9, 0.05];
    let ranked = wilcoxon(&differences);
    near(ranked.exact.unwrap(), 0.232_421_875);
    near(ranked.normal, 0.202_621_607_712_311_97);
    near(sign_flip(&differences).unwrap().exact, 0.222_656_25);
    // π has no place on a grid, so these are enumerated; scaling changes no p value.
    let scaled: Vec<f64> = differences.iter().map(|it| it * std::f64::consts::PI).collect();
    near(sign_flip(&scaled).unwrap().exact, 0.222_656_25);
    let p = [0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205];
    holm(&p).iter().zip([0.008, 0.056, 0.234, 0.234]).for_each(|(got, expected)| near(*got, expected));
    let expected = [0.008, 0.032, 0.0672, 0.0672, 0.0672, 0.08, 0.084_571_428_571_428_56, 0.205];
    benjamini_hochberg(&p).iter().zip(expected).for_each(|(got, expected)| near(*got, expected));
}

#[test]
fn agreement_is_that_of_statsmodels() {
    let matrix = [[12.0, 3.0, 1.0], [2.0, 14.0, 4.0], [0.0, 5.0, 9.0]];
    let matrix = Confusion::new(matrix.iter().map(|it| it.to_vec()).collect()).unwrap();
    let plain = cohen_kappa(&matrix, Weights::None, USUAL).unwrap();
    near(plain.kappa.unwrap(), 0.542_682_926_829_268_2);
    near(plain.se.unwrap(), 0.099_717_263_746_406_08);
    let weighted = cohen_kappa(&matrix, Weights::Quadratic, USUAL).unwrap();
    near(weighted.kappa.unwrap(), 0.689_655_172_413_793_1);
    near(weighted.se.unwrap(), 0.087_672_633_468_485_99);
    let one_label = Confusion::new(vec![vec![30.0, 0.0], vec![0.0, 0.0]]).unwrap();
    assert_eq!(cohen_kappa(&one_label, Weights::None, USUAL).unwrap().kappa, None, "one label says nothing");
}

#[test]
fn clusters_widen_an_interval() {
    let values = [0.2, 0.5, 0.1, 0.9, 0.4, 0.4, 0.8];
    let found = cluster_mean(&values, &Clusters::Grouped(vec![0, 0, 1, 1, 1, 2, 3]), USUAL).unwrap();
    near(found.spread.unwrap().cr0.sqrt(), 0.059_289_138_964_628_36);
    // 24 judgements of 4 cases are worth 4 where all passed.
    let cases = [Tally { passed: 6, judged: 6 }; 4];
    near_ends(effective_rate(&cases, USUAL, Side::Both).unwrap().interval, 0.397_635_364_383_525_3, 1.0);
}

#[test]
fn what_cannot_be_known_is_none() {
    assert_eq!(tango(Pairs::default(), USUAL), None);
    assert_eq!(cluster_mean(&[0.5], &Clusters::Alone, USUAL).unwrap().interval, None);
    assert_eq!(effective_rate(&[], USUAL, Side::Both), None);
    assert_eq!(pass_at_k(Tally { passed: 0, judged: 1 }, 5), None, "one attempt says nothing about five");
    assert_eq!(mde_paired(0, 0.2, 0.05, 0.8), None);
    assert_eq!(rows_needed(0.9, 0.9, USUAL, 0.9), None);
    assert_eq!(Confidence::new(1.0), None);
}

/// Tables of pairs, small ones often.
fn pairs() -> impl Strategy<Value = Pairs> {
    let count = || prop_oneof![2 => 0_u64..6, 2 => 0_u64..60, 1 => 0_u64..2_000];
    (count(), count(), count(), count())
        .prop_map(|(both, only_base, only_new, neither)| Pairs { both, only_base, only_new, neither })
        .prop_filter("some pairs", |it| it.n() > 0)
}

fn swapped(pairs: Pairs) -> Pairs {
    Pairs { only_base: pairs.only_new, only_new: pairs.only_base, ..pairs }
}

/// Differences of units that were repeated up to four times, with the cluster of each.
fn units() -> impl Strategy<Value = Vec<(f64, u32)>> {
    prop::collection::vec(((-4_i32..=4).prop_map(|it| f64::from(it) / 4.0), 0_u32..8), 2..40)
}

fn split(units: &[(f64, u32)]) -> (Vec<f64>, Clusters) {
    (units.iter().map(|it| it.0).collect(), Clusters::by_key(units.iter().map(|it| it.1)))
}

fn same_bits(one: Interval, other: Interval) -> bool {
    one.low.to_bits() == other.low.to_bits() && one.high.to_bits() == other.high.to_bits()
}

proptest! {
    #![proptest_config(crate::laws())]

    #[test]
    fn swapping_sides_negates_a_difference(pairs in pairs()) {
        let (one, other) = (paired_difference(pairs, USUAL).unwrap(), paired_difference(swapped(pairs), USUAL).unwrap());
        prop_assert_eq!(one.difference, -other.difference);
        prop_assert_eq!(one.p, other.p);
        prop_assert!((one.interval.low + other.interval.high).abs() < 1e-9, "{:?} {:?}", one, other);
        prop_assert!((one.interval.high + other.interval.low).abs() < 1e-9, "{:?} {:?}", one, other);
    }

    #[test]
    fn interval_p_value_and_word_agree(pairs in pairs(), level in prop_oneof![Just(0.9), Just(0.95)]) {
        let confidence = Confidence::new(level).unwrap();
        let found = paired_difference(pairs, confidence).unwrap();
        let is_shown = found.p <= confidence.alpha();
        prop_assert!(found.interval.low <= found.difference && found.difference <= found.interval.high);
        prop_assert_eq!(found.word == Word::Better, is_shown && found.difference > 0.0, "{:?}", found);
        prop_assert_eq!(found.word == Word::Worse, is_shown && found.difference < 0.0, "{:?}", found);
    }

    #[test]
    fn a_margin_that_the_test_rejects_lies_outside_the_interval(pairs in pairs(), margin in 0.001_f64..0.5) {
        let low = tango(pairs, Confidence::new(0.9).unwrap()).unwrap().interval.low;
        let p = tango_test(pairs, margin).unwrap().p;
        prop_assume!((p - 0.05).abs() > 1e-6);
        prop_assert_eq!(p < 0.05, low > -margin, "p {} low {}", p, low);
    }

    #[test]
    fn sign_flips_of_pairs_are_mcnemars(only_base in 0_u64..40, only_new in 0_u64..40) {
        let sums: Vec<f64> = (0..only_base).map(|_| -1.0).chain((0..only_new).map(|_| 1.0)).collect();
        let (flips, expected) = (sign_flip(&sums).unwrap(), mcnemar(only_base, only_new));
        prop_assert!((flips.mid_p - expected.mid_p).abs() < 1e-12);
        prop_assert!((flips.exact - expected.exact).abs() < 1e-12);
    }

    #[test]
    fn the_order_of_rows_changes_no_bit((units, shuffled) in units().prop_flat_map(|it| (Just(it.clone()), Just(it).prop_shuffle()))) {
        let ((one, its), (other, others)) = (split(&units), split(&shuffled));
        let (one, other) = (effective_difference(&one, &its, USUAL).unwrap(), effective_difference(&other, &others, USUAL).unwrap());
        prop_assert_eq!(one.p.map(f64::to_bits), other.p.map(f64::to_bits));
        if let (Some(one), Some(other)) = (one.interval, other.interval) {
            prop_assert!(same_bits(one, other), "{:?} {:?}", one, other);
        }
    }

    #[test]
    fn an_interval_without_zero_has_a_small_p(units in units()) {
        let (differences, clusters) = split(&units);
        let found = effective_difference(&differences, &clusters, USUAL).unwrap();
        let Some(interval) = found.interval else { return Ok(()) };
        prop_assert!(interval.low <= found.difference + 1e-12 && found.difference <= interval.high + 1e-12);
        if found.word() != Word::NotShown {
            prop_assert!(found.p.unwrap() <= USUAL.alpha(), "{:?}", found);
        }
    }

    #[test]
    fn copies_of_judgements_narrow_nothing(rows in prop::collection::vec((0_u64..=4, 0_u64..=4), 2..30), times in 2_u64..5) {
        let tally = |passed, times| Tally { passed: passed * times, judged: 4 * times };
        let rows: Vec<RowTally> = rows.iter().map(|(base, new)| RowTally { base: tally(*base, 1), new: tally(*new, 1) }).collect();
        let copied: Vec<RowTally> =
            rows.iter().map(|it| RowTally { base: tally(it.base.passed, times), new: tally(it.new.passed, times) }).collect();
        let (one, other) = (pooled_difference(&rows, USUAL).unwrap(), pooled_difference(&copied, USUAL).unwrap());
        prop_assert!(other.interval.unwrap().width() >= one.interval.unwrap().width() - 1e-9);
        let rates = |rows: &[RowTally]| rows.iter().map(|it| it.new).collect::<Vec<Tally>>();
        let (one, other) = (effective_rate(&rates(&rows), USUAL, Side::Both).unwrap(), effective_rate(&rates(&copied), USUAL, Side::Both).unwrap());
        prop_assume!(one.effective.unwrap() < rows.len() as f64 * 4.0 - 1e-6);
        prop_assert!(other.interval.unwrap().width() >= one.interval.unwrap().width() * (1.0 - 0.1), "{:?} {:?}", one, other);
    }

    #[test]
    fn adjusted_values_are_larger_and_in_order(p in prop::collection::vec(0.0_f64..=1.0, 1..20)) {
        for adjusted in [holm(&p), benjamini_hochberg(&p)] {
            for (raw, adjusted) in p.iter().zip(&adjusted) {
                prop_assert!(raw <= adjusted && *adjusted <= 1.0);
            }
        }
    }

    #[test]
    fn one_of_k_is_easier_than_all_of_k(passed in 0_u64..30, failed in 0_u64..30, k in 1_u64..30) {
        let case = Tally { passed, judged: passed + failed };
        let (Some(one), Some(all)) = (pass_at_k(case, k), pass_all_k(case, k)) else {
            prop_assert!(k > passed + failed);
            return Ok(());
        };
        let rate = case.rate().unwrap();
        prop_assert!(all <= rate + 1e-12 && rate <= one + 1e-12);
    }

    #[test]
    fn a_sequence_is_wider_than_an_interval(passed in 0_u64..300, failed in 1_u64..300) {
        let (sequence, fixed) = (cs_rate(passed, failed, USUAL), wilson(passed, passed + failed, USUAL).unwrap());
        prop_assert!(sequence.low <= fixed.low + 1e-9 && fixed.high <= sequence.high + 1e-9);
    }

    #[test]
    fn the_planned_difference_has_the_planned_power(pairs in 100_u64..600, discordance in 0.1_f64..0.5) {
        let difference = mde_paired(pairs, discordance, 0.05, 0.8).unwrap();
        let power = power_paired(pairs, discordance, difference, 0.05).unwrap();
        prop_assert!((power - 0.8).abs() < 0.05, "{}", power);
    }
}
