//! `deterministic_checks`: checks as other programs write them, each as a task.

use jurat_format::codes;
use jurat_format::field::{self, Field};
use jurat_format::fields::Fields;
use jurat_format::form::{Form, Object};
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape};
use jurat_format::value::{Node, Spanned, Val, shown_within};

use super::{CONDITION, DEPENDS_ON, Gate, REQUIRED, Selection, Task, TaskKind, add, read_gate};
use crate::artifact::is_identifier;
use crate::check::{self, Check, HOOK_SHAPE, conflict};
use crate::section::lost::Part;
use crate::section::{Heading, Section};

const CHECK_ID: Field<Spanned<String>> =
    Field::required("check_id", Shape::new(Form::Text, check_id), "its name: lower-case letters, digits, `_` and `-`");
const DESCRIPTION: Field<String> = field::DESCRIPTION.or_null();
const DIMENSIONS: Field<Vec<Spanned<String>>> =
    Field::optional("dimensions", shape::TEXTS, "dimensions that its result counts for").or_null();
const DECLARATIVE: Field<Check> = Field::optional("declarative", check::SHAPE, "what it checks").or_null();
const HOOK: Field<Check> =
    Field::optional("hook", HOOK_SHAPE, "the author's code that decides").or(&["python_hook"]).or_null();

/// One entry of `deterministic_checks`.
static ENTRY: Object = Object {
    what: "a deterministic check",
    keys: &[
        CHECK_ID.key,
        DESCRIPTION.key,
        DIMENSIONS.key,
        DECLARATIVE.key,
        HOOK.key,
        DEPENDS_ON.key,
        CONDITION.key,
        REQUIRED.key,
    ],
};

/// The shape of `deterministic_checks`.
pub(crate) const ENTRIES: Form = Form::List(&Form::Object(&ENTRY));

pub(crate) const SECTION: Section<Vec<Task>> = Heading::new(
    "deterministic_checks",
    ENTRIES,
    "checks in the form of personal-agent-eval; each becomes a task",
    &[Part::Task],
)
.read(|reading, lost, tasks, at| {
    lost.add_if(at.node.as_list().is_none(), &[Part::Task]);
    for item in reading.list("`deterministic_checks`", "a list of checks", at.node) {
        let task = read_entry(reading, item);
        add(lost, tasks, task);
    }
});

/// Reads an entry of `deterministic_checks` as a task; the id of one that cannot be read, when that at least is known.
pub(crate) fn read_entry(reading: &mut Reading<'_>, node: &Node<'_>) -> Result<Task, Option<String>> {
    let n_before = reading.n_errors();
    let fields = ENTRY.fields(reading, node).ok_or(None)?;
    let id = fields.read(reading, &CHECK_ID);
    let description = fields.read(reading, &DESCRIPTION);
    let dimensions = fields.read(reading, &DIMENSIONS).map(distinct).unwrap_or_default();
    let check = entry_check(reading, &fields);
    let depends_on = fields.read(reading, &DEPENDS_ON).unwrap_or_default();
    let gate: Gate = read_gate(reading, &fields);
    let (id, check) = match (id, check) {
        (Some(id), Some(check)) => (id, check),
        (id, _) => return Err(id.map(|it| it.value)),
    };
    Ok(Task {
        id,
        description,
        kind: TaskKind::Check(Box::new(check)),
        comparison: None,
        transform: None,
        depends_on,
        gate,
        on: Selection::All,
        scope: None,
        tags: Vec::new(),
        dimensions,
        written: fields.written(&[&DECLARATIVE.key, &HOOK.key]),
        span: node.span,
        is_flawed: reading.n_errors() > n_before,
    })
}

/// Each dimension once, by name.
fn distinct(mut names: Vec<Spanned<String>>) -> Vec<Spanned<String>> {
    names.sort_by(|left, right| left.value.cmp(&right.value));
    names.dedup_by(|left, right| left.value == right.value);
    names
}

fn check_id(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Spanned<String>> {
    let text = reading.text(what, node)?;
    if !is_identifier(&text.value) {
        let message = format!("{what}: {} is not an id", shown_within(&Val::from(text.value.as_str()), 40));
        let problem = Problem::new(&codes::BAD_ID, message).at(text.span, "lower-case letters, digits, `_` and `-`");
        let repaired = jurat_format::id::repaired(&text.value).to_ascii_lowercase();
        reading.problem(problem.help(format!("for example `{}`", repaired.trim_start_matches(['_', '-']))));
        return None;
    }
    Some(text)
}

fn entry_check(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Check> {
    match (fields.node(&DECLARATIVE), fields.node(&HOOK)) {
        (Some(_), Some(_)) => {
            conflict(reading, fields, (&DECLARATIVE.key, &HOOK.key), "make two checks of it");
            None
        }
        (None, None) => {
            if !fields.may_mean(&DECLARATIVE) && !fields.may_mean(&HOOK) {
                let problem = Problem::new(&codes::MISSING_KEY, "a deterministic check needs `declarative` or `hook`");
                let problem = problem.at(fields.head(), "checks what?");
                reading.problem(problem.help("for example `declarative: { kind: final_response_present }`"));
            }
            None
        }
        _ => fields.read(reading, &DECLARATIVE).or_else(|| fields.read(reading, &HOOK)),
    }
}
