//! One file that is imported, and what it looks like.

use jurat_format::value::{Value, parse_json};

use crate::gzip;
use crate::kind::ImportError;

/// The most bytes of one file, packed or unpacked.
pub(crate) const MAX_BYTES: u64 = 512 << 20;

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
    Zip(Vec<u8>),
    /// Anything else that is not text.
    Binary(Vec<u8>),
    /// One JSON value, and its text.
    Json(Value, String),
    /// JSON values, one a line; the first of them is read.
    JsonLines(Value, String),
    /// Any other text.
    Text(String),
}

impl Input {
    /// Looks at bytes. Gzip is unpacked; what is inside decides.
    pub fn new(name: impl Into<String>, bytes: Vec<u8>) -> Result<Input, ImportError> {
        let name = name.into();
        let bytes = match gzip::is_gzip(&bytes) {
            true => gzip::unpacked(&bytes, MAX_BYTES).map_err(|why| ImportError::unreadable(&name, why))?,
            false => bytes,
        };
        let content = if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
            Content::Zip(bytes)
        } else {
            // Encoded messages may be valid UTF-8, but they hold control characters, which JSON, YAML and CSV do not.
            match String::from_utf8(bytes) {
                Ok(text) if is_text(&text) => of_text(text),
                Ok(text) => Content::Binary(text.into_bytes()),
                Err(error) => Content::Binary(error.into_bytes()),
            }
        };
        Ok(Input { name, content })
    }

    /// The first JSON value: of a document the whole of it.
    pub(crate) fn json(&self) -> Option<&Value> {
        match &self.content {
            Content::Json(value, _) | Content::JsonLines(value, _) => Some(value),
            _ => None,
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Json(_, text) | Content::JsonLines(_, text) | Content::Text(text) => Some(text),
            Content::Zip(_) | Content::Binary(_) => None,
        }
    }

    /// The JSON values with their lines: the lines of JSON lines, else the one value.
    pub(crate) fn values(&self) -> Box<dyn Iterator<Item = Result<(usize, Value), ImportError>> + '_> {
        match &self.content {
            Content::Json(value, _) => Box::new(std::iter::once(Ok((1, value.clone())))),
            Content::JsonLines(_, text) => Box::new(self.lines(text)),
            _ => Box::new(std::iter::empty()),
        }
    }

    fn lines<'i>(&'i self, text: &'i str) -> impl Iterator<Item = Result<(usize, Value), ImportError>> + 'i {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        lines.map(|(ix, line)| match parse_json(line) {
            Ok(record) => Ok((ix + 1, record.value.into_owned())),
            Err(error) => {
                let why = format!("line {}, column {}: {}", ix + 1, error.column, error.message);
                Err(ImportError::unreadable(&self.name, why))
            }
        })
    }
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
        return Content::Json(record.value.into_owned(), text);
    }
    let first = text.lines().find(|it| !it.trim().is_empty()).and_then(|it| parse_json(it).ok());
    match first.map(|it| it.value.into_owned()) {
        Some(value) => Content::JsonLines(value, text),
        // YAML may begin with a brace, too.
        None => Content::Text(text),
    }
}
