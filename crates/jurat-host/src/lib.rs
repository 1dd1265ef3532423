//! What checks and agents need of the machine they run on.
//!
//! * [`HostFiles`]: what is at a path.
//! * [`hook`]: a function of the author, called in a Python of its own;
//! * [`workspace`]: what agents work on, made and looked at; [`differences`]: what became of its texts;
//! * [`program`]: where programs are, and what they need to run.

mod difference;
pub mod hook;
mod host_files;
pub mod program;
pub mod workspace;

pub use difference::differences;
pub use host_files::HostFiles;
