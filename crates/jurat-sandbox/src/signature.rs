//! What a function takes, found without running it.

use serde::{Deserialize, Serialize};

/// What the entry function takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signature {
    /// The parameters that can be given by name, in order.
    pub parameters: Vec<Parameter>,
    /// Whether names that are not listed are taken, too.
    pub is_open: bool,
    /// How arguments are handed over.
    pub passing: Passing,
    /// The line of the function, from 1.
    pub line: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    pub name: String,
    /// Whether the function cannot be called without it.
    pub is_required: bool,
    /// Its line, from 1.
    pub line: u32,
    /// Its column in characters, from 1.
    pub column: u32,
}

/// How arguments are handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Passing {
    /// By name, as Python does.
    Keywords,
    /// As one object, which the function takes apart.
    Object,
    /// One after the other.
    Positions,
}
