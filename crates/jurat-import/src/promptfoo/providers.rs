//! Providers of promptfoo as models of jurat.

use jurat_format::value::{Val, Value};

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
}

impl Vendor {
    const fn native(prefix: &'static str, provider: &'static str) -> Vendor {
        Vendor { prefix, provider, base_url: None, api_key_env: None, difference: None }
    }

    /// One that speaks as OpenAI does, at an address of its own.
    const fn like_openai(prefix: &'static str, base_url: &'static str, api_key_env: &'static str) -> Vendor {
        let (base_url, api_key_env) = (Some(base_url), Some(api_key_env));
        Vendor { prefix, provider: "openai", base_url, api_key_env, difference: None }
    }
}

const COMPLETION: &str = "promptfoo sends plain text to the completion endpoint; jurat sends a chat with one message";

/// The known prefixes; longer ones before those that they begin with.
static VENDORS: &[Vendor] = &[
    Vendor::native("openai:chat:", "openai"),
    Vendor::native("openai:responses:", "openai-responses"),
    Vendor::native("anthropic:messages:", "anthropic"),
    Vendor::native("google:", "gemini"),
    Vendor::native("ollama:chat:", "ollama"),
    Vendor { difference: Some(COMPLETION), ..Vendor::native("ollama:completion:", "ollama") },
    Vendor { difference: Some(COMPLETION), ..Vendor::native("ollama:", "ollama") },
    Vendor::native("openai:", "openai"),
    Vendor::native("anthropic:", "anthropic"),
    Vendor::like_openai("openrouter:", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    Vendor::like_openai("groq:", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    Vendor::like_openai("mistral:", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    Vendor::like_openai("deepseek:", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    Vendor::like_openai("togetherai:", "https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    Vendor::like_openai("xai:", "https://api.x.ai/v1", "XAI_API_KEY"),
    Vendor::like_openai("perplexity:", "https://api.perplexity.ai", "PERPLEXITY_API_KEY"),
    Vendor::like_openai("cerebras:", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"),
    Vendor::like_openai("fireworks:", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"),
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

/// The model that a provider is; the reason when there is none.
pub(super) fn model(provider: &Provider) -> Result<Taken, String> {
    let (vendor, name) = vendor_of(&provider.id)?;
    let mut settings =
        Settings { vendor, model: Object::new(), extra: Object::new(), output: None, dropped: Vec::new() };
    settings.model.put("model", text(format!("{}/{name}", vendor.provider)));
    settings.model.put_some("base_url", vendor.base_url.map(text));
    settings.model.put_some("api_key_env", vendor.api_key_env.map(text));
    for (key, value) in provider.config.members() {
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
        return Err(format!(
            "jurat has no model of the kind `{}`",
            beginning(id.split([':', '/']).next().unwrap_or(id))
        ));
    };
    let first = name.split(':').next().unwrap_or(name);
    if name.is_empty() || NO_CHAT.contains(&first) || name.contains("embedding") {
        return Err(format!("`{}` is no chat model", beginning(id)));
    }
    Ok((vendor, name))
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
    fn take(&mut self, key: &str, value: &Value) {
        match key {
            "temperature" | "top_p" => self.number(key, key, value),
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
            _ => self.extra.put(key, value.clone()),
        }
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
            _ => self.extra.put(key, value.clone()),
        }
    }

    fn headers(&mut self, value: &Value) {
        let mut headers = Object::new();
        for (key, value) in members(value) {
            match value.as_str() {
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
        let found = Provider::read(&value).and_then(|it| model(&it));
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
        provider(r#""openai:responses:gpt-5""#, r#""openai-responses/gpt-5" dropped "#);
        provider(r#""anthropic:messages:claude-x""#, r#""anthropic/claude-x" dropped "#);
        provider(r#""google:gemini-2.5-flash""#, r#""gemini/gemini-2.5-flash" dropped "#);
        provider(
            r#""groq:llama-3""#,
            r#"{"model":"openai/llama-3","base_url":"https://api.groq.com/openai/v1","api_key_env":"GROQ_API_KEY"} dropped "#,
        );
        provider(
            r#"{"openai:gpt-4": {"config": {"temperature": 0}}}"#,
            r#"{"model":"openai/gpt-4","temperature":0} dropped "#,
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
        provider(r#""bedrock:claude""#, "refused: jurat has no model of the kind `bedrock`");
        provider(r#""python:provider.py""#, "refused: jurat has no model of the kind `python`");
    }
}
