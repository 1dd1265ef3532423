//! What can be checked about a scenario: plain values, compiled where that pays.

use std::fmt;
use std::sync::Arc;

use jurat_compare::expression::Expression;
use jurat_compare::normalise::Normaliser;
use jurat_compare::{Comparison, Fault, Inapplicable, Judgement, Operator};
use jurat_format::value::{Content, Entry, Node, Span, Val, Value};

use super::cross_turn::CrossComparison;
use super::field::{ResultField, TurnField};

/// How a criterion is decided.
#[derive(Debug, Clone)]
pub enum Check {
    /// One turn, or any or all of several, are as wanted.
    Turn(TurnCheck),
    /// A part of the result is as wanted.
    Result(ResultCheck),
    /// The values of two turns compare.
    CrossTurn(CrossTurnCheck),
    /// A number made of the turns; with thresholds, whether it is within them.
    Aggregation(Aggregation),
    /// All of these hold, asked in order until one does not. None of them: it holds.
    AllOf(Vec<Check>),
    /// One of these holds, asked in order until one does. None of them: it does not hold.
    AnyOf(Vec<Check>),
    /// At least so many of these hold; all of them are asked.
    AtLeast { n: u64, of: Vec<Check> },
    /// It does not hold.
    Not(Box<Check>),
    /// What an expression over `result` comes to.
    Cel(Arc<Expression>),
    /// What code of the program has decided under this name. It stands for a criterion that has no check, and is stored as none.
    Code(String),
}

/// Two checks are equal when they say the same.
impl PartialEq for Check {
    fn eq(&self, other: &Check) -> bool {
        match (self, other) {
            (Check::Turn(left), Check::Turn(right)) => left == right,
            (Check::Result(left), Check::Result(right)) => left == right,
            (Check::CrossTurn(left), Check::CrossTurn(right)) => left == right,
            (Check::Aggregation(left), Check::Aggregation(right)) => left == right,
            (Check::AllOf(left), Check::AllOf(right)) | (Check::AnyOf(left), Check::AnyOf(right)) => left == right,
            (Check::AtLeast { n, of }, Check::AtLeast { n: others, of: theirs }) => n == others && of == theirs,
            (Check::Not(left), Check::Not(right)) => left == right,
            (Check::Cel(left), Check::Cel(right)) => left.source() == right.source(),
            (Check::Code(left), Check::Code(right)) => left == right,
            _ => false,
        }
    }
}

impl Check {
    /// What a check gives when nothing goes wrong.
    pub fn gives(&self) -> Gives {
        match self {
            Check::Aggregation(it) if it.thresholds.is_empty() => Gives::Number,
            Check::Cel(_) | Check::Code(_) => Gives::Anything,
            _ => Gives::Boolean,
        }
    }

    /// The parts of a composition; none for a leaf.
    pub fn parts(&self) -> &[Check] {
        match self {
            Check::AllOf(parts) | Check::AnyOf(parts) | Check::AtLeast { of: parts, .. } => parts,
            Check::Not(part) => std::slice::from_ref(part),
            _ => &[],
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gives {
    /// Whether it holds.
    Boolean,
    /// A whole number.
    Number,
    /// What only running it will tell.
    Anything,
}

/// One turn, or any or all of several, are as wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnCheck {
    pub scope: Scope,
    /// What each of them must be.
    pub test: TurnTest,
}

/// What a turn must be.
#[derive(Debug, Clone)]
pub enum TurnTest {
    /// A part of it is as wanted.
    Field(TurnField, Wanted),
    /// An expression over `turn` holds.
    Cel(Arc<Expression>),
}

/// Two tests are equal when they say the same.
impl PartialEq for TurnTest {
    fn eq(&self, other: &TurnTest) -> bool {
        match (self, other) {
            (TurnTest::Field(field, wanted), TurnTest::Field(other, theirs)) => field == other && wanted == theirs,
            (TurnTest::Cel(left), TurnTest::Cel(right)) => left.source() == right.source(),
            _ => false,
        }
    }
}

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

/// A part of the result is as wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultCheck {
    pub field: ResultField,
    pub wanted: Wanted,
}

/// The value of one turn, the target, compared with that of another, the source.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossTurnCheck {
    /// The turn that is compared with. One that may mean several turns never holds.
    pub source_turn: Scope,
    pub source_field: TurnField,
    /// The turn that is compared. One that may mean several turns never holds.
    pub target_turn: Scope,
    pub target_field: TurnField,
    /// How the target must stand to the source.
    pub comparison: CrossComparison,
    /// What is done to both first; if anything is, both are compared as text.
    pub normalize: Vec<Normaliser>,
}

/// A number made of the turns.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregation {
    pub kind: AggregationKind,
    pub filter: TurnFilter,
    /// What the number must be; all of these must hold. Without any, the number is what the check gives.
    pub thresholds: Thresholds,
}

/// How a number is made of turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AggregationKind {
    /// How many there are.
    Count,
    /// The index of the first; -1 when there is none.
    FirstIndex,
}

impl AggregationKind {
    /// The name that authors write.
    pub fn name(self) -> &'static str {
        match self {
            AggregationKind::Count => "count_turns",
            AggregationKind::FirstIndex => "first_match_index",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TurnFilter {
    pub nodes: Nodes,
    /// With which `verify_result`; `Some(false)` does not mean turns that nobody could judge.
    pub verify_result: Option<bool>,
}

impl TurnFilter {
    /// Whether a turn is meant.
    pub fn has(&self, turn: &Val<'_>) -> bool {
        self.nodes.has(turn)
            && self.verify_result.is_none_or(|wanted| turn.get("verify_result") == Some(&Val::Bool(wanted)))
    }
}

/// What a number must be: for each relation one bound at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Thresholds([Option<i64>; Relation::NAMED.len()]);

impl Thresholds {
    /// Sets the bound of a relation.
    pub fn set(&mut self, relation: Relation, than: i64) {
        self.0[relation as usize] = Some(than);
    }

    pub fn iter(&self) -> impl Iterator<Item = Threshold> {
        let bounds = Relation::NAMED.iter().zip(self.0);
        bounds.filter_map(|((_, relation), than)| Some(Threshold { relation: *relation, than: than? }))
    }

    /// Whether there is none, so that the number itself is what is wanted.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }
}

/// What a number must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Threshold {
    /// How it must stand to the bound.
    pub relation: Relation,
    pub than: i64,
}

/// How a number must stand to a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// At least it.
    Gte,
    /// More than it.
    Gt,
    /// At most it.
    Lte,
    /// Less than it.
    Lt,
    /// Equal to it.
    Eq,
}

impl Relation {
    /// Every relation in order, by the name that authors write.
    pub const NAMED: [(&'static str, Relation); 5] = [
        ("gte", Relation::Gte),
        ("gt", Relation::Gt),
        ("lte", Relation::Lte),
        ("lt", Relation::Lt),
        ("eq", Relation::Eq),
    ];

    /// The name that authors write.
    pub fn name(self) -> &'static str {
        Self::NAMED.iter().find(|(_, it)| *it == self).map_or("", |(name, _)| name)
    }
}

impl Threshold {
    /// Whether a number is within it.
    pub fn holds(self, number: i64) -> bool {
        match self.relation {
            Relation::Gte => number >= self.than,
            Relation::Gt => number > self.than,
            Relation::Lte => number <= self.than,
            Relation::Lt => number < self.than,
            Relation::Eq => number == self.than,
        }
    }
}

/// What a value must be: a comparison and what it compares with, compiled once.
#[derive(Clone)]
pub struct Wanted {
    operator: Box<Operator>,
    expected: Value,
    /// What cannot be used is an error each time it is asked, as it is where suites come from.
    bound: Result<Box<Comparison<'static>>, Box<Inapplicable>>,
}

/// Two are equal when they compare the same in the same way.
impl PartialEq for Wanted {
    fn eq(&self, other: &Wanted) -> bool {
        self.operator == other.operator && self.expected == other.expected
    }
}

impl fmt::Debug for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wanted").field("operator", &self.operator).field("expected", &self.expected).finish()
    }
}

impl Wanted {
    /// This comparison with this value.
    pub fn new(operator: Operator, expected: Value) -> Wanted {
        let bound = match about_traces(&operator) {
            Some(inapplicable) => Err(Box::new(inapplicable)),
            None => operator.bind(expected.clone()).map(Box::new).map_err(Box::new),
        };
        Wanted { operator: Box::new(operator), expected, bound }
    }

    /// This value, compared in the way that fits its kind: booleans by whether they count as true, numbers as numbers, everything else as text
    /// without regard to case and outer space.
    pub fn equal_to(value: Value) -> Wanted {
        let name = match &value {
            Val::Bool(_) => "BooleanMatch",
            Val::I(_) | Val::U(_) | Val::F(_) | Val::Big(_) => "NumericExact",
            Val::Null | Val::Str(_) | Val::List(_) | Val::Map(_) => "ExactMatch",
        };
        Wanted::new(primitive(name, &[]), value)
    }

    /// A number that stands so to a bound.
    pub fn number(relation: Relation, bound: Value) -> Wanted {
        let exclusive = Val::Bool(true);
        let range = |params: &[(&'static str, Value)]| Wanted::new(primitive("NumericRange", params), Val::Null);
        match relation {
            Relation::Gte => range(&[("min", bound)]),
            Relation::Gt => range(&[("min", bound), ("exclusive_min", exclusive)]),
            Relation::Lte => range(&[("max", bound)]),
            Relation::Lt => range(&[("max", bound), ("exclusive_max", exclusive)]),
            Relation::Eq => Wanted::new(primitive("NumericExact", &[]), bound),
        }
    }

    /// A number of at least this.
    pub fn at_least(bound: f64) -> Wanted {
        Wanted::number(Relation::Gte, Val::F(bound))
    }

    /// A number of at most this.
    pub fn at_most(bound: f64) -> Wanted {
        Wanted::number(Relation::Lte, Val::F(bound))
    }

    pub fn operator(&self) -> &Operator {
        &self.operator
    }

    pub fn expected(&self) -> &Value {
        &self.expected
    }

    /// Whether a value is as wanted.
    pub fn holds(&self, value: &Val<'_>) -> Result<bool, Inapplicable> {
        match &self.bound {
            Ok(comparison) => comparison.holds(value),
            Err(inapplicable) => Err((**inapplicable).clone()),
        }
    }

    /// Judges a value, with the words for one that is not as wanted.
    pub fn judge(&self, value: &Val<'_>) -> Judgement {
        match &self.bound {
            Ok(comparison) => comparison.judge(value),
            Err(inapplicable) => Judgement::Error(inapplicable.clone()),
        }
    }

    /// What is wanted, in words that fit after "is".
    pub fn phrase(&self) -> String {
        match &self.bound {
            Ok(comparison) => comparison.expected(),
            Err(_) => format!("as `{}` says", self.operator.entry().snake_case()),
        }
    }
}

macro_rules! wanted_from {
    ($($kind:ty => $value:expr),* $(,)?) => {
        $(impl From<$kind> for Wanted {
            fn from(value: $kind) -> Wanted {
                let value_of: fn($kind) -> Value = $value;
                Wanted::equal_to(value_of(value))
            }
        })*
    };
}

wanted_from! {
    bool => Val::Bool,
    i32 => |it| Val::I(it.into()),
    i64 => Val::I,
    u64 => Val::from,
    f64 => Val::F,
    &str => |it| Val::from(it.to_owned()),
    String => Val::from,
    Value => |it| it,
}

/// A primitive by name, with these parameters.
pub(crate) fn primitive(name: &'static str, params: &[(&'static str, Value)]) -> Operator {
    let scalar = |value: Value| Node { span: Span::default(), content: Content::Scalar(value) };
    let members = params.iter().cloned().chain([("type", Val::from(name))]);
    let entries =
        members.map(|(key, value)| Entry { key: key.into(), key_span: Span::default(), value: scalar(value) });
    let node = Node { span: Span::default(), content: Content::Map(entries.collect()) };
    Operator::from_stored(&node).expect("the primitives that are named here take these parameters")
}

/// Comparisons that read what a template sees of a whole answer have nothing to read here.
pub(crate) fn about_traces(operator: &Operator) -> Option<Inapplicable> {
    let name = operator.entry().name;
    name.starts_with("Trace").then(|| Inapplicable {
        fault: Fault::Unsupported,
        reason: format!(
            "`{name}` is for the fields of a template; compare `raw_response` with `contains` or `matches`"
        ),
    })
}
