//! One case on its way through its task graph: what may be asked now, and what follows from what came back.
//!
//! No clock, no IO. Any order in which outcomes arrive gives the same verdicts, the ones that all outcomes together give.

use crate::effect::{Asker, Message, Messages, ModelRequest, Outcome, StepSite, ToolChoice};
use crate::judge::{Asking, Ballot, End, combine};
use crate::outcome::Check;
use crate::plan::{CaseName, Plan, PlannedJudge, PlannedTask, TaskIx};
use crate::suite::{ExpectedValue, Gate, TaskComparison};
use crate::value::{Context, Val, Value, shown};
use crate::verdict::{CaseVerdict, Counts, SkipReason, Verdict};

/// A case and how far it has come.
#[derive(Debug, Clone)]
pub struct CaseState<'p> {
    plan: &'p Plan,
    base: &'p Val<'p>,
    tasks: Vec<TaskState>,
}

#[derive(Debug, Clone)]
enum TaskState {
    /// It is not for this case.
    Absent,
    /// Something it depends on is not done.
    Waiting,
    /// Its judges are being asked.
    Asking(Vec<Asking>),
    /// It is done.
    Done(Ballot),
}

/// A request that may be made now.
#[derive(Debug, Clone, Copy)]
pub struct Ready<'s> {
    /// Which one it is.
    pub site: StepSite,
    /// What to ask.
    pub request: &'s ModelRequest,
    /// How many requests it may take.
    pub max_requests: u32,
}

static TRUE: Value = Val::Bool(true);
static FALSE: Value = Val::Bool(false);
static NOTHING: Value = Val::Null;

impl<'p> CaseState<'p> {
    /// A case over this evidence; everything that needs no request is settled at once.
    pub fn start(plan: &'p Plan, base: &'p Val<'p>) -> CaseState<'p> {
        let mut state = CaseState { plan, base, tasks: vec![TaskState::Waiting; plan.tasks.len()] };
        state.settle();
        state
    }

    /// Like [`CaseState::start`], without the tasks that do not apply to the case.
    pub fn start_for(plan: &'p Plan, base: &'p Val<'p>, case: &CaseName<'_>) -> CaseState<'p> {
        let mut state = CaseState { plan, base, tasks: waiting_for(plan, case) };
        state.settle();
        state
    }

    /// Like [`CaseState::start_for`], over the evidence of a conversation that was cut short: what does not look at how it ended could only
    /// be misled by what is missing, and ends with `verdict`.
    pub fn start_cut_short(plan: &'p Plan, base: &'p Val<'p>, case: &CaseName<'_>, verdict: &Verdict) -> CaseState<'p> {
        let mut state = CaseState { plan, base, tasks: waiting_for(plan, case) };
        for (task, state) in plan.tasks.iter().zip(&mut state.tasks) {
            if task.depends_on.is_empty() && !task.sees_the_end && matches!(state, TaskState::Waiting) {
                *state = TaskState::Done(Ballot { verdict: verdict.clone(), output: None, said: Vec::new() });
            }
        }
        state.settle();
        state
    }

    /// A case whose subject gave no evidence: what its tasks would have read is not there. Those that wait for nothing end with
    /// `verdict`; the others follow from them.
    pub fn without_evidence(plan: &'p Plan, case: &CaseName<'_>, verdict: &Verdict) -> CaseState<'p> {
        let mut state = CaseState { plan, base: &NOTHING, tasks: waiting_for(plan, case) };
        for (task, state) in plan.tasks.iter().zip(&mut state.tasks) {
            if task.depends_on.is_empty() && matches!(state, TaskState::Waiting) {
                *state = TaskState::Done(Ballot { verdict: verdict.clone(), output: None, said: Vec::new() });
            }
        }
        state.settle();
        state
    }

    /// The requests that may be made now, given every outcome so far.
    pub fn steps(&self) -> impl Iterator<Item = Ready<'_>> {
        self.tasks.iter().enumerate().flat_map(|(task, state)| {
            let seats = match state {
                TaskState::Asking(seats) => seats.as_slice(),
                _ => &[],
            };
            seats.iter().enumerate().filter_map(move |(seat, asking)| {
                let (turn, request, max_requests) = asking.step()?;
                let seat = u32::try_from(seat).unwrap_or(u32::MAX);
                let asker = Asker::Task(TaskIx::of(task));
                Some(Ready { site: StepSite { asker, seat, turn }, request, max_requests })
            })
        })
    }

    /// Takes in one outcome. Outcomes of requests that are not open change nothing.
    pub fn apply(&mut self, site: StepSite, outcome: Outcome) {
        let plan = self.plan;
        let Asker::Task(ix) = site.asker else { return };
        let Some(judge) = plan.tasks.get(ix.index()).and_then(|it| it.judge.as_ref()) else { return };
        let Some(TaskState::Asking(seats)) = self.tasks.get_mut(ix.index()) else { return };
        let Some(asking) = seats.get_mut(site.seat as usize) else { return };
        asking.apply(site.turn, outcome, &judge.form);
        let TaskState::Asking(seats) = &self.tasks[ix.index()] else { return };
        let ends: Option<Vec<&End>> = seats.iter().map(Asking::end).collect();
        if let Some(ends) = ends {
            let task = &plan.tasks[ix.index()];
            let outputs = self.outputs(task);
            let context = Context { base: self.base, outputs: &outputs };
            let ballot = combine(&ends, task.assertion.as_ref(), judge.aggregate, context);
            self.tasks[ix.index()] = TaskState::Done(ballot);
            self.settle();
        }
    }

    /// The verdicts in the order of the plan's tasks; `None` for those that are not done, and for those that are not for this case.
    pub fn verdicts(&self) -> impl ExactSizeIterator<Item = Option<&Verdict>> {
        self.tasks.iter().map(|it| self.ballot_of(it).map(|it| &it.verdict))
    }

    /// What a task came to, once it is done.
    pub fn ballot(&self, task: TaskIx) -> Option<&Ballot> {
        self.tasks.get(task.index()).and_then(|it| self.ballot_of(it))
    }

    /// The verdict of the case, once every task is done.
    pub fn verdict(&self) -> Option<CaseVerdict> {
        let judged = self.verdicts().zip(&self.plan.tasks).filter_map(|(verdict, task)| Some((verdict?, task.gate)));
        self.is_done().then(|| CaseVerdict::of(judged))
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
        self.tasks.iter().all(|it| matches!(it, TaskState::Done(_) | TaskState::Absent))
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

    fn ballot_of<'s>(&self, state: &'s TaskState) -> Option<&'s Ballot> {
        match state {
            TaskState::Done(ballot) => Some(ballot),
            _ => None,
        }
    }

    /// Runs every task whose dependencies are done. Stages are in order, so one pass reaches everything.
    fn settle(&mut self) {
        let plan = self.plan;
        for ix in plan.stages.iter().flatten() {
            if !matches!(self.tasks[ix.index()], TaskState::Waiting) {
                continue;
            }
            let task = &plan.tasks[ix.index()];
            if task.depends_on.iter().all(|it| matches!(self.tasks[it.index()], TaskState::Done(_))) {
                self.tasks[ix.index()] = self.begun(task);
            }
        }
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
        match (&task.judge, &task.assertion) {
            (Some(judge), _) => match requests(judge, context) {
                Ok(requests) => {
                    TaskState::Asking(requests.into_iter().map(|it| Asking::new(it, judge.max_retries)).collect())
                }
                Err(reason) => {
                    TaskState::Done(Ballot { verdict: Verdict::error(reason), output: None, said: Vec::new() })
                }
            },
            (None, Some(assertion)) => {
                TaskState::Done(Ballot { verdict: assertion.judge(context).into(), output: None, said: Vec::new() })
            }
            (None, None) => {
                let verdict = Verdict::error("the task compares nothing");
                TaskState::Done(Ballot { verdict, output: None, said: Vec::new() })
            }
        }
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

/// Every task that is for a case, at its beginning.
fn waiting_for(plan: &Plan, case: &CaseName<'_>) -> Vec<TaskState> {
    let state = |task: &PlannedTask| if task.on.has(case) { TaskState::Waiting } else { TaskState::Absent };
    plan.tasks.iter().map(state).collect()
}

/// What a check of a whole scenario comes to, and what follows.
fn checked(check: &Check, task: &PlannedTask, context: Context<'_>) -> Ballot {
    let value = match check.evaluate(context.base) {
        Ok(value) => value,
        Err(error) => return Ballot { verdict: Verdict::error(error.to_string()), output: None, said: Vec::new() },
    };
    let verdict = match (&task.assertion, &value) {
        (Some(assertion), value) => assertion.judge_reply(value, context).into(),
        (None, Val::Bool(true)) => Verdict::Passed,
        (None, Val::Bool(false)) => Verdict::Failed(Box::new(check.trace(context.base).mismatch())),
        (None, other) if task.gate != Gate::None => {
            Verdict::error(format!("{check} gives {}, and a gate needs true or false", shown(other)))
        }
        (None, _) => Verdict::Measured,
    };
    Ballot { verdict, output: Some(value), said: Vec::new() }
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
