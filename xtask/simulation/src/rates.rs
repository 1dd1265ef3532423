//! The interval of one pass rate.

use jurat_core::statistics::{Confidence, Side, clopper_pearson, wilson};

use crate::methods::{holds, wald_rate, z};
use crate::random::Random;
use crate::table::{Bar, Counter, HELD, Row, Scale, Study, rows};

pub static STUDY: Study = Study {
    title: "One pass rate",
    about: "How often an interval of 95 % holds the rate that was simulated. Reports show Wilson's interval; gates use the exact bounds, which promise at least 95 % and \
give more. A count of passes is a whole number, so no interval holds exactly 95 % for every rate: Wilson's falls to 92 % at single rates, such as 5 % of 20 cases and 2 % of 50. \
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
    rows(&settings, |it| it.row(scale.draws))
}

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
        // Wilson's is known to fall short at single rates, which is why gates do not use it.
        Row { setting, shares: vec![Some(wilson.held_to(Bar::AtLeast(0.91))), Some(exact.held_to(HELD)), Some(wald)] }
    }
}
