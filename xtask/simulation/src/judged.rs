//! A pass rate that a judge with known errors gave, corrected by what people said.

use jurat_core::statistics::{
    Confidence, Interval, JudgeRecord, Stratum, Tally, labelled_interval, poststratified, ppi_mean, rogan_gladen,
    wilson,
};

use crate::methods::holds;
use crate::random::Random;
use crate::table::{Bar, Counter, HELD, Row, Scale, Study, rows};

pub static STUDY: Study = Study {
    title: "Pass rates of judges that err",
    about: "How often an interval of 95 % holds the share of 1,000 cases that people would pass, when a judge is right with the given probability. *strata*: 50 labels of cases that the judge \
passed and 50 that it failed, by design unbiased. *PPI++*: 100 labels of random cases. *Rogan–Gladen*: labels of other cases, 50 good and 50 bad. *as judged*: the judge's own rate with \
Wilson's interval, which is what reports without a calibration show.",
    settings: &["true rate", "judge is right"],
    counted: &["held: strata", "held: PPI++", "held: Rogan–Gladen", "held: as judged"],
    rows: simulated,
};

/// What a corrected rate must hold, with 50 labels of each kind and judges that are right 70 to 95 % of the time.
const CORRECTED: Bar = Bar::AtLeast(0.93);

const CASES: usize = 1_000;
const LABELS: usize = 50;

struct Setting {
    rate: f64,
    accuracy: f64,
}

fn settings() -> Vec<Setting> {
    let of_rate = |rate: f64| [0.7, 0.8, 0.9, 0.95].map(|accuracy| Setting { rate, accuracy });
    [0.3, 0.6, 0.8, 0.9].into_iter().flat_map(of_rate).collect()
}

fn simulated(scale: Scale) -> Vec<Row> {
    rows(&settings(), |it| it.row(scale.draws))
}

/// What people would say of a case, and what the judge said.
type Case = (bool, bool);

impl Setting {
    fn row(&self, draws: u64) -> Row {
        let setting = vec![self.rate.to_string(), self.accuracy.to_string()];
        let mut random = Random::of(&format!("judged {}", setting.join(" ")));
        let mut held = [Counter::default(); 4];
        for _ in 0..draws {
            let cases: Vec<Case> = (0..CASES).map(|_| self.case(&mut random)).collect();
            let found = [
                by_strata(&cases),
                by_prediction(&cases),
                self.by_other_cases(&cases, &mut random),
                wilson(count(&cases, |it| it.1), CASES as u64, Confidence::USUAL),
            ];
            // Where nothing can be said, nothing wrong is said.
            held.iter_mut().zip(found).for_each(|(it, found)| it.add(found.is_none_or(|it| holds(it, self.rate))));
        }
        let [strata, prediction, others, as_judged] = held.map(|it| it.share().promised(HELD));
        let ours = [strata, prediction, others].map(|it| Some(it.held_to(CORRECTED)));
        Row { setting, shares: ours.into_iter().chain([Some(as_judged)]).collect() }
    }

    fn case(&self, random: &mut Random) -> Case {
        let is_good = random.chance(self.rate);
        (is_good, random.chance(self.accuracy) == is_good)
    }

    fn by_other_cases(&self, cases: &[Case], random: &mut Random) -> Option<Interval> {
        let mut right = || Tally { passed: random.count(LABELS as u64, self.accuracy), judged: LABELS as u64 };
        let judge = JudgeRecord { sensitivity: right(), specificity: right() };
        let rate = Tally { passed: count(cases, |it| it.1), judged: CASES as u64 };
        rogan_gladen(rate, judge, Confidence::USUAL)?.corrected.map(|it| it.interval)
    }
}

fn count(cases: &[Case], is: impl Fn(&Case) -> bool) -> u64 {
    cases.iter().filter(|it| is(it)).count() as u64
}

/// The first cases of each verdict are labelled: cases are drawn at random, so any are as good.
fn by_strata(cases: &[Case]) -> Option<Interval> {
    let stratum = |verdict: bool| {
        let own = || cases.iter().filter(move |it| it.1 == verdict);
        let labelled: Vec<Case> = own().take(LABELS).copied().collect();
        Stratum {
            cases: own().count() as u64,
            labels: Tally { passed: count(&labelled, |it| it.0), judged: labelled.len() as u64 },
        }
    };
    let strata = [stratum(true), stratum(false)];
    let found = poststratified(&strata, Confidence::USUAL)?;
    let labels = strata.iter().map(|it| it.labels.judged).sum();
    labelled_interval(found.estimate, found.se, labels, Confidence::USUAL)
}

fn by_prediction(cases: &[Case]) -> Option<Interval> {
    let number = |it: bool| f64::from(u8::from(it));
    let (labelled, rest) = cases.split_at(2 * LABELS);
    let human: Vec<f64> = labelled.iter().map(|it| number(it.0)).collect();
    let judged: Vec<f64> = labelled.iter().map(|it| number(it.1)).collect();
    let rest: Vec<f64> = rest.iter().map(|it| number(it.1)).collect();
    let found = ppi_mean(&human, &judged, &rest, Confidence::USUAL)?;
    labelled_interval(found.estimate, found.se, human.len() as u64, Confidence::USUAL)
}
