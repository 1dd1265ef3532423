//! Talking to models: the only crate that knows how providers are spoken to.
//!
//! * [`provider`] turns `provider/model` and its settings into an endpoint, purely;
//! * [`codec`] has the ways to write requests and to read replies, purely;
//! * [`Model`] is one that can be asked: over HTTP, a [`script`] of answers, a program, or a [`Function`];
//! * [`Transport`] asks: limits, retries, time-outs, budgets, connections; [`Batches`] gathers what may wait and sends it together;
//! * [`proxy`] stands between an agent and its model, and writes down what passes;
//! * [`tool`] asks servers for their tools and calls them;
//! * [`price`] knows what tokens cost, and [`dotenv`] reads `.env` files.

mod child;
pub mod codec;
pub mod dotenv;
mod exec;
mod function;
mod key;
mod model;
mod preset;
pub mod price;
pub mod provider;
pub mod proxy;
pub mod script;
pub mod tool;
mod transport;

pub use child::Supervisor;
pub use exec::ExecError;
pub use function::{Answering, Function};
pub use model::{Model, OpenError};
pub use price::Price;
pub use provider::{ResolveError, ResolvedModel};
pub use tool::{Toolbox, ToolboxError, ToolboxOptions};
pub use transport::{
    Asker, Backoff, BatchOptions, BatchProgress, Batches, Bound, Deferred, Meter, Proxies, Reservation, Settled,
    Transport, TransportOptions, Turn, Unmetered, trusted_tls,
};
