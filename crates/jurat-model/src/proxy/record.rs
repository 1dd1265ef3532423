//! What passed.

use std::time::Duration;

use jurat_core::effect::Usage;

/// What passed through a proxy.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Record {
    /// Every request and its reply, in the order in which they came.
    pub exchanges: Vec<Exchange>,
    /// Requests to models that were passed on.
    pub n_requests: u64,
    /// All tokens that replies counted.
    pub usage: Usage,
    /// Replies that counted none.
    pub n_uncounted: u64,
    /// What all of it cost, in dollars, when the price is known.
    pub cost_usd: Option<f64>,
    /// The limit that was reached.
    pub spent: Option<Spent>,
    /// Requests that the provider failed at.
    pub n_failures: u64,
    /// What it failed at last, unless it answered afterwards.
    pub failure: Option<ProviderFailure>,
    /// Names that programs wanted to reach.
    pub tunnelled: Vec<Tunnelled>,
}

/// A request and its reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Exchange {
    /// When it came, in milliseconds since 1970.
    pub at_ms: u64,
    /// The method.
    pub method: String,
    /// The path, as the agent asked it, without a key.
    pub path: String,
    /// The model that it named.
    pub requested_model: Option<String>,
    /// What was asked, as the agent wrote it.
    pub request: Body,
    /// The status of the reply. None when there was none.
    pub status: Option<u16>,
    /// What was answered.
    pub reply: Body,
    /// The tokens that it counted.
    pub usage: Option<Usage>,
    /// What was wrong with it, in words.
    pub error: Option<String>,
    /// How long all of it took.
    pub duration: Duration,
}

/// A body, up to what is written down. Keys are not in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Body {
    /// Its beginning, as text.
    pub text: String,
    /// How many bytes all of it had.
    pub n_bytes: u64,
}

/// A limit that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spent {
    /// Of requests.
    Requests,
    /// Of tokens.
    Tokens,
    /// Of dollars.
    Usd,
    /// The budget of everybody together.
    Budget,
}

impl Spent {
    /// Its name.
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
