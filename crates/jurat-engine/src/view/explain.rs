//! Why a task ended as it did.

use std::time::Duration;

use jurat_core::effect::{Action, Asker, Finish, Outcome, Printed, Slot};
use jurat_core::judge::ReplyForm;
use jurat_core::outcome::{Trace, Traced};
use jurat_core::plan::{PlannedJudge, TaskIx};
use jurat_core::report::TaskVerdict;
use jurat_core::report::explanation::{
    Called, Conversation, Explanation, GateStep, Operands, Origin, Purpose, Reply, RowSource, Seen, Unseen,
};
use jurat_core::report::transcript::ToolStep;
use jurat_core::verdict::Verdict;
use jurat_format::id::same_id;
use jurat_format::problem::{listed_all, nearest};
use jurat_format::value::Val;
use jurat_store::run::{Code, Column, StoredCase, StoredEffect};

use super::exchange::run_ended;
use super::revisit::{Happened, Revisited};
use super::transcript::tool_step;
use super::{RunView, ViewError};
use crate::task_report::message;

/// Why something cannot be explained.
#[derive(Debug, thiserror::Error)]
pub enum ExplainError {
    /// There is no such case.
    #[error("the run `{run}` has no case `{case}`; {has}{}", suggestion(near))]
    NoCase {
        case: String,
        run: String,
        /// The cases that there are, in words.
        has: String,
        /// What may have been meant.
        near: Option<String>,
    },
    /// There are several that begin so.
    #[error("several cases begin with `{case}`: {cases}; write more of the id")]
    SeveralCases {
        case: String,
        /// The first of them, in words.
        cases: String,
    },
    /// There is no such task.
    #[error("the suite has no task `{task}`; it has {tasks}{}", suggestion(near))]
    NoTask {
        task: String,
        tasks: String,
        /// What may have been meant.
        near: Option<String>,
    },
    #[error("several scenarios have a task `{task}`: {scenarios}; name one of them with `--case`")]
    SeveralTasks { task: String, scenarios: String },
    /// The run cannot be read.
    #[error(transparent)]
    View(#[from] ViewError),
}

fn suggestion(near: &Option<String>) -> String {
    near.as_ref().map_or_else(String::new, |it| format!("; did you mean `{it}`?"))
}

/// Why a task failed, with how the run of the agent ended that it is about, where that did not succeed.
fn with_ending(message: String, verdict: TaskVerdict, evidence: &Val<'_>) -> String {
    let is_run = evidence.get("identity").is_some_and(|it| it.get("runner_type").is_some());
    match run_ended(evidence).filter(|_| is_run && verdict == TaskVerdict::Failed) {
        Some(ended) => format!("{message}; the agent's run ended: {ended}"),
        None => message,
    }
}

impl RunView {
    /// The tasks with this id: one, or one for each of several scenarios.
    pub fn tasks_named(&self, id: &str) -> Result<Vec<TaskIx>, ExplainError> {
        let ids = || self.plan.tasks.iter().map(|it| it.id.as_str());
        let named: Vec<TaskIx> =
            self.plan.task_ixs().filter(|it| same_id(&self.plan.tasks[it.index()].id, id)).collect();
        if !named.is_empty() {
            return Ok(named);
        }
        let mut known: Vec<&str> = Vec::new();
        for id in ids() {
            if !known.contains(&id) {
                known.push(id);
            }
        }
        Err(ExplainError::NoTask {
            task: id.to_owned(),
            near: nearest(id, ids()).map(str::to_owned),
            tasks: listed_all(known),
        })
    }

    /// The task with this id that is for one of these cases, when there are any.
    pub fn task(&self, id: &str, cases: &[StoredCase]) -> Result<TaskIx, ExplainError> {
        let mut named = self.tasks_named(id)?;
        if named.len() > 1 && !cases.is_empty() {
            let is_for = |task: &TaskIx| cases.iter().any(|it| it.code(Column::from(*task)) != Code::Absent);
            named.retain(is_for);
        }
        match named.as_slice() {
            [task] => Ok(*task),
            _ => {
                let own = self.suite.tasks.iter().filter(|it| same_id(&it.id.value, id));
                let scenarios = own.filter_map(|it| it.scope.as_ref()).map(|it| it.value.as_str());
                Err(ExplainError::SeveralTasks { task: id.to_owned(), scenarios: listed_all(scenarios) })
            }
        }
    }

    /// Everything that a verdict rests on. `None` when the task is not for this case.
    pub fn explain(&self, case: &StoredCase, task: TaskIx) -> Result<Option<Explanation>, ViewError> {
        let happened = self.happened(case.case_ix)?;
        self.revisit(case, &happened, |revisited| self.explained(case, &revisited, task))
    }

    fn explained(&self, case: &StoredCase, revisited: &Revisited<'_>, task: TaskIx) -> Option<Explanation> {
        let report = self.task_report(case, revisited, task)?;
        let (planned, written) = (&self.plan.tasks[task.index()], &self.suite.tasks[task.index()]);
        let variant = self.variant(case.case_ix);
        let named = |it: &String| (!it.is_empty()).then(|| it.clone());
        let stage = self.plan.stages.iter().position(|stage| stage.contains(&task));
        let operands = written.comparison.as_ref().map(|it| Operands {
            path: it.path.as_ref().map(|it| it.value.to_string()),
            operator: it.operator.value.entry().snake_case(),
            expected: report.expected.clone(),
            found: revisited.state.compared(task),
        });
        let spread = revisited.state.result(task).map(|it| it.said.clone()).unwrap_or_default();
        let decided = self.decided(revisited, task);
        Some(Explanation {
            suite: self.reader.head().suite.clone(),
            run_id: self.reader.head().id.clone(),
            case: self.case_name(case),
            prompt: variant.and_then(|it| named(&it.prompt)),
            subject: variant.and_then(|it| named(&it.subject)),
            replicate: variant.filter(|_| self.is_repeated()).map(|it| it.replicate + 1),
            row: self.row_source(case),
            task: planned.id.clone(),
            kind: written.kind.name().to_owned(),
            gate: planned.gate,
            stage: stage.map_or(0, |it| it + 1),
            description: written.description.clone(),
            verdict: report.verdict,
            message: with_ending(report.message, report.verdict, revisited.base),
            label: report.label,
            score: report.score,
            explanation: report.explanation,
            gates: self.gates(case, task),
            operands,
            decided,
            seen: seen(revisited, task),
            unseen: self.unseen(case, task),
            called: self.called(revisited, task),
            conversations: self.conversations(revisited, task),
            tool_calls: self.tool_calls(case, revisited),
            spread: if spread.len() > 1 { spread } else { Vec::new() },
            transcript: None,
        })
    }

    /// How an outcome was decided. One that was not asked, because a gate or the subject came first, has none.
    fn decided(&self, revisited: &Revisited<'_>, task: TaskIx) -> Option<Trace> {
        let check = self.plan.tasks[task.index()].work.outcome()?;
        let result = revisited.state.result(task)?;
        let trace = check.trace(revisited.base);
        let is_its_error = matches!((&trace.result, &result.verdict),
            (Traced::Error(error), Verdict::Error(reason)) if error.to_string() == reason.0);
        (result.output.is_some() || is_its_error).then_some(trace)
    }

    fn row_source(&self, case: &StoredCase) -> Option<RowSource> {
        let place = case.row.place;
        let source = self.reader.head().sources.get(place.source as usize)?;
        let file = source.name.trim_matches('`').to_owned();
        Some(RowSource { file, row: Some(place.number), offset: place.bytes.map(|it| it.offset) })
    }

    /// The gates above a task, from the top down, each once.
    fn gates(&self, case: &StoredCase, task: TaskIx) -> Vec<GateStep> {
        let mut above = Vec::new();
        self.ancestors(task, &mut above);
        let order = |it: &TaskIx| self.plan.stages.iter().position(|stage| stage.contains(it));
        above.sort_by_key(|it| (order(it), it.index()));
        let gates = above.into_iter().filter(|it| self.plan.tasks[it.index()].gate.routes());
        gates.filter_map(|gate| self.gate_step(case, gate)).collect()
    }

    fn ancestors(&self, task: TaskIx, above: &mut Vec<TaskIx>) {
        let planned = &self.plan.tasks[task.index()];
        let checks = planned.work.sees().iter();
        for dependency in planned.depends_on.iter().chain(checks) {
            if !above.contains(dependency) {
                above.push(*dependency);
                self.ancestors(*dependency, above);
            }
        }
    }

    fn gate_step(&self, case: &StoredCase, gate: TaskIx) -> Option<GateStep> {
        let verdict = self.stored_verdict(case, gate)?;
        let task = self.plan.tasks[gate.index()].id.clone();
        Some(GateStep { task, verdict: TaskVerdict::from(&verdict), message: message(&self.plan, &verdict) })
    }

    fn stored_verdict(&self, case: &StoredCase, task: TaskIx) -> Option<Verdict> {
        let column = Column::from(task);
        case.code(column).verdict(case.detail(column))
    }

    /// Tasks whose outputs this one could not read, and why.
    fn unseen(&self, case: &StoredCase, task: TaskIx) -> Vec<Unseen> {
        let planned = &self.plan.tasks[task.index()];
        let direct = &planned.depends_on;
        // An evaluation is shown every check, however it ended.
        let is_shown = |other: &TaskIx| planned.work.sees().contains(other);
        let others = self.plan.task_ixs().filter(|it| *it != task && !is_shown(it));
        others
            .filter_map(|other| {
                let verdict = self.stored_verdict(case, other)?;
                let reason = match TaskVerdict::from(&verdict) {
                    _ if !direct.contains(&other) => "not a direct dependency".to_owned(),
                    TaskVerdict::Passed | TaskVerdict::Failed | TaskVerdict::Measured => return None,
                    TaskVerdict::Skipped | TaskVerdict::Error | TaskVerdict::NotRun => {
                        format!("{}: {}", verdict.name(), message(&self.plan, &verdict))
                    }
                };
                Some(Unseen { name: self.plan.tasks[other.index()].id.clone(), reason })
            })
            .collect()
    }

    /// The call of an evaluator's code, when the task made one.
    fn called(&self, revisited: &Revisited<'_>, task: TaskIx) -> Option<Called> {
        let is_own = |it: &&Happened| it.effect.site.asker == Asker::Task(task);
        let happened = revisited.happened.iter().find(is_own)?;
        let Action::Evaluate { evaluator, arguments, .. } = happened.action()? else { return None };
        let Happened { effect, outcome } = happened;
        let (origin, age) = self.origin(effect);
        let mut called = Called {
            evaluator,
            arguments,
            returned: None,
            problem: None,
            printed: Printed::default(),
            latency: None,
            origin,
            age,
        };
        match outcome {
            Outcome::Returned(returned) => {
                match (returned.is_error, returned.value.as_str()) {
                    (true, Some(raised)) => called.problem = Some(raised.to_owned()),
                    _ => called.returned = Some(returned.value.clone()),
                }
                called.printed = returned.printed.clone();
                called.latency = Some(returned.latency);
            }
            Outcome::Fault(fault) => called.problem = Some(fault.message.clone()),
            Outcome::NotRun(reason) => called.problem = Some(crate::task_report::stop_words(*reason).to_owned()),
            Outcome::Answer(_) | Outcome::Ran(_) => {}
        }
        Some(called)
    }

    /// Where an outcome comes from, and how old it was.
    fn origin(&self, effect: &StoredEffect) -> (Origin, Option<Duration>) {
        let is_replay = crate::options::RecordedOptions::of(self.reader.head()).replay_of.is_some();
        let origin = match effect.reused {
            false => Origin::Live,
            true if is_replay => Origin::Log,
            true => Origin::Journal,
        };
        let age_ms = self.reader.head().created_at_ms.saturating_sub(effect.at_ms);
        (origin, effect.reused.then(|| Duration::from_millis(age_ms)))
    }

    /// What was asked: of the subject and its tools first, then of the judges of the task.
    fn conversations(&self, revisited: &Revisited<'_>, task: TaskIx) -> Vec<Conversation> {
        let is_agent = |it: &Happened| it.effect.kind == "run";
        let of_subject = |slot: Slot| self.plan.ask.as_ref().filter(|_| slot == Slot::Subject).map(|it| &it.form);
        let mut conversations = match revisited.happened.iter().any(is_agent) {
            // What an agent did is shown as a run.
            true => Vec::new(),
            false => self.of_slots(Asker::Case, revisited.happened, &of_subject),
        };
        conversations.extend(self.of_task(revisited, task));
        conversations
    }

    /// What the models of a task were asked: one conversation for each question of a judge file, one for any other task.
    fn of_task(&self, revisited: &Revisited<'_>, task: TaskIx) -> Vec<Conversation> {
        let work = &self.plan.tasks[task.index()].work;
        let is_own = |it: &&Happened| it.effect.site.asker == Asker::Task(task);
        let own: Vec<&Happened> = revisited.happened.iter().filter(is_own).collect();
        let n_judges = work.judge().filter(|it| it.used.is_some()).map_or(u32::MAX, PlannedJudge::n_judges);
        let n_steps = work.judge().map_or(1, PlannedJudge::n_steps);
        (0..n_steps).filter_map(|step| self.of_step(revisited, task, (step, n_judges), &own)).collect()
    }

    fn of_step(
        &self,
        revisited: &Revisited<'_>,
        task: TaskIx,
        (step, n_judges): (u32, u32),
        own: &[&Happened],
    ) -> Option<Conversation> {
        let form = revisited.state.form(task, step.saturating_mul(n_judges)).unwrap_or(&ReplyForm::Text);
        let is_embedder = self.plan.tasks[task.index()].work.embedder().is_some();
        let asked: Vec<&&Happened> = own.iter().filter(|it| it.effect.site.slot / n_judges == step).collect();
        let (_, first) = asked.first()?.asked()?;
        let reply = |it: &Happened| {
            let reply = self.reply_of_judge(it, form);
            Reply { slot: it.effect.site.slot % n_judges + 1, ..reply }
        };
        Some(Conversation {
            purpose: if is_embedder { Purpose::Embedder } else { Purpose::Judge },
            messages: first.messages.into(),
            schema: first.output.as_deref().cloned(),
            replies: asked.into_iter().map(|it| reply(it)).collect(),
        })
    }

    /// The reply of a judge. What is no reply has its reason beside it, as it had when the judge was asked.
    fn reply_of_judge(&self, happened: &Happened, form: &ReplyForm) -> Reply {
        let reply = self.reply(happened, form);
        match &happened.outcome {
            Outcome::Answer(answer) if answer.finish != Finish::Refusal => match form.read_answer(answer) {
                Ok(_) => reply,
                Err(problem) => Reply { parsed: None, problem: Some(problem), ..reply },
            },
            _ => reply,
        }
    }

    /// The tools that the subject called when it was asked about its row.
    fn tool_calls(&self, case: &StoredCase, revisited: &Revisited<'_>) -> Vec<ToolStep> {
        let has_tools = self.plan.ask.as_ref().is_some_and(|it| !it.tools.is_empty());
        if !has_tools || self.scenario(case).is_some() || self.agent_case(case).is_some() {
            return Vec::new();
        }
        let calls = revisited.base.get("tool_calls").and_then(Val::as_list).unwrap_or_default();
        calls.iter().map(tool_step).collect()
    }

    pub(super) fn reply(&self, happened: &Happened, form: &ReplyForm) -> Reply {
        let Happened { effect, outcome } = happened;
        let model = happened.asked().map_or_else(
            || effect.model.clone(),
            |(endpoint, request)| {
                if endpoint.model.is_empty() { request.model.to_string() } else { endpoint.model.clone() }
            },
        );
        let (origin, age) = self.origin(effect);
        let mut reply =
            Reply { slot: effect.site.slot + 1, turn: effect.site.turn + 1, model, origin, age, ..Reply::default() };
        match outcome {
            Outcome::Answer(answer) => {
                reply.served = answer.served.clone();
                reply.text = Some(answer.text.clone());
                let shown = answer.reasoning.as_ref().map(|it| it.text.clone()).filter(|it| !it.is_empty());
                reply.reasoning = shown;
                reply.logprobs = answer.logprobs.clone();
                reply.tool_calls = answer.tool_calls.clone();
                match form.read(&answer.text) {
                    _ if answer.finish == Finish::Refusal => reply.problem = Some("it refused to answer".to_owned()),
                    // It has not answered yet.
                    Err(_) if !answer.tool_calls.is_empty() => {}
                    Ok(parsed) => reply.parsed = (!matches!(form, ReplyForm::Text)).then_some(parsed),
                    Err(problem) => reply.problem = Some(problem),
                }
                reply.finish = Some(answer.finish.name().to_owned());
                reply.usage = answer.usage;
                reply.cost_usd = answer.cost_usd;
                reply.latency = answer.measured_latency();
                reply.first_token = answer.first_token;
                reply.attempts = answer.failed.clone();
            }
            Outcome::Fault(fault) => {
                reply.problem = Some(fault.message.clone());
                reply.attempts = fault.failed.clone();
            }
            Outcome::Returned(returned) => {
                reply.parsed = Some(returned.value.clone());
                reply.latency = Some(returned.latency);
            }
            // What an agent did is shown as a run.
            Outcome::Ran(_) => {}
            Outcome::NotRun(reason) => reply.problem = Some(crate::task_report::stop_words(*reason).to_owned()),
        }
        reply
    }
}

/// What a task could read: its case, and the outputs of the tasks it depends on, which hide members with the same name.
fn seen(revisited: &Revisited<'_>, task: TaskIx) -> Vec<Seen> {
    let outputs = revisited.state.seen(task);
    let members = revisited.base.as_map().into_iter().flat_map(jurat_format::value::Map::iter);
    let hidden = |name: &str| outputs.iter().any(|(id, _)| *id == name);
    let of_case = members.filter(|(name, _)| !hidden(name)).map(|(name, value)| Seen {
        name: name.to_owned(),
        is_output: false,
        value: value.clone().into_owned(),
    });
    let of_tasks = outputs.iter().map(|(id, value)| Seen {
        name: (*id).to_owned(),
        is_output: true,
        value: Val::clone(value).into_owned(),
    });
    of_case.chain(of_tasks).collect()
}
