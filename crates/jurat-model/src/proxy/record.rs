//! What passed.

use std::time::Duration;

use jurat_core::effect::{FaultClass, Finish, Usage};

/// What passed through a proxy.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Record {
    /// Every request and its reply, in the order in which they came.
    pub exchanges: Vec<Exchange>,
    /// Requests to models that were passed on.
    pub n_requests: u64,
    /// All tokens that replies counted.
    pub usage: Usage,
    pub n_uncounted: u64,
    /// What all of it cost, in dollars, when the price is known.
    pub cost_usd: Option<f64>,
    /// The limit that was reached.
    pub spent: Option<Spent>,
    /// Requests that were refused because of it.
    pub n_refused: u64,
    /// Names that programs wanted to reach.
    pub tunnelled: Vec<Tunnelled>,
}

impl Record {
    /// The words of a refusal (perhaps none), when the last reply that the agent got was one.
    pub fn refusal(&self) -> Option<&str> {
        self.last()?.refusal.as_deref()
    }

    /// What the provider failed at last, unless it answered a later request.
    pub fn failure(&self) -> Option<&ProviderFailure> {
        self.last()?.failure.as_ref()
    }

    /// The last request that a model answered or the provider failed at.
    ///
    /// Agents also ask for titles and summaries, without tools. Where any request offers tools, only those that do are looked at, so that such a
    /// request neither hides a refusal or a failure nor counts as one.
    fn last(&self) -> Option<&Exchange> {
        let ended = || self.exchanges.iter().filter(|it| it.finish.is_some() || it.failure.is_some());
        let has_tools = ended().any(|it| it.offers_tools);
        ended().rfind(|it| it.offers_tools == has_tools)
    }

    /// The last request that the agent closed before a response came. One after which the endpoint still answered others was not given up on because of
    /// the endpoint: agents also drop requests that they no longer need.
    pub fn unanswered(&self) -> Option<&Exchange> {
        let has_tools = self.exchanges.iter().any(|it| it.offers_tools);
        let last = self.exchanges.iter().rfind(|it| it.is_unanswered && it.offers_tools == has_tools)?;
        let ended_ms = |it: &Exchange| it.at_ms + u64::try_from(it.duration.as_millis()).unwrap_or(u64::MAX / 2);
        let is_answered_later = self.exchanges.iter().any(|it| it.finish.is_some() && ended_ms(it) >= last.at_ms);
        (!is_answered_later).then_some(last)
    }

    /// The number of requests that the provider failed at.
    pub fn n_failures(&self) -> u64 {
        self.exchanges.iter().filter(|it| it.failure.is_some()).count() as u64
    }

    /// The number of replies that were cut off at `max_tokens`.
    pub fn n_truncated(&self) -> u64 {
        self.exchanges.iter().filter(|it| it.finish == Some(Finish::Length)).count() as u64
    }

    /// The number of replies that were refusals.
    pub fn n_refusals(&self) -> u64 {
        self.exchanges.iter().filter(|it| it.refusal.is_some()).count() as u64
    }
}

/// A request and its reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Exchange {
    /// When it came, in milliseconds since 1970.
    pub at_ms: u64,
    pub method: String,
    /// The path, as the agent asked it, without a key.
    pub path: String,
    /// The model that it named.
    pub requested_model: Option<String>,
    /// Whether it offered tools to the model.
    pub offers_tools: bool,
    /// What was asked, as the agent wrote it.
    pub request: Body,
    /// The status of the reply. None when there was none.
    pub status: Option<u16>,
    pub reply: Body,
    /// The tokens that it counted.
    pub usage: Option<Usage>,
    /// Why the model stopped; `None` where no reply of a model was read.
    pub finish: Option<Finish>,
    /// The words of a refusal, when it was one. A filter of a provider gives none.
    pub refusal: Option<String>,
    /// What was wrong with it, in words.
    pub error: Option<String>,
    /// What the provider failed at. That a request is wrong is the agent's own doing.
    pub failure: Option<ProviderFailure>,
    /// Whether the agent closed it before anything of a response came.
    pub is_unanswered: bool,
    /// How long all of it took.
    pub duration: Duration,
}

/// A body, up to what is written down. Keys are not in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Body {
    pub text: String,
    /// How many bytes all of it had.
    pub n_bytes: u64,
}

/// A limit that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spent {
    Requests,
    Tokens,
    /// Of dollars.
    Usd,
    /// The budget of all cases together.
    Budget,
}

impl Spent {
    pub fn name(self) -> &'static str {
        match self {
            Spent::Requests => "requests",
            Spent::Tokens => "tokens",
            Spent::Usd => "cost",
            Spent::Budget => "budget",
        }
    }
}

/// What a provider failed at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderFailure {
    /// The status, when there was a reply.
    pub status: Option<u16>,
    /// What it means for further requests.
    pub class: FaultClass,
    /// What went wrong, in words, without keys.
    pub message: String,
}

/// A name that a program wanted to reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tunnelled {
    /// The name and the port.
    pub authority: String,
    /// Whether it was allowed to.
    pub is_allowed: bool,
}
