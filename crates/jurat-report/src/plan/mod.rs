//! Writes what a run will do: stages, requests, and an upper bound of calls and money.
//!
//! [`write_text`] is for people, [`write_json`] for programs; [`write_svg`], [`write_mermaid`] and [`write_dot`] draw the graph of the tasks.

pub(crate) mod dot;
mod graph;
mod json;
pub(crate) mod mermaid;
mod svg;
mod text;

use jurat_core::report::plan::{CostBound, PlanReport, PlanTask};

pub use dot::write_dot;
pub use json::write_json;
pub use mermaid::write_mermaid;
pub use svg::{BoxMark, PlanMarks, write_fragment, write_svg};
pub use text::write_text;
