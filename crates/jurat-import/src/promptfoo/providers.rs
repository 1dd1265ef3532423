//! Providers of promptfoo as models of jurat.

use jurat_format::value::{Val, Value};

use super::application;
use crate::document::{Object, beginning, members, text};
use crate::report::Report;
use crate::secret::is_secret;

/// A prefix of provider ids, and what answers behind it here.
struct Vendor {
    prefix: &'static str,
    provider: &'static str,
    base_url: Option<&'static str>,
    api_key_env: Option<&'static str>,
    /// What differs.
    difference: Option<&'static str>,
    /// What promptfoo sends where the configuration says nothing.
    usual: Usual,
    /// The members of `config` that promptfoo sends beside those that jurat has settings for.
    sent: &'static Sent,
}

/// What promptfoo sends where the configuration says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Usual {
    /// Nothing.
    Nothing,
    /// `temperature: 0` and `max_tokens: 1024`, unless the model reasons.
    OpenAi,
    /// `max_output_tokens: 1024`, unless the model reasons. Some versions also send `temperature: 0`.
    Responses,
    /// Something that depends on the model or on the version of promptfoo.
    Unknown,
}

/// Members of `config`, and where in a request they stand.
struct Sent {
    members: &'static [&'static str],
    /// The object that holds some more, and those.
    inner: (&'static str, &'static [&'static str]),
}

const NONE: (&str, &[&str]) = ("", &[]);

static SENT_BY_OPENAI: Sent = Sent {
    members: &[
        "stop",
        "presence_penalty",
        "frequency_penalty",
        "reasoning_effort",
        "reasoning",
        "verbosity",
        "user",
        "metadata",
        "store",
        "service_tier",
        "safety_identifier",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "modalities",
        "audio",
        "tool_resources",
    ],
    inner: NONE,
};

static SENT_BY_RESPONSES: Sent = Sent {
    members: &[
        "instructions",
        "truncation",
        "metadata",
        "parallel_tool_calls",
        "store",
        "background",
        "webhook_url",
        "user",
        "previous_response_id",
        "reasoning",
        "service_tier",
        "max_tool_calls",
    ],
    inner: NONE,
};

static SENT_BY_ANTHROPIC: Sent = Sent {
    members: &["thinking", "top_k", "stop_sequences", "cache_control", "service_tier", "metadata"],
    inner: ("output_config", &["effort"]),
};

static SENT_BY_GEMINI: Sent = Sent {
    members: &["safetySettings", "toolConfig"],
    inner: ("generationConfig", &["topK", "stopSequences", "candidateCount"]),
};

static SENT_BY_OLLAMA: Sent = Sent {
    members: &["think", "keep_alive"],
    inner: (
        "options",
        &[
            "top_k",
            "min_p",
            "num_ctx",
            "num_gpu",
            "num_thread",
            "repeat_penalty",
            "repeat_last_n",
            "mirostat",
            "mirostat_eta",
            "mirostat_tau",
            "stop",
        ],
    ),
};

static SENT_BY_NO_PROVIDER: Sent = Sent { members: &[], inner: NONE };

impl Vendor {
    const fn native(prefix: &'static str, provider: &'static str, usual: Usual, sent: &'static Sent) -> Vendor {
        Vendor { prefix, provider, base_url: None, api_key_env: None, difference: None, usual, sent }
    }

    /// One that has a name of its own here, and speaks as OpenAI does.
    const fn named(prefix: &'static str, provider: &'static str) -> Vendor {
        Vendor::native(prefix, provider, Usual::Unknown, &SENT_BY_OPENAI)
    }

    /// One that speaks as OpenAI does, at an address of its own.
    const fn like_openai(prefix: &'static str, base_url: &'static str, api_key_env: &'static str) -> Vendor {
        let (base_url, api_key_env) = (Some(base_url), Some(api_key_env));
        Vendor { base_url, api_key_env, ..Vendor::named(prefix, "openai") }
    }

    /// What promptfoo asks in another way.
    const fn but(self, difference: &'static str) -> Vendor {
        Vendor { difference: Some(difference), ..self }
    }
}

const COMPLETION: &str = "promptfoo sends plain text to the completion endpoint; jurat sends a chat with one message";
const INVOKED: &str = "promptfoo asks `InvokeModel` with settings of each family of models; jurat asks Converse";

/// The known prefixes; longer ones before those that they begin with.
static VENDORS: &[Vendor] = &[
    Vendor::native("openai:chat:", "openai", Usual::OpenAi, &SENT_BY_OPENAI),
    Vendor::native("openai:responses:", "openai-responses", Usual::Responses, &SENT_BY_RESPONSES),
    Vendor::native("anthropic:messages:", "anthropic", Usual::Unknown, &SENT_BY_ANTHROPIC),
    Vendor::native("google:", "gemini", Usual::Nothing, &SENT_BY_GEMINI),
    Vendor::native("vertex:claude", "vertex-anthropic", Usual::Unknown, &SENT_BY_ANTHROPIC),
    Vendor::native("vertex:gemini", "vertex", Usual::Nothing, &SENT_BY_GEMINI),
    Vendor::native("ollama:chat:", "ollama", Usual::Nothing, &SENT_BY_OLLAMA),
    Vendor::native("ollama:completion:", "ollama", Usual::Nothing, &SENT_BY_OLLAMA).but(COMPLETION),
    Vendor::native("ollama:", "ollama", Usual::Nothing, &SENT_BY_OLLAMA).but(COMPLETION),
    Vendor::native("openai:", "openai", Usual::OpenAi, &SENT_BY_OPENAI),
    Vendor::native("anthropic:", "anthropic", Usual::Unknown, &SENT_BY_ANTHROPIC),
    Vendor::native("bedrock:converse:", "bedrock", Usual::Unknown, &SENT_BY_NO_PROVIDER),
    Vendor::native("bedrock:", "bedrock", Usual::Unknown, &SENT_BY_NO_PROVIDER).but(INVOKED),
    Vendor::named("azureopenai:chat:", "azure"),
    Vendor::named("azure:chat:", "azure"),
    Vendor::named("openrouter:", "openrouter"),
    Vendor::named("groq:", "groq"),
    Vendor::named("mistral:", "mistral"),
    Vendor::named("deepseek:", "deepseek"),
    Vendor::named("togetherai:", "together"),
    Vendor::named("xai:", "xai"),
    Vendor::like_openai("perplexity:", "https://api.perplexity.ai", "PERPLEXITY_API_KEY"),
    Vendor::named("cerebras:", "cerebras"),
    Vendor::named("fireworks:", "fireworks"),
    Vendor::named("huggingface:chat:", "huggingface"),
    Vendor::named("litellm:chat:", "litellm"),
    Vendor::named("litellm:", "litellm"),
    Vendor::named("vllm:", "vllm"),
    Vendor::named("lmstudio:chat:", "lmstudio"),
    Vendor::named("lmstudio:", "lmstudio"),
    Vendor::named("llama.cpp:", "llamacpp").but(COMPLETION),
    Vendor::named("llama:", "llamacpp").but(COMPLETION),
    Vendor::like_openai("deepinfra:", "https://api.deepinfra.com/v1/openai", "DEEPINFRA_API_KEY"),
    Vendor::like_openai("hyperbolic:", "https://api.hyperbolic.xyz/v1", "HYPERBOLIC_API_KEY"),
    Vendor::like_openai("github:", "https://models.github.ai/inference", "GITHUB_TOKEN"),
    Vendor::like_openai("localai:chat:", "http://127.0.0.1:8080/v1", "LOCALAI_API_KEY"),
    Vendor::like_openai("localai:", "http://127.0.0.1:8080/v1", "LOCALAI_API_KEY"),
    Vendor::like_openai("llamafile:", "http://127.0.0.1:8080/v1", "LLAMAFILE_API_KEY"),
    Vendor::like_openai("docker:", "http://127.0.0.1:12434/engines/v1", "DOCKER_MODEL_RUNNER_API_KEY"),
];

/// Parts of ids behind a known prefix that are no chat model.
const NO_CHAT: &[&str] = &[
    "embedding",
    "embeddings",
    "image",
    "images",
    "video",
    "speech",
    "audio",
    "realtime",
    "assistant",
    "moderation",
    "completion",
    "transcription",
    "agents",
    "chatkit",
    "codex-sdk",
    "claude-agent-sdk",
    "live",
    "text-embedding",
    "tts",
    "bidi",
];

/// A provider as it is written: an id, or an object with one.
pub(super) struct Provider {
    pub(super) id: String,
    pub(super) label: Option<String>,
    pub(super) config: Object,
    /// Keys beside these that are not used.
    pub(super) others: Vec<String>,
}

impl Provider {
    /// Reads one. `{"openai:gpt-4": {config: …}}` is the older form.
    pub(super) fn read(value: &Value) -> Result<Provider, String> {
        let no_config = || Object::new();
        match value {
            Val::Str(id) => Ok(Provider { id: id.to_string(), label: None, config: no_config(), others: Vec::new() }),
            Val::Map(map) => {
                if map.get("id").is_none() && map.len() == 1 {
                    let (id, inner) = map.iter().next().ok_or("an empty object")?;
                    let id = inner.get("id").and_then(Val::as_str).unwrap_or(id).to_owned();
                    return Ok(Provider::of(id, inner));
                }
                let id = map.get("id").and_then(Val::as_str).ok_or("a provider without `id`")?;
                Ok(Provider::of(id.to_owned(), value))
            }
            other => Err(format!("`{}` is no provider", beginning(&other.to_json()))),
        }
    }

    fn of(id: String, value: &Value) -> Provider {
        let config = value.get("config").and_then(Val::as_map).cloned().map(Object::from).unwrap_or_default();
        let label = value.get("label").and_then(Val::as_str).map(str::to_owned);
        let known = ["id", "label", "config"];
        let others = value.as_map().map(|it| it.keys().filter(|it| !known.contains(it)).map(str::to_owned).collect());
        Provider { id, label, config, others: others.unwrap_or_default() }
    }

    pub(super) fn what(&self) -> String {
        match &self.label {
            Some(label) => format!("provider `{}` (`{label}`)", beginning(&self.id)),
            None => format!("provider `{}`", beginning(&self.id)),
        }
    }
}

/// A model that was made of a provider.
pub(super) struct Taken {
    /// What stands under `models`.
    pub(super) model: Value,
    /// `provider/model`.
    pub(super) name: String,
    /// The schema of its answers, for `ask.output`.
    pub(super) output: Option<Value>,
    pub(super) difference: Option<String>,
    /// Settings that were dropped, with the reason of each.
    pub(super) dropped: Vec<(String, String)>,
}

/// The model that is evaluated, with what promptfoo sends where the configuration says nothing; the reason when there is none.
pub(super) fn subject(provider: &Provider) -> Result<Taken, String> {
    if application::is_application(&provider.id) {
        return application::application(provider);
    }
    let mut taken = model(provider)?;
    let (vendor, name) = vendor_of(&provider.id)?;
    let mut settings = match &taken.model {
        Val::Map(map) => Object::from(map.clone()),
        name => Object::new().with("model", name.clone()),
    };
    let differs = add_usual(vendor, name, provider, &mut settings);
    if settings.members().count() > 1 {
        taken.model = settings.into();
    }
    let differences: Vec<String> = taken.difference.into_iter().chain(differs).collect();
    taken.difference = (!differences.is_empty()).then(|| differences.join("; "));
    Ok(taken)
}

/// A setting and its value.
type Setting = (&'static str, i64);

/// Adds what promptfoo sends by itself; says what it may send that is not added.
fn add_usual(vendor: &Vendor, name: &str, provider: &Provider, settings: &mut Object) -> Option<String> {
    let missing: Vec<Setting> =
        [("temperature", 0), ("max_tokens", 1024)].into_iter().filter(|(key, _)| settings.get(key).is_none()).collect();
    if missing.is_empty() || matches!(provider.config.get("omitDefaults"), Some(Val::Bool(true))) {
        return None;
    }
    let usual = match (vendor.usual, reasons(name)) {
        (Usual::OpenAi | Usual::Responses, Some(true)) => Usual::Nothing,
        (Usual::OpenAi | Usual::Responses, None) => Usual::Unknown,
        (usual, _) => usual,
    };
    let is_added = |key: &str| match usual {
        Usual::Nothing | Usual::Unknown => false,
        Usual::OpenAi => true,
        Usual::Responses => key == "max_tokens",
    };
    let (added, open): (Vec<Setting>, Vec<Setting>) = missing.into_iter().partition(|(key, _)| is_added(key));
    for (key, value) in added {
        settings.put(key, Val::I(value));
    }
    let open: Vec<String> = open.iter().map(|(key, value)| format!("`{key}: {value}`")).collect();
    (usual != Usual::Nothing && !open.is_empty()).then(|| {
        format!(
            "promptfoo sends {} to most models where the configuration does not say it, and jurat does not",
            open.join(" and ")
        )
    })
}

/// Whether a model of OpenAI reasons, as promptfoo knows it by its name; `None` for those of which versions of promptfoo think differently.
fn reasons(name: &str) -> Option<bool> {
    let name = name.rsplit('/').next().unwrap_or(name);
    let begins = |with: &[&str]| with.iter().any(|it| name.starts_with(it));
    match () {
        () if begins(&["gpt-5-chat", "gpt-6"]) => None,
        () if begins(&["o1", "o3", "o4", "gpt-5", "codex-mini"]) => Some(true),
        () => Some(false),
    }
}

/// The model that a provider is; the reason when there is none.
pub(super) fn model(provider: &Provider) -> Result<Taken, String> {
    let (vendor, name) = vendor_of(&provider.id)?;
    let mut settings =
        Settings { vendor, model: Object::new(), extra: Object::new(), output: None, dropped: Vec::new() };
    settings.model.put("model", text(format!("{}/{name}", vendor.provider)));
    settings.model.put_some("base_url", vendor.base_url.map(text));
    settings.model.put_some("api_key_env", vendor.api_key_env.map(text));
    settings.place(&provider.config);
    for (key, value) in provider.config.members().filter(|(key, _)| !is_of_place(vendor, key)) {
        settings.take(key, value);
    }
    settings.dropped.extend(provider.others.iter().map(|it| (it.clone(), not_used(it))));
    let Settings { mut model, extra, output, dropped, .. } = settings;
    if !extra.is_empty() {
        model.put("extra", extra);
    }
    let name = format!("{}/{name}", vendor.provider);
    let is_plain = model.members().count() == 1;
    let model = if is_plain { text(&name) } else { model.into() };
    Ok(Taken { model, name, output, difference: vendor.difference.map(str::to_owned), dropped })
}

fn vendor_of(id: &str) -> Result<(&'static Vendor, &str), String> {
    if id.contains("{{") {
        return Err("its id is a template".to_owned());
    }
    let found = VENDORS.iter().find_map(|it| Some((it, id.strip_prefix(it.prefix)?)));
    let Some((vendor, name)) = found else {
        return Err(no_model(id.split([':', '/']).next().unwrap_or(id)));
    };
    // A name whose beginning is a part of the prefix.
    let name = match vendor.prefix.rsplit(':').next() {
        Some(part) if !part.is_empty() => &id[id.len() - name.len() - part.len()..],
        _ => name,
    };
    let first = name.split(':').next().unwrap_or(name);
    if name.is_empty() || NO_CHAT.contains(&first) || name.contains("embedding") {
        return Err(format!("`{}` is no chat model", beginning(id)));
    }
    Ok((vendor, name))
}

/// Why there is no model for a kind of provider.
fn no_model(kind: &str) -> String {
    match kind {
        "http" | "https" | "webhook" => {
            "write the application as `http/NAME`, with its address, the request and where the answer is in the reply"
                .to_owned()
        }
        "exec" => "a program of jurat (`exec/PROGRAM`) is given the request as JSON, and not the prompt as an argument"
            .to_owned(),
        "huggingface" => {
            "only `huggingface:chat:MODEL` is a chat; jurat asks others at the router, as `huggingface/MODEL`"
                .to_owned()
        }
        "azure" | "azureopenai" => "only `azure:chat:DEPLOYMENT` is a chat model".to_owned(),
        "vertex" => "only models of Gemini and Claude are asked at Vertex AI".to_owned(),
        "python" | "file" | "package" => {
            "it is code, which jurat does not call while it asks; `exec/PROGRAM` is a program of yours".to_owned()
        }
        other => format!("jurat has no model of the kind `{}`", beginning(other)),
    }
}

/// Members of `config` that say where a model is.
fn is_of_place(vendor: &Vendor, key: &str) -> bool {
    match vendor.provider {
        "azure" => matches!(key, "apiHost" | "apiVersion"),
        "bedrock" => key == "region",
        "vertex" | "vertex-anthropic" => matches!(key, "region" | "projectId"),
        _ => false,
    }
}

/// The embedding model that a provider is.
pub(super) fn embedder(id: &str) -> Option<String> {
    const PREFIXES: [(&str, &str); 5] = [
        ("openai:embedding:", "openai"),
        ("openai:embeddings:", "openai"),
        ("google:embedding:", "gemini"),
        ("ollama:embeddings:", "ollama"),
        ("ollama:embedding:", "ollama"),
    ];
    PREFIXES.iter().find_map(|(prefix, provider)| Some(format!("{provider}/{}", id.strip_prefix(prefix)?)))
}

fn not_used(key: &str) -> String {
    match key {
        "delay" => "jurat limits requests by `rpm` and `-j`".to_owned(),
        "prompts" => "jurat asks every model with every prompt".to_owned(),
        "transform" => "code that changes answers is not run; see `transform` of tests".to_owned(),
        _ => "not known to the importer".to_owned(),
    }
}

struct Settings {
    vendor: &'static Vendor,
    model: Object,
    extra: Object,
    output: Option<Value>,
    dropped: Vec<(String, String)>,
}

impl Settings {
    /// The address, where the configuration says it in other words.
    fn place(&mut self, config: &Object) {
        let own = |key: &str| config.get(key).and_then(Val::as_str).filter(|it| !it.is_empty() && !it.contains("{{"));
        let address = match self.vendor.provider {
            "azure" => own("apiHost").map(|host| {
                let version = own("apiVersion").map_or_else(String::new, |it| format!("?api-version={it}"));
                format!("https://{}{version}", host.trim_start_matches("https://").trim_end_matches('/'))
            }),
            "bedrock" => own("region").map(|it| format!("https://bedrock-runtime.{it}.amazonaws.com")),
            "vertex" | "vertex-anthropic" => own("region").zip(own("projectId")).map(|(region, project)| {
                format!("https://{region}-aiplatform.googleapis.com/v1/projects/{project}/locations/{region}")
            }),
            _ => None,
        };
        let is_used = address.is_some();
        self.model.put_some("base_url", address.map(text));
        let vendor = self.vendor;
        for (key, _) in config.members().filter(|(key, _)| !is_used && is_of_place(vendor, key)) {
            self.drop(key, "alone it is no address; write `base_url`, or the variables of the environment");
        }
    }

    fn take(&mut self, key: &str, value: &Value) {
        match key {
            "temperature" | "top_p" => self.number(key, key, value),
            "topP" => self.number(key, "top_p", value),
            "omitDefaults" => {}
            "max_tokens" | "max_completion_tokens" | "max_output_tokens" | "maxOutputTokens" | "num_predict" => {
                self.number(key, "max_tokens", value);
            }
            "seed" if self.vendor.provider == "anthropic" || self.vendor.provider == "openai-responses" => {
                self.drop(key, "this provider has no seed");
            }
            "seed" => self.number(key, "seed", value),
            "apiBaseUrl" | "baseURL" => self.text(key, "base_url", value),
            "apiHost" => match value.as_str() {
                Some(host) => self.model.put("base_url", text(format!("https://{host}"))),
                None => self.drop(key, "it is not text"),
            },
            "apiKeyEnvar" => self.text(key, "api_key_env", value),
            "passthrough" | "generationConfig" if value.as_map().is_some() => self.passthrough(key, value),
            "headers" => self.headers(value),
            "response_format" => self.response_format(value),
            "tools" | "functions" | "tool_choice" | "function_call" | "functionToolCallbacks" | "mcp" => {
                self.drop(key, "tools of jurat are servers (MCP), under `tools` of a suite");
            }
            "cost" | "inputCost" | "outputCost" | "audioCost" => {
                self.drop(key, "write `price` of the model: dollars per million tokens");
            }
            key if is_secret(key) => self.drop(key, "a secret; jurat takes keys from the environment (`api_key_env`)"),
            "organization" | "showThinking" | "callApiOptions" | "maxRetries" | "timeout" | "systemInstruction"
            | "prompt" | "transform" | "transformResponse" => {
                self.drop(key, "a setting of promptfoo itself");
            }
            _ if has_file(value) => self.drop(key, "it is in a file of its own"),
            _ if super::template::has_tags(value) => self.drop(key, "it is a template"),
            _ if self.vendor.sent.members.contains(&key) => self.extra.put(key, value.clone()),
            _ if self.vendor.sent.inner.1.contains(&key) => self.put_inner(key, value),
            "extra_body" if self.vendor.provider.ends_with("anthropic") => self.passthrough("passthrough", value),
            _ => self.drop(key, "promptfoo does not send it, or the importer does not know it"),
        }
    }

    /// A member of an object of the request.
    fn put_inner(&mut self, key: &str, value: &Value) {
        let object = self.vendor.sent.inner.0;
        let known = self.extra.get(object).and_then(Val::as_map).cloned().unwrap_or_default();
        self.extra.put(object, Object::from(known).with(key, value.clone()));
    }

    fn drop(&mut self, key: &str, why: &str) {
        self.dropped.push((key.to_owned(), why.to_owned()));
    }

    fn number(&mut self, key: &str, into: &str, value: &Value) {
        let is_count = matches!(into, "max_tokens" | "seed");
        match value {
            Val::I(number) if *number >= i64::from(into == "max_tokens") => self.model.put(into, value.clone()),
            Val::F(number) if !is_count && *number >= 0.0 && number.is_finite() => self.model.put(into, value.clone()),
            _ => self.drop(key, "it is not a number that jurat accepts"),
        }
    }

    fn text(&mut self, key: &str, into: &str, value: &Value) {
        match value.as_str() {
            Some(it) if !it.contains("{{") && !it.is_empty() => self.model.put(into, value.clone()),
            _ => self.drop(key, "it is a template or not text"),
        }
    }

    fn passthrough(&mut self, key: &str, value: &Value) {
        match key {
            "passthrough" => {
                for (key, value) in members(value) {
                    self.extra.put(key, value.clone());
                }
            }
            // Members that were written beside it stay.
            _ => {
                let known = self.extra.get(key).and_then(Val::as_map).cloned().unwrap_or_default();
                let all = members(value).fold(Object::from(known), |all, (key, it)| all.with(key, it.clone()));
                self.extra.put(key, all);
            }
        }
    }

    fn headers(&mut self, value: &Value) {
        let mut headers = Object::new();
        for (key, value) in members(value) {
            match value.as_str() {
                _ if is_of_connection(key) => self.drop(key, OF_CONNECTION),
                _ if is_secret(key) => self.drop(key, "a secret; write `${NAME}` of the environment in the suite"),
                Some(it) if !it.contains("{{") => headers.put(key, value.clone()),
                _ => self.drop(key, "it is a template or not text"),
            }
        }
        if !headers.is_empty() {
            self.model.put("headers", headers);
        }
    }

    /// A schema becomes `ask.output`; a request for any JSON is sent as it is.
    fn response_format(&mut self, value: &Value) {
        let schema = value.get("json_schema").and_then(|it| it.get("schema")).or_else(|| value.get("schema"));
        match (value.get("type").and_then(Val::as_str), schema) {
            (Some("json_schema"), Some(schema)) if !has_file(schema) => self.output = Some(schema.clone()),
            (Some("json_object"), _) => self.extra.put("response_format", value.clone()),
            _ => self.drop("response_format", "it is no schema that stands in the configuration"),
        }
    }
}

pub(super) const OF_CONNECTION: &str = "it belongs to the connection, and jurat sends its own";

/// Whether a header is one that jurat sends by itself.
pub(super) fn is_of_connection(name: &str) -> bool {
    let names = ["connection", "content-length", "content-type", "host", "transfer-encoding"];
    names.iter().any(|it| it.eq_ignore_ascii_case(name))
}

fn has_file(value: &Value) -> bool {
    match value {
        Val::Str(text) => text.starts_with("file://"),
        Val::List(items) => items.iter().any(has_file),
        Val::Map(map) => map.iter().any(|(_, it)| has_file(it)),
        _ => false,
    }
}

/// Notes what became of a provider.
pub(super) fn note(report: &mut Report, at: &str, provider: &Provider, taken: &Taken, role: &str) {
    let into = format!("model `{}` of the role `{role}`", taken.name);
    match &taken.difference {
        None => report.exact(at, provider.what(), into),
        Some(difference) => report.approximate(at, provider.what(), into, difference),
    }
    for (key, why) in &taken.dropped {
        report.dropped(at, format!("`{key}` of {}", provider.what()), why);
    }
}

#[cfg(test)]
mod tests {
    use jurat_format::value::parse_json;

    use super::*;

    #[track_caller]
    fn provider(json: &str, expected: &str) {
        let value = parse_json(json).expect("JSON").value.into_owned();
        let found = Provider::read(&value).and_then(|it| subject(&it));
        let found = found.map_or_else(
            |why| format!("refused: {why}"),
            |it| {
                let dropped: Vec<String> = it.dropped.into_iter().map(|(key, _)| key).collect();
                format!("{} dropped {}", it.model.to_json(), dropped.join(","))
            },
        );
        assert_eq!(found, expected);
    }

    #[test]
    fn chat_models_are_named_by_provider_and_model() {
        provider(r#""openai:gpt-5-mini""#, r#""openai/gpt-5-mini" dropped "#);
        provider(r#""openai:chat:gpt-5-mini""#, r#""openai/gpt-5-mini" dropped "#);
        provider(r#""openai:gpt-4o""#, r#"{"model":"openai/gpt-4o","temperature":0,"max_tokens":1024} dropped "#);
        provider(r#""openai:responses:gpt-5""#, r#""openai-responses/gpt-5" dropped "#);
        provider(r#""anthropic:messages:claude-x""#, r#""anthropic/claude-x" dropped "#);
        provider(r#""google:gemini-2.5-flash""#, r#""gemini/gemini-2.5-flash" dropped "#);
        provider(
            r#"{"openai:gpt-4": {"config": {"temperature": 0.5}}}"#,
            r#"{"model":"openai/gpt-4","temperature":0.5,"max_tokens":1024} dropped "#,
        );
        provider(r#"{"id": "openai:gpt-4", "config": {"omitDefaults": true}}"#, r#""openai/gpt-4" dropped "#);
    }

    #[test]
    fn vendors_that_jurat_knows_have_their_names() {
        provider(r#""groq:llama-3""#, r#""groq/llama-3" dropped "#);
        provider(r#""mistral:mistral-small""#, r#""mistral/mistral-small" dropped "#);
        provider(r#""togetherai:a/b""#, r#""together/a/b" dropped "#);
        provider(r#""vertex:gemini-2.5-pro""#, r#""vertex/gemini-2.5-pro" dropped "#);
        provider(
            r#"{"id": "azure:chat:mine", "config": {"apiHost": "a.openai.azure.com", "apiVersion": "2024-10-21"}}"#,
            r#"{"model":"azure/mine","base_url":"https://a.openai.azure.com?api-version=2024-10-21"} dropped "#,
        );
        provider(
            r#"{"id": "bedrock:converse:x.y-v1:0", "config": {"region": "us-east-1"}}"#,
            r#"{"model":"bedrock/x.y-v1:0","base_url":"https://bedrock-runtime.us-east-1.amazonaws.com"} dropped "#,
        );
        provider(
            r#"{"id": "vertex:claude-x", "config": {"region": "europe-west1"}}"#,
            r#""vertex-anthropic/claude-x" dropped region"#,
        );
    }

    /// What promptfoo sends by itself is sent, or the difference is said.
    #[test]
    fn what_promptfoo_sends_by_itself_is_no_silent_difference() {
        let difference = |id: &str| {
            let provider = Provider::read(&text(id)).expect("a provider");
            subject(&provider).expect("a model").difference.unwrap_or_default()
        };
        let both = "promptfoo sends `temperature: 0` and `max_tokens: 1024` to most models where the configuration does not say it, and jurat does not";
        assert_eq!(difference("openai:gpt-4o"), "");
        assert_eq!(difference("openai:o3"), "");
        assert_eq!(difference("ollama:chat:x"), "");
        for id in ["anthropic:messages:claude-x", "groq:llama-3", "openai:gpt-5-chat-latest"] {
            assert_eq!(difference(id), both, "{id}");
        }
        assert_eq!(difference("openai:responses:gpt-4o"), both.replace(" and `max_tokens: 1024`", ""));
    }

    #[test]
    fn only_what_promptfoo_sends_is_sent() {
        provider(
            r#"{"id": "openai:o3", "config": {"showTokens": true, "apiVersion": "x", "reasoning_effort": "low", "passthrough": {"n": 2}}}"#,
            r#"{"model":"openai/o3","extra":{"reasoning_effort":"low","n":2}} dropped showTokens,apiVersion"#,
        );
        provider(
            r#"{"id": "google:g", "config": {"topK": 3, "topP": 0.5, "generationConfig": {"a": 1}}}"#,
            r#"{"model":"gemini/g","top_p":0.5,"extra":{"generationConfig":{"topK":3,"a":1}}} dropped "#,
        );
        provider(
            r#"{"id": "ollama:chat:x", "config": {"num_ctx": 9}}"#,
            r#"{"model":"ollama/x","extra":{"options":{"num_ctx":9}}} dropped "#,
        );
    }

    #[test]
    fn settings_are_taken_and_secrets_are_not() {
        provider(
            r#"{"id": "openai:m", "config": {"temperature": 0, "max_tokens": 24, "apiKey": "sk-1", "apiBaseUrl": "http://127.0.0.1:1/v1",
                "stop": ["x"], "tools": [], "headers": {"x-team": "a", "Authorization": "b"}}, "delay": 5}"#,
            r#"{"model":"openai/m","temperature":0,"max_tokens":24,"base_url":"http://127.0.0.1:1/v1","headers":{"x-team":"a"},"extra":{"stop":["x"]}} dropped apiKey,tools,Authorization,delay"#,
        );
    }

    #[test]
    fn what_is_no_chat_model_is_refused() {
        provider(r#""echo""#, "refused: jurat has no model of the kind `echo`");
        provider(
            r#""openai:embedding:text-embedding-3-small""#,
            "refused: `openai:embedding:text-embedding-3-small` is no chat model",
        );
        provider(r#""bedrock:embedding:titan""#, "refused: `bedrock:embedding:titan` is no chat model");
        let code = "it is code, which jurat does not call while it asks; `exec/PROGRAM` is a program of yours";
        provider(r#""python:provider.py""#, &format!("refused: {code}"));
    }
}
