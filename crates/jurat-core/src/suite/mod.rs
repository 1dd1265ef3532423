//! What authors write: read from YAML or JSON with positions, every problem collected.

pub mod problem;
pub mod source;
