//! What checks need of the machine they run on.
//!
//! * [`Sight`]: what is at a path.
//! * [`hook`]: a function of the author, called in a Python of its own.

pub mod hook;
mod sight;

pub use sight::Sight;
