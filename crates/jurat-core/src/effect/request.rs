//! Requests, and what a model is asked.

use jurat_format::value::Value;

use super::{Action, Media, Messages, Part, Parts, Reasoning, Role, Schema};

/// What a case needs from outside. It has one [key](Request::key), and one rule of [reuse](Request::reuse).
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// A model is asked.
    Model(Box<ModelRequest>),
    Action(Box<Action>),
}

impl Request {
    /// One word for its kind, as it is stored.
    pub fn kind(&self) -> &'static str {
        match self {
            Request::Model(_) => "model",
            Request::Action(action) => action.kind(),
        }
    }

    /// Whether another request asks the same. Roles may have other names.
    pub fn is_same(&self, other: &Request) -> bool {
        match (self, other) {
            (Request::Model(request), Request::Model(other)) => {
                let ModelRequest {
                    model: _,
                    messages,
                    output,
                    tools,
                    tool_choice,
                    repeat,
                    row,
                    logprobs,
                    prompt_cache: _,
                } = &**request;
                other.messages == *messages
                    && other.output == *output
                    && other.tools == *tools
                    && other.tool_choice == *tool_choice
                    && other.repeat == *repeat
                    && other.row == *row
                    && other.logprobs == *logprobs
            }
            (Request::Action(action), Request::Action(other)) => action == other,
            (Request::Model(_), Request::Action(_)) | (Request::Action(_), Request::Model(_)) => false,
        }
    }
}

impl From<ModelRequest> for Request {
    fn from(request: ModelRequest) -> Request {
        Request::Model(Box::new(request))
    }
}

impl From<Action> for Request {
    fn from(action: Action) -> Request {
        Request::Action(Box::new(action))
    }
}

/// A question to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    pub model: Role,
    pub messages: Messages,
    /// The JSON Schema that the answer must have.
    pub output: Option<Schema>,
    /// The tools that the model may call.
    pub tools: Vec<Tool>,
    /// Whether it must call one.
    pub tool_choice: ToolChoice,
    /// Which repetition of the same question this is: answers to equal questions are distinguished by it.
    pub repeat: u32,
    /// What an application is sent of the row beside the messages; null for anything else.
    pub row: Value,
    /// How many of the most likely tokens the reply is to have for each of its own, with their probabilities; the setting of the endpoint comes first.
    pub logprobs: Option<u32>,
    /// The places of messages that the provider may cache to. What a request is answered does not depend on it, so it is no part of its key.
    pub prompt_cache: Vec<u32>,
}

impl ModelRequest {
    /// A conversation, and nothing else.
    pub fn new(model: impl Into<Role>, messages: impl Into<Messages>) -> ModelRequest {
        let (model, messages) = (model.into(), messages.into());
        ModelRequest {
            model,
            messages,
            output: None,
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            repeat: 0,
            row: Value::Null,
            logprobs: None,
            prompt_cache: Vec::new(),
        }
    }
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// The instructions of the model.
    System(String),
    /// What is asked.
    User(String),
    /// What is asked, with images, audio or documents.
    Parts(Parts),
    /// What the model said before.
    Assistant {
        text: String,
        tool_calls: Vec<ToolCall>,
        /// What it thought, where its provider wants that back.
        reasoning: Option<Box<Reasoning>>,
    },
    /// What a tool returned.
    Tool {
        /// The call that it answers.
        call_id: String,
        name: String,
        /// Its words, with a note in brackets for everything else.
        text: String,
        /// What it returned beside words, as far as models can be shown it.
        media: Vec<Media>,
        is_error: bool,
    },
}

impl Message {
    /// What the model said, when it called no tool.
    pub fn assistant(text: impl Into<String>) -> Message {
        Message::Assistant { text: text.into(), tool_calls: Vec::new(), reasoning: None }
    }

    /// What the user says, in parts. A message of text alone is [`Message::User`].
    pub fn of_parts(parts: Vec<Part>) -> Message {
        let is_text = parts.iter().all(|it| matches!(it, Part::Text(_)));
        let parts = Parts::new(parts);
        if is_text { Message::User(parts.texts().collect::<Vec<_>>().join("\n")) } else { Message::Parts(parts) }
    }

    /// The images, audio and documents of the message.
    pub fn media(&self) -> impl Iterator<Item = &Media> {
        let (parts, returned) = match self {
            Message::Parts(parts) => (Some(parts), [].as_slice()),
            Message::Tool { media, .. } => (None, media.as_slice()),
            Message::System(_) | Message::User(_) | Message::Assistant { .. } => (None, [].as_slice()),
        };
        parts.into_iter().flat_map(Parts::media).chain(returned)
    }

    /// Its words; where it has more than words, a note in brackets stands for that.
    pub fn text(&self) -> &str {
        match self {
            Message::System(text)
            | Message::User(text)
            | Message::Assistant { text, .. }
            | Message::Tool { text, .. } => text,
            Message::Parts(parts) => parts.words(),
        }
    }

    /// Who says it, in one word.
    pub fn role(&self) -> &'static str {
        match self {
            Message::System(_) => "system",
            Message::User(_) | Message::Parts(_) => "user",
            Message::Assistant { .. } => "assistant",
            Message::Tool { .. } => "tool",
        }
    }
}

/// A call of a tool that a model asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// What the model calls it, so that its result can be assigned; made up where a provider has none.
    pub id: String,
    pub name: String,
    /// What it is called with. Text that is not JSON stays text.
    pub arguments: Value,
}

/// A tool that the subject called itself, as it reports.
#[derive(Debug, Clone, PartialEq)]
pub struct UsedTool {
    pub call: ToolCall,
    /// What it returned, when that is known.
    pub output: Option<String>,
    pub is_error: bool,
}

/// A tool that a model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    pub name: String,
    pub description: Option<String>,
    /// The JSON Schema of its arguments.
    pub parameters: Value,
}

/// Whether a model must call a tool.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ToolChoice {
    /// As it likes.
    #[default]
    Auto,
    /// It must not.
    None,
    /// It must call one.
    Required,
    /// It must call this one.
    Named(String),
}
