//! How the fields of a template are put together: what is written, what is read, and its JSON Schema.

use jurat_format::codes;
use jurat_format::field;
use jurat_format::form::{Definitions, Form, Object, closed_object, object};
use jurat_format::problem::{Problem, listed, listed_all};
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Tree};
use jurat_format::value::{Content, Node, Val, Value};

use crate::template::{Field, Strategy};

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

const N: field::Field<Tree> = field::Field::required("n", shape::tree(Form::Integer(0)), "how many must be right");
const CONDITIONS: field::Field<Tree> =
    field::Field::required("conditions", shape::tree(Form::List(&Form::Defined("strategy"))), "the list of strategies");

pub(crate) static AT_LEAST: Object = Object { what: "`at_least_n` of a strategy", keys: &[N.key, CONDITIONS.key] };

const TYPE: field::Field<Tree> =
    field::Field::required("type", shape::tree(Form::Text), "`AllOf`, `AnyOf`, `AtLeastN` or `FieldCheck`");
const TYPED_CONDITIONS: field::Field<Tree> = field::Field::optional(
    "conditions",
    shape::tree(Form::List(&Form::Defined("strategy"))),
    "the list of strategies that are combined",
)
.or_null();
const TYPED_N: field::Field<Tree> =
    field::Field::optional("n", shape::tree(Form::Integer(0)), "how many must be right").or_null();
const FIELD: field::Field<Tree> =
    field::Field::optional("field", shape::tree(Form::Text), "the field that must be right")
        .or(&["field_name"])
        .or_null();

pub(crate) static TYPED: Object =
    Object { what: "a strategy with `type`", keys: &[TYPE.key, TYPED_CONDITIONS.key, TYPED_N.key, FIELD.key] };

/// `name`, `{any_of: [name, …]}`, `{at_least_n: {n: 2, conditions: […]}}`, or the same as objects with `type`.
pub(crate) fn read_strategy(reading: &mut Reading<'_>, node: &Node<'_>, fields: &[Field]) -> Option<Strategy> {
    match &node.content {
        Content::Scalar(Val::Str(_)) => read_leaf(reading, node, fields),
        Content::Map(_) if node.get(TYPE.key.name).is_some() => {
            let keys = TYPED.fields(reading, node)?;
            let way = keys.node(&TYPE).and_then(|it| reading.choice("`type` of a strategy", &WAYS, it))?;
            let needed = |reading: &mut Reading<'_>, key: &field::Field<Tree>| {
                let found = keys.node(key);
                if found.is_none() {
                    reading.problem(keys.missing(key));
                }
                found
            };
            match way {
                Way::Field => {
                    let leaf = needed(reading, &FIELD)?;
                    read_leaf(reading, leaf, fields)
                }
                Way::All | Way::Any => {
                    let conditions = needed(reading, &TYPED_CONDITIONS)?;
                    read_parts(reading, way, conditions, fields)
                }
                Way::AtLeast => {
                    let (n, conditions) = (needed(reading, &TYPED_N), needed(reading, &TYPED_CONDITIONS));
                    read_at_least(reading, n?, conditions?, fields)
                }
            }
        }
        Content::Map(entries) => match entries.as_slice() {
            [only] if WAYS.iter().any(|(name, way)| *name == only.key && *way != Way::Field) => {
                let way = WAYS.iter().find(|(name, _)| *name == only.key).map_or(Way::All, |(_, way)| *way);
                if way == Way::AtLeast {
                    let keys = AT_LEAST.fields(reading, &only.value)?;
                    return read_at_least(reading, keys.node(&N)?, keys.node(&CONDITIONS)?, fields);
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
pub(crate) fn strategy_schema(definitions: &mut Definitions) -> Value {
    let parts = Form::List(&Form::Defined("strategy"));
    let doc = "the name of a field, `{all_of: […]}`, `{any_of: […]}` or `{at_least_n: {n, conditions}}`";
    let mut ways = vec![Val::Map(Form::Text.schema(definitions))];
    for (key, form) in [("all_of", parts), ("any_of", parts), ("at_least_n", Form::Object(&AT_LEAST))] {
        let properties = [(key, Val::Map(form.schema(definitions)))].into_iter().collect();
        ways.push(Val::Map(closed_object(properties, [key].into_iter())));
    }
    ways.push(Val::Map(Form::Object(&TYPED).schema(definitions)));
    Val::Map(object([("description", Val::from(doc)), ("anyOf", Val::List(ways))]))
}

pub(crate) fn strategy_value(strategy: &Strategy) -> Value {
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
