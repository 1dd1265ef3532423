//! The journal of a shard: segments, files that are only appended to.
//!
//! A database is not written over a network, and the processes that run shards may share no machine. So every writer has files of its own in the
//! directory of its shard, and no lock is needed: `WRITER-N.seg`. A retry of the shard reads all of them before it asks.
//!
//! A segment begins with `jurs`, its format and a frame with the name of its shard. A frame for each answer follows: length, checksum (XXH3) and body. What a
//! killed process or a full disk leaves is an incomplete last frame: a reader stops at the first frame that is damaged, and what is behind it is asked again.

use std::collections::HashMap;
use std::collections::hash_map::{Entry, RandomState};
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jurat_core::effect::{Asker, EffectKey, StepSite};
use jurat_core::plan::CaseIx;
use xxhash_rust::xxh3::xxh3_64;

use super::JournalAnswer;
use crate::database::DatabaseError;
use crate::effects::{PackedEffect, RecordedEffect};
use crate::packed::{Bytes, Packer, Unreadable, put_number, unpack};

const MAGIC: &[u8; 4] = b"jurs";
const FORMAT: u32 = 1;
const ENDING: &str = "seg";

/// Length and checksum of a frame.
const FRAME_HEAD: usize = 12;

/// A segment of this size is closed, so that what is synchronised with another place stays small.
const LARGE: u64 = 64 << 20;

/// The answers of one shard: those that earlier attempts at it have written, and those of this process.
#[derive(Debug, Clone)]
pub struct Segments(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    directory: PathBuf,
    /// The name of the shard. A segment of another is left alone.
    shard: String,
    index: Mutex<Index>,
}

#[derive(Debug, Default)]
struct Index {
    files: Vec<File>,
    places: HashMap<EffectKey, Place>,
}

/// Where an answer is.
#[derive(Debug, Clone, Copy)]
struct Place {
    file: usize,
    frame: Frame,
    at_ms: u64,
    /// Whether an earlier attempt paid for it and nothing of this one has used it yet.
    is_unused: bool,
}

/// The body of a frame within its file.
#[derive(Debug, Clone, Copy)]
struct Frame {
    offset: u64,
    length: usize,
    checksum: u64,
}

/// An answer of a shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardAnswer {
    pub answer: JournalAnswer,
    /// Whether an earlier attempt at the shard paid for it, and this is its first use: the shard has to count what it cost.
    pub is_first_use: bool,
}

impl Segments {
    /// Opens the directory of a shard, which need not be there, and reads what is.
    pub fn open(directory: &Path, shard: &str) -> Result<Segments, DatabaseError> {
        let mut index = Index::default();
        for path in segment_files(directory).map_err(|it| DatabaseError::of_io(directory, it))? {
            index.read(&path, shard).map_err(|it| DatabaseError::of_io(&path, it))?;
        }
        let shared = Shared { directory: directory.to_owned(), shard: shard.to_owned(), index: Mutex::new(index) };
        Ok(Segments(Arc::new(shared)))
    }

    /// The newest answer to a request. All are answers of this shard, so none is too old.
    pub fn get(&self, key: &EffectKey) -> Result<Option<ShardAnswer>, DatabaseError> {
        let mut index = self.index();
        let Some(place) = index.places.get(key).copied() else { return Ok(None) };
        let bytes = read_frame(&mut index.files[place.file], place.frame);
        let bytes = bytes.map_err(|it| DatabaseError::of_io(&self.0.directory, it))?;
        // An answer that was overwritten is no answer: it is asked again.
        let Some(answer) = bytes.and_then(|it| PaidAnswer::read(&it).ok()) else { return Ok(None) };
        let is_first_use = index.use_place(key);
        let PaidAnswer { outcome, at_ms, served, .. } = answer;
        Ok(Some(ShardAnswer { answer: JournalAnswer { outcome, at_ms, served }, is_first_use }))
    }

    /// Says that the file of the run has an answer, and counts what it cost.
    pub fn note_use(&self, key: &EffectKey) {
        self.index().use_place(key);
    }

    pub(crate) fn writer(&self, durable: bool) -> SegmentWriter {
        // Names must differ between machines, where numbers of processes may not.
        let random = RandomState::new().build_hasher().finish() as u32;
        let name = format!("{:x}{random:08x}", std::process::id());
        SegmentWriter { shared: Arc::clone(&self.0), name, n_segments: 0, open: None, packer: Packer::new(), durable }
    }

    fn index(&self) -> MutexGuard<'_, Index> {
        self.0.index.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Index {
    /// Takes in a segment, as far as it is whole.
    fn read(&mut self, path: &Path, shard: &str) -> io::Result<()> {
        let Some(mut reader) = SegmentReader::open(path)?.filter(|it| it.shard() == shard) else { return Ok(()) };
        let file = self.files.len();
        while let Some((frame, answer)) = reader.next_frame()? {
            self.add(answer.key, Place { file, frame, at_ms: answer.at_ms, is_unused: true });
        }
        self.files.push(File::open(path)?);
        Ok(())
    }

    /// Of two answers the newer stays, of two at one time the later.
    fn add(&mut self, key: EffectKey, place: Place) {
        match self.places.entry(key) {
            Entry::Vacant(vacant) => drop(vacant.insert(place)),
            Entry::Occupied(mut there) if there.get().at_ms <= place.at_ms => drop(there.insert(place)),
            Entry::Occupied(_) => {}
        }
    }

    /// Whether an answer of an earlier attempt is used for the first time.
    fn use_place(&mut self, key: &EffectKey) -> bool {
        self.places.get_mut(key).is_some_and(|it| std::mem::take(&mut it.is_unused))
    }
}

/// Writes segments; belongs to the thread that writes a run.
#[derive(Debug)]
pub(crate) struct SegmentWriter {
    shared: Arc<Shared>,
    name: String,
    n_segments: u32,
    open: Option<OpenSegment>,
    packer: Packer,
    durable: bool,
}

#[derive(Debug)]
struct OpenSegment {
    path: PathBuf,
    file: File,
    /// Its number in the index.
    number: usize,
    length: u64,
}

impl SegmentWriter {
    /// Appends answers. When it returns, they survive the end of this process.
    pub(crate) fn write<'e>(
        &mut self,
        effects: impl Iterator<Item = &'e PackedEffect<'e>>,
    ) -> Result<(), DatabaseError> {
        let (mut bytes, mut written) = (Vec::new(), Vec::new());
        for effect in effects.map(|it| it.effect) {
            let body = self.packer.pack(&encoded(effect));
            let frame = Frame {
                offset: (bytes.len() + FRAME_HEAD) as u64,
                length: body.len(),
                checksum: push_frame(&mut bytes, &body),
            };
            written.push((effect.key, effect.at_ms, frame));
        }
        if bytes.is_empty() {
            return Ok(());
        }
        let mut open = match self.open.take() {
            Some(open) if open.length < LARGE => open,
            _ => self.next_segment()?,
        };
        let appended = open.file.write_all(&bytes).and_then(|()| match self.durable {
            true => open.file.sync_data(),
            false => Ok(()),
        });
        appended.map_err(|it| DatabaseError::of_io(&open.path, it))?;
        let mut index = self.shared.index.lock().unwrap_or_else(PoisonError::into_inner);
        for (key, at_ms, frame) in written {
            let frame = Frame { offset: open.length + frame.offset, ..frame };
            index.add(key, Place { file: open.number, frame, at_ms, is_unused: false });
        }
        drop(index);
        open.length += bytes.len() as u64;
        self.open = Some(open);
        Ok(())
    }

    fn next_segment(&mut self) -> Result<OpenSegment, DatabaseError> {
        let directory = &self.shared.directory;
        fs::create_dir_all(directory).map_err(|it| DatabaseError::of_io(directory, it))?;
        self.n_segments += 1;
        let path = directory.join(format!("{}-{}.{ENDING}", self.name, self.n_segments));
        let begin = || -> io::Result<(File, File, u64)> {
            let mut file = OpenOptions::new().append(true).create_new(true).open(&path)?;
            let mut bytes = MAGIC.to_vec();
            bytes.extend(FORMAT.to_le_bytes());
            push_frame(&mut bytes, self.shared.shard.as_bytes());
            file.write_all(&bytes)?;
            Ok((file, File::open(&path)?, bytes.len() as u64))
        };
        let (file, to_read, length) = begin().map_err(|it| DatabaseError::of_new(&path, it))?;
        let mut index = self.shared.index.lock().unwrap_or_else(PoisonError::into_inner);
        index.files.push(to_read);
        Ok(OpenSegment { path, file, number: index.files.len() - 1, length })
    }
}

/// A paid answer with its request, as segments and shared journals have it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PaidAnswer {
    /// The name of the request by its content.
    pub key: EffectKey,
    /// When it was there, in milliseconds since 1970.
    pub at_ms: u64,
    pub kind: String,
    pub model: String,
    /// Who answered, as they say.
    pub served: Option<String>,
    /// The request, for `jurat_core::effect::wire`.
    pub request: String,
    /// The outcome, for `jurat_core::effect::wire`.
    pub outcome: String,
}

impl PaidAnswer {
    fn read(packed: &[u8]) -> Result<PaidAnswer, Unreadable> {
        let unpacked = unpack(packed)?;
        let mut bytes = Bytes(&unpacked);
        let (key, at_ms) = (EffectKey(bytes.array()?), bytes.number()?);
        let mut text = || {
            let length = bytes.length()?;
            String::from_utf8(bytes.take(length)?.to_vec()).map_err(|_| Unreadable::Damaged)
        };
        let (kind, model, request, outcome) = (text()?, text()?, text()?, text()?);
        let served = if bytes.is_empty() { None } else { Some(bytes.0) };
        let served = served.map(|it| String::from_utf8(it.to_vec())).transpose().map_err(|_| Unreadable::Damaged)?;
        Ok(PaidAnswer { key, at_ms, kind, model, served, request, outcome })
    }

    /// The answer as the journal of a project takes it. The case that it was given in belongs to a run, and the journal has none.
    pub(super) fn into_effect(self) -> RecordedEffect {
        let PaidAnswer { key, at_ms, kind, model, served, request, outcome } = self;
        RecordedEffect {
            case_ix: CaseIx::numbered(0),
            site: StepSite { asker: Asker::Case, slot: 0, turn: 0 },
            attempt: 0,
            key,
            kind,
            model,
            served,
            at_ms,
            request,
            outcome,
            reused: false,
            journal: true,
            media: Vec::new(),
        }
    }
}

/// The name of who answered is last, because it may be missing.
fn encoded(effect: &RecordedEffect) -> Vec<u8> {
    let RecordedEffect { key, at_ms, kind, model, served, request, outcome, .. } = effect;
    let mut bytes = key.0.to_vec();
    put_number(&mut bytes, *at_ms);
    for text in [kind, model, request, outcome] {
        put_number(&mut bytes, text.len() as u64);
        bytes.extend_from_slice(text.as_bytes());
    }
    bytes.extend_from_slice(served.as_deref().unwrap_or_default().as_bytes());
    bytes
}

/// The answers of one segment, up to the first frame that is damaged.
#[derive(Debug)]
pub struct SegmentReader {
    input: BufReader<File>,
    shard: String,
    offset: u64,
    length: u64,
    is_damaged: bool,
}

impl SegmentReader {
    /// Opens a segment; `None` when it has no whole beginning, or is of a later format: no answer of it can be read.
    pub fn open(path: &Path) -> io::Result<Option<SegmentReader>> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        let input = BufReader::new(file);
        let mut reader = SegmentReader { input, shard: String::new(), offset: 0, length, is_damaged: false };
        let Some(begin) = reader.array::<8>()? else { return Ok(None) };
        if begin[..4] != *MAGIC || begin[4..] != FORMAT.to_le_bytes() {
            return Ok(None);
        }
        let shard = reader.body()?.and_then(|(_, body)| String::from_utf8(body).ok());
        Ok(shard.map(|shard| SegmentReader { shard, ..reader }))
    }

    /// The shard that it is of.
    pub fn shard(&self) -> &str {
        &self.shard
    }

    /// Whether it was read up to a frame that is damaged.
    pub fn is_damaged(&self) -> bool {
        self.is_damaged
    }

    fn next_frame(&mut self) -> io::Result<Option<(Frame, PaidAnswer)>> {
        let Some((frame, body)) = self.body()? else { return Ok(None) };
        let answer = PaidAnswer::read(&body).ok();
        self.is_damaged = answer.is_none();
        Ok(answer.map(|it| (frame, it)))
    }

    /// The next body; `None` at the end, and from the first one on that is damaged.
    fn body(&mut self) -> io::Result<Option<(Frame, Vec<u8>)>> {
        if self.is_damaged || self.offset == self.length {
            return Ok(None);
        }
        let body = self.whole_body()?;
        self.is_damaged = body.is_none();
        Ok(body)
    }

    fn whole_body(&mut self) -> io::Result<Option<(Frame, Vec<u8>)>> {
        let (Some(length), Some(checksum)) = (self.array::<4>()?, self.array::<8>()?) else { return Ok(None) };
        let (length, checksum) = (u32::from_le_bytes(length), u64::from_le_bytes(checksum));
        // A damaged length must not ask for all the memory there is.
        if u64::from(length) > self.length - self.offset {
            return Ok(None);
        }
        let frame = Frame { offset: self.offset, length: length as usize, checksum };
        let mut body = vec![0; frame.length];
        self.input.read_exact(&mut body)?;
        self.offset += u64::from(length);
        Ok((xxh3_64(&body) == checksum).then_some((frame, body)))
    }

    fn array<const N: usize>(&mut self) -> io::Result<Option<[u8; N]>> {
        if self.length - self.offset < N as u64 {
            return Ok(None);
        }
        let mut bytes = [0; N];
        self.input.read_exact(&mut bytes)?;
        self.offset += N as u64;
        Ok(Some(bytes))
    }
}

impl Iterator for SegmentReader {
    type Item = io::Result<PaidAnswer>;

    fn next(&mut self) -> Option<io::Result<PaidAnswer>> {
        self.next_frame().map(|it| it.map(|(_, answer)| answer)).transpose()
    }
}

/// The segments in a directory, in the order of their names; none where there is no directory.
pub fn segment_files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut paths: Vec<PathBuf> = entries.map(|it| it.map(|it| it.path())).collect::<io::Result<_>>()?;
    paths.retain(|it| it.extension().is_some_and(|it| it == ENDING));
    paths.sort();
    Ok(paths)
}

/// Appends a frame, and returns its checksum.
fn push_frame(bytes: &mut Vec<u8>, body: &[u8]) -> u64 {
    let checksum = xxh3_64(body);
    bytes.extend((body.len() as u32).to_le_bytes());
    bytes.extend(checksum.to_le_bytes());
    bytes.extend_from_slice(body);
    checksum
}

/// The body of a frame, when it is still the one that was written.
fn read_frame(file: &mut File, frame: Frame) -> io::Result<Option<Vec<u8>>> {
    let mut body = vec![0; frame.length];
    file.seek(SeekFrom::Start(frame.offset))?;
    match file.read_exact(&mut body) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        read => read.map(|()| (xxh3_64(&body) == frame.checksum).then_some(body)),
    }
}
