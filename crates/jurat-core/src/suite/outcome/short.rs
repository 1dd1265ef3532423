//! The short form: one key, named like the function that makes the check.

use jurat_compare::normalise::Normaliser;
use jurat_format::codes;
use jurat_format::form::{Form, Key, Keys};
use jurat_format::problem::{Problem, listed, nearest};
use jurat_format::reader::{Fields, Reading};
use jurat_format::value::{Entry, Node, Span, shown_within};

use super::{category, negated, nodes, of_result, of_turn, parts, result_field, turn_field, wanted};
use crate::outcome::{
    Aggregation, Check, CrossComparison, CrossTurnCheck, Nodes, Relation, ResultCheck, Scope, Thresholds, TurnCheck,
    TurnFilter, TurnTest, check::AggregationKind, status_is, turn_count_eq, turn_count_gte,
};

/// One way to write an outcome.
pub(super) struct Short {
    pub(super) name: &'static str,
    pub(super) doc: &'static str,
    pub(super) form: Form,
    read: fn(&mut Reading<'_>, &Entry<'_>) -> Option<Check>,
}

const OUTCOMES: Form = Form::List(&Form::Defined("outcome"));
/// Fields with what they must be; which fields there are depends on the scenario.
const FIELDS: Form = Form::Map(&Form::Any);

/// Every way to write an outcome.
pub(super) static SHORT: [Short; 17] = [
    Short {
        name: "all_of",
        doc: "all of these hold",
        form: OUTCOMES,
        read: |reading, it| parts(reading, "`all_of`", &it.value).map(Check::AllOf),
    },
    Short {
        name: "any_of",
        doc: "one of these holds",
        form: OUTCOMES,
        read: |reading, it| parts(reading, "`any_of`", &it.value).map(Check::AnyOf),
    },
    Short { name: "at_least_n", doc: "at least `n` of these hold", form: Form::Object(&AT_LEAST), read: at_least },
    Short {
        name: "not",
        doc: "this does not hold",
        form: Form::Defined("outcome"),
        read: |reading, it| negated(reading, &it.value),
    },
    Short { name: "first_turn", doc: "fields of the first turn have these values", form: FIELDS, read: turns },
    Short { name: "last_turn", doc: "fields of the last turn have these values", form: FIELDS, read: turns },
    Short {
        name: "turn_at",
        doc: "fields of the turn at `index` have these values; a negative index counts from the end",
        form: FIELDS,
        read: turns,
    },
    Short {
        name: "any_turn",
        doc: "each field has its value in some turn; `node` limits it to turns at that node",
        form: FIELDS,
        read: turns,
    },
    Short {
        name: "all_turns",
        doc: "fields of every turn have these values, and there is at least one turn; `node` limits it to turns at that node",
        form: FIELDS,
        read: turns,
    },
    Short {
        name: "status_is",
        doc: "the scenario ended with this status",
        form: Form::Choice(&STATUSES),
        read: status,
    },
    Short {
        name: "turn_count_eq",
        doc: "the scenario took exactly this number of turns",
        form: Form::Integer(0),
        read: |reading, it| count(reading, it).map(turn_count_eq),
    },
    Short {
        name: "turn_count_gte",
        doc: "the scenario took at least this number of turns",
        form: Form::Integer(0),
        read: |reading, it| count(reading, it).map(turn_count_gte),
    },
    Short {
        name: "result",
        doc: "fields of the result of the whole scenario have these values",
        form: FIELDS,
        read: result,
    },
    Short {
        name: "cross_turn",
        doc: "a field of one turn compares as required with a field of another",
        form: Form::Object(&CROSS_TURN),
        read: |reading, it| cross_turn(reading, &CROSS_TURN, &it.value).map(Check::CrossTurn),
    },
    Short {
        name: "count_turns",
        doc: "a number: how many turns match; without a bound it is measured",
        form: Form::Object(&COUNT_TURNS),
        read: |reading, it| aggregation(reading, AggregationKind::Count, &COUNT_TURNS, &it.value),
    },
    Short {
        name: "first_match_index",
        doc: "a number: the index of the first turn that matches, -1 when there is none; without a bound it is measured",
        form: Form::Object(&FIRST_MATCH_INDEX),
        read: |reading, it| aggregation(reading, AggregationKind::FirstIndex, &FIRST_MATCH_INDEX, &it.value),
    },
    Short {
        name: "cel",
        doc: "an expression over `result` is true",
        form: Form::Text,
        read: |reading, it| of_result(reading, "`cel`", &it.value),
    },
];

/// How scenarios end.
pub(super) const STATUSES: [&str; 4] = ["completed", "limit_reached", "timeout", "error"];

/// Reads an outcome by its key.
pub(super) fn read(reading: &mut Reading<'_>, entry: &Entry<'_>) -> Option<Check> {
    if let Some(short) = SHORT.iter().find(|it| it.name == entry.key) {
        return (short.read)(reading, entry);
    }
    let names = SHORT.iter().map(|it| it.name);
    let problem = Problem::new(&codes::UNKNOWN_KEY, format!("there is no outcome `{}`", entry.key));
    let problem = problem.at(entry.key_span, "unknown key");
    reading.problem(match nearest(&entry.key, names.clone()) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem.help(format!("an outcome is {}", listed(names))),
    });
    None
}

pub(super) const N: Key = Key::required("n", Form::Integer(0), "how many must hold");

static AT_LEAST: Keys =
    Keys { what: "`at_least_n`", keys: &[N, Key::required("of", OUTCOMES, "the outcomes").or(&["conditions"])] };

fn at_least(reading: &mut Reading<'_>, entry: &Entry<'_>) -> Option<Check> {
    let fields = Fields::read(reading, &AT_LEAST, &entry.value)?;
    let of = fields.get("of").and_then(|it| parts(reading, "`at_least_n`", it));
    super::at_least(reading, fields.get("n"), of)
}

/// `first_turn` and its siblings: fields with what they must be, and which turns are meant.
fn turns(reading: &mut Reading<'_>, entry: &Entry<'_>) -> Option<Check> {
    let name = &*entry.key;
    let Some(members) = entry.value.entries() else {
        reading.wrong_type(&format!("`{name}`"), "an object of fields such as `{ verify_result: true }`", &entry.value);
        return None;
    };
    let n_before = reading.n_errors();
    let (mut narrowed, mut index, mut tests) = (Nodes::Every, None, Vec::new());
    for member in members {
        match &*member.key {
            "node" if matches!(name, "any_turn" | "all_turns") => {
                narrowed = nodes(reading, "`node`", &member.value).unwrap_or_default();
            }
            "index" if name == "turn_at" => {
                index = reading.integer("`index`", i64::MIN, &member.value);
            }
            key @ ("node" | "index") => reading.problem(not_a_field(name, key, member.key_span)),
            "cel" => tests.extend(of_turn(reading, "`cel`", &member.value)),
            field => {
                let place = turn_field(reading, field, member.key_span);
                let wanted = wanted::read(reading, field, &member.value);
                wanted.iter().for_each(|it| category(reading, &place, it, member.value.span));
                tests.extend(wanted.map(|it| TurnTest::Field(place, it)));
            }
        }
    }
    if name == "turn_at" && entry.value.get("index").is_none() {
        let problem = Problem::new(&codes::MISSING_KEY, "`turn_at` needs `index`").at(entry.value.span, "which turn?");
        reading.problem(problem.help("`index: 0` is the first turn, `index: -1` the last"));
    }
    if reading.n_errors() > n_before {
        return None;
    }
    if tests.is_empty() {
        reading.problem(no_field(entry));
        return None;
    }
    let scope = match name {
        "first_turn" => Scope::First,
        "last_turn" => Scope::Last,
        "turn_at" => Scope::At(index?),
        "any_turn" => Scope::Any(narrowed),
        _ => Scope::All(narrowed),
    };
    let checks = tests.into_iter().map(|test| Check::Turn(TurnCheck { scope: scope.clone(), test }));
    Some(joined(checks.collect()))
}

/// One check is itself, several are all of them.
fn joined(mut checks: Vec<Check>) -> Check {
    if checks.len() == 1 { checks.remove(0) } else { Check::AllOf(checks) }
}

fn not_a_field(name: &str, key: &str, span: Span) -> Problem {
    let problem = Problem::new(&codes::UNKNOWN_KEY, format!("`{name}` has no key `{key}`")).at(span, "unknown key");
    problem.help(match key {
        "node" => "`node` narrows `any_turn` and `all_turns`; the node of a turn is its field `node_id`",
        _ => "`index` is for `turn_at`",
    })
}

fn no_field(entry: &Entry<'_>) -> Problem {
    let problem = Problem::new(&codes::MISSING_KEY, format!("`{}` names no field, so it would always hold", entry.key));
    let problem = problem.at(entry.value.span, "what must be true of it?");
    let problem = problem.help("name a field with what it must be: `verify_result: true`");
    match entry.value.get("node") {
        Some(_) => problem.help("to ask whether a node was visited, write `count_turns: { node: …, gte: 1 }`"),
        None => problem,
    }
}

fn status(reading: &mut Reading<'_>, entry: &Entry<'_>) -> Option<Check> {
    let text = reading.text("`status_is`", &entry.value)?;
    let plain = text.value.trim().to_lowercase();
    if !STATUSES.contains(&plain.as_str()) {
        let found = shown_within(&text.value.as_str().into(), 40);
        let message = format!("`status_is` must be {}, not {found}", listed(STATUSES));
        let problem = Problem::new(&codes::WRONG_VALUE, message).at(text.span, "none of these");
        reading.problem(problem.did_you_mean(&plain, STATUSES));
        return None;
    }
    Some(status_is(&text.value))
}

fn count(reading: &mut Reading<'_>, entry: &Entry<'_>) -> Option<i64> {
    reading.integer(&format!("`{}`", entry.key), 0, &entry.value)
}

fn result(reading: &mut Reading<'_>, entry: &Entry<'_>) -> Option<Check> {
    let Some(members) = entry.value.entries() else {
        reading.wrong_type("`result`", "an object of fields such as `{ turn_count: { lte: 5 } }`", &entry.value);
        return None;
    };
    let mut checks = Vec::with_capacity(members.len());
    for member in members {
        let field = result_field(reading, &member.key, member.key_span);
        let wanted = wanted::read(reading, &member.key, &member.value);
        checks.push(wanted.map(|wanted| Check::Result(ResultCheck { field, wanted })));
    }
    if checks.is_empty() {
        reading.problem(no_field(entry));
        return None;
    }
    checks.into_iter().collect::<Option<_>>().map(joined)
}

const fn compared_keys() -> [Key; 6] {
    [
        Key::required("source", Form::Any, "the turn that is compared with").or(&["source_turn"]),
        Key::required("source_field", Form::Text, "the field of the source, such as `raw_response`"),
        Key::required("target", Form::Any, "the turn that is compared").or(&["target_turn"]),
        Key::required("target_field", Form::Text, "the field of the target, such as `raw_response`"),
        Key::required(
            "comparison",
            Form::Choice(&["eq", "neq", "contains", "gt", "gte", "lt", "lte"]),
            "how the target must compare with the source",
        ),
        Key::optional("normalize", Form::List(&Form::Any), "normalisers that are applied to both first, in order"),
    ]
}

static CROSS_TURN: Keys = Keys { what: "`cross_turn`", keys: &compared_keys() };

/// The keys of a stored cross-turn check.
pub(super) static CROSS_TURN_CHECK: Keys = {
    const KEYS: [Key; 6] = compared_keys();
    Keys {
        what: "a `cross_turn_check`",
        keys: &[super::long::TYPE, KEYS[0], KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]],
    }
};

pub(super) fn cross_turn(reading: &mut Reading<'_>, keys: &'static Keys, node: &Node<'_>) -> Option<CrossTurnCheck> {
    let fields = Fields::read(reading, keys, node)?;
    let source_turn = fields.get("source").and_then(|it| single_turn(reading, "`source`", it));
    let target_turn = fields.get("target").and_then(|it| single_turn(reading, "`target`", it));
    let mut field = |name: &str| {
        let text = fields.get(name).and_then(|it| reading.text(&format!("`{name}`"), it))?;
        Some(turn_field(reading, &text.value, text.span))
    };
    let (source_field, target_field) = (field("source_field"), field("target_field"));
    let comparison =
        fields.get("comparison").and_then(|it| reading.choice("`comparison`", &CrossComparison::NAMED, it));
    let n_before = reading.n_errors();
    let normalize = fields.get("normalize").map(|it| normalisers(reading, it)).unwrap_or_default();
    if reading.n_errors() > n_before {
        return None;
    }
    Some(CrossTurnCheck {
        source_turn: source_turn?,
        source_field: source_field?,
        target_turn: target_turn?,
        target_field: target_field?,
        comparison: comparison?,
        normalize,
    })
}

/// `first_turn`, `last_turn`, `{turn_at: 0}`, or the stored form.
fn single_turn(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Scope> {
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
        (None, Some(_)) if node.get("type").is_some() => super::long::scope(reading, node)?,
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

fn normalisers(reading: &mut Reading<'_>, node: &Node<'_>) -> Vec<Normaliser> {
    let mut normalisers = Vec::new();
    for item in reading.list("`normalize`", "a list of normalisers", node) {
        let read = Normaliser::read(item).and_then(|it| it.flaw().map_or(Ok(it), Err));
        match read {
            Ok(normaliser) => normalisers.push(normaliser),
            Err(message) => {
                reading.problem(
                    Problem::new(&codes::BAD_OPERAND, format!("`normalize`: {message}")).at(item.span, "here"),
                );
            }
        }
    }
    normalisers
}

const NODE: Key =
    Key::optional("node", Form::Either(&[Form::Text, Form::List(&Form::Text)]), "the node of the turns, or several")
        .or(&["node_id"]);
const VERIFY_RESULT: Key = Key::optional("verify_result", Form::Boolean, "whether the answers of the turns were right");
const BOUND: Form = Form::Integer(i64::MIN);
const GTE: Key = Key::optional("gte", BOUND, "the number must be at least this");
const GT: Key = Key::optional("gt", BOUND, "the number must be more than this");
const LTE: Key = Key::optional("lte", BOUND, "the number must be at most this");
const LT: Key = Key::optional("lt", BOUND, "the number must be less than this");
const EQ: Key = Key::optional("eq", BOUND, "the number must be this");

static COUNT_TURNS: Keys = Keys { what: "`count_turns`", keys: &[NODE, VERIFY_RESULT, GTE, GT, LTE, LT, EQ] };

static FIRST_MATCH_INDEX: Keys =
    Keys { what: "`first_match_index`", keys: &[NODE, VERIFY_RESULT, GTE, GT, LTE, LT, EQ] };

/// The keys of a stored aggregation.
pub(super) static STORED_AGGREGATION: Keys =
    Keys { what: "an aggregation over turns", keys: &[super::long::TYPE, NODE, VERIFY_RESULT, GTE, GT, LTE, LT, EQ] };

pub(super) fn aggregation(
    reading: &mut Reading<'_>,
    kind: AggregationKind,
    keys: &'static Keys,
    node: &Node<'_>,
) -> Option<Check> {
    let n_before = reading.n_errors();
    let fields = Fields::read(reading, keys, node)?;
    let narrowed = fields.get("node").and_then(|it| nodes(reading, "`node`", it)).unwrap_or_default();
    let verify_result = fields.given("verify_result");
    let verify_result = verify_result.and_then(|it| reading.boolean("`verify_result`", it));
    let mut thresholds = Thresholds::default();
    for (name, relation) in Relation::NAMED {
        let than = fields.get(name).and_then(|it| reading.integer(&format!("`{name}`"), i64::MIN, it));
        than.into_iter().for_each(|than| thresholds.set(relation, than));
    }
    let filter = TurnFilter { nodes: narrowed, verify_result };
    (reading.n_errors() == n_before).then_some(Check::Aggregation(Aggregation { kind, filter, thresholds }))
}
