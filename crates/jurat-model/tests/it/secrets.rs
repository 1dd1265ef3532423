//! Keys go to their provider and nowhere else.

use jurat_core::effect::wire::outcome_json;
use jurat_model::{Model, Transport};
use jurat_testkit::{Answer, Endpoint, Reply, Request, Script};

use crate::asking::{KEY, PROVIDERS, ask, model, model_with, options, question, run};

const TEAM: &str = "team-secret-0123456789";

fn environment(name: &str) -> Option<String> {
    match name {
        "KEY" => Some(KEY.to_owned()),
        "TEAM" => Some(TEAM.to_owned()),
        _ => None,
    }
}

fn with_headers(url: &str) -> Model {
    let settings = format!(
        r#"{{"base_url": "{url}", "api_key_env": "KEY", "headers": {{"x-team": "id ${{TEAM}}!", "x-plain": "visible"}}}}"#
    );
    model_with("openai/m", &settings, &environment)
}

#[test]
fn every_provider_gets_its_key_the_way_it_wants_it() {
    for provider in PROVIDERS {
        let endpoint = Endpoint::start(Script::new().keep_requests().reply(Reply::text("yes")));
        run(async { ask(&Transport::new(options()), &model(provider, &endpoint.url()), &question("q")).await });
        let requests = endpoint.requests();
        let header = |name: &str| requests[0].header(name).map(str::to_owned);
        let bearer = Some(format!("Bearer {KEY}"));
        match provider {
            "anthropic" => {
                assert_eq!(header("x-api-key").as_deref(), Some(KEY));
                assert_eq!(header("anthropic-version").as_deref(), Some("2023-06-01"));
            }
            "gemini" => assert_eq!(header("x-goog-api-key").as_deref(), Some(KEY)),
            _ => assert_eq!(header("authorization"), bearer),
        }
        assert_eq!(header("content-type").as_deref(), Some("application/json"));
        assert!(!requests[0].path.contains(KEY) && !requests[0].body.contains(KEY));
    }
}

#[test]
fn headers_of_the_author_are_sent_with_their_variables() {
    let endpoint = Endpoint::start(Script::new().keep_requests().reply(Reply::text("yes")));
    run(async { ask(&Transport::new(options()), &with_headers(&endpoint.url()), &question("q")).await });
    let requests = endpoint.requests();
    assert_eq!(requests[0].header("x-team"), Some(format!("id {TEAM}!").as_str()));
    assert_eq!(requests[0].header("x-plain"), Some("visible"));
}

#[test]
fn a_server_that_echoes_secrets_is_not_quoted() {
    let echo = |status: u16| {
        move |request: &Request| {
            let sent = format!("{:?} {:?}", request.header("authorization"), request.header("x-team"));
            let body = match status {
                200 => serde_json_text(&sent),
                _ => sent,
            };
            Answer::raw(status, "application/json", body).header("x-request-id", format!("for {KEY}"))
        }
    };
    for status in [200, 400, 500] {
        let endpoint = Endpoint::start(Script::answering(echo(status)));
        let model = with_headers(&endpoint.url());
        let outcome = run(async { ask(&Transport::new(options()), &model, &question("q")).await });
        let stored = outcome_json(&outcome);
        assert!(stored.contains("[secret]"), "{status}: {stored}");
        for text in [stored, format!("{outcome:?}"), format!("{model:?}")] {
            assert!(!text.contains(KEY) && !text.contains(TEAM), "{status}: {text}");
        }
    }
}

/// A chat completion that says so.
fn serde_json_text(text: &str) -> String {
    let text = jurat_format::value::Val::from(text).to_string();
    let call = format!(r#"{{"id": "1", "function": {{"name": "f", "arguments": "{{\"a\": [\"{KEY}\"]}}"}}}}"#);
    format!(r#"{{"choices": [{{"message": {{"content": {text}, "tool_calls": [{call}]}}, "finish_reason": "stop"}}]}}"#)
}

#[test]
fn nothing_that_can_be_shown_shows_a_secret() {
    let proxies =
        jurat_model::Proxies::from_environment(&|name| (name == "HTTP_PROXY").then(|| format!("http://u:{KEY}@host")));
    let options = jurat_model::TransportOptions { proxies, ..options() };
    let environment = jurat_model::dotenv::Environment::new([], &format!("A={KEY}"));
    let transport = Transport::new(options.clone());
    for text in [format!("{options:?}"), format!("{transport:?}"), format!("{environment:?}")] {
        assert!(!text.contains(KEY), "{text}");
    }
}
