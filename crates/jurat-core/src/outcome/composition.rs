//! `all_of`, `any_of`, `at_least_n`, `not`: outcomes that join others.
//!
//! Parts are asked in the order in which they were written. `all_of` and `any_of` ask only as far as needed; one that cannot be decided decides nothing, so the
//! whole is an error.

use jurat_compare::{ArgError, Fault};
use jurat_format::choices;
use jurat_format::codes;
use jurat_format::field::Field;
use jurat_format::fields::Fields;
use jurat_format::form::{Form, Object};
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape};
use jurat_format::value::{Node as Text, Val, Value};

use super::error::OutcomeError;
use super::format::{self, FORM, OUTCOMES, TYPE, WrittenKind, keyed};
use super::node::{Gives, Names, Node, Notes};
use super::stored::{StoredKind, integer, list, object, required, wrong};
use super::trace::Join;
use super::{Aggregation, Cel, Check};

/// All or any of these hold, asked in order until one decides. Of none of them, all hold and not any.
#[derive(Debug, Clone, PartialEq)]
pub struct Joined {
    pub by: Quantifier,
    pub parts: Vec<Check>,
}

choices! {
    /// How many of several must hold.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Quantifier {
        All = "all_of",
        Any = "any_of",
    }
}

/// At least `n` of these hold; all of them are asked.
#[derive(Debug, Clone, PartialEq)]
pub struct AtLeast {
    pub n: u64,
    pub of: Vec<Check>,
}

/// It does not hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Not(pub Box<Check>);

/// All of these hold. Asked in order, until one does not.
///
/// ```
/// use jurat_core::outcome::{all_of, first_turn, status_is};
///
/// let check = all_of([status_is("completed"), first_turn([("verify_result", true.into())])]);
/// assert_eq!(
///     check.to_string(),
///     "all of 2 (`status` is `completed`; the first turn: `verify_result` is a value that counts as true)"
/// );
/// ```
pub fn all_of(checks: impl IntoIterator<Item = Check>) -> Check {
    Joined { by: Quantifier::All, parts: checks.into_iter().collect() }.into()
}

/// One of these holds. Asked in order, until one does.
pub fn any_of(checks: impl IntoIterator<Item = Check>) -> Check {
    Joined { by: Quantifier::Any, parts: checks.into_iter().collect() }.into()
}

/// At least `n` of these hold. All of them are asked.
pub fn at_least_n(n: u64, checks: impl IntoIterator<Item = Check>) -> Check {
    AtLeast { n, of: checks.into_iter().collect() }.into()
}

pub fn not(check: Check) -> Check {
    Not(Box::new(check)).into()
}

/// One check is itself, several are all of them.
pub(crate) fn joined(mut checks: Vec<Check>) -> Check {
    if checks.len() == 1 { checks.remove(0) } else { all_of(checks) }
}

impl Node for Joined {
    const WRITTEN: &'static [WrittenKind] = &[
        WrittenKind {
            name: "all_of",
            doc: "all of these hold",
            form: OUTCOMES,
            read: |reading, it| read_parts(reading, "`all_of`", &it.value).map(all_of),
        },
        WrittenKind {
            name: "any_of",
            doc: "one of these holds",
            form: OUTCOMES,
            read: |reading, it| read_parts(reading, "`any_of`", &it.value).map(any_of),
        },
    ];

    const STORED: &'static [StoredKind] = &[
        StoredKind {
            name: "all_of",
            class: "AllOf",
            keys: &COMPOSITION,
            read: |reading, node| conditions(reading, "`all_of`", node).map(all_of),
            load: |node| load_parts(node).map(all_of),
        },
        StoredKind {
            name: "any_of",
            class: "AnyOf",
            keys: &COMPOSITION,
            read: |reading, node| conditions(reading, "`any_of`", node).map(any_of),
            load: |node| load_parts(node).map(any_of),
        },
    ];

    fn decide(&self, evidence: &Val<'_>, notes: &mut Notes) -> Result<Value, OutcomeError> {
        let decisive = self.by == Quantifier::Any;
        asked(&self.parts, evidence, notes, |holds| holds == decisive).map(|it| Val::Bool(it.unwrap_or(!decisive)))
    }

    fn words(&self) -> String {
        format!("{} of {}", if self.by == Quantifier::All { "all" } else { "any" }, self.parts.len())
    }

    fn to_written(&self) -> Option<Value> {
        Some(keyed(self.by.name(), written(&self.parts)))
    }

    fn to_stored(&self, names: Names) -> Value {
        let kind = Self::STORED.iter().find(|it| it.name == self.by.name()).map_or("", names);
        object([("type", Val::from(kind)), ("conditions", stored(&self.parts, names))])
    }

    fn parts(&self) -> &[Check] {
        &self.parts
    }

    fn join(&self) -> Join {
        if self.by == Quantifier::All { Join::All } else { Join::Any }
    }
}

impl Node for AtLeast {
    const WRITTEN: &'static [WrittenKind] = &[WrittenKind {
        name: "at_least_n",
        doc: "at least `n` of these hold",
        form: Form::Object(&AT_LEAST),
        read: |reading, it| read_at_least(reading, &AT_LEAST, &OF, &it.value),
    }];

    const STORED: &'static [StoredKind] = &[StoredKind {
        name: "at_least_n",
        class: "AtLeastN",
        keys: &STORED_AT_LEAST,
        read: |reading, node| read_at_least(reading, &STORED_AT_LEAST, &CONDITIONS, node),
        load: load_at_least,
    }];

    fn decide(&self, evidence: &Val<'_>, notes: &mut Notes) -> Result<Value, OutcomeError> {
        let mut n_held = 0;
        let count = |holds: bool| {
            n_held += u64::from(holds);
            false
        };
        asked(&self.of, evidence, notes, count)?;
        Ok(Val::Bool(n_held >= self.n))
    }

    fn words(&self) -> String {
        format!("at least {} of {}", self.n, self.of.len())
    }

    fn to_written(&self) -> Option<Value> {
        Some(keyed("at_least_n", object([("n", Val::from(self.n)), ("of", written(&self.of))])))
    }

    fn to_stored(&self, names: Names) -> Value {
        let kind = Val::from(names(&Self::STORED[0]));
        object([("type", kind), ("n", Val::from(self.n)), ("conditions", stored(&self.of, names))])
    }

    fn parts(&self) -> &[Check] {
        &self.of
    }

    fn join(&self) -> Join {
        Join::AtLeast(self.n)
    }
}

impl Node for Not {
    const WRITTEN: &'static [WrittenKind] = &[WrittenKind {
        name: "not",
        doc: "this does not hold",
        form: FORM,
        read: |reading, it| read_not(reading, "`not`", &it.value),
    }];

    const STORED: &'static [StoredKind] = &[StoredKind {
        name: "not",
        class: "Not",
        keys: &NOT,
        read: |reading, node| {
            let fields = NOT.fields(reading, node)?;
            fields.read(reading, &CONDITION)
        },
        load: |node| Check::from_stored(required(node, "condition")?).map(not),
    }];

    fn decide(&self, evidence: &Val<'_>, notes: &mut Notes) -> Result<Value, OutcomeError> {
        let held = notes.part(&self.0, evidence);
        // The opposite of a number is no yes or no.
        if self.0.gives() == Gives::Number {
            let reason = "it gives a number, and `not` needs a yes or no; add `gte`, `gt`, `lte`, `lt` or `eq`";
            return Err(OutcomeError { fault: Fault::Kind, what: self.0.words(), reason: reason.to_owned() });
        }
        held.map(|holds| Val::Bool(!holds))
    }

    fn words(&self) -> String {
        "not".to_owned()
    }

    fn to_written(&self) -> Option<Value> {
        Some(keyed("not", format::write(&self.0)))
    }

    fn to_stored(&self, names: Names) -> Value {
        object([("type", Val::from(names(&Self::STORED[0]))), ("condition", self.0.to_stored_by(names))])
    }

    fn parts(&self) -> &[Check] {
        std::slice::from_ref(&self.0)
    }

    fn join(&self) -> Join {
        Join::Not
    }
}

/// Asks parts in order until one decides, and returns whether that one holds.
fn asked(
    parts: &[Check],
    evidence: &Val<'_>,
    notes: &mut Notes,
    mut decides: impl FnMut(bool) -> bool,
) -> Result<Option<bool>, OutcomeError> {
    let mut decided = Ok(None);
    for part in parts {
        match decided {
            Ok(None) => decided = notes.part(part, evidence).map(|holds| decides(holds).then_some(holds)),
            _ => notes.skip(part),
        }
    }
    decided
}

fn load_parts(node: &Text<'_>) -> Result<Vec<Check>, ArgError> {
    list(node, "conditions", "a list of checks")?.iter().map(Check::from_stored).collect()
}

fn load_at_least(node: &Text<'_>) -> Result<Check, ArgError> {
    let n = required(node, "n")?;
    let count = u64::try_from(integer("n", n)?).map_err(|_| wrong("n", "a whole number of at least 0", n))?;
    Ok(at_least_n(count, load_parts(node)?))
}

fn stored(parts: &[Check], names: Names) -> Value {
    parts.iter().map(|it| it.to_stored_by(names)).collect()
}

fn written(parts: &[Check]) -> Value {
    parts.iter().map(format::write).collect()
}

const N: Field<u64> = Field::required("n", shape::large_count::<0>(), "how many must hold");
const PARTS: Shape<Vec<Check>> = Shape::new(OUTCOMES, read_parts);
const OF: Field<Vec<Check>> = Field::required("of", PARTS, "the outcomes").or(&["conditions"]);
const CONDITIONS: Field<Vec<Check>> = Field::required("conditions", PARTS, "the outcomes").or(&["of"]);
const CONDITION: Field<Check> = Field::required("condition", Shape::new(FORM, read_not), "the outcome");

static AT_LEAST: Object = Object { what: "`at_least_n`", keys: &[N.key, OF.key] };

static COMPOSITION: Object = Object { what: "a composition", keys: &[TYPE.key, CONDITIONS.key] };

static STORED_AT_LEAST: Object =
    Object { what: "an `at_least_n` with `type`", keys: &[TYPE.key, N.key, CONDITIONS.key] };

static NOT: Object = Object { what: "a `not`", keys: &[TYPE.key, CONDITION.key] };

/// The parts of a stored composition.
fn conditions(reading: &mut Reading<'_>, what: &str, node: &Text<'_>) -> Option<Vec<Check>> {
    let fields = COMPOSITION.fields(reading, node)?;
    parts_of(reading, what, &fields, &CONDITIONS)
}

/// The parts under a key. Problems inside of them name what they are parts of.
fn parts_of(
    reading: &mut Reading<'_>,
    what: &str,
    fields: &Fields<'_, '_>,
    key: &Field<Vec<Check>>,
) -> Option<Vec<Check>> {
    if let Some(node) = fields.node(&key).filter(|it| it.as_list().is_none()) {
        reading.wrong_type(&key.key.quoted(), "a list of outcomes", node);
        return None;
    }
    fields.read_as(reading, what, key)
}

/// The parts of a composition, in order; `None` when one of them cannot be read.
fn read_parts(reading: &mut Reading<'_>, what: &str, node: &Text<'_>) -> Option<Vec<Check>> {
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
    let read: Vec<Option<Check>> =
        items.iter().map(|it| format::read(reading, &format!("an outcome in {what}"), it)).collect();
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

/// How many of a number of outcomes must hold. None and more than there are decide it in advance.
fn read_at_least(
    reading: &mut Reading<'_>,
    keys: &'static Object,
    parts: &Field<Vec<Check>>,
    node: &Text<'_>,
) -> Option<Check> {
    let fields = keys.fields(reading, node)?;
    let of = parts_of(reading, "`at_least_n`", &fields, parts);
    let (n, of) = (fields.read(reading, &N)?, of?);
    let decided = match n {
        _ if of.is_empty() => None,
        0 => Some("`at_least_n` with `n: 0` always holds".to_owned()),
        n if n > of.len() as u64 => Some(format!("`at_least_n` can never hold: {n} of {} outcomes", of.len())),
        _ => None,
    };
    if let Some(message) = decided {
        let problem = Problem::new(&codes::ALWAYS_SAME, message).at(fields.node(&N)?.span, "here");
        reading.problem(problem.help(format!("write a number from 1 to {}", of.len())));
    }
    Some(at_least_n(n, of))
}

/// What `not` is about.
fn read_not(reading: &mut Reading<'_>, _: &str, node: &Text<'_>) -> Option<Check> {
    let check = format::read(reading, "`not`", node)?;
    if let Check::Aggregation(it) = &check
        && it.thresholds.is_empty()
    {
        let message = format!("`not` needs what holds or does not, and `{}` gives a number", it.kind.name());
        let problem = Problem::new(&codes::WRONG_VALUE, message).at(node.span, "gives a number");
        reading.problem(problem.help("say what the number must be, with `gte`, `gt`, `lte`, `lt` or `eq`"));
        return None;
    }
    reading.problems_of(not_boolean("`not`", &check, node));
    Some(not(check))
}

/// An expression that certainly gives no yes or no, where one is needed.
fn not_boolean(what: &str, check: &Check, node: &Text<'_>) -> Option<Problem> {
    let Check::Cel(Cel(expression)) = check else { return None };
    let error = expression.not_boolean()?;
    Some(Problem::new(&codes::BAD_EXPRESSION, format!("in {what}, {error}")).at(node.span, "here"))
}

fn bare_aggregation(what: &str, aggregation: &Aggregation, node: &Text<'_>) -> Problem {
    let name = aggregation.kind.name();
    let message = format!("`{name}` gives a number, which never holds in {what}");
    let problem = Problem::new(&codes::BARE_AGGREGATION, message).at(node.span, "counts as no");
    problem.help("say what the number must be, with `gte`, `gt`, `lte`, `lt` or `eq`")
}
