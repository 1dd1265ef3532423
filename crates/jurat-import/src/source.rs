//! Where the bytes of a file come from, and where rows are put until all of them are known: neither is in memory when it is large.

use std::fmt;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};

use jurat_format::value::{Value, write_json};

/// Something to read from, at any place.
pub trait Reader: Read + Seek {}

impl<T: Read + Seek> Reader for T {}

/// The bytes of a file. They can be read again, and are the same then.
pub trait Source: fmt::Debug {
    fn open(&self) -> io::Result<Box<dyn Reader + '_>>;
    /// How many there are.
    fn n_bytes(&self) -> u64;
}

impl Source for Vec<u8> {
    fn open(&self) -> io::Result<Box<dyn Reader + '_>> {
        Ok(Box::new(Cursor::new(self.as_slice())))
    }

    fn n_bytes(&self) -> u64 {
        self.len() as u64
    }
}

/// Where rows are put until all of them are known.
pub trait Spool: fmt::Debug {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    fn open(&self) -> io::Result<Box<dyn Reader + '_>>;
}

impl Spool for Vec<u8> {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.extend_from_slice(bytes);
        Ok(())
    }

    fn open(&self) -> io::Result<Box<dyn Reader + '_>> {
        Source::open(self)
    }
}

/// Rows as JSON lines.
#[derive(Debug)]
pub struct Rows {
    spool: Box<dyn Spool>,
    /// Where each line is, in the order in which they are written: its start and its length.
    places: Vec<(u64, u64)>,
    n_bytes: u64,
    line: String,
}

impl Rows {
    pub(crate) fn new(spool: Box<dyn Spool>) -> Rows {
        Rows { spool, places: Vec::new(), n_bytes: 0, line: String::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn push(&mut self, row: &Value) -> io::Result<()> {
        self.line.clear();
        write_json(&mut self.line, row);
        self.line.push('\n');
        let length = self.line.len() as u64;
        self.spool.append(self.line.as_bytes())?;
        self.places.push((self.n_bytes, length));
        self.n_bytes += length;
        Ok(())
    }

    /// Puts the rows into another order: that of these numbers of theirs.
    pub(crate) fn arrange(&mut self, order: &[usize]) {
        self.places = order.iter().map(|it| self.places[*it]).collect();
    }

    /// Writes the lines.
    pub fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut reader = io::BufReader::with_capacity(BUFFER, self.spool.open()?);
        let (mut at, mut line) = (0, Vec::new());
        for (start, length) in &self.places {
            if at != *start {
                reader.seek(SeekFrom::Start(*start))?;
            }
            line.resize(usize::try_from(*length).map_err(io::Error::other)?, 0);
            reader.read_exact(&mut line)?;
            out.write_all(&line)?;
            at = start + length;
        }
        Ok(())
    }
}

/// How much is read at once.
pub(crate) const BUFFER: usize = 1 << 16;
