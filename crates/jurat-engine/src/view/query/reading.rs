//! What the terms of any query share: whether values are known, what a number is, and problems that point at their place.

use jurat_format::problem::{listed_all, nearest};

use super::QueryProblem;
use super::operand::{Bound, Unit};
use super::syntax::{Operator, Spanned, WrittenTerm};
use super::term::quoted_value;

/// A query that is being read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading<'q> {
    pub(crate) query: &'q str,
}

impl Reading<'_> {
    pub(crate) fn problem(&self, at: &Spanned, message: impl Into<String>) -> QueryProblem {
        QueryProblem::new(self.query, at.at.clone(), message)
    }

    /// That only equality makes sense.
    pub(crate) fn is_or_not(&self, term: &WrittenTerm) -> Result<(), QueryProblem> {
        match term.operator {
            Operator::Is | Operator::IsNot => Ok(()),
            other => {
                let message = format!("`{other}` compares numbers; write `=` or `!=`");
                Err(QueryProblem::new(self.query, term.at.clone(), message))
            }
        }
    }

    /// Values that are among these.
    pub(crate) fn known(&self, term: &WrittenTerm, what: &str, texts: &[String]) -> Result<Vec<String>, QueryProblem> {
        let unknown = term.values.iter().find(|it| !texts.contains(&it.text));
        if let Some(value) = unknown {
            let near = nearest(&value.text, texts.iter().map(String::as_str)).map(quoted_value);
            let shown = listed_all(texts.iter().take(20).map(String::as_str));
            let message = match texts.is_empty() {
                true => format!("the run has no {what} here"),
                false => format!("there is no {what} `{}`; there are {shown}", value.text),
            };
            return Err(self.problem(value, message).meant(near));
        }
        Ok(term.values.iter().map(|it| it.text.clone()).collect())
    }

    pub(crate) fn bound(&self, term: &WrittenTerm, unit: Unit) -> Result<Bound, QueryProblem> {
        let number = |it: &Spanned| {
            let words =
                if unit == Unit::Time { "a time such as `2s`, with `us`, `ms`, `s` or `m`" } else { "a number" };
            unit.read(&it.text).ok_or_else(|| self.problem(it, format!("`{}` is not {words}", it.text)))
        };
        let values = term.values.iter().map(number).collect::<Result<_, _>>()?;
        Ok(Bound { operator: term.operator, values })
    }
}
