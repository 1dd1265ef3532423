//! What a run file says about stopping: the document `stopping.json`. It is written before the first case, and again with what was decided when the run ends.

use jurat_core::statistics::{Confidence, Interval};
use jurat_core::stopping::{Decision, Monitoring, Rule, StoppedCondition, StoppedEarly};
use jurat_store::run::{Document, RunHead};
use serde::{Deserialize, Serialize};

/// How a run was to stop, and what was decided.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StoppingRecord {
    /// The rules, as the option writes them.
    pub(crate) rules: String,
    pub(crate) seed: u64,
    /// BASE as it was named, and the run that it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) base: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) base_run: Option<String>,
    /// How many steps there are, and how many rows.
    pub(crate) of: u64,
    pub(crate) n_rows: u64,
    /// The rows of BASE that the data of this run does not have. Older runs do not say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) lost_rows: Option<LostRowsRecord>,
    /// The confidence of the sequence of the pass rate.
    pub(crate) confidence: f64,
    /// What ended the run; absent when it went to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rule: Option<String>,
    /// How many steps of the finished prefix were looked at.
    pub(crate) steps: u64,
    /// How many of them passed, where one may pass in part, and how many were not known.
    pub(crate) passed: f64,
    pub(crate) unknown: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sequence: Option<(f64, f64)>,
    pub(crate) conditions: Vec<ConditionRecord>,
}

/// The rows of BASE without a partner among all rows of a run, also those that it did not run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct LostRowsRecord {
    pub(crate) n: u64,
    pub(crate) of: u64,
    /// Whether some of them have no id, so that another answer makes another row.
    pub(crate) are_answers: bool,
}

/// A monitored condition.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ConditionRecord {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) selector: String,
    pub(crate) is_score: bool,
    pub(crate) bound: f64,
    pub(crate) advisory: bool,
    pub(crate) confidence: f64,
    /// The risk of the monitor, and that of the look at the end, if there is one.
    pub(crate) alpha: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) end_alpha: Option<f64>,
    /// How many rows belong to it.
    pub(crate) of: u64,
    pub(crate) steps: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rule: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ln_e: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) p_fail: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sequence: Option<(f64, f64)>,
}

impl StoppingRecord {
    const NAME: &str = "stopping.json";

    /// That of a run; `None` when it was not to stop early.
    pub(crate) fn of(head: &RunHead) -> Option<StoppingRecord> {
        let document = head.documents.iter().find(|it| it.name == Self::NAME)?;
        serde_json::from_slice(&document.body).ok()
    }

    pub(crate) fn document(&self) -> Document {
        Document { name: Self::NAME.to_owned(), body: serde_json::to_vec(self).expect("texts and numbers are JSON") }
    }

    /// What there is to say about a run that stopped early; `None` for one that went to its end.
    pub(crate) fn stopped_early(&self) -> Option<StoppedEarly> {
        let interval = |it: Option<(f64, f64)>| it.map(|(low, high)| Interval { low, high });
        let condition = |it: &ConditionRecord| StoppedCondition {
            id: it.id.clone(),
            kind: it.kind.clone(),
            selector: it.selector.clone(),
            is_score: it.is_score,
            bound: it.bound,
            confidence: it.confidence,
            alpha: it.alpha,
            end_alpha: it.end_alpha,
            rows: it.steps,
            of: it.of,
            rule: it.rule.as_deref().and_then(Rule::named),
            ln_e: it.ln_e,
            p_fail: it.p_fail,
            sequence: interval(it.sequence),
        };
        Some(StoppedEarly {
            rule: self.rule.as_deref().and_then(Rule::named)?,
            unit: if self.of == self.n_rows { "case" } else { "cluster" },
            rows: self.steps,
            of: self.of,
            passed: self.passed,
            confidence: self.confidence,
            sequence: interval(self.sequence),
            base_run: self.base_run.clone(),
            conditions: self.conditions.iter().map(condition).collect(),
        })
    }

    /// Takes in what was decided.
    pub(super) fn conclude(&mut self, monitoring: &Monitoring) {
        let estimate = monitoring.estimate();
        self.rule = monitoring.ended().map(|it| it.name().to_owned());
        self.steps = monitoring.steps();
        (self.passed, self.unknown) = (estimate.passed(), estimate.unknown());
        self.sequence = estimate.sequence().map(|it| (it.low, it.high));
        for (record, monitored) in self.conditions.iter_mut().zip(monitoring.conditions()) {
            let monitor = &monitored.monitor;
            let decision: Option<Decision> = monitor.decision();
            record.steps = monitor.steps();
            record.rule = decision.map(|it| it.rule.name().to_owned());
            // Infinite evidence, such as a failure where none is possible, is no number of JSON.
            record.ln_e = decision.and_then(|it| it.ln_e).map(|it| it.min(f64::MAX));
            record.p_fail = Some(monitor.p_fail());
            let confidence = Confidence::new(record.confidence);
            record.sequence = confidence.and_then(|it| monitor.sequence(it)).map(|it| (it.low, it.high));
        }
    }
}
