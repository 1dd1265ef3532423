//! Evidence: one document for each case that says what happened. It is the base of what the case's tasks see.
//!
//! The evidence of a record is its row. [`probe`] has what asking a model adds to it, [`scenario`] what a conversation leaves, [`run`] what an agent does.

pub mod probe;
pub mod run;
pub mod scenario;
