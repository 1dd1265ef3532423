//! What subjects answered, as rows that another suite can judge.

use jurat_core::plan::CaseIx;
use jurat_format::value::{Map, Val, Value};
use jurat_store::run::StoredCase;

use super::{RunView, ViewError};
use crate::CaseLabel;

impl RunView {
    /// The evidence of every case whose subject answered, in the order of input. Where a row makes several cases, each gets an id of its own and
    /// says which prompt and which subject it is.
    pub fn answered_rows(&self) -> impl Iterator<Item = Result<Value, ViewError>> + '_ {
        self.reader.cases(CaseIx::ALL).filter_map(|case| match case {
            Ok(case) => self.answered_row(&case).transpose(),
            Err(error) => Some(Err(error.into())),
        })
    }

    fn answered_row(&self, case: &StoredCase) -> Result<Option<Value>, ViewError> {
        let happened = self.happened(case.case_ix)?;
        let variant = self.variant(case.case_ix).filter(|_| self.reader.head().variants.len() > 1);
        self.revisit(case, &happened, |revisited| {
            // Without an answer there is no output, and what there is is the row alone.
            revisited.base.get("output")?;
            let members = revisited.base.as_map()?.iter().map(|(key, it)| (key.to_owned(), it.clone().into_owned()));
            let Some(variant) = variant else { return Some(Val::Map(members.collect::<Map<'static>>())) };
            let label = CaseLabel { id: &case.id, variant: Some(variant) }.to_string();
            let own = [("id", label), ("prompt", variant.prompt.clone()), ("subject", variant.subject.clone())];
            let own = own.into_iter().filter(|(_, it)| !it.is_empty());
            let own = own.map(|(key, it)| (key.to_owned(), Val::from(it)));
            let replicate = Val::from(u64::from(variant.replicate) + 1);
            let own: Vec<(String, Value)> = own.chain([("replicate".to_owned(), replicate)]).collect();
            let rest = members.filter(|(key, _)| !own.iter().any(|(it, _)| it == key)).collect::<Vec<_>>();
            Some(Val::Map(own.iter().cloned().chain(rest).collect::<Map<'static>>()))
        })
    }
}
