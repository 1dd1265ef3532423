//! Karenina: its dumps and checkpoints of scenarios, the ids of its questions, and its template classes.

mod question_id;
pub(crate) mod scenario;
pub mod template_class;

pub use question_id::question_id;
