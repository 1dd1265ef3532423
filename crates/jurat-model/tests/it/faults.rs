//! What goes wrong with a request, and the outcome: the same in every wire format, whole and streamed.

use std::time::Duration;

use jurat_core::effect::wire::{outcome_json, read_outcome};
use jurat_core::effect::{FaultKind, ModelRequest, Outcome};
use jurat_model::{Transport, TransportOptions};
use jurat_testkit::{Endpoint, Fault, Reply, RetryAfter, Script, When};

use crate::asking::{PROVIDERS, ask, model, model_with, options, question, run, shown};
use crate::raw::{Raw, answer};

/// Asks one question of an endpoint that fails like this.
fn asked(provider: &str, stream: bool, when: When, fault: Fault) -> (Outcome, Endpoint) {
    let endpoint = Endpoint::start(Script::new().fault(when, fault).reply(Reply::text("Paris")));
    let options = TransportOptions { stream, ..options() };
    let outcome = run(async {
        let transport = Transport::new(options);
        ask(&transport, &model(provider, &endpoint.url()), &question("capital?")).await
    });
    (outcome, endpoint)
}

/// Faults that pass by themselves, and their kinds whole and streamed.
const PASSING: [(Fault, &str, &str); 12] = [
    (Fault::Status { status: 408, retry_after: None }, "status:408", "status:408"),
    (Fault::Status { status: 409, retry_after: None }, "status:409", "status:409"),
    (Fault::Status { status: 429, retry_after: None }, "status:429", "status:429"),
    (Fault::Status { status: 429, retry_after: Some(RetryAfter::Millis(3)) }, "status:429", "status:429"),
    (Fault::Status { status: 429, retry_after: Some(RetryAfter::Seconds(0)) }, "status:429", "status:429"),
    (Fault::Status { status: 500, retry_after: None }, "status:500", "status:500"),
    (Fault::Status { status: 503, retry_after: None }, "status:503", "status:503"),
    (Fault::Reset, "cut", "cut"),
    (Fault::Close, "cut", "cut"),
    (Fault::CutBody, "cut", "cut"),
    (Fault::TruncatedBody, "garbled", "cut"),
    (Fault::NoFinish, "garbled", "cut"),
];

#[test]
fn what_passes_within_the_allowance_changes_nothing() {
    for provider in PROVIDERS {
        for stream in [false, true] {
            for (fault, whole, streamed) in PASSING {
                let (outcome, endpoint) = asked(provider, stream, When::First(2), fault.clone());
                let where_ = format!("{provider}, stream {stream}, {fault:?}: {outcome:?}");
                let Outcome::Answer(answer) = &outcome else { panic!("{where_}") };
                assert_eq!((answer.text.as_str(), answer.n_requests), ("Paris", 3), "{where_}");
                assert_eq!(endpoint.stats().requests, 3, "{where_}");
                let kinds: Vec<String> = answer.failed.iter().map(|it| it.kind.name()).collect();
                let expected = if stream { streamed } else { whole };
                assert_eq!(kinds, [expected, expected], "{where_}");
                assert!(answer.usage.is_some(), "{where_}");
            }
        }
    }
}

#[test]
fn what_does_not_pass_is_a_fault_of_its_kind() {
    for provider in PROVIDERS {
        for (fault, whole, _) in PASSING {
            let (outcome, endpoint) = asked(provider, false, When::Always, fault.clone());
            let where_ = format!("{provider}, {fault:?}: {outcome:?}");
            let Outcome::Fault(found) = &outcome else { panic!("{where_}") };
            assert_eq!(found.kind.name(), whole, "{where_}");
            assert_eq!((found.n_requests, found.failed.len()), (4, 4), "{where_}");
            assert_eq!(endpoint.stats().requests, 4, "{where_}");
        }
    }
}

#[test]
fn an_error_in_the_middle_of_a_stream_is_that_error() {
    for provider in PROVIDERS {
        let (outcome, _) = asked(provider, true, When::Always, Fault::StreamError);
        let Outcome::Fault(fault) = &outcome else { panic!("{provider}: {outcome:?}") };
        assert!(matches!(fault.kind, FaultKind::Status(500..=599)), "{provider}: {outcome:?}");
        assert_eq!(fault.n_requests, 4, "{provider}: {outcome:?}");
    }
}

#[test]
fn what_the_provider_refuses_is_not_asked_again() {
    for provider in PROVIDERS {
        for status in [400, 401, 403, 404, 413, 422] {
            let (outcome, endpoint) = asked(provider, false, When::Always, Fault::status(status));
            let Outcome::Fault(fault) = &outcome else { panic!("{provider}: {outcome:?}") };
            assert_eq!(fault.kind, FaultKind::Status(status), "{provider}");
            assert_eq!((fault.n_requests, endpoint.stats().requests), (1, 1), "{provider}");
            assert!(
                fault.message.starts_with(&format!("HTTP {status} from 127.0.0.1:{}: ", endpoint.port())),
                "{provider}: {}",
                fault.message
            );
        }
    }
}

#[test]
fn no_answer_in_time_is_asked_again() {
    for stream in [false, true] {
        let endpoint = Endpoint::start(Script::new().fault(When::First(1), Fault::Silence).reply(Reply::text("Paris")));
        let outcome = run(async {
            let transport =
                Transport::new(TransportOptions { stream, request_timeout: Duration::from_secs(3), ..options() });
            ask(&transport, &model("openai", &endpoint.url()), &question("capital?")).await
        });
        assert_eq!(shown(&outcome), "stop: Paris after 2");
        let Outcome::Answer(answer) = outcome else { panic!("an answer") };
        assert_eq!(answer.failed[0].kind, FaultKind::Timeout);
        assert_eq!(answer.failed[0].message, format!("no answer from 127.0.0.1:{} within 3 s", endpoint.port()));
        assert!(answer.failed[0].took >= Duration::from_secs(3));
    }
}

#[test]
fn what_the_model_says_is_an_answer_whatever_it_says() {
    for provider in PROVIDERS {
        for stream in [false, true] {
            let (refused, _) = asked(provider, stream, When::Always, Fault::Refusal);
            let Outcome::Answer(answer) = &refused else { panic!("{provider}: {refused:?}") };
            // Ollama has no way to say so: a refusal there is text like any other.
            let finish = if provider == "ollama" { "stop" } else { "refusal" };
            assert_eq!((answer.finish.name(), answer.n_requests), (finish, 1), "{provider}");
            let (wrong, _) = asked(provider, stream, When::Always, Fault::TruncatedText);
            assert!(matches!(&wrong, Outcome::Answer(answer) if answer.n_requests == 1), "{provider}: {wrong:?}");
        }
    }
}

#[test]
fn a_port_without_a_listener_is_a_fault() {
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        listener.local_addr().expect("it has an address").port()
    };
    let outcome = run(async {
        let transport = Transport::new(options());
        ask(&transport, &model("openai", &format!("http://127.0.0.1:{port}")), &question("capital?")).await
    });
    let expected = format!("connect after 4: no connection to http://127.0.0.1:{port}: connection refused");
    assert!(shown(&outcome).starts_with(&expected), "{outcome:?}");
}

/// What providers say, what it means for further requests, and the sentence that people read. `HOST` stands for the address.
const SAID: [(&str, &str, &str, &str, &str); 17] = [
    (
        "openai",
        "401 Unauthorized",
        r#"{"error": {"message": "Incorrect API key provided", "type": "invalid_request_error", "code": "invalid_api_key"}}"#,
        "wrong_key",
        "HTTP 401 from HOST: Incorrect API key provided (role judge, KEY)",
    ),
    (
        "anthropic",
        "401 Unauthorized",
        r#"{"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}}"#,
        "wrong_key",
        "HTTP 401 from HOST: invalid x-api-key (role judge, KEY)",
    ),
    (
        "gemini",
        "400 Bad Request",
        r#"{"error": {"code": 400, "message": "API key not valid. Please pass a valid API key.", "status": "INVALID_ARGUMENT"}}"#,
        "wrong_key",
        "HTTP 400 from HOST: API key not valid. Please pass a valid API key. (role judge, KEY)",
    ),
    ("openai", "403 Forbidden", "", "wrong_key", "HTTP 403 from HOST (role judge, KEY)"),
    (
        "openai",
        "403 Forbidden",
        r#"{"error": {"message": "Your input was flagged", "code": 403}}"#,
        "rejected_request",
        "HTTP 403 from HOST: Your input was flagged (role judge)",
    ),
    (
        "openai",
        "404 Not Found",
        r#"{"error": {"message": "The model `m` does not exist", "code": "model_not_found"}}"#,
        "unknown_model",
        "HTTP 404 from HOST: The model `m` does not exist (role judge)",
    ),
    (
        "ollama",
        "404 Not Found",
        r#"{"error": "model 'm' not found"}"#,
        "unknown_model",
        "HTTP 404 from HOST: model 'm' not found (role judge)",
    ),
    (
        "openai",
        "400 Bad Request",
        r#"{"error": {"message": "Model Not Exist", "type": "invalid_request_error"}}"#,
        "unknown_model",
        "HTTP 400 from HOST: Model Not Exist (role judge)",
    ),
    (
        "openai",
        "429 Too Many Requests",
        r#"{"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}"#,
        "exhausted_quota",
        "HTTP 429 from HOST: You exceeded your current quota (role judge, KEY)",
    ),
    (
        "anthropic",
        "400 Bad Request",
        r#"{"type": "error", "error": {"type": "invalid_request_error", "message": "Your credit balance is too low to access the API"}}"#,
        "exhausted_quota",
        "HTTP 400 from HOST: Your credit balance is too low to access the API (role judge, KEY)",
    ),
    (
        "openai",
        "402 Payment Required",
        r#"{"error": {"message": "Insufficient Balance"}}"#,
        "exhausted_quota",
        "HTTP 402 from HOST: Insufficient Balance (role judge, KEY)",
    ),
    (
        "openai",
        "429 Too Many Requests",
        r#"{"error": {"message": "Slow down"}}"#,
        "rate_limit",
        "HTTP 429 from HOST: Slow down (role judge, 4 requests)",
    ),
    (
        "openai",
        "400 Bad Request",
        r#"{"error": {"message": "too long"}}"#,
        "rejected_request",
        "HTTP 400 from HOST: too long (role judge)",
    ),
    (
        "openai",
        "502 Bad Gateway",
        "<html>bad gateway</html>",
        "server_error",
        "HTTP 502 from HOST: <html>bad gateway</html> (role judge, 4 requests)",
    ),
    ("openai", "408 Request Timeout", "", "timeout", "HTTP 408 from HOST (role judge, 4 requests)"),
    ("openai", "405 Method Not Allowed", "", "unreachable", "HTTP 405 from HOST (role judge)"),
    (
        "openai",
        "200 OK",
        "<html>Sign in</html>",
        "invalid_reply",
        "invalid reply from HOST: the reply is not what was promised: expected value at line 1 column 1; it is `<html>Sign in</html>` (role judge, 4 requests)",
    ),
];

#[test]
fn a_fault_has_a_class_and_names_the_endpoint() {
    for (provider, status, body, class, text) in SAID {
        let server = Raw::saying(answer(status, "", body));
        let outcome = run(async {
            ask(&Transport::new(options()), &model(provider, &server.url()), &question("capital?")).await
        });
        let Outcome::Fault(fault) = &outcome else { panic!("{provider} {status}: {outcome:?}") };
        assert_eq!(fault.text().replace(&server.address, "HOST"), text, "{provider} {status}");
        assert_eq!(fault.class.name(), class, "{provider} {status}: {body}");
        assert_eq!(server.seen().len(), fault.n_requests as usize, "{provider} {status}");
        let stored = read_outcome("model", &outcome_json(&outcome)).expect("what is stored can be read");
        assert!(matches!(&stored, Outcome::Fault(it) if it.text() == fault.text() && it.class == fault.class));
    }
}

#[test]
fn a_reply_without_the_logprobs_that_were_asked_for_is_an_answer_with_its_cost() {
    let settings = |endpoint: &Endpoint| {
        let url = endpoint.url();
        format!(
            r#"{{"base_url": "{url}", "max_tokens": 100, "api_key_env": "KEY", "price": {{"input": 2, "output": 8}}}}"#
        )
    };
    for provider in ["openai", "openai-responses", "gemini", "ollama"] {
        for stream in [false, true] {
            let endpoint = Endpoint::start(Script::new().reply(Reply::text("Paris")));
            let request = ModelRequest { logprobs: Some(20), ..question("capital?") };
            let outcome = run(async {
                let transport = Transport::new(TransportOptions { stream, ..options() });
                ask(
                    &transport,
                    &model_with(&format!("{provider}/m"), &settings(&endpoint), &|_| Some("key".to_owned())),
                    &request,
                )
                .await
            });
            let Outcome::Answer(answer) = &outcome else { panic!("{provider}, stream {stream}: {outcome:?}") };
            assert!(answer.lacks_logprobs(), "{provider}, stream {stream}: {answer:?}");
            assert!(answer.usage.is_some() && answer.cost_usd.is_some_and(|it| it > 0.0), "{provider}: {answer:?}");
            assert_eq!(endpoint.stats().requests, 1, "asking again would not help");
        }
    }
    let refused = run(async {
        let endpoint = Endpoint::start(Script::new());
        let request = ModelRequest { logprobs: Some(20), ..question("capital?") };
        ask(&Transport::new(options()), &model("anthropic", &endpoint.url()), &request).await
    });
    assert!(
        matches!(&refused, Outcome::Fault(it) if it.message.starts_with("Anthropic has no `logprobs`")),
        "{refused:?}"
    );
}
