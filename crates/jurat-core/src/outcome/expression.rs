//! `cel`: an expression over the whole result.

use std::sync::Arc;

use jurat_compare::expression::{Expression, ExpressionError};
use jurat_compare::{ArgError, Fault};
use jurat_format::codes;
use jurat_format::field::Field;
use jurat_format::form::{Form, Object};
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::shape::Shape;
use jurat_format::value::{Map, Node as Text, Val, Value, shown};

use super::Check;
use super::error::OutcomeError;
use super::field::{RESULT_PARTS, unread_part};
use super::format::{TYPE, WrittenKind, keyed};
use super::node::{Gives, Names, Node, Notes};
use super::stored::{StoredKind, object, required, text};
use super::trace::Found;

/// What an expression over `result` evaluates to.
#[derive(Debug, Clone, PartialEq)]
pub struct Cel(pub Arc<Expression>);

impl Node for Cel {
    const WRITTEN: &'static [WrittenKind] = &[WrittenKind {
        name: "cel",
        doc: "an expression over `result` is true",
        form: Form::Text,
        read: |reading, it| read_expression(reading, "`cel`", &it.value),
    }];

    const STORED: &'static [StoredKind] = &[StoredKind {
        name: "cel",
        class: "Cel",
        keys: &CEL,
        read: |reading, node| {
            let fields = CEL.fields(reading, node)?;
            fields.read(reading, &EXPRESSION)
        },
        load: |node| Ok(Cel(load_expression(node)?).into()),
    }];

    fn decide(&self, evidence: &Val<'_>, notes: &mut Notes) -> Result<Value, OutcomeError> {
        let value = evaluated(&self.0, "result", evidence)?;
        notes.found(|| Found { place: None, read: self.0.source().to_owned(), value: value.clone(), mismatch: None });
        Ok(value)
    }

    fn words(&self) -> String {
        format!("`{}`", self.0.source())
    }

    fn to_written(&self) -> Option<Value> {
        Some(keyed("cel", Val::from(self.0.source().to_owned())))
    }

    fn to_stored(&self, names: Names) -> Value {
        let kind = Val::from(names(&Self::STORED[0]));
        object([("type", kind), ("expression", Val::from(self.0.source().to_owned()))])
    }

    fn gives(&self) -> Gives {
        Gives::Anything
    }

    fn holds_by(&self, value: &Value) -> Result<bool, OutcomeError> {
        Err(not_boolean(&self.0, value))
    }
}

/// What an expression evaluates to with this value under this name.
pub(super) fn evaluated(expression: &Expression, name: &'static str, value: &Val<'_>) -> Result<Value, OutcomeError> {
    let names = Val::Map([(name, value.borrowed())].into_iter().collect::<Map<'_>>());
    expression.evaluate(&names).map_err(|it| uncertain(&it))
}

fn uncertain(error: &ExpressionError) -> OutcomeError {
    OutcomeError { fault: Fault::Content, what: "`cel`".to_owned(), reason: error.to_string() }
}

pub(super) fn not_boolean(expression: &Expression, value: &Val<'_>) -> OutcomeError {
    let reason = format!("`{}` gives {}, and must give true or false", expression.source(), shown(value));
    OutcomeError { fault: Fault::Kind, what: "`cel`".to_owned(), reason }
}

pub(super) fn load_expression(node: &Text<'_>) -> Result<Arc<Expression>, ArgError> {
    let source = text(node, "expression")?;
    let span = required(node, "expression")?.span;
    Expression::compile(&source).map(Arc::new).map_err(|error| ArgError { span, message: error.to_string() })
}

const EXPRESSION: Field<Check> =
    Field::required("expression", Shape::new(Form::Text, read_expression), "the expression");

static CEL: Object = Object { what: "a `cel`", keys: &[TYPE.key, EXPRESSION.key] };

/// An expression over `result`. Alone it may give any value, which is then measured.
fn read_expression(reading: &mut Reading<'_>, what: &str, node: &Text<'_>) -> Option<Check> {
    let expression = compiled(reading, what, node, |it| it.must_read(&["result"]))?;
    for part in expression.fields_of("result").filter(|it| !RESULT_PARTS.contains(it)) {
        reading.problem(unread_part("the result of a scenario", part, &RESULT_PARTS, node.span));
    }
    Some(Cel(expression).into())
}

pub(super) fn compiled(
    reading: &mut Reading<'_>,
    what: &str,
    node: &Text<'_>,
    must_be: fn(Expression) -> Result<Expression, ExpressionError>,
) -> Option<Arc<Expression>> {
    let source = reading.text(what, node)?;
    match Expression::compile(&source.value).and_then(must_be) {
        Ok(expression) => Some(Arc::new(expression)),
        Err(error) => {
            reading.problem(Problem::new(&codes::BAD_EXPRESSION, format!("{what}: {error}")).at(source.span, "here"));
            None
        }
    }
}
