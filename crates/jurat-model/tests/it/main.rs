//! The tests of `jurat-model` at its boundary.

mod asking;
mod batches;
mod budgets;
mod documentation;
mod faults;
mod functions;
mod golden;
mod hostile;
mod keys;
mod laws;
mod limits;
mod network;
mod programs;
mod providers;
mod proxies;
mod raw;
mod scripts;
mod secrets;
mod settings;
mod tokens;
mod tools;
