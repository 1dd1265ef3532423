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

use std::path::{Path, PathBuf};

use jurat_engine::contrast::{ComparedSide, compare as compare_sides};
use jurat_engine::now_ms;

pub use jurat_core::contrast::provenance::{Finding, Note};
pub use jurat_core::contrast::{
    About, Change, ChangeCounts, ChangeSide, Comparison, Contrast, Direction, LabelChanges, Line, PairCounts, Payer,
    Ranking, ScoreTest, Side, SidePair,
};
pub use jurat_core::statistics::{Confidence, Word};
pub use jurat_engine::contrast::{CompareError, CompareOptions, Dimension, Selection};

use crate::calibration::stored;
use crate::{Error, Run};

/// A side of a comparison: a run or a baseline, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SideName {
    /// `RUN`, `RUN@subject=NAME` or `RUN@prompt=NAME,subject=NAME`, where a run is named as everywhere: a file, the beginning of its name, or `latest`.
    Text(String),
    /// The whole of an open run, which is shown by its id.
    Run {
        /// The file of the run.
        file: PathBuf,
        /// The name that reports have for it.
        id: String,
    },
}

impl From<&str> for SideName {
    fn from(side: &str) -> SideName {
        SideName::Text(side.to_owned())
    }
}

impl From<&String> for SideName {
    fn from(side: &String) -> SideName {
        SideName::Text(side.clone())
    }
}

impl From<&Run> for SideName {
    fn from(run: &Run) -> SideName {
        SideName::Run { file: run.path(), id: run.id().to_owned() }
    }
}

impl SideName {
    /// The file, and which of its variants. Names are looked up in the project that a directory belongs to.
    pub(crate) fn found(&self, directory: &Path) -> Result<(PathBuf, Selection), Error> {
        match self {
            SideName::Run { file, id } => Ok((file.clone(), Selection::whole(id))),
            SideName::Text(side) => {
                let selection = Selection::parse(side).map_err(|it| Error::Usage(it.to_string()))?;
                Ok((Run::find_file(directory, &selection.run)?, selection))
            }
        }
    }

    pub(crate) fn open(&self, directory: &Path) -> Result<ComparedSide, Error> {
        let (file, selection) = self.found(directory)?;
        ComparedSide::open(&file, &selection).map_err(error)
    }
}

/// Compares the first of some sides with each other one.
pub fn compare(
    directory: impl AsRef<Path>,
    sides: impl IntoIterator<Item: Into<SideName>>,
    options: &CompareOptions,
) -> Result<Comparison, Error> {
    let open = |side: SideName| side.open(directory.as_ref());
    let sides = sides.into_iter().map(|it| open(it.into())).collect::<Result<Vec<_>, _>>()?;
    compare_sides(&sides, &calibrated(directory.as_ref(), options)).map_err(error)
}

/// The same options with the calibrations of the project, where none are given.
pub(crate) fn calibrated(directory: &Path, options: &CompareOptions) -> CompareOptions {
    let mut options = CompareOptions { now_ms: now_ms(), ..options.clone() };
    if options.calibrations.is_empty() {
        options.calibrations = stored(directory);
    }
    options
}

/// Compares the variants of one run with each other: its prompts, or its subjects. The one named `base` is BASE, else the first of the suite.
pub fn compare_by(
    directory: impl AsRef<Path>,
    run: impl Into<SideName>,
    dimension: Dimension,
    base: Option<&str>,
    options: &CompareOptions,
) -> Result<Comparison, Error> {
    let (path, selection) = run.into().found(directory.as_ref())?;
    let sides = ComparedSide::by(&path, &selection, dimension, base).map_err(error)?;
    compare_sides(&sides, &calibrated(directory.as_ref(), options)).map_err(error)
}

impl Run {
    /// Compares another run with this one, which is BASE: case by case, by the ids of their rows.
    pub fn compare(&self, new: &Run, options: &CompareOptions) -> Result<Comparison, Error> {
        // Neither is looked up by a name; calibrations are those of the project that the run is in.
        let project = new.path().parent().map(Path::to_owned).unwrap_or_default();
        compare(project, [self, new], options)
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
