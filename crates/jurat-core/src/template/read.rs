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

mod strategy;
mod truth;
mod written;

use super::definition::is_trace;
use super::{Field, GroundTruth, Template, TemplateError};
use crate::section::lost::Part;
use crate::section::named::NamedSection;
use crate::section::{Heading, Section};
use crate::{comparison, output};

use jurat_compare::Operator;
use jurat_format::codes;
use jurat_format::field::{self, Defaulted};
use jurat_format::fields::Fields;
use jurat_format::form::{Form, Key, Object};
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape, Tree, Unused};
use jurat_format::value::{Content, Entry, Node, Spanned, Val, Value};

use strategy::read_strategy;
pub(crate) use strategy::strategy_schema;
use truth::{check_truths, read_ground_truth, schema_of};

const FIELDS: field::Field<Vec<Field>> = field::Field::required(
    "fields",
    Shape::new(
        const { Form::Either(&[Form::Map(&Form::Object(&FIELD)), Form::List(&Form::Object(&STORED_FIELD))]) },
        read_fields,
    ),
    "what is read from an answer, and what it must be, by name",
);
const STRATEGY: field::Field<Tree> =
    field::Field::optional("strategy", shape::tree(Form::Defined("strategy")), "how many fields must be right")
        .default_words("all that are judged")
        .or(&["verify_strategy"])
        .or_null();
const CLASS_NAME: field::Field<Unused> =
    field::Field::optional("class_name", shape::unused(Form::Text), "the name of the template in Karenina; not used");

static TEMPLATE: Object = Object { what: "a template", keys: &[FIELDS.key, STRATEGY.key, CLASS_NAME.key] };

const NAME: field::Field<Spanned<String>> = field::Field::required("name", shape::ID, "the name of the field");
const TYPE: field::Field<Tree> = field::Field::optional("type", shape::tree(Form::Any), "what the parser must reply: `string`, `number`, `integer`, `boolean`, `[string]`, `{enum: […]}`, `any`, an object of fields, or a JSON Schema")
.default_words("the type of `ground_truth`")
.or_null();
const DESCRIPTION: field::Field<String> =
    field::Field::optional("description", shape::STRING, "what the field is, in words for the parser").or_null();
const GROUND_TRUTH: field::Field<GroundTruth> = field::Field::optional(
    "ground_truth",
    Shape::new(Form::Any, read_ground_truth),
    "what it must be, or `{conditional: …}`",
)
.default_words("the field is read and not judged");
const VERIFY_WITH: field::Field<Spanned<Operator>> = field::Field::optional(
    "verify_with",
    Shape::new(comparison::OPERATOR.key.form, read_operator),
    "how it is compared",
)
.default_words("by the kind of the ground truth")
.or_null();
const WEIGHT: Defaulted<f64> =
    field::Field::optional("weight", Shape::new(shape::NUMBER.form, weight), "its weight in the partial credit")
        .or_null()
        .default(1.0);
const EXTRACTION_HINT: field::Field<String> =
    field::Field::optional("extraction_hint", shape::STRING, "how the parser should write the value").or_null();
const LITERAL_VALUES: field::Field<Tree> =
    field::Field::optional("literal_values", shape::tree(Form::Any), "the values of a field of type `literal`")
        .or_null();
const IS_TRACE: field::Field<Unused> = field::Field::optional(
    "is_trace",
    shape::unused(Form::Any),
    "whether it looks at the raw answer; not used, because its comparison implies it",
);

static FIELD: Object = Object {
    what: "a field",
    keys: &[TYPE.key, DESCRIPTION.key, GROUND_TRUTH.key, VERIFY_WITH.key, WEIGHT.key, EXTRACTION_HINT.key],
};

/// A field as Karenina stores it.
static STORED_FIELD: Object = Object {
    what: "a field in a list",
    keys: &[
        NAME.key,
        TYPE.key,
        DESCRIPTION.key,
        GROUND_TRUTH.key,
        VERIFY_WITH.key,
        WEIGHT.key,
        EXTRACTION_HINT.key,
        LITERAL_VALUES.key,
        IS_TRACE.key,
    ],
};

pub(crate) const SECTION: Section<Vec<(Spanned<String>, Template)>> = Heading::new(
    "templates",
    const { Form::Map(&FORM) },
    "answer templates that scenarios use by name",
    &[Part::Template],
)
.read(|reading, lost, known, at| BY_NAME.read(reading, (lost, known), ("templates", at.node), read_named_template));

const BY_NAME: NamedSection =
    NamedSection { part: Part::Template, name: "a name in `templates`", what: "template", needs: "an object of names" };

pub(crate) const FORM: Form = Form::Either(&[Form::Object(&TEMPLATE), Form::Map(&Form::Object(&FIELD))]);

/// The objects of a template that no [`Form`] leads to.
pub(crate) fn objects() -> [&'static Object; 4] {
    [&strategy::AT_LEAST, &strategy::TYPED, &truth::CONDITIONAL, &truth::CASE]
}

fn read_named_template(
    reading: &mut Reading<'_>,
    name: Spanned<String>,
    node: &Node<'_>,
) -> Option<(Spanned<String>, Template)> {
    let template = read(reading, &format!("`{}`", name.value), node)?;
    Some((name, template))
}

pub(crate) fn read(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Template> {
    let Some(entries) = node.entries() else {
        reading.wrong_type(what, "an object of fields", node);
        return None;
    };
    let n_before = reading.n_errors();
    let (fields, strategy_node) = match node.get(FIELDS.key.name) {
        Some(_) => {
            let keys = TEMPLATE.fields(reading, node)?;
            let fields = keys.read_as(reading, what, &FIELDS);
            (fields.unwrap_or_default(), keys.node(&STRATEGY))
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

fn read_fields(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<Field>> {
    match &node.content {
        Content::Map(entries) => Some(read_named(reading, entries)),
        Content::List(items) => Some(read_stored(reading, items)),
        Content::Scalar(_) => {
            reading.wrong_type(&format!("`fields` of {what}"), "an object of fields", node);
            None
        }
    }
}

fn read_named(reading: &mut Reading<'_>, entries: &[Entry<'_>]) -> Vec<Field> {
    let mut fields = Vec::with_capacity(entries.len());
    for entry in entries {
        let name = Node { span: entry.key_span, content: Content::Scalar(Val::Str(entry.key.clone())) };
        let name = reading.id("a field of a template", &name);
        let Some(keys) = FIELD.fields(reading, &entry.value) else { continue };
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
        let Some(keys) = STORED_FIELD.fields(reading, item) else { continue };
        let Some(name) = keys.read_as(reading, "a field of a template", &NAME) else {
            continue;
        };
        if let Some(first) = places.iter().find(|it| it.value == name.value) {
            let problem =
                Problem::new(&codes::REPEATED_KEY, format!("the field `{}` stands twice in one template", name.value));
            reading.problem(problem.at(name.span, "again here").at(first.span, "first here").help("keep one of them"));
            continue;
        }
        places.push(name.clone());
        let literals = keys.node(&LITERAL_VALUES);
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
    let what = |key: &Key| format!("`{}` of `{}`", key.name, name.value);
    let description = keys.read_as(reading, &what(&DESCRIPTION.key), &DESCRIPTION).unwrap_or_default();
    let extraction_hint = keys.read_as(reading, &what(&EXTRACTION_HINT.key), &EXTRACTION_HINT);
    let weight = keys.value_as(reading, &what(&WEIGHT.key), &WEIGHT);
    let verify_with = keys.node(&VERIFY_WITH).map(|_| keys.read(reading, &VERIFY_WITH));
    let ground_truth = keys.node(&GROUND_TRUTH).map(|it| (it.span, keys.read_as(reading, &name.value, &GROUND_TRUTH)));
    let (truth_span, ground_truth) = match ground_truth {
        Some((span, truth)) => (Some(span), truth),
        None => (None, Some(GroundTruth::None)),
    };
    let is_raw = matches!(&verify_with, Some(Some(it)) if is_trace(&it.value));
    let schema = match keys.node(&TYPE) {
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
    if schema.is_none() && !keys.may_mean(&TYPE) {
        let problem = Problem::new(&codes::MISSING_KEY, format!("the field `{}` needs `type`", name.value));
        let problem = problem.at(name.span, "of what type?");
        reading.problem(problem.help("write `type: string`, or a `ground_truth` of that type"));
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

fn weight(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<f64> {
    let weight = (shape::NUMBER.read)(reading, what, node)?;
    if !weight.is_finite() {
        reading.wrong_type(what, "a finite number", node);
        return None;
    }
    Some(weight)
}

fn read_operator(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Spanned<Operator>> {
    if node.as_str().is_none() && node.entries().is_none() {
        reading.wrong_type(what, "the name of a comparison, or an object with `type`", node);
        return None;
    }
    comparison::operator(reading, node)
}
