//! Writing a run artifact. What is not known is left out; what is written reads back the same.

use jurat_format::value::{Map, Val, Value};

use super::{Event, Happening, OutputArtifact, RunArtifact, RunFault, SCHEMA_VERSION, Tokens};

impl RunArtifact {
    /// The artifact as a document.
    pub fn to_value(&self) -> Value {
        let mut whole = Members::default();
        let identity = &self.identity;
        let mut block = Members::default();
        block.put("schema_version", Some(Val::from(SCHEMA_VERSION)));
        block.put("run_id", text(&identity.run_id));
        block.put("case_id", text(&identity.case_id));
        block.put("suite_id", text(&identity.suite_id));
        block.put("run_profile_id", text(&identity.run_profile_id));
        block.put("runner_type", text(&identity.runner_type));
        whole.block("identity", block);
        whole.put("status", Some(Val::from(self.status.name())));
        let mut block = Members::default();
        block.put("queued_at", some_text(self.timing.queued_at.as_ref()));
        block.put("started_at", some_text(self.timing.started_at.as_ref()));
        block.put("completed_at", some_text(self.timing.completed_at.as_ref()));
        block.put("duration_seconds", self.timing.duration_seconds.map(Val::F));
        whole.block("timing", block);
        let mut block = Members::default();
        block.put("requested_model", text(&self.request.requested_model));
        block.put("gateway", some_text(self.request.gateway.as_ref()));
        block.put("execution_parameters", filled(&self.request.execution_parameters));
        block.put("metadata", filled(&self.request.metadata));
        whole.block("request", block);
        whole.block("provider", self.provider());
        let mut block = Members::default();
        block.block("normalized", tokens(&self.usage.normalized));
        block.put("cost_usd", self.usage.cost_usd.map(Val::F));
        block.put("raw_provider_usage", self.usage.raw_provider_usage.clone());
        whole.block("usage", block);
        whole.put("trace", Some(self.trace.iter().enumerate().map(|(ix, it)| event(ix, it)).collect()));
        whole.put("output_artifacts", Some(self.output_artifacts.iter().map(OutputArtifact::to_value).collect()));
        whole.put("error", self.error.as_ref().map(fault));
        whole.put("runner_metadata", filled(&self.runner_metadata));
        Val::Map(whole.0)
    }

    fn provider(&self) -> Members {
        let provider = &self.provider;
        let mut block = Members::default();
        block.put("gateway", some_text(provider.gateway.as_ref()));
        block.put("provider_name", some_text(provider.provider_name.as_ref()));
        block.put("provider_model_id", some_text(provider.provider_model_id.as_ref()));
        block.put("request_id", some_text(provider.request_id.as_ref()));
        block.put("response_id", some_text(provider.response_id.as_ref()));
        block.put("finish_reason", some_text(provider.finish_reason.as_ref()));
        block.put("native_finish_reason", some_text(provider.native_finish_reason.as_ref()));
        block.put("metadata", provider.metadata.clone());
        block
    }
}

impl OutputArtifact {
    /// The reference as a document.
    pub fn to_value(&self) -> Value {
        let mut block = Members::default();
        block.put("artifact_id", text(&self.artifact_id));
        block.put("artifact_type", text(&self.artifact_type));
        block.put("uri", text(&self.uri));
        block.put("media_type", some_text(self.media_type.as_ref()));
        block.put("byte_size", self.byte_size.map(Val::from));
        block.put("sha256", some_text(self.sha256.as_ref()));
        block.put("metadata", self.metadata.clone());
        Val::Map(block.0)
    }
}

/// An object in progress.
#[derive(Default)]
struct Members(Map<'static>);

impl Members {
    fn put(&mut self, key: &'static str, value: Option<Value>) {
        if let Some(value) = value {
            self.0.insert(key.into(), value);
        }
    }

    /// A block that says nothing is left out.
    fn block(&mut self, key: &'static str, block: Members) {
        self.put(key, (!block.0.is_empty()).then_some(Val::Map(block.0)));
    }
}

fn text(text: &str) -> Option<Value> {
    Some(Val::from(text.to_owned()))
}

fn some_text(text: Option<&String>) -> Option<Value> {
    text.map(|it| Val::from(it.clone()))
}

/// An object that says something.
fn filled(value: &Value) -> Option<Value> {
    value.as_map().is_some_and(|it| !it.is_empty()).then(|| value.clone())
}

/// A value that says something.
fn said(value: &Value) -> Option<Value> {
    (*value != Val::Null).then(|| value.clone())
}

fn tokens(tokens: &Tokens) -> Members {
    let Tokens { input, output, total, reasoning, cached_input, cache_write } = *tokens;
    let counts = [input, output, total, reasoning, cached_input, cache_write];
    let mut block = Members::default();
    for (name, count) in Tokens::NAMES.into_iter().zip(counts) {
        block.put(name, count.map(Val::from));
    }
    block
}

fn event(ix: usize, event: &Event) -> Value {
    let mut block = Members::default();
    block.put("sequence", Some(Val::from(ix as u64)));
    block.put("timestamp", some_text(event.timestamp.as_ref()));
    block.put("event_type", Some(Val::from(event.what.name())));
    match &event.what {
        Happening::Message { role, content, name } => {
            block.put("role", text(role));
            block.put("content", said(content));
            block.put("name", some_text(name.as_ref()));
        }
        Happening::ToolCall { call_id, tool_name, raw_arguments, parsed_arguments } => {
            block.put("call_id", some_text(call_id.as_ref()));
            block.put("tool_name", text(tool_name));
            block.put("raw_arguments", said(raw_arguments));
            block.put("parsed_arguments", parsed_arguments.clone());
        }
        Happening::ToolResult { call_id, is_error, output } => {
            block.put("call_id", some_text(call_id.as_ref()));
            block.put("status", is_error.map(|it| Val::from(if it { "error" } else { "success" })));
            block.put("output", said(output));
        }
        Happening::Runner { name, detail } => {
            block.put("name", text(name));
            block.put("detail", said(detail));
        }
        Happening::FinalOutput { content } => block.put("content", some_text(content.as_ref())),
    }
    block.put("metadata", event.metadata.clone());
    Val::Map(block.0)
}

fn fault(fault: &RunFault) -> Value {
    let mut block = Members::default();
    block.put("code", text(&fault.code));
    block.put("message", text(&fault.message));
    block.put("error_type", some_text(fault.error_type.as_ref()));
    block.put("retryable", fault.retryable.map(Val::Bool));
    block.put("provider_code", some_text(fault.provider_code.as_ref()));
    block.put("metadata", fault.metadata.clone());
    Val::Map(block.0)
}
