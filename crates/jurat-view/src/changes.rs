//! Runs compared, and which of their cases are listed.

use jurat_core::contrast::{ChangeKind, Comparison, Contrast};
use jurat_engine::contrast::{
    CompareError, CompareOptions, ComparedSide, FindError, FoundUnits, PairedUnits, ShownUnit, UnitCounts,
    compare_with_units,
};
use jurat_engine::view::query::quoted_name;

/// How many cases a page has; of several NEWs each.
pub(crate) const ROWS: usize = 50;

/// Runs compared, with the units of each NEW.
#[derive(Debug)]
pub(crate) struct Compared {
    pub(crate) comparison: Comparison,
    units: Vec<PairedUnits>,
}

/// The cases of one NEW that a page shows.
#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) rows: Vec<ShownUnit>,
    /// How many the query finds.
    pub(crate) n_fitting: u64,
    /// The terms of the query, each with the query that is left without it.
    pub(crate) terms: Vec<(String, String)>,
    pub(crate) counts: UnitCounts,
}

impl Compared {
    pub(crate) fn made(sides: &[ComparedSide]) -> Result<Compared, CompareError> {
        // Cases are listed from the units, and looked at when they are shown.
        let options = CompareOptions { listed: 0, described: 0, ..CompareOptions::default() };
        let (comparison, units) = compare_with_units(sides, &options)?;
        Ok(Compared { comparison, units })
    }

    /// How many units it has: what it needs in memory.
    pub(crate) fn n_units(&self) -> usize {
        self.units.iter().map(PairedUnits::len).sum()
    }

    /// The cases that a query finds, for each NEW, without the first `from` of them.
    pub(crate) fn listed(&self, sides: &[ComparedSide], q: &str, from: u64) -> Result<Vec<Listed>, FindError> {
        let start = usize::try_from(from).unwrap_or(usize::MAX);
        let each = self.comparison.contrasts.iter().zip(&self.units);
        each.map(|(contrast, units)| {
            let sides = [&sides[contrast.base], &sides[contrast.new]];
            Ok(Listed::of(units, sides, units.find(sides, q)?, start)?)
        })
        .collect()
    }

    /// The first cases that ended otherwise or could not be judged, for each NEW.
    pub(crate) fn changed(&self, sides: &[ComparedSide]) -> Result<Vec<Listed>, CompareError> {
        let each = self.comparison.contrasts.iter().zip(&self.units);
        let of = |(contrast, units): (&Contrast, &PairedUnits)| {
            Listed::of(units, [&sides[contrast.base], &sides[contrast.new]], units.changed(), 0)
        };
        each.map(of).collect()
    }
}

impl Listed {
    fn of(
        units: &PairedUnits,
        sides: [&ComparedSide; 2],
        found: FoundUnits,
        start: usize,
    ) -> Result<Listed, CompareError> {
        let shown = found.units.iter().skip(start).take(ROWS);
        Ok(Listed {
            rows: shown.map(|it| units.shown(sides, *it)).collect::<Result<_, _>>()?,
            n_fitting: found.units.len() as u64,
            terms: found.terms,
            counts: units.counts().clone(),
        })
    }
}

/// The term for a task that changed in some way.
pub(crate) fn of_task(task: &str, kind: ChangeKind) -> String {
    format!("change:{}={}", quoted_name(task), kind.name())
}
