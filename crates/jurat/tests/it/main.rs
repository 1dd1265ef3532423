//! The face for Rust programs, as a program uses it.

mod building;
mod evaluators;
mod examples;
mod functions;
mod named_functions;
mod results;
mod running;
mod scenarios;
