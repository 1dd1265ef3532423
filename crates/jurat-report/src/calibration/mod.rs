//! How far a judge can be trusted, for people. For programs it is the calibration file itself.

mod markdown;
mod sentence;
mod tables;
mod text;

pub use markdown::write_markdown;
pub(crate) use sentence::corrected;
pub use text::{CalibrationOptions, write_text};
