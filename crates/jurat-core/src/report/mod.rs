//! What there is to say about runs, before it is written in any format.
//!
//! Plain data. The engine fills it from a stored run; `jurat-report` writes it.
//!
//! * [`RunReport`]: a run as a whole; [`CaseReport`]: one of its cases; [`RunEntry`]: a run in a list of runs.
//! * [`plan`]: what a run will do; [`explanation`]: why a task ended as it did; [`transcript`]: what was said in a scenario; [`scenario`]: the graphs of
//!   conversations and their totals; [`journal`]: what the journal holds.
//!
//! What a replay of the run reproduces byte for byte is separate from what it does not: everything about when, how fast and from where is in
//! [`Observed`] and in the few fields that say so.

mod case;
pub mod explanation;
pub mod journal;
mod listing;
pub mod plan;
mod repetition;
mod run;
pub mod scenario;
pub mod transcript;

pub use crate::verdict::CaseCounts;
pub use case::{CaseData, CaseReport, OutputReport, TaskReport, TaskVerdict};
pub use listing::{RunCondition, RunEntry};
pub use repetition::{AttemptRate, Attempts, FlakyCase, Repetition};
pub use run::{
    Cause, CorrectedTotal, DimensionTotal, Disagreement, Independence, JudgedScore, Mean, Observed, RunReport,
    SliceTotal, Spent, SubjectTotal, TaskTotal, gate_name, interval,
};
