//! The journal of a project: answers by the content of their requests, for all runs.
//!
//! Several processes may use it at once. They do not wait for each other's answers: both may pay for the same one, both are stored, and the
//! newest is read. Nothing is removed but by [`Journal::clean`]. Answers are written by the thread that writes a run, before the run
//! itself has them, so that what was paid for is never lost.
//!
//! A shard that may be run on another machine has [`Segments`] of its own instead; [`AnswerStore`] is either of both, and [`Journal::add_segments`] takes the one into the other.
//! A [`SharedJournal`] is elsewhere, and several projects use it: what the local journal does not have is looked for there, and answers are [sent](Unsent) there after they were written here.

mod add;
mod clean;
mod known;
mod places;
mod segments;
mod shared;
mod store;
mod team;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jurat_core::effect::EffectKey;
use jurat_core::report::journal::{JournalReport, ModelAnswers};
use rusqlite::{Connection, params};

pub use add::Added;
pub use clean::{Cleaning, Removed};
pub use known::KnownKeys;
use places::Unsorted;
pub(crate) use segments::SegmentWriter;
pub use segments::{PaidAnswer, SegmentReader, Segments, ShardAnswer, segment_files};
pub use shared::{SharedError, SharedJournal, Unsent, UnsentBatch};
pub use store::AnswerStore;
pub(crate) use store::StoreWriter;
pub use team::is_for_team;

use crate::database::{DatabaseError, Fault, Kind, beside, refuse_network};
use crate::effects::{PackedEffect, RecordedEffect, StoredText};
use crate::packed::{Packer, Unreadable};

/// Format 2: a table with row numbers, and where to find what in it (`places`). Ordering whole answers by their keys would scatter every write.
/// In format 1 an index on eight bytes of the key stood for `place`.
const JOURNAL: Kind = Kind {
    what: "journal",
    application_id: 0x6a75_726a,
    format: 2,
    tables: concat!(
        "
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE answer (
  id INTEGER PRIMARY KEY, key8 INTEGER NOT NULL, at_ms INTEGER NOT NULL, key BLOB NOT NULL, kind TEXT NOT NULL, model TEXT NOT NULL,
  served TEXT, bytes INTEGER NOT NULL, request ANY NOT NULL, outcome ANY NOT NULL
) STRICT;
INSERT INTO meta (key, value) VALUES ('min_reader', '2');
",
        places::tables!()
    ),
};

/// The journal of a project. It can be shared between threads.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    reader: Mutex<Reader>,
    written: Arc<Mutex<Unseen>>,
}

/// What writers of this process wrote since the reader last began to look.
#[derive(Debug, Default)]
struct Unseen {
    /// The beginnings of their keys.
    prefixes: HashSet<i64>,
    /// Whether there were too many to be remembered, so that it may be anything.
    is_more: bool,
}

impl Unseen {
    /// How many are remembered.
    const MOST: usize = 4096;

    fn add(&mut self, prefixes: impl Iterator<Item = i64>) {
        self.prefixes.extend(prefixes);
        if self.prefixes.len() > Unseen::MOST {
            *self = Unseen { prefixes: HashSet::new(), is_more: true };
        }
    }

    fn may_have(&self, prefix: i64) -> bool {
        self.is_more || self.prefixes.contains(&prefix)
    }
}

/// How long what other processes write may stay unseen.
const STALE: Duration = Duration::from_millis(50);

/// A run looks for many answers at once. To begin and end a transaction for each costs more than to look, and what was read before would have to be
/// read again, so one stays open until it is old, or something that is looked for was written after it began.
#[derive(Debug)]
struct Reader {
    connection: Connection,
    /// Since when the transaction is open.
    since: Option<Instant>,
    /// What the index does not have yet, as the transaction sees it.
    unsorted: Unsorted,
}

impl Reader {
    fn begin(&mut self, prefix: i64, written: &Mutex<Unseen>) -> rusqlite::Result<()> {
        let mut written = written.lock().unwrap_or_else(PoisonError::into_inner);
        if self.since.is_some_and(|it| it.elapsed() < STALE) && !written.may_have(prefix) {
            return Ok(());
        }
        *written = Unseen::default();
        drop(written);
        self.end()?;
        self.connection.prepare_cached("BEGIN")?.execute([])?;
        self.since = Some(Instant::now());
        self.unsorted.refresh(&self.connection)
    }

    fn end(&mut self) -> rusqlite::Result<()> {
        if self.since.take().is_some() {
            self.connection.prepare_cached("COMMIT")?.execute([])?;
        }
        Ok(())
    }

    /// The newest is found here: to have a few rows sorted takes SQLite several times as long as to find them.
    fn newest(&self, key: &EffectKey, not_before_ms: u64) -> Result<Option<JournalAnswer>, Fault> {
        let mut newest = None;
        if !self.unsorted.is_all {
            let select = "SELECT at_ms, served, outcome FROM place CROSS JOIN answer ON answer.id = place.id
                          WHERE place.key8 = ?1 AND answer.key = ?2 AND at_ms >= ?3 ORDER BY place.key8, place.id";
            let mut select = self.connection.prepare_cached(select)?;
            later(&mut newest, select.query(params![key.prefix(), key.0, not_before_ms])?)?;
        }
        for id in self.unsorted.beginning(key.prefix()) {
            let select = "SELECT at_ms, served, outcome FROM answer WHERE id = ?1 AND key = ?2 AND at_ms >= ?3";
            let mut select = self.connection.prepare_cached(select)?;
            later(&mut newest, select.query(params![id, key.0, not_before_ms])?)?;
        }
        Ok(newest)
    }
}

/// Takes the newest of answers, when there is none that is newer.
fn later(newest: &mut Option<JournalAnswer>, mut rows: rusqlite::Rows<'_>) -> Result<(), Fault> {
    while let Some(row) = rows.next()? {
        let at_ms = row.get(0)?;
        if newest.as_ref().is_none_or(|it| it.at_ms <= at_ms) {
            let outcome = match StoredText::read(row.get_ref(2)?) {
                // An answer that was overwritten is no answer; the others are.
                Err(Unreadable::Damaged | Unreadable::Checksum) => continue,
                outcome => outcome?,
            };
            *newest = Some(JournalAnswer { outcome, at_ms, served: row.get(1)? });
        }
    }
    Ok(())
}

/// An answer of the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalAnswer {
    /// The outcome, for `jurat_core::effect::wire`.
    pub outcome: String,
    /// When it was there, in milliseconds since 1970.
    pub at_ms: u64,
    /// Who answered, as they say.
    pub served: Option<String>,
}

impl Journal {
    /// Opens a journal, or makes it.
    pub fn open(path: &Path) -> Result<Journal, DatabaseError> {
        refuse_network(path)?;
        make(path)?;
        let connection = JOURNAL.open(path)?;
        places::convert(&connection).map_err(|it| DatabaseError::of(path, it))?;
        let reader = Mutex::new(Reader { connection, since: None, unsorted: Unsorted::default() });
        Ok(Journal { path: path.to_owned(), reader, written: Arc::default() })
    }

    /// Opens a journal that is there to be read, also where nothing can be written.
    pub fn open_to_read(path: &Path) -> Result<Journal, DatabaseError> {
        let connection = JOURNAL.open_to_read(path)?;
        let reader = Mutex::new(Reader { connection, since: None, unsorted: Unsorted::default() });
        Ok(Journal { path: path.to_owned(), reader, written: Arc::default() })
    }

    /// Opens a journal, or makes it. One that is damaged, or is something else, is set aside under another name, which is returned: it is never removed, and
    /// what it had is asked again.
    pub fn open_or_set_aside(path: &Path) -> Result<(Journal, Option<PathBuf>), DatabaseError> {
        match Journal::open(path) {
            Err(error) if error.is_damage() => {}
            // Another process has set it aside since this one found it there.
            Err(DatabaseError::Missing { .. }) => {}
            opened => return opened.map(|it| (it, None)),
        }
        let aside = Journal::set_aside_if_damaged(path)?;
        Ok((Journal::open(path)?, aside))
    }

    /// Renames a journal that is damaged, and returns its new name. Of several processes that find it damaged only the first does so.
    pub fn set_aside_if_damaged(path: &Path) -> Result<Option<PathBuf>, DatabaseError> {
        let directory = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let lock = std::fs::File::open(directory).map_err(|it| DatabaseError::of_io(directory, it))?;
        lock.lock().map_err(|it| DatabaseError::of_io(directory, it))?;
        match is_sound(path) {
            Err(error) if error.is_damage() => set_aside(path).map(Some),
            // The first process has renamed it, and no new one is made yet.
            Err(DatabaseError::Missing { .. }) => Ok(None),
            sound => sound.map(|()| None),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The newest answer to a request, unless it is from before a certain time. What was written through this journal is seen at once, what other processes
    /// write after a moment.
    pub fn get(&self, key: &EffectKey, not_before_ms: Option<u64>) -> Result<Option<JournalAnswer>, DatabaseError> {
        let mut reader = self.reader();
        let of = |it| DatabaseError::of(&self.path, it);
        reader.begin(key.prefix(), &self.written).map_err(of)?;
        reader.newest(key, not_before_ms.unwrap_or(0)).map_err(|it| it.at(&self.path, "answer.outcome"))
    }

    /// To be called now and then by runs that look for answers: while none looks, the log of the file can be merged into it.
    pub fn rest(&self) -> Result<(), DatabaseError> {
        self.reader().end().map_err(|it| DatabaseError::of(&self.path, it))
    }

    fn reader(&self) -> MutexGuard<'_, Reader> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What it holds. This looks at every answer.
    pub fn report(&self) -> Result<JournalReport, DatabaseError> {
        let mut reader = self.reader();
        let of = |it| DatabaseError::of(&self.path, it);
        reader.end().map_err(of)?;
        let select =
            "SELECT model, count(*), sum(bytes), min(at_ms), max(at_ms) FROM answer GROUP BY model ORDER BY model";
        let mut select = reader.connection.prepare(select).map_err(of)?;
        let models = select.query_map([], |row| {
            let (model, answers, bytes) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(ModelAnswers { model, answers, bytes, oldest_ms: row.get(3)?, newest_ms: row.get(4)? })
        });
        Ok(JournalReport {
            file: self.path.display().to_string(),
            file_bytes: std::fs::metadata(&self.path).map_or(0, |it| it.len()),
            models: models.and_then(Iterator::collect).map_err(of)?,
        })
    }

    /// What writes answers that belong to no run.
    pub fn answers(&self) -> Result<AnswerWriter, DatabaseError> {
        Ok(AnswerWriter { writer: self.writer(false)?, packer: Packer::new() })
    }

    /// A writer of its own.
    pub(crate) fn writer(&self, durable: bool) -> Result<JournalWriter, DatabaseError> {
        let connection = JOURNAL.open(&self.path)?;
        let synchronous = if durable { "FULL" } else { "NORMAL" };
        let set = connection.execute_batch(&format!("PRAGMA synchronous = {synchronous}"));
        let n_unsorted = set.and_then(|()| places::n_unsorted(&connection));
        let n_unsorted = n_unsorted.map_err(|it| DatabaseError::of(&self.path, it))?;
        Ok(JournalWriter { path: self.path.clone(), connection, n_unsorted, written: Arc::clone(&self.written) })
    }
}

/// Looks at every page of a journal.
fn is_sound(path: &Path) -> Result<(), DatabaseError> {
    let connection = JOURNAL.open_to_read(path)?;
    let said: String = connection
        .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
        .map_err(|it| DatabaseError::of(path, it))?;
    if said == "ok" { Ok(()) } else { Err(DatabaseError::Damaged { path: path.to_owned(), why: said }) }
}

/// Renames a journal with the files that belong to it, to `journal.db-damaged-1` or the first number that is free.
fn set_aside(path: &Path) -> Result<PathBuf, DatabaseError> {
    let mut names = (1..).map(|number| beside(path, &format!("-damaged-{number}")));
    let aside = names.find(|it| !it.exists()).expect("there are more numbers than files");
    for suffix in ["-wal", "-shm", ""] {
        match std::fs::rename(beside(path, suffix), beside(&aside, suffix)) {
            Err(error) if !suffix.is_empty() && error.kind() == std::io::ErrorKind::NotFound => {}
            renamed => renamed.map_err(|it| DatabaseError::of_io(path, it))?,
        }
    }
    Ok(aside)
}

/// Makes a journal where there is none. It is made under another name and then put in place, so that processes that start together
/// find either none or a whole one.
fn make(path: &Path) -> Result<(), DatabaseError> {
    if path.exists() {
        return Ok(());
    }
    static MADE: AtomicU64 = AtomicU64::new(0);
    let of_io = |it| DatabaseError::of_io(path, it);
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    let unnamed = beside(path, &format!("-{}-{number}", std::process::id()));
    std::fs::File::create_new(&unnamed).map_err(|it| DatabaseError::of_new(path, it))?;
    let made = make_under(&unnamed).and_then(|()| {
        // Linking, because renaming would replace what another process has put there; but not every file system has links.
        match std::fs::hard_link(&unnamed, path) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
            Err(_) => std::fs::rename(&unnamed, path).map_err(of_io),
            Ok(()) => Ok(()),
        }
    });
    // It does not matter when they are not there any more.
    for left in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(beside(&unnamed, left));
    }
    // The name it will have says more than the one it had meanwhile.
    made.map_err(|error| match error {
        DatabaseError::DiskFull { .. } => DatabaseError::DiskFull { path: path.to_owned() },
        DatabaseError::ReadOnly { .. } => DatabaseError::ReadOnly { path: path.to_owned() },
        error => error,
    })
}

/// Makes a journal that is whole without its log.
fn make_under(path: &Path) -> Result<(), DatabaseError> {
    let connection = JOURNAL.create(path)?;
    // No other process knows it yet, so it is enough when the disk has it in the end.
    let whole = connection.execute_batch("PRAGMA synchronous = OFF; PRAGMA wal_checkpoint(TRUNCATE);");
    whole.map_err(|it| DatabaseError::of(path, it))?;
    connection.close().map_err(|(_, it)| DatabaseError::of(path, it))?;
    let synced = std::fs::File::options().write(true).open(path).and_then(|it| it.sync_all());
    synced.map_err(|it| DatabaseError::of_io(path, it))
}

/// Writes answers that belong to no run, each in a transaction of its own.
#[derive(Debug)]
pub struct AnswerWriter {
    writer: JournalWriter,
    packer: Packer,
}

impl AnswerWriter {
    /// Writes an answer. When it returns, other processes find it.
    pub fn write(&mut self, effect: &RecordedEffect) -> Result<(), DatabaseError> {
        let packed = PackedEffect::of(effect, &mut self.packer);
        self.writer.write(std::iter::once(&packed))
    }
}

/// Writes answers; belongs to the thread that writes a run.
#[derive(Debug)]
pub(crate) struct JournalWriter {
    path: PathBuf,
    connection: Connection,
    /// How many answers are not in their places, as far as this writer knows.
    n_unsorted: usize,
    written: Arc<Mutex<Unseen>>,
}

impl JournalWriter {
    /// Writes answers in one transaction.
    pub(crate) fn write<'e>(
        &mut self,
        effects: impl Iterator<Item = &'e PackedEffect<'e>> + Clone,
    ) -> Result<(), DatabaseError> {
        if effects.clone().next().is_none() {
            return Ok(());
        }
        let written = self.connection.execute_batch("BEGIN IMMEDIATE").and_then(|()| {
            self.n_unsorted += insert(&self.connection, effects.clone())?;
            if places::is_due(self.n_unsorted) {
                places::sort(&self.connection)?;
                self.n_unsorted = 0;
            }
            self.connection.execute_batch("COMMIT")
        });
        // Not before they are there: a reader that begins to look takes what is noted for seen.
        let mut unseen = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        unseen.add(effects.map(|it| it.effect.key.prefix()));
        drop(unseen);
        written.map_err(|error| {
            let _ = self.connection.execute_batch("ROLLBACK");
            DatabaseError::of(&self.path, error)
        })
    }
}

/// Writes answers and notes their keys; returns how many they were.
fn insert<'e>(
    connection: &Connection,
    effects: impl Iterator<Item = &'e PackedEffect<'e>> + Clone,
) -> rusqlite::Result<usize> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO answer (id, key8, at_ms, key, kind, model, served, bytes, request, outcome)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?;
    let first = "SELECT coalesce(max(id), 0) + 1 FROM answer";
    let first: i64 = connection.prepare_cached(first)?.query_row([], |row| row.get(0))?;
    let mut id = first;
    for PackedEffect { effect, request, outcome } in effects.clone() {
        let RecordedEffect { key, at_ms, kind, model, served, .. } = effect;
        let bytes = request.len() + outcome.len();
        insert.execute(params![id, key.prefix(), at_ms, key.0, kind, model, served, bytes, request, outcome])?;
        id += 1;
    }
    places::note(connection, first, effects.map(|it| it.effect.key.prefix()))?;
    Ok(usize::try_from(id - first).unwrap_or(0))
}
