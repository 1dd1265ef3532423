//! The tasks of a case, over its evidence: what may be asked now, and what follows from each outcome.
//!
//! Any order in which outcomes arrive gives the same verdicts, the ones that all outcomes together give.

mod checked;
mod evaluated;
mod grouped;
mod judged;
mod scored;
mod stepped;
mod task;

use task::TaskState;

use jurat_compare::Fill;
use jurat_format::value::{Context, Val, Value};

use crate::effect::{Action, Asker, ModelRequest, Outcome, Request, StepSite};
use crate::evaluator::Evaluation;
use crate::evidence::fault::fault;
use crate::judge::{Marks, ReplyForm, TaskResult};
use crate::plan::{CaseName, Plan, PlannedTask, TaskIx, Work};
use crate::suite::{CaseKind, ExpectedValue, Gate, TaskComparison};
use crate::verdict::{CaseVerdict, Counts, SkipReason, Verdict};

/// A case and how far it has come.
#[derive(Debug, Clone)]
pub struct CaseState<'p> {
    plan: &'p Plan,
    base: &'p Val<'p>,
    /// Its id, where an evaluation looks for the brief of the case.
    id: Option<String>,
    tasks: Vec<TaskState>,
    /// What the case ends with whatever its tasks conclude, because its evidence is missing or incomplete.
    fault: Option<Verdict>,
}

/// A request that may be made now.
#[derive(Debug, Clone, Copy)]
pub struct Ready<'s> {
    pub site: StepSite,
    pub request: ReadyRequest<'s>,
    /// How many requests it may take.
    pub max_requests: u32,
}

/// A request that is not copied: a panel may have many.
#[derive(Debug, Clone, Copy)]
pub enum ReadyRequest<'s> {
    Model(&'s ModelRequest),
    Action(&'s Action),
}

impl From<ReadyRequest<'_>> for Request {
    fn from(request: ReadyRequest<'_>) -> Request {
        match request {
            ReadyRequest::Model(request) => request.clone().into(),
            ReadyRequest::Action(action) => action.clone().into(),
        }
    }
}

static TRUE: Value = Val::Bool(true);
static FALSE: Value = Val::Bool(false);
static NOTHING: Value = Val::Null;

impl<'p> CaseState<'p> {
    /// A case over this evidence; everything that needs no request is settled at once.
    pub fn start(plan: &'p Plan, base: &'p Val<'p>) -> CaseState<'p> {
        let mut state =
            CaseState { plan, base, id: None, tasks: vec![TaskState::Waiting; plan.tasks.len()], fault: None };
        state.settle();
        state
    }

    /// The tasks of a case over its evidence. Where every row has the same tasks, its name does not matter.
    pub fn over(plan: &'p Plan, evidence: &'p Val<'p>, name: &CaseName<'_>) -> CaseState<'p> {
        match name.kind {
            CaseKind::Records if !plan.narrows() => CaseState::start(plan, evidence),
            _ => CaseState::start_for(plan, evidence, name),
        }
    }

    /// Like [`CaseState::start`], without the tasks that do not apply to the case. Evidence that a fault left incomplete is not judged.
    pub fn start_for(plan: &'p Plan, base: &'p Val<'p>, case: &CaseName<'_>) -> CaseState<'p> {
        let mut state = CaseState::waiting(plan, base, case, fault(case.kind, base));
        state.settle();
        state
    }

    /// A case whose subject gave no evidence: what its tasks would have read is not there.
    pub fn without_evidence(plan: &'p Plan, case: &CaseName<'_>, verdict: &Verdict) -> CaseState<'p> {
        let mut state = CaseState::waiting(plan, &NOTHING, case, Some(verdict.clone()));
        state.settle();
        state
    }

    /// A case before its first task. With a fault, tasks that wait for nothing end with it; the others follow from them.
    fn waiting(plan: &'p Plan, base: &'p Val<'p>, case: &CaseName<'_>, fault: Option<Verdict>) -> CaseState<'p> {
        let state = |task: &PlannedTask| match &fault {
            _ if !task.on.has(case) => TaskState::Absent,
            Some(verdict) if task.depends_on.is_empty() => {
                TaskState::Done(TaskResult { verdict: verdict.clone(), output: None, said: Vec::new() })
            }
            _ => TaskState::Waiting,
        };
        let tasks = plan.tasks.iter().map(state).collect();
        CaseState { plan, base, id: id_for(plan, case), tasks, fault }
    }

    /// What its tasks look at.
    pub fn evidence(&self) -> &'p Val<'p> {
        self.base
    }

    /// The requests that may be made now, given every outcome so far.
    pub fn steps(&self) -> impl Iterator<Item = Ready<'_>> {
        (0..).zip(&self.tasks).flat_map(|(task, state)| state.steps(TaskIx(task)))
    }

    /// Takes in one outcome. Outcomes of requests that are not open change nothing.
    pub fn apply(&mut self, site: StepSite, outcome: Outcome) {
        let Asker::Task(ix) = site.asker else { return };
        let Some(state) = self.tasks.get_mut(ix.index()).filter(|it| it.is_asking()) else { return };
        let state = std::mem::replace(state, TaskState::Waiting);
        let state = self.continued(&self.plan.tasks[ix.index()], state, site, outcome);
        let is_done = state.result().is_some();
        self.tasks[ix.index()] = state;
        if is_done {
            self.settle();
        }
    }

    /// The state of a task after an outcome of one of its requests.
    fn continued(&self, task: &PlannedTask, state: TaskState, site: StepSite, outcome: Outcome) -> TaskState {
        let outputs = self.outputs(task);
        let context = Context { base: self.base, outputs: &outputs };
        match (&task.work, state) {
            (Work::Judge(judge), TaskState::Attaching(action)) => judged::attached(judge, &action, outcome, context),
            (Work::Judge(judge), TaskState::Asking(slots)) => {
                judged::apply(judge, task.then.as_ref(), slots, (site, outcome), context)
            }
            (Work::Evaluation(evaluation), TaskState::Asking(slots)) => {
                scored::apply(self, evaluation, slots, (site, outcome), context)
            }
            (Work::Evaluate(evaluate), TaskState::Asking(slots)) => {
                evaluated::embedded(task, evaluate, slots, (site, outcome), context)
            }
            (Work::Assert, TaskState::Acting(_)) => judged::transform_returned(task, outcome, context),
            (Work::Evaluate(evaluate), TaskState::Acting(_)) => evaluated::called(task, evaluate, outcome, context),
            (Work::Check(check), TaskState::Acting(_)) => checked::returned(check, task, outcome, context),
            (_, state) => state,
        }
    }

    /// What a reply to a task's judges must be, in a slot.
    pub fn form(&self, task: TaskIx, slot: u32) -> Option<&ReplyForm> {
        self.plan.tasks.get(task.index())?.work.reply_form(self.id.as_deref(), slot)
    }

    /// The number of questions that a judge file asks each judge after those that are asked already.
    pub fn questions_to_come(&self, task: TaskIx) -> u32 {
        let (planned, state) = (self.plan.tasks.get(task.index()), self.tasks.get(task.index()));
        let Some((judge, TaskState::Asking(slots))) = planned.and_then(|it| it.work.judge()).zip(state) else {
            return 0;
        };
        judge.n_steps().saturating_sub(slots.len() as u32 / judge.n_judges())
    }

    /// The verdicts in the order of the plan's tasks; `None` for those that are not done, and for those that are not for this case.
    pub fn verdicts(&self) -> impl ExactSizeIterator<Item = Option<&Verdict>> {
        self.tasks.iter().map(|it| it.result().map(|it| &it.verdict))
    }

    /// The result of a task, once it is done.
    pub fn result(&self, task: TaskIx) -> Option<&TaskResult> {
        self.tasks.get(task.index()).and_then(TaskState::result)
    }

    /// The result of each output of a task's evaluator, once it is done and has returned something.
    pub fn evaluations(&self, task: TaskIx) -> &[Evaluation] {
        match self.tasks.get(task.index()) {
            Some(TaskState::Evaluated(_, evaluations)) => evaluations,
            _ => &[],
        }
    }

    /// Why the case could not be judged, when no task of it has that as its verdict because none is for this case.
    pub fn fault_without_task(&self) -> Option<&Verdict> {
        self.fault.as_ref().filter(|_| self.verdicts().all(|it| it.is_none()))
    }

    /// The verdict of the case, once every task is done.
    pub fn verdict(&self) -> Option<CaseVerdict> {
        let judged = self.verdicts().zip(&self.plan.tasks).filter_map(|(verdict, task)| Some((verdict?, task.gate)));
        let fault = self.fault.iter().map(|it| (it, Gate::None));
        self.is_done().then(|| CaseVerdict::of(judged.chain(fault)))
    }

    /// The value that a task compared, as far as it was there; what an outcome measured, and the number that an expression gives, when it compares nothing.
    pub fn compared(&self, task: TaskIx) -> Option<Value> {
        let planned = self.plan.tasks.get(task.index())?;
        if planned.work.outcome().is_some() && planned.then.is_none() {
            let measured = |result: &&TaskResult| result.verdict == Verdict::Measured;
            return self.result(task).filter(measured).and_then(|it| it.output.clone());
        }
        if matches!(planned.work, Work::Cel(_)) && planned.then.is_none() {
            let output = self.result(task).and_then(|it| it.output.as_ref());
            return output.filter(|it| it.as_f64().is_some()).cloned();
        }
        let path = planned.then.as_ref()?.path.as_ref();
        let result = self.result(task)?;
        if planned.work.has_output() {
            let reply = result.output.as_ref()?;
            return path
                .map_or(Some(reply.clone()), |path| path.find(reply).ok().map(|it| it.into_owned().into_owned()));
        }
        if matches!(result.verdict, Verdict::Skipped(_) | Verdict::NotRun(_)) {
            return None;
        }
        let outputs = self.outputs(planned);
        let context = Context { base: self.base, outputs: &outputs };
        path.and_then(|path| context.find(path).ok().map(|it| it.into_owned().into_owned()))
    }

    /// The label, the score and the explanation that the judge or evaluator of a task gave.
    pub fn marks(&self, task: TaskIx) -> Option<Marks> {
        let reply = self.result(task)?.output.as_ref()?;
        let judge = self.plan.tasks.get(task.index())?.work.judge();
        Some(Marks::of(reply, self.compared(task).as_ref(), judge.is_some_and(|it| it.soft.is_some())))
    }

    /// What a task expected, whole: what its definition says, or what its `${path}` found.
    pub fn expected(&self, task: TaskIx, comparison: &TaskComparison) -> Option<Value> {
        match &comparison.expected.as_ref()?.value {
            ExpectedValue::Literal(value) => Some(value.clone()),
            ExpectedValue::Path(path) => {
                self.supplied(task, |it| it.find(path).ok().map(|it| it.into_owned().into_owned()))
            }
            ExpectedValue::Filled(filled) => self.supplied(task, |it| filled.fill(it).ok()),
        }
    }

    /// What is compared with, from the reply of a task or else from its context.
    fn supplied(&self, task: TaskIx, find: impl Fn(Context<'_>) -> Option<Value>) -> Option<Value> {
        let planned = self.plan.tasks.get(task.index())?;
        let reply = self.result(task).and_then(|it| it.output.as_ref()).filter(|_| planned.work.has_output());
        let outputs = self.outputs(planned);
        let in_reply = reply.and_then(|it| find(Context::of(it)));
        in_reply.or_else(|| find(Context { base: self.base, outputs: &outputs }))
    }

    /// What a task could read of other tasks: the outputs of those it depends on, under their ids.
    pub fn seen(&self, task: TaskIx) -> Vec<(&'p str, &Val<'p>)> {
        self.plan.tasks.get(task.index()).map(|it| self.outputs(it)).unwrap_or_default()
    }

    /// Whether a task is not for this case.
    pub fn is_absent(&self, task: TaskIx) -> bool {
        matches!(self.tasks.get(task.index()), Some(TaskState::Absent))
    }

    /// Whether every task is done.
    pub fn is_done(&self) -> bool {
        self.tasks.iter().all(|it| matches!(it, TaskState::Absent) || it.result().is_some())
    }

    /// How many tasks ended how, so far.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for (task, verdict) in self.plan.tasks.iter().zip(self.verdicts()) {
            if let Some(verdict) = verdict {
                counts.add(verdict, task.gate);
            }
        }
        counts
    }

    /// Runs every task whose dependencies are done. Stages are in order, so one pass reaches everything.
    fn settle(&mut self) {
        let plan = self.plan;
        for ix in plan.stages.iter().flatten() {
            if !matches!(self.tasks[ix.index()], TaskState::Waiting) {
                continue;
            }
            let task = &plan.tasks[ix.index()];
            let is_settled = |it: &TaskIx| !self.is_open(*it);
            if task.depends_on.iter().all(|it| self.tasks[it.index()].result().is_some())
                && task.work.sees().iter().all(is_settled)
            {
                self.tasks[ix.index()] = self.begun(task);
            }
        }
    }

    /// Whether a task is for this case and not done.
    fn is_open(&self, task: TaskIx) -> bool {
        let state = &self.tasks[task.index()];
        !matches!(state, TaskState::Absent) && state.result().is_none()
    }

    fn begun(&self, task: &PlannedTask) -> TaskState {
        if let Some(verdict) = self.held_back(task) {
            return TaskState::Done(TaskResult { verdict, output: None, said: Vec::new() });
        }
        let outputs = self.outputs(task);
        let context = Context { base: self.base, outputs: &outputs };
        match &task.work {
            Work::Assert => judged::asserted(self.plan, task, context),
            Work::Judge(judge) => judged::begin(judge, task.then.as_ref(), context),
            Work::Outcome(check) => checked::outcome(check, task, context),
            Work::Check(check) => checked::begin(check, task, self.plan.allows_hooks, context),
            Work::Evaluate(evaluate) => evaluated::begin(task, evaluate, context),
            Work::Evaluation(evaluation) => scored::begin(self, evaluation),
            Work::Cel(expression) => checked::cel(expression, task, context),
            Work::Group(group) => grouped::decided(self, group, task),
        }
    }

    /// Why a task may not run, if it may not: the first dependency, in the author's order, that stands in its way.
    fn held_back(&self, task: &PlannedTask) -> Option<Verdict> {
        let mut stopped = None;
        for ix in &task.depends_on {
            let result = self.result(*ix)?;
            match &result.verdict {
                Verdict::Skipped(reason) => return Some(Verdict::Skipped(*reason)),
                Verdict::Error(_) => return Some(Verdict::Skipped(SkipReason::Errored(*ix))),
                Verdict::Failed(_) if self.plan.tasks[ix.index()].gate.routes() => {
                    return Some(Verdict::Skipped(SkipReason::GateFailed(*ix)));
                }
                Verdict::NotRun(reason) => stopped = stopped.or(Some(Verdict::NotRun(*reason))),
                Verdict::Passed | Verdict::Failed(_) | Verdict::Measured => {}
            }
        }
        // What its members give is what a group is about.
        let checks = if let Work::Group(_) = task.work { &[] } else { task.work.sees() };
        stopped.or_else(|| self.held_back_by_checks(checks))
    }

    /// Why an evaluation may not run. Checks that failed or could not be decided are what judges have to see; only a gate among them stands in the way.
    fn held_back_by_checks(&self, checks: &[TaskIx]) -> Option<Verdict> {
        let mut stopped = None;
        for ix in checks {
            let Some(result) = self.result(*ix) else { continue };
            let is_gate = self.plan.tasks[ix.index()].gate.routes();
            match &result.verdict {
                Verdict::Failed(_) if is_gate => return Some(Verdict::Skipped(SkipReason::GateFailed(*ix))),
                Verdict::Error(_) if is_gate => return Some(Verdict::Skipped(SkipReason::Errored(*ix))),
                Verdict::Skipped(reason) if is_gate => return Some(Verdict::Skipped(*reason)),
                Verdict::NotRun(reason) => stopped = stopped.or(Some(Verdict::NotRun(*reason))),
                Verdict::Passed | Verdict::Failed(_) | Verdict::Measured | Verdict::Skipped(_) | Verdict::Error(_) => {}
            }
        }
        stopped
    }

    /// What direct dependencies put into the context: a judge its reply, an outcome its value, an assertion whether it passed.
    fn outputs(&self, task: &PlannedTask) -> Vec<(&'p str, &Val<'p>)> {
        let plan = self.plan;
        let output = |ix: &TaskIx| {
            let result = self.result(*ix)?;
            let value = match (&result.output, &result.verdict) {
                (Some(output), _) => output,
                (None, Verdict::Passed) => &TRUE,
                (None, Verdict::Failed(_)) => &FALSE,
                (None, _) => return None,
            };
            Some((plan.tasks[ix.index()].id.as_str(), value))
        };
        task.depends_on.iter().filter_map(output).collect()
    }
}

/// The id of a case, where an evaluation looks for its brief.
fn id_for(plan: &Plan, case: &CaseName<'_>) -> Option<String> {
    plan.tasks.iter().any(|it| it.work.evaluation().is_some()).then(|| case.id.to_owned())
}
