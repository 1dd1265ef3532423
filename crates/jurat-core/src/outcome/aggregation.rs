//! `count_turns`, `first_match_index`: a number made of the turns.

use jurat_compare::ArgError;
use jurat_format::field::Field;
use jurat_format::form::{Form, Key, Object};
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape};
use jurat_format::value::{Map, Node as Text, Val, Value};

use super::Check;
use super::error::{OutcomeError, history};
use super::format::{TYPE, WrittenKind, keyed};
use super::node::{Gives, Names, Node, Notes};
use super::scope::{Nodes, read_nodes, turn_words};
use super::stored::{StoredKind, boolean, integer, present};
use super::trace::Found;
use super::wanted::Relation;

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
    /// With which `verify_result`; `Some(false)` does not select turns that were not judged.
    pub verify_result: Option<bool>,
}

impl TurnFilter {
    /// Whether a turn is meant.
    #[inline(always)]
    pub fn has(&self, turn: &Val<'_>) -> bool {
        self.nodes.has(turn)
            && self
                .verify_result
                .is_none_or(|wanted| matches!(turn.get("verify_result"), Some(Val::Bool(it)) if *it == wanted))
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

impl Node for Aggregation {
    const WRITTEN: &'static [WrittenKind] = &[
        WrittenKind {
            name: "count_turns",
            doc: "a number: how many turns match; without a bound it is measured",
            form: Form::Object(&COUNT_TURNS),
            read: |reading, it| read_keys(reading, AggregationKind::Count, &COUNT_TURNS, &it.value),
        },
        WrittenKind {
            name: "first_match_index",
            doc: "a number: the index of the first turn that matches, -1 when there is none; without a bound it is measured",
            form: Form::Object(&FIRST_MATCH_INDEX),
            read: |reading, it| read_keys(reading, AggregationKind::FirstIndex, &FIRST_MATCH_INDEX, &it.value),
        },
    ];

    const STORED: &'static [StoredKind] = &[
        StoredKind {
            name: "count_turns",
            class: "CountTurns",
            keys: &STORED_AGGREGATION,
            read: |reading, node| read_keys(reading, AggregationKind::Count, &STORED_AGGREGATION, node),
            load: |node| load_stored(node, AggregationKind::Count),
        },
        StoredKind {
            name: "first_match_index",
            class: "FirstMatchIndex",
            keys: &STORED_AGGREGATION,
            read: |reading, node| read_keys(reading, AggregationKind::FirstIndex, &STORED_AGGREGATION, node),
            load: |node| load_stored(node, AggregationKind::FirstIndex),
        },
    ];

    fn decide(&self, evidence: &Val<'_>, notes: &mut Notes) -> Result<Value, OutcomeError> {
        let (mut n_turns, mut first) = (0, -1);
        let meant = history(evidence)?.iter().zip(0..).filter(|(turn, _)| self.filter.has(turn));
        // Where the first is asked for, the others are not looked at.
        let most = if self.kind == AggregationKind::Count { usize::MAX } else { 1 };
        for (turn, ix) in meant.take(most) {
            notes.found(|| Found {
                place: Some(turn_words(ix, turn)),
                read: "verify_result".to_owned(),
                value: turn.get("verify_result").map_or(Val::Null, |it| it.clone().into_owned()),
                mismatch: None,
            });
            n_turns += 1;
            first = i64::try_from(ix).unwrap_or(i64::MAX);
        }
        let number = if self.kind == AggregationKind::Count { n_turns } else { first };
        Ok(if self.thresholds.is_empty() { Val::I(number) } else { Val::Bool(self.is_within(number)) })
    }

    fn words(&self) -> String {
        let Aggregation { kind, filter, thresholds } = self;
        let what = match kind {
            AggregationKind::Count => "the number of turns",
            AggregationKind::FirstIndex => "the index of the first turn",
        };
        let with = filter.verify_result.map_or_else(String::new, |it| format!(" with `verify_result` {it}"));
        let bounds: Vec<String> = thresholds.iter().map(|it| format!("{} {}", it.relation.phrase(), it.than)).collect();
        let is = if bounds.is_empty() { String::new() } else { format!(" is {}", bounds.join(" and ")) };
        format!("{what}{}{with}{is}", filter.nodes.words())
    }

    fn to_written(&self) -> Option<Value> {
        let verify_result = self.filter.verify_result.map(|it| ("verify_result", Val::Bool(it)));
        let bounds = self.thresholds.iter().map(|it| (it.relation.name(), Val::I(it.than)));
        let members = self.filter.nodes.to_written().into_iter().chain(verify_result).chain(bounds);
        Some(keyed(self.kind.name(), Val::Map(members.collect())))
    }

    fn to_stored(&self, names: Names) -> Value {
        let kind = Self::STORED.iter().find(|it| it.name == self.kind.name()).map_or("", names);
        let members = [
            ("type", Val::from(kind)),
            ("node_id", self.filter.nodes.to_stored()),
            ("verify_result", self.filter.verify_result.map_or(Val::Null, Val::Bool)),
        ];
        let bounds = self.thresholds.iter().map(|it| (it.relation.name(), Val::I(it.than)));
        Val::Map(members.into_iter().chain(bounds).collect::<Map<'static>>())
    }

    fn nodes(&self) -> &[String] {
        self.filter.nodes.names()
    }

    fn gives(&self) -> Gives {
        if self.thresholds.is_empty() { Gives::Number } else { Gives::Boolean }
    }
}

const NODE: Field<Nodes> =
    Field::optional("node", Shape::new(shape::TEXT_OR_TEXTS, read_nodes), "the node of the turns, or several")
        .or(&["node_id"]);
const VERIFY_RESULT: Field<bool> =
    Field::optional("verify_result", shape::BOOLEAN, "whether the answers of the turns were right").or_null();

const fn bound(relation: Relation, doc: &'static str) -> Field<i64> {
    Field::optional(relation.name(), shape::integer::<{ i64::MIN }>(), doc)
}

const GTE: Field<i64> = bound(Relation::Gte, "the number must be at least this");
const GT: Field<i64> = bound(Relation::Gt, "the number must be more than this");
const LTE: Field<i64> = bound(Relation::Lte, "the number must be at most this");
const LT: Field<i64> = bound(Relation::Lt, "the number must be less than this");
const EQ: Field<i64> = bound(Relation::Eq, "the number must be this");

const KEYS: [Key; 7] = [NODE.key, VERIFY_RESULT.key, GTE.key, GT.key, LTE.key, LT.key, EQ.key];

static COUNT_TURNS: Object = Object { what: "`count_turns`", keys: &KEYS };

static FIRST_MATCH_INDEX: Object = Object { what: "`first_match_index`", keys: &KEYS };

/// The keys of a stored aggregation.
static STORED_AGGREGATION: Object = Object {
    what: "an aggregation over turns",
    keys: &[TYPE.key, NODE.key, VERIFY_RESULT.key, GTE.key, GT.key, LTE.key, LT.key, EQ.key],
};

fn read_keys(
    reading: &mut Reading<'_>,
    kind: AggregationKind,
    keys: &'static Object,
    node: &Text<'_>,
) -> Option<Check> {
    let n_before = reading.n_errors();
    let fields = keys.fields(reading, node)?;
    let narrowed = fields.read(reading, &NODE).unwrap_or_default();
    let verify_result = fields.read(reading, &VERIFY_RESULT);
    let mut thresholds = Thresholds::default();
    for (bound, (_, relation)) in [&GTE, &GT, &LTE, &LT, &EQ].into_iter().zip(Relation::NAMED) {
        fields.read(reading, bound).into_iter().for_each(|than| thresholds.set(relation, than));
    }
    let filter = TurnFilter { nodes: narrowed, verify_result };
    (reading.n_errors() == n_before).then(|| Aggregation { kind, filter, thresholds }.into())
}

fn load_stored(node: &Text<'_>, kind: AggregationKind) -> Result<Check, ArgError> {
    let verify_result = present(node, "verify_result").map(|it| boolean("verify_result", it)).transpose()?;
    let mut thresholds = Thresholds::default();
    for (name, relation) in Relation::NAMED {
        if let Some(bound) = present(node, name) {
            thresholds.set(relation, integer(name, bound)?);
        }
    }
    let filter = TurnFilter { nodes: Nodes::from_stored(node)?, verify_result };
    Ok(Aggregation { kind, filter, thresholds }.into())
}

impl Aggregation {
    /// Whether the number is within all thresholds. Where there is no first turn, -1 is no index: only `eq: -1` asks for it, and `lte: 2` must not take it
    /// for an early one.
    fn is_within(&self, number: i64) -> bool {
        const NONE: Threshold = Threshold { relation: Relation::Eq, than: -1 };
        let is_nowhere = self.kind == AggregationKind::FirstIndex && number < 0;
        self.thresholds.iter().all(|it| if is_nowhere { it == NONE } else { it.holds(number) })
    }
}

/// How many turns there are of these.
///
/// ```
/// use jurat_core::outcome::{Relation, TurnFilter, count_turns};
///
/// let right = TurnFilter { verify_result: Some(true), ..TurnFilter::default() };
/// let three_right = count_turns(right).within(Relation::Gte, 3);
/// assert_eq!(three_right.to_string(), "the number of turns with `verify_result` true is at least 3");
/// ```
pub fn count_turns(filter: TurnFilter) -> Check {
    Aggregation { kind: AggregationKind::Count, filter, thresholds: Thresholds::default() }.into()
}

/// The index of the first of these turns; -1 when there is none.
pub fn first_match_index(filter: TurnFilter) -> Check {
    Aggregation { kind: AggregationKind::FirstIndex, filter, thresholds: Thresholds::default() }.into()
}

impl Check {
    /// The check with a threshold for its number, so that it holds or does not. One that gives no number is as it was.
    #[must_use]
    pub fn within(mut self, relation: Relation, than: i64) -> Check {
        if let Check::Aggregation(it) = &mut self {
            it.thresholds.set(relation, than);
        }
        self
    }
}
