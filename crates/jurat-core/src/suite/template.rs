//! Answer templates, as they are written.
//!
//! ```yaml
//! template:
//!   fields:
//!     capital: { type: string, description: the capital that the answer names, ground_truth: Paris }
//!     people: { type: integer, ground_truth: 2100000, verify_with: { type: NumericTolerance, tolerance: 0.1 }, weight: 0.5 }
//!     cites: { verify_with: { type: TraceRegex, pattern: '\[\d+\]' } }
//!   strategy: { any_of: [capital, { all_of: [people, cites] }] }
//! ```
//!
//! A mapping without `fields` is the fields. The form in which a peer stores templates is read too: `fields` as a list, the strategy as
//! objects with `type`, its names for types.

use super::codes;
use super::comparison;
use super::form::{Form, Key, Keys, object};
use super::output;
use super::problem::{Problem, listed, listed_all};
use super::reader::{Fields, Reading};
use super::task::read_id;
use super::write;
use crate::compare::{Operand, Operator};
use crate::template::definition::{is_trace, unusable, usual_operator};
use crate::template::{Field, GroundTruth, GroundTruthCase, Strategy, Template, TemplateError};
use crate::value::{Content, Entry, Kind, Map, Node, Span, Spanned, Val, Value, shown};

static TEMPLATE: Keys = Keys {
    what: "a template",
    keys: &[
        Key::required(
            "fields",
            Form::Either(&[Form::Map(&Form::Object(&FIELD)), Form::List(&Form::Object(&STORED_FIELD))]),
            "what is read from an answer, and what it must be, by name",
        ),
        Key::optional("strategy", Form::Strategy, "how many fields must be right; all that are judged unless said")
            .or(&["verify_strategy"]),
        Key::optional("class_name", Form::Text, "what a peer calls the template; not used"),
    ],
};

const TYPE: Key = Key::optional(
    "type",
    Form::Any,
    "`string`, `number`, `[string]`, `{enum: […]}`, `any` or a JSON Schema; as the ground truth unless said",
);
const DESCRIPTION: Key =
    Key::optional("description", Form::Text, "what it is, in words for the model that reads answers");
const GROUND_TRUTH: Key = Key::optional(
    "ground_truth",
    Form::Any,
    "what it must be, or `{conditional: …}`; it is read and not judged without",
);
const VERIFY_WITH: Key =
    Key::optional("verify_with", Form::Operator, "how it is compared; follows from the ground truth unless said");
const WEIGHT: Key = Key::optional(
    "weight",
    Form::Number(f64::NEG_INFINITY, f64::INFINITY),
    "how much it counts for partial credit; 1 unless said",
);
const EXTRACTION_HINT: Key =
    Key::optional("extraction_hint", Form::Text, "how the model that reads answers should write the value");

static FIELD: Keys =
    Keys { what: "a field", keys: &[TYPE, DESCRIPTION, GROUND_TRUTH, VERIFY_WITH, WEIGHT, EXTRACTION_HINT] };

/// A field as a peer stores it.
static STORED_FIELD: Keys = Keys {
    what: "a field in a list",
    keys: &[
        Key::required("name", Form::Id, "the name of the field"),
        TYPE,
        DESCRIPTION,
        GROUND_TRUTH,
        VERIFY_WITH,
        WEIGHT,
        EXTRACTION_HINT,
        Key::optional("literal_values", Form::Any, "the values of a field of type `literal`"),
        Key::optional("is_trace", Form::Any, "whether it looks at the raw answer, which its comparison says already"),
    ],
};

static CONDITIONAL: Keys = Keys {
    what: "a conditional ground truth",
    keys: &[
        Key::required("source", Form::Text, "a path that starts with `node_results.`"),
        Key::required("cases", Form::Map(&Form::Any), "what holds for each value found there, by its text"),
        Key::required("default", Form::Any, "what holds for any other value, and when there is none"),
        Key::optional("__conditional__", Form::Boolean, "how a peer marks it"),
    ],
};

static CASE: Keys = Keys {
    what: "a case of a ground truth",
    keys: &[Key::required("value", Form::Any, "what the field must be"), VERIFY_WITH],
};

pub(super) const FORM: Form = Form::Either(&[Form::Object(&TEMPLATE), Form::Map(&Form::Object(&FIELD))]);

/// Reads a template.
pub(super) fn read(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Template> {
    let Some(entries) = node.entries() else {
        reading.wrong_type(what, "an object of fields", node);
        return None;
    };
    let n_before = reading.n_errors();
    let (fields, strategy_node) = match node.get("fields") {
        Some(_) => {
            let keys = Fields::read(reading, &TEMPLATE, node)?;
            let fields = keys.get("fields").map(|it| read_fields(reading, what, it));
            (fields.unwrap_or_default(), keys.given("strategy"))
        }
        None => (read_named(reading, entries), None),
    };
    if fields.is_empty() && reading.n_errors() == n_before {
        let problem = Problem::new(&codes::MISSING_KEY, format!("{what} has no fields")).at(node.span, "reads nothing");
        reading.problem(problem.help("name what is read: `capital: { type: string, ground_truth: Paris }`"));
    }
    if reading.n_errors() > n_before {
        return None;
    }
    let strategy = strategy_node.map(|it| read_strategy(reading, it, &fields));
    if reading.n_errors() > n_before {
        return None;
    }
    match Template::new(fields, strategy.flatten()) {
        Ok(template) => Some(template),
        Err(error) => {
            let code =
                if matches!(error, TemplateError::Schema { .. }) { &codes::BAD_SCHEMA } else { &codes::WRONG_VALUE };
            reading.problem(Problem::new(code, error.to_string()).at(node.span, "in this template"));
            None
        }
    }
}

fn read_fields(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Vec<Field> {
    match &node.content {
        Content::Map(entries) => read_named(reading, entries),
        Content::List(items) => read_stored(reading, items),
        Content::Scalar(_) => {
            reading.wrong_type(&format!("`fields` of {what}"), "an object of fields", node);
            Vec::new()
        }
    }
}

fn read_named(reading: &mut Reading<'_>, entries: &[Entry<'_>]) -> Vec<Field> {
    let mut fields = Vec::with_capacity(entries.len());
    for entry in entries {
        let name = Node { span: entry.key_span, content: Content::Scalar(Val::Str(entry.key.clone())) };
        let name = read_id(reading, "a field of a template", &name);
        let Some(keys) = Fields::read(reading, &FIELD, &entry.value) else { continue };
        let Some(name) = name else { continue };
        fields.extend(read_field(reading, &name, &keys, |reading, node| {
            output::type_of(reading, &format!("the type of `{}`", entry.key), node)
        }));
    }
    fields
}

fn read_stored(reading: &mut Reading<'_>, items: &[Node<'_>]) -> Vec<Field> {
    let (mut fields, mut places): (Vec<Field>, Vec<Spanned<String>>) = (Vec::new(), Vec::new());
    for item in items {
        let Some(keys) = Fields::read(reading, &STORED_FIELD, item) else { continue };
        let Some(name) = keys.get("name").and_then(|it| read_id(reading, "a field of a template", it)) else {
            continue;
        };
        if let Some(first) = places.iter().find(|it| it.value == name.value) {
            let problem =
                Problem::new(&codes::REPEATED_KEY, format!("the field `{}` stands twice in one template", name.value));
            reading.problem(problem.at(name.span, "again here").at(first.span, "first here").help("keep one of them"));
            continue;
        }
        places.push(name.clone());
        let literals = keys.given("literal_values");
        fields.extend(read_field(reading, &name, &keys, |reading, node| {
            stored_type(reading, &name.value, node, literals)
        }));
    }
    fields
}

/// A type by the name that a peer has for it, or any other way to write one.
fn stored_type(reading: &mut Reading<'_>, name: &str, node: &Node<'_>, literals: Option<&Node<'_>>) -> Value {
    let kind = |name: &'static str| Val::Map([("type", Val::from(name))].into_iter().collect());
    match (node.as_str(), literals) {
        (Some("bool"), _) => kind("boolean"),
        (Some("str"), _) => kind("string"),
        (Some("int"), _) => kind("integer"),
        (Some("float"), _) => kind("number"),
        (Some("list_str"), _) => {
            Val::Map([("type", Val::from("array")), ("items", kind("string"))].into_iter().collect())
        }
        (Some("date"), _) => {
            Val::Map([("type", Val::from("string")), ("format", Val::from("date"))].into_iter().collect())
        }
        (Some("literal"), Some(literals)) => {
            let values = reading.list(&format!("`literal_values` of `{name}`"), "a list of values", literals);
            Val::Map([("enum", values.iter().map(|it| it.to_val().into_owned()).collect())].into_iter().collect())
        }
        _ => output::type_of(reading, &format!("the type of `{name}`"), node),
    }
}

fn read_field(
    reading: &mut Reading<'_>,
    name: &Spanned<String>,
    keys: &Fields<'_, '_>,
    read_type: impl FnOnce(&mut Reading<'_>, &Node<'_>) -> Value,
) -> Option<Field> {
    let n_before = reading.n_errors();
    let text = |reading: &mut Reading<'_>, key: &str| {
        keys.given(key).and_then(|it| reading.text(&format!("`{key}` of `{}`", name.value), it)).map(|it| it.value)
    };
    let description = text(reading, "description").unwrap_or_default();
    let extraction_hint = text(reading, "extraction_hint");
    let weight = keys.given("weight").and_then(|it| weight(reading, &name.value, it)).unwrap_or(1.0);
    let verify_with = keys.given("verify_with").map(|it| read_operator(reading, it));
    let ground_truth = keys.get("ground_truth").map(|it| (it.span, read_ground_truth(reading, &name.value, it)));
    let (truth_span, ground_truth) = match ground_truth {
        Some((span, truth)) => (Some(span), truth),
        None => (None, Some(GroundTruth::None)),
    };
    let is_raw = matches!(&verify_with, Some(Some(it)) if is_trace(&it.value));
    let schema = match keys.given("type") {
        _ if is_raw => Some(Val::Bool(true)),
        Some(node) if node.as_str() == Some("any") => Some(Val::Bool(true)),
        Some(node) => Some(read_type(reading, node)),
        None => ground_truth.as_ref().and_then(schema_of),
    };
    let verify_with = match verify_with {
        Some(read) => Some(read?),
        None => None,
    };
    let (ground_truth, operator) = (ground_truth?, verify_with.as_ref());
    if schema.is_none() && !keys.may_mean("type") {
        let problem = Problem::new(&codes::MISSING_KEY, format!("the field `{}` needs `type`", name.value));
        let problem = problem.at(name.span, "of what type?");
        reading.problem(problem.help("write `type: string`, or a `ground_truth` that says it"));
    }
    if schema.as_ref().is_some_and(|it| output::depth(it) > output::MAX_DEPTH) {
        let message = format!("the type of `{}` is nested more than {} deep", name.value, output::MAX_DEPTH);
        reading.problem(Problem::new(&codes::BAD_SCHEMA, message).at(name.span, "too deep"));
    }
    if reading.n_errors() > n_before {
        return None;
    }
    let field = Field {
        name: name.value.clone(),
        schema: schema?,
        description,
        ground_truth,
        verify_with: operator.map(|it| it.value.clone()),
        weight,
        extraction_hint,
    };
    check_truths(reading, &field, name.span, truth_span, operator.map(|it| it.span));
    (reading.n_errors() == n_before).then_some(field)
}

fn weight(reading: &mut Reading<'_>, name: &str, node: &Node<'_>) -> Option<f64> {
    let what = format!("`weight` of `{name}`");
    let weight = reading.number(&what, (f64::NEG_INFINITY, f64::INFINITY), node)?;
    if !weight.is_finite() {
        reading.wrong_type(&what, "a finite number", node);
        return None;
    }
    Some(weight)
}

fn read_operator(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Spanned<Operator>> {
    if node.as_str().is_none() && node.entries().is_none() {
        reading.wrong_type("`verify_with`", "the name of a comparison, or an object with `type`", node);
        return None;
    }
    comparison::operator(reading, node)
}

/// A value, or `{conditional: {source, cases, default}}`, or the same as a peer stores it.
fn read_ground_truth(reading: &mut Reading<'_>, name: &str, node: &Node<'_>) -> Option<GroundTruth> {
    let inner = match node.entries() {
        Some([only]) if only.key == "conditional" => Some(&only.value),
        _ if node.get("__conditional__").is_some() => Some(node),
        _ => None,
    };
    let Some(inner) = inner else { return Some(GroundTruth::Value(node.to_val().into_owned())) };
    let keys = Fields::read(reading, &CONDITIONAL, inner)?;
    let source = keys.get("source").and_then(|it| reading.text("`source`", it));
    if let Some(source) = &source
        && source.value.strip_prefix("node_results.").is_none_or(|it| it.is_empty() || it.contains(".."))
    {
        let message = format!("`source` of `{name}` must be a path into the results of earlier nodes");
        let problem = Problem::new(&codes::BAD_PATH, message).at(source.span, "leads nowhere");
        reading.problem(problem.help("for example `node_results.first.parsed.kind`"));
        return None;
    }
    let cases = keys.get("cases").and_then(|it| match it.entries() {
        Some(entries) => {
            let read: Vec<_> =
                entries.iter().map(|it| Some((it.key.clone().into_owned(), read_case(reading, &it.value)?))).collect();
            read.into_iter().collect::<Option<Vec<_>>>()
        }
        None => {
            reading.wrong_type("`cases`", "an object of texts and what holds for each", it);
            None
        }
    });
    let default = keys.get("default").and_then(|it| read_case(reading, it));
    Some(GroundTruth::Conditional { source: source?.value, cases: cases?, default: default? })
}

/// `{value, verify_with}`, or the value alone.
fn read_case(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<GroundTruthCase> {
    if node.get("value").is_none() {
        return Some(GroundTruthCase { value: node.to_val().into_owned(), verify_with: None });
    }
    let keys = Fields::read(reading, &CASE, node)?;
    let verify_with = keys.given("verify_with").map(|it| read_operator(reading, it));
    let value = keys.get("value")?.to_val().into_owned();
    match verify_with {
        Some(operator) => Some(GroundTruthCase { value, verify_with: Some(operator?.value) }),
        None => Some(GroundTruthCase { value, verify_with: None }),
    }
}

/// The type of a ground truth, when nobody says what a field is. A whole number may be compared with one that is not.
fn schema_of(ground_truth: &GroundTruth) -> Option<Value> {
    fn of(value: &Val<'_>) -> Option<Value> {
        let kind = |name: &'static str| Some(Val::Map([("type", Val::from(name))].into_iter().collect()));
        match value {
            Val::Null => None,
            Val::Bool(_) => kind("boolean"),
            Val::I(_) | Val::U(_) | Val::F(_) | Val::Big(_) => kind("number"),
            Val::Str(_) => kind("string"),
            Val::Map(_) => kind("object"),
            Val::List(items) => {
                let mut schemas = items.iter().map(of);
                let first = schemas.next().flatten();
                match first {
                    Some(first) if schemas.all(|it| it.as_ref() == Some(&first)) => {
                        Some(Val::Map([("type", Val::from("array")), ("items", first)].into_iter().collect()))
                    }
                    _ => kind("array"),
                }
            }
        }
    }
    match ground_truth {
        GroundTruth::None => None,
        GroundTruth::Value(value) => of(value),
        GroundTruth::Conditional { default, .. } => of(&default.value),
    }
}

/// Finds ground truths that cannot be compared with, and those that no value of the field's type can reach.
fn check_truths(reading: &mut Reading<'_>, field: &Field, name: Span, truth: Option<Span>, operator: Option<Span>) {
    let Some(truth) = truth else {
        if let (Some(span), Some(verify_with)) = (operator, &field.verify_with)
            && !field.is_judged()
        {
            let entry = verify_with.entry();
            let problem = Problem::new(&codes::MISSING_KEY, format!("`{}` needs `ground_truth`", entry.snake_case()));
            let problem =
                problem.at(span, format!("compares with {}", entry.operand.phrase())).at(name, "for this field");
            reading.problem(
                problem.help("add `ground_truth`, or drop `verify_with` to read the field without judging it"),
            );
        }
        return;
    };
    let truths: Vec<(&Value, Option<&Operator>)> = match &field.ground_truth {
        GroundTruth::None => Vec::new(),
        GroundTruth::Value(value) => vec![(value, field.verify_with.as_ref())],
        GroundTruth::Conditional { cases, default, .. } => {
            let cases = cases.iter().map(|(_, case)| case).chain([default]);
            cases.map(|it| (&it.value, it.verify_with.as_ref().or(field.verify_with.as_ref()))).collect()
        }
    };
    for (value, written) in truths {
        let operator = written.cloned().unwrap_or_else(|| usual_operator(value));
        if is_trace(&operator) || operator.entry().operand == Operand::Ignored {
            continue;
        }
        let entry = operator.entry().snake_case();
        let flaw = match operator.bind(value.borrowed()) {
            Ok(comparison) => comparison.flaw(),
            Err(_) => unusable(&operator, value).map(|it| it.reason.replace("`expected_value`", "`ground_truth`")),
        };
        if let Some(flaw) = flaw {
            let problem = Problem::new(&codes::BAD_OPERAND, format!("`{entry}`: {flaw}"));
            reading.problem(problem.at(truth, format!("should be {}", operator.entry().operand.phrase())));
            continue;
        }
        out_of_reach(reading, field, &operator, value, truth, written.is_none());
    }
}

/// Warns of a ground truth that no value of the field's type can be equal to.
fn out_of_reach(
    reading: &mut Reading<'_>,
    field: &Field,
    operator: &Operator,
    truth: &Val<'_>,
    span: Span,
    is_inferred: bool,
) {
    let Ok(comparison) = operator.bind(truth.borrowed()) else { return };
    if let Some(members) = field.schema.get("enum").and_then(Val::as_list) {
        let passes = |it: &Val<'_>| comparison.judge(it) == crate::compare::Judgement::Passed;
        if !members.iter().any(passes) {
            let message = format!("no value that `{}` may have is {}", field.name, comparison.expected());
            let problem = Problem::new(&codes::OUTSIDE_ENUM, message).at(span, "never passes");
            let members: Vec<String> = members.iter().map(shown).collect();
            reading.problem(problem.help(format!("`{}` is one of {}", field.name, members.join(", "))));
        }
        return;
    }
    let Some(kind) = field.schema.get("type").and_then(Val::as_str).and_then(kind_of) else { return };
    let entry = operator.entry();
    if !entry.may_pass(kind) {
        let message = format!("`{}` never passes on {}", entry.snake_case(), kind.phrase());
        let problem = Problem::new(&codes::NEVER_APPLIES, message).at(span, "never passes");
        reading.problem(problem.help(format!("`{}` is {}", field.name, kind.phrase())));
    } else if is_inferred && truth.kind() != kind {
        let message =
            format!("`{}` is {}, and {} is {}", field.name, kind.phrase(), shown(truth), truth.kind().phrase());
        let problem = Problem::new(&codes::UNEXPECTED_TYPE, message).at(span, "of another type");
        reading.problem(problem.help("make them of one type, or say with `verify_with` how they are compared"));
    }
}

fn kind_of(name: &str) -> Option<Kind> {
    Some(match name {
        "string" => Kind::Text,
        "integer" | "number" => Kind::Number,
        "boolean" => Kind::Boolean,
        "array" => Kind::List,
        "object" => Kind::Object,
        "null" => Kind::Null,
        _ => return None,
    })
}

/// The ways to put fields together, by the names that are read.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    All,
    Any,
    AtLeast,
    Field,
}

const WAYS: [(&str, Way); 8] = [
    ("all_of", Way::All),
    ("any_of", Way::Any),
    ("at_least_n", Way::AtLeast),
    ("field_check", Way::Field),
    ("AllOf", Way::All),
    ("AnyOf", Way::Any),
    ("AtLeastN", Way::AtLeast),
    ("FieldCheck", Way::Field),
];

static AT_LEAST: Keys = Keys {
    what: "`at_least_n`",
    keys: &[
        Key::required("n", Form::Integer(0), "how many must be right"),
        Key::required("conditions", Form::List(&Form::Strategy), "of which"),
    ],
};

static TYPED: Keys = Keys {
    what: "a strategy",
    keys: &[
        Key::required("type", Form::Text, "how the conditions are put together"),
        Key::optional("conditions", Form::List(&Form::Strategy), "what is put together"),
        Key::optional("n", Form::Integer(0), "how many must be right"),
        Key::optional("field", Form::Text, "the field that must be right").or(&["field_name"]),
    ],
};

/// `name`, `{any_of: [name, …]}`, `{at_least_n: {n: 2, conditions: […]}}`, or the same as objects with `type`.
fn read_strategy(reading: &mut Reading<'_>, node: &Node<'_>, fields: &[Field]) -> Option<Strategy> {
    match &node.content {
        Content::Scalar(Val::Str(_)) => read_leaf(reading, node, fields),
        Content::Map(_) if node.get("type").is_some() => {
            let keys = Fields::read(reading, &TYPED, node)?;
            let way = keys.get("type").and_then(|it| reading.choice("`type` of a strategy", &WAYS, it))?;
            let needed = |reading: &mut Reading<'_>, name: &str| {
                let found = keys.given(name);
                if found.is_none()
                    && let Some(key) = TYPED.find(name)
                {
                    reading.problem(keys.missing(key));
                }
                found
            };
            match way {
                Way::Field => {
                    let leaf = needed(reading, "field")?;
                    read_leaf(reading, leaf, fields)
                }
                Way::All | Way::Any => {
                    let conditions = needed(reading, "conditions")?;
                    read_parts(reading, way, conditions, fields)
                }
                Way::AtLeast => {
                    let (n, conditions) = (needed(reading, "n"), needed(reading, "conditions"));
                    read_at_least(reading, n?, conditions?, fields)
                }
            }
        }
        Content::Map(entries) => match entries.as_slice() {
            [only] if WAYS.iter().any(|(name, way)| *name == only.key && *way != Way::Field) => {
                let way = WAYS.iter().find(|(name, _)| *name == only.key).map_or(Way::All, |(_, way)| *way);
                if way == Way::AtLeast {
                    let keys = Fields::read(reading, &AT_LEAST, &only.value)?;
                    return read_at_least(reading, keys.get("n")?, keys.get("conditions")?, fields);
                }
                read_parts(reading, way, &only.value, fields)
            }
            _ => {
                let problem =
                    Problem::new(&codes::WRONG_VALUE, "a strategy has one of `all_of`, `any_of` and `at_least_n`");
                let problem = problem.at(node.span, "none of these");
                let written = entries.first().map(|it| it.key.clone()).unwrap_or_default();
                let problem = problem.did_you_mean(&written, ["all_of", "any_of", "at_least_n"]);
                reading.problem(problem.help("for example `strategy: { any_of: [capital, country] }`"));
                None
            }
        },
        _ => {
            reading.wrong_type(
                "a strategy",
                &format!("the name of a field, or an object with {}", listed(["all_of", "any_of", "at_least_n"])),
                node,
            );
            None
        }
    }
}

fn read_leaf(reading: &mut Reading<'_>, node: &Node<'_>, fields: &[Field]) -> Option<Strategy> {
    let name = reading.text("a field of a strategy", node)?;
    match fields.iter().find(|it| it.name == name.value) {
        Some(field) if field.is_judged() => Some(Strategy::Field(name.value)),
        Some(_) => {
            let problem = Problem::new(
                &codes::WRONG_VALUE,
                format!("the strategy names `{}`, which is never judged", name.value),
            );
            reading.problem(
                problem
                    .at(name.span, "has no `ground_truth`")
                    .help("give the field a `ground_truth`, or leave it out here"),
            );
            None
        }
        None => {
            let known = fields.iter().map(|it| it.name.as_str());
            let problem =
                Problem::new(&codes::WRONG_VALUE, format!("the strategy names `{}`, which is no field", name.value));
            let problem = problem.at(name.span, "not a field").did_you_mean(&name.value, known.clone());
            reading.problem(problem.help(format!("there are {}", listed_all(known))));
            None
        }
    }
}

fn read_parts(reading: &mut Reading<'_>, way: Way, node: &Node<'_>, fields: &[Field]) -> Option<Strategy> {
    let parts = conditions(reading, node, fields)?;
    Some(if way == Way::Any { Strategy::AnyOf(parts) } else { Strategy::AllOf(parts) })
}

fn read_at_least(reading: &mut Reading<'_>, n: &Node<'_>, node: &Node<'_>, fields: &[Field]) -> Option<Strategy> {
    let count = reading.count("`n` of `at_least_n`", 0, n);
    let parts = conditions(reading, node, fields)?;
    let count = count?;
    if usize::try_from(count).is_ok_and(|it| it > parts.len()) {
        let message = format!("`at_least_n` wants {count} of {} conditions, which never holds", parts.len());
        reading.problem(Problem::new(&codes::WRONG_VALUE, message).at(n.span, "too many").at(node.span, "of these"));
        return None;
    }
    Some(Strategy::AtLeastN(count, parts))
}

fn conditions(reading: &mut Reading<'_>, node: &Node<'_>, fields: &[Field]) -> Option<Vec<Strategy>> {
    let items = reading.list("the conditions of a strategy", "a list of fields and strategies", node);
    if items.is_empty() && node.as_list().is_some() {
        let problem = Problem::new(&codes::WRONG_VALUE, "a strategy without conditions says nothing about an answer");
        reading.problem(
            problem.at(node.span, "empty").help("name fields, or drop the strategy: all fields must be right then"),
        );
        return None;
    }
    let parts: Vec<_> = items.iter().map(|it| read_strategy(reading, it, fields)).collect();
    let parts: Option<Vec<_>> = parts.into_iter().collect();
    parts.filter(|it| !it.is_empty())
}

/// The JSON Schema of a strategy, which refers to itself.
pub(super) fn strategy_schema() -> Value {
    let parts = || Form::List(&Form::Strategy).schema();
    let one = |key: &'static str, value: Value| {
        Val::Map(object([
            ("type", Val::from("object")),
            ("properties", Val::Map([(key, value)].into_iter().collect())),
            ("required", [Val::from(key)].into_iter().collect()),
            ("additionalProperties", Val::Bool(false)),
        ]))
    };
    let doc = "the name of a field, `{all_of: […]}`, `{any_of: […]}` or `{at_least_n: {n, conditions}}`";
    let ways = [
        Form::Text.schema(),
        one("all_of", parts()),
        one("any_of", parts()),
        one("at_least_n", AT_LEAST.schema()),
        TYPED.schema(),
    ];
    Val::Map(object([("description", Val::from(doc)), ("anyOf", ways.into_iter().collect())]))
}

impl Template {
    /// The template as it is written in a suite.
    pub fn to_value(&self) -> Value {
        let fields: Map<'static> = self.fields().iter().map(|it| (it.name.clone(), field_value(it))).collect();
        let strategy = self.strategy().map(|it| ("strategy", strategy_value(it)));
        Val::Map([("fields", Val::Map(fields))].into_iter().chain(strategy).collect())
    }
}

fn field_value(field: &Field) -> Value {
    let mut members: Vec<(&'static str, Value)> = Vec::new();
    if !field.is_trace() {
        members.push(("type", short_type(&field.schema)));
    }
    if !field.description.is_empty() {
        members.push(("description", Val::from(field.description.clone())));
    }
    match &field.ground_truth {
        GroundTruth::None => {}
        GroundTruth::Value(value) => members.push(("ground_truth", value.clone())),
        GroundTruth::Conditional { source, cases, default } => {
            let cases: Map<'static> = cases.iter().map(|(text, case)| (text.clone(), case_value(case))).collect();
            let conditional =
                [("source", Val::from(source.clone())), ("cases", Val::Map(cases)), ("default", case_value(default))];
            let conditional = Val::Map(conditional.into_iter().collect());
            members.push(("ground_truth", Val::Map([("conditional", conditional)].into_iter().collect())));
        }
    }
    if let Some(operator) = &field.verify_with {
        members.push(("verify_with", write::operator(operator)));
    }
    if field.weight != 1.0 {
        members.push(("weight", Val::F(field.weight)));
    }
    if let Some(hint) = &field.extraction_hint {
        members.push(("extraction_hint", Val::from(hint.clone())));
    }
    Val::Map(members.into_iter().collect())
}

fn case_value(case: &GroundTruthCase) -> Value {
    let operator = case.verify_with.as_ref().map(|it| ("verify_with", write::operator(it)));
    Val::Map([("value", case.value.clone())].into_iter().chain(operator).collect())
}

/// `string` and `[string]` where that says it all.
fn short_type(schema: &Value) -> Value {
    if *schema == Val::Bool(true) {
        return Val::from("any");
    }
    let Some(members) = schema.as_map() else { return schema.clone() };
    match (members.len(), schema.get("type").and_then(Val::as_str), schema.get("items")) {
        (1, Some(name), _) => Val::from(name.to_owned()),
        (2, Some("array"), Some(items)) if items.as_map().is_some_and(|it| !it.is_empty()) => {
            Val::List(vec![match short_type(items) {
                // A word that is no type of JSON Schema cannot stand for one.
                Val::Str(name) if name == "any" => return schema.clone(),
                short => short,
            }])
        }
        _ => schema.clone(),
    }
}

fn strategy_value(strategy: &Strategy) -> Value {
    let parts = |parts: &[Strategy]| parts.iter().map(strategy_value).collect::<Value>();
    let (key, value) = match strategy {
        Strategy::Field(name) => return Val::from(name.clone()),
        Strategy::AllOf(it) => ("all_of", parts(it)),
        Strategy::AnyOf(it) => ("any_of", parts(it)),
        Strategy::AtLeastN(n, it) => {
            let members = [("n", Val::I((*n).into())), ("conditions", parts(it))];
            ("at_least_n", Val::Map(members.into_iter().collect()))
        }
    };
    Val::Map([(key, value)].into_iter().collect())
}
