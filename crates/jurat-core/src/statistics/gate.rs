//! What a bound and an interval decide.

use super::interval::Interval;
use super::several::holm;

/// What a gate says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateVerdict {
    Pass,
    Fail,
    /// Not enough data, which is neither.
    Undecided,
}

impl GateVerdict {
    /// How reports write it.
    pub fn as_str(self) -> &'static str {
        match self {
            GateVerdict::Pass => "pass",
            GateVerdict::Fail => "fail",
            GateVerdict::Undecided => "undecided",
        }
    }
}

/// What a condition asks of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wants {
    /// At least the bound.
    AtLeast,
    /// More than the bound.
    MoreThan,
    /// At most the bound.
    AtMost,
}

/// Whether the values of an interval satisfy a condition: all of them, none of them, or some. Undecided without an interval.
///
/// ```
/// use jurat_core::statistics::{GateVerdict, Interval, Wants, gate_condition};
///
/// let decided = |low, high| gate_condition(Some(Interval { low, high }), 0.9, Wants::AtLeast);
/// assert_eq!(decided(0.91, 0.97), GateVerdict::Pass);
/// assert_eq!(decided(0.7, 0.85), GateVerdict::Fail);
/// assert_eq!(decided(0.7, 0.9), GateVerdict::Undecided);
/// ```
pub fn gate_condition(interval: Option<Interval>, bound: f64, wants: Wants) -> GateVerdict {
    let Some(Interval { low, high }) = interval else { return GateVerdict::Undecided };
    let (all, none) = match wants {
        Wants::AtLeast => (low >= bound, high < bound),
        Wants::MoreThan => (low > bound, high < bound),
        Wants::AtMost => (high <= bound, low > bound),
    };
    match (all, none) {
        (true, _) => GateVerdict::Pass,
        (_, true) => GateVerdict::Fail,
        _ => GateVerdict::Undecided,
    }
}

/// A condition that was decided on its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Condition {
    pub verdict: GateVerdict,
    /// How likely a result as bad is for a value at the bound; `None` for conditions that count and do not estimate.
    pub p_fail: Option<f64>,
    /// Reported, and without influence on the verdict of the gate.
    pub advisory: bool,
}

/// What a gate concludes from its conditions.
#[derive(Debug, Clone, PartialEq)]
pub struct GateDecision {
    /// The verdict of each condition, with failures held back that several conditions make likely by chance.
    pub conditions: Vec<GateVerdict>,
    /// `p_fail` of each condition, adjusted.
    pub adjusted: Vec<Option<f64>>,
    pub verdict: GateVerdict,
}

/// The verdict of a gate: fail if a condition fails, else undecided if one is, or if there is none, else pass.
///
/// Letting a bad change through needs every breached condition to err, so passing needs no correction. Blocking a good change is the risk that adds up, so p values of failing go through
/// Holm's adjustment, and a condition that fails with more than α is undecided instead. Conditions without a p value are never held back.
pub fn gate_verdict(conditions: &[Condition], alpha: f64) -> GateDecision {
    let p: Vec<f64> = conditions.iter().filter_map(|it| it.p_fail).collect();
    let mut holm = holm(&p).into_iter();
    let adjusted: Vec<Option<f64>> = conditions.iter().map(|it| it.p_fail.and_then(|_| holm.next())).collect();
    let held_back = |condition: &Condition, adjusted: &Option<f64>| match (condition.verdict, adjusted) {
        (GateVerdict::Fail, Some(p)) if *p > alpha => GateVerdict::Undecided,
        (verdict, _) => verdict,
    };
    let verdicts: Vec<GateVerdict> = conditions.iter().zip(&adjusted).map(|(it, p)| held_back(it, p)).collect();
    let says = |verdict: GateVerdict| conditions.iter().zip(&verdicts).any(|(it, own)| !it.advisory && *own == verdict);
    let verdict = if says(GateVerdict::Fail) {
        GateVerdict::Fail
    } else if says(GateVerdict::Undecided) || !says(GateVerdict::Pass) {
        GateVerdict::Undecided
    } else {
        GateVerdict::Pass
    };
    GateDecision { conditions: verdicts, adjusted, verdict }
}
