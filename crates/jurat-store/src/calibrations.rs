//! The calibrations of a project: how far its judges can be trusted.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jurat_core::calibration::{Calibration, CalibrationError};
use jurat_format::source::{Files, ReadError};

use crate::Disk;

/// The directory with a file for each suite and task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Calibrations(PathBuf);

/// Why a calibration cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CalibrationFileError {
    #[error("`{}` cannot be read: {source}", path.display())]
    Read { path: PathBuf, source: ReadError },
    #[error("`{}`: {source}", path.display())]
    Content { path: PathBuf, source: CalibrationError },
}

/// The largest file: a label has about a hundred bytes.
const MAX_BYTES: u64 = 64 << 20;

impl Calibrations {
    pub(crate) fn new(directory: PathBuf) -> Calibrations {
        Calibrations(directory)
    }

    /// Stores a calibration in place of the one before, and returns its file. A reader finds the whole of one or of the other.
    pub fn store(&self, calibration: &Calibration) -> io::Result<PathBuf> {
        fs::create_dir_all(&self.0)?;
        let path = self.0.join(file_name(&calibration.suite, &calibration.task));
        let new = path.with_extension("json.new");
        fs::write(&new, calibration.to_json())?;
        fs::rename(&new, &path)?;
        Ok(path)
    }

    /// All of them, in the order of their names. Files that cannot be read are returned beside them: a report does without.
    pub fn all(&self) -> (Vec<Calibration>, Vec<CalibrationFileError>) {
        let Ok(entries) = fs::read_dir(&self.0) else { return Default::default() };
        let mut paths: Vec<PathBuf> = entries.filter_map(|it| Some(it.ok()?.path())).collect();
        paths.retain(|it| it.extension().is_some_and(|it| it == "json"));
        paths.sort_unstable();
        let (mut found, mut errors) = (Vec::new(), Vec::new());
        for path in paths {
            match read_calibration(&path) {
                Ok(calibration) => found.push(calibration),
                Err(error) => errors.push(error),
            }
        }
        (found, errors)
    }
}

/// Reads the calibration in a file.
pub fn read_calibration(path: &Path) -> Result<Calibration, CalibrationFileError> {
    let bytes =
        Disk.read(path, MAX_BYTES).map_err(|source| CalibrationFileError::Read { path: path.to_owned(), source })?;
    Calibration::read(&String::from_utf8_lossy(&bytes))
        .map_err(|source| CalibrationFileError::Content { path: path.to_owned(), source })
}

/// `appliance-support.tone.json`; with a digest where characters are left out, so that two names never share a file.
fn file_name(suite: &str, task: &str) -> String {
    let plain = |text: &str| {
        let safe: String =
            text.chars().map(|it| if it.is_ascii_alphanumeric() || it == '_' { it } else { '-' }).collect();
        safe.chars().take(60).collect::<String>().to_ascii_lowercase()
    };
    let name = format!("{}.{}", plain(suite), plain(task));
    if name == format!("{suite}.{task}") {
        return format!("{name}.json");
    }
    let digest = blake3::hash(format!("{suite}\n{task}").as_bytes()).to_hex();
    format!("{name}-{}.json", &digest[..8])
}
