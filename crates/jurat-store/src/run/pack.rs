//! Making a run self-contained: the rows that it left in their files come into it.

use std::path::Path;

use super::block::{BlockBuilder, Chunk, Chunks, put_row};
use super::cases::Headers;
use super::claim::Claim;
use super::file::put_chunks;
use super::rows::RowFiles;
use super::schema::RUN;
use super::stored::StoredBlock;
use super::{RunFileError, RunReader};
use crate::database::DatabaseError;
use crate::packed::Packer;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Packed {
    /// How many rows came into the run.
    pub rows: u64,
    /// How many bytes they have.
    pub bytes: u64,
}

/// Copies the rows that a finished run left in their files into the run, after comparing them with what the run saw. Either all of them
/// come, or none.
pub fn pack(path: &Path) -> Result<Packed, RunFileError> {
    let _claim = Claim::new(path)?;
    // One connection reads and writes: two would wait for each other.
    let reader = RunReader::on(RUN.open(path)?, path)?;
    let connection = reader.reading().connection;
    let state = reader.state()?;
    if state.finish.is_none() {
        return Err(RunFileError::Unfinished { path: path.to_owned() });
    }
    if state.self_contained {
        return Ok(Packed::default());
    }
    let of = |it| DatabaseError::of(path, it);
    connection.execute_batch("BEGIN IMMEDIATE").map_err(of)?;
    // An error leaves the transaction open, and closing the connection undoes it.
    let packed = pack_blocks(&reader)?;
    let done = "INSERT OR REPLACE INTO meta (key, value) VALUES ('self_contained', '1')";
    connection.execute(done, []).map_err(of)?;
    connection.execute_batch("COMMIT").map_err(of)?;
    Ok(packed)
}

fn pack_blocks(reader: &RunReader) -> Result<Packed, RunFileError> {
    let connection = reader.reading().connection;
    let mut packed = Packed::default();
    let (mut headers, mut files, mut packer) = (Headers::default(), RowFiles::default(), Packer::new());
    while let Some(header) = headers.next(reader.reading())? {
        let mut block = StoredBlock::load(reader.reading(), header.id)?;
        let slots = block.referenced(reader.reading())?;
        if slots.is_empty() {
            continue;
        }
        let mut rows = Vec::with_capacity(slots.len());
        files.prove(&reader.head().sources, reader.directory(), &block, &slots, &mut |slot, row| {
            rows.push((slot, row));
        })?;
        packed.rows += rows.len() as u64;
        packed.bytes += rows.iter().map(|it| it.1.len() as u64).sum::<u64>();
        let chunks = chunks(reader, &mut block, rows, &mut packer)?;
        let write = || -> rusqlite::Result<()> {
            connection.execute("DELETE FROM evidence WHERE block = ?1", [header.id])?;
            put_chunks(connection, "evidence", header.id, &chunks)
        };
        write().map_err(|it| DatabaseError::of(reader.path(), it))?;
    }
    Ok(packed)
}

/// All rows of a block: those that come, and those that are there.
fn chunks(
    reader: &RunReader,
    block: &mut StoredBlock,
    rows: Vec<(usize, Vec<u8>)>,
    packer: &mut Packer,
) -> Result<Vec<Chunk>, RunFileError> {
    let mut chunks = Chunks::default();
    let mut coming = rows.into_iter().peekable();
    for slot in 0..block.n {
        let row = match coming.next_if(|it| it.0 == slot) {
            Some((_, row)) => Some(row),
            None => block.own_row(reader.reading(), slot)?,
        };
        if let Some(row) = row {
            chunks.begin(slot, BlockBuilder::CHUNK, packer);
            put_row(&mut chunks.open, slot, &row);
        }
    }
    Ok(chunks.close(packer))
}
