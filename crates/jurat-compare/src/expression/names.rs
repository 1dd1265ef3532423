//! The names that an expression reads and the functions that it calls.

use std::collections::BTreeSet;

use cel::common::ast::{CallExpr, EntryExpr, Expr};
use cel::{Context, ExecutionError, IdedExpr, Value};

use super::FUNCTIONS;
use super::metered::NAMESPACES;

/// The functions that are offered when an unknown one is called. A test says that the interpreter has each.
pub(super) const OFFERED: [&str; 41] = [
    "all",
    "bool",
    "bytes",
    "charAt",
    "contains",
    "distinct",
    "double",
    "dyn",
    "endsWith",
    "exists",
    "exists_one",
    "filter",
    "flatten",
    "format",
    "has",
    "hasValue",
    "indexOf",
    "int",
    "join",
    "lastIndexOf",
    "lists.range",
    "lowerAscii",
    "map",
    "matches",
    "optional.none",
    "optional.of",
    "orValue",
    "replace",
    "reverse",
    "size",
    "slice",
    "sort",
    "sortBy",
    "split",
    "startsWith",
    "string",
    "strings.quote",
    "substring",
    "trim",
    "type",
    "upperAscii",
];

/// The names of kinds of value, which every expression may use.
const KINDS: [&str; 11] =
    ["bool", "bytes", "double", "dyn", "int", "list", "map", "null_type", "string", "type", "uint"];

/// A call of something that is not a function of the language.
pub(super) struct UnknownFunction {
    pub(super) name: String,
}

/// What an expression reads and calls.
#[derive(Default)]
pub(super) struct Read {
    /// The names that are not bound by the expression itself.
    pub(super) names: BTreeSet<String>,
    /// The members of names that are read, unless the expression also asks whether they are there.
    pub(super) fields: BTreeSet<(String, String)>,
    /// The first function that the language does not have.
    pub(super) unknown: Option<UnknownFunction>,
}

/// What an expression reads and calls.
pub(super) fn read(tree: &IdedExpr) -> Read {
    let mut reading = Reading { read: Read::default(), bound: Vec::new(), tested: BTreeSet::new() };
    reading.expression(tree);
    let Reading { mut read, tested, .. } = reading;
    read.fields.retain(|it| !tested.contains(it));
    read
}

struct Reading<'t> {
    read: Read,
    bound: Vec<&'t str>,
    tested: BTreeSet<(String, String)>,
}

impl<'t> Reading<'t> {
    fn expression(&mut self, tree: &'t IdedExpr) {
        match &tree.expr {
            Expr::Ident(name) => self.name(name),
            Expr::Call(call) => self.call(call),
            Expr::Comprehension(it) => {
                self.expression(&it.iter_range);
                self.expression(&it.accu_init);
                self.bound.extend([it.iter_var.as_str(), it.accu_var.as_str()]);
                [&it.loop_cond, &it.loop_step, &it.result].into_iter().for_each(|it| self.expression(it));
                self.bound.truncate(self.bound.len() - 2);
            }
            Expr::List(list) => list.elements.iter().for_each(|it| self.expression(it)),
            Expr::Map(map) => map.entries.iter().for_each(|it| self.entry(&it.expr)),
            Expr::Struct(it) => it.entries.iter().for_each(|it| self.entry(&it.expr)),
            Expr::Select(select) => {
                if let Expr::Ident(root) = &select.operand.expr
                    && !self.bound.contains(&root.as_str())
                {
                    let field = (root.clone(), select.field.clone());
                    if select.test {
                        self.tested.insert(field)
                    } else {
                        self.read.fields.insert(field)
                    };
                }
                self.expression(&select.operand);
            }
            Expr::Literal(_) | Expr::Unspecified => {}
        }
    }

    fn entry(&mut self, entry: &'t EntryExpr) {
        match entry {
            EntryExpr::StructField(field) => self.expression(&field.value),
            EntryExpr::MapEntry(entry) => {
                self.expression(&entry.key);
                self.expression(&entry.value);
            }
        }
    }

    fn name(&mut self, name: &str) {
        if !self.bound.contains(&name) && !KINDS.contains(&name) {
            self.read.names.insert(name.to_owned());
        }
    }

    fn call(&mut self, call: &'t CallExpr) {
        call.args.iter().for_each(|it| self.expression(it));
        let namespace = call.target.as_deref().and_then(|it| match &it.expr {
            Expr::Ident(name) if NAMESPACES.contains(&name.as_str()) => Some(name),
            _ => None,
        });
        let name = namespace.map_or_else(|| call.func_name.clone(), |it| format!("{it}.{}", call.func_name));
        let is_known = match (&call.target, namespace) {
            (Some(target), None) => {
                self.expression(target);
                has_function(&call.func_name, true)
            }
            _ => has_function(&name, false),
        };
        if !is_known && self.read.unknown.is_none() {
            self.read.unknown = Some(UnknownFunction { name });
        }
    }
}

/// Whether the interpreter has a function. It has no list of them, so a call is tried: what it has is refused for its arguments.
fn has_function(name: &str, is_member: bool) -> bool {
    if name.starts_with(|it: char| !it.is_alphabetic()) {
        return true; // An operator.
    }
    let target =
        is_member.then(|| Box::new(IdedExpr { id: 0, expr: Expr::List(cel::common::ast::ListExpr::new(Vec::new())) }));
    let call = CallExpr { func_name: name.to_owned(), target, args: Vec::new() };
    let tried = Value::resolve(&IdedExpr { id: 0, expr: Expr::Call(call) }, &Context::with_env(FUNCTIONS.clone()));
    !matches!(tried, Err(ExecutionError::UndeclaredReference(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `has`, `all` and so on are rewritten by the parser, so they are no functions when a tree is read.
    const MACROS: [&str; 7] = ["all", "exists", "exists_one", "filter", "has", "map", "sortBy"];

    #[test]
    fn functions_that_are_offered_exist() {
        for name in OFFERED {
            let exists = MACROS.contains(&name) || has_function(name, false) || has_function(name, true);
            assert!(exists, "{name}");
        }
        assert!(!has_function("nope", false) && !has_function("nope", true));
    }
}
