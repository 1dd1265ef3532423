//! A model endpoint for tests: on loopback, scripted, failing as its script says, counting everything.
//!
//! It speaks the wire formats of the providers ([`Wire`]), each whole and streamed. What it answers is a [`Script`]: a
//! default reply, rules for when something else happens, how long it takes. What happened is in its [`Stats`].
//!
//! ```
//! use jurat_testkit::{Endpoint, Fault, Reply, Script, When};
//!
//! let script = Script::new()
//!     .fault(When::FirstOfEach(1), Fault::status(503))
//!     .reply_if(|request| request.prompt.contains("capital"), Reply::text("Paris"));
//! let endpoint = Endpoint::start(script);
//!
//! // A client would now ask `endpoint.url()`; here no client does.
//! assert!(endpoint.url().starts_with("http://127.0.0.1:"));
//! assert_eq!(endpoint.stats().requests, 0);
//! ```
//!
//! A request that asks for JSON by a schema gets an [`instance`] of the schema unless the script says otherwise, and one
//! that must call a tool calls it. Both depend on the text of the conversation and on nothing else, so the same question
//! gets the same answer in every run and in every wire format.
//!
//! Two ways to run it: [`Endpoint`] in the process of the test, and [`Process`], the program `jurat-endpoint`, for tests
//! that kill it. What the program saw survives in its [log](read_log).
//!
//! No test has to sleep: [`Endpoint::wait_until`] waits for counts, and a [held](Script::held) script holds its answers back
//! until [`Endpoint::release`] lets them go. A client that takes it for its proxy is served too, and the request shows the
//! address that was meant.
//!
//! Requests may come in batches as well, as OpenAI and Anthropic take them ([`BatchScript`]): each is answered by the same script.
//!
//! [`tools`] is a server with tools, for tests of what calls them.
//!
//! It is no model and no provider's twin: it checks that a request has what the provider insists on, and beyond that
//! takes what it is given.

mod batch;
mod delivery;
mod endpoint;
mod fault;
mod http;
mod instance;
mod log;
mod port;
mod process;
mod reply;
mod request;
mod script;
mod stats;
pub mod tools;
mod wire;

pub use batch::{BatchFault, BatchScript};
pub use endpoint::Endpoint;
pub use fault::{Fault, RetryAfter};
pub use instance::instance;
pub use log::{Event, LogLine, read_log};
pub use port::reserved_port;
pub use process::Process;
pub use reply::{Reply, ToolCall, Usage};
pub use request::{Request, Tool};
pub use script::{Answer, Script, When};
pub use stats::Stats;
pub use wire::Wire;
