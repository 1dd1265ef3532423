//! What pages share: verdicts, rates with intervals, bars, and other people's text made harmless.

pub(crate) mod bar;
pub(crate) mod diff;
pub(crate) mod graph;
pub(crate) mod markdown;
pub(crate) mod query;
pub(crate) mod text;
pub(crate) mod time;
pub(crate) mod value;
pub(crate) mod verdict;
