//! Scripts, counts and connections, whatever the wire format.

use jurat_testkit::{Answer, Endpoint, Event, Fault, Reply, Script, When, read_log};
use serde_json::json;

use crate::client::{CHAT, Client, get, post, question, text};

#[test]
fn a_script_decides_by_rules_and_then_by_its_default() {
    let endpoint = Endpoint::start(
        Script::new()
            .reply_if(|it| it.prompt.contains("France"), Reply::text("Paris"))
            .rule(When::Every(2), |it| it.model == "test-1", Answer::raw(418, "text/plain", "short and stout"))
            .reply(Reply::json(json!({ "known": false }))),
    );
    let ask = |prompt: &str| post(endpoint.port(), CHAT, &question(prompt));
    assert_eq!(text(&ask("the capital of France?")), "Paris");
    assert_eq!(text(&ask("a")), r#"{"known":false}"#);
    let second = ask("b");
    assert_eq!((second.status, second.body.as_str(), second.complete), (418, "short and stout", true));
    assert_eq!(text(&ask("c")), r#"{"known":false}"#);
}

#[test]
fn a_function_decides_everything() {
    let endpoint = Endpoint::start(Script::answering(|request| {
        let words = format!("{} {} {}", request.number, request.repeat, request.prompt);
        Answer::from(Reply::text(words)).header("x-served-by", "test")
    }));
    let ask = |prompt: &str| post(endpoint.port(), CHAT, &question(prompt));
    assert_eq!(text(&ask("a")), "1 1 a");
    assert_eq!(text(&ask("b")), "2 1 b");
    let again = ask("a");
    assert_eq!((text(&again).as_str(), again.header("x-served-by")), ("3 2 a", Some("test")));
}

#[test]
fn the_default_reply_depends_on_what_was_said_only() {
    let endpoint = Endpoint::start(Script::new());
    let ask = |prompt: &str, temperature: f64| {
        let mut body = question(prompt);
        body["temperature"] = json!(temperature);
        text(&post(endpoint.port(), CHAT, &body))
    };
    assert_eq!(ask("a", 0.0), ask("a", 1.0));
    assert_ne!(ask("a", 0.0), ask("b", 0.0));
}

#[test]
fn everything_is_counted() {
    let endpoint =
        Endpoint::start(Script::new().fault_if(When::Always, |it| it.prompt == "bad", Fault::status(500)).fault_if(
            When::Always,
            |it| it.prompt == "cut",
            Fault::CutBody,
        ));
    for prompt in ["a", "a", "b", "bad", "cut"] {
        post(endpoint.port(), CHAT, &question(prompt));
    }
    // The answer may arrive before it is counted, and the connection is closed after that.
    endpoint.wait_until(|it| it.in_flight == 0 && it.open_connections == 0);
    let stats = endpoint.stats();
    assert_eq!((stats.requests, stats.answers, stats.errors, stats.broken, stats.abandoned), (5, 3, 1, 1, 0));
    assert_eq!((stats.distinct(), stats.most_repeats()), (4, 2));
    assert_eq!(stats.connections, 5);
    let shown = get(endpoint.port(), "/stats").json();
    assert_eq!((&shown["requests"], &shown["answers"], &shown["distinct"]), (&json!(5), &json!(3), &json!(4)));
    let bodies = get(endpoint.port(), "/stats?bodies").json();
    assert_eq!(bodies.as_object().map(serde_json::Map::len), Some(4));
    endpoint.reset();
    assert_eq!((endpoint.stats().requests, endpoint.stats().distinct()), (0, 0));
}

#[test]
fn held_answers_show_how_many_are_in_flight() {
    let endpoint = Endpoint::start(Script::new().held());
    let mut clients: Vec<Client> = (0..3).map(|_| Client::connect(endpoint.port())).collect();
    for client in &mut clients {
        client.send(CHAT, "", &question("wait").to_string());
    }
    endpoint.wait_until(|it| it.in_flight == 3);
    endpoint.release(1);
    endpoint.wait_until(|it| it.answers == 1);
    assert_eq!(endpoint.stats().in_flight, 2);
    endpoint.release_all();
    for client in &mut clients {
        assert_eq!(client.receive().map(|it| it.status).ok(), Some(200));
    }
    endpoint.wait_until(|it| it.in_flight == 0);
    let stats = endpoint.stats();
    assert_eq!((stats.peak_in_flight, stats.peak_connections, stats.most_repeats()), (3, 3, 3));
}

#[test]
fn a_client_that_goes_away_is_noticed() {
    let endpoint = Endpoint::start(Script::new().held());
    let mut client = Client::connect(endpoint.port());
    client.send(CHAT, "", &question("wait").to_string());
    endpoint.wait_until(|it| it.in_flight == 1);
    drop(client);
    endpoint.wait_until(|it| it.abandoned == 1 && it.open_connections == 0);
    assert_eq!(endpoint.stats().in_flight, 0);
}

#[test]
fn one_connection_serves_many_requests() {
    let endpoint = Endpoint::start(Script::new().keep_requests());
    let mut client = Client::connect(endpoint.port());
    for prompt in ["a", "b"] {
        client.send(CHAT, "X-Trace: 7\r\n", &question(prompt).to_string());
        assert!(client.receive().is_ok_and(|it| it.complete));
    }
    // In chunks, as clients do that do not know the length, and with a promise to wait.
    let body = question("c").to_string();
    let (first, second) = body.split_at(10);
    client.write(b"POST /v1/chat/completions HTTP/1.1\r\ntransfer-encoding: chunked\r\nexpect: 100-continue\r\n\r\n");
    let chunks = format!("{:x}\r\n{first}\r\n{:x}\r\n{second}\r\n0\r\n\r\n", first.len(), second.len());
    client.write(chunks.as_bytes());
    assert_eq!(client.receive().map(|it| it.status).ok(), Some(100));
    assert!(client.receive().is_ok_and(|it| it.complete));
    assert_eq!(endpoint.stats().connections, 1);
    let requests = endpoint.requests();
    let prompts: Vec<&str> = requests.iter().map(|it| it.prompt.as_str()).collect();
    assert_eq!(prompts, ["a", "b", "c"]);
    assert_eq!(requests[1].header("x-trace"), Some("7"));
    assert_eq!((requests[1].body.clone(), requests[1].number), (question("b").to_string(), 2));
}

#[test]
fn recorded_requests_can_be_read() {
    let endpoint = Endpoint::start(Script::new().keep_requests());
    let mut client = Client::connect(endpoint.port());
    client.send("http://models.example/v1/chat/completions", "x-trace: 7\r\n", &question("a").to_string());
    assert!(client.receive().is_ok_and(|it| it.status == 200));
    let stored = get(endpoint.port(), "/requests").json();
    assert_eq!(stored[0]["path"], "http://models.example/v1/chat/completions");
    assert_eq!(stored[0]["headers"][1], json!(["x-trace", "7"]));
    assert_eq!(stored[0]["body"], question("a").to_string());
}

#[test]
fn what_a_provider_would_not_accept_is_refused() {
    let endpoint = Endpoint::start(Script::new().key("sk-test"));
    let ask = |headers: &str, body: &str| {
        let mut client = Client::connect(endpoint.port());
        client.send(CHAT, headers, body);
        let answer = client.receive().expect("an answer");
        (answer.status, answer.json()["error"]["message"].as_str().unwrap_or_default().to_owned())
    };
    let key = "authorization: Bearer sk-test\r\n";
    assert_eq!(ask(key, &question("a").to_string()).0, 200);
    assert_eq!(ask("", &question("a").to_string()), (401, "the key is missing or wrong".to_owned()));
    assert_eq!(ask("authorization: Bearer sk-other\r\n", &question("a").to_string()).0, 401);
    assert_eq!(ask(key, "{}"), (400, "`model` is missing or is no text".to_owned()));
    assert_eq!(ask(key, r#"{"model": "m", "messages": []}"#).1, "`messages` is missing or is no list with items");
    assert!(ask(key, "{").1.starts_with("the body is no JSON: "));
    endpoint.wait_until(|it| it.in_flight == 0);
    assert_eq!((endpoint.stats().answers, endpoint.stats().errors), (1, 5));
    let nowhere = post(endpoint.port(), "/v2/chat", &question("a"));
    assert_eq!(nowhere.status, 404);
    let mut client = Client::connect(endpoint.port());
    client.write(b"hello\r\n\r\n");
    assert_eq!(client.receive().map(|it| it.status).ok(), Some(400));
}

#[test]
fn the_log_continues_where_it_ended() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("requests.jsonl");
    let once = |fault: Option<Fault>| {
        let mut script = Script::new().log(&file);
        if let Some(fault) = fault {
            script = script.fault(When::Always, fault);
        }
        let endpoint = Endpoint::start(script);
        post(endpoint.port(), CHAT, &question("a"));
        endpoint.wait_until(|it| it.requests == 1 && it.in_flight == 0);
    };
    once(None);
    std::fs::write(&file, std::fs::read_to_string(&file).unwrap() + "{\"request\": 2, \"bo").unwrap();
    assert_eq!(read_log(&file).unwrap().len(), 2);
    once(Some(Fault::status(503)));
    let lines = read_log(&file).unwrap();
    let shown: Vec<(u64, Event)> = lines.iter().map(|it| (it.number, it.event)).collect();
    assert_eq!(shown, [(1, Event::Arrived), (1, Event::Sent), (2, Event::Arrived), (2, Event::Failed)]);
    assert!(lines.iter().all(|it| it.digest == lines[0].digest));
}
