//! The formats that runs are exported in. Each is a `static` in a file of its own, and a line in [`FORMATS`].
//!
//! The command takes its `--to`, the extensions of `-o`, its help and its errors from the list, and Python its names.

mod baseline;
mod csv;
mod effects;
mod html;
mod inspect;
mod interchange;
mod json;
mod json_lines;
mod junit;
mod markdown;
mod otlp;
mod parquet;
mod promptfoo;

use std::fmt;
use std::io::Write;
use std::path::Path;

use jurat_format::problem::listed_all;

use crate::{Error, Export};

pub use baseline::BASELINE;
pub use csv::CSV;
pub use effects::EFFECTS;
pub use html::HTML;
pub use inspect::INSPECT;
pub use json::JSON;
pub use json_lines::JSON_LINES;
pub use junit::JUNIT;
pub use jurat_view::file::{FileOptions as PageOptions, FoundCases};
pub use markdown::MARKDOWN;
pub use otlp::OTLP;
pub use parquet::PARQUET;
pub use promptfoo::PROMPTFOO;

/// Every format, in the order in which they are listed.
pub static FORMATS: &[&Format] =
    &[&JSON, &JSON_LINES, &CSV, &PARQUET, &JUNIT, &MARKDOWN, &HTML, &OTLP, &PROMPTFOO, &INSPECT, &EFFECTS, &BASELINE];

/// What a run is exported as; see [`Run::export`](crate::Run::export).
///
/// ```
/// use std::path::Path;
///
/// use jurat::format::{Format, JUNIT};
///
/// assert_eq!(Format::of_file(Path::new("results.xml")), Some(&JUNIT));
/// assert_eq!(Format::named("junit"), Some(&JUNIT));
/// ```
pub struct Format {
    /// What the command and Python call it.
    pub name: &'static str,
    /// How the names of its files end, the usual ending first; none where a name does not say the format.
    pub extensions: &'static [&'static str],
    /// What it is called where the ending does not say.
    pub title: Option<&'static str>,
    /// What it is, in one line.
    pub help: &'static str,
    /// What of a run it holds.
    pub holds: Holds,
    pub(crate) write: fn(&Export<'_>, Box<dyn Write + Send + '_>) -> Result<(), Error>,
}

/// What of a run a format holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// A row for each task of each case, with columns that can be chosen.
    Rows,
    /// Cases, of which some can be chosen.
    Cases,
    /// The run as a whole.
    Run,
}

impl Format {
    /// The format with this name.
    pub fn named(name: &str) -> Option<&'static Format> {
        FORMATS.iter().copied().find(|it| it.name == name)
    }

    /// The format that the name of a file says.
    pub fn of_file(path: &Path) -> Option<&'static Format> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        FORMATS.iter().copied().find(|it| it.extensions.contains(&extension.as_str()))
    }

    /// The names of formats in words: `` `json`, `jsonl` and `csv` ``.
    pub fn names(which: impl Fn(&Format) -> bool) -> String {
        listed_all(FORMATS.iter().filter(|it| which(it)).map(|it| it.name))
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Format) -> bool {
        self.name == other.name
    }
}

impl Eq for Format {}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Format").field(&self.name).finish()
    }
}
