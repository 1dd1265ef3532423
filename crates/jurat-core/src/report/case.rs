//! One case of a run and its tasks. Cases come one by one, in the order of input, so that a run of a million cases is never held.

use std::time::Duration;

use jurat_format::choices;
use jurat_format::value::Value;

use crate::effect::Usage;
use crate::verdict::{CaseVerdict, Counts, Verdict};

#[derive(Debug, Clone, PartialEq)]
pub struct CaseReport {
    /// Its id; for a row without one, its file and its number: `records.jsonl:17`.
    pub id: String,
    /// The prompt that made it, when there are several.
    pub prompt: Option<String>,
    /// The model that was asked, when there are several.
    pub subject: Option<String>,
    /// Which repetition it is, from 1, when there are several.
    pub replicate: Option<u32>,
    pub verdict: CaseVerdict,
    /// Why it could not be judged or was not run, where no task applies to it that would say so; else empty.
    pub message: String,
    /// How many of its tasks ended how.
    pub counts: Counts,
    /// The digest of the evidence that was judged.
    pub evidence: Option<String>,
    /// The tokens that all its answers took.
    pub usage: Option<Usage>,
    /// What they cost, as far as that is known.
    pub cost_usd: Option<f64>,
    /// How long it took. A replay takes another time.
    pub took: Duration,
    /// What was asked and what came back, each under the name that the author knows it by; the row, where that is not known.
    pub exchange: Vec<(String, String)>,
    /// What was judged, for tables that other programs read.
    pub data: CaseData,
    /// The tasks that apply to it, in the order they were written.
    pub tasks: Vec<TaskReport>,
}

/// What was judged in a case.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CaseData {
    /// The file or section that its row is from.
    pub source: Option<String>,
    /// The number of its row there, counted from 1.
    pub row_number: Option<u64>,
    /// The row; nothing for scenarios and agents, and where its file has changed since.
    pub row: Option<Value>,
    /// What the subject was asked.
    pub input: Option<Value>,
    pub output: Option<Value>,
}

/// One task of one case. What is the same for all cases stands in its [`TaskTotal`](super::TaskTotal).
#[derive(Debug, Clone, PartialEq)]
pub struct TaskReport {
    /// Its place in [`RunReport::tasks`](super::RunReport::tasks).
    pub task: usize,
    pub verdict: TaskVerdict,
    pub expected: Option<Value>,
    pub actual: Option<Value>,
    /// What its judge answered, or all its judges together; nothing for a task that asks no model. Reports leave it to the explanation.
    pub reply: Option<Value>,
    pub label: Option<String>,
    pub score: Option<f64>,
    /// Why it gave them, in the words of the judge or evaluator.
    pub explanation: Option<String>,
    /// The result of each output of its evaluator, where it has several.
    pub outputs: Vec<OutputReport>,
    /// Why it failed, was skipped, could not be judged or did not run, in our words; else empty.
    pub message: String,
    /// The tokens that its answers took.
    pub usage: Option<Usage>,
    /// What they cost, as far as that is known.
    pub cost_usd: Option<f64>,
    /// How long its answers took, as it was recorded with them.
    pub latency: Option<Duration>,
    /// How many requests it took, failed ones included. A replay makes none.
    pub n_requests: u32,
    /// Whether its answers were there before this run. A replay reuses all.
    pub reused: bool,
}

/// One output of an evaluator that has several, for one case.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputReport {
    /// The task and the output: `safe.toxicity`.
    pub name: String,
    pub label: Option<String>,
    pub score: Option<f64>,
    pub explanation: Option<String>,
    /// Why what was returned for it is not taken; else empty.
    pub message: String,
}

impl OutputReport {
    /// How it ended: measured, or an error.
    pub fn verdict(&self) -> TaskVerdict {
        if self.message.is_empty() { TaskVerdict::Measured } else { TaskVerdict::Error }
    }
}

choices! {
    /// How a task ended, in one word. The reason is in [`TaskReport::message`].
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum TaskVerdict {
        /// Judged, and right.
        Passed = "passed",
        /// Judged, and wrong.
        Failed = "failed",
        /// A value without a condition to pass.
        Measured = "measured",
        /// A gate said no, or what it needs was skipped or errored.
        Skipped = "skipped",
        /// Could not be judged.
        Error = "error",
        /// Something came first.
        NotRun = "not_run",
    }
}

impl CaseReport {
    /// A case with this id of which nothing else is known.
    pub fn new(id: impl Into<String>, verdict: CaseVerdict) -> CaseReport {
        CaseReport {
            id: id.into(),
            prompt: None,
            subject: None,
            replicate: None,
            verdict,
            message: String::new(),
            counts: Counts::default(),
            evidence: None,
            usage: None,
            cost_usd: None,
            took: Duration::ZERO,
            exchange: Vec::new(),
            data: CaseData::default(),
            tasks: Vec::new(),
        }
    }
}

impl TaskReport {
    /// A task of which nothing but its verdict is known.
    pub fn new(task: usize, verdict: TaskVerdict) -> TaskReport {
        TaskReport {
            task,
            verdict,
            expected: None,
            actual: None,
            reply: None,
            label: None,
            score: None,
            explanation: None,
            outputs: Vec::new(),
            message: String::new(),
            usage: None,
            cost_usd: None,
            latency: None,
            n_requests: 0,
            reused: false,
        }
    }
}

impl From<&Verdict> for TaskVerdict {
    fn from(verdict: &Verdict) -> TaskVerdict {
        match verdict {
            Verdict::Passed => TaskVerdict::Passed,
            Verdict::Failed(_) => TaskVerdict::Failed,
            Verdict::Measured => TaskVerdict::Measured,
            Verdict::Skipped(_) => TaskVerdict::Skipped,
            Verdict::Error(_) => TaskVerdict::Error,
            Verdict::NotRun(_) => TaskVerdict::NotRun,
        }
    }
}
