//! Expressions that authors write: CEL, a language that always ends and touches nothing.
//!
//! This is the only place that knows the interpreter. An expression is compiled once; where a yes or no is needed, anything else is
//! an error, never taken for a no.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use cel::objects::{Key, Map as CelMap};
use cel::{Context, Env, ExecutionError, Program, extensions};

use crate::value::{Map, Val, Value, shown};

/// A compiled expression.
pub struct Expression {
    source: String,
    program: Program,
    names: Vec<String>,
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
    /// use jurat_core::expression::Expression;
    /// use jurat_core::value::parse_json;
    ///
    /// let long = Expression::compile("size(answer) > 3 && lang in ['en', 'de']")?;
    /// let row = parse_json(r#"{"answer": "paid", "lang": "en"}"#).unwrap().value;
    /// assert_eq!(long.holds(&row), Ok(true));
    /// # Ok::<(), jurat_core::expression::ExpressionError>(())
    /// ```
    pub fn compile(source: &str) -> Result<Expression, ExpressionError> {
        let program = FUNCTIONS.compile(source).map_err(|errors| {
            let first = errors.errors.first();
            let place = first.map_or_else(String::new, |it| format!(" at column {}", it.pos.1.max(1)));
            let reason = first.map_or("it cannot be read", |it| it.msg.as_str());
            ExpressionError(format!("`{source}` is not an expression{place}: {reason}"))
        })?;
        let mut names: Vec<String> = program.references().variables().into_iter().map(str::to_owned).collect();
        names.sort_unstable();
        Ok(Expression { source: source.to_owned(), program, names })
    }

    /// The expression as it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The names that it reads, sorted.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// What it comes to with the members of an object as its names.
    pub fn evaluate(&self, names: &Val<'_>) -> Result<Value, ExpressionError> {
        let mut context = Context::with_env(FUNCTIONS.clone());
        for name in &self.names {
            if let Some(value) = names.get(name) {
                context.add_variable_from_value(name.as_str(), lent(value)?);
            }
        }
        let result = self.program.execute(&context).map_err(|error| self.failed(&error, names))?;
        returned(&result).map_err(|kind| ExpressionError(format!("`{}` gives {kind}, which is no value", self.source)))
    }

    /// Whether it holds.
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
    use crate::value::parse_json;

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
}
