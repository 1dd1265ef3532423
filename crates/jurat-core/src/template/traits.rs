//! What answers are rated by. Some traits a model rates, some are plain rules over the text; none changes whether an answer is right.

use std::fmt;
use std::sync::Arc;

use jurat_compare::expression::Expression;
use jurat_compare::pattern::{Pattern, PatternError, PythonFlags};
use jurat_format::choices;

/// Something that an answer is rated by.
#[derive(Debug, Clone, PartialEq)]
pub struct Trait {
    /// Its name; its value stands under it.
    pub name: String,
    /// What it is about, in words for the model that rates.
    pub description: String,
    /// Whether more of it is better, for those who read reports.
    pub higher_is_better: bool,
    pub kind: TraitKind,
}

/// How an answer is rated by a trait.
#[derive(Debug, Clone, PartialEq)]
pub enum TraitKind {
    /// A model says yes or no.
    Boolean,
    /// A model gives a whole number between these two.
    Score { min: i64, max: i64 },
    /// A model picks a class. The value is the number of the class, counted from 0, with its name beside it.
    Literal {
        /// The classes in order, each with what it means.
        classes: Vec<(String, String)>,
    },
    /// Whether a regular expression matches somewhere in the answer.
    Regex {
        /// The expression, by the rules of Python's `re`.
        pattern: Pattern,
        /// Whether upper and lower case differ.
        case_sensitive: bool,
        /// Whether the answer must not match.
        invert: bool,
    },
    /// The value of an expression over `raw_response`, `question`, `parsed` and `verify_result`.
    Cel(Arc<Expression>),
    /// How much of a list the answer has, and how much besides; a model sorts.
    Metric {
        /// What the answer should have.
        items: Vec<String>,
        /// What it should not have. Without such a list, whatever is in the answer beyond the items counts against it.
        unwanted: Vec<String>,
        metrics: Vec<Metric>,
    },
}

choices! {
    /// A metric over what was found and what was not.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Metric {
        /// How much of what the answer has belongs there.
        Precision = "precision",
        /// How much of what should be there the answer has.
        Recall = "recall",
        /// The harmonic mean of the two.
        F1 = "f1",
        /// How much of what is unwanted the answer leaves out.
        Specificity = "specificity",
        /// How much of everything is as it should be.
        Accuracy = "accuracy",
    }
}

impl Metric {
    /// Whether it needs to know what is unwanted.
    pub fn needs_unwanted(self) -> bool {
        matches!(self, Metric::Specificity | Metric::Accuracy)
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Trait {
    /// A trait without a description, of which more is better.
    pub fn new(name: impl Into<String>, kind: TraitKind) -> Trait {
        Trait { name: name.into(), description: String::new(), higher_is_better: true, kind }
    }

    /// The names under which its values stand: its own; for classes the label beside it; for metrics one for each figure.
    pub fn keys(&self) -> Vec<String> {
        let name = &self.name;
        match &self.kind {
            TraitKind::Literal { .. } => vec![name.clone(), format!("{name}.label")],
            TraitKind::Metric { metrics, .. } => metrics.iter().map(|it| format!("{name}.{it}")).collect(),
            _ => vec![name.clone()],
        }
    }

    /// Whether a model is asked.
    pub fn is_asked(&self) -> bool {
        !matches!(self.kind, TraitKind::Regex { .. } | TraitKind::Cel(_))
    }
}

impl TraitKind {
    /// A rule that looks for a regular expression.
    pub fn regex(pattern: &str, case_sensitive: bool, invert: bool) -> Result<TraitKind, PatternError> {
        let flags = if case_sensitive { PythonFlags::NONE } else { PythonFlags::IGNORE_CASE };
        Ok(TraitKind::Regex { pattern: Pattern::python(pattern, flags)?, case_sensitive, invert })
    }
}
