//! From what an author wrote to what can run: names resolved, the graph sound, patterns compiled, everything that can be
//! known before spending said.
//!
//! [`examine`] finds the problems, [`Plan::build`] makes the plan of a suite without errors. Both are functions of the
//! suite and of a few sample rows; neither reads anything.

mod agents;
mod base;
mod cases;
mod context;
mod evaluations;
mod gates;
mod graph;
mod judges;
mod names;
mod outcomes;
mod policy;
mod probes;
mod replies;
mod roles;
mod scenarios;
mod selection;
mod servers;
mod shape;
mod types;
mod work;

use std::collections::BTreeSet;
use std::sync::Arc;

use jurat_compare::Assertion;
use jurat_format::problem::{Code, Problem, Problems, Severity};
use jurat_format::value::{FieldPath, Projection, Step, Value};
use jurat_format::{codes, id::same_id};

use crate::agent::AgentCase;
use crate::application::RowPaths;
use crate::chat::Chat;
use crate::effect::{Role, Schema};
use crate::evaluator::binding::Binding;
use crate::judge::ReplyForm;
use crate::output::CompiledSchema;
use crate::prompt::Prompt;
use crate::scenario::CompiledScenario;
use crate::scenario::compiled::PARSER;
use crate::scenario::traversal::MAX_RETRIES;
use crate::section::lost::Part;
use crate::suite::{Ask, Gate, SUBJECT, Selection, Suite, Task, TaskComparison, TaskKind, examine_scenarios};
pub use crate::task_index::TaskIx;
use crate::tool::{MOST_ROUNDS, ToolFilter};

use base::Bases;
pub use cases::{CaseIx, CaseLayout, CaseSource, VariantCount};
use context::Known;
pub use evaluations::{CompiledBrief, PlannedEvaluation};
use graph::Graph;
pub use graph::Stage;
use roles::Roles;
pub use selection::{CaseName, CaseSet, TAGS, row_tags};
pub use shape::Shape;
pub use work::{
    EMBEDDING_RETRIES, PlannedEvaluate, PlannedGroup, PlannedJudge, PlannedStep, PlannedTransform, PlannedUse, Runs,
    Transformed, Work,
};

/// A few rows of the data, to look at before running.
#[derive(Debug, Clone, Default)]
pub struct Samples {
    /// The rows, as they were read.
    pub rows: Vec<Value>,
    /// Whether some of the data could not be looked at, so that a name may come from there.
    pub is_partial: bool,
    /// The ids of all rows; `None` when there are more rows than these, or rows without an id of their own.
    pub ids: Option<BTreeSet<String>>,
}

/// Everything that can be known about a suite before running it, beyond what reading it found.
pub fn examine(suite: &Suite, samples: &Samples) -> Vec<Problem> {
    let mut problems = Problems::default();
    problems.extend(nothing_to_do(suite));
    problems.extend(examine_scenarios(suite));
    let graph = graph::resolve(suite, &mut problems);
    let roles = Roles::of(suite);
    judges::examine(suite, &graph, &roles, &mut problems);
    outcomes::examine(suite, &mut problems);
    agents::examine(suite, &roles, &mut problems);
    evaluations::examine(suite, &roles, &mut problems);
    names::examine(suite, &graph, &mut problems);
    selection::examine(suite, &graph, samples, &mut problems);
    let rows = shape::of_rows(samples);
    scenarios::examine(suite, &roles, rows.as_ref(), &mut problems);
    probes::examine(suite, &roles, rows.as_ref(), &mut problems);
    let bases = Bases::of(suite, rows);
    let outputs: Vec<Shape> = suite.tasks.iter().map(|it| context::output_shape(suite, it)).collect();
    let known = Known { suite, graph: &graph, bases: Some(&bases), outputs: &outputs };
    context::examine(known, &mut problems);
    types::examine(known, samples, &mut problems);
    gates::examine(known, &mut problems);
    policy::examine(known, samples, &mut problems);
    problems.into_vec()
}

/// A suite without tasks, or without anything to run them on.
fn nothing_to_do(suite: &Suite) -> Vec<Problem> {
    let mut problems = Vec::new();
    let has_tasks = !suite.tasks.is_empty() || suite.lost.any(Part::Task);
    let has_cases = suite.defines_cases();
    if !has_tasks && suite.scenarios.is_empty() {
        let problem = whole_suite(suite, &codes::NO_TASKS, "a suite without tasks");
        problems.push(problem.help("add `tasks`: a list of what is judged"));
    }
    // About an `ask` without rows there is more to say.
    if suite.records.is_empty() && !has_cases && !suite.lost.any(Part::Case) && suite.ask.is_none() {
        let problem = whole_suite(suite, &codes::NO_CASES, "a suite without anything to evaluate");
        problems
            .push(problem.help("add `records`: a file of rows, or the rows; or `scenarios`, or `cases` for agents"));
    }
    problems
}

/// A problem of the suite as a whole stands at its name, or at the first thing it says.
fn whole_suite(suite: &Suite, code: &'static Code, message: &str) -> Problem {
    let problem = Problem::new(code, message);
    match suite.head {
        Some(span) => problem.at(span, "this suite"),
        None => problem,
    }
}

/// A suite made ready to run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The tasks in the order they were written.
    pub tasks: Vec<PlannedTask>,
    /// The tasks that may run together, stage by stage.
    pub stages: Vec<Stage>,
    /// What is asked about each row, when the rows are questions.
    pub ask: Option<PlannedAsk>,
    /// The conversations that are held once. Those about rows are what is asked about them.
    pub scenarios: Vec<Arc<CompiledScenario>>,
    pub cases: Vec<Arc<AgentCase>>,
    /// What is read of each row.
    pub footprint: Projection,
    /// The paths whose values make slices of the summary.
    pub group_by: Vec<FieldPath>,
    /// The path of what rows share, so that they are not independent of each other.
    pub cluster_by: Option<FieldPath>,
    /// The paths of a row that are the question; empty when the suite does not say.
    pub question: Vec<FieldPath>,
    /// Whether hooks may run the author's code.
    pub allows_hooks: bool,
}

/// What is asked about each row: each prompt, of each model.
#[derive(Debug, Clone)]
pub struct PlannedAsk {
    /// What is asked, by name.
    pub prompts: Vec<(String, Asking)>,
    /// The system message; it sees the row and nothing else.
    pub system: Option<Prompt>,
    /// Who is asked: roles, or `provider/model`. A role with several models stands for each of them.
    pub models: Vec<String>,
    /// The JSON Schema of the answer.
    pub output: Option<Schema>,
    /// What an answer must be to have a value. One that is not is evidence all the same.
    pub form: ReplyForm,
    /// The servers whose tools may be used.
    pub tools: Vec<String>,
    /// The tools that may not be used.
    pub tool_filter: ToolFilter,
    /// How many more requests one answer may take when requests fail.
    pub max_retries: u32,
    /// What is done to an answer before it is judged.
    pub transform: Option<PlannedTransform>,
    /// What applications are sent of the row beside the messages, by role.
    pub row_paths: RowPaths,
    /// The roles whose models are asked for the probabilities of tokens.
    pub logprobs: Vec<Role>,
}

/// What is asked about a row.
#[derive(Debug, Clone)]
pub enum Asking {
    /// A prompt, or several messages. They see the row and nothing else.
    Chat(Chat),
    /// The row itself.
    Row,
    /// A conversation about the row.
    Talk(Arc<CompiledScenario>),
}

impl PlannedAsk {
    /// Whether the subject is given the row itself, so that what it answers is a value.
    pub fn sends_row(&self) -> bool {
        self.prompts.iter().any(|(_, it)| matches!(it, Asking::Row))
    }

    /// The conversation that a prompt is.
    pub fn talk(&self, prompt: usize) -> Option<&CompiledScenario> {
        match &self.prompts.get(prompt)?.1 {
            Asking::Talk(scenario) => Some(scenario),
            Asking::Chat(_) | Asking::Row => None,
        }
    }

    /// The conversations that are held about each row.
    pub fn talks(&self) -> impl Iterator<Item = &Arc<CompiledScenario>> {
        self.prompts.iter().filter_map(|(_, it)| if let Asking::Talk(scenario) = it { Some(scenario) } else { None })
    }

    /// What is asked in messages. All of them stand beside the same definition.
    pub fn chats(&self) -> impl Iterator<Item = &Chat> {
        self.prompts.iter().filter_map(|(_, it)| if let Asking::Chat(chat) = it { Some(chat) } else { None })
    }

    /// How often the model is asked at most for one answer: once, or as often as it may be given results of tools.
    pub fn most_rounds(&self) -> u32 {
        if self.tools.is_empty() { 1 } else { MOST_ROUNDS }
    }
}

/// A task with its names resolved.
#[derive(Debug, Clone)]
pub struct PlannedTask {
    pub id: String,
    pub description: Option<String>,
    /// What it does, by its kind.
    pub work: Work,
    /// What is done to the value before it is compared.
    pub transform: Option<PlannedTransform>,
    /// What its output must be; for an assertion, what the evidence must be.
    pub then: Option<Assertion>,
    /// What it says something about.
    pub dimensions: Vec<String>,
    /// The tasks it waits for.
    pub depends_on: Vec<TaskIx>,
    /// Whether it decides what runs after it.
    pub gate: Gate,
    /// The cases it applies to; for all others it is absent. All of these are cases of the tasks it waits for.
    pub on: CaseSet,
}

impl PlannedTask {
    /// The tasks whose results it rests on: those that it waits for, and the members of a group.
    pub fn rests_on(&self) -> impl Iterator<Item = TaskIx> {
        let members: &[(TaskIx, f64)] = if let Work::Group(group) = &self.work { &group.members } else { &[] };
        self.depends_on.iter().copied().chain(members.iter().map(|it| it.0))
    }
}

impl Plan {
    /// The places of the tasks, in the order they were written.
    pub fn task_ixs(&self) -> impl ExactSizeIterator<Item = TaskIx> + use<> {
        (0..self.tasks.len()).map(TaskIx::of)
    }

    /// The number of each task's stage, from 1, in the order the tasks were written.
    pub fn stage_numbers(&self) -> Vec<usize> {
        let mut numbers = vec![0; self.tasks.len()];
        for (stage, number) in self.stages.iter().zip(1..) {
            stage.iter().for_each(|it| numbers[it.index()] = number);
        }
        numbers
    }

    /// The plan of a suite, or every problem it has. Warnings do not stand in the way, nor does code that is missing: a recording of the suite can
    /// be replayed and read without it. They are returned with the plan.
    pub fn build(suite: &Suite, samples: &Samples) -> Result<(Plan, Vec<Problem>), Vec<Problem>> {
        let problems = examine(suite, samples);
        let plan = if problems.iter().any(prevents_plan) { None } else { Plan::of_sound(suite) };
        match plan {
            Some(plan) => Ok((plan, problems)),
            None => Err(problems),
        }
    }

    /// `None` when a name in the suite leads nowhere, which [`examine`] reports.
    fn of_sound(suite: &Suite) -> Option<Plan> {
        let graph = graph::resolve(suite, &mut Problems::default());
        let needs = replies::needs(suite, &graph);
        let tasks = suite
            .tasks
            .iter()
            .enumerate()
            .map(|(ix, task)| planned(suite, &graph, ix, task, needs[ix].as_ref()))
            .collect::<Option<_>>()?;
        let group_by = suite.group_by.iter().map(|it| it.value.clone()).collect();
        let (talks, scenarios) = planned_scenarios(suite)?;
        let ask = match &suite.ask {
            Some(ask) => Some(planned_ask(suite, ask)?),
            None => asked_in_talks(talks),
        };
        Some(Plan {
            tasks,
            stages: graph.stages,
            ask,
            scenarios,
            cases: suite.cases.iter().map(|it| it.resolve(suite).map(Arc::new)).collect::<Option<_>>()?,
            footprint: footprint(suite),
            group_by,
            cluster_by: suite.cluster_by.as_ref().map(|it| it.value.clone()),
            question: suite.question.iter().map(|it| it.value.clone()).collect(),
            allows_hooks: suite.allows_hooks,
        })
    }

    /// Whether running it makes requests of any kind.
    pub fn asks(&self) -> bool {
        let transforms = |it: &PlannedTask| it.transform.as_ref().is_some_and(|it| it.call.is_some());
        self.asks_subjects() || self.tasks.iter().any(|it| it.work.asks() || transforms(it))
    }

    /// Whether a prompt has a message that a provider may cache to.
    pub fn has_prompt_cache(&self) -> bool {
        let judges = self.tasks.iter().filter_map(|it| it.work.judge()).map(|it| &it.prompt);
        let asked = self.ask.iter().flat_map(PlannedAsk::chats);
        judges.chain(asked).any(Chat::is_cached)
    }

    /// The evaluators that are run: by tasks, and to transform values before they are judged.
    pub fn evaluators(&self) -> impl Iterator<Item = &PlannedEvaluate> {
        let of_tasks = self.tasks.iter().filter_map(|it| it.work.evaluate());
        let transforms = self.tasks.iter().filter_map(|it| it.transform.as_ref());
        let transforms = transforms.chain(self.ask.iter().filter_map(|it| it.transform.as_ref()));
        of_tasks.chain(transforms.filter_map(|it| it.call.as_ref()))
    }

    /// Whether the evidence of some cases comes from a model or an agent, so that there may be several subjects and repetitions.
    pub fn asks_subjects(&self) -> bool {
        self.ask.is_some() || self.defines_cases()
    }

    /// Whether cases stand in the definition itself: conversations, or tasks for agents.
    pub fn defines_cases(&self) -> bool {
        self.case_sections().next().is_some()
    }

    /// All conversations: those that are held once, and those about rows.
    pub fn all_scenarios(&self) -> impl Iterator<Item = &Arc<CompiledScenario>> {
        self.scenarios.iter().chain(self.ask.iter().flat_map(PlannedAsk::talks))
    }

    /// The conversation that a case is, by its source and the place of its prompt.
    pub fn talk(&self, source: CaseSource, prompt: usize) -> Option<&CompiledScenario> {
        match source {
            CaseSource::Scenario(ix) => self.scenarios.get(ix).map(|it| &**it),
            CaseSource::Probe(_) => self.ask.as_ref()?.talk(prompt),
            CaseSource::Row(_) | CaseSource::Agent(_) => None,
        }
    }

    /// The sections of the definition that hold cases. In run files they are sources like files of rows, behind all of those.
    pub fn case_sections(&self) -> impl Iterator<Item = &'static str> {
        let sections = [("scenarios", self.scenarios.is_empty()), ("cases", self.cases.is_empty())];
        sections.into_iter().filter_map(|(name, is_empty)| (!is_empty).then_some(name))
    }

    /// The order of the cases of a run with this many variants.
    pub fn layout(&self, n_variants: usize) -> CaseLayout {
        CaseLayout::of(self, n_variants)
    }

    /// Whether some task is not for every row, so that names and tags of rows matter.
    pub fn narrows(&self) -> bool {
        self.tasks.iter().any(|it| !matches!(it.on, CaseSet::All | CaseSet::Kind(crate::suite::CaseKind::Records)))
    }

    /// Whether a task applies to a case. Where it does, so do all tasks that it depends on; where it does not, it is neither
    /// run nor counted nor shown.
    pub fn applies(&self, task: TaskIx, case: &CaseName<'_>) -> bool {
        self.tasks.get(task.index()).is_some_and(|it| it.on.has(case))
    }
}

/// Whether there can be no plan of a suite with this problem.
pub fn prevents_plan(problem: &Problem) -> bool {
    problem.severity() == Severity::Error && !codes::is_missing_code(problem)
}

/// The scenarios of a suite without errors, compiled: those about rows, and those that are held once.
fn planned_scenarios(suite: &Suite) -> Option<(Talks, Talks)> {
    let parser = suite.models.iter().any(|it| it.name.value == PARSER).then_some(PARSER);
    let ready = |text: &crate::suite::ScenarioText| {
        let mut compiled = CompiledScenario::new(text.resolve(suite).0, parser).ok()?;
        if compiled.scenario.over_records {
            compiled.row_paths = probes::row_paths(suite, compiled.subjects());
        }
        Some(Arc::new(compiled))
    };
    let compiled: Talks = suite.scenarios.iter().map(ready).collect::<Option<_>>()?;
    Some(compiled.into_iter().partition(|it| it.scenario.over_records))
}

type Talks = Vec<Arc<CompiledScenario>>;

/// What is asked about each row, where that is done in conversations.
fn asked_in_talks(talks: Talks) -> Option<PlannedAsk> {
    if talks.is_empty() {
        return None;
    }
    let asks_subject = talks.iter().flat_map(|it| &it.nodes).any(|it| it.subject.is_none());
    Some(PlannedAsk {
        prompts: talks.into_iter().map(|it| (it.scenario.name.clone(), Asking::Talk(it))).collect(),
        system: None,
        models: asks_subject.then(|| SUBJECT.to_owned()).into_iter().collect(),
        output: None,
        form: ReplyForm::Text,
        tools: Vec::new(),
        tool_filter: ToolFilter::default(),
        max_retries: MAX_RETRIES,
        transform: None,
        row_paths: RowPaths::default(),
        logprobs: Vec::new(),
    })
}

/// `None` when its transform names an evaluator that is not there.
fn planned_ask(suite: &Suite, ask: &Ask) -> Option<PlannedAsk> {
    let schema = ask.output.as_ref().and_then(|it| CompiledSchema::compile(&it.schema).ok());
    let prompts = ask.prompts.iter().map(|it| (it.name.clone(), Asking::Chat(it.prompt.chat.clone())));
    let row = ask.whole_row.then(|| ("row".to_owned(), Asking::Row));
    let transform = match &ask.transform {
        Some(transform) => Some(PlannedTransform::of(suite, transform)?),
        None => None,
    };
    Some(PlannedAsk {
        prompts: prompts.chain(row).collect(),
        system: ask.system.as_ref().map(|it| it.prompt.clone()),
        models: ask.subjects().into_iter().map(str::to_owned).collect(),
        output: ask.output.as_ref().map(|it| Schema::from(it.schema.clone())),
        form: schema.map_or(ReplyForm::Text, |it| ReplyForm::Schema(Box::new(it))),
        tools: ask.tools.iter().map(|it| it.value.clone()).collect(),
        tool_filter: ask.tool_filter.clone(),
        max_retries: ask.max_retries,
        transform,
        row_paths: probes::row_paths(suite, ask.subjects()),
        logprobs: probes::with_logprobs(suite, ask),
    })
}

fn planned(
    suite: &Suite,
    graph: &Graph,
    ix: usize,
    task: &Task,
    need: Option<&replies::Need<'_>>,
) -> Option<PlannedTask> {
    let work = Work::of(suite, task, &graph.sees[ix], need)?;
    let transform = match &task.transform {
        Some(transform) => Some(PlannedTransform::of(suite, transform)?),
        None => None,
    };
    Some(PlannedTask {
        id: task.id.value.clone(),
        description: task.description.clone(),
        dimensions: dimensions(task, &work),
        work,
        transform,
        then: task.comparison.as_ref().and_then(TaskComparison::assertion),
        depends_on: graph.depends_on[ix].clone(),
        gate: task.gate,
        on: CaseSet::of(suite, task),
    })
}

/// What a task is about: what its author says, else what such a check is usually about. An evaluation scores each dimension, which says more
/// than that it passed.
fn dimensions(task: &Task, work: &Work) -> Vec<String> {
    match (work, task.dimensions.as_slice()) {
        (Work::Evaluation(_), _) => Vec::new(),
        (Work::Check(check), []) => check.default_dimensions().iter().map(|it| (*it).to_owned()).collect(),
        (_, named) => named.iter().map(|it| it.value.clone()).collect(),
    }
}

/// What tasks, prompts and the id rule read of a row. A task that reads its whole context reads all of it. Asking about a
/// row costs so much more than reading it that it is read whole; so is a run, of which more is known than stands in it.
fn footprint(suite: &Suite) -> Projection {
    if suite.ask.is_some() || suite.talks_about_rows() || suite.records.iter().any(|it| it.is_runs) {
        return Projection::all();
    }
    let mut paths: Vec<FieldPath> =
        ["id", "record_id", "case_id"].map(|key| FieldPath::of([Step::Key(key.into())])).into();
    paths.extend(suite.records.iter().filter_map(|it| it.id.as_ref()).map(|it| it.value.clone()));
    let grouping = suite.group_by.iter().chain(&suite.cluster_by).chain(&suite.question);
    paths.extend(grouping.map(|it| it.value.clone()));
    if suite.tasks.iter().any(|it| matches!(it.on, Selection::Tag(_))) {
        paths.push(FieldPath::of([Step::Key(selection::TAGS.into())]));
    }
    for task in &suite.tasks {
        let reads = context::reads(task);
        if reads.everything {
            return Projection::all();
        }
        let from_base = |it: &&context::Read<'_>| {
            !task.depends_on.iter().any(|id| it.path.root().is_some_and(|root| same_id(root, &id.value)))
        };
        paths.extend(reads.paths.iter().filter(from_base).map(|it| it.path.clone()));
        // Where an evaluator finds the common names is known only then.
        if let TaskKind::Evaluate(evaluate) = &task.kind {
            paths.extend(evaluate.bindings.iter().flat_map(Binding::paths).cloned());
        }
        if let TaskKind::Judge(judge) = &task.kind {
            let arguments = judge.used.iter().flat_map(|it| &it.arguments);
            paths.extend(arguments.flat_map(|it| it.binding.paths()).cloned());
        }
    }
    Projection::of(&paths)
}
