//! Asking a model to judge: its prompt and how the case is bound into it.

mod prompt;

pub use prompt::{Hole, Prompt};
