//! What authors write: read from YAML or JSON with positions, every problem collected.
//!
//! Text becomes a tree with positions ([`yaml`]); hand-shaped readers turn the tree into a [`Suite`], checking keys and
//! types against tables that also make the JSON [`schema`]. Nothing here resolves names between tasks: that is `plan`.

pub mod codes;
mod comparison;
mod form;
mod id;
mod judging;
mod load;
mod models;
mod output;
pub mod problem;
mod reader;
mod records;
pub mod schema;
mod sections;
pub mod source;
mod task;
pub mod write;
mod yaml;

pub use comparison::{ExpectedValue, TaskComparison};
pub use id::same_id;
pub use judging::{Aggregate, Judge, PromptText};
pub use load::{Loaded, MAX_BYTES, load};
pub use models::{Model, Role};
pub use output::Output;
pub use records::{CellType, Records, RowFile, RowFormat, RowSource, unreadable};
pub use sections::Thresholds;
pub use task::{CaseKind, Gate, Selection, Task, TaskKind};

pub use yaml::read_tree;

use crate::value::{FieldPath, Span, Spanned};

pub(crate) use models::is_provider_and_model;

/// A definition, with what it includes merged in.
#[derive(Debug, Clone, Default)]
pub struct Suite {
    /// Its name.
    pub name: Option<Spanned<String>>,
    /// What it is for.
    pub description: Option<String>,
    /// Which model plays which role.
    pub models: Vec<Role>,
    /// The rows to evaluate.
    pub records: Vec<Records>,
    /// The tasks, in the order they were written.
    pub tasks: Vec<Task>,
    /// Dimensions beyond the usual ones.
    pub dimensions: Vec<Spanned<String>>,
    /// Paths whose values make slices of the summary.
    pub group_by: Vec<Spanned<FieldPath>>,
    /// What counts as good enough.
    pub thresholds: Thresholds,
    /// Where the first thing it says stands.
    pub(crate) head: Option<Span>,
    /// Where `tasks` stands, if it does: a suite whose tasks are all unreadable is not one without tasks.
    pub(crate) tasks_key: Option<Span>,
    /// Where `records` stands, if it does.
    pub(crate) records_key: Option<Span>,
}

/// Two suites are equal wherever their parts stand.
impl PartialEq for Suite {
    fn eq(&self, other: &Self) -> bool {
        let Suite { name, description, models, records, tasks, dimensions, group_by, thresholds, .. } = self;
        (name, description, models, records) == (&other.name, &other.description, &other.models, &other.records)
            && (tasks, dimensions, group_by) == (&other.tasks, &other.dimensions, &other.group_by)
            && *thresholds == other.thresholds
    }
}
