//! `check`: a deterministic check of an agent's run, as suites have it.
//!
//! ```yaml
//! check: { kind: file_exists, workspace: report.md }
//! check: { kind: tool_called, tool: search, arguments: { query: refund }, max: 3 }
//! ```

use jurat_compare::Assertion;
use jurat_format::codes;
use jurat_format::fields::Fields;
use jurat_format::form::{Definitions, Form, Key, Object};
use jurat_format::problem::{Problem, listed};
use jurat_format::reader::Reading;
use jurat_format::shape::Shape;
use jurat_format::value::{Node, Val, Value};

use super::{Check, KIND, KINDS};
use crate::comparison::{self, OPERATOR, TaskComparison};

static COMPARED: Object = Object { what: "a comparison", keys: &comparison::KEYS };
pub(super) const COMPARISON: Form = Form::Object(&COMPARED);
pub(super) const COMPARISONS: Form = Form::List(&COMPARISON);

static FORMS: [Form; KINDS.len()] = {
    let mut forms = [Form::Any; KINDS.len()];
    let mut ix = 0;
    while ix < forms.len() {
        forms[ix] = Form::Object(&KINDS[ix].object);
        ix += 1;
    }
    forms
};

pub(crate) const SHAPE: Shape<Check> = Shape::new(Form::Defined("check"), read);

/// The JSON Schema of a check, from the tables that read it.
pub(crate) fn schema(definitions: &mut Definitions) -> Value {
    Val::Map(Form::Either(&FORMS).schema(definitions))
}

/// The objects that checks are made of, one per kind.
pub(crate) fn objects() -> impl Iterator<Item = &'static Object> {
    KINDS.iter().map(|it| &it.object)
}

fn read(reading: &mut Reading<'_>, _: &str, node: &Node<'_>) -> Option<Check> {
    if node.entries().is_none() {
        reading.wrong_type("`check`", "an object such as `{ kind: file_exists, workspace: report.md }`", node);
        return None;
    }
    let Some(name) = node.get(KIND) else {
        let problem = Problem::new(&codes::MISSING_KEY, "a check needs `kind`").at(node.span, "checks what?");
        reading.problem(problem.help(format!("kinds are {}", listed(KINDS.iter().map(|it| it.name)))));
        return None;
    };
    let names: Vec<(&str, usize)> = KINDS.iter().enumerate().map(|(ix, it)| (it.name, ix)).collect();
    let kind = KINDS[reading.choice("`kind`", &names, name)?];
    let n_before = reading.n_errors();
    let fields = kind.object.fields(reading, node)?;
    let rule = (kind.read)(reading, &fields).filter(|_| reading.n_errors() == n_before)?;
    Some(Check { kind, rule, written: node.to_val().into_owned(), source: reading.source(node.span) })
}

/// Notes that one of these keys must be there, unless an unknown key probably means one of them.
pub(super) fn missing(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, keys: &[Key], message: &str, help: &str) {
    if !keys.iter().any(|it| fields.may_mean(it)) {
        let problem = Problem::new(&codes::MISSING_KEY, message).at(fields.span, "here");
        reading.problem(problem.help(help));
    }
}

pub(crate) fn conflict(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, (first, second): (&Key, &Key), help: &str) {
    let at = |key: &Key| fields.key_span(key).unwrap_or(fields.span);
    let message = format!("a check has either `{}` or `{}`, not both", first.name, second.name);
    let problem = Problem::new(&codes::CONFLICT, message).at(at(second), "and this").at(at(first), "this");
    reading.problem(problem.help(help));
}

/// The comparison among the keys of an object, ready to judge.
pub(super) fn compared(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Assertion> {
    comparison::read(reading, fields).as_ref().and_then(TaskComparison::assertion)
}

/// A comparison that must be there.
pub(super) fn required_comparison(
    reading: &mut Reading<'_>,
    fields: &Fields<'_, '_>,
    message: &str,
) -> Option<Assertion> {
    let n_before = reading.n_errors();
    let assertion = compared(reading, fields);
    if assertion.is_none() && reading.n_errors() == n_before {
        missing(reading, fields, &[OPERATOR.key], message, "for example `operator: contains`");
    }
    assertion
}

/// An object that is a comparison.
pub(super) fn comparison_of(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Assertion> {
    let fields = COMPARED.fields(reading, node)?;
    required_comparison(reading, &fields, "a comparison needs an `operator`")
}
