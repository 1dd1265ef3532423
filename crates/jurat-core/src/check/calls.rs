//! The tool calls of a run: as its evidence lists them, or as they stand in a response that a vendor's interface gave.

use std::borrow::Cow;

use jurat_compare::{Assertion, Expected, Judgement};
use jurat_format::value::{Context, FieldPath, Val, parse_json, shown_within};

use crate::tool_kind::ToolKind;

/// One call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Call<'e> {
    /// What the call is known by.
    pub id: Option<Cow<'e, str>>,
    pub name: Cow<'e, str>,
    /// What it was called with: an object, or the text when it is not one.
    pub arguments: Cow<'e, Val<'e>>,
    /// Whether what came back is an error, where it is known.
    pub is_error: Option<bool>,
    /// What came back, where something did.
    pub output: Option<Cow<'e, Val<'e>>>,
}

#[derive(Debug, Clone, Default)]
pub struct CallPattern {
    /// The names of tools, any of them; none for every tool.
    pub tools: Vec<String>,
    /// The kinds of tools, any of them; none for every kind.
    pub kinds: Vec<ToolKind>,
    /// What must hold of the arguments.
    pub arguments: Vec<Assertion>,
    /// Whether what came back is an error.
    pub is_error: Option<bool>,
    /// What must hold of the output.
    pub output: Vec<Assertion>,
}

/// The calls that evidence lists, or those of the recorded response at a path. Returns why when it is not known.
pub fn calls<'e>(evidence: &'e Val<'e>, response: Option<&FieldPath>) -> Result<Vec<Call<'e>>, String> {
    let Some(path) = response else {
        let listed = evidence.get("tool_calls").and_then(Val::as_list);
        let listed = listed.ok_or("the evidence has no `tool_calls`; name a recorded response with `response_path`")?;
        return Ok(listed.iter().filter_map(listed_call).collect());
    };
    let found = match path.find(evidence) {
        Ok(found) => found,
        Err(missing) => return Err(format!("`{path}` finds nothing: {}", missing.explain(path))),
    };
    match found {
        // A response is often stored as the text that came.
        Cow::Borrowed(Val::Str(text)) => match parse_json(text) {
            Ok(read) => of_response(path, &read.value).map(|it| it.into_iter().map(Call::into_owned).collect()),
            Err(error) => Err(format!("`{path}` is text that is not JSON: {error}")),
        },
        Cow::Borrowed(value) => of_response(path, value),
        Cow::Owned(value) => of_response(path, &value).map(|it| it.into_iter().map(Call::into_owned).collect()),
    }
}

impl Call<'_> {
    /// The call for longer than what it was read from.
    fn into_owned<'o>(self) -> Call<'o> {
        let owned = |value: Cow<'_, Val<'_>>| Cow::Owned(value.into_owned().into_owned());
        Call {
            id: self.id.map(|it| Cow::Owned(it.into_owned())),
            name: Cow::Owned(self.name.into_owned()),
            arguments: owned(self.arguments),
            is_error: self.is_error,
            output: self.output.map(owned),
        }
    }

    /// The call in words: `search({"q": "x"})`.
    pub(super) fn shown(&self) -> String {
        format!("{}({})", self.name, shown_within(&self.arguments, 60))
    }
}

impl CallPattern {
    /// Whether a call is meant. An argument that is not there, or of another kind, is not the one that is meant.
    pub fn matches(&self, call: &Call<'_>) -> bool {
        self.is_named(call)
            && self.arguments.iter().all(|it| holds(it, &call.arguments))
            && self.is_error.is_none_or(|it| call.is_error == Some(it))
            && self.output.iter().all(|it| call.output.as_ref().is_some_and(|output| holds(it, output)))
    }

    /// Whether a call is one of the tools that are meant.
    pub fn is_named(&self, call: &Call<'_>) -> bool {
        let is_named = self.tools.is_empty() || self.tools.iter().any(|it| *it == call.name);
        is_named && (self.kinds.is_empty() || self.kinds.contains(&ToolKind::of(&call.name)))
    }

    /// What is meant, in words that fit after "a call of".
    pub(super) fn phrase(&self) -> String {
        let mut phrase = match self.tools.as_slice() {
            [] => "any tool".to_owned(),
            tools => jurat_format::problem::listed(tools.iter().map(String::as_str)),
        };
        if !self.kinds.is_empty() {
            let kinds = jurat_format::problem::listed(self.kinds.iter().map(|it| it.name()));
            phrase.push_str(&format!(" of the kind {kinds}"));
        }
        let conditions = |of: &str, assertions: &[Assertion]| {
            let one = |it: &Assertion| {
                let at = it.path.as_ref().map_or_else(|| of.to_owned(), |path| format!("`{path}`"));
                format!("{at} being {}", wanted(it))
            };
            assertions.iter().map(one).collect::<Vec<_>>().join(" and ")
        };
        if !self.arguments.is_empty() {
            phrase.push_str(&format!(" with {}", conditions("arguments", &self.arguments)));
        }
        match self.is_error {
            Some(true) => phrase.push_str(" that ended in an error"),
            Some(false) => phrase.push_str(" that succeeded"),
            None => {}
        }
        if !self.output.is_empty() {
            phrase.push_str(&format!(" with the result {}", conditions("it", &self.output)));
        }
        phrase
    }
}

/// What an assertion wants, in words that fit after "being".
pub(super) fn wanted(assertion: &Assertion) -> String {
    match &assertion.expected {
        Expected::Fixed(comparison) => comparison.expected(),
        Expected::Filled(operator, _) => format!("{} what the case says", operator.entry().snake_case()),
        Expected::Found(operator, path) => format!("{} what `{path}` is", operator.entry().snake_case()),
    }
}

fn holds(assertion: &Assertion, value: &Val<'_>) -> bool {
    assertion.judge(Context::of(value)) == Judgement::Passed
}

/// A call as evidence lists it.
fn listed_call<'e>(value: &'e Val<'e>) -> Option<Call<'e>> {
    let status = value.get("status").and_then(Val::as_str);
    Some(Call {
        id: value.get("call_id").or_else(|| value.get("id")).and_then(Val::as_str).map(Cow::Borrowed),
        name: Cow::Borrowed(value.get("name")?.as_str()?),
        arguments: arguments(value.get("arguments")),
        is_error: status.map(|it| it == "error"),
        output: value.get("output").filter(|it| **it != Val::Null).map(Cow::Borrowed),
    })
}

/// Arguments as a value; several interfaces send them as text.
pub(crate) fn arguments<'e>(written: Option<&'e Val<'e>>) -> Cow<'e, Val<'e>> {
    match written {
        None => Cow::Owned(Val::Null),
        Some(Val::Str(text)) => match parse_json(text) {
            Ok(read) if read.value.as_map().is_some() => Cow::Owned(read.value),
            _ => Cow::Borrowed(written.unwrap_or(&Val::Null)),
        },
        Some(value) => Cow::Borrowed(value),
    }
}

/// The calls of a recorded response: of one, or of several with the messages between them.
fn of_response<'e>(path: &FieldPath, value: &'e Val<'e>) -> Result<Vec<Call<'e>>, String> {
    let mut collected = Collected::default();
    collected.response(value);
    if !collected.is_known {
        return Err(format!(
            "`{path}` is not a response that can be read: OpenAI (chat completions, responses), Anthropic and Gemini can"
        ));
    }
    for (id, is_error, output) in collected.results {
        let call = collected
            .calls
            .iter_mut()
            .find(|it| it.output.is_none() && it.is_error.is_none() && it.id.as_deref() == id);
        if let Some(call) = call {
            (call.is_error, call.output) = (is_error, output.map(Cow::Borrowed));
        }
    }
    Ok(collected.calls)
}

/// What was found in a response so far.
#[derive(Default)]
struct Collected<'e> {
    calls: Vec<Call<'e>>,
    /// What came back: which call, whether it is an error, what.
    results: Vec<(Option<&'e str>, Option<bool>, Option<&'e Val<'e>>)>,
    is_known: bool,
}

impl<'e> Collected<'e> {
    fn response(&mut self, value: &'e Val<'e>) {
        if let Val::List(items) = value {
            items.iter().for_each(|it| self.response(it));
            return;
        }
        let list = |key: &str| value.get(key).and_then(Val::as_list);
        self.is_known |= list("choices").is_some() || list("candidates").is_some();
        // OpenAI chat completions: the whole response, or one message of it.
        for choice in list("choices").unwrap_or(&[]) {
            if let Some(message) = choice.get("message").or_else(|| choice.get("delta")) {
                self.message(message);
            }
        }
        // OpenAI responses; an item of a conversation has a type of its own.
        for item in list("output").unwrap_or(&[]) {
            self.is_known |= item.get("type").is_some();
            self.item(item);
        }
        // Gemini.
        for candidate in list("candidates").unwrap_or(&[]) {
            if let Some(content) = candidate.get("content") {
                self.message(content);
            }
        }
        if value.get("role").is_some() || list("content").is_some() || list("parts").is_some() {
            self.message(value);
        }
        if value.get("type").is_some() && list("content").is_none() {
            self.item(value);
        }
    }

    /// One message, of whichever interface.
    fn message(&mut self, message: &'e Val<'e>) {
        self.is_known = true;
        let list = |key: &str| message.get(key).and_then(Val::as_list).unwrap_or(&[]);
        for call in list("tool_calls") {
            if let Some(function) = call.get("function") {
                self.call(text(call, "id"), function, "arguments");
            }
        }
        if let Some(function) = message.get("function_call") {
            self.call(None, function, "arguments");
        }
        for item in list("content").iter().chain(list("parts")) {
            self.item(item);
        }
        if text(message, "role") == Some("tool") {
            self.results.push((text(message, "tool_call_id"), None, message.get("content")));
        }
    }

    /// One block of a message.
    fn item(&mut self, item: &'e Val<'e>) {
        match text(item, "type") {
            Some("tool_use" | "server_tool_use") => self.call(text(item, "id"), item, "input"),
            Some("function_call") => self.call(text(item, "call_id").or(text(item, "id")), item, "arguments"),
            Some("tool_result") => {
                let is_error = matches!(item.get("is_error"), Some(Val::Bool(true)));
                self.results.push((text(item, "tool_use_id"), Some(is_error), item.get("content")));
            }
            Some("function_call_output") => self.results.push((text(item, "call_id"), None, item.get("output"))),
            _ => {}
        }
        if let Some(function) =
            item.get("functionCall").or_else(|| item.get("function_call")).filter(|_| text(item, "type").is_none())
        {
            self.call(text(function, "id"), function, "args");
        }
        if let Some(function) = item.get("functionResponse").or_else(|| item.get("function_response")) {
            let (id, name) = (text(function, "id"), text(function, "name"));
            // Gemini identifies results by the name of the function where it gives no id.
            let by_name =
                || self.calls.iter().find(|it| Some(&*it.name) == name && it.output.is_none() && it.id.is_none());
            match by_name().is_some() && id.is_none() {
                true => {
                    let output = function.get("response").map(Cow::Borrowed);
                    let call = self.calls.iter_mut().find(|it| Some(&*it.name) == name && it.output.is_none());
                    if let Some(call) = call {
                        call.output = output;
                    }
                }
                false => self.results.push((id, None, function.get("response"))),
            }
        }
    }

    fn call(&mut self, id: Option<&'e str>, function: &'e Val<'e>, key: &str) {
        self.is_known = true;
        let Some(name) = text(function, "name") else { return };
        self.calls.push(Call {
            id: id.map(Cow::Borrowed),
            name: Cow::Borrowed(name),
            arguments: arguments(function.get(key)),
            is_error: None,
            output: None,
        });
    }
}

fn text<'e>(value: &'e Val<'e>, key: &str) -> Option<&'e str> {
    value.get(key).and_then(Val::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn called(response: &str, expected: &str) {
        let evidence = format!("{{\"r\": {response}}}");
        let evidence = parse_json(&evidence).expect("the response is JSON").value;
        let path = FieldPath::parse("r").expect("a path");
        let got = match calls(&evidence, Some(&path)) {
            Err(reason) => format!("error: {reason}"),
            Ok(calls) => {
                let one = |it: &Call<'_>| {
                    let output = it.output.as_ref().map(|it| format!(" -> {it}")).unwrap_or_default();
                    format!("{}{}{output}", it.shown(), if it.is_error == Some(true) { " !" } else { "" })
                };
                calls.iter().map(one).collect::<Vec<_>>().join(", ")
            }
        };
        assert_eq!(got, expected);
    }

    #[test]
    fn responses_of_vendors() {
        called(
            r#"{"choices": [{"message": {"role": "assistant", "content": null, "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{\"q\": \"x\"}"}}]}}]}"#,
            r#"search({"q": "x"})"#,
        );
        called(
            r#"{"object": "response", "output": [{"type": "reasoning"}, {"type": "function_call", "call_id": "c", "name": "search", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c", "output": "ok"}]}"#,
            r#"search({}) -> "ok""#,
        );
        called(
            r#"{"role": "assistant", "content": [{"type": "text", "text": "hm"}, {"type": "tool_use", "id": "t", "name": "bash", "input": {"command": "ls"}}]}"#,
            r#"bash({"command": "ls"})"#,
        );
        called(
            r#"{"candidates": [{"content": {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"a": 1}}}]}}]}"#,
            r#"f({"a": 1})"#,
        );
    }

    #[test]
    fn conversations_of_vendors() {
        called(
            r#"[{"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "bash", "input": {}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "is_error": true, "content": "no"}]}]"#,
            r#"bash({}) ! -> "no""#,
        );
        called(
            r#"[{"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": "not json"}}]},
                {"role": "tool", "tool_call_id": "c1", "content": "42"}]"#,
            r#"f(`not json`) -> "42""#,
        );
        called(
            r#"[{"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"n": 1}}}]}]"#,
            r#"f({}) -> {"n": 1}"#,
        );
    }

    #[test]
    fn a_response_as_text_is_read() {
        called(r#""{\"candidates\": []}""#, "");
        called(r#""{""#, "error: `r` is text that is not JSON: EOF while parsing an object (line 1, column 1)");
        called(
            r#"{"answer": 1}"#,
            "error: `r` is not a response that can be read: OpenAI (chat completions, responses), Anthropic and Gemini can",
        );
    }
}
