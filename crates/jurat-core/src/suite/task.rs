//! Tasks: the nodes of a case's graph.

use jurat_format::codes;
use jurat_format::form::{Form, Key, Keys};
use jurat_format::id;
use jurat_format::problem::Problem;
use jurat_format::reader::{Fields, Reading};
use jurat_format::value::{Content, Node, Span, Spanned, Val, shown_within};

use super::check;
use super::comparison::{self, TaskComparison};
use super::evaluators;
use super::judging::{self, Judge};
use crate::check::Check as RunCheck;
use crate::evaluator::binding::{Binding, Origin};
use crate::outcome::{Check, Gives, format as outcome};
pub use crate::task::{CaseKind, Gate};

#[derive(Debug, Clone)]
pub struct Task {
    /// Its name, unique without regard to case.
    pub id: Spanned<String>,
    pub description: Option<String>,
    pub kind: TaskKind,
    /// What it compares; always there for an assertion.
    pub comparison: Option<TaskComparison>,
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
    pub span: Span,
    /// Whether errors were found in it: what it lacks may be what could not be read.
    pub is_flawed: bool,
}

/// Two tasks are equal wherever they stand.
impl PartialEq for Task {
    fn eq(&self, other: &Self) -> bool {
        let Task { id, description, kind, comparison, depends_on, gate, on, scope, tags, dimensions, .. } = self;
        (id, description, kind, comparison) == (&other.id, &other.description, &other.kind, &other.comparison)
            && (depends_on, gate, on, scope) == (&other.depends_on, &other.gate, &other.on, &other.scope)
            && (tags, dimensions) == (&other.tags, &other.dimensions)
    }
}

impl Task {
    /// Whether it may pass or fail, rather than only measure.
    pub fn judges(&self) -> bool {
        let is_decided = matches!(&self.kind, TaskKind::Outcome(check) if check.gives() != Gives::Number);
        let kind = &self.kind;
        self.comparison.is_some()
            || is_decided
            || matches!(kind, TaskKind::Check(_) | TaskKind::Evaluation { decides: true })
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum TaskKind {
    /// Compares a value of its context.
    Assert,
    /// Asks a model, and may compare what it answers.
    Judge(Box<Judge>),
    /// Checks the whole of a scenario, and may compare what that comes to.
    Outcome(Box<Check>),
    /// Runs an evaluator, and may compare what it says.
    Evaluate(Box<Evaluate>),
    /// Checks the run of an agent, and may compare what that comes to.
    Check(Box<RunCheck>),
    /// Has the run of an agent judged, as the suite's `evaluation` says.
    Evaluation {
        /// Whether it may pass or fail, rather than only measure.
        decides: bool,
    },
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

static TAG: Keys = Keys { what: "a selection by tag", keys: &[Key::required("tag", Form::Text, "the tag")] };

static ASSERT: Keys = Keys { what: "`assert`", keys: &comparison::KEYS };

const ON: Form =
    Form::Either(&[Form::Choice(&["records", "cases", "scenarios"]), Form::List(&Form::Text), Form::Object(&TAG)]);

/// The keys that say what a task does. A task has one; without any it is an assertion.
const KINDS: [Key; 5] = [
    Key::optional("assert", Form::Object(&ASSERT), "a comparison; its keys may also stand in the task itself"),
    Key::optional("judge", Form::Object(&judging::JUDGE), "a model that is asked to judge"),
    Key::optional("check", check::FORM, "a deterministic check of an agent run"),
    Key::optional("outcome", outcome::FORM, "a criterion over the whole of a scenario"),
    Key::optional("evaluate", Form::Text, "the name of an entry of `evaluators`, which is called"),
];

/// The keys that outcomes of scenarios share with tasks.
pub(super) const KEYS_OF_OUTCOMES: [Key; 3] = [
    Key::optional(
        "depends_on",
        Form::List(&Form::Id),
        "tasks whose output it reads; it is skipped when one of them is a gate that did not pass",
    ),
    Key::optional(
        "condition",
        Form::Boolean,
        "whether it is a gate: when it fails, dependents are skipped; its own result is not counted",
    )
    .default("`false`"),
    Key::optional("required", Form::Boolean, "whether it is a gate whose own result is counted too").default("`false`"),
];

pub(super) static TASK: Keys = Keys {
    what: "a task",
    keys: &[
        Key::required("id", Form::Id, "its name: letters, digits, `_` and `-`; no digit or `-` first"),
        Key::DESCRIPTION,
        KINDS[0],
        KINDS[1],
        KINDS[2],
        KINDS[3],
        KINDS[4],
        Key::optional(
            "with",
            Form::Map(&Form::Any),
            "where arguments of the evaluator come from: parameter name → path, or `{value: …}`",
        ),
        comparison::KEYS[0],
        comparison::KEYS[1],
        comparison::KEYS[2],
        comparison::KEYS[3],
        comparison::KEYS[4],
        KEYS_OF_OUTCOMES[0],
        KEYS_OF_OUTCOMES[1],
        KEYS_OF_OUTCOMES[2],
        Key::optional("on", ON, "which cases it applies to").default("all cases"),
        Key::optional("tags", Form::List(&Form::Text), "tags; stored and not used"),
        Key::optional("dimensions", Form::List(&Form::Text), "dimensions that its result counts for"),
    ],
};

/// Reads a task; the id of one that cannot be read, when that at least is known.
pub(super) fn read(reading: &mut Reading<'_>, node: &Node<'_>) -> Result<Task, Option<String>> {
    let n_before = reading.n_errors();
    let fields = Fields::read(reading, &TASK, node).ok_or(None)?;
    // Everything is read before anything is missed, so that all problems of a task are reported at once.
    let id = fields.get("id").and_then(|it| read_id(reading, "`id`", it));
    let description = fields.get("description").and_then(|it| reading.text("`description`", it)).map(|it| it.value);
    let kind = kind(reading, &fields, node);
    let comparison = compared(reading, &fields, kind.as_ref());
    let depends_on = fields.get("depends_on").map(|it| read_ids(reading, it)).unwrap_or_default();
    let gate = read_gate(reading, &fields);
    let on = fields.get("on").and_then(|it| selection(reading, it)).unwrap_or_default();
    let tags = fields.get("tags").map(|it| reading.texts("`tags`", it)).unwrap_or_default();
    let dimensions = fields.get("dimensions").map(|it| reading.texts("`dimensions`", it)).unwrap_or_default();
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
        depends_on,
        gate,
        on,
        scope: None,
        tags,
        dimensions,
        span: node.span,
        is_flawed,
    })
}

/// What the task does; `None` when that cannot be known.
fn kind(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, node: &Node<'_>) -> Option<TaskKind> {
    let named: Vec<&Key> = KINDS.iter().filter(|it| node.get(it.name).is_some()).collect();
    // About a kind of later versions the reader of fields has said enough.
    if named.iter().any(|it| fields.has_reserved(it.name)) {
        return None;
    }
    if let [first, second, ..] = named.as_slice() {
        let message = format!("a task is either `{}` or `{}`, not both", first.name, second.name);
        let problem =
            Problem::new(&codes::CONFLICT, message).at(fields.key_span(second.name).unwrap_or(fields.span), "and this");
        let first = fields.key_span(first.name).unwrap_or(fields.span);
        reading.problem(problem.at(first, "this").help("make two tasks of it; one may depend on the other"));
        return None;
    }
    let is_evaluate = named.first().is_some_and(|it| it.name == "evaluate");
    if let Some(span) = fields.key_span("with").filter(|_| !is_evaluate) {
        let problem = Problem::new(&codes::CONFLICT, "`with` is for tasks that `evaluate`").at(span, "for nobody");
        reading.problem(problem.help("drop it, or add `evaluate` with the name of an evaluator"));
    }
    match named.first().map(|it| it.name) {
        None | Some("assert") => Some(TaskKind::Assert),
        Some("judge") => {
            let judge = fields.get("judge").and_then(|it| judging::read(reading, it))?;
            Some(TaskKind::Judge(Box::new(judge)))
        }
        Some("outcome") => {
            let check = fields.get("outcome").and_then(|it| outcome::read(reading, "`outcome`", it))?;
            Some(TaskKind::Outcome(Box::new(check)))
        }
        Some("evaluate") => {
            let evaluator = fields.get("evaluate").and_then(|it| reading.text("`evaluate`", it))?;
            let with = fields.get("with").map(|it| evaluators::read_with(reading, it)).unwrap_or_default();
            Some(TaskKind::Evaluate(Box::new(Evaluate { evaluator, with, bindings: Vec::new() })))
        }
        Some("check") => {
            let check = fields.get("check").and_then(|it| check::read(reading, it))?;
            Some(TaskKind::Check(Box::new(check)))
        }
        Some(_) => None,
    }
}

fn compared(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, kind: Option<&TaskKind>) -> Option<TaskComparison> {
    let Some(inside) = fields.get("assert") else {
        let n_before = reading.n_errors();
        let comparison = comparison::read(reading, fields);
        let is_assert = matches!(kind, Some(TaskKind::Assert));
        let kinds = ["operator", "assert", "judge", "outcome", "check", "evaluate"];
        let may_compare = kinds.iter().any(|it| fields.may_mean(it));
        if is_assert && comparison.is_none() && reading.n_errors() == n_before && !may_compare {
            let needs = "a task needs an `operator`, a `judge`, a `check`, an `outcome` or `evaluate`";
            let problem = Problem::new(&codes::MISSING_KEY, needs);
            let problem = problem.at(fields.span, "does nothing");
            reading.problem(problem.help("for example `operator: is_not_empty` with a `field_path`"));
        }
        return comparison;
    };
    let beside = comparison::KEYS.iter().find_map(|key| fields.key_span(key.name));
    if let Some(beside) = beside {
        let problem = Problem::new(&codes::CONFLICT, "the comparison stands both inside `assert` and beside it");
        reading.problem(problem.at(beside, "beside it").at(inside.span, "inside").help("move all of it to one place"));
    }
    let inner = Fields::read(reading, &ASSERT, inside)?;
    let n_before = reading.n_errors();
    let comparison = comparison::read(reading, &inner);
    if comparison.is_none() && reading.n_errors() == n_before && !inner.may_mean("operator") {
        let problem =
            Problem::new(&codes::MISSING_KEY, "`assert` needs an `operator`").at(inside.span, "compared how?");
        reading.problem(problem.help("for example `operator: is_not_empty`"));
    }
    comparison
}

/// Whether a task is a gate.
pub(super) fn read_gate(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Gate {
    let mut says =
        |name: &str| fields.get(name).and_then(|it| reading.boolean(&format!("`{name}`"), it)).unwrap_or(false);
    match (says("condition"), says("required")) {
        (true, true) => {
            let problem =
                Problem::new(&codes::CONFLICT, "a gate is either never counted (`condition`) or counted (`required`)");
            let at = |name: &str| fields.key_span(name).unwrap_or(fields.span);
            reading
                .problem(problem.at(at("required"), "and this").at(at("condition"), "this").help("keep one of them"));
            Gate::Required
        }
        (true, false) => Gate::Condition,
        (false, true) => Gate::Required,
        (false, false) => Gate::None,
    }
}

fn selection(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Selection> {
    match &node.content {
        Content::Scalar(Val::Str(_)) => reading.choice("`on`", &CaseKind::NAMED, node).map(Selection::Kind),
        Content::List(_) => Some(Selection::Ids(reading.texts("`on`", node))),
        Content::Map(_) => {
            let fields = Fields::read(reading, &TAG, node)?;
            fields.get("tag").and_then(|it| reading.text("`tag`", it)).map(Selection::Tag)
        }
        Content::Scalar(_) => {
            reading.wrong_type("`on`", "`records`, `cases`, `scenarios`, a list of ids or `{tag: …}`", node);
            None
        }
    }
}

/// The ids under `depends_on`.
pub(super) fn read_ids(reading: &mut Reading<'_>, node: &Node<'_>) -> Vec<Spanned<String>> {
    let items = reading.list("`depends_on`", "a list of task ids", node);
    items.iter().filter_map(|item| read_id(reading, "an id in `depends_on`", item)).collect()
}

/// An id, checked letter by letter.
pub(super) fn read_id(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Spanned<String>> {
    let Some(text) = node.as_str().map(|it| Spanned::new(it.to_owned(), node.span)) else {
        reading.wrong_type(what, "a name such as `polite`", node);
        return None;
    };
    if !id::is_id(&text.value) {
        let message = format!("{what}: {} is not an id", shown_within(&Val::from(text.value.as_str()), 40));
        let problem =
            Problem::new(&codes::BAD_ID, message).at(text.span, "letters, digits, `_` and `-`; no digit or `-` first");
        let repaired = id::repaired(&text.value);
        reading.problem(problem.help(format!("for example `{}`", if repaired == "_" { "polite" } else { &repaired })));
        return None;
    }
    Some(text)
}
