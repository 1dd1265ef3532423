//! A run as one HTML file that needs no server, no network and, for what matters most, no script.
//!
//! It is made of the same parts as the pages of the viewer. Verdicts of all cases are packed columns that a script of ours unpacks; details are parts of pages,
//! rendered here. What is left out, because there is more than the limits allow or because its author wants it left out, is counted and said.

mod columns;
mod details;
mod document;
mod links;
mod omitted;
mod packed;

use std::io::{self, Write};
use std::path::PathBuf;

use jurat_core::plan::CaseIx;
use jurat_engine::contrast::{CompareError, ComparedSide, Selection};
use jurat_engine::view::{RunView, ViewError};
use jurat_format::value::FieldPath;
use jurat_report::bytes;

use omitted::Omitted;

use crate::changes::{Compared, Listed};

/// What of a run is in the file.
#[derive(Debug, Clone)]
pub struct FileOptions {
    /// How many cases have details, at most.
    pub cases: usize,
    /// How large the file may be, in bytes.
    pub max_bytes: u64,
    /// Values at these paths of rows are left out, and so are their texts wherever they stand.
    pub omit: Vec<FieldPath>,
    /// Whether only what a replay reproduces is in it.
    pub results_only: bool,
    /// A run that this one is compared with, as BASE.
    pub with: Option<PathBuf>,
    /// The cases that are in the file; all of them when absent.
    pub found: Option<FoundCases>,
}

/// The cases that a query finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundCases {
    pub query: String,
    /// Their numbers, in ascending order.
    pub cases: Vec<u32>,
}

impl Default for FileOptions {
    fn default() -> FileOptions {
        FileOptions {
            cases: 5_000,
            max_bytes: 25 << 20,
            omit: Vec::new(),
            results_only: false,
            with: None,
            found: None,
        }
    }
}

impl FileOptions {
    /// Whether a case is in the file.
    fn has(&self, case: CaseIx) -> bool {
        let is_found =
            |it: &FoundCases| u32::try_from(case.number()).is_ok_and(|case| it.cases.binary_search(&case).is_ok());
        self.found.as_ref().is_none_or(is_found)
    }
}

/// Why the file cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error(transparent)]
    View(#[from] ViewError),
    #[error(transparent)]
    Compare(#[from] CompareError),
    #[error("{0}")]
    Write(#[from] io::Error),
    #[error("without any details the file has {}, more than the {} that `--max-size` allows", bytes(*.size), bytes(*.most))]
    TooLarge { size: u64, most: u64 },
}

/// Writes a run as one HTML document.
pub fn write(view: &RunView, options: &FileOptions, out: &mut dyn Write) -> Result<(), FileError> {
    let omitted = Omitted::find(view, &options.omit)?;
    let comparison = options.with.as_ref().map(|base| compared(view, base)).transpose()?;
    let columns = columns::packed(view, &omitted, options)?;
    let mut document = document::Document::new(view, options, comparison.as_ref(), &omitted, columns)?;
    if document.size() > options.max_bytes {
        return Err(FileError::TooLarge { size: document.size(), most: options.max_bytes });
    }
    document.add_details(view, options, &omitted)?;
    out.write_all(document.finish().as_bytes())?;
    Ok(out.flush()?)
}

/// The comparison with another run, and the cases of it that are listed.
fn compared(view: &RunView, base: &std::path::Path) -> Result<(Compared, Vec<Listed>), CompareError> {
    let name = |path: &std::path::Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let sides = [
        ComparedSide::open(base, &Selection::whole(name(base)))?,
        ComparedSide::open(view.reader().path(), &Selection::whole(view.head().id.clone()))?,
    ];
    let compared = Compared::made(&sides)?;
    let listed = compared.changed(&sides)?;
    Ok((compared, listed))
}
