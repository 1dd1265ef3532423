//! What providers say when something goes wrong.

use jurat_core::effect::{FaultClass, FaultKind};
use jurat_format::value::{Val, shown_within};
use serde::Deserialize;

use super::{ApiError, Received, retry_after};

/// The most bytes of a message that are shown.
const ROOM: usize = 500;

/// Reads the reply of a request that failed.
pub(super) fn read(received: &Received<'_>) -> ApiError {
    let error = found(received.body);
    let message = match error.as_ref().and_then(Error::message) {
        Some(message) => tidy(message),
        None => tidy(&lossy(received.body)),
    };
    let in_body = || error.as_ref().and_then(Error::retry_delay);
    let class = class_of(received.status, error.iter().flat_map(Error::words), &message);
    ApiError {
        status: received.status,
        class,
        message,
        retry_after: retry_after::read(received).or_else(in_body),
        is_final: is_final(class),
    }
}

/// Reads an error that came with a status of success, as some servers send it, or in the middle of a stream.
pub(super) fn in_success(body: &[u8]) -> Option<ApiError> {
    let error = found(body)?;
    let (status, message) = (error.status(), tidy(error.message()?));
    let class = class_of(status, error.words(), &message);
    Some(ApiError { status, class, message, retry_after: error.retry_delay(), is_final: is_final(class) })
}

/// The start of a body, for a message about it.
pub(super) fn start(body: &[u8]) -> String {
    shown_within(&Val::from(lossy(body)), 100)
}

/// The error that a word of a provider means.
pub(super) fn named(word: &str, message: &str) -> ApiError {
    let (status, message) = (status_of(word), tidy(message));
    let class = class_of(status, [word].into_iter(), &message);
    ApiError { status, class, message, retry_after: None, is_final: is_final(class) }
}

/// Every provider has `error` in its envelope, as an object or a text. `detail` and `message` are those of common gateways.
#[derive(Deserialize)]
struct Envelope {
    error: Option<Error>,
    detail: Option<Error>,
    message: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Error {
    Text(String),
    Object {
        message: Option<String>,
        #[serde(rename = "type")]
        kind: Option<String>,
        /// A number at Gemini, a word at OpenAI, either at gateways.
        code: Option<Code>,
        status: Option<Code>,
        #[serde(default)]
        details: Option<Vec<Detail>>,
    },
    Other(serde::de::IgnoredAny),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Code {
    Number(u16),
    Word(String),
    Other(serde::de::IgnoredAny),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Detail {
    Retry {
        #[serde(rename = "retryDelay")]
        retry_delay: String,
    },
    Other(serde::de::IgnoredAny),
}

impl Error {
    fn message(&self) -> Option<&str> {
        match self {
            Error::Text(text) => Some(text),
            Error::Object { message, kind, .. } => message.as_deref().or(kind.as_deref()),
            Error::Other(_) => None,
        }
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        let words = match self {
            Error::Object { kind, code, status, .. } => {
                [code.as_ref().and_then(Code::word), status.as_ref().and_then(Code::word), kind.as_deref()]
            }
            _ => [None; 3],
        };
        words.into_iter().flatten()
    }

    fn status(&self) -> u16 {
        let number = match self {
            Error::Object { code, status, .. } => [code, status].into_iter().flatten().find_map(|it| match it {
                Code::Number(number) => Some(*number),
                Code::Word(word) => word.parse().ok(),
                Code::Other(_) => None,
            }),
            _ => None,
        };
        match number {
            Some(status) if (400..600).contains(&status) => status,
            _ => self.words().map(status_of).find(|it| *it != 500).unwrap_or(500),
        }
    }

    /// Gemini says in the body how long to wait.
    fn retry_delay(&self) -> Option<std::time::Duration> {
        let Error::Object { details, .. } = self else { return None };
        details.iter().flatten().find_map(|it| match it {
            Detail::Retry { retry_delay } => retry_after::seconds(retry_delay.strip_suffix('s')?),
            Detail::Other(_) => None,
        })
    }
}

impl Code {
    fn word(&self) -> Option<&str> {
        match self {
            Code::Word(word) => Some(word),
            _ => None,
        }
    }
}

fn found(body: &[u8]) -> Option<Error> {
    // Gemini's streams put their error into a list.
    let envelope = match body.iter().find(|it| !it.is_ascii_whitespace()) {
        Some(b'[') => serde_json::from_slice::<Vec<Envelope>>(body).ok()?.into_iter().next()?,
        _ => serde_json::from_slice::<Envelope>(body).ok()?,
    };
    let with_message = |it: Option<Error>| it.filter(|it| it.message().is_some());
    with_message(envelope.error).or_else(|| with_message(envelope.detail)).or_else(|| envelope.message.map(Error::Text))
}

/// The status that a word for an error has when it comes as a status.
fn status_of(word: &str) -> u16 {
    match word {
        "invalid_request_error" | "INVALID_ARGUMENT" | "FAILED_PRECONDITION" | "invalid_prompt" => 400,
        "authentication_error" | "UNAUTHENTICATED" | "invalid_api_key" => 401,
        "billing_error" => 402,
        "permission_error" | "PERMISSION_DENIED" => 403,
        "not_found_error" | "NOT_FOUND" | "model_not_found" => 404,
        "request_too_large" => 413,
        "rate_limit_error" | "rate_limit_exceeded" | "insufficient_quota" | "RESOURCE_EXHAUSTED" => 429,
        "UNAVAILABLE" => 503,
        "timeout_error" | "DEADLINE_EXCEEDED" => 504,
        "overloaded_error" => 529,
        _ => 500,
    }
}

/// Money does not come back by asking again.
fn is_final(class: FaultClass) -> bool {
    class == FaultClass::ExhaustedQuota
}

/// The class of an error. A status means different things at different providers, so their words decide first.
fn class_of<'w>(status: u16, mut words: impl Iterator<Item = &'w str>, message: &str) -> FaultClass {
    words.find_map(class_of_word).or_else(|| class_of_message(status, message)).unwrap_or_else(|| by_status(status))
}

fn by_status(status: u16) -> FaultClass {
    FaultKind::Status(status).into()
}

fn class_of_word(word: &str) -> Option<FaultClass> {
    Some(match word {
        "invalid_api_key" | "authentication_error" | "permission_error" | "UNAUTHENTICATED" | "PERMISSION_DENIED" => {
            FaultClass::WrongKey
        }
        "model_not_found" | "invalid_model" | "not_found_error" | "NOT_FOUND" => FaultClass::UnknownModel,
        "insufficient_quota" | "billing_error" | "billing_not_active" | "insufficient_balance" => {
            FaultClass::ExhaustedQuota
        }
        _ => return None,
    })
}

/// Some providers have one status for many errors, and only their sentence says which one it is.
const SENTENCES: [(u16, &str, FaultClass); 10] = [
    (400, "api key not valid", FaultClass::WrongKey),
    (400, "api key expired", FaultClass::WrongKey),
    (400, "api key not found", FaultClass::WrongKey),
    (400, "credit balance is too low", FaultClass::ExhaustedQuota),
    (400, "model not exist", FaultClass::UnknownModel),
    (400, "not a valid model", FaultClass::UnknownModel),
    (400, "invalid model", FaultClass::UnknownModel),
    (400, "model identifier is invalid", FaultClass::UnknownModel),
    (429, "exceeded your current quota, please check your plan", FaultClass::ExhaustedQuota),
    // A moderation rejects one input, not the key.
    (403, "flagged", FaultClass::RejectedRequest),
];

/// How endpoints name what they were sent a schema in.
const SCHEMAS: [&str; 8] = [
    "response_format",
    "json_schema",
    "structured output",
    "output_config",
    "outputconfig",
    "textformat",
    "responsejsonschema",
    "response_schema",
];

fn class_of_message(status: u16, message: &str) -> Option<FaultClass> {
    let message = message.to_lowercase();
    if matches!(status, 400 | 422 | 501) && SCHEMAS.iter().any(|it| message.contains(it)) {
        return Some(FaultClass::RefusedSchema);
    }
    SENTENCES.iter().find(|(of, part, _)| *of == status && message.contains(part)).map(|(.., class)| *class)
}

/// As much of a body as a message may hold.
fn lossy(body: &[u8]) -> String {
    String::from_utf8_lossy(&body[..body.len().min(4 * ROOM)]).into_owned()
}

/// On one line, and not too long.
fn tidy(message: &str) -> String {
    let mut tidy = String::new();
    for (ix, word) in
        message.split(|it: char| it.is_whitespace() || it.is_control()).filter(|it| !it.is_empty()).enumerate()
    {
        if ix > 0 {
            tidy.push(' ');
        }
        tidy.push_str(word);
        if let Some((at, _)) = tidy.char_indices().nth(ROOM) {
            tidy.truncate(at);
            tidy.push('…');
            break;
        }
    }
    tidy
}
