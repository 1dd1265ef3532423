//! Karenina: its dumps and checkpoints of scenarios, the ids of its questions, and its template classes.

mod condition;
mod question_id;
pub(crate) mod scenario;
pub mod template_class;

pub use condition::read_condition;
pub use question_id::question_id;
pub use scenario::checkpoint;
