//! Runs compared with each other: sides are read column by column, joined by the ids of their rows, and handed to [`jurat_core::contrast`].
//!
//! A column of a million verdicts is a megabyte, and at most two are held at a time; nothing else grows with the number of cases but the list of pairs,
//! and of cases that changed only those that are listed are described.

mod baseline;
mod contrasting;
mod corrected;
mod definition;
mod error;
mod gate;
mod pairing;
mod reference;
mod run_table;
mod selection;
mod spending;
mod table;
mod units;

use std::io::Write;
use std::path::Path;

use jurat_core::calibration::Calibration;
use jurat_core::contrast::provenance::{Finding, Part};
use jurat_core::contrast::{Comparison, Contrast, ScoreTest, SidePair, rank};
use jurat_core::statistics::Confidence;
use jurat_format::problem::listed_all;
use jurat_format::value::FieldPath;
use jurat_store::run::Variant;

pub use baseline::BaselineError;
pub use error::CompareError;
pub(crate) use gate::passes;
pub use gate::{gate, rehearse};
pub(crate) use reference::{Reference, groups_alone};
pub(crate) use selection::Group;
pub use selection::{BadSelection, Dimension, Selection, Unpairable};
pub use units::{FindError, FoundUnits, PairedUnits, ShownUnit, UnitCounts};

use baseline::BaselineTable;
use contrasting::Contrasting;
use pairing::common_keys;
use run_table::RunTable;
use table::Table;

use crate::view::RunView;

/// How sides are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct CompareOptions {
    pub confidence: Confidence,
    /// Whether sides are independent samples.
    pub unpaired: bool,
    /// Whether rows with other content are compared all the same.
    pub include_changed: bool,
    /// What may differ all the same: `suite`.
    pub allow: Vec<String>,
    /// The path of what rows share, in place of the suite's `cluster_by`.
    pub cluster: Option<FieldPath>,
    pub score_test: ScoreTest,
    /// Whether three and more sides are compared on the rows that all of them have.
    pub common: bool,
    /// How many regressions and how many fixes are listed; others are counted. With 0 no changed unit is looked at, which is quicker.
    pub listed: usize,
    /// How many of those are described with what was answered.
    pub described: usize,
    /// How many units that a side could not judge are listed.
    pub most_unjudged: usize,
    /// What is known of judges, by which pass rates are corrected.
    pub calibrations: Vec<Calibration>,
    /// The moment, in milliseconds since 1970: how old calibrations are.
    pub now_ms: u64,
}

impl Default for CompareOptions {
    fn default() -> CompareOptions {
        CompareOptions {
            confidence: Confidence::USUAL,
            unpaired: false,
            include_changed: false,
            allow: Vec::new(),
            cluster: None,
            score_test: ScoreTest::default(),
            common: false,
            listed: usize::MAX,
            described: 10,
            most_unjudged: 0,
            calibrations: Vec::new(),
            now_ms: 0,
        }
    }
}

/// A run or a part of one, opened to be compared.
pub struct ComparedSide(Box<dyn Table>);

impl ComparedSide {
    /// Opens the variants of a run that a selection names; a file whose name ends in `.jsonl` is a baseline.
    pub fn open(path: &Path, selection: &Selection) -> Result<ComparedSide, CompareError> {
        let is_baseline = path.extension().is_some_and(|it| it == "jsonl");
        let table: Box<dyn Table> = match is_baseline {
            true => Box::new(BaselineTable::read(path, selection)?),
            false => Box::new(RunTable::new(RunView::open(path)?, &selection.to_string(), selection)?),
        };
        match table.variants().is_empty() {
            true => Err(no_variant(path, selection)?),
            false => Ok(ComparedSide(table)),
        }
    }

    /// Writes it without its texts, as JSON lines that [`ComparedSide::open`] reads.
    pub fn write_baseline(&self, out: &mut dyn Write) -> Result<(), BaselineError> {
        baseline::write(&*self.0, out)
    }

    /// The sides that a run has by a dimension: one for each prompt, or for each subject; `base` first, when it is named.
    pub fn by(
        path: &Path,
        whole: &Selection,
        dimension: Dimension,
        base: Option<&str>,
    ) -> Result<Vec<ComparedSide>, CompareError> {
        let view = RunView::open(path)?;
        let mut values: Vec<String> = dimension.values(&view.head().variants).into_iter().map(str::to_owned).collect();
        if let Some(base) = base {
            let at = values.iter().position(|it| it == base).ok_or_else(|| CompareError::NoVariant {
                side: whole.with(dimension, base).to_string(),
                dimension: dimension.name(),
                has: listed_all(values.iter().map(String::as_str)),
            })?;
            values[..=at].rotate_right(1);
        }
        if values.len() < 2 {
            let has = listed_all(values.iter().map(String::as_str));
            return Err(CompareError::OneVariant { run: whole.run.clone(), dimension: dimension.name(), has });
        }
        values.iter().map(|it| ComparedSide::open(path, &whole.with(dimension, it))).collect()
    }
}

impl std::fmt::Debug for ComparedSide {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ComparedSide").field(self.0.side()).finish()
    }
}

/// What distinguishes the definition of each task of a run, by its id: whatever of it decides a verdict, apart from the model that judges.
pub fn task_definitions(view: &RunView) -> Result<Vec<(String, String)>, CompareError> {
    let is_meant = |it: &&(Finding, Part)| it.0 != Finding::JudgeModelDiffers;
    let digest = |parts: &[(Finding, Part)]| parts.iter().filter(is_meant).map(|it| it.1.digest.as_str()).collect();
    Ok(definition::definition(view)?.tasks.iter().map(|(id, parts)| (id.clone(), digest(parts))).collect())
}

fn no_variant(path: &Path, selection: &Selection) -> Result<CompareError, CompareError> {
    let whole = ComparedSide::open(path, &Selection::whole(selection.run.clone()))?;
    let variants: Vec<Variant> = whole.0.variants().iter().map(|it| it.1.clone()).collect();
    let dimension = if selection.subject.is_some() { Dimension::Subject } else { Dimension::Prompt };
    let has = dimension.values(&variants);
    let has = if has.iter().all(|it| it.is_empty()) { "not named".to_owned() } else { listed_all(has.iter().copied()) };
    Ok(CompareError::NoVariant { side: selection.to_string(), dimension: dimension.name(), has })
}

/// Compares the first side with each other one.
pub fn compare(sides: &[ComparedSide], options: &CompareOptions) -> Result<Comparison, CompareError> {
    compared(sides, options, &mut |_, _| Ok(()))
}

/// Compares the first side with each other one; with the units of each, for queries.
pub fn compare_with_units(
    sides: &[ComparedSide],
    options: &CompareOptions,
) -> Result<(Comparison, Vec<PairedUnits>), CompareError> {
    let mut units = Vec::new();
    let comparison = compared(sides, options, &mut |contrasting, contrast| {
        units.push(PairedUnits::gather(contrasting, contrast)?);
        Ok(())
    })?;
    Ok((comparison, units))
}

/// Does something with two sides that were compared.
type Take<'t> = dyn FnMut(&Contrasting<'_>, &Contrast) -> Result<(), CompareError> + 't;

fn compared(sides: &[ComparedSide], options: &CompareOptions, take: &mut Take<'_>) -> Result<Comparison, CompareError> {
    let tables: Vec<&dyn Table> = sides.iter().map(|it| &*it.0).collect();
    let common = if options.common { Some(common_keys(&tables)?) } else { None };
    let pair =
        |base: usize, new: usize| Contrasting::new(tables[base], tables[new], (base, new), options, common.as_ref());
    let mut contrasts = Vec::new();
    for new in 1..tables.len() {
        let mut contrasting = pair(0, new)?;
        let contrast = contrasting.whole()?;
        take(&contrasting, &contrast)?;
        contrasts.push(contrast);
    }
    let mut ranking = None;
    if tables.len() > 2 {
        let mut pairs = Vec::new();
        for base in 0..tables.len() {
            for new in base + 1..tables.len() {
                pairs.push(SidePair { base, new, line: pair(base, new)?.headline()?, p_adjusted: None });
            }
        }
        let rate = |side: usize| {
            let of = |it: &&SidePair| it.base == side || it.new == side;
            pairs.iter().find(of).and_then(|it| if it.base == side { it.line.base } else { it.line.new })
        };
        let rates: Vec<Option<f64>> = (0..tables.len()).map(rate).collect();
        ranking = Some(rank(&rates, pairs, options.confidence));
    }
    Ok(Comparison {
        confidence: options.confidence,
        sides: tables.iter().map(|it| it.side().clone()).collect(),
        is_unpaired: options.unpaired,
        contrasts,
        ranking,
    })
}
