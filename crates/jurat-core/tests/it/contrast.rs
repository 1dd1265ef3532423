//! The laws of comparisons.

use jurat_core::contrast::{
    About, Clustering, Ending, JudgementLine, Line, RateLine, Repetitions, ScoreLine, ScoreTest,
};
use jurat_core::statistics::{Confidence, Interval, Word};
use proptest::prelude::*;

/// A pair of units, with the cluster that they are in.
type Unit = (Repetitions, Repetitions, u32);

fn ending() -> impl Strategy<Value = Ending> {
    prop_oneof![
        4 => Just(Ending::Passed),
        4 => Just(Ending::Failed),
        1 => prop::sample::select(Ending::ALL.to_vec()),
    ]
}

fn units(most_repetitions: usize) -> impl Strategy<Value = Vec<Unit>> {
    let side = move || prop::collection::vec(ending(), 1..=most_repetitions).prop_map(|it| it.into_iter().collect());
    prop::collection::vec((side(), side(), 0_u32..6), 0..40)
}

fn line(units: &[Unit], clustering: Clustering) -> Line {
    let mut line = RateLine::new(clustering);
    units.iter().for_each(|(base, new, cluster)| line.add(base, new, *cluster));
    line.finish(About::Cases, Confidence::USUAL)
}

/// The pass rates of all units, as judgements of their clusters, and as scores.
fn other_lines(units: &[Unit]) -> [Line; 2] {
    let mut judgements = JudgementLine::new(6);
    let mut scores = ScoreLine::new(Clustering::Clustered);
    for (base, new, cluster) in units {
        judgements.add(base, new, *cluster);
        scores.add(base.rate(), new.rate(), *cluster);
    }
    let about = About::Score { task: "depth".to_owned() };
    [judgements.finish(Confidence::USUAL), scores.finish(about, Confidence::USUAL, ScoreTest::SignFlip)]
}

/// Whether two lines say the same, but for the rounding of sums.
fn alike(one: &Line, other: &Line) -> bool {
    close(one.difference, other.difference)
        && close(one.interval.map(|it| it.low), other.interval.map(|it| it.low))
        && close(one.interval.map(|it| it.high), other.interval.map(|it| it.high))
        && close(one.p, other.p)
        && close(one.least, other.least)
        && close(one.most, other.most)
        && (one.pairs, one.unknown, one.word, one.moved) == (other.pairs, other.unknown, other.word, other.moved)
}

/// The line of the sides swapped, swapped back.
fn negated(line: Line) -> Line {
    let negated = |it: Option<f64>| it.map(|it| -it);
    let word = match line.word {
        Word::Better => Word::Worse,
        Word::Worse => Word::Better,
        Word::NotShown => Word::NotShown,
    };
    Line {
        difference: negated(line.difference),
        interval: line.interval.map(|it| Interval { low: -it.high, high: -it.low }),
        least: negated(line.most),
        most: negated(line.least),
        moved: line.moved.map(|[better, same, worse]| [worse, same, better]),
        word,
        ..line
    }
}

fn close(one: Option<f64>, other: Option<f64>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => (one - other).abs() < 1e-9,
        (one, other) => one == other,
    }
}

/// Thirds are rounded, so the order of the cases says what is left of a sum that is 0.
#[test]
fn differences_that_cancel_out_in_a_cluster_are_no_difference() {
    let pairs = [(2.0 / 3.0, 1.0), (1.0, 1.0 / 3.0), (0.0, 2.0 / 3.0), (1.0 / 3.0, 0.0)];
    for turn in 0..pairs.len() {
        for is_reversed in [false, true] {
            let mut order = pairs;
            order.rotate_left(turn);
            if is_reversed {
                order.reverse();
            }
            let mut line = ScoreLine::new(Clustering::Clustered);
            order.iter().for_each(|(base, new)| line.add(Some(*base), Some(*new), 1));
            line.add(Some(1.0), Some(1.0), 2);
            let line = line.finish(About::Score { task: "depth".to_owned() }, Confidence::USUAL, ScoreTest::SignFlip);
            assert!(line.p.is_none_or(|it| it == 1.0), "{order:?}: {line:?}");
        }
    }
}

proptest! {
    #[test]
    fn swapping_sides_flips_signs(units in units(3)) {
        for clustering in [Clustering::Repeated, Clustering::Clustered] {
            let swapped: Vec<Unit> = units.iter().map(|(base, new, cluster)| (*new, *base, *cluster)).collect();
            let (one, other) = (line(&units, clustering), line(&swapped, clustering));
            let negated = |it: Option<f64>| it.map(|it| -it);
            prop_assert!(close(one.difference, negated(other.difference)));
            prop_assert!(close(one.least, negated(other.most)));
            prop_assert!(close(one.most, negated(other.least)));
            prop_assert!(close(one.p, other.p));
            prop_assert!(close(one.interval.map(|it| it.low), other.interval.map(|it| -it.high)));
            prop_assert_eq!((one.base, one.new), (other.new, other.base));
        }
    }

    #[test]
    fn swapping_sides_flips_judgements_and_scores(units in units(3)) {
        let swapped: Vec<Unit> = units.iter().map(|(base, new, cluster)| (*new, *base, *cluster)).collect();
        for (one, other) in other_lines(&units).into_iter().zip(other_lines(&swapped)) {
            prop_assert!(alike(&one, &negated(other.clone())), "{one:?}\n{other:?}");
        }
    }

    #[test]
    fn permuting_cases_changes_nothing((units, shuffled) in units(3).prop_flat_map(|it| (Just(it.clone()), Just(it).prop_shuffle()))) {
        for clustering in [Clustering::Repeated, Clustering::Clustered] {
            let (one, other) = (line(&units, clustering), line(&shuffled, clustering));
            prop_assert!(alike(&one, &other), "{one:?}\n{other:?}");
        }
        for (one, other) in other_lines(&units).iter().zip(&other_lines(&shuffled)) {
            prop_assert!(alike(one, other), "{one:?}\n{other:?}");
        }
    }

    #[test]
    fn an_interval_holds_its_estimate_and_agrees_with_its_word(units in units(3)) {
        for clustering in [Clustering::Repeated, Clustering::Clustered] {
            let line = line(&units, clustering);
            if let (Some(interval), Some(difference)) = (line.interval, line.difference) {
                prop_assert!(interval.low <= difference + 1e-12 && difference <= interval.high + 1e-12, "{:?}", line);
                let excludes = interval.low > 0.0 || interval.high < 0.0;
                prop_assert_eq!(line.word != Word::NotShown, excludes);
                prop_assert!(!excludes || line.p.is_some_and(|it| it <= 0.05 + 1e-12), "{:?}", line);
            }
        }
    }

    #[test]
    fn a_word_about_single_cases_is_what_its_p_says(units in units(1)) {
        let line = line(&units, Clustering::Single);
        if let (Some(p), Some(difference)) = (line.p, line.difference) {
            let expected = match (p <= 0.05, difference > 0.0) {
                (true, true) => Word::Better,
                (true, false) => Word::Worse,
                (false, _) => Word::NotShown,
            };
            prop_assert_eq!(line.word, expected);
        }
    }

    #[test]
    fn every_pair_is_counted_once_and_what_does_not_apply_changes_nothing(units in units(2), n in 0_usize..5) {
        let without = line(&units, Clustering::Repeated);
        prop_assert_eq!(without.pairs + without.unknown + without.not_applicable, units.len() as u64);
        let skipped: Repetitions = [Ending::Skipped].into_iter().collect();
        let more: Vec<Unit> = units.iter().copied().chain(std::iter::repeat_n((skipped, skipped, 7), n)).collect();
        let with = line(&more, Clustering::Repeated);
        prop_assert_eq!(with.not_applicable, without.not_applicable + n as u64);
        prop_assert_eq!(Line { not_applicable: without.not_applicable, ..with }, without);
    }

    #[test]
    fn what_is_unknown_lies_between_its_bounds(units in units(3)) {
        let line = line(&units, Clustering::Repeated);
        if let (Some(least), Some(most)) = (line.least, line.most) {
            prop_assert!(least <= most + 1e-12);
        }
        if line.unknown == 0 && units.iter().all(|it| it.0.judged() == it.0.n() && it.1.judged() == it.1.n()) {
            prop_assert!(close(line.difference, line.least) && close(line.difference, line.most));
        }
    }

    #[test]
    fn repeating_results_narrows_no_interval(verdicts in prop::collection::vec(any::<(bool, bool)>(), 2..40), k in 2_u32..5) {
        let unit = |passed: bool, n: u32| -> Repetitions {
            (0..n).map(|_| if passed { Ending::Passed } else { Ending::Failed }).collect()
        };
        let of = |n: u32| -> Vec<Unit> { verdicts.iter().zip(0..).map(|((base, new), ix)| (unit(*base, n), unit(*new, n), ix)).collect() };
        let (once, often) = (line(&of(1), Clustering::Repeated), line(&of(k), Clustering::Repeated));
        prop_assert_eq!(once.interval, often.interval);
        prop_assert_eq!(once.p, often.p);
    }
}
