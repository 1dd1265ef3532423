//! What it takes to call an author's function.

use std::sync::Arc;

use crate::value::{Val, Value};

/// The language that an evaluator is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// Python.
    Python,
    /// TypeScript.
    TypeScript,
    /// JavaScript.
    JavaScript,
}

impl Language {
    /// Every language by its name.
    pub const NAMED: [(&'static str, Language); 3] =
        [("python", Language::Python), ("typescript", Language::TypeScript), ("javascript", Language::JavaScript)];

    /// The name, as authors write it.
    pub fn name(self) -> &'static str {
        match self {
            Language::Python => "python",
            Language::TypeScript => "typescript",
            Language::JavaScript => "javascript",
        }
    }

    /// Whether values have passed through the rules of `JSON.stringify`.
    pub fn is_script(self) -> bool {
        matches!(self, Language::TypeScript | Language::JavaScript)
    }

    /// How the language writes that there is nothing.
    pub fn nothing(self) -> &'static str {
        if self.is_script() { "null" } else { "None" }
    }
}

/// The code of an evaluator.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Source {
    /// The language it is written in.
    pub language: Language,
    /// The text.
    pub text: Arc<str>,
    /// The function that is called.
    pub entry: Arc<str>,
}

impl Source {
    /// The name of the code by its content: the same text, language and function are the same code.
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for part in [self.language.name(), &self.entry, &self.text] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }
}

/// One call of an evaluator.
///
/// What comes back is a value in the form of [`super::transport`], or the message of what was raised.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The evaluator's name.
    pub evaluator: Arc<str>,
    /// Its code.
    pub source: Source,
    /// The arguments by name, as one object.
    pub arguments: Value,
}

impl Call {
    /// The names of the arguments.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.arguments.as_map().into_iter().flat_map(|it| it.keys())
    }

    /// The argument with this name.
    pub fn argument(&self, name: &str) -> Option<&Val<'static>> {
        self.arguments.get(name)
    }
}
