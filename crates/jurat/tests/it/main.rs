//! The face for Rust programs, as a program uses it.

mod agents;
mod building;
mod evaluators;
mod examples;
mod functions;
mod named_functions;
mod results;
mod running;
mod scenarios;
