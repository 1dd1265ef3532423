//! Effects as they are written down: in the log of a run, and in the journal of a project.

use std::sync::Arc;

use jurat_core::effect::{Asker, EffectKey, MediaDigest, StepSite};
use jurat_core::plan::{CaseIx, TaskIx};
use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, ValueRef};

use crate::packed::{Packer, Unreadable, unpack};

/// An outcome that is to be written down, with everything that is known about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedEffect {
    /// The case it belongs to.
    pub case_ix: CaseIx,
    /// Which request of the case.
    pub site: StepSite,
    /// How often this request was made in other attempts of the run before, because a fault was all there was.
    pub attempt: u32,
    /// The name of the request by its content.
    pub key: EffectKey,
    /// What kind of effect: `model`, …
    pub kind: String,
    pub model: String,
    /// Who answered, as they say.
    pub served: Option<String>,
    /// When the outcome was there, in milliseconds since 1970.
    pub at_ms: u64,
    /// The request, as `jurat_core::effect::wire` writes it.
    pub request: String,
    /// The outcome, as `jurat_core::effect::wire` writes it.
    pub outcome: String,
    /// Whether it is an answer that was there before, rather than one that was just given.
    pub reused: bool,
    /// Whether it also goes into the project's journal. A run that is resumed finds it there, so that it is safe before the file of the run has it.
    pub journal: bool,
    /// The bytes of images, audio and documents that the request has or the outcome names. Each is stored once.
    pub media: Vec<(MediaDigest, Arc<[u8]>)>,
}

/// An effect of a run, as it was written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEffect {
    /// The case it belongs to.
    pub case_ix: CaseIx,
    /// Which request of the case.
    pub site: StepSite,
    /// How often this request was made before, because a fault was all there was.
    pub attempt: u32,
    /// The name of the request by its content.
    pub key: EffectKey,
    pub kind: String,
    pub model: String,
    /// Who answered, as they say.
    pub served: Option<String>,
    /// When the outcome was there, in milliseconds since 1970.
    pub at_ms: u64,
    /// The request, for `jurat_core::effect::wire`.
    pub request: String,
    /// The outcome, for `jurat_core::effect::wire`.
    pub outcome: String,
    /// Whether it is an answer that was there before.
    pub reused: bool,
}

/// Turns of scenarios are counted from here; no suite has as many tasks.
const FIRST_TURN: u32 = 1 << 31;

/// Who asks, as a number: 0 is the case, a task one more than its index, a turn of a scenario its number from [`FIRST_TURN`] on.
pub(crate) fn asker_number(asker: Asker) -> u32 {
    match asker {
        Asker::Case => 0,
        Asker::Task(task) => task.0.saturating_add(1),
        Asker::Turn(turn) => FIRST_TURN.saturating_add(turn),
    }
}

/// Who asks, by its number.
pub(crate) fn asker_numbered(number: u32) -> Asker {
    match number {
        0 => Asker::Case,
        FIRST_TURN.. => Asker::Turn(number - FIRST_TURN),
        _ => Asker::Task(TaskIx(number - 1)),
    }
}

/// An effect with its texts as they are stored. They go into two files, and are compressed once.
#[derive(Debug)]
pub(crate) struct PackedEffect<'e> {
    pub(crate) effect: &'e RecordedEffect,
    pub(crate) request: StoredText<'e>,
    pub(crate) outcome: StoredText<'e>,
}

impl<'e> PackedEffect<'e> {
    pub(crate) fn of(effect: &'e RecordedEffect, packer: &mut Packer) -> PackedEffect<'e> {
        let request = StoredText::of(&effect.request, packer);
        let outcome = StoredText::of(&effect.outcome, packer);
        PackedEffect { effect, request, outcome }
    }
}

/// Longer texts are compressed. Shorter ones stay texts, which any tool can read.
const LONG: usize = 2048;

/// A text as it is stored: itself, or packed when that makes it shorter.
#[derive(Debug)]
pub(crate) enum StoredText<'t> {
    Text(&'t str),
    Packed(Vec<u8>),
}

impl<'t> StoredText<'t> {
    fn of(text: &'t str, packer: &mut Packer) -> StoredText<'t> {
        let packed = if text.len() > LONG { packer.compressed(text.as_bytes()) } else { None };
        packed.map_or(StoredText::Text(text), StoredText::Packed)
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            StoredText::Text(text) => text.len(),
            StoredText::Packed(bytes) => bytes.len(),
        }
    }

    /// The text that is stored.
    pub(crate) fn read(value: ValueRef<'_>) -> Result<String, Unreadable> {
        let text = match value {
            ValueRef::Text(text) => text.to_vec(),
            ValueRef::Blob(packed) => unpack(packed)?.into_owned(),
            _ => return Err(Unreadable::Damaged),
        };
        String::from_utf8(text).map_err(|_| Unreadable::Damaged)
    }
}

impl ToSql for StoredText<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            StoredText::Text(text) => ValueRef::Text(text.as_bytes()),
            StoredText::Packed(bytes) => ValueRef::Blob(bytes),
        }))
    }
}
