//! Parts of sources: rows that follow each other, which one of several processes reads.
//!
//! JSON lines are cut at line feeds near equal numbers of bytes, without counting rows. Tables of CSV are read once to be cut, because a line feed may stand
//! in quotes. Parquet is cut between row groups. Whatever else there is, a process reads whole. Rows of a part are counted from its beginning.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::{ControlFlow, Range};
use std::path::Path;

use jurat_core::suite::{Records, RowFormat};
use memchr::{memchr, memchr_iter};
use serde::{Deserialize, Serialize};

use super::chunk::Delivery;
use super::rows::{Source, Types, sources};
use super::window::Window;
use super::{Chunk, ReadSummary, RowLimits, RowNames, RowsError, RowsFault, SampleError, csv, inline, jsonl, parquet};
use crate::bounded::open;

/// A part of a source of rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourcePart {
    /// Which source, counted from 0 over all sections.
    pub source: u32,
    #[serde(flatten)]
    pub extent: Extent,
}

/// Which rows of a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// Whole lines of JSON.
    Lines { offset: u64, bytes: u64 },
    /// Whole rows of a table, whose header is the first bytes of the file.
    Table { header: u64, offset: u64, bytes: u64 },
    /// Row groups of a Parquet file.
    RowGroups { first: usize, n: usize },
    /// Rows of the definition.
    Rows { first: usize, n: usize },
    /// All rows.
    Whole {},
}

impl Extent {
    /// Where it begins, in words; `None` at the beginning of the source.
    pub fn start_words(&self) -> Option<String> {
        match self {
            Extent::Lines { offset, .. } | Extent::Table { offset, .. } if *offset > 0 => {
                Some(format!("byte {offset}"))
            }
            Extent::RowGroups { first, .. } if *first > 0 => Some(format!("row group {}", first + 1)),
            Extent::Rows { first, .. } if *first > 0 => Some(format!("row {}", first + 1)),
            _ => None,
        }
    }
}

/// How long parts should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartSize {
    /// About this many rows each.
    Rows(u64),
    /// About this many parts over all sources, of about equally many bytes.
    Parts(u64),
}

/// Cuts all sources, in their order.
///
/// ```
/// use jurat_core::suite::{Records, RowSource};
/// use jurat_format::value::{Spanned, Val, Span};
/// use jurat_store::records::{Extent, PartSize, parts};
///
/// let rows = (0..5).map(|it| Spanned::new(Val::I(it), Span::default())).collect();
/// let records =
///     Records { from: RowSource::Inline(rows), format: None, id: None, sheet: None, types: vec![], tags: vec![], is_runs: false, defaults: Default::default() };
/// let cut = parts(&[records], PartSize::Rows(2))?;
/// assert_eq!(cut[2].extent, Extent::Rows { first: 4, n: 1 });
/// # Ok::<(), jurat_store::records::RowsError>(())
/// ```
pub fn parts(sections: &[Records], size: PartSize) -> Result<Vec<SourcePart>, RowsError> {
    let names = RowNames::of_all(sections);
    let wrong = |number: u32, fault: RowsFault| RowsError { from: names.source(number).to_owned(), fault };
    let mut weighed = Vec::new();
    for (number, source) in (0..).zip(sources(sections)) {
        let source = source.map_err(|it| wrong(number, it))?;
        let weight = weight(&source).map_err(|it| wrong(number, it.into()))?;
        weighed.push((number, source, weight));
    }
    let total: u64 = weighed.iter().map(|it| it.2).sum();
    let mut cut = Vec::new();
    for (number, source, weight) in &weighed {
        let size = match size {
            PartSize::Parts(n) => PartSize::Parts((n.saturating_mul(*weight) / total.max(1)).max(1)),
            rows => rows,
        };
        let extents = extents(source, size).map_err(|it| wrong(*number, it))?;
        cut.extend(extents.into_iter().map(|extent| SourcePart { source: *number, extent }));
    }
    Ok(cut)
}

/// How many bytes a source has, roughly.
fn weight(source: &Source<'_>) -> io::Result<u64> {
    /// Rows of a definition are small.
    const ROW: u64 = 256;
    Ok(match source {
        Source::Inline(rows) => rows.len() as u64 * ROW,
        Source::StandardInput(..) => 0,
        Source::File(path, ..) => std::fs::metadata(path)?.len(),
    })
}

fn extents(source: &Source<'_>, size: PartSize) -> Result<Vec<Extent>, RowsFault> {
    match source {
        Source::Inline(rows) => {
            let groups = runs(&vec![1; rows.len()], size);
            Ok(groups.into_iter().map(|it| Extent::Rows { first: it.start, n: it.len() }).collect())
        }
        Source::StandardInput(..) => Ok(vec![Extent::Whole {}]),
        Source::File(path, RowFormat::JsonLines, _) => Ok(line_extents(path, size)?),
        Source::File(path, RowFormat::Csv, _) => table_extents(path, b',', size),
        Source::File(path, RowFormat::Tsv, _) => table_extents(path, b'\t', size),
        Source::File(path, RowFormat::Parquet, _) => {
            let groups = runs(&parquet::group_rows(open(path)?.0)?, size);
            Ok(groups.into_iter().map(|it| Extent::RowGroups { first: it.start, n: it.len() }).collect())
        }
        Source::File(..) => Ok(vec![Extent::Whole {}]),
    }
}

/// Groups of neighbours with about as many rows as a part should have; at least one group.
fn runs(rows: &[u64], size: PartSize) -> Vec<Range<usize>> {
    let total: u64 = rows.iter().sum();
    let most = match size {
        PartSize::Rows(n) => n.max(1),
        PartSize::Parts(n) => total.div_ceil(n.max(1)).max(1),
    };
    let (mut runs, mut start, mut n) = (Vec::new(), 0, 0);
    for (ix, rows) in rows.iter().enumerate() {
        if n > 0 && n + rows > most {
            runs.push(start..ix);
            (start, n) = (ix, 0);
        }
        n += rows;
    }
    runs.push(start..rows.len());
    runs
}

/// How many bytes of a file are looked at to learn how long its lines are.
const SAMPLE: u64 = 1 << 20;

fn line_extents(path: &Path, size: PartSize) -> io::Result<Vec<Extent>> {
    let (mut file, total) = open(path)?;
    let n_parts = match size {
        PartSize::Parts(n) => n,
        PartSize::Rows(n) => {
            let mut sample = Vec::new();
            (&mut file).take(SAMPLE).read_to_end(&mut sample)?;
            let n_lines = memchr_iter(b'\n', &sample).count().max(1) as u64;
            let bytes = (sample.len() as u64).saturating_mul(n.max(1)) / n_lines;
            total.div_ceil(bytes.max(1))
        }
    };
    let mut borders = vec![0];
    for part in 1..n_parts.max(1) {
        let near = u64::try_from(u128::from(total) * u128::from(part) / u128::from(n_parts)).unwrap_or(total);
        let border = line_start(&mut file, near)?;
        if border > borders[borders.len() - 1] && border < total {
            borders.push(border);
        }
    }
    let ends = borders.iter().skip(1).copied().chain([total]);
    Ok(borders.iter().zip(ends).map(|(offset, end)| Extent::Lines { offset: *offset, bytes: end - offset }).collect())
}

/// Where the first line begins that starts at a byte or behind it; the end of the file when there is none.
fn line_start(file: &mut File, near: u64) -> io::Result<u64> {
    // The line may begin exactly there.
    let mut at = near.saturating_sub(1);
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = [0; 64 << 10];
    loop {
        let n = file.read(&mut bytes)?;
        match memchr(b'\n', &bytes[..n]) {
            Some(end) => return Ok(at + end as u64 + 1),
            None if n == 0 => return Ok(at),
            None => at += n as u64,
        }
    }
}

fn table_extents(path: &Path, delimiter: u8, size: PartSize) -> Result<Vec<Extent>, RowsFault> {
    let (mut file, total) = open(path)?;
    let mut none = |_: Chunk| ControlFlow::Continue(());
    let delivery = Delivery::new(&mut none, RowLimits::default());
    let mut n_done = 0;
    let mut is_full = |rows: u64, end: u64| match size {
        PartSize::Rows(n) => rows >= n,
        PartSize::Parts(n) => {
            let is_full = u128::from(end) * u128::from(n) >= u128::from(total) * (n_done + 1);
            n_done += u128::from(is_full);
            is_full
        }
    };
    let window = Window::open_file(&mut file, &delivery)?;
    let (header, cuts) = csv::cuts(window, delimiter, RowLimits::default().row, &mut is_full)?;
    Ok(cuts.into_iter().map(|it| Extent::Table { header, offset: it.offset, bytes: it.bytes }).collect())
}

/// Hands the rows of a part to `each`, as [`read_all_within`](super::read_all_within) does with all.
pub fn read_part_within(
    sections: &[Records],
    part: &SourcePart,
    limits: RowLimits,
    each: &mut dyn FnMut(Chunk) -> ControlFlow<()>,
) -> Result<ReadSummary, RowsError> {
    let names = RowNames::of_all(sections).within(part);
    let wrong = |fault| RowsError { from: names.source(part.source).to_owned(), fault };
    let source = sources(sections).nth(part.source as usize);
    let source = source.unwrap_or(Err(SampleError::NotFound.into())).map_err(wrong)?;
    let mut delivery = Delivery::new(each, limits.clamped());
    delivery.source = part.source;
    let flow = read(&source, &part.extent, &mut delivery).map_err(wrong)?;
    Ok(ReadSummary { rows: delivery.n_rows, stopped: flow.is_break() })
}

fn read(source: &Source<'_>, extent: &Extent, delivery: &mut Delivery<'_>) -> Result<ControlFlow<()>, RowsFault> {
    match (source, extent) {
        (Source::Inline(rows), Extent::Rows { first, n }) => {
            let rows = rows.get(*first..first.saturating_add(*n)).unwrap_or_default();
            inline::read(rows, delivery)
        }
        (Source::File(path, _, _), Extent::Lines { offset, bytes }) => {
            let mut part = bytes_of(path, *offset, *bytes)?;
            jsonl::read(Window::open_part(&mut part, *offset, delivery)?, delivery)
        }
        (Source::File(path, format, types), Extent::Table { header, offset, bytes }) => {
            let delimiter = if *format == RowFormat::Tsv { b'\t' } else { b',' };
            read_table(path, delimiter, *types, [(0, *header), (*offset, *bytes)], delivery)
        }
        (Source::File(path, _, _), Extent::RowGroups { first, n }) => {
            parquet::read_groups(open(path)?.0, *first..first.saturating_add(*n), delivery)
        }
        (source, _) => source.read(&mut io::empty(), delivery),
    }
}

/// Reads the header of a table, then some of its rows, as if there were no others.
fn read_table(
    path: &Path,
    delimiter: u8,
    types: Types<'_>,
    [header, rows]: [(u64, u64); 2],
    delivery: &mut Delivery<'_>,
) -> Result<ControlFlow<()>, RowsFault> {
    let mut input = bytes_of(path, header.0, header.1)?.chain(bytes_of(path, rows.0, rows.1)?);
    csv::read(Window::open(&mut input, delivery)?, delimiter, types, delivery)
}

fn bytes_of(path: &Path, offset: u64, n: u64) -> io::Result<io::Take<File>> {
    let (mut file, _) = open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    Ok(file.take(n))
}
