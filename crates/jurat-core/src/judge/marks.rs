//! What a judge's reply says beside passing or failing: a label, a score, a reason.

use jurat_format::value::{Kind, Val};

use super::SOFT_SCORE;

/// The label, the score and the explanation of a reply.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Marks {
    pub label: Option<String>,
    pub score: Option<f64>,
    pub explanation: Option<String>,
}

/// What of a reply is the score of its task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScorePart {
    /// The member `soft_score`, which was added to it.
    SoftScore,
    /// The member `score`.
    Score,
    /// The value that is compared.
    Compared,
}

impl ScorePart {
    /// What it is for a judge that has a soft score or not, and whose replies have a number `score` or not. A member `soft_score` that a judge or an
    /// evaluator wrote itself is none.
    pub fn of(has_soft_score: bool, has_score: bool) -> ScorePart {
        match (has_soft_score, has_score) {
            (true, _) => ScorePart::SoftScore,
            (false, true) => ScorePart::Score,
            (false, false) => ScorePart::Compared,
        }
    }
}

/// The members of a reply that explain it, in the order they are looked for.
const EXPLANATIONS: [&str; 3] = ["explanation", "reason", "reasoning"];

impl Marks {
    /// Reads them from a reply. Members `label`, `score` and `explanation` (or `reason`, `reasoning`) are what they say; a reply without them is
    /// marked by the value that is compared: a number is a score, a text or a yes or no a label. Where the judge has a soft score, that is the score. A score
    /// that is no finite number is none: the mean of many would be lost with it.
    pub fn of(reply: &Val<'_>, compared: Option<&Val<'_>>, has_soft_score: bool) -> Marks {
        let text = |key: &str| reply.get(key).and_then(Val::as_str).map(str::to_owned);
        let label = reply.get("label").and_then(word).or_else(|| compared.and_then(word));
        let number = |key: &str| reply.get(key).and_then(Val::as_f64);
        let score = match ScorePart::of(has_soft_score, number("score").is_some()) {
            ScorePart::SoftScore => number(SOFT_SCORE),
            ScorePart::Score => number("score"),
            ScorePart::Compared => compared.and_then(Val::as_f64),
        };
        let score = score.filter(|it| it.is_finite());
        Marks { label, score, explanation: EXPLANATIONS.into_iter().find_map(text) }
    }
}

fn word(value: &Val<'_>) -> Option<String> {
    match value.kind() {
        Kind::Text => value.as_str().map(str::to_owned),
        Kind::Boolean => Some(value.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jurat_format::value::{Value, parse_json};

    #[track_caller]
    fn marks(reply: &str, compared: Option<&str>, expected: (Option<&str>, Option<f64>, Option<&str>)) {
        let reply: Value = parse_json(reply).unwrap().value.into_owned();
        let compared: Option<Value> = compared.map(|it| parse_json(it).unwrap().value.into_owned());
        let marks = Marks::of(&reply, compared.as_ref(), false);
        assert_eq!((marks.label.as_deref(), marks.score, marks.explanation.as_deref()), expected);
    }

    #[test]
    fn a_reply_is_marked_by_its_members_or_by_what_is_compared() {
        marks(r#"{"label": "polite", "score": 4, "reason": "calm"}"#, None, (Some("polite"), Some(4.0), Some("calm")));
        marks(r#"{"category": "kitchen", "confidence": 0.9}"#, Some("\"kitchen\""), (Some("kitchen"), None, None));
        marks(r#"{"accuracy": 3}"#, Some("3"), (None, Some(3.0), None));
        marks(r#"{"ok": true}"#, Some("true"), (Some("true"), None, None));
        marks("\"yes\"", Some("\"yes\""), (Some("yes"), None, None));
        marks(r#"{"score": "high"}"#, None, (None, None, None));
    }

    #[test]
    fn a_soft_score_is_the_score_where_the_judge_has_one() {
        let reply: Value = parse_json(r#"{"score": 4, "soft_score": 3.6}"#).unwrap().value.into_owned();
        assert_eq!(Marks::of(&reply, Some(&Val::I(4)), true).score, Some(3.6));
        assert_eq!(Marks::of(&reply, Some(&Val::I(4)), false).score, Some(4.0));
        let without: Value = parse_json(r#"{"score": 4}"#).unwrap().value.into_owned();
        assert_eq!(Marks::of(&without, Some(&Val::I(4)), true).score, None, "its range is another one");
    }
}
