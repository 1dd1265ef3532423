//! Outcomes as they are written: one key that says what is checked, or the stored form with `type`.
//!
//! ```yaml
//! all_of:
//!   - status_is: completed
//!   - all_turns: { verify_result: true }
//!   - count_turns: { node: probe, verify_result: true, gte: 3 }
//! ```

mod long;
mod schema;
mod short;
mod wanted;
mod write;

use std::sync::Arc;

use jurat_compare::expression::{Expression, ExpressionError};
use jurat_format::codes;
use jurat_format::form::Form;
use jurat_format::problem::{Problem, listed, listed_all, nearest};
use jurat_format::reader::Reading;
use jurat_format::value::{Content, Node, Span, Val};

use crate::outcome::field::{RESULT_PARTS, TURN_PARTS};
use crate::outcome::{Aggregation, Check, Nodes, ResultField, TurnField, TurnTest, Wanted};
use crate::scenario::FailureCategory;

pub(super) use schema::{objects, schema, written};
pub(super) use write::write;

pub(super) const FORM: Form = Form::Defined("outcome");

pub(super) fn read(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Check> {
    let entries = node.entries().unwrap_or_default();
    if node.get("type").is_some() {
        return long::read(reading, node);
    }
    match entries {
        [] => {
            reading.wrong_type(what, "an object such as `{ all_turns: { verify_result: true } }`", node);
            None
        }
        [only] => short::read(reading, only),
        [first, second, ..] => {
            // Each is read for its own problems; one that nobody knows is enough of a problem.
            let n_before = reading.n_errors();
            entries.iter().for_each(|it| drop(short::read(reading, it)));
            if reading.n_errors() == n_before {
                let message = format!("an outcome has one key, not both `{}` and `{}`", first.key, second.key);
                let problem = Problem::new(&codes::CONFLICT, message).at(second.key_span, "and this");
                let problem = problem.at(first.key_span, "this");
                let joined = format!("`all_of: [{{ {}: … }}, {{ {}: … }}]`", first.key, second.key);
                reading.problem(problem.help(format!("join them: {joined}")));
            }
            None
        }
    }
}

/// The parts of a composition, in order; `None` when one of them cannot be read.
fn parts(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<Check>> {
    if node.as_list().is_none() {
        reading.wrong_type(what, "a list of outcomes", node);
        return None;
    }
    // All are read before one is missed, so that all problems are reported at once.
    let items = node.as_list().unwrap_or_default();
    if items.is_empty() {
        let message = format!("{what} joins no outcomes, so it is the same for every conversation");
        let problem = Problem::new(&codes::ALWAYS_SAME, message).at(node.span, "empty");
        reading.problem(problem.help("add an outcome, for example `- status_is: completed`, or take it out"));
    }
    let read: Vec<Option<Check>> = items.iter().map(|it| read(reading, &format!("an outcome in {what}"), it)).collect();
    for (check, item) in read.iter().zip(items) {
        if let Some(Check::Aggregation(it)) = check
            && it.thresholds.is_empty()
        {
            reading.problem(bare_aggregation(what, it, item));
        }
        reading.problems_of(check.as_ref().and_then(|it| not_boolean(what, it, item)));
    }
    read.into_iter().collect()
}

/// An expression that certainly gives no yes or no, where one is needed.
fn not_boolean(what: &str, check: &Check, node: &Node<'_>) -> Option<Problem> {
    let Check::Cel(expression) = check else { return None };
    let error = expression.not_boolean()?;
    Some(Problem::new(&codes::BAD_EXPRESSION, format!("in {what}, {error}")).at(node.span, "here"))
}

/// How many of a number of outcomes must hold. None and more than there are decide it in advance.
fn at_least(reading: &mut Reading<'_>, n: Option<&Node<'_>>, of: Option<Vec<Check>>) -> Option<Check> {
    let node = n?;
    let n = u64::try_from(reading.integer("`n`", 0, node)?).ok()?;
    let of = of?;
    let decided = match n {
        _ if of.is_empty() => None,
        0 => Some("`at_least_n` with `n: 0` always holds".to_owned()),
        n if n > of.len() as u64 => Some(format!("`at_least_n` can never hold: {n} of {} outcomes", of.len())),
        _ => None,
    };
    if let Some(message) = decided {
        let problem = Problem::new(&codes::ALWAYS_SAME, message).at(node.span, "here");
        reading.problem(problem.help(format!("write a number from 1 to {}", of.len())));
    }
    Some(Check::AtLeast { n, of })
}

fn bare_aggregation(what: &str, aggregation: &Aggregation, node: &Node<'_>) -> Problem {
    let name = aggregation.kind.name();
    let message = format!("`{name}` gives a number, which never holds in {what}");
    let problem = Problem::new(&codes::BARE_AGGREGATION, message).at(node.span, "counts as no");
    problem.help("say what the number must be, with `gte`, `gt`, `lte`, `lt` or `eq`")
}

/// What `not` is about.
fn negated(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Check> {
    let check = read(reading, "`not`", node)?;
    if let Check::Aggregation(it) = &check
        && it.thresholds.is_empty()
    {
        let message = format!("`not` needs what holds or does not, and `{}` gives a number", it.kind.name());
        let problem = Problem::new(&codes::WRONG_VALUE, message).at(node.span, "gives a number");
        reading.problem(problem.help("say what the number must be, with `gte`, `gt`, `lte`, `lt` or `eq`"));
        return None;
    }
    reading.problems_of(not_boolean("`not`", &check, node));
    Some(Check::Not(Box::new(check)))
}

/// An expression over `result`. Alone it may give any value, which is then measured.
fn of_result(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Check> {
    let expression = expression(reading, what, node, |it| it.must_read(&["result"]))?;
    for part in expression.fields_of("result").filter(|it| !RESULT_PARTS.contains(it)) {
        reading.problem(unread_part("the result of a scenario", part, &RESULT_PARTS, node.span));
    }
    Some(Check::Cel(expression))
}

/// An expression over `turn`, which says whether the turn counts.
fn of_turn(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<TurnTest> {
    let must_be = |it: Expression| it.must_read(&["turn"]).and_then(Expression::must_be_boolean);
    let expression = expression(reading, what, node, must_be)?;
    for part in expression.fields_of("turn").filter(|it| !TURN_PARTS.contains(it)) {
        reading.problem(unread_part("a turn", part, &TURN_PARTS, node.span));
    }
    Some(TurnTest::Cel(expression))
}

fn expression(
    reading: &mut Reading<'_>,
    what: &str,
    node: &Node<'_>,
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

/// A node, or a list of them.
fn nodes(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Nodes> {
    match &node.content {
        Content::Scalar(Val::Null) => Some(Nodes::Every),
        Content::Scalar(Val::Str(name)) => Some(Nodes::One(name.clone().into_owned())),
        Content::List(items) => {
            let names = reading.texts(what, node);
            (names.len() == items.len()).then(|| Nodes::Of(names.into_iter().map(|it| it.value).collect()))
        }
        _ => {
            reading.wrong_type(what, "the id of a node, or a list of them", node);
            None
        }
    }
}

/// A path into a turn. One that leads to no part of it is null in every turn.
fn turn_field(reading: &mut Reading<'_>, text: &str, span: Span) -> TurnField {
    let field = TurnField::parse(text);
    if field.as_str() == "parsed" {
        let message = "`parsed` alone is null: what was read from an answer goes by its fields";
        let problem = Problem::new(&codes::UNKNOWN_PART, message).at(span, "null in every turn");
        reading.problem(problem.help("name a field: `parsed.stance`"));
    } else if !TURN_PARTS.contains(&field.part()) && field.as_str() != "parsed_fields" {
        reading.problem(unknown_part("a turn", field.part(), &TURN_PARTS, span));
    }
    field
}

/// A comparison of a turn's failure with a category that does not exist.
fn category(reading: &mut Reading<'_>, field: &TurnField, wanted: &Wanted, span: Span) {
    let category = wanted.expected().as_str().filter(|_| field.as_str() == "failure.category");
    let Some(category) = category.filter(|it| FailureCategory::is_unknown(wanted.operator(), it)) else { return };
    let names = FailureCategory::NAMED.map(|(name, _)| name);
    let problem = Problem::new(&codes::UNKNOWN_PART, format!("there is no failure category `{category}`"));
    let problem = problem.at(span, "no failure has it").did_you_mean(category, names);
    reading.problem(problem.help(format!("categories are {}", listed_all(names))));
}

/// A path into the result.
fn result_field(reading: &mut Reading<'_>, text: &str, span: Span) -> ResultField {
    let field = ResultField::parse(text);
    if !RESULT_PARTS.contains(&field.part()) {
        reading.problem(unknown_part("the result of a scenario", field.part(), &RESULT_PARTS, span));
    }
    field
}

fn unknown_part(what: &str, part: &str, parts: &[&'static str], span: Span) -> Problem {
    let problem = Problem::new(&codes::UNKNOWN_PART, format!("{what} has no `{part}`, so this is always null"));
    nearest_part(problem.at(span, "leads nowhere"), what, part, parts)
}

/// The same in an expression, which is an error when it looks at what is not there.
fn unread_part(what: &str, part: &str, parts: &[&'static str], span: Span) -> Problem {
    let problem = Problem::new(&codes::UNKNOWN_PART, format!("{what} has no `{part}`, so this is always an error"));
    nearest_part(problem.at(span, "leads nowhere"), what, part, parts)
}

fn nearest_part(problem: Problem, what: &str, part: &str, parts: &[&'static str]) -> Problem {
    match nearest(part, parts.iter().copied()) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem.help(format!("{what} has {}", listed(parts.iter().copied()))),
    }
}
