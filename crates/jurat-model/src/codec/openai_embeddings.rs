//! OpenAI's embeddings: `POST /embeddings`, which most other servers speak too.

use jurat_core::effect::{Endpoint, ModelRequest, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Entry, Failure, Reply, Unsupported, WireRequest, body, lenient, openai_chat, parsed, vectors};

pub(super) static ENTRY: Entry = Entry {
    name: "openai_embeddings",
    revision: 1,
    headers: openai_chat::HEADERS,
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
    })?;
    Ok(WireRequest::post("/embeddings".to_owned(), body))
}

fn decode(_: &Endpoint, body: &[u8]) -> Result<Reply, Failure> {
    let mut reply: Embeddings<'_> = parsed(body)?;
    // The interface says which text each belongs to, and promises no order.
    reply.data.sort_by_key(|it| it.index);
    let found: Vec<&RawValue> = reply.data.iter().map(|it| it.embedding).collect();
    let usage = reply.usage.0.map(|it| Usage { input: it.prompt_tokens.get(), ..Usage::default() });
    vectors::reply(&found, usage, reply.model.0)
}

#[derive(Deserialize)]
struct Embeddings<'d> {
    #[serde(borrow)]
    data: Vec<Embedding<'d>>,
    model: lenient::Text,
    usage: lenient::Object<UsageIn>,
}

#[derive(Deserialize)]
struct Embedding<'d> {
    #[serde(default)]
    index: u64,
    #[serde(borrow)]
    embedding: &'d RawValue,
}

#[derive(Deserialize)]
struct UsageIn {
    prompt_tokens: lenient::Count,
}
