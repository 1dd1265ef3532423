//! What an evaluator puts out: the labels it may give, the range of its scores, or nothing in particular.

use std::collections::HashSet;

use jurat_format::choices;

/// One thing that an evaluator puts out.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputConfig {
    /// Its name. Where an evaluator has several outputs, its results are called `{evaluator}.{name}`.
    pub name: String,
    /// What it says, for readers of reports.
    pub description: Option<String>,
    /// Which scores are better. It decides nothing about what may be returned.
    pub direction: Option<Direction>,
    pub kind: OutputKind,
}

/// What may be returned for an output.
#[derive(Debug, Clone, PartialEq)]
pub enum OutputKind {
    /// One of these labels; the score is looked up.
    Categorical(Vec<LabelValue>),
    /// A finite number within bounds, with a free label.
    Continuous { lower_bound: Option<f64>, upper_bound: Option<f64> },
    /// Any label and any score; bounds and thresholds are for display.
    Freeform {
        /// The least score that is usual.
        lower_bound: Option<f64>,
        /// The greatest score that is usual.
        upper_bound: Option<f64>,
        /// Scores at which something changes.
        thresholds: Vec<f64>,
    },
}

/// A label and its score.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelValue {
    pub label: String,
    /// The score that goes with it.
    pub score: Option<f64>,
}

choices! {
    /// Which scores are better.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Direction {
        /// Higher ones.
        Maximize = "maximize",
        /// Lower ones.
        Minimize = "minimize",
        /// Neither.
        None = "none",
    }
}

/// What is wrong with an output.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BadConfig {
    /// What kind of fault it is.
    pub kind: BadConfigKind,
    pub message: String,
}

/// The faults of outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadConfigKind {
    /// A lower bound that is not below the upper one.
    BoundsReversed,
    /// A bound, a threshold or the score of a label that is not a finite number.
    NotFinite,
    /// A label that comes twice.
    DuplicateLabel,
    /// No labels at all.
    NoValues,
    /// A label without a character.
    EmptyLabel,
    /// An output without a name.
    EmptyName,
    /// Two outputs with one name.
    DuplicateName,
}

impl BadConfigKind {
    /// A stable name for it.
    pub fn name(self) -> &'static str {
        match self {
            BadConfigKind::BoundsReversed => "bounds_reversed",
            BadConfigKind::NotFinite => "not_finite",
            BadConfigKind::DuplicateLabel => "duplicate_label",
            BadConfigKind::NoValues => "no_values",
            BadConfigKind::EmptyLabel => "empty_label",
            BadConfigKind::EmptyName => "empty_name",
            BadConfigKind::DuplicateName => "duplicate_name",
        }
    }

    fn with(self, message: impl Into<String>) -> BadConfig {
        BadConfig { kind: self, message: message.into() }
    }
}

impl OutputConfig {
    /// The labels that may be given, when they are listed.
    pub fn labels(&self) -> Option<impl Iterator<Item = &str>> {
        match &self.kind {
            OutputKind::Categorical(values) => Some(values.iter().map(|it| it.label.as_str())),
            OutputKind::Continuous { .. } | OutputKind::Freeform { .. } => None,
        }
    }

    /// Whether it makes sense in itself; the first fault when it does not.
    pub fn check(&self) -> Result<(), BadConfig> {
        if self.name.is_empty() {
            return Err(BadConfigKind::EmptyName.with("an output needs a name"));
        }
        match &self.kind {
            OutputKind::Categorical(values) => check_values(values),
            OutputKind::Continuous { lower_bound, upper_bound } => check_bounds(*lower_bound, *upper_bound),
            OutputKind::Freeform { lower_bound, upper_bound, thresholds } => {
                check_bounds(*lower_bound, *upper_bound)?;
                thresholds.iter().try_for_each(|it| check_finite("a threshold", *it))
            }
        }
    }
}

/// Whether every output of an evaluator has a name of its own.
pub fn check_names(configs: &[OutputConfig]) -> Result<(), BadConfig> {
    let mut seen = HashSet::with_capacity(configs.len());
    match configs.iter().find(|it| !seen.insert(it.name.as_str())) {
        Some(twice) => Err(BadConfigKind::DuplicateName.with(format!("two outputs are called `{}`", twice.name))),
        None => Ok(()),
    }
}

fn check_values(values: &[LabelValue]) -> Result<(), BadConfig> {
    if values.is_empty() {
        return Err(BadConfigKind::NoValues.with("a categorical output needs at least one label"));
    }
    if values.iter().any(|it| it.label.is_empty()) {
        return Err(BadConfigKind::EmptyLabel.with("a label needs at least one character"));
    }
    let mut seen = HashSet::with_capacity(values.len());
    if let Some(twice) = values.iter().find(|it| !seen.insert(it.label.as_str())) {
        return Err(BadConfigKind::DuplicateLabel.with(format!("the label `{}` comes twice", twice.label)));
    }
    values.iter().filter_map(|it| it.score).try_for_each(|it| check_finite("the score of a label", it))
}

fn check_bounds(lower: Option<f64>, upper: Option<f64>) -> Result<(), BadConfig> {
    lower.into_iter().chain(upper).try_for_each(|it| check_finite("a bound", it))?;
    match (lower, upper) {
        (Some(lower), Some(upper)) if lower >= upper => {
            let message = format!("`lower_bound` {lower:?} must be less than `upper_bound` {upper:?}");
            Err(BadConfigKind::BoundsReversed.with(message))
        }
        _ => Ok(()),
    }
}

fn check_finite(what: &str, number: f64) -> Result<(), BadConfig> {
    if number.is_finite() {
        Ok(())
    } else {
        Err(BadConfigKind::NotFinite.with(format!("{what} must be a finite number")))
    }
}
