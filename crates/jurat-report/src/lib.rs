//! What people and editors read, drawn from what the core found.
//!
//! This crate turns values into text and writes it where it is told to. It finds nothing out, reads no file, and does
//! not ask whether there is a terminal: the caller says which [`Style`] to use. Reading order:
//!
//! * [`write_problems`] and [`write_summary`]: what is wrong with a definition, for people.
//! * [`problems_json`]: the same for editors; its shape is in [`wire`].
//! * [`model`]: what there is to say about a run; [`explanation`]: about one verdict; [`plan`]: about what will run.
//! * [`write_cases`], [`write_tasks`], [`write_totals`], [`write_slices`]: results as tables.
//! * [`pretty_json`]: a value for people who read JSON.
//! * [`visible`] and [`visible_line`]: other people's text, made unable to move the reader's cursor.

pub mod explanation;
pub mod model;
pub mod plan;

mod pretty_json;
mod problem_json;
mod problem_text;
pub mod wire;

mod excerpt;
mod lines;
mod order;
mod style;
mod tables;
mod visible;

pub use pretty_json::pretty_json;
pub use problem_json::problems_json;
pub use problem_text::{MAX_PROBLEMS, write_problems, write_summary};
pub use style::Style;
pub use tables::{CaseLine, TaskLine, TotalLine, write_cases, write_slices, write_tasks, write_totals};
pub use visible::{visible, visible_line};
