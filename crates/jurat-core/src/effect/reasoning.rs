//! What a model thought before it answered.

use jurat_format::value::{Val, Value};

/// What a model thought before it answered, as far as its provider shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Reasoning {
    /// What can be read of it; a provider may show none.
    pub text: String,
    /// What the provider wants back with the calls of tools that follow from it, as it gave it; null where it wants nothing. Some refuse a conversation without it.
    pub state: Value,
}

impl Reasoning {
    /// Reasoning, if there is any.
    pub fn new(text: String, state: Value) -> Option<Box<Reasoning>> {
        let is_there = !text.is_empty() || state != Val::Null;
        is_there.then(|| Box::new(Reasoning { text, state }))
    }

    /// What goes back to the provider.
    pub fn state(&self) -> Option<&Value> {
        Some(&self.state).filter(|it| **it != Val::Null)
    }
}
