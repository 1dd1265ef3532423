//! Servers with tools: the client side of the Model Context Protocol.
//!
//! A [`Toolbox`] has the servers of a suite. It opens one at the first request to it, over standard input and output of a program, over
//! streamable HTTP or over a stream of events, and gives what the core's [`Action`](jurat_core::effect::Action)s return: an [`Outcome`](jurat_core::effect::Outcome), with
//! a fault in words when a server cannot be asked.
//!
//! * [`toolbox`]: which servers there are, which of them are open, and which cases share them;
//! * [`server`]: a definition with its variables filled in;
//! * [`session`]: an open server, and what it is asked; [`resource`]: its resources, as tools;
//! * [`program`], [`http`] and [`sse`]: the ways to talk to one; [`oauth`]: tokens for those over HTTP;
//! * [`verbatim`]: what servers wrote, word for word; [`content`]: that as values; [`tail`]: the last of what a program complained about.
//!
//! The protocol itself is `rmcp`'s. None of its types leaves this folder.

mod content;
mod http;
mod oauth;
mod program;
mod queue;
mod resource;
mod server;
mod session;
mod sse;
mod tail;
mod toolbox;
mod verbatim;

pub use server::ToolboxError;
pub use session::Identity;
pub use toolbox::{Toolbox, ToolboxOptions};
