//! How many rows a question needs, before anything is asked.
//!
//! ```
//! use jurat::power::PowerOptions;
//! use jurat::{RunOptions, Suite};
//!
//! # let directory = tempfile::tempdir()?;
//! let suite = "
//! records: [{ id: a, status: paid }, { id: b, status: paid }]
//! tasks: [{ id: paid, field_path: status, operator: equals, expected_value: paid }]
//! ";
//! let suite = Suite::from_yaml(suite, directory.path())?;
//! let options = PowerOptions { effect: Some(0.05), rate: Some(0.8), discordance: Some(0.2), ..PowerOptions::default() };
//! let report = suite.power(&RunOptions::in_directory(directory.path()), &options)?;
//! assert_eq!(report.questions[0].rows, Some(626));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::path::Path;

use jurat_core::power::{Known, PowerQuestion, Spending};
use jurat_core::report::plan::{CostBound, PlanReport};
use jurat_core::statistics::Confidence;

pub use jurat_core::power::{Combination, PowerReport, RowsFor, Stopping};

use crate::contrast::{CompareOptions, compare};
use crate::{Error, Run, RunOptions, Suite};

/// What is asked, and what is known.
#[derive(Debug, Clone, PartialEq)]
pub struct PowerOptions {
    /// The difference to be shown, as a share; else the conditions of `gates`.
    pub effect: Option<f64>,
    /// The share of cases that pass.
    pub rate: Option<f64>,
    /// The share of cases on which two runs end differently.
    pub discordance: Option<f64>,
    /// One or two runs to take both from.
    pub from: Vec<String>,
    /// The confidence of the test.
    pub confidence: f64,
    /// The probability of showing what is there.
    pub power: f64,
}

impl Default for PowerOptions {
    fn default() -> PowerOptions {
        PowerOptions { effect: None, rate: None, discordance: None, from: Vec::new(), confidence: 0.95, power: 0.8 }
    }
}

/// The pass rate that is assumed where nothing is known.
const ASSUMED_RATE: f64 = 0.8;

impl Suite {
    /// How many rows a question needs, what the rows at hand could show, and what that takes. Nothing is asked.
    pub fn power(&self, options: &RunOptions, question: &PowerOptions) -> Result<PowerReport, Error> {
        let plan = self.forecast(options)?;
        let n_per_row = u64::from(options.repeat.unwrap_or(1).max(1));
        let (known, spent) = known(&options.directory, question)?;
        let confidence = Confidence::new(question.confidence).filter(|it| it.two_sided().is_some());
        let confidence = confidence.ok_or_else(|| usage("`--confidence` must lie between 0.5 and 1"))?;
        if !(question.power > 0.0 && question.power < 1.0) {
            return Err(usage("`--power` must lie between 0 and 1"));
        }
        if question.effect.is_some_and(|it| !(it > 0.0 && it < 1.0)) {
            return Err(usage("`--effect` must lie between 0 and 100 points"));
        }
        let spending = Spending { calls: plan.calls_per_case() as f64, usd: spent.or_else(|| cost_per_case(&plan)) };
        let rows = plan.cases.unwrap_or_default() / n_per_row;
        let policy = self.definition_to_run().suite.gates.as_ref();
        Ok(PowerQuestion { effect: question.effect, policy, known, confidence, power: question.power, rows, spending }
            .answered())
    }
}

fn usage(reason: &str) -> Error {
    Error::Usage(reason.to_owned())
}

/// What the calls of one case cost at most, where that is known.
fn cost_per_case(plan: &PlanReport) -> Option<f64> {
    match (&plan.cost, plan.calls_left) {
        (CostBound::AtMost(usd), Some(calls)) if calls > 0 => Some(usd / calls as f64 * plan.calls_per_case() as f64),
        _ => None,
    }
}

/// What is known of cases, and what one of them cost.
fn known(directory: &Path, question: &PowerOptions) -> Result<(Known, Option<f64>), Error> {
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let mut known = Known {
        rate: question.rate.unwrap_or(ASSUMED_RATE),
        discordance: question.discordance,
        within: None,
        from: if question.rate.is_some() { "given" } else { "assumed" }.to_owned(),
    };
    let mut spent = None;
    if let Some(name) = question.from.last() {
        let run = Run::open(Run::find_file(directory, name)?)?;
        let report = run.report();
        let judged = report.cases.passed + report.cases.failed;
        if let Some(rate) = (judged > 0).then(|| report.cases.passed as f64 / judged as f64) {
            (known.rate, known.from) = (question.rate.unwrap_or(rate), format!("of {}", question.from.join(" and ")));
        }
        known.within = report.repetition.as_ref().and_then(|it| it.variance.as_ref()).and_then(|it| it.within);
        let n_cases = report.cases.total();
        spent = report.cost_usd.filter(|_| n_cases > 0 && report.n_unpriced == 0).map(|it| it / n_cases as f64);
        // Two answers to one question differ as often as asking again makes them.
        known.discordance = known.discordance.or(known.within.map(|it| 2.0 * it));
    }
    if let [base, new] = question.from.as_slice() {
        let comparison = compare(directory, [base.as_str(), new.as_str()], &CompareOptions::default())?;
        let line = comparison.contrasts.first().and_then(|it| it.headline());
        let moved = line.and_then(|it| it.moved).map(|[better, same, worse]| (better + worse, better + same + worse));
        // With no case that changed, up to three of them would be no surprise.
        let observed = moved.filter(|it| it.1 > 0).map(|(moved, all)| (moved.max(3) as f64 / all as f64).min(1.0));
        known.discordance = question.discordance.or(observed);
    }
    Ok((known, spent))
}
