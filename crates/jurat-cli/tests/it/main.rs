//! The command as a user runs it.

mod command;
mod mutation;
mod readme;
mod snapshots;
