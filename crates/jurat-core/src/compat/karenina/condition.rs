//! Conditions of edges as Karenina's builder takes them.

use jurat_format::value::{Content, Node, Val};

use crate::scenario::when::{WhenError, check, collected, not_one_field, unsupported};
use crate::scenario::{Callable, Condition};

/// The operators that a check may have.
const OPERATORS: [&str; 5] = ["gte", "gt", "lte", "lt", "eq"];

/// Reads a condition in the forms of Karenina, and no others: an object with one field, a list of such, the text of code.
pub fn read_condition(node: &Node<'_>) -> Result<Option<Condition>, Vec<WhenError>> {
    let check = |node: &Node<'_>| match node.entries() {
        Some([only]) => check(&only.key, only.key_span, &only.value, &OPERATORS).map_err(|it| vec![it]),
        _ => Err(vec![not_one_field(node)]),
    };
    match &node.content {
        Content::Scalar(Val::Null) => Ok(None),
        Content::Scalar(Val::Str(source)) => {
            Ok(Some(Condition::Callable(Callable { source: Some(source.clone().into_owned()), function: None })))
        }
        Content::Scalar(_) => Err(vec![unsupported(node)]),
        Content::Map(_) => check(node).map(|it| Some(it.into())),
        Content::List(items) => collected(items.iter().map(check)).map(|it| Some(Condition::Checks(it))),
    }
}
