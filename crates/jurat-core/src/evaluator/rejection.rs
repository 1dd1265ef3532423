//! Why what an evaluator returned is not taken: one sentence, then every shape that would have been.

use std::fmt;

use jurat_format::value::python::{float_text, quoted};

use super::{Language, Object, OutputConfig, shapes};

/// Why what an evaluator returned is not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// What kind of fault it is.
    pub kind: RejectionKind,
    /// What is wrong, on one line.
    pub sentence: String,
    /// The lines that would have been accepted, in the evaluator's language.
    pub shapes: Vec<String>,
}

/// The whole message: the sentence, then the shapes.
impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nValid shapes:", self.sentence)?;
        self.shapes.iter().try_for_each(|it| write!(f, "\n  {it}"))
    }
}

impl std::error::Error for Rejection {}

/// The faults of what evaluators return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RejectionKind {
    /// A label that is not among those configured.
    UnknownLabel,
    /// A score that is not the one configured for the label.
    ScoreConflict,
    /// No label where one is needed.
    MissingLabel,
    /// No score where one is needed.
    MissingScore,
    /// A dict with other keys than `label`, `score` and `explanation`.
    UnknownKeys,
    /// A label, a score or an explanation of the wrong type.
    BadFieldType,
    /// A truth value as the score of a label.
    BoolScore,
    /// A score above the upper bound.
    AboveBound,
    /// A score below the lower bound.
    BelowBound,
    /// A score that is infinite, not a number, or too large.
    NotFinite,
    /// Something else where a number is needed.
    NotNumeric,
    /// A value that is neither a label, nor a score, nor a dict of them.
    UnsupportedType,
}

impl RejectionKind {
    /// A stable name for it.
    pub fn name(self) -> &'static str {
        match self {
            RejectionKind::UnknownLabel => "unknown_label",
            RejectionKind::ScoreConflict => "score_conflict",
            RejectionKind::MissingLabel => "missing_label",
            RejectionKind::MissingScore => "missing_score",
            RejectionKind::UnknownKeys => "unknown_keys",
            RejectionKind::BadFieldType => "bad_field_type",
            RejectionKind::BoolScore => "bool_score",
            RejectionKind::AboveBound => "above_bound",
            RejectionKind::BelowBound => "below_bound",
            RejectionKind::NotFinite => "not_finite",
            RejectionKind::NotNumeric => "not_numeric",
            RejectionKind::UnsupportedType => "unsupported_type",
        }
    }
}

/// Against what a value is held: what messages need to know beside it.
#[derive(Clone, Copy)]
pub(super) struct Expected<'c> {
    /// The output, when there is one.
    pub(super) config: Option<&'c OutputConfig>,
    pub(super) language: Language,
    /// The names of all outputs, when the evaluator has several.
    pub(super) names: &'c [&'c str],
}

impl Expected<'_> {
    fn rejects(self, kind: RejectionKind, sentence: String) -> Rejection {
        Rejection { kind, sentence, shapes: shapes::lines(self.config, self.language) }
    }

    pub(super) fn unknown_keys(self, unknown: &[&Object], dict: &Object) -> Rejection {
        let mut keys: Vec<String> = unknown.iter().map(|it| within(it)).collect();
        keys.sort();
        let (keys, are) = (keys.join(", "), if keys.len() == 1 { "key" } else { "keys" });
        let mut sentence =
            format!("unknown {are} {keys} in the returned dict; it may have `label`, `score` and `explanation`");
        let (has, lacks): (Vec<&str>, Vec<&str>) = self.names.iter().partition(|it| dict.get(it).is_some());
        if !has.is_empty() {
            // The author meant to answer each output by its name.
            let lacks: Vec<String> = lacks.iter().map(|it| quoted(it)).collect();
            sentence += &format!(", or one key for each output, and there is none for {}", lacks.join(", "));
        }
        self.rejects(RejectionKind::UnknownKeys, sentence)
    }

    pub(super) fn bad_field(self, field: &str, needs: &str, got: &Object) -> Rejection {
        let nothing = self.language.nothing();
        let sentence = format!("`{field}` must be {needs} or {nothing}, got {}", typed(got));
        self.rejects(RejectionKind::BadFieldType, sentence)
    }

    pub(super) fn unsupported(self, got: &Object) -> Rejection {
        let sentence = format!("neither a label nor a score, nor a dict of them: got {}", typed(got));
        let mut rejection = self.rejects(RejectionKind::UnsupportedType, sentence);
        rejection.shapes.extend(shapes::further_types(self.language));
        rejection
    }

    pub(super) fn missing_label(self, got: &Object) -> Rejection {
        let labels = self.labels().join(", ");
        let sentence = format!("a categorical output needs one of the labels {labels}, got {}", typed(got));
        self.rejects(RejectionKind::MissingLabel, sentence)
    }

    /// The one sentence that is given, letter by letter.
    pub(super) fn unknown_label(self, label: &str) -> Rejection {
        let labels = self.labels().join(", ");
        let sentence = format!("Label {} not in categorical output config values [{labels}].", quoted(label));
        self.rejects(RejectionKind::UnknownLabel, sentence)
    }

    pub(super) fn bool_score(self, score: bool, label: &str) -> Rejection {
        let got = Object::Bool(score);
        let sentence = format!(
            "`score` must be a number, got {}; leave it out, the label {} has its score",
            typed(&got),
            quoted(label)
        );
        self.rejects(RejectionKind::BoolScore, sentence)
    }

    pub(super) fn score_conflict(self, score: f64, configured: f64, label: &str) -> Rejection {
        let (score, configured, label) = (float_text(score), float_text(configured), quoted(label));
        let sentence = format!("the score {score} is not {configured}, which the label {label} has; leave `score` out");
        self.rejects(RejectionKind::ScoreConflict, sentence)
    }

    pub(super) fn missing_score(self, got: &Object) -> Rejection {
        let sentence = format!("a continuous output needs a number, got {}", typed(got));
        self.rejects(RejectionKind::MissingScore, sentence)
    }

    pub(super) fn not_numeric(self, got: &Object) -> Rejection {
        let sentence = format!("a score must be a number, got {}", typed(got));
        self.rejects(RejectionKind::NotNumeric, sentence)
    }

    pub(super) fn not_finite(self, got: &Object) -> Rejection {
        let sentence = format!("a score must be a finite number, got {got}");
        self.rejects(RejectionKind::NotFinite, sentence)
    }

    pub(super) fn below(self, score: f64, bound: f64) -> Rejection {
        let sentence = format!("the score {} is below the lower bound {}", float_text(score), float_text(bound));
        self.rejects(RejectionKind::BelowBound, sentence)
    }

    pub(super) fn above(self, score: f64, bound: f64) -> Rejection {
        let sentence = format!("the score {} is above the upper bound {}", float_text(score), float_text(bound));
        self.rejects(RejectionKind::AboveBound, sentence)
    }

    fn labels(self) -> Vec<String> {
        let labels = self.config.and_then(OutputConfig::labels);
        labels.map(|it| it.map(quoted).collect()).unwrap_or_default()
    }
}

/// A value and its type: `int: 1`.
fn typed(got: &Object) -> String {
    match got {
        Object::None => "nothing".to_owned(),
        other => format!("{}: {}", other.type_name(), within(other)),
    }
}

/// How much of a value a message shows. An author who returned a document knows what it was.
const MAX_SHOWN: usize = 300;

fn within(value: &Object) -> String {
    let mut text = value.to_string();
    if let Some((cut, _)) = text.char_indices().nth(MAX_SHOWN) {
        text.truncate(cut);
        text.push('…');
    }
    // What code says of its own objects may have lines; a sentence has one.
    if text.contains(['\n', '\r']) { text.replace(['\n', '\r'], " ") } else { text }
}
