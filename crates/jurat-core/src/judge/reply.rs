//! Whether a judge's reply is one: JSON that fits what it was asked for.

use jsonschema::Validator;

use crate::value::{Val, Value, parse_json};

/// What a reply must be.
#[derive(Debug, Clone)]
pub enum ReplyForm {
    /// Any text.
    Text,
    /// Any JSON value: a field of it is read.
    Json,
    /// JSON that fits a schema.
    Schema(Box<ReplySchema>),
}

/// A JSON Schema, compiled once.
#[derive(Debug, Clone)]
pub struct ReplySchema {
    validator: Validator,
}

impl ReplySchema {
    /// Compiles a schema. References to other documents are never fetched.
    pub fn compile(schema: &Val<'_>) -> Result<ReplySchema, String> {
        let validator = jsonschema::validator_for(&plain(schema)).map_err(|error| error.to_string())?;
        Ok(ReplySchema { validator })
    }

    /// What is wrong with a text that should be JSON that fits; nothing when it does.
    pub(crate) fn problems(&self, text: &str) -> Option<String> {
        match parse_json(text.trim()) {
            Ok(read) => self.misfits(&read.value),
            Err(error) => Some(format!("text that is not JSON: {error}")),
        }
    }

    /// Whether a value fits, or where it does not.
    pub fn check(&self, value: &Val<'_>) -> Result<(), String> {
        self.misfits(value).map_or(Ok(()), Err)
    }

    fn misfits(&self, value: &Val<'_>) -> Option<String> {
        let instance = plain(value);
        // Most values fit, and saying so takes less than saying what is wrong.
        if self.validator.is_valid(&instance) {
            return None;
        }
        let problems: Vec<String> = self.validator.iter_errors(&instance).take(5).map(described).collect();
        (!problems.is_empty()).then(|| problems.join("; "))
    }
}

impl ReplyForm {
    /// Reads a reply, or says what is wrong with it in words that its author, a model, can use.
    pub fn read(&self, text: &str) -> Result<Value, String> {
        if let ReplyForm::Text = self {
            return Ok(Val::from(text.to_owned()));
        }
        let reply = parse_json(text.trim()).map_err(|error| format!("the reply is not JSON: {error}"))?.value;
        if let ReplyForm::Schema(schema) = self
            && let Some(problems) = schema.misfits(&reply)
        {
            return Err(format!("the reply does not fit the schema: {problems}"));
        }
        Ok(reply.into_owned())
    }
}

fn described(error: jsonschema::ValidationError<'_>) -> String {
    let place = error.instance_path().to_string();
    if place.is_empty() { error.to_string() } else { format!("{error} at `{place}`") }
}

/// The value as the validator wants it. Numbers beyond 64 bits become doubles there, which schemas do not mind.
fn plain(value: &Val<'_>) -> serde_json::Value {
    match value {
        Val::Null => serde_json::Value::Null,
        Val::Bool(value) => (*value).into(),
        Val::I(number) => (*number).into(),
        Val::U(number) => (*number).into(),
        Val::F(_) | Val::Big(_) => value.as_f64().into(),
        Val::Str(text) => text.clone().into_owned().into(),
        Val::List(items) => items.iter().map(plain).collect(),
        Val::Map(map) => map.iter().map(|(key, value)| (key.to_owned(), plain(value))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn read(form: &ReplyForm, text: &str, expected: Result<&str, &str>) {
        let answer = form.read(text).map(|it| it.to_string());
        assert_eq!(answer.as_ref().map(String::as_str).map_err(String::as_str), expected);
    }

    #[test]
    fn a_reply_is_read_or_told_what_is_wrong_with_it() {
        let schema =
            parse_json(r#"{"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}"#).unwrap();
        let form = ReplyForm::Schema(Box::new(ReplySchema::compile(&schema.value).unwrap()));
        read(&form, " {\"ok\": true}\n", Ok("{\"ok\": true}"));
        read(&form, "{}", Err("the reply does not fit the schema: \"ok\" is a required property"));
        read(&form, "{\"ok\": 1}", Err("the reply does not fit the schema: 1 is not of type \"boolean\" at `/ok`"));
        read(&form, "Sure! {", Err("the reply is not JSON: expected value (line 1, column 1)"));
        read(&ReplyForm::Json, "[1]", Ok("[1]"));
        read(&ReplyForm::Text, "[1", Ok("\"[1\""));
    }
}
