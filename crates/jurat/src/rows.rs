//! Where rows come from.

use std::path::Path;

use jurat_format::value::Val;

use crate::members::Members;

/// Files of rows: JSON lines, JSON, CSV or Parquet, as their names say.
///
/// ```
/// use jurat::{RowFiles, RowType, Suite};
///
/// Suite::builder("support").records_from("records.jsonl");
/// Suite::builder("invoices").records_from(
///     RowFiles::new("january.csv").and("february.csv").id("number").column("total", RowType::Number).tags(["2026"]),
/// );
/// ```
#[derive(Debug, Clone)]
pub struct RowFiles {
    paths: Vec<String>,
    types: Members,
    rest: Members,
}

/// What the cells of a CSV column are; default: text. See [`RowFiles`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowType {
    /// Numbers.
    Number,
    /// Whole numbers.
    Integer,
    /// `true` or `false`.
    Boolean,
    /// JSON.
    Json,
}

impl RowFiles {
    /// One file. A relative path starts at the directory of the suite.
    pub fn new(path: impl AsRef<Path>) -> RowFiles {
        RowFiles { paths: vec![shown(path.as_ref())], types: Members::default(), rest: Members::default() }
    }

    /// The same with another file after it.
    pub fn and(mut self, path: impl AsRef<Path>) -> RowFiles {
        self.paths.push(shown(path.as_ref()));
        self
    }

    /// The same, with where a row's id stands; default: `id`, `record_id` or `case_id`, else a hash of the row.
    pub fn id(mut self, path: impl Into<String>) -> RowFiles {
        self.rest.put("id", path.into());
        self
    }

    /// The same, with what the cells of a CSV column are.
    pub fn column(mut self, name: impl Into<String>, kind: RowType) -> RowFiles {
        let kind = match kind {
            RowType::Number => "number",
            RowType::Integer => "integer",
            RowType::Boolean => "boolean",
            RowType::Json => "json",
        };
        self.types.given(name, Ok(Val::from(kind)));
        self
    }

    /// The same with words to select its rows by.
    pub fn tags(mut self, tags: impl IntoIterator<Item: Into<String>>) -> RowFiles {
        self.rest.texts("tags", tags);
        self
    }

    /// What stands under `records`.
    pub(crate) fn into_members(self) -> Members {
        let RowFiles { paths, types, rest } = self;
        let mut members = Members::default();
        members.texts("path", paths);
        if !types.is_empty() {
            members.object("types", types);
        }
        members.extend(rest);
        members
    }
}

impl From<&str> for RowFiles {
    fn from(path: &str) -> RowFiles {
        RowFiles::new(path)
    }
}

impl From<&Path> for RowFiles {
    fn from(path: &Path) -> RowFiles {
        RowFiles::new(path)
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
