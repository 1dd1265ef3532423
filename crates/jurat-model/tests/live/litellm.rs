//! LiteLLM, whose models answer the same each time, or fail the same each time.

use jurat_core::effect::Finish;
use jurat_format::value::Val;
use jurat_model::Model;

use crate::{address, answer, ask, fault, question, value};

/// What the models that answer say.
#[track_caller]
fn is_the_reply(text: &str) {
    let reply = value(text);
    assert_eq!((reply.get("pass"), reply.get("score")), (Some(&Val::Bool(true)), Some(&Val::F(1.0))), "{text}");
}

const SCHEMA: &str = r#"{"type": "object", "properties": {"pass": {"type": "boolean"}, "score": {"type": "number"},
    "reason": {"type": "string"}}, "required": ["pass", "score", "reason"], "additionalProperties": false}"#;

fn model(provider: &str, name: &str) -> Model {
    let url = address("JURAT_TEST_LITELLM");
    crate::model(&format!("{provider}/{name}"), &url, r#", "max_tokens": 100"#)
}

#[test]
fn four_wire_formats_are_spoken() {
    for provider in ["openai", "openai-responses", "anthropic", "gemini"] {
        let model = model(provider, "mock-ok");
        let plain = answer(ask(&model, &question("hello"), false));
        is_the_reply(&plain.text);
        assert_eq!((&plain.finish, plain.n_requests), (&Finish::Stop, 1), "{provider}");
        let usage = plain.usage.unwrap_or_else(|| panic!("{provider}: no usage"));
        assert!(usage.input > 0 && usage.output > 0, "{provider}: {usage:?}");
        let mut request = question("judge it");
        request.output = Some(value(SCHEMA).into());
        is_the_reply(&answer(ask(&model, &request, false)).text);
    }
}

#[test]
fn presets_ask_it_as_it_is_asked_elsewhere() {
    let url = address("JURAT_TEST_LITELLM");
    // The same server has the paths of its own interface, of Azure's current one and of Azure's classic one.
    let places =
        [("litellm", url.clone()), ("azure", format!("{url}/v1")), ("azure", format!("{url}?api-version=2024-10-21"))];
    for (provider, url) in places {
        let model = crate::model(&format!("{provider}/mock-ok"), &url, r#", "max_tokens": 100"#);
        is_the_reply(&answer(ask(&model, &question("hello"), false)).text);
        is_the_reply(&answer(ask(&model, &question("hello"), true)).text);
    }
}

#[test]
fn streams_are_read() {
    for provider in ["openai", "gemini"] {
        let streamed = answer(ask(&model(provider, "mock-ok"), &question("hello"), true));
        is_the_reply(&streamed.text);
        assert_eq!(streamed.finish, Finish::Stop, "{provider}");
    }
}

#[test]
fn an_ordinary_reply_to_a_request_for_a_stream_is_an_answer() {
    // With a mock answer this route sends plain JSON although a stream was asked for.
    is_the_reply(&answer(ask(&model("anthropic", "mock-ok"), &question("hello"), true)).text);
}

#[test]
fn failures_are_what_they_are_in_every_format() {
    for (provider, name, expected) in [
        ("openai", "mock-429", "status:429 after 2"),
        ("openai", "mock-500", "status:500 after 2"),
        ("openai", "mock-context", "status:400 after 1"),
        ("openai", "mock-timeout", "status:408 after 2"),
        ("openai", "no-such-model", "status:400 after 1"),
        ("anthropic", "mock-429", "status:429 after 2"),
        ("anthropic", "mock-500", "status:500 after 2"),
    ] {
        let (kind, message) = fault(ask(&model(provider, name), &question("hello"), false));
        assert_eq!(kind, expected, "{provider}/{name}: {message}");
        let status = expected.split([':', ' ']).nth(1).expect("a status");
        assert!(message.starts_with(&format!("HTTP {status} from ")), "{provider}/{name}: {message}");
    }
}

#[test]
fn a_stream_that_fails_is_a_fault() {
    let (kind, message) = fault(ask(&model("openai-responses", "mock-ok"), &question("hello"), true));
    assert_eq!(kind, "status:500 after 2", "{message}");
}

#[test]
fn a_hop_to_a_real_model_works_whole_and_streamed() {
    // The proxy passes these on to llama.cpp: real streams, in the format of each provider.
    for provider in ["openai", "openai-responses", "anthropic", "gemini"] {
        for stream in [false, true] {
            let answer = answer(ask(&model(provider, "to-upstream"), &question("Say hello."), stream));
            assert!(!answer.text.is_empty(), "{provider}, stream {stream}");
            let is_over = matches!(answer.finish, Finish::Stop | Finish::Length);
            assert!(is_over, "{provider}, stream {stream}: {:?}", answer.finish);
            // Its Gemini streams count nothing, which is no count of zero.
            assert_eq!(answer.usage.is_some(), !(provider == "gemini" && stream), "{provider}, stream {stream}");
        }
    }
}
