//! How long and how deep an expression may be, decided before it is parsed.
//!
//! The parser and the interpreter recurse once for every operator of a chain such as `1 + 1 + …` or `a.b.c…`, and nothing in them
//! counts it: a long chain overflows the stack, which cannot be caught. So the chain is counted in the text.

use cel::IdedExpr;
use cel::common::ast::{EntryExpr, Expr};

use super::ExpressionError;

/// The longest text of an expression, in bytes. The parser's error recovery takes time that grows faster than the text.
pub(super) const MAX_LENGTH: usize = 10_000;

/// The most operators, field accesses and brackets in an expression. A debug build parses this depth in the stack of a thread.
pub(super) const MAX_OPERATORS: usize = 200;

/// The deepest tree that is evaluated. The interpreter takes some 30 KiB of the stack for each level in a debug build.
const MAX_DEPTH: usize = 48;

/// The deepest nesting of brackets, a conditional `? :` counting as one. The parser passes through a dozen functions for each, which in a
/// debug build take some 170 KiB of the stack.
pub(super) const MAX_NESTING: usize = 9;

/// Refuses an expression that is too long or too deep to be parsed safely.
pub(super) fn check(source: &str) -> Result<(), ExpressionError> {
    if source.len() > MAX_LENGTH {
        return Err(ExpressionError(format!(
            "the expression is {} bytes long, and at most {MAX_LENGTH} are allowed: `{}`",
            source.len(),
            beginning(source)
        )));
    }
    let n_operators = code(source).filter(|it| is_operator(*it)).count();
    if n_operators > MAX_OPERATORS {
        return Err(ExpressionError(format!(
            "the expression has {n_operators} operators, field accesses and brackets, and at most {MAX_OPERATORS} are allowed: `{}`; \
             split it, or compare with a list: `x in ['a', 'b']`",
            beginning(source)
        )));
    }
    let nesting = nesting(source);
    if nesting > MAX_NESTING {
        return Err(ExpressionError(format!(
            "the expression is nested {nesting} deep, and at most {MAX_NESTING} brackets and `? :` inside each other are allowed: `{}`",
            beginning(source)
        )));
    }
    Ok(())
}

/// Refuses a tree that is too deep to be evaluated safely, as it is evaluated.
pub(super) fn check_tree(source: &str, tree: &IdedExpr) -> Result<(), ExpressionError> {
    let depth = depth(tree);
    if depth <= MAX_DEPTH {
        return Ok(());
    }
    Err(ExpressionError(format!(
        "the expression is {depth} operations deep, and at most {MAX_DEPTH} are allowed: `{}`; \
         split it, or use a function of lists, such as `join` or `all`",
        beginning(source)
    )))
}

/// How many operations of a tree stand inside each other. Chains that could overflow this function are refused before they are parsed.
fn depth(tree: &IdedExpr) -> usize {
    let deepest = |parts: &mut dyn Iterator<Item = &IdedExpr>| parts.map(depth).max().unwrap_or(0);
    let entry = |it: &EntryExpr| match it {
        EntryExpr::StructField(field) => depth(&field.value),
        EntryExpr::MapEntry(entry) => depth(&entry.key).max(depth(&entry.value)),
    };
    1 + match &tree.expr {
        Expr::Call(call) => deepest(&mut call.target.as_deref().into_iter().chain(&call.args)),
        Expr::Comprehension(it) => {
            deepest(&mut [&it.iter_range, &it.accu_init, &it.loop_cond, &it.loop_step, &it.result].into_iter())
        }
        Expr::List(list) => deepest(&mut list.elements.iter()),
        Expr::Map(map) => map.entries.iter().map(|it| entry(&it.expr)).max().unwrap_or(0),
        Expr::Struct(it) => it.entries.iter().map(|it| entry(&it.expr)).max().unwrap_or(0),
        Expr::Select(select) => depth(&select.operand),
        Expr::Ident(_) | Expr::Literal(_) | Expr::Unspecified => 0,
    }
}

/// How deep brackets stand inside each other, and conditionals behind each other.
fn nesting(source: &str) -> usize {
    let (mut open, mut deepest, mut n_conditionals, mut before) = (0_usize, 0, 0, ' ');
    for it in code(source) {
        match it {
            '(' | '[' | '{' => open += 1,
            ')' | ']' | '}' => open = open.saturating_sub(1),
            // `a.?b` and `a[?b]` are accesses.
            '?' if !matches!(before, '.' | '[') => n_conditionals += 1,
            _ => {}
        }
        deepest = deepest.max(open);
        before = it;
    }
    deepest + n_conditionals
}

/// The start of a text that is too long to be quoted whole.
fn beginning(source: &str) -> String {
    let mut start: String = source.chars().take(40).collect();
    if start.len() < source.len() {
        start.push('…');
    }
    start
}

/// Whether a character deepens the tree. Logical operators and commas do not: chains of them are flat or balanced.
fn is_operator(it: char) -> bool {
    matches!(it, '.' | '[' | '(' | '{' | '+' | '-' | '*' | '/' | '%' | '<' | '>' | '=' | '!' | '?')
}

/// The characters of an expression that are not inside a literal of text.
pub(super) fn code(source: &str) -> impl Iterator<Item = char> {
    let mut rest = source;
    std::iter::from_fn(move || {
        loop {
            let first = rest.chars().next()?;
            if matches!(first, '\'' | '"') {
                rest = after_text(rest, first);
                continue;
            }
            rest = &rest[first.len_utf8()..];
            return Some(first);
        }
    })
}

/// What follows a literal of text at the start of `rest`.
fn after_text(rest: &str, quote: char) -> &str {
    let triple: String = [quote; 3].iter().collect();
    let end = if rest.starts_with(&triple) { triple } else { quote.to_string() };
    let mut inside = &rest[end.len()..];
    while let Some(first) = inside.chars().next() {
        if let Some(after) = inside.strip_prefix(end.as_str()) {
            return after;
        }
        let escaped = if first == '\\' { inside[1..].chars().next().map_or(0, char::len_utf8) } else { 0 };
        inside = &inside[first.len_utf8() + escaped..];
    }
    inside
}
