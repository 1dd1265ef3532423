//! A case concluded once more, from its row and its recorded outcomes.

use std::sync::Arc;

use jurat_core::case::{Asked, Case, CaseState, Room};
use jurat_core::effect::wire::{StoredRequest, read_outcome};
use jurat_core::effect::{Action, Endpoint, ModelRequest, Outcome, Role, Step};
use jurat_core::evaluator::binding::found_by_name;
use jurat_core::evidence::answered::{EvidenceKind, digest};
use jurat_core::plan::{CaseIx, CaseName, CaseSource, TaskIx};
use jurat_core::report::{CaseData, CaseReport, TaskReport};
use jurat_core::verdict::{CaseVerdict, Counts, Verdict};
use jurat_format::value::{Record, Val, parse_json};
use jurat_store::run::{Code, Column, RunFileError, StoredCase, StoredEffect};

use super::exchange::exchange;
use super::{RunView, ViewError};
use crate::RunError;
use crate::drive::{Moment, Outcomes, Until, drive_now};
use crate::rows::Rows;
use crate::task_report::{completed, concluded, total_cost, total_usage, with_outcomes};
use crate::variants;

/// How much is reported of each case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detailed {
    /// Its verdict and its counts.
    Counts,
    /// What each task expected and found, too.
    Tasks,
}

/// A recorded outcome of a case.
pub(super) struct Happened {
    pub(super) effect: StoredEffect,
    pub(super) outcome: Outcome,
}

/// A case concluded once more.
pub(super) struct Revisited<'r> {
    /// Its row, where it has one.
    pub(super) row: Option<&'r Val<'r>>,
    pub(super) base: &'r Val<'r>,
    pub(super) kind: EvidenceKind,
    pub(super) state: &'r CaseState<'r>,
    pub(super) happened: &'r [Happened],
}

impl Revisited<'_> {
    /// The digest of what was asked and answered, by which a later run knows that a label is about the same answer.
    pub(super) fn digest(&self) -> String {
        digest(self.base, self.kind)
    }
}

impl Happened {
    /// What a model was asked.
    pub(super) fn asked(&self) -> Option<(Arc<Endpoint>, ModelRequest)> {
        StoredRequest::read(&self.effect.request).ok()?.into_model()
    }

    /// What anything else was asked.
    pub(super) fn action(&self) -> Option<Action> {
        StoredRequest::read(&self.effect.request).ok()?.into_action()
    }
}

impl RunView {
    /// The report of a case.
    pub fn case_report(&self, case: &StoredCase, detailed: Detailed) -> Result<CaseReport, ViewError> {
        let verdict = case_verdict(case.code(Column::CASE));
        let variant = self.variant(case.case_ix);
        let named = |it: &String| (!it.is_empty()).then(|| it.clone());
        let mut report = CaseReport {
            prompt: variant.and_then(|it| named(&it.prompt)),
            subject: variant.and_then(|it| named(&it.subject)),
            replicate: variant.filter(|_| self.is_repeated()).map(|it| it.replicate + 1),
            counts: self.counts(case),
            message: case.detail(Column::CASE).and_then(|it| it.message.as_deref()).unwrap_or_default().to_owned(),
            took: case.took.unwrap_or_default(),
            ..CaseReport::new(self.case_name(case), verdict)
        };
        if detailed == Detailed::Tasks {
            let happened = self.happened(case.case_ix)?;
            report.usage = total_usage(happened.iter().map(|it| &it.outcome));
            report.cost_usd = total_cost(happened.iter().map(|it| &it.outcome));
            let revisited = self.revisit(case, &happened, |revisited| {
                let digest = revisited.digest();
                let exchange = exchange(revisited.base, self.plan.ask.as_ref());
                let data = self.case_data(case, &revisited);
                let tasks = self.plan.task_ixs().filter_map(|it| self.task_report(case, &revisited, it));
                (digest, exchange, data, tasks.collect::<Vec<TaskReport>>())
            });
            report.tasks = match revisited {
                Ok((digest, exchange, data, tasks)) => {
                    report.evidence = Some(digest);
                    (report.exchange, report.data) = (exchange, data);
                    tasks
                }
                // Without the row there is only what was stored.
                Err(ViewError::File(
                    error @ (RunFileError::SourceChanged { .. } | RunFileError::SourceUnreadable { .. }),
                )) => {
                    self.missing_rows.borrow_mut().insert(error.to_string());
                    self.plan.task_ixs().filter_map(|it| self.stored_task_report(case, it)).collect()
                }
                Err(error) => return Err(error),
            };
        }
        Ok(report)
    }

    /// What was judged: the row, and what the subject was asked and answered about it.
    fn case_data(&self, case: &StoredCase, revisited: &Revisited<'_>) -> CaseData {
        let place = case.row.place;
        let (is_row, sources) = (revisited.row.is_some(), &self.reader.head().sources);
        let found = |name: &str| found_by_name(name, revisited.base).map(|it| it.into_owned().into_owned());
        // Of rows that no model was asked about, both may be in the row.
        let is_asked = self.plan.ask.is_some() || !is_row;
        CaseData {
            source: sources.get(place.source as usize).map(|it| it.name.trim_matches('`').to_owned()),
            row_number: is_row.then_some(place.number),
            row: revisited.row.map(|it| it.clone().into_owned()),
            input: if is_asked { found("input") } else { None },
            output: if is_asked { found("output") } else { None },
        }
    }

    fn counts(&self, case: &StoredCase) -> Counts {
        let mut counts = Counts::default();
        for (ix, task) in self.plan.task_ixs().zip(&self.plan.tasks) {
            let column = Column::from(ix);
            if let Some(verdict) = case.code(column).verdict(case.detail(column)) {
                counts.add(&verdict, task.gate);
            }
        }
        counts
    }

    /// The recorded outcomes of a case; of several attempts the last.
    pub(super) fn happened(&self, case_ix: CaseIx) -> Result<Vec<Happened>, ViewError> {
        let mut happened: Vec<Happened> = Vec::new();
        // Looking costs more than concluding, and a plan without requests has recorded nothing.
        if !self.plan.asks() {
            return Ok(happened);
        }
        for effect in self.reader.effects_of(case_ix)? {
            let outcome = read_outcome(&effect.kind, &effect.outcome).map_err(crate::RunError::from)?;
            happened.retain(|it| it.effect.site != effect.site);
            happened.push(Happened { effect, outcome });
        }
        Ok(happened)
    }

    /// Concludes a case once more and lends the result.
    pub(super) fn revisit<T>(
        &self,
        case: &StoredCase,
        happened: &[Happened],
        read: impl FnOnce(Revisited<'_>) -> T,
    ) -> Result<T, ViewError> {
        let text = self.reader.row_text(case)?;
        let Record { value: row, repeated_key } =
            parse_json(&text).unwrap_or(Record { value: Val::Null, repeated_key: false });
        let (rows, source, room) = (Rows::of(&self.suite.records), case.row.place.source, Room::default());
        let recorded = Recorded(happened);
        let is_row = matches!(self.layout().source(case.case_ix), CaseSource::Row(_) | CaseSource::Probe(_));
        if let Some(ready) = self.scenario(case).filter(|_| !is_row) {
            // What is stored is what its tasks saw.
            let case = Case::of_evidence(&self.plan, &row, CaseName::of_scenario(&ready.scenario));
            let state = recorded.concluded(case, "")?;
            return Ok(read(Revisited {
                row: None,
                base: &row,
                kind: EvidenceKind::Scenario,
                state: &state,
                happened,
            }));
        }
        if let Some(agent) = self.agent_case(case) {
            let case = Case::of_agent(&self.plan, agent, ANY_SUBJECT, &room);
            let state = recorded.concluded(case, "the run does not say what the agent did")?;
            let base = room.evidence().unwrap_or(&row);
            return Ok(read(Revisited { row: None, base, kind: EvidenceKind::Run, state: &state, happened }));
        }
        let base = rows.base(source, Record { value: row.borrowed(), repeated_key });
        let variant = self.variant(case.case_ix).cloned().unwrap_or_default();
        let prompt = self.prompt(case.case_ix);
        // A conversation that hands over quotes the name of its subject.
        let name = self.subject_name(&variant);
        let asked = variants::Asked { prompt, model: Role::SUBJECT, name, replicate: variant.replicate };
        let begun = rows.begin(&self.plan, (&case.id, source), (&row, &base), Some(&asked), &room);
        let state = recorded.concluded(begun, "the run does not say what the subject answered")?;
        let base = room.evidence().or(base.as_ref().ok()).unwrap_or(&row);
        let kind = match &self.plan.ask {
            Some(ask) if ask.talk(prompt).is_some() => EvidenceKind::Scenario,
            Some(_) => EvidenceKind::Probe,
            None if rows.are_runs(source) => EvidenceKind::Run,
            None => EvidenceKind::Record,
        };
        Ok(read(Revisited { row: Some(&row), base, kind, state: &state, happened }))
    }

    pub(super) fn task_report(&self, case: &StoredCase, revisited: &Revisited<'_>, task: TaskIx) -> Option<TaskReport> {
        let state = revisited.state;
        // The stored code is what was concluded; the rest is parts around it.
        let report = self.stored_task_report(case, task)?;
        let report = completed(report, &self.plan, &self.suite.tasks[task.index()], state);
        let happened = revisited.happened.iter();
        Some(with_outcomes(report, happened.map(|it| (it.effect.site, &it.outcome, it.effect.reused))))
    }

    /// What the file alone says about a task of a case.
    fn stored_task_report(&self, case: &StoredCase, task: TaskIx) -> Option<TaskReport> {
        let column = Column::from(task);
        let detail = case.detail(column);
        let verdict = case.code(column).verdict(detail)?;
        let mut report = concluded(&self.plan, task, &verdict);
        report.explanation = detail.and_then(|it| it.explanation.as_deref()).map(str::to_owned);
        report.score = case.scores.iter().find(|(it, _)| *it == column).map(|(_, score)| *score);
        report.label = case.labels.iter().find(|(it, _)| *it == column).map(|(_, label)| label.clone());
        Some(report)
    }
}

/// Outcomes as they were recorded. They are found by their sites, so that the names of models do not matter.
pub(super) struct Recorded<'h>(pub(super) &'h [Happened]);

/// Recorded outcomes are found by their sites: the name of the subject does not matter.
pub(super) const ANY_SUBJECT: Asked<'static> = Asked { model: &Role::SUBJECT, name: "subject", replicate: 0 };

impl Outcomes for Recorded<'_> {
    async fn outcome(&self, _: Moment<'_>, step: Step) -> Result<Option<Outcome>, RunError> {
        Ok(self.0.iter().find(|it| it.effect.site == step.site).map(|it| it.outcome.clone()))
    }
}

impl Recorded<'_> {
    /// Takes a case as far as its outcomes were recorded. `missing` is said of a case whose evidence is not there.
    fn concluded<'p>(&self, mut case: Case<'p>, missing: &str) -> Result<CaseState<'p>, RunError> {
        drive_now(&mut case, self, Until::End)?;
        Ok(case.into_tasks(&Verdict::error(missing)))
    }
}

pub(super) fn case_verdict(code: Code) -> CaseVerdict {
    match code {
        Code::Passed => CaseVerdict::Passed,
        Code::Failed => CaseVerdict::Failed,
        Code::Measured => CaseVerdict::Measured,
        Code::NotRun => CaseVerdict::NotRun,
        Code::NotJudged => CaseVerdict::NotJudged,
        Code::Error | Code::SkippedByGate | Code::SkippedByError | Code::Absent => CaseVerdict::Error,
    }
}
