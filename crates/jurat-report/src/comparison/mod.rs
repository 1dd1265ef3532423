//! Runs compared with each other, for people and for programs.

mod cases;
mod difference;
mod json;
mod markdown;
mod notes;
mod numbers;
mod sentence;
mod tables;
mod text;

/// The words of a comparison one by one, for pages that arrange them in their own way.
pub mod phrases {
    pub use super::cases::{marks, variant, verdict};
    pub use super::notes::{is_marked, sentence as note};
    pub use super::numbers::{difference, interval, p, percent};
    pub use super::sentence::{headline, lopsided, pairing};
    pub use super::tables::{amount, name, says, spending_note};
}

pub use json::write_json;
pub(crate) use json::write_note;
pub use markdown::write_markdown;
pub(crate) use markdown::{write_cases, write_metrics, write_notes, write_sentences};
pub use text::write_text;

/// How a comparison is written for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComparisonOptions {
    /// How many regressions and how many fixes are listed.
    pub most_cases: usize,
    /// Without p values.
    pub is_plain: bool,
    /// Without what a replay does not reproduce: names of runs.
    pub results_only: bool,
}

impl Default for ComparisonOptions {
    fn default() -> ComparisonOptions {
        ComparisonOptions { most_cases: 10, is_plain: false, results_only: false }
    }
}
