//! Runs compared with each other: which cases changed, and whether the difference is more than chance.
//!
//! ```
//! use jurat::{Assertion, RunOptions, Suite, compare::equals};
//! use jurat::contrast::{CompareOptions, Word};
//! use serde_json::json;
//!
//! # let directory = tempfile::tempdir()?;
//! let run = |answers: [&str; 3]| {
//!     let rows = answers.iter().enumerate().map(|(ix, it)| json!({ "id": format!("r{ix}"), "status": it }));
//!     let paid = Assertion::new("paid", "status", equals("paid"));
//!     Suite::builder("invoices").records(rows).task(paid).build()?.run(RunOptions::in_directory(directory.path()))
//! };
//! let (base, new) = (run(["paid", "open", "open"])?, run(["paid", "paid", "open"])?);
//!
//! let comparison = base.compare(&new, &CompareOptions::default())?;
//! let contrast = &comparison.contrasts[0];
//! let cases = contrast.headline().expect("three cases are in both");
//! assert_eq!((cases.pairs, cases.word), (3, Word::NotShown));
//! assert_eq!(contrast.changes[0].id, "r1");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::path::Path;

use jurat_engine::contrast::{ComparedSide, compare as compare_sides};

pub use jurat_core::contrast::provenance::{Finding, Note};
pub use jurat_core::contrast::{
    About, Change, ChangeSide, Comparison, Contrast, Direction, LabelChanges, Line, PairCounts, Payer, Ranking,
    ScoreTest, Side, SidePair,
};
pub use jurat_core::statistics::{Confidence, Word};
pub use jurat_engine::contrast::{CompareError, CompareOptions, Dimension, Selection};

use crate::{Error, Run};

/// Compares the first of some sides with each other one. A side is `RUN`, `RUN@subject=NAME` or `RUN@prompt=NAME,subject=NAME`, and a run is named as everywhere.
pub fn compare(
    directory: impl AsRef<Path>,
    sides: &[impl AsRef<str>],
    options: &CompareOptions,
) -> Result<Comparison, Error> {
    let open = |side: &str| -> Result<ComparedSide, Error> {
        let selection = Selection::parse(side).map_err(|it| Error::Usage(it.to_string()))?;
        let path = Run::find_file(directory.as_ref(), &selection.run)?;
        ComparedSide::open(&path, &selection).map_err(error)
    };
    let sides = sides.iter().map(|it| open(it.as_ref())).collect::<Result<Vec<_>, _>>()?;
    compare_sides(&sides, options).map_err(error)
}

/// Compares the variants of one run with each other: its prompts, or its subjects. The one named `base` is BASE, else the first of the suite.
pub fn compare_by(
    directory: impl AsRef<Path>,
    run: &str,
    dimension: Dimension,
    base: Option<&str>,
    options: &CompareOptions,
) -> Result<Comparison, Error> {
    let selection = Selection::parse(run).map_err(|it| Error::Usage(it.to_string()))?;
    let path = Run::find_file(directory.as_ref(), &selection.run)?;
    let sides = ComparedSide::by(&path, &selection, dimension, base).map_err(error)?;
    compare_sides(&sides, options).map_err(error)
}

impl Run {
    /// Compares another run with this one, which is BASE: case by case, by the ids of their rows.
    pub fn compare(&self, new: &Run, options: &CompareOptions) -> Result<Comparison, Error> {
        let side = |run: &Run| ComparedSide::open(&run.path(), &Selection::whole(run.id())).map_err(error);
        compare_sides(&[side(self)?, side(new)?], options).map_err(error)
    }
}

pub(crate) fn error(error: CompareError) -> Error {
    match error {
        CompareError::NothingShared { .. } => Error::Nothing(error.to_string()),
        CompareError::View(_) | CompareError::File { .. } | CompareError::Baseline { .. } => {
            Error::Read(Box::new(error))
        }
        other => Error::Usage(other.to_string()),
    }
}
