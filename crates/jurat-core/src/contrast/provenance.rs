//! What else differs between two sides than what they answered: definitions, models, rows.
//!
//! It is compared before any metric, because a difference of pass rates means one thing when the subject changed and another when its judge did.

use std::collections::BTreeMap;

/// What was found to differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Finding {
    SuiteDiffers,
    TaskDiffers,
    JudgeModelDiffers,
    JudgeServedDiffers,
    JudgePromptDiffers,
    EvaluatorDiffers,
    PromptDiffers,
    SubjectSettingsDiffer,
    RowDiffers,
    /// Whether rows are the same could not be checked.
    RowsNotChecked,
    SameAnswers,
    ReusedAcrossRepetitions,
    Partial,
    StoppedEarly,
    VersionDiffers,
    /// Slices or clusters of some rows are not known, because the rows are not there any more.
    RowsNotRead,
    /// A calibration is about another definition of the judge, and corrects nothing.
    CalibrationStale,
}

impl Finding {
    pub const ALL: [Finding; 17] = [
        Finding::SuiteDiffers,
        Finding::TaskDiffers,
        Finding::JudgeModelDiffers,
        Finding::JudgeServedDiffers,
        Finding::JudgePromptDiffers,
        Finding::EvaluatorDiffers,
        Finding::PromptDiffers,
        Finding::SubjectSettingsDiffer,
        Finding::RowDiffers,
        Finding::RowsNotChecked,
        Finding::SameAnswers,
        Finding::ReusedAcrossRepetitions,
        Finding::Partial,
        Finding::StoppedEarly,
        Finding::VersionDiffers,
        Finding::RowsNotRead,
        Finding::CalibrationStale,
    ];

    /// What a word of [`Finding::name`] means.
    pub fn named(name: &str) -> Option<Finding> {
        Finding::ALL.into_iter().find(|it| it.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Finding::SuiteDiffers => "suite_differs",
            Finding::TaskDiffers => "task_differs",
            Finding::JudgeModelDiffers => "judge_model_differs",
            Finding::JudgeServedDiffers => "judge_served_differs",
            Finding::JudgePromptDiffers => "judge_prompt_differs",
            Finding::EvaluatorDiffers => "evaluator_differs",
            Finding::PromptDiffers => "prompt_differs",
            Finding::SubjectSettingsDiffer => "subject_settings_differ",
            Finding::RowDiffers => "row_differs",
            Finding::RowsNotChecked => "rows_not_checked",
            Finding::SameAnswers => "same_answers",
            Finding::ReusedAcrossRepetitions => "reused_across_repetitions",
            Finding::Partial => "partial",
            Finding::StoppedEarly => "stopped_early",
            Finding::VersionDiffers => "version_differs",
            Finding::RowsNotRead => "rows_not_read",
            Finding::CalibrationStale => "calibration_stale",
        }
    }

    /// Whether it makes a gate undecided: the difference is not the subject's alone. The word that `allow` has for it.
    pub fn hinders(self) -> Option<&'static str> {
        match self {
            Finding::SuiteDiffers => Some("suite"),
            Finding::TaskDiffers => Some("task"),
            Finding::JudgeModelDiffers | Finding::JudgeServedDiffers | Finding::JudgePromptDiffers => Some("judge"),
            Finding::EvaluatorDiffers => Some("evaluator"),
            _ => None,
        }
    }
}

/// Something that differs, or that a reader must know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    pub finding: Finding,
    pub task: Option<String>,
    pub was: String,
    pub now: String,
    /// How many pairs it is about.
    pub pairs: Option<u64>,
}

impl Note {
    pub fn new(finding: Finding, was: impl Into<String>, now: impl Into<String>) -> Note {
        Note { finding, task: None, was: was.into(), now: now.into(), pairs: None }
    }

    pub fn of_task(self, task: &str) -> Note {
        Note { task: Some(task.to_owned()), ..self }
    }

    pub fn about(self, pairs: u64) -> Note {
        Note { pairs: Some(pairs), ..self }
    }
}

/// A part of a definition: enough words to recognise it, and a digest of all of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Part {
    pub words: String,
    pub digest: String,
}

/// The definition of a side, as far as it can make a difference.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Definition {
    pub suite: String,
    pub version: String,
    /// For each task its parts, by the finding that a difference is.
    pub tasks: Vec<(String, Vec<(Finding, Part)>)>,
    /// The prompts of `ask`, by name.
    pub prompts: BTreeMap<String, Part>,
    /// The settings of subjects, by model.
    pub subjects: BTreeMap<String, Part>,
    /// Why the run does not cover all rows, in words.
    pub partial: Option<String>,
    /// What the run knew when it stopped because that was enough, in words.
    pub stopped: Option<String>,
}

/// What differs between two definitions, in the order of the findings' table.
pub fn compare(base: &Definition, new: &Definition) -> Vec<Note> {
    let mut notes = Vec::new();
    if base.suite != new.suite {
        notes.push(Note::new(Finding::SuiteDiffers, &base.suite, &new.suite));
    }
    for (id, parts) in &base.tasks {
        let Some((_, now)) = new.tasks.iter().find(|it| it.0 == *id) else { continue };
        notes.extend(parts_differ(parts, now).map(|it| it.of_task(id)));
    }
    for (finding, was, now) in [
        (Finding::PromptDiffers, &base.prompts, &new.prompts),
        (Finding::SubjectSettingsDiffer, &base.subjects, &new.subjects),
    ] {
        for (name, part) in was {
            if let Some(other) = now.get(name).filter(|it| it.digest != part.digest) {
                notes.push(Note::new(finding, &part.words, &other.words).of_task(name));
            }
        }
    }
    if base.partial.is_some() || new.partial.is_some() {
        let words = |it: &Option<String>| it.clone().unwrap_or_else(|| "whole".to_owned());
        notes.push(Note::new(Finding::Partial, words(&base.partial), words(&new.partial)));
    }
    if base.stopped.is_some() || new.stopped.is_some() {
        let words = |it: &Option<String>| it.clone().unwrap_or_else(|| "went to its end".to_owned());
        notes.push(Note::new(Finding::StoppedEarly, words(&base.stopped), words(&new.stopped)));
    }
    if base.version != new.version {
        notes.push(Note::new(Finding::VersionDiffers, &base.version, &new.version));
    }
    notes
}

/// The parts of a task that differ. One that a side lacks differs from one that is there.
fn parts_differ<'p>(was: &'p [(Finding, Part)], now: &'p [(Finding, Part)]) -> impl Iterator<Item = Note> + 'p {
    let find = |parts: &'p [(Finding, Part)], finding| parts.iter().find(|it| it.0 == finding).map(|it| &it.1);
    let mut findings: Vec<Finding> = was.iter().chain(now).map(|it| it.0).collect();
    findings.sort_unstable();
    findings.dedup();
    findings.into_iter().filter_map(move |finding| {
        let (was, now) = (find(was, finding), find(now, finding));
        let words = |it: Option<&Part>| it.map_or_else(|| "none".to_owned(), |it| it.words.clone());
        (was.map(|it| &it.digest) != now.map(|it| &it.digest)).then(|| Note::new(finding, words(was), words(now)))
    })
}
