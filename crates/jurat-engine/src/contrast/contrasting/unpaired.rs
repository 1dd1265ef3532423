//! Two sides as independent samples.

use jurat_core::contrast::{About, ChangeCounts, Contrast, Line, PairCounts, Repetitions, adjust, unpaired};
use jurat_core::plan::CaseIx;
use jurat_core::statistics::Tally;
use jurat_store::run::{Code, Column as RunColumn};

use super::Contrasting;
use crate::contrast::CompareError;
use crate::contrast::table::Table;

impl Contrasting<'_> {
    /// Both sides as independent samples.
    pub(super) fn unpaired(&self) -> Result<Contrast, CompareError> {
        let tables = [self.base, self.new];
        if let Some(table) = tables.into_iter().find(|it| it.variants().iter().any(|it| it.1.replicate > 0)) {
            return Err(CompareError::UnpairedRepetitions { side: table.side().name.clone() });
        }
        let mut lines = vec![self.unpaired_line(About::Cases, RunColumn::CASE, RunColumn::CASE)?];
        let mut tasks = Vec::new();
        for (was, now) in self.shared_tasks().iter().filter(|it| it.0.judges) {
            let about = About::Task { id: was.id.clone(), is_condition: was.is_condition };
            tasks.push(self.unpaired_line(about, was.column, now.column)?);
        }
        adjust(&mut tasks.iter_mut().collect::<Vec<_>>(), self.options.confidence);
        lines.extend(tasks);
        let lines = lines.into_iter().map(|it| self.valid(it)).collect();
        let n = |it: &dyn Table| it.side().cases;
        let counts = PairCounts { only_in_base: n(self.base), only_in_new: n(self.new), ..PairCounts::default() };
        Ok(Contrast {
            base: self.places.0,
            new: self.places.1,
            counts,
            notes: self.notes.clone(),
            lines,
            labels: Vec::new(),
            n_changes: ChangeCounts::default(),
            changes: Vec::new(),
            unjudged: Vec::new(),
            only_in_base: Vec::new(),
            only_in_new: Vec::new(),
        })
    }

    pub(super) fn unpaired_line(&self, about: About, base: RunColumn, new: RunColumn) -> Result<Line, CompareError> {
        let codes = self.codes(base, new)?;
        let tally = |table: &dyn Table, codes: &[Option<Code>]| {
            let own: Repetitions = CaseIx::each()
                .zip(codes)
                .filter(|it| table.has(it.0))
                .filter_map(|it| it.1.map(Code::ending))
                .collect();
            Tally { passed: own.passed().into(), judged: own.judged().into() }
        };
        let (base, new) = (tally(self.base, &codes[0]), tally(self.new, &codes[1]));
        Ok(unpaired(about, base, new, self.options.confidence))
    }
}
