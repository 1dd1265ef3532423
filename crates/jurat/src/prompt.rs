//! What is said to a model.

use std::path::{Path, PathBuf};

use jurat_format::value::Val;

/// What is said to a model: text with `${path}`, a Jinja template, a file that holds either, or the messages of a conversation. It is filled in from the case.
///
/// ```
/// use jurat::{ChatMessage, ChatPart, Judge, Prompt};
///
/// Judge::new("polite", "Is this polite? ${answer}");
/// Judge::new("accurate", Prompt::file("prompts/accurate.md"));
/// Judge::new("grounded", Prompt::jinja("{% for doc in docs %}{{ doc }}{% endfor %} {{ answer }}"));
/// Judge::new(
///     "described",
///     Prompt::messages([
///         ChatMessage::system("You look at pictures."),
///         ChatMessage::each("examples", [ChatMessage::user("${example.question}"), ChatMessage::assistant("${example.answer}")]),
///         ChatMessage::user_parts([ChatPart::image("${picture}"), ChatPart::text("Is it ${answer}?")]),
///     ]),
/// );
/// ```
#[derive(Debug, Clone)]
pub struct Prompt(Source);

#[derive(Debug, Clone)]
enum Source {
    Text(String),
    File(PathBuf),
    Jinja(String),
    Messages(Vec<ChatMessage>),
}

/// A message of a conversation, or several that are made of the items of a list.
#[derive(Debug, Clone)]
pub struct ChatMessage(Vec<(&'static str, Val<'static>)>);

/// A part of a message of the user.
#[derive(Debug, Clone)]
pub struct ChatPart(&'static str, Prompt);

impl ChatMessage {
    fn said(role: &'static str, content: Val<'static>) -> ChatMessage {
        ChatMessage(vec![("role", Val::from(role)), ("content", content)])
    }

    /// Instructions for the model.
    pub fn system(prompt: impl Into<Prompt>) -> ChatMessage {
        ChatMessage::said("system", prompt.into().value())
    }

    /// What the user says.
    pub fn user(prompt: impl Into<Prompt>) -> ChatMessage {
        ChatMessage::said("user", prompt.into().value())
    }

    /// What the user says and shows.
    pub fn user_parts(parts: impl IntoIterator<Item = ChatPart>) -> ChatMessage {
        ChatMessage::said("user", parts.into_iter().map(ChatPart::value).collect())
    }

    /// What the model said before.
    pub fn assistant(prompt: impl Into<Prompt>) -> ChatMessage {
        ChatMessage::said("assistant", prompt.into().value())
    }

    /// These messages for each item of a list of the case, which they see as `${example}`.
    pub fn each(path: impl Into<String>, messages: impl IntoIterator<Item = ChatMessage>) -> ChatMessage {
        let messages = messages.into_iter().map(ChatMessage::value).collect();
        ChatMessage(vec![("each", Val::from(path.into())), ("messages", messages)])
    }

    /// These messages for each row of a file (`.jsonl`, `.json` or `.yaml`), which they see as `${example}`.
    pub fn each_of_file(path: impl AsRef<Path>, messages: impl IntoIterator<Item = ChatMessage>) -> ChatMessage {
        let messages = messages.into_iter().map(ChatMessage::value).collect();
        ChatMessage(vec![("each", Prompt::file(path).value()), ("messages", messages)])
    }

    /// The messages that the row has at a path.
    pub fn from_row(path: impl Into<String>) -> ChatMessage {
        ChatMessage(vec![("from", Val::from(path.into()))])
    }

    fn value(self) -> Val<'static> {
        Val::Map(self.0.into_iter().collect())
    }
}

impl ChatPart {
    /// A text.
    pub fn text(prompt: impl Into<Prompt>) -> ChatPart {
        ChatPart("text", prompt.into())
    }

    /// An image: `${path}` of a value of the case, or a path beside the suite.
    pub fn image(source: impl Into<String>) -> ChatPart {
        ChatPart("image", source.into().into())
    }

    /// Audio: `${path}` of a value of the case, or a path beside the suite.
    pub fn audio(source: impl Into<String>) -> ChatPart {
        ChatPart("audio", source.into().into())
    }

    /// A PDF document: `${path}` of a value of the case, or a path beside the suite.
    pub fn pdf(source: impl Into<String>) -> ChatPart {
        ChatPart("pdf", source.into().into())
    }

    fn value(self) -> Val<'static> {
        Val::Map([(self.0, self.1.value())].into_iter().collect())
    }
}

impl Prompt {
    /// A prompt in a file. A relative path starts at the directory of the suite.
    pub fn file(path: impl AsRef<Path>) -> Prompt {
        Prompt(Source::File(path.as_ref().to_owned()))
    }

    /// A Jinja template. A name that a case does not supply makes that case an error.
    pub fn jinja(template: impl Into<String>) -> Prompt {
        Prompt(Source::Jinja(template.into()))
    }

    /// The messages of a conversation.
    pub fn messages(messages: impl IntoIterator<Item = ChatMessage>) -> Prompt {
        Prompt(Source::Messages(messages.into_iter().collect()))
    }

    pub(crate) fn value(self) -> Val<'static> {
        match self.0 {
            Source::Jinja(template) => Val::Map([("jinja", Val::from(template))].into_iter().collect()),
            Source::Messages(messages) => {
                let messages = messages.into_iter().map(ChatMessage::value).collect();
                Val::Map([("messages", messages)].into_iter().collect())
            }
            Source::Text(text) => Val::from(text),
            Source::File(path) => Val::Map([("file", Val::from(path.display().to_string()))].into_iter().collect()),
        }
    }
}

impl From<&str> for Prompt {
    fn from(text: &str) -> Prompt {
        Prompt(Source::Text(text.to_owned()))
    }
}

impl From<String> for Prompt {
    fn from(text: String) -> Prompt {
        Prompt(Source::Text(text))
    }
}
