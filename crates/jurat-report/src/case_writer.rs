//! What every way of writing a run has in common: cases go in one by one, text comes out.

use std::io;

use jurat_core::report::CaseReport;

/// Takes in the cases of a run in order and writes them. The totals were given when it was made, so a run is written in one pass,
/// however many cases it has.
pub trait CaseWriter {
    /// Writes one more case, or keeps the little of it that is shown later.
    fn case(&mut self, case: &CaseReport) -> io::Result<()>;

    /// Writes what follows the cases. Nothing may be given after it.
    fn end(&mut self) -> io::Result<()>;

    /// Whether another case would change anything. Formats for people show a limited number.
    fn wants_more(&self) -> bool {
        true
    }
}

/// How much of a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// All of it.
    #[default]
    Everything,
    /// What a replay reproduces byte for byte: no date, no time that was not recorded with an answer, nothing about where answers
    /// came from.
    ResultsOnly,
}

impl Scope {
    /// Whether what was observed on the way is written too.
    pub(crate) fn has_observed(self) -> bool {
        self == Scope::Everything
    }
}
