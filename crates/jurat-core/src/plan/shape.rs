//! What is known of a value before it is there: from an output schema, or from sample rows.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;

use jurat_format::value::{Kind, Kinds, Step, Val, Value};

use super::Samples;

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

#[derive(Debug, Clone, PartialEq, Default)]
struct Members {
    /// In the order in which they came.
    named: Vec<(String, Shape)>,
    places: HashMap<String, usize>,
    open: bool,
}

/// Where a path leads in a shape.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Leads<'s> {
    /// To something of this shape.
    To(Cow<'s, Shape>),
    /// Nowhere: no value of this shape has this step.
    Nowhere {
        /// The step that finds nothing.
        step: usize,
        place: Cow<'s, Shape>,
    },
}

/// How deep schemas are followed; one that refers to itself is anything below that.
const MAX_DEPTH: usize = 16;

/// How many parts of a schema are followed. A schema that refers to itself in two places doubles on each level.
const MAX_PARTS: usize = 10_000;

impl Shape {
    pub fn any() -> Shape {
        Shape { kinds: Kinds::ALL, values: None, members: None, items: None }
    }

    /// Any value of these kinds.
    pub fn of_kinds(kinds: &[Kind]) -> Shape {
        Shape { kinds: Kinds::of(kinds), ..Shape::any() }
    }

    /// An object of which nothing else is known.
    pub(super) fn any_object() -> Shape {
        Shape { members: Some(Members { open: true, ..Members::default() }), ..Shape::of_kinds(&[Kind::Object]) }
    }

    /// The same object with a member of this shape in the place of what it had there, or with none.
    pub(super) fn with_member(self, name: &str, member: Option<Shape>) -> Shape {
        let members = self.members.unwrap_or(Members { open: true, ..Members::default() });
        let others = members.named.into_iter().filter(|(known, _)| known != name);
        let named = others.chain(member.map(|it| (name.to_owned(), it)));
        Shape { members: Some(Members::new(named, members.open)), ..self }
    }

    /// What a JSON Schema allows, as far as it is understood here; what is not understood is anything.
    pub fn of_schema(schema: &Val<'_>) -> Shape {
        of_schema(schema, &Root { schema, n_parts: Cell::new(0) }, 0)
    }

    pub fn of_value(value: &Val<'_>) -> Shape {
        let shape = Shape { kinds: Kinds::of(&[value.kind()]), ..Shape::any() };
        match value {
            Val::List(items) => {
                let items = items.iter().map(Shape::of_value).reduce(Shape::or);
                Shape { items: items.map(Box::new), ..shape }
            }
            Val::Map(map) => {
                let named = map.iter().map(|(key, value)| (key.to_owned(), Shape::of_value(value)));
                Shape { members: Some(Members::new(named, false)), ..shape }
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

    pub(super) fn at<'s>(&'s self, steps: &[Step]) -> Leads<'s> {
        let mut shape = Cow::Borrowed(self);
        for (ix, step) in steps.iter().enumerate() {
            let next = match step {
                Step::Key(key) => part(&shape, |it| it.member(key)),
                Step::Index(_) => part(&shape, Shape::item),
                Step::Each => {
                    let Some(item) = part(&shape, Shape::item) else {
                        return Leads::Nowhere { step: ix, place: shape };
                    };
                    let rest = &steps[ix + 1..];
                    return match item.at(rest) {
                        // Several `[*]` make one flat list.
                        Leads::To(item) if rest.contains(&Step::Each) => Leads::To(Cow::Owned(item.into_owned())),
                        Leads::To(item) => {
                            let items = Some(Box::new(item.into_owned()));
                            Leads::To(Cow::Owned(Shape { items, ..Shape::of_kinds(&[Kind::List]) }))
                        }
                        Leads::Nowhere { step, place } => {
                            Leads::Nowhere { step: ix + 1 + step, place: Cow::Owned(place.into_owned()) }
                        }
                    };
                }
                Step::Json => shape.kinds.contains(Kind::Text).then(|| Cow::Owned(Shape::any())),
            };
            match next {
                Some(next) => shape = next,
                None => return Leads::Nowhere { step: ix, place: shape },
            }
        }
        Leads::To(shape)
    }

    pub(super) fn member(&self, key: &str) -> Option<Cow<'_, Shape>> {
        if !self.kinds.contains(Kind::Object) {
            return None;
        }
        let Some(members) = &self.members else { return Some(Cow::Owned(Shape::any())) };
        match members.get(key) {
            Some(shape) => Some(Cow::Borrowed(shape)),
            None => members.open.then(|| Cow::Owned(Shape::any())),
        }
    }

    /// What an item is, when this may be a list.
    pub(super) fn item(&self) -> Option<Cow<'_, Shape>> {
        let item = || self.items.as_deref().map_or_else(|| Cow::Owned(Shape::any()), Cow::Borrowed);
        self.kinds.contains(Kind::List).then(item)
    }

    /// The names of the members that are known.
    pub(super) fn names(&self) -> Vec<&str> {
        self.members.iter().flat_map(|it| &it.named).map(|(name, _)| name.as_str()).collect()
    }

    /// Whether a member of this name is known.
    pub(super) fn has(&self, name: &str) -> bool {
        self.members.as_ref().is_some_and(|it| it.get(name).is_some())
    }

    /// Whether there may be members beyond the known ones.
    pub(super) fn is_open(&self) -> bool {
        self.members.as_ref().is_none_or(|it| it.open)
    }
}

/// A part of a shape that may itself be borrowed.
fn part<'s>(shape: &Cow<'s, Shape>, find: impl Fn(&Shape) -> Option<Cow<'_, Shape>>) -> Option<Cow<'s, Shape>> {
    match shape {
        Cow::Borrowed(shape) => find(shape),
        Cow::Owned(shape) => find(shape).map(|it| Cow::Owned(it.into_owned())),
    }
}

impl Members {
    fn new(named: impl IntoIterator<Item = (String, Shape)>, open: bool) -> Members {
        let members = Members { open, ..Members::default() };
        named.into_iter().fold(members, |members, (name, shape)| members.with(name, shape))
    }

    fn get(&self, name: &str) -> Option<&Shape> {
        self.places.get(name).map(|ix| &self.named[*ix].1)
    }

    /// With one more member; it may be either when it is there already.
    fn with(mut self, name: String, shape: Shape) -> Members {
        match self.places.get(&name) {
            Some(ix) => {
                let known = &mut self.named[*ix].1;
                *known = std::mem::replace(known, Shape::any()).or(shape);
            }
            None => {
                self.places.insert(name.clone(), self.named.len());
                self.named.push((name, shape));
            }
        }
        self
    }

    fn or(self, other: Members) -> Members {
        let open = self.open || other.open;
        let members = other.named.into_iter().fold(self, |members, (name, shape)| members.with(name, shape));
        Members { open, ..members }
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

/// The schema that references lead into, and how much of it has been followed.
struct Root<'r, 'v> {
    schema: &'r Val<'v>,
    n_parts: Cell<usize>,
}

fn of_schema(schema: &Val<'_>, root: &Root<'_, '_>, depth: usize) -> Shape {
    root.n_parts.set(root.n_parts.get() + 1);
    if depth > MAX_DEPTH || root.n_parts.get() > MAX_PARTS {
        return Shape::any();
    }
    let below = |schema: &Val<'_>| of_schema(schema, root, depth + 1);
    if let Some(target) = schema.get("$ref").and_then(Val::as_str) {
        return resolved(root.schema, target).map_or_else(Shape::any, below);
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
    // A field that the schema does not name is allowed by JSON Schema; a judge has no reason to produce it.
    let open = matches!(schema.get("additionalProperties"), Some(Val::Bool(true) | Val::Map(_)));
    let properties = schema.get("properties").and_then(Val::as_map);
    let members = properties.map(|it| Members::new(it.iter().map(|(name, it)| (name.to_owned(), below(it))), open));
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
