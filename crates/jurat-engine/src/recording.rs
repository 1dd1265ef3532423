//! Recordings: outcomes of an earlier run, which a replay takes instead of making requests.
//!
//! A recording is a run file, or JSON lines that `jurat export --effects` wrote: one effect a line, small enough to lie in a repository.

use std::collections::HashMap;
use std::path::Path;

use jurat_core::effect::wire::{StoredRequest, WireError, read_outcome};
use jurat_core::effect::{Asker, EffectKey, Outcome, StepSite};
use jurat_core::plan::{CaseIx, TaskIx};
use jurat_core::verdict::StopReason;
use jurat_store::run::{CaseRanges, Ended, RunFileError, RunReader};
use jurat_store::{Project, ProjectError};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::stopping_record::StoppingRecord;
use crate::{CaseLabel, RunError};

/// An outcome as it was recorded.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// The name of the request.
    pub key: EffectKey,
    pub asked: StoredRequest,
    pub outcome: Outcome,
}

impl Recorded {
    pub fn read(key: EffectKey, request: &str, outcome: &str) -> Result<Recorded, WireError> {
        let asked = StoredRequest::read(request)?;
        Ok(Recorded { key, outcome: read_outcome(asked.request.kind(), outcome)?, asked })
    }
}

/// Something that holds the outcomes of a run.
pub trait Recording {
    /// The last outcome at a site.
    fn outcome(
        &self,
        case_ix: CaseIx,
        case: CaseLabel<'_>,
        task: Option<&str>,
        site: StepSite,
    ) -> Result<Option<Recorded>, RunError>;

    /// What stopped the run that was recorded, if something did.
    fn stopped(&self) -> Option<StopReason> {
        None
    }

    /// How the run was to stop early, if it was.
    fn stopping(&self) -> Option<StoppingRecord> {
        None
    }

    /// The cases that the run reached, when something stopped it before the last.
    fn reached(&self) -> Result<Option<CaseRanges>, RunError> {
        Ok(None)
    }
}

/// Why there is no recording.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The file of effects cannot be read.
    #[error("`{file}` cannot be read: {source}")]
    File { file: String, source: std::io::Error },
    /// The file of effects holds something else.
    #[error("`{file}`: {source}")]
    Line { file: String, source: BadLine },
    /// There is no such run.
    #[error(transparent)]
    Run(#[from] ProjectError),
    /// The run cannot be read.
    #[error(transparent)]
    RunFile(#[from] RunFileError),
}

/// Opens what a replay takes its outcomes from: a file of recorded effects, whose name ends in `.jsonl`, or a run of the project by its
/// file, the beginning of its name, or `latest`.
pub fn open_recording(name: &str, project: &Project) -> Result<Box<dyn Recording>, RecordingError> {
    if Path::new(name).extension().is_some_and(|it| it == "jsonl") {
        let file = || name.to_owned();
        let text = std::fs::read_to_string(name).map_err(|source| RecordingError::File { file: file(), source })?;
        let lines = EffectLines::parse(&text).map_err(|source| RecordingError::Line { file: file(), source })?;
        return Ok(Box::new(lines));
    }
    Ok(Box::new(RunReader::open(&project.run(name)?)?))
}

impl Recording for RunReader {
    fn outcome(
        &self,
        case_ix: CaseIx,
        _: CaseLabel<'_>,
        task: Option<&str>,
        site: StepSite,
    ) -> Result<Option<Recorded>, RunError> {
        // The suite may have other tasks than it had: a task is known by its id, not by its place.
        let asker = match task {
            None => site.asker,
            Some(id) => match self.head().tasks.iter().position(|it| it.id == id) {
                Some(ix) => Asker::Task(TaskIx(ix as u32)),
                None => return Ok(None),
            },
        };
        let Some(stored) = self.effect_at(case_ix, StepSite { asker, ..site })? else { return Ok(None) };
        Ok(Some(Recorded::read(stored.key, &stored.request, &stored.outcome)?))
    }

    fn stopped(&self) -> Option<StopReason> {
        match self.state().ok()?.finish?.ended {
            Ended::Stopped(reason) => Some(reason),
            _ => None,
        }
    }

    fn stopping(&self) -> Option<StoppingRecord> {
        StoppingRecord::of(self.head())
    }

    fn reached(&self) -> Result<Option<CaseRanges>, RunError> {
        Ok(self.stopped().is_some().then(|| self.case_ranges()).transpose()?)
    }
}

/// An effect as a line of a recording.
#[derive(Debug, Serialize, Deserialize)]
pub struct EffectLine {
    /// The id of the row.
    pub case: String,
    /// The name of the prompt, when there are several.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prompt: String,
    /// The subject, when there are several.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub subject: String,
    /// Which repetition, from 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub replicate: u32,
    /// The task that asked; absent when the case asked its subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The turn of the scenario, from 0; absent when it is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario_turn: Option<u32>,
    /// Which of its judges; in a turn of a scenario, who is asked.
    #[serde(rename = "seat", default, skip_serializing_if = "is_zero")]
    pub slot: u32,
    /// How often it had been asked before.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub turn: u32,
    /// The name of the request.
    pub key: String,
    /// The request, as it is stored.
    pub request: Box<RawValue>,
    /// The outcome, as it is stored.
    pub outcome: Box<RawValue>,
}

impl EffectLine {
    /// The line, without its end.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("texts and numbers are JSON")
    }
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// JSON lines, each an effect.
#[derive(Debug, Default)]
pub struct EffectLines {
    by_site: HashMap<LineSite, Recorded>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct LineSite {
    case: String,
    prompt: String,
    subject: String,
    replicate: u32,
    task: Option<String>,
    scenario_turn: Option<u32>,
    slot: u32,
    turn: u32,
}

/// A line of a recording that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("line {line} is no recorded effect: {reason}")]
pub struct BadLine {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: String,
}

impl EffectLines {
    /// Reads a recording. Of several lines for one site the last counts.
    pub fn parse(text: &str) -> Result<EffectLines, BadLine> {
        let mut by_site = HashMap::new();
        for (ix, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let bad = |reason: String| BadLine { line: ix + 1, reason };
            let line: EffectLine = serde_json::from_str(line).map_err(|error| bad(error.to_string()))?;
            let key = EffectKey::parse(&line.key).ok_or_else(|| bad(format!("`{}` is no key", line.key)))?;
            let recorded = Recorded::read(key, line.request.get(), line.outcome.get());
            let recorded = recorded.map_err(|error| bad(error.to_string()))?;
            let EffectLine { case, prompt, subject, replicate, task, scenario_turn, slot, turn, .. } = line;
            let site = LineSite { case, prompt, subject, replicate, task, scenario_turn, slot, turn };
            by_site.insert(site, recorded);
        }
        Ok(EffectLines { by_site })
    }

    pub fn is_empty(&self) -> bool {
        self.by_site.is_empty()
    }
}

impl Recording for EffectLines {
    fn outcome(
        &self,
        _: CaseIx,
        case: CaseLabel<'_>,
        task: Option<&str>,
        site: StepSite,
    ) -> Result<Option<Recorded>, RunError> {
        let variant = case.variant.cloned().unwrap_or_default();
        let site = LineSite {
            case: case.id.to_owned(),
            prompt: variant.prompt,
            subject: variant.subject,
            replicate: variant.replicate,
            task: task.map(str::to_owned),
            scenario_turn: site.asker.turn(),
            slot: site.slot,
            turn: site.turn,
        };
        Ok(self.by_site.get(&site).cloned())
    }
}
