//! What is wrong with a query: where, why, and what may have been meant.

use std::fmt;
use std::ops::Range;

/// What is wrong with a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryProblem {
    /// The query, as it was written.
    pub query: String,
    /// The place in it, in bytes.
    pub at: Range<usize>,
    pub message: String,
    /// What may have been meant in its place.
    pub meant: Option<String>,
}

impl QueryProblem {
    pub(crate) fn new(query: &str, at: Range<usize>, message: impl Into<String>) -> QueryProblem {
        QueryProblem { query: query.to_owned(), at, message: message.into(), meant: None }
    }

    pub(crate) fn meant(self, meant: Option<String>) -> QueryProblem {
        QueryProblem { meant, ..self }
    }

    /// The query with what may have been meant.
    pub fn corrected(&self) -> Option<String> {
        let meant = self.meant.as_ref()?;
        Some(format!("{}{meant}{}", &self.query[..self.at.start], &self.query[self.at.end..]))
    }
}

impl fmt::Display for QueryProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at character {}", self.message, self.query[..self.at.start].chars().count() + 1)?;
        self.corrected().map_or(Ok(()), |it| write!(f, "; did you mean `{it}`?"))
    }
}

impl std::error::Error for QueryProblem {}
