//! Conditions that were monitored while NEW ran: what was decided then is what they are.
//!
//! The risk of such a condition was divided before the run. What the monitor decided stands; where it decided nothing, a test of all rows may spend what was left
//! for it, and no more.

use jurat_core::gate::{Bounds, Condition, GateVerdict, Kind};
use jurat_core::statistics::Confidence;
use jurat_core::stopping::Rule;

use super::words::{percent, range};
use super::{Found, Gating};
use crate::contrast::CompareError;
use crate::stopping_record::ConditionRecord;

impl Gating<'_> {
    /// What NEW recorded about a condition while it ran, if it was this one and against this BASE.
    pub(super) fn monitored(&self, condition: &Condition) -> Option<&ConditionRecord> {
        let stopping = self.new.stopping()?;
        let is_other_base = self.base.is_none_or(|it| stopping.base_run.as_ref() != Some(&it.side().run_id));
        if condition.kind.needs_base() && is_other_base {
            return None;
        }
        let bound = match condition.kind {
            Kind::AtLeast(least) | Kind::Better(least) => least,
            Kind::NotWorse(margin) => -margin,
            _ => return None,
        };
        let is_same = |it: &&ConditionRecord| {
            it.id == condition.id.value
                && it.kind == condition.kind.name()
                && it.selector == condition.selector.words()
                && (it.bound - bound).abs() < 1e-12
        };
        stopping.conditions.iter().find(is_same)
    }

    /// Whether a condition may be decided although NEW did not run all rows: the monitor decided it, or it counts what there is.
    pub(super) fn is_decided_early(&self, condition: &Condition) -> bool {
        let is_stopped = self.new.definition().stopped.is_some();
        let is_monitored = self.monitored(condition).is_some_and(|it| it.rule.is_some());
        is_monitored || (is_stopped && matches!(condition.kind, Kind::Errors(_) | Kind::Flaky(_)))
    }

    pub(super) fn of_monitored(
        &self,
        condition: &Condition,
        record: &ConditionRecord,
        confidence: Confidence,
    ) -> Result<Found, CompareError> {
        let rule = record.rule.as_deref().and_then(Rule::named);
        let end = record.end_alpha.and_then(|it| Confidence::new(1.0 - it));
        let is_complete = self.new.side().is_complete;
        // What is said of all rows without a decision is the test that was left for the end.
        let found = self.found(condition, end.unwrap_or(confidence))?;
        if rule.is_none() && is_complete && end.is_some() {
            return Ok(found);
        }
        let reason = match rule {
            None if is_complete => {
                "it was tested after every row without a decision: no error probability is left for a test at the end"
            }
            None => "nothing was decided when the run stopped",
            Some(Rule::Hopeless) => "it will hardly pass",
            Some(_) => "",
        };
        let bounds =
            record.sequence.map_or(Bounds::default(), |(low, high)| Bounds { low: Some(low), high: Some(high) });
        Ok(Found {
            counted: Some(rule.map_or(GateVerdict::Undecided, Rule::verdict)),
            words: words(condition, record, found.value, bounds),
            bounds,
            least: None,
            most: None,
            p_fail: p_fail(record, rule),
            reason: reason.to_owned(),
            needed: None,
            ..found
        })
    }
}

/// The p value of failing. What fails whatever the rest is has at most the risk that was left for the end.
fn p_fail(record: &ConditionRecord, rule: Option<Rule>) -> Option<f64> {
    match rule {
        Some(Rule::Certain(_)) => record.end_alpha,
        _ => record.p_fail,
    }
}

/// What was found, with what it lies between at every time.
fn words(condition: &Condition, record: &ConditionRecord, value: Option<f64>, bounds: Bounds) -> String {
    let (rows, of) = (record.steps, record.of);
    let is_difference = condition.kind.needs_base();
    let shown = |it: f64| match (is_difference, condition.selector.is_score) {
        (false, _) => percent(Some(it)),
        (true, true) => format!("{it:+.2}").replace('-', "−"),
        (true, false) => format!("{:+.1} points", it * 100.0).replace('-', "−"),
    };
    let found = value.map_or_else(|| "nothing".to_owned(), shown);
    let found = if is_difference { found } else { format!("{found} passed") };
    // The bets that decided are not those of the sequence: two bounds beside each other could differ.
    let lies = if record.rule.is_none() { format!(", {}", range(bounds, shown)) } else { String::new() };
    format!("{found} after {rows} of {of} rows{lies}")
}
