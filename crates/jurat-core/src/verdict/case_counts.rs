//! How many cases ended how.

use super::CaseVerdict;

/// How many cases ended how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CaseCounts {
    /// Something counted passed, and nothing failed.
    pub passed: u64,
    pub failed: u64,
    /// A task could not be judged.
    pub error: u64,
    /// A task did not run.
    pub not_run: u64,
    /// Something was measured, nothing judged.
    pub measured: u64,
    pub not_judged: u64,
}

impl CaseCounts {
    pub fn add(&mut self, verdict: CaseVerdict) {
        *self.place(verdict) += 1;
    }

    /// Adds the counts of another.
    pub fn merge(&mut self, other: &CaseCounts) {
        for (verdict, n) in other.each() {
            *self.place(verdict) += n;
        }
    }

    /// How many cases there are.
    pub fn total(&self) -> u64 {
        self.each().into_iter().map(|(_, n)| n).sum()
    }

    /// Every verdict with how many ended so, in the order of reports.
    pub fn each(&self) -> [(CaseVerdict, u64); 6] {
        [
            (CaseVerdict::Passed, self.passed),
            (CaseVerdict::Failed, self.failed),
            (CaseVerdict::Error, self.error),
            (CaseVerdict::NotRun, self.not_run),
            (CaseVerdict::Measured, self.measured),
            (CaseVerdict::NotJudged, self.not_judged),
        ]
    }

    fn place(&mut self, verdict: CaseVerdict) -> &mut u64 {
        match verdict {
            CaseVerdict::Passed => &mut self.passed,
            CaseVerdict::Failed => &mut self.failed,
            CaseVerdict::Error => &mut self.error,
            CaseVerdict::NotRun => &mut self.not_run,
            CaseVerdict::Measured => &mut self.measured,
            CaseVerdict::NotJudged => &mut self.not_judged,
        }
    }
}
