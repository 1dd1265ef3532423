//! What it takes to call an author's function.

use std::sync::Arc;
use std::time::Duration;

use jurat_format::choices;
use jurat_format::value::Value;

use super::Signature;
use crate::effect::Action;

choices! {
    /// The language that an evaluator is written in.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Language {
        Python = "python",
        TypeScript = "typescript",
        JavaScript = "javascript",
        /// Rust, of the program that runs the suite.
        Rust = "rust",
    }
}

impl Language {
    /// Whether values have passed through the rules of `JSON.stringify`.
    pub fn is_script(self) -> bool {
        matches!(self, Language::TypeScript | Language::JavaScript)
    }

    /// How the language writes that there is nothing.
    pub fn nothing(self) -> &'static str {
        match self {
            Language::Python | Language::Rust => "None",
            Language::TypeScript | Language::JavaScript => "null",
        }
    }
}

/// The code of an evaluator.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Source {
    /// The language it is written in.
    pub language: Language,
    pub text: Arc<str>,
    /// The function that is called.
    pub entry: Arc<str>,
}

/// An author's function, and how it is to be run.
#[derive(Debug, Clone, PartialEq)]
pub struct Code {
    pub source: Source,
    /// What one call may use.
    pub limits: Limits,
    pub isolation: Isolation,
    /// Whether equal arguments always give the same result, so that what came back may be used again.
    pub is_deterministic: bool,
    /// The interpreter or the virtual environment that runs it, when it is Python and the author names one.
    pub python: Option<String>,
}

impl Code {
    /// The name of the code by its content: the same text, language and function, run in the same way, are the same code.
    pub fn digest(&self) -> String {
        let isolation = self.isolation.name();
        let limits = format!("{} {}", self.limits.timeout.as_nanos(), self.limits.memory);
        let Source { language, text, entry } = &self.source;
        let python = self.python.as_deref().unwrap_or_default();
        let mut hasher = blake3::Hasher::new();
        for part in [language.name(), entry, text, isolation, &limits, python] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }
}

/// A function of the program that runs the suite. A definition has its name alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostFunction {
    pub name: Arc<str>,
    /// The language it is written in, in which messages say what it may return.
    pub language: Language,
    /// What it takes, where the definition says so.
    pub signature: Option<Signature>,
    /// Whether equal arguments always give the same result, in every program that has a function of this name.
    pub is_deterministic: bool,
}

impl HostFunction {
    /// The name it has where code has a digest.
    pub fn digest(&self) -> String {
        format!("call/{}", self.name)
    }
}

/// What one call may use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// How long it may take.
    pub timeout: Duration,
    /// How much memory its process may have, in bytes.
    pub memory: u64,
}

impl Limits {
    pub const DEFAULT: Limits = Limits { timeout: Duration::from_secs(30), memory: 1 << 30 };
}

choices! {
    /// What calls share.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Isolation {
        /// A process; each call has a namespace of its own in it.
        #[default]
        Process = "process",
        /// Nothing: each call has a process of its own.
        Fork = "fork",
    }
}

/// One call of an evaluator.
///
/// What comes back is a value in the form of [`super::transport`], or the message of what was raised.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub evaluator: Arc<str>,
    /// Its code, by [`Code::digest`] or [`HostFunction::digest`].
    pub source: String,
    /// The arguments by name, as one object.
    pub arguments: Value,
}

impl Call {
    /// The call as an effect: what is written down, and what names it. Two calls of the same code with equal arguments are the same effect.
    pub fn action(&self) -> Action {
        Action::Evaluate {
            evaluator: self.evaluator.to_string(),
            source: self.source.clone(),
            arguments: self.arguments.clone(),
        }
    }
}
