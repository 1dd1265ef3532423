//! What people look at when they label a case, and what each judge of a task said about it.

use jurat_core::plan::TaskIx;
use jurat_format::value::Value;
use jurat_store::run::StoredCase;

use super::exchange::{RESPONSES, exchange};
use super::{RunView, ViewError};

/// What was asked and answered in a case, as text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LabelText {
    pub input: String,
    pub output: String,
    /// The digest of both, by which a later run knows that a label is about the same answer.
    pub evidence: String,
}

impl RunView {
    /// The digest of what was asked and answered in a case.
    pub fn evidence_digest(&self, case: &StoredCase) -> Result<String, ViewError> {
        let happened = self.happened(case.case_ix)?;
        self.revisit(case, &happened, |revisited| revisited.digest())
    }

    /// Whether a label with this digest is about the answer of a case. Labels of versions before this one have the digest of all evidence.
    pub fn is_labelled_answer(&self, case: &StoredCase, digest: &str) -> Result<bool, ViewError> {
        let happened = self.happened(case.case_ix)?;
        self.revisit(case, &happened, |revisited| {
            let of_all = || blake3::hash(revisited.base.to_json().as_bytes()).to_hex();
            revisited.digest() == digest || of_all()[..32] == *digest
        })
    }

    /// What each judge of a task said about the value that is compared, in the order of its slots. `None` when the task has no result.
    pub fn replies(&self, case: &StoredCase, task: TaskIx) -> Result<Option<Vec<String>>, ViewError> {
        let happened = self.happened(case.case_ix)?;
        self.revisit(case, &happened, |revisited| {
            let result = revisited.state.result(task)?;
            Some(result.said.iter().map(Value::to_json).collect())
        })
    }

    /// What the tasks of a case look at.
    pub(crate) fn evidence_value(&self, case: &StoredCase) -> Result<Value, ViewError> {
        let happened = self.happened(case.case_ix)?;
        self.revisit(case, &happened, |revisited| revisited.base.clone().into_owned())
    }

    /// The member of evidence that is the answer.
    pub(crate) fn answer_member(&self, evidence: &Value) -> Option<&'static str> {
        let is_asked = self.plan.ask.as_ref().is_some_and(|it| it.talks().next().is_none());
        let of_asked = is_asked.then_some("output");
        of_asked.or_else(|| RESPONSES.into_iter().find(|it| evidence.get(it).is_some()))
    }

    /// What someone who labels a case must see. Nothing of it is a verdict or a judge's words.
    pub fn label_text(&self, case: &StoredCase) -> Result<LabelText, ViewError> {
        let happened = self.happened(case.case_ix)?;
        self.revisit(case, &happened, |revisited| {
            let exchange = exchange(revisited.base, self.plan.ask.as_ref());
            let join = |is_response: bool| {
                let own = exchange.iter().filter(|it| RESPONSES.contains(&it.0.as_str()) == is_response);
                own.map(|it| it.1.as_str()).collect::<Vec<&str>>().join("\n")
            };
            LabelText { input: join(false), output: join(true), evidence: revisited.digest() }
        })
    }
}
