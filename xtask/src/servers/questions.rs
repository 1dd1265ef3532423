//! A question to each server: that it is the one we mean, that it answers, and that its key is what we think.

use serde_json::{Value, json};

use super::{Addresses, http};
use chores::chore::Failure;

/// One question and what its answer must have.
struct Question<'a> {
    server: &'a str,
    address: &'a str,
    model: &'a str,
    status: u16,
    /// What must be in the answer.
    at: &'a str,
}

pub(super) fn ask(addresses: &Addresses) -> Result<(), Failure> {
    let (llama, litellm) = (addresses.llama.as_str(), addresses.litellm.as_str());
    let text = "/choices/0/message/content";
    let questions = [
        Question { server: "llama", address: llama, model: "smollm2", status: 200, at: text },
        Question { server: "litellm", address: litellm, model: "mock-ok", status: 200, at: text },
        Question { server: "litellm", address: litellm, model: "mock-429", status: 429, at: "/error/message" },
        // All the way through the proxy to the weights.
        Question { server: "litellm", address: litellm, model: "to-upstream", status: 200, at: text },
    ];
    questions.iter().try_for_each(Question::ask)
}

impl Question<'_> {
    fn ask(&self) -> Result<(), Failure> {
        let about = format!("`{}` about model `{}`", self.server, self.model);
        let body = json!({
            "model": self.model,
            "messages": [{ "role": "user", "content": "What is the capital of France?" }],
            "max_tokens": 12,
            "temperature": 0,
        });
        let answer = http::post(port(self.address)?, "/v1/chat/completions", "sk-test", &body.to_string())
            .map_err(|error| Failure::new(format!("asking {about}: {error}")))?;
        let json: Value = serde_json::from_str(&answer.body).unwrap_or_default();
        let found = json.pointer(self.at).and_then(Value::as_str).map(str::trim).filter(|it| !it.is_empty());
        match found {
            Some(found) if answer.status == self.status => {
                eprintln!("{about}: {} {}", answer.status, found.lines().next().unwrap_or_default());
                Ok(())
            }
            _ => Err(Failure::new(format!(
                "asking {about}: expected status {} with `{}`, found status {} with {}",
                self.status, self.at, answer.status, answer.body
            ))),
        }
    }
}

fn port(address: &str) -> Result<u16, Failure> {
    let port = address.rsplit(':').next().and_then(|it| it.parse().ok());
    port.ok_or_else(|| Failure::new(format!("`{address}` has no port")))
}
