//! The results of tasks as the file alone has them: no row is read, and nothing is concluded again.

use std::ops::Range;

use jurat_core::plan::{CaseIx, TaskIx};
use jurat_core::report::TaskVerdict;
use jurat_core::verdict::{CaseVerdict, Verdict};
use jurat_store::run::{Code, Column, StoredCase, Variant};

use super::revisit::case_verdict;
use super::{RunView, ViewError};
use crate::task_report::message;

/// The result of a task of a case.
#[derive(Debug, Clone)]
pub struct StoredResult<'r> {
    pub task: TaskIx,
    pub verdict: TaskVerdict,
    /// What there is to say about it; nothing about what passed.
    pub message: Option<String>,
    pub label: Option<&'r str>,
    pub score: Option<f64>,
    pub explanation: Option<&'r str>,
}

/// A case as the file alone has it.
#[derive(Debug, Clone, Copy)]
pub struct StoredOutcome<'r> {
    view: &'r RunView,
    pub case: &'r StoredCase,
    pub verdict: CaseVerdict,
    /// The prompt, the subject and the repetition; `None` for a row that was answered before.
    pub variant: Option<&'r Variant>,
}

impl<'r> StoredOutcome<'r> {
    /// What the case is called.
    pub fn name(&self) -> String {
        self.view.case_name(self.case)
    }

    /// The results of its tasks, without tasks that are not for it.
    pub fn results(&self) -> impl Iterator<Item = StoredResult<'r>> + use<'r> {
        let (view, case) = (self.view, self.case);
        view.plan.task_ixs().filter_map(move |task| result(view, case, task))
    }
}

impl RunView {
    /// Reads the cases in a range, in the order of input, and returns how many there were.
    pub fn read_outcomes(
        &self,
        range: Range<CaseIx>,
        each: &mut dyn FnMut(StoredOutcome<'_>),
    ) -> Result<u64, ViewError> {
        let mut n_cases = 0;
        for case in self.reader.cases(range) {
            let case = &case?;
            let (verdict, variant) = (case_verdict(case.code(Column::CASE)), self.variant(case.case_ix));
            each(StoredOutcome { view: self, case, verdict, variant });
            n_cases += 1;
        }
        Ok(n_cases)
    }
}

fn result<'r>(view: &RunView, case: &'r StoredCase, task: TaskIx) -> Option<StoredResult<'r>> {
    let column = Column::from(task);
    let code = case.code(column);
    let found = |verdict, message| StoredResult {
        task,
        verdict,
        message,
        label: case.labels.iter().find(|(it, _)| *it == column).map(|(_, label)| label.as_str()),
        score: case.scores.iter().find(|(it, _)| *it == column).map(|(_, score)| *score),
        explanation: case.detail(column).and_then(|it| it.explanation.as_deref()),
    };
    // Most tasks pass, and there is nothing to say about them.
    if code == Code::Passed {
        return Some(found(TaskVerdict::Passed, None));
    }
    let verdict: Verdict = code.verdict(case.detail(column))?;
    let message = Some(message(&view.plan, &verdict)).filter(|it| !it.is_empty());
    Some(found(TaskVerdict::from(&verdict), message))
}
