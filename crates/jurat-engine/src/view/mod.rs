//! A run, read back: what reports are made from.
//!
//! Verdicts, counts and what there is to say about failures are in the run's file. Everything else that people ask for, such as what
//! a task that passed had found, is concluded once more from the row and the recorded outcomes: conclusions cost nothing.

mod answered;
mod causes;
mod disagreements;
mod exchange;
mod explain;
mod independence;
mod listed;
mod metrics;
mod naming;
mod people;
pub mod query;
mod repetition;
mod results;
mod revisit;
mod said;
mod scenarios;
mod totals;
mod transcript;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use jurat_core::agent::AgentCase;
use jurat_core::plan::{CaseIx, CaseLayout, CaseSource, Plan, TaskIx};
use jurat_core::report::{CaseReport, FlakyCase, Repetition, RunReport};
use jurat_core::scenario::CompiledScenario;
use jurat_core::stopping::StoppedEarly;
use jurat_core::suite::Suite;
use jurat_core::verdict::StopReason;
use jurat_format::value::{Value, parse_json};
use jurat_store::DatabaseError;
use jurat_store::run::{Ended, RunFileError, RunReader, StoredEffect, StoredSummary};

pub use causes::cause_query;
pub use explain::ExplainError;
pub use jurat_store::run::{Code, Column, RunHead, StoredCase, Variant};
pub use listed::{RunListing, listed, listed_interval, listing};
pub use people::{People, PersonLabel, agrees};
pub use results::{StoredOutcome, StoredResult};
pub use revisit::Detailed;
pub use said::LabelText;

use crate::definition::{restored, suite_file};
use crate::options::RecordedOptions;
use crate::stopping_record::StoppingRecord;
use crate::{EffectLine, RunError};

/// A run that is read.
#[derive(Debug)]
pub struct RunView {
    reader: RunReader,
    suite: Suite,
    plan: Plan,
    /// Why rows of cases that were read are not shown.
    missing_rows: RefCell<BTreeSet<String>>,
}

/// How a case ends that did not pass.
pub const NOT_PASSED: [Code; 5] = [Code::Failed, Code::Measured, Code::Error, Code::NotRun, Code::NotJudged];

/// Why a run cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    #[error(transparent)]
    File(#[from] RunFileError),
    /// What it recorded.
    #[error(transparent)]
    Run(#[from] RunError),
    #[error("the suite that `{path}` holds cannot be read by this version of jurat; it was written by {version}")]
    Suite {
        path: String,
        /// The version that wrote it.
        version: String,
    },
}

impl From<DatabaseError> for ViewError {
    fn from(error: DatabaseError) -> ViewError {
        ViewError::File(error.into())
    }
}

impl RunView {
    /// The cases of an earlier run that alone were run, in words.
    pub fn rerun(&self) -> Option<String> {
        RecordedOptions::of(self.reader.head()).rerun
    }

    pub fn open(path: &Path) -> Result<RunView, ViewError> {
        let reader = RunReader::open(path)?;
        let Some((suite, plan)) = restored(reader.head()) else {
            let version = reader.head().version.clone();
            return Err(ViewError::Suite { path: path.display().to_string(), version });
        };
        Ok(RunView { reader, suite, plan, missing_rows: RefCell::default() })
    }

    /// Why rows of the cases that were read so far are left out: their file changed since the run, or is gone. Rows that are there now were not judged.
    pub fn missing_rows(&self) -> Vec<String> {
        self.missing_rows.borrow().iter().cloned().collect()
    }

    /// The file, for what is not reported here.
    pub fn reader(&self) -> &RunReader {
        &self.reader
    }

    /// The file of the suite as it was named when the run began; `None` when the run does not say.
    pub fn suite_file(&self) -> Option<&Path> {
        suite_file(self.reader.head())
    }

    /// What was known of it before its first case.
    pub fn head(&self) -> &RunHead {
        self.reader.head()
    }

    /// The suite that was run.
    pub fn suite(&self) -> &Suite {
        &self.suite
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What it knew when it stopped because that was enough; `None` when it went to its end, or was stopped by something else.
    pub fn stopped_early(&self) -> Result<Option<StoppedEarly>, ViewError> {
        let is_decided =
            matches!(self.reader.state()?.finish.map(|it| it.ended), Some(Ended::Stopped(StopReason::Decided)));
        let record = StoppingRecord::of(self.reader.head()).filter(|_| is_decided);
        Ok(record.and_then(|it| it.stopped_early()))
    }

    /// The run as a whole.
    pub fn report(&self) -> Result<RunReport, ViewError> {
        totals::report(self)
    }

    /// What repeating cases showed, for these numbers of attempts; for one and for as many as there were where none is given. `None` for a run whose cases were
    /// run once.
    pub fn repetition(&self, attempts: &[u64]) -> Result<Option<Repetition>, ViewError> {
        repetition::repetition(self, attempts)
    }

    /// The cases that passed in some repetitions and failed in others, the most undecided first.
    pub fn flaky(&self) -> Result<Vec<FlakyCase>, ViewError> {
        repetition::flaky(self)
    }

    /// Cases in the order of input.
    pub fn cases(
        &self,
        range: Range<CaseIx>,
        detailed: Detailed,
    ) -> impl Iterator<Item = Result<CaseReport, ViewError>> + '_ {
        self.reader.cases(range).map(move |case| self.case_report(&case?, detailed))
    }

    /// The cases that ended, or whose task ended, in one of these ways; in the order of input. Only verdicts are looked at to find them.
    pub fn find(
        &self,
        column: Column,
        codes: &[Code],
        detailed: Detailed,
    ) -> impl Iterator<Item = Result<CaseReport, ViewError>> + '_ {
        self.find_of_variant(column, codes, detailed, |_| true)
    }

    /// The same, only of certain variants; a row that is one case has none.
    pub fn find_of_variant<'v>(
        &'v self,
        column: Column,
        codes: &[Code],
        detailed: Detailed,
        is_meant: impl Fn(Option<&Variant>) -> bool + 'v,
    ) -> impl Iterator<Item = Result<CaseReport, ViewError>> + 'v {
        let found = self.reader.find_any(column, codes);
        found.filter(move |it| it.as_ref().map_or(true, |it| is_meant(self.variant(*it)))).map(move |case_ix| {
            let case = self.reader.case(case_ix?)?;
            self.case_report(&case.expect("a case that was found is there"), detailed)
        })
    }

    /// How many cases ended, or how many times a task ended, in one of these ways.
    pub fn count(&self, column: Column, codes: &[Code]) -> Result<u64, ViewError> {
        let summary = self.reader.summary()?;
        let whole = summary.iter().find(|it| it.column == column && it.slice.is_empty());
        Ok(whole.map_or(0, |it| codes.iter().map(|code| it.count(*code)).sum()))
    }

    /// The same, only of certain variants.
    pub fn count_of_variant(
        &self,
        column: Column,
        codes: &[Code],
        is_meant: &dyn Fn(&Variant) -> bool,
    ) -> Result<u64, ViewError> {
        let mut n = 0;
        for case_ix in self.reader.find_any(column, codes) {
            n += u64::from(self.variant(case_ix?).is_some_and(is_meant));
        }
        Ok(n)
    }

    /// The cases that failed; behind them those that could not be judged and in which a task failed all the same.
    pub fn failures(&self) -> impl Iterator<Item = Result<CaseReport, ViewError>> + '_ {
        let detailed = Detailed::Tasks;
        // Verdicts are looked through task by task only where there is something to be found.
        let is_of_errors = |it: &StoredSummary| it.column == Column::CASE && it.count(Code::Error) > 0;
        let has_errors = self.reader.summary().map_or(true, |it| it.iter().any(is_of_errors));
        let is_counted = move |it: &TaskIx| has_errors && self.plan.tasks[it.index()].gate.is_counted();
        let tasks = self.plan.task_ixs().filter(is_counted);
        let found = tasks.flat_map(|it| self.reader.find_any(Column::from(it), &[Code::Failed]));
        let mut seen = BTreeSet::new();
        let undecided = found.filter_map(move |case_ix| match self.undecided(case_ix) {
            Ok(Some(case)) => seen.insert(case.case_ix).then(|| self.case_report(&case, detailed)),
            Ok(None) => None,
            Err(error) => Some(Err(error)),
        });
        self.find(Column::CASE, &[Code::Failed], detailed).chain(undecided)
    }

    /// A case that was found, if it could not be judged.
    fn undecided(&self, case_ix: Result<CaseIx, DatabaseError>) -> Result<Option<StoredCase>, ViewError> {
        Ok(self.reader.case(case_ix?)?.filter(|it| it.code(Column::CASE) == Code::Error))
    }

    /// The cases of a row: one, or as many as there are prompts, subjects and repetitions.
    pub fn cases_of(&self, id: &str) -> Result<Vec<StoredCase>, ViewError> {
        Ok(self.reader.cases_of(id)?)
    }

    /// Effects as lines of a recording, in the order of cases. Cases that are not done have no name yet, and are left out.
    pub fn effect_lines(&self) -> impl Iterator<Item = Result<EffectLine, ViewError>> + '_ {
        self.reader.effects().filter_map(|effect| match effect {
            Ok(effect) => self.effect_line(effect).transpose(),
            Err(error) => Some(Err(error.into())),
        })
    }

    /// The same of one case.
    pub fn effect_lines_of(&self, case: &StoredCase) -> Result<Vec<EffectLine>, ViewError> {
        let effects = self.reader.effects_of(case.case_ix)?;
        effects.into_iter().filter_map(|it| self.effect_line(it).transpose()).collect()
    }

    fn effect_line(&self, effect: StoredEffect) -> Result<Option<EffectLine>, ViewError> {
        let Some(case) = self.reader.case(effect.case_ix)? else { return Ok(None) };
        let variant = self.variant(effect.case_ix).cloned().unwrap_or_default();
        let raw =
            |text: String| serde_json::value::RawValue::from_string(text).map_err(|it| RunError::Stored(it.into()));
        Ok(Some(EffectLine {
            case: case.id,
            prompt: variant.prompt,
            subject: variant.subject,
            replicate: variant.replicate,
            task: effect.site.asker.task().map(|it| self.plan.tasks[it.index()].id.clone()),
            scenario_turn: effect.site.asker.turn(),
            slot: effect.site.slot,
            turn: effect.site.turn,
            key: effect.key.to_string(),
            request: raw(effect.request)?,
            outcome: raw(effect.outcome)?,
        }))
    }

    /// The scenario that a case is, when it is one.
    pub fn scenario(&self, case: &StoredCase) -> Option<&CompiledScenario> {
        self.plan.talk(self.layout().source(case.case_ix), self.prompt(case.case_ix))
    }

    /// The place of the prompt that a case asked.
    fn prompt(&self, case_ix: CaseIx) -> usize {
        let prompts = self.plan.ask.iter().flat_map(|it| &it.prompts);
        let asked = self.variant(case_ix).map_or("", |it| it.prompt.as_str());
        prompts.into_iter().position(|(name, _)| name == asked).unwrap_or(0)
    }

    /// The task for an agent that a case is, when it is one.
    pub fn agent_case(&self, case: &StoredCase) -> Option<&AgentCase> {
        match self.layout().source(case.case_ix) {
            CaseSource::Agent(ix) => self.plan.cases.get(ix).map(|it| &**it),
            CaseSource::Row(_) | CaseSource::Probe(_) | CaseSource::Scenario(_) => None,
        }
    }

    /// What an agent did in a case: the evidence that its tasks saw. `None` when the case is none, or was not run.
    pub fn agent_run(&self, case: &StoredCase) -> Result<Option<Value>, ViewError> {
        let is_one = self.agent_case(case).is_some();
        Ok(if is_one { self.evidence(case, "identity")? } else { None })
    }

    /// The directory that holds what an agent left, when the project with this root has it.
    pub fn agent_directory(&self, evidence: &Value, root: &Path) -> Option<std::path::PathBuf> {
        crate::agents::directory_of(evidence, &root.join(crate::agents::AGENT_FILES))
    }

    /// What happened in a scenario: the evidence that its tasks saw. `None` when the case is none, or was not run.
    pub fn execution(&self, case: &StoredCase) -> Result<Option<Value>, ViewError> {
        let is_one = self.scenario(case).is_some();
        Ok(if is_one { self.evidence(case, "scenario_id")? } else { None })
    }

    /// What the tasks of a case saw, when it is evidence: it has a member of this name. A conversation about a row is held once more with what was
    /// recorded; everything else of a scenario or an agent is stored as its row.
    fn evidence(&self, case: &StoredCase, member: &str) -> Result<Option<Value>, ViewError> {
        let evidence = match self.layout().source(case.case_ix) {
            CaseSource::Probe(_) => Some(self.evidence_value(case)?),
            _ => parse_json(&self.reader.row_text(case)?).map(|it| it.value.into_owned()).ok(),
        };
        Ok(evidence.filter(|it| it.get(member).is_some()))
    }

    /// Which of a row's cases one is; `None` when a row is one case.
    pub fn variant(&self, case_ix: CaseIx) -> Option<&Variant> {
        self.reader.head().variants.get(self.layout().variant(case_ix)?)
    }

    fn layout(&self) -> CaseLayout {
        self.plan.layout(self.reader.head().variants.len())
    }

    /// Whether cases were run several times, so that their numbers distinguish them.
    fn is_repeated(&self) -> bool {
        self.reader.head().variants.iter().any(|it| it.replicate > 0)
    }
}
