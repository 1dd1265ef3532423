//! The form in which checks are stored: objects with `type`, as Karenina stores them.
//!
//! Both spellings of `type` are read, `turn_check` and `TurnCheck`; unknown keys are ignored, as Karenina ignores them. What Karenina does not have is
//! written under names of our own: `not`, `cel`, thresholds of aggregations, operators as `{"operator": "contains"}`.

use jurat_compare::ArgError;
use jurat_format::form::Object;
use jurat_format::problem::listed;
use jurat_format::reader::Reading;
use jurat_format::value::{Content, Map, Node, Val, Value, python};

use super::{Check, stored_kinds};

/// One stored form of a node.
pub(crate) struct StoredKind {
    /// How definitions call it.
    pub(crate) name: &'static str,
    /// How Karenina's checkpoints call it.
    pub(crate) class: &'static str,
    pub(crate) keys: &'static Object,
    /// Reads it in a definition, and reports everything that is wrong with it.
    pub(crate) read: fn(&mut Reading<'_>, &Node<'_>) -> Option<Check>,
    /// Reads it as Karenina does, which ignores what it does not know.
    pub(crate) load: fn(&Node<'_>) -> Result<Check, ArgError>,
}

/// Every stored form, by both of its names.
pub(crate) fn checks() -> impl Iterator<Item = (&'static str, &'static str)> {
    stored_kinds().map(|it| (it.name, it.class))
}

impl Check {
    /// Reads the stored form of a check.
    ///
    /// ```
    /// use jurat_core::outcome::{Check, status_is};
    /// use jurat_format::value::{SourceId, json_node};
    ///
    /// let text = r#"{"type": "ResultCheck", "field": "status", "expected": "completed", "verify_with": {"type": "ExactMatch"}}"#;
    /// let (node, _) = json_node(text, SourceId(0)).unwrap();
    /// assert_eq!(Check::from_stored(&node), Ok(status_is("completed")));
    /// ```
    pub fn from_stored(node: &Node<'_>) -> Result<Check, ArgError> {
        let name = type_of(node, "check", checks())?;
        let kind = stored_kinds().find(|it| it.name == name).expect("the name is one of theirs");
        (kind.load)(node)
    }

    pub fn to_stored(&self) -> Value {
        self.to_stored_by(|it| it.name)
    }

    /// The stored form inside a checkpoint of Karenina, where checks have the names of their classes.
    pub fn to_checkpoint(&self) -> Value {
        self.to_stored_by(|it| it.class)
    }
}

/// What an object says it is, in the spelling of definitions.
pub(super) fn type_of(
    node: &Node<'_>,
    what: &str,
    known: impl IntoIterator<Item = (&'static str, &'static str)>,
) -> Result<&'static str, ArgError> {
    if node.entries().is_none() {
        let message = format!("a {what} must be an object, not {}", node.phrase());
        return Err(ArgError { span: node.span, message });
    }
    let named = required(node, "type")?;
    let known: Vec<_> = known.into_iter().collect();
    let found = known.iter().find(|(name, class)| named.as_str().is_some_and(|it| it == *name || it == *class));
    found.map(|(name, _)| *name).ok_or_else(|| wrong("type", &listed(known.iter().map(|(name, _)| *name)), named))
}

/// The value of a key, unless it is absent or null.
pub(super) fn present<'n, 'a>(node: &'n Node<'a>, key: &str) -> Option<&'n Node<'a>> {
    node.get(key).filter(|it| !matches!(it.content, Content::Scalar(Val::Null)))
}

pub(super) fn required<'n, 'a>(node: &'n Node<'a>, key: &str) -> Result<&'n Node<'a>, ArgError> {
    present(node, key).ok_or_else(|| ArgError { span: node.span, message: format!("needs `{key}`") })
}

pub(super) fn list<'n, 'a>(node: &'n Node<'a>, key: &str, needs: &str) -> Result<&'n [Node<'a>], ArgError> {
    let value = required(node, key)?;
    value.as_list().ok_or_else(|| wrong(key, needs, value))
}

pub(super) fn text(node: &Node<'_>, key: &str) -> Result<String, ArgError> {
    let value = required(node, key)?;
    value.as_str().map(str::to_owned).ok_or_else(|| wrong(key, "text", value))
}

/// A whole number; text that reads as one counts, as it does for Karenina. What is beyond 64 bits is beyond every history.
pub(super) fn integer(key: &str, node: &Node<'_>) -> Result<i64, ArgError> {
    let value = node.to_val();
    match &value {
        Val::I(number) => return Ok(*number),
        Val::U(_) => return Ok(i64::MAX),
        _ => {}
    }
    let number = python::float(&value).ok().filter(|it| it.fract() == 0.0);
    number.map(|it| it as i64).ok_or_else(|| wrong(key, "a whole number", node))
}

/// Yes or no, in the spellings that Karenina takes.
pub(super) fn boolean(key: &str, node: &Node<'_>) -> Result<bool, ArgError> {
    let value = node.to_val();
    let is_one_of =
        |words: [&str; 6]| value.as_str().is_some_and(|it| words.contains(&it.to_ascii_lowercase().as_str()));
    match &value {
        Val::Bool(value) => Ok(*value),
        Val::I(1) => Ok(true),
        Val::I(0) => Ok(false),
        Val::F(number) if *number == 1.0 => Ok(true),
        Val::F(number) if *number == 0.0 => Ok(false),
        _ if is_one_of(["true", "yes", "on", "1", "t", "y"]) => Ok(true),
        _ if is_one_of(["false", "no", "off", "0", "f", "n"]) => Ok(false),
        _ => Err(wrong(key, "`true` or `false`", node)),
    }
}

pub(super) fn wrong(key: &str, needs: &str, node: &Node<'_>) -> ArgError {
    ArgError { span: node.span, message: format!("`{key}` must be {needs}, not {}", node.phrase()) }
}

pub(super) fn object<const N: usize>(members: [(&'static str, Value); N]) -> Value {
    Val::Map(members.into_iter().collect::<Map<'static>>())
}
