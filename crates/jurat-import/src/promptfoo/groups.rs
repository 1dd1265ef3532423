//! Assertions that are decided together, as groups of tasks: those of a test with a threshold, and sets.

use jurat_format::value::{Val, Value};

use crate::document::{Object, number, texts};

/// A task that an assertion became, and what the assertion counts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Member {
    pub(super) id: String,
    pub(super) weight: f64,
}

/// What assertions became.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Members {
    pub(super) tasks: Vec<Member>,
    /// What the assertions count together. An assertion may have become several tasks, each for other rows.
    pub(super) total: f64,
    /// Some of them could not be taken over.
    pub(super) lack_some: bool,
    /// Some of them have a score in promptfoo that is neither 0 nor 1.
    pub(super) are_graded: bool,
}

impl Members {
    pub(super) fn none() -> Members {
        Members { lack_some: true, ..Members::default() }
    }

    pub(super) fn add(&mut self, others: Members) {
        self.tasks.extend(others.tasks);
        self.total += others.total;
        self.lack_some |= others.lack_some;
        self.are_graded |= others.are_graded;
    }

    /// The same assertions where they count `weight` together, as those of a set do in the mean around it.
    pub(super) fn scaled(mut self, weight: f64) -> Members {
        let factor = if self.total > 0.0 { weight / self.total } else { 0.0 };
        self.tasks.iter_mut().for_each(|it| it.weight *= factor);
        Members { total: weight, ..self }
    }

    /// A group that passes as the assertions do: each of them, or their weighted mean.
    pub(super) fn group(&self, threshold: Option<f64>) -> Object {
        let group = match threshold {
            // A task that only measures has no say in whether each of them passes.
            None => Object::new().with("all", texts(self.tasks.iter().filter(|it| it.weight > 0.0).map(|it| &it.id))),
            Some(threshold) => {
                let mut weights = Object::new();
                for task in &self.tasks {
                    weights.put(&task.id, number(task.weight));
                }
                Object::new().with("weights", weights).with("threshold", number(threshold))
            }
        };
        Object::new().with("group", group)
    }

    /// How the weighted mean of the group differs from promptfoo's.
    pub(super) fn difference(&self) -> Option<String> {
        let parts = [
            (self.lack_some, "the mean is that of the assertions that were taken over"),
            (self.are_graded, "a graded assertion counts 1 or 0 in the mean, not its score"),
        ];
        let parts: Vec<&str> = parts.into_iter().filter(|(it, _)| *it).map(|(_, it)| it).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// Why there is no group of these members.
    pub(super) fn flaw(&self) -> Option<&'static str> {
        match self.tasks.iter().any(|it| it.weight > 0.0) {
            true => None,
            false if self.tasks.is_empty() => Some("none of its assertions could be taken over"),
            false => Some("none of its assertions has a weight"),
        }
    }
}

/// The threshold of a test or a set. With 0 it passes whatever its assertions conclude.
pub(super) fn threshold(value: Option<&Value>) -> Option<f64> {
    value.and_then(Val::as_f64)
}

/// What an assertion counts among others.
pub(super) fn weight(spec: &Value) -> f64 {
    spec.get("weight").and_then(Val::as_f64).filter(|it| *it >= 0.0).unwrap_or(1.0)
}

/// The id that is wished for the group of a set.
pub(super) fn set_name(spec: &Value) -> String {
    crate::document::text_at(spec, "metric")
        .map(jurat_format::id::repaired)
        .filter(|it| !it.is_empty())
        .unwrap_or_else(|| "assert_set".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(weights: &[f64]) -> Members {
        let member = |(ix, weight): (usize, &f64)| Member { id: format!("t{ix}"), weight: *weight };
        Members {
            tasks: weights.iter().enumerate().map(member).collect(),
            total: weights.iter().sum(),
            ..Members::default()
        }
    }

    #[test]
    fn a_set_counts_its_weight() {
        let weights: Vec<f64> = members(&[1.0, 3.0]).scaled(2.0).tasks.iter().map(|it| it.weight).collect();
        assert_eq!(weights, [0.5, 1.5]);
    }

    #[test]
    fn a_group_has_a_rule() {
        let json = |members: &Members, threshold| Value::from(members.group(threshold)).to_json();
        let two = members(&[1.0, 3.0]);
        assert_eq!(json(&two, None), r#"{"group":{"all":["t0","t1"]}}"#);
        assert_eq!(json(&two, Some(0.5)), r#"{"group":{"weights":{"t0":1,"t1":3},"threshold":0.5}}"#);
        assert_eq!(two.flaw(), None);
        assert_eq!(members(&[0.0]).flaw(), Some("none of its assertions has a weight"));
        assert_eq!(Members::none().flaw(), Some("none of its assertions could be taken over"));
    }
}
