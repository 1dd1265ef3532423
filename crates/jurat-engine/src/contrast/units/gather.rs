//! Gathers the units of two sides that were compared.

use jurat_core::contrast::{ChangeKind, ChangeTests, Contrast, Repetitions};
use jurat_store::run::Column as RunColumn;

use super::{NO_ROW, PairedUnit, PairedUnits, UnitCounts};
use crate::contrast::CompareError;
use crate::contrast::contrasting::{CRITICAL, Contrasting};
use crate::contrast::pairing::Column;
use crate::contrast::selection::Group;
use crate::contrast::spending::{UnitCases, same_answer};

impl PairedUnits {
    /// The units of two sides; `contrast` is what was found about them.
    pub(in crate::contrast) fn gather(
        sides: &Contrasting<'_>,
        contrast: &Contrast,
    ) -> Result<PairedUnits, CompareError> {
        let mut gathered =
            Gathered { sides, units: Vec::with_capacity(sides.rows.shared.len()), tests: ChangeTests::default() };
        gathered.add_all()?;
        gathered.units.sort_unstable_by_key(|it| (it.rows, it.group));
        gathered.mark_redefined(contrast)?;
        gathered.mark_changed()?;
        Ok(PairedUnits {
            counts: UnitCounts::of(&gathered.units),
            units: gathered.units,
            groups: sides.groups.groups.clone(),
            dropped: sides.dropped.clone(),
            tested: gathered.tests.finish(contrast.counts.pairs),
        })
    }
}

struct Gathered<'g> {
    sides: &'g Contrasting<'g>,
    units: Vec<PairedUnit>,
    tests: ChangeTests,
}

impl Gathered<'_> {
    fn add_all(&mut self) -> Result<(), CompareError> {
        let codes = self.sides.codes(RunColumn::CASE, RunColumn::CASE)?;
        let columns = [Column::new(&codes[0], self.sides.base), Column::new(&codes[1], self.sides.new)];
        let rows = &self.sides.rows;
        for (place, (base, new)) in rows.shared.iter().enumerate() {
            let is_compared = self.sides.options.include_changed || !self.sides.differs(place);
            self.add_row([*base, *new], &columns, is_compared);
        }
        rows.only_base.iter().for_each(|it| self.add_row([*it, NO_ROW], &columns, true));
        rows.only_new.iter().for_each(|it| self.add_row([NO_ROW, *it], &columns, true));
        Ok(())
    }

    fn add_row(&mut self, rows: [u32; 2], columns: &[Column<'_>; 2], is_compared: bool) {
        for (group, Group { base, new, .. }) in self.sides.groups.groups.iter().enumerate() {
            let [was, now] = [0, 1].map(|side| match rows[side] {
                NO_ROW => Repetitions::default(),
                row => columns[side].unit(row, if side == 0 { base } else { new }),
            });
            let kind = match (was.n() > 0, now.n() > 0) {
                (false, false) => continue,
                (true, true) if !is_compared => ChangeKind::OtherRow,
                _ => ChangeKind::of(&was, &now),
            };
            if matches!(kind, ChangeKind::Regression | ChangeKind::Fix) {
                self.tests.add([was.passed(), was.judged(), now.passed(), now.judged()]);
            }
            // A row of both sides may have a variant on one of them alone.
            let rows = [(was, rows[0]), (now, rows[1])].map(|(unit, row)| if unit.n() > 0 { row } else { NO_ROW });
            let size = was.rate().zip(now.rate()).map_or(0.0, |(was, now)| (now - was).abs() as f32);
            let (same_answer, is_redefined, is_critical) = (None, false, false);
            self.units.push(PairedUnit {
                rows,
                group: group as u32,
                size,
                kind,
                same_answer,
                is_redefined,
                is_critical,
            });
        }
    }

    /// Marks units in which a task ended otherwise that is defined otherwise.
    fn mark_redefined(&mut self, contrast: &Contrast) -> Result<(), CompareError> {
        for (was, now) in self.sides.shared_tasks().into_iter().filter(|it| contrast.is_redefined(&it.0.id)) {
            let codes = self.sides.codes(was.column, now.column)?;
            let columns = [Column::new(&codes[0], self.sides.base), Column::new(&codes[1], self.sides.new)];
            for unit in self.units.iter_mut().filter(|it| it.kind.is_change()) {
                let Group { base, new, .. } = &self.sides.groups.groups[unit.group as usize];
                let rates =
                    [columns[0].unit(unit.rows[0], base), columns[1].unit(unit.rows[1], new)].map(|it| it.rate());
                unit.is_redefined |= rates[0] != rates[1];
            }
        }
        Ok(())
    }

    /// Says of units that changed whether both sides rest on the same answer, and whether they are critical.
    fn mark_changed(&mut self) -> Result<(), CompareError> {
        let Contrasting { base, new, groups, asked, .. } = self.sides;
        let cases = |unit: &PairedUnit| {
            let group = &groups.groups[unit.group as usize];
            [UnitCases::of(*base, unit.rows[0], &group.base), UnitCases::of(*new, unit.rows[1], &group.new)]
        };
        let first = |unit: &PairedUnit| cases(unit)[0].first();
        let mut wanted = Vec::new();
        for unit in self.units.iter_mut().filter(|it| it.kind.is_change()) {
            unit.same_answer = same_answer([&asked[0], &asked[1]], cases(unit));
            let case = first(unit).index();
            wanted.resize(wanted.len().max(case + 1), false);
            wanted[case] = true;
        }
        let critical = base.tagged_cases(CRITICAL, &wanted)?;
        for unit in self.units.iter_mut().filter(|it| it.kind.is_change()) {
            unit.is_critical = critical.contains(&first(unit));
        }
        Ok(())
    }
}
