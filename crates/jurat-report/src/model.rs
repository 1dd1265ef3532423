//! The report: what there is to say about a run, before anybody has decided how to say it.
//!
//! Plain data. Somebody who read a run back fills it, the writers of this crate draw it. A [`RunReport`] is what is known of the
//! run as a whole; it is small, whatever the number of cases, because it holds totals. [`CaseReport`]s come one by one, in the
//! order of input, so that a run of a million cases passes through without being held.
//!
//! What a replay of the run reproduces byte for byte stands apart from what it does not: everything about when, how fast and
//! from where is in [`Observed`] and in the few fields that say so.

use std::time::Duration;

use jurat_core::effect::Usage;
use jurat_core::statistics::{Interval, wilson};
use jurat_core::suite::Gate;
use jurat_core::verdict::{CaseVerdict, Counts, Decision, StopReason, Verdict};
use jurat_format::value::Value;

pub use jurat_core::verdict::CaseCounts;

use crate::scenario::ScenarioTotal;

/// A run as a whole.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunReport {
    /// The name of the suite.
    pub suite: String,
    /// The hash of what the suite says.
    pub suite_hash: String,
    /// What its author says about it.
    pub description: Option<String>,
    /// How often each case is run; 1 unless somebody asked for more.
    pub repeat: u32,
    /// The tasks in the order they were written.
    pub tasks: Vec<TaskTotal>,
    /// The groups of cases that `group_by` makes, in the order in which they are shown.
    pub slices: Vec<SliceTotal>,
    /// What tasks say something about: the usual dimensions first; empty where no task says.
    pub dimensions: Vec<DimensionTotal>,
    /// Whether the author names dimensions. Checks have some of their own, which people did not ask for.
    pub names_dimensions: bool,
    /// What was asked of whom; empty for records, which were answered before.
    pub subjects: Vec<SubjectTotal>,
    /// The first rows on which prompts or subjects end differently.
    pub disagreements: Vec<Disagreement>,
    /// How many of them there are.
    pub n_disagreements: u64,
    /// The scenarios that were run, in the order they were written; empty for a suite without.
    pub scenarios: Vec<ScenarioTotal>,
    /// Whether cases that agents were given are among them.
    pub has_agents: bool,
    /// All tasks of all cases together.
    pub counts: Counts,
    pub cases: CaseCounts,
    /// The tokens that all answers took.
    pub usage: Usage,
    /// What all answers cost, as far as that is known; `None` when no answer has a known cost.
    pub cost_usd: Option<f64>,
    /// How many answers have no known cost, because their model has no price or did not say what it used.
    pub n_unpriced: u64,
    /// Whether it passed, and by which rules.
    pub decision: Decision,
    /// Why cases could not be judged, the most frequent reason first.
    pub causes: Vec<Cause>,
    /// How many cases could not be judged for reasons beyond those that are counted one by one.
    pub n_other_errors: u64,
    /// How many cases could not be judged and have no task whose verdict says so.
    pub n_errors_without_task: u64,
    /// What came before the end. It decided what was judged, so a replay takes it from the recording.
    pub stopped: Option<StopReason>,
    /// Why not all cases are here, in words, when nobody stopped it.
    pub fault: Option<String>,
    /// What a replay would not reproduce.
    pub observed: Observed,
}

/// One reason for which cases could not be judged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cause {
    /// How many cases it left undecided.
    pub n_cases: u64,
    /// The reason, as the first of them has it. Others may differ in numbers and ids.
    pub message: String,
    /// The role whose model was asked, as the author named it.
    pub role: Option<String>,
    /// The variable of the environment that holds the key for it.
    pub key_env: Option<String>,
    /// What to do about it.
    pub remedy: Option<String>,
    /// The tasks that it left undecided, at most a few of them.
    pub tasks: Vec<String>,
    /// The first of the cases.
    pub cases: Vec<String>,
}

/// One task over all cases.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TaskTotal {
    pub id: String,
    /// `assert`, `judge`, …
    pub kind: String,
    /// Whether it decides what runs after it.
    pub gate: Gate,
    /// Its stage, from 1.
    pub stage: usize,
    /// What its author says about it.
    pub description: Option<String>,
    pub path: Option<String>,
    pub operator: Option<String>,
    /// The scenario that it is for alone.
    pub scenario: Option<String>,
    /// How often it ended how. A gate is counted here as any other task is, so that its line says how often it was open.
    pub counts: Counts,
    /// The scores it gave, when it gave any.
    pub score: Option<Mean>,
    /// The labels it gave and how often each, in the order in which they are shown.
    pub labels: Vec<(String, u64)>,
}

/// The mean of some numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    pub n: u64,
    /// Their mean, summed in the order of cases.
    pub mean: f64,
}

/// All tasks over the cases that have one value at a path of `group_by`.
#[derive(Debug, Clone, PartialEq)]
pub struct SliceTotal {
    pub path: String,
    /// The value; `None` for the cases that have none.
    pub value: Option<String>,
    /// How often tasks ended how.
    pub counts: Counts,
}

/// All tasks that say something about one dimension, over all cases.
#[derive(Debug, Clone, PartialEq)]
pub struct DimensionTotal {
    pub name: String,
    /// How often they ended how.
    pub counts: Counts,
    /// What the judges of an evaluation say about it.
    pub judged: Option<JudgedScore>,
}

/// The mean of what judges said over all cases.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JudgedScore {
    /// How many cases were scored.
    pub n: u64,
    /// The mean of their scores.
    pub mean: f64,
    /// The 95 % interval of the mean; `None` for fewer than two cases.
    pub interval: Option<Interval>,
}

impl DimensionTotal {
    /// From 0 to 10: the share of what was judged that passed. `None` when nothing was.
    pub fn score(&self) -> Option<f64> {
        self.counts.pass_rate().map(|it| 10.0 * it)
    }
}

/// All tasks over the cases that one subject was asked with one prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct SubjectTotal {
    /// The prompt, when there are several.
    pub prompt: Option<String>,
    /// The model, when there are several.
    pub subject: Option<String>,
    /// How often tasks ended how.
    pub counts: Counts,
    pub cases: CaseCounts,
    /// How often each task ended how, in the order of [`RunReport::tasks`].
    pub tasks: Vec<Counts>,
    /// The tokens that its responses and those of its judges took.
    pub usage: Usage,
    /// What they cost, as far as that is known.
    pub cost_usd: Option<f64>,
    /// How long its responses took on average, as it was recorded with them.
    pub latency: Option<Duration>,
}

impl SubjectTotal {
    /// What tells it from others: the prompt, the subject, or both.
    pub fn name(&self) -> String {
        let names: Vec<&str> = [&self.prompt, &self.subject].into_iter().flatten().map(String::as_str).collect();
        names.join(" / ")
    }
}

/// A row on which variants end differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disagreement {
    pub case: String,
    /// How it ended for each of [`RunReport::subjects`]; several times where cases are repeated.
    pub verdicts: Vec<Vec<CaseVerdict>>,
}

/// What a run itself spent: responses that it reused cost it nothing.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spent {
    /// Responses that were requested in this run.
    pub n_responses: u64,
    /// The tokens that they took.
    pub usage: Usage,
    /// What they cost, as far as that is known; `None` when no response has a known cost.
    pub cost_usd: Option<f64>,
    /// How many of them have no known cost.
    pub n_unpriced: u64,
}

/// What depends on the day and on the machine.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Observed {
    /// The id of the run.
    pub run_id: String,
    /// The file that holds it, as a reader can name it.
    pub file: String,
    /// When it began, in milliseconds since 1970.
    pub started_at_ms: u64,
    pub wall: Duration,
    /// How many responses of models its verdicts rest on, requested or reused.
    pub n_answers: u64,
    /// How many of them were reused.
    pub n_reused: u64,
    /// When the oldest of the reused ones was given, in milliseconds since 1970.
    pub oldest_reused_ms: Option<u64>,
    /// Who answered, as the providers say, in order.
    pub served_by: Vec<String>,
    /// How many calls of tools its verdicts rest on, live or reused.
    pub n_tool_calls: u64,
    /// How many of them were not made in this run.
    pub n_reused_tool_calls: u64,
    /// What this run spent itself; nothing for runs of versions that did not record it.
    pub spent: Option<Spent>,
    /// How many requests were made.
    pub n_requests: u64,
    /// How many of them failed.
    pub n_failed_requests: u64,
    /// How many responses were cut off at `max_tokens`.
    pub n_truncated: u64,
    /// Whether it took up what an earlier, interrupted run had left.
    pub resumed: bool,
    /// The run that this one replays.
    pub replay_of: Option<String>,
    /// Whether code of authors was allowed to run without the protection that the system may lack.
    pub unsafe_code: bool,
    /// What a reader must know before trusting it, such as walls that were left out on request.
    pub notes: Vec<String>,
}

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

/// One task of one case. What is the same for all cases stands in its [`TaskTotal`].
#[derive(Debug, Clone, PartialEq)]
pub struct TaskReport {
    /// Its place in [`RunReport::tasks`].
    pub task: usize,
    pub verdict: TaskVerdict,
    pub expected: Option<Value>,
    pub actual: Option<Value>,
    /// What its judge answered, or all its judges together; nothing for a task that asks nobody. Reports leave it to the explanation.
    pub reply: Option<Value>,
    pub label: Option<String>,
    pub score: Option<f64>,
    /// Why it gave them, in the words of whoever judged.
    pub explanation: Option<String>,
    /// What each output of its evaluator came to, where it has several.
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

/// How a task ended, in one word. The reason is in [`TaskReport::message`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TaskVerdict {
    /// Judged, and right.
    Passed,
    /// Judged, and wrong.
    Failed,
    /// An answer that nobody asked to pass.
    Measured,
    /// A gate said no, or what it needs was skipped or errored.
    Skipped,
    /// Could not be judged.
    Error,
    /// Something came first.
    NotRun,
}

impl RunReport {
    /// The 95 % interval of the pass rate over all tasks of all cases.
    pub fn interval(&self) -> Option<Interval> {
        interval(&self.counts)
    }

    /// Whether all cases that should be here are here, and were run.
    pub fn is_complete(&self) -> bool {
        self.stopped.is_none() && self.fault.is_none()
    }
}

impl TaskTotal {
    /// The 95 % interval of its pass rate.
    pub fn interval(&self) -> Option<Interval> {
        interval(&self.counts)
    }

    /// Whether its verdicts are counted: those of a gate that only routes are not.
    pub fn is_counted(&self) -> bool {
        self.gate != Gate::Condition
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

impl TaskVerdict {
    /// Every verdict, in the order in which they are told.
    pub const ALL: [TaskVerdict; 6] = [
        TaskVerdict::Passed,
        TaskVerdict::Failed,
        TaskVerdict::Measured,
        TaskVerdict::Skipped,
        TaskVerdict::Error,
        TaskVerdict::NotRun,
    ];

    /// One word for it, as reports and files have it.
    pub fn name(self) -> &'static str {
        match self {
            TaskVerdict::Passed => "passed",
            TaskVerdict::Failed => "failed",
            TaskVerdict::Measured => "measured",
            TaskVerdict::Skipped => "skipped",
            TaskVerdict::Error => "error",
            TaskVerdict::NotRun => "not_run",
        }
    }

    /// The verdict that a word of [`TaskVerdict::name`] means.
    pub fn named(word: &str) -> Option<TaskVerdict> {
        TaskVerdict::ALL.into_iter().find(|it| it.name() == word)
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

/// The 95 % interval of the pass rate of some counts; `None` when nothing was judged.
pub fn interval(counts: &Counts) -> Option<Interval> {
    wilson(counts.passed, counts.passed + counts.failed)
}

/// A gate in one word, as reports and files have it; nothing for a task that is none.
pub fn gate_name(gate: Gate) -> &'static str {
    match gate {
        Gate::None => "",
        Gate::Condition => "gate",
        Gate::Required => "required",
    }
}
