//! What else differs between two sides, in words.

use jurat_core::contrast::Contrast;
use jurat_core::contrast::provenance::{Finding, Note};

use crate::words::{counted, grouped};

/// A note as a fragment without a final stop.
pub fn sentence(note: &Note, contrast: &Contrast) -> String {
    let task = note.task.as_deref().unwrap_or_default();
    let (was, now) = (&note.was, &note.now);
    let n = note.pairs.unwrap_or_default();
    const MIXED: &str = "its difference is not the subject's alone";
    match note.finding {
        Finding::SuiteDiffers => format!("the suites differ: `{was}` → `{now}`"),
        Finding::TaskDiffers => format!("the definition of `{task}` changed: {was} → {now}"),
        Finding::JudgeModelDiffers => format!("the judge of `{task}` changed: {was} → {now}; {MIXED}"),
        Finding::JudgeServedDiffers => format!("the judge of `{task}` was served by {was}, now by {now}; {MIXED}"),
        Finding::JudgePromptDiffers => format!("what the judge of `{task}` is asked changed; {MIXED}"),
        Finding::EvaluatorDiffers => format!("the evaluator of `{task}` changed: {was} → {now}; {MIXED}"),
        Finding::PromptDiffers => format!("the prompt `{task}` changed: {was} → {now}"),
        Finding::SubjectSettingsDiffer => format!("the settings of `{task}` changed: {was} → {now}"),
        Finding::RowDiffers if contrast.counts.changed_included > 0 => {
            format!(
                "{} with the same id {} other content, and {} compared all the same",
                counted(n, "row"),
                plural(n, "has", "have"),
                plural(n, "is", "are")
            )
        }
        Finding::RowDiffers => format!(
            "{} with the same id {} other content, and {} left out; `--include-changed` compares them",
            counted(n, "row"),
            plural(n, "has", "have"),
            plural(n, "is", "are")
        ),
        Finding::RowsNotChecked => format!(
            "whether {} ask the same in both runs was not checked: the suite has no `question`, or an earlier version wrote a run",
            counted(n, "row")
        ),
        Finding::SameAnswers => format!(
            "{} of {} have the same answer on both sides: where they end differently, the judging differs",
            grouped(n),
            counted(contrast.counts.in_both(), "pair")
        ),
        Finding::ReusedAcrossRepetitions => {
            format!(
                "{} rest on an answer that an earlier repetition rests on; each answer counts once",
                counted(n, "repetition")
            )
        }
        Finding::Partial => format!("the runs may not cover the same rows: BASE {was}, NEW {now}"),
        Finding::StoppedEarly => {
            format!(
                "a run stopped once enough was known, so no interval of a fixed number of cases holds: BASE {was}; NEW {now}"
            )
        }
        Finding::VersionDiffers => format!("the runs were made by different versions of jurat: {was} → {now}"),
        Finding::CalibrationStale => {
            format!(
                "no corrected difference of `{task}`: the calibration is {was}; calibrate it again with `jurat calibrate`"
            )
        }
        Finding::RowsNotRead => {
            format!(
                "{was} could not be read, because their file was changed or moved since the run; there are no slices by it"
            )
        }
    }
}

fn plural<'w>(n: u64, one: &'w str, several: &'w str) -> &'w str {
    if n == 1 { one } else { several }
}

/// Whether the lines of a task are marked because of a note.
pub fn is_marked(contrast: &Contrast, task: &str) -> bool {
    contrast.notes.iter().any(|it| it.finding.hinders().is_some() && it.task.as_deref() == Some(task))
}
