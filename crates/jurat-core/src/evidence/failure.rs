//! How a turn fails in another way than by what was said.

use jurat_compare::Operator;
use jurat_format::choices;
use jurat_format::value::{Map, Val, Value};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnFailure {
    /// What kind of failure it is.
    pub category: FailureCategory,
    pub stage: String,
    /// Why it failed, in words.
    pub reason: String,
}

impl TurnFailure {
    /// The failure as evidence has it.
    pub fn to_value(&self) -> Value {
        let members = [
            ("category", Val::from(self.category.name())),
            ("stage", Val::from(self.stage.as_str())),
            ("reason", Val::from(self.reason.as_str())),
        ];
        Val::Map(members.into_iter().collect::<Map<'_>>()).into_owned()
    }
}

choices! {
    /// The kinds of failure of a turn.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum FailureCategory {
        /// The answer is wrong. The conversation continues.
        Content = "content",
        /// The subject did not stop calling tools.
        RecursionLimit = "recursion_limit",
        /// The trace of the answer is not one.
        TraceValidation = "trace_validation",
        /// An excerpt could not be found.
        DeepJudgment = "deep_judgment",
        /// An excerpt for a trait could not be found.
        DeepJudgmentRubric = "deep_judgment_rubric",
        /// The time was over.
        Timeout = "timeout",
        /// The connection broke.
        Connection = "connection",
        /// There were too many requests.
        RateLimit = "rate_limit",
        /// The endpoint failed.
        ServerError = "server_error",
        /// The subject refused to answer.
        Abstention = "abstention",
        /// The answer does not have what would be read from it.
        Sufficiency = "sufficiency",
        /// The template cannot be applied.
        TemplateValidation = "template_validation",
        /// The answer could not be read.
        Parsing = "parsing",
        /// Something else.
        UnexpectedError = "unexpected_error",
    }
}

impl FailureCategory {
    /// Whether a comparison with this text asks for a whole category that does not exist. Others, such as `contains`, may ask for a part of a name.
    pub(crate) fn is_unknown(comparison: &Operator, category: &str) -> bool {
        is_whole(comparison) && Self::wanted(comparison, category).is_none()
    }

    /// The category that a comparison with this text asks for.
    pub(crate) fn wanted(comparison: &Operator, category: &str) -> Option<FailureCategory> {
        let named = Self::NAMED.iter().find(|(name, _)| name.eq_ignore_ascii_case(category.trim()));
        named.filter(|_| is_whole(comparison)).map(|(_, it)| *it)
    }

    /// Whether it says something about the subject. The others say that it could not be judged.
    pub fn is_of_subject(self) -> bool {
        use FailureCategory::{Abstention, Content, RecursionLimit, Sufficiency};
        matches!(self, Content | Abstention | RecursionLimit | Sufficiency)
    }
}

/// Whether a comparison asks for a text as a whole.
pub(crate) fn is_whole(comparison: &Operator) -> bool {
    matches!(comparison.entry().name, "ExactMatch" | "Equals" | "LiteralMatch")
}
