//! A proxy between an agent and its model, which writes down what passes.
//!
//! The agent gets an address on its loopback and a key that opens nothing. Here its requests get the real key and go where the suite says; replies pass as they come,
//! and what they cost is counted. When a limit is reached, requests are refused in the words of the provider's interface. What passed is in the [`Record`].
//!
//! * [`Proxy`] listens, on a unix socket or on this machine's loopback, until it is finished;
//! * [`ProxyOptions`] say what answers ([`Upstream`]), how much may be asked ([`ProxyLimits`]) and spent ([`SharedMeter`]), and which names programs may reach beside the model ([`Names`]);
//! * [`Record`] has every [`Exchange`], the sum of tokens, what was refused, and what the provider failed at.
//!
//! * [`ToolServers`] are servers with tools that the agent finds beside its model.
//!
//! A model that is not asked over HTTP, a script for example, is asked in the agent's place: requests of all forms are understood, and answered in the form in which they came.
//!
//! Only what asks models is passed on: the key is worth more than that, and an agent must not have more of it.

mod events;
mod members;
mod names;
mod operation;
mod options;
mod record;
mod refusal;
mod scrubber;
mod serve;
mod spending;
mod tap;
mod tools;
mod translation;
mod tunnel;
mod upstream;

pub use names::Names;
pub use operation::Operation;
pub use options::{Answer, Asked, Given, Listen, OnBehalf, OnSpent, ProxyLimits, ProxyOptions, Upstream, random_key};
pub use record::{Body, Exchange, ProviderFailure, Record, Spent, Tunnelled};
pub use serve::{Proxy, ProxyError};
pub use spending::SharedMeter;
pub use tools::{PATH as TOOLS_PATH, ToolRequest, ToolServers, ToolWork};
