//! The command as a user runs it.

mod check;
mod command;
mod guides;
mod hostile;
mod init;
mod mutation;
mod pages;
mod readme;
mod run;
mod schema;
mod snapshots;
