//! How bulk is written in databases: variable-length numbers, and bytes that are compressed where that helps.
//!
//! The first byte of a packed value says how the rest is written: 1 as it is, 2 as one zstd frame that knows its length. A value that is
//! [`sealed`] has a checksum in front of all that, which is verified wherever it is read; those of earlier versions have none. Any other byte was
//! written by a later version, and is an error rather than a guess.

use std::borrow::Cow;
use std::fmt;

use xxhash_rust::xxh3::xxh3_64;
use zstd::bulk::{Compressor, decompress};
use zstd::zstd_safe::{CParameter, get_frame_content_size};

/// The bytes are there as they are.
pub(crate) const PLAIN: u8 = 1;
/// The bytes are one zstd frame.
const ZSTD: u8 = 2;

/// A checksum and the value that it is of. No bit that flips makes another encoding of it.
const SEALED: u8 = 0xb5;

/// Fewer bytes are not worth a frame.
const WORTH_COMPRESSING: usize = 128;

/// No value is longer than this, so that a damaged file cannot ask for all the memory there is.
const LONGEST: u64 = 1 << 29;

/// Why stored bytes cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// They end too early, or say what cannot be.
    Damaged,
    /// They are not those that their checksum is of.
    Checksum,
    /// They are written in a way that this version does not know.
    Encoding(u8),
}

/// Compresses, with working memory that is set up once.
pub(crate) struct Packer(Option<Compressor<'static>>);

impl Packer {
    /// Level 1: a run compresses on the threads that judge.
    pub(crate) fn new() -> Packer {
        let compressor = Compressor::new(1).and_then(|mut it| {
            it.set_parameter(CParameter::ChecksumFlag(true))?;
            Ok(it)
        });
        Packer(compressor.ok())
    }

    /// Packs bytes, compressed when that makes them fewer.
    pub(crate) fn pack(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.compressed(bytes).unwrap_or_else(|| {
            let mut packed = Vec::with_capacity(bytes.len() + 1);
            packed.push(PLAIN);
            packed.extend_from_slice(bytes);
            packed
        })
    }

    /// The bytes packed and compressed, when that makes them fewer.
    pub(crate) fn compressed(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        if bytes.len() < WORTH_COMPRESSING {
            return None;
        }
        let frame = self.0.as_mut()?.compress(bytes).ok()?;
        if frame.len() >= bytes.len() {
            return None;
        }
        let mut packed = Vec::with_capacity(frame.len() + 1);
        packed.push(ZSTD);
        packed.extend_from_slice(&frame);
        Some(packed)
    }
}

impl fmt::Debug for Packer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Packer")
    }
}

/// A value with its checksum.
pub(crate) fn sealed(value: &[u8]) -> Vec<u8> {
    let mut stored = Vec::with_capacity(value.len() + 9);
    stored.push(SEALED);
    stored.extend_from_slice(&xxh3_64(value).to_le_bytes());
    stored.extend_from_slice(value);
    stored
}

/// The value that was sealed, when it is still the same; what has no checksum is returned as it is.
pub(crate) fn opened(stored: &[u8]) -> Result<&[u8], Unreadable> {
    let Some(rest) = stored.strip_prefix(&[SEALED]) else { return Ok(stored) };
    let (sum, value) = rest.split_first_chunk::<8>().ok_or(Unreadable::Damaged)?;
    if xxh3_64(value).to_le_bytes() == *sum { Ok(value) } else { Err(Unreadable::Checksum) }
}

/// The bytes that were packed.
pub(crate) fn unpack(packed: &[u8]) -> Result<Cow<'_, [u8]>, Unreadable> {
    match opened(packed)?.split_first() {
        Some((&PLAIN, bytes)) => Ok(Cow::Borrowed(bytes)),
        Some((&ZSTD, frame)) => {
            let length = get_frame_content_size(frame).ok().flatten().ok_or(Unreadable::Damaged)?;
            let length = usize::try_from(length.min(LONGEST)).map_err(|_| Unreadable::Damaged)?;
            decompress(frame, length).map(Cow::Owned).map_err(|_| Unreadable::Damaged)
        }
        Some((&other, _)) => Err(Unreadable::Encoding(other)),
        None => Err(Unreadable::Damaged),
    }
}

/// Writes a number in as many bytes as it needs: 7 bits each, the lowest first, the highest bit set in all but the last (LEB128).
pub(crate) fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// A difference as a number that is small when the difference is, either way.
pub(crate) fn zigzag(difference: i64) -> u64 {
    ((difference << 1) ^ (difference >> 63)) as u64
}

/// What [`zigzag`] was given.
pub(crate) fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// Bytes that are read from the front.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bytes<'b>(pub(crate) &'b [u8]);

impl<'b> Bytes<'b> {
    /// The bytes of a value that is never compressed, behind its encoding.
    pub(crate) fn of_plain(packed: &'b [u8]) -> Result<Bytes<'b>, Unreadable> {
        match opened(packed)?.split_first() {
            Some((&PLAIN, bytes)) => Ok(Bytes(bytes)),
            Some((&other, _)) => Err(Unreadable::Encoding(other)),
            None => Err(Unreadable::Damaged),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A number of [`put_number`].
    pub(crate) fn number(&mut self) -> Result<u64, Unreadable> {
        let mut number = 0_u64;
        for (ix, byte) in self.0.iter().enumerate().take(10) {
            number |= u64::from(byte & 0x7f) << (7 * ix);
            if byte & 0x80 == 0 {
                self.0 = &self.0[ix + 1..];
                return Ok(number);
            }
        }
        Err(Unreadable::Damaged)
    }

    /// A number that counts things in memory.
    pub(crate) fn length(&mut self) -> Result<usize, Unreadable> {
        usize::try_from(self.number()?).map_err(|_| Unreadable::Damaged)
    }

    /// The next `n` bytes.
    pub(crate) fn take(&mut self, n: usize) -> Result<&'b [u8], Unreadable> {
        let (taken, rest) = self.0.split_at_checked(n).ok_or(Unreadable::Damaged)?;
        self.0 = rest;
        Ok(taken)
    }

    /// The next `N` bytes.
    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Unreadable> {
        self.take(N)?.try_into().map_err(|_| Unreadable::Damaged)
    }
}
