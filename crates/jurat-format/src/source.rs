//! The texts that a definition was read from, and the door through which they come.

use std::path::{Path, PathBuf};

use crate::value::{SourceId, Span};

/// The texts of a definition: the file that was named, what it includes, and prompts in files of their own.
#[derive(Debug, Clone, Default)]
pub struct Sources(Vec<Source>);

/// One text.
#[derive(Debug, Clone)]
pub struct Source {
    /// The file, as messages name it.
    pub path: PathBuf,
    /// Its text. Empty when it could not be read as text.
    pub text: String,
}

impl Sources {
    pub fn add(&mut self, path: impl Into<PathBuf>, text: impl Into<String>) -> SourceId {
        self.0.push(Source { path: path.into(), text: text.into() });
        SourceId(u32::try_from(self.0.len() - 1).unwrap_or(u32::MAX))
    }

    /// The text that `id` names.
    pub fn get(&self, id: SourceId) -> Option<&Source> {
        self.0.get(id.0 as usize)
    }

    /// The texts in the order they were read.
    pub fn iter(&self) -> impl Iterator<Item = (SourceId, &Source)> {
        self.0.iter().enumerate().map(|(ix, source)| (SourceId(u32::try_from(ix).unwrap_or(u32::MAX)), source))
    }

    /// The text that a span covers.
    pub fn text(&self, span: Span) -> &str {
        self.get(span.source).and_then(|source| source.text.get(span.range())).unwrap_or("")
    }

    /// Line and column of the start and the end of a span, from 1, columns in characters.
    pub fn position(&self, span: Span) -> (Position, Position) {
        let text = self.get(span.source).map_or("", |it| it.text.as_str());
        (Position::of(text, span.range().start), Position::of(text, span.range().end))
    }
}

/// A place for people: line and column from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

impl Position {
    fn of(text: &str, at: usize) -> Position {
        let at = (0..=at.min(text.len())).rev().find(|it| text.is_char_boundary(*it)).unwrap_or(0);
        let before = &text[..at];
        let line_start = before.rfind('\n').map_or(0, |it| it + 1);
        Position { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1 }
    }
}

/// How a definition gets at its files. The core asks; the caller supplies the files.
pub trait Files {
    /// The bytes of a file, unless it has more than `limit`.
    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadError>;

    /// The text that a recorded definition has for a part that comes with the program, such as a ready judge: another version of the program may have
    /// another text. A definition that is read for the first time has none.
    fn recorded(&self, _path: &Path) -> Option<Vec<u8>> {
        None
    }
}

/// Why a file could not be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// There is no such file.
    #[error("there is no such file")]
    NotFound,
    /// It is larger than asked for.
    #[error("it has {size} bytes; {limit} are the most")]
    TooLarge {
        /// Its size, or how much was read before giving up.
        size: u64,
        /// The most that was asked for.
        limit: u64,
    },
    /// Something else, in the words of the system.
    #[error("{0}")]
    Other(String),
}
