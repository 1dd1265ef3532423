//! What checks and agents need of the machine they run on.
//!
//! * [`Sight`]: what is at a path.
//! * [`hook`]: a function of the author, called in a Python of its own;
//! * [`workspace`]: what agents work on, made and looked at;
//! * [`program`]: where programs are, and what they need to run.

pub mod hook;
pub mod program;
mod sight;
pub mod workspace;

pub use sight::Sight;
