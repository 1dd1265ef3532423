//! Which cases of a run are meant, and in which order: one language for the viewer, `jurat show --where` and `jurat export --where`.
//!
//! ```text
//! query = { [ "-" ] ( term | "(" query { "OR" query } ")" ) }      terms beside each other must all hold
//! term  = key ( ":" | "=" | "!=" | "<" | "<=" | ">" | ">=" ) value { "," value } | text     "," is any of
//! ```
//!
//! * [`syntax`] reads the text, knowing no run; [`term`] gives its keys a meaning in one run, so that an unknown task or label is a problem and never an empty
//!   result.
//! * Most terms are about [`columns`], which are read whole. What looks into rows and messages is decided last, case by case, and can be interrupted.

mod columns;
mod grouping;
mod mask;
pub(crate) mod operand;
mod order;
mod probe;
mod problem;
pub(crate) mod reading;
mod scan;
mod select;
mod spent;
pub(crate) mod syntax;
mod term;
mod visited;

pub use crate::latencies::Latencies;
pub use columns::{ColumnCache, Columns, Ids};
pub use jurat_store::run::CaseTexts;
pub use mask::Mask;
pub use order::{Order, Place, Sort};
pub use problem::QueryProblem;
pub use scan::{Scanned, Seeking};
pub use select::Query;
pub use spent::{Purposes, Spending, Spent};
pub(crate) use term::{TermCases, cases_of_term};
pub use term::{quoted_name, quoted_value};
pub use visited::edge_names;
