//! What people and the judge choose from.

use serde::{Deserialize, Serialize};

use crate::label::Label;

/// The index of `fail` and of `pass` among the labels of a task that passes or fails.
pub const FAIL: usize = 0;
pub const PASS: usize = 1;

/// What people and the judge choose from. Ratings are numbers: the index of a label, or a score.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Scale {
    /// `fail` or `pass`.
    PassFail,
    Labels {
        /// In the order of the judge's `enum`, else by name.
        labels: Vec<String>,
        /// Whether neighbours are nearer to each other than others are.
        is_ordered: bool,
    },
    Scores,
}

/// A label that is none of the scale's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misread {
    /// What is wrong, as the end of a sentence about the line.
    pub message: String,
    pub help: String,
}

const PASSES: [&str; 5] = ["pass", "passed", "true", "yes", "1"];
const FAILS: [&str; 5] = ["fail", "failed", "false", "no", "0"];

impl Scale {
    /// The labels, in their order; none for scores.
    pub fn labels(&self) -> Vec<&str> {
        match self {
            Scale::PassFail => vec!["fail", "pass"],
            Scale::Labels { labels, .. } => labels.iter().map(String::as_str).collect(),
            Scale::Scores => Vec::new(),
        }
    }

    pub fn is_ordered(&self) -> bool {
        matches!(self, Scale::Labels { is_ordered: true, .. })
    }

    /// A rating in words.
    pub fn shown(&self, rating: f64) -> String {
        match self {
            Scale::Scores => format!("{rating}"),
            _ => self.labels().get(rating as usize).map_or_else(|| format!("{rating}"), |it| (*it).to_owned()),
        }
    }

    /// The rating that a label is.
    pub fn rating(&self, label: &Label) -> Result<f64, Misread> {
        match (self, &label.label, label.score) {
            (Scale::Scores, _, Some(score)) => Ok(score),
            (Scale::Scores, Some(text), None) => {
                text.trim().parse::<f64>().ok().filter(|it| it.is_finite()).ok_or_else(|| Misread {
                    message: format!("`{text}` is not a number, and the judge gives scores"),
                    help: "write a number under `score`".to_owned(),
                })
            }
            (_, Some(text), _) => self.class(text).map(|it| it as f64),
            (_, None, _) => Err(Misread {
                message: "the line has a score, and the judge gives labels".to_owned(),
                help: format!("write one of {} under `label`", jurat_format::problem::listed(self.labels())),
            }),
        }
    }

    /// The index of a label.
    fn class(&self, text: &str) -> Result<usize, Misread> {
        let text = text.trim();
        let found = match self {
            Scale::PassFail => {
                let is_one = |of: &[&str]| of.iter().any(|it| it.eq_ignore_ascii_case(text));
                if is_one(&PASSES) { Some(PASS) } else { is_one(&FAILS).then_some(FAIL) }
            }
            _ => self.labels().iter().position(|it| *it == text),
        };
        found.ok_or_else(|| self.unknown(text))
    }

    fn unknown(&self, text: &str) -> Misread {
        let labels = self.labels();
        let message = format!("`{text}` is not a label of this judge");
        let choices = format!("write {}", jurat_format::problem::listed(labels.iter().copied()));
        let near = jurat_format::problem::nearest(text, labels.iter().copied());
        let help = match near {
            Some(near) => format!("{choices}; did you mean `{near}`?"),
            None => choices,
        };
        Misread { message, help }
    }
}
