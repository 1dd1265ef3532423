//! Where rows come from.

use std::path::Path;

use jurat_core::suite::CellType;
use jurat_format::value::Val;

use crate::members::{Members, setters};

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

impl RowFiles {
    /// One file. A relative path starts at the directory of the suite.
    pub fn new(path: impl AsRef<Path>) -> RowFiles {
        RowFiles { paths: vec![shown(path.as_ref())], types: Members::default(), rest: Members::default() }
    }

    /// The same, with what the cells of a CSV column are.
    pub fn column(mut self, name: impl Into<String>, kind: CellType) -> RowFiles {
        self.types.given(name, Ok(Val::from(kind.name())));
        self
    }

    /// What stands under `records`.
    pub(crate) fn into_members(self) -> Members {
        let RowFiles { paths, types, rest } = self;
        let mut members = Members::default();
        members.texts("path", paths);
        members.object_if_any("types", types);
        members.extend(rest);
        members
    }
}

setters! { RowFiles:
    /// The same with another file after it.
    and(path: impl AsRef<Path>) => paths.push(shown(path.as_ref()));

    /// The same, with where a row's id stands; default: `id`, `record_id` or `case_id`, else a hash of the row.
    id(path: impl Into<String>) => rest.put("id", path.into());

    /// The same with words to select its rows by.
    tags(tags: impl IntoIterator<Item: Into<String>>) => rest.texts("tags", tags);
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
