//! The shape of what authors write, declared once: the reader checks keys against it, and the JSON Schema and the
//! tables of keys in the reference are made from it.

use crate::value::{Map, Val, Value, parse_json};

/// The keys of one kind of object.
#[derive(Debug)]
pub struct Keys {
    /// What the object is, with its article: `a task`.
    pub what: &'static str,
    /// The keys, in the order documentation lists them.
    pub keys: &'static [Key],
}

#[derive(Debug, Clone, Copy)]
pub struct Key {
    pub name: &'static str,
    /// Other spellings that are read too; the seeds' longer or later names.
    pub aliases: &'static [&'static str],
    pub doc: &'static str,
    pub form: Form,
    pub required: bool,
    /// The value of an absent key: a literal in backticks, or a phrase such as ``the role `judge` ``.
    pub default: Option<&'static str>,
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
    Object(&'static Keys),
    /// An object with any keys and values of this form.
    Map(&'static Form),
    /// A definition of the schema with this name: a form that other tables describe.
    Defined(&'static str),
    /// A part of the format that this version does not run.
    Reserved,
}

impl Key {
    /// What something is for.
    pub const DESCRIPTION: Key = Key::optional("description", Form::Text, "what it is for; shown in reports");

    /// Whatever goes with something.
    pub const METADATA: Key =
        Key::optional("metadata", Form::Map(&Form::Any), "any further values; stored with it and not used");

    pub const fn required(name: &'static str, form: Form, doc: &'static str) -> Key {
        Key { name, aliases: &[], doc, form, required: true, default: None }
    }

    pub const fn optional(name: &'static str, form: Form, doc: &'static str) -> Key {
        Key { name, aliases: &[], doc, form, required: false, default: None }
    }

    pub const fn reserved(name: &'static str, doc: &'static str) -> Key {
        Key { name, aliases: &[], doc, form: Form::Reserved, required: false, default: None }
    }

    pub const fn or(self, aliases: &'static [&'static str]) -> Key {
        Key { aliases, ..self }
    }

    pub const fn default(self, default: &'static str) -> Key {
        Key { default: Some(default), ..self }
    }

    /// The JSON Schema of its value, with its meaning and its default.
    fn schema(&self) -> Value {
        let Val::Map(mut schema) = self.form.schema() else { return Val::Null };
        let literal = self.default.and_then(literal);
        let phrase = self.default.filter(|_| literal.is_none());
        let described = phrase.map_or(self.doc.to_owned(), |it| format!("{}; default: {it}", self.doc));
        schema.insert("description".into(), Val::from(described));
        if let Some(literal) = literal {
            schema.insert("default".into(), literal);
        }
        Val::Map(schema)
    }
}

impl Keys {
    /// The key with this name or alias.
    pub fn find(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|it| it.name == name || it.aliases.contains(&name))
    }

    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.keys.iter().filter(|it| !matches!(it.form, Form::Reserved)).map(|it| it.name)
    }

    /// The JSON Schema of such an object. Every alias is a property too, so that editors do not complain.
    pub fn schema(&self) -> Value {
        let mut properties: Map<'static> = Map::default();
        for key in self.keys {
            let schema = key.schema();
            for name in [key.name].iter().chain(key.aliases) {
                properties.insert((*name).into(), schema.clone());
            }
        }
        let required: Value =
            self.keys.iter().filter(|it| it.required && it.aliases.is_empty()).map(|it| Val::from(it.name)).collect();
        let mut schema = object([("type", Val::from("object")), ("properties", Val::Map(properties))]);
        if required.as_list().is_some_and(|it| !it.is_empty()) {
            schema.insert("required".into(), required);
        }
        schema.insert("additionalProperties".into(), Val::Bool(false));
        Val::Map(schema)
    }
}

impl Form {
    pub fn schema(self) -> Value {
        let typed = |name: &'static str| object([("type", Val::from(name))]);
        Val::Map(match self {
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
            Form::Path => object([
                ("type", [Val::from("string"), Val::from("null")].into_iter().collect()),
                ("examples", [Val::from("answer"), Val::from("expert.scores[0]")].into_iter().collect()),
            ]),
            Form::Choice(names) => object([("enum", names.iter().map(|it| Val::from(*it)).collect())]),
            Form::List(item) => object([("type", Val::from("array")), ("items", item.schema())]),
            Form::Either(forms) => object([("anyOf", forms.iter().map(|it| it.schema()).collect())]),
            Form::Object(keys) => return keys.schema(),
            Form::Map(form) => object([("type", Val::from("object")), ("additionalProperties", form.schema())]),
            Form::Defined(name) => [("$ref", Val::from(format!("#/$defs/{name}")))].into_iter().collect(),
            Form::Reserved => object([("deprecated", Val::Bool(true))]),
        })
    }
}

/// The value of a default that is one literal: `` `3` ``, `` `median` ``.
fn literal(default: &str) -> Option<Value> {
    let text = default.strip_prefix('`')?.strip_suffix('`').filter(|it| !it.contains('`'))?;
    Some(parse_json(text).map_or_else(|_| Val::from(text.to_owned()), |it| it.value.into_owned()))
}

/// An object from its members.
pub fn object<const N: usize>(members: [(&'static str, Value); N]) -> Map<'static> {
    members.into_iter().collect()
}
