//! What is wanted of a case: expectations, and the rubric that scores mean something by.

use jurat_format::value::Value;

/// What is wanted of one case.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Brief {
    /// The system message of the agent.
    pub system: Option<String>,
    /// The messages of its turns, in order. Without them the evidence says what the task was.
    pub turns: Vec<String>,
    pub expectations: Expectations,
    pub rubric: Option<Rubric>,
}

impl Brief {
    /// The scale that scores are on.
    pub fn scale(&self) -> Scale {
        self.rubric.as_ref().map(|it| it.scale.clone()).unwrap_or_default()
    }
}

/// What is expected of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Expectations {
    pub hard: Vec<Expectation>,
    pub soft: Vec<Expectation>,
}

impl Expectations {
    pub fn is_empty(&self) -> bool {
        self.hard.is_empty() && self.soft.is_empty()
    }
}

/// One thing that is expected.
#[derive(Debug, Clone, PartialEq)]
pub struct Expectation {
    pub text: String,
    /// How much it matters, beside others.
    pub weight: f64,
    /// Whatever its author wants to keep with it.
    pub metadata: Value,
}

/// What scores mean.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rubric {
    /// Which version of it this is.
    pub version: Option<Value>,
    /// The scale that scores are on.
    pub scale: Scale,
    pub criteria: Vec<Criterion>,
    pub scoring_instructions: Option<String>,
}

/// The scale that scores are on.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    pub min: f64,
    pub max: f64,
    /// What some of the scores between mean, as they were written.
    pub anchors: Vec<(String, String)>,
}

impl Default for Scale {
    fn default() -> Scale {
        Scale { min: Scale::MIN, max: Scale::MAX, anchors: Vec::new() }
    }
}

impl Scale {
    /// The lowest score, when a case has no scale of its own.
    pub const MIN: f64 = 0.0;
    /// The highest.
    pub const MAX: f64 = 10.0;

    /// A score as the share of the scale that it reaches.
    pub fn share(&self, score: f64) -> f64 {
        (score - self.min) / (self.max - self.min)
    }

    /// The score that is this share of the scale.
    pub fn score(&self, share: f64) -> f64 {
        self.min + share * (self.max - self.min)
    }
}

/// Something that is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Criterion {
    pub name: String,
    pub good: String,
    pub bad: String,
}
