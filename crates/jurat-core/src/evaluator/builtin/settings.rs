//! The parameters that an author set for a built-in evaluator, held against what it takes.

use jurat_format::value::{Val, Value, parse_json, shown_within};

use super::{Entry, Param, Takes};

/// Parameters of the right types, with defaults for those that are not set.
#[derive(Debug)]
pub struct Settings(Value);

/// A parameter that is of no use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BadSetting {
    /// The parameter; absent when it is one that is missing.
    pub name: Option<String>,
    /// What is wrong with it.
    pub message: String,
}

impl BadSetting {
    pub(super) fn of(name: &str, message: impl Into<String>) -> BadSetting {
        BadSetting { name: Some(name.to_owned()), message: message.into() }
    }
}

impl Settings {
    /// Holds parameters against what an evaluator takes.
    pub fn check(entry: &Entry, settings: &Val<'_>) -> Result<Settings, BadSetting> {
        let set = settings.as_map();
        let unknown = set.and_then(|it| it.keys().find(|key| !entry.params.iter().any(|param| param.name == *key)));
        if let Some(unknown) = unknown {
            let names: Vec<String> = entry.params.iter().map(|it| format!("`{}`", it.name)).collect();
            let has = if names.is_empty() { "no parameters".to_owned() } else { names.join(", ") };
            return Err(BadSetting::of(
                unknown,
                format!("`{}` has no parameter `{unknown}`; it has {has}", entry.name),
            ));
        }
        let mut checked = Vec::with_capacity(entry.params.len());
        for param in entry.params {
            match (set.and_then(|it| it.get(param.name)), param.default) {
                (Some(value), _) if param.takes.has(value) => checked.push((param.name, value.clone().into_owned())),
                (Some(value), _) => return Err(wrong(param, value)),
                (None, Some(default)) => {
                    let default = parse_json(default).map_or(Val::Null, |it| it.value.into_owned());
                    checked.push((param.name, default));
                }
                (None, None) => {
                    let message = format!("`{}` needs `{}`: {}", entry.name, param.name, param.doc);
                    return Err(BadSetting { name: None, message });
                }
            }
        }
        Ok(Settings(Val::Map(checked.into_iter().collect())))
    }

    /// A parameter, as it was set.
    pub(super) fn value(&self, name: &str) -> &Value {
        static NOTHING: Value = Val::Null;
        self.0.get(name).unwrap_or(&NOTHING)
    }

    pub(super) fn is(&self, name: &str) -> bool {
        *self.value(name) == Val::Bool(true)
    }

    pub(super) fn text(&self, name: &str) -> &str {
        self.value(name).as_str().unwrap_or_default()
    }

    pub(super) fn texts(&self, name: &str) -> Vec<String> {
        match self.value(name) {
            Val::List(items) => items.iter().filter_map(Val::as_str).map(str::to_owned).collect(),
            other => other.as_str().map(str::to_owned).into_iter().collect(),
        }
    }

    pub(super) fn number(&self, name: &str) -> Option<f64> {
        self.value(name).as_f64()
    }

    pub(super) fn count(&self, name: &str) -> usize {
        match self.value(name) {
            Val::I(number) => usize::try_from(*number).unwrap_or(0),
            _ => 0,
        }
    }
}

fn wrong(param: &Param, value: &Val<'_>) -> BadSetting {
    let message = format!("`{}` must be {}, not {}", param.name, param.takes.phrase(), shown_within(value, 40));
    BadSetting::of(param.name, message)
}

impl Takes {
    /// Whether a value is what is taken.
    fn has(self, value: &Val<'_>) -> bool {
        let is_text = |it: &Val<'_>| matches!(it, Val::Str(_));
        match self {
            Takes::Boolean => matches!(value, Val::Bool(_)),
            Takes::Text => is_text(value),
            Takes::Texts => {
                is_text(value) || value.as_list().is_some_and(|it| !it.is_empty() && it.iter().all(is_text))
            }
            Takes::Choice(names) => value.as_str().is_some_and(|it| names.contains(&it)),
            Takes::Count { least, most } => matches!(value, Val::I(it) if (least..=most).contains(it)),
            Takes::Number => value.as_f64().is_some_and(|it| it.is_finite() && it >= 0.0),
            Takes::Schema => matches!(value, Val::Map(_) | Val::Bool(_)),
        }
    }

    /// What is taken, in words.
    pub fn phrase(self) -> String {
        match self {
            Takes::Boolean => "`true` or `false`".to_owned(),
            Takes::Text => "text".to_owned(),
            Takes::Texts => "a text or a list of texts".to_owned(),
            Takes::Choice(names) => {
                let names: Vec<String> = names.iter().map(|it| format!("`{it}`")).collect();
                format!("one of {}", names.join(", "))
            }
            Takes::Count { least, most } => format!("a whole number from {least} to {most}"),
            Takes::Number => "a number of at least 0".to_owned(),
            Takes::Schema => "a JSON Schema".to_owned(),
        }
    }

    /// What is taken, as a JSON Schema.
    pub fn schema(self) -> Value {
        let object = |members: Vec<(&'static str, Value)>| Val::Map(members.into_iter().collect());
        let typed = |name: &'static str| object(vec![("type", Val::from(name))]);
        match self {
            Takes::Boolean => typed("boolean"),
            Takes::Text => typed("string"),
            Takes::Texts => {
                let list =
                    object(vec![("type", Val::from("array")), ("items", typed("string")), ("minItems", Val::I(1))]);
                object(vec![("anyOf", [typed("string"), list].into_iter().collect())])
            }
            Takes::Choice(names) => object(vec![("enum", names.iter().map(|it| Val::from(*it)).collect())]),
            Takes::Count { least, most } => {
                let bounds = [("minimum", Val::I(least)), ("maximum", Val::I(most))];
                object([("type", Val::from("integer"))].into_iter().chain(bounds).collect())
            }
            Takes::Number => object(vec![("type", Val::from("number")), ("minimum", Val::I(0))]),
            Takes::Schema => object(vec![("type", ["object", "boolean"].into_iter().map(Val::from).collect())]),
        }
    }
}
