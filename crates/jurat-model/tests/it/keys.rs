//! Keys that commands print, and requests that are signed.

use std::io::Write as _;
use std::path::Path;
use std::sync::Mutex;

use jurat_model::provider::describe;
use jurat_model::{Model, Transport};
use jurat_testkit::{Answer, Endpoint, Request, Script};

use crate::asking::{NoFiles, ask, options, question, run, shown};
use crate::raw::{Raw, answer};

/// A model whose key a script of a shell prints. Each time it is started it prints the next line of `lines`.
fn model(folder: &Path, spec: &str, url: &str, lines: &[&str]) -> Model {
    for (ix, line) in lines.iter().enumerate() {
        std::fs::write(folder.join(format!("key-{ix}")), line).expect("it can be written");
    }
    let program = "#!/bin/sh\nn=$(cat n 2>/dev/null || echo 0)\necho $((n + 1)) > n\ncat key-$n\n";
    std::fs::write(folder.join("key.sh"), program).expect("it can be written");
    let settings = format!(r#"{{"base_url": "{url}", "api_key_command": "sh key.sh", "max_tokens": 9}}"#);
    let resolved = describe(spec, &crate::settings::settings(&settings), &|_| None).expect("it can be resolved");
    Model::open(resolved, folder, &NoFiles, &|_| None).expect("it can be opened")
}

const CHAT: &str = r#"{"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]}"#;

/// An endpoint that takes one key, and echoes others.
fn endpoint_for(good: &'static str) -> Endpoint {
    Endpoint::start(Script::answering(move |request: &Request| match request.header("authorization") {
        Some(sent) if sent == format!("Bearer {good}") => Answer::raw(200, "application/json", CHAT),
        sent => {
            let body = format!(r#"{{"error": {{"message": "no {}", "code": "invalid_api_key"}}}}"#, sent.unwrap_or(""));
            Answer::raw(401, "application/json", body)
        }
    }))
}

#[test]
fn a_command_is_started_once_for_many_requests() {
    let endpoint = endpoint_for("first-key-000");
    let folder = tempfile::tempdir().expect("a folder can be made");
    let model = model(folder.path(), "openai/m", &endpoint.url(), &["first-key-000\n"]);
    let transport = Transport::new(options());
    for _ in 0..3 {
        assert_eq!(shown(&run(ask(&transport, &model, &question("q")))), "stop: yes after 1");
    }
    assert_eq!(std::fs::read_to_string(folder.path().join("n")).expect("it was started").trim(), "1");
}

#[test]
fn a_key_that_is_refused_is_replaced_once() {
    let endpoint = endpoint_for("second-key-000");
    let folder = tempfile::tempdir().expect("a folder can be made");
    let keys = ["first-key-000", r#"{"access_token": "second-key-000", "expires_in": 3600}"#];
    let model = model(folder.path(), "openai/m", &endpoint.url(), &keys);
    let outcome = run(ask(&Transport::new(options()), &model, &question("q")));
    assert_eq!(shown(&outcome), "stop: yes after 1");
}

#[test]
fn keys_that_are_refused_again_are_a_fault_without_them() {
    let endpoint = endpoint_for("no-key-at-all");
    let folder = tempfile::tempdir().expect("a folder can be made");
    let model = model(folder.path(), "openai/m", &endpoint.url(), &["first-key-000", "second-key-000"]);
    let outcome = shown(&run(ask(&Transport::new(options()), &model, &question("q"))));
    assert!(outcome.starts_with("status:401 after 1: HTTP 401 from "), "{outcome}");
    assert!(outcome.ends_with("no Bearer [secret]"), "{outcome}");
}

#[test]
fn a_key_that_ends_is_replaced() {
    let endpoint = endpoint_for("second-key-000");
    let folder = tempfile::tempdir().expect("a folder can be made");
    // It ends within the next minute, so it is not used for a second request; the first one is refused by no endpoint.
    let keys =
        [r#"{"token": "second-key-000", "expires_in": 30}"#, r#"{"token": "second-key-000", "expires_in": 300}"#];
    let model = model(folder.path(), "openai/m", &endpoint.url(), &keys);
    let transport = Transport::new(options());
    for n in [1, 2, 2] {
        assert_eq!(shown(&run(ask(&transport, &model, &question("q")))), "stop: yes after 1");
        assert_eq!(std::fs::read_to_string(folder.path().join("n")).expect("it was started").trim(), n.to_string());
    }
}

#[test]
fn a_command_that_fails_says_so() {
    let endpoint = endpoint_for("x");
    let folder = tempfile::tempdir().expect("a folder can be made");
    let model = model(folder.path(), "openai/m", &endpoint.url(), &[]);
    let outcome = shown(&run(ask(&Transport::new(options()), &model, &question("q"))));
    let expected = "connect after 1: the command `sh` of `api_key_command` ended with exit status: 1: cat: key-0:";
    assert!(outcome.starts_with(expected), "{outcome}");
}

#[test]
fn azure_gets_a_key_of_a_variable_in_its_own_header_and_a_token_as_any() {
    let seen: &'static Mutex<Vec<String>> = Box::leak(Box::default());
    let endpoint = Endpoint::start(Script::answering(move |request: &Request| {
        let header = |name: &str| request.header(name).unwrap_or("none").to_owned();
        let line = format!("{} {} {}", request.path, header("api-key"), header("authorization"));
        seen.lock().expect("no test panics with it").push(line);
        Answer::raw(200, "application/json", CHAT)
    }));
    let url = endpoint.url();
    let url = url.strip_suffix("/v1").unwrap_or(&url);
    let folder = tempfile::tempdir().expect("a folder can be made");
    let by_command = model(folder.path(), "azure/d", url, &["token-000"]);
    let settings = format!(r#"{{"base_url": "{url}?api-version=2024-10-21"}}"#);
    let env = |name: &str| (name == "AZURE_OPENAI_API_KEY").then(|| "key-000".to_owned());
    let by_variable = crate::asking::model_with("azure/d", &settings, &env);
    for model in [&by_command, &by_variable] {
        assert_eq!(shown(&run(ask(&Transport::new(options()), model, &question("q")))), "stop: yes after 1");
    }
    let seen = seen.lock().expect("no test panics with it").clone();
    let expected = [
        "/openai/v1/chat/completions none Bearer token-000",
        "/openai/deployments/d/chat/completions?api-version=2024-10-21 key-000 none",
    ];
    assert_eq!(seen, expected);
}

#[test]
fn bedrock_gets_signed_requests() {
    let body = r#"{"output": {"message": {"content": [{"text": "yes"}]}}, "stopReason": "end_turn"}"#;
    let server = Raw::start(move |number, stream| {
        let json = "content-type: application/json\r\n";
        let bytes = match number {
            // The first key of the command is over.
            1 => {
                answer("403 Forbidden", json, r#"{"message": "The security token included in the request is expired"}"#)
            }
            _ => answer("200 OK", json, body),
        };
        drop(stream.write_all(&bytes));
    });
    let env = |name: &str| {
        let value = match name {
            "AWS_ACCESS_KEY_ID" => "FROMENV",
            "AWS_SECRET_ACCESS_KEY" => "a-secret-0123456789",
            "AWS_REGION" => "eu-west-1",
            _ => return None,
        };
        Some(value.to_owned())
    };
    let url = server.url();
    let by_variables =
        crate::asking::model_with("bedrock/vendor.model-v1:0", &format!(r#"{{"base_url": "{url}"}}"#), &env);
    let folder = tempfile::tempdir().expect("a folder can be made");
    let printed = |id: &str| format!(r#"{{"AccessKeyId": "{id}", "SecretAccessKey": "b-secret-0123456789"}}"#);
    let by_command = model(folder.path(), "bedrock/m", &url, &[&printed("OLD"), &printed("NEW")]);
    for model in [&by_variables, &by_command] {
        assert_eq!(shown(&run(ask(&Transport::new(options()), model, &question("q")))), "stop: yes after 1");
    }
    let seen = server.seen();
    let heads: Vec<&str> = seen.iter().map(|it| it.head[0].as_str()).collect();
    let path = |model: &str| format!("post /model/{model}/converse http/1.1");
    assert_eq!(heads, [path("vendor.model-v1%3a0"), path("m"), path("m")]);
    for (request, credential) in
        seen.iter().zip(["fromenv/20270115/eu-west-1", "old/20270115/us-east-1", "new/20270115/us-east-1"])
    {
        let start =
            format!("aws4-hmac-sha256 credential={credential}/bedrock/aws4_request, signedheaders=host;x-amz-date");
        let signature = request.header("authorization").unwrap_or("none");
        assert!(signature.starts_with(&start), "{signature}");
        assert_eq!(request.header("x-amz-date"), Some("20270115t080000z"));
    }
}
