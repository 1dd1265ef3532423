//! Evaluators that need no code: an author names one and sets its parameters. One of them asks a model, for embeddings.
//!
//! They take `output` and `reference` by the same rules as code, and what they find goes through the same outputs. The list of them is
//! [`ENTRIES`]; reader, schema and reference page follow from it. The metrics themselves are functions of texts, one file each.

pub mod bleu;
mod catalogue;
pub mod chrf;
pub mod document;
pub mod edit;
mod extent;
mod ngram;
pub mod rouge;
mod settings;
pub mod token_f1;
pub mod vector;

pub use catalogue::{ENTRIES, Entry, Gives, Param, Takes, entry};
pub use settings::{BadSetting, Settings};

use std::borrow::Cow;

use catalogue::Rule;
use jurat_format::value::{Val, Value};

use super::{Evaluation, LabelValue, Language, Object, OutputConfig, OutputKind, normalise};

/// A built-in evaluator with its parameters.
#[derive(Debug, Clone)]
pub struct Builtin {
    pub entry: &'static Entry,
    /// The parameters that its author set.
    pub settings: Value,
    rule: Rule,
}

/// What a built-in evaluator finds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found {
    pub(crate) what: What,
    pub(crate) explanation: Option<String>,
}

/// Yes or no, or a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum What {
    Hit(bool),
    Score(f64),
}

impl Builtin {
    /// The evaluator with these parameters; parameters that are not set have their defaults.
    pub fn new(entry: &'static Entry, settings: Value) -> Result<Builtin, BadSetting> {
        let rule = (entry.make)(&Settings::check(entry, &settings)?)?;
        Ok(Builtin { entry, settings, rule })
    }

    /// What it puts out, unless its author says otherwise.
    pub fn output(&self) -> OutputConfig {
        self.entry.output()
    }

    /// What it makes of its arguments, through an output. An error says what was missing or of no use.
    pub fn evaluate(&self, name: &str, config: &OutputConfig, arguments: &Val<'_>) -> Result<Evaluation, String> {
        let found = self.rule.find(&Arguments(arguments))?;
        through(name, config, found)
    }

    /// Whose embeddings it compares, a role or `provider/model`. `None` when it asks no model.
    pub fn embedder(&self) -> Option<&str> {
        match &self.rule {
            Rule::Embedding { model } => Some(model),
            _ => None,
        }
    }

    /// The texts whose embeddings it compares: the output, then every reference.
    pub fn texts(&self, arguments: &Val<'_>) -> Result<Vec<String>, String> {
        let arguments = Arguments(arguments);
        let output = arguments.text("output")?.into_owned();
        Ok([output].into_iter().chain(arguments.references()?.into_iter().map(Cow::into_owned)).collect())
    }

    /// What it makes of the embeddings of its texts, a list of vectors as JSON, through an output.
    pub fn compare(
        &self,
        name: &str,
        config: &OutputConfig,
        vectors: &str,
        n_texts: usize,
    ) -> Result<Evaluation, String> {
        let vectors: Vec<Vec<f64>> =
            serde_json::from_str(vectors).map_err(|error| format!("what came back is no list of vectors: {error}"))?;
        let [output, references @ ..] = vectors.as_slice() else { return Err("no embeddings came back".to_owned()) };
        if vectors.len() != n_texts {
            return Err(format!("{} embeddings came back for {n_texts} texts", vectors.len()));
        }
        let cosines: Option<Vec<f64>> = references.iter().map(|it| vector::cosine(output, it)).collect();
        let cosines =
            cosines.ok_or("the embeddings cannot be compared: they differ in length, or one has no direction")?;
        let score = cosines.into_iter().fold(-1.0, f64::max);
        through(name, config, Found { what: What::Score(score), explanation: None })
    }
}

/// What was found, as an output takes it.
fn through(name: &str, config: &OutputConfig, found: Found) -> Result<Evaluation, String> {
    let mut evaluations = normalise(name, Language::Python, std::slice::from_ref(config), &returned(found, config));
    evaluations.pop().ok_or_else(|| "there is no output".to_owned())
}

/// What was found, as a function would have returned it for an output. Yes and no are its first two labels.
fn returned(found: Found, config: &OutputConfig) -> Object {
    let (key, value) = match (found.what, &config.kind) {
        (What::Hit(is_hit), OutputKind::Categorical(values)) => {
            let label = values.get(usize::from(!is_hit)).map_or(Object::None, |it| Object::from(it.label.as_str()));
            ("label", label)
        }
        (What::Hit(is_hit), _) => ("score", Object::Float(if is_hit { 1.0 } else { 0.0 })),
        (What::Score(score), _) => ("score", Object::Float(score)),
    };
    let explanation = found.explanation.map(|it| (Object::from("explanation"), Object::Str(it)));
    Object::Dict([(Object::from(key), value)].into_iter().chain(explanation).collect())
}

impl Entry {
    fn output(&self) -> OutputConfig {
        let (kind, direction) = match self.gives {
            Gives::Hit { yes, no } => {
                let value = |label: &str, score| LabelValue { label: label.to_owned(), score: Some(score) };
                (OutputKind::Categorical(vec![value(yes, 1.0), value(no, 0.0)]), super::Direction::Maximize)
            }
            Gives::Score { least, most, direction } => {
                (OutputKind::Continuous { lower_bound: Some(least), upper_bound: most }, direction)
            }
        };
        OutputConfig { name: self.name.to_owned(), description: None, direction: Some(direction), kind }
    }
}

/// The arguments of a built-in evaluator, as one object.
struct Arguments<'a>(&'a Val<'a>);

impl Arguments<'_> {
    fn value(&self, name: &str) -> Result<&Val<'_>, String> {
        let value = self.0.get(name).filter(|it| **it != Val::Null);
        value.ok_or_else(|| format!("there is no `{name}` to look at"))
    }

    /// Text as it is, other values as JSON.
    fn text(&self, name: &str) -> Result<Cow<'_, str>, String> {
        Ok(text_of(self.value(name)?))
    }

    fn references(&self) -> Result<Vec<Cow<'_, str>>, String> {
        match self.value("reference")? {
            Val::List(items) if items.is_empty() => Err("there is no `reference` to look at".to_owned()),
            Val::List(items) => Ok(items.iter().map(text_of).collect()),
            one => Ok(vec![text_of(one)]),
        }
    }

    /// A document: a value as it is, a text read as JSON.
    fn document(&self, name: &str) -> Result<Value, String> {
        match self.value(name)? {
            Val::Str(text) => match jurat_format::value::parse_json(text) {
                Ok(record) => Ok(record.value.into_owned()),
                Err(error) => Err(format!("`{name}` is not JSON: {error}")),
            },
            other => Ok(other.clone().into_owned()),
        }
    }
}

fn text_of<'v>(value: &'v Val<'_>) -> Cow<'v, str> {
    match value {
        Val::Str(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_json()),
    }
}
