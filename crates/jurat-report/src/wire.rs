//! The shape of problems as JSON. Editors read it, so fields are added, never renamed; `version` changes when the
//! meaning of one does.

use serde::Serialize;

/// The version of this shape.
pub const VERSION: u32 = 1;

/// All that is wrong with a definition.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Problems {
    /// [`VERSION`]
    pub version: u32,
    /// The problems, in the order in which they stand in the files.
    pub problems: Vec<Problem>,
    pub errors: usize,
    pub warnings: usize,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Problem {
    /// `area::name`
    pub code: String,
    /// `error` or `warning`
    pub severity: String,
    pub message: String,
    /// The main place. Its fields are left out when there is none.
    #[serde(flatten)]
    pub place: Option<Place>,
    /// Every place, the main one first.
    pub labels: Vec<Label>,
    pub help: Vec<String>,
    /// The page about this kind of problem.
    pub docs: String,
}

/// A place and what there is to say about it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Label {
    #[serde(flatten)]
    pub place: Place,
    /// A few words; may be empty.
    pub text: String,
}

/// A range of a file. Lines and columns count from 1, columns in characters (Unicode scalar values).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Place {
    /// The file, as the command named it.
    pub file: String,
    /// The line of the first character.
    pub line: usize,
    /// The column of the first character.
    pub column: usize,
    /// The line of the end.
    pub end_line: usize,
    /// The column after the last character.
    pub end_column: usize,
}
