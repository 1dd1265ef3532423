//! The interval of one pass rate.

use jurat_core::statistics::{Confidence, Side, clopper_pearson, wilson};

use crate::methods::{holds, wald_rate, z};
use crate::random::Random;
use crate::table::{Bar, Counter, HELD, Row, Scale, Share, Study, rows};

pub static STUDY: Study = Study {
    title: "One pass rate",
    about: "How often an interval of 95 % holds the rate that was simulated. Reports show Wilson's interval; gates use the exact bounds, which promise at least 95 % and \
give more. A count of passes is a whole number, so no interval holds exactly 95 % for every rate. The exact bounds are held to 94 % at every rate. Wilson's interval promises that on the average of rates only, and is held to it there \
(*all*: the mean of the rates above it); at single rates it falls to 92 %, such as 5 % of 20 cases and 2 % of 50. \
`stderr × 1.96` (Wald) is what Inspect, lm-evaluation-harness and most others print; with few failures it has no width at all.",
    settings: &["cases", "rate"],
    counted: &["held: Wilson (reports)", "held: exact (gates)", "held: Wald"],
    rows: simulated,
};

struct Setting {
    cases: u64,
    rate: f64,
}

fn settings() -> Vec<Setting> {
    let rates = [0.02, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.98];
    let of_size = |cases: u64| rates.map(|rate| Setting { cases, rate });
    [20, 50, 200, 1_000].into_iter().flat_map(of_size).collect()
}

fn simulated(scale: Scale) -> Vec<Row> {
    let settings: Vec<Setting> = settings().into_iter().filter(|it| it.cases <= scale.most_cases).collect();
    let single = rows(&settings, |it| it.row(scale.draws));
    single.chunk_by(|one, other| one.setting[0] == other.setting[0]).flat_map(with_average).collect()
}

/// The rows of one number of cases, followed by the mean over their rates.
fn with_average(rows: &[Row]) -> Vec<Row> {
    let average = |ix: usize| {
        let values: Vec<f64> = rows.iter().filter_map(|it| it.shares[ix]).map(|it| it.value).collect();
        Share { value: values.iter().sum::<f64>() / values.len() as f64, nominal: Some(HELD), bar: None }
    };
    let shares = vec![Some(average(0).held_to(HELD)), Some(average(1).held_to(HELD)), Some(average(2))];
    let setting = vec![rows[0].setting[0].clone(), "all".to_owned()];
    rows.iter().cloned().chain([Row { setting, shares }]).collect()
}

/// What Wilson's interval is held to at a single rate, where it promises nothing: the least that is known of it for these numbers of cases, so that a mistake shows.
const AT_A_SINGLE_RATE: Bar = Bar::AtLeast(0.91);

impl Setting {
    fn row(&self, draws: u64) -> Row {
        let setting = vec![self.cases.to_string(), self.rate.to_string()];
        let mut random = Random::of(&format!("rate {}", setting.join(" ")));
        let [mut by_wilson, mut by_exact, mut by_wald] = [Counter::default(); 3];
        for _ in 0..draws {
            let passed = random.count(self.cases, self.rate);
            let found = wilson(passed, self.cases, Confidence::USUAL);
            by_wilson.add(found.is_some_and(|it| holds(it, self.rate)));
            let found = clopper_pearson(passed as f64, self.cases as f64, Confidence::USUAL, Side::Both);
            by_exact.add(found.is_some_and(|it| holds(it, self.rate)));
            by_wald.add(holds(wald_rate(passed, self.cases, z()), self.rate));
        }
        let [wilson, exact, wald] = [by_wilson, by_exact, by_wald].map(|it| it.share().promised(HELD));
        Row { setting, shares: vec![Some(wilson.held_to(AT_A_SINGLE_RATE)), Some(exact.held_to(HELD)), Some(wald)] }
    }
}
