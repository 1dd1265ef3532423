//! Requests, the bytes they become, replies and what they mean, as files: `tests/golden/CODEC/CASE/`.
//!
//! ```text
//! request.json       what is asked, as it is stored
//! wire.json          what is sent, with the codec's revision
//! wire-stream.json   the same when the reply is asked for in pieces
//! reply-NAME.http    what a provider may send back: a status line, headers, an empty line, a body
//! answer-NAME.json   what that means
//! ```
//!
//! A request names images, audio and documents by their digest; the bytes are in `tests/media/`.
//!
//! `JURAT_BLESS=1` writes what is expected anew, but never other bytes under the same revision: answers are stored under it, and an equal
//! request that becomes other bytes may be answered differently. Raise `REVISION` of the codec first.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use jurat_core::effect::wire::{StoredRequest, outcome_json};
use jurat_core::effect::{Answer, Endpoint, ModelRequest, Outcome};
use jurat_model::codec::{ApiError, Codec, Failure, Received, Reply, Sending};

#[test]
fn requests_become_the_bytes_that_are_written_down() {
    let mut complaints = Vec::new();
    for (codec, case) in cases() {
        let file = case.join("request.json");
        if !file.exists() {
            continue;
        }
        let text = fs::read_to_string(&file).expect("a request can be read");
        let read = StoredRequest::read(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let (endpoint, request) = read.into_model().expect("a model is asked");
        let request = with_bytes(request);
        let mut endpoint = Endpoint::clone(&endpoint);
        assert_eq!(endpoint.codec, codec.name(), "{}", file.display());
        endpoint.codec_revision = codec.revision();
        for (name, stream) in [("wire.json", false), ("wire-stream.json", true)] {
            let expected = case.join(name);
            if name == "wire.json" || expected.exists() {
                complaints.extend(compared(&expected, &sent(codec, &endpoint, &request, stream), Kind::Wire));
            }
        }
    }
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn replies_mean_what_is_written_down() {
    let mut complaints = Vec::new();
    for (codec, case) in cases() {
        for reply in files(&case).into_iter().filter(|it| it.extension().is_some_and(|it| it == "http")) {
            let name = reply.file_stem().and_then(|it| it.to_str()).and_then(|it| it.strip_prefix("reply-"));
            let name = name.unwrap_or_else(|| panic!("{} is not called `reply-NAME.http`", reply.display()));
            let message = read_http(&fs::read_to_string(&reply).expect("a reply can be read"));
            let meant = meant(codec, &endpoint_of(codec, &case), &message);
            complaints.extend(compared(&case.join(format!("answer-{name}.json")), &meant, Kind::Answer));
        }
    }
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn a_stream_says_the_same_wherever_it_is_cut() {
    let mut n_streams = 0;
    for (codec, case) in cases() {
        for reply in files(&case).into_iter().filter(|it| it.extension().is_some_and(|it| it == "http")) {
            let message = read_http(&fs::read_to_string(&reply).expect("a reply can be read"));
            if !message.is_stream() {
                continue;
            }
            n_streams += 1;
            let endpoint = endpoint_of(codec, &case);
            let streamed = |pieces: &[&[u8]]| streamed(codec, &endpoint, pieces.iter().copied());
            let whole = streamed(&[message.body.as_bytes()]);
            for at in 0..message.body.len() {
                let (left, right) = message.body.as_bytes().split_at(at);
                assert_eq!(streamed(&[left, right]), whole, "{}, cut at {at}", reply.display());
            }
            assert_eq!(streamed(&message.body.as_bytes().chunks(1).collect::<Vec<_>>()), whole, "{}", reply.display());
        }
    }
    assert!(n_streams >= 20, "{n_streams}");
}

#[test]
fn a_stream_that_ends_too_early_is_never_an_answer() {
    for (codec, case) in cases() {
        let file = case.join("reply-stream.http");
        if !file.exists() {
            continue;
        }
        let message = read_http(&fs::read_to_string(&file).expect("a reply can be read"));
        let body = message.body.trim_end();
        let endpoint = endpoint_of(codec, &case);
        let whole = streamed(codec, &endpoint, [body.as_bytes()]);
        assert!(whole.is_ok(), "{}: {whole:?}", file.display());
        for end in 0..body.len() {
            match streamed(codec, &endpoint, [&body.as_bytes()[..end]]) {
                Err(Failure::Cut) => {}
                // What comes after the mark of the end may be missing.
                Ok(reply) => {
                    assert_eq!(Ok(&reply.text), whole.as_ref().map(|it| &it.text), "{}, {end}", file.display());
                }
                Err(other) => panic!("{}, {end}: {other:?}", file.display()),
            }
        }
    }
}

/// A reply as a file has it.
struct Http {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

impl Http {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }

    fn is_stream(&self) -> bool {
        self.status == 200
            && self.header("content-type").is_some_and(|it| matches!(it, "text/event-stream" | "application/x-ndjson"))
    }
}

fn read_http(text: &str) -> Http {
    let (head, body) = text.split_once("\n\n").expect("an empty line ends the headers");
    let mut lines = head.lines();
    let status = lines.next().and_then(|it| it.split(' ').nth(1)).and_then(|it| it.parse().ok());
    let header = |line: &str| {
        let (name, value) = line.split_once(": ").expect("a header is `name: value`");
        (name.to_owned(), value.to_owned())
    };
    Http { status: status.expect("a status line"), headers: lines.map(header).collect(), body: body.to_owned() }
}

/// The endpoint that the request of a case is for: replies of an application are read by what its definition says.
fn endpoint_of(codec: Codec, case: &Path) -> Endpoint {
    let text = fs::read_to_string(case.join("request.json")).unwrap_or_default();
    let stored = StoredRequest::read(&text).ok().and_then(StoredRequest::into_model);
    let is_application = codec.name() == "http_application";
    stored.filter(|_| is_application).map(|(endpoint, _)| Endpoint::clone(&endpoint)).unwrap_or_default()
}

/// What is sent, as a file has it: the body stands byte by byte on its line.
fn sent(codec: Codec, endpoint: &Endpoint, request: &ModelRequest, stream: bool) -> String {
    let revision = codec.revision();
    let sending = Sending { stream, session: Some("s-1"), is_first: true };
    let wire = match codec.encode_in(endpoint, request, sending) {
        Ok(wire) => wire,
        Err(unsupported) => {
            let message = json_text(&unsupported.to_string());
            return format!("{{\n  \"revision\": {revision},\n  \"unsupported\": {message}\n}}\n");
        }
    };
    assert_eq!(
        wire,
        codec.encode_in(endpoint, request, sending).expect("it was possible before"),
        "not always the same"
    );
    let headers: Vec<String> =
        codec.headers().iter().map(|(name, value)| format!("{}: {}", json_text(name), json_text(value))).collect();
    let body = String::from_utf8(wire.body).expect("a body is text");
    let is_json = jurat_format::value::parse_json(&body).is_ok();
    assert_eq!(is_json, wire.content_type == Some("application/json"), "{body}");
    let mut text = format!("{{\n  \"revision\": {revision},\n  \"method\": \"{}\",\n", wire.method);
    writeln!(text, "  \"path\": {},", json_text(&wire.path)).expect("a text takes everything");
    writeln!(text, "  \"headers\": {{ {} }},", headers.join(", ")).expect("a text takes everything");
    if let Some(it) = wire.content_type.filter(|_| !is_json) {
        writeln!(text, "  \"content_type\": {},", json_text(it)).expect("a text takes everything");
    }
    let body = if is_json { body } else { json_text(&body) };
    writeln!(text, "  \"body\": {body}\n}}").expect("a text takes everything");
    text
}

fn meant(codec: Codec, endpoint: &Endpoint, message: &Http) -> String {
    let result = if message.is_stream() {
        streamed(codec, endpoint, [message.body.as_bytes()])
    } else {
        let header = |name: &str| message.header(name);
        let (status, body) = (message.status, message.body.as_bytes());
        codec.decode(endpoint, &Received { status, header: &header, body, at_ms: 1_800_000_000_000 })
    };
    match result {
        Ok(reply) => {
            let Reply { text, tool_calls, used, reasoning, logprobs, finish, usage, cost_usd, served, session, .. } =
                reply;
            let answer =
                Answer { tool_calls, used, reasoning, logprobs, finish, usage, cost_usd, served, ..Answer::new(text) };
            let session = session.map_or_else(String::new, |it| format!("session {it}\n"));
            format!("{}\n{session}", outcome_json(&Outcome::Answer(Box::new(answer))))
        }
        Err(Failure::Cut) => "{\"cut\":true}\n".to_owned(),
        Err(Failure::Garbled(message)) => format!("{{\"garbled\":{}}}\n", json_text(&message)),
        Err(Failure::Api(ApiError { status, message, retry_after, is_final, .. })) => {
            let message = json_text(&message);
            let retry_after_ms = retry_after.map_or_else(|| "null".to_owned(), |it| it.as_millis().to_string());
            format!(
                "{{\"status\":{status},\"message\":{message},\"retry_after_ms\":{retry_after_ms},\"is_final\":{is_final}}}\n"
            )
        }
    }
}

fn streamed<'b>(
    codec: Codec,
    endpoint: &Endpoint,
    pieces: impl IntoIterator<Item = &'b [u8]>,
) -> Result<Reply, Failure> {
    let mut decoder = codec.stream(endpoint);
    for piece in pieces {
        decoder.push(piece)?;
    }
    decoder.finish()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Wire,
    Answer,
}

fn compared(file: &Path, text: &str, kind: Kind) -> Option<String> {
    let expected = fs::read_to_string(file).unwrap_or_default();
    if text == expected {
        return None;
    }
    let revision = |text: &str| text.lines().find(|it| it.contains("\"revision\"")).map(str::to_owned);
    let is_sent = |text: &str| text.contains("\"body\"");
    if kind == Kind::Wire && is_sent(&expected) && revision(&expected) == revision(text) {
        return Some(format!(
            "{}: other bytes under the same revision; raise `revision` of the codec\n  before: {expected}\n  now:    {text}",
            file.display()
        ));
    }
    if std::env::var_os("JURAT_BLESS").is_some_and(|it| it == "1") {
        fs::write(file, text).expect("golden files can be written");
        return None;
    }
    Some(format!("{}\n  expected: {expected}\n  found:    {text}\nif this is meant: JURAT_BLESS=1", file.display()))
}

/// The request with the bytes of what it names by digest.
fn with_bytes(request: ModelRequest) -> ModelRequest {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/media");
    let bytes: Vec<Vec<u8>> = files(&folder).iter().map(|it| fs::read(it).expect("media can be read")).collect();
    let filled = request.messages.with_media(|media| {
        let found = bytes.iter().find_map(|it| media.with_bytes(it.as_slice().into()));
        Some(found.unwrap_or_else(|| panic!("no file in `tests/media` has the digest {}", media.digest)))
    });
    ModelRequest { messages: filled.unwrap_or_else(|| request.messages.clone()), ..request }
}

fn cases() -> Vec<(Codec, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let of = |codec: Codec| files(&root.join(codec.name())).into_iter().map(move |it| (codec, it));
    let cases: Vec<_> = Codec::all().flat_map(of).collect();
    assert!(cases.len() >= 50, "{}", cases.len());
    cases
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let listed = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = listed.map(|it| it.expect("it can be listed").path()).collect();
    files.sort();
    files
}

fn json_text(text: &str) -> String {
    jurat_format::value::Val::from(text).to_string()
}
