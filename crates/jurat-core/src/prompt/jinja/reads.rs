//! What a template reads of its context, and what it asks for that there is not: found in its tree, before it is rendered.

use jurat_format::problem::nearest;
use jurat_format::value::{FieldPath, Step};
use minijinja::machinery::Span;
use minijinja::machinery::ast::{Call, CallArg, Expr, Macro, Stmt};
use minijinja::{Environment, ErrorKind, Value};

/// What was found in a tree.
#[derive(Default)]
pub(super) struct Found {
    pub(super) reads: Vec<VariableRead>,
    /// What cannot be rendered, in words, and where.
    pub(super) flaws: Vec<(String, Span)>,
}

/// A name that the context has to supply, with the members that are taken of it.
pub(super) struct VariableRead {
    pub(super) path: FieldPath,
    pub(super) span: Span,
    /// Whether the template says what happens without it: `default`, `is defined`.
    pub(super) is_optional: bool,
}

pub(super) fn of(tree: &Stmt<'_>, environment: &Environment<'_>) -> Found {
    let mut walk = Walk { environment, scopes: vec![Vec::new()], found: Found::default() };
    walk.statement(tree);
    let mut found = walk.found;
    let guarded: Vec<FieldPath> = found.reads.iter().filter(|it| it.is_optional).map(|it| it.path.clone()).collect();
    for read in &mut found.reads {
        read.is_optional |= guarded.iter().any(|it| read.path.steps().starts_with(it.steps()));
    }
    found
}

struct Walk<'t, 'e> {
    environment: &'e Environment<'e>,
    /// The names that the template itself defines, scope by scope.
    scopes: Vec<Vec<&'t str>>,
    found: Found,
}

impl<'t> Walk<'t, '_> {
    fn statement(&mut self, statement: &Stmt<'t>) {
        match statement {
            Stmt::Template(it) => self.statements(&it.children),
            Stmt::EmitExpr(it) => self.expression(&it.expr),
            Stmt::EmitRaw(_) | Stmt::Continue(_) | Stmt::Break(_) => {}
            Stmt::ForLoop(it) => {
                self.expression(&it.iter);
                self.scope(|walk| {
                    walk.define("loop");
                    walk.assign(&it.target);
                    it.filter_expr.iter().for_each(|it| walk.expression(it));
                    walk.statements(&it.body);
                });
                self.scope(|walk| walk.statements(&it.else_body));
            }
            Stmt::IfCond(it) => {
                self.expression(&it.expr);
                // What is set in a branch is seen after it.
                self.statements(&it.true_body);
                self.statements(&it.false_body);
            }
            Stmt::WithBlock(it) => self.scope(|walk| {
                for (target, value) in &it.assignments {
                    walk.expression(value);
                    walk.assign(target);
                }
                walk.statements(&it.body);
            }),
            Stmt::Set(it) => {
                self.expression(&it.expr);
                self.assign(&it.target);
            }
            Stmt::SetBlock(it) => {
                it.filter.iter().for_each(|it| self.expression(it));
                self.scope(|walk| walk.statements(&it.body));
                self.assign(&it.target);
            }
            Stmt::AutoEscape(it) => self.statements(&it.body),
            Stmt::FilterBlock(it) => {
                self.expression(&it.filter);
                self.scope(|walk| walk.statements(&it.body));
            }
            Stmt::Macro(it) => {
                self.define(it.name);
                self.definition(it);
            }
            Stmt::CallBlock(it) => {
                self.call(&it.call);
                self.definition(&it.macro_decl);
            }
            Stmt::Do(it) => self.call(&it.call),
            Stmt::Block(it) => self.refused("block", it.span()),
            Stmt::Import(it) => self.refused("import", it.span()),
            Stmt::FromImport(it) => self.refused("from", it.span()),
            Stmt::Extends(it) => self.refused("extends", it.span()),
            Stmt::Include(it) => self.refused("include", it.span()),
        }
    }

    fn statements(&mut self, statements: &[Stmt<'t>]) {
        statements.iter().for_each(|it| self.statement(it));
    }

    fn definition(&mut self, it: &Macro<'t>) {
        it.defaults.iter().for_each(|it| self.expression(it));
        self.scope(|walk| {
            walk.define("caller");
            it.args.iter().for_each(|it| walk.assign(it));
            walk.statements(&it.body);
        });
    }

    fn expression(&mut self, expression: &Expr<'t>) {
        if let Some(path) = path_of(expression) {
            return self.read(path, whole(expression), false);
        }
        match expression {
            Expr::Var(_) | Expr::Const(_) => {}
            Expr::Slice(it) => {
                self.expression(&it.expr);
                [&it.start, &it.stop, &it.step].into_iter().flatten().for_each(|it| self.expression(it));
            }
            Expr::UnaryOp(it) => self.expression(&it.expr),
            Expr::BinOp(it) => [&it.left, &it.right].into_iter().for_each(|it| self.expression(it)),
            Expr::Compare(it) => {
                self.expression(&it.expr);
                it.ops.iter().for_each(|it| self.expression(&it.expr));
            }
            Expr::IfExpr(it) => {
                [&it.test_expr, &it.true_expr].into_iter().for_each(|it| self.expression(it));
                it.false_expr.iter().for_each(|it| self.expression(it));
            }
            Expr::Filter(it) => {
                self.known_filter(it.name, it.span());
                let is_guard = matches!(it.name, "default" | "d");
                it.expr.iter().for_each(|it| self.guarded(it, is_guard));
                self.arguments(&it.args);
            }
            Expr::Test(it) => {
                self.known_test(it.name, it.span());
                self.guarded(&it.expr, matches!(it.name, "defined" | "undefined"));
                self.arguments(&it.args);
            }
            Expr::GetAttr(it) => self.expression(&it.expr),
            Expr::GetItem(it) => {
                self.expression(&it.expr);
                self.expression(&it.subscript_expr);
            }
            Expr::Call(it) => self.call(it),
            Expr::List(it) => it.items.iter().for_each(|it| self.expression(it)),
            Expr::Tuple(it) => it.items.iter().for_each(|it| self.expression(it)),
            Expr::Map(it) => it.keys.iter().chain(&it.values).for_each(|it| self.expression(it)),
        }
    }

    /// What is called is a function, a macro or a method, and no value of the context.
    fn call(&mut self, call: &minijinja::machinery::ast::Spanned<Call<'t>>) {
        match &call.expr {
            Expr::Var(it) if self.is_defined(it.id) || self.environment.globals().any(|(name, _)| name == it.id) => {}
            Expr::Var(it) => {
                let message = format!("there is no function `{}`; a template has range, dict and namespace", it.id);
                self.found.flaws.push((message, it.span()));
            }
            Expr::GetAttr(it) => self.expression(&it.expr),
            other => self.expression(other),
        }
        self.arguments(&call.args);
    }

    fn arguments(&mut self, arguments: &[CallArg<'t>]) {
        for argument in arguments {
            match argument {
                CallArg::Pos(it) | CallArg::Kwarg(_, it) | CallArg::PosSplat(it) | CallArg::KwargSplat(it) => {
                    self.expression(it);
                }
            }
        }
    }

    fn guarded(&mut self, expression: &Expr<'t>, is_guard: bool) {
        match path_of(expression) {
            Some(path) => self.read(path, whole(expression), is_guard),
            None => self.expression(expression),
        }
    }

    fn read(&mut self, path: Vec<Step>, span: Span, is_optional: bool) {
        let is_own = matches!(path.first(), Some(Step::Key(root)) if self.is_defined(root));
        if !is_own {
            self.found.reads.push(VariableRead { path: FieldPath::of(path), span, is_optional });
        }
    }

    fn is_defined(&self, name: &str) -> bool {
        name == "self" || self.scopes.iter().flatten().any(|it| *it == name)
    }

    fn define(&mut self, name: &'t str) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(name);
        }
    }

    fn assign(&mut self, target: &Expr<'t>) {
        match target {
            Expr::Var(it) => self.define(it.id),
            Expr::List(it) => it.items.iter().for_each(|it| self.assign(it)),
            Expr::Tuple(it) => it.items.iter().for_each(|it| self.assign(it)),
            _ => {}
        }
    }

    fn scope(&mut self, inside: impl FnOnce(&mut Self)) {
        self.scopes.push(Vec::new());
        inside(self);
        self.scopes.pop();
    }

    fn refused(&mut self, statement: &str, span: Span) {
        let message = format!("`{statement}` is not available: a template is one text, without other templates");
        self.found.flaws.push((message, span));
    }

    fn known_filter(&mut self, name: &str, span: Span) {
        let applied = self.environment.empty_state().apply_filter(name, &[Value::from("")]);
        if applied.is_err_and(|it| it.kind() == ErrorKind::UnknownFilter) {
            self.unknown("filter", name, FILTERS, span);
        }
    }

    fn known_test(&mut self, name: &str, span: Span) {
        let performed = self.environment.empty_state().perform_test(name, &[Value::from("")]);
        if performed.is_err_and(|it| it.kind() == ErrorKind::UnknownTest) {
            self.unknown("test", name, TESTS, span);
        }
    }

    fn unknown(&mut self, what: &str, name: &str, known: &[&str], span: Span) {
        let near = nearest(name, known.iter().copied()).map(|it| format!("; did you mean `{it}`?"));
        let message = format!("there is no {what} `{name}`{}", near.unwrap_or_default());
        self.found.flaws.push((message, span));
    }
}

/// The names that may be meant by one that is wrong; the library has no list of them.
const FILTERS: &[&str] = &[
    "abs",
    "batch",
    "bool",
    "capitalize",
    "default",
    "dictsort",
    "escape",
    "first",
    "float",
    "format",
    "groupby",
    "indent",
    "int",
    "items",
    "join",
    "last",
    "length",
    "lines",
    "list",
    "lower",
    "map",
    "max",
    "min",
    "pprint",
    "reject",
    "rejectattr",
    "replace",
    "reverse",
    "round",
    "safe",
    "select",
    "selectattr",
    "slice",
    "sort",
    "split",
    "string",
    "sum",
    "title",
    "tojson",
    "trim",
    "unique",
    "upper",
    "zip",
];
const TESTS: &[&str] = &[
    "boolean",
    "defined",
    "divisibleby",
    "endingwith",
    "eq",
    "even",
    "false",
    "filter",
    "float",
    "ge",
    "gt",
    "in",
    "integer",
    "iterable",
    "le",
    "lower",
    "lt",
    "mapping",
    "ne",
    "none",
    "number",
    "odd",
    "sameas",
    "sequence",
    "startingwith",
    "string",
    "test",
    "true",
    "undefined",
    "upper",
];

/// `a.b`, `a[0]` and `a["b"]` are paths; anything else takes its parts apart.
fn path_of(expression: &Expr<'_>) -> Option<Vec<Step>> {
    match expression {
        Expr::Var(it) => Some(vec![Step::Key(it.id.into())]),
        Expr::GetAttr(it) => {
            let mut path = path_of(&it.expr)?;
            path.push(Step::Key(it.name.into()));
            Some(path)
        }
        Expr::GetItem(it) => {
            let mut path = path_of(&it.expr)?;
            let subscript = it.subscript_expr.as_const()?;
            path.push(match subscript.as_str() {
                Some(key) => Step::Key(key.into()),
                None => Step::Index(i64::try_from(subscript).ok()?),
            });
            Some(path)
        }
        _ => None,
    }
}

/// The place of a path from its first name on.
fn whole(path: &Expr<'_>) -> Span {
    let mut first = path;
    while let Some(inner) = match first {
        Expr::GetAttr(it) => Some(&it.expr),
        Expr::GetItem(it) => Some(&it.expr),
        _ => None,
    } {
        first = inner;
    }
    let (start, end) = (first.span(), path.span());
    Span { end_line: end.end_line, end_col: end.end_col, end_offset: end.end_offset, ..start }
}
