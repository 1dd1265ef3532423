//! A definition as every command reads it: from disk, with a look at the first rows of its data.

use std::path::{Path, PathBuf};

use jurat_core::plan::{self, Samples};
use jurat_core::suite::problem::{Problem, Severity};
use jurat_core::suite::source::Sources;
use jurat_core::suite::{Loaded, Records, RowSource, Suite, load, unreadable};
use jurat_core::value::Value;
use jurat_store::Disk;
use jurat_store::records::{SampleError, SampleLimits, sample};

/// The suite that is found by itself.
pub(crate) const DEFAULT: &str = "jurat.yaml";

/// One suite and what is wrong with it.
pub(crate) struct Definition {
    pub(crate) file: PathBuf,
    pub(crate) suite: Suite,
    pub(crate) sources: Sources,
    pub(crate) problems: Vec<Problem>,
    pub(crate) samples: Samples,
}

impl Definition {
    /// Reads a definition and finds everything that is wrong with it.
    pub(crate) fn read(file: &Path) -> Definition {
        let Loaded { suite, sources, mut problems } = load(file, &Disk);
        let samples = sampled(&suite, &mut problems);
        problems.extend(plan::examine(&suite, &samples));
        Definition { file: file.to_owned(), suite, sources, problems, samples }
    }

    /// Whether anything stands in the way of running it.
    pub(crate) fn has_errors(&self) -> bool {
        self.problems.iter().any(|it| it.severity() == Severity::Error)
    }
}

/// The first rows of each source. What cannot be looked at now (standard input, Parquet) makes the sample partial.
fn sampled(suite: &Suite, problems: &mut Vec<Problem>) -> Samples {
    let mut samples = Samples::default();
    for records in &suite.records {
        match &records.from {
            RowSource::StandardInput => samples.is_partial = true,
            RowSource::Inline(rows) => samples.rows.extend(rows.iter().map(|it| it.value.clone())),
            RowSource::Files(files) => {
                for file in files {
                    match sample(&file.path, records.format.map(Into::into), SampleLimits::default()) {
                        Ok(sample) => samples.rows.extend(sample.rows.into_iter().map(|it| typed(records, it))),
                        Err(SampleError::Unsupported(_)) => samples.is_partial = true,
                        Err(error) => {
                            samples.is_partial = true;
                            let missing = matches!(error, SampleError::NotFound);
                            problems.push(unreadable(
                                file.written.span,
                                &file.written.value,
                                &error.to_string(),
                                missing,
                            ));
                        }
                    }
                }
            }
        }
    }
    samples
}

/// The row with the columns that `types` says are not text.
fn typed(records: &Records, row: Value) -> Value {
    records.types.iter().fold(row, |row, (column, kind)| kind.apply(row, &column.value))
}
