//! Which turns a check looks at.

use std::fmt;

use jurat_compare::ArgError;
use jurat_format::codes;
use jurat_format::field::Field;
use jurat_format::form::{Form, Object};
use jurat_format::problem::{Problem, listed};
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape};
use jurat_format::value::{Content, Node as Text, Val, Value, shown_within};

use super::format::{TYPE, kind};
use super::stored::{integer, object, present, required, type_of, wrong};

/// Which turns a check looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    First,
    Last,
    /// The one at this index; negative ones count from the end.
    At(i64),
    /// One of these must be as wanted.
    Any(Nodes),
    /// There are some of these, and all must be as wanted.
    All(Nodes),
}

impl Scope {
    /// The scopes, by how they are written.
    pub(crate) const NAMED: [(&str, &str); 5] = [
        ("first_turn", "FirstTurn"),
        ("last_turn", "LastTurn"),
        ("turn_at", "TurnAt"),
        ("any_turn", "AnyTurn"),
        ("all_turns", "AllTurns"),
    ];

    /// The one turn that is meant; `None` when it is not there, or when several may be meant.
    pub(super) fn single<'h, 'v>(&self, history: &'h [Val<'v>]) -> Option<(usize, &'h Val<'v>)> {
        let ix = match self {
            Scope::First => 0,
            Scope::Last => history.len().checked_sub(1)?,
            Scope::At(ix) if *ix < 0 => history.len().checked_sub(usize::try_from(ix.unsigned_abs()).ok()?)?,
            Scope::At(ix) => usize::try_from(*ix).ok()?,
            Scope::Any(_) | Scope::All(_) => return None,
        };
        history.get(ix).map(|turn| (ix, turn))
    }

    /// Reads the stored form of a scope.
    pub fn from_stored(node: &Text<'_>) -> Result<Scope, ArgError> {
        Ok(match type_of(node, "scope", Self::NAMED)? {
            "first_turn" => Scope::First,
            "last_turn" => Scope::Last,
            "turn_at" => Scope::At(integer("index", required(node, "index")?)?),
            "any_turn" => Scope::Any(Nodes::from_stored(node)?),
            _ => Scope::All(Nodes::from_stored(node)?),
        })
    }

    pub fn to_stored(&self) -> Value {
        match self {
            Scope::First => object([("type", Val::from("first_turn"))]),
            Scope::Last => object([("type", Val::from("last_turn"))]),
            Scope::At(index) => object([("type", Val::from("turn_at")), ("index", Val::I(*index))]),
            Scope::Any(nodes) => object([("type", Val::from("any_turn")), ("node_id", nodes.to_stored())]),
            Scope::All(nodes) => object([("type", Val::from("all_turns")), ("node_id", nodes.to_stored())]),
        }
    }
}

/// The turns that are meant, in words.
impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scope::First => f.write_str("the first turn"),
            Scope::Last => f.write_str("the last turn"),
            // Definitions count turns from 0, people from 1. What is counted from the end starts at -1 for both.
            Scope::At(ix @ 0..) => write!(f, "turn {}", ix.saturating_add(1)),
            Scope::At(ix) => write!(f, "turn {ix}"),
            Scope::Any(nodes) => write!(f, "any turn{}", nodes.words()),
            Scope::All(nodes) => write!(f, "every turn{}", nodes.words()),
        }
    }
}

/// Turns by the nodes they were at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Nodes {
    /// Those at any node.
    #[default]
    Every,
    /// Those at this node.
    One(String),
    /// Those at one of these nodes.
    Of(Vec<String>),
}

impl Nodes {
    /// Whether a turn is meant.
    #[inline(always)]
    pub fn has(&self, turn: &Val<'_>) -> bool {
        let is_at = |node: &String| turn.get("node_id").and_then(Val::as_str) == Some(node);
        match self {
            Nodes::Every => true,
            Nodes::One(node) => is_at(node),
            Nodes::Of(nodes) => nodes.iter().any(is_at),
        }
    }

    /// The nodes by name; none when every node is meant.
    pub fn names(&self) -> &[String] {
        match self {
            Nodes::Every => &[],
            Nodes::One(node) => std::slice::from_ref(node),
            Nodes::Of(nodes) => nodes,
        }
    }

    /// In words that follow `turn`.
    pub(super) fn words(&self) -> String {
        match self {
            Nodes::Every => String::new(),
            Nodes::Of(nodes) if nodes.is_empty() => " at no node".to_owned(),
            some => format!(" at {}", listed(some.names().iter().map(String::as_str))),
        }
    }

    /// The key `node` of a definition.
    pub(super) fn to_written(&self) -> Option<(&'static str, Value)> {
        match self {
            Nodes::Every => None,
            Nodes::One(node) => Some(("node", Val::from(node.clone()))),
            Nodes::Of(nodes) => Some(("node", nodes.iter().map(|it| Val::from(it.clone())).collect())),
        }
    }

    pub(super) fn from_stored(node: &Text<'_>) -> Result<Nodes, ArgError> {
        let Some(named) = present(node, "node_id") else { return Ok(Nodes::Every) };
        if let Some(name) = named.as_str() {
            return Ok(Nodes::One(name.to_owned()));
        }
        let texts = named.as_list().and_then(|it| it.iter().map(|it| it.as_str().map(str::to_owned)).collect());
        texts.map(Nodes::Of).ok_or_else(|| wrong("node_id", "the id of a node, or a list of them", named))
    }

    pub(super) fn to_stored(&self) -> Value {
        match self {
            Nodes::Every => Val::Null,
            Nodes::One(node) => Val::from(node.clone()),
            Nodes::Of(nodes) => nodes.iter().map(|it| Val::from(it.clone())).collect(),
        }
    }
}

impl From<&str> for Nodes {
    fn from(node: &str) -> Nodes {
        Nodes::One(node.to_owned())
    }
}

impl<const N: usize> From<[&str; N]> for Nodes {
    fn from(nodes: [&str; N]) -> Nodes {
        Nodes::Of(nodes.into_iter().map(str::to_owned).collect())
    }
}

/// A scope in its stored form, or by its name alone.
pub(super) fn read_scope(reading: &mut Reading<'_>, what: &str, node: &Text<'_>) -> Option<Scope> {
    if let Some(name) = node.as_str().filter(|it| !matches!(*it, "turn_at" | "TurnAt")) {
        let choices = [("first_turn", 0), ("last_turn", 1), ("any_turn", 2), ("all_turns", 3)];
        let class = Scope::NAMED.iter().find(|(_, class)| *class == name).map(|(name, _)| *name);
        let chosen = match class {
            Some(class) => choices.iter().find(|(name, _)| *name == class).map(|(_, ix)| *ix),
            None => reading.choice(what, &choices, node),
        };
        let every = Nodes::default;
        return chosen.map(|ix| match ix {
            0 => Scope::First,
            1 => Scope::Last,
            2 => Scope::Any(every()),
            _ => Scope::All(every()),
        });
    }
    if node.get("type").is_none() {
        reading.wrong_type(what, "an object such as `{ type: last_turn }`", node);
        return None;
    }
    let kind = kind(reading, "the `type` of a scope", Scope::NAMED, node)?;
    let fields = keys_of_scope(kind).fields(reading, node)?;
    Some(match kind {
        "first_turn" => Scope::First,
        "last_turn" => Scope::Last,
        "turn_at" => Scope::At(fields.read(reading, &INDEX)?),
        quantified => {
            let nodes = match fields.node(&NODE_ID) {
                Some(_) => fields.read(reading, &NODE_ID)?,
                None => Nodes::Every,
            };
            if quantified == "any_turn" { Scope::Any(nodes) } else { Scope::All(nodes) }
        }
    })
}

const INDEX: Field<i64> =
    Field::required("index", shape::integer::<{ i64::MIN }>(), "which turn; negative ones count from the end");
const NODE_ID: Field<Nodes> =
    Field::optional("node_id", Shape::new(Form::Any, read_nodes), "the node they were at, or several").or(&["node"]);

fn keys_of_scope(kind: &str) -> &'static Object {
    static SINGLE: Object = Object { what: "a scope", keys: &[TYPE.key] };
    static AT: Object = Object { what: "the scope `turn_at`", keys: &[TYPE.key, INDEX.key] };
    static SEVERAL: Object = Object { what: "a scope of several turns", keys: &[TYPE.key, NODE_ID.key] };
    match kind {
        "turn_at" => &AT,
        "any_turn" | "all_turns" => &SEVERAL,
        _ => &SINGLE,
    }
}

/// `first_turn`, `last_turn`, `{turn_at: 0}`, or the stored form.
pub(super) fn read_single(reading: &mut Reading<'_>, what: &str, node: &Text<'_>) -> Option<Scope> {
    const NEEDS: &str = "`first_turn`, `last_turn` or `{turn_at: 0}`";
    let scope = match (node.as_str(), node.entries()) {
        (Some("first_turn"), _) => Scope::First,
        (Some("last_turn"), _) => Scope::Last,
        (Some(other), _) => {
            let found = shown_within(&other.into(), 40);
            let problem = Problem::new(&codes::WRONG_VALUE, format!("{what} must be {NEEDS}, not {found}"));
            let problem = problem.at(node.span, "not a single turn");
            reading.problem(problem.did_you_mean(other, ["first_turn", "last_turn"]));
            return None;
        }
        (None, Some([only])) if only.key == "turn_at" => {
            Scope::At(reading.integer("`turn_at`", i64::MIN, &only.value)?)
        }
        (None, Some(_)) if node.get("type").is_some() => read_scope(reading, "`scope`", node)?,
        _ => {
            reading.wrong_type(what, NEEDS, node);
            return None;
        }
    };
    if matches!(scope, Scope::Any(_) | Scope::All(_)) {
        let message = format!("{what} must be {NEEDS}: several turns never compare");
        reading.problem(Problem::new(&codes::WRONG_VALUE, message).at(node.span, "not a single turn"));
        return None;
    }
    Some(scope)
}

/// A node, or a list of them.
pub(super) fn read_nodes(reading: &mut Reading<'_>, what: &str, node: &Text<'_>) -> Option<Nodes> {
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

/// The turn at this index, for [`mod@super::turn`] and [`mod@super::cross_turn`]; negative ones count from the end.
pub fn turn_at(index: i64) -> Scope {
    Scope::At(index)
}

/// The first turn, for [`mod@super::cross_turn`].
pub fn first_turn_scope() -> Scope {
    Scope::First
}

/// The last turn, for [`mod@super::cross_turn`].
pub fn last_turn_scope() -> Scope {
    Scope::Last
}

/// A turn of a history in words: its number, from 1, and the node it was at.
pub(super) fn turn_words(ix: usize, turn: &Val<'_>) -> String {
    let number = ix + 1;
    match turn.get("node_id") {
        Some(node @ Val::Str(_)) => format!("turn {number} ({})", shown_within(node, 40)),
        _ => format!("turn {number}"),
    }
}
