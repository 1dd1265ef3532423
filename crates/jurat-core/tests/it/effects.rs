//! Requests and outcomes survive being stored, and keys identify requests for years.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use jurat_core::effect::wire::{StoredRequest, outcome_json, read_outcome, request_json};
use jurat_core::effect::{
    Answer, Attempt, Candidate, EffectKey, Endpoint, EndpointKey, Fault, FaultClass, FaultKind, Finish, Logprobs,
    Media, MediaDigest, MediaKind, Message, Messages, ModelRequest, Outcome, Part, PerformerKey, Printed, PrintedText,
    Reasoning, Request, Returned, Role, Schema, Served, TokenLogprob, Tool, ToolCall, ToolChoice, Usage, UsedTool,
};
use jurat_core::verdict::StopReason;
use jurat_format::value::{Value, parse_json};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

use crate::arbitrary::{self, text};

/// Requests with the keys they had when they were first stored. A key that changes makes every paid answer unreachable: then
/// `KEY_REVISION` has to go up, and the journal has to be keyed anew from its requests.
///
/// `JURAT_BLESS_KEYS=1` makes the file anew, which must be on purpose.
const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/keys.jsonl");

#[test]
fn golden_requests_keep_their_keys() {
    if std::env::var_os("JURAT_BLESS_KEYS").is_some() {
        std::fs::write(GOLDEN, golden_lines()).expect("the file can be written");
    }
    let golden = std::fs::read_to_string(GOLDEN).expect("the file can be read");
    let mut keys = HashSet::new();
    for (ix, line) in golden.lines().enumerate() {
        let (key, text) = line.split_once(' ').expect("a key and a request");
        let read = StoredRequest::read(text).unwrap_or_else(|error| panic!("line {}: {error}", ix + 1));
        let (endpoint, request) = read.into_model().expect("a model is asked");
        assert_eq!(key_of(&endpoint, &request).to_string(), key, "line {}", ix + 1);
        assert_eq!(request_json(&endpoint, &request), text, "line {}", ix + 1);
        assert!(keys.insert(key), "line {} has the key of another", ix + 1);
    }
    assert_eq!(keys.len(), 200);
}

fn key_of(endpoint: &Endpoint, request: &ModelRequest) -> EffectKey {
    Request::from(request.clone()).key(&PerformerKey::Endpoint(&EndpointKey::new(endpoint)))
}

fn golden_lines() -> String {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(crate::laws(), rng);
    let mut line = || {
        let (endpoint, request) = (endpoints(), requests()).new_tree(&mut runner).expect("a request").current();
        format!("{} {}\n", key_of(&endpoint, &request), request_json(&endpoint, &request))
    };
    (0..200).map(|_| line()).collect()
}

/// Pairs that a careless framing would write alike.
#[test]
fn what_differs_has_another_key() {
    let endpoint = |settings: &str| Endpoint {
        settings: vec![("extra".to_owned(), value(settings))],
        ..plain_endpoint("openai_chat", "gpt")
    };
    let asked = |texts: &[&str]| {
        let messages: Messages = texts.iter().map(|it| Message::User((*it).to_owned())).collect();
        ModelRequest::new("judge", messages)
    };
    let mut keys = HashSet::new();
    let mut add = |endpoint: &Endpoint, request: &ModelRequest| {
        assert!(keys.insert(key_of(endpoint, request)), "{endpoint:?} {request:?}");
    };
    for settings in [
        "1",
        "1.0",
        "\"1\"",
        "[1]",
        "{\"a\":1,\"b\":2}",
        "{\"b\":2,\"a\":1}",
        "9007199254740993",
        "9007199254740992",
        "1e400",
        "-0.0",
        "0.0",
        "0",
        "null",
        "[]",
        "{}",
        "\"\"",
        "[[],[]]",
        "[[[]]]",
    ] {
        add(&endpoint(settings), &asked(&["a"]));
    }
    for texts in [&["ab"][..], &["a", "b"], &["", "ab"], &["ab", ""], &[]] {
        add(&endpoint("0.5"), &asked(texts));
    }
    let request = asked(&["a"]);
    add(&endpoint("0.5"), &ModelRequest { repeat: 1, ..request.clone() });
    add(&endpoint("0.5"), &ModelRequest { output: Some(value("{}").into()), ..request.clone() });
    add(&endpoint("0.5"), &ModelRequest { tool_choice: ToolChoice::Required, ..request.clone() });
    add(&endpoint("0.5"), &ModelRequest { logprobs: Some(0), ..request.clone() });
    add(&endpoint("0.5"), &ModelRequest { logprobs: Some(20), ..request.clone() });
    let image = |digest: u8| Media::stored(MediaKind::Image, "image/png", MediaDigest([digest; 32]), 8, None);
    let result = |media: Vec<Media>| {
        let (call_id, name, text) = ("c1".to_owned(), "draw".to_owned(), "a".to_owned());
        Message::Tool { call_id, name, text, media, is_error: false }
    };
    for media in [vec![], vec![image(1)], vec![image(2)], vec![image(1), image(1)]] {
        add(&endpoint("0.5"), &ModelRequest::new("judge", vec![result(media)]));
    }
    let parts = Message::of_parts(vec![Part::Media(image(1))]);
    add(&endpoint("0.5"), &ModelRequest::new("judge", vec![result(vec![]), parts]));
    add(&Endpoint { codec_revision: 2, ..endpoint("0.5") }, &request);
    add(&Endpoint { address: "http://127.0.0.1:9".to_owned(), ..endpoint("0.5") }, &request);
    add(&Endpoint { headers: vec![("X-Beta".to_owned(), "1".to_owned())], ..endpoint("0.5") }, &request);
}

#[test]
fn the_caller_is_not_in_the_key() {
    let endpoint = plain_endpoint("openai_chat", "gpt");
    let asked = |role: &str| ModelRequest::new(role, vec![Message::User("a".to_owned())]);
    assert_eq!(key_of(&endpoint, &asked("judge")), key_of(&endpoint, &asked("openai/gpt")));
}

/// What a provider caches decides nothing about what it answers.
#[test]
fn marks_for_the_cache_of_a_provider_are_not_in_the_key() {
    let endpoint = plain_endpoint("anthropic_messages", "claude");
    let plain = ModelRequest::new("judge", vec![Message::User("a".to_owned())]);
    let marked = ModelRequest { prompt_cache: vec![0], ..plain.clone() };
    assert_eq!(key_of(&endpoint, &plain), key_of(&endpoint, &marked));
    assert!(Request::from(plain).is_same(&marked.into()));
}

/// Who may use a response decides nothing about what it is.
#[test]
fn whether_a_team_shares_a_model_is_stored_and_not_in_the_key() {
    let request = ModelRequest::new("judge", vec![Message::User("a".to_owned())]);
    let plain = plain_endpoint("openai_chat", "gpt");
    for shared in [Some(true), Some(false)] {
        let endpoint = Endpoint { shared, ..plain.clone() };
        assert_eq!(key_of(&endpoint, &request), key_of(&plain, &request));
        let read = StoredRequest::read(&request_json(&endpoint, &request)).expect("it can be read");
        assert_eq!(read.into_model(), Some((Arc::new(endpoint), request.clone())));
    }
}

/// Values that JSON can hold: providers speak nothing else.
fn json_value() -> impl Strategy<Value = Value> {
    arbitrary::value().prop_filter("JSON", |it| parse_json(&it.to_json()).is_ok_and(|again| again.value == *it))
}

fn value(json: &str) -> Value {
    parse_json(json).expect("JSON").value.into_owned()
}

fn plain_endpoint(codec: &str, model: &str) -> Endpoint {
    Endpoint {
        codec: codec.to_owned(),
        codec_revision: 1,
        address: String::new(),
        model: model.to_owned(),
        settings: Vec::new(),
        headers: Vec::new(),
        shared: None,
    }
}

fn endpoints() -> impl Strategy<Value = Endpoint> {
    let pairs = vec((text(), json_value()), 0..3);
    (
        select(&["openai_chat", "gemini_generate", "script"][..]),
        1..4u32,
        text(),
        text(),
        pairs,
        vec((text(), text()), 0..2),
    )
        .prop_map(|(codec, codec_revision, address, model, settings, headers)| Endpoint {
            codec: codec.to_owned(),
            codec_revision,
            address,
            model,
            settings,
            headers,
            shared: None,
        })
}

fn tool_calls() -> impl Strategy<Value = Vec<ToolCall>> {
    vec((text(), text(), json_value()).prop_map(|(id, name, arguments)| ToolCall { id, name, arguments }), 0..3)
}

fn messages() -> impl Strategy<Value = Message> {
    prop_oneof![
        text().prop_map(Message::System),
        text().prop_map(Message::User),
        (text(), tool_calls(), reasoning()).prop_map(|(text, tool_calls, reasoning)| Message::Assistant {
            text,
            tool_calls,
            reasoning
        }),
        (text(), text(), text(), media(), any::<bool>()).prop_map(|(call_id, name, text, media, is_error)| {
            Message::Tool { call_id, name, text, media, is_error }
        }),
    ]
}

fn media() -> impl Strategy<Value = Vec<Media>> {
    let image = (any::<[u8; 32]>(), any::<u64>(), option::of(text()));
    let image = image.prop_map(|(digest, n_bytes, name)| {
        Media::stored(MediaKind::Image, "image/png", MediaDigest(digest), n_bytes, name)
    });
    vec(image, 0..3)
}

fn requests() -> impl Strategy<Value = ModelRequest> {
    let tool = (text(), option::of(text()), json_value()).prop_map(|(name, description, parameters)| Tool {
        name,
        description,
        parameters,
    });
    let choice = prop_oneof![
        Just(ToolChoice::Auto),
        Just(ToolChoice::None),
        Just(ToolChoice::Required),
        text().prop_map(ToolChoice::Named)
    ];
    let schema = json_value().prop_filter("a schema", |it| *it != Value::Null);
    (text(), vec(messages(), 0..4), option::of(schema), vec(tool, 0..3), choice, 0..5u32).prop_map(
        |(model, messages, output, tools, tool_choice, repeat)| ModelRequest {
            model: Role::parse(&model),
            messages: messages.into(),
            output: output.map(Schema::from),
            tools,
            tool_choice,
            logprobs: repeat.checked_sub(3),
            prompt_cache: (0..repeat).collect(),
            repeat,
            row: Value::Null,
        },
    )
}

fn kinds() -> impl Strategy<Value = FaultKind> {
    use FaultKind::{Cancelled, Connect, Cut, Diverged, Garbled, Judging, NoAnswer, Timeout, Unsupported};
    let named = [Timeout, Connect, Cut, Garbled, Unsupported, NoAnswer, Judging, Cancelled, Diverged];
    prop_oneof![any::<u16>().prop_map(FaultKind::Status), select(named.to_vec())]
}

fn durations() -> impl Strategy<Value = Duration> {
    (0..1_u64 << 40).prop_map(Duration::from_micros)
}

fn attempts() -> impl Strategy<Value = Vec<Attempt>> {
    let attempt = (kinds(), text(), option::of(durations()), durations())
        .prop_map(|(kind, message, retry_after, took)| Attempt { kind, message, retry_after, took });
    vec(attempt, 0..3)
}

fn reasoning() -> impl Strategy<Value = Option<Box<Reasoning>>> {
    (text(), option::of(text())).prop_map(|(text, state)| Reasoning::new(text, state.map_or(Value::Null, Value::from)))
}

/// Tokens of a text, each a byte, so that most are no text.
fn logprobs(text: &str) -> Box<Logprobs> {
    let candidate = |byte: u8| Candidate { bytes: vec![byte], logprob: -f64::from(byte) / 7.0 };
    let token =
        |byte: u8| TokenLogprob { token: candidate(byte), top: vec![candidate(byte), Candidate::new("no", -3.5)] };
    Box::new(Logprobs(text.bytes().map(token).collect()))
}

fn outcomes() -> impl Strategy<Value = Outcome> {
    let usage = (any::<u64>(), any::<u64>(), any::<u64>(), any::<u64>(), any::<u64>()).prop_map(
        |(input, output, cached, reasoning, cache_write)| Usage { input, output, cached, reasoning, cache_write },
    );
    let served = (option::of(text()), option::of(text()), option::of(text()), option::of(text()))
        .prop_map(|(model, fingerprint, request_id, batch)| Served { model, fingerprint, request_id, batch });
    let finish = prop_oneof![
        Just(Finish::Stop),
        Just(Finish::Length),
        Just(Finish::ToolCalls),
        Just(Finish::Refusal),
        text().prop_map(|it| Finish::named(&it))
    ];
    let answer = (
        (text(), tool_calls(), reasoning(), finish, option::of(usage), option::of(0.0..1e9_f64)),
        (served, durations(), any::<u64>(), any::<u32>(), attempts()),
    )
        .prop_map(
            |((text, tool_calls, reasoning, finish, usage, cost_usd), (served, latency, at_ms, n_requests, failed))| {
                let used = tool_calls.iter().cloned().map(|call| UsedTool {
                    is_error: call.name.len().is_multiple_of(2),
                    output: (!text.is_empty()).then(|| text.clone()),
                    call,
                });
                Answer {
                    used: used.collect(),
                    first_token: at_ms.is_multiple_of(2).then_some(latency),
                    logprobs: at_ms.is_multiple_of(3).then(|| logprobs(&text)),
                    text,
                    tool_calls,
                    reasoning,
                    finish,
                    usage,
                    cost_usd,
                    served,
                    latency,
                    at_ms,
                    n_requests,
                    failed,
                }
            },
        );
    let classes = proptest::sample::select(FaultClass::NAMED.map(|(_, it)| it).to_vec());
    let fault = (kinds(), classes, text(), (option::of(text()), option::of(text())), any::<u32>(), attempts());
    let fault = fault.prop_map(|(kind, class, message, (role, key_env), n_requests, failed)| Fault {
        kind,
        class,
        message,
        role: role.map(|it| Role::parse(&it)),
        key_env,
        n_requests,
        failed,
    });
    let printed = || (text(), any::<u64>()).prop_map(|(text, n_dropped)| PrintedText { text, n_dropped });
    let printed = (printed(), printed()).prop_map(|(stdout, stderr)| Printed { stdout, stderr });
    let returned = (arbitrary::value(), media(), any::<bool>(), printed, durations(), any::<u64>());
    let returned = returned.prop_map(|(value, media, is_error, printed, latency, at_ms)| Returned {
        value,
        media,
        is_error,
        printed,
        latency,
        at_ms,
    });
    use StopReason::{Budget, Deadline, FailFast, Interrupted};
    prop_oneof![
        answer.prop_map(|it| Outcome::Answer(Box::new(it))),
        returned.prop_map(|it| Outcome::Returned(Box::new(it))),
        fault.prop_map(|it| Outcome::Fault(Box::new(it))),
        select(vec![Budget, Deadline, FailFast, Interrupted]).prop_map(Outcome::NotRun),
    ]
}

/// Older runs have no output of code.
#[test]
fn what_was_stored_without_what_was_printed_reads_as_nothing_printed() {
    let stored = r#"{"returned":{"value":{"label":"pass"},"latency_us":12,"at_ms":5}}"#;
    let outcome = read_outcome("evaluate", stored).unwrap();
    let Outcome::Returned(returned) = &outcome else { panic!("{outcome:?}") };
    assert_eq!(returned.printed, Printed::default());
    assert_eq!(outcome_json(&outcome), stored);
}

proptest! {
    #![proptest_config(crate::laws())]

    #[test]
    fn a_stored_request_reads_back_with_its_key(endpoint in endpoints(), request in requests()) {
        let stored = request_json(&endpoint, &request);
        let (again, request_again) = StoredRequest::read(&stored).unwrap().into_model().expect("a model is asked");
        prop_assert_eq!(&*again, &endpoint);
        prop_assert_eq!(&request_again, &request);
        prop_assert_eq!(key_of(&again, &request_again), key_of(&endpoint, &request));
    }

    #[test]
    fn a_stored_outcome_reads_back(outcome in outcomes()) {
        prop_assert_eq!(read_outcome("", &outcome_json(&outcome)).unwrap(), outcome);
    }
}
