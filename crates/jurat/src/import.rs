//! Files of other tools as suites, rows and runs of jurat.
//!
//! [`import`] reads files and returns what is to be written, with a [`Report`] of what was taken over exactly, approximately, and not at
//! all; [`write()`] writes it and replaces nothing. Large files are read piece by piece, where their format allows it, and the rows that come of them wait in a
//! temporary file: what grows with them in memory is the report, which has an entry for each thing that was read.
//!
//! ```
//! use jurat::import::{Options, import, write};
//!
//! # let directory = tempfile::tempdir()?;
//! # let directory = directory.path();
//! let config = r#"
//! prompts: ["Say hello to {{name}}"]
//! providers: [openai:gpt-5-mini]
//! tests:
//!   - vars: { name: Ada }
//!     assert: [{ type: icontains, value: hello }, { type: is-xml }]
//! "#;
//! std::fs::write(directory.join("promptfooconfig.yaml"), config)?;
//! let imported = import(&[directory.join("promptfooconfig.yaml")], None, &Options::default())?;
//! assert_eq!(imported.summary, "1 row, 1 prompt, 1 model, 1 task");
//! let totals = imported.report.totals();
//! assert_eq!((totals.exact, totals.approximate, totals.dropped), (4, 0, 1));
//! write(&imported, &directory.join("suite"))?;
//! assert!(directory.join("suite/suite.yaml").exists());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use jurat_format::problem::listed_all;
use jurat_format::source::{Files as _, ReadError};
use jurat_import::{Folder, Input, Reader, Source, Spool};
use jurat_store::Disk;

pub use jurat_import::{
    By, Class, Contents, Entry, ImportError, Imported, KINDS, Kind, NewFile, Options, Report, Rows, Totals, Unfinished,
};

/// The most files that are looked at below the folder of a configuration.
const MAX_FILES: usize = 5000;

/// Why an import or its writing failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The files cannot be imported.
    #[error("{0}")]
    Import(#[from] ImportError),
    /// A file cannot be read at all.
    #[error("`{path}` cannot be read: {reason}")]
    Read {
        /// The file.
        path: String,
        /// Why.
        reason: String,
    },
    /// Files would be replaced.
    #[error("{names} are in `{directory}` already, and nothing was written; name another directory")]
    Exists {
        /// The files.
        names: String,
        /// The directory.
        directory: String,
    },
    /// The result cannot be written.
    #[error("`{path}` cannot be written: {reason}")]
    Write {
        /// The file.
        path: String,
        /// Why.
        reason: String,
    },
}

/// Imports files. A directory stands for its configuration of promptfoo, else for its files. Without `from` the content says what they are.
pub fn import(paths: &[PathBuf], from: Option<&'static Kind>, options: &Options) -> Result<Imported, Error> {
    let files = paths.iter().map(|it| sources(it)).collect::<Result<Vec<_>, _>>()?.concat();
    let mut inputs = Vec::new();
    for file in &files {
        let source = OnDisk::new(file).map_err(|it| unreadable(file, &it))?;
        // Places are named from the folder of a configuration, wherever the command runs.
        let name = file.file_name().map_or_else(|| file.display().to_string(), |it| it.to_string_lossy().into_owned());
        inputs.push(Input::open(name, Box::new(source))?);
    }
    let folder = files.first().and_then(|it| it.parent()).unwrap_or(Path::new(""));
    let spool = TemporaryFile::new().map_err(|error| ImportError::Spool { why: error.to_string() })?;
    Ok(jurat_import::import_with(&inputs, from, &Beside::new(folder), options, Box::new(spool))?)
}

/// A file that is opened each time it is read.
#[derive(Debug)]
struct OnDisk {
    path: PathBuf,
    n_bytes: u64,
}

impl OnDisk {
    fn new(path: &Path) -> Result<OnDisk, ReadError> {
        let metadata = fs::metadata(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => ReadError::NotFound,
            _ => ReadError::Other(error.to_string()),
        })?;
        // A pipe cannot be read twice.
        match metadata.is_file() {
            true => Ok(OnDisk { path: path.to_owned(), n_bytes: metadata.len() }),
            false => Err(ReadError::Other("it is not a file".to_owned())),
        }
    }
}

impl Source for OnDisk {
    fn open(&self) -> io::Result<Box<dyn Reader + '_>> {
        Ok(Box::new(fs::File::open(&self.path)?))
    }

    fn n_bytes(&self) -> u64 {
        self.n_bytes
    }
}

/// A file without a name, which is gone when it is closed.
#[derive(Debug)]
struct TemporaryFile(Mutex<BufWriter<fs::File>>);

impl TemporaryFile {
    fn new() -> io::Result<TemporaryFile> {
        Ok(TemporaryFile(Mutex::new(BufWriter::new(tempfile::tempfile()?))))
    }
}

impl Spool for TemporaryFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.get_mut().map_err(|_| io::Error::other("writing to it failed before"))?.write_all(bytes)
    }

    fn open(&self) -> io::Result<Box<dyn Reader + '_>> {
        let mut writer = self.0.lock().map_err(|_| io::Error::other("writing to it failed before"))?;
        writer.flush()?;
        let mut file = writer.get_ref().try_clone()?;
        file.seek(SeekFrom::Start(0))?;
        Ok(Box::new(file))
    }
}

/// Writes the files of an import into a directory, which is made. When one of them is there already, nothing is written.
pub fn write(imported: &Imported, directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let path_of = |it: &NewFile| directory.join(&it.name);
    // A link that leads nowhere is there too.
    let there = imported.files.iter().filter(|it| fs::symlink_metadata(path_of(it)).is_ok());
    let there: Vec<&str> = there.map(|it| it.name.as_str()).collect();
    if !there.is_empty() {
        return Err(Error::Exists { names: listed_all(there), directory: directory.display().to_string() });
    }
    let mut written = Vec::new();
    for file in &imported.files {
        let path = path_of(file);
        write_new(&path, file)
            .map_err(|error| Error::Write { path: path.display().to_string(), reason: error.to_string() })?;
        written.push(path);
    }
    Ok(written)
}

fn write_new(path: &Path, file: &NewFile) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(Path::new("")))?;
    let mut out = BufWriter::new(OpenOptions::new().write(true).create_new(true).open(path)?);
    file.write_to(&mut out)?;
    out.flush()
}

/// The files that a path means.
fn sources(path: &Path) -> Result<Vec<PathBuf>, Error> {
    const CONFIGS: [&str; 3] = ["promptfooconfig.yaml", "promptfooconfig.yml", "promptfooconfig.json"];
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    if let Some(config) = CONFIGS.iter().map(|it| path.join(it)).find(|it| it.is_file()) {
        return Ok(vec![config]);
    }
    let read = fs::read_dir(path).map_err(|error| unreadable(path, &ReadError::Other(error.to_string())))?;
    let mut files: Vec<PathBuf> = read.flatten().map(|it| it.path()).filter(|it| it.is_file()).collect();
    files.sort();
    Ok(files)
}

fn unreadable(path: &Path, error: &ReadError) -> Error {
    Error::Read { path: path.display().to_string(), reason: error.to_string() }
}

/// The files of a folder, and none outside of it: links are followed, and where they lead decides.
struct Beside {
    root: Option<PathBuf>,
}

impl Beside {
    fn new(folder: &Path) -> Beside {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        Beside { root: fs::canonicalize(folder).ok() }
    }

    fn collect(root: &Path, below: &str, files: &mut Vec<String>) {
        let mut entries: Vec<_> = fs::read_dir(root.join(below)).into_iter().flatten().flatten().collect();
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_hidden = name.starts_with('.') || name == "node_modules";
            if files.len() >= MAX_FILES || is_hidden {
                continue;
            }
            let path = if below.is_empty() { name } else { format!("{below}/{name}") };
            match entry.file_type() {
                Ok(it) if it.is_dir() => Beside::collect(root, &path, files),
                Ok(it) if it.is_file() => files.push(path),
                _ => {}
            }
        }
    }
}

impl Folder for Beside {
    fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, ReadError> {
        let root = self.root.as_deref().ok_or(ReadError::NotFound)?;
        let file = fs::canonicalize(root.join(path)).map_err(|_| ReadError::NotFound)?;
        if !file.starts_with(root) {
            return Err(ReadError::Other("it lies outside of the folder of the configuration".to_owned()));
        }
        Disk.read(&file, limit)
    }

    fn list(&self) -> Vec<String> {
        let mut files = Vec::new();
        if let Some(root) = &self.root {
            Beside::collect(root, "", &mut files);
        }
        files
    }
}
