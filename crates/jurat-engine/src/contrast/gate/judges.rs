//! Conditions on judges, and those that are corrected for their errors.

use jurat_core::calibration::{Calibration, Estimate};
use jurat_core::gate::{AgreementMeasure, Bounds, Condition, GateVerdict, JudgeBound, Kind, Wants};
use jurat_core::statistics::Confidence;

use super::bounds::bounds_of;
use super::words::{percent, range};
use super::{Found, Gating};
use crate::contrast::corrected::{Fitting, fitting};

impl Gating<'_> {
    /// How far a judge agrees with people, by a calibration that fits it.
    pub(super) fn judge(&self, condition: &Condition, bound: JudgeBound, confidence: Confidence) -> Found {
        let age = bound.max_age.map(|it| (self.options.now_ms, u64::try_from(it.as_millis()).unwrap_or(u64::MAX)));
        let calibration = match self.calibration(condition, age) {
            Ok(calibration) => calibration,
            Err(reason) => return undecided(reason),
        };
        let measure = bound.measure.name();
        let Some(Estimate { value: Some(value), interval, .. }) = calibration.figures.named(measure) else {
            return undecided(format!("the calibration has no {}", measure.replace('_', " ")));
        };
        let bounds = bounds_of(interval);
        let is_share = matches!(
            bound.measure,
            AgreementMeasure::Agreement | AgreementMeasure::Sensitivity | AgreementMeasure::Specificity
        );
        let shown = |it: f64| if is_share { percent(Some(it)) } else { format!("{it:.2}") };
        let name = measure.replace('_', " ");
        Found {
            value: Some(value),
            bounds,
            words: format!("{name} {}, {}", shown(value), range(bounds, shown)),
            wanted: bound.at_least,
            wanted_words: format!("{name} of at least {}", shown(bound.at_least)),
            reason: doubts(calibration, confidence).unwrap_or_default(),
            counted: doubts(calibration, confidence).map(|_| GateVerdict::Undecided),
            wants: Some(Wants::AtLeast),
            pairs: calibration.figures.n,
            ..Found::default()
        }
    }

    /// The same condition on the rate or the difference that people would have found. Both are shown; the corrected one decides.
    pub(super) fn corrected(&self, condition: &Condition, found: Found, confidence: Confidence) -> Found {
        if found.counted.is_some() {
            return found;
        }
        let calibration = match self.calibration(condition, None) {
            Ok(calibration) => calibration,
            Err(reason) => return undecided(reason),
        };
        if let Some(reason) = doubts(calibration, confidence) {
            return undecided(reason);
        }
        let both = confidence.two_sided().unwrap_or(confidence);
        match condition.kind {
            Kind::AtLeast(_) => self.corrected_rate(calibration, found, both),
            _ => corrected_difference(calibration, found, both),
        }
    }

    fn corrected_rate(&self, calibration: &Calibration, found: Found, both: Confidence) -> Found {
        let run = &self.new.side().run_id;
        let corrected = calibration.corrected_rate_at(run, found.value, found.worth.unwrap_or(1.0), both);
        if corrected.rate.is_none() {
            return undecided(corrected.reason.unwrap_or_else(|| "no corrected rate can be computed".to_owned()));
        }
        let bounds = bounds_of(corrected.interval);
        let of_world = |world: Option<(Option<f64>, Bounds)>| {
            let (value, _) = world?;
            let corrected = calibration.figures.corrected_elsewhere(value, found.worth.unwrap_or(1.0), both);
            Some((corrected.rate, bounds_of(corrected.interval)))
        };
        let words = format!(
            "{} corrected for the judge's errors, {}; the judge found {}",
            percent(corrected.rate),
            range(bounds, |it| percent(Some(it))),
            percent(found.value)
        );
        Found {
            value: corrected.rate,
            bounds,
            least: of_world(found.least),
            most: of_world(found.most),
            words,
            p_fail: None,
            needed: None,
            ..found
        }
    }

    /// The calibration of the judge that a condition is about, or why there is none that holds.
    fn calibration(&self, condition: &Condition, age: Option<(u64, u64)>) -> Result<&Calibration, String> {
        let task = condition.selector.task.as_ref().map_or("", |it| it.value.as_str());
        match fitting(&self.options.calibrations, self.new, task, age) {
            Fitting::Fits(calibration) => Ok(calibration),
            Fitting::Unfit(why) => {
                Err(format!("the calibration of `{task}` is {why}: calibrate it again with `jurat calibrate`"))
            }
            Fitting::None => Err(format!(
                "there is no calibration of `{task}`: `jurat calibrate RUN --labels FILE` makes one, `--calibration FILE` names one"
            )),
        }
    }
}

fn corrected_difference(calibration: &Calibration, found: Found, both: Confidence) -> Found {
    let Some((difference, se)) = found.value.zip(found.se) else {
        return undecided("the difference has no standard error to be corrected with".to_owned());
    };
    let correct = |difference: f64| calibration.figures.corrected_difference(difference, se, both);
    let Some(corrected) = correct(difference) else {
        return undecided("the judge does not distinguish pass from fail".to_owned());
    };
    let points = |it: f64| format!("{:+.1} points", it * 100.0).replace('-', "−");
    let bounds = bounds_of(Some(corrected.interval));
    let of_world = |world: Option<(Option<f64>, Bounds)>| {
        let corrected = correct(world?.0?)?;
        Some((Some(corrected.difference), bounds_of(Some(corrected.interval))))
    };
    let words = format!(
        "{} corrected for the judge's errors, {}; the judge found {}",
        points(corrected.difference),
        range(bounds, points),
        points(difference)
    );
    Found {
        value: Some(corrected.difference),
        bounds,
        least: of_world(found.least),
        most: of_world(found.most),
        words,
        p_fail: None,
        needed: None,
        ..found
    }
}

/// Why what a calibration says is not to be relied on.
fn doubts(calibration: &Calibration, confidence: Confidence) -> Option<String> {
    let both = confidence.two_sided().unwrap_or(confidence);
    match calibration.figures.too_few.as_slice() {
        [] if calibration.confidence + 1e-9 < both.level() => Some(format!(
            "the calibration has intervals of {}, which are too narrow for this gate",
            percent(Some(calibration.confidence))
        )),
        [] => None,
        reasons => Some(format!("the labels are too few to rely on: {}", reasons.join("; "))),
    }
}

fn undecided(reason: String) -> Found {
    Found { reason, counted: Some(GateVerdict::Undecided), ..Found::default() }
}
