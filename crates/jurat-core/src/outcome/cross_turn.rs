//! `cross_turn`: the values of two turns compare as Python compares them, because Karenina's checks do.

use std::cmp::Ordering;

use jurat_compare::normalise::{Normaliser, normalise};
use jurat_compare::{ArgError, Inapplicable};
use jurat_format::choices;
use jurat_format::codes;
use jurat_format::field::Field;
use jurat_format::form::{Form, Object};
use jurat_format::problem::{Problem, listed};
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape};
use jurat_format::value::{Node as Text, Val, Value, compare_numbers, python};

use super::Check;
use super::error::{OutcomeError, history};
use super::field::{TURN_FIELD, TurnField};
use super::format::{TYPE, WrittenKind, keyed};
use super::node::{Names, Node, Notes};
use super::scope::{Scope, read_single, turn_words};
use super::stored::{StoredKind, list, object, present, required, text, wrong};
use super::trace::Found;

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

choices! {
    /// How the target must stand to the source.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum CrossComparison {
        /// Equal to it.
        Eq = "eq",
        /// Not equal to it.
        Neq = "neq",
        /// Its text holds that of the source.
        Contains = "contains",
        /// Greater than it.
        Gt = "gt",
        /// Greater than or equal to it.
        Gte = "gte",
        /// Less than it.
        Lt = "lt",
        /// Less than or equal to it.
        Lte = "lte",
    }
}

impl CrossComparison {
    /// In words that fit between two values.
    pub fn phrase(self) -> &'static str {
        match self {
            CrossComparison::Eq => "equals",
            CrossComparison::Neq => "differs from",
            CrossComparison::Contains => "contains",
            CrossComparison::Gt => "is greater than",
            CrossComparison::Gte => "is at least",
            CrossComparison::Lt => "is less than",
            CrossComparison::Lte => "is at most",
        }
    }

    /// Whether the target stands so to the source. Values that have no order among them do not.
    pub fn holds(self, target: &Val<'_>, source: &Val<'_>) -> bool {
        let ordered = |fits: fn(Ordering) -> bool| order(target, source).is_some_and(fits);
        match self {
            CrossComparison::Eq => python::equal(target, source),
            CrossComparison::Neq => !python::equal(target, source),
            CrossComparison::Contains => python::str(target).contains(&*python::str(source)),
            CrossComparison::Gt => ordered(Ordering::is_gt),
            CrossComparison::Gte => ordered(Ordering::is_ge),
            CrossComparison::Lt => ordered(Ordering::is_lt),
            CrossComparison::Lte => ordered(Ordering::is_le),
        }
    }

    /// Like [`holds`](Self::holds), after both were normalised; then both are text.
    pub fn holds_normalised(
        self,
        normalisers: &[Normaliser],
        target: &Val<'_>,
        source: &Val<'_>,
    ) -> Result<bool, Inapplicable> {
        if normalisers.is_empty() {
            return Ok(self.holds(target, source));
        }
        let source = normalise(normalisers, python::str(source))?;
        let target = normalise(normalisers, python::str(target))?;
        Ok(self.holds(&Val::Str(target), &Val::Str(source)))
    }
}

/// Numbers and booleans by value, text by code point, lists item by item; nothing else has an order.
fn order(left: &Val<'_>, right: &Val<'_>) -> Option<Ordering> {
    match (left, right) {
        (Val::Str(left), Val::Str(right)) => Some(left.cmp(right)),
        (Val::List(left), Val::List(right)) => {
            let differing = left.iter().zip(right).find(|(left, right)| !python::equal(left, right));
            differing.map_or(Some(left.len().cmp(&right.len())), |(left, right)| order(left, right))
        }
        (Val::Bool(left), right) => order(&Val::I((*left).into()), right),
        (left, Val::Bool(right)) => order(left, &Val::I((*right).into())),
        (left, right) => compare_numbers(left, right),
    }
}

impl Node for CrossTurnCheck {
    const WRITTEN: &'static [WrittenKind] = &[WrittenKind {
        name: "cross_turn",
        doc: "a field of one turn compares as required with a field of another",
        form: Form::Object(&CROSS_TURN),
        read: |reading, it| read_keys(reading, &CROSS_TURN, &it.value),
    }];

    const STORED: &'static [StoredKind] = &[StoredKind {
        name: "cross_turn_check",
        class: "CrossTurnCheck",
        keys: &CROSS_TURN_CHECK,
        read: |reading, node| read_keys(reading, &CROSS_TURN_CHECK, node),
        load: load_stored,
    }];

    fn decide(&self, evidence: &Val<'_>, notes: &mut Notes) -> Result<Value, OutcomeError> {
        let history = history(evidence)?;
        let looked_at = |scope: &Scope, field: &TurnField, notes: &mut Notes| {
            let (ix, turn) = scope.single(history)?;
            let value = field.find(turn);
            notes.found(|| Found {
                place: Some(turn_words(ix, turn)),
                read: field.to_string(),
                value: value.clone().into_owned().into_owned(),
                mismatch: None,
            });
            Some(value)
        };
        let target = looked_at(&self.target_turn, &self.target_field, notes);
        let source = looked_at(&self.source_turn, &self.source_field, notes);
        let (Some(source), Some(target)) = (source, target) else { return Ok(Val::Bool(false)) };
        let held = self.comparison.holds_normalised(&self.normalize, &target, &source);
        held.map(Val::Bool).map_err(|error| OutcomeError::because(self.words(), error))
    }

    /// `` `raw_response` of the last turn equals `raw_response` of the first turn ``
    fn words(&self) -> String {
        let CrossTurnCheck { source_turn, source_field, target_turn, target_field, comparison, normalize } = self;
        let phrase = comparison.phrase();
        let compared = format!("`{target_field}` of {target_turn} {phrase} `{source_field}` of {source_turn}");
        if normalize.is_empty() {
            return compared;
        }
        let names: Vec<&str> = normalize.iter().map(Normaliser::name).collect();
        format!("{compared}, after {}", names.join(", "))
    }

    fn to_written(&self) -> Option<Value> {
        let scope = |scope: &Scope| match scope {
            Scope::First => Val::from("first_turn"),
            Scope::Last => Val::from("last_turn"),
            Scope::At(index) => keyed("turn_at", Val::I(*index)),
            several => several.to_stored(),
        };
        let members = [
            ("source", scope(&self.source_turn)),
            ("source_field", Val::from(self.source_field.to_string())),
            ("target", scope(&self.target_turn)),
            ("target_field", Val::from(self.target_field.to_string())),
            ("comparison", Val::from(self.comparison.name())),
        ];
        let normalize: Value = self.normalize.iter().map(Normaliser::to_value).collect();
        let normalize = (!self.normalize.is_empty()).then_some(("normalize", normalize));
        Some(keyed("cross_turn", Val::Map(members.into_iter().chain(normalize).collect())))
    }

    fn fields(&self) -> Vec<(&Scope, &TurnField)> {
        vec![(&self.source_turn, &self.source_field), (&self.target_turn, &self.target_field)]
    }

    fn to_stored(&self, names: Names) -> Value {
        object([
            ("type", Val::from(names(&Self::STORED[0]))),
            ("source_turn", self.source_turn.to_stored()),
            ("source_field", Val::from(self.source_field.to_string())),
            ("target_turn", self.target_turn.to_stored()),
            ("target_field", Val::from(self.target_field.to_string())),
            ("comparison", Val::from(self.comparison.name())),
            ("normalize", self.normalize.iter().map(Normaliser::to_value).collect()),
        ])
    }
}

fn load_stored(node: &Text<'_>) -> Result<Check, ArgError> {
    let named = required(node, "comparison")?;
    let comparison = CrossComparison::NAMED.iter().find(|(name, _)| named.as_str() == Some(name));
    let names = || listed(CrossComparison::NAMED.iter().map(|(name, _)| *name));
    let normalize = match present(node, "normalize") {
        None => Vec::new(),
        Some(_) => {
            let items = list(node, "normalize", "a list of normalisers")?;
            let read = |it: &Text<'_>| Normaliser::read(it).map_err(|message| ArgError { span: it.span, message });
            items.iter().map(read).collect::<Result<_, _>>()?
        }
    };
    let check = CrossTurnCheck {
        source_turn: Scope::from_stored(required(node, "source_turn")?)?,
        source_field: TurnField::parse(&text(node, "source_field")?),
        target_turn: Scope::from_stored(required(node, "target_turn")?)?,
        target_field: TurnField::parse(&text(node, "target_field")?),
        comparison: comparison.ok_or_else(|| wrong("comparison", &names(), named))?.1,
        normalize,
    };
    Ok(check.into())
}

const SINGLE: Shape<Scope> = Shape::new(Form::Any, read_single);
const SOURCE: Field<Scope> = Field::required("source", SINGLE, "the turn that is compared with").or(&["source_turn"]);
const SOURCE_FIELD: Field<TurnField> =
    Field::required("source_field", TURN_FIELD, "the field of the source, such as `raw_response`");
const TARGET: Field<Scope> = Field::required("target", SINGLE, "the turn that is compared").or(&["target_turn"]);
const TARGET_FIELD: Field<TurnField> =
    Field::required("target_field", TURN_FIELD, "the field of the target, such as `raw_response`");
const COMPARISON: Field<CrossComparison> =
    Field::required("comparison", shape::choice(), "how the target must compare with the source");
const NORMALIZE: Field<Vec<Normaliser>> = Field::optional(
    "normalize",
    Shape::new(Form::List(&Form::Any), normalisers),
    "normalisers that are applied to both first, in order",
);

static CROSS_TURN: Object = Object {
    what: "`cross_turn`",
    keys: &[SOURCE.key, SOURCE_FIELD.key, TARGET.key, TARGET_FIELD.key, COMPARISON.key, NORMALIZE.key],
};

/// The keys of a stored cross-turn check.
static CROSS_TURN_CHECK: Object = Object {
    what: "a `cross_turn_check`",
    keys: &[TYPE.key, SOURCE.key, SOURCE_FIELD.key, TARGET.key, TARGET_FIELD.key, COMPARISON.key, NORMALIZE.key],
};

fn read_keys(reading: &mut Reading<'_>, keys: &'static Object, node: &Text<'_>) -> Option<Check> {
    let fields = keys.fields(reading, node)?;
    let (source_turn, target_turn) = (fields.read(reading, &SOURCE), fields.read(reading, &TARGET));
    let (source_field, target_field) = (fields.read(reading, &SOURCE_FIELD), fields.read(reading, &TARGET_FIELD));
    let comparison = fields.read(reading, &COMPARISON);
    let normalize = match fields.node(&NORMALIZE) {
        Some(_) => fields.read(reading, &NORMALIZE)?,
        None => Vec::new(),
    };
    let check = CrossTurnCheck {
        source_turn: source_turn?,
        source_field: source_field?,
        target_turn: target_turn?,
        target_field: target_field?,
        comparison: comparison?,
        normalize,
    };
    Some(check.into())
}

fn normalisers(reading: &mut Reading<'_>, what: &str, node: &Text<'_>) -> Option<Vec<Normaliser>> {
    let n_before = reading.n_errors();
    let mut normalisers = Vec::new();
    for item in reading.list(what, "a list of normalisers", node) {
        let read = Normaliser::read(item).and_then(|it| it.flaw().map_or(Ok(it), Err));
        match read {
            Ok(normaliser) => normalisers.push(normaliser),
            Err(message) => {
                let message = format!("{what}: {message}");
                reading.problem(Problem::new(&codes::BAD_OPERAND, message).at(item.span, "here"));
            }
        }
    }
    (reading.n_errors() == n_before).then_some(normalisers)
}

/// A field of one turn, the target, compared with a field of another, the source: target, comparison, source.
///
/// ```
/// use jurat_core::outcome::{CrossComparison, cross_turn, first_turn_scope, last_turn_scope};
///
/// let (first, last) = ((first_turn_scope(), "raw_response"), (last_turn_scope(), "raw_response"));
/// let same = cross_turn(first, last, CrossComparison::Eq, []);
/// assert_eq!(same.to_string(), "`raw_response` of the last turn equals `raw_response` of the first turn");
/// ```
pub fn cross_turn(
    source: (Scope, &str),
    target: (Scope, &str),
    comparison: CrossComparison,
    normalize: impl IntoIterator<Item = Normaliser>,
) -> Check {
    let check = CrossTurnCheck {
        source_turn: source.0,
        source_field: TurnField::parse(source.1),
        target_turn: target.0,
        target_field: TurnField::parse(target.1),
        comparison,
        normalize: normalize.into_iter().collect(),
    };
    check.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jurat_format::value::parse_json;

    // The right column is what CPython 3.11 answers to `left < right`; an exception is `None`.
    #[test]
    fn values_are_ordered_as_python_orders_them() {
        for (left, right, less) in [
            ("1", "2", Some(true)),
            ("1", "1.5", Some(true)),
            ("false", "true", Some(true)),
            ("true", "2", Some(true)),
            ("\"10\"", "\"9\"", Some(true)),
            ("\"Z\"", "\"a\"", Some(true)),
            ("\"a\"", "1", None),
            ("null", "null", None),
            ("{}", "{}", None),
            ("[1, 2]", "[1, 3]", Some(true)),
            ("[1]", "[1, 0]", Some(true)),
            ("[]", "[]", Some(false)),
            ("[1]", "[\"a\"]", None),
            ("[[1], 5]", "[[1.0], 6]", Some(true)),
            ("[null, 1]", "[null, 2]", Some(true)),
            ("[null]", "[1]", None),
        ] {
            let (a, b) = (parse_json(left).unwrap().value, parse_json(right).unwrap().value);
            assert_eq!(order(&a, &b).map(Ordering::is_lt), less, "{left} < {right}");
        }
    }
}
