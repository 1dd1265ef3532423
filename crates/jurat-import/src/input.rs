//! One file that is imported, and what it looks like.
//!
//! A small file is in memory. Of a large one what says what it is: JSON lines and the lists of JSON documents are then read as they are needed, and may be read
//! more than once.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;
use jurat_format::value::{Val, Value, parse_json};

use crate::elements::{Elements, abridged};
use crate::gzip;
use crate::kind::ImportError;
use crate::source::{BUFFER, Source};

/// The most bytes of a file that has to be in memory as a whole, packed or unpacked.
pub(crate) const MAX_BYTES: u64 = 512 << 20;

/// A file of more bytes is read piece by piece where its format allows it.
const LARGE: u64 = 16 << 20;

/// How much of a file says what it is.
const HEAD: u64 = 1 << 20;

/// The most bytes that a file with gzip may unpack to: a small file can claim to hold a very large one.
const MAX_UNPACKED: u64 = 64 << 30;

/// A file that is imported.
#[derive(Debug)]
pub struct Input {
    /// Its name in messages.
    pub name: String,
    pub(crate) content: Content,
}

#[derive(Debug)]
pub(crate) enum Content {
    /// A zip archive.
    Zip(Box<dyn Source>),
    /// Anything else that is not text.
    Binary(Vec<u8>),
    /// One JSON value, and its text. Of a large one the value has its long lists abridged.
    Json(Value, Text),
    /// JSON values, one a line; the first of them is read.
    JsonLines(Value, Text),
    /// Any other text.
    Text(String),
}

/// The text of an input.
#[derive(Debug)]
pub(crate) enum Text {
    Whole(String),
    Streamed(Stream),
}

/// A large text.
#[derive(Debug)]
pub(crate) struct Stream {
    source: Box<dyn Source>,
    is_packed: bool,
}

/// What may stand before a text to say how it is encoded. It is no part of the text.
const MARK: [u8; 3] = *b"\xef\xbb\xbf";

impl Stream {
    /// Its bytes from the beginning, without a byte-order mark.
    fn open(&self) -> io::Result<Box<dyn BufRead + '_>> {
        let mut reader = self.marked()?;
        let mut first = Vec::new();
        let read = reader.by_ref().take(MARK.len() as u64).read_to_end(&mut first);
        read.map_err(|error| if self.is_packed { damaged(error) } else { error })?;
        match first == MARK {
            true => Ok(reader),
            false => Ok(Box::new(Cursor::new(first).chain(reader))),
        }
    }

    fn marked(&self) -> io::Result<Box<dyn BufRead + '_>> {
        let reader = BufReader::with_capacity(BUFFER, self.source.open()?);
        Ok(match self.is_packed {
            true => Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(reader).take(MAX_UNPACKED))),
            false => Box::new(reader),
        })
    }
}

/// An element of a list, or a value by itself.
#[derive(Debug)]
pub(crate) struct Element {
    /// The line of its document.
    pub(crate) line: usize,
    /// Its number in a list, from 0.
    pub(crate) ix: Option<usize>,
    pub(crate) value: Value,
}

type Elementwise<'i> = Box<dyn Iterator<Item = Result<Element, ImportError>> + 'i>;

impl Input {
    /// Looks at bytes. Gzip is unpacked; what is inside decides.
    pub fn new(name: impl Into<String>, bytes: Vec<u8>) -> Result<Input, ImportError> {
        Input::open(name, Box::new(bytes))
    }

    /// Looks at a file, of which no more than that is in memory when it is large.
    pub fn open(name: impl Into<String>, source: Box<dyn Source>) -> Result<Input, ImportError> {
        Input::opened(name.into(), source, LARGE)
    }

    /// Looks at a file that is read piece by piece whatever its size, as far as its format allows it.
    pub fn streamed(name: impl Into<String>, source: Box<dyn Source>) -> Result<Input, ImportError> {
        Input::opened(name.into(), source, 0)
    }

    /// Looks at a file, which is large above this number of bytes.
    fn opened(name: String, source: Box<dyn Source>, large: u64) -> Result<Input, ImportError> {
        let content = content(source, large).map_err(|error| ImportError::unreadable(&name, error.to_string()))?;
        Ok(Input { name, content })
    }

    /// The first JSON value: of a document the whole of it.
    pub(crate) fn json(&self) -> Option<&Value> {
        match &self.content {
            Content::Json(value, _) | Content::JsonLines(value, _) => Some(value),
            _ => None,
        }
    }

    /// Where a text that begins as JSON is no JSON: it is cut off or damaged.
    pub(crate) fn damage(&self) -> Option<String> {
        match &self.content {
            Content::Text(text) if text.trim_start().starts_with(['{', '[']) => parsed(text.as_bytes()).err(),
            _ => None,
        }
    }

    /// The text of a file that is in memory.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Json(_, Text::Whole(text)) | Content::JsonLines(_, Text::Whole(text)) | Content::Text(text) => {
                Some(text)
            }
            _ => None,
        }
    }

    /// What the list at the first of these paths holds that is there, in each document; a document without such a list is itself one.
    pub(crate) fn elements<'i>(&'i self, paths: &'static [&'static [&'static str]]) -> Elementwise<'i> {
        match &self.content {
            Content::Json(value, Text::Whole(_)) => Box::new(divided(1, value.clone(), paths).into_iter().map(Ok)),
            Content::Json(value, Text::Streamed(stream)) => self.elements_of(value, stream, paths),
            Content::JsonLines(..) => Box::new(self.lines().flat_map(move |it| match it {
                Ok((line, value)) => divided(line, value, paths).into_iter().map(Ok).collect::<Vec<_>>(),
                Err(error) => vec![Err(error)],
            })),
            _ => Box::new(std::iter::empty()),
        }
    }

    fn elements_of<'i>(
        &'i self,
        value: &Value,
        stream: &'i Stream,
        paths: &'static [&'static [&'static str]],
    ) -> Elementwise<'i> {
        let name = self.name.as_str();
        let unreadable = move |why: String| ImportError::unreadable(name, why);
        let Some(path) = paths.iter().find(|it| list_at(value, it).is_some()) else {
            return Box::new(std::iter::once(Err(unreadable(too_large(paths)))));
        };
        let reader = match stream.open() {
            Ok(reader) => reader,
            Err(error) => return Box::new(std::iter::once(Err(unreadable(error.to_string())))),
        };
        let shown = if path.is_empty() { "the list".to_owned() } else { format!("`{}`", path.join(".")) };
        Box::new(Elements::new(reader, path).enumerate().map(move |(ix, element)| {
            let value = element.map_err(|error| error.to_string()).and_then(|bytes| parsed(&bytes));
            let value = value.map_err(|why| unreadable(format!("element {ix} of {shown}: {why}")))?;
            Ok(Element { line: 1, ix: Some(ix), value })
        }))
    }

    /// The JSON values with their lines: the lines of JSON lines, else the one value.
    pub(crate) fn values(&self) -> Box<dyn Iterator<Item = Result<(usize, Value), ImportError>> + '_> {
        match &self.content {
            Content::JsonLines(..) => Box::new(self.lines()),
            _ => Box::new(self.elements(&[]).map(|it| it.map(|it| (it.line, it.value)))),
        }
    }

    fn lines(&self) -> impl Iterator<Item = Result<(usize, Value), ImportError>> + '_ {
        let texts: Box<dyn Iterator<Item = io::Result<String>> + '_> = match &self.content {
            Content::JsonLines(_, Text::Whole(text)) => Box::new(text.lines().map(|it| Ok(it.to_owned()))),
            Content::JsonLines(_, Text::Streamed(stream)) => match stream.open() {
                Ok(reader) => Box::new(Lines { reader, is_done: false }),
                Err(error) => Box::new(std::iter::once(Err(error))),
            },
            _ => Box::new(std::iter::empty()),
        };
        let values = texts.enumerate().map(|(ix, line)| {
            let unreadable = |why: String| ImportError::unreadable(&self.name, format!("line {}{why}", ix + 1));
            let line = line.map_err(|error| unreadable(format!(": {error}")))?;
            if line.trim().is_empty() {
                return Ok(None);
            }
            match parse_json(&line) {
                Ok(record) => Ok(Some((ix + 1, record.value.into_owned()))),
                Err(error) => Err(unreadable(format!(", column {}: {}", error.column, error.message))),
            }
        });
        values.filter_map(Result::transpose)
    }
}

/// Why a large document without a list at any of these paths is not read.
fn too_large(paths: &[&[&str]]) -> String {
    let place = |path: &&[&str]| match path.is_empty() {
        true => "the top".to_owned(),
        false => format!("`{}`", path.join(".")),
    };
    let places: Vec<String> = paths.iter().map(place).collect();
    let form = if places.is_empty() { "JSON lines".to_owned() } else { format!("a list at {}", places.join(" or ")) };
    format!("the file is larger than {} MiB, and jurat can read a file of that size only as {form}", LARGE >> 20)
}

/// The lines of a stream, none of which has to be in memory with another. It ends with the first that cannot be read.
struct Lines<R> {
    reader: R,
    is_done: bool,
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = io::Result<String>;

    fn next(&mut self) -> Option<io::Result<String>> {
        let mut line = Vec::new();
        let read = self.reader.by_ref().take(MAX_BYTES + 1).read_until(b'\n', &mut line);
        let read = read.and_then(|n| match n as u64 > MAX_BYTES {
            true => Err(io::Error::other(format!("it has more than {MAX_BYTES} bytes"))),
            false => String::from_utf8(line).map_err(|_| io::Error::other("it is not text in UTF-8")),
        });
        let is_end = self.is_done || read.as_ref().is_ok_and(String::is_empty);
        self.is_done = is_end || read.is_err();
        (!is_end).then_some(read)
    }
}

fn content(source: Box<dyn Source>, large: u64) -> io::Result<Content> {
    let n_bytes = source.n_bytes();
    let head = head(source.open()?.as_mut(), large.max(HEAD))?;
    if is_zip(&head) {
        return Ok(Content::Zip(source));
    }
    let is_packed = gzip::is_gzip(&head);
    let stream = Stream { source, is_packed };
    let head = if is_packed { self::head(stream.open()?.as_mut(), large.max(HEAD)).map_err(damaged)? } else { head };
    if is_zip(&head) {
        return Ok(Content::Zip(Box::new(whole(&stream)?)));
    }
    let is_large = if is_packed { head.len() as u64 > large } else { n_bytes > large };
    let pieces = if is_large { streamed(&head, stream.open()?.as_mut())? } else { None };
    match pieces {
        Some(Streamed::Lines(first)) => return Ok(Content::JsonLines(first, Text::Streamed(stream))),
        Some(Streamed::Document(value)) => return Ok(Content::Json(value, Text::Streamed(stream))),
        None => {}
    }
    // Encoded messages may be valid UTF-8, but they hold control characters, which JSON, YAML and CSV do not.
    Ok(match String::from_utf8(if is_large { whole(&stream)? } else { head }) {
        Ok(text) if is_text(&text) => of_text(text),
        Ok(text) => Content::Binary(text.into_bytes()),
        Err(error) => Content::Binary(error.into_bytes()),
    })
}

fn is_zip(head: &[u8]) -> bool {
    head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06")
}

/// The beginning of a stream: all of one that is not large, and one byte more of one that is.
fn head(reader: &mut (impl Read + ?Sized), large: u64) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    reader.take(large + 1).read_to_end(&mut head)?;
    Ok(head)
}

fn damaged(error: io::Error) -> io::Error {
    io::Error::other(format!("the gzip stream is damaged or cut off: {error}"))
}

/// All of a stream.
fn whole(stream: &Stream) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = stream.open()?.take(MAX_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| if stream.is_packed { damaged(error) } else { error })?;
    match (bytes.len() as u64 > MAX_BYTES, stream.is_packed) {
        (true, true) => Err(io::Error::other(format!("it unpacks to more than {MAX_BYTES} bytes"))),
        (true, false) => Err(io::Error::other(format!("it has more than {MAX_BYTES} bytes"))),
        (false, _) => Ok(bytes),
    }
}

/// What is known of a large text that is read piece by piece.
enum Streamed {
    Lines(Value),
    Document(Value),
}

/// What a large text is by its beginning, and by the whole of it without its long lists; `None` when it has to be in memory.
fn streamed(head: &[u8], reader: &mut dyn BufRead) -> io::Result<Option<Streamed>> {
    let head = head.strip_prefix(&MARK).unwrap_or(head);
    let begins_json = head.trim_ascii_start().first().is_some_and(|it| matches!(it, b'{' | b'['));
    if !begins_json || !is_text(&String::from_utf8_lossy(&head[..head.len().min(4096)])) {
        return Ok(None);
    }
    let mut lines = head.split(|it| *it == b'\n').map(<[u8]>::trim_ascii).filter(|it| !it.is_empty());
    // Without a second line the first one may go on behind the beginning.
    if let (Some(first), Some(_)) = (lines.next(), lines.next())
        && let Ok(value) = parsed(first)
    {
        return Ok(Some(Streamed::Lines(value)));
    }
    let document = abridged(reader, usize::try_from(MAX_BYTES).unwrap_or(usize::MAX))?;
    Ok(parsed(&document).ok().map(Streamed::Document))
}

fn parsed(bytes: &[u8]) -> Result<Value, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not text in UTF-8".to_owned())?;
    match parse_json(text) {
        Ok(record) => Ok(record.value.into_owned()),
        Err(error) => Err(format!("line {}, column {}: {}", error.line, error.column, error.message)),
    }
}

/// What the list at the first of the paths holds that is there; else the value itself.
fn divided(line: usize, value: Value, paths: &[&[&str]]) -> Vec<Element> {
    let Some(path) = paths.iter().find(|it| list_at(&value, it).is_some()) else {
        return vec![Element { line, ix: None, value }];
    };
    let items = list_at(&value, path).unwrap_or_default().iter().cloned().enumerate();
    items.map(|(ix, value)| Element { line, ix: Some(ix), value }).collect()
}

fn list_at<'v>(value: &'v Value, path: &[&str]) -> Option<&'v [Value]> {
    path.iter().try_fold(value, |at, key| at.get(key)).and_then(Val::as_list)
}

fn is_text(text: &str) -> bool {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    !text.chars().take(4096).any(|it| it.is_control() && !matches!(it, '\n' | '\r' | '\t' | '\x0c'))
}

fn of_text(text: String) -> Content {
    let text = match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    };
    if !text.trim_start().starts_with(['{', '[']) {
        return Content::Text(text);
    }
    if let Ok(record) = parse_json(&text) {
        return Content::Json(record.value.into_owned(), Text::Whole(text));
    }
    let first = text.lines().find(|it| !it.trim().is_empty()).and_then(|it| parse_json(it).ok());
    match first.map(|it| it.value.into_owned()) {
        Some(value) => Content::JsonLines(value, Text::Whole(text)),
        // YAML may begin with a brace, too.
        None => Content::Text(text),
    }
}
