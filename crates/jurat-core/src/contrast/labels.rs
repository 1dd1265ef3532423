//! Labels that nothing is compared with: how often they changed, and into what.

use std::collections::BTreeMap;

/// The labels of a task on two sides, gathered pair by pair.
#[derive(Debug, Default)]
pub struct LabelLine {
    pairs: u64,
    unknown: u64,
    transitions: BTreeMap<(String, String), u64>,
}

/// How often the label of a task changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelChanges {
    pub task: String,
    pub pairs: u64,
    /// Pairs in which one side has no label.
    pub unknown: u64,
    pub changed: u64,
    /// Labels of BASE and NEW that differ, the commonest first.
    pub transitions: Vec<(String, String, u64)>,
}

impl LabelLine {
    pub fn add(&mut self, base: Option<&str>, new: Option<&str>) {
        match (base, new) {
            (Some(base), Some(new)) => {
                self.pairs += 1;
                if base != new {
                    *self.transitions.entry((base.to_owned(), new.to_owned())).or_default() += 1;
                }
            }
            (None, None) => {}
            _ => self.unknown += 1,
        }
    }

    /// What changed; `None` when no pair has a label.
    pub fn finish(self, task: &str) -> Option<LabelChanges> {
        if self.pairs + self.unknown == 0 {
            return None;
        }
        let mut transitions: Vec<(String, String, u64)> =
            self.transitions.into_iter().map(|((base, new), n)| (base, new, n)).collect();
        transitions.sort_by(|one, other| other.2.cmp(&one.2).then_with(|| (&one.0, &one.1).cmp(&(&other.0, &other.1))));
        let changed = transitions.iter().map(|it| it.2).sum();
        Some(LabelChanges { task: task.to_owned(), pairs: self.pairs, unknown: self.unknown, changed, transitions })
    }
}
