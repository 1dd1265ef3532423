//! One case on its way through its task graph: what may be asked now, and what follows from what came back.
//!
//! No clock, no IO. Any order in which outcomes arrive gives the same verdicts, the ones that all outcomes together give.

mod checked;
mod evaluated;
mod probe;

use checked::{answered, checked, run_checked, seen};
use evaluated::{called, compared, evaluated_or_called, truth_of_label};
pub use probe::{ProbeAnswer, ProbeState};

use jurat_compare::Judgement;
use jurat_format::value::{Context, Val, Value};

use crate::check::{Check, Rule, not_allowed};
use crate::effect::{Asker, Deed, Message, Messages, ModelRequest, Outcome, Request, StepSite, ToolChoice};
use crate::evaluation::{CheckSeen, conclude};
use crate::evaluator::Evaluation;
use crate::evaluator::binding::arguments;
use crate::evidence::fault::fault;
use crate::judge::{Asking, Ballot, End, ReplyForm, combine};
use crate::plan::{CaseName, Plan, PlannedEvaluate, PlannedEvaluation, PlannedJudge, PlannedTask, TaskIx};
use crate::suite::{ExpectedValue, Gate, TaskComparison};
use crate::verdict::{CaseVerdict, Counts, SkipReason, Verdict};

/// A case and how far it has come.
#[derive(Debug, Clone)]
pub struct CaseState<'p> {
    plan: &'p Plan,
    base: &'p Val<'p>,
    /// Its id, where somebody looks at it.
    id: Option<String>,
    tasks: Vec<TaskState>,
    /// What the case ends with whatever its tasks conclude, because its evidence is missing or incomplete.
    fault: Option<Verdict>,
}

#[derive(Debug, Clone)]
enum TaskState {
    /// It is not for this case.
    Absent,
    /// Something it depends on is not done.
    Waiting,
    /// Its judges are being asked, or who gives its evaluator embeddings.
    Asking(Vec<Asking>),
    /// Others than models do something for it.
    Doing(Deed),
    /// It is done.
    Done(Ballot),
    /// It is done, and this is what each output of its evaluator came to.
    Evaluated(Ballot, Vec<Evaluation>),
}

impl TaskState {
    fn ballot(&self) -> Option<&Ballot> {
        match self {
            TaskState::Done(ballot) | TaskState::Evaluated(ballot, _) => Some(ballot),
            TaskState::Absent | TaskState::Waiting | TaskState::Asking(_) | TaskState::Doing(_) => None,
        }
    }

    fn failed(reason: impl Into<String>) -> TaskState {
        TaskState::Done(Ballot { verdict: Verdict::error(reason), output: None, said: Vec::new() })
    }
}

/// A request that may be made now.
#[derive(Debug, Clone, Copy)]
pub struct Ready<'s> {
    /// Which one it is.
    pub site: StepSite,
    /// What to ask.
    pub request: ReadyRequest<'s>,
    /// How many requests it may take.
    pub max_requests: u32,
}

/// What may be asked now, and of whom.
#[derive(Debug, Clone, Copy)]
pub enum ReadyRequest<'s> {
    /// A model.
    Model(&'s ModelRequest),
    /// Somebody else.
    Deed(&'s Deed),
}

impl From<ReadyRequest<'_>> for Request {
    fn from(request: ReadyRequest<'_>) -> Request {
        match request {
            ReadyRequest::Model(request) => Request::Model(Box::new(request.clone())),
            ReadyRequest::Deed(deed) => Request::Deed(Box::new(deed.clone())),
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
                TaskState::Done(Ballot { verdict: verdict.clone(), output: None, said: Vec::new() })
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
        self.tasks.iter().enumerate().flat_map(|(task, state)| {
            let seats = match state {
                TaskState::Asking(seats) => seats.as_slice(),
                _ => &[],
            };
            let asker = Asker::Task(TaskIx::of(task));
            let deed = match state {
                TaskState::Doing(deed) => Some(Ready {
                    site: StepSite { asker, seat: 0, turn: 0 },
                    request: ReadyRequest::Deed(deed),
                    max_requests: 1,
                }),
                _ => None,
            };
            let asked = seats.iter().enumerate().filter_map(move |(seat, asking)| {
                let (turn, request, max_requests) = asking.step()?;
                let seat = u32::try_from(seat).unwrap_or(u32::MAX);
                Some(Ready {
                    site: StepSite { asker, seat, turn },
                    request: ReadyRequest::Model(request),
                    max_requests,
                })
            });
            asked.chain(deed)
        })
    }

    /// Takes in one outcome. Outcomes of requests that are not open change nothing.
    pub fn apply(&mut self, site: StepSite, outcome: Outcome) {
        let plan = self.plan;
        let Asker::Task(ix) = site.asker else { return };
        if let Some(TaskState::Doing(_)) = self.tasks.get(ix.index()) {
            self.returned(ix, outcome);
            return;
        }
        if let Some(evaluate) = plan.tasks.get(ix.index()).and_then(|it| it.evaluate.as_ref()) {
            self.embedded(site, evaluate, outcome);
            return;
        }
        let Some(judge) = plan.tasks.get(ix.index()).and_then(|it| it.judge.as_ref()) else { return };
        let Some(TaskState::Asking(seats)) = self.tasks.get_mut(ix.index()) else { return };
        let Some(asking) = seats.get_mut(site.seat as usize) else { return };
        let evaluation = plan.tasks[ix.index()].evaluation.as_deref();
        let form = evaluation.map_or(&judge.form, |it| &it.brief(self.id.as_deref()).form);
        asking.apply(site.turn, outcome, form);
        let TaskState::Asking(seats) = &self.tasks[ix.index()] else { return };
        let ends: Option<Vec<&End>> = seats.iter().map(Asking::end).collect();
        if let Some(ends) = ends {
            let task = &plan.tasks[ix.index()];
            let outputs = self.outputs(task);
            let context = Context { base: self.base, outputs: &outputs };
            let ballot = match evaluation {
                Some(evaluation) => self.evaluated(evaluation, &ends, context),
                None => combine(&ends, task.assertion.as_ref(), judge.aggregate, context),
            };
            self.tasks[ix.index()] = TaskState::Done(ballot);
            self.settle();
        }
    }

    /// Takes in the embeddings that an evaluator compares.
    fn embedded(&mut self, site: StepSite, evaluate: &PlannedEvaluate, outcome: Outcome) {
        let Asker::Task(ix) = site.asker else { return };
        let task = &self.plan.tasks[ix.index()];
        let Some(TaskState::Asking(seats)) = self.tasks.get_mut(ix.index()) else { return };
        let [asking] = seats.as_mut_slice() else { return };
        let n_texts = asking.step().map_or(0, |(_, request, _)| request.messages.len());
        asking.apply(site.turn, outcome, &ReplyForm::Text);
        let Some(end) = asking.end().cloned() else { return };
        let outputs = self.outputs(task);
        let context = Context { base: self.base, outputs: &outputs };
        self.tasks[ix.index()] = compared(task, evaluate, &end, n_texts, context);
        self.settle();
    }

    /// What the replies of all seats come to. A seat without one leaves it undecided, as it does for any panel.
    fn evaluated(&self, evaluation: &PlannedEvaluation, ends: &[&End], context: Context<'_>) -> Ballot {
        let replies: Option<Vec<&Value>> = ends
            .iter()
            .map(|it| match it {
                End::Reply(reply) => Some(reply),
                End::Fault(_) | End::NotRun(_) => None,
            })
            .collect();
        let Some(replies) = replies else { return combine(ends, None, None, context) };
        let scale = evaluation.brief(self.id.as_deref()).brief.scale();
        let concluded = conclude(&evaluation.profile, &scale, &replies, &self.checks(evaluation));
        Ballot { verdict: concluded.verdict, output: Some(concluded.output), said: concluded.said }
    }

    /// What the checks of this case came to, in the order in which they are written.
    fn checks(&self, evaluation: &PlannedEvaluation) -> Vec<CheckSeen<'_>> {
        let seen = |ix: &TaskIx| {
            let task = &self.plan.tasks[ix.index()];
            Some(CheckSeen {
                id: &task.id,
                kind: task.check.as_ref().map_or("", Check::kind),
                description: task.description.as_deref(),
                dimensions: &task.dimensions,
                verdict: &self.ballot(*ix)?.verdict,
            })
        };
        evaluation.sees.iter().filter_map(seen).collect()
    }

    /// What a reply to a task's judges must be.
    pub fn form(&self, task: TaskIx) -> Option<&ReplyForm> {
        let task = self.plan.tasks.get(task.index())?;
        let of_case = task.evaluation.as_ref().map(|it| &it.brief(self.id.as_deref()).form);
        of_case.or_else(|| task.judge.as_ref().map(|it| &it.form))
    }

    /// Takes in what others than models did.
    fn returned(&mut self, ix: TaskIx, outcome: Outcome) {
        let task = &self.plan.tasks[ix.index()];
        let outputs = self.outputs(task);
        let context = Context { base: self.base, outputs: &outputs };
        let state = match (&task.check, &task.evaluate) {
            (Some(check), _) => {
                let judgement = match &check.rule {
                    Rule::Hook(hook) => answered(outcome).map(|it| it.judgement(hook)),
                    _ => seen(outcome).map(|it| check.decide(context.base, &it)),
                };
                TaskState::Done(match judgement {
                    Ok(judgement) => run_checked(judgement, task, context),
                    Err(verdict) => Ballot { verdict, output: None, said: Vec::new() },
                })
            }
            (None, Some(evaluate)) => called(task, evaluate, outcome, context),
            (None, None) => return,
        };
        self.tasks[ix.index()] = state;
        self.settle();
    }

    /// The verdicts in the order of the plan's tasks; `None` for those that are not done, and for those that are not for this case.
    pub fn verdicts(&self) -> impl ExactSizeIterator<Item = Option<&Verdict>> {
        self.tasks.iter().map(|it| it.ballot().map(|it| &it.verdict))
    }

    /// What a task came to, once it is done.
    pub fn ballot(&self, task: TaskIx) -> Option<&Ballot> {
        self.tasks.get(task.index()).and_then(TaskState::ballot)
    }

    /// What each output of a task's evaluator came to, once it is done and has returned something.
    pub fn evaluations(&self, task: TaskIx) -> &[Evaluation] {
        match self.tasks.get(task.index()) {
            Some(TaskState::Evaluated(_, evaluations)) => evaluations,
            _ => &[],
        }
    }

    /// The verdict of the case, once every task is done.
    pub fn verdict(&self) -> Option<CaseVerdict> {
        let judged = self.verdicts().zip(&self.plan.tasks).filter_map(|(verdict, task)| Some((verdict?, task.gate)));
        let fault = self.fault.iter().map(|it| (it, Gate::None));
        self.is_done().then(|| CaseVerdict::of(judged.chain(fault)))
    }

    /// The value that a task compared, as far as it was there; what an outcome measured, when it compares nothing.
    pub fn compared(&self, task: TaskIx) -> Option<Value> {
        let planned = self.plan.tasks.get(task.index())?;
        if planned.outcome.is_some() && planned.assertion.is_none() {
            let measured = |ballot: &&Ballot| ballot.verdict == Verdict::Measured;
            return self.ballot(task).filter(measured).and_then(|it| it.output.clone());
        }
        let path = planned.assertion.as_ref()?.path.as_ref();
        let ballot = self.ballot(task)?;
        if planned.has_output() {
            let reply = ballot.output.as_ref()?;
            return path
                .map_or(Some(reply.clone()), |path| path.find(reply).ok().map(|it| it.into_owned().into_owned()));
        }
        if matches!(ballot.verdict, Verdict::Skipped(_) | Verdict::NotRun(_)) {
            return None;
        }
        let outputs = self.outputs(planned);
        let context = Context { base: self.base, outputs: &outputs };
        path.and_then(|path| context.find(path).ok().map(|it| it.into_owned().into_owned()))
    }

    /// What a task expected, whole: what its definition says, or what its `${path}` found.
    pub fn expected(&self, task: TaskIx, comparison: &TaskComparison) -> Option<Value> {
        match &comparison.expected.as_ref()?.value {
            ExpectedValue::Literal(value) => Some(value.clone()),
            ExpectedValue::Path(path) => {
                let planned = self.plan.tasks.get(task.index())?;
                let in_reply = self.ballot(task).and_then(|it| it.output.as_ref()).filter(|_| planned.has_output());
                let in_reply = in_reply.and_then(|it| path.find(it).ok()).map(|it| it.into_owned().into_owned());
                let outputs = self.outputs(planned);
                let context = Context { base: self.base, outputs: &outputs };
                in_reply.or_else(|| context.find(path).ok().map(|it| it.into_owned().into_owned()))
            }
        }
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
        self.tasks.iter().all(|it| matches!(it, TaskState::Absent) || it.ballot().is_some())
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
            let sees = task.evaluation.as_ref().map(|it| it.sees.as_slice()).unwrap_or_default();
            let is_settled = |it: &TaskIx| !self.is_open(*it);
            if task.depends_on.iter().all(|it| self.tasks[it.index()].ballot().is_some()) && sees.iter().all(is_settled)
            {
                self.tasks[ix.index()] = self.begun(task);
            }
        }
    }

    /// Whether a task is for this case and not done.
    fn is_open(&self, task: TaskIx) -> bool {
        let state = &self.tasks[task.index()];
        !matches!(state, TaskState::Absent) && state.ballot().is_none()
    }

    fn begun(&self, task: &PlannedTask) -> TaskState {
        if let Some(verdict) = self.held_back(task) {
            return TaskState::Done(Ballot { verdict, output: None, said: Vec::new() });
        }
        let outputs = self.outputs(task);
        let context = Context { base: self.base, outputs: &outputs };
        if let Some(check) = &task.outcome {
            return TaskState::Done(checked(check, task, context));
        }
        if let Some(evaluate) = &task.evaluate {
            return match arguments(&evaluate.bindings, context) {
                Ok(arguments) => evaluated_or_called(task, evaluate, arguments, context),
                Err(reason) => TaskState::failed(reason),
            };
        }
        if let Some(check) = &task.check {
            return match self.deed_of(check, task) {
                Some(Ok(deed)) => TaskState::Doing(deed),
                Some(Err(judgement)) => TaskState::Done(run_checked(judgement, task, context)),
                None => TaskState::Done(run_checked(check.decide(self.base, &[]), task, context)),
            };
        }
        if let (Some(evaluation), Some(judge)) = (&task.evaluation, &task.judge) {
            let requests = evaluation.requests(self.id.as_deref(), self.base, &self.checks(evaluation));
            return TaskState::Asking(requests.into_iter().map(|it| Asking::new(it, judge.max_retries)).collect());
        }
        match (&task.judge, &task.assertion) {
            (Some(judge), _) => match requests(judge, context) {
                Ok(requests) => {
                    TaskState::Asking(requests.into_iter().map(|it| Asking::new(it, judge.max_retries)).collect())
                }
                Err(reason) => TaskState::failed(reason),
            },
            (None, Some(assertion)) => {
                let judgement = match truth_of_label(self.plan, task, context) {
                    Some(truth) => assertion.judge_truth(truth, context),
                    None => assertion.judge(context),
                };
                TaskState::Done(Ballot { verdict: judgement.into(), output: None, said: Vec::new() })
            }
            (None, None) => TaskState::failed("the task compares nothing"),
        }
    }

    /// What others than models have to do before a check can be decided; or what it comes to when they may not.
    fn deed_of(&self, check: &Check, task: &PlannedTask) -> Option<Result<Deed, Judgement>> {
        if let Rule::Hook(hook) = &check.rule {
            let (hook, check_id, description) = (hook.clone(), task.id.clone(), task.description.clone());
            let deed = Deed::Hook { hook, check_id, description };
            return Some(if self.plan.allows_hooks { Ok(deed) } else { Err(not_allowed()) });
        }
        let looks = check.looks(self.base);
        (!looks.is_empty()).then_some(Ok(Deed::Look { looks }))
    }

    /// Why a task may not run, if it may not: the first dependency, in the author's order, that stands in its way.
    fn held_back(&self, task: &PlannedTask) -> Option<Verdict> {
        let mut stopped = None;
        for ix in &task.depends_on {
            let ballot = self.ballot(*ix)?;
            match &ballot.verdict {
                Verdict::Skipped(reason) => return Some(Verdict::Skipped(*reason)),
                Verdict::Error(_) => return Some(Verdict::Skipped(SkipReason::Errored(*ix))),
                Verdict::Failed(_) if self.plan.tasks[ix.index()].gate != Gate::None => {
                    return Some(Verdict::Skipped(SkipReason::GateFailed(*ix)));
                }
                Verdict::NotRun(reason) => stopped = stopped.or(Some(Verdict::NotRun(*reason))),
                Verdict::Passed | Verdict::Failed(_) | Verdict::Measured => {}
            }
        }
        stopped.or_else(|| self.held_back_by_checks(task.evaluation.as_deref()?))
    }

    /// Why an evaluation may not run. Checks that failed or could not be decided are what judges have to see; only a gate among them stands in the way.
    fn held_back_by_checks(&self, evaluation: &PlannedEvaluation) -> Option<Verdict> {
        let mut stopped = None;
        for ix in &evaluation.sees {
            let Some(ballot) = self.ballot(*ix) else { continue };
            let is_gate = self.plan.tasks[ix.index()].gate != Gate::None;
            match &ballot.verdict {
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
            let ballot = self.ballot(*ix)?;
            let value = match (&ballot.output, &ballot.verdict) {
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

/// The id of a case, where somebody looks at it.
fn id_for(plan: &Plan, case: &CaseName<'_>) -> Option<String> {
    plan.tasks.iter().any(|it| it.evaluation.is_some()).then(|| case.id.to_owned())
}

/// The first request to each seat, or why the prompt cannot be filled.
fn requests(judge: &PlannedJudge, context: Context<'_>) -> Result<Vec<ModelRequest>, String> {
    let mut messages = Vec::with_capacity(2);
    if let Some(system) = &judge.system {
        messages.push(Message::System(system.bound(context)?));
    }
    messages.push(Message::User(judge.prompt.bound(context)?));
    let messages = Messages::from(messages);
    let request = |model: &String, repeat| ModelRequest {
        model: model.clone(),
        messages: messages.clone(),
        output: judge.output.clone(),
        tools: Vec::new(),
        tool_choice: ToolChoice::Auto,
        repeat,
    };
    Ok(judge
        .models
        .iter()
        .flat_map(|model| (0..judge.repeat).map(move |repeat| (model, repeat)))
        .map(|(model, repeat)| request(model, repeat))
        .collect())
}
