//! The proxy between an agent and its model: what passes, what is counted, what is refused and what is never seen.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use jurat_model::Price;
use jurat_model::proxy::{
    Asked, Given, Listen, Names, OnSpent, Operation, Proxy, ProxyLimits, ProxyOptions, Record, Spent, Upstream,
};
use jurat_testkit::{Answer, Endpoint, Fault, Reply, Script, Usage, When};

use crate::asking::{KEY, PROVIDERS, model, script};
use crate::raw::{Raw, answer};

/// What an agent sends, by the provider whose interface it speaks.
fn question(provider: &str, is_streamed: bool) -> (&'static str, String) {
    match provider {
        "openai" => (
            "/v1/chat/completions",
            format!(r#"{{"model":"small","stream":{is_streamed},"messages":[{{"role":"user","content":"hi"}}]}}"#),
        ),
        "openai-responses" => (
            "/v1/responses",
            format!(r#"{{"model":"small","stream":{is_streamed},"input":[{{"role":"user","content":"hi"}}]}}"#),
        ),
        "anthropic" => (
            "/v1/messages",
            format!(
                r#"{{"model":"small","max_tokens":9,"stream":{is_streamed},"messages":[{{"role":"user","content":"hi"}}]}}"#
            ),
        ),
        "gemini" if is_streamed => (
            "/v1beta/models/small:streamGenerateContent?alt=sse&key=dummy",
            r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}"#.to_owned(),
        ),
        _ => (
            "/v1beta/models/small:generateContent?key=dummy",
            r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}"#.to_owned(),
        ),
    }
}

/// The same with a tool that the model may call.
fn with_tool(provider: &str, body: &str) -> String {
    let schema = r#"{"type":"object","properties":{}}"#;
    let tools = match provider {
        "openai" => format!(r#"[{{"type":"function","function":{{"name":"look","parameters":{schema}}}}}]"#),
        "openai-responses" => format!(r#"[{{"type":"function","name":"look","parameters":{schema}}}]"#),
        "anthropic" => format!(r#"[{{"name":"look","input_schema":{schema}}}]"#),
        _ => format!(r#"[{{"functionDeclarations":[{{"name":"look","parameters":{schema}}}]}}]"#),
    };
    body.replacen('{', &format!(r#"{{"tools":{tools},"#), 1)
}

/// Asks a proxy over TCP, as an agent would, and returns the status and everything after the head.
fn ask(proxy: &Proxy, path: &str, headers: &str, body: &str) -> (u16, String) {
    ask_bytes(proxy, path, headers, body.as_bytes())
}

fn ask_bytes(proxy: &Proxy, path: &str, headers: &str, body: &[u8]) -> (u16, String) {
    let (status, text) = ask_whole(proxy, path, headers, body);
    (status, after_head(&text))
}

/// The same with the head.
fn ask_whole(proxy: &Proxy, path: &str, headers: &str, body: &[u8]) -> (u16, String) {
    let port = proxy.port().expect("it listens on a port");
    exchange_whole(TcpStream::connect(("127.0.0.1", port)).expect("it listens"), path, headers, body)
}

fn exchange(stream: impl std::io::Read + std::io::Write, path: &str, headers: &str, body: &str) -> (u16, String) {
    let (status, text) = exchange_whole(stream, path, headers, body.as_bytes());
    (status, after_head(&text))
}

fn exchange_whole(
    mut stream: impl std::io::Read + std::io::Write,
    path: &str,
    headers: &str,
    body: &[u8],
) -> (u16, String) {
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\n{headers}content-length: {length}\r\n\r\n"
    );
    stream.write_all(&[head.as_bytes(), body].concat()).expect("it reads");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("it answers");
    let status = text.split(' ').nth(1).and_then(|it| it.parse().ok()).expect("there is a status");
    (status, text)
}

fn after_head(text: &str) -> String {
    text.split_once("\r\n\r\n").expect("there is a head").1.to_owned()
}

const DUMMY: &str = "authorization: Bearer dummy-key-of-the-agent\r\n";

fn to_endpoint(provider: &str, endpoint: &Endpoint) -> ProxyOptions {
    ProxyOptions::to(Upstream::Model(Arc::new(model(provider, &endpoint.url()))))
}

fn started(options: ProxyOptions) -> Proxy {
    Proxy::start(&Listen::Loopback, options).expect("it can listen")
}

#[test]
fn every_interface_passes_whole_and_in_pieces_and_is_counted() {
    for provider in PROVIDERS.into_iter().filter(|it| *it != "ollama") {
        for is_streamed in [false, true] {
            let reply = Reply::text("Paris").usage(Usage { input: 11, output: 7, cached: 0, reasoning: 0 });
            let endpoint = Endpoint::start(Script::new().reply(reply));
            let proxy = started(to_endpoint(provider, &endpoint));
            let (path, body) = question(provider, is_streamed);
            let (status, text) = ask(&proxy, path, DUMMY, &body);
            assert_eq!(status, 200, "{provider}: {text}");
            assert!(text.contains("Pa") && !text.contains(KEY), "{provider}: {text}");
            let record = proxy.finish();
            assert_eq!((record.n_requests, record.n_uncounted, record.failure()), (1, 0, None), "{provider}");
            assert_eq!((record.usage.input, record.usage.output), (11, 7), "{provider}, streamed: {is_streamed}");
            let [exchange] = &record.exchanges[..] else { panic!("{provider}: one request was made") };
            assert_eq!(exchange.requested_model.as_deref(), Some("small"), "{provider}");
            assert_eq!((exchange.status, exchange.error.as_deref()), (Some(200), None), "{provider}");
            assert_eq!(exchange.request.text, body, "{provider}");
            assert!(!exchange.path.contains("key="), "{provider}");
        }
    }
}

#[test]
fn the_provider_sees_the_real_key_and_the_model_of_the_suite() {
    // An agent puts its key where its own provider wants it, whichever provider answers.
    let places = ["authorization: Bearer dummy\r\n", "x-api-key: dummy\r\n", "x-goog-api-key: dummy\r\n"];
    for provider in PROVIDERS.into_iter().filter(|it| *it != "ollama") {
        for place in places {
            let endpoint = Endpoint::start(Script::new().key(KEY).keep_requests());
            let proxy = started(to_endpoint(provider, &endpoint));
            let (path, body) = question(provider, false);
            let (status, text) = ask(&proxy, path, place, &body);
            assert_eq!(status, 200, "{provider}, {place}: {text}");
            let [request] = &endpoint.requests()[..] else { panic!("one request came") };
            assert_eq!(request.model, "m", "{provider}");
            assert!(
                !request.headers.iter().any(|(_, value)| value.contains("dummy")),
                "{provider}: {:?}",
                request.headers
            );
            assert!(!request.path.contains("dummy"), "{provider}: {}", request.path);
            assert!(!format!("{:?}", proxy.finish()).contains(KEY), "{provider}");
        }
    }
}

#[test]
fn what_is_no_question_to_a_model_is_not_passed_on() {
    let endpoint = Endpoint::start(Script::new());
    let proxy = started(to_endpoint("openai", &endpoint));
    for path in ["/v1/files", "/v1/organization/keys", "/", "/v1/chat/completions/../../files"] {
        let (status, text) = ask(&proxy, path, DUMMY, "{}");
        assert_eq!(status, 404, "{path}: {text}");
    }
    assert_eq!(endpoint.stats().requests, 0);
    let record = proxy.finish();
    assert_eq!((record.exchanges.len(), record.n_requests, record.failure()), (4, 0, None));
}

/// Asks until it is refused, and says how often that took.
fn until_refused(provider: &str, limits: ProxyLimits) -> (usize, String, Record, usize) {
    let usage = Usage { input: 600, output: 400, cached: 0, reasoning: 0 };
    let endpoint = Endpoint::start(Script::new().reply(Reply::text("on").usage(usage)));
    let n_calls = Arc::new(AtomicUsize::new(0));
    let shown = Arc::clone(&n_calls);
    let mut options = to_endpoint(provider, &endpoint);
    options.limits = limits;
    options.price = Some(Price { input: 1000.0, output: 1000.0, cached: None, cache_write: None });
    options.on_spent = Some(OnSpent(Box::new(move |_, _| {
        shown.fetch_add(1, Ordering::SeqCst);
    })));
    let proxy = started(options);
    let (path, body) = question(provider, false);
    for n_answered in 0..20 {
        let (status, text) = ask(&proxy, path, DUMMY, &body);
        if status != 200 {
            assert_eq!(status, 429, "{text}");
            ask(&proxy, path, DUMMY, &body);
            assert_eq!(endpoint.stats().requests, n_answered as u64, "what is refused is not asked");
            return (n_answered, text, proxy.finish(), n_calls.load(Ordering::SeqCst));
        }
    }
    panic!("nothing was refused");
}

#[test]
fn limits_end_what_may_be_asked_in_the_words_of_the_interface() {
    let requests = ProxyLimits { requests: Some(3), ..ProxyLimits::default() };
    let tokens = ProxyLimits { tokens: Some(1500), ..ProxyLimits::default() };
    let usd = ProxyLimits { usd: Some(3.5), ..ProxyLimits::default() };
    let cases = [
        ("openai", requests, 3, Spent::Requests, r#""code":"insufficient_quota""#),
        ("openai-responses", tokens, 2, Spent::Tokens, r#""type":"insufficient_quota""#),
        ("anthropic", tokens, 2, Spent::Tokens, r#""type":"rate_limit_error""#),
        ("gemini", usd, 4, Spent::Usd, r#""status":"RESOURCE_EXHAUSTED""#),
    ];
    for (provider, limits, n, spent, words) in cases {
        let (n_answered, text, record, n_calls) = until_refused(provider, limits);
        assert_eq!((n_answered, record.spent, n_calls), (n, Some(spent), 2), "{provider}");
        assert!(text.contains(words) && text.contains(spent.name()), "{provider}: {text}");
        assert_eq!((record.n_requests, record.failure()), (n as u64, None), "{provider}");
        assert_eq!(record.cost_usd, Some(n as f64), "{provider}");
    }
}

/// A refusal is known by its words, whichever interface it came through; what an agent asks beside its work does not hide it.
#[test]
fn a_refusal_is_known_by_its_words() {
    for provider in ["openai", "openai-responses", "anthropic", "gemini"] {
        for is_streamed in [false, true] {
            let script = Script::answering(|request| match request.tools.is_empty() {
                true => Reply::text("A title"),
                false => Reply::refusal("I will not."),
            });
            let endpoint = Endpoint::start(script);
            let proxy = started(to_endpoint(provider, &endpoint));
            let (path, body) = question(provider, is_streamed);
            assert_eq!(ask(&proxy, path, DUMMY, &body).0, 200, "{provider}");
            assert_eq!(proxy.record().refusal(), None, "{provider}");
            assert_eq!(ask(&proxy, path, DUMMY, &with_tool(provider, &body)).0, 200, "{provider}");
            assert_eq!(ask(&proxy, path, DUMMY, &body).0, 200, "{provider}");
            let record = proxy.finish();
            let words = if provider == "gemini" { "" } else { "I will not." };
            assert_eq!((record.refusal(), record.n_refusals()), (Some(words), 1), "{provider}, {is_streamed}");
        }
    }
}

#[test]
fn failures_of_the_provider_are_remembered_until_it_answers() {
    for (status, words) in [(401, "no such key: [secret]"), (503, "overloaded")] {
        let script = Script::answering(move |request| match (request.repeat, status) {
            (1, 401) => {
                Answer::raw(401, "application/json", format!(r#"{{"error":{{"message":"no such key: {KEY}"}}}}"#))
            }
            (1, _) => Answer::raw(503, "application/json", r#"{"error":{"message":"overloaded"}}"#),
            _ => Answer::from(Reply::text("better")),
        });
        let endpoint = Endpoint::start(script);
        let proxy = started(to_endpoint("openai", &endpoint));
        let (path, body) = question("openai", false);
        let (seen, text) = ask(&proxy, path, DUMMY, &body);
        assert_eq!(seen, status);
        assert!(!text.contains(KEY), "the agent received the key: {text}");
        let record = proxy.record();
        let failure = record.failure().expect("it failed");
        assert_eq!(failure.status, Some(status));
        assert_eq!(failure.message, words);
        assert_eq!(ask(&proxy, path, DUMMY, &body).0, 200);
        let record = proxy.finish();
        assert_eq!((record.n_failures(), record.failure()), (1, None));
    }
}

#[test]
fn a_provider_that_is_not_there_is_a_failure_in_words() {
    let endpoint = Endpoint::start(Script::new());
    let options = to_endpoint("anthropic", &endpoint);
    drop(endpoint);
    let proxy = started(options);
    let (path, body) = question("anthropic", true);
    let (status, text) = ask(&proxy, path, DUMMY, &body);
    assert_eq!(status, 502);
    assert!(text.contains(r#""type":"api_error""#), "{text}");
    assert_eq!(proxy.finish().failure().map(|it| it.status), Some(None));
}

#[test]
fn a_stream_that_is_cut_is_a_failure() {
    let endpoint = Endpoint::start(
        Script::new().reply(Reply::text("a few words of an answer")).fault(When::FirstOfEach(1), Fault::CutBody),
    );
    let proxy = started(to_endpoint("anthropic", &endpoint));
    let (path, body) = question("anthropic", true);
    let port = proxy.port().expect("it listens on a port");
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    let length = body.len();
    write!(stream, "POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n{body}").expect("it reads");
    stream.read_to_end(&mut Vec::new()).map(drop).unwrap_or_default();
    let record = proxy.finish();
    assert_eq!(record.failure().map(|it| it.message.as_str()), Some("the reply ended before it was complete"));
}

/// Sends a request, and closes it when the endpoint has it.
fn give_up(proxy: &Proxy, endpoint: &Endpoint, n_requests: u64) {
    let (path, body) = question("openai", false);
    let port = proxy.port().expect("it listens on a port");
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    let length = body.len();
    write!(stream, "POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n{body}").expect("it reads");
    endpoint.wait_until(|it| it.requests >= n_requests);
}

#[test]
fn a_request_that_the_agent_gave_up_on_is_remembered_until_the_endpoint_answers() {
    let silent = || Script::new().reply(Reply::text("fine")).fault(When::First(1), Fault::Silence);
    let endpoint = Endpoint::start(silent());
    let proxy = started(to_endpoint("openai", &endpoint));
    give_up(&proxy, &endpoint, 1);
    let record = proxy.finish();
    let error = record.unanswered().and_then(|it| it.error.clone()).unwrap_or_default();
    assert!(error.starts_with("the agent closed its request to the model after "), "{record:?}");
    assert_eq!(record.failure(), None);
    let endpoint = Endpoint::start(silent());
    let proxy = started(to_endpoint("openai", &endpoint));
    give_up(&proxy, &endpoint, 1);
    let (path, body) = question("openai", false);
    assert_eq!(ask(&proxy, path, "", &body).0, 200);
    assert_eq!(proxy.finish().unanswered(), None);
}

#[test]
fn pieces_pass_as_they_come() {
    let server = TcpListener::bind("127.0.0.1:0").expect("loopback is there");
    let url = format!("http://{}", server.local_addr().expect("it is bound"));
    let (heard, goes_on) = std::sync::mpsc::channel::<()>();
    let served = std::thread::spawn(move || {
        let (mut visitor, _) = server.accept().expect("a client connects");
        let mut lines = BufReader::new(visitor.try_clone().expect("sockets can be copied"));
        while lines.read_line(&mut String::new()).expect("it speaks") > 2 {}
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        write!(visitor, "{head}data: {{\"choices\":[{{\"delta\":{{\"content\":\"one\"}}}}]}}\n\n").expect("it reads");
        // The second piece is not sent before the first was seen on the other side.
        goes_on.recv().expect("the first piece was seen");
        let last =
            r#"{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":4,"completion_tokens":2}}"#;
        write!(visitor, "data: {last}\n\ndata: [DONE]\n\n").expect("it reads");
    });
    let proxy = started(ProxyOptions::to(Upstream::Model(Arc::new(model("openai", &url)))));
    let (path, body) = question("openai", true);
    let mut stream = TcpStream::connect(("127.0.0.1", proxy.port().expect("it has one"))).expect("it listens");
    stream.set_read_timeout(Some(std::time::Duration::from_secs(20))).expect("sockets have limits");
    let length = body.len();
    write!(stream, "POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}")
        .expect("it reads");
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    assert!(lines.any(|it| it.contains("one")), "the first piece did not come by itself");
    heard.send(()).expect("the server waits");
    assert!(lines.any(|it| it.contains("[DONE]")));
    served.join().expect("it ends");
    let record = proxy.finish();
    assert_eq!((record.usage.input, record.usage.output), (4, 2));
}

#[test]
fn a_function_of_the_program_can_answer() {
    let answer = |asked: &Asked| {
        assert_eq!(asked.operation, Operation::Chat);
        Given::json(
            r#"{"choices":[{"message":{"content":"scripted"}}],"usage":{"prompt_tokens":2,"completion_tokens":3}}"#,
        )
    };
    let folder = tempfile::tempdir().expect("there is room for files");
    let socket = folder.path().join("model.sock");
    let options = ProxyOptions::to(Upstream::Answer(Arc::new(answer)));
    let proxy = Proxy::start(&Listen::Unix(socket.clone()), options).expect("it can listen");
    let (path, body) = question("openai", false);
    let stream = UnixStream::connect(&socket).expect("it listens");
    let (status, text) = exchange(stream, path, DUMMY, &body);
    assert!(status == 200 && text.contains("scripted"), "{text}");
    let record = proxy.finish();
    assert_eq!((record.usage.input, record.usage.output, record.cost_usd), (2, 3, None));
    assert!(!socket.exists());
}

#[test]
fn only_names_that_are_allowed_are_reached() {
    let server = TcpListener::bind("127.0.0.1:0").expect("loopback is there");
    let port = server.local_addr().expect("it is bound").port();
    let served = std::thread::spawn(move || {
        let (mut visitor, _) = server.accept().expect("a client connects");
        let mut said = [0; 5];
        visitor.read_exact(&mut said).expect("it speaks");
        visitor.write_all(b"world").expect("it listens");
        String::from_utf8_lossy(&said).into_owned()
    });
    let mut options = ProxyOptions::to(Upstream::NoModel);
    options.names = Names::read([format!("localhost:{port}").as_str()]).expect("it is a name");
    let proxy = started(options);
    let connect = |authority: &str| {
        let mut stream = TcpStream::connect(("127.0.0.1", proxy.port().expect("it has one"))).expect("it listens");
        write!(stream, "CONNECT {authority} HTTP/1.1\r\nhost: {authority}\r\n\r\n").expect("it reads");
        let mut lines = BufReader::new(stream.try_clone().expect("sockets can be copied"));
        let mut first = String::new();
        lines.read_line(&mut first).expect("it answers");
        while lines.read_line(&mut String::new()).is_ok_and(|it| it > 2) {}
        (stream, first)
    };
    for authority in [format!("127.0.0.1:{port}"), "example.com:443".to_owned(), "localhost:1".to_owned()] {
        assert!(connect(&authority).1.contains(" 403 "), "{authority}");
    }
    let (mut stream, first) = connect(&format!("localhost:{port}"));
    assert!(first.contains(" 200 "), "{first}");
    stream.write_all(b"hello").expect("it is passed on");
    let mut answer = [0; 5];
    stream.read_exact(&mut answer).expect("it is passed back");
    assert_eq!((served.join().expect("it ends").as_str(), &answer), ("hello", b"world"));
    let allowed: Vec<_> = proxy.finish().tunnelled.into_iter().map(|it| it.is_allowed).collect();
    assert_eq!(allowed, [false, false, false, true]);
}

#[test]
fn what_is_written_down_has_an_end() {
    let endpoint = Endpoint::start(Script::new().reply(Reply::text("x".repeat(5000))));
    let mut options = to_endpoint("openai", &endpoint);
    options.recorded_bytes = 100;
    let proxy = started(options);
    let (path, body) = question("openai", false);
    let (_, text) = ask(&proxy, path, DUMMY, &body);
    let record = proxy.finish();
    let exchange = &record.exchanges[0];
    assert_eq!((exchange.reply.text.len(), exchange.request.text.len()), (100, body.len().min(100)));
    assert!(exchange.reply.n_bytes > 5000 && text.len() > 5000);
}

#[test]
fn a_script_plays_the_model_of_any_agent() {
    let lines = concat!(
        r#"{"match": {"task": "solve", "contains": "hi"}, "tool_calls": [{"name": "shell", "arguments": {"command": "date"}}]}"#,
        "\n",
        r#"{"reply": "all done"}"#,
        "\n",
        r#"{"fault": "status:500"}"#,
    );
    for provider in PROVIDERS.into_iter().filter(|it| *it != "ollama") {
        for is_streamed in [false, true] {
            let mut options = ProxyOptions::to(Upstream::Model(Arc::new(script(lines))));
            options.on_behalf.task = "solve".to_owned();
            let proxy = started(options);
            let (path, body) = question(provider, is_streamed);
            let (status, text) = ask(&proxy, path, DUMMY, &body);
            assert_eq!(status, 200, "{provider}: {text}");
            assert!(text.contains("shell") && text.contains("date"), "{provider}: {text}");
            let (status, text) = ask(&proxy, path, DUMMY, &body);
            assert!(status == 200 && text.contains("all done"), "{provider}: {text}");
            let (status, text) = ask(&proxy, path, DUMMY, &body);
            assert_eq!(status, 500, "{provider}: {text}");
            let (status, text) = ask(
                &proxy,
                path,
                DUMMY,
                r#"{"messages":[{"role":"user","content":[{"type":"image"}]}],"input":[{"type":"image"}],"contents":[{"parts":[{"inlineData":1}]}]}"#,
            );
            assert!(status == 400 && text.contains("cannot be passed on"), "{provider}: {text}");
            let record = proxy.finish();
            assert_eq!((record.n_requests, record.n_failures()), (4, 1), "{provider}");
            assert_eq!(record.failure().and_then(|it| it.status), Some(500), "{provider}");
        }
    }
}

/// A proxy to a server of raw bytes.
fn to_raw(server: &Raw) -> ProxyOptions {
    ProxyOptions::to(Upstream::Model(Arc::new(model("openai", &server.url()))))
}

const PARIS: &str = r#"{"choices": [{"message": {"content": "Paris"}, "finish_reason": "stop"}]}"#;

#[test]
fn what_the_model_might_read_differently_is_not_passed_on() {
    let server = Raw::saying(answer("200 OK", "", PARIS));
    let proxy = started(to_raw(&server));
    let utf16: Vec<u8> = r#"{"model":"other"}"#.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let bodies: [&[u8]; 12] = [
        br#"{"\ud800":1,"model":"other","max_tokens":100000}"#,
        b"\xef\xbb\xbf{\"model\":\"other\"}",
        &utf16,
        br#"{"x":NaN,"model":"other"}"#,
        br#"{"model":"other","model":"m"}"#,
        br#"{"model":"m","Model":"other"}"#,
        br#"{"max_tokens":1,"max_tokens":100000}"#,
        br#"{"max_tokens":"100000"}"#,
        br#"{"n":1e99}"#,
        b"{\"a\":\"\xff\"}",
        b"[]",
        b"",
    ];
    for body in bodies {
        let (status, said) = ask_bytes(&proxy, "/v1/chat/completions", DUMMY, body);
        assert_eq!(status, 400, "{}: {said}", String::from_utf8_lossy(body));
    }
    let gzip = format!("{DUMMY}content-encoding: gzip\r\n");
    let (status, said) = ask(&proxy, "/v1/chat/completions", &gzip, "{}");
    assert!(status == 400 && said.contains("must not be compressed"), "{status} {said}");
    assert_eq!(server.seen().len(), 0);
    // Nothing of it was counted, and what can be read is asked of the right model.
    let utf7 = format!("{DUMMY}content-type: application/json; charset=utf-7\r\n");
    assert_eq!(ask(&proxy, "/v1/chat/completions", &utf7, r#"{"model":"other","messages":[]}"#).0, 200);
    assert_eq!(server.seen()[0].body, br#"{"messages":[],"model":"m"}"#);
    assert_eq!(server.seen()[0].header("content-type"), Some("application/json"));
    assert_eq!(proxy.finish().n_requests, 1);
}

#[test]
fn the_key_is_handed_back_to_no_agent() {
    let (first, second) = KEY.split_at(7);
    let streamed = format!("data: {{\"key\": \"{KEY}\"}}\n\ndata: {first}");
    let chunks: String = [&streamed, second, "\n\n", first, second]
        .iter()
        .map(|it| format!("{:x}\r\n{it}\r\n", it.len()))
        .chain(["0\r\n\r\n".to_owned()])
        .collect();
    let echoes = [
        answer("200 OK", &format!("x-echo: Bearer {KEY}\r\n"), format!("{{\"key\": \"{KEY}\"}}")),
        answer("200 OK", &format!("x-{KEY}: 1\r\n"), KEY),
        answer("401 Unauthorized", &format!("x-echo: {KEY}\r\n"), format!("wrong key {KEY}")),
        answer("500 Internal Server Error", &format!("www-authenticate: {KEY}\r\n"), KEY),
        format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n{chunks}")
            .into_bytes(),
        format!(
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x\r\n\r\n2\r\n{{}}\r\n0\r\nx: {KEY}\r\n\r\n"
        )
        .into_bytes(),
    ];
    for echo in echoes {
        let server = Raw::saying(echo.clone());
        let proxy = started(to_raw(&server));
        let (_, said) = ask_whole(&proxy, "/v1/chat/completions", DUMMY, b"{}");
        assert_eq!(server.seen()[0].header("authorization"), Some(format!("bearer {}", KEY.to_lowercase()).as_str()));
        assert!(!said.contains(KEY), "{}\n{said}", String::from_utf8_lossy(&echo));
        assert!(!said.contains(second), "{}\n{said}", String::from_utf8_lossy(&echo));
        assert!(!format!("{:?}", proxy.finish()).contains(KEY));
    }
}

/// A stream of events, each a chunk of its own, with these pieces of an answer's text.
fn streamed(pieces: &[&str]) -> Vec<u8> {
    let event = |piece: &&str| {
        format!(
            "data: {{\"model\":\"gpt-oss\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{piece}\"}}}}]}}\n\n"
        )
    };
    let end = r#"data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":4,"completion_tokens":2}}"#;
    let events = pieces.iter().map(event).chain([format!("{end}\n\ndata: [DONE]\n\n")]);
    let chunks = events.map(|it| format!("{:x}\r\n{it}\r\n", it.len())).chain(["0\r\n\r\n".to_owned()]);
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n";
    [head.to_owned()].into_iter().chain(chunks).collect::<String>().into_bytes()
}

/// The texts of an answer's events, one after the other.
fn said(stream: &str) -> String {
    stream.split("\"content\":\"").skip(1).filter_map(|it| it.split('"').next()).collect()
}

#[test]
fn a_key_that_is_echoed_over_several_events_is_handed_back_to_no_agent() {
    let (path, body) = question("openai", true);
    let halves = (0..=KEY.len()).map(|it| vec![&KEY[..it], &KEY[it..]]);
    let thirds = (1..KEY.len() - 1).map(|it| vec![&KEY[..it], &KEY[it..=it], &KEY[it + 1..]]);
    let bytes = (0..KEY.len()).map(|it| &KEY[it..=it]).collect();
    for pieces in halves.chain(thirds).chain([bytes]) {
        let server = Raw::saying(streamed(&[&["yes, "], &pieces[..], &["."]].concat()));
        let proxy = started(to_raw(&server));
        let (status, text) = ask(&proxy, path, DUMMY, &body);
        assert_eq!((status, said(&text).as_str()), (200, "yes, [secret]."), "{pieces:?}: {text}");
        let record = proxy.finish();
        assert_eq!((record.usage.output, record.failure()), (2, None), "{pieces:?}");
        assert_eq!(said(&record.exchanges[0].reply.text), "yes, [secret].", "{pieces:?}");
    }
}

#[test]
fn a_stream_that_is_not_of_events_is_not_asked_for() {
    let server = Raw::saying(answer("200 OK", "", "[]"));
    let proxy = started(ProxyOptions::to(Upstream::Model(Arc::new(model("gemini", &server.url())))));
    let (path, body) = question("gemini", true);
    let (status, text) = ask(&proxy, &path.replace("alt=sse&", ""), DUMMY, &body);
    assert!(status == 400 && text.contains("`alt=sse`"), "{status} {text}");
    assert_eq!(server.seen().len(), 0);
}

#[test]
fn a_port_answers_only_requests_with_its_key() {
    let server = Raw::start(|_, stream| stream.write_all(&answer("200 OK", "", PARIS)).expect("it is read"));
    let proxy = started(ProxyOptions { key: Some("jurat-0123456789".to_owned()), ..to_raw(&server) });
    let path = "/v1/chat/completions";
    for wrong in ["", DUMMY, "x-api-key: jurat-0123456788\r\n", "authorization: Bearer jurat-01234567890\r\n"] {
        let (status, said) = ask(&proxy, path, wrong, "{}");
        assert!(status == 401 && said.contains("only the agent that it was opened for"), "{wrong}: {status} {said}");
    }
    assert_eq!(server.seen().len(), 0);
    for right in ["authorization: Bearer", "x-api-key:", "x-goog-api-key:", "api-key:"] {
        assert_eq!(ask(&proxy, path, &format!("{right} jurat-0123456789\r\n"), "{}").0, 200, "{right}");
    }
    assert_eq!(ask(&proxy, &format!("{path}?key=jurat-0123456789"), "", "{}").0, 200);
    assert!(server.seen().iter().all(|it| !it.head.concat().contains("jurat-0123456789")));
    let mut stream = TcpStream::connect(("127.0.0.1", proxy.port().expect("a port"))).expect("it listens");
    stream.write_all(b"CONNECT example.invalid:443 HTTP/1.1\r\nhost: x\r\n\r\n").expect("it reads");
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).expect("it answers");
    assert!(line.starts_with("HTTP/1.1 403"), "{line}");
}
