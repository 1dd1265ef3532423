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

/// The members of a reply that explain it, in the order they are looked for.
const EXPLANATIONS: [&str; 3] = ["explanation", "reason", "reasoning"];

impl Marks {
    /// Reads them from a reply. A soft score comes before all others. Members `label`, `score` and `explanation` (or `reason`, `reasoning`) are what they say; a reply without them is
    /// marked by the value that is compared: a number is a score, a text or a yes or no a label. A score that is no finite number is none: the
    /// mean of many would be lost with it.
    pub fn of(reply: &Val<'_>, compared: Option<&Val<'_>>) -> Marks {
        let text = |key: &str| reply.get(key).and_then(Val::as_str).map(str::to_owned);
        let label = reply.get("label").and_then(word).or_else(|| compared.and_then(word));
        let own = |key: &str| reply.get(key).and_then(Val::as_f64);
        let score = own(SOFT_SCORE).or_else(|| own("score")).or_else(|| compared.and_then(Val::as_f64));
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
        let marks = Marks::of(&reply, compared.as_ref());
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
}
