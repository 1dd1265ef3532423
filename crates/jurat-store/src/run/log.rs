//! The effects of a run in its file: writing them down, and finding them again.
//!
//! An effect is stored once for many sites that share it; a site says where it was used.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use jurat_core::effect::{EffectKey, MediaDigest, StepSite};
use jurat_core::plan::CaseIx;
use rusqlite::{Connection, OptionalExtension, Row, named_params, params};

use super::RunFileError;
use super::schema::{RUN, has_table};
use crate::database::Fault;
use crate::effects::{PackedEffect, RecordedEffect, StoredEffect, StoredText, asker_number, asker_numbered};

/// The effects of a run, found by their site.
///
/// It reads on a connection of its own, so a run can look into its own file while that is being written.
#[derive(Debug)]
pub struct RunLog {
    path: PathBuf,
    connection: Mutex<Connection>,
}

/// An outcome that a run has at a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logged {
    /// The name of the request that was made.
    pub key: EffectKey,
    /// The outcome, for `jurat_core::effect::wire`.
    pub outcome: String,
    /// Which attempt it is, counted from 0.
    pub attempt: u32,
    /// Whether it was an answer that was there before.
    pub reused: bool,
}

impl RunLog {
    /// Opens the log of a run.
    pub fn open(path: &Path) -> Result<RunLog, RunFileError> {
        let connection = RUN.open_to_read(path)?;
        Ok(RunLog { path: path.to_owned(), connection: Mutex::new(connection) })
    }

    /// The last outcome at a site.
    pub fn get(&self, case_ix: CaseIx, site: StepSite) -> Result<Option<Logged>, RunFileError> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let found = effect_at(&connection, case_ix, site);
        let found = found.map_err(|it| it.at(&self.path, "effect"))?;
        Ok(found.map(|it| Logged { key: it.key, outcome: it.outcome, attempt: it.attempt, reused: it.reused }))
    }

    /// The key, kind and outcome of each request that the run made; what it took from elsewhere is left out.
    pub fn each_paid(&self, mut take: impl FnMut(EffectKey, &str, &str)) -> Result<(), RunFileError> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let mut read = || {
            let mut select = connection.prepare(
                "SELECT key, kind, outcome FROM site JOIN effect ON effect.id = site.effect WHERE NOT reused ORDER BY effect.id",
            )?;
            let mut rows = select.query([])?;
            while let Some(row) = rows.next()? {
                let (key, kind): ([u8; 32], String) = (row.get(0)?, row.get(1)?);
                take(EffectKey(key), &kind, &StoredText::read(row.get_ref(2)?)?);
            }
            Ok::<_, Fault>(())
        };
        Ok(read().map_err(|it| it.at(&self.path, "effect"))?)
    }

    /// The bytes of an image, audio or a document that was sent in the run.
    pub fn media(&self, digest: &MediaDigest) -> Result<Option<Vec<u8>>, RunFileError> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(media(&connection, digest).map_err(|it| Fault::from(it).at(&self.path, "media"))?)
    }
}

/// Remembers effects that were written, so that one that comes again is found.
///
/// It forgets: each effect has one place, which the next that falls there takes. To look among all that were ever written, an index
/// would have to be stored, and to store it costs more than an effect that is written twice. What is asked most is found.
#[derive(Debug)]
pub(super) struct Written {
    /// A hash of request and outcome, and the number of the effect.
    places: Box<[Option<(u64, i64)>]>,
}

impl Written {
    const PLACES: usize = 4096;

    pub(super) fn new() -> Written {
        Written { places: vec![None; Written::PLACES].into() }
    }

    /// The number of an effect with the same request and outcome.
    fn same(&self, connection: &Connection, effect: &RecordedEffect) -> rusqlite::Result<Option<i64>> {
        let hash = Written::hash(effect);
        let Some((_, id)) = self.places[Written::place(hash)].filter(|it| it.0 == hash) else { return Ok(None) };
        let mut select = connection.prepare_cached("SELECT outcome FROM effect WHERE id = ?1 AND key = ?2")?;
        let is_same = select.query_row(params![id, effect.key.0], |row| {
            Ok(StoredText::read(row.get_ref(0)?).is_ok_and(|it| it == effect.outcome))
        });
        Ok(is_same.optional()?.unwrap_or(false).then_some(id))
    }

    fn remember(&mut self, effect: &RecordedEffect, id: i64) {
        let hash = Written::hash(effect);
        self.places[Written::place(hash)] = Some((hash, id));
    }

    fn hash(effect: &RecordedEffect) -> u64 {
        let mut hasher = DefaultHasher::new();
        (effect.key.prefix(), &effect.outcome).hash(&mut hasher);
        hasher.finish()
    }

    fn place(hash: u64) -> usize {
        hash as usize % Written::PLACES
    }
}

/// Writes an effect and its site. An effect that was written before, with the same request and outcome, is shared if it is remembered.
pub(super) fn insert(
    connection: &Connection,
    written: &mut Written,
    packed: &PackedEffect<'_>,
) -> rusqlite::Result<()> {
    let RecordedEffect { key, kind, model, served, at_ms, site, .. } = packed.effect;
    let id = match written.same(connection, packed.effect)? {
        Some(id) => id,
        None => {
            let mut insert = connection.prepare_cached(
                "INSERT INTO effect (key8, key, kind, model, served, at_ms, request, outcome)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?;
            let (request, outcome) = (&packed.request, &packed.outcome);
            let id = insert.insert(params![key.prefix(), key.0, kind, model, served, at_ms, request, outcome])?;
            written.remember(packed.effect, id);
            id
        }
    };
    for (digest, bytes) in &packed.effect.media {
        insert_media(connection, digest, bytes)?;
    }
    let mut insert = connection.prepare_cached(
        "INSERT OR REPLACE INTO site (case_ix, task, seat, turn, attempt, effect, reused) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    let RecordedEffect { case_ix, attempt, reused, .. } = packed.effect;
    insert.execute(params![case_ix.number(), asker_number(site.asker), site.slot, site.turn, attempt, id, reused])?;
    Ok(())
}

/// Writes bytes that are not there yet.
fn insert_media(connection: &Connection, digest: &MediaDigest, bytes: &[u8]) -> rusqlite::Result<()> {
    let mut insert = connection.prepare_cached("INSERT OR IGNORE INTO media (digest, body) VALUES (?1, ?2)")?;
    insert.execute(params![digest.0, bytes]).map(drop)
}

/// The bytes with a digest. A run of an earlier version has none.
pub(super) fn media(connection: &Connection, digest: &MediaDigest) -> rusqlite::Result<Option<Vec<u8>>> {
    if !has_table(connection, "media")? {
        return Ok(None);
    }
    let mut select = connection.prepare_cached("SELECT body FROM media WHERE digest = ?1")?;
    select.query_row(params![digest.0], |row| row.get(0)).optional()
}

/// The columns of [`read`].
pub(super) const COLUMNS: &str = "site.case_ix, site.task, site.seat, site.turn, site.attempt, site.reused, effect.key, effect.kind, \
     effect.model, effect.served, effect.at_ms, effect.request, effect.outcome \
     FROM site JOIN effect ON effect.id = site.effect";

/// The last outcome at a site.
pub(super) fn effect_at(
    connection: &Connection,
    case_ix: CaseIx,
    site: StepSite,
) -> Result<Option<StoredEffect>, Fault> {
    let mut select = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} WHERE case_ix = :case AND task = :task AND seat = :seat AND turn = :turn ORDER BY attempt DESC LIMIT 1"
    ))?;
    let task = asker_number(site.asker);
    let arguments = named_params! { ":case": case_ix.number(), ":task": task, ":seat": site.slot, ":turn": site.turn };
    select.query_row(arguments, |row| Ok(read(row))).optional()?.transpose()
}

/// Reads a row of [`COLUMNS`].
pub(super) fn read(row: &Row<'_>) -> Result<StoredEffect, Fault> {
    let key: [u8; 32] = row.get(6)?;
    Ok(StoredEffect {
        case_ix: CaseIx::numbered(row.get(0)?),
        site: StepSite { asker: asker_numbered(row.get(1)?), slot: row.get(2)?, turn: row.get(3)? },
        attempt: row.get(4)?,
        reused: row.get(5)?,
        key: EffectKey(key),
        kind: row.get(7)?,
        model: row.get(8)?,
        served: row.get(9)?,
        at_ms: row.get(10)?,
        request: StoredText::read(row.get_ref(11)?)?,
        outcome: StoredText::read(row.get_ref(12)?)?,
    })
}
