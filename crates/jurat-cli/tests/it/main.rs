//! The command as a user runs it.

mod mutation;
mod readme;
mod schema;
