//! What differs between two sides beside what was answered, as far as it is known case by case.

use std::collections::HashSet;

use jurat_core::contrast::provenance::{Finding, Note};
use jurat_core::plan::VariantCount;
use jurat_format::problem::listed_all;

use super::{Contrasting, Unit};
use crate::contrast::CompareError;
use crate::contrast::spending::same_answer;
use crate::contrast::table::{Asked, Table};
use crate::view::ViewError;

/// Rows of BASE that are not compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::contrast) struct LostRows {
    /// NEW does not have them.
    pub(in crate::contrast) absent: usize,
    /// NEW has others under their ids.
    pub(in crate::contrast) changed: usize,
    /// Both runs have them, and a condition selects them in BASE only.
    pub(in crate::contrast) left: usize,
    pub(in crate::contrast) of: usize,
    /// Whether some of them are paired by their content, and that has the answer: then just those are lost whose answer is another one.
    pub(in crate::contrast) are_answers: bool,
}

impl LostRows {
    pub(in crate::contrast) fn n(&self) -> usize {
        self.absent + self.changed + self.left
    }
}

/// The rows that a condition selects, by their numbers in each run.
pub(in crate::contrast) struct SelectedRows {
    pub(in crate::contrast) base: HashSet<u64>,
    pub(in crate::contrast) new: HashSet<u64>,
}

impl Contrasting<'_> {
    /// Finds rows whose content differs, as far as that is known.
    pub(super) fn compare_rows(&mut self) -> Result<(), CompareError> {
        let (was, now) = (self.base.questions()?, self.new.questions()?);
        let [base, new] = [self.base, self.new].map(Table::n_variants);
        let at =
            |of: &[u128], row: u32, n: VariantCount| of.get(n.first(row.into()).index()).copied().unwrap_or_default();
        let (mut unchecked, mut n_differing) = (0, 0_u64);
        for (place, (base_row, new_row)) in self.rows.shared.iter().enumerate() {
            match (at(&was, *base_row, base), at(&now, *new_row, new)) {
                _ if self.is_digested_otherwise(*base_row, *new_row) => unchecked += 1,
                (0, _) | (_, 0) => unchecked += 1,
                (was, now) if was != now => {
                    self.differing.resize(self.rows.shared.len(), false);
                    self.differing[place] = true;
                    n_differing += 1;
                }
                _ => {}
            }
        }
        let is_by_content = self.base.is_by_content()? && self.new.is_by_content()?;
        if n_differing > 0 {
            self.notes.push(Note::new(Finding::RowDiffers, "", "").about(n_differing));
        }
        if unchecked > 0 && !is_by_content {
            self.notes.push(Note::new(Finding::RowsNotChecked, "", "").about(unchecked));
        }
        Ok(())
    }

    /// Whether a pair is a scenario or an agent case, and one side is a baseline that has another digest of the same.
    fn is_digested_otherwise(&self, base_row: u32, new_row: u32) -> bool {
        match (self.base.n_defined(), self.new.n_defined()) {
            (Some(n), None) => u64::from(base_row) < n,
            (None, Some(n)) => u64::from(new_row) < n,
            (Some(_), Some(_)) | (None, None) => false,
        }
    }

    /// The rows of BASE that are not compared, of all or of those that a condition selects.
    pub(in crate::contrast) fn lost(&self, selected: Option<&SelectedRows>) -> Result<LostRows, CompareError> {
        let in_base = |row: u32| selected.is_none_or(|it| it.base.contains(&u64::from(row)));
        let in_new = |row: u32| selected.is_none_or(|it| it.new.contains(&u64::from(row)));
        let is_changed = |place: usize| !self.options.include_changed && self.differing.get(place) == Some(&true);
        let absent: HashSet<u64> =
            self.rows.only_base.iter().filter(|it| in_base(**it)).map(|it| u64::from(*it)).collect();
        let (mut changed, mut left, mut of) = (0, 0, absent.len());
        for (place, (_, new)) in self.rows.shared.iter().enumerate().filter(|it| in_base(it.1.0)) {
            of += 1;
            changed += usize::from(is_changed(place));
            left += usize::from(!is_changed(place) && !in_new(*new));
        }
        let are_answers = !absent.is_empty() && self.holds_answers()? && !self.base.nameless()?.is_disjoint(&absent);
        Ok(LostRows { absent: absent.len(), changed, left, of, are_answers })
    }

    /// Whether the rows of BASE hold the answers that are judged.
    fn holds_answers(&self) -> Result<bool, ViewError> {
        Ok(self.base.recorded()?.iter().any(|it| *it != 0))
    }

    /// Finds judges that others served.
    pub(super) fn compare_served(&mut self) {
        let [was, now] = &self.asked;
        let mut tasks: Vec<&String> = was.served.keys().filter(|it| now.served.contains_key(*it)).collect();
        tasks.sort_unstable();
        let differing = tasks.into_iter().filter(|it| was.served[*it] != now.served[*it]);
        let note = |task: &String| {
            let words = |it: &Asked| listed_all(it.served[task].iter().map(String::as_str));
            Note::new(Finding::JudgeServedDiffers, words(was), words(now)).of_task(task)
        };
        let found: Vec<Note> = differing.map(note).collect();
        self.notes.extend(found);
    }

    /// Says how many pairs rest on the same answers, and how many repetitions count once.
    pub(super) fn note_answers(&mut self, units: &[Unit]) {
        let asked = [&self.asked[0], &self.asked[1]];
        let of_subjects = units.iter().filter(|it| same_answer(asked, self.cases(**it)) == Some(true)).count();
        let n = of_subjects as u64 + self.same_rows().unwrap_or_default();
        if n > 0 {
            self.notes.push(Note::new(Finding::SameAnswers, "", "").about(n));
        }
        let n_dropped = self.dropped.iter().map(|it| it.len() as u64).sum();
        if n_dropped > 0 {
            self.notes.push(Note::new(Finding::ReusedAcrossRepetitions, "", "").about(n_dropped));
        }
    }

    /// How many shared rows hold the same recorded answer.
    fn same_rows(&self) -> Result<u64, ViewError> {
        let (was, now) = (self.base.recorded()?, self.new.recorded()?);
        let [base, new] = [self.base, self.new].map(Table::n_variants);
        let at =
            |of: &[u128], row: u32, n: VariantCount| of.get(n.first(row.into()).index()).copied().filter(|it| *it != 0);
        let is_same = |it: &&(u32, u32)| at(&was, it.0, base).is_some_and(|was| at(&now, it.1, new) == Some(was));
        Ok(self.rows.shared.iter().filter(is_same).count() as u64)
    }
}
