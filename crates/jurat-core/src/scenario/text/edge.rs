//! Edges: where a conversation continues.

use jurat_format::codes;
use jurat_format::field::Field;
use jurat_format::fields::Fields;
use jurat_format::form::{Form, Object};
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape, Tree};
use jurat_format::value::{Content, Node, Span, Spanned, Val};

use super::ScenarioText;
use crate::scenario::when::{self, WhenError, WhenErrorKind};
use crate::scenario::{Callable, Condition, Edge, Handover, Target};
use crate::section::lost::Part;

#[derive(Debug, Clone, Default)]
pub struct EdgeText {
    pub span: Span,
    /// Where the node that it leaves is named.
    pub source: Span,
    /// Where its target is named.
    pub target: Span,
    pub when: Option<Span>,
    /// Where it says what is handed over to the next turn.
    pub handover: Option<Span>,
    /// Whether its condition could not be read.
    pub(crate) is_flawed: bool,
}

const FROM: Field<Spanned<String>> = Field::required("from", shape::TEXT, "the node it leaves").or(&["source"]);
const TO: Field<Spanned<String>> =
    Field::required("to", shape::TEXT, "the node it goes to, or `__end__`").or(&["target"]);
const WHEN: Field<Tree> = Field::optional(
    "when",
    shape::tree(Form::Either(&[Form::Map(&Form::Any), Form::List(&Form::Any)])),
    "the condition",
)
.or(&["condition"])
.default_words("taken when no other edge is")
.or_null();
const CONDITION_SOURCE: Field<Spanned<String>> =
    Field::optional("condition_source", shape::TEXT, "source text of code for the condition; shown, never run")
        .or_null();
const HANDOVER: Field<Handover> = Field::optional(
    "handover",
    Shape::new(Form::Choice(&Handover::NAMES), handover),
    "how the next turn gets the turns before it",
)
.or_null()
.default_words("the conversation itself, as messages");
const HANDOVER_SOURCE: Field<Spanned<String>> =
    Field::optional("handover_source", shape::TEXT, "source text of code for the handover; shown, never run").or_null();

static EDGE: Object = Object {
    what: "an edge",
    keys: &[FROM.key, TO.key, WHEN.key, CONDITION_SOURCE.key, HANDOVER.key, HANDOVER_SOURCE.key],
};

pub(crate) const FORM: Form = Form::Either(&[Form::Text, Form::Object(&EDGE)]);

/// Between the ends of an edge in its short form.
const ARROW: &str = "->";

/// Reads the edges of a scenario.
pub(crate) fn read_all(reading: &mut Reading<'_>, node: &Node<'_>, text: &mut ScenarioText) {
    text.lost.add_if(node.as_list().is_none(), &[Part::Edge]);
    for item in reading.list("`edges`", "a list of edges", node) {
        let edge = match &item.content {
            Content::Scalar(Val::Str(_)) => short(reading, item),
            _ => long(reading, item),
        };
        match edge {
            Some((edge, place)) => {
                text.scenario.edges.push(edge);
                text.edges.push(place);
            }
            None => text.lost.add(Part::Edge, None),
        }
    }
}

/// `ask -> doubt`
fn short(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<(Edge, EdgeText)> {
    let text = node.as_str()?;
    let ends = text.split_once(ARROW).map(|(source, target)| (source.trim(), target.trim()));
    let is_edge = |(source, target): &(&str, &str)| !source.is_empty() && !target.is_empty() && !target.contains(ARROW);
    let Some((source, target)) = ends.filter(is_edge) else {
        let message = format!("an edge must be `node {ARROW} node`, not {}", node.phrase());
        let problem = Problem::new(&codes::WRONG_VALUE, message).at(node.span, "no edge");
        reading.problem(problem.help("write `ask -> doubt`, or an object with `from` and `to`"));
        return None;
    };
    let place = |part: &str| {
        let start = part.as_ptr() as usize - text.as_ptr() as usize;
        reading.part_of_text(node.span, text, start..start + part.len())
    };
    let place = EdgeText {
        span: node.span,
        source: place(source),
        target: place(target),
        when: None,
        handover: None,
        is_flawed: false,
    };
    Some((Edge::new(source, target), place))
}

fn long(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<(Edge, EdgeText)> {
    let fields = EDGE.fields(reading, node)?;
    let source = fields.read(reading, &FROM);
    let target = fields.read(reading, &TO);
    let n_before = reading.n_errors();
    let condition = condition(reading, &fields);
    let is_flawed = reading.n_errors() > n_before || fields.may_mean(&WHEN);
    let handover = handed_over(reading, &fields);
    let (Spanned { value: source, span: source_span }, target) = (source?, target?);
    // What its condition would have been is not known, only that it has one.
    let when = if is_flawed { Some(Condition::Callable(Callable::default())) } else { condition };
    let place = EdgeText {
        span: fields.head(),
        source: source_span,
        target: target.span,
        when: fields.node(&WHEN).or(fields.node(&CONDITION_SOURCE)).map(|it| it.span),
        handover: fields.node(&HANDOVER).or(fields.node(&HANDOVER_SOURCE)).map(|it| it.span),
        is_flawed,
    };
    Some((Edge { source, target: Target::named(&target.value), when, handover }, place))
}

fn condition(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Condition> {
    let source = fields.read(reading, &CONDITION_SOURCE);
    let condition = match fields.node(&WHEN).map(when::read) {
        None => None,
        Some(Ok(condition)) => condition,
        Some(Err(errors)) => {
            errors.into_iter().for_each(|it| reading.problem(wrong(it)));
            None
        }
    };
    match (condition, source) {
        (Some(condition), Some(source)) => {
            let message = "an edge has either `when` or `condition_source`, not both";
            let problem = Problem::new(&codes::CONFLICT, message).at(source.span, "and this");
            let when = fields.key_span(&WHEN).unwrap_or(fields.span);
            reading.problem(problem.at(when, "this").help("keep `when`: a stored source is for display"));
            Some(condition)
        }
        (condition, source) => condition.or(source.map(|it| Condition::Callable(Callable::text(it.value)))),
    }
}

/// A mistake in a condition, as a problem.
fn wrong(error: WhenError) -> Problem {
    let code = match error.kind {
        WhenErrorKind::UnknownOperator => &codes::UNKNOWN_OPERATOR,
        WhenErrorKind::BadExpression => &codes::BAD_EXPRESSION,
        WhenErrorKind::BadCondition | WhenErrorKind::UnsupportedCondition => &codes::BAD_CONDITION,
    };
    let problem = Problem::new(code, error.message).at(error.span, "here");
    error.help.into_iter().fold(problem, Problem::help)
}

/// A strategy, or the text of code.
fn handed_over(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Handover> {
    let named = fields.node(&HANDOVER);
    let source = fields.node(&HANDOVER_SOURCE);
    if let (Some(named), Some(source)) = (named, source) {
        let message = "an edge has either `handover` or `handover_source`, not both";
        let problem = Problem::new(&codes::CONFLICT, message).at(source.span, "and this").at(named.span, "this");
        reading.problem(problem.help("keep `handover`: a stored source is for display"));
    }
    if named.is_some() {
        return fields.read(reading, &HANDOVER);
    }
    fields.read(reading, &HANDOVER_SOURCE).map(|it| Handover::Callable(Callable::text(it.value)))
}

fn handover(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Handover> {
    Handover::named(reading.choice(what, &Handover::NAMES.map(|it| (it, it)), node)?)
}
