//! Gemini's embeddings: `POST /v1beta/models/MODEL:batchEmbedContents`.
//!
//! A request holds one request for each text, and what the author adds (`taskType`, `outputDimensionality`) goes into each of them. Tokens are not
//! counted there.

use jurat_core::effect::{Endpoint, ModelRequest};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Entry, Failure, Reply, Unsupported, WireRequest, body, gemini_generate, parsed, vectors};

pub(super) static ENTRY: Entry = Entry {
    name: "gemini_embed",
    revision: 1,
    headers: gemini_generate::HEADERS,
    encode: |endpoint, request, _| encode(endpoint, request),
    decode,
    pieces: None,
    embedding: Some(&ENTRY),
};

fn encode(endpoint: &Endpoint, request: &ModelRequest) -> Result<WireRequest, Unsupported> {
    let (texts, extra) = vectors::texts(endpoint, request)?;
    let model = format!("models/{}", endpoint.model);
    let mut requests = Vec::with_capacity(texts.len());
    for text in texts {
        let one = body::write(extra, |body| {
            body.member("model", &model);
            body.object("content", |content| content.list("parts", [text], |part, it| part.member("text", it)));
        })?;
        let one = String::from_utf8(one).ok().and_then(|it| RawValue::from_string(it).ok());
        requests.push(one.expect("what was written is JSON"));
    }
    let body = body::write(None, |body| body.member("requests", &requests))?;
    let path = format!("/v1beta/models/{}:batchEmbedContents", gemini_generate::in_path(&endpoint.model));
    Ok(WireRequest::post(path, body))
}

fn decode(_: &Endpoint, body: &[u8]) -> Result<Reply, Failure> {
    let reply: Embeddings<'_> = parsed(body)?;
    let found: Vec<&RawValue> = reply.embeddings.iter().map(|it| it.values).collect();
    vectors::reply(&found, None, None)
}

#[derive(Deserialize)]
struct Embeddings<'d> {
    #[serde(borrow)]
    embeddings: Vec<Embedding<'d>>,
}

#[derive(Deserialize)]
struct Embedding<'d> {
    #[serde(borrow)]
    values: &'d RawValue,
}
