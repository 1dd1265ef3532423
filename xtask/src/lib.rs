//! What the chores of the project share, whichever package they are in.
//!
//! * [`chore`]: how a chore is described, reads its arguments and fails.
//! * [`installation`]: packages of PyPI and npm in folders of their own.
//! * [`program`]: runs other programs and makes sure that they exist.
//! * [`python`]: the Python package, built and installed.

pub mod chore;
pub mod installation;
pub mod program;
pub mod python;
