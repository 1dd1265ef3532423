//! Writes why a task of a case ended as it did.
//!
//! [`write_text`] writes an [`Explanation`](jurat_core::report::explanation::Explanation) for people, [`write_json`] for programs. [`write_brief`] writes a
//! whole case in a few lines, [`write_transcript`] what was said in a scenario, and [`write_run`] what an agent did.

mod brief;
mod json;
mod run;
mod text;
mod transcript;

pub use brief::write_brief;
pub use json::write_json;
pub use run::{write_run, write_run_json};
pub use text::write_text;
pub use transcript::{write_transcript, write_transcript_json};
