//! Small tools for values: reading members of what was parsed, and making objects.

use jurat_format::value::{Map, Val, Value};

/// An object that is built member by member.
#[derive(Debug, Clone, Default)]
pub(crate) struct Object(Map<'static>);

impl Object {
    pub(crate) fn new() -> Object {
        Object::default()
    }

    /// The same with one more member.
    pub(crate) fn with(mut self, key: &str, value: impl Into<Value>) -> Object {
        self.put(key, value);
        self
    }

    pub(crate) fn put(&mut self, key: &str, value: impl Into<Value>) {
        self.0.insert(key.to_owned().into(), value.into());
    }

    pub(crate) fn put_some(&mut self, key: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.put(key, value);
        }
    }

    /// Adds a value to those that a member has: the value alone, and a list where there are several.
    pub(crate) fn gather(&mut self, key: &str, value: impl Into<Value>) {
        let value = value.into();
        let all = match self.get(key).cloned() {
            None => value,
            Some(Val::List(mut items)) => {
                items.push(value);
                Val::List(items)
            }
            Some(first) => Val::List(vec![first, value]),
        };
        self.put(key, all);
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn members(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter()
    }
}

impl From<Object> for Value {
    fn from(object: Object) -> Value {
        Val::Map(object.0)
    }
}

impl From<Map<'static>> for Object {
    fn from(map: Map<'static>) -> Object {
        Object(map)
    }
}

/// A text that the value owns.
pub(crate) fn text(text: impl Into<String>) -> Value {
    Val::from(text.into())
}

/// A list of texts.
pub(crate) fn texts<T: Into<String>>(items: impl IntoIterator<Item = T>) -> Value {
    items.into_iter().map(text).collect()
}

/// A number without a fraction as an integer, as people write it.
pub(crate) fn number(number: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match number.fract() == 0.0 && number.abs() < EXACT {
        true => Val::I(number as i64),
        false => Val::F(number),
    }
}

/// The members of an object; none of anything else.
pub(crate) fn members(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value.as_map().into_iter().flat_map(Map::iter)
}

/// The members of an object that is itself a member.
pub(crate) fn members_at<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = (&'v str, &'v Value)> {
    value.get(key).into_iter().flat_map(members)
}

/// The text at a member.
pub(crate) fn text_at<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key).and_then(Val::as_str)
}

/// The first member that is there and not null.
pub(crate) fn first_of<'v>(value: &'v Value, keys: &[&str]) -> Option<&'v Value> {
    keys.iter().filter_map(|it| value.get(it)).find(|it| !matches!(it, Val::Null))
}

/// A count at a member, also when it is written as text or as a float.
pub(crate) fn count_at(value: &Value, key: &str) -> Option<u64> {
    count(value.get(key)?)
}

/// A whole number of at least 0, also when it is written as text or as a float.
pub(crate) fn count(value: &Value) -> Option<u64> {
    match value {
        Val::I(number) => u64::try_from(*number).ok(),
        Val::U(number) => Some(*number),
        Val::F(number) if *number >= 0.0 && number.fract() == 0.0 && *number < 1.8e19 => Some(*number as u64),
        Val::Str(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// Text as it is, everything else as JSON.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Val::Str(text) => text.clone().into_owned(),
        other => other.to_json(),
    }
}

/// A text that may be JSON as the value that it is: objects and lists are read, all else stays text.
pub(crate) fn maybe_json(value: &str) -> Value {
    match value.trim_start().starts_with(['{', '[']) {
        true => jurat_format::value::parse_json(value).map_or_else(|_| text(value), |it| it.value.into_owned()),
        false => text(value),
    }
}

/// The beginning of a text, for messages.
pub(crate) fn beginning(text: &str) -> String {
    const MOST: usize = 60;
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
