//! Endpoints that misbehave: nothing hangs, no key is sent or shown elsewhere, no readable answer is lost, and what is paid for is not asked for again
//! without need.

use std::io::{Read as _, Write as _};

use jurat_core::effect::{Outcome, Usage};
use jurat_model::{Transport, TransportOptions};

use crate::asking::{KEY, ask, model, model_with, options, question, run, shown};
use crate::raw::{Raw, answer};

fn asked_with(options: TransportOptions, provider: &str, server: &Raw) -> Outcome {
    run(async { ask(&Transport::new(options), &model(provider, &server.url()), &question("capital?")).await })
}

fn asked(provider: &str, server: &Raw) -> Outcome {
    asked_with(options(), provider, server)
}

const PARIS: &str = r#"{"choices": [{"message": {"content": "Paris"}, "finish_reason": "stop"}]}"#;

/// Tokens read and written, when they are counted.
type Tokens = Option<(u64, u64)>;

/// Replies whose content is readable, with members around it as gateways write them; the tokens that are counted.
const ODD: [(&str, &str, Tokens); 9] = [
    (
        "openai",
        r#"{"id": 7, "model": null, "choices": [{"message": {"content": "Paris"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": null, "completion_tokens": 10.0}}"#,
        Some((0, 10)),
    ),
    (
        "openai",
        r#"{"id": {}, "model": [1], "choices": [{"index": "0", "message": {"content": "Paris"}, "finish_reason": null}], "usage": {"prompt_tokens": "12", "completion_tokens": 3, "prompt_tokens_details": []}}"#,
        Some((12, 3)),
    ),
    ("openai", r#"{"choices": [{"message": {"content": "Paris"}}], "usage": "none"}"#, None),
    ("openai", r#"{"choices": [{"message": {"content": "Paris"}}], "usage": {"prompt_tokens": -1}}"#, None),
    (
        "openai-responses",
        r#"{"id": 7, "status": "completed", "output": [{"type": "message", "content": [{"type": "output_text", "text": "Paris"}]}], "usage": {"input_tokens": 4.0, "output_tokens": null}}"#,
        Some((4, 0)),
    ),
    (
        "anthropic",
        r#"{"id": 7, "model": 3, "content": [{"type": "text", "text": "Paris"}], "stop_reason": "end_turn", "usage": {"input_tokens": 4.0, "output_tokens": "2"}}"#,
        Some((4, 2)),
    ),
    (
        "gemini",
        r#"{"candidates": [{"content": {"parts": [{"text": "Paris"}]}, "finishReason": "STOP"}], "responseId": 7, "usageMetadata": {"promptTokenCount": 4.0, "candidatesTokenCount": null}}"#,
        Some((4, 0)),
    ),
    (
        "ollama",
        r#"{"model": 7, "message": {"content": "Paris"}, "done": true, "done_reason": null, "prompt_eval_count": 4.0, "eval_count": "x"}"#,
        Some((4, 0)),
    ),
    ("ollama", r#"{"message": {"content": "Paris"}, "done": true, "prompt_eval_count": []}"#, None),
];

#[test]
fn a_readable_reply_is_not_lost_for_what_stands_around_it() {
    for (provider, body, tokens) in ODD {
        let outcome = asked(provider, &Raw::saying(answer("200 OK", "", body)));
        let Outcome::Answer(answer) = &outcome else { panic!("{provider} {body}: {outcome:?}") };
        assert_eq!((answer.text.as_str(), answer.n_requests), ("Paris", 1), "{provider} {body}");
        let expected = tokens.map(|(input, output)| Usage { input, output, ..Usage::default() });
        assert_eq!(answer.usage, expected, "{provider} {body}");
    }
}

#[test]
fn arguments_may_be_an_object() {
    let call = |arguments: &str| {
        let body = format!(
            r#"{{"choices": [{{"message": {{"tool_calls": [{{"id": 1, "function": {{"name": "f", "arguments": {arguments}}}}}]}}}}]}}"#
        );
        shown(&asked("openai", &Raw::saying(answer("200 OK", "", body))))
    };
    for arguments in [r#"{"q": 1}"#, r#""{\"q\": 1}""#] {
        assert_eq!(call(arguments), r#"tool_calls:  f({"q": 1}) after 1"#);
    }
    assert_eq!(call("null"), "tool_calls:  f({}) after 1");
}

#[test]
fn content_of_another_kind_is_no_reply() {
    for body in [
        r#"{"choices": [{"message": {"content": 5}}]}"#,
        r#"{"choices": [{"message": "Paris"}]}"#,
        r#"{"choices": {}}"#,
        "[]",
        "null",
        "",
        "Paris",
    ] {
        let outcome = asked("openai", &Raw::saying(answer("200 OK", "", body)));
        assert!(shown(&outcome).starts_with("garbled after 4: invalid reply from 127.0.0.1:"), "{body}: {outcome:?}");
    }
    let outcome =
        asked("openai", &Raw::saying(answer("200 OK", "", b"{\"choices\": [{\"message\": {\"content\": \"\xff\"}}]}")));
    assert!(shown(&outcome).starts_with("garbled after 4: "), "{outcome:?}");
}

#[test]
fn a_redirect_on_the_same_host_is_followed() {
    for location in ["/elsewhere?x=1", "http://HOST/elsewhere?x=1"] {
        for status in ["307 Temporary Redirect", "308 Permanent Redirect"] {
            let server = Raw::start(move |number, stream| {
                let host = stream.local_addr().expect("it has an address").to_string();
                let headers = format!("location: {}\r\nconnection: close\r\n", location.replace("HOST", &host));
                let bytes = if number == 0 { answer(status, &headers, "") } else { answer("200 OK", "", PARIS) };
                stream.write_all(&bytes).expect("it is read");
            });
            assert_eq!(shown(&asked("openai", &server)), "stop: Paris after 1");
            let seen = server.seen();
            assert_eq!(seen[1].head[0], "post /elsewhere?x=1 http/1.1");
            assert_eq!(seen[0].body, seen[1].body);
        }
    }
}

#[test]
fn a_redirect_elsewhere_takes_no_key_along() {
    let other = Raw::saying(answer("200 OK", "", PARIS));
    for status in
        ["301 Moved Permanently", "302 Found", "303 See Other", "307 Temporary Redirect", "308 Permanent Redirect"]
    {
        let server = Raw::saying(answer(status, &format!("location: {}/v1?key={KEY}\r\n", other.url()), ""));
        let outcome = asked("openai", &server);
        let Outcome::Fault(fault) = &outcome else { panic!("{status}: {outcome:?}") };
        let number = &status[..3];
        assert_eq!(
            fault.text(),
            format!(
                "HTTP {number} from {}: it redirects to `{}/v1?key=[secret]`, which is not followed; if that address is right, \
                 make it `base_url` (role judge)",
                server.address,
                other.url()
            )
        );
        assert_eq!((fault.class.name(), fault.n_requests), ("unreachable", 1), "{status}");
    }
    assert_eq!(other.seen().len(), 0);
    let endless = Raw::saying(answer("307 Temporary Redirect", "location: /v1\r\nconnection: close\r\n", ""));
    assert!(shown(&asked("openai", &endless)).starts_with("status:308 after 1: 127.0.0.1:"));
    assert_eq!(endless.seen().len(), 5);
}

#[test]
fn what_is_compressed_is_refused_once_and_in_words() {
    for encoding in ["gzip", "br", "deflate"] {
        let server = Raw::saying(answer("200 OK", &format!("content-encoding: {encoding}\r\n"), [0x1f, 0x8b, 8, 0]));
        let expected = format!(
            "garbled after 1: the reply of {} is compressed (`{encoding}`), although `identity` was asked for",
            server.address
        );
        assert_eq!(shown(&asked("openai", &server)), expected);
        assert_eq!(server.seen()[0].header("accept-encoding"), Some("identity"));
    }
}

/// A body without an end, as long as the client reads it.
fn endless(head: &'static str, piece: &str) -> Raw {
    let pieces = piece.repeat(1 + (1 << 20) / piece.len());
    Raw::start(move |_, stream| {
        let mut is_read = stream.write_all(head.as_bytes()).is_ok();
        while is_read {
            is_read = stream.write_all(pieces.as_bytes()).is_ok();
        }
    })
}

#[test]
fn a_body_without_end_is_read_to_a_bound() {
    const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    // Large events: a million small ones take longer than the time limit on a busy machine.
    let event = format!("data: {{\"choices\": [{{\"delta\": {{\"content\": \"{}\"}}}}]}}\n\n", "x".repeat(4_000));
    let comment = format!(": {}\n\n", "nothing ".repeat(500));
    for (stream, piece) in [(false, "x"), (true, event.as_str()), (true, comment.as_str()), (true, "data: x")] {
        let server = endless(HEAD, piece);
        let outcome = shown(&asked_with(TransportOptions { stream, ..options() }, "openai", &server));
        assert_eq!(
            outcome,
            format!("garbled after 1: the reply of {} has more than 64 MiB", server.address),
            "{}",
            &piece[..7.min(piece.len())]
        );
    }
}

#[test]
fn garbage_in_a_stream_is_no_answer() {
    for garbage in ["data: {]\n\n", "data: \u{0}\n\ndata: [DONE]\n\n", "<html>\n\n", "data: 5\n\n", "\n\n\n"] {
        let server = Raw::saying(answer("200 OK", "content-type: text/event-stream\r\n", garbage));
        let outcome = asked_with(TransportOptions { stream: true, ..options() }, "openai", &server);
        assert!(matches!(&outcome, Outcome::Fault(fault) if fault.n_requests == 4), "{garbage}: {outcome:?}");
    }
}

#[test]
fn headers_without_end_are_no_reply() {
    let server = endless("HTTP/1.1 200 OK\r\nx-a: ", "a");
    assert!(shown(&asked("openai", &server)).starts_with("garbled after 4: the reply of 127.0.0.1:"));
}

#[test]
fn a_reply_that_stops_halfway_times_out_twice_at_most() {
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"choices\":";
    let server = Raw::start(move |_, stream| {
        stream.write_all(head.as_bytes()).expect("it is read");
        // Until the client gives up.
        while stream.read(&mut [0; 64]).is_ok_and(|n| n > 0) {}
    });
    let settings = format!(r#"{{"base_url": "{}", "timeout": "300ms", "api_key_env": "KEY"}}"#, server.url());
    let model = model_with("openai/m", &settings, &|name| (name == "KEY").then(|| KEY.to_owned()));
    let outcome = run(async { ask(&Transport::new(options()), &model, &question("capital?")).await });
    let expected = format!(
        "timeout after 2: no answer from {} within 0.3 s; it was asked 2 times and not again, because each request may be paid for",
        server.address
    );
    assert_eq!(shown(&outcome), expected);
}

#[test]
fn the_authors_own_authentication_stands_alone() {
    const HEADERS: [&str; 4] = ["authorization", "x-api-key", "x-goog-api-key", "api-key"];
    let keys = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"];
    for provider in ["openai", "openai-responses", "anthropic", "gemini"] {
        for header in HEADERS {
            let server = Raw::saying(answer("400 Bad Request", "", ""));
            let settings = format!(r#"{{"base_url": "{}", "headers": {{"{header}": "${{OWN}}"}}}}"#, server.url());
            let env = |name: &str| match name {
                "OWN" => Some("own-0123456789".to_owned()),
                name => keys.contains(&name).then(|| KEY.to_owned()),
            };
            let model = model_with(&format!("{provider}/m"), &settings, &env);
            drop(run(async { ask(&Transport::new(options()), &model, &question("capital?")).await }));
            let seen = server.seen();
            let sent: Vec<&str> = HEADERS.into_iter().filter(|it| seen[0].header(it).is_some()).collect();
            assert_eq!(sent, [header], "{provider}");
            assert_eq!(seen[0].header(header), Some("own-0123456789"), "{provider}");
        }
    }
}

#[test]
fn an_address_may_have_a_query_and_variables() {
    let server = Raw::saying(answer("200 OK", "", PARIS));
    let settings = r#"{"base_url": "http://${HOST}/openai/deployments/${DEPLOYMENT}?api-version=2024-06-01&sig=${SIGNATURE}",
        "headers": {"api-key": "${AZURE_KEY}"}}"#;
    let address = server.address.clone();
    let env = move |name: &str| {
        Some(match name {
            "HOST" => address.clone(),
            "DEPLOYMENT" => "gpt".to_owned(),
            "MODEL" => "gpt-4o".to_owned(),
            "SIGNATURE" => "signature-0123456789".to_owned(),
            "AZURE_KEY" => "azure-0123456789".to_owned(),
            "OPENAI_API_KEY" => KEY.to_owned(),
            _ => return None,
        })
    };
    let model = model_with("openai/${MODEL}", settings, &env);
    // The signature may be a secret, and is not stored.
    let stored = &model.endpoint().address;
    assert_eq!(stored, &format!("{}/openai/deployments/gpt?api-version=2024-06-01&sig=${{SIGNATURE}}", server.url()));
    let outcome = run(async { ask(&Transport::new(options()), &model, &question("capital?")).await });
    assert_eq!(shown(&outcome), "stop: Paris after 1");
    let seen = &server.seen()[0];
    assert_eq!(
        seen.head[0],
        "post /openai/deployments/gpt/chat/completions?api-version=2024-06-01&sig=signature-0123456789 http/1.1"
    );
    assert_eq!((seen.header("api-key"), seen.header("authorization")), (Some("azure-0123456789"), None));
    assert!(String::from_utf8_lossy(&seen.body).contains(r#""model":"gpt-4o""#));
}

#[test]
fn a_schema_is_sent_as_the_endpoint_takes_it() {
    let schema = r#"{"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"], "additionalProperties": false}"#;
    let words = "Answer with nothing but JSON that fits this JSON Schema:";
    let sent = |structured: &str| {
        let server = Raw::saying(answer("200 OK", "", PARIS));
        let settings = format!(r#"{{"base_url": "{}", "structured": "{structured}"}}"#, server.url());
        let mut request = question("capital?");
        request.output = Some(jurat_format::value::parse_json(schema).expect("it is JSON").value.into_owned().into());
        let model = model_with("openai/m", &settings, &|_| None);
        assert_eq!(
            shown(&run(async { ask(&Transport::new(options()), &model, &request).await })),
            "stop: Paris after 1"
        );
        String::from_utf8(server.seen()[0].body.clone()).expect("it is text")
    };
    let body = sent("json_schema");
    assert!(body.contains(r#""response_format":{"type":"json_schema""#) && !body.contains(words), "{body}");
    let body = sent("json_object");
    assert!(body.contains(r#""response_format":{"type":"json_object"}"#) && body.contains(words), "{body}");
    let body = sent("prompt");
    assert!(!body.contains("response_format") && body.contains(words), "{body}");
    let body = sent("tool");
    assert!(body.contains(r#""tool_choice":{"type":"function","function":{"name":"jurat_answer"}}"#), "{body}");
    assert!(!body.contains("response_format") && !body.contains(words), "{body}");
}

#[test]
fn the_answer_may_be_the_arguments_of_a_tool() {
    let body = r#"{"choices": [{"message": {"content": null, "tool_calls": [{"id": "c", "function": {"name": "jurat_answer", "arguments": "{\"ok\": true}"}}]}, "finish_reason": "tool_calls"}]}"#;
    assert_eq!(shown(&asked("openai", &Raw::saying(answer("200 OK", "", body)))), r#"stop: {"ok":true} after 1"#);
}
