//! What a request asks for, by its path.
//!
//! Agents put different things before what they ask: `/v1`, `/v1beta`, nothing. What stands at the end says what it is.

use http::Method;
use jurat_core::agent::Wire;

use crate::codec::Codec;

/// Something that a request to a model asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// `/chat/completions`
    Chat,
    /// `/responses`
    Responses,
    /// `/messages`
    Messages,
    /// `/messages/count_tokens`
    CountMessages,
    /// `/models/MODEL:generateContent`, whole or streamed.
    Generate {
        /// The model that the path names.
        model: String,
        /// Whether the reply is wanted in pieces.
        is_streamed: bool,
    },
    /// `/models/MODEL:countTokens`
    CountGenerate {
        /// The model that the path names.
        model: String,
    },
    /// `/models`, which lists them.
    Models,
}

impl Operation {
    /// What a request asks for. None when it is nothing that this proxy passes on.
    pub(super) fn read(method: &Method, path: &str) -> Option<Operation> {
        let path = path.trim_end_matches('/');
        let ends_with = |it: &str| path.ends_with(it);
        if *method == Method::GET {
            return ends_with("/models").then_some(Operation::Models);
        }
        if *method != Method::POST {
            return None;
        }
        if let Some((_, rest)) = path.rsplit_once("/models/")
            && let Some((model, verb)) = rest.rsplit_once(':')
        {
            let model = model.to_owned();
            return match verb {
                "generateContent" => Some(Operation::Generate { model, is_streamed: false }),
                "streamGenerateContent" => Some(Operation::Generate { model, is_streamed: true }),
                "countTokens" => Some(Operation::CountGenerate { model }),
                _ => None,
            };
        }
        match () {
            () if ends_with("/chat/completions") => Some(Operation::Chat),
            () if ends_with("/responses") => Some(Operation::Responses),
            () if ends_with("/messages/count_tokens") => Some(Operation::CountMessages),
            () if ends_with("/messages") => Some(Operation::Messages),
            () => None,
        }
    }

    /// The form that the request and its reply have.
    pub fn format(&self) -> Option<Wire> {
        match self {
            Operation::Chat => Some(Wire::OpenAiChat),
            Operation::Responses => Some(Wire::OpenAiResponses),
            Operation::Messages | Operation::CountMessages => Some(Wire::Anthropic),
            Operation::Generate { .. } | Operation::CountGenerate { .. } => Some(Wire::Gemini),
            Operation::Models => None,
        }
    }

    /// The codec that reads its reply.
    pub fn codec(&self) -> Option<Codec> {
        self.format().map(Codec::of)
    }

    /// Whether a model answers, so that it counts.
    pub fn is_asking(&self) -> bool {
        matches!(self, Operation::Chat | Operation::Responses | Operation::Messages | Operation::Generate { .. })
    }

    /// The model that the path names.
    pub(super) fn model(&self) -> Option<&str> {
        match self {
            Operation::Generate { model, .. } | Operation::CountGenerate { model } => Some(model),
            _ => None,
        }
    }

    /// The path at a server that speaks `codec` below `base`. What is its own is asked as its codec asks it; other forms are looked for at the version that
    /// servers of several forms have them under.
    pub(super) fn path_at(&self, codec: Codec, base: &str, model: Option<&str>) -> String {
        let (version, rest) = match self {
            Operation::Chat => ("/v1", "/chat/completions".to_owned()),
            Operation::Responses => ("/v1", "/responses".to_owned()),
            Operation::Messages => ("/v1", "/messages".to_owned()),
            Operation::CountMessages => ("/v1", "/messages/count_tokens".to_owned()),
            Operation::Models => ("/v1", "/models".to_owned()),
            Operation::Generate { model: named, is_streamed } => {
                let verb = if *is_streamed { "streamGenerateContent" } else { "generateContent" };
                ("/v1beta", format!("/models/{}:{verb}", model.unwrap_or(named)))
            }
            Operation::CountGenerate { model: named } => {
                ("/v1beta", format!("/models/{}:countTokens", model.unwrap_or(named)))
            }
        };
        let last = base.rsplit('/').next().unwrap_or("");
        let has_version = last.strip_prefix('v').is_some_and(|it| it.starts_with(|it: char| it.is_ascii_digit()));
        let is_openai = [Codec::OPENAI_CHAT, Codec::OPENAI_RESPONSES].contains(&codec);
        let is_own_openai = is_openai && matches!(self, Operation::Chat | Operation::Responses | Operation::Models);
        let version = if has_version || is_own_openai { "" } else { version };
        format!("{base}{version}{rest}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn asked(path: &str, operation: Option<Operation>) {
        assert_eq!(Operation::read(&Method::POST, path), operation, "{path}");
    }

    #[test]
    fn the_end_of_a_path_says_what_it_is() {
        asked("/v1/chat/completions", Some(Operation::Chat));
        asked("/chat/completions", Some(Operation::Chat));
        asked("/openai/v1/responses/", Some(Operation::Responses));
        asked("/v1/messages", Some(Operation::Messages));
        asked("/v1/messages/count_tokens", Some(Operation::CountMessages));
        let model = "gemini-2.5-pro".to_owned();
        asked(
            "/v1beta/models/gemini-2.5-pro:streamGenerateContent",
            Some(Operation::Generate { model, is_streamed: true }),
        );
        asked("/v1/files", None);
        asked("/v1beta/models/x:tune", None);
        asked("/v1/responses/resp_1/cancel", None);
        assert_eq!(Operation::read(&Method::GET, "/v1/models"), Some(Operation::Models));
        assert_eq!(Operation::read(&Method::DELETE, "/v1/models"), None);
        assert_eq!(Operation::read(&Method::GET, "/v1/files"), None);
    }

    #[test]
    fn each_form_has_its_place_at_each_server() {
        let place = |operation: &Operation, codec, base| operation.path_at(codec, base, Some("m"));
        let generate = Operation::Generate { model: "other".to_owned(), is_streamed: false };
        assert_eq!(place(&Operation::Chat, Codec::OPENAI_CHAT, "/v1"), "/v1/chat/completions");
        assert_eq!(place(&Operation::Chat, Codec::OPENAI_CHAT, "/openai"), "/openai/chat/completions");
        assert_eq!(place(&Operation::Chat, Codec::named("ollama_chat").expect("a codec"), ""), "/v1/chat/completions");
        assert_eq!(place(&Operation::Messages, Codec::ANTHROPIC_MESSAGES, ""), "/v1/messages");
        assert_eq!(place(&Operation::Messages, Codec::OPENAI_CHAT, "/api/v1"), "/api/v1/messages");
        assert_eq!(place(&Operation::Models, Codec::ANTHROPIC_MESSAGES, ""), "/v1/models");
        assert_eq!(place(&generate, Codec::GEMINI_GENERATE, ""), "/v1beta/models/m:generateContent");
    }
}
