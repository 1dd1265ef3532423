//! `call/NAME`: a function of the program that runs a suite, asked like a model.
//!
//! A definition only names it: the program supplies it when it runs the suite. What it answers is recorded like any other answer, so
//! a replay does not need it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use jurat_core::effect::{FaultKind, ModelRequest};

use crate::codec::Reply;
use crate::model::{Kind, Model, max_tokens};
use crate::provider::{Local, ResolvedModel};
use crate::transport::{Asker, Failed};

pub(crate) static PROVIDER: Local = Local {
    name: "call",
    doc: "a function of a Rust program: [below](#functions)",
    example: "NAME",
    revision: 1,
    is_address: false,
};

/// What a function says, or why it says nothing, in words.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Result<Reply, String>> + Send + 'a>>;

/// A function of the program, asked like a model.
pub trait Function: Send + Sync {
    /// Answers. An error is a fault of the model: what asked it cannot be judged. Dropping the future gives up.
    fn answer<'a>(&'a self, asker: Asker<'a>, request: &'a ModelRequest) -> Answering<'a>;

    /// Whether its answers depend on the order in which it is asked.
    fn is_sequential(&self) -> bool {
        false
    }
}

impl Model {
    /// A model whose replies a function returns.
    pub fn call(resolved: ResolvedModel, function: Arc<dyn Function>) -> Model {
        let ResolvedModel { endpoint, price, rpm, tpm, timeout, .. } = resolved;
        let lane = *blake3::hash(format!("{}/{}", PROVIDER.name, endpoint.model).as_bytes()).as_bytes();
        let max_tokens = max_tokens(&endpoint);
        Model {
            endpoint,
            price,
            rpm,
            tpm,
            max_tokens,
            timeout,
            key_env: None,
            batch: None,
            lane,
            kind: Kind::Function(Called(function)),
        }
    }
}

/// A function that is called.
pub(crate) struct Called(Arc<dyn Function>);

impl Called {
    pub(crate) async fn attempt(&self, asker: Asker<'_>, request: &ModelRequest) -> Result<Reply, Failed> {
        self.0.answer(asker, request).await.map_err(|it| Failed::new(FaultKind::NoAnswer, it))
    }

    pub(crate) fn is_sequential(&self) -> bool {
        self.0.is_sequential()
    }
}

impl fmt::Debug for Called {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Called")
    }
}
