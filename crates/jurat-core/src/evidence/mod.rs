//! Evidence: one document for each case that says what happened. It is the base of what the case's tasks see.
//!
//! [`record`] is the evidence of a row as it is; [`probe`] has what asking a model adds to it, [`scenario`] what a conversation leaves, [`run`] what an agent does.
//! [`failure`] is how a turn of a conversation failed; [`fault`] finds what is missing from evidence for reasons that are not the subject's.
//! [`answered`] is the part of the evidence that a label is about.

pub mod answered;
pub mod failure;
pub mod fault;
pub mod probe;
pub mod record;
pub mod run;
pub mod scenario;
