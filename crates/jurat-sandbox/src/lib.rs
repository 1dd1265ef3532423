//! Running code that authors wrote: Python with the interpreter of their choice, JavaScript and TypeScript with one that is built in.
//!
//! The code runs in processes that have given up all privileges before they receive it. It is never run by the process that asks.
//!
//! * [`Source`] is what there is to run, [`Limits`] and [`Isolation`] how;
//! * [`CodeRunner`] runs it, and [`Pool`] implements it: a number of hardened processes, each of which serves one source only;
//! * [`Return`] and [`Failure`] are what comes of a call. A value travels as JSON text with tags for what JSON loses ([`tags`]);
//! * [`Layer`] is a kind of protection; those that were in force are reported with every prepared source;
//! * [`typescript`] reads TypeScript without running it: its signature, and the JavaScript that is left of it;
//! * [`jail`] runs programs of others, agents among them, in a sandbox;
//! * [`worker`] is the inside of such a process. A program that makes a pool of itself calls [`worker::main`] first thing.
//!
//! What is deliberately not here: what a returned value means. That is the business of the core.

mod frame;
mod interpreter;
pub mod jail;
mod layer;
mod named;
mod orders;
mod pending;
mod pool;
mod process;
mod returned;
mod round;
mod runner;
mod signature;
mod source;
pub mod tags;
mod tail;
pub mod typescript;
pub mod worker;

pub use interpreter::{Interpreters, look_for_interpreter};
pub use layer::{InForce, Layer, missing_layers};
pub use pending::Pending;
pub use pool::{Pool, PoolOptions, Program};
pub use returned::{Failure, Output, Return};
pub use runner::{Arguments, CodeRunner, Prepared, Refused};
pub use signature::{Parameter, Passing, Signature};
pub use source::{Isolation, Language, Limits, Source};
