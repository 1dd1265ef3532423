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

impl Contrast {
    /// Why a unit ended otherwise, as far as that is known. Where the answer and a definition differ, either may be the reason, and both are named.
    pub fn causes(&self, change: &Change) -> Vec<Cause> {
        if change.base.judged == 0 || change.new.judged == 0 {
            return vec![Cause::Fault];
        }
        let is_redefined = |task: &String| {
            let is_definition = |it: Finding| {
                matches!(it, Finding::TaskDiffers | Finding::JudgePromptDiffers | Finding::EvaluatorDiffers)
            };
            self.notes.iter().any(|it| it.task.as_ref() == Some(task) && is_definition(it.finding))
        };
        let mut causes = Vec::new();
        if change.same_answer == Some(false) {
            causes.push(Cause::Evidence);
        }
        if change.tasks.iter().any(is_redefined) {
            causes.push(Cause::Definition);
        }
        if causes.is_empty() && change.same_answer == Some(true) {
            causes.push(Cause::Judge);
        }
        causes
    }
}
