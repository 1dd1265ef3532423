//! Whether a judge's reply is one: JSON that fits what it was asked for.

use jurat_format::value::{Span, Val, Value, json_node, parse_json};

use super::embedded;
use crate::effect::{Answer, Finish};
use crate::output::CompiledSchema;

/// What a reply must be.
#[derive(Debug, Clone)]
pub enum ReplyForm {
    /// Any text.
    Text,
    /// Any JSON value: a field of it is read.
    Json,
    /// JSON that fits a schema.
    Schema(Box<CompiledSchema>),
}

impl ReplyForm {
    /// Reads the answer of a judge. One that is empty, cut off or a call of a tool is no reply, even where its text could be read.
    pub fn read_answer(&self, answer: &Answer) -> Result<Value, String> {
        let read = match answer.tool_calls.first() {
            Some(call) => Err(format!("the judge called the tool `{}`, and there are no tools", call.name)),
            None if answer.text.trim().is_empty() => Err("the reply is empty".to_owned()),
            None => self.read(&answer.text),
        };
        match (read, &answer.finish) {
            (Err(problem), Finish::Length) => Err(format!("{problem}; the answer was cut off at `max_tokens`")),
            (Ok(_), Finish::Length) => Err("the answer was cut off at `max_tokens`".to_owned()),
            (read, _) => read,
        }
    }

    /// Whether asking a judge ends with an error at this answer, when this number of requests could be made for it.
    pub fn ends_in_error(&self, answer: &Answer, max_requests: u32) -> bool {
        let is_last = answer.finish == Finish::Length || max_requests <= answer.n_requests.max(1);
        answer.finish == Finish::Refusal || (is_last && self.read_answer(answer).is_err())
    }

    /// Reads a reply, or says what is wrong with it in words that its author, a model, can use.
    pub fn read(&self, text: &str) -> Result<Value, String> {
        let text = text.trim();
        if let ReplyForm::Text = self {
            return Ok(Val::from(text.to_owned()));
        }
        // Most replies are JSON and nothing else, and are read once.
        let (text, reply) = match parse_json(text) {
            Ok(reply) => (text, reply),
            Err(_) => {
                let json = self.json_in(text)?;
                (json, parse_json(json).map_err(|it| format!("the reply is not JSON: {it}"))?)
            }
        };
        if let (ReplyForm::Json, Val::Null) = (self, &reply.value) {
            return Err("the reply is null".to_owned());
        }
        if reply.repeated_key {
            return Err(format!("the reply has {} more than once", repeated_key(text)));
        }
        if let ReplyForm::Schema(schema) = self
            && let Err(problems) = schema.check(&reply.value)
        {
            return Err(format!("the reply does not fit the schema: {problems}"));
        }
        Ok(reply.value.into_owned())
    }

    /// The part of a text that is its JSON: all of it, or the one value in it.
    pub(super) fn json_in<'t>(&self, text: &'t str) -> Result<&'t str, String> {
        let text = text.trim();
        match parse_json(text) {
            Ok(_) => Ok(text),
            Err(error) => self.embedded(text)?.ok_or_else(|| format!("the reply is not JSON: {error}")),
        }
    }

    /// The one value in a text that is not JSON as a whole; `None` when there is none.
    fn embedded<'t>(&self, text: &'t str) -> Result<Option<&'t str>, String> {
        let may_fit = |it: &Val<'_>| if let ReplyForm::Schema(schema) = self { schema.may_fit(it) } else { true };
        let may_be = |it: &&str| parse_json(it).is_ok_and(|it| may_fit(&it.value));
        let values: Vec<&'t str> = embedded::values(text).into_iter().filter(may_be).collect();
        match values.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(one)),
            several => Err(format!("the reply has {} different JSON values in it, and must be one", several.len())),
        }
    }
}

/// Which key stands twice in one object of a JSON text. Either value could be meant, so neither is taken.
fn repeated_key(text: &str) -> String {
    let repeated = json_node(text, Span::default().source).ok().and_then(|(_, keys)| keys.into_iter().next());
    repeated.map_or_else(|| "a key".to_owned(), |it| format!("the key `{}`", it.key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::ToolCall;

    #[track_caller]
    fn read(form: &ReplyForm, text: &str, expected: Result<&str, &str>) {
        let answer = form.read(text).map(|it| it.to_string());
        assert_eq!(answer.as_ref().map(String::as_str).map_err(String::as_str), expected);
    }

    #[test]
    fn a_reply_is_read_or_the_reason_is_given() {
        let schema =
            parse_json(r#"{"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}"#).unwrap();
        let form = ReplyForm::Schema(Box::new(CompiledSchema::compile(&schema.value).unwrap()));
        read(&form, " {\"ok\": true}\n", Ok("{\"ok\": true}"));
        read(&form, "{}", Err("the reply does not fit the schema: \"ok\" is a required property"));
        read(&form, "{\"ok\": 1}", Err("the reply does not fit the schema: 1 is not of type \"boolean\" at `/ok`"));
        read(&form, "Sure! {", Err("the reply is not JSON: expected value (line 1, column 1)"));
        read(&form, "Sure!\n```json\n{\"ok\": true}\n```", Ok("{\"ok\": true}"));
        read(&form, "As [1] says, {\"ok\": true}.", Ok("{\"ok\": true}"));
        read(
            &form,
            "It is {\"ok\": 1}.",
            Err("the reply does not fit the schema: 1 is not of type \"boolean\" at `/ok`"),
        );
        read(&form, "It is {\"ok\": true, \"ok\": false}.", Err("the reply has the key `ok` more than once"));
        read(
            &form,
            "{\"ok\": true} or {\"ok\": false}",
            Err("the reply has 2 different JSON values in it, and must be one"),
        );
        read(&ReplyForm::Json, "[1]", Ok("[1]"));
        read(&ReplyForm::Text, "[1", Ok("\"[1\""));
        read(&ReplyForm::Text, " yes\n", Ok("\"yes\""));
        read(&form, r#"{"ok": true, "ok": false}"#, Err("the reply has the key `ok` more than once"));
        read(
            &ReplyForm::Json,
            r#"{"a": [{"b": 1, "c": 123456789012345678901234567890, "b": 2}]}"#,
            Err("the reply has the key `b` more than once"),
        );
    }

    #[test]
    fn an_answer_that_was_cut_off_or_calls_a_tool_is_no_reply() {
        let call = ToolCall { id: "c1".to_owned(), name: "search".to_owned(), arguments: Val::Null };
        let cut = |text: &str| Answer { finish: Finish::Length, ..Answer::new(text) };
        let calls = |text: &str| Answer { tool_calls: vec![call.clone()], ..Answer::new(text) };
        for (form, answer, problem) in [
            (ReplyForm::Text, Answer::new(" \n"), "the reply is empty"),
            (ReplyForm::Json, Answer::new(""), "the reply is empty"),
            (ReplyForm::Text, cut("yes"), "the answer was cut off at `max_tokens`"),
            (ReplyForm::Text, cut(""), "the reply is empty; the answer was cut off at `max_tokens`"),
            (ReplyForm::Json, cut("{\"ok\": true}"), "the answer was cut off at `max_tokens`"),
            (ReplyForm::Text, calls("yes"), "the judge called the tool `search`, and there are no tools"),
            (ReplyForm::Json, calls("4"), "the judge called the tool `search`, and there are no tools"),
        ] {
            assert_eq!(form.read_answer(&answer), Err(problem.to_owned()));
        }
        assert_eq!(ReplyForm::Text.read_answer(&Answer::new("yes")), Ok(Val::from("yes")));
    }
}
