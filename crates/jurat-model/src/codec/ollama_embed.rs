//! Ollama's own embeddings: `POST /api/embed`.

use jurat_core::effect::{Endpoint, ModelRequest, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Entry, Failure, Reply, Unsupported, WireRequest, body, lenient, ollama_chat, parsed, vectors};

pub(super) static ENTRY: Entry = Entry {
    name: "ollama_embed",
    revision: 1,
    headers: ollama_chat::HEADERS,
    encode: |endpoint, request, _| encode(endpoint, request),
    decode,
    pieces: None,
    embedding: Some(&ENTRY),
};

fn encode(endpoint: &Endpoint, request: &ModelRequest) -> Result<WireRequest, Unsupported> {
    let (texts, extra) = vectors::texts(endpoint, request)?;
    let body = body::write(extra, |body| {
        body.member("model", &endpoint.model);
        body.member("input", &texts);
        // Left out, a text that is too long would be cut without a word.
        body.member("truncate", &false);
    })?;
    Ok(WireRequest::post("/api/embed".to_owned(), body))
}

fn decode(_: &Endpoint, body: &[u8]) -> Result<Reply, Failure> {
    let reply: Embeddings<'_> = parsed(body)?;
    let usage = reply.prompt_eval_count.0.map(|input| Usage { input, ..Usage::default() });
    vectors::reply(&reply.embeddings, usage, reply.model.0)
}

#[derive(Deserialize)]
struct Embeddings<'d> {
    #[serde(borrow)]
    embeddings: Vec<&'d RawValue>,
    model: lenient::Text,
    prompt_eval_count: lenient::Count,
}
