//! The format of a file, as its name says it.

use std::path::Path;

use jurat_core::suite::RowFormat;

use super::{SampleError, dataset};

/// The endings of file names and what they mean, in the order messages list them.
pub(super) const ENDINGS: [(&str, RowFormat); 12] = [
    ("jsonl", RowFormat::JsonLines),
    ("ndjson", RowFormat::JsonLines),
    ("json", RowFormat::Json),
    ("csv", RowFormat::Csv),
    ("tsv", RowFormat::Tsv),
    ("tab", RowFormat::Tsv),
    ("yaml", RowFormat::Yaml),
    ("yml", RowFormat::Yaml),
    ("xlsx", RowFormat::Xlsx),
    ("parquet", RowFormat::Parquet),
    ("arrow", RowFormat::Arrow),
    ("feather", RowFormat::Arrow),
];

/// The format that a file's name says, in whatever case it is written. A folder may be a dataset.
pub(super) fn format_of(path: &Path) -> Result<RowFormat, SampleError> {
    if dataset::is_one(path) {
        return Ok(RowFormat::Dataset);
    }
    let ending = path.extension().map(|it| it.to_string_lossy().into_owned());
    let known = |ending: &str| ENDINGS.iter().find(|(known, _)| known.eq_ignore_ascii_case(ending));
    match ending.as_deref().and_then(known) {
        Some((_, format)) => Ok(*format),
        None => Err(SampleError::UnknownFormat { ending }),
    }
}
