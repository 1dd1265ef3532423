//! A calibration as a file, bound to the definition of the judge.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::correction::CorrectedRate;
use super::drift::Drift;
use super::figures::Figures;
use super::probe::{ProbeResult, SelfPreference};
use super::slots::SlotFigures;
use crate::statistics::Confidence;

/// Everything that is known of how far a judge can be trusted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    pub version: u32,
    pub suite: String,
    pub task: String,
    /// What the figures hold for: a judge that is defined otherwise is another one.
    pub judge_key: String,
    pub judge: JudgeIdentity,
    pub labels: LabelCounts,
    pub confidence: f64,
    #[serde(flatten)]
    pub figures: Figures,
    /// What the judges of a panel, or one that is asked several times, said about the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slots: Option<SlotFigures>,
    /// What the judge said in repetitions that have the same answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repetitions: Option<SlotFigures>,
    /// The share of the variance between repetitions that remains when the answer is the same: it is the judge's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge_within: Option<f64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<ProbeResult>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub self_preference: Option<SelfPreference>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<Drift>,
    /// The cases that people labelled, with what they said together and what the judge said.
    pub cases: Vec<RatedCase>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
}

/// Who judges.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct JudgeIdentity {
    pub model: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub settings: String,
    /// Who served it, as the provider says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub served: Vec<String>,
    /// The digest of each part of the definition, so that what changed can be named.
    pub parts: BTreeMap<String, String>,
}

/// The parts of a judge's definition, by their names, as they are written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JudgeParts(pub BTreeMap<String, String>);

impl JudgeParts {
    /// The key of a definition: BLAKE3 over its canonical JSON.
    pub fn key(&self) -> String {
        let json = serde_json::to_string(&self.0).expect("texts are JSON");
        blake3::hash(json.as_bytes()).to_hex().to_string()
    }

    pub fn digests(&self) -> BTreeMap<String, String> {
        let digest = |it: &String| blake3::hash(it.as_bytes()).to_hex()[..16].to_owned();
        self.0.iter().map(|(name, text)| (name.clone(), digest(text))).collect()
    }
}

/// What became of the lines of labels.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LabelCounts {
    /// The digest of the labels that count.
    pub digest: String,
    /// How many count.
    pub n: u64,
    pub annotators: Vec<String>,
    /// About cases that the run does not have.
    pub unmatched: u64,
    /// About cases whose judge gave no verdict.
    pub judge_error: u64,
    /// About another answer than the run has.
    pub other_answer: u64,
    /// About other tasks or suites.
    pub other_task: u64,
    /// Lines without a label yet.
    pub empty: u64,
    pub unsure: u64,
}

/// A case that people labelled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RatedCase {
    pub case: String,
    /// What most annotators said; `None` where none has a majority.
    pub people: Option<String>,
    pub judge: String,
}

impl RatedCase {
    pub fn is_agreed(&self) -> bool {
        self.people.as_deref() == Some(self.judge.as_str())
    }
}

/// Why a file is no calibration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CalibrationError {
    #[error("it is not a calibration: {0}; `jurat calibrate RUN --labels FILE -o FILE` writes one")]
    Unreadable(String),
    #[error("it has version {0}; this version of jurat reads 1")]
    Version(u64),
}

/// Whether a calibration holds for a judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fit {
    Fits,
    /// It is about another definition.
    Stale(Changed),
    /// It is older than allowed.
    TooOld {
        days: u64,
    },
}

/// The parts of a definition that changed, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed(pub Vec<String>);

impl Changed {
    /// `the prompt and the model of `tone` changed`
    pub fn words(&self, task: &str) -> String {
        let names: Vec<String> = self.0.iter().map(|it| format!("the {it}")).collect();
        let (verb, names) = match names.split_last() {
            None => ("changed", "the definition".to_owned()),
            Some((last, [])) => ("changed", last.clone()),
            Some((last, rest)) => ("changed", format!("{} and {last}", rest.join(", "))),
        };
        format!("stale: {names} of `{task}` {verb}")
    }
}

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

impl Calibration {
    /// Reads what [`Calibration::to_json`] wrote.
    pub fn read(text: &str) -> Result<Calibration, CalibrationError> {
        let unreadable = |it: serde_json::Error| CalibrationError::Unreadable(it.to_string());
        let value: serde_json::Value = serde_json::from_str(text).map_err(unreadable)?;
        match value.get("version").and_then(serde_json::Value::as_u64) {
            Some(1) | None => serde_json::from_value(value).map_err(unreadable),
            Some(version) => Err(CalibrationError::Version(version)),
        }
    }

    /// A moment in milliseconds since 1970 as `made_at` has it: `2026-11-17T21:36:49Z`.
    pub fn moment(ms: u64) -> String {
        let seconds = i64::try_from(ms / 1000).unwrap_or(i64::MAX);
        jiff::Timestamp::from_second(seconds).unwrap_or(jiff::Timestamp::MAX).to_string()
    }

    /// The file, with a line feed at its end.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("texts and numbers are JSON") + "\n"
    }

    /// The same without the day and the run, as a replay gives it.
    pub fn results_only(&self) -> Calibration {
        Calibration { made_at: None, run_id: None, ..self.clone() }
    }

    /// Whether it holds for a judge that is defined like this.
    pub fn fit(&self, parts: &JudgeParts) -> Fit {
        if parts.key() == self.judge_key {
            return Fit::Fits;
        }
        let now = parts.digests();
        let names = now.keys().chain(self.judge.parts.keys()).collect::<std::collections::BTreeSet<_>>();
        let differs = |name: &&&String| now.get(**name) != self.judge.parts.get(**name);
        Fit::Stale(Changed(names.iter().filter(differs).map(|it| it.replace('_', " ")).collect()))
    }

    /// The same for one that may be at most this many milliseconds old, at this moment in milliseconds since 1970. One that does not say when it was made is too old.
    pub fn fit_at(&self, parts: &JudgeParts, now_ms: u64, max_age_ms: Option<u64>) -> Fit {
        let fit = self.fit(parts);
        let Some(max_age_ms) = max_age_ms.filter(|_| fit == Fit::Fits) else { return fit };
        let made = self.made_at.as_deref().and_then(|it| it.parse::<jiff::Timestamp>().ok());
        let age_ms = made.map_or(u64::MAX, |it| now_ms.saturating_sub(it.as_millisecond().max(0) as u64));
        if age_ms <= max_age_ms { Fit::Fits } else { Fit::TooOld { days: age_ms / DAY_MS } }
    }

    pub fn confidence(&self) -> Confidence {
        Confidence::new(self.confidence).unwrap_or(Confidence::USUAL)
    }

    /// The pass rate of a task of a run as people would have judged: the figure of the labels themselves where they are about this run, else Rogan and Gladen's.
    ///
    /// `worth` is how many independent judgements the rate is worth.
    pub fn corrected_rate(&self, run_id: &str, rate: Option<f64>, worth: f64) -> CorrectedRate {
        self.corrected_rate_at(run_id, rate, worth, self.confidence())
    }

    /// The same with another confidence. The figure of the labels themselves has the interval that it was stored with.
    pub fn corrected_rate_at(
        &self,
        run_id: &str,
        rate: Option<f64>,
        worth: f64,
        confidence: Confidence,
    ) -> CorrectedRate {
        match &self.figures.corrected {
            Some(own) if self.run_id.as_deref() == Some(run_id) => own.clone(),
            _ => self.figures.corrected_elsewhere(rate, worth, confidence),
        }
    }
}
