//! The face for Rust programs, as a program uses it.
