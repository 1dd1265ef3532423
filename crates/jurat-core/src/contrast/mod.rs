//! Two runs, or two parts of one, compared: what is paired with what, and how far they differ.
//!
//! Everything here is a plain function of verdicts and numbers that are handed in unit by unit. A *unit* is a row within a side with all its
//! repetitions; units of two sides pair by the id of their row. What could not be paired or judged is counted and bounded, never dropped. Reading order:
//!
//! * [`Ending`] and [`Repetitions`]: how a unit ended, and whether a pair of units can be compared ([`Standing`]);
//! * [`RateLine`], [`JudgementLine`], [`ScoreLine`], [`spending`]: what is compared, as [`Line`]s;
//! * [`adjust`]: lines of one family, adjusted for each other;
//! * [`ChangeKind`]: how a unit of NEW stands to that of BASE; [`Change`]: one that ended otherwise, and its [`Cause`]s; [`ChangeList`] holds those that are listed;
//! * [`provenance`]: what else differs between two sides than what they answered;
//! * [`Comparison`]: all of it.

mod cause;
mod chance;
mod change;
mod comparison;
mod family;
mod judgements;
mod kind;
mod labels;
mod line;
pub mod provenance;
mod ranking;
mod rates;
mod repetitions;
mod sample;
mod scores;
pub mod spending;

pub use cause::{Cause, Circumstances};
pub use chance::{ChangeTests, TestedChanges};
pub use change::{Change, ChangeCounts, ChangeList, ChangeSide, Direction, Said, TaskChange};
pub use comparison::{Comparison, Contrast, PairCounts, Side};
pub use family::adjust;
pub use judgements::JudgementLine;
pub use kind::ChangeKind;
pub use labels::{LabelChanges, LabelLine};
pub use line::{About, Effect, Line, Mark, Method, Payer};
pub use ranking::{Ranking, SidePair, rank};
pub use rates::{RateLine, World, unpaired};
pub use repetitions::{Ending, Repetitions, Standing};
pub use sample::Clustering;
pub use scores::{ScoreLine, ScoreTest};
