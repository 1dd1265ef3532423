//! How many units are paired, and what became of the others.

use jurat_core::contrast::{Ending, PairCounts, Repetitions, Standing};
use jurat_store::run::Code;

use super::{Contrasting, Unit};
use crate::contrast::pairing::Column;
use crate::contrast::selection::Group;

impl Contrasting<'_> {
    /// What is paired with what, and the units that can be compared.
    pub(super) fn counts(&self, codes: &[Vec<Option<Code>>; 2]) -> (PairCounts, Vec<Unit>) {
        let mut counts = PairCounts {
            key: self.groups.key.iter().map(|it| it.name()).collect(),
            by_content: self.base.is_by_content().unwrap_or(false) && self.new.is_by_content().unwrap_or(false),
            cluster_by: self.cluster_by.clone(),
            ..PairCounts::default()
        };
        let mut transitions = [[0_u64; MIXED + 1]; MIXED + 1];
        let mut units = Vec::new();
        self.each(codes, |unit, base, new| {
            match base.against(new) {
                Standing::Pair => counts.pairs += 1,
                Standing::Unknown => counts.unknown += 1,
                Standing::NotApplicable => counts.not_applicable += 1,
            }
            counts.repeat = [counts.repeat[0].max(base.n()), counts.repeat[1].max(new.n())];
            transitions[word_place(base)][word_place(new)] += 1;
            if !self.asked.iter().all(|it| it.cases.is_empty()) {
                units.push(unit);
            }
        });
        for (was, of_was) in transitions.iter().enumerate() {
            for (now, n) in of_was.iter().enumerate().filter(|it| *it.1 > 0) {
                counts.changes.insert((word_at(was), word_at(now)), *n);
            }
        }
        self.count_others(codes, &mut counts);
        (counts, units)
    }

    /// The units that one side lacks, and those that ask something else.
    fn count_others(&self, codes: &[Vec<Option<Code>>; 2], counts: &mut PairCounts) {
        let (base, new) = (Column::new(&codes[0], self.base), Column::new(&codes[1], self.new));
        for Group { base: of_base, new: of_new, .. } in &self.groups.groups {
            let is_in = |column: &Column<'_>, row: u32, of: &[usize]| column.unit(row, of).n() > 0;
            for (row, (base_row, new_row)) in self.rows.shared.iter().enumerate() {
                match (is_in(&base, *base_row, of_base), is_in(&new, *new_row, of_new)) {
                    (true, true) if self.differs(row) && self.options.include_changed => {
                        counts.changed_included += 1;
                    }
                    (true, true) if self.differs(row) => counts.changed += 1,
                    (true, false) => counts.only_in_base += 1,
                    (false, true) => counts.only_in_new += 1,
                    _ => {}
                }
            }
            let alone = |column: &Column<'_>, rows: &[u32], of: &[usize]| {
                rows.iter().filter(|it| is_in(column, **it, of)).count() as u64
            };
            counts.only_in_base += alone(&base, &self.rows.only_base, of_base);
            counts.only_in_new += alone(&new, &self.rows.only_new, of_new);
        }
    }
}

/// The place of units whose repetitions ended differently, behind those of all words.
const MIXED: usize = Ending::COUNT;

fn word_place(unit: &Repetitions) -> usize {
    unit.only().map_or(MIXED, |it| it as usize)
}

fn word_at(place: usize) -> String {
    Ending::ALL.get(place).map_or("mixed", |it| it.name()).to_owned()
}
