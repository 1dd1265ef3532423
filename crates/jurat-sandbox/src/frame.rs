//! Messages between the pool and its processes: four bytes of length, one of kind, and the rest.

use std::io::{self, Read, Write};

/// Kinds of messages to a worker.
pub(crate) const ORDERS: u8 = b'O';
pub(crate) const JOB: u8 = b'J';
pub(crate) const BATCH: u8 = b'B';
/// Kinds of messages to the first process of a jail, and the one from it.
pub(crate) const ENTER: u8 = b'G';
pub(crate) const JAIL: u8 = b'A';
pub(crate) const INPUT: u8 = b'I';
pub(crate) const END: u8 = b'X';
pub(crate) const SAID: u8 = b'S';
/// Kinds of messages from a worker.
pub(crate) const HARDENED: u8 = b'H';
pub(crate) const REFUSED: u8 = b'R';
pub(crate) const READY: u8 = b'Y';
pub(crate) const WRONG: u8 = b'W';
pub(crate) const VALUE: u8 = b'V';
pub(crate) const RAISED: u8 = b'E';
pub(crate) const NOT_STORED: u8 = b'N';
pub(crate) const DIED: u8 = b'D';

pub(crate) fn framed(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(body.len() + 5);
    frame.extend(u32::try_from(body.len() + 1).expect("messages have less than four gigabytes").to_le_bytes());
    frame.push(kind);
    frame.extend_from_slice(body);
    frame
}

/// Reads one message, and not a byte beyond it.
pub(crate) fn read(source: &mut impl Read) -> io::Result<(u8, Vec<u8>)> {
    let mut head = [0; 5];
    source.read_exact(&mut head)?;
    let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
    let mut body = vec![0; length.saturating_sub(1)];
    source.read_exact(&mut body)?;
    Ok((head[4], body))
}

pub(crate) fn write(target: &mut impl Write, kind: u8, body: &[u8]) -> io::Result<()> {
    target.write_all(&framed(kind, body))?;
    target.flush()
}

/// Takes a message off the beginning of what was read. What is longer than it may be is an error.
pub(crate) fn take(buffer: &mut Vec<u8>, max: usize) -> Result<Option<(u8, Vec<u8>)>, TooLong> {
    let Some(head) = buffer.first_chunk::<4>() else { return Ok(None) };
    let length = u32::from_le_bytes(*head) as usize;
    if length == 0 || length > max {
        return Err(TooLong(length));
    }
    if buffer.len() < 4 + length {
        return Ok(None);
    }
    let body = buffer[5..4 + length].to_vec();
    let kind = buffer[4];
    buffer.drain(..4 + length);
    Ok(Some((kind, body)))
}

/// A message of a length that none has.
#[derive(Debug)]
pub(crate) struct TooLong(pub(crate) usize);

/// The answer to one call: which it answers, what was printed, and a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer<'b> {
    pub(crate) call: u64,
    pub(crate) stdout: (u64, &'b [u8]),
    pub(crate) stderr: (u64, &'b [u8]),
    pub(crate) text: &'b [u8],
}

impl<'b> Answer<'b> {
    pub(crate) fn read(mut body: &'b [u8]) -> Option<Answer<'b>> {
        let call = number(&mut body)?;
        let stdout = printed(&mut body)?;
        let stderr = printed(&mut body)?;
        Some(Answer { call, stdout, stderr, text: body })
    }

    pub(crate) fn write(&self) -> Vec<u8> {
        let mut body = Vec::with_capacity(self.text.len() + 40);
        body.extend(self.call.to_le_bytes());
        for (n_dropped, bytes) in [self.stdout, self.stderr] {
            body.extend(n_dropped.to_le_bytes());
            body.extend((bytes.len() as u64).to_le_bytes());
            body.extend_from_slice(bytes);
        }
        body.extend_from_slice(self.text);
        body
    }
}

/// A batch of calls: the number of the first, then the arguments of each with their length.
pub(crate) fn batch<'a>(first: u64, arguments: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let mut body = first.to_le_bytes().to_vec();
    for text in arguments {
        body.extend((text.len() as u64).to_le_bytes());
        body.extend_from_slice(text.as_bytes());
    }
    body
}

/// The calls of a batch, with the number of the first.
pub(crate) fn read_batch(mut body: &[u8]) -> Option<(u64, Vec<&[u8]>)> {
    let first = number(&mut body)?;
    let mut calls = Vec::new();
    while !body.is_empty() {
        calls.push(bytes(&mut body)?);
    }
    Some((first, calls))
}

fn number(body: &mut &[u8]) -> Option<u64> {
    let (head, rest) = body.split_first_chunk::<8>()?;
    *body = rest;
    Some(u64::from_le_bytes(*head))
}

fn bytes<'b>(body: &mut &'b [u8]) -> Option<&'b [u8]> {
    let length = usize::try_from(number(body)?).ok()?;
    let (head, rest) = body.split_at_checked(length)?;
    *body = rest;
    Some(head)
}

fn printed<'b>(body: &mut &'b [u8]) -> Option<(u64, &'b [u8])> {
    Some((number(body)?, bytes(body)?))
}
