//! `result`, `status_is`, `turn_count_eq`, `turn_count_gte`: fields of the whole result are as wanted.

use std::borrow::Cow;

use jurat_compare::ArgError;
use jurat_format::codes;
use jurat_format::field::Field;
use jurat_format::form::{Form, Object};
use jurat_format::problem::{Problem, listed};
use jurat_format::reader::Reading;
use jurat_format::value::{Entry, Map, Node as Text, Val, Value, shown_within};

use super::Check;
use super::composition::joined;
use super::error::OutcomeError;
use super::field::{RESULT_FIELD, ResultField, result_field};
use super::format::{TYPE, WrittenKind, keyed};
use super::node::{Names, Node, Notes};
use super::stored::{StoredKind, object, text};
use super::trace::Found;
use super::turn::{FIELDS, no_field};
use super::wanted::{EXPECTED, Relation, VERIFY_WITH, Wanted};

/// A part of the result is as wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultCheck {
    pub field: ResultField,
    pub wanted: Wanted,
}

impl Node for ResultCheck {
    const WRITTEN: &'static [WrittenKind] = &[
        WrittenKind {
            name: "status_is",
            doc: "the scenario ended with this status",
            form: Form::Choice(&STATUSES),
            read: read_status,
        },
        WrittenKind {
            name: "turn_count_eq",
            doc: "the scenario took exactly this number of turns",
            form: Form::Integer(0),
            read: |reading, it| read_count(reading, it).map(turn_count_eq),
        },
        WrittenKind {
            name: "turn_count_gte",
            doc: "the scenario took at least this number of turns",
            form: Form::Integer(0),
            read: |reading, it| read_count(reading, it).map(turn_count_gte),
        },
        WrittenKind {
            name: "result",
            doc: "fields of the result of the whole scenario have these values",
            form: FIELDS,
            read: read_result,
        },
    ];

    const STORED: &'static [StoredKind] = &[StoredKind {
        name: "result_check",
        class: "ResultCheck",
        keys: &RESULT_CHECK,
        read: read_stored,
        load: load_stored,
    }];

    fn decide(&self, evidence: &Val<'_>, notes: &mut Notes) -> Result<Value, OutcomeError> {
        let found = self.field.find(evidence);
        let because = |error| OutcomeError::because(format!("`{}`", self.field), error);
        let wanted = self.wanted.of_case(evidence).map_err(because)?;
        if matches!(wanted, Cow::Owned(_)) {
            notes.in_words(|| format!("`{}` is {}", self.field, wanted.phrase()));
        }
        notes.found(|| Found::judged(None, self.field.as_str(), &found, &wanted));
        wanted.holds(&found).map(Val::Bool).map_err(because)
    }

    fn words(&self) -> String {
        format!("`{}` is {}", self.field, self.wanted.phrase())
    }

    fn to_written(&self) -> Option<Value> {
        let status = self.wanted.expected().as_str().filter(|_| self.field.as_str() == "status");
        if let Some(status) = status.filter(|it| STATUSES.contains(it))
            && Check::from(self.clone()) == status_is(status)
        {
            return Some(keyed("status_is", Val::from(status.to_owned())));
        }
        let members = [(self.field.to_string(), self.wanted.to_written()?)];
        Some(keyed("result", Val::Map(members.into_iter().collect::<Map<'static>>())))
    }

    fn to_stored(&self, names: Names) -> Value {
        object([
            ("type", Val::from(names(&Self::STORED[0]))),
            ("field", Val::from(self.field.to_string())),
            ("expected", self.wanted.expected().clone()),
            ("verify_with", self.wanted.verify_with()),
        ])
    }
}

fn load_stored(node: &Text<'_>) -> Result<Check, ArgError> {
    let field = ResultField::parse(&text(node, "field")?);
    Ok(ResultCheck { field, wanted: Wanted::from_stored(node)? }.into())
}

const FIELD: Field<ResultField> = Field::required("field", RESULT_FIELD, "which field");

static RESULT_CHECK: Object =
    Object { what: "a `result_check`", keys: &[TYPE.key, FIELD.key, EXPECTED.key, VERIFY_WITH.key] };

/// How scenarios end.
const STATUSES: [&str; 4] = ["completed", "limit_reached", "timeout", "error"];

fn read_stored(reading: &mut Reading<'_>, node: &Text<'_>) -> Option<Check> {
    let fields = RESULT_CHECK.fields(reading, node)?;
    let field = fields.read(reading, &FIELD);
    let wanted = Wanted::read_stored(reading, &fields);
    Some(ResultCheck { field: field?, wanted: wanted? }.into())
}

fn read_status(reading: &mut Reading<'_>, entry: &Entry<'_>) -> Option<Check> {
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

fn read_count(reading: &mut Reading<'_>, entry: &Entry<'_>) -> Option<i64> {
    reading.integer(&format!("`{}`", entry.key), 0, &entry.value)
}

fn read_result(reading: &mut Reading<'_>, entry: &Entry<'_>) -> Option<Check> {
    let Some(members) = entry.value.entries() else {
        reading.wrong_type("`result`", "an object of fields such as `{ turn_count: { lte: 5 } }`", &entry.value);
        return None;
    };
    let mut checks = Vec::with_capacity(members.len());
    for member in members {
        let field = result_field(reading, &member.key, member.key_span);
        let wanted = Wanted::read(reading, &member.key, &member.value);
        checks.push(wanted.map(|wanted| ResultCheck { field, wanted }.into()));
    }
    if checks.is_empty() {
        reading.problem(no_field(entry));
        return None;
    }
    checks.into_iter().collect::<Option<_>>().map(joined)
}

/// How the scenario ended: `completed`, `limit_reached`, `timeout` or `error`.
pub fn status_is(expected: &str) -> Check {
    result("status", expected.into())
}

/// It took this number of turns.
pub fn turn_count_eq(n: i64) -> Check {
    result("turn_count", n.into())
}

/// It took at least this number of turns.
pub fn turn_count_gte(n: i64) -> Check {
    result("turn_count", Wanted::number(Relation::Gte, Val::from(n)))
}

fn result(field: &str, wanted: Wanted) -> Check {
    ResultCheck { field: ResultField::parse(field), wanted }.into()
}
