//! Writes a [`Transcript`](jurat_core::report::transcript::Transcript): [`write_transcript`] for people, [`write_transcript_json`] for programs.

mod json;
mod text;

pub use json::write_transcript_json;
pub(super) use json::{write_members, write_tool};
pub use text::write_transcript;
