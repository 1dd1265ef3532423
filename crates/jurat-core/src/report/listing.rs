//! The runs of a project, one line each.

use crate::verdict::StopReason;

/// A run in one line.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEntry {
    pub id: String,
    /// The file that holds it.
    pub file: String,
    /// The suite that was run.
    pub suite: String,
    /// When it began, in milliseconds since 1970.
    pub started_at_ms: Option<u64>,
    /// How many cases it has so far.
    pub cases: Option<u64>,
    /// Passed of what was judged, over all counted tasks.
    pub pass_rate: Option<f64>,
    /// How far it has come.
    pub condition: RunCondition,
}

/// How far a run has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunCondition {
    /// To its end.
    Done,
    /// It was stopped.
    Stopped(StopReason),
    /// It could not continue.
    Failed,
    /// A process is at it.
    Running,
    /// Its process ended without a word.
    Killed,
    /// Its file cannot be read, for this reason.
    Unreadable(String),
}

impl RunCondition {
    pub fn name(&self) -> &'static str {
        match self {
            RunCondition::Done => "done",
            RunCondition::Stopped(_) => "stopped",
            RunCondition::Failed => "failed",
            RunCondition::Running => "running",
            RunCondition::Killed => "killed",
            RunCondition::Unreadable(_) => "unreadable",
        }
    }

    /// What there is to say beyond the word.
    pub fn reason(&self) -> Option<String> {
        match self {
            RunCondition::Stopped(reason) => Some(reason.name().to_owned()),
            RunCondition::Unreadable(reason) => Some(reason.clone()),
            RunCondition::Done | RunCondition::Failed | RunCondition::Running | RunCondition::Killed => None,
        }
    }
}
