//! What is known of a value before it is there: from an output schema, or from sample rows.

use std::borrow::Cow;

use super::Samples;
use crate::value::{Kind, Kinds, Step, Val, Value};

/// What a value may be.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// The kinds it may have.
    pub kinds: Kinds,
    /// The only values it may have, when that is known.
    pub values: Option<Vec<Value>>,
    /// The members of an object, when they are known; `open` when there may be others.
    members: Option<Members>,
    /// What the items of a list are, when that is known.
    items: Option<Box<Shape>>,
}

#[derive(Debug, Clone, PartialEq)]
struct Members {
    named: Vec<(String, Shape)>,
    open: bool,
}

/// Where a path leads in a shape.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Leads {
    /// To something of this shape.
    To(Shape),
    /// Nowhere: no value of this shape has this step.
    Nowhere {
        /// The step that finds nothing.
        step: usize,
        /// What is there instead.
        place: Shape,
    },
}

/// How deep schemas are followed; one that refers to itself is anything below that.
const MAX_DEPTH: usize = 16;

impl Shape {
    /// Anything.
    pub fn any() -> Shape {
        Shape { kinds: Kinds::ALL, values: None, members: None, items: None }
    }

    /// Any value of these kinds.
    pub fn of_kinds(kinds: &[Kind]) -> Shape {
        Shape { kinds: Kinds::of(kinds), ..Shape::any() }
    }

    /// What a JSON Schema allows, as far as it is understood here; what is not understood is anything.
    pub fn of_schema(schema: &Val<'_>) -> Shape {
        of_schema(schema, schema, 0)
    }

    /// Exactly this value's shape.
    pub fn of_value(value: &Val<'_>) -> Shape {
        let shape = Shape { kinds: Kinds::of(&[value.kind()]), ..Shape::any() };
        match value {
            Val::List(items) => {
                let items = items.iter().map(Shape::of_value).reduce(Shape::or);
                Shape { items: items.map(Box::new), ..shape }
            }
            Val::Map(map) => {
                let named = map.iter().map(|(key, value)| (key.to_owned(), Shape::of_value(value))).collect();
                Shape { members: Some(Members { named, open: false }), ..shape }
            }
            _ => shape,
        }
    }

    /// What is either this or that.
    #[must_use]
    pub fn or(self, other: Shape) -> Shape {
        let members = match (self.members, other.members) {
            (Some(left), Some(right)) => Some(left.or(right)),
            // Of two shapes only one may be an object at all.
            (Some(members), None) if !other.kinds.contains(Kind::Object) => Some(members),
            (None, Some(members)) if !self.kinds.contains(Kind::Object) => Some(members),
            _ => None,
        };
        let items = match (self.items, other.items) {
            (Some(left), Some(right)) => Some(Box::new(left.or(*right))),
            // An empty list says nothing about items.
            (Some(items), None) | (None, Some(items)) => Some(items),
            (None, None) => None,
        };
        let values = match (self.values, other.values) {
            (Some(mut left), Some(right)) => {
                left.extend(right);
                Some(left)
            }
            _ => None,
        };
        Shape { kinds: self.kinds.union(other.kinds), values, members, items }
    }

    /// Where a path leads.
    pub(super) fn at(&self, steps: &[Step]) -> Leads {
        let mut shape = Cow::Borrowed(self);
        for (ix, step) in steps.iter().enumerate() {
            let next = match step {
                Step::Key(key) => shape.member(key),
                Step::Index(_) => shape.item(),
                Step::Each => {
                    return match shape.item().map(|item| item.at(&steps[ix + 1..])) {
                        None => Leads::Nowhere { step: ix, place: shape.into_owned() },
                        Some(Leads::To(item)) => {
                            Leads::To(Shape { items: Some(Box::new(item)), ..Shape::of_kinds(&[Kind::List]) })
                        }
                        Some(Leads::Nowhere { step, place }) => Leads::Nowhere { step: ix + 1 + step, place },
                    };
                }
                Step::Json => shape.kinds.contains(Kind::Text).then(Shape::any),
            };
            match next {
                Some(next) => shape = Cow::Owned(next),
                None => return Leads::Nowhere { step: ix, place: shape.into_owned() },
            }
        }
        Leads::To(shape.into_owned())
    }

    fn member(&self, key: &str) -> Option<Shape> {
        if !self.kinds.contains(Kind::Object) {
            return None;
        }
        let Some(members) = &self.members else { return Some(Shape::any()) };
        match members.named.iter().find(|(name, _)| name == key) {
            Some((_, shape)) => Some(shape.clone()),
            None => members.open.then(Shape::any),
        }
    }

    /// What an item is, when this may be a list.
    pub(super) fn item(&self) -> Option<Shape> {
        self.kinds.contains(Kind::List).then(|| self.items.as_deref().cloned().unwrap_or_else(Shape::any))
    }

    /// The names of the members that are known.
    pub(super) fn names(&self) -> Vec<&str> {
        self.members.iter().flat_map(|it| &it.named).map(|(name, _)| name.as_str()).collect()
    }

    /// Whether there may be members beyond the known ones.
    pub(super) fn is_open(&self) -> bool {
        self.members.as_ref().is_none_or(|it| it.open)
    }
}

impl Members {
    fn or(mut self, other: Members) -> Members {
        for (name, shape) in other.named {
            match self.named.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => *known = std::mem::replace(known, Shape::any()).or(shape),
                None => self.named.push((name, shape)),
            }
        }
        Members { named: self.named, open: self.open || other.open }
    }
}

/// What the rows look like; `None` when there are none to look at, or when some could not be looked at.
pub(super) fn of_rows(samples: &Samples) -> Option<Shape> {
    if samples.is_partial {
        return None;
    }
    let row = |row: &Value| match row {
        Val::Map(_) => Shape::of_value(row),
        // A row that is not an object is read under this name.
        other => Shape::of_value(&Val::Map([("value", other.clone())].into_iter().collect())),
    };
    samples.rows.iter().map(row).reduce(Shape::or)
}

fn of_schema(schema: &Val<'_>, root: &Val<'_>, depth: usize) -> Shape {
    if depth > MAX_DEPTH {
        return Shape::any();
    }
    let below = |schema: &Val<'_>| of_schema(schema, root, depth + 1);
    if let Some(target) = schema.get("$ref").and_then(Val::as_str) {
        return resolved(root, target).map_or_else(Shape::any, below);
    }
    if let Some(choices) = schema.get("anyOf").or(schema.get("oneOf")).and_then(Val::as_list) {
        return choices.iter().map(below).reduce(Shape::or).unwrap_or_else(Shape::any);
    }
    if schema.get("allOf").is_some() || schema.get("not").is_some() {
        return Shape::any();
    }
    let values = match (schema.get("const"), schema.get("enum").and_then(Val::as_list)) {
        (Some(only), _) => Some(vec![only.clone().into_owned()]),
        (None, Some(values)) => Some(values.iter().map(|it| it.clone().into_owned()).collect::<Vec<_>>()),
        (None, None) => None,
    };
    let kinds = match (&values, schema.get("type")) {
        (Some(values), _) => Kinds::of(&values.iter().map(Val::kind).collect::<Vec<_>>()),
        (None, Some(Val::List(names))) => {
            names.iter().filter_map(Val::as_str).fold(Kinds::NONE, |all, it| all.union(kinds_of(it)))
        }
        (None, Some(name)) => name.as_str().map_or(Kinds::ALL, kinds_of),
        (None, None) if schema.get("properties").is_some() => Kinds::of(&[Kind::Object]),
        (None, None) => Kinds::ALL,
    };
    let members = schema.get("properties").and_then(Val::as_map).map(|properties| Members {
        named: properties.iter().map(|(name, it)| (name.to_owned(), below(it))).collect(),
        // A field that the schema does not name is allowed by JSON Schema; a judge has no reason to produce it.
        open: matches!(schema.get("additionalProperties"), Some(Val::Bool(true) | Val::Map(_))),
    });
    let items = schema.get("items").map(|it| Box::new(below(it)));
    Shape { kinds, values, members, items }
}

fn kinds_of(name: &str) -> Kinds {
    match name {
        "string" => Kinds::of(&[Kind::Text]),
        "integer" | "number" => Kinds::of(&[Kind::Number]),
        "boolean" => Kinds::of(&[Kind::Boolean]),
        "array" => Kinds::of(&[Kind::List]),
        "object" => Kinds::of(&[Kind::Object]),
        "null" => Kinds::of(&[Kind::Null]),
        _ => Kinds::ALL,
    }
}

fn resolved<'r, 'v>(root: &'r Val<'v>, target: &str) -> Option<&'r Val<'v>> {
    target
        .strip_prefix("#/")?
        .split('/')
        .try_fold(root, |schema, name| schema.get(&name.replace("~1", "/").replace("~0", "~")))
}
