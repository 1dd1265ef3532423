//! What holds for all replies and requests.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use jurat_core::effect::{Endpoint, Message, ModelRequest};
use jurat_format::value::{FieldPath, Val, parse_json};
use jurat_model::codec::{Codec, Received};
use proptest::prelude::*;

/// The bodies of every golden reply.
static BODIES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(bodies);

fn bodies() -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut folders = vec![root];
    let mut bodies = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("golden files can be listed") {
            let path = entry.expect("it can be listed").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "http") {
                let text = fs::read_to_string(path).expect("a reply can be read");
                bodies.push(text.split_once("\n\n").expect("a body").1.as_bytes().to_vec());
            }
        }
    }
    bodies.sort();
    bodies
}

/// Reads bytes in every way there is. What they mean is not asked; that nothing panics is.
fn read_in_every_way(bytes: &[u8]) {
    for codec in Codec::all() {
        for status in [200, 429] {
            let header = |_: &str| None;
            drop(codec.decode(&Endpoint::default(), &Received { status, header: &header, body: bytes, at_ms: 0 }));
        }
        let mut decoder = codec.stream(&Endpoint::default());
        if decoder.push(bytes).is_ok() {
            drop(decoder.finish());
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_can_be_read(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        read_in_every_way(&bytes);
    }

    #[test]
    fn any_text_can_be_read(text in "(data: )?[\\[\\]{}\",:a-z0-9 \n.]{0,120}") {
        read_in_every_way(text.as_bytes());
    }

    #[test]
    fn replies_with_holes_can_be_read(pick in any::<prop::sample::Index>(), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4), end in any::<prop::sample::Index>()) {
        let mut body = pick.get(&BODIES).clone();
        if !body.is_empty() {
            for (at, byte) in changes {
                let at = at.index(body.len());
                body[at] = byte;
            }
            body.truncate(end.index(body.len()) + 1);
        }
        read_in_every_way(&body);
    }

    #[test]
    fn what_is_asked_arrives_letter_by_letter(system in any::<String>(), user in any::<String>(), seed in any::<u32>()) {
        for (codec, system_at, user_at) in [
            ("openai_chat", "messages[0].content", "messages[1].content"),
            ("openai_responses", "input[0].content", "input[1].content"),
            ("anthropic_messages", "system", "messages[0].content"),
            ("gemini_generate", "systemInstruction.parts[0].text", "contents[0].parts[0].text"),
            ("ollama_chat", "messages[0].content", "messages[1].content"),
        ] {
            let codec = Codec::named(codec).expect("a codec");
            let endpoint = Endpoint {
                codec: codec.name().to_owned(),
                codec_revision: codec.revision(),
                address: "http://127.0.0.1".to_owned(),
                model: "m".to_owned(),
                settings: vec![("max_tokens".to_owned(), Val::I(i64::from(seed) + 1))],
                headers: Vec::new(),
                shared: None,
            };
            let messages = vec![Message::System(system.clone()), Message::User(user.clone())];
            let wire = codec.encode(&endpoint, &ModelRequest::new("judge", messages), false).unwrap();
            let body = String::from_utf8(wire.body).unwrap();
            let body = parse_json(&body).unwrap().value;
            for (path, text) in [(system_at, &system), (user_at, &user)] {
                let found = FieldPath::parse(path).unwrap().find(&body).unwrap().as_str().map(str::to_owned);
                prop_assert_eq!(found.as_ref(), Some(text), "{:?} {}", codec, path);
            }
        }
    }
}
