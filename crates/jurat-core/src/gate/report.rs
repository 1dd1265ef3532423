//! What there is to say about a gate.

use super::condition::{Bounds, GateVerdict};
use crate::contrast::Contrast;
use crate::statistics::Confidence;

/// How much more would decide a condition.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct More {
    /// The rows in all, and how many of them are to be added; `None` when no number would do.
    pub rows: Option<(u64, u64)>,
    pub calls: Option<u64>,
    pub usd: Option<f64>,
}

/// A condition and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ConditionReport {
    pub id: String,
    pub kind: &'static str,
    pub selector: String,
    pub verdict: GateVerdict,
    pub advisory: bool,
    /// The metric itself.
    pub found: Option<f64>,
    pub bounds: Bounds,
    pub wanted: f64,
    pub p_fail: Option<f64>,
    pub p_fail_adjusted: Option<f64>,
    pub least: Option<f64>,
    pub most: Option<f64>,
    /// What was found and what was wanted, in words.
    pub found_words: String,
    pub wanted_words: String,
    /// Why it failed, or why nothing is decided; else empty.
    pub reason: String,
    pub more: Option<More>,
    /// The sentence that a product manager understands.
    pub sentence: String,
}

/// How often a gate passes and fails when nothing changed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rehearsal {
    pub splits: u64,
    pub passed: u64,
    pub failed: u64,
    pub undecided: u64,
    /// Conditions that failed, with how many times each did.
    pub failures: Vec<(String, u64)>,
}

impl Rehearsal {
    /// Whether it fails too often for a change that is none.
    pub fn is_too_tight(&self) -> bool {
        self.failed * 20 > self.splits
    }
}

/// A gate and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct GateReport {
    pub suite: String,
    pub base: Option<String>,
    pub new: String,
    pub confidence: Confidence,
    pub verdict: GateVerdict,
    pub conditions: Vec<ConditionReport>,
    /// NEW compared with BASE, where there is one.
    pub contrast: Option<Contrast>,
    /// That cases which could not be judged were left out.
    pub ignores_missing: bool,
}

impl GateReport {
    /// How many conditions that count have this verdict, and how many there are.
    pub fn count(&self, verdict: GateVerdict) -> (usize, usize) {
        let own = self.conditions.iter().filter(|it| !it.advisory);
        (own.clone().filter(|it| it.verdict == verdict).count(), own.count())
    }
}
