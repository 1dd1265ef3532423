//! Where a run looks for paid answers, and writes them before they are used: the journal of a project, or the segments of a shard.

use jurat_core::effect::EffectKey;

use super::{Journal, JournalAnswer, JournalWriter, SegmentWriter, Segments, ShardAnswer};
use crate::database::DatabaseError;
use crate::effects::PackedEffect;

/// Where a run looks for paid answers, and writes them before they are used.
#[derive(Debug, Clone, Copy)]
pub enum AnswerStore<'s> {
    /// The journal of the project, which all its runs share.
    Journal(&'s Journal),
    /// The segments of the shard that is run.
    Segments(&'s Segments),
}

impl<'s> From<&'s Journal> for AnswerStore<'s> {
    fn from(journal: &'s Journal) -> AnswerStore<'s> {
        AnswerStore::Journal(journal)
    }
}

impl AnswerStore<'_> {
    /// The newest answer to a request. One of the journal that is from before a certain time is not used.
    pub fn get(&self, key: &EffectKey, not_before_ms: Option<u64>) -> Result<Option<ShardAnswer>, DatabaseError> {
        match self {
            AnswerStore::Journal(journal) => {
                let answer = journal.get(key, not_before_ms)?;
                Ok(answer.map(|answer: JournalAnswer| ShardAnswer { answer, is_first_use: false }))
            }
            AnswerStore::Segments(segments) => segments.get(key),
        }
    }

    /// The journal, where runs share their answers.
    pub fn shared(&self) -> Option<&Journal> {
        match self {
            AnswerStore::Journal(journal) => Some(journal),
            AnswerStore::Segments(_) => None,
        }
    }

    /// Says that the run has an answer in its own file, and counts what it cost.
    pub fn note_use(&self, key: &EffectKey) {
        if let AnswerStore::Segments(segments) = self {
            segments.note_use(key);
        }
    }

    /// To be called now and then; see [`Journal::rest`].
    pub fn rest(&self) -> Result<(), DatabaseError> {
        match self {
            AnswerStore::Journal(journal) => journal.rest(),
            AnswerStore::Segments(_) => Ok(()),
        }
    }

    pub(crate) fn writer(&self, durable: bool) -> Result<StoreWriter, DatabaseError> {
        Ok(match self {
            AnswerStore::Journal(journal) => StoreWriter::Journal(journal.writer(durable)?),
            AnswerStore::Segments(segments) => StoreWriter::Segments(segments.writer(durable)),
        })
    }
}

/// Writes answers; belongs to the thread that writes a run.
#[derive(Debug)]
pub(crate) enum StoreWriter {
    Journal(JournalWriter),
    Segments(SegmentWriter),
}

impl StoreWriter {
    /// Writes answers. When it returns, they survive the end of this process.
    pub(crate) fn write<'e>(
        &mut self,
        effects: impl Iterator<Item = &'e PackedEffect<'e>> + Clone,
    ) -> Result<(), DatabaseError> {
        match self {
            StoreWriter::Journal(journal) => journal.write(effects),
            StoreWriter::Segments(segments) => segments.write(effects),
        }
    }
}
