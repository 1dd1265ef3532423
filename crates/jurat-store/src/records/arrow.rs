//! Arrow IPC: files (Feather, version 2) and streams, read batch by batch.
//!
//! A message says how long its body is, and the library makes room for as much. So the lengths are compared with the size of the file before anything
//! is read: a few bytes could otherwise ask for all memory.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::ops::ControlFlow;

use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::{root_as_footer, root_as_message};
use arrow_schema::{ArrowError, Schema};

use super::chunk::Delivery;
use super::table::{self, Batch, unless_damaged};
use super::{RowsFault, SampleError};

pub(super) fn read(file: File, delivery: &mut Delivery<'_>) -> Result<ControlFlow<()>, RowsFault> {
    table::read(batches(file)?, delivery)
}

/// What a file begins and ends with.
const MAGIC: &[u8; 6] = b"ARROW1";

/// What stands before the length of a message.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// The batches of a file or a stream.
pub(super) fn batches(mut file: File) -> Result<Box<dyn Iterator<Item = Batch>>, SampleError> {
    let size = file.metadata()?.len();
    let mut start = [0; 6];
    let n_start = file.read(&mut start)?;
    let is_file = n_start == start.len() && &start == MAGIC;
    if n_start >= 4 && &start[..4] == b"FEA1" {
        return Err(damaged("it is Feather of version 1; write version 2".to_owned()));
    }
    let lengths = if is_file { check_file(&mut file, size) } else { check_stream(&mut file, size) };
    lengths.map_err(|it| it.unwrap_or_else(|| damaged("it is cut off, or no Arrow file".to_owned())))?;
    file.seek(SeekFrom::Start(0))?;
    unless_damaged(|| if is_file { of_file(file) } else { of_stream(file) }, damaged)
}

fn of_file(file: File) -> Result<Box<dyn Iterator<Item = Batch>>, SampleError> {
    let reader = FileReader::try_new(BufReader::new(file), None).map_err(not_arrow)?;
    let schema = reader.schema();
    guarded(reader, &schema)
}

fn of_stream(file: File) -> Result<Box<dyn Iterator<Item = Batch>>, SampleError> {
    let reader = StreamReader::try_new(BufReader::new(file), None).map_err(not_arrow)?;
    let schema = reader.schema();
    guarded(reader, &schema)
}

fn guarded(
    mut reader: impl Iterator<Item = Result<arrow_array::RecordBatch, ArrowError>> + 'static,
    schema: &Schema,
) -> Result<Box<dyn Iterator<Item = Batch>>, SampleError> {
    table::check(schema)?;
    let next = move || {
        let batch = unless_damaged(|| Ok(reader.next()), damaged).transpose()?;
        Some(batch.and_then(|it| it.map_err(not_arrow)))
    };
    Ok(Box::new(std::iter::from_fn(next)))
}

fn damaged(message: String) -> SampleError {
    SampleError::NotArrow { message }
}

fn not_arrow(error: ArrowError) -> SampleError {
    let message = match error {
        ArrowError::IpcError(message) | ArrowError::ParseError(message) => message,
        other => other.to_string(),
    };
    damaged(message)
}

/// What is wrong with the lengths in a file; `None` inside when it does not go on as it should.
type Lengths = Result<(), Option<SampleError>>;

/// Whether every message of a stream lies within it.
fn check_stream(file: &mut File, size: u64) -> Lengths {
    let mut at = 0_u64;
    loop {
        if at == size && at > 0 {
            return Ok(());
        }
        let Some((metadata, start)) = message_at(file, at, size)? else { return Ok(()) };
        let message = root_as_message(&metadata).map_err(|_| None)?;
        let body = u64::try_from(message.bodyLength()).map_err(|_| None)?;
        at = start.checked_add(body).filter(|it| *it <= size).ok_or(None)?;
    }
}

/// The metadata of the message at a place, and where its body begins; nothing at the end of the stream.
fn message_at(file: &mut File, at: u64, size: u64) -> Result<Option<(Vec<u8>, u64)>, Option<SampleError>> {
    let mut word = [0; 4];
    let mut next = |file: &mut File| file.read_exact(&mut word).map(|()| word).map_err(|_| None);
    file.seek(SeekFrom::Start(at)).map_err(|it| Some(it.into()))?;
    let first = next(file)?;
    // Before version 0.15 the length stood alone.
    let (length, start) = if first == CONTINUATION { (next(file)?, at + 8) } else { (first, at + 4) };
    let length = u64::from(u32::from_le_bytes(length));
    if length == 0 {
        return Ok(None);
    }
    let end = start.checked_add(length).filter(|it| *it <= size).ok_or(None)?;
    let mut metadata = vec![0; usize::try_from(length).map_err(|_| None)?];
    file.read_exact(&mut metadata).map_err(|_| None)?;
    Ok(Some((metadata, end)))
}

/// Whether every block of a file lies within it, as its footer says.
fn check_file(file: &mut File, size: u64) -> Lengths {
    const TRAILER: u64 = 10;
    let mut trailer = [0; TRAILER as usize];
    let end = size.checked_sub(TRAILER).ok_or(None)?;
    file.seek(SeekFrom::Start(end)).map_err(|it| Some(it.into()))?;
    file.read_exact(&mut trailer).map_err(|_| None)?;
    if &trailer[4..] != MAGIC {
        return Err(None);
    }
    let length = u64::from(u32::from_le_bytes([trailer[0], trailer[1], trailer[2], trailer[3]]));
    let start = end.checked_sub(length).ok_or(None)?;
    let mut footer = vec![0; usize::try_from(length).map_err(|_| None)?];
    file.seek(SeekFrom::Start(start)).map_err(|it| Some(it.into()))?;
    file.read_exact(&mut footer).map_err(|_| None)?;
    let footer = root_as_footer(&footer).map_err(|_| None)?;
    let blocks = footer.recordBatches().into_iter().chain(footer.dictionaries()).flatten();
    for block in blocks {
        let part = |it: i64| u64::try_from(it).ok();
        let end = part(block.offset()).and_then(|it| it.checked_add(part(i64::from(block.metaDataLength()))?));
        let end = end.and_then(|it| it.checked_add(part(block.bodyLength())?));
        end.filter(|it| *it <= size).ok_or(None)?;
    }
    Ok(())
}
