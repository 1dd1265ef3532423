//! The part of an input that is held in memory.

use std::fs::File;
use std::io::{self, Read};

use super::chunk::Delivery;

/// The bytes that were read and not yet taken.
pub(super) struct Window<'r> {
    input: &'r mut dyn Read,
    bytes: Vec<u8>,
    /// Where in the input they begin.
    offset: u64,
    /// Whether the input is a file, so that what was read can be read again.
    is_file: bool,
    has_ended: bool,
    /// How many more bytes may be read.
    left: u64,
    is_cut: bool,
    /// How many bytes are usually held.
    usual: usize,
}

impl<'r> Window<'r> {
    /// Begins to read what comes once; a byte-order mark is left out.
    pub(super) fn open(input: &'r mut dyn Read, delivery: &Delivery<'_>) -> io::Result<Window<'r>> {
        const MARK: &[u8] = "\u{feff}".as_bytes();
        let (usual, left) = (delivery.limits.chunk, delivery.most_bytes);
        let bytes = Vec::with_capacity(usual);
        let mut window =
            Window { input, bytes, offset: 0, is_file: false, has_ended: false, left, is_cut: false, usual };
        window.fill(MARK.len())?;
        if window.bytes.starts_with(MARK) {
            window.skip(MARK.len());
        }
        Ok(window)
    }

    /// Begins to read a file.
    pub(super) fn open_file(file: &'r mut File, delivery: &Delivery<'_>) -> io::Result<Window<'r>> {
        Ok(Window { is_file: true, ..Window::open(file, delivery)? })
    }

    /// Begins to read a part of a file, which starts at `offset` of it; a mark stands at the beginning of a file only.
    pub(super) fn open_part(input: &'r mut dyn Read, offset: u64, delivery: &Delivery<'_>) -> io::Result<Window<'r>> {
        if offset == 0 {
            return Ok(Window { is_file: true, ..Window::open(input, delivery)? });
        }
        let (usual, left) = (delivery.limits.chunk, delivery.most_bytes);
        let bytes = Vec::with_capacity(usual);
        Ok(Window { input, bytes, offset, is_file: true, has_ended: false, left, is_cut: false, usual })
    }

    /// Reads until it holds `size` bytes, or all that there are or may be read.
    pub(super) fn fill(&mut self, size: usize) -> io::Result<()> {
        let missing = size.saturating_sub(self.bytes.len());
        if missing > 0 && !self.has_ended && !self.is_cut {
            self.bytes.reserve(missing);
            let most = self.left.min(missing as u64);
            let read = (&mut *self.input).take(most).read_to_end(&mut self.bytes)? as u64;
            self.left -= read;
            self.has_ended = read < most;
            if self.left == 0 && !self.has_ended {
                self.has_ended = self.input.read(&mut [0])? == 0;
                self.is_cut = !self.has_ended;
            }
        }
        Ok(())
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Where in the file the bytes begin that it holds; `None` when they are in no file.
    pub(super) fn offset(&self) -> Option<u64> {
        self.is_file.then_some(self.offset)
    }

    /// Whether there is nothing behind what is held.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Whether no more may be read, though there is more.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Drops the first `n` bytes.
    pub(super) fn skip(&mut self, n: usize) {
        self.bytes.drain(..n);
        self.offset += n as u64;
    }

    /// Gives away the first `n` bytes, in the buffer they were read into; what follows them moves to a new one.
    pub(super) fn give(&mut self, n: usize) -> Vec<u8> {
        self.give_for(n, Vec::new())
    }

    /// The same, with a buffer for what follows them.
    pub(super) fn give_for(&mut self, n: usize, mut rest: Vec<u8>) -> Vec<u8> {
        if n == 0 {
            return Vec::new();
        }
        rest.clear();
        rest.reserve(self.usual.max(self.bytes.len() - n));
        rest.extend_from_slice(&self.bytes[n..]);
        self.bytes.truncate(n);
        self.offset += n as u64;
        std::mem::replace(&mut self.bytes, rest)
    }
}
