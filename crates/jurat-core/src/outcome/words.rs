//! Checks in words, for reports and explanations.

use std::fmt;

use jurat_compare::normalise::Normaliser;
use jurat_format::problem::listed;
use jurat_format::value::{Val, shown_within};

use super::check::{Aggregation, AggregationKind, Check, CrossTurnCheck, Nodes, Relation, Scope, TurnTest};

/// The whole check, its parts in parentheses.
impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&head(self))?;
        let parts = self.parts();
        if parts.is_empty() {
            return Ok(());
        }
        f.write_str(" (")?;
        for (ix, part) in parts.iter().enumerate() {
            write!(f, "{}{part}", if ix == 0 { "" } else { "; " })?;
        }
        f.write_str(")")
    }
}

/// A check without its parts.
pub(super) fn head(check: &Check) -> String {
    match check {
        Check::Turn(it) => format!("{}: {}", scope(&it.scope), test(&it.test)),
        Check::Result(it) => format!("`{}` is {}", it.field, it.wanted.phrase()),
        Check::CrossTurn(it) => cross(it),
        Check::Aggregation(it) => aggregation(it),
        Check::AllOf(parts) => format!("all of {}", parts.len()),
        Check::AnyOf(parts) => format!("any of {}", parts.len()),
        Check::AtLeast { n, of } => format!("at least {n} of {}", of.len()),
        Check::Not(_) => "not".to_owned(),
        Check::Cel(expression) => format!("`{}`", expression.source()),
        Check::Code(name) => format!("the code of `{name}`"),
    }
}

/// `` `raw_response` of the last turn equals `raw_response` of the first turn ``
pub(super) fn cross(check: &CrossTurnCheck) -> String {
    let CrossTurnCheck { source_turn, source_field, target_turn, target_field, comparison, normalize } = check;
    let (target, source) = (scope(target_turn), scope(source_turn));
    let phrase = comparison.phrase();
    let compared = format!("`{target_field}` of {target} {phrase} `{source_field}` of {source}");
    if normalize.is_empty() {
        return compared;
    }
    let names: Vec<&str> = normalize.iter().map(Normaliser::name).collect();
    format!("{compared}, after {}", names.join(", "))
}

/// A turn of a history: its index, and the node it was at.
pub(super) fn turn(ix: usize, turn: &Val<'_>) -> String {
    match turn.get("node_id") {
        Some(node @ Val::Str(_)) => format!("turn {ix} ({})", shown_within(node, 40)),
        _ => format!("turn {ix}"),
    }
}

/// What a turn must be.
pub(super) fn test(test: &TurnTest) -> String {
    match test {
        TurnTest::Field(field, wanted) => format!("`{field}` is {}", wanted.phrase()),
        TurnTest::Cel(expression) => format!("`{}`", expression.source()),
    }
}

/// The turns that are meant.
pub(super) fn scope(scope: &Scope) -> String {
    match scope {
        Scope::First => "the first turn".to_owned(),
        Scope::Last => "the last turn".to_owned(),
        Scope::At(ix) => format!("turn {ix}"),
        Scope::Any(nodes) => format!("any turn{}", at(nodes)),
        Scope::All(nodes) => format!("every turn{}", at(nodes)),
    }
}

fn at(nodes: &Nodes) -> String {
    match nodes {
        Nodes::Every => String::new(),
        Nodes::Of(nodes) if nodes.is_empty() => " at no node".to_owned(),
        some => format!(" at {}", listed(some.names().iter().map(String::as_str))),
    }
}

fn aggregation(check: &Aggregation) -> String {
    let Aggregation { kind, filter, thresholds } = check;
    let what = match kind {
        AggregationKind::Count => "the number of turns",
        AggregationKind::FirstIndex => "the index of the first turn",
    };
    let with = filter.verify_result.map_or_else(String::new, |it| format!(" with `verify_result` {it}"));
    let bounds: Vec<String> = thresholds.iter().map(|it| format!("{} {}", relation(it.relation), it.than)).collect();
    let is = if bounds.is_empty() { String::new() } else { format!(" is {}", bounds.join(" and ")) };
    format!("{what}{}{with}{is}", at(&filter.nodes))
}

fn relation(relation: Relation) -> &'static str {
    match relation {
        Relation::Gte => "at least",
        Relation::Gt => "more than",
        Relation::Lte => "at most",
        Relation::Lt => "less than",
        Relation::Eq => "exactly",
    }
}
