//! Each fault as the client sees it, asked whole and as a stream.

use std::io::ErrorKind;

use jurat_testkit::{Endpoint, Fault, Reply, RetryAfter, Script, When};
use serde_json::{Value, json};

use crate::client::{Answer, CHAT, Client, post, question, text, try_post};

fn judge(stream: bool) -> Value {
    let schema = json!({
        "type": "object",
        "properties": { "label": { "enum": ["good", "bad"] } },
        "required": ["label"],
    });
    let mut body = question("judge this");
    body["response_format"] = json!({ "type": "json_schema", "json_schema": { "name": "verdict", "schema": schema } });
    body["stream"] = json!(stream);
    body
}

fn failing(fault: Fault, stream: bool) -> std::io::Result<Answer> {
    let endpoint = Endpoint::start(Script::new().fault(When::Always, fault));
    try_post(endpoint.port(), CHAT, &judge(stream))
}

#[test]
fn connections_break() {
    for stream in [false, true] {
        assert_eq!(failing(Fault::Reset, stream).map_err(|it| it.kind()).err(), Some(ErrorKind::ConnectionReset));
        assert_eq!(failing(Fault::Close, stream).map_err(|it| it.kind()).err(), Some(ErrorKind::UnexpectedEof));
        let cut = failing(Fault::CutBody, stream).expect("the head of an answer");
        assert_eq!((cut.status, cut.complete), (200, false));
        assert!(!cut.body.is_empty());
    }
}

#[test]
fn bodies_are_truncated_in_good_order() {
    let body = failing(Fault::TruncatedBody, false).unwrap();
    assert!(body.complete && serde_json::from_str::<Value>(&body.body).is_err(), "{body:?}");
    let body = failing(Fault::TruncatedBody, true).unwrap();
    let events = body.events();
    let last = events.last().expect("an event");
    assert!(body.complete && serde_json::from_str::<Value>(last).is_err(), "{body:?}");
    let body = failing(Fault::NoFinish, true).unwrap();
    assert!(body.complete && !body.body.contains("[DONE]") && !body.body.contains(r#""finish_reason":"stop""#));
    assert!(body.events().iter().all(|it| serde_json::from_str::<Value>(it).is_ok()));
    let body = failing(Fault::NoFinish, false).unwrap();
    assert!(body.complete && serde_json::from_str::<Value>(&body.body).is_err());
    let body = failing(Fault::StreamError, true).unwrap();
    assert!(body.complete && !body.body.contains("[DONE]"));
    assert!(body.events().last().is_some_and(|it| it.contains("server_error")), "{body:?}");
    assert_eq!(failing(Fault::StreamError, false).unwrap().status, 500);
}

#[test]
fn replies_are_wrong_in_good_order() {
    let shown = failing(Fault::TruncatedText, false).unwrap();
    assert_eq!(text(&shown), r#"{"label"#);
    let shown = failing(Fault::WrongLabel, false).unwrap();
    assert_eq!(text(&shown), r#"{"label":"no-such-label"}"#);
    let shown = failing(Fault::Refusal, false).unwrap().json();
    assert_eq!(shown["choices"][0]["message"]["content"], Value::Null);
    assert_eq!(shown["choices"][0]["message"]["refusal"], "I can't help with that.");
    let shown = failing(Fault::Blocked, false).unwrap().json();
    assert_eq!(shown["choices"][0]["finish_reason"], "content_filter");
}

#[test]
fn errors_say_when_to_come_again() {
    let limited = |retry_after: RetryAfter| failing(Fault::rate_limited(retry_after), false).unwrap();
    let plain = failing(Fault::status(429), false).unwrap();
    assert_eq!((plain.status, plain.header("retry-after")), (429, None));
    assert_eq!(plain.json()["error"]["code"], "rate_limit_exceeded");
    assert_eq!(limited(RetryAfter::Seconds(2)).header("retry-after"), Some("2"));
    let millis = limited(RetryAfter::Millis(250));
    assert_eq!((millis.header("retry-after-ms"), millis.header("retry-after")), (Some("250"), None));
    let date = limited(RetryAfter::Date(std::time::Duration::from_secs(2)));
    let date = date.header("retry-after").expect("a date");
    assert!(date.len() == 29 && date.ends_with(" GMT"), "{date}");
    for status in [500, 503] {
        let shown = failing(Fault::status(status), false).unwrap();
        assert_eq!((shown.status, &shown.json()["error"]["type"]), (status, &json!("server_error")));
    }
}

#[test]
fn silence_lasts_until_the_client_leaves() {
    let endpoint = Endpoint::start(Script::new().fault(When::Always, Fault::Silence));
    let mut client = Client::connect(endpoint.port());
    client.send(CHAT, "", &question("hello?").to_string());
    endpoint.wait_until(|it| it.in_flight == 1);
    drop(client);
    endpoint.wait_until(|it| it.abandoned == 1 && it.in_flight == 0);
}

#[test]
fn faults_come_when_the_script_says() {
    let statuses = |when: When, prompts: &[&str]| -> Vec<u16> {
        let endpoint = Endpoint::start(Script::new().fault(when, Fault::status(503)));
        prompts.iter().map(|it| post(endpoint.port(), CHAT, &question(it)).status).collect()
    };
    assert_eq!(statuses(When::Always, &["a", "a"]), [503, 503]);
    assert_eq!(statuses(When::First(2), &["a", "b", "c"]), [503, 503, 200]);
    assert_eq!(statuses(When::Every(2), &["a", "b", "c", "d"]), [200, 503, 200, 503]);
    assert_eq!(statuses(When::FirstOfEach(1), &["a", "b", "a", "b", "b"]), [503, 503, 200, 200, 200]);
}

#[test]
fn a_rule_counts_what_reaches_it() {
    let script = Script::new()
        .fault_if(When::First(1), |it| it.prompt == "a", Fault::status(500))
        .fault(When::First(1), Fault::status(503))
        .reply(Reply::text("fine"));
    let endpoint = Endpoint::start(script);
    let statuses = ["a", "a", "b"].map(|it| post(endpoint.port(), CHAT, &question(it)).status);
    assert_eq!(statuses, [500, 503, 200]);
}
