//! `deterministic_checks`: checks as other programs write them, each as a task.

use jurat_format::codes;
use jurat_format::form::{Form, Key, Keys};
use jurat_format::problem::Problem;
use jurat_format::reader::{Fields, Reading};
use jurat_format::value::{Map, Node, Spanned, Val, Value, shown_within};

use super::super::task::{Gate, KEYS_OF_OUTCOMES, Selection, Task, TaskKind, read_gate, read_ids};
use super::rule::{conflict, hook};
use super::{FORM, HOOK, read};
use crate::artifact::is_identifier;
use crate::check::{Check, Rule};

/// One entry of `deterministic_checks`.
static ENTRY: Keys = Keys {
    what: "a deterministic check",
    keys: &[
        Key::required("check_id", Form::Text, "its name: lower-case letters, digits, `_` and `-`"),
        Key::DESCRIPTION,
        Key::optional("dimensions", Form::List(&Form::Text), "dimensions that its result counts for"),
        Key::optional("declarative", FORM, "what it checks"),
        Key::optional("hook", Form::Object(&HOOK), "the author's code that decides").or(&["python_hook"]),
        KEYS_OF_OUTCOMES[0],
        KEYS_OF_OUTCOMES[1],
        KEYS_OF_OUTCOMES[2],
    ],
};

/// The shape of `deterministic_checks`.
pub(crate) const ENTRIES: Form = Form::List(&Form::Object(&ENTRY));

/// Reads an entry of `deterministic_checks` as a task; the id of one that cannot be read, when that at least is known.
pub(in crate::suite) fn read_entry(reading: &mut Reading<'_>, node: &Node<'_>) -> Result<Task, Option<String>> {
    let n_before = reading.n_errors();
    let fields = Fields::read(reading, &ENTRY, node).ok_or(None)?;
    let id = fields.get("check_id").and_then(|it| check_id(reading, it));
    let description = fields.given("description").and_then(|it| reading.text("`description`", it)).map(|it| it.value);
    let dimensions =
        fields.given("dimensions").map(|it| distinct(reading.texts("`dimensions`", it))).unwrap_or_default();
    let check = entry_check(reading, &fields);
    let depends_on = fields.get("depends_on").map(|it| read_ids(reading, it)).unwrap_or_default();
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
        depends_on,
        gate,
        on: Selection::All,
        scope: None,
        tags: Vec::new(),
        dimensions,
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

fn check_id(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Spanned<String>> {
    let text = reading.text("`check_id`", node)?;
    if !is_identifier(&text.value) {
        let message = format!("`check_id`: {} is not an id", shown_within(&Val::from(text.value.as_str()), 40));
        let problem = Problem::new(&codes::BAD_ID, message).at(text.span, "lower-case letters, digits, `_` and `-`");
        let repaired = jurat_format::id::repaired(&text.value).to_ascii_lowercase();
        reading.problem(problem.help(format!("for example `{}`", repaired.trim_start_matches(['_', '-']))));
        return None;
    }
    Some(text)
}

fn entry_check(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Check> {
    match (fields.given("declarative"), fields.given("hook")) {
        (Some(node), None) => read(reading, node),
        (None, Some(node)) => {
            let inner = Fields::read(reading, &HOOK, node)?;
            let hook = hook(reading, &inner)?;
            let own = hook.to_value();
            let own = own.as_map().into_iter().flat_map(Map::iter).map(|(key, it)| (key.to_owned(), it.clone()));
            let written = [("kind".to_owned(), Val::from("hook"))].into_iter().chain(own);
            let written: Value = Val::Map(written.collect::<Map<'static>>());
            Some(Check { rule: Rule::Hook(hook), written, source: reading.source(node.span) })
        }
        (Some(_), Some(_)) => {
            conflict(reading, fields, ("declarative", "hook"), "make two checks of it");
            None
        }
        (None, None) => {
            if !["declarative", "hook"].iter().any(|it| fields.may_mean(it)) {
                let problem = Problem::new(&codes::MISSING_KEY, "a deterministic check needs `declarative` or `hook`");
                let problem = problem.at(fields.head(), "checks what?");
                reading.problem(problem.help("for example `declarative: { kind: final_response_present }`"));
            }
            None
        }
    }
}
