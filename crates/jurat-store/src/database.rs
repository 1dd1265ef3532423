//! What run files and the journal have in common: opening SQLite databases, recognising ours, and what can go wrong.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::packed::Unreadable;

/// What can go wrong with a database of ours.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// There is no such file.
    #[error("there is no `{}`", path.display())]
    Missing { path: PathBuf },
    /// There is such a file already.
    #[error("`{}` exists already; it is not overwritten", path.display())]
    Exists { path: PathBuf },
    /// It is something else.
    #[error("`{}` is not a {what} of jurat", path.display())]
    Foreign { path: PathBuf, what: &'static str },
    /// A later version wrote it.
    #[error("`{}` was written by {by}, in a format that this version cannot read; use that version or a later one", path.display())]
    TooNew {
        path: PathBuf,
        /// Who wrote it, in words.
        by: String,
    },
    /// A later version wrote a part of it.
    #[error("`{part}` of `{}` is written in a way that this version does not know ({byte}); use the version of jurat that wrote it", path.display())]
    Encoding {
        path: PathBuf,
        /// The table and its column.
        part: &'static str,
        byte: u8,
    },
    /// It was cut short or overwritten.
    #[error("`{}` is damaged: {why}; restore it from a copy, or run again", path.display())]
    Damaged { path: PathBuf, why: String },
    #[error("no space left on the device to write `{}`; free some space and run the command again; the results so far are saved", path.display())]
    DiskFull { path: PathBuf },
    /// It may not be written.
    #[error("`{}` cannot be written; make the file and its directory writable, or choose another directory", path.display())]
    ReadOnly { path: PathBuf },
    /// It has a log beside it, which cannot be read where nothing can be written.
    #[error("`{}` was not finished, and the rest of it can only be read in a directory that can be written; copy it there with its `-wal` file", path.display())]
    LogUnreadable { path: PathBuf },
    /// Another process is at it.
    #[error("`{}` is being written by another process; wait until that is done", path.display())]
    Busy { path: PathBuf },
    /// It is on a network file system.
    #[error("`{}` is on a network file system ({kind}), where a database that is being written can be damaged; use a local directory", path.display())]
    Network {
        path: PathBuf,
        /// Which kind of file system.
        kind: &'static str,
    },
    /// Reading or writing failed.
    #[error("`{}`: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// SQLite has something else to say.
    #[error("`{}`: {source}", path.display())]
    Sqlite { path: PathBuf, source: rusqlite::Error },
}

impl DatabaseError {
    /// Whether the file is not what was once written there.
    pub fn is_damage(&self) -> bool {
        matches!(self, DatabaseError::Damaged { .. } | DatabaseError::Foreign { .. })
    }

    /// Whether SQLite could not open the file, or one beside it.
    fn is_unopenable(&self) -> bool {
        matches!(self, DatabaseError::Sqlite { source, .. } if source.sqlite_error_code() == Some(ErrorCode::CannotOpen))
    }

    /// The file that it is about.
    pub fn path(&self) -> &Path {
        match self {
            DatabaseError::Missing { path }
            | DatabaseError::Exists { path }
            | DatabaseError::Foreign { path, .. }
            | DatabaseError::TooNew { path, .. }
            | DatabaseError::Encoding { path, .. }
            | DatabaseError::Damaged { path, .. }
            | DatabaseError::DiskFull { path }
            | DatabaseError::ReadOnly { path }
            | DatabaseError::LogUnreadable { path }
            | DatabaseError::Busy { path }
            | DatabaseError::Network { path, .. }
            | DatabaseError::Io { path, .. }
            | DatabaseError::Sqlite { path, .. } => path,
        }
    }

    /// What an error of SQLite means for the caller.
    pub(crate) fn of(path: &Path, error: rusqlite::Error) -> DatabaseError {
        let path = path.to_owned();
        let why = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => DatabaseError::DiskFull { path },
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => DatabaseError::ReadOnly { path },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => DatabaseError::Busy { path },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => DatabaseError::Damaged { path, why },
            // The file beside a log could not be made larger.
            _ if error.sqlite_error().is_some_and(|it| it.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE) => {
                DatabaseError::DiskFull { path }
            }
            _ => DatabaseError::Sqlite { path, source: error },
        }
    }

    /// What an error of the system means for the caller.
    pub(crate) fn of_io(path: &Path, source: io::Error) -> DatabaseError {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => DatabaseError::Missing { path },
            io::ErrorKind::AlreadyExists => DatabaseError::Exists { path },
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => DatabaseError::DiskFull { path },
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => DatabaseError::ReadOnly { path },
            _ => DatabaseError::Io { path, source },
        }
    }

    /// What it means that a file cannot be made.
    pub(crate) fn of_new(path: &Path, source: io::Error) -> DatabaseError {
        match (source.kind(), path.parent()) {
            (io::ErrorKind::NotFound, Some(directory)) => DatabaseError::Missing { path: directory.to_owned() },
            _ => DatabaseError::of_io(path, source),
        }
    }

    /// What it means that a part of the file cannot be read.
    pub(crate) fn of_part(path: &Path, part: &'static str, unreadable: Unreadable) -> DatabaseError {
        let path = path.to_owned();
        match unreadable {
            Unreadable::Damaged => DatabaseError::Damaged { path, why: format!("`{part}` says what cannot be") },
            Unreadable::Checksum => {
                DatabaseError::Damaged { path, why: format!("`{part}` does not match its checksum") }
            }
            Unreadable::Encoding(byte) => DatabaseError::Encoding { path, part, byte },
        }
    }
}

/// What can go wrong inside a database, before it is said which one it is.
#[derive(Debug)]
pub(crate) enum Fault {
    Sqlite(rusqlite::Error),
    Io(io::Error),
    Unreadable(Unreadable),
}

impl Fault {
    /// What it means for the caller. `part` is what was being read.
    pub(crate) fn at(self, path: &Path, part: &'static str) -> DatabaseError {
        match self {
            Fault::Sqlite(error) => DatabaseError::of(path, error),
            Fault::Io(error) => DatabaseError::of_io(path, error),
            Fault::Unreadable(unreadable) => DatabaseError::of_part(path, part, unreadable),
        }
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Fault {
        Fault::Sqlite(error)
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Fault {
        Fault::Io(error)
    }
}

impl From<Unreadable> for Fault {
    fn from(unreadable: Unreadable) -> Fault {
        Fault::Unreadable(unreadable)
    }
}

/// A kind of database of ours.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) what: &'static str,
    /// What stands in its header, so that `file` and other tools recognise it.
    pub(crate) application_id: i32,
    /// The format that is written.
    pub(crate) format: i32,
    pub(crate) tables: &'static str,
}

impl Kind {
    /// Makes a new database of this kind in a file that does not exist, or is empty.
    pub(crate) fn create(&self, path: &Path) -> Result<Connection, DatabaseError> {
        let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
        // Nothing is lost if the power fails before the first commit, so no commit waits for the disk until then.
        let pragmas = format!(
            "PRAGMA page_size = 8192; PRAGMA synchronous = OFF; PRAGMA journal_mode = WAL;
             BEGIN IMMEDIATE;
             PRAGMA application_id = {}; PRAGMA user_version = {};
             {}
             COMMIT;
             PRAGMA synchronous = NORMAL; {TUNING}",
            self.application_id, self.format, self.tables
        );
        connection.execute_batch(&pragmas).map_err(|it| DatabaseError::of(path, it))?;
        Ok(connection)
    }

    /// Opens a database of this kind to be written.
    pub(crate) fn open(&self, path: &Path) -> Result<Connection, DatabaseError> {
        exists(path)?;
        let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let tune = || connection.execute_batch(TUNING).map_err(|it| DatabaseError::of(path, it));
        match self.check(&connection, path).and_then(|()| tune()) {
            // SQLite does not say that it cannot make the files that a writer has beside the database.
            Err(error) if error.is_unopenable() => Err(DatabaseError::ReadOnly { path: path.to_owned() }),
            opened => opened.map(|()| connection),
        }
    }

    /// Opens a database of this kind to be read, also while it is being written.
    pub(crate) fn open_to_read(&self, path: &Path) -> Result<Connection, DatabaseError> {
        exists(path)?;
        let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        match self.check(&connection, path) {
            // Its writer was killed in the middle of a change, which is undone by the first that may write.
            Err(DatabaseError::ReadOnly { .. }) if beside(path, "-journal").exists() => {
                drop(connection);
                self.check(&connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?, path)?;
                let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
                self.check(&connection, path).map(|()| connection)
            }
            // A database that was last written with a log beside it wants to make one to be read. Where that is not possible and
            // there is none, no process is writing either.
            Err(error) if error.is_unopenable() => {
                if beside(path, "-wal").exists() {
                    return Err(DatabaseError::LogUnreadable { path: path.to_owned() });
                }
                let connection = connect_unchanging(path)?;
                self.check(&connection, path)?;
                Ok(connection)
            }
            checked => checked.map(|()| connection),
        }
    }

    /// Whether it is ours, and can be read by this version.
    fn check(&self, connection: &Connection, path: &Path) -> Result<(), DatabaseError> {
        let foreign = || DatabaseError::Foreign { path: path.to_owned(), what: self.what };
        let of = |error: rusqlite::Error| match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => foreign(),
            _ => DatabaseError::of(path, error),
        };
        let pragma = |name: &str| connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i32>(0));
        if pragma("application_id").map_err(of)? != self.application_id {
            return Err(foreign());
        }
        let meta = |key: &str| {
            let value = connection.query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0));
            match value {
                Err(rusqlite::Error::QueryReturnedNoRows) => Ok(String::new()),
                other => other.map_err(of),
            }
        };
        // `user_version` is the format it was written in; `min_reader` the oldest version that reads it rightly.
        if meta("min_reader")?
            .parse::<i32>()
            .map_or(pragma("user_version").map_err(of)? > self.format, |it| it > self.format)
        {
            let version = Some(meta("version")?).filter(|it| !it.is_empty());
            let by = version.map_or_else(|| "a later version of jurat".to_owned(), |it| format!("jurat {it}"));
            return Err(DatabaseError::TooNew { path: path.to_owned(), by });
        }
        is_whole(path, u64::from(pragma("page_size").map_err(of)?.unsigned_abs()))
    }
}

/// How long to wait for others before giving up.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, DatabaseError> {
    let of = |it| DatabaseError::of(path, it);
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX).map_err(of)?;
    careful(&connection).map_err(of)?;
    Ok(connection)
}

/// Opens a file that no process changes, without looking for a log or locks.
fn connect_unchanging(path: &Path) -> Result<Connection, DatabaseError> {
    let of = |it| DatabaseError::of(path, it);
    let written = path.display().to_string().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(format!("file:{written}?immutable=1"), flags).map_err(of)?;
    careful(&connection).map_err(of)?;
    Ok(connection)
}

/// What holds for every connection. Run files come from other people: nothing in one may run.
fn careful(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    // Plans do not depend on what is looked for. Otherwise statements are prepared again for each new value, which costs ten times as
    // much as looking.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.execute_batch("PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY;")
}

/// What is written is not read again, and what is read is read once, so a cache of a quarter of a megabyte is enough. The log may be 16 MB long before
/// it is brought into the file: what is written again and again, such as the index of keys, is then brought there once.
const TUNING: &str = "PRAGMA cache_size = -256; PRAGMA wal_autocheckpoint = 2000;";

/// SQLite's own words for a file that is not there say less.
fn exists(path: &Path) -> Result<(), DatabaseError> {
    let metadata = std::fs::metadata(path).map_err(|it| DatabaseError::of_io(path, it))?;
    if metadata.is_dir() {
        let source = io::Error::new(io::ErrorKind::IsADirectory, "it is a directory, not a file");
        return Err(DatabaseError::Io { path: path.to_owned(), source });
    }
    Ok(())
}

/// SQLite notices when pages are missing, but takes what is missing of the last one for zeros. While there is a log the file is not all
/// there is.
fn is_whole(path: &Path, page_size: u64) -> Result<(), DatabaseError> {
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |it| it.len());
    if size(&beside(path, "-wal")) == 0 && !size(path).is_multiple_of(page_size.max(1)) {
        let why = "it ends in the middle of a page".to_owned();
        return Err(DatabaseError::Damaged { path: path.to_owned(), why });
    }
    Ok(())
}

/// A file beside another, named after it.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Refuses to write a database on a network file system: its locks and its shared memory may not be what they seem there.
pub(crate) fn refuse_network(path: &Path) -> Result<(), DatabaseError> {
    let directory = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match network_kind(directory) {
        Some(kind) => Err(DatabaseError::Network { path: path.to_owned(), kind }),
        None => Ok(()),
    }
}

#[cfg(target_os = "linux")]
fn network_kind(directory: &Path) -> Option<&'static str> {
    let known = rustix::fs::statfs(directory).ok()?;
    // The numbers are 32 bits wide, and some systems extend their sign.
    network_name(known.f_type as u32)
}

#[cfg(not(target_os = "linux"))]
fn network_kind(_: &Path) -> Option<&'static str> {
    None
}

/// The numbers of Linux for file systems that other machines serve.
#[cfg(target_os = "linux")]
fn network_name(magic: u32) -> Option<&'static str> {
    Some(match magic {
        0x6969 => "nfs",
        0xff53_4d42 | 0xfe53_4d42 | 0x517b => "smb",
        0x5346_414f | 0x6b41_4653 => "afs",
        0x7375_7245 => "coda",
        0x0102_1997 => "9p",
        0x00c3_6400 => "ceph",
        0x0bd0_0bd0 => "lustre",
        0x4750_4653 => "gpfs",
        0x7461_636f => "ocfs2",
        0x0116_1970 => "gfs2",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn network_file_systems_are_known_by_their_numbers() {
        assert_eq!(network_name(0x6969), Some("nfs"));
        assert_eq!(network_name(0xff53_4d42), Some("smb"));
        assert_eq!(network_name(0xef53), None, "ext4");
        assert_eq!(network_kind(&std::env::temp_dir()), None);
    }

    #[test]
    fn what_sqlite_says_becomes_what_to_do() {
        let said = |code: i32| {
            let error = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None);
            DatabaseError::of(Path::new("x.jurat"), error).to_string()
        };
        assert_eq!(
            said(rusqlite::ffi::SQLITE_FULL),
            "no space left on the device to write `x.jurat`; free some space and run the command again; the results so far are saved"
        );
        assert_eq!(said(rusqlite::ffi::SQLITE_IOERR_SHMSIZE), said(rusqlite::ffi::SQLITE_FULL));
        assert_eq!(
            said(rusqlite::ffi::SQLITE_READONLY_DIRECTORY),
            "`x.jurat` cannot be written; make the file and its directory writable, or choose another directory"
        );
        assert_eq!(
            said(rusqlite::ffi::SQLITE_BUSY),
            "`x.jurat` is being written by another process; wait until that is done"
        );
        assert_eq!(
            said(rusqlite::ffi::SQLITE_CORRUPT),
            "`x.jurat` is damaged: Error code 11: database disk image is malformed; restore it from a copy, or run again"
        );
    }
}
