//! Asking models in tests: everything that knows the interface of the crate.

use std::path::Path;
use std::time::Duration;

use jurat_core::effect::{Message, ModelRequest, Outcome};
use jurat_format::source::{Files, ReadError};
use jurat_model::provider::describe;
use jurat_model::{Asker, Backoff, Model, Transport, TransportOptions, Unmetered};

/// The providers that the endpoint of the tests speaks.
pub(crate) const PROVIDERS: [&str; 5] = ["openai", "openai-responses", "anthropic", "gemini", "ollama"];

/// The key that every provider gets.
pub(crate) const KEY: &str = "sk-0123456789abcdef";

/// A model at an address, with settings as JSON.
pub(crate) fn model_with(spec: &str, settings: &str, env: &dyn Fn(&str) -> Option<String>) -> Model {
    opened(spec, settings, &NoFiles, env)
}

/// A model of a provider at an endpoint of the tests.
pub(crate) fn model(provider: &str, url: &str) -> Model {
    let settings = format!(r#"{{"base_url": "{url}", "max_tokens": 100, "api_key_env": "KEY"}}"#);
    model_with(&format!("{provider}/m"), &settings, &|name| (name == "KEY").then(|| KEY.to_owned()))
}

/// A script of these lines.
pub(crate) fn script(lines: &str) -> Model {
    script_with(lines, "{}")
}

/// A script with settings as JSON.
pub(crate) fn script_with(lines: &str, settings: &str) -> Model {
    named_script("replies.jsonl", lines, settings)
}

/// A script of a name.
pub(crate) fn named_script(file: &str, lines: &str, settings: &str) -> Model {
    opened(&format!("script/{file}"), settings, &OneFile(lines.to_owned()), &|_| None)
}

fn opened(spec: &str, settings: &str, files: &dyn Files, env: &dyn Fn(&str) -> Option<String>) -> Model {
    let resolved = describe(spec, &crate::settings::settings(settings), env).expect("the model can be resolved");
    Model::open(resolved, Path::new(""), files, env).expect("the model can be opened")
}

pub(crate) struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &Path, _: u64) -> Result<Vec<u8>, ReadError> {
        Err(ReadError::NotFound)
    }
}

struct OneFile(String);

impl Files for OneFile {
    fn read(&self, _: &Path, _: u64) -> Result<Vec<u8>, ReadError> {
        Ok(self.0.clone().into_bytes())
    }
}

/// A transport whose waits are short.
pub(crate) fn options() -> TransportOptions {
    TransportOptions {
        concurrency: 8,
        request_timeout: Duration::from_secs(60),
        backoff: Backoff { base: Duration::from_millis(1), cap: Duration::from_millis(5) },
        now_ms: || 1_800_000_000_000,
        ..TransportOptions::default()
    }
}

pub(crate) fn question(text: &str) -> ModelRequest {
    ModelRequest::new("judge", vec![Message::User(text.to_owned())])
}

/// Asks with four requests at most.
pub(crate) async fn ask(transport: &Transport, model: &Model, request: &ModelRequest) -> Outcome {
    transport.ask(model, Asker { case: "c1", task: "t1", turn: None, priority: 0 }, request, 4, &Unmetered).await
}

/// An outcome on a line.
pub(crate) fn shown(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Answer(answer) => {
            let calls: Vec<String> =
                answer.tool_calls.iter().map(|it| format!(" {}({})", it.name, it.arguments)).collect();
            format!("{}: {}{} after {}", answer.finish.name(), answer.text, calls.concat(), answer.n_requests)
        }
        Outcome::Fault(fault) => format!("{} after {}: {}", fault.kind.name(), fault.n_requests, fault.message),
        Outcome::Returned(returned) => format!("returned {}", returned.value),
        Outcome::Ran(ran) => format!("ran {}", ran.document),
        Outcome::NotRun(reason) => format!("not run: {}", reason.name()),
    }
}

/// Runs a future with a clock and sockets.
pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    runtime.block_on(future)
}

/// Runs a future whose clock advances only when nothing else happens.
pub(crate) fn run_paused<T>(future: impl Future<Output = T>) -> T {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().start_paused(true).build().expect("a runtime starts").block_on(future)
}

/// Waits for something that another thread does.
pub(crate) async fn until(is_so: impl Fn() -> bool) {
    for _ in 0..60_000 {
        if is_so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    panic!("what was waited for did not happen");
}
