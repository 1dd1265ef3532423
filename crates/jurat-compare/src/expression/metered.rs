//! Puts the functions of `meter` into the tree of an expression, so that its evaluation is charged.
//!
//! Without loops an evaluation costs at most its length times the size of its data, so only what loops or multiplies is changed.
//! The interpreter recognises the shapes of `map`, `filter`, `all` and `exists`; what is put in leaves those shapes as they are.

use cel::IdedExpr;
use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, LiteralValue, operators};
use regex::Regex;

use super::meter::{JOIN, MATCHES, REPLACE, SPEND, SPEND_SHALLOW, SPEND_SQUARE, STEP, pattern_of};

/// The names before functions such as `lists.range`, which are no values.
pub(super) const NAMESPACES: [&str; 5] = ["base64", "lists", "math", "optional", "strings"];

/// Changes a tree so that its evaluation is charged; returns the patterns that stand in it, or `None` when nothing needs a charge.
pub(super) fn metered(tree: &mut IdedExpr) -> Result<Option<Vec<Regex>>, String> {
    let mut rewrite = Rewrite { patterns: Vec::new(), is_needed: false };
    rewrite.expression(tree, false)?;
    Ok(rewrite.is_needed.then_some(rewrite.patterns))
}

struct Rewrite {
    patterns: Vec<Regex>,
    is_needed: bool,
}

impl Rewrite {
    fn expression(&mut self, tree: &mut IdedExpr, in_loop: bool) -> Result<(), String> {
        match &mut tree.expr {
            Expr::Call(call) => self.call(call, in_loop)?,
            Expr::Comprehension(it) => self.comprehension(it, in_loop)?,
            Expr::List(list) => list.elements.iter_mut().try_for_each(|it| self.expression(it, in_loop))?,
            Expr::Map(map) => map.entries.iter_mut().try_for_each(|it| self.entry(&mut it.expr, in_loop))?,
            Expr::Struct(it) => it.entries.iter_mut().try_for_each(|it| self.entry(&mut it.expr, in_loop))?,
            Expr::Select(select) => self.expression(&mut select.operand, in_loop)?,
            Expr::Ident(_) | Expr::Literal(_) | Expr::Unspecified => {}
        }
        if in_loop && is_range(tree) {
            wrap(tree, SPEND);
        }
        Ok(())
    }

    fn entry(&mut self, entry: &mut EntryExpr, in_loop: bool) -> Result<(), String> {
        match entry {
            EntryExpr::StructField(field) => self.expression(&mut field.value, in_loop),
            EntryExpr::MapEntry(entry) => {
                self.expression(&mut entry.key, in_loop)?;
                self.expression(&mut entry.value, in_loop)
            }
        }
    }

    fn call(&mut self, call: &mut CallExpr, in_loop: bool) -> Result<(), String> {
        for part in call.target.as_deref_mut().into_iter().chain(&mut call.args) {
            self.expression(part, in_loop)?;
        }
        match (call.func_name.as_str(), call.target.is_some(), call.args.len()) {
            ("replace", true, 2 | 3) => self.replace_function(call, REPLACE),
            ("join", true, 0 | 1) => self.replace_function(call, JOIN),
            ("matches", true, 1) | ("matches", false, 2) => {
                self.replace_function(call, MATCHES);
                self.compile_pattern(&mut call.args[1])?;
            }
            ("distinct", true, 0) => {
                self.is_needed = true;
                call.target.as_deref_mut().into_iter().for_each(|it| wrap(it, SPEND_SQUARE));
            }
            _ if in_loop => charge_arguments(call),
            _ => {}
        }
        Ok(())
    }

    /// Turns `target.name(arguments)` into `function(target, arguments)`.
    fn replace_function(&mut self, call: &mut CallExpr, function: &str) {
        self.is_needed = true;
        function.clone_into(&mut call.func_name);
        if let Some(target) = call.target.take() {
            call.args.insert(0, *target);
        }
    }

    /// A pattern that stands in the expression is compiled now, and its number takes its place.
    fn compile_pattern(&mut self, pattern: &mut IdedExpr) -> Result<(), String> {
        if let Expr::Literal(LiteralValue::String(source)) = &pattern.expr {
            let number = i64::try_from(self.patterns.len()).unwrap_or(i64::MAX);
            self.patterns.push(pattern_of(source.inner())?);
            pattern.expr = Expr::Literal(LiteralValue::Int(number.into()));
        }
        Ok(())
    }

    fn comprehension(&mut self, it: &mut ComprehensionExpr, in_loop: bool) -> Result<(), String> {
        self.is_needed = true;
        self.expression(&mut it.iter_range, in_loop)?;
        self.expression(&mut it.accu_init, in_loop)?;
        self.expression(&mut it.result, in_loop)?;
        let Expr::Call(step) = &mut it.loop_step.expr else { return Ok(()) };
        match (step.func_name.as_str(), step.args.as_mut_slice()) {
            (operators::CONDITIONAL, [guard, step, _]) => {
                self.expression(guard, true)?;
                if let Some(element) = appended(step) {
                    self.expression(element, true)?;
                    wrap(element, SPEND);
                }
                charge_before(guard, &it.iter_var);
            }
            (operators::LOGICAL_AND | operators::LOGICAL_OR, [_, test]) => {
                self.expression(test, true)?;
                charge_before(test, &it.iter_var);
            }
            _ => {
                if let Some(element) = appended(&mut it.loop_step) {
                    self.expression(element, true)?;
                    wrap(element, SPEND);
                    charge_before(element, &it.iter_var);
                }
            }
        }
        Ok(())
    }
}

/// The `e` of `@result + [e]`.
fn appended(step: &mut IdedExpr) -> Option<&mut IdedExpr> {
    let Expr::Call(call) = &mut step.expr else { return None };
    match call.args.last_mut().map(|it| &mut it.expr) {
        Some(Expr::List(list)) if call.func_name == operators::ADD => list.elements.first_mut(),
        _ => None,
    }
}

/// Turns `e` into `@step(item) ? e : false`.
fn charge_before(expression: &mut IdedExpr, item: &str) {
    let step = call(STEP, vec![IdedExpr { id: 0, expr: Expr::Ident(item.to_owned()) }]);
    let otherwise = IdedExpr { id: 0, expr: Expr::Literal(LiteralValue::Boolean(false.into())) };
    *expression = call(operators::CONDITIONAL, vec![step, std::mem::take(expression), otherwise]);
}

fn charge_arguments(call: &mut CallExpr) {
    let function = match call.func_name.as_str() {
        operators::CONDITIONAL
        | operators::LOGICAL_AND
        | operators::LOGICAL_OR
        | operators::LOGICAL_NOT
        | operators::NOT_STRICTLY_FALSE
        | operators::INDEX
        | operators::OPT_INDEX
        | operators::OPT_SELECT => return,
        "size" => SPEND_SHALLOW,
        _ => SPEND,
    };
    for part in call.target.as_deref_mut().into_iter().chain(&mut call.args) {
        if !is_namespace(part) && !matches!(part.expr, Expr::Literal(_)) {
            wrap(part, function);
        }
    }
}

fn wrap(expression: &mut IdedExpr, function: &str) {
    *expression = call(function, vec![std::mem::take(expression)]);
}

fn call(function: &str, args: Vec<IdedExpr>) -> IdedExpr {
    IdedExpr { id: 0, expr: Expr::Call(CallExpr { func_name: function.to_owned(), target: None, args }) }
}

fn is_namespace(expression: &IdedExpr) -> bool {
    matches!(&expression.expr, Expr::Ident(name) if NAMESPACES.contains(&name.as_str()))
}

fn is_range(expression: &IdedExpr) -> bool {
    matches!(&expression.expr, Expr::Call(call) if call.func_name == "range" && call.target.as_deref().is_some_and(is_namespace))
}
