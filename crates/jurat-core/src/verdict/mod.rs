//! What jurat concludes: a verdict for each task, counts for each case.
//!
//! "The subject failed" and "we could not tell" are distinct everywhere: rates divide by what was judged, and there is
//! none when nothing was.

mod case_counts;
mod decision;
pub(crate) mod thresholds;

use std::fmt;

pub use case_counts::CaseCounts;
pub use decision::{Conclusion, Decision, Metrics, Rule, RuleStanding, Sample, TaskMetrics};
pub use thresholds::{Bound, CostLimit, Statistic, TaskThreshold, Thresholds, Tolerance};

use jurat_compare::{Judgement, Mismatch};
use jurat_format::choices;
use unicode_normalization::UnicodeNormalization;

use crate::task_index::{Gate, TaskIx};

/// How a task ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Judged, and right.
    Passed,
    /// Judged, and wrong: what we expected, what we found.
    Failed(Box<Mismatch>),
    /// An answer that no assertion asks to pass.
    Measured,
    /// A gate said no, or what it needs was skipped or errored.
    Skipped(SkipReason),
    /// Could not be judged: suite, judge or network, never the subject.
    Error(Box<Reason>),
    /// A budget, a deadline or Ctrl-C came first.
    NotRun(StopReason),
}

/// Why something could not be judged, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason(pub String);

/// Why a task was skipped. The task it names is where it began, however far up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipReason {
    GateFailed(TaskIx),
    /// This task could not be judged.
    Errored(TaskIx),
}

choices! {
    /// What came before a task could run.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum StopReason {
        /// Money, tokens or calls ran out.
        Budget = "budget",
        /// The time limit.
        Deadline = "deadline",
        /// Something failed, and the author wanted to stop then.
        FailFast = "fail_fast",
        /// Ctrl-C.
        Interrupted = "interrupted",
        /// An endpoint fails every request in a way that will not change, such as a wrong key.
        EndpointFault = "endpoint_fault",
        /// Enough was known.
        Decided = "decided",
    }
}

impl Verdict {
    /// One word for it, as reports and files have it.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Passed => "passed",
            Verdict::Failed(_) => "failed",
            Verdict::Measured => "measured",
            Verdict::Skipped(_) => "skipped",
            Verdict::Error(_) => "error",
            Verdict::NotRun(_) => "not_run",
        }
    }

    /// The verdict of something that could not be judged.
    pub fn error(reason: impl Into<String>) -> Verdict {
        Verdict::Error(Box::new(Reason(reason.into())))
    }
}

impl From<Judgement> for Verdict {
    fn from(judgement: Judgement) -> Verdict {
        match judgement {
            Judgement::Passed => Verdict::Passed,
            Judgement::Failed(mismatch) => Verdict::Failed(with_hint(mismatch)),
            Judgement::Error(inapplicable) => Verdict::error(inapplicable.reason),
        }
    }
}

/// The mismatch, with a word about texts that look alike and differ in how their characters are written.
fn with_hint(mut mismatch: Box<Mismatch>) -> Box<Mismatch> {
    if is_another_form(&mismatch.expected, &mismatch.found) {
        mismatch.found.push_str(" (the two are in different Unicode normalizations)");
    }
    mismatch
}

/// Whether the text in quotes that was expected is in what was found as soon as both are written in the same way.
fn is_another_form(expected: &str, found: &str) -> bool {
    if expected.is_ascii() && found.is_ascii() {
        return false;
    }
    let Some(quoted) = expected.split_once('`').and_then(|(_, rest)| rest.rsplit_once('`')).map(|(it, _)| it) else {
        return false;
    };
    let nfc = |text: &str| text.nfc().collect::<String>();
    !found.contains(quoted) && nfc(found).contains(&nfc(quoted))
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Failed(mismatch) => write!(f, "failed: {mismatch}"),
            Verdict::Error(reason) => write!(f, "error: {}", reason.0),
            other => f.write_str(other.name()),
        }
    }
}

choices! {
    /// How a case ended, over all its tasks.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum CaseVerdict {
        /// Something counted passed, and nothing failed.
        Passed = "passed",
        /// Something counted failed.
        Failed = "failed",
        /// A task could not be judged, whatever the others say.
        Error = "error",
        /// A task did not run.
        NotRun = "not_run",
        /// Something was measured, nothing judged.
        Measured = "measured",
        /// Nothing was judged or measured: gates led past everything.
        NotJudged = "not_judged",
    }
}

impl CaseVerdict {
    /// Draws it from the verdicts of the tasks, each with what kind of gate it is.
    pub fn of<'v>(verdicts: impl Iterator<Item = (&'v Verdict, Gate)>) -> CaseVerdict {
        let mut counts = Counts::default();
        let (mut errored, mut not_run) = (false, false);
        for (verdict, gate) in verdicts {
            // A gate is not counted, but one that errored leaves open what should have run. Whether a member of a group matters, its group says.
            let is_decisive = gate != Gate::Member;
            errored |= is_decisive && matches!(verdict, Verdict::Error(_));
            not_run |= is_decisive && matches!(verdict, Verdict::NotRun(_));
            counts.add(verdict, gate);
        }
        match counts {
            _ if errored => CaseVerdict::Error,
            _ if not_run => CaseVerdict::NotRun,
            Counts { failed: 1.., .. } => CaseVerdict::Failed,
            Counts { passed: 1.., .. } => CaseVerdict::Passed,
            Counts { measured: 1.., .. } => CaseVerdict::Measured,
            _ => CaseVerdict::NotJudged,
        }
    }
}

/// How many tasks of a case, or of many, ended how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    pub passed: u64,
    pub failed: u64,
    pub measured: u64,
    pub errored: u64,
    pub skipped: u64,
    pub not_run: u64,
}

impl Counts {
    /// Counts one more. A gate that only routes is no judgement of the subject, so it counts only where it did not run.
    pub fn add(&mut self, verdict: &Verdict, gate: Gate) {
        let counts = gate.is_counted();
        match verdict {
            Verdict::Skipped(_) => self.skipped += 1,
            Verdict::NotRun(_) => self.not_run += 1,
            Verdict::Passed if counts => self.passed += 1,
            Verdict::Failed(_) if counts => self.failed += 1,
            Verdict::Measured if counts => self.measured += 1,
            Verdict::Error(_) if counts => self.errored += 1,
            _ => {}
        }
    }

    /// Adds the counts of another.
    pub fn merge(&mut self, other: &Counts) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.measured += other.measured;
        self.errored += other.errored;
        self.skipped += other.skipped;
        self.not_run += other.not_run;
    }

    /// What was judged or should have been: passed, failed and errored.
    pub fn total(&self) -> u64 {
        self.passed + self.failed + self.errored
    }

    /// The share that passed of what was judged; `None` when nothing was.
    pub fn pass_rate(&self) -> Option<f64> {
        let judged = self.passed + self.failed;
        (judged > 0).then(|| self.passed as f64 / judged as f64)
    }
}
