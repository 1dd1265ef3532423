//! What a model must answer.

use serde::Serialize;

use crate::members::Members;
use crate::value::{Given, given};

/// The fields that a model must answer with. The schema of it goes to the provider, and what comes back is checked against it.
///
/// ```
/// use jurat::{Judge, Output};
/// use serde_json::json;
///
/// let output = Output::new()
///     .one_of("category", ["kitchen", "bath", "outdoor"])
///     .text("reason")
///     .number("confidence")
///     .field("scores", json!({ "safety": "integer", "clarity": "integer" }));
/// Judge::new("classify", "Which department? ${question}").output(output);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Output(Form);

#[derive(Debug, Clone)]
enum Form {
    Fields(Members),
    Schema(Given),
}

impl Default for Form {
    fn default() -> Form {
        Form::Fields(Members::default())
    }
}

impl Output {
    /// No fields yet.
    pub fn new() -> Output {
        Output::default()
    }

    /// A whole JSON Schema, for those who have one.
    ///
    /// ```
    /// # use jurat::{Judge, Output};
    /// # use serde_json::json;
    /// let schema = json!({ "type": "object", "properties": { "score": { "type": "integer", "minimum": 1 } }, "required": ["score"] });
    /// Judge::new("rate", "Rate this: ${answer}").output(Output::schema(schema));
    /// ```
    pub fn schema(schema: impl Serialize) -> Output {
        Output(Form::Schema(given(&schema)))
    }

    /// One more field that is text.
    pub fn text(self, name: impl Into<String>) -> Output {
        self.field(name, "string")
    }

    /// One more field that is a number.
    pub fn number(self, name: impl Into<String>) -> Output {
        self.field(name, "number")
    }

    /// One more field that is a whole number.
    pub fn integer(self, name: impl Into<String>) -> Output {
        self.field(name, "integer")
    }

    /// One more field that is `true` or `false`.
    pub fn boolean(self, name: impl Into<String>) -> Output {
        self.field(name, "boolean")
    }

    /// One more field that is one of these values.
    pub fn one_of<T: Serialize>(self, name: impl Into<String>, values: impl IntoIterator<Item = T>) -> Output {
        #[derive(Serialize)]
        struct OneOf<T> {
            r#enum: Vec<T>,
        }
        self.field(name, OneOf { r#enum: values.into_iter().collect() })
    }

    /// One more field that is a list of texts.
    pub fn texts(self, name: impl Into<String>) -> Output {
        self.field(name, ["string"])
    }

    /// One more field, in the short form of definitions or as a JSON Schema. A [whole schema](Output::schema) takes no more fields: `build`
    /// refuses it.
    pub fn field(self, name: impl Into<String>, form: impl Serialize) -> Output {
        let name = name.into();
        match self.0 {
            Form::Fields(mut fields) => {
                fields.given(name, given(&form));
                Output(Form::Fields(fields))
            }
            Form::Schema(_) => Output(Form::Schema(Err(format!("the field `{name}` is added to a whole schema")))),
        }
    }

    /// Writes it into the object that has it.
    pub(crate) fn write(self, members: &mut Members) {
        match self.0 {
            Form::Fields(fields) => members.object("output", fields),
            Form::Schema(schema) => members.given("output", schema),
        }
    }
}
