//! A text file of a definition: what is read of it, and the problem when it cannot be read.

use std::path::Path;

use jurat_format::codes;
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::source::ReadError;
use jurat_format::value::Span;

/// The largest file a definition may have. Rows in larger numbers belong into data files.
pub const MAX_BYTES: u64 = 8 << 20;

/// The suite that is read when none is named.
pub const DEFAULT_FILE: &str = "jurat.yaml";

/// The text of a file of the definition, with a problem when it cannot be had.
pub(crate) fn read(reading: &mut Reading<'_>, path: &Path, named_at: Option<Span>) -> Option<String> {
    let shown = path.display();
    let problem = match reading.files.read(path, MAX_BYTES) {
        Ok(bytes) => match text_of(bytes) {
            Ok(text) => return Some(text),
            Err(line) => {
                let message = format!("`{shown}` is not UTF-8 text: line {line} has bytes that are no character");
                Problem::new(&codes::NOT_TEXT, message).help("save it as UTF-8")
            }
        },
        Err(ReadError::TooLarge { size, limit }) => {
            let message = format!("`{shown}` has {size} bytes; a definition has at most {limit}");
            Problem::new(&codes::TOO_LARGE, message).help("put rows into a data file and name it under `records`")
        }
        Err(ReadError::NotFound) => {
            let problem = Problem::new(&codes::NOT_FOUND, format!("there is no file `{shown}`"));
            match named_at {
                Some(_) => problem.help("paths are relative to the file that holds them"),
                None if path == Path::new(DEFAULT_FILE) => problem.help(
                    "name a suite, for example `jurat run FILE` or `jurat check FILE`, or make one with `jurat init`",
                ),
                None => problem.help("paths are relative to the current directory"),
            }
        }
        Err(error) => Problem::new(&codes::NOT_FOUND, format!("`{shown}` cannot be opened: {error}")),
    };
    reading.problem(at(problem, named_at, "named here"));
    None
}

/// The text without a byte-order mark, or the line that is none.
fn text_of(bytes: Vec<u8>) -> Result<String, usize> {
    let text = String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        good.iter().filter(|it| **it == b'\n').count() + 1
    })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// A problem at a place, if there is one.
pub(crate) fn at(problem: Problem, span: Option<Span>, text: &str) -> Problem {
    match span {
        Some(span) => problem.at(span, text),
        None => problem,
    }
}
