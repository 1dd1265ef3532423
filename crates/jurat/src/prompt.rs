//! What is said to a model.

use std::path::{Path, PathBuf};

use jurat_format::value::Val;

/// What is said to a model: text, or a file that holds it. `${path}` in it is filled in from the case.
///
/// ```
/// use jurat::{Judge, Prompt};
///
/// Judge::new("polite", "Is this polite? ${answer}");
/// Judge::new("accurate", Prompt::file("prompts/accurate.md"));
/// ```
#[derive(Debug, Clone)]
pub struct Prompt(Source);

#[derive(Debug, Clone)]
enum Source {
    Text(String),
    File(PathBuf),
}

impl Prompt {
    /// A prompt in a file. A relative path starts at the directory of the suite.
    pub fn file(path: impl AsRef<Path>) -> Prompt {
        Prompt(Source::File(path.as_ref().to_owned()))
    }

    pub(crate) fn value(self) -> Val<'static> {
        match self.0 {
            Source::Text(text) => Val::from(text),
            Source::File(path) => Val::Map([("file", Val::from(path.display().to_string()))].into_iter().collect()),
        }
    }
}

impl From<&str> for Prompt {
    fn from(text: &str) -> Prompt {
        Prompt(Source::Text(text.to_owned()))
    }
}

impl From<String> for Prompt {
    fn from(text: String) -> Prompt {
        Prompt(Source::Text(text))
    }
}
