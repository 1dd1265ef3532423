//! A definition as every command reads it: from disk, with a look at the first rows of its data.

use std::path::{Path, PathBuf};

use jurat_core::plan::{self, Samples};
use jurat_core::suite::problem::{Problem, Severity};
use jurat_core::suite::source::Sources;
use jurat_core::suite::{Loaded, Records, RowFile, RowSource, Suite, bad_row, file_without_rows, load, unreadable};
use jurat_core::value::Value;
use jurat_store::Disk;
use jurat_store::records::{Ids, RowAt, RowNames, SampleError, SampleLimits, row_id, sample};

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
        let mut ids = Ids::new(RowNames::of(records));
        match &records.from {
            RowSource::StandardInput => samples.is_partial = true,
            RowSource::Inline(rows) => {
                for (ix, row) in rows.iter().enumerate() {
                    problems.extend(bad_id(records, &mut ids, &row.value, (0, ix)).map(|why| bad_row(row.span, &why)));
                    samples.rows.push(row.value.clone());
                }
            }
            RowSource::Files(files) => {
                for (source, file) in files.iter().enumerate() {
                    let rows = file_sample(records, file, &mut samples.is_partial, problems);
                    let wrong =
                        rows.iter().enumerate().find_map(|(ix, row)| bad_id(records, &mut ids, row, (source, ix)));
                    problems.extend(wrong.map(|why| bad_row(file.written.span, &why)));
                    samples.rows.extend(rows);
                }
            }
        }
    }
    samples
}

fn file_sample(records: &Records, file: &RowFile, is_partial: &mut bool, problems: &mut Vec<Problem>) -> Vec<Value> {
    let RowFile { written, path } = file;
    let error = match sample(path, records.format.map(Into::into), SampleLimits::default()) {
        Ok(sample) => {
            if sample.rows.is_empty() {
                problems.push(file_without_rows(written.span, &written.value));
            }
            return sample.rows.into_iter().map(|it| typed(records, it)).collect();
        }
        Err(error) => error,
    };
    *is_partial = true;
    if !matches!(error, SampleError::Unsupported(_)) {
        let is_missing = matches!(error, SampleError::NotFound);
        problems.push(unreadable(written.span, &written.value, &error.to_string(), is_missing));
    }
    Vec::new()
}

/// What a run would say about the id of this row, by source and number.
fn bad_id(records: &Records, ids: &mut Ids, row: &Value, (source, ix): (usize, usize)) -> Option<String> {
    let number = ix as u64 + 1;
    let at = RowAt { range: 0..0, source: u32::try_from(source).ok()?, number, line: number, offset: None };
    let name = RowNames::of(records).row(at.source, number);
    match row_id(row, records.id.as_ref().map(|it| &it.value), &row.to_json()) {
        Err(error) => Some(format!("{name}: {error}")),
        Ok(id) => ids.admit(id, &at).err().map(|it| it.to_string()),
    }
}

/// The row with the columns that `types` says are not text.
fn typed(records: &Records, row: Value) -> Value {
    records.types.iter().fold(row, |row, (column, kind)| kind.apply(row, &column.value))
}
