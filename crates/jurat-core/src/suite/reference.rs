//! The keys of the format as tables, for the pages of the reference.
//!
//! An object of the format is one table, named as the reader names it: `judge`, `price`. Everything here is read from
//! the declarations that also read suites, so a table cannot differ from what is accepted.

use std::ptr;

use jurat_format::form::{Form, Key, Object};

use super::sections;
use crate::outcome::format as outcome;
use crate::{check, template};

/// The keys of one kind of object.
#[derive(Debug)]
pub struct KeyTable {
    /// What the object is, without article and backticks; no two tables share a name.
    pub name: String,
    /// One row per key, in the order of the declarations.
    pub rows: Vec<KeyRow>,
}

/// One key of an object.
#[derive(Debug)]
pub struct KeyRow {
    /// The key, then the other spellings that are accepted.
    pub names: Vec<&'static str>,
    /// What its value may be.
    pub value: ValueKind,
    /// Whether it must be given.
    pub is_required: bool,
    /// What holds when it is absent, in Markdown.
    pub default: Option<String>,
    /// What it means, in Markdown.
    pub meaning: &'static str,
}

/// What a value may be.
#[derive(Debug)]
pub enum ValueKind {
    /// Words of Markdown: "text", "integer of at least 1".
    Words(String),
    /// Something with a page of its own: its words, and the page in `docs/reference`.
    Page(&'static str, &'static str),
    /// The object with this name.
    Object(String),
    /// A list of these.
    List(Box<ValueKind>),
    /// Names that the author chooses, each with one of these.
    Map(Box<ValueKind>),
    /// Any of these.
    Either(Vec<ValueKind>),
}

/// A table for each object of the format, from the suite inward.
pub fn key_tables() -> Vec<KeyTable> {
    let mut found: Vec<&'static Object> = Vec::new();
    collect(&sections::SUITE, &mut found);
    let outcomes = KeyTable { name: OUTCOME.to_owned(), rows: outcome::written().map(row_of).collect() };
    found.into_iter().map(table).chain([outcomes]).collect()
}

/// The name of the table with every way to write an outcome.
const OUTCOME: &str = "outcome criterion";

fn collect(keys: &'static Object, found: &mut Vec<&'static Object>) {
    if found.iter().any(|it| ptr::eq(*it, keys)) {
        return;
    }
    found.push(keys);
    keys.keys.iter().for_each(|it| collect_form(it.form, found));
}

fn collect_form(form: Form, found: &mut Vec<&'static Object>) {
    match form {
        Form::Object(keys) => collect(keys, found),
        Form::List(item) | Form::Map(item) => collect_form(*item, found),
        Form::Either(forms) => forms.iter().for_each(|it| collect_form(*it, found)),
        Form::Defined("outcome") => outcome::objects().for_each(|it| collect(it, found)),
        Form::Defined("check") => check::objects().for_each(|it| collect(it, found)),
        Form::Defined("strategy") => template::objects().into_iter().for_each(|it| collect(it, found)),
        _ => {}
    }
}

fn table(keys: &'static Object) -> KeyTable {
    let written = keys.keys.iter().filter(|it| !matches!(it.form, Form::Reserved));
    KeyTable { name: keys.name(), rows: written.copied().map(row_of).collect() }
}

fn row_of(key: Key) -> KeyRow {
    KeyRow {
        names: [key.name].into_iter().chain(key.aliases.iter().copied()).collect(),
        value: value_kind(key.form),
        is_required: key.required,
        default: key.default.map(|it| it.to_string()),
        meaning: key.doc,
    }
}

fn value_kind(form: Form) -> ValueKind {
    match form {
        Form::Object(keys) => ValueKind::Object(keys.name()),
        Form::List(item) => ValueKind::List(Box::new(value_kind(*item))),
        Form::Map(item) => ValueKind::Map(Box::new(value_kind(*item))),
        Form::Either(forms) => ValueKind::Either(forms.iter().map(|it| value_kind(*it)).collect()),
        Form::Path => ValueKind::Page("path", "suites.md#paths"),
        Form::Defined(name) => defined(name),
        plain => ValueKind::Words(words(plain)),
    }
}

/// A definition of the schema, by its name there.
fn defined(name: &'static str) -> ValueKind {
    match name {
        "outcome" => ValueKind::Object(OUTCOME.to_owned()),
        "operator" => ValueKind::Page("operator", "comparisons.md"),
        "output" => ValueKind::Page("output schema", "suites.md#judges"),
        "builtin" => ValueKind::Page("built-in evaluator", "builtin-evaluators.md"),
        "check" => ValueKind::Page("check", "checks.md"),
        "strategy" => ValueKind::Page("strategy", "templates.md#strategies"),
        other => ValueKind::Words(other.to_owned()),
    }
}

fn words(form: Form) -> String {
    match form {
        Form::Text => "text".to_owned(),
        Form::Boolean => "`true` or `false`".to_owned(),
        Form::Integer(i64::MIN) => "integer".to_owned(),
        Form::Integer(least) => format!("integer of at least {least}"),
        Form::Number(least, most) => number_words(least, most),
        Form::Percent => "percentage such as `1%`".to_owned(),
        Form::Id => "id".to_owned(),
        Form::Choice(names) => one_of(names),
        _ => "any value".to_owned(),
    }
}

fn number_words(least: f64, most: f64) -> String {
    match (least.is_finite(), most.is_finite()) {
        (true, true) => format!("number from {least} to {most}"),
        (true, false) => format!("number of at least {least}"),
        (false, true) => format!("number of at most {most}"),
        (false, false) => "number".to_owned(),
    }
}

fn one_of(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|it| format!("`{it}`")).collect();
    match quoted.as_slice() {
        [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => quoted.concat(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_of_tables_are_unique() {
        let mut seen = HashSet::new();
        let twice: Vec<String> =
            key_tables().into_iter().map(|it| it.name).filter(|it| !seen.insert(it.clone())).collect();
        assert!(twice.is_empty(), "these objects need distinct names in `Object::what`: {twice:?}");
    }

    #[test]
    fn rows_say_what_a_value_may_be() {
        let tables = key_tables();
        let judge = tables.iter().find(|it| it.name == "judge").expect("a judge is an object of the format");
        let row = |name: &str| judge.rows.iter().find(|it| it.names[0] == name).map(|it| format!("{:?}", it.value));
        assert_eq!(row("max_retries").as_deref(), Some(r#"Words("integer of at least 0")"#));
        assert_eq!(row("panel").as_deref(), Some(r#"List(Words("text"))"#));
        assert_eq!(row("prompt").as_deref(), Some(r#"Either([Words("text"), Object("prompt")])"#));
    }
}
