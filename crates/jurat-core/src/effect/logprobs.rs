//! How likely the tokens of a reply were, where its provider says.

use jurat_format::value::{Map, Val, Value};

/// The tokens of a reply in their order, each with its probability and those of others in its place.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Logprobs(pub Vec<TokenLogprob>);

/// A token that a model wrote.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenLogprob {
    pub token: Candidate,
    /// The most likely tokens in its place, as far as they were asked for; the one that was written may be among them.
    pub top: Vec<Candidate>,
}

/// A token that may stand in a place.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// What it spells. A letter may be divided between tokens, so this need not be text.
    pub bytes: Vec<u8>,
    /// The natural logarithm of its probability.
    pub logprob: f64,
}

/// The most alternatives that any provider gives for a token.
pub const MOST_LOGPROBS: u32 = 20;

/// That a reply lacks what is computed from.
pub const NO_LOGPROBS: &str =
    "the reply has no logprobs, although they were asked for; this endpoint, or this model of it, does not have them";

impl Candidate {
    pub fn new(text: &str, logprob: f64) -> Candidate {
        Candidate { bytes: text.as_bytes().to_vec(), logprob }
    }

    pub fn probability(&self) -> f64 {
        self.logprob.exp().min(1.0)
    }

    /// Its text; what is no text is shown as far as it can be.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    fn members(&self) -> impl Iterator<Item = (&'static str, Value)> {
        let bytes = std::str::from_utf8(&self.bytes).is_err();
        let bytes = bytes.then(|| ("bytes", self.bytes.iter().map(|it| Val::from(u64::from(*it))).collect()));
        [("token", Val::from(self.text())), ("logprob", Val::F(self.logprob))].into_iter().chain(bytes)
    }

    fn from_value(value: &Val<'_>) -> Option<Candidate> {
        let bytes = match value.get("bytes") {
            None => value.get("token")?.as_str()?.as_bytes().to_vec(),
            Some(bytes) => bytes.as_list()?.iter().map(byte).collect::<Option<_>>()?,
        };
        Some(Candidate { bytes, logprob: value.get("logprob")?.as_f64().filter(|it| !it.is_nan() && *it <= 0.0)? })
    }
}

fn byte(value: &Val<'_>) -> Option<u8> {
    if let Val::I(number) = value { u8::try_from(*number).ok() } else { None }
}

impl TokenLogprob {
    fn to_value(&self) -> Value {
        let top: Value = self.top.iter().map(|it| Val::Map(it.members().collect::<Map<'static>>())).collect();
        let top = (!self.top.is_empty()).then_some(("top", top));
        Val::Map(self.token.members().chain(top).collect::<Map<'static>>())
    }

    fn from_value(value: &Val<'_>) -> Option<TokenLogprob> {
        let top = value.get("top").map_or(Some(&[][..]), Val::as_list)?;
        let top = top.iter().map(Candidate::from_value).collect::<Option<_>>()?;
        Some(TokenLogprob { token: Candidate::from_value(value)?, top })
    }
}

impl Logprobs {
    /// A list of `{token, logprob, top: [{token, logprob}]}`: the form in which they are stored, judged and written in scripts.
    pub fn to_value(&self) -> Value {
        self.0.iter().map(TokenLogprob::to_value).collect()
    }

    /// Reads a list of [`Logprobs::to_value`]; `None` when it is none.
    ///
    /// ```
    /// use jurat_core::effect::Logprobs;
    /// use jurat_format::value::parse_json;
    ///
    /// let json = r#"[{"token": "4", "logprob": -0.25, "top": [{"token": "4", "logprob": -0.25}]}]"#;
    /// let value = parse_json(json)?.value;
    /// let logprobs = Logprobs::from_value(&value).expect("they are a list of tokens");
    /// assert_eq!(logprobs.to_value(), value.into_owned());
    /// # Ok::<(), jurat_format::value::JsonError>(())
    /// ```
    pub fn from_value(value: &Val<'_>) -> Option<Logprobs> {
        value.as_list()?.iter().map(TokenLogprob::from_value).collect::<Option<_>>().map(Logprobs)
    }

    /// What the tokens spell.
    pub fn text(&self) -> String {
        let bytes: Vec<u8> = self.0.iter().flat_map(|it| &it.token.bytes).copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The mean of the logarithms: how sure the model was of its words, whatever their number.
    pub fn mean(&self) -> Option<f64> {
        let sum: f64 = self.0.iter().map(|it| it.token.logprob).sum();
        (!self.0.is_empty()).then(|| sum / self.0.len() as f64)
    }
}
