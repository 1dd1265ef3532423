//! Laws of calibrations: the order of labels changes nothing, names of labels are only names, a perfect judge needs no correction.

use jurat_core::calibration::{Candidate, Design, Figures, MeasureOptions, Population, Rated, Scale, choose, measure};
use jurat_core::statistics::Confidence;
use proptest::prelude::*;

use crate::laws;

/// Cases that two people and a judge rated with one of three labels.
fn rated() -> impl Strategy<Value = Vec<Rated>> {
    let one = (0_usize..3, prop::option::of(0_usize..3), 0_usize..3);
    prop::collection::vec(one, 5..60).prop_map(|ratings| {
        let rated = |(ix, (judge, one, other)): (usize, &(usize, Option<usize>, usize))| Rated {
            case: format!("r{ix:03}"),
            judge: *judge as f64,
            people: vec![one.map(|it| it as f64), Some(*other as f64)],
            ..Rated::default()
        };
        ratings.iter().enumerate().map(rated).collect()
    })
}

fn names(n: usize) -> Vec<String> {
    (0..n).map(|it| format!("annotator {it}")).collect()
}

fn labels() -> Scale {
    Scale::Labels { labels: ["a", "b", "c"].map(str::to_owned).to_vec(), is_ordered: false }
}

fn measured(rated: &[Rated], scale: &Scale, population: &[u64], is_random: bool) -> Figures {
    let n = rated.first().map_or(0, |it| it.people.len());
    let options = MeasureOptions { is_random, ..MeasureOptions::default() };
    measure(rated, scale, &names(n), &Population { by_label: population.to_vec() }, options)
}

/// Cases that pass or fail, each with one label; the strata are the verdicts.
fn passing(verdicts: &[(bool, bool)], has_strata: bool) -> Vec<Rated> {
    let rated = |(ix, (judge, person)): (usize, &(bool, bool))| Rated {
        case: format!("r{ix:03}"),
        judge: f64::from(u8::from(*judge)),
        people: vec![Some(f64::from(u8::from(*person)))],
        stratum: has_strata.then(|| if *judge { "a" } else { "b" }.to_owned()),
        ..Rated::default()
    };
    verdicts.iter().enumerate().map(rated).collect()
}

fn near(one: Option<f64>, other: Option<f64>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => (one - other).abs() < 1e-9,
        (one, other) => one == other,
    }
}

proptest! {
    #![proptest_config(laws())]

    #[test]
    fn the_order_of_labels_changes_nothing(rated in rated(), by in 0_usize..50) {
        let mut other = rated.clone();
        other.rotate_left(by % rated.len());
        other.reverse();
        let population = [100, 80, 60];
        prop_assert_eq!(measured(&rated, &labels(), &population, true), measured(&other, &labels(), &population, true));
    }

    #[test]
    fn other_names_of_labels_permute_the_matrix(rated in rated()) {
        let place = [2.0, 0.0, 1.0];
        let renamed = |it: &Rated| Rated {
            judge: place[it.judge as usize],
            people: it.people.iter().map(|it| it.map(|it| place[it as usize])).collect(),
            ..it.clone()
        };
        let other: Vec<Rated> = rated.iter().map(renamed).collect();
        let (was, now) = (measured(&rated, &labels(), &[], true), measured(&other, &labels(), &[], true));
        for human in 0..3 {
            for judge in 0..3 {
                let (to_human, to_judge) = (place[human] as usize, place[judge] as usize);
                prop_assert_eq!(was.matrix[human][judge], now.matrix[to_human][to_judge]);
            }
        }
        for name in Figures::NAMES {
            let (was, now) = (was.named(name), now.named(name));
            prop_assert!(near(was.and_then(|it| it.value), now.and_then(|it| it.value)), "{name}: {was:?} {now:?}");
        }
    }

    #[test]
    fn intervals_hold_their_figures(verdicts in prop::collection::vec(any::<(bool, bool)>(), 5..80), strata in any::<bool>()) {
        let rated = passing(&verdicts, strata);
        let found = measured(&rated, &Scale::PassFail, &[300, 500], false);
        for name in Figures::NAMES {
            let Some(estimate) = found.named(name) else { continue };
            if let (Some(value), Some(interval)) = (estimate.value, estimate.interval) {
                let is_inside = interval.low - 1e-9 <= value && value <= interval.high + 1e-9;
                prop_assert!(is_inside, "{name}: {estimate:?}");
            }
        }
    }

    #[test]
    fn a_perfect_judge_leaves_the_rate_as_it_is(passed in 10_u64..60, failed in 10_u64..60, n in 0_u64..400) {
        let verdicts: Vec<(bool, bool)> = (0..passed).map(|_| (true, true)).chain((0..failed).map(|_| (false, false))).collect();
        // A sheet of `--sample` has another share of each verdict than the run; a random part has the same, but for chance.
        for (is_random, has_strata) in [(true, false), (false, true)] {
            let population = if is_random { [failed * (1 + n), passed * (1 + n)] } else { [failed + n, passed + 2 * n] };
            let observed = population[1] as f64 / (population[0] + population[1]) as f64;
            let found = measured(&passing(&verdicts, has_strata), &Scale::PassFail, &population, is_random);
            let corrected = found.corrected.as_ref().expect("a task that passes or fails has one");
            if let Some(rate) = corrected.rate {
                prop_assert!((rate - observed).abs() < 1e-9, "{corrected:?} {observed}");
            }
            let elsewhere = found.corrected_elsewhere(Some(observed), 1000.0, Confidence::USUAL);
            if let Some(rate) = elsewhere.rate {
                prop_assert!((rate - observed).abs() < 1e-9, "{elsewhere:?} {observed}");
            }
        }
    }

    #[test]
    fn weights_that_are_alike_change_no_estimate(verdicts in prop::collection::vec(any::<(bool, bool)>(), 12..80)) {
        let rated = passing(&verdicts, true);
        let judged = |verdict: bool| verdicts.iter().filter(|it| it.0 == verdict).count() as u64;
        // Every stratum was labelled to the same share.
        let weighted = measured(&rated, &Scale::PassFail, &[judged(false) * 7, judged(true) * 7], false);
        let plain = measured(&passing(&verdicts, false), &Scale::PassFail, &[], false);
        prop_assert_eq!(weighted.design, Design::Strata);
        for name in Figures::NAMES {
            let (one, other) = (weighted.named(name), plain.named(name));
            prop_assert!(near(one.and_then(|it| it.value), other.and_then(|it| it.value)), "{name}: {one:?} {other:?}");
        }
    }

    #[test]
    fn a_sample_is_the_same_whatever_the_order_and_has_as_many_as_were_asked_for(
        labels in prop::collection::vec((0_usize..2, any::<bool>()), 1..80), n in 1_usize..40, seed in any::<u64>()
    ) {
        let candidate = |(ix, (label, done)): (usize, &(usize, bool))| Candidate {
            case: ix as u64,
            name: format!("r{ix}"),
            label: Some(*label),
            labelled: done.then_some(Some(true)),
        };
        let candidates: Vec<Candidate> = labels.iter().enumerate().map(candidate).collect();
        let mut reversed = candidates.clone();
        reversed.reverse();
        let chosen = choose(&candidates, n, seed);
        prop_assert_eq!(&chosen, &choose(&reversed, n, seed));
        let free = labels.iter().filter(|it| !it.1).count();
        prop_assert_eq!(chosen.len(), n.min(free));
        prop_assert!(chosen.iter().all(|it| !labels[it.case as usize].1));
    }
}

#[test]
fn strata_that_are_not_the_verdicts_are_weighted_as_the_sheet_says() {
    let mut rated = passing(&[(true, true), (false, true), (true, false), (false, false)], false);
    rated.iter_mut().for_each(|it| (it.stratum, it.weight) = (Some("old".to_owned()), Some(2.0)));
    assert_eq!(Design::of(&rated, false), Design::Weights);
    rated[0].weight = None;
    assert_eq!(Design::of(&rated, false), Design::Unknown);
    assert_eq!(Design::of(&rated, true), Design::Random);
}

#[test]
fn a_judge_that_guesses_corrects_nothing() {
    let verdicts: Vec<(bool, bool)> = (0..80).map(|it| (it % 2 == 0, it % 4 < 2)).collect();
    let found = measured(&passing(&verdicts, true), &Scale::PassFail, &[400, 400], false);
    let corrected = found.corrected.expect("a task that passes or fails has one");
    assert_eq!(corrected.rate, None);
    assert!(corrected.reason.expect("a reason").contains("does not distinguish pass from fail"));
}

#[test]
fn one_label_alone_has_no_kappa() {
    let found = measured(&passing(&[(true, true); 40], false), &Scale::PassFail, &[], true);
    let kappa = found.kappa.expect("labels have one");
    assert_eq!((kappa.value, kappa.interval), (None, None));
    assert_eq!(found.too_few.len(), 1, "{:?}", found.too_few);
}
