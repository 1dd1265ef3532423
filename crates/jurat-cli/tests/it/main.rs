//! The command as a user runs it.

mod campaigns;
mod check;
mod command;
mod commands;
mod completions;
mod console;
mod conversations;
mod evaluators;
mod explain;
mod export;
mod foreign_code;
mod guides;
mod hostile;
mod init;
mod journal;
mod kept;
mod mutation;
mod orphans;
mod pages;
mod plan;
mod readme;
mod run;
mod schema;
mod show;
mod snapshots;
mod tools;
