//! The books of a coordinator on disk: every input with its time, one line of JSON each, written before it is answered.
//!
//! The books follow from them, so a coordinator that was killed has them again when it is started. An input whose line is incomplete was never answered, and its process asks again.
//! When the file has grown, one line with the books takes the place of all inputs before.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::ledger::{Input, LeaseReply, Ledger};

/// When the file has grown by this, it is written anew.
const GROWN: u64 = 16 << 20;

/// Why the books cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum LedgerFileError {
    #[error("`{}`: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("`{}` is damaged at line {line}; what was spent is not known. Remove it to begin with an unspent budget", path.display())]
    Damaged { path: PathBuf, line: usize },
    #[error("another coordinator uses `{}`", path.display())]
    InUse { path: PathBuf },
}

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Books(Box<Ledger>),
    At(u64, Input),
}

/// Books that are written down.
#[derive(Debug)]
pub struct LedgerFile {
    path: PathBuf,
    file: File,
    /// How many bytes were written since the file was made.
    grown: u64,
    ledger: Ledger,
}

impl LedgerFile {
    /// Opens the books, or begins them.
    pub fn open(path: &Path) -> Result<LedgerFile, LedgerFileError> {
        let of = |source| LedgerFileError::Io { path: path.to_owned(), source };
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(of)?;
        if file.try_lock().is_err() {
            return Err(LedgerFileError::InUse { path: path.to_owned() });
        }
        let (ledger, whole) = read(path, &file)?;
        // What follows an incomplete line must not become a part of it.
        file.set_len(whole).and_then(|()| file.seek(SeekFrom::End(0))).map_err(of)?;
        Ok(LedgerFile { path: path.to_owned(), file, grown: whole, ledger })
    }

    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Takes in an input and writes it down. What is returned may be said to others.
    pub fn apply(&mut self, at_ms: u64, input: Input) -> Result<Option<LeaseReply>, LedgerFileError> {
        let reply = self.ledger.apply(at_ms, &input);
        self.append(&Line::At(at_ms, input))?;
        if self.grown > GROWN {
            self.write_anew()?;
        }
        Ok(reply)
    }

    fn append(&mut self, line: &Line) -> Result<(), LedgerFileError> {
        let text = text(line);
        self.grown += text.len() as u64;
        self.file.write_all(text.as_bytes()).map_err(|source| LedgerFileError::Io { path: self.path.clone(), source })
    }

    /// Replaces all inputs by the books. The new file is locked before it has the name.
    fn write_anew(&mut self) -> Result<(), LedgerFileError> {
        let new = self.path.with_extension("new");
        let write = || -> io::Result<File> {
            let mut file = File::create(&new)?;
            file.try_lock()?;
            file.write_all(text(&Line::Books(Box::new(self.ledger.clone()))).as_bytes())?;
            file.sync_all()?;
            fs::rename(&new, &self.path)?;
            Ok(file)
        };
        self.file = write().map_err(|source| LedgerFileError::Io { path: self.path.clone(), source })?;
        self.grown = 0;
        Ok(())
    }
}

fn text(line: &Line) -> String {
    serde_json::to_string(line).expect("texts and numbers are JSON") + "\n"
}

/// The books of a file, and how many of its bytes are whole lines.
fn read(path: &Path, file: &File) -> Result<(Ledger, u64), LedgerFileError> {
    let (mut input, mut ledger, mut whole) = (BufReader::new(file), Ledger::default(), 0);
    let mut bytes = Vec::new();
    for number in 1.. {
        bytes.clear();
        let read = input.read_until(b'\n', &mut bytes);
        read.map_err(|source| LedgerFileError::Io { path: path.to_owned(), source })?;
        if bytes.last() != Some(&b'\n') {
            break;
        }
        match serde_json::from_slice(&bytes) {
            Ok(Line::Books(books)) => ledger = *books,
            Ok(Line::At(at_ms, input)) => drop(ledger.apply(at_ms, &input)),
            Err(_) => return Err(LedgerFileError::Damaged { path: path.to_owned(), line: number }),
        }
        whole += bytes.len() as u64;
    }
    Ok((ledger, whole))
}
