//! Assertions of promptfoo as tasks of jurat: a file for each family, a line in [`FAMILIES`] for each file.

mod code;
mod graded;
mod json;
mod measure;
mod refused;
mod text;
mod trajectory;

use jurat_format::value::{Val, Value};

use super::draft::Draft;
use super::places::Places;
use crate::document::{Object, members, number, plain, text as text_value};
use crate::report::Class;

/// A type of assertion.
pub(super) struct AssertionType {
    pub(super) name: &'static str,
    /// How its value is used.
    value: Use,
    take: fn(&mut Taking<'_, '_>) -> Result<Taken, String>,
}

/// What becomes of a value with variables in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// It may be `${vars.x}`, which each row fills in.
    Operand,
    /// The variables of each row are filled in while importing.
    Filled,
    /// It is a text for a judge, with placeholders.
    Prompt,
    /// It is code.
    Code,
}

impl AssertionType {
    const fn new(
        name: &'static str,
        value: Use,
        take: fn(&mut Taking<'_, '_>) -> Result<Taken, String>,
    ) -> AssertionType {
        AssertionType { name, value, take }
    }
}

static FAMILIES: &[&[AssertionType]] =
    &[text::TYPES, json::TYPES, measure::TYPES, code::TYPES, graded::TYPES, trajectory::TYPES, refused::TYPES];

/// The type with a name, and whether it is negated.
pub(super) fn find(name: &str) -> Option<(&'static AssertionType, bool)> {
    let named = |name: &str| FAMILIES.iter().flat_map(|it| it.iter()).find(|it| it.name == name);
    match (named(name), name.strip_prefix("not-")) {
        (Some(found), _) => Some((found, false)),
        (None, Some(name)) => named(name).map(|it| (it, true)),
        (None, None) => None,
    }
}

/// Whether promptfoo has a type of this name.
pub(super) fn is_known(name: &str) -> bool {
    find(name).is_some() || matches!(name, "select-best" | "max-score" | "human" | "assert-set")
}

/// Why a type that jurat cannot have is dropped, or that there is none of this name.
pub(super) fn unknown(name: &str) -> String {
    if name.starts_with("promptfoo:redteam") {
        return "graders of red-team tests are not taken over".to_owned();
    }
    format!("promptfoo has no type `{name}`, so it fails there as well")
}

/// Members of assertions that are read, or that promptfoo itself uses for some types alone.
const MEMBERS: [&str; 8] = ["type", "value", "threshold", "weight", "metric", "provider", "rubricPrompt", "transform"];

impl AssertionType {
    pub(super) fn value_use(&self) -> Use {
        self.value
    }

    /// The members of an assertion that nothing becomes of, and why.
    pub(super) fn unused<'a>(&self, spec: &'a Value) -> Vec<(&'a str, &'static str)> {
        let (is_code, is_context) = (self.value == Use::Code, self.name.starts_with("context-"));
        let why = |key: &str| match key {
            "config" => (!is_code).then_some("only code is given it"),
            "contextTransform" => (!is_context).then_some("only assertions about a context use it"),
            key if MEMBERS.contains(&key) => None,
            _ => Some("not known to the importer"),
        };
        members(spec).filter_map(|(key, _)| Some((key, why(key)?))).collect()
    }

    pub(super) fn take(&self, taking: &mut Taking<'_, '_>) -> Result<Taken, String> {
        (self.take)(taking)
    }
}

/// An assertion that is being taken over.
pub(super) struct Taking<'t, 'f> {
    pub(super) name: &'static str,
    pub(super) is_negated: bool,
    /// The assertion as it is written, with what belongs filled in.
    pub(super) spec: &'t Value,
    /// The options of its test.
    pub(super) options: &'t Value,
    /// The path of what it looks at.
    pub(super) output: String,
    /// Whether answers are values that a schema describes, which code is given rather than their text.
    pub(super) is_structured: bool,
    pub(super) draft: &'t mut Draft,
    pub(super) places: &'t mut Places<'f>,
}

/// A task, without its id and the rows it is for.
pub(super) struct Taken {
    pub(super) task: Object,
    pub(super) class: Class,
    pub(super) why: Option<String>,
}

impl Taken {
    fn exact(task: Object) -> Taken {
        Taken { task, class: Class::Exact, why: None }
    }

    fn approximate(task: Object, why: impl Into<String>) -> Taken {
        Taken { task, class: Class::Approximate, why: Some(why.into()) }
    }
}

impl Taking<'_, '_> {
    fn value(&self) -> Option<&Value> {
        self.spec.get("value").filter(|it| !matches!(it, Val::Null))
    }

    fn needed(&self) -> Result<&Value, String> {
        self.value().ok_or_else(|| format!("`{}` without `value`", self.name))
    }

    /// The value as text, as promptfoo compares it.
    fn text(&self) -> Result<String, String> {
        match self.needed()? {
            // Text files end with a line break that promptfoo does not compare.
            Val::Str(text) if text.starts_with("file://") && text.ends_with(".txt") => {
                self.places.text(text).map(|(_, content)| content.trim().to_owned())
            }
            Val::Str(text) if text.starts_with("file://") => self.places.text(text).map(|(_, content)| content),
            Val::Str(text) if text.starts_with("package:") => Err("its value is made by code".to_owned()),
            other => Ok(plain(other)),
        }
    }

    fn threshold(&self, otherwise: f64) -> f64 {
        self.spec.get("threshold").and_then(Val::as_f64).unwrap_or(otherwise)
    }

    /// A task that compares what the assertion looks at.
    fn comparison(&self, operator: impl Into<Value>) -> Object {
        Object::new().with("field_path", text_value(&self.output)).with("operator", operator)
    }

    /// A task that compares a score with a bound: at least, or at most.
    fn bounded(&self, evaluator: &str, operator: &str, bound: f64) -> Object {
        let operator = match (self.is_negated, operator) {
            (false, operator) => operator,
            (true, "greater_than_or_equal") => "less_than",
            (true, _) => "greater_than",
        };
        self.evaluated(evaluator)
            .with("field_path", text_value("score"))
            .with("operator", text_value(operator))
            .with("expected_value", number(bound))
    }

    /// A task that calls an evaluator with what the assertion looks at.
    fn evaluated(&self, evaluator: &str) -> Object {
        let task = Object::new().with("evaluate", text_value(evaluator));
        match self.output == "output" {
            true => task,
            false => task.with("with", Object::new().with("output", text_value(&self.output))),
        }
    }

    /// The same with a reference that stands in the suite.
    fn with_reference(&self, task: &Object, reference: Value) -> Object {
        let mut with = Object::new();
        if self.output != "output" {
            with.put("output", text_value(&self.output));
        }
        let with = with.with("reference", Object::new().with("value", reference));
        task.clone().with("with", with)
    }

    /// A task that calls an evaluator and passes when its label is one of two.
    fn labelled(&self, evaluator: &str, (yes, no): (&str, &str)) -> Object {
        self.evaluated(evaluator)
            .with("field_path", text_value("label"))
            .with("operator", text_value("equals"))
            .with("expected_value", text_value(if self.is_negated { no } else { yes }))
    }
}
