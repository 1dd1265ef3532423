//! What every way of asking for embeddings has in common.
//!
//! The texts of a request are its messages, in their order. The reply is a text, too: a JSON list of vectors, with the numbers as the provider wrote
//! them, so that it is stored, found again and replayed like any other response.

use jurat_core::effect::{Endpoint, Finish, Message, ModelRequest, Served, Usage};
use jurat_format::value::Map;
use serde_json::value::RawValue;

use super::settings::Settings;
use super::{Failure, Reply, Unsupported};

/// The texts that are to be embedded, and what the author adds to the request. Anything else that could be asked of a model is refused.
pub(super) fn texts<'r>(
    endpoint: &'r Endpoint,
    request: &'r ModelRequest,
) -> Result<(Vec<&'r str>, Option<&'r Map<'static>>), Unsupported> {
    let Settings { temperature, top_p, max_tokens, seed, extra, reasoning, structured: _, .. } =
        Settings::of(endpoint)?;
    if reasoning.is_some() {
        return Err(Unsupported::new("an embedding has no `reasoning`; leave it out"));
    }
    let sampling = [("temperature", temperature), ("top_p", top_p), ("max_tokens", max_tokens), ("seed", seed)];
    if let Some((name, _)) = sampling.iter().find(|(_, it)| it.is_some()) {
        return Err(Unsupported(format!("an embedding has no `{name}`; leave it out")));
    }
    if request.output.is_some() || !request.tools.is_empty() {
        return Err(Unsupported::new("an embedding has no schema and no tools"));
    }
    let text = |it: &'r Message| match it {
        Message::User(text) => Ok(text.as_str()),
        _ => Err(Unsupported::new("only texts can be embedded, not conversations")),
    };
    Ok((request.messages.iter().map(text).collect::<Result<_, _>>()?, extra))
}

/// The reply that vectors are.
pub(super) fn reply(vectors: &[&RawValue], usage: Option<Usage>, model: Option<String>) -> Result<Reply, Failure> {
    if vectors.is_empty() {
        return Err(Failure::Garbled("the reply has no embeddings in it".to_owned()));
    }
    for vector in vectors {
        let numbers: Result<Vec<f64>, _> = serde_json::from_str(vector.get());
        numbers.map_err(|error| Failure::Garbled(format!("an embedding is no list of numbers: {error}")))?;
    }
    let text = serde_json::to_string(vectors).map_err(|error| Failure::Garbled(error.to_string()))?;
    let served = Served { model, ..Served::default() };
    Ok(Reply { text, finish: Finish::Stop, usage, served, ..Reply::default() })
}
