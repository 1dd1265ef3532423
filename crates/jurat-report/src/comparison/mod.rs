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
