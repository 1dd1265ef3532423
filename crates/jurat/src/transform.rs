//! What is done to a value before it is judged.

use jurat_format::value::Val;
use serde::Serialize;

use crate::value::given;

/// What is done to a value before it is judged. Where it finds nothing the case is an error, unless [`otherwise`](Transform::otherwise) says what there is
/// then.
///
/// ```
/// use jurat::{Ask, Assertion, Transform, compare::equals};
///
/// Ask::new("${question}").transform(Transform::regex("Answer: (.*)"));
/// Assertion::new("score", "output", equals(1)).transform(Transform::path("verdict.score").otherwise(0));
/// ```
#[derive(Debug)]
pub struct Transform {
    taking: (&'static str, String),
    otherwise: Option<Result<Val<'static>, String>>,
}

impl Transform {
    fn of(key: &'static str, text: impl Into<String>) -> Transform {
        Transform { taking: (key, text.into()), otherwise: None }
    }

    /// Takes what is at a path; a text is read as JSON first.
    pub fn path(path: impl Into<String>) -> Transform {
        Transform::of("path", path)
    }

    /// Takes the first group of the first match of a regular expression, or the whole match when it has no group.
    pub fn regex(pattern: impl Into<String>) -> Transform {
        Transform::of("regex", pattern)
    }

    /// Takes what a CEL expression gives, which sees the value as `output`.
    pub fn cel(expression: impl Into<String>) -> Transform {
        Transform::of("cel", expression)
    }

    /// Takes what an evaluator of the suite returns, which gets the value as `output`.
    pub fn evaluate(evaluator: impl Into<String>) -> Transform {
        Transform::of("evaluate", evaluator)
    }

    /// The same with a value for where nothing is found.
    pub fn otherwise(self, value: impl Serialize) -> Transform {
        Transform { otherwise: Some(given(&value)), ..self }
    }

    pub(crate) fn value(self) -> Result<Val<'static>, String> {
        let (key, text) = self.taking;
        let otherwise = self.otherwise.transpose()?.map(|it| ("otherwise", it));
        Ok(Val::Map([(key, Val::from(text))].into_iter().chain(otherwise).collect()))
    }
}
