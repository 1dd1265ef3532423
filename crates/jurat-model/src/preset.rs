//! The providers that are asked over HTTP, in one table.
//!
//! A preset is data: where a provider is, which variable holds its key, which codec it speaks and in what it differs from others that speak the same.
//! A difference that changes the bytes of a request becomes a setting of the endpoint, so it is stored with every answer and is part of its key. Adding
//! a provider that speaks a codec that is there is one entry of [`PRESETS`].

use jurat_core::model::Structured;
use jurat_format::value::{Map, Val, Value};

use crate::codec::{Codec, DEFAULT_MAX_TOKENS, full_address, has, usual_structured, without_last};
use crate::transport::BatchApi;

/// A provider that is asked over HTTP.
pub(crate) struct Preset {
    /// What authors write before the `/`; the first is listed.
    pub(crate) names: &'static [&'static str],
    /// What it speaks, for the reference.
    pub(crate) doc: &'static str,
    /// The name of one of its models, for messages.
    pub(crate) example: &'static str,
    pub(crate) codec: Codec,
    /// The usual addresses: the first one whose variables are set counts. Without any, the author gives one.
    pub(crate) addresses: &'static [&'static str],
    pub(crate) base_url_env: &'static str,
    /// The variables that may hold its key.
    pub(crate) key_env: &'static [&'static str],
    /// Whether its usual address is asked with a key only.
    pub(crate) needs_key: bool,
    /// The header that a key from a variable is sent in, where it is not the codec's.
    pub(crate) key_header: Option<(&'static str, &'static str)>,
    /// Whether requests may be signed with the keys of an AWS account.
    pub(crate) is_signed: bool,
    pub(crate) price_list: &'static str,
    /// Makes an address of what authors may write for one.
    pub(crate) complete: fn(&str) -> String,
    /// The path of an address, in the one form that requests are appended to.
    pub(crate) path: fn(&Place<'_>) -> String,
    /// How requests are sent in batches, where it has an interface for them.
    pub(crate) batch: Option<BatchApi>,
    /// How it is sent the schema of a reply, where that is not the codec's own way.
    pub(crate) structured: Option<Structured>,
    /// In what its requests differ from others of the codec; see [`crate::codec`] for the names.
    pub(crate) quirks: &'static [(&'static str, &'static str)],
    /// Adds the settings that a host needs and the author did not write.
    pub(crate) settings: fn(&mut Vec<(String, Value)>, &str),
    /// What its requests and replies were tested against.
    pub(crate) tested: &'static str,
}

/// An address whose path is to be completed.
pub(crate) struct Place<'p> {
    pub(crate) path: &'p str,
    pub(crate) query: Option<&'p str>,
    pub(crate) model: &'p str,
}

const GOLDEN: &str = "golden files";

/// What most presets have: OpenAI's chat, a key, `/v1` where no path is written.
const CHAT: Preset = Preset {
    names: &[],
    doc: "chat completions",
    example: "NAME",
    codec: Codec::OPENAI_CHAT,
    addresses: &[],
    base_url_env: "",
    key_env: &[],
    needs_key: true,
    key_header: None,
    is_signed: false,
    price_list: "",
    complete: str::to_owned,
    path: |it| with_version(it.path).to_owned(),
    batch: None,
    structured: None,
    quirks: &[],
    settings: |_, _| (),
    tested: GOLDEN,
};

/// A server on one's own machine: a key is sent if there is one.
const LOCAL: Preset = Preset { needs_key: false, ..CHAT };

/// Every preset, in the order in which errors list them.
pub(crate) static PRESETS: &[Preset] = &[
    Preset {
        names: &["openai"],
        doc: "chat completions, which most other servers speak too",
        example: "gpt-5-mini",
        addresses: &["https://api.openai.com/v1"],
        base_url_env: "OPENAI_BASE_URL",
        key_env: &["OPENAI_API_KEY"],
        price_list: "openai",
        settings: |settings, host| {
            if !has(settings, "structured") {
                let way = usual_structured(host);
                settings.extend(way.map(|it| ("structured".to_owned(), Val::from(it.to_owned()))));
            }
        },
        batch: Some(BatchApi::OpenAi),
        tested: "llama.cpp, LiteLLM",
        ..CHAT
    },
    Preset {
        names: &["openai-responses"],
        doc: "OpenAI's responses",
        example: "gpt-5-mini",
        codec: Codec::OPENAI_RESPONSES,
        addresses: &["https://api.openai.com/v1"],
        base_url_env: "OPENAI_BASE_URL",
        key_env: &["OPENAI_API_KEY"],
        price_list: "openai",
        batch: Some(BatchApi::OpenAi),
        tested: "LiteLLM",
        ..CHAT
    },
    Preset {
        names: &["anthropic"],
        doc: "Anthropic's messages",
        codec: Codec::ANTHROPIC_MESSAGES,
        addresses: &["https://api.anthropic.com"],
        base_url_env: "ANTHROPIC_BASE_URL",
        key_env: &["ANTHROPIC_API_KEY"],
        price_list: "anthropic",
        path: |it| without_last(it.path, "v1").to_owned(),
        settings: |settings, _| bounded(settings),
        batch: Some(BatchApi::Anthropic),
        tested: "LiteLLM",
        ..CHAT
    },
    Preset {
        names: &["gemini", "google"],
        doc: "Gemini's `generateContent`",
        codec: Codec::GEMINI_GENERATE,
        addresses: &["https://generativelanguage.googleapis.com"],
        base_url_env: "GOOGLE_GEMINI_BASE_URL",
        key_env: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        price_list: "gemini",
        path: |it| without_last(without_last(it.path, "v1beta"), "v1").to_owned(),
        tested: "LiteLLM",
        ..CHAT
    },
    Preset {
        names: &["ollama"],
        doc: "Ollama's own chat",
        codec: Codec::OLLAMA_CHAT,
        addresses: &["http://127.0.0.1:11434"],
        base_url_env: "OLLAMA_HOST",
        price_list: "ollama",
        complete: full_address,
        path: |it| it.path.to_owned(),
        ..LOCAL
    },
    Preset {
        names: &["azure"],
        doc: "chat completions of a deployment of Azure OpenAI: [below](#azure)",
        example: "DEPLOYMENT",
        base_url_env: "AZURE_OPENAI_ENDPOINT",
        key_env: &["AZURE_OPENAI_API_KEY"],
        key_header: Some(("api-key", "${key}")),
        path: azure_path,
        quirks: &[("max_tokens", "max_completion_tokens")],
        tested: "LiteLLM",
        ..CHAT
    },
    Preset {
        names: &["bedrock"],
        doc: "Converse of Amazon Bedrock: [below](#bedrock)",
        codec: Codec::BEDROCK_CONVERSE,
        addresses: &[
            "https://bedrock-runtime.${AWS_REGION}.amazonaws.com",
            "https://bedrock-runtime.${AWS_DEFAULT_REGION}.amazonaws.com",
        ],
        base_url_env: "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
        key_env: &["AWS_BEARER_TOKEN_BEDROCK"],
        is_signed: true,
        path: |it| it.path.to_owned(),
        ..CHAT
    },
    Preset {
        names: &["vertex"],
        doc: "Gemini on Vertex AI: [below](#vertex)",
        codec: Codec::VERTEX_GENERATE,
        addresses: &[VERTEX],
        base_url_env: "VERTEX_BASE_URL",
        key_env: &["GOOGLE_OAUTH_ACCESS_TOKEN"],
        price_list: "gemini",
        complete: without_global,
        path: |it| it.path.to_owned(),
        ..CHAT
    },
    Preset {
        names: &["vertex-anthropic"],
        doc: "Claude on Vertex AI: [below](#vertex)",
        codec: Codec::VERTEX_MESSAGES,
        addresses: &[VERTEX],
        base_url_env: "VERTEX_BASE_URL",
        key_env: &["GOOGLE_OAUTH_ACCESS_TOKEN"],
        complete: without_global,
        path: |it| it.path.to_owned(),
        settings: |settings, _| bounded(settings),
        ..CHAT
    },
    Preset {
        names: &["mistral"],
        addresses: &["https://api.mistral.ai/v1"],
        base_url_env: "MISTRAL_BASE_URL",
        key_env: &["MISTRAL_API_KEY"],
        price_list: "mistral",
        // It refuses members that it does not know, and counts tokens of streams without being asked to.
        quirks: &[("seed", "random_seed"), ("stream_options", "none")],
        ..CHAT
    },
    Preset {
        names: &["groq"],
        addresses: &["https://api.groq.com/openai/v1"],
        base_url_env: "GROQ_BASE_URL",
        key_env: &["GROQ_API_KEY"],
        price_list: "groq",
        quirks: &[("max_tokens", "max_completion_tokens")],
        ..CHAT
    },
    Preset {
        names: &["deepseek"],
        addresses: &["https://api.deepseek.com/v1"],
        base_url_env: "DEEPSEEK_BASE_URL",
        key_env: &["DEEPSEEK_API_KEY"],
        price_list: "deepseek",
        structured: Some(Structured::JsonObject),
        ..CHAT
    },
    Preset {
        names: &["moonshot"],
        addresses: &["https://api.moonshot.ai/v1"],
        base_url_env: "MOONSHOT_BASE_URL",
        key_env: &["MOONSHOT_API_KEY"],
        price_list: "moonshot",
        structured: Some(Structured::JsonObject),
        ..CHAT
    },
    Preset {
        names: &["openrouter"],
        addresses: &["https://openrouter.ai/api/v1"],
        base_url_env: "OPENROUTER_BASE_URL",
        key_env: &["OPENROUTER_API_KEY"],
        quirks: &[("reasoning", "object")],
        ..CHAT
    },
    Preset {
        names: &["together"],
        addresses: &["https://api.together.xyz/v1"],
        base_url_env: "TOGETHER_BASE_URL",
        key_env: &["TOGETHER_API_KEY"],
        ..CHAT
    },
    Preset {
        names: &["fireworks"],
        addresses: &["https://api.fireworks.ai/inference/v1"],
        base_url_env: "FIREWORKS_BASE_URL",
        key_env: &["FIREWORKS_API_KEY"],
        ..CHAT
    },
    Preset {
        names: &["xai"],
        addresses: &["https://api.x.ai/v1"],
        base_url_env: "XAI_BASE_URL",
        key_env: &["XAI_API_KEY"],
        price_list: "xai",
        quirks: &[("max_tokens", "max_completion_tokens")],
        ..CHAT
    },
    Preset {
        names: &["cerebras"],
        addresses: &["https://api.cerebras.ai/v1"],
        base_url_env: "CEREBRAS_BASE_URL",
        key_env: &["CEREBRAS_API_KEY"],
        price_list: "cerebras",
        quirks: &[("max_tokens", "max_completion_tokens")],
        ..CHAT
    },
    Preset {
        names: &["huggingface"],
        doc: "chat completions of the router of Hugging Face",
        addresses: &["https://router.huggingface.co/v1"],
        base_url_env: "HF_BASE_URL",
        key_env: &["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"],
        ..CHAT
    },
    Preset {
        names: &["litellm"],
        doc: "chat completions of a LiteLLM proxy",
        addresses: &["http://127.0.0.1:4000/v1"],
        base_url_env: "LITELLM_BASE_URL",
        key_env: &["LITELLM_API_KEY", "LITELLM_MASTER_KEY"],
        tested: "LiteLLM",
        ..LOCAL
    },
    Preset {
        names: &["vllm"],
        addresses: &["http://127.0.0.1:8000/v1"],
        base_url_env: "VLLM_BASE_URL",
        key_env: &["VLLM_API_KEY"],
        ..LOCAL
    },
    Preset {
        names: &["lmstudio"],
        addresses: &["http://127.0.0.1:1234/v1"],
        base_url_env: "LMSTUDIO_BASE_URL",
        key_env: &["LMSTUDIO_API_KEY"],
        ..LOCAL
    },
    Preset {
        names: &["llamacpp"],
        doc: "chat completions of the server of llama.cpp",
        addresses: &["http://127.0.0.1:8080/v1"],
        base_url_env: "LLAMACPP_BASE_URL",
        key_env: &["LLAMA_API_KEY"],
        tested: "llama.cpp",
        ..LOCAL
    },
    Preset {
        names: &["http"],
        doc: "an application of yours: [below](#applications)",
        codec: Codec::APPLICATION,
        needs_key: false,
        path: |it| it.path.to_owned(),
        settings: |settings, _| {
            let template = settings.iter().find(|(name, _)| name == "request").map(|(_, it)| it.to_json());
            if !has(settings, "structured") && !template.is_some_and(|it| it.contains("output_schema")) {
                settings.push(("structured".to_owned(), Val::from(Structured::Prompt.name().to_owned())));
            }
        },
        tested: "an application of this project",
        ..CHAT
    },
];

/// Where models of Vertex AI are, before the publisher.
const VERTEX: &str = "https://${GOOGLE_CLOUD_LOCATION}-aiplatform.googleapis.com/v1/projects/${GOOGLE_CLOUD_PROJECT}\
                      /locations/${GOOGLE_CLOUD_LOCATION}";

/// The global location has no host of its own.
fn without_global(address: &str) -> String {
    address.replacen("https://global-aiplatform", "https://aiplatform", 1)
}

/// An address without a path gets the version that requests have.
fn with_version(path: &str) -> &str {
    if path.is_empty() { "v1" } else { path }
}

/// The current interface of Azure has a version in its path; the classic one has it in the query, and the deployment in its path.
fn azure_path(place: &Place<'_>) -> String {
    let is_classic = place.query.is_some_and(|it| it.contains("api-version="));
    match (place.path, is_classic) {
        ("" | "openai", true) => format!("openai/deployments/{}", place.model),
        ("" | "openai", false) => "openai/v1".to_owned(),
        (path, _) => path.to_owned(),
    }
}

/// Claude is asked with a bound only.
fn bounded(settings: &mut Vec<(String, Value)>) {
    if !has(settings, "max_tokens") {
        settings.push(("max_tokens".to_owned(), Val::I(DEFAULT_MAX_TOKENS)));
    }
}

impl Preset {
    /// The settings of an endpoint: those of the author, and what the provider needs beside them.
    pub(crate) fn completed(&self, mut settings: Vec<(String, Value)>, host: &str) -> Vec<(String, Value)> {
        (self.settings)(&mut settings, host);
        if let Some(way) = self.structured
            && !has(&settings, "structured")
        {
            settings.push(("structured".to_owned(), Val::from(way.name().to_owned())));
        }
        if !self.quirks.is_empty() {
            let quirks = self.quirks.iter().map(|(name, value)| ((*name).to_owned(), Val::from((*value).to_owned())));
            settings.push(("quirks".to_owned(), Val::Map(quirks.collect::<Map<'static>>())));
        }
        settings
    }

    /// Its row in the table of the reference.
    pub(crate) fn row(&self) -> String {
        let quoted =
            |names: &[&str], then: &str| names.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(then);
        let variable = if self.base_url_env.is_empty() { "base_url" } else { self.base_url_env };
        let usual = self.addresses.first().map_or_else(String::new, |it| format!("`{it}`, or "));
        let key = match (self.key_env, self.is_signed, self.needs_key) {
            ([], ..) => "none".to_owned(),
            (env, true, _) => format!("{}, else `AWS_ACCESS_KEY_ID` and others", quoted(env, ", else ")),
            (env, false, true) => quoted(env, ", else "),
            (env, false, false) => format!("{} if set", quoted(env, ", else ")),
        };
        let names = quoted(self.names, ", also ");
        let way = self.structured.unwrap_or(Structured::JsonSchema).name();
        let way = if self.codec == Codec::APPLICATION { Structured::Prompt.name() } else { way };
        format!("| {names} | {} | {usual}`{variable}` | {key} | `{way}` | {} |\n", self.doc, self.tested)
    }
}
