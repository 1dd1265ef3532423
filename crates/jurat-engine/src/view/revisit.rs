//! A case concluded once more, from its row and its recorded outcomes.

use std::sync::Arc;
use std::time::Duration;

use jurat_core::case::{Asked, Case, CaseState, Room};
use jurat_core::effect::wire::{StoredRequest, read_outcome};
use jurat_core::effect::{Action, Endpoint, ModelRequest, Outcome, Role, Step, Usage};
use jurat_core::evaluator::binding::found_by_name;
use jurat_core::evaluator::{Evaluation, OutputConfig};
use jurat_core::evidence::answered::{EvidenceKind, digest};
use jurat_core::judge::Marks;
use jurat_core::plan::{CaseIx, CaseName, TaskIx};
use jurat_core::report::{CaseData, CaseReport, OutputReport, TaskReport, TaskVerdict};
use jurat_core::verdict::{CaseVerdict, Counts, Verdict};
use jurat_format::value::{Record, Val, parse_json};
use jurat_store::run::{Code, Column, RunFileError, StoredCase, StoredEffect};

use super::exchange::exchange;
use super::{RunView, ViewError};
use crate::RunError;
use crate::drive::{Moment, Outcomes, Until, drive_now};
use crate::rows::Rows;
use crate::tally::taken;
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
        if let Some(ready) = self.scenario(case) {
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
        let prompts = self.plan.ask.iter().flat_map(|it| &it.prompts);
        let prompt = prompts.into_iter().position(|(name, _)| *name == variant.prompt).unwrap_or(0);
        let Asked { model, name, .. } = ANY_SUBJECT;
        let asked =
            variants::Asked { prompt, model: model.clone(), name: name.to_owned(), replicate: variant.replicate };
        let begun = rows.begin(&self.plan, (&case.id, source), (&row, &base), Some(&asked), &room);
        let state = recorded.concluded(begun, "the run does not say what the subject answered")?;
        let base = room.evidence().or(base.as_ref().ok()).unwrap_or(&row);
        let kind = match &self.plan.ask {
            Some(_) => EvidenceKind::Probe,
            None if rows.are_runs(source) => EvidenceKind::Run,
            None => EvidenceKind::Record,
        };
        Ok(read(Revisited { row: Some(&row), base, kind, state: &state, happened }))
    }

    pub(super) fn task_report(&self, case: &StoredCase, revisited: &Revisited<'_>, task: TaskIx) -> Option<TaskReport> {
        let state = revisited.state;
        // The stored code is what was concluded; the rest is parts around it.
        let mut report = self.stored_task_report(case, task)?;
        let written = &self.suite.tasks[task.index()];
        if !matches!(report.verdict, TaskVerdict::Skipped | TaskVerdict::NotRun) {
            report.expected = written.comparison.as_ref().and_then(|it| state.expected(task, it));
            report.actual = state.compared(task);
        }
        if let Some(reply) = state.result(task).and_then(|it| it.output.as_ref()) {
            let marks = Marks::of(reply, report.actual.as_ref());
            report.label = marks.label;
            report.score = marks.score;
            report.explanation = marks.explanation;
            if report.verdict == TaskVerdict::Measured {
                report.actual = Some(reply.clone());
            }
            report.reply = Some(reply.clone());
        }
        report.outputs = self.output_reports(state, task);
        let own: Vec<&Happened> =
            revisited.happened.iter().filter(|it| it.effect.site.asker.task() == Some(task)).collect();
        report.usage = total_usage(own.iter().map(|it| &it.outcome));
        report.cost_usd = total_cost(own.iter().map(|it| &it.outcome));
        report.latency = total_latency(own.iter().map(|it| &it.outcome));
        report.n_requests = own.iter().map(|it| n_requests(&it.outcome)).sum();
        report.reused = !own.is_empty() && own.iter().all(|it| it.effect.reused);
        Some(report)
    }

    /// The result of each output of a task's evaluator, where it has several: one alone is the task's own.
    fn output_reports(&self, state: &CaseState<'_>, task: TaskIx) -> Vec<OutputReport> {
        let planned = &self.plan.tasks[task.index()];
        if let Some(evaluation) = planned.work.evaluation() {
            let output = state.result(task).and_then(|it| it.output.as_ref());
            let dimensions = evaluation.profile.dimensions.iter();
            return dimensions.filter_map(|it| dimension_report(&planned.id, it, output?)).collect();
        }
        let configs = planned.work.evaluate().map(|it| it.outputs.as_slice()).filter(|it| it.len() > 1);
        let evaluations = configs.unwrap_or_default().iter().zip(state.evaluations(task));
        let report = |(config, evaluation): (&OutputConfig, &Evaluation)| {
            let triple = evaluation.result.as_ref().ok().cloned().unwrap_or_default();
            OutputReport {
                name: format!("{}.{}", planned.id, config.name),
                label: triple.label,
                score: triple.score,
                explanation: triple.explanation,
                message: evaluation.result.as_ref().err().map(ToString::to_string).unwrap_or_default(),
            }
        };
        evaluations.map(report).collect()
    }

    /// What the file alone says about a task of a case.
    fn stored_task_report(&self, case: &StoredCase, task: TaskIx) -> Option<TaskReport> {
        let column = Column::from(task);
        let detail = case.detail(column);
        let verdict = case.code(column).verdict(detail)?;
        let mut report = TaskReport::new(task.index(), TaskVerdict::from(&verdict));
        report.message = self.message(&verdict);
        report.explanation = detail.and_then(|it| it.explanation.as_deref()).map(str::to_owned);
        report.score = case.scores.iter().find(|(it, _)| *it == column).map(|(_, score)| *score);
        report.label = case.labels.iter().find(|(it, _)| *it == column).map(|(_, label)| label.clone());
        Some(report)
    }
}

/// What an evaluation says about one dimension: the judge's score, and beside it what checks come to.
fn dimension_report(task: &str, name: &str, output: &Val<'_>) -> Option<OutputReport> {
    let part = output.get("dimensions")?.get(name)?;
    let number = |of: &Val<'_>, key: &str| of.get(key).and_then(Val::as_f64);
    let (judge, checks) = (part.get("judge")?, part.get("checks")?);
    let mut parts: Vec<String> = Vec::new();
    if let Some(stdev) = number(judge, "stdev") {
        let (low, high) = (number(judge, "min")?, number(judge, "max")?);
        parts.push(format!("judges from {low} to {high}, standard deviation {stdev:.2}"));
    }
    let count = |key: &str| number(checks, key).unwrap_or(0.0);
    let decided = count("passed") + count("failed");
    if let Some(score) = number(checks, "score") {
        parts.push(format!("checks {} of {decided} passed, which is {score:.1}", count("passed")));
    }
    if count("error") > 0.0 {
        parts.push(format!("{} of the checks could not be decided", count("error")));
    }
    let score = number(part, "score")?;
    if number(judge, "score").is_some_and(|it| it != score) {
        parts.push(format!("the judge said {}, and a failed check changed it", number(judge, "score")?));
    }
    let evidence = part.get("evidence").and_then(Val::as_list).unwrap_or(&[]);
    let evidence: Vec<&str> = evidence.iter().filter_map(Val::as_str).collect();
    if !evidence.is_empty() {
        parts.push(evidence.join("; "));
    }
    Some(OutputReport {
        name: format!("{task}.{name}"),
        label: None,
        score: Some(score),
        explanation: (!parts.is_empty()).then(|| parts.join("; ")),
        message: String::new(),
    })
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

fn total_usage<'o>(outcomes: impl Iterator<Item = &'o Outcome>) -> Option<Usage> {
    let mut total: Option<Usage> = None;
    for outcome in outcomes {
        match outcome {
            Outcome::Answer(answer) if answer.usage.is_none() => {}
            outcome => {
                if let Some((usage, _)) = taken(outcome) {
                    total.get_or_insert_default().merge(&usage);
                }
            }
        }
    }
    total
}

fn total_cost<'o>(outcomes: impl Iterator<Item = &'o Outcome>) -> Option<f64> {
    let costs = outcomes.filter_map(|it| taken(it).and_then(|(_, cost)| cost));
    let nano: Vec<u64> = costs.map(|it| (it * 1e9).round() as u64).collect();
    nano.into_iter().reduce(u64::saturating_add).map(|it| it as f64 / 1e9)
}

fn total_latency<'o>(outcomes: impl Iterator<Item = &'o Outcome>) -> Option<Duration> {
    let mut total: Option<Duration> = None;
    for outcome in outcomes {
        if let Outcome::Answer(answer) = outcome {
            *total.get_or_insert_default() += answer.latency;
        }
    }
    total
}

fn n_requests(outcome: &Outcome) -> u32 {
    match outcome {
        Outcome::Answer(answer) => answer.n_requests,
        Outcome::Fault(fault) => fault.n_requests,
        Outcome::Returned(_) | Outcome::Ran(_) | Outcome::NotRun(_) => 0,
    }
}
