//! The command as a user runs it.

mod command;
mod mutation;
mod pages;
mod readme;
mod snapshots;
