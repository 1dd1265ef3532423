//! What tasks do, by their kind, with everything it takes to do it.

use std::sync::Arc;

use jurat_compare::expression::Expression;
use jurat_format::value::{Context, Map, Val, Value};

use super::evaluations::{self, PlannedEvaluation};
use super::{TaskIx, replies};

use crate::chat::Chat;
use crate::check::Check as RunCheck;
use crate::effect::{Action, Answer, Outcome, Role, Schema};
use crate::evaluator::binding::{self, Binding};
use crate::evaluator::builtin::Builtin;
use crate::evaluator::{self, OutputConfig, transport};
use crate::judge::{ReplyForm, SoftScore, Vote};
use crate::outcome::Check;
use crate::output::CompiledSchema;
use crate::prompt::Prompt;
use crate::suite::{
    Aggregate, Evaluate, Evaluator, EvaluatorKind, Group, GroupRule, Judge, JudgeArgument, JudgeStep, Suite, Task,
    TaskKind, UsedJudge,
};
use crate::transform::Transform;
use crate::verdict::Verdict;

/// What a task does.
#[derive(Debug, Clone)]
pub enum Work {
    /// It compares a value of the evidence.
    Assert,
    /// It asks models about the evidence.
    Judge(Box<PlannedJudge>),
    /// It checks a whole scenario.
    Outcome(Box<Check>),
    /// It checks the run of an agent.
    Check(Box<RunCheck>),
    /// It runs an evaluator.
    Evaluate(Box<PlannedEvaluate>),
    /// It evaluates an expression over the evidence.
    Cel(Arc<Expression>),
    /// It joins the verdicts of other tasks.
    Group(Box<PlannedGroup>),
    /// It has judges score the run of an agent, dimension by dimension.
    Evaluation(Arc<PlannedEvaluation>),
}

impl Work {
    /// The work of a task. `None` when what it names is not in the suite.
    pub(super) fn of(suite: &Suite, task: &Task, sees: &[TaskIx], need: Option<&replies::Need<'_>>) -> Option<Work> {
        Some(match &task.kind {
            TaskKind::Assert => Work::Assert,
            TaskKind::Judge(judge) => {
                let reads_field = task.comparison.as_ref().is_some_and(|it| it.path.is_some());
                let form = if reads_field { ReplyForm::Json } else { need.map_or(ReplyForm::Text, replies::form) };
                Work::Judge(Box::new(planned_judge(judge, form)))
            }
            TaskKind::Outcome(check) => Work::Outcome(check.clone()),
            TaskKind::Check(check) => Work::Check(check.clone()),
            TaskKind::Evaluate(evaluate) => Work::Evaluate(Box::new(planned_evaluate(suite, evaluate)?)),
            TaskKind::Cel(cel) => Work::Cel(Arc::clone(&cel.expression)),
            TaskKind::Group(group) => Work::Group(Box::new(PlannedGroup::of(group, sees))),
            TaskKind::Evaluation { .. } => Work::Evaluation(evaluations::planned(suite, sees)?),
        })
    }

    /// What a reply of its judges must be, for a case and a slot.
    pub fn reply_form(&self, case: Option<&str>, slot: u32) -> Option<&ReplyForm> {
        match self {
            Work::Judge(judge) => Some(judge.step(slot).map_or(&judge.form, |it| &it.form)),
            Work::Evaluation(evaluation) => Some(&evaluation.brief(case).form),
            Work::Assert | Work::Outcome(_) | Work::Check(_) | Work::Evaluate(_) | Work::Cel(_) | Work::Group(_) => {
                None
            }
        }
    }

    /// Whether judging ends with an error at this answer of a slot, when this number of requests could be made for it.
    pub fn ends_in_error(&self, (case, slot): (Option<&str>, u32), answer: &Answer, max_requests: u32) -> bool {
        // Whether the last reply meets a condition beyond its form is not known here, so it is asked for again.
        let step = self.judge().filter(|it| it.max_retries > 0).and_then(|it| it.step(slot));
        let may_be_invalid = step.is_some_and(|it| it.valid.is_some()) && max_requests <= answer.n_requests.max(1);
        let soft = self.judge().and_then(|it| it.soft(slot));
        let form = self.reply_form(case, slot);
        let without_score = |soft: &SoftScore, form: &ReplyForm| {
            form.read_answer(answer).is_ok_and(|reply| soft.scored(answer, form, reply).is_err())
        };
        may_be_invalid
            || soft.zip(form).is_some_and(|(soft, form)| without_score(soft, form))
            || form.is_some_and(|it| it.ends_in_error(answer, max_requests))
    }

    /// The models that it asks, and how.
    pub fn judge(&self) -> Option<&PlannedJudge> {
        match self {
            Work::Judge(judge) => Some(judge),
            Work::Evaluation(evaluation) => Some(&evaluation.judge),
            Work::Assert | Work::Outcome(_) | Work::Check(_) | Work::Evaluate(_) | Work::Cel(_) | Work::Group(_) => {
                None
            }
        }
    }

    pub fn evaluate(&self) -> Option<&PlannedEvaluate> {
        if let Work::Evaluate(evaluate) = self { Some(evaluate) } else { None }
    }

    pub fn evaluation(&self) -> Option<&PlannedEvaluation> {
        if let Work::Evaluation(evaluation) = self { Some(evaluation) } else { None }
    }

    pub fn outcome(&self) -> Option<&Check> {
        if let Work::Outcome(check) = self { Some(check) } else { None }
    }

    pub fn check(&self) -> Option<&RunCheck> {
        if let Work::Check(check) = self { Some(check) } else { None }
    }

    /// The checks that it waits for and looks at, beside its dependencies.
    pub fn sees(&self) -> &[TaskIx] {
        match self {
            Work::Group(group) => &group.ixs,
            _ => self.evaluation().map_or(&[], |it| &it.sees),
        }
    }

    /// Whether it takes a request of any kind.
    pub fn asks(&self) -> bool {
        match self {
            Work::Assert | Work::Outcome(_) | Work::Cel(_) | Work::Group(_) => false,
            Work::Judge(_) | Work::Evaluation(_) => true,
            Work::Check(check) => check.may_look(),
            Work::Evaluate(evaluate) => {
                matches!(evaluate.runs, Runs::Code(_) | Runs::Function(_)) || self.embedder().is_some()
            }
        }
    }

    /// Whether it asks a model.
    pub fn asks_models(&self) -> bool {
        self.judge().is_some() || self.embedder().is_some()
    }

    /// The most calls that it makes for one case.
    pub fn max_calls(&self) -> u64 {
        let of_embedder = self.embedder().map_or(0, |_| u64::from(EMBEDDING_RETRIES) + 1);
        let of_judge = |it: &PlannedJudge| it.max_calls_per_question().saturating_mul(u64::from(it.n_steps()));
        self.judge().map_or(of_embedder, of_judge)
    }

    /// The role, or `provider/model`, that gives it embeddings.
    pub fn embedder(&self) -> Option<&str> {
        match &self.evaluate()?.runs {
            Runs::Builtin(builtin) => builtin.embedder(),
            Runs::Code(_) | Runs::Function(_) => None,
        }
    }

    /// Whether it has a value of its own, beside its verdict.
    pub fn has_output(&self) -> bool {
        !matches!(self, Work::Assert)
    }
}

/// A group with its members found.
#[derive(Debug, Clone)]
pub struct PlannedGroup {
    /// The members, and what each counts.
    pub members: Vec<(TaskIx, f64)>,
    pub rule: GroupRule,
    /// The members alone.
    ixs: Vec<TaskIx>,
}

impl PlannedGroup {
    fn of(group: &Group, ixs: &[TaskIx]) -> PlannedGroup {
        let members = ixs.iter().copied().zip(group.members.iter().map(|it| it.weight)).collect();
        PlannedGroup { members, rule: group.rule, ixs: ixs.to_vec() }
    }
}

/// An evaluator with everything it takes to run it.
#[derive(Debug, Clone)]
pub struct PlannedEvaluate {
    pub name: Arc<str>,
    pub runs: Runs,
    /// What it puts out; empty when that may be anything.
    pub outputs: Vec<OutputConfig>,
    /// Whether a boolean that it returns is the verdict of a task that compares nothing.
    pub judges: bool,
    /// Where its arguments come from.
    pub bindings: Vec<Binding>,
}

/// How many more requests it may take to get embeddings.
pub const EMBEDDING_RETRIES: u32 = 3;

#[derive(Debug, Clone)]
pub enum Runs {
    /// Code, somewhere else.
    Code(Arc<evaluator::Code>),
    /// A function of the program that runs the suite.
    Function(Arc<evaluator::HostFunction>),
    /// A built-in: at once, or when a model has given what it compares.
    Builtin(Box<Builtin>),
}

/// A judge with everything it takes to ask it.
#[derive(Debug, Clone)]
pub struct PlannedJudge {
    pub models: Vec<Role>,
    pub system: Option<Prompt>,
    pub prompt: Chat,
    /// The JSON Schema of the reply.
    pub output: Option<Schema>,
    /// What a reply must be to count as one.
    pub form: ReplyForm,
    /// How many more requests one judgement may take.
    pub max_retries: u32,
    /// How often each model is asked.
    pub repeat: u32,
    /// How several replies become one.
    pub aggregate: Aggregate,
    /// The score from the probabilities of labels that is added to the reply, the last one where there are several.
    pub soft: Option<SoftScore>,
    /// The judge file that is used: what it takes, asks and concludes.
    pub used: Option<Arc<PlannedUse>>,
}

/// A judge file with everything it takes to ask its questions.
#[derive(Debug, Clone)]
pub struct PlannedUse {
    /// Where its inputs come from.
    pub arguments: Vec<JudgeArgument>,
    pub steps: Vec<PlannedStep>,
    /// What it adds to the last reply, by name.
    pub conclusions: Vec<(String, Arc<Expression>)>,
}

/// One question of a judge file.
#[derive(Debug, Clone)]
pub struct PlannedStep {
    /// The name of its reply.
    pub id: String,
    pub system: Option<Prompt>,
    pub prompt: Prompt,
    pub output: Schema,
    pub form: ReplyForm,
    pub when: Option<Arc<Expression>>,
    pub valid: Option<(Arc<Expression>, String)>,
}

impl PlannedJudge {
    /// The most calls that one question makes for one case.
    pub fn max_calls_per_question(&self) -> u64 {
        let slots = self.models.len() as u64 * u64::from(self.repeat);
        slots.saturating_mul(u64::from(self.max_retries) + 1)
    }

    /// The number of judges: each model as often as it is asked.
    pub fn n_judges(&self) -> u32 {
        (self.models.len() as u32).saturating_mul(self.repeat).max(1)
    }

    /// The questions to each judge; one, unless the judge file that is used has several.
    pub fn n_steps(&self) -> u32 {
        self.used.as_ref().map_or(1, |it| it.steps.len() as u32)
    }

    /// The question of a slot, where a judge file is used: its slots are those of the first question to each judge, then those of the second.
    pub fn step(&self, slot: u32) -> Option<&PlannedStep> {
        self.used.as_ref()?.steps.get((slot / self.n_judges()) as usize)
    }

    /// The soft score of a slot: that of the last question.
    pub fn soft(&self, slot: u32) -> Option<&SoftScore> {
        self.soft.as_ref().filter(|_| slot / self.n_judges() + 1 == self.n_steps())
    }

    /// How the replies of all judges become one.
    pub fn vote(&self) -> Vote<'_> {
        Vote { aggregate: self.aggregate, soft: self.soft.as_ref() }
    }

    /// The prompts of all questions.
    pub fn prompts(&self) -> Vec<&Prompt> {
        match &self.used {
            Some(used) => used.steps.iter().flat_map(|it| it.system.iter().chain([&it.prompt])).collect(),
            None => self.system.iter().chain(self.prompt.prompts()).collect(),
        }
    }
}

impl PlannedStep {
    /// Whether it looks at the reply of a step.
    pub fn reads(&self, id: &str) -> bool {
        let holes = self.system.iter().chain([&self.prompt]).flat_map(Prompt::holes);
        let expressions = self.when.iter().chain(self.valid.iter().map(|it| &it.0));
        holes.into_iter().any(|it| it.path.root() == Some(id))
            || expressions.flat_map(|it| it.names()).any(|it| it == id)
    }
}

fn planned_use(used: &UsedJudge) -> PlannedUse {
    let step = |it: &JudgeStep| PlannedStep {
        id: it.id.clone(),
        system: it.system.as_ref().map(|it| it.prompt.clone()),
        prompt: it.prompt.prompt.clone(),
        output: Schema::from(it.output.schema.clone()),
        form: CompiledSchema::compile(&it.output.schema).map_or(ReplyForm::Json, |it| ReplyForm::Schema(Box::new(it))),
        when: it.when.clone(),
        valid: it.valid.clone(),
    };
    PlannedUse {
        arguments: used.arguments.clone(),
        steps: used.file.steps.iter().map(step).collect(),
        conclusions: used.file.conclusions.clone(),
    }
}

/// `otherwise` is what a reply must be where no `output` says so.
fn planned_judge(judge: &Judge, otherwise: ReplyForm) -> PlannedJudge {
    let named = judge.panel.iter().chain(judge.model.iter().filter(|_| judge.panel.is_empty()));
    let mut models: Vec<Role> = named.map(|it| it.value.as_str().into()).collect();
    if models.is_empty() {
        models.push("judge".into());
    }
    let schema = judge.output.as_ref().and_then(|it| CompiledSchema::compile(&it.schema).ok());
    let form = schema.map_or(otherwise, |it| ReplyForm::Schema(Box::new(it)));
    PlannedJudge {
        models,
        system: judge.system.as_ref().map(|it| it.prompt.clone()),
        prompt: judge.prompt.chat.clone(),
        output: judge.output.as_ref().map(|it| Schema::from(it.schema.clone())),
        form,
        max_retries: judge.max_retries,
        repeat: judge.repeat,
        aggregate: judge.aggregate,
        soft: judge.soft.as_ref().map(|it| it.value.clone()),
        used: judge.used.as_ref().map(|it| Arc::new(planned_use(it))),
    }
}

/// What is done to a value before it is judged.
#[derive(Debug, Clone)]
pub struct PlannedTransform {
    transform: Transform,
    /// The function that makes the value, where one does.
    pub call: Option<PlannedEvaluate>,
}

/// What a transform gives.
#[derive(Debug)]
pub enum Transformed {
    Value(Value),
    /// A function has to be called for it.
    Call(Action),
}

impl PlannedTransform {
    /// `None` when it names an evaluator that is not in the suite.
    pub(super) fn of(suite: &Suite, transform: &Transform) -> Option<PlannedTransform> {
        let call = match transform.evaluator() {
            None => None,
            Some(name) => {
                let evaluator = suite.evaluators.iter().find(|it| it.name.value == name.value)?;
                let bindings = binding::bindings(evaluator.signature(), &[]);
                Some(planned(evaluator, bindings))
            }
        };
        Some(PlannedTransform { transform: transform.clone(), call })
    }

    /// What a value becomes, or what has to be called for it. A function sees the value as `output`, and the rest of the context.
    pub fn begin(&self, value: &Val<'_>, context: Context<'_>) -> Result<Transformed, String> {
        let Some(PlannedEvaluate { name, runs, bindings, .. }) = &self.call else {
            return self.transform.apply(value).map(Transformed::Value);
        };
        let members = context.base.as_map().into_iter().flat_map(Map::iter).map(|(key, it)| (key, it.borrowed()));
        let base = Val::Map(members.chain([("output", value.borrowed())]).collect::<Map<'_>>());
        let arguments = binding::arguments(bindings, Context { base: &base, outputs: context.outputs })?;
        let source = match runs {
            Runs::Code(code) => code.digest(),
            Runs::Function(function) => function.digest(),
            Runs::Builtin(_) => return Err(format!("`{name}` gives a score, not a value")),
        };
        let call = evaluator::Call { evaluator: Arc::clone(name), source, arguments };
        Ok(Transformed::Call(call.action()))
    }

    /// What a value becomes, from what was returned for it.
    pub fn returned(&self, outcome: Outcome) -> Result<Value, Verdict> {
        let Some(PlannedEvaluate { name, runs, .. }) = &self.call else {
            return Err(Verdict::error("the transform calls nothing"));
        };
        let error = |reason: String| Verdict::error(format!("the transform `{name}`: {reason}"));
        let returned = match outcome {
            Outcome::Returned(returned) => *returned,
            Outcome::Fault(fault) => return Err(error(fault.message)),
            Outcome::NotRun(reason) => return Err(Verdict::NotRun(reason)),
            Outcome::Answer(_) | Outcome::Ran(_) => return Err(error("it is no model".to_owned())),
        };
        if returned.is_error {
            return Err(error(returned.value.as_str().map_or_else(|| returned.value.to_string(), str::to_owned)));
        }
        let language = match runs {
            Runs::Code(code) => code.source.language,
            Runs::Function(function) => function.language,
            Runs::Builtin(_) => return Err(error("it is no function".to_owned())),
        };
        let object = transport::read(&returned.value, language).map_err(|it| error(it.to_string()))?;
        match object.to_data().map_err(error)? {
            Val::Null => self.transform.instead(&format!("`{name}` returned nothing")).map_err(Verdict::error),
            value => Ok(value),
        }
    }
}

fn planned_evaluate(suite: &Suite, evaluate: &Evaluate) -> Option<PlannedEvaluate> {
    let evaluator = suite.evaluators.iter().find(|it| it.name.value == evaluate.evaluator.value)?;
    Some(planned(evaluator, evaluate.bindings.clone()))
}

fn planned(evaluator: &Evaluator, bindings: Vec<Binding>) -> PlannedEvaluate {
    let runs = match &evaluator.kind {
        EvaluatorKind::Code(code) => Runs::Code(Arc::clone(&code.code)),
        EvaluatorKind::Function(function) => Runs::Function(Arc::clone(function)),
        EvaluatorKind::Builtin(builtin) => Runs::Builtin(builtin.clone()),
    };
    let name = Arc::from(evaluator.name.value.as_str());
    PlannedEvaluate { name, runs, outputs: evaluator.configs(), judges: evaluator.judges, bindings }
}
