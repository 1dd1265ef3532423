//! A request as the endpoint understood it.

use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_64;

use crate::wire::Wire;

#[derive(Debug, Clone)]
pub struct Request {
    /// 1 for the first request since the endpoint started.
    pub number: u64,
    /// How often this body was sent to this path, this time included.
    pub repeat: u64,
    /// The wire format it is written in.
    pub wire: Wire,
    /// The path with its query, as it was sent. A client that takes the endpoint for its proxy sends the whole address.
    pub path: String,
    /// Names in lower case, in the order in which they came.
    pub headers: Vec<(String, String)>,
    /// The body as it was sent.
    pub body: String,
    pub json: Value,
    /// The model that is asked.
    pub model: String,
    /// Everything said so far as (role, text): the system's words first, then the turns.
    pub conversation: Vec<(String, String)>,
    /// The text of the last turn of the user.
    pub prompt: String,
    /// The schema that the reply shall follow.
    pub schema: Option<Value>,
    /// The tools that may be called.
    pub tools: Vec<Tool>,
    /// The tool that must be called.
    pub must_call: Option<Tool>,
    /// Whether the reply is wanted in pieces.
    pub stream: bool,
}

/// A tool that a request offers.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// What it is called by.
    pub name: String,
    /// The schema of its arguments; `null` when the request gives none.
    pub parameters: Value,
}

impl Request {
    /// Returns a header by its lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }

    /// Returns the digest of path and body: two requests with the same digest ask the same.
    pub fn digest(&self) -> u64 {
        digest(&self.path, &self.body)
    }

    /// Returns a number that depends on what was said and on nothing else; the seed of the default reply.
    pub fn seed(&self) -> u64 {
        let said: Vec<String> = self.conversation.iter().map(|(role, text)| format!("{role}\n{text}\n")).collect();
        xxh3_64(said.concat().as_bytes())
    }

    /// As it came, without what was understood of it.
    pub(crate) fn to_json(&self) -> Value {
        let (number, repeat, path) = (self.number, self.repeat, &self.path);
        json!({ "number": number, "repeat": repeat, "path": path, "headers": self.headers, "body": self.body })
    }
}

pub(crate) fn digest(path: &str, body: &str) -> u64 {
    xxh3_64(format!("{path}\n{body}").as_bytes())
}
