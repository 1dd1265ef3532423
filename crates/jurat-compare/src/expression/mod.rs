//! Expressions that authors write: CEL, a language that always ends and touches nothing.
//!
//! This is the only place that knows the interpreter. An expression is compiled once; where a yes or no is needed, anything else is
//! an error, never taken for a no. Its text is bounded before it is parsed (`limits`), and every evaluation by a number of steps
//! (`meter`), and can be ended from another thread (`interrupt`). What is certain without data is known when it is compiled (`names`, `kind`).

mod interrupt;
mod kind;
mod limits;
mod meter;
mod metered;
mod names;
mod slip;

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::{Arc, LazyLock};

use cel::objects::{Key, Map as CelMap};
use cel::{Context, Env, ExecutionError, IdedExpr, ParseError, extensions};

pub use self::interrupt::{Entered, Interrupt};
use self::kind::Certain;
use self::meter::{Meter, Patterns};

use jurat_format::problem::nearest;
use jurat_format::value::{Map, Val, Value, shown};

pub struct Expression {
    source: String,
    tree: IdedExpr,
    /// The patterns in it, if its evaluation must be metered.
    patterns: Option<Patterns>,
    names: Vec<String>,
    /// The members of names that it reads.
    fields: BTreeSet<(String, String)>,
    /// What it certainly gives, if that is known without data.
    kind: Option<Certain>,
    /// The keys of the object that it gives, if they are known without data.
    keys: Option<Vec<String>>,
}

/// Two expressions are equal when they are written alike.
impl PartialEq for Expression {
    fn eq(&self, other: &Expression) -> bool {
        self.source == other.source
    }
}

/// What is wrong with an expression, in words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ExpressionError(String);

/// The functions that expressions have.
static FUNCTIONS: LazyLock<Arc<Env>> = LazyLock::new(|| {
    let mut env = Env::stdlib();
    env.add_extension(extensions::strings).expect("the functions of texts clash with no others");
    env.add_extension(extensions::lists).expect("the functions of lists clash with no others");
    Arc::new(env)
});

impl Expression {
    /// Compiles an expression.
    ///
    /// ```
    /// use jurat_compare::expression::Expression;
    /// use jurat_format::value::parse_json;
    ///
    /// let long = Expression::compile("size(answer) > 3 && lang in ['en', 'de']")?;
    /// let row = parse_json(r#"{"answer": "paid", "lang": "en"}"#).unwrap().value;
    /// assert_eq!(long.holds(&row), Ok(true));
    /// # Ok::<(), jurat_compare::expression::ExpressionError>(())
    /// ```
    pub fn compile(source: &str) -> Result<Expression, ExpressionError> {
        limits::check(source)?;
        let parsed = FUNCTIONS.parser().parse(source);
        let mut tree = parsed.map_err(|errors| unparsed(source, errors.errors.first()))?;
        let read = names::read(&tree);
        if let Some(function) = read.unknown {
            return Err(unknown_function(source, &function.name));
        }
        if let Some(kind) = kind::misplaced(&tree) {
            return Err(ExpressionError(format!("`{source}` uses {kind} where true or false is needed")));
        }
        let (kind, keys) = (kind::kind(&tree), kind::keys(&tree));
        let patterns = metered::metered(&mut tree).map_err(|it| ExpressionError(format!("in `{source}`, {it}")))?;
        limits::check_tree(source, &tree)?;
        Ok(Expression {
            source: source.to_owned(),
            tree,
            patterns: patterns.map(Arc::from),
            names: read.names.into_iter().collect(),
            fields: read.fields,
            kind,
            keys,
        })
    }

    /// Compiles an expression that must give true or false.
    pub fn compile_condition(source: &str) -> Result<Expression, ExpressionError> {
        Expression::compile(source)?.must_be_boolean()
    }

    /// Refuses an expression that certainly gives something other than true or false.
    pub fn must_be_boolean(self) -> Result<Expression, ExpressionError> {
        self.not_boolean().map_or(Ok(self), Err)
    }

    /// Refuses an expression that certainly gives something other than an object.
    pub fn must_be_object(self) -> Result<Expression, ExpressionError> {
        self.is_not(Certain::Object, "an object, such as `{'key': 1}`").map_or(Ok(self), Err)
    }

    /// Whether it is certain that it gives true or false.
    pub fn is_boolean(&self) -> bool {
        self.kind == Some(Certain::Boolean)
    }

    /// Why it can never give true or false, if that is certain.
    pub fn not_boolean(&self) -> Option<ExpressionError> {
        self.is_not(Certain::Boolean, "true or false; compare it with something")
    }

    fn is_not(&self, wanted: Certain, phrase: &str) -> Option<ExpressionError> {
        let kind = self.kind.filter(|it| *it != wanted)?;
        Some(ExpressionError(format!("`{}` gives {kind}, and must give {phrase}", self.source)))
    }

    /// Refuses an expression that reads other names than these.
    pub fn must_read(self, known: &[&str]) -> Result<Expression, ExpressionError> {
        match self.names.iter().find(|it| !known.contains(&it.as_str())) {
            Some(name) => Err(unknown_name(&self.source, name, known)),
            None => Ok(self),
        }
    }

    /// The expression as it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The names that it reads, sorted.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The members of a name that it reads without asking first whether they are there.
    pub fn fields_of(&self, name: &str) -> impl Iterator<Item = &str> {
        self.fields.iter().filter(move |(root, _)| root == name).map(|(_, field)| field.as_str())
    }

    /// The keys of the object that it gives, if they are known without data.
    pub fn keys(&self) -> Option<&[String]> {
        self.keys.as_deref()
    }

    /// Evaluates it with the members of an object as its names.
    pub fn evaluate(&self, names: &Val<'_>) -> Result<Value, ExpressionError> {
        let mut context = Context::with_env(FUNCTIONS.clone());
        for name in &self.names {
            if let Some(value) = names.get(name) {
                context.add_variable_from_value(name.as_str(), lent(value)?);
            }
        }
        let result = self.resolve(context)?.map_err(|error| self.failed(&error, names))?;
        returned(&result).map_err(|kind| ExpressionError(format!("`{}` gives {kind}, which is no value", self.source)))
    }

    /// What the interpreter gives; the outer error is that it cost too much or was interrupted.
    fn resolve(&self, mut context: Context<'_, '_>) -> Result<Result<cel::Value, ExecutionError>, ExpressionError> {
        let Some(patterns) = &self.patterns else { return Ok(cel::Value::resolve(&self.tree, &context)) };
        let meter = Meter::new();
        meter.add_to(&mut context, patterns);
        let result = cel::Value::resolve(&self.tree, &context);
        if meter.is_interrupted() {
            return Err(ExpressionError(format!("`{}` was interrupted", self.source)));
        }
        if meter.is_exhausted() {
            return Err(ExpressionError(format!(
                "`{}` was stopped after {} steps: loops inside loops, or long texts, make it too costly",
                self.source,
                meter::MAX_STEPS
            )));
        }
        Ok(result)
    }

    pub fn holds(&self, names: &Val<'_>) -> Result<bool, ExpressionError> {
        match self.evaluate(names)? {
            Val::Bool(holds) => Ok(holds),
            other => {
                Err(ExpressionError(format!("`{}` gives {}, and must give true or false", self.source, shown(&other))))
            }
        }
    }

    fn failed(&self, error: &ExecutionError, names: &Val<'_>) -> ExpressionError {
        let source = &self.source;
        ExpressionError(match error {
            ExecutionError::UndeclaredReference(name) => {
                let known = names.as_map().map(|it| it.keys().collect::<Vec<_>>().join(", ")).unwrap_or_default();
                let known = if known.is_empty() { "nothing".to_owned() } else { known };
                format!("`{source}` reads `{name}`, which is not there; there is {known}")
            }
            ExecutionError::NoSuchKey(key) => {
                format!("`{source}` reads `{key}`, which is not there; `has(….{key})` asks whether it is")
            }
            other => format!("`{source}` cannot be evaluated: {other}"),
        })
    }
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Expression").field(&self.source).finish()
    }
}

fn unparsed(source: &str, first: Option<&ParseError>) -> ExpressionError {
    if let Some(slip) = slip::of_syntax(source) {
        return ExpressionError(format!("`{source}` is not an expression: {slip}"));
    }
    let place = first.map_or_else(String::new, |it| format!(" at column {}", it.pos.1.max(1)));
    let reason = first.map_or_else(|| "it cannot be read".to_owned(), |it| slip::plain_words(&it.msg));
    ExpressionError(format!("`{source}` is not an expression{place}: {reason}"))
}

fn unknown_function(source: &str, name: &str) -> ExpressionError {
    let offered = match nearest(name, names::OFFERED) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("functions are {}", names::OFFERED.join(", ")),
    };
    ExpressionError(format!("`{source}` calls `{name}`, which is not a function; {offered}"))
}

fn unknown_name(source: &str, name: &str, known: &[&str]) -> ExpressionError {
    let offered = match slip::of_name(name).or_else(|| nearest(name, known.iter().copied())) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there is {}", known.join(", ")),
    };
    ExpressionError(format!("`{source}` reads `{name}`, which is not there; {offered}"))
}

/// A value as the interpreter has it. It has no numbers beyond 64 bits, and rounding one would compare another.
fn lent(value: &Val<'_>) -> Result<cel::Value, ExpressionError> {
    Ok(match value {
        Val::Null => cel::Value::Null,
        Val::Bool(value) => cel::Value::Bool(*value),
        Val::I(number) => cel::Value::Int(*number),
        Val::U(number) => cel::Value::UInt(*number),
        Val::F(number) => cel::Value::Float(*number),
        Val::Big(number) => {
            return Err(ExpressionError(format!(
                "{number} does not fit 64 bits, and expressions know no larger numbers"
            )));
        }
        Val::Str(text) => cel::Value::String(Arc::new(text.clone().into_owned())),
        Val::List(items) => cel::Value::List(Arc::new(items.iter().map(lent).collect::<Result<_, _>>()?)),
        Val::Map(map) => {
            let member = |(key, value): (&str, &Val<'_>)| Ok((Key::String(Arc::new(key.to_owned())), lent(value)?));
            let members: HashMap<Key, cel::Value> = map.iter().map(member).collect::<Result<_, ExpressionError>>()?;
            cel::Value::Map(CelMap { map: Arc::new(members) })
        }
    })
}

/// What the interpreter gave, as a value; members of objects are sorted, because it does not know their order.
fn returned(value: &cel::Value) -> Result<Value, &'static str> {
    Ok(match value {
        cel::Value::Null => Val::Null,
        cel::Value::Bool(value) => Val::Bool(*value),
        cel::Value::Int(number) => Val::I(*number),
        cel::Value::UInt(number) => Val::from(*number),
        cel::Value::Float(number) => Val::F(*number),
        cel::Value::String(text) => Val::from(text.to_string()),
        cel::Value::List(items) => items.iter().map(returned).collect::<Result<_, _>>()?,
        cel::Value::Map(map) => {
            let mut members = Vec::with_capacity(map.map.len());
            for (key, value) in map.map.iter() {
                let key = match key {
                    Key::String(key) => key.to_string(),
                    Key::Int(key) => key.to_string(),
                    Key::Uint(key) => key.to_string(),
                    Key::Bool(key) => key.to_string(),
                };
                members.push((key, returned(value)?));
            }
            members.sort_by(|(left, _), (right, _)| left.cmp(right));
            Val::Map(members.into_iter().collect::<Map<'static>>())
        }
        cel::Value::Bytes(_) => return Err("bytes"),
        cel::Value::Function(..) => return Err("a function"),
        _ => return Err("something of the interpreter's own"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use jurat_format::value::parse_json;

    const ROW: &str = r#"{"n": 3, "x": 1.5, "big": 18446744073709551615, "text": "Paid in full", "tags": ["a", "b"],
        "o": {"k": {"d": true}}, "none": null, "huge": 123456789012345678901234567890}"#;

    #[track_caller]
    fn holds(source: &str, expected: Result<bool, &str>) {
        let row = parse_json(ROW).unwrap().value;
        let answer = Expression::compile(source).and_then(|it| it.holds(&row));
        assert_eq!(answer, expected.map_err(|it| ExpressionError(it.to_owned())), "{source}");
    }

    #[test]
    fn rows_are_read_by_their_names() {
        for source in [
            "n == 3 && x > 1.0 && n > x",
            "n == 3.0",
            "big == 18446744073709551615u",
            "text.startsWith('Paid') && text.lowerAscii().contains('full')",
            "text.matches('^[A-Z]')",
            "'b' in tags && size(tags) == 2",
            "tags.exists(it, it == 'a') && tags.all(it, size(it) == 1)",
            "o.k.d",
            "has(o.k) && !has(o.z)",
            "o.?z.orValue(7) == 7",
            "none == null",
            "text.split(' ')[1] == 'in'",
        ] {
            holds(source, Ok(true));
        }
        holds("n > 3", Ok(false));
    }

    #[test]
    fn what_is_no_yes_or_no_is_an_error() {
        holds("n + 1", Err("`n + 1` gives 4, and must give true or false"));
        holds("none", Err("`none` gives null, and must give true or false"));
        holds(
            "nope > 1",
            Err("`nope > 1` reads `nope`, which is not there; there is n, x, big, text, tags, o, none, huge"),
        );
        holds("o.z > 1", Err("`o.z > 1` reads `z`, which is not there; `has(….z)` asks whether it is"));
        holds(
            "huge > 1",
            Err("123456789012345678901234567890 does not fit 64 bits, and expressions know no larger numbers"),
        );
        holds("1 / 0 == 1", Err("`1 / 0 == 1` cannot be evaluated: Division by zero of Int(1)"));
        assert!(Expression::compile("n >").is_err());
    }

    #[track_caller]
    fn refused(source: &str, reason: &str) {
        let error = Expression::compile(source).expect_err("it is refused").to_string();
        assert!(error.contains(reason), "{error}");
        assert!(error.len() < source.len() + 1000, "the message is as long as {}", error.len());
    }

    /// Deep trees overflow the stack of the parser, of the interpreter and of whatever drops them.
    #[test]
    fn what_is_too_long_or_too_deep_is_refused_before_it_is_parsed() {
        for n in [1_000, 50_000] {
            refused(&vec!["1"; n].join("+"), "at most");
            refused(&format!("n{}", ".b".repeat(n)), "at most");
            refused(&format!("n{}", "[0]".repeat(n)), "at most");
            refused(&format!("{}n{}", "(".repeat(n), ")".repeat(n)), "at most");
            refused(&format!("{}n", "!".repeat(n)), "at most");
            refused(&format!("{}n", "-".repeat(n)), "at most");
            refused(&("n ? n : ".repeat(n) + "n"), "at most");
            refused(&format!("{}1{}", "[".repeat(n), "]".repeat(n)), "at most");
            refused(&format!("{}1{}", "{1: ".repeat(n), "}".repeat(n)), "at most");
        }
        refused(&"x".repeat(20_000), "20000 bytes long");
        refused(&format!("text == '{}'", "x".repeat(20_000)), "bytes long");
    }

    /// What is refused nowhere must fit: the deepest of each kind is parsed and evaluated in the stack of a thread of a debug build.
    #[test]
    fn the_deepest_expression_that_is_allowed_is_evaluated() {
        let n = limits::MAX_OPERATORS;
        let sums = Expression::compile(&["1"; 40].join("+")).expect("it is not too deep");
        assert_eq!(sums.evaluate(&Val::Map(Map::default())), Ok(Val::I(40)));
        let row = parse_json(ROW).unwrap().value;
        for source in [
            vec!["1"; n].join("+"),
            format!("n{} == 1", ".b".repeat(n - 2)),
            format!("n{} == 1", ".b".repeat(40)),
            format!("tags{} == 1", "[0]".repeat(n - 2)),
            format!("tags{} == 1", "[0]".repeat(40)),
            format!("{}true", "!".repeat(n)),
            vec!["n == 3"; n / 2].join(" && "),
            vec!["n == 4"; n / 2].join(" || "),
            "[1].map(x, ".repeat(8) + "x" + &")".repeat(8),
            "(".repeat(9) + "n" + &")".repeat(9),
            "[".repeat(9) + "n" + &"]".repeat(9),
            "n > 1 ? n : ".repeat(9) + "n",
        ] {
            // Whether it is refused, holds or cannot be evaluated, it ends.
            let _ = Expression::compile(&source).map(|it| it.holds(&row));
        }
        // Text is not code: operators in it do not count.
        holds(&format!("text != '{}'", "+.[".repeat(500)), Ok(true));
        holds(&format!("n in [{}]", vec!["3"; 2_000].join(", ")), Ok(true));
    }

    #[track_caller]
    fn stopped(source: &str) {
        let row = parse_json(ROW).unwrap().value;
        let error = Expression::compile(source).and_then(|it| it.evaluate(&row)).expect_err("it costs too much");
        assert!(error.to_string().contains("was stopped after 1000000 steps"), "{error}");
    }

    /// Each of these would take days, or more memory than there is.
    #[test]
    fn what_costs_too_much_is_stopped_after_a_number_of_steps() {
        let ten = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]";
        let nested = |macro_: &str, body: &str| {
            (0..8).rev().fold(body.to_owned(), |body, level| format!("{ten}.{macro_}(x{level}, {body})"))
        };
        stopped(&nested("map", "1"));
        stopped(&nested("all", "x0 >= 0"));
        stopped(&nested("exists", "x0 > 10"));
        stopped(&nested("exists_one", "x0 > 10"));
        stopped(&format!("{} || true", nested("exists", "x0 > 10")));
        stopped("lists.range(1000000).map(x, lists.range(1000000))");
        stopped("lists.range(1000000).distinct()");
        stopped("lists.range(1000).exists(x, lists.range(100000).size() < x)");
        stopped("lists.range(1000000).map(x, text.replace('a', 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb'))");
        stopped(&format!("'a'{}", ".replace('a', 'aaaaaaaaaa')".repeat(40)));
        stopped(&format!("['aaaaaaaa']{}", ".map(x, x + x)".repeat(40)));
        stopped(&format!("[['a']]{}", ".map(x, x + x)".repeat(40)));
        let longer: String = (0..6).map(|digit| format!(".replace('{digit}', '0123456789')")).collect();
        stopped(&format!(
            "lists.range(10000).map(x, 'abcdefghij').join('0123456789'.replace('', '0123456789')){longer}"
        ));
        stopped(&format!("lists.range(900000).map(x, '{}')", "a".repeat(5_000)));
        stopped("lists.range(900).all(x, text.matches('a{0,' + string(x + 1) + '}'))");
    }

    #[test]
    fn what_people_write_is_not_stopped() {
        let rows: Vec<String> =
            (0..5_000).map(|n| format!(r#"{{"id": "row {n}", "tags": ["a", "b"], "n": {n}}}"#)).collect();
        let row = parse_json(&format!(r#"{{"rows": [{}]}}"#, rows.join(", "))).unwrap().value.into_owned();
        for source in [
            "rows.all(it, it.id.matches('^row [0-9]+$') && size(it.tags) == 2)",
            "rows.filter(it, it.n > 10).map(it, it.id.upperAscii()).size() == 4989",
            "rows.map(it, it.id).distinct().size() == 5000 || true",
            "rows.exists(it, 'b' in it.tags && it.tags.exists(tag, tag == 'a'))",
            "rows.map(it, it.id).join(', ').startsWith('row 0, row 1')",
            "rows.sortBy(it, -it.n)[0].n == 4999",
        ] {
            let held = Expression::compile(source).and_then(|it| it.holds(&row));
            assert!(held == Ok(true) || source.contains("distinct"), "{source}: {held:?}");
        }
    }

    #[test]
    fn an_interrupt_ends_costly_evaluations_on_its_thread() {
        let costly = Expression::compile("items.all(a, items.all(b, a + b >= 0))").expect("it compiles");
        let row = |n: i64| Val::Map([("items", (0..n).map(Val::I).collect::<Val<'_>>())].into_iter().collect());
        let interrupt = Interrupt::default();
        let entered = interrupt.enter();
        assert_eq!(costly.holds(&row(100)), Ok(true));
        interrupt.raise();
        assert_eq!(costly.holds(&row(10)), Ok(true), "what is cheap is done");
        assert!(!Interrupt::was_noticed());
        let ended = costly.holds(&row(100)).map_err(|it| it.to_string());
        assert_eq!(ended, Err(format!("`{}` was interrupted", costly.source())));
        let absorbed = Expression::compile("items.all(a, items.all(b, a + b >= 0)) || true").expect("it compiles");
        assert!(absorbed.holds(&row(100)).is_err(), "an interruption is no result");
        assert!(Interrupt::was_noticed());
        drop(entered);
        assert_eq!((costly.holds(&row(100)), Interrupt::was_noticed()), (Ok(true), false));
    }

    #[test]
    fn functions_mean_the_same_with_a_meter() {
        for source in [
            "text.replace('Paid', 'Sent') == 'Sent in full'",
            "'aaa'.replace('a', 'b', 2) == 'bba'",
            "'aaa'.replace('a', 'b', -1) == 'bbb'",
            "tags.join('-') == 'a-b' && tags.join() == 'ab'",
            "['a', 'b', 'a'].distinct() == ['a', 'b']",
            "text.matches('full$') && !text.matches('^full')",
            "matches(text, 'in')",
            "text.matches('Pa' + 'id')",
            "[3, 1, 2].sortBy(it, -it) == [3, 2, 1]",
            "[1, 2, 3].map(it, it > 1, it * 2) == [4, 6]",
            "[1, 2].exists_one(it, it == 2)",
            "optional.of(1).hasValue()",
            "{'a': 1}.exists(key, key == 'a')",
        ] {
            holds(source, Ok(true));
        }
        holds(
            "n.replace('a', 'b') == 'c'",
            Err(
                "`n.replace('a', 'b') == 'c'` cannot be evaluated: found no matching overload for 'replace' applied to 'int.(string, string)'",
            ),
        );
    }

    #[test]
    fn slips_are_named_with_what_to_write() {
        for (source, reason) in [
            ("n = 3", "`n = 3` is not an expression: `=` is written `==`"),
            ("n === 3", "`===` is written `==`"),
            ("n <> 3", "`<>` is written `!=`"),
            ("n == 3 and x > 1.0", "`and` is written `&&`"),
            ("not n", "`not` is written `!`"),
            ("n == 3 & x > 1.0", "`&` is written `&&`"),
            ("text.startswith('a')", "calls `startswith`, which is not a function; did you mean `startsWith`?"),
            ("len(text) > 3", "calls `len`, which is not a function"),
            ("text.matches('(')", "`(` is not a pattern: "),
            ("'a' && true", "uses text where true or false is needed"),
            ("n >", "is not an expression at column"),
        ] {
            let error = Expression::compile(source).expect_err(source).to_string();
            assert!(error.contains(reason), "{source}: {error}");
        }
    }

    #[test]
    fn what_is_certain_without_data_is_known_before_it() {
        let condition = |source: &str| Expression::compile_condition(source).map(|_| ()).map_err(|it| it.to_string());
        for source in ["n > 1", "n", "o.k", "has(o.k)", "tags.all(it, true)", "n > 1 ? o.k : true", "tags[0]"] {
            assert_eq!(condition(source), Ok(()), "{source}");
        }
        for source in ["n + 1", "size(tags)", "'a'", "[1]", "{'a': 1}", "null", "tags.map(it, it)", "true ? 1 : 2"] {
            let error = condition(source).expect_err(source);
            assert!(error.contains("must give true or false"), "{error}");
        }
        let names = |source: &str| Expression::compile(source).map(|it| it.names().to_vec());
        assert_eq!(names("tags.map(it, it + n).exists(x, x in o)"), Ok(["n", "o", "tags"].map(str::to_owned).to_vec()));
        assert_eq!(names("type(n) == int && optional.of(n).hasValue()"), Ok(vec!["n".to_owned()]));
    }
}
