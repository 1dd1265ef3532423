//! Datasets of Hugging Face on disk: a folder that the library `datasets` wrote with `save_to_disk`, or one with Parquet files beside `dataset_info.json`.
//!
//! `state.json` lists the files of a split in order. Without it, Arrow files of the folder, else its Parquet files, are read in the order of their names.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use jurat_format::problem::listed;
use jurat_format::value::{Val, parse_json};

use super::chunk::Delivery;
use super::table::{self, Batch};
use super::{RowsFault, SampleError, arrow, parquet};
use crate::bounded::{Bytes, open, read_at_most};

const STATE: &str = "state.json";
const INFO: &str = "dataset_info.json";
const SPLITS: &str = "dataset_dict.json";

/// The most bytes of a file that describes a dataset.
const MOST_BYTES: u64 = 16 << 20;

/// Whether a path is the folder of a dataset.
pub(super) fn is_one(path: &Path) -> bool {
    [STATE, INFO, SPLITS].iter().any(|it| path.join(it).is_file())
}

pub(super) fn read(folder: &Path, delivery: &mut Delivery<'_>) -> Result<ControlFlow<()>, RowsFault> {
    let usual = delivery.limits.chunk as u64;
    let mut files = files(folder)?.into_iter();
    let mut current: Box<dyn Iterator<Item = Batch>> = Box::new(std::iter::empty());
    let batches = std::iter::from_fn(move || {
        loop {
            if let Some(batch) = current.next() {
                return Some(batch);
            }
            match shard(&files.next()?, usual) {
                Ok(batches) => current = batches,
                Err(error) => return Some(Err(error)),
            }
        }
    });
    table::read(batches, delivery)
}

fn shard(path: &Path, usual: u64) -> Result<Box<dyn Iterator<Item = Batch>>, SampleError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let wrong = |error: SampleError| SampleError::Shard { name: name.clone(), error: Box::new(error) };
    let (file, _) = open(path).map_err(|it| wrong(it.into()))?;
    let is_parquet = path.extension().is_some_and(|it| it.eq_ignore_ascii_case("parquet"));
    let batches: Box<dyn Iterator<Item = Batch>> = if is_parquet {
        Box::new(parquet::batches(file, usual).map_err(&wrong)?)
    } else {
        arrow::batches(file).map_err(&wrong)?
    };
    let wrong = move |error: SampleError| SampleError::Shard { name: name.clone(), error: Box::new(error) };
    Ok(Box::new(batches.map(move |it| it.map_err(&wrong))))
}

/// The files with the rows, in order.
fn files(folder: &Path) -> Result<Vec<PathBuf>, SampleError> {
    if !folder.join(STATE).is_file() && folder.join(SPLITS).is_file() {
        return Err(SampleError::Dataset { message: several_splits(folder)? });
    }
    if folder.join(STATE).is_file() {
        return listed_files(folder);
    }
    let mut names: Vec<PathBuf> = fs::read_dir(folder)?.flatten().map(|it| it.path()).collect();
    names.sort();
    let with = |ending: &str| -> Vec<PathBuf> {
        let has = |it: &&PathBuf| it.extension().is_some_and(|it| it.eq_ignore_ascii_case(ending));
        names.iter().filter(has).cloned().collect()
    };
    let found = [with("arrow"), with("parquet")].into_iter().find(|it| !it.is_empty());
    found.ok_or_else(|| SampleError::Dataset { message: "it has neither Arrow nor Parquet files".to_owned() })
}

/// The files that the state of a dataset lists. They lie in the folder itself.
fn listed_files(folder: &Path) -> Result<Vec<PathBuf>, SampleError> {
    let state = document(folder, STATE)?;
    let wrong = |message: &str| SampleError::Dataset { message: format!("`{STATE}` {message}") };
    if state.get("_indices_data_files").is_some_and(|it| !matches!(it, Val::Null)) || has_indices(&state) {
        return Err(wrong("selects rows by indices; call `flatten_indices()` before `save_to_disk`"));
    }
    let files = state.get("_data_files").and_then(Val::as_list).ok_or_else(|| wrong("has no `_data_files`"))?;
    let file = |it: &Val<'_>| {
        let name = it.get("filename").and_then(Val::as_str).ok_or_else(|| wrong("has a file without `filename`"))?;
        let is_plain = Path::new(name).components().count() == 1 && !name.starts_with('.');
        if is_plain { Ok(folder.join(name)) } else { Err(wrong("names a file outside of the folder")) }
    };
    files.iter().map(file).collect()
}

fn has_indices(state: &Val<'_>) -> bool {
    state.get("_indices_files").and_then(Val::as_list).is_some_and(|it| !it.is_empty())
}

fn several_splits(folder: &Path) -> Result<String, SampleError> {
    let splits = document(folder, SPLITS)?;
    let names: Vec<String> = splits
        .get("splits")
        .and_then(Val::as_list)
        .unwrap_or_default()
        .iter()
        .filter_map(|it| Some(it.as_str()?.to_owned()))
        .collect();
    let first = names.first().map_or("train", String::as_str);
    let splits = listed(names.iter().map(String::as_str));
    Ok(format!(
        "it has splits: {splits}; name one of them: `{}/{first}`",
        folder.file_name().unwrap_or_default().to_string_lossy()
    ))
}

fn document(folder: &Path, name: &str) -> Result<Val<'static>, SampleError> {
    let (file, size) = open(&folder.join(name))?;
    let bytes = match read_at_most(file, size, MOST_BYTES)? {
        Bytes::Whole(bytes) | Bytes::Start(bytes) => bytes,
    };
    let wrong = |why: String| SampleError::Dataset { message: format!("`{name}` cannot be read: {why}") };
    let text = String::from_utf8(bytes).map_err(|it| wrong(it.to_string()))?;
    Ok(parse_json(&text).map_err(|it| wrong(it.to_string()))?.value.into_owned())
}
