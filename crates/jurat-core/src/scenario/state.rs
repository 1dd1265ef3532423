//! What is known between two turns: what edges, updates and later questions read.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use jurat_format::value::{Map, Val, Value};

use super::TurnFailure;

/// What is known between two turns.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// The row that the conversation is about, where it is about one.
    pub row: Option<Arc<Value>>,
    /// How many turns are over.
    pub turn: u32,
    /// The node of the last turn.
    pub current_node: String,
    /// Whether the answer of the last turn was right; `None` when that could not be decided.
    pub verify_result: Option<bool>,
    /// What was read from the answer of the last turn.
    pub parsed: Map<'static>,
    /// How often each node was visited, in the order of first visits.
    pub node_visits: Vec<(String, u32)>,
    pub accumulated: Value,
    /// The last result of each node: `{verify_result, parsed, rubric}`.
    pub node_results: Map<'static>,
    /// How the last turn failed in another way than by its content.
    pub failure: Option<TurnFailure>,
}

impl Default for State {
    fn default() -> State {
        State {
            row: None,
            turn: 0,
            current_node: String::new(),
            verify_result: None,
            parsed: Map::default(),
            node_visits: Vec::new(),
            accumulated: Val::Map(Map::default()),
            node_results: Map::default(),
            failure: None,
        }
    }
}

impl State {
    /// How often a node was visited.
    pub fn visits(&self, node: &str) -> u32 {
        self.node_visits.iter().find(|(id, _)| id == node).map_or(0, |(_, n)| *n)
    }

    /// What a path leads to; null where there is nothing.
    pub fn find(&self, path: &StatePath) -> Cow<'_, Val<'static>> {
        let member =
            |map: &'_ Map<'static>, key: &str| map.get(key).map_or(Cow::Owned(Val::Null), |it| Cow::Owned(it.clone()));
        match &path.place {
            Place::VerifyResult => Cow::Owned(verified(self.verify_result)),
            Place::Turn => Cow::Owned(Val::I(self.turn.into())),
            Place::CurrentNode => Cow::Owned(Val::Str(self.current_node.clone().into())),
            Place::Parsed(key) => borrowed(self.parsed.get(key)),
            Place::Accumulated(key) => borrowed(self.accumulated.get(key)),
            Place::Row(key) => borrowed(self.row.as_ref().and_then(|it| it.get(key))),
            Place::NodeVisits(node) => Cow::Owned(Val::I(self.visits(node).into())),
            Place::NodeResult(node) => match self.node_results.get(node) {
                Some(result) => Cow::Borrowed(result),
                None => Cow::Owned(Val::Map(Map::default())),
            },
            Place::NodeVerifyResult(node) => {
                borrowed(self.node_results.get(node).and_then(|it| it.get("verify_result")))
            }
            Place::NodeParsed(node, key) => {
                borrowed(self.node_results.get(node).and_then(|it| it.get("parsed")).and_then(|it| it.get(key)))
            }
            Place::NodeRubric(node, key) => {
                borrowed(self.node_results.get(node).and_then(|it| it.get("rubric")).and_then(|it| it.get(key)))
            }
            Place::Failure => Cow::Owned(self.failure.as_ref().map_or(Val::Null, TurnFailure::to_value)),
            Place::FailurePart(key) => self.failure.as_ref().map_or(Cow::Owned(Val::Null), |it| match it.to_value() {
                Val::Map(map) => member(&map, key),
                _ => Cow::Owned(Val::Null),
            }),
            Place::Nowhere => Cow::Owned(Val::Null),
        }
    }

    /// The names that expressions of edges and updates may read.
    pub(crate) const NAMES: [&str; 10] = [
        "turn",
        "current_node",
        "verify_result",
        "parsed",
        "node_visits",
        "accumulated",
        "node_results",
        "failure",
        "state",
        "row",
    ];

    /// The names that expressions of edges and updates read.
    pub fn names(&self) -> Val<'_> {
        let own = self.members();
        let state = Val::Map(self.members().into_iter().collect::<Map<'_>>());
        let row = self.row.iter().map(|it| ("row", it.borrowed()));
        Val::Map(own.into_iter().chain([("state", state)]).chain(row).collect::<Map<'_>>())
    }

    /// What questions and what would be right are filled from: the members of the row, the row as `row`, and the state as `state`.
    pub fn filling(&self) -> Val<'_> {
        let row = self.row.as_deref();
        let members = row.and_then(Val::as_map).into_iter().flat_map(Map::iter).map(|(key, it)| (key, it.borrowed()));
        let whole = row.map(|it| ("row", it.borrowed()));
        let state = Val::Map(self.members().into_iter().collect::<Map<'_>>());
        Val::Map(members.chain(whole).chain([("state", state)]).collect::<Map<'_>>())
    }

    /// The state as a value, without the failure of the last turn, which its record has.
    pub fn to_value(&self) -> Value {
        let members = self.members().into_iter().filter(|(key, _)| *key != "failure");
        Val::Map(members.collect::<Map<'_>>()).into_owned()
    }

    fn members(&self) -> [(&'static str, Val<'_>); 8] {
        let visits = self.node_visits.iter().map(|(id, n)| (id.as_str(), Val::I((*n).into())));
        [
            ("turn", Val::I(self.turn.into())),
            ("current_node", Val::from(self.current_node.as_str())),
            ("verify_result", verified(self.verify_result)),
            ("parsed", Val::Map(lent(&self.parsed))),
            ("node_visits", Val::Map(visits.collect::<Map<'_>>())),
            ("accumulated", self.accumulated.borrowed()),
            ("node_results", Val::Map(lent(&self.node_results))),
            ("failure", self.failure.as_ref().map_or(Val::Null, TurnFailure::to_value)),
        ]
    }
}

/// Yes, no, or undecided.
pub(super) fn verified<'v>(result: Option<bool>) -> Val<'v> {
    result.map_or(Val::Null, Val::Bool)
}

fn borrowed<'v>(value: Option<&'v Val<'static>>) -> Cow<'v, Val<'static>> {
    value.map_or(Cow::Owned(Val::Null), Cow::Borrowed)
}

fn lent<'m>(map: &'m Map<'static>) -> Map<'m> {
    map.iter().map(|(key, value)| (key, value.borrowed())).collect()
}

/// A path into the state, as it is written in an edge.
///
/// What comes behind `parsed.`, `accumulated.`, `node_visits.` and `rubric.` is one name, dots included. A path that leads nowhere
/// finds null: what an answer did not contain is nothing, and routing continues from there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatePath {
    text: String,
    place: Place,
}

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// `verify_result`.
    VerifyResult,
    /// `turn`.
    Turn,
    /// `current_node`.
    CurrentNode,
    /// `parsed.K`.
    Parsed(String),
    /// `accumulated.K`.
    Accumulated(String),
    /// `row.K`.
    Row(String),
    /// `node_visits.N`.
    NodeVisits(String),
    /// `node_results.N`.
    NodeResult(String),
    /// `node_results.N.verify_result`.
    NodeVerifyResult(String),
    /// `node_results.N.parsed.K`.
    NodeParsed(String, String),
    /// `node_results.N.rubric.T`.
    NodeRubric(String, String),
    /// `failure`.
    Failure,
    /// `failure.category`, `failure.stage` or `failure.reason`.
    FailurePart(String),
    Nowhere,
}

impl StatePath {
    /// Reads a path. Every text is one, though it may lead nowhere.
    pub fn parse(text: &str) -> StatePath {
        let (root, rest) = text.split_once('.').map_or((text, None), |(root, rest)| (root, Some(rest)));
        let place = match (root, rest) {
            ("verify_result", _) => Place::VerifyResult,
            ("turn", _) => Place::Turn,
            ("current_node", _) => Place::CurrentNode,
            ("parsed", Some(key)) => Place::Parsed(key.to_owned()),
            ("accumulated", Some(key)) => Place::Accumulated(key.to_owned()),
            ("row", Some(key)) => Place::Row(key.to_owned()),
            ("node_visits", Some(node)) => Place::NodeVisits(node.to_owned()),
            ("node_results", Some(rest)) => node_result(rest),
            ("failure", None) => Place::Failure,
            ("failure", Some(key)) => Place::FailurePart(key.to_owned()),
            _ => Place::Nowhere,
        };
        StatePath { text: text.to_owned(), place }
    }

    pub fn place(&self) -> &Place {
        &self.place
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for StatePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn node_result(rest: &str) -> Place {
    let Some((node, rest)) = rest.split_once('.') else { return Place::NodeResult(rest.to_owned()) };
    let node = node.to_owned();
    match rest.split_once('.') {
        None if rest == "verify_result" => Place::NodeVerifyResult(node),
        Some(("verify_result", _)) => Place::NodeVerifyResult(node),
        Some(("parsed", key)) => Place::NodeParsed(node, key.to_owned()),
        Some(("rubric", key)) => Place::NodeRubric(node, key.to_owned()),
        _ => Place::Nowhere,
    }
}
