//! Tasks: the nodes of a case's graph.

pub(crate) mod deterministic_checks;
pub(crate) mod group;

use std::sync::Arc;

use jurat_compare::expression::Expression;
use jurat_format::codes;
use jurat_format::field::{DESCRIPTION, Defaulted, Field};
use jurat_format::fields::Fields;
use jurat_format::form::{Form, Key, Object};
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape, Tree};
use jurat_format::value::{Content, FieldPath, Node, Span, Spanned, Step, Val, Value};

use crate::check::{self, Check as RunCheck};
use crate::comparison::{self, OPERATOR, TaskComparison};
use crate::evaluator;
use crate::evaluator::binding::{Binding, Origin};
use crate::judge::definition::Judge;
use crate::judge::{self, ScorePart};
use crate::outcome::{Check, Gives, format as outcome};
use crate::section::lost::{Lost, Part};
use crate::section::{Heading, Section};
pub use crate::task_index::{CaseKind, Gate, TaskIx};
use crate::transform::{self, Transform};
use group::Group;

#[derive(Debug, Clone)]
pub struct Task {
    /// Its name, unique without regard to case.
    pub id: Spanned<String>,
    pub description: Option<String>,
    pub kind: TaskKind,
    /// What it compares; always there for an assertion.
    pub comparison: Option<TaskComparison>,
    /// What is done to the value before it is compared.
    pub transform: Option<Transform>,
    /// The tasks whose outputs it reads, and whose gates it obeys.
    pub depends_on: Vec<Spanned<String>>,
    /// Whether it is a gate, and of which kind.
    pub gate: Gate,
    /// Which cases it applies to.
    pub on: Selection,
    /// The scenario that it stands in, and applies to alone.
    pub scope: Option<Spanned<String>>,
    /// Words to select it by.
    pub tags: Vec<Spanned<String>>,
    /// What it says something about.
    pub dimensions: Vec<Spanned<String>>,
    /// What its verdict rests on beside its comparison and its judge, as it is written, in JSON: comparisons of runs see by it that the task changed.
    pub written: String,
    pub span: Span,
    /// Whether errors were found in it: what it lacks may be what could not be read.
    pub is_flawed: bool,
}

impl Task {
    /// Where it looks, as it is written.
    pub fn path_text(&self) -> Option<String> {
        self.comparison.as_ref()?.path.as_ref().map(|it| it.value.to_string())
    }

    /// How it compares: its operator, or the kind of its check.
    pub fn operator_name(&self) -> Option<String> {
        match (&self.comparison, &self.kind) {
            (Some(comparison), _) => Some(comparison.operator.value.entry().snake_case()),
            (None, TaskKind::Check(check)) => Some(check.kind().to_owned()),
            (None, _) => None,
        }
    }

    /// The least and the most that its score can be, where its judge says so: of the same number that [`Marks`](crate::judge::Marks) reads.
    pub fn score_range(&self) -> Option<(f64, f64)> {
        let TaskKind::Judge(judge) = &self.kind else { return None };
        let schema = judge.output.as_ref().map(|it| &it.schema);
        let of_score = schema.and_then(|it| member(it, "score")).filter(may_be_number);
        let range = match ScorePart::of(judge.soft.is_some(), of_score.is_some()) {
            ScorePart::SoftScore => judge.soft.as_ref().map(|it| it.value.range()),
            ScorePart::Score => of_score.as_ref().and_then(bounds),
            ScorePart::Compared => {
                let path = self.comparison.as_ref()?.path.as_ref()?;
                let at_path = path.value.steps().iter().try_fold(schema?.clone(), |schema, step| match step {
                    Step::Key(key) => member(&schema, key),
                    _ => None,
                });
                at_path.as_ref().and_then(bounds)
            }
        };
        range.filter(|(low, high)| low < high)
    }

    /// Whether it may pass or fail, rather than only measure. What its evaluator returns may decide as well: `Suite::decides`.
    pub fn judges(&self) -> bool {
        let is_decided = matches!(&self.kind, TaskKind::Outcome(check) if check.gives() != Gives::Number);
        let kind = &self.kind;
        self.comparison.is_some()
            || is_decided
            || matches!(kind, TaskKind::Check(_) | TaskKind::Group(_) | TaskKind::Evaluation { decides: true })
            || matches!(kind, TaskKind::Cel(it) if it.expression.not_boolean().is_none())
    }
}

/// What a schema says of a member.
fn member(schema: &Value, key: &str) -> Option<Value> {
    schema.get("properties")?.as_map()?.get(key).cloned()
}

/// Whether what fits a schema may be a number.
fn may_be_number(schema: &Value) -> bool {
    schema.get("type").and_then(Val::as_str).is_none_or(|it| matches!(it, "integer" | "number"))
}

/// `minimum` and `maximum` of a schema.
fn bounds(schema: &Value) -> Option<(f64, f64)> {
    let end = |key: &str| schema.get(key).and_then(Val::as_f64).filter(|it| it.is_finite());
    end("minimum").zip(end("maximum"))
}

#[derive(Debug, Clone)]
pub enum TaskKind {
    /// Compares a value of its context.
    Assert,
    /// Asks a model, and may compare what it answers.
    Judge(Box<Judge>),
    /// Checks the whole of a scenario, and may compare the result.
    Outcome(Box<Check>),
    /// Runs an evaluator, and may compare what it says.
    Evaluate(Box<Evaluate>),
    /// Checks the run of an agent, and may compare the result.
    Check(Box<RunCheck>),
    /// Evaluates an expression over its context, and may compare the result.
    Cel(Box<CelText>),
    /// Joins the verdicts of other tasks.
    Group(Box<Group>),
    /// Has the run of an agent judged, as the suite's `evaluation` says.
    Evaluation {
        /// Whether it may pass or fail, rather than only measure.
        decides: bool,
    },
}

/// An expression over the context of a task.
#[derive(Debug, Clone, PartialEq)]
pub struct CelText {
    pub expression: Arc<Expression>,
    pub span: Span,
    /// What it reads, with the places.
    pub reads: Vec<Spanned<FieldPath>>,
}

/// An evaluator run by a task.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluate {
    pub evaluator: Spanned<String>,
    /// Where arguments come from, as far as the author says.
    pub with: Vec<(Spanned<String>, Spanned<Origin>)>,
    /// Where all arguments come from; made when tasks and evaluators are joined.
    pub bindings: Vec<Binding>,
}

impl TaskKind {
    /// The name of the kind, as authors write it.
    pub fn name(&self) -> &'static str {
        match self {
            TaskKind::Assert => "assert",
            TaskKind::Judge(_) => "judge",
            TaskKind::Outcome(_) => "outcome",
            TaskKind::Evaluate(_) => "evaluate",
            TaskKind::Check(_) => "check",
            TaskKind::Cel(_) => "cel",
            TaskKind::Group(_) => "group",
            TaskKind::Evaluation { .. } => "evaluation",
        }
    }
}

/// Which cases a task applies to.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Selection {
    /// All of them.
    #[default]
    All,
    /// All of one kind.
    Kind(CaseKind),
    /// These.
    Ids(Vec<Spanned<String>>),
    /// Those with this tag.
    Tag(Spanned<String>),
}

const TAG_NAME: Field<Spanned<String>> = Field::required("tag", shape::TEXT, "the tag");

static TAG: Object = Object { what: "a selection by tag", keys: &[TAG_NAME.key] };

static COMPARISON: Object = Object { what: "`assert`", keys: &comparison::KEYS };

const ASSERT: Field<Tree> = Field::optional(
    "assert",
    shape::tree(Form::Object(&COMPARISON)),
    "a comparison; its keys may also stand in the task itself",
);
const JUDGE: Field<Judge> = Field::optional("judge", judge::SHAPE, "a model that is asked to judge");
const CHECK: Field<RunCheck> = Field::optional("check", check::SHAPE, "a deterministic check of an agent run");
const OUTCOME: Field<Check> = Field::optional("outcome", outcome::SHAPE, "a criterion over the whole of a scenario");
const CEL: Field<CelText> = Field::optional(
    "cel",
    Shape::new(Form::Text, read_cel),
    "an expression over the case, in CEL: true passes and false fails; a number or a text is measured, or compared",
);
const GROUP: Field<Group> = Field::optional(
    "group",
    group::SHAPE,
    "other tasks whose verdicts give one: all, any, at least n, or a weighted mean",
);
const EVALUATE: Field<Spanned<String>> =
    Field::optional("evaluate", shape::TEXT, "the name of an entry of `evaluators`, which is called");

/// The keys that say what a task does. A task has one; without any it is an assertion.
const KINDS: [Key; 7] = [ASSERT.key, JUDGE.key, CHECK.key, OUTCOME.key, EVALUATE.key, CEL.key, GROUP.key];

const TRANSFORM: Field<Transform> =
    Field::optional("transform", transform::SHAPE, "what is done to the value at `field_path` before it is compared");

pub(crate) const DEPENDS_ON: Field<Vec<Spanned<String>>> = Field::optional(
    "depends_on",
    Shape::new(Form::List(&Form::Id), read_ids),
    "tasks whose output it reads; it is skipped when one of them is a gate that did not pass",
);
pub(crate) const CONDITION: Defaulted<bool> = Field::optional(
    "condition",
    shape::BOOLEAN,
    "whether it is a gate: when it fails, dependents are skipped; its own result is not counted",
)
.default(false);
pub(crate) const REQUIRED: Defaulted<bool> =
    Field::optional("required", shape::BOOLEAN, "whether it is a gate whose own result is counted too").default(false);

const ID: Field<Spanned<String>> =
    Field::required("id", shape::ID, "its name: letters, digits, `_` and `-`; no digit or `-` first");
const WITH: Field<Vec<(Spanned<String>, Spanned<Origin>)>> = Field::optional(
    "with",
    Shape::new(Form::Map(&Form::Any), evaluator::read_with),
    "where arguments of the evaluator come from: parameter name → path, `{value: …}`, or `{text: …}` with placeholders",
);
pub(crate) const ON: Field<Selection> = Field::optional(
    "on",
    Shape::new(
        const { Form::Either(&[shape::choice::<CaseKind>().form, Form::List(&Form::Text), Form::Object(&TAG)]) },
        selection,
    ),
    "which cases it applies to",
)
.default_words("all cases");
const TAGS: Field<Vec<Spanned<String>>> = Field::optional("tags", shape::TEXTS, "tags; stored and not used");
const DIMENSIONS: Field<Vec<Spanned<String>>> =
    Field::optional("dimensions", shape::TEXTS, "dimensions that its result counts for");

pub(crate) static TASK: Object = Object {
    what: "a task",
    keys: &[
        ID.key,
        DESCRIPTION.key,
        ASSERT.key,
        JUDGE.key,
        CHECK.key,
        OUTCOME.key,
        EVALUATE.key,
        CEL.key,
        GROUP.key,
        WITH.key,
        comparison::KEYS[0],
        comparison::KEYS[1],
        comparison::KEYS[2],
        comparison::KEYS[3],
        comparison::KEYS[4],
        TRANSFORM.key,
        DEPENDS_ON.key,
        CONDITION.key,
        REQUIRED.key,
        ON.key,
        TAGS.key,
        DIMENSIONS.key,
    ],
};

pub(crate) const SECTION: Section<Vec<Task>> = Heading::new(
    "tasks",
    const { Form::List(&Form::Object(&TASK)) },
    "what is judged; tasks may depend on each other",
    &[Part::Task],
)
.read(|reading, lost, tasks, at| {
    lost.add_if(at.node.as_list().is_none(), &[Part::Task]);
    for item in reading.list("`tasks`", "a list of tasks", at.node) {
        let task = read(reading, item);
        add(lost, tasks, task);
    }
});

/// Adds a task, or notes that there is one that could not be read.
fn add(lost: &mut Lost, tasks: &mut Vec<Task>, task: Result<Task, Option<String>>) {
    match task {
        Ok(task) => tasks.push(task),
        Err(id) => lost.add(Part::Task, id),
    }
}

/// A task that applies to one case alone, if it could be read.
pub(crate) fn of_case(
    reading: &mut Reading<'_>,
    lost: &mut Lost,
    (what, id): (&str, &Spanned<String>),
    item: &Node<'_>,
    read: Result<Task, Option<String>>,
) -> Option<Task> {
    if let (Ok(_), Some(on)) = (&read, item.get(ON.name())) {
        let problem = Problem::new(&codes::CONFLICT, format!("a task of a {what} applies to it alone"));
        let problem = problem.at(on.span, "for others, too?").at(id.span, format!("this {what}"));
        reading.problem(problem.help("drop `on`, or move the task to the `tasks` of the suite"));
    }
    match read {
        Ok(task) => Some(Task { scope: Some(id.clone()), ..task }),
        Err(id) => {
            lost.add(Part::Task, id);
            None
        }
    }
}

/// Reads a task; the id of one that cannot be read, when that at least is known.
pub(crate) fn read(reading: &mut Reading<'_>, node: &Node<'_>) -> Result<Task, Option<String>> {
    let n_before = reading.n_errors();
    let fields = TASK.fields(reading, node).ok_or(None)?;
    // Everything is read before anything is missed, so that all problems of a task are reported at once.
    let id = fields.read(reading, &ID);
    let description = fields.read(reading, &DESCRIPTION);
    let kind = kind(reading, &fields);
    let comparison = compared(reading, &fields, kind.as_ref()).or_else(|| usual_comparison(&fields, kind.as_ref()?));
    let transform = transformed(reading, &fields, kind.as_ref());
    let depends_on = fields.read(reading, &DEPENDS_ON).unwrap_or_default();
    let gate = read_gate(reading, &fields);
    let on = fields.read(reading, &ON).unwrap_or_default();
    let tags = fields.read(reading, &TAGS).unwrap_or_default();
    let dimensions = fields.read(reading, &DIMENSIONS).unwrap_or_default();
    let written = fields.written(&[&CHECK.key, &OUTCOME.key, &CEL.key, &GROUP.key, &WITH.key, &TRANSFORM.key]);
    let (id, kind) = match (id, kind) {
        (Some(id), Some(kind)) => (id, kind),
        (id, _) => return Err(id.map(|it| it.value)),
    };
    let is_flawed = reading.n_errors() > n_before;
    Ok(Task {
        id,
        description,
        kind,
        comparison,
        transform,
        depends_on,
        gate,
        on,
        scope: None,
        tags,
        dimensions,
        written,
        span: node.span,
        is_flawed,
    })
}

/// What the task does; `None` when that cannot be known.
fn kind(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<TaskKind> {
    let named: Vec<(&Key, Span)> = KINDS.iter().filter_map(|it| Some((it, fields.key_span(it)?))).collect();
    if let [(first, first_span), (second, second_span), ..] = named.as_slice() {
        let message = format!("a task is either `{}` or `{}`, not both", first.name, second.name);
        let problem = Problem::new(&codes::CONFLICT, message).at(*second_span, "and this");
        reading.problem(problem.at(*first_span, "this").help("make two tasks of it; one may depend on the other"));
        return None;
    }
    let is_evaluate = fields.key_span(&EVALUATE).is_some();
    if let Some(span) = fields.key_span(&WITH).filter(|_| !is_evaluate) {
        let problem = Problem::new(&codes::CONFLICT, "`with` is for tasks that `evaluate`").at(span, "without effect");
        reading.problem(problem.help(match fields.key_span(&JUDGE) {
            Some(_) => "move it into `judge`, beside `use` or `rubric`",
            None => "drop it, or add `evaluate` with the name of an evaluator",
        }));
    }
    if is_evaluate {
        let evaluator = fields.read(reading, &EVALUATE)?;
        let with = fields.read(reading, &WITH).unwrap_or_default();
        return Some(TaskKind::Evaluate(Box::new(Evaluate { evaluator, with, bindings: Vec::new() })));
    }
    if fields.key_span(&JUDGE).is_some() {
        return Some(TaskKind::Judge(Box::new(fields.read(reading, &JUDGE)?)));
    }
    if fields.key_span(&OUTCOME).is_some() {
        return Some(TaskKind::Outcome(Box::new(fields.read(reading, &OUTCOME)?)));
    }
    if fields.key_span(&CHECK).is_some() {
        return Some(TaskKind::Check(Box::new(fields.read(reading, &CHECK)?)));
    }
    if fields.key_span(&CEL).is_some() {
        return Some(TaskKind::Cel(Box::new(fields.read(reading, &CEL)?)));
    }
    if fields.key_span(&GROUP).is_some() {
        return Some(TaskKind::Group(Box::new(fields.read(reading, &GROUP)?)));
    }
    Some(TaskKind::Assert)
}

/// Reads an expression, and what it reads: names of the context.
fn read_cel(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<CelText> {
    let text = reading.text(what, node)?;
    match Expression::compile(&text.value) {
        Ok(expression) => {
            let places = reading.places(node.span, expression.names().iter().map(String::as_str));
            let read =
                |(name, span): (&String, Span)| Spanned::new(FieldPath::of([Step::Key(name.as_str().into())]), span);
            let reads = expression.names().iter().zip(places).map(read).collect();
            Some(CelText { reads, expression: Arc::new(expression), span: node.span })
        }
        Err(error) => {
            let problem = Problem::new(&codes::WRONG_VALUE, format!("{what} cannot be read: {error}"));
            reading.problem(
                problem
                    .at(node.span, "this expression")
                    .help("for example `size(answer) < 200 && lang in ['en', 'de']`"),
            );
            None
        }
    }
}

fn compared(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, kind: Option<&TaskKind>) -> Option<TaskComparison> {
    let Some(inside) = fields.node(&ASSERT) else {
        let n_before = reading.n_errors();
        let comparison = comparison::read(reading, fields);
        let is_assert = matches!(kind, Some(TaskKind::Assert));
        let may_compare = KINDS.iter().chain([&OPERATOR.key]).any(|it| fields.may_mean(it));
        if is_assert && comparison.is_none() && reading.n_errors() == n_before && !may_compare {
            let needs =
                "a task needs an `operator`, a `judge`, a `check`, an `outcome`, `evaluate`, `cel` or a `group`";
            let problem = Problem::new(&codes::MISSING_KEY, needs);
            let problem = problem.at(fields.span, "does nothing");
            reading.problem(problem.help("for example `operator: is_not_empty` with a `field_path`"));
        }
        return comparison;
    };
    let beside = comparison::KEYS.iter().find_map(|key| fields.key_span(key));
    if let Some(beside) = beside {
        let problem = Problem::new(&codes::CONFLICT, "the comparison is both inside of `assert` and beside it");
        reading.problem(problem.at(beside, "beside it").at(inside.span, "inside").help("move all of it to one place"));
    }
    let inner = COMPARISON.fields(reading, inside)?;
    let n_before = reading.n_errors();
    let comparison = comparison::read(reading, &inner);
    if comparison.is_none() && reading.n_errors() == n_before && !inner.may_mean(&OPERATOR) {
        let problem =
            Problem::new(&codes::MISSING_KEY, "`assert` needs an `operator`").at(inside.span, "compared how?");
        reading.problem(problem.help("for example `operator: is_not_empty`"));
    }
    comparison
}

/// What a judge that is used compares where the task says nothing about it.
fn usual_comparison(fields: &Fields<'_, '_>, kind: &TaskKind) -> Option<TaskComparison> {
    let TaskKind::Judge(judge) = kind else { return None };
    let is_said = comparison::KEYS.iter().chain([&ASSERT.key]).any(|it| fields.key_span(it).is_some());
    judge.used.as_ref().filter(|_| !is_said)?.file.passes.clone()
}

/// What is done to the value of a task that compares one.
fn transformed(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, kind: Option<&TaskKind>) -> Option<Transform> {
    let transform = fields.read(reading, &TRANSFORM)?;
    if matches!(kind, Some(TaskKind::Assert) | None) {
        return Some(transform);
    }
    let problem = Problem::new(&codes::CONFLICT, "`transform` is for tasks that compare a value of the case");
    let problem = problem.at(transform.span, "without effect");
    reading.problem(problem.help("put it into `ask`, or compare the output of this task in a task of its own"));
    None
}

/// Whether a task is a gate.
pub(crate) fn read_gate(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Gate {
    match (fields.value(reading, &CONDITION), fields.value(reading, &REQUIRED)) {
        (true, true) => {
            let problem =
                Problem::new(&codes::CONFLICT, "a gate is either never counted (`condition`) or counted (`required`)");
            let at = |field: &Defaulted<bool>| fields.key_span(field).unwrap_or(fields.span);
            reading.problem(problem.at(at(&REQUIRED), "and this").at(at(&CONDITION), "this").help("keep one of them"));
            Gate::Required
        }
        (true, false) => Gate::Condition,
        (false, true) => Gate::Required,
        (false, false) => Gate::None,
    }
}

fn selection(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Selection> {
    match &node.content {
        Content::Scalar(Val::Str(_)) => reading.choice(what, &CaseKind::NAMED, node).map(Selection::Kind),
        Content::List(_) => Some(Selection::Ids(reading.texts(what, node))),
        Content::Map(_) => {
            let fields = TAG.fields(reading, node)?;
            fields.read(reading, &TAG_NAME).map(Selection::Tag)
        }
        Content::Scalar(_) => {
            reading.wrong_type(what, "`records`, `cases`, `scenarios`, a list of ids or `{tag: …}`", node);
            None
        }
    }
}

/// The ids under `depends_on`.
pub(crate) fn read_ids(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<Spanned<String>>> {
    let items = reading.list(what, "a list of task ids", node);
    let what = format!("an id in {what}");
    Some(items.iter().filter_map(|item| reading.id(&what, item)).collect())
}
