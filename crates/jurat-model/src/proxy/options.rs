//! How a proxy is made.

use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::{Names, Operation, SharedMeter, Spent, ToolServers};
use crate::Model;
use crate::codec::Codec;
use crate::price::Price;
use crate::transport::Proxies;

/// How a proxy is made.
#[derive(Debug)]
pub struct ProxyOptions {
    pub upstream: Upstream,
    /// The key that requests must have; without it every request is answered. For ports that other users of the machine can reach.
    pub key: Option<String>,
    /// How much may be asked.
    pub limits: ProxyLimits,
    /// What all cases together may spend. Requests wait for room in it, and end when there is none.
    pub meter: Option<SharedMeter>,
    /// What tokens cost; without it the price of the model.
    pub price: Option<Price>,
    /// For whom models are asked that are not asked over HTTP.
    pub on_behalf: OnBehalf,
    /// Names that programs may reach beside the model.
    pub names: Names,
    /// Whether requests name the model themselves. Otherwise all of them go to the model of the suite, whichever they name: agents like to ask small models
    /// for small things.
    pub keeps_model: bool,
    /// How much of each request and each reply is written down, in bytes.
    pub recorded_bytes: usize,
    /// How long the beginning of a reply may take.
    pub timeout: Duration,
    /// How long a connection may take to be opened.
    pub connect_timeout: Duration,
    /// The proxies of this machine.
    pub proxies: Proxies,
    /// The time, in milliseconds since 1970.
    pub now_ms: fn() -> u64,
    /// The servers with tools that the agent may use.
    pub tools: Option<ToolServers>,
    /// Called for every request that is refused because a limit has been reached: an agent that ignores that may have to be ended.
    pub on_spent: Option<OnSpent>,
}

impl ProxyOptions {
    /// A proxy to a model, with the usual settings and without limits.
    pub fn to(upstream: Upstream) -> ProxyOptions {
        ProxyOptions {
            upstream,
            key: None,
            limits: ProxyLimits::default(),
            meter: None,
            price: None,
            on_behalf: OnBehalf::default(),
            names: Names::default(),
            keeps_model: false,
            recorded_bytes: 1 << 20,
            timeout: Duration::from_secs(600),
            connect_timeout: Duration::from_secs(30),
            proxies: Proxies::default(),
            now_ms: || 0,
            tools: None,
            on_spent: None,
        }
    }
}

/// A key for one proxy that no other user of the machine can guess.
pub fn random_key() -> String {
    // A keyed hash with a key from the system: what it makes of numbers cannot be foretold without that key.
    let state = RandomState::new();
    let words = (0..4_u64).map(|it| format!("{:016x}", state.hash_one(it)));
    format!("jurat-has-the-key-{}", words.collect::<String>())
}

/// For whom a model is asked, as scripts match it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OnBehalf {
    pub case: String,
    pub task: String,
    /// The role of the model.
    pub role: String,
}

/// What is called when a limit has been reached: with the limit, and with the number of requests refused so far.
pub struct OnSpent(pub Box<dyn Fn(Spent, u64) + Send + Sync>);

impl fmt::Debug for OnSpent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnSpent")
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listen {
    /// On a unix socket, which is made.
    Unix(PathBuf),
    /// On a free port of 127.0.0.1.
    Loopback,
}

/// How much may be asked. A limit that is reached holds for every request after it; those in flight are finished.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ProxyLimits {
    pub requests: Option<u64>,
    pub tokens: Option<u64>,
    /// Dollars. Without a price nothing is known to cost anything.
    pub usd: Option<f64>,
}

/// What answers.
#[derive(Clone)]
pub enum Upstream {
    /// A model. One that is not asked over HTTP is asked in the agent's place.
    Model(Arc<Model>),
    /// This program.
    Answer(Arc<dyn Answer>),
    /// There is no model: there are only names to reach.
    NoModel,
}

impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Upstream::Model(model) => f.debug_tuple("Model").field(model).finish(),
            Upstream::Answer(_) => f.write_str("Answer"),
            Upstream::NoModel => f.write_str("NoModel"),
        }
    }
}

/// The part of this program that answers requests.
pub trait Answer: Send + Sync {
    /// Answers a request in the form in which it was made.
    fn answer(&self, asked: &Asked) -> Given;
}

impl<F: Fn(&Asked) -> Given + Send + Sync> Answer for F {
    fn answer(&self, asked: &Asked) -> Given {
        self(asked)
    }
}

/// A request, as an agent made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    pub operation: Operation,
    /// Whether the reply is wanted in pieces.
    pub is_streamed: bool,
    pub body: Bytes,
}

impl Asked {
    /// The form that the request and its reply have.
    pub fn codec(&self) -> Option<Codec> {
        self.operation.codec()
    }
}

/// A reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    pub status: u16,
    pub content_type: String,
    pub body: Bytes,
}

impl Given {
    pub fn json(text: impl Into<String>) -> Given {
        Given { status: 200, content_type: "application/json".to_owned(), body: Bytes::from(text.into()) }
    }

    /// A reply in pieces, as server-sent events.
    pub fn events(text: impl Into<String>) -> Given {
        Given { status: 200, content_type: "text/event-stream".to_owned(), body: Bytes::from(text.into()) }
    }
}
