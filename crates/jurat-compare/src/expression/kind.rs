//! What an expression certainly gives, as far as that is known without data.

use std::fmt;

use cel::IdedExpr;
use cel::common::ast::{CallExpr, EntryExpr, Expr, LiteralValue, operators};

/// A kind of value that an expression certainly gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Certain {
    Null,
    Boolean,
    Number,
    Text,
    Bytes,
    List,
    Object,
    /// What `+` gives.
    Sum,
}

impl fmt::Display for Certain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Certain::Null => "null",
            Certain::Boolean => "true or false",
            Certain::Number => "a number",
            Certain::Text => "text",
            Certain::Bytes => "bytes",
            Certain::List => "a list",
            Certain::Object => "an object",
            Certain::Sum => "a number, text or a list",
        })
    }
}

/// What an expression certainly gives; `None` when that depends on data.
pub(super) fn kind(tree: &IdedExpr) -> Option<Certain> {
    match &tree.expr {
        Expr::Literal(literal) => Some(match literal {
            LiteralValue::Boolean(_) => Certain::Boolean,
            LiteralValue::Bytes(_) => Certain::Bytes,
            LiteralValue::Double(_) | LiteralValue::Int(_) | LiteralValue::UInt(_) => Certain::Number,
            LiteralValue::Null => Certain::Null,
            LiteralValue::String(_) => Certain::Text,
        }),
        Expr::List(_) => Some(Certain::List),
        Expr::Map(_) => Some(Certain::Object),
        Expr::Select(select) => select.test.then_some(Certain::Boolean),
        Expr::Call(call) => of_call(call),
        Expr::Comprehension(it) => match &it.result.expr {
            Expr::Ident(_) => kind(&it.accu_init),
            _ => kind(&it.result),
        },
        Expr::Ident(_) | Expr::Struct(_) | Expr::Unspecified => None,
    }
}

/// The keys of the object that an expression gives, if all of them stand in it.
pub(super) fn keys(tree: &IdedExpr) -> Option<Vec<String>> {
    match &tree.expr {
        Expr::Map(map) => map.entries.iter().map(|it| literal_key(&it.expr)).collect(),
        Expr::Call(call) if call.func_name == operators::CONDITIONAL => match call.args.as_slice() {
            [_, left, right] => Some(keys(left)?.into_iter().chain(keys(right)?).collect()),
            _ => None,
        },
        _ => None,
    }
}

fn literal_key(entry: &EntryExpr) -> Option<String> {
    match entry {
        EntryExpr::MapEntry(entry) => match &entry.key.expr {
            Expr::Literal(LiteralValue::String(key)) => Some(key.inner().to_owned()),
            _ => None,
        },
        EntryExpr::StructField(_) => None,
    }
}

/// The first operand that must be true or false and certainly is not.
pub(super) fn misplaced(tree: &IdedExpr) -> Option<Certain> {
    let wrong = |it: &IdedExpr| kind(it).filter(|it| *it != Certain::Boolean);
    match &tree.expr {
        Expr::Call(call) => {
            let tests = match call.func_name.as_str() {
                operators::CONDITIONAL | operators::LOGICAL_NOT => call.args.get(..1),
                operators::LOGICAL_AND | operators::LOGICAL_OR => Some(call.args.as_slice()),
                _ => None,
            };
            let parts = || call.target.as_deref().into_iter().chain(&call.args);
            tests.unwrap_or_default().iter().find_map(wrong).or_else(|| parts().find_map(misplaced))
        }
        _ => None,
    }
}

fn of_call(call: &CallExpr) -> Option<Certain> {
    match call.func_name.as_str() {
        operators::LOGICAL_AND
        | operators::LOGICAL_OR
        | operators::LOGICAL_NOT
        | operators::EQUALS
        | operators::NOT_EQUALS
        | operators::GREATER
        | operators::GREATER_EQUALS
        | operators::LESS
        | operators::LESS_EQUALS
        | operators::IN
        | "bool"
        | "contains"
        | "startsWith"
        | "endsWith"
        | "matches"
        | "hasValue" => Some(Certain::Boolean),
        operators::SUBSTRACT | operators::MULTIPLY | operators::DIVIDE | operators::MODULO | operators::NEGATE => {
            Some(Certain::Number)
        }
        operators::ADD => Some(call.args.iter().find_map(kind).unwrap_or(Certain::Sum)),
        operators::CONDITIONAL => match (call.args.get(1).and_then(kind), call.args.get(2).and_then(kind)) {
            (Some(left), Some(right)) if left == Certain::Boolean || right == Certain::Boolean => {
                (left == right).then_some(Certain::Boolean)
            }
            (Some(left), Some(_)) => Some(left),
            _ => None,
        },
        "size" | "int" | "uint" | "double" | "indexOf" | "lastIndexOf" => Some(Certain::Number),
        "string" | "lowerAscii" | "upperAscii" | "trim" | "replace" | "join" | "substring" | "charAt" | "format" => {
            Some(Certain::Text)
        }
        "split" | "distinct" | "sort" | "flatten" | "slice" => Some(Certain::List),
        _ => None,
    }
}
