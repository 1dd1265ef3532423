//! Against programs that others wrote: LiteLLM, which speaks four wire formats, llama.cpp with real weights, and servers with tools.
//!
//! `cargo xtask test` starts them and says where they are: `JURAT_TEST_LITELLM`, `JURAT_TEST_LLAMA` and `JURAT_TEST_MCP` are addresses without a
//! path, and `JURAT_TEST_MCP_PROGRAMS` is the folder of servers that are programs.
//! What is tested is the wire, never the wit of the model: its weights are small.

mod litellm;
mod llama;
#[path = "../it/settings.rs"]
mod settings;
mod tools;

use std::path::Path;
use std::time::Duration;

use jurat_core::effect::{Message, ModelRequest, Outcome};
use jurat_format::source::{Files, ReadError};
use jurat_format::value::{Value, parse_json};
use jurat_model::provider::describe;
use jurat_model::{Asker, Backoff, Model, Transport, TransportOptions, Unmetered};

/// The address of a server.
fn address(variable: &str) -> String {
    match std::env::var(variable) {
        Ok(address) if !address.is_empty() => address,
        _ => panic!("`{variable}` is not set: these tests need real servers, which `cargo xtask test` starts"),
    }
}

struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &Path, _: u64) -> Result<Vec<u8>, ReadError> {
        Err(ReadError::NotFound)
    }
}

/// A model at an address, with further settings as members of JSON.
fn model(spec: &str, url: &str, settings: &str) -> Model {
    let settings = settings::settings(&format!(r#"{{"base_url": "{url}", "api_key_env": "KEY"{settings}}}"#));
    let env = |name: &str| (name == "KEY").then(|| "sk-test".to_owned());
    let resolved = describe(spec, &settings, &env).expect("the model can be resolved");
    Model::open(resolved, Path::new(""), &NoFiles, &env).expect("the model can be opened")
}

fn question(text: &str) -> ModelRequest {
    ModelRequest::new("judge", vec![Message::User(text.to_owned())])
}

fn value(text: &str) -> Value {
    parse_json(text).expect("it is JSON").value.into_owned()
}

/// Asks with two requests at most.
fn ask(model: &Model, request: &ModelRequest, stream: bool) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    let transport = Transport::new(TransportOptions {
        backoff: Backoff { base: Duration::from_millis(1), cap: Duration::from_millis(1) },
        stream,
        ..TransportOptions::default()
    });
    runtime.block_on(transport.ask(
        model,
        Asker { case: "c", task: "t", turn: None, priority: 0 },
        request,
        2,
        &Unmetered,
    ))
}

/// The answer, which there must be.
#[track_caller]
fn answer(outcome: Outcome) -> jurat_core::effect::Answer {
    match outcome {
        Outcome::Answer(answer) => *answer,
        other => panic!("no answer: {other:?}"),
    }
}

/// The fault, which there must be: its kind and how many requests were made, and its words.
#[track_caller]
fn fault(outcome: Outcome) -> (String, String) {
    match outcome {
        Outcome::Fault(fault) => (format!("{} after {}", fault.kind.name(), fault.n_requests), fault.message),
        other => panic!("no fault: {other:?}"),
    }
}
