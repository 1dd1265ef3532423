//! `provider/model` and its settings: which endpoint is asked, or why none is.

use jurat_core::effect::ModelRequest;
use jurat_core::effect::wire::request_json;
use jurat_core::model::ModelSettings;
use jurat_model::provider::describe;
use jurat_model::{ResolveError, ResolvedModel};

fn resolved(spec: &str, settings: &str, env: &[(&str, &str)]) -> Result<ResolvedModel, ResolveError> {
    let env = |name: &str| env.iter().find(|(it, _)| *it == name).map(|(_, value)| (*value).to_owned());
    let model = describe(spec, &crate::settings::settings(settings), &env)?;
    model.has_what_it_needs(&env)?;
    Ok(model)
}

/// Codec, address, model, key and what is stored of the settings.
#[track_caller]
fn is_asked(spec: &str, settings: &str, env: &[(&str, &str)], expected: &str) {
    let model = resolved(spec, settings, env).unwrap_or_else(|error| panic!("{spec}: {error}"));
    let endpoint = &model.endpoint;
    let settings: Vec<String> = endpoint.settings.iter().map(|(name, value)| format!(" {name}={value}")).collect();
    let headers: Vec<String> = endpoint.headers.iter().map(|(name, value)| format!(" {name}: {value}")).collect();
    let (settings, headers) = (settings.concat(), headers.concat());
    let key = model.key_env.as_deref().unwrap_or("no key");
    let found = format!("{} {} {} {key}{settings}{headers}", endpoint.codec, endpoint.address, endpoint.model);
    assert_eq!(found, expected);
}

#[track_caller]
fn is_refused(spec: &str, settings: &str, env: &[(&str, &str)], expected: &str) {
    let error = resolved(spec, settings, env).expect_err(spec);
    assert_eq!(error.to_string(), expected);
}

const OPENAI: (&str, &str) = ("OPENAI_API_KEY", "sk-1");

#[test]
fn providers_are_where_they_usually_are() {
    is_asked("openai/gpt-5", "{}", &[OPENAI], "openai_chat https://api.openai.com/v1 gpt-5 OPENAI_API_KEY");
    is_asked(
        "openai-responses/gpt-5",
        "{}",
        &[OPENAI],
        "openai_responses https://api.openai.com/v1 gpt-5 OPENAI_API_KEY",
    );
    is_asked(
        "anthropic/claude-haiku-4-5",
        "{}",
        &[("ANTHROPIC_API_KEY", "x")],
        "anthropic_messages https://api.anthropic.com claude-haiku-4-5 ANTHROPIC_API_KEY max_tokens=4096",
    );
    is_asked(
        "anthropic/claude-haiku-4-5",
        r#"{"max_tokens": 10}"#,
        &[("ANTHROPIC_API_KEY", "x")],
        "anthropic_messages https://api.anthropic.com claude-haiku-4-5 ANTHROPIC_API_KEY max_tokens=10",
    );
    let gemini = "gemini_generate https://generativelanguage.googleapis.com gemini-2.5-flash";
    is_asked("gemini/gemini-2.5-flash", "{}", &[("GEMINI_API_KEY", "x")], &format!("{gemini} GEMINI_API_KEY"));
    is_asked("google/gemini-2.5-flash", "{}", &[("GOOGLE_API_KEY", "x")], &format!("{gemini} GOOGLE_API_KEY"));
    is_asked(
        "gemini/gemini-2.5-flash",
        "{}",
        &[("GOOGLE_API_KEY", "x"), ("GEMINI_API_KEY", "y")],
        &format!("{gemini} GEMINI_API_KEY"),
    );
    is_asked("ollama/llama3.2:3b", "{}", &[], "ollama_chat http://127.0.0.1:11434 llama3.2:3b no key");
    is_asked("script/answers/a.jsonl", "{}", &[], "script  answers/a.jsonl no key");
    is_asked("exec/./judge.py --fast", r#"{"temperature": 0}"#, &[], "exec ./judge.py --fast  no key temperature=0");
    // The name of a model may have slashes of its own.
    is_asked(
        "openai/meta/llama-3",
        r#"{"base_url": "http://localhost:8000/v1"}"#,
        &[],
        "openai_chat http://localhost:8000/v1 meta/llama-3 no key",
    );
}

#[test]
fn addresses_have_one_form() {
    let address = |spec: &str, base_url: &str, env: &[(&str, &str)]| {
        let settings = if base_url.is_empty() { "{}".to_owned() } else { format!(r#"{{"base_url": "{base_url}"}}"#) };
        resolved(spec, &settings, env).map_or_else(|error| error.to_string(), |it| it.endpoint.address)
    };
    for (spec, base_url, expected) in [
        ("openai/m", "http://127.0.0.1:8080", "http://127.0.0.1:8080/v1"),
        ("openai/m", "http://127.0.0.1:8080/", "http://127.0.0.1:8080/v1"),
        ("openai/m", "http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080/v1"),
        ("openai/m", "https://host/openai/deployments/x", "https://host/openai/deployments/x"),
        ("anthropic/m", "http://host", "http://host"),
        ("anthropic/m", "http://host/v1/", "http://host"),
        ("anthropic/m", "http://host/proxy/v1", "http://host/proxy"),
        ("anthropic/m", "http://host/proxyv1", "http://host/proxyv1"),
        ("gemini/m", "http://host/v1beta", "http://host"),
        ("gemini/m", "http://host/v1", "http://host"),
        ("openai/m", "http://host?a=1", "http://host/v1?a=1"),
        ("openai/m", "http://host/x/?a=1", "http://host/x?a=1"),
        ("openai/m", "http://host/x?", "http://host/x"),
        ("ollama/m", "http://host:1/x", "http://host:1/x"),
        ("ollama/m", "host:1", "http://host:1"),
    ] {
        assert_eq!(address(spec, base_url, &[]), expected, "{spec} {base_url}");
    }
    for (host, expected) in [
        ("127.0.0.1:9999", "http://127.0.0.1:9999"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:8000", "http://127.0.0.1:8000"),
        (":8000", "http://127.0.0.1:8000"),
        ("box", "http://box:11434"),
        ("http://box", "http://box"),
        ("https://box.example/ollama/", "https://box.example/ollama"),
        ("[::1]:11434", "http://[::1]:11434"),
        ("[::1]", "http://[::1]:11434"),
    ] {
        assert_eq!(address("ollama/m", "", &[("OLLAMA_HOST", host)]), expected, "{host}");
    }
    assert_eq!(address("openai/m", "", &[("OPENAI_BASE_URL", "http://gateway/v1")]), "http://gateway/v1");
    assert_eq!(address("openai/m", "http://suite/v1", &[("OPENAI_BASE_URL", "http://gateway/v1")]), "http://suite/v1");
    assert_eq!(address("anthropic/m", "", &[("ANTHROPIC_BASE_URL", "http://gateway")]), "http://gateway");
    assert_eq!(address("gemini/m", "", &[("GOOGLE_GEMINI_BASE_URL", "http://gateway")]), "http://gateway");
}

#[test]
fn a_key_is_there_before_anything_is_asked() {
    is_refused(
        "openai/gpt-5",
        "{}",
        &[("OPENAI_API_KEY", "")],
        "`openai/gpt-5` needs a key: set `OPENAI_API_KEY` in the environment, or in a file `.env` beside the suite, above it up to the root of the project, or in the current directory",
    );
    is_refused(
        "gemini/gemini-2.5-flash",
        "{}",
        &[],
        "`gemini/gemini-2.5-flash` needs a key: set `GEMINI_API_KEY` or `GOOGLE_API_KEY` in the environment, or in a file `.env` beside the suite, above it up to the root of the project, or in the current directory",
    );
    is_refused(
        "openai/m",
        r#"{"base_url": "http://host/v1", "api_key_env": "GATEWAY_KEY"}"#,
        &[OPENAI],
        "`openai/m` needs a key: set `GATEWAY_KEY` in the environment, or in a file `.env` beside the suite, above it up to the root of the project, or in the current directory",
    );
    // At another address the usual key is sent if it is there, and not needed if it is not.
    let at_host = r#"{"base_url": "http://host/v1"}"#;
    is_asked("openai/m", at_host, &[], "openai_chat http://host/v1 m no key");
    is_asked("openai/m", at_host, &[OPENAI], "openai_chat http://host/v1 m OPENAI_API_KEY");
    is_asked(
        "ollama/m",
        r#"{"api_key_env": "OLLAMA_API_KEY", "base_url": "https://ollama.com"}"#,
        &[("OLLAMA_API_KEY", "x")],
        "ollama_chat https://ollama.com m OLLAMA_API_KEY",
    );
    // With a header of its own a model needs no key, but the variables in it.
    let header = r#"{"headers": {"Authorization": "Bearer ${TEAM_KEY}", "x-team": "a"}}"#;
    is_asked(
        "openai/m",
        header,
        &[("TEAM_KEY", "x")],
        "openai_chat https://api.openai.com/v1 m no key Authorization: Bearer ${TEAM_KEY} x-team: a",
    );
    is_refused(
        "openai/m",
        header,
        &[],
        "the header `Authorization` of `openai/m` needs `TEAM_KEY`: set it in the environment or in a file `.env`",
    );
    assert!(describe("openai/gpt-5", &ModelSettings::default(), &|_| None).is_ok());
}

#[test]
fn what_cannot_be_asked_says_why() {
    const ALL: &str = "`openai`, `openai-responses`, `anthropic`, `gemini`, `ollama`, `azure`, `bedrock`, `vertex`, \
                       `vertex-anthropic`, `mistral`, `groq`, `deepseek`, `moonshot`, `openrouter`, `together`, `fireworks`, `xai`, \
                       `cerebras`, `huggingface`, `litellm`, `vllm`, `lmstudio`, `llamacpp`, `http`, `script`, `exec` and `call`";
    is_refused("gpt-5", "{}", &[], &format!("`gpt-5` is not `provider/model`; providers are {ALL}"));
    is_refused("/x", "{}", &[], &format!("`/x` is not `provider/model`; providers are {ALL}"));
    is_refused(
        "antropic/claude",
        "{}",
        &[],
        &format!("there is no provider `antropic`; providers are {ALL}; did you mean `anthropic`?"),
    );
    is_refused("zzz/x", "{}", &[], &format!("there is no provider `zzz`; providers are {ALL}"));
    for (settings, message) in [
        (
            r#"{"base_url": "host/v1"}"#,
            "`base_url` of `openai/m` must begin with `http://` or `https://`, not `host/v1`",
        ),
        (
            r#"{"base_url": "http://a b/"}"#,
            "`base_url` of `openai/m` must be an address such as `https://host:8080/v1`, not `http://a b/`",
        ),
        (
            r#"{"base_url": "http://h/v1?x=a b"}"#,
            "`base_url` of `openai/m` must be an address such as `https://host:8080/v1`, not `http://h/v1`",
        ),
        (
            r#"{"base_url": "http://user:word@host/v1"}"#,
            "`base_url` of `openai/m` must not hold a password; send it as a header: `headers: { authorization: \"Basic ${NAME}\" }`",
        ),
        (r#"{"headers": {"a b": "c"}}"#, "`headers` of `openai/m` has `a b`, which is no name of a header"),
        (r#"{"headers": {"a": "b\n"}}"#, "`headers` of `openai/m` has `a` with a value that no header can have"),
        (r#"{"headers": {"Host": "b"}}"#, "`headers` of `openai/m` has `Host`, which belongs to the connection"),
        (
            r#"{"extra": {"model": "x"}}"#,
            "`openai/m` cannot be asked like this: `model` under `extra` is already in the request; leave it out there",
        ),
    ] {
        is_refused("openai/m", settings, &[OPENAI], message);
    }
    is_refused(
        "anthropic/m",
        r#"{"seed": 1}"#,
        &[("ANTHROPIC_API_KEY", "x")],
        "`anthropic/m` cannot be asked like this: Anthropic has no `seed`; leave it out",
    );
    is_refused(
        "script/a.jsonl",
        r#"{"base_url": "http://h"}"#,
        &[],
        "`base_url` of `script/a.jsonl` is for models that are asked over the network",
    );
    is_refused(
        "script/a.jsonl",
        r#"{"shared": true}"#,
        &[],
        "`shared` of `script/a.jsonl` is for models that are asked over the network",
    );
    is_refused(
        "http/bot",
        r#"{"shared": true, "base_url": "http://h"}"#,
        &[],
        "`shared` of `http/bot` is for models: responses of applications are not reused",
    );
}

#[test]
fn prices_are_the_authors_else_the_lists_else_unknown() {
    let price = |spec: &str, settings: &str| {
        let env = [OPENAI, ("ANTHROPIC_API_KEY", "x")];
        resolved(spec, settings, &env).expect(spec).price.map(|it| (it.input, it.output))
    };
    assert_eq!(price("openai/gpt-4o-mini", "{}"), Some((0.15, 0.6)));
    assert_eq!(price("openai-responses/gpt-4o-mini", "{}"), Some((0.15, 0.6)));
    assert_eq!(price("openai/gpt-4o-mini", r#"{"price": {"input": 1, "output": 2.5}}"#), Some((1.0, 2.5)));
    assert_eq!(price("openai/gpt-4o-mini", r#"{"base_url": "http://host/v1"}"#), None);
    assert_eq!(price("openai/nobody-knows", "{}"), None);
    assert_eq!(price("ollama/m", "{}"), None);
}

#[test]
fn what_is_stored_has_no_secret() {
    let env = [("KEY", "sk-very-secret-value"), ("TEAM", "another-secret")];
    let settings = r#"{"api_key_env": "KEY", "headers": {"x-team": "${TEAM}"}}"#;
    let model = resolved("openai/m", settings, &env).expect("it resolves");
    let stored = request_json(&model.endpoint, &ModelRequest::new("judge", Vec::new()));
    for text in [format!("{model:?}"), stored] {
        assert!(!text.contains("secret-value") && !text.contains("another-secret"), "{text}");
    }
}

#[track_caller]
fn embeds(spec: &str, settings: &str, env: &[(&str, &str)], expected: &str) {
    let embedding = resolved(spec, settings, env).expect("it can be asked").embedding();
    let found =
        embedding.map_or_else(|it| it.to_string(), |it| format!("{} {}", it.endpoint.codec, it.endpoint.address));
    assert_eq!(found, expected);
}

#[test]
fn embeddings_are_requested_from_providers_that_have_them() {
    embeds("openai/text-embedding-3-small", "{}", &[OPENAI], "openai_embeddings https://api.openai.com/v1");
    embeds("openai-responses/text-embedding-3-small", "{}", &[OPENAI], "openai_embeddings https://api.openai.com/v1");
    let gemini = "gemini_embed https://generativelanguage.googleapis.com";
    embeds("gemini/gemini-embedding-001", "{}", &[("GEMINI_API_KEY", "x")], gemini);
    embeds("ollama/nomic-embed-text", "{}", &[], "ollama_embed http://127.0.0.1:11434");
    embeds("script/vectors.jsonl", "{}", &[], "script ");
    embeds(
        "anthropic/claude-haiku-4-5",
        "{}",
        &[("ANTHROPIC_API_KEY", "x")],
        "`anthropic/claude-haiku-4-5` cannot be asked for embeddings: its provider has none; models of `openai`, \
         `openai-responses`, `gemini`, `ollama`, `azure`, `mistral`, `groq`, `deepseek`, `moonshot`, `openrouter`, `together`, \
         `fireworks`, `xai`, `cerebras`, `huggingface`, `litellm`, `vllm`, `lmstudio`, `llamacpp`, `script`, `exec` or `call` can",
    );
    embeds(
        "openai/text-embedding-3-small",
        r#"{"temperature": 0}"#,
        &[OPENAI],
        "`openai/text-embedding-3-small` cannot be asked like this: an embedding has no `temperature`; leave it out",
    );
}

#[test]
fn providers_that_take_no_schema_get_it_in_the_prompt() {
    let way = |settings: &str| {
        let model = resolved("openai/m", settings, &[]).expect("it can be asked");
        model.endpoint.setting("structured").and_then(|it| it.as_str().map(str::to_owned))
    };
    assert_eq!(way(r#"{"base_url": "https://api.deepseek.com"}"#).as_deref(), Some("json_object"));
    assert_eq!(way(r#"{"base_url": "https://api.deepseek.com", "structured": "prompt"}"#).as_deref(), Some("prompt"));
    assert_eq!(way(r#"{"base_url": "http://127.0.0.1:8080/v1"}"#), None);
    let refused = resolved("anthropic/m", r#"{"base_url": "http://h", "structured": "json_object"}"#, &[]);
    let refused = refused.map_err(|it| it.to_string());
    let expected = "`anthropic/m` cannot be asked like this: Anthropic has no `structured: json_object`; leave it out";
    assert_eq!(refused.map(|it| it.name), Err(expected.to_owned()));
}

#[test]
fn presets_have_an_address_a_key_and_quirks() {
    for (spec, env, expected) in [
        (
            "mistral/m",
            ("MISTRAL_API_KEY", "x"),
            r#"openai_chat https://api.mistral.ai/v1 m MISTRAL_API_KEY quirks={"seed": "random_seed", "stream_options": "none"}"#,
        ),
        (
            "groq/openai/gpt-oss-20b",
            ("GROQ_API_KEY", "x"),
            r#"openai_chat https://api.groq.com/openai/v1 openai/gpt-oss-20b GROQ_API_KEY quirks={"max_tokens": "max_completion_tokens"}"#,
        ),
        (
            "deepseek/m",
            ("DEEPSEEK_API_KEY", "x"),
            r#"openai_chat https://api.deepseek.com/v1 m DEEPSEEK_API_KEY structured="json_object""#,
        ),
        ("together/m", ("TOGETHER_API_KEY", "x"), "openai_chat https://api.together.xyz/v1 m TOGETHER_API_KEY"),
        ("llamacpp/m", ("NONE", ""), "openai_chat http://127.0.0.1:8080/v1 m no key"),
        ("vllm/m", ("VLLM_API_KEY", "x"), "openai_chat http://127.0.0.1:8000/v1 m VLLM_API_KEY"),
        ("vllm/m", ("VLLM_BASE_URL", "http://box:9"), "openai_chat http://box:9/v1 m no key"),
    ] {
        is_asked(spec, "{}", &[env], expected);
    }
    is_refused(
        "groq/m",
        "{}",
        &[],
        "`groq/m` needs a key: set `GROQ_API_KEY` in the environment, or in a file `.env` beside the suite, above it up to the root of the project, or in the current directory",
    );
}

#[test]
fn azure_has_two_forms_of_address() {
    let env = |url| [("AZURE_OPENAI_ENDPOINT", url), ("AZURE_OPENAI_API_KEY", "x")];
    let quirks = r#"quirks={"max_tokens": "max_completion_tokens"}"#;
    for (url, address) in [
        ("https://h.openai.azure.com/", "https://h.openai.azure.com/openai/v1"),
        ("https://h.openai.azure.com/openai/v1/", "https://h.openai.azure.com/openai/v1"),
        (
            "https://h.openai.azure.com?api-version=2024-10-21",
            "https://h.openai.azure.com/openai/deployments/d?api-version=2024-10-21",
        ),
        (
            "https://h.openai.azure.com/openai/deployments/other?api-version=2024-10-21",
            "https://h.openai.azure.com/openai/deployments/other?api-version=2024-10-21",
        ),
    ] {
        is_asked("azure/d", "{}", &env(url), &format!("openai_chat {address} d AZURE_OPENAI_API_KEY {quirks}"));
    }
    is_refused(
        "azure/d",
        "{}",
        &[("AZURE_OPENAI_API_KEY", "x")],
        "`azure/d` needs an address: set `AZURE_OPENAI_ENDPOINT` in the environment or in a file `.env`, or write `base_url`",
    );
    is_refused(
        "azure/d",
        r#"{"base_url": "https://h.openai.azure.com"}"#,
        &[],
        "`azure/d` needs a key: set `AZURE_OPENAI_API_KEY` in the environment, or in a file `.env` beside the suite, above it up to the root of the project, or in the current directory",
    );
}

#[test]
fn vertex_and_bedrock_have_their_region_in_the_address() {
    let token = ("GOOGLE_OAUTH_ACCESS_TOKEN", "x");
    let project = ("GOOGLE_CLOUD_PROJECT", "my-project");
    is_asked(
        "vertex/gemini-2.5-flash",
        "{}",
        &[token, project, ("GOOGLE_CLOUD_LOCATION", "europe-west1")],
        "vertex_generate https://europe-west1-aiplatform.googleapis.com/v1/projects/my-project/locations/europe-west1 \
         gemini-2.5-flash GOOGLE_OAUTH_ACCESS_TOKEN",
    );
    is_asked(
        "vertex-anthropic/claude-haiku-4-5@20251001",
        "{}",
        &[token, project, ("GOOGLE_CLOUD_LOCATION", "global")],
        "vertex_messages https://aiplatform.googleapis.com/v1/projects/my-project/locations/global claude-haiku-4-5@20251001 \
         GOOGLE_OAUTH_ACCESS_TOKEN max_tokens=4096",
    );
    is_refused(
        "vertex/m",
        "{}",
        &[token, project],
        "`base_url: https://${GOOGLE_CLOUD_LOCATION}-aiplatform.googleapis.com/v1/projects/${GOOGLE_CLOUD_PROJECT}/locations/${GOOGLE_CLOUD_LOCATION}` \
         needs `GOOGLE_CLOUD_LOCATION`: set it in the environment or in a file `.env`",
    );
    // A part of the address that is more than a part would name another host.
    is_refused(
        "vertex/m",
        "{}",
        &[token, project, ("GOOGLE_CLOUD_LOCATION", "evil.example/x")],
        "`vertex/m` cannot be asked: `GOOGLE_CLOUD_LOCATION` may hold letters, digits, `-`, `_` and `.` only",
    );
    let bedrock = "bedrock_converse https://bedrock-runtime.eu-west-1.amazonaws.com m";
    let account = [("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b"), ("AWS_DEFAULT_REGION", "eu-west-1")];
    is_asked("bedrock/m", "{}", &account, &format!("{bedrock} no key"));
    let bearer = [("AWS_BEARER_TOKEN_BEDROCK", "a"), ("AWS_REGION", "eu-west-1")];
    is_asked("bedrock/m", "{}", &bearer, &format!("{bedrock} AWS_BEARER_TOKEN_BEDROCK"));
    is_refused(
        "bedrock/m",
        "{}",
        &[("AWS_REGION", "eu-west-1"), ("AWS_ACCESS_KEY_ID", "a")],
        "`bedrock/m` needs a key: set `AWS_BEARER_TOKEN_BEDROCK` or `AWS_SECRET_ACCESS_KEY` in the environment, or in a file `.env` beside the suite, above it up to the root of the project, or in the current directory",
    );
}

#[test]
fn a_key_has_one_source() {
    is_asked(
        "openai/m",
        r#"{"api_key_command": "print-key --now"}"#,
        &[OPENAI],
        "openai_chat https://api.openai.com/v1 m no key",
    );
    is_refused(
        "openai/m",
        r#"{"api_key_command": "a", "api_key_env": "B"}"#,
        &[],
        "`api_key_command` of `openai/m` and `api_key_env` are two sources of one key; leave one out",
    );
    is_refused(
        "openai/m",
        r#"{"api_key_command": "a 'b"}"#,
        &[],
        "`api_key_command` of `openai/m` is no command: a quote is never closed",
    );
}
