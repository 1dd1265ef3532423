//! The order of cases that were found.

use std::fmt;

/// By what cases are ordered. What has no value comes last in both directions, and ties stay in the order of input.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Sort {
    #[default]
    Input,
    Id,
    Verdict,
    Took,
    Cost,
    Tokens,
    Latency,
    /// By the score of a task.
    Score(String),
    /// By the label of a task.
    Label(String),
}

impl Sort {
    /// What can be written, in words.
    pub const ACCEPTED: &str =
        "`input`, `id`, `verdict`, `took`, `cost`, `tokens`, `latency`, `score:TASK` or `label:TASK`";

    const PLAIN: [(&'static str, Sort); 7] = [
        ("input", Sort::Input),
        ("id", Sort::Id),
        ("verdict", Sort::Verdict),
        ("took", Sort::Took),
        ("cost", Sort::Cost),
        ("tokens", Sort::Tokens),
        ("latency", Sort::Latency),
    ];

    /// Reads an order as it is printed.
    pub fn parse(text: &str) -> Option<Sort> {
        let of_task = |key: &str| text.strip_prefix(key).filter(|it| !it.is_empty()).map(str::to_owned);
        let plain = Sort::PLAIN.into_iter().find(|(name, _)| *name == text).map(|(_, sort)| sort);
        plain.or_else(|| of_task("score:").map(Sort::Score)).or_else(|| of_task("label:").map(Sort::Label))
    }
}

impl fmt::Display for Sort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sort::Score(task) => write!(f, "score:{task}"),
            Sort::Label(task) => write!(f, "label:{task}"),
            plain => f.write_str(Sort::PLAIN.iter().find(|(_, it)| it == plain).map_or("input", |(name, _)| name)),
        }
    }
}
