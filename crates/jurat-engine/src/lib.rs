//! Runs a plan over its cases.
//!
//! Rows are read in chunks by one thread and judged by others; what they conclude is handed on in the order of input,
//! whatever order it was concluded in. Memory holds a few chunks, however many rows there are.
//!
//! * [`run`]: the whole of it;
//! * [`Models`]: who answers the requests of judges.

mod budget;
mod models;
mod run;
mod stop;

pub use budget::{Amount, Budget, BudgetLimits, Reserved, Spent};
pub use models::{ModelError, Models};
pub use run::{CaseResult, Options, RunError, TaskResult, run};
pub use stop::Stop;
