//! What a model would say.

use serde_json::{Value, json};

use crate::instance::instance;
use crate::request::Request;

/// A reply, before it is put into a wire format.
#[derive(Debug, Clone)]
pub struct Reply {
    text: Text,
    calls: Vec<ToolCall>,
    ending: Ending,
    usage: Option<Usage>,
}

/// A tool that the model calls.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The name of the tool.
    pub name: String,
    /// What it is called with.
    pub arguments: Value,
}

/// How many tokens a reply is said to have cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// All tokens of the request, those from a cache included.
    pub input: u64,
    /// All tokens of the reply, those of reasoning included.
    pub output: u64,
    /// How many of the input came from a cache.
    pub cached: u64,
    /// How many of the output were reasoning.
    pub reasoning: u64,
}

#[derive(Debug, Clone)]
enum Text {
    /// What the request asks for.
    Fitting,
    Given(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Complete,
    CutOff,
    Refused,
    Blocked,
}

/// A reply to one request, with nothing left open.
#[derive(Debug, Clone)]
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) calls: Vec<ToolCall>,
    pub(crate) finish: Finish,
    pub(crate) usage: Usage,
}

/// Why a reply ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Finish {
    Stop,
    Length,
    Calls,
    /// The model will not; the text says so.
    Refusal,
    /// A filter came first; there is no text.
    Blocked,
}

impl Default for Reply {
    fn default() -> Reply {
        Reply::fitting()
    }
}

impl Reply {
    /// Says what the request asks for: calls the tool that must be called, fills in the schema, or else says a few words.
    pub fn fitting() -> Reply {
        Reply { text: Text::Fitting, calls: Vec::new(), ending: Ending::Complete, usage: None }
    }

    pub fn text(text: impl Into<String>) -> Reply {
        Reply { text: Text::Given(text.into()), ..Reply::fitting() }
    }

    /// Says this value, written as JSON.
    #[expect(clippy::needless_pass_by_value, reason = "`json!` in the argument reads best")]
    pub fn json(value: Value) -> Reply {
        Reply::text(value.to_string())
    }

    /// Calls these tools and says nothing.
    pub fn calls<'n>(calls: impl IntoIterator<Item = (&'n str, Value)>) -> Reply {
        Reply::text("").with_calls(calls)
    }

    /// Refuses with these words, in the way in which the provider marks a refusal.
    pub fn refusal(words: impl Into<String>) -> Reply {
        Reply { ending: Ending::Refused, ..Reply::text(words) }
    }

    /// Says nothing because the provider's filter came first.
    pub fn blocked() -> Reply {
        Reply { ending: Ending::Blocked, ..Reply::text("") }
    }

    /// Calls these tools as well.
    #[must_use]
    pub fn with_calls<'n>(mut self, calls: impl IntoIterator<Item = (&'n str, Value)>) -> Reply {
        self.calls.extend(calls.into_iter().map(|(name, arguments)| ToolCall { name: name.to_owned(), arguments }));
        self
    }

    /// Ends because the limit of tokens was reached, and says so.
    #[must_use]
    pub fn cut_off(self) -> Reply {
        Reply { ending: Ending::CutOff, ..self }
    }

    /// Claims this usage. Otherwise a token is four bytes.
    #[must_use]
    pub fn usage(self, usage: Usage) -> Reply {
        Reply { usage: Some(usage), ..self }
    }

    pub(crate) fn said(&self, request: &Request) -> Said {
        let (text, calls) = match (&self.text, &request.must_call) {
            (Text::Given(text), _) => (text.clone(), self.calls.clone()),
            (Text::Fitting, Some(tool)) if self.calls.is_empty() => {
                let arguments = instance(&tool.parameters, request.seed());
                (String::new(), vec![ToolCall { name: tool.name.clone(), arguments }])
            }
            (Text::Fitting, _) => (fitting_text(request), self.calls.clone()),
        };
        let finish = match self.ending {
            Ending::Complete if calls.is_empty() => Finish::Stop,
            Ending::Complete => Finish::Calls,
            Ending::CutOff => Finish::Length,
            Ending::Refused => Finish::Refusal,
            Ending::Blocked => Finish::Blocked,
        };
        let usage = self.usage.unwrap_or_else(|| Usage::of(request, &text, &calls));
        Said { text, calls, finish, usage }
    }
}

impl Usage {
    /// A token is four bytes, and nothing is free.
    fn of(request: &Request, text: &str, calls: &[ToolCall]) -> Usage {
        let tokens = |bytes: usize| (bytes as u64).div_ceil(4).max(1);
        let asked: usize = request.conversation.iter().map(|(_, text)| text.len()).sum();
        let called: usize = calls.iter().map(|it| it.name.len() + it.arguments.to_string().len()).sum();
        Usage { input: tokens(asked), output: tokens(text.len() + called), cached: 0, reasoning: 0 }
    }
}

fn fitting_text(request: &Request) -> String {
    match &request.schema {
        Some(schema) => instance(schema, request.seed()).to_string(),
        None => format!("answer {:08x}", request.seed() >> 32),
    }
}

impl ToolCall {
    /// The arguments as text. What is no object is passed as it stands: models do that, and clients must cope.
    pub(crate) fn argument_text(&self) -> String {
        match &self.arguments {
            Value::String(text) => text.clone(),
            arguments => arguments.to_string(),
        }
    }

    /// The arguments where the wire format wants an object.
    pub(crate) fn argument_object(&self) -> Value {
        if self.arguments.is_object() { self.arguments.clone() } else { json!({}) }
    }
}
