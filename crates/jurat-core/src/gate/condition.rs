//! From what was found to a verdict.

use crate::statistics::holm;

/// What becomes of a condition, or of all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GateVerdict {
    Pass,
    Fail,
    /// There is not enough to say either.
    Undecided,
}

impl GateVerdict {
    pub fn name(self) -> &'static str {
        match self {
            GateVerdict::Pass => "pass",
            GateVerdict::Fail => "fail",
            GateVerdict::Undecided => "undecided",
        }
    }
}

/// Which side of its bound a metric must be on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wants {
    AtLeast,
    /// Strictly.
    MoreThan,
    AtMost,
}

/// One-sided bounds of a metric, each valid by itself.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Bounds {
    pub low: Option<f64>,
    pub high: Option<f64>,
}

/// What the bounds of a metric say about a condition.
pub fn condition_verdict(bounds: Bounds, bound: f64, wants: Wants) -> GateVerdict {
    let Bounds { low, high } = bounds;
    let (passes, fails) = match wants {
        Wants::AtLeast => (low.is_some_and(|it| it >= bound), high.is_some_and(|it| it < bound)),
        Wants::MoreThan => (low.is_some_and(|it| it > bound), high.is_some_and(|it| it < bound)),
        Wants::AtMost => (high.is_some_and(|it| it <= bound), low.is_some_and(|it| it > bound)),
    };
    match (passes, fails) {
        (true, false) => GateVerdict::Pass,
        (false, true) => GateVerdict::Fail,
        _ => GateVerdict::Undecided,
    }
}

/// What a condition found, as observed and with everything that is unknown against NEW and for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measure {
    pub wants: Wants,
    pub bound: f64,
    pub observed: Bounds,
    /// `None` where nothing is unknown.
    pub least: Option<Bounds>,
    pub most: Option<Bounds>,
}

/// The verdict of a measured condition: passing needs the observed and the unfavourable case, failing the observed and the favourable one.
pub fn decide(measure: &Measure) -> GateVerdict {
    let verdict = |it: Bounds| condition_verdict(it, measure.bound, measure.wants);
    let or_observed = |it: Option<Bounds>| it.map_or_else(|| verdict(measure.observed), verdict);
    // What is against NEW is the least where more is wanted, and the most where less is.
    let (against, favourable) = match measure.wants {
        Wants::AtLeast | Wants::MoreThan => (measure.least, measure.most),
        Wants::AtMost => (measure.most, measure.least),
    };
    match verdict(measure.observed) {
        GateVerdict::Pass if or_observed(against) == GateVerdict::Pass => GateVerdict::Pass,
        GateVerdict::Fail if or_observed(favourable) == GateVerdict::Fail => GateVerdict::Fail,
        _ => GateVerdict::Undecided,
    }
}

/// Whether what was observed decides the condition, so that only what is unknown can leave it open.
pub fn is_decided_as_observed(measure: &Measure) -> bool {
    condition_verdict(measure.observed, measure.bound, measure.wants) != GateVerdict::Undecided
}

/// A condition that was decided by itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decided {
    pub verdict: GateVerdict,
    /// How likely a result as bad is for a value at the bound; `None` for conditions that count and do not estimate.
    pub p_fail: Option<f64>,
    /// Reported, and without influence on the verdict of the gate.
    pub advisory: bool,
}

/// What a gate concludes from its conditions.
#[derive(Debug, Clone, PartialEq)]
pub struct Conclusion {
    /// `p_fail` of each condition, adjusted.
    pub adjusted: Vec<Option<f64>>,
    /// The verdict of each condition, where a failure that chance explains is undecided.
    pub verdicts: Vec<GateVerdict>,
    pub verdict: GateVerdict,
}

/// The verdict of a gate over its conditions.
///
/// Letting a bad change through needs every breached condition to err, so passing needs no correction. Blocking a good change is the risk that adds up, so
/// p values of failing go through Holm's adjustment, and a condition that fails with more than α is undecided instead.
pub fn overall(conditions: &[Decided], alpha: f64) -> Conclusion {
    let p: Vec<f64> = conditions.iter().filter_map(|it| it.p_fail).collect();
    let mut holm = holm(&p).into_iter();
    let adjusted: Vec<Option<f64>> = conditions.iter().map(|it| it.p_fail.and_then(|_| holm.next())).collect();
    let held_back = |condition: &Decided, p: Option<f64>| match condition.verdict {
        GateVerdict::Fail if p.is_some_and(|it| it > alpha) => GateVerdict::Undecided,
        verdict => verdict,
    };
    let verdicts: Vec<GateVerdict> = conditions.iter().zip(&adjusted).map(|(it, p)| held_back(it, *p)).collect();
    let counted = conditions.iter().zip(&verdicts).filter(|it| !it.0.advisory).map(|it| *it.1);
    Conclusion { verdict: all(&counted.collect::<Vec<_>>()), adjusted, verdicts }
}

/// One that fails fails all; nothing at all is undecided.
fn all(verdicts: &[GateVerdict]) -> GateVerdict {
    if verdicts.contains(&GateVerdict::Fail) {
        GateVerdict::Fail
    } else if verdicts.is_empty() || verdicts.contains(&GateVerdict::Undecided) {
        GateVerdict::Undecided
    } else {
        GateVerdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn verdict(low: f64, high: f64, bound: f64, wants: Wants, expected: GateVerdict) {
        assert_eq!(condition_verdict(Bounds { low: Some(low), high: Some(high) }, bound, wants), expected);
    }

    #[test]
    fn between_pass_and_fail_nothing_is_decided() {
        verdict(0.91, 0.97, 0.9, Wants::AtLeast, GateVerdict::Pass);
        verdict(0.7, 0.85, 0.9, Wants::AtLeast, GateVerdict::Fail);
        verdict(0.7, 0.9, 0.9, Wants::AtLeast, GateVerdict::Undecided);
        verdict(0.0, 0.1, 0.0, Wants::MoreThan, GateVerdict::Undecided);
        verdict(1.3, 1.6, 1.2, Wants::AtMost, GateVerdict::Fail);
        verdict(1.0, 1.2, 1.2, Wants::AtMost, GateVerdict::Pass);
        assert_eq!(condition_verdict(Bounds::default(), 0.9, Wants::AtLeast), GateVerdict::Undecided);
    }

    #[test]
    fn what_is_unknown_must_not_change_a_verdict() {
        let bounds = |low, high| Bounds { low: Some(low), high: Some(high) };
        let measure = |least, most| Measure {
            wants: Wants::AtLeast,
            bound: 0.9,
            observed: bounds(0.92, 0.97),
            least: Some(least),
            most: Some(most),
        };
        assert_eq!(decide(&measure(bounds(0.91, 0.96), bounds(0.93, 0.98))), GateVerdict::Pass);
        assert_eq!(decide(&measure(bounds(0.88, 0.96), bounds(0.93, 0.98))), GateVerdict::Undecided);
    }

    #[test]
    fn a_failure_that_chance_explains_is_undecided() {
        let decided = |verdict, p_fail| Decided { verdict, p_fail, advisory: false };
        let fail = |p| decided(GateVerdict::Fail, Some(p));
        let pass = |p| decided(GateVerdict::Pass, Some(p));
        assert_eq!(overall(&[fail(0.01), pass(0.8)], 0.05).verdict, GateVerdict::Fail);
        assert_eq!(overall(&[fail(0.04), fail(0.04)], 0.05).verdicts, [GateVerdict::Undecided; 2]);
        assert_eq!(overall(&[decided(GateVerdict::Fail, None), pass(0.6)], 0.05).verdict, GateVerdict::Fail);
        assert_eq!(overall(&[], 0.05).verdict, GateVerdict::Undecided);
        let advisory = Decided { advisory: true, ..fail(0.01) };
        assert_eq!(overall(&[advisory, pass(0.6)], 0.05).verdict, GateVerdict::Pass);
        assert_eq!(overall(&[advisory], 0.05).verdict, GateVerdict::Undecided);
    }
}
