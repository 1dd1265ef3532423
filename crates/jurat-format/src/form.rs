//! The shape of what authors write, declared once: the reader checks keys against it, and the JSON Schema and the
//! tables of keys in the reference are made from it.

use std::collections::HashMap;
use std::{fmt, ptr};

use crate::value::{Map, Val, Value};

/// One kind of object.
#[derive(Debug)]
pub struct Object {
    /// What the object is, with its article: `a task`.
    pub what: &'static str,
    /// The keys, in the order documentation lists them.
    pub keys: &'static [Key],
}

#[derive(Debug, Clone, Copy)]
pub struct Key {
    pub name: &'static str,
    /// Other spellings that are read too: longer or later names in other products.
    pub aliases: &'static [&'static str],
    pub doc: &'static str,
    pub form: Form,
    pub required: bool,
    /// Whether null is the same as absent.
    pub or_null: bool,
    pub default: Option<DefaultValue>,
}

/// What holds when a key is absent.
#[derive(Debug, Clone, Copy)]
pub enum DefaultValue {
    /// In Markdown, such as ``the role `judge` ``.
    Words(&'static str),
    Integer(i64),
    Number(f64),
    Boolean(bool),
    Seconds(u64),
    Bytes(u64),
    /// The name of a choice.
    Name(&'static str),
}

impl DefaultValue {
    /// The value that an author would write; `None` when it is described in words.
    fn literal(self) -> Option<Value> {
        match self {
            DefaultValue::Words(_) => None,
            DefaultValue::Integer(number) => Some(Val::I(number)),
            DefaultValue::Number(number) if number.fract() == 0.0 => Some(Val::I(number as i64)),
            DefaultValue::Number(number) => Some(Val::F(number)),
            DefaultValue::Boolean(value) => Some(Val::Bool(value)),
            DefaultValue::Seconds(seconds) if seconds > 60 && seconds.is_multiple_of(60) => {
                Some(Val::from(format!("{}m", seconds / 60)))
            }
            DefaultValue::Seconds(seconds) => Some(Val::from(format!("{seconds}s"))),
            DefaultValue::Bytes(bytes) => Some(Val::from(amount(bytes))),
            DefaultValue::Name(name) => Some(Val::from(name)),
        }
    }
}

impl fmt::Display for DefaultValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, self.literal()) {
            (DefaultValue::Words(words), _) => f.write_str(words),
            (_, Some(Val::Str(text))) => write!(f, "`{text}`"),
            (_, literal) => write!(f, "`{}`", literal.unwrap_or(Val::Null)),
        }
    }
}

/// What a value looks like.
#[derive(Debug, Clone, Copy)]
pub enum Form {
    Any,
    Text,
    Boolean,
    /// A whole number of at least this; any when it is the least there is.
    Integer(i64),
    /// A number between these two.
    Number(f64, f64),
    /// A share in percent: `1%`.
    Percent,
    /// A task id.
    Id,
    /// A field path.
    Path,
    /// One of these.
    Choice(&'static [&'static str]),
    /// A list with items of this form.
    List(&'static Form),
    /// Any of these forms.
    Either(&'static [Form]),
    /// An object with these keys.
    Object(&'static Object),
    /// An object with any keys and values of this form.
    Map(&'static Form),
    /// A definition of the schema with this name: a form that other tables describe.
    Defined(&'static str),
    /// A part of the format that this version does not run.
    Reserved,
}

impl Key {
    pub(crate) const fn required(name: &'static str, form: Form, doc: &'static str) -> Key {
        Key { name, aliases: &[], doc, form, required: true, or_null: false, default: None }
    }

    pub(crate) const fn optional(name: &'static str, form: Form, doc: &'static str) -> Key {
        Key { required: false, ..Key::required(name, form, doc) }
    }

    pub const fn reserved(name: &'static str, doc: &'static str) -> Key {
        Key::optional(name, Form::Reserved, doc)
    }

    /// Its name as problems show it.
    pub fn quoted(&self) -> String {
        format!("`{}`", self.name)
    }

    pub(crate) const fn or(self, aliases: &'static [&'static str]) -> Key {
        Key { aliases, ..self }
    }

    /// The key with null read as if it were absent.
    pub const fn or_null(self) -> Key {
        Key { or_null: true, ..self }
    }

    pub(crate) const fn default(self, default: DefaultValue) -> Key {
        Key { default: Some(default), ..self }
    }

    /// The key with words for what holds when it is absent.
    pub const fn default_words(self, words: &'static str) -> Key {
        self.default(DefaultValue::Words(words))
    }

    /// The JSON Schema of its value, with its meaning and its default.
    fn schema(&self, definitions: &mut Definitions) -> Value {
        let form = self.form.schema(definitions);
        // Anything may be null, and so may every path.
        let is_nullable = matches!(self.form, Form::Any | Form::Path);
        let mut schema = if self.or_null && !is_nullable { or_null(form) } else { form };
        let literal = self.default.and_then(DefaultValue::literal);
        let words = self.default.filter(|_| literal.is_none());
        let described = words.map_or(self.doc.to_owned(), |it| format!("{}; default: {it}", self.doc));
        schema.insert("description".into(), Val::from(described));
        if let Some(literal) = literal {
            schema.insert("default".into(), literal);
        }
        Val::Map(schema)
    }
}

/// The JSON Schemas that others refer to: each object is written once, under its name.
#[derive(Default)]
pub struct Definitions {
    objects: Vec<(&'static Object, String)>,
    /// The places of keys, by their schemas.
    keys: HashMap<String, String>,
    pub schemas: Map<'static>,
}

impl Definitions {
    /// Adds what [`Form::Defined`] refers to by this name.
    pub fn define(&mut self, name: &str, schema: fn(&mut Definitions) -> Value) {
        let schema = schema(self);
        self.schemas.insert(format!("any_{name}").into(), schema);
    }

    /// Adds a schema that several others refer to, and returns its place.
    pub fn add(&mut self, name: &str, schema: Map<'static>) -> String {
        self.schemas.insert(name.to_owned().into(), Val::Map(schema));
        format!("#/$defs/{name}")
    }

    /// The schema of a key at a place: itself, or a reference to where another object has the same.
    fn shared(&mut self, place: &str, schema: Value) -> Value {
        let text = schema.to_json();
        if let Some(earlier) = self.keys.get(&text) {
            return Val::Map(reference(earlier.clone()));
        }
        // Shorter ones are not longer than a reference.
        if text.len() > 80 {
            self.keys.insert(text, place.to_owned());
        }
        schema
    }

    /// Where the schema of an object is.
    pub fn place(&mut self, object: &'static Object) -> String {
        let known = self.objects.iter().find(|(it, _)| ptr::eq(*it, object));
        if let Some((_, name)) = known {
            return format!("#/$defs/{name}");
        }
        let plain = object.name().replace(|it: char| !it.is_ascii_alphanumeric(), "_");
        let is_taken = |name: &String| self.objects.iter().any(|(_, it)| it == name);
        let numbered = (2..).map(|nth| format!("{plain}_{nth}"));
        let name = [plain.clone()].into_iter().chain(numbered).find(|it| !is_taken(it)).unwrap_or_default();
        let place = format!("#/$defs/{name}");
        self.objects.push((object, name.clone()));
        let schema = object.schema(&place, self);
        self.schemas.insert(name.into(), Val::Map(schema));
        place
    }
}

/// What fits a schema, or null.
pub fn or_null(mut schema: Map<'static>) -> Map<'static> {
    let widened = match (schema.get("type"), schema.get("anyOf")) {
        (Some(Val::Str(name)), _) => ("type", [Val::Str(name.clone()), Val::from("null")].into_iter().collect()),
        (Some(_), _) => return schema,
        (None, Some(Val::List(ways))) => ("anyOf", ways.iter().cloned().chain([null()]).collect()),
        (None, _) => return object([("anyOf", [Val::Map(schema), null()].into_iter().collect())]),
    };
    schema.insert(widened.0.into(), widened.1);
    schema
}

fn null() -> Value {
    Val::Map(object([("type", Val::from("null"))]))
}

/// A schema that is another one.
pub fn reference(place: String) -> Map<'static> {
    [("$ref", Val::from(place))].into_iter().collect()
}

impl Object {
    /// The key with this name or alias.
    pub fn find(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|it| it.name == name || it.aliases.contains(&name))
    }

    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.keys.iter().filter(|it| !matches!(it.form, Form::Reserved)).map(|it| it.name)
    }

    /// "a judge" and "`judge`" are the object `judge`.
    pub fn name(&self) -> String {
        let bare = ["a ", "an ", "the "].iter().find_map(|it| self.what.strip_prefix(it)).unwrap_or(self.what);
        bare.replace('`', "")
    }

    /// The JSON Schema of such an object at a place. Every alias is a property too, so that editors do not complain.
    pub fn schema(&self, place: &str, definitions: &mut Definitions) -> Map<'static> {
        let mut properties: Map<'static> = Map::default();
        for key in self.keys {
            let schema = key.schema(definitions);
            let own_place = format!("{place}/properties/{}", key.name);
            properties.insert(key.name.into(), definitions.shared(&own_place, schema));
            for alias in key.aliases {
                properties.insert((*alias).into(), Val::Map(reference(own_place.clone())));
            }
        }
        let required = self.keys.iter().filter(|it| it.required && it.aliases.is_empty()).map(|it| it.name);
        closed_object(properties, required)
    }
}

/// The JSON Schema of an object with these properties and no others.
pub fn closed_object<'n>(properties: Map<'static>, required: impl Iterator<Item = &'n str>) -> Map<'static> {
    let required: Vec<Value> = required.map(|it| Val::from(it.to_owned())).collect();
    let required = (!required.is_empty()).then_some(("required", Val::List(required)));
    let head = [("type", Val::from("object")), ("properties", Val::Map(properties))];
    head.into_iter().chain(required).chain([("additionalProperties", Val::Bool(false))]).collect()
}

impl Form {
    pub fn schema(self, definitions: &mut Definitions) -> Map<'static> {
        let typed = |name: &'static str| object([("type", Val::from(name))]);
        match self {
            Form::Any => object([]),
            Form::Text => typed("string"),
            Form::Boolean => typed("boolean"),
            Form::Integer(i64::MIN) => typed("integer"),
            Form::Integer(least) => object([("type", Val::from("integer")), ("minimum", Val::I(least))]),
            Form::Number(least, most) => {
                let bound = |key, it: f64| it.is_finite().then_some((key, Val::F(it)));
                let bounds = [bound("minimum", least), bound("maximum", most)];
                [("type", Val::from("number"))].into_iter().chain(bounds.into_iter().flatten()).collect()
            }
            Form::Percent => object([
                ("type", Val::from("string")),
                ("pattern", Val::from(r"^\d+(\.\d+)? *%$")),
                ("examples", [Val::from("1%")].into_iter().collect()),
            ]),
            Form::Id => object([("type", Val::from("string")), ("pattern", Val::from(crate::id::PATTERN))]),
            Form::Path => {
                let path = object([
                    ("type", [Val::from("string"), Val::from("null")].into_iter().collect()),
                    ("examples", [Val::from("answer"), Val::from("expert.scores[0]")].into_iter().collect()),
                ]);
                reference(definitions.add("field_path", path))
            }
            Form::Choice(names) => object([("enum", names.iter().map(|it| Val::from(*it)).collect())]),
            Form::List(item) => object([("type", Val::from("array")), ("items", Val::Map(item.schema(definitions)))]),
            Form::Either(forms) => {
                object([("anyOf", forms.iter().map(|it| Val::Map(it.schema(definitions))).collect())])
            }
            Form::Object(object) => reference(definitions.place(object)),
            Form::Map(form) => {
                object([("type", Val::from("object")), ("additionalProperties", Val::Map(form.schema(definitions)))])
            }
            Form::Defined(name) => reference(format!("#/$defs/any_{name}")),
            Form::Reserved => object([("deprecated", Val::Bool(true))]),
        }
    }
}

/// An object from its members.
pub fn object<const N: usize>(members: [(&'static str, Value); N]) -> Map<'static> {
    members.into_iter().collect()
}

/// The shortest way to write an amount of bytes.
fn amount(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    let unit = UNITS.iter().find(|(_, unit)| bytes.is_multiple_of(*unit));
    unit.map_or_else(|| format!("{bytes}B"), |(name, unit)| format!("{}{name}", bytes / unit))
}
