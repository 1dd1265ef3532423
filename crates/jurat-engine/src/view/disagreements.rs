//! Rows on which prompts or subjects end differently.

use jurat_core::plan::CaseIx;
use jurat_core::report::{Disagreement, SubjectTotal};
use jurat_core::verdict::CaseVerdict;
use jurat_store::run::Code;

use super::revisit::case_verdict;
use super::{RunView, ViewError};

/// How many of them are named.
const EXAMPLES: usize = 10;

/// The first rows on which subjects end differently, and how many there are.
pub(super) fn disagreements(view: &RunView, subjects: &[SubjectTotal]) -> Result<(Vec<Disagreement>, u64), ViewError> {
    let mut found = Found { view, subjects, disagreements: Vec::new(), n: 0 };
    if subjects.len() < 2 {
        return Ok((Vec::new(), 0));
    }
    let n_variants = view.reader.head().n_variants();
    let mut row: Vec<(CaseIx, Code)> = Vec::new();
    for ending in view.reader.endings() {
        let (case_ix, code) = ending?;
        if row.first().is_some_and(|(first, _)| n_variants.place(*first) != n_variants.place(case_ix)) {
            found.add(&row)?;
            row.clear();
        }
        row.push((case_ix, code));
    }
    found.add(&row)?;
    Ok((found.disagreements, found.n))
}

struct Found<'v> {
    view: &'v RunView,
    subjects: &'v [SubjectTotal],
    disagreements: Vec<Disagreement>,
    n: u64,
}

impl Found<'_> {
    /// Takes in the cases of one row.
    fn add(&mut self, row: &[(CaseIx, Code)]) -> Result<(), ViewError> {
        let verdicts: Vec<Vec<CaseVerdict>> = self.subjects.iter().map(|it| self.of_subject(it, row)).collect();
        let mut there = verdicts.iter().filter(|it| !it.is_empty());
        let first = there.next();
        if there.all(|it| Some(it) == first) {
            return Ok(());
        }
        self.n += 1;
        if self.disagreements.len() < EXAMPLES
            && let Some((case_ix, _)) = row.first()
            && let Some(case) = self.view.reader.case(*case_ix)?
        {
            self.disagreements.push(Disagreement { case: self.view.case_name(&case), verdicts });
        }
        Ok(())
    }

    fn of_subject(&self, subject: &SubjectTotal, row: &[(CaseIx, Code)]) -> Vec<CaseVerdict> {
        let is_own = |case_ix: CaseIx| {
            self.view.variant(case_ix).is_some_and(|it| {
                it.prompt == subject.prompt.as_deref().unwrap_or_default()
                    && it.subject == subject.subject.as_deref().unwrap_or_default()
            })
        };
        row.iter().filter(|(case_ix, _)| is_own(*case_ix)).map(|(_, code)| case_verdict(*code)).collect()
    }
}
