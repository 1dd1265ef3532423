//! Why a unit ended otherwise.

use jurat_format::choices;

use super::change::Change;
use super::comparison::Contrast;
use super::provenance::Finding;

choices! {
    /// What a change of a verdict goes back to.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Cause {
        /// The subject answered otherwise.
        Evidence = "evidence",
        /// A task that ended otherwise was defined otherwise.
        Definition = "definition",
        /// The answer and the tasks are the same, and were judged otherwise.
        Judge = "judge",
        /// One side could not be judged.
        Fault = "fault",
    }
}

/// What is known about a unit that ended otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Circumstances {
    /// Whether each side was judged, BASE first.
    pub judged: [bool; 2],
    /// Whether both sides rest on the same answer; `None` when that is not known.
    pub same_answer: Option<bool>,
    /// Whether a task that ended otherwise is defined otherwise.
    pub is_redefined: bool,
}

impl Circumstances {
    /// Why a unit ended otherwise, as far as that is known. Where the answer and a definition differ, either may be the reason, and both are named.
    pub fn causes(self) -> Vec<Cause> {
        if self.judged.contains(&false) {
            return vec![Cause::Fault];
        }
        let is_other_answer = self.same_answer == Some(false);
        let is_judge = self.same_answer == Some(true) && !self.is_redefined;
        let found =
            [(is_other_answer, Cause::Evidence), (self.is_redefined, Cause::Definition), (is_judge, Cause::Judge)];
        found.into_iter().filter(|it| it.0).map(|it| it.1).collect()
    }
}

impl Contrast {
    /// Whether a task is defined otherwise in NEW, apart from the model that judges.
    pub fn is_redefined(&self, task: &str) -> bool {
        let is_definition =
            |it: Finding| matches!(it, Finding::TaskDiffers | Finding::JudgePromptDiffers | Finding::EvaluatorDiffers);
        self.notes.iter().any(|it| it.task.as_deref() == Some(task) && is_definition(it.finding))
    }

    /// Why a unit ended otherwise.
    pub fn causes(&self, change: &Change) -> Vec<Cause> {
        let circumstances = Circumstances {
            judged: [change.base.judged > 0, change.new.judged > 0],
            same_answer: change.same_answer,
            is_redefined: change.tasks.iter().any(|it| self.is_redefined(it)),
        };
        circumstances.causes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn named(judged: [bool; 2], same_answer: Option<bool>, is_redefined: bool, causes: &[&str]) {
        let found = Circumstances { judged, same_answer, is_redefined }.causes();
        assert_eq!(found.into_iter().map(Cause::name).collect::<Vec<&str>>(), causes);
    }

    #[test]
    fn a_change_is_ascribed_to_what_differs() {
        let both = [true, true];
        named([true, false], Some(false), true, &["fault"]);
        named(both, Some(false), false, &["evidence"]);
        named(both, Some(false), true, &["evidence", "definition"]);
        named(both, Some(true), true, &["definition"]);
        named(both, Some(true), false, &["judge"]);
        named(both, None, true, &["definition"]);
        named(both, None, false, &[]);
    }
}
