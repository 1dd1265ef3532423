//! The form in which checks are stored: objects with `type`, as the peer stores them.
//!
//! Both spellings of `type` are read, `turn_check` and `TurnCheck`; unknown keys are ignored, as the peer ignores them. What the peer does not have is
//! written under names of our own: `not`, `cel`, thresholds of aggregations, operators as `{"operator": "contains"}`.

use std::sync::Arc;

use jurat_compare::expression::Expression;
use jurat_compare::normalise::Normaliser;
use jurat_compare::{ArgError, Operator, Origin, find};
use jurat_format::problem::listed;
use jurat_format::value::{Content, Map, Node, Val, Value, python};

use super::check::{
    Aggregation, AggregationKind, Check, CrossTurnCheck, Nodes, Relation, ResultCheck, Scope, Thresholds, TurnCheck,
    TurnFilter, TurnTest, Wanted,
};
use super::cross_turn::CrossComparison;
use super::field::{ResultField, TurnField};

/// The checks, by how they are written: in a definition, and in a checkpoint.
pub(crate) const CHECKS: [(&str, &str); 11] = [
    ("all_of", "AllOf"),
    ("any_of", "AnyOf"),
    ("at_least_n", "AtLeastN"),
    ("turn_check", "TurnCheck"),
    ("result_check", "ResultCheck"),
    ("cross_turn_check", "CrossTurnCheck"),
    ("count_turns", "CountTurns"),
    ("first_match_index", "FirstMatchIndex"),
    ("not", "Not"),
    ("cel", "Cel"),
    ("turn_cel", "TurnCel"),
];

/// The scopes, by how they are written.
pub(crate) const SCOPES: [(&str, &str); 5] = [
    ("first_turn", "FirstTurn"),
    ("last_turn", "LastTurn"),
    ("turn_at", "TurnAt"),
    ("any_turn", "AnyTurn"),
    ("all_turns", "AllTurns"),
];

impl Check {
    /// Reads the stored form of a check.
    ///
    /// ```
    /// use jurat_core::outcome::{Check, status_is};
    /// use jurat_format::value::{SourceId, json_node};
    ///
    /// let text = r#"{"type": "ResultCheck", "field": "status", "expected": "completed", "verify_with": {"type": "ExactMatch"}}"#;
    /// let (node, _) = json_node(text, SourceId(0)).unwrap();
    /// assert_eq!(Check::from_stored(&node), Ok(status_is("completed")));
    /// ```
    pub fn from_stored(node: &Node<'_>) -> Result<Check, ArgError> {
        let parts = |key| -> Result<Vec<Check>, ArgError> {
            let parts = required(node, key)?;
            let items = parts.as_list().ok_or_else(|| wrong(key, "a list of checks", parts))?;
            items.iter().map(Check::from_stored).collect()
        };
        Ok(match type_of(node, "check", &CHECKS)? {
            "all_of" => Check::AllOf(parts("conditions")?),
            "any_of" => Check::AnyOf(parts("conditions")?),
            "at_least_n" => {
                let n = required(node, "n")?;
                let count =
                    u64::try_from(integer("n", n)?).map_err(|_| wrong("n", "a whole number of at least 0", n))?;
                Check::AtLeast { n: count, of: parts("conditions")? }
            }
            "not" => Check::Not(Box::new(Check::from_stored(required(node, "condition")?)?)),
            "cel" => Check::Cel(expression(node)?),
            "turn_cel" => {
                let test = TurnTest::Cel(expression(node)?);
                Check::Turn(TurnCheck { scope: Scope::from_stored(required(node, "scope")?)?, test })
            }
            "turn_check" => {
                let scope = Scope::from_stored(required(node, "scope")?)?;
                let field = TurnField::parse(&text(node, "field")?);
                Check::Turn(TurnCheck { scope, test: TurnTest::Field(field, wanted(node)?) })
            }
            "result_check" => {
                let field = ResultField::parse(&text(node, "field")?);
                Check::Result(ResultCheck { field, wanted: wanted(node)? })
            }
            "cross_turn_check" => Check::CrossTurn(cross_turn(node)?),
            "count_turns" => Check::Aggregation(aggregation(node, AggregationKind::Count)?),
            _ => Check::Aggregation(aggregation(node, AggregationKind::FirstIndex)?),
        })
    }

    pub fn to_stored(&self) -> Value {
        self.written(|(name, _)| name)
    }

    /// The stored form inside a checkpoint of the peer, where checks go by the names of their classes.
    pub fn to_checkpoint(&self) -> Value {
        self.written(|(_, class)| class)
    }

    fn written(&self, name: fn((&'static str, &'static str)) -> &'static str) -> Value {
        let called = |key: &str| Val::from(CHECKS.iter().find(|(it, _)| *it == key).map_or("", |it| name(*it)));
        let parts = |parts: &[Check]| -> Value { parts.iter().map(|it| it.written(name)).collect() };
        match self {
            Check::AllOf(of) => object([("type", called("all_of")), ("conditions", parts(of))]),
            Check::AnyOf(of) => object([("type", called("any_of")), ("conditions", parts(of))]),
            Check::AtLeast { n, of } => {
                object([("type", called("at_least_n")), ("n", Val::from(*n)), ("conditions", parts(of))])
            }
            Check::Not(part) => object([("type", called("not")), ("condition", part.written(name))]),
            Check::Code(name) => object([("type", Val::from("code")), ("name", Val::from(name.clone()))]),
            Check::Cel(it) => object([("type", called("cel")), ("expression", Val::from(it.source().to_owned()))]),
            Check::Turn(TurnCheck { scope, test: TurnTest::Cel(it) }) => object([
                ("type", called("turn_cel")),
                ("scope", scope.to_stored()),
                ("expression", Val::from(it.source().to_owned())),
            ]),
            Check::Turn(TurnCheck { scope, test: TurnTest::Field(field, wanted) }) => object([
                ("type", called("turn_check")),
                ("scope", scope.to_stored()),
                ("field", Val::from(field.to_string())),
                ("expected", wanted.expected().clone()),
                ("verify_with", verify_with(wanted)),
            ]),
            Check::Result(ResultCheck { field, wanted }) => object([
                ("type", called("result_check")),
                ("field", Val::from(field.to_string())),
                ("expected", wanted.expected().clone()),
                ("verify_with", verify_with(wanted)),
            ]),
            Check::CrossTurn(it) => object([
                ("type", called("cross_turn_check")),
                ("source_turn", it.source_turn.to_stored()),
                ("source_field", Val::from(it.source_field.to_string())),
                ("target_turn", it.target_turn.to_stored()),
                ("target_field", Val::from(it.target_field.to_string())),
                ("comparison", Val::from(it.comparison.name())),
                ("normalize", it.normalize.iter().map(Normaliser::to_value).collect()),
            ]),
            Check::Aggregation(Aggregation { kind, filter, thresholds }) => {
                let members = [
                    ("type", called(kind.name())),
                    ("node_id", nodes_to_stored(&filter.nodes)),
                    ("verify_result", filter.verify_result.map_or(Val::Null, Val::Bool)),
                ];
                let bounds = thresholds.iter().map(|it| (it.relation.name(), Val::I(it.than)));
                Val::Map(members.into_iter().chain(bounds).collect())
            }
        }
    }
}

impl Scope {
    /// Reads the stored form of a scope.
    pub fn from_stored(node: &Node<'_>) -> Result<Scope, ArgError> {
        Ok(match type_of(node, "scope", &SCOPES)? {
            "first_turn" => Scope::First,
            "last_turn" => Scope::Last,
            "turn_at" => Scope::At(integer("index", required(node, "index")?)?),
            "any_turn" => Scope::Any(nodes(node)?),
            _ => Scope::All(nodes(node)?),
        })
    }

    pub fn to_stored(&self) -> Value {
        match self {
            Scope::First => object([("type", Val::from("first_turn"))]),
            Scope::Last => object([("type", Val::from("last_turn"))]),
            Scope::At(index) => object([("type", Val::from("turn_at")), ("index", Val::I(*index))]),
            Scope::Any(nodes) => object([("type", Val::from("any_turn")), ("node_id", nodes_to_stored(nodes))]),
            Scope::All(nodes) => object([("type", Val::from("all_turns")), ("node_id", nodes_to_stored(nodes))]),
        }
    }
}

fn cross_turn(node: &Node<'_>) -> Result<CrossTurnCheck, ArgError> {
    let named = required(node, "comparison")?;
    let comparison = CrossComparison::NAMED.iter().find(|(name, _)| named.as_str() == Some(name));
    let names = || listed(CrossComparison::NAMED.iter().map(|(name, _)| *name));
    let normalize = match present(node, "normalize") {
        None => Vec::new(),
        Some(list) => {
            let items = list.as_list().ok_or_else(|| wrong("normalize", "a list of normalisers", list))?;
            let read = |it: &Node<'_>| Normaliser::read(it).map_err(|message| ArgError { span: it.span, message });
            items.iter().map(read).collect::<Result<_, _>>()?
        }
    };
    Ok(CrossTurnCheck {
        source_turn: Scope::from_stored(required(node, "source_turn")?)?,
        source_field: TurnField::parse(&text(node, "source_field")?),
        target_turn: Scope::from_stored(required(node, "target_turn")?)?,
        target_field: TurnField::parse(&text(node, "target_field")?),
        comparison: comparison.ok_or_else(|| wrong("comparison", &names(), named))?.1,
        normalize,
    })
}

fn aggregation(node: &Node<'_>, kind: AggregationKind) -> Result<Aggregation, ArgError> {
    let verify_result = present(node, "verify_result").map(|it| boolean("verify_result", it)).transpose()?;
    let mut thresholds = Thresholds::default();
    for (name, relation) in Relation::NAMED {
        if let Some(bound) = present(node, name) {
            thresholds.set(relation, integer(name, bound)?);
        }
    }
    Ok(Aggregation { kind, filter: TurnFilter { nodes: nodes(node)?, verify_result }, thresholds })
}

/// What a value is compared with, and how.
fn wanted(node: &Node<'_>) -> Result<Wanted, ArgError> {
    let verify_with = required(node, "verify_with")?;
    let operator = match present(verify_with, "operator") {
        Some(named) => operator(named)?,
        None => Operator::from_stored(verify_with)?,
    };
    let expected = node.get("expected").map_or(Val::Null, |it| it.to_val().into_owned());
    Ok(Wanted::new(operator, expected))
}

/// An operator of ours by its name; they have no parameters.
fn operator(node: &Node<'_>) -> Result<Operator, ArgError> {
    let name = node.as_str().ok_or_else(|| wrong("operator", "the name of an operator", node))?;
    let known = find(name).into_iter().find(|it| it.origin == Origin::Operator);
    let entry = known.ok_or_else(|| ArgError { span: node.span, message: format!("there is no operator `{name}`") })?;
    let empty = Node { span: node.span, content: Content::Map(Vec::new()) };
    Operator::read(entry, &mut jurat_compare::Args::new(&empty)?)
}

fn verify_with(wanted: &Wanted) -> Value {
    let entry = wanted.operator().entry();
    if entry.origin == Origin::Operator {
        return object([("operator", Val::from(entry.snake_case()))]);
    }
    let name = Val::from(entry.name);
    Val::Map(wanted.operator().parameters().into_iter().chain([("type", name)]).collect())
}

fn expression(node: &Node<'_>) -> Result<Arc<Expression>, ArgError> {
    let source = text(node, "expression")?;
    let span = required(node, "expression")?.span;
    Expression::compile(&source).map(Arc::new).map_err(|error| ArgError { span, message: error.to_string() })
}

fn nodes(node: &Node<'_>) -> Result<Nodes, ArgError> {
    let Some(named) = present(node, "node_id") else { return Ok(Nodes::Every) };
    if let Some(name) = named.as_str() {
        return Ok(Nodes::One(name.to_owned()));
    }
    let texts = named.as_list().and_then(|it| it.iter().map(|it| it.as_str().map(str::to_owned)).collect());
    texts.map(Nodes::Of).ok_or_else(|| wrong("node_id", "the id of a node, or a list of them", named))
}

fn nodes_to_stored(nodes: &Nodes) -> Value {
    match nodes {
        Nodes::Every => Val::Null,
        Nodes::One(node) => Val::from(node.clone()),
        Nodes::Of(nodes) => nodes.iter().map(|it| Val::from(it.clone())).collect(),
    }
}

/// What an object says it is, in the spelling of definitions.
fn type_of(
    node: &Node<'_>,
    what: &str,
    known: &'static [(&'static str, &'static str)],
) -> Result<&'static str, ArgError> {
    if node.entries().is_none() {
        let message = format!("a {what} must be an object, not {}", node.phrase());
        return Err(ArgError { span: node.span, message });
    }
    let named = required(node, "type")?;
    let found = known.iter().find(|(name, class)| named.as_str().is_some_and(|it| it == *name || it == *class));
    found.map(|(name, _)| *name).ok_or_else(|| wrong("type", &listed(known.iter().map(|(name, _)| *name)), named))
}

/// The value of a key, unless it is absent or null.
fn present<'n, 'a>(node: &'n Node<'a>, key: &str) -> Option<&'n Node<'a>> {
    node.get(key).filter(|it| !matches!(it.content, Content::Scalar(Val::Null)))
}

fn required<'n, 'a>(node: &'n Node<'a>, key: &str) -> Result<&'n Node<'a>, ArgError> {
    present(node, key).ok_or_else(|| ArgError { span: node.span, message: format!("needs `{key}`") })
}

fn text(node: &Node<'_>, key: &str) -> Result<String, ArgError> {
    let value = required(node, key)?;
    value.as_str().map(str::to_owned).ok_or_else(|| wrong(key, "text", value))
}

/// A whole number; text that reads as one counts, as it does for the peer. What is beyond 64 bits is beyond every history.
fn integer(key: &str, node: &Node<'_>) -> Result<i64, ArgError> {
    let value = node.to_val();
    match &value {
        Val::I(number) => return Ok(*number),
        Val::U(_) => return Ok(i64::MAX),
        _ => {}
    }
    let number = python::float(&value).ok().filter(|it| it.fract() == 0.0);
    number.map(|it| it as i64).ok_or_else(|| wrong(key, "a whole number", node))
}

/// Yes or no, in the spellings that the peer takes.
fn boolean(key: &str, node: &Node<'_>) -> Result<bool, ArgError> {
    let value = node.to_val();
    let is_one_of =
        |words: [&str; 6]| value.as_str().is_some_and(|it| words.contains(&it.to_ascii_lowercase().as_str()));
    match &value {
        Val::Bool(value) => Ok(*value),
        Val::I(1) => Ok(true),
        Val::I(0) => Ok(false),
        Val::F(number) if *number == 1.0 => Ok(true),
        Val::F(number) if *number == 0.0 => Ok(false),
        _ if is_one_of(["true", "yes", "on", "1", "t", "y"]) => Ok(true),
        _ if is_one_of(["false", "no", "off", "0", "f", "n"]) => Ok(false),
        _ => Err(wrong(key, "`true` or `false`", node)),
    }
}

fn wrong(key: &str, needs: &str, node: &Node<'_>) -> ArgError {
    ArgError { span: node.span, message: format!("`{key}` must be {needs}, not {}", node.phrase()) }
}

fn object<const N: usize>(members: [(&'static str, Value); N]) -> Value {
    Val::Map(members.into_iter().collect::<Map<'static>>())
}
