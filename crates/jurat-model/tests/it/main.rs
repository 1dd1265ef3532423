//! The tests of `jurat-model` at its boundary.

mod asking;
mod faults;
mod functions;
mod limits;
