//! An object read by its fields: unknown keys, missing ones and keys of later versions become problems.

use crate::codes;
use crate::field::{Defaulted, Field, Named};
use crate::form::{Form, Key, Object};
use crate::problem::{Problem, listed, nearest};
use crate::reader::Reading;
use crate::value::{Map, Node, Span, Spanned, Val};

/// The members of one object, by known key.
pub struct Fields<'n, 'a> {
    pub span: Span,
    object: &'static Object,
    found: Vec<(&'static Key, Span, &'n Node<'a>)>,
    /// What unknown keys were probably meant to be.
    meant: Vec<&'static str>,
    has_unknown: bool,
}

impl<'n, 'a> Fields<'n, 'a> {
    fn of(reading: &mut Reading<'_>, object: &'static Object, node: &'n Node<'a>) -> Option<Fields<'n, 'a>> {
        let Some(entries) = node.entries() else {
            reading.wrong_type(object.what, "an object", node);
            return None;
        };
        let mut fields = Fields {
            span: node.span,
            object,
            found: Vec::with_capacity(entries.len()),
            meant: Vec::new(),
            has_unknown: false,
        };
        for entry in entries {
            match object.find(&entry.key) {
                Some(key) if matches!(key.form, Form::Reserved) => {
                    let message = format!("`{}` is not supported by this version", key.name);
                    let problem = Problem::new(&codes::NOT_SUPPORTED, message).at(entry.key_span, key.doc);
                    reading.problem(problem.help(format!("{} may have {}", object.what, listed(object.names()))));
                }
                Some(key) => match fields.found.iter().find(|(known, ..)| known.name == key.name) {
                    Some((_, earlier, _)) => {
                        let message = format!("`{}` and `{}` are the same key", entry.key, key.name);
                        let problem = Problem::new(&codes::REPEATED_KEY, message).at(entry.key_span, "again here");
                        reading.problem(problem.at(*earlier, "first here").help("keep one of them"));
                    }
                    None => fields.found.push((key, entry.key_span, &entry.value)),
                },
                None => {
                    // A problem that is not listed is not worth the search for the nearest key.
                    let has_room = reading.problems.has_room(&codes::UNKNOWN_KEY);
                    let near = has_room.then(|| nearest(&entry.key, object.names())).flatten();
                    fields.meant.extend(near);
                    fields.has_unknown = true;
                    reading.problem(unknown_key(object, &entry.key, entry.key_span, near));
                }
            }
        }
        for key in object.keys.iter().filter(|it| it.required) {
            if fields.key_span(key).is_none() && !fields.may_mean(key) {
                reading.problem(fields.missing(key));
            }
        }
        Some(fields)
    }

    /// The value of a field; `None` when it is absent, and when it cannot be read, which is a problem.
    pub fn read<V>(&self, reading: &mut Reading<'_>, field: &Field<V>) -> Option<V> {
        self.read_as(reading, &field.key.quoted(), field)
    }

    /// The value of a field that problems name in another way than by its key.
    pub fn read_as<V>(&self, reading: &mut Reading<'_>, what: &str, field: &Field<V>) -> Option<V> {
        (field.read)(reading, what, self.node(field)?)
    }

    /// The value of a field, or its default.
    pub fn value<V: Clone>(&self, reading: &mut Reading<'_>, field: &Defaulted<V>) -> V {
        self.value_as(reading, &field.key.quoted(), field)
    }

    /// The value of a field that problems name in another way than by its key, or its default.
    pub fn value_as<V: Clone>(&self, reading: &mut Reading<'_>, what: &str, field: &Defaulted<V>) -> V {
        let read = self.node(field).and_then(|it| (field.read)(reading, what, it));
        read.unwrap_or_else(|| field.value.clone())
    }

    /// The value of a key as it is written.
    pub fn node(&self, key: &impl Named) -> Option<&'n Node<'a>> {
        let key = key.key();
        let node = self.found.iter().find(|(it, ..)| it.name == key.name).map(|(_, _, node)| *node);
        node.filter(|it| !(key.or_null && it.is_null()))
    }

    /// What is written under these keys, as JSON: two texts that differ in their layout alone give the same.
    pub fn written(&self, keys: &[&Key]) -> String {
        let pairs = keys.iter().filter_map(|it| Some((it.name.into(), self.node(it)?.to_val())));
        let (written, _) = Map::from_pairs(pairs.collect());
        if written.is_empty() { String::new() } else { Val::Map(written).to_json() }
    }

    /// The id of something that stands under its id in an object, or has it as a field in a list. `what` it is, and what its id is for, are in the message when there is none.
    pub fn own_id(
        &self,
        reading: &mut Reading<'_>,
        key: Option<Spanned<String>>,
        field: &Field<Spanned<String>>,
        what: &str,
        remedy: &str,
    ) -> Option<Spanned<String>> {
        let name = field.key.name;
        let written = self.key_span(field).map(|_| self.read(reading, field));
        match (key, written) {
            (Some(key), Some(Some(id))) if key != id => {
                let message = format!("the {what} `{}` calls itself `{}`", key.value, id.value);
                let problem = Problem::new(&codes::CONFLICT, message).at(id.span, "one name").at(key.span, "another");
                reading.problem(problem.help(format!("drop `{name}`: its key is its {name}")));
                Some(key)
            }
            (Some(key), _) => Some(key),
            (None, Some(id)) => id,
            (None, None) => {
                if !self.may_mean(field) {
                    let problem = Problem::new(&codes::MISSING_KEY, format!("a {what} in a list needs `{name}`"));
                    reading.problem(problem.at(self.head(), format!("without `{name}`")).help(remedy));
                }
                None
            }
        }
    }

    /// Where the key itself stands.
    pub fn key_span(&self, key: &impl Named) -> Option<Span> {
        self.found.iter().find(|(it, ..)| it.name == key.key().name).map(|(_, span, _)| *span)
    }

    /// The place to point at when the object as a whole is meant: its first line is enough.
    pub fn head(&self) -> Span {
        self.found.first().map_or(self.span, |(_, span, _)| *span)
    }

    pub fn missing(&self, key: &impl Named) -> Problem {
        let key = key.key();
        let message = format!("{} needs `{}`", self.object.what, key.name);
        let problem = Problem::new(&codes::MISSING_KEY, message).at(self.span, format!("without `{}`", key.name));
        problem.help(format!("`{}` is {}", key.name, key.doc))
    }

    /// Whether an unknown key was probably meant to be this one: then one problem is enough.
    pub fn may_mean(&self, key: &impl Named) -> bool {
        self.meant.contains(&key.key().name) || (self.has_unknown && self.object.keys.len() == 1)
    }
}

impl Object {
    /// Sorts the members of an object by key; unknown keys and keys of later versions become problems.
    pub fn fields<'n, 'a>(&'static self, reading: &mut Reading<'_>, node: &'n Node<'a>) -> Option<Fields<'n, 'a>> {
        Fields::of(reading, self, node)
    }
}

fn unknown_key(object: &'static Object, written: &str, span: Span, near: Option<&str>) -> Problem {
    let problem =
        Problem::new(&codes::UNKNOWN_KEY, format!("{} has no key `{written}`", object.what)).at(span, "unknown key");
    match near {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem.help(format!("{} may have {}", object.what, listed(object.names()))),
    }
}
