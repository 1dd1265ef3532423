//! Groups of a run that does not store them, from its rows.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use jurat_core::plan::CaseIx;
use jurat_format::value::{FieldPath, parse_json};
use jurat_store::run::CaseTexts;

use crate::row_columns::group;
use crate::view::{RunView, ViewError};

/// What each case has at each of some paths. A case whose row cannot be read has nothing there.
pub(super) fn of_rows(
    view: &RunView,
    paths: &[FieldPath],
    each: &mut dyn FnMut(),
) -> Result<Vec<CaseTexts>, ViewError> {
    let n = view.reader().n_case_numbers()?;
    let mut gathered: Vec<Gathered> = paths.iter().map(|_| Gathered::new(n)).collect();
    view.reader().scan_rows(CaseIx::ALL, &|_| true, &mut |case, row| {
        each();
        let text = row.ok().and_then(|it| std::str::from_utf8(it).ok());
        if let Some(row) = text.and_then(|it| parse_json(it).ok()) {
            for (path, gathered) in paths.iter().zip(&mut gathered) {
                gathered.put(case, group(path, &row.value));
            }
        }
        ControlFlow::Continue(())
    })?;
    Ok(gathered.into_iter().map(Gathered::texts).collect())
}

/// Texts in the order in which they came.
struct Gathered {
    known: BTreeMap<String, u32>,
    numbers: Vec<u32>,
}

impl Gathered {
    fn new(n: usize) -> Gathered {
        Gathered { known: BTreeMap::new(), numbers: vec![CaseTexts::NONE; n] }
    }

    fn put(&mut self, case: CaseIx, text: Option<String>) {
        let next = self.known.len() as u32;
        if let (Some(text), Some(number)) = (text, self.numbers.get_mut(case.index())) {
            *number = *self.known.entry(text).or_insert(next);
        }
    }

    /// In the order of the texts, as run files have them.
    fn texts(self) -> CaseTexts {
        let mut ranks = vec![CaseTexts::NONE; self.known.len()];
        self.known.values().zip(0..).for_each(|(number, rank)| ranks[*number as usize] = rank);
        let rank = |it: u32| ranks.get(it as usize).copied().unwrap_or(CaseTexts::NONE);
        CaseTexts { numbers: self.numbers.into_iter().map(rank).collect(), texts: self.known.into_keys().collect() }
    }
}
