//! The events of a run, put together from the requests of models and the calls of tools.
//!
//! Each request of a model repeats what was said before, so only what is new is added: what follows the longest common beginning, as far as
//! it was not added in the same order. A tool call has one result, whether a message or a span of the tool says it.

use jurat_core::artifact::{Event, Happening};
use jurat_format::value::{Val, Value};

use super::message::{Call, Message};
use crate::document::{Object, maybe_json, text};

#[derive(Default)]
pub(crate) struct Conversation {
    events: Vec<Event>,
    /// What requests were sent and answered so far.
    known: Vec<Message>,
    calls: Vec<Called>,
    /// The last thing that a model said without calling a tool.
    pub(crate) last_text: Option<String>,
    /// How many images, recordings and other parts of messages are not in the events.
    pub(crate) n_media: usize,
}

/// A call that was added.
struct Called {
    id: Option<String>,
    name: String,
    /// Where its result stands.
    result: Option<usize>,
    has_span: bool,
}

impl Conversation {
    /// Adds what is new of a request.
    pub(crate) fn ask(&mut self, messages: Vec<Message>) {
        let same = |left: &Message, right: &Message| {
            left.role == right.role && left.text == right.text && same_calls(left, right)
        };
        let n_same = self.known.iter().zip(&messages).take_while(|(left, right)| same(left, right)).count();
        let mut from = n_same;
        for message in messages.into_iter().skip(n_same) {
            match self.known[from..].iter().position(|it| same(it, &message)) {
                Some(ix) => from += ix + 1,
                None => {
                    self.add(message.clone());
                    self.known.push(message);
                    from = self.known.len();
                }
            }
        }
    }

    /// Adds what a model answered.
    pub(crate) fn answer(&mut self, messages: Vec<Message>) {
        for message in messages {
            if message.calls.is_empty() && !message.text.is_empty() {
                self.last_text = Some(message.text.clone());
            }
            self.add(message.clone());
            self.known.push(message);
        }
    }

    /// Adds a message with its calls.
    pub(crate) fn add(&mut self, message: Message) {
        let Message { role, text: said, name, call_id, calls, n_media } = message;
        self.n_media += n_media;
        if role == "tool" {
            return self.result(call_id.as_deref(), name.as_deref(), text(said), None, None);
        }
        let role = if matches!(role.as_str(), "system" | "user") { role } else { "assistant".to_owned() };
        if !said.is_empty() || calls.is_empty() {
            self.push(Happening::Message { role, content: text(said), name }, None);
        }
        for call in calls {
            self.call(call, false);
        }
    }

    fn call(&mut self, call: Call, has_span: bool) {
        let Call { id, name, raw, arguments } = call;
        self.calls.push(Called { id: id.clone(), name: name.clone(), result: None, has_span });
        let happening =
            Happening::ToolCall { call_id: id, tool_name: name, raw_arguments: text(raw), parsed_arguments: arguments };
        self.push(happening, None);
    }

    /// Adds a call that has a span of its own: the call, unless a model's answer has it; the result, unless a message has it.
    pub(crate) fn tool(&mut self, call: Call, output: Option<Value>, is_error: bool, seconds: Option<f64>) {
        let (id, name) = (call.id.clone(), call.name.clone());
        let known = self.calls.iter().position(|it| id.is_some() && it.id == id && !it.has_span);
        let known = known.or_else(|| {
            self.calls.iter().position(|it| it.name == name && !it.has_span && (it.id.is_none() || id.is_none()))
        });
        let ix = match known {
            Some(ix) => ix,
            None => {
                self.call(call, true);
                self.calls.len() - 1
            }
        };
        self.calls[ix].has_span = true;
        let metadata = seconds.map(|it| Value::from(Object::new().with("duration_seconds", it)));
        match self.calls[ix].result {
            Some(at) => self.events[at].metadata = metadata,
            None => {
                let call_id = self.calls[ix].id.clone();
                let output = output.unwrap_or(Val::Null);
                let output = output.as_str().map_or_else(|| output.clone(), |it| Val::from(it.to_owned()));
                self.push(Happening::ToolResult { call_id, is_error: Some(is_error), output }, metadata);
                self.calls[ix].result = Some(self.events.len() - 1);
            }
        }
    }

    /// Adds the result of a call, unless it is there.
    pub(crate) fn result(
        &mut self,
        id: Option<&str>,
        name: Option<&str>,
        output: Value,
        is_error: Option<bool>,
        metadata: Option<Value>,
    ) {
        let by_id = |it: &Called| id.is_some() && it.id.as_deref() == id;
        let by_order = |it: &Called| id.is_none() && it.result.is_none() && name.is_none_or(|name| it.name == name);
        let called = self.calls.iter().position(by_id).or_else(|| self.calls.iter().position(by_order));
        if called.is_some_and(|ix| self.calls[ix].result.is_some()) {
            return;
        }
        let call_id = called.and_then(|ix| self.calls[ix].id.clone()).or_else(|| id.map(str::to_owned));
        self.push(Happening::ToolResult { call_id, is_error: is_error.or(Some(false)), output }, metadata);
        if let Some(ix) = called {
            self.calls[ix].result = Some(self.events.len() - 1);
        }
    }

    /// Adds something that the program around the model did.
    pub(crate) fn step(&mut self, name: &str, detail: Value) {
        let detail = detail.as_str().map_or_else(|| detail.clone(), maybe_json);
        self.push(Happening::Runner { name: name.to_owned(), detail }, None);
    }

    fn push(&mut self, what: Happening, metadata: Option<Value>) {
        self.events.push(Event { timestamp: None, metadata, what });
    }

    /// The events, with the final message at the end.
    pub(crate) fn finish(mut self, final_response: Option<String>) -> Vec<Event> {
        if final_response.is_some() {
            self.push(Happening::FinalOutput { content: final_response }, None);
        }
        self.events
    }
}

fn same_calls(left: &Message, right: &Message) -> bool {
    let same = |(left, right): (&Call, &Call)| {
        left.name == right.name && left.id == right.id && (left.arguments == right.arguments || left.raw == right.raw)
    };
    left.calls.len() == right.calls.len() && left.calls.iter().zip(&right.calls).all(same)
}
