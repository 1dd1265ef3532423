//! How outcomes are written in definitions: one key that says what is checked, or the stored form with `type`. Each kind of outcome declares both beside its meaning.
//!
//! ```yaml
//! all_of:
//!   - status_is: completed
//!   - all_turns: { verify_result: true }
//!   - count_turns: { node: probe, verify_result: true, gte: 3 }
//! ```

use jurat_format::codes;
use jurat_format::field::Field;
use jurat_format::form::{Definitions, Form, Key, Object, closed_object, object, reference};
use jurat_format::problem::{Problem, listed, nearest};
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape, Tree};
use jurat_format::value::{Entry, Node, Val, Value};

use super::stored::checks;
use super::{Check, stored_kinds, written_kinds};

pub(crate) const SHAPE: Shape<Check> = Shape::new(FORM, read);
pub(crate) const FORM: Form = Form::Defined("outcome");
pub(super) const OUTCOMES: Form = Form::List(&FORM);

/// One way to write an outcome with one key.
pub(crate) struct WrittenKind {
    pub(crate) name: &'static str,
    pub(crate) doc: &'static str,
    pub(crate) form: Form,
    pub(crate) read: fn(&mut Reading<'_>, &Entry<'_>) -> Option<Check>,
}

/// The key that every stored form has.
pub(super) const TYPE: Field<Tree> = Field::required("type", shape::tree(Form::Text), "what is checked");

pub(crate) fn read(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Check> {
    let entries = node.entries().unwrap_or_default();
    if node.get("type").is_some() {
        return read_stored(reading, node);
    }
    match entries {
        [] => {
            reading.wrong_type(what, "an object such as `{ all_turns: { verify_result: true } }`", node);
            None
        }
        [only] => read_written(reading, only),
        [first, second, ..] => {
            // Each is read for its own problems; an unknown one is enough of a problem.
            let n_before = reading.n_errors();
            entries.iter().for_each(|it| drop(read_written(reading, it)));
            if reading.n_errors() == n_before {
                let message = format!("an outcome has one key, not both `{}` and `{}`", first.key, second.key);
                let problem = Problem::new(&codes::CONFLICT, message).at(second.key_span, "and this");
                let problem = problem.at(first.key_span, "this");
                let joined = format!("`all_of: [{{ {}: … }}, {{ {}: … }}]`", first.key, second.key);
                reading.problem(problem.help(format!("join them: {joined}")));
            }
            None
        }
    }
}

/// Reads an outcome by its key.
fn read_written(reading: &mut Reading<'_>, entry: &Entry<'_>) -> Option<Check> {
    if let Some(kind) = written_kinds().find(|it| it.name == entry.key) {
        return (kind.read)(reading, entry);
    }
    let names = || written_kinds().map(|it| it.name);
    let problem = Problem::new(&codes::UNKNOWN_KEY, format!("there is no outcome `{}`", entry.key));
    let problem = problem.at(entry.key_span, "unknown key");
    reading.problem(match nearest(&entry.key, names()) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem.help(format!("an outcome is {}", listed(names()))),
    });
    None
}

/// Reads an outcome with `type`.
fn read_stored(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Check> {
    let name = kind(reading, "the `type` of an outcome", checks(), node)?;
    let kind = stored_kinds().find(|it| it.name == name)?;
    (kind.read)(reading, node)
}

/// Which of these an object says it is, in either spelling.
pub(super) fn kind(
    reading: &mut Reading<'_>,
    what: &str,
    known: impl IntoIterator<Item = (&'static str, &'static str)>,
    node: &Node<'_>,
) -> Option<&'static str> {
    let known: Vec<_> = known.into_iter().collect();
    let named = node.get("type")?;
    let class = named.as_str().and_then(|it| known.iter().find(|(_, class)| *class == it));
    if let Some((name, _)) = class {
        return Some(name);
    }
    let choices: Vec<(&str, &'static str)> = known.iter().map(|(name, _)| (*name, *name)).collect();
    reading.choice(what, &choices, named)
}

/// An outcome as it is written in a definition: in the short form where it says everything, else in the stored one.
pub(crate) fn write(check: &Check) -> Value {
    check.to_written().unwrap_or_else(|| check.to_stored())
}

pub(super) fn keyed(name: &'static str, value: Value) -> Value {
    super::stored::object([(name, value)])
}

/// An object with one key, or one with `type`.
pub(crate) fn schema(definitions: &mut Definitions) -> Value {
    let mut ways: Vec<Value> = Vec::new();
    for kind in written_kinds() {
        let mut form = kind.form.schema(definitions);
        form.insert("description".into(), Val::from(kind.doc));
        let properties = [(kind.name, Val::Map(form))].into_iter().collect();
        ways.push(Val::Map(closed_object(properties, [kind.name].into_iter())));
    }
    for kind in stored_kinds() {
        let mut schema = reference(definitions.place(kind.keys));
        let names = object([("enum", [kind.name, kind.class].into_iter().map(Val::from).collect())]);
        schema.insert("properties".into(), Val::Map(object([("type", Val::Map(names))])));
        ways.push(Val::Map(schema));
    }
    Val::Map(object([("anyOf", Val::List(ways))]))
}

/// Every way to write an outcome with one key.
pub(crate) fn written() -> impl Iterator<Item = Key> {
    written_kinds().map(|it| Field::optional(it.name, shape::tree(it.form), it.doc).key)
}

/// The objects that outcomes are made of, short and long.
pub(crate) fn objects() -> impl Iterator<Item = &'static Object> {
    let short = written_kinds().filter_map(|it| match it.form {
        Form::Object(keys) => Some(keys),
        _ => None,
    });
    short.chain(stored_kinds().map(|it| it.keys))
}
