//! The tests of `jurat-model` at its boundary.

mod asking;
mod budgets;
mod faults;
mod golden;
mod laws;
mod functions;
mod limits;
mod network;
mod programs;
mod providers;
mod scripts;
mod secrets;
