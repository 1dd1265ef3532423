//! A run as a whole: totals alone, so that it is small whatever the number of cases.

use std::time::Duration;

use super::repetition::Repetition;
use super::scenario::ScenarioTotal;
use crate::calibration::CorrectedRate;
use crate::effect::Usage;
use crate::statistics::{Confidence, Interval, Side, clopper_pearson, wilson};
use crate::stopping::StoppedEarly;
use crate::task_index::Gate;
use crate::verdict::{CaseCounts, CaseVerdict, Counts, Decision, StopReason};

/// A run as a whole.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunReport {
    /// The name of the suite.
    pub suite: String,
    /// The hash of what the suite says.
    pub suite_hash: String,
    /// What its author says about it.
    pub description: Option<String>,
    /// How often each case is run; default: 1.
    pub repeat: u32,
    /// What repeating cases showed; nothing where each was run once.
    pub repetition: Option<Repetition>,
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
    pub independence: Independence,
    /// The pass rates of tasks whose judges were calibrated, as people would have judged.
    pub corrected: Vec<CorrectedTotal>,
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
    /// What it knew when it stopped because that was enough.
    pub stopped_early: Option<StoppedEarly>,
    /// Why not all cases are here, in words, when it was not stopped.
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
    pub independence: Independence,
    /// The scores it gave, when it gave any.
    pub score: Option<Mean>,
    /// The labels it gave and how often each, in the order in which they are shown.
    pub labels: Vec<(String, u64)>,
}

/// The pass rate of a task as people would have judged, by a calibration of its judge.
#[derive(Debug, Clone, PartialEq)]
pub struct CorrectedTotal {
    pub task: String,
    /// `None` when the calibration is stale.
    pub corrected: Option<CorrectedRate>,
    /// What changed since it was made.
    pub stale: Option<String>,
    /// How many labelled cases it rests on.
    pub labels: u64,
    pub confidence: f64,
    /// Whether those are too few to rely on.
    pub too_few: bool,
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
    pub independence: Independence,
}

/// All tasks that say something about one dimension, over all cases.
#[derive(Debug, Clone, PartialEq)]
pub struct DimensionTotal {
    pub name: String,
    /// How often they ended how.
    pub counts: Counts,
    pub independence: Independence,
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
    pub independence: Independence,
    pub cases: CaseCounts,
    /// How often each task ended how, in the order of [`RunReport::tasks`].
    pub tasks: Vec<Counts>,
    /// The tokens that its responses and those of its judges took.
    pub usage: Usage,
    /// What they cost, as far as that is known.
    pub cost_usd: Option<f64>,
    /// How many of them have no known cost.
    pub n_unpriced: u64,
    /// How long its responses took on average, as it was recorded with them.
    pub latency: Option<Duration>,
}

impl SubjectTotal {
    /// What distinguishes it from others: the prompt, the subject, or both.
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
    /// What the reused responses cost when they were paid for, as far as that is known.
    pub reused_cost_usd: Option<f64>,
    /// Responses that are those of another case as well, because both make the same request.
    pub n_shared: u64,
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
    /// What a reader must know before trusting it, such as a sandbox that was disabled on request.
    pub notes: Vec<String>,
}

impl RunReport {
    /// The 95 % interval of the pass rate over all tasks of all cases.
    pub fn interval(&self) -> Option<Interval> {
        interval(&self.counts, self.independence)
    }

    /// Whether all cases that should be here are here, and were run.
    pub fn is_complete(&self) -> bool {
        self.stopped.is_none() && self.fault.is_none()
    }
}

impl TaskTotal {
    /// The 95 % interval of its pass rate.
    pub fn interval(&self) -> Option<Interval> {
        interval(&self.counts, self.independence)
    }

    /// Whether its verdicts are counted: those of a gate that only routes are not.
    pub fn is_counted(&self) -> bool {
        self.gate.is_counted()
    }
}

/// How far the judgements of some counts are independent of each other: those of one row, by several tasks or in several repetitions, are not.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Independence {
    /// Each is about a row of its own.
    #[default]
    Full,
    /// They are worth as much as this many independent ones.
    Worth(f64),
    /// All are about one row, which says nothing about others.
    Unknown,
}

/// The 95 % interval of the pass rate of some counts; `None` when nothing was judged, and when all of it is about one row.
///
/// It is Wilson's where each judgement is about a row of its own. Else it is the exact one for as many judgements as they are worth: 24
/// judgements of 4 rows do not get the interval of 24.
pub fn interval(counts: &Counts, independence: Independence) -> Option<Interval> {
    let judged = counts.passed + counts.failed;
    match independence {
        Independence::Full => wilson(counts.passed, judged, Confidence::USUAL),
        Independence::Worth(effective) => {
            let rate = counts.pass_rate()?;
            clopper_pearson(effective * rate, effective, Confidence::USUAL, Side::Both)
        }
        Independence::Unknown => None,
    }
}

/// A gate in one word, as reports and files have it; nothing for a task that is none.
pub fn gate_name(gate: Gate) -> &'static str {
    match gate {
        Gate::None => "",
        Gate::Condition => "gate",
        Gate::Required => "required",
        Gate::Member => "member",
    }
}
