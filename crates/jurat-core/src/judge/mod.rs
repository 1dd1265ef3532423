//! Asking a model to judge: its prompt, the loop that asks again, and several judges at once. Nothing here asks anything: it
//! says what to ask, and draws conclusions from what came back.

mod asking;
pub(crate) mod definition;
mod embedded;
pub mod file;
mod label;
mod marks;
mod panel;
mod ready;
mod reply;
mod soft;

mod soft_score;
pub use asking::{Asking, End};
pub(crate) use definition::SHAPE;
pub use label::Label;
pub use marks::{Marks, ScorePart};
pub use panel::{Aggregate, TaskResult, Vote, combine};
pub use ready::{READY, RUBRIC, Ready};
pub use reply::ReplyForm;
pub use soft::{PROBABILITIES, SOFT_SCORE, SoftScore};
