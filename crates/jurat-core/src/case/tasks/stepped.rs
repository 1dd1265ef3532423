//! Tasks that use a judge file: its inputs are found in the case, its questions asked one after the other, and its conclusion drawn from all replies.
//!
//! The slots of such a task are those of the first question to each judge, then those of the second, and so on. A question is asked once every judge has
//! answered those before it, or at once when it looks at none of them.

use jurat_compare::Assertion;
use jurat_format::value::{Context, Map, Val, Value};

use super::judged::ends;
use super::task::TaskState;
use crate::effect::{Fault, FaultKind, MOST_LOGPROBS, Message, ModelRequest, Outcome, Role, StepSite};
use crate::evaluator::binding;
use crate::judge::{Asking, End, combine};
use crate::plan::{PlannedJudge, PlannedStep, PlannedUse};

/// A judge that is asked step by step.
#[derive(Clone, Copy)]
pub(super) struct Stepped<'t> {
    pub(super) judge: &'t PlannedJudge,
    pub(super) used: &'t PlannedUse,
    pub(super) then: Option<&'t Assertion>,
}

impl Stepped<'_> {
    pub(super) fn begin(self, context: Context<'_>) -> TaskState {
        self.advanced(Vec::new(), context)
    }

    pub(super) fn apply(
        self,
        mut slots: Vec<Asking>,
        (site, outcome): (StepSite, Outcome),
        context: Context<'_>,
    ) -> TaskState {
        let (judge, of_step) = (site.slot % self.judge.n_judges(), site.slot / self.judge.n_judges());
        let Some(step) = self.used.steps.get(of_step as usize) else { return TaskState::Asking(slots) };
        let names = self.names(&slots, judge, context);
        if let Some(asking) = slots.get_mut(site.slot as usize) {
            let read_by = (&step.form, self.judge.soft(site.slot));
            asking.apply_scored(site.turn, outcome, read_by, |reply| valid(step, names, reply));
        }
        self.advanced(slots, context)
    }

    /// The state after these slots: further questions, or the conclusion.
    fn advanced(self, mut slots: Vec<Asking>, context: Context<'_>) -> TaskState {
        loop {
            let n_judges = self.judge.n_judges() as usize;
            let n_begun = slots.len() / n_judges;
            let ended = ends(&slots);
            let is_faulty = ended.as_ref().is_some_and(|it| it.iter().any(|end| !matches!(end, End::Reply(_))));
            let next = self.used.steps.get(n_begun).filter(|_| !is_faulty);
            match (next, &ended) {
                (None, Some(ends)) => return self.concluded(ends, context),
                (Some(next), None) if !self.is_independent(next, &slots) => return TaskState::Asking(slots),
                (None, None) => return TaskState::Asking(slots),
                (Some(next), _) => match self.asked(next, &slots, context) {
                    Ok(more) => slots.extend(more),
                    Err(reason) => return TaskState::failed(reason),
                },
            }
        }
    }

    /// Whether a question looks at no reply that is still missing.
    fn is_independent(self, next: &PlannedStep, slots: &[Asking]) -> bool {
        let n_judges = self.judge.n_judges() as usize;
        let open = self.used.steps.iter().zip(slots.chunks(n_judges)).filter(|(_, it)| ends(it).is_none());
        !open.into_iter().any(|(step, _)| next.reads(&step.id))
    }

    /// A question to each judge, with what that judge has answered so far.
    fn asked(self, step: &PlannedStep, slots: &[Asking], context: Context<'_>) -> Result<Vec<Asking>, String> {
        let judges = self.judge.models.iter().flat_map(|model| (0..self.judge.repeat).map(move |it| (model, it)));
        let mut asked = Vec::new();
        for (ix, (model, repeat)) in (0..).zip(judges) {
            let names = self.names(slots, ix, context)?;
            let is_asked = step.when.as_ref().map_or(Ok(true), |it| it.holds(&names)).map_err(|it| it.to_string())?;
            let is_last = self.used.steps.last().is_some_and(|it| std::ptr::eq(it, step));
            let logprobs = self.judge.soft.as_ref().filter(|_| is_last).map(|_| MOST_LOGPROBS);
            let request = ModelRequest { logprobs, ..request(step, model, repeat, &names)? };
            asked.push(match is_asked {
                true => Asking::new(request, self.judge.max_retries),
                false => Asking::ended(Val::Null, request),
            });
        }
        Ok(asked)
    }

    /// What prompts and expressions see: the inputs, and the replies of one judge so far.
    fn names(self, slots: &[Asking], judge: u32, context: Context<'_>) -> Result<Value, String> {
        let mut names = Map::with_capacity(self.used.arguments.len() + self.used.steps.len());
        for argument in &self.used.arguments {
            let found = binding::arguments(std::slice::from_ref(&argument.binding), context)?;
            let found = found.get(&argument.binding.parameter);
            if let (Some(kind), Some(value)) = (argument.kind, found)
                && !kind.fits(value.kind())
            {
                let (name, wanted, found) = (&argument.binding.parameter, kind.name(), value.kind().phrase());
                return Err(format!("`{name}` must be a {wanted}, and is {found}"));
            }
            let value = found.or(argument.default.as_ref()).cloned().unwrap_or(Val::Null);
            names.insert(argument.binding.parameter.clone().into(), value);
        }
        let own = slots.iter().skip(judge as usize).step_by(self.judge.n_judges() as usize);
        for (step, asking) in self.used.steps.iter().zip(own) {
            if let Some(End::Reply(reply)) = asking.end() {
                names.insert(step.id.clone().into(), reply.clone());
            }
        }
        Ok(Val::Map(names))
    }

    /// The result of all replies: what each judge concludes, then what several of them come to.
    fn concluded(self, ends: &[&End], context: Context<'_>) -> TaskState {
        let n_judges = self.judge.n_judges() as usize;
        let each: Vec<End> = (0..n_judges).map(|it| self.conclusion(&ends[it..], context)).collect();
        let each: Vec<&End> = each.iter().collect();
        TaskState::Done(combine(&each, self.then, self.judge.vote(), context))
    }

    /// What one judge concludes: its last reply with the computed values in it, or the first of its questions that has no reply. Its ends are every
    /// n-th, from the first.
    fn conclusion(self, ends: &[&End], context: Context<'_>) -> End {
        let mut names = match self.names(&[], 0, context) {
            Ok(Val::Map(names)) => names,
            Ok(_) => Map::default(),
            Err(reason) => return fault(reason),
        };
        let mut last = Val::Null;
        for (step, end) in self.used.steps.iter().zip(ends.iter().step_by(self.judge.n_judges() as usize)) {
            match end {
                End::Reply(reply) => last = reply.clone(),
                other => return (*other).clone(),
            }
            names.insert(step.id.clone().into(), last.clone());
        }
        self.computed(last, Val::Map(names)).map_or_else(fault, End::Reply)
    }

    fn computed(self, last: Value, names: Value) -> Result<Value, String> {
        if self.used.conclusions.is_empty() {
            return Ok(last);
        }
        let mut result = if let Val::Map(reply) = last { reply } else { Map::default() };
        for (name, expression) in &self.used.conclusions {
            let value = expression.evaluate(&names).map_err(|it| format!("`{name}` cannot be concluded: {it}"))?;
            result.insert(name.clone().into(), value);
        }
        Ok(Val::Map(result))
    }
}

fn fault(reason: String) -> End {
    End::Fault(Fault::new(FaultKind::Judging, reason, 0))
}

/// What is wrong with a reply beyond its form.
fn valid(step: &PlannedStep, names: Result<Value, String>, reply: &Value) -> Result<(), String> {
    let Some((expression, say)) = &step.valid else { return Ok(()) };
    let Val::Map(mut names) = names? else { return Ok(()) };
    names.insert(step.id.clone().into(), reply.clone());
    match expression.holds(&Val::Map(names)) {
        Ok(true) => Ok(()),
        Ok(false) => Err(say.clone()),
        Err(error) => Err(error.to_string()),
    }
}

fn request(step: &PlannedStep, model: &Role, repeat: u32, names: &Value) -> Result<ModelRequest, String> {
    let context = Context::of(names);
    let mut messages = Vec::with_capacity(2);
    if let Some(system) = &step.system {
        messages.push(Message::System(system.bound(context)?));
    }
    messages.push(Message::User(step.prompt.bound(context)?));
    Ok(ModelRequest { output: Some(step.output.clone()), repeat, ..ModelRequest::new(model.clone(), messages) })
}
