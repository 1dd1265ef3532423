//! `first_turn`, `last_turn`, `turn_at`, `any_turn`, `all_turns`: fields of turns are as wanted.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use jurat_compare::expression::Expression;
use jurat_compare::{ArgError, Fault, Mismatch};
use jurat_format::codes;
use jurat_format::field::Field;
use jurat_format::form::{Form, Object};
use jurat_format::problem::{Problem, listed_all};
use jurat_format::reader::Reading;
use jurat_format::shape::Shape;
use jurat_format::value::{Entry, Map, Node as Text, Span, Val, Value};

use super::Check;
use super::composition::joined;
use super::error::{OutcomeError, history};
use super::expression::{compiled, evaluated, load_expression, not_boolean};
use super::field::{TURN_FIELD, TURN_PARTS, TurnField, turn_field, unread_part};
use super::format::{TYPE, WrittenKind, keyed};
use super::node::{Names, Node, Notes};
use super::scope::{Nodes, Scope, read_nodes, read_scope, turn_words};
use super::stored::{StoredKind, object, required, text};
use super::trace::Found;
use super::wanted::{EXPECTED, VERIFY_WITH, Wanted};
use crate::evidence::failure::FailureCategory;
use crate::evidence::fault::{unanswered, words as fault_words};

/// Fields with what they must be; which fields there are depends on the scenario.
pub(super) const FIELDS: Form = Form::Map(&Form::Any);

/// One turn, or any or all of several, are as wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnCheck {
    pub scope: Scope,
    /// What each of them must be.
    pub test: TurnTest,
}

/// What a turn must be.
#[derive(Debug, Clone, PartialEq)]
pub enum TurnTest {
    /// A part of it is as wanted.
    Field(TurnField, Wanted),
    /// An expression over `turn` holds.
    Cel(Arc<Expression>),
}

impl Node for TurnCheck {
    const WRITTEN: &'static [WrittenKind] = &[
        WrittenKind {
            name: "first_turn",
            doc: "fields of the first turn have these values",
            form: FIELDS,
            read: read_turns,
        },
        WrittenKind {
            name: "last_turn",
            doc: "fields of the last turn have these values",
            form: FIELDS,
            read: read_turns,
        },
        WrittenKind {
            name: "turn_at",
            doc: "fields of the turn at `index` have these values; a negative index counts from the end",
            form: FIELDS,
            read: read_turns,
        },
        WrittenKind {
            name: "any_turn",
            doc: "each field has its value in some turn; `node` limits it to turns at that node",
            form: FIELDS,
            read: read_turns,
        },
        WrittenKind {
            name: "all_turns",
            doc: "fields of every turn have these values, and there is at least one turn; `node` limits it to turns at that node",
            form: FIELDS,
            read: read_turns,
        },
    ];

    const STORED: &'static [StoredKind] = &[
        StoredKind { name: "turn_check", class: "TurnCheck", keys: &TURN_CHECK, read: read_field, load: load_field },
        StoredKind { name: "turn_cel", class: "TurnCel", keys: &TURN_CEL, read: read_cel, load: load_cel },
    ];

    fn decide(&self, evidence: &Val<'_>, notes: &mut Notes) -> Result<Value, OutcomeError> {
        let history = history(evidence)?;
        let test = self.test.of_case(evidence)?;
        if matches!(test, Cow::Owned(_)) {
            notes.in_words(|| format!("{}: {test}", self.scope));
        }
        let (nodes, is_any) = match &self.scope {
            Scope::Any(nodes) => (nodes, true),
            Scope::All(nodes) => (nodes, false),
            single => {
                let held = single.single(history).map(|(ix, turn)| test.decide(ix, turn, notes));
                return Ok(Val::Bool(held.unwrap_or(Ok(false))?));
            }
        };
        let mut some = false;
        for (ix, turn) in history.iter().enumerate().filter(|(_, turn)| nodes.has(turn)) {
            if test.decide(ix, turn, notes)? == is_any {
                return Ok(Val::Bool(is_any));
            }
            some = true;
        }
        // Of no turns at all nothing is true.
        Ok(Val::Bool(some && !is_any))
    }

    fn words(&self) -> String {
        format!("{}: {}", self.scope, self.test)
    }

    fn to_written(&self) -> Option<Value> {
        let (field, wanted) = match &self.test {
            TurnTest::Cel(expression) => ("cel", Val::from(expression.source().to_owned())),
            TurnTest::Field(field, wanted) => (field.as_str(), wanted.to_written()?),
        };
        if TAKEN.contains(&field) && !matches!(self.test, TurnTest::Cel(_)) {
            return None;
        }
        let (name, narrowed) = match &self.scope {
            Scope::First => ("first_turn", None),
            Scope::Last => ("last_turn", None),
            Scope::At(index) => ("turn_at", Some(("index", Val::I(*index)))),
            Scope::Any(nodes) => ("any_turn", nodes.to_written()),
            Scope::All(nodes) => ("all_turns", nodes.to_written()),
        };
        let members =
            narrowed.into_iter().map(|(key, value)| (key.to_owned(), value)).chain([(field.to_owned(), wanted)]);
        Some(keyed(name, Val::Map(members.collect::<Map<'static>>())))
    }

    fn fields(&self) -> Vec<(&Scope, &TurnField)> {
        match &self.test {
            TurnTest::Field(field, _) => vec![(&self.scope, field)],
            TurnTest::Cel(_) => Vec::new(),
        }
    }

    fn nodes(&self) -> &[String] {
        match &self.scope {
            Scope::Any(nodes) | Scope::All(nodes) => nodes.names(),
            Scope::First | Scope::Last | Scope::At(_) => &[],
        }
    }

    fn to_stored(&self, names: Names) -> Value {
        let [field_kind, cel_kind] = [&Self::STORED[0], &Self::STORED[1]].map(|it| Val::from(names(it)));
        match &self.test {
            TurnTest::Field(field, wanted) => object([
                ("type", field_kind),
                ("scope", self.scope.to_stored()),
                ("field", Val::from(field.to_string())),
                ("expected", wanted.expected().clone()),
                ("verify_with", wanted.verify_with()),
            ]),
            TurnTest::Cel(it) => object([
                ("type", cel_kind),
                ("scope", self.scope.to_stored()),
                ("expression", Val::from(it.source().to_owned())),
            ]),
        }
    }
}

fn load_field(node: &Text<'_>) -> Result<Check, ArgError> {
    let scope = Scope::from_stored(required(node, "scope")?)?;
    let field = TurnField::parse(&text(node, "field")?);
    Ok(TurnCheck { scope, test: TurnTest::Field(field, Wanted::from_stored(node)?) }.into())
}

fn load_cel(node: &Text<'_>) -> Result<Check, ArgError> {
    let test = TurnTest::Cel(load_expression(node)?);
    Ok(TurnCheck { scope: Scope::from_stored(required(node, "scope")?)?, test }.into())
}

const SCOPE: Field<Scope> = Field::required("scope", Shape::new(Form::Any, read_scope), "which turns");
const FIELD: Field<TurnField> = Field::required("field", TURN_FIELD, "which field");
const EXPRESSION: Field<TurnTest> =
    Field::required("expression", Shape::new(Form::Text, read_turn_expression), "the expression");

static TURN_CHECK: Object =
    Object { what: "a `turn_check`", keys: &[TYPE.key, SCOPE.key, FIELD.key, EXPECTED.key, VERIFY_WITH.key] };

static TURN_CEL: Object = Object { what: "a `turn_cel`", keys: &[TYPE.key, SCOPE.key, EXPRESSION.key] };

fn read_field(reading: &mut Reading<'_>, node: &Text<'_>) -> Option<Check> {
    let fields = TURN_CHECK.fields(reading, node)?;
    let (scope, field) = (fields.read(reading, &SCOPE), fields.read(reading, &FIELD));
    let (field, wanted) = (field?, Wanted::read_stored(reading, &fields)?);
    fields.node(&EXPECTED).into_iter().for_each(|it| category(reading, &field, &wanted, it.span));
    Some(TurnCheck { scope: scope?, test: TurnTest::Field(field, wanted) }.into())
}

fn read_cel(reading: &mut Reading<'_>, node: &Text<'_>) -> Option<Check> {
    let fields = TURN_CEL.fields(reading, node)?;
    let (scope, test) = (fields.read(reading, &SCOPE), fields.read(reading, &EXPRESSION));
    Some(TurnCheck { scope: scope?, test: test? }.into())
}

/// Object that say something else than a field, where turns are named.
const TAKEN: [&str; 3] = ["node", "index", "cel"];

/// `first_turn` and its siblings: fields with what they must be, and which turns are meant.
fn read_turns(reading: &mut Reading<'_>, entry: &Entry<'_>) -> Option<Check> {
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
                narrowed = read_nodes(reading, "`node`", &member.value).unwrap_or_default();
            }
            "index" if name == "turn_at" => {
                index = reading.integer("`index`", i64::MIN, &member.value);
            }
            key @ ("node" | "index") => reading.problem(not_a_field(name, key, member.key_span)),
            "cel" => tests.extend(read_turn_expression(reading, "`cel`", &member.value)),
            field => {
                let place = turn_field(reading, field, member.key_span);
                let wanted = Wanted::read(reading, field, &member.value);
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
    let checks = tests.into_iter().map(|test| TurnCheck { scope: scope.clone(), test }.into());
    Some(joined(checks.collect()))
}

fn not_a_field(name: &str, key: &str, span: Span) -> Problem {
    let problem = Problem::new(&codes::UNKNOWN_KEY, format!("`{name}` has no key `{key}`")).at(span, "unknown key");
    problem.help(match key {
        "node" => "`node` narrows `any_turn` and `all_turns`; the node of a turn is its field `node_id`",
        _ => "`index` is for `turn_at`",
    })
}

pub(super) fn no_field(entry: &Entry<'_>) -> Problem {
    let problem = Problem::new(&codes::MISSING_KEY, format!("`{}` names no field, so it would always hold", entry.key));
    let problem = problem.at(entry.value.span, "what must be true of it?");
    let problem = problem.help("name a field with what it must be: `verify_result: true`");
    match entry.value.get("node") {
        Some(_) => problem.help("to ask whether a node was visited, write `count_turns: { node: …, gte: 1 }`"),
        None => problem,
    }
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

/// An expression over `turn`, which says whether the turn counts.
fn read_turn_expression(reading: &mut Reading<'_>, what: &str, node: &Text<'_>) -> Option<TurnTest> {
    let must_be = |it: Expression| it.must_read(&["turn"]).and_then(Expression::must_be_boolean);
    let expression = compiled(reading, what, node, must_be)?;
    for part in expression.fields_of("turn").filter(|it| !TURN_PARTS.contains(it)) {
        reading.problem(unread_part("a turn", part, &TURN_PARTS, node.span));
    }
    Some(TurnTest::Cel(expression))
}

impl TurnTest {
    /// The same for one case, whose evidence fills what is wanted.
    #[inline]
    pub(super) fn of_case(&self, evidence: &Val<'_>) -> Result<Cow<'_, TurnTest>, OutcomeError> {
        let TurnTest::Field(field, wanted) = self else { return Ok(Cow::Borrowed(self)) };
        match wanted.of_case(evidence) {
            Ok(Cow::Borrowed(_)) => Ok(Cow::Borrowed(self)),
            Ok(Cow::Owned(wanted)) => Ok(Cow::Owned(TurnTest::Field(field.clone(), wanted))),
            Err(error) => Err(OutcomeError::because(format!("what `{field}` must be"), error)),
        }
    }

    #[inline(always)]
    fn decide(&self, ix: usize, turn: &Val<'_>, notes: &mut Notes) -> Result<bool, OutcomeError> {
        // Every turn of every conversation comes through here: the result is not moved where nothing is noted.
        if notes.are_off() {
            return self.holds(ix, turn);
        }
        let held = self.holds(ix, turn);
        notes.found(|| self.found(ix, turn, held.as_ref().ok().copied()));
        held
    }

    /// Whether the turn at this index is as it must be.
    #[inline(always)]
    fn holds(&self, ix: usize, turn: &Val<'_>) -> Result<bool, OutcomeError> {
        if let Some(failure) = unanswered(turn).filter(|_| self.looks_at_answer()) {
            let (what, reason) = (turn_words(ix, turn), fault_words(failure));
            return Err(OutcomeError { fault: Fault::Content, what, reason });
        }
        match self {
            TurnTest::Field(field, wanted) => {
                let held = match field.member(turn) {
                    Some(found) => wanted.holds(found),
                    None => wanted.holds(&field.find(turn)),
                };
                held.map_err(|error| OutcomeError::because(format!("`{field}` of {}", turn_words(ix, turn)), error))
            }
            TurnTest::Cel(expression) => {
                let answer = evaluated(expression, "turn", turn).and_then(|it| match it {
                    Val::Bool(holds) => Ok(holds),
                    other => Err(not_boolean(expression, &other)),
                });
                answer.map_err(|it| OutcomeError { what: format!("{} of {}", it.what, turn_words(ix, turn)), ..it })
            }
        }
    }

    /// Whether it looks at the answer, or at what was made of it.
    #[inline]
    fn looks_at_answer(&self) -> bool {
        const OF_ANSWER: [&str; 7] =
            ["raw_response", "parsed", "verify_result", "score", "judged_by", "fields", "rubric"];
        match self {
            TurnTest::Field(field, _) => OF_ANSWER.contains(&field.part()),
            TurnTest::Cel(expression) => !expression.source().contains("failure"),
        }
    }

    fn found(&self, ix: usize, turn: &Val<'_>, held: Option<bool>) -> Found {
        let place = Some(turn_words(ix, turn));
        match self {
            TurnTest::Field(field, wanted) => Found::judged(place, field.as_str(), &field.find(turn), wanted),
            TurnTest::Cel(expression) => {
                let mismatch = (held == Some(false))
                    .then(|| Mismatch { expected: self.to_string(), found: "that it does not hold".to_owned() });
                let value = held.map_or(Val::Null, Val::Bool);
                Found { place, read: expression.source().to_owned(), value, mismatch }
            }
        }
    }
}

/// What a turn must be, in words.
impl fmt::Display for TurnTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TurnTest::Field(field, wanted) => write!(f, "`{field}` is {}", wanted.phrase()),
            TurnTest::Cel(expression) => write!(f, "`{}`", expression.source()),
        }
    }
}

/// These fields of the turns that a scope means. One field is one check, several are all of them.
///
/// ```
/// use jurat_core::outcome::{turn, turn_at};
///
/// let check = turn(turn_at(-2), [("node_id", "challenge".into()), ("verify_result", true.into())]);
/// assert_eq!(
///     check.to_string(),
///     "all of 2 (turn -2: `node_id` is `challenge`; turn -2: `verify_result` is a value that counts as true)"
/// );
/// ```
pub fn turn<F: AsRef<str>>(scope: Scope, fields: impl IntoIterator<Item = (F, Wanted)>) -> Check {
    let check = |(field, wanted): (F, Wanted)| {
        let test = TurnTest::Field(TurnField::parse(field.as_ref()), wanted);
        TurnCheck { scope: scope.clone(), test }.into()
    };
    joined(fields.into_iter().map(check).collect())
}

/// These fields of the first turn.
///
/// ```
/// use jurat_core::outcome::{Wanted, first_turn};
///
/// let sure = first_turn([("parsed.confidence", Wanted::at_least(0.8)), ("parsed.answer", "BCL-2".into())]);
/// # assert_eq!(sure.parts().len(), 2);
/// ```
pub fn first_turn<F: AsRef<str>>(fields: impl IntoIterator<Item = (F, Wanted)>) -> Check {
    turn(Scope::First, fields)
}

/// These fields of the last turn.
pub fn last_turn<F: AsRef<str>>(fields: impl IntoIterator<Item = (F, Wanted)>) -> Check {
    turn(Scope::Last, fields)
}

/// These fields, each of some turn.
pub fn any_turn<F: AsRef<str>>(fields: impl IntoIterator<Item = (F, Wanted)>) -> Check {
    turn(Scope::Any(Nodes::Every), fields)
}

/// These fields, each of some turn at one of these nodes.
///
/// ```
/// use jurat_core::outcome::any_turn_of;
///
/// let gave_in = any_turn_of("challenge", [("parsed.stance", "changed".into())]);
/// assert_eq!(gave_in.to_string(), "any turn at `challenge`: `parsed.stance` is `changed`");
/// ```
pub fn any_turn_of<F: AsRef<str>>(nodes: impl Into<Nodes>, fields: impl IntoIterator<Item = (F, Wanted)>) -> Check {
    turn(Scope::Any(nodes.into()), fields)
}

/// These fields of every turn; there must be one.
pub fn all_turns<F: AsRef<str>>(fields: impl IntoIterator<Item = (F, Wanted)>) -> Check {
    turn(Scope::All(Nodes::Every), fields)
}

/// These fields of every turn at one of these nodes; there must be one.
pub fn all_turns_of<F: AsRef<str>>(nodes: impl Into<Nodes>, fields: impl IntoIterator<Item = (F, Wanted)>) -> Check {
    turn(Scope::All(nodes.into()), fields)
}
