//! How likely the tokens of a reply were, as OpenAI's interfaces and those that follow them say it.

use jurat_core::effect::{Candidate, Endpoint, Logprobs, ModelRequest, TokenLogprob};
use jurat_format::value::Val;
use serde::Deserialize;

use super::Unsupported;

/// How many tokens in the place of each are asked for: as the endpoint is set, else as the request says.
pub(super) fn wanted(endpoint: &Endpoint, request: &ModelRequest) -> Option<u32> {
    let set = endpoint
        .setting("logprobs")
        .and_then(|it| if let Val::I(count) = it { u32::try_from(*count).ok() } else { None });
    set.or(request.logprobs)
}

/// Refuses them, for a provider that has none.
pub(super) fn none(endpoint: &Endpoint, request: &ModelRequest, provider: &str) -> Result<(), Unsupported> {
    match wanted(endpoint, request) {
        None => Ok(()),
        Some(_) => Err(Unsupported(format!(
            "{provider} has no `logprobs`; OpenAI, Gemini, Ollama, llama.cpp and vLLM have them"
        ))),
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct TokenIn {
    token: Option<String>,
    bytes: Option<Vec<u8>>,
    logprob: Option<f64>,
    top_logprobs: Option<Vec<CandidateIn>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct CandidateIn {
    token: Option<String>,
    bytes: Option<Vec<u8>>,
    #[serde(alias = "logProbability")]
    logprob: Option<f64>,
}

impl CandidateIn {
    /// What has no probability, or spells nothing, is none.
    pub(super) fn read(self) -> Option<Candidate> {
        // Servers round: a token that is certain may be a little more than that.
        let logprob = self.logprob.filter(|it| it.is_finite())?.min(0.0);
        let bytes = self.bytes.or_else(|| Some(self.token?.into_bytes()))?;
        Some(Candidate { bytes, logprob })
    }
}

/// Adds tokens to those that came before. One without a probability leaves a gap, which is found where the text is spelled.
pub(super) fn add(all: &mut Vec<TokenLogprob>, tokens: impl IntoIterator<Item = TokenIn>) {
    let token = |it: TokenIn| {
        let TokenIn { token, bytes, logprob, top_logprobs } = it;
        let top = top_logprobs.into_iter().flatten().filter_map(CandidateIn::read).collect();
        Some(TokenLogprob { token: CandidateIn { token, bytes, logprob }.read()?, top })
    };
    all.extend(tokens.into_iter().filter_map(token));
}

/// The tokens of a reply, if there are any.
pub(super) fn all(tokens: Vec<TokenLogprob>) -> Option<Box<Logprobs>> {
    (!tokens.is_empty()).then(|| Box::new(Logprobs(tokens)))
}
