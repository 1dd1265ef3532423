//! Who is asked.

use jurat_format::value::Value;

/// Who is asked, with everything that decides what is sent. Nothing in it is secret: keys and headers from the environment are
/// named, not held.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Endpoint {
    /// How requests are written: `openai_chat`, `anthropic_messages`, `script`, …
    pub codec: String,
    /// The revision of that way of writing. It goes up whenever equal requests are sent as other bytes than before.
    pub codec_revision: u32,
    /// Where it is: a base URL, a command, or nothing for a script.
    pub address: String,
    /// The model, as the endpoint knows it.
    pub model: String,
    /// Settings that go into each request, in the author's order: `temperature`, `max_tokens`, `extra`, …
    pub settings: Vec<(String, Value)>,
    /// Further headers, as they were written: `${NAME}` stands for a variable of the environment.
    pub headers: Vec<(String, String)>,
    /// Whether the journal of a team has its responses, where the author says so. It is no part of keys: the responses are the same.
    pub shared: Option<bool>,
}

impl Endpoint {
    /// A setting by its name.
    pub fn setting(&self, name: &str) -> Option<&Value> {
        self.settings.iter().find(|(it, _)| it == name).map(|(_, value)| value)
    }
}
