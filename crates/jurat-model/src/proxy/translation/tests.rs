use jurat_core::agent::Wire;
use jurat_core::effect::{Endpoint, Finish, Message, ModelRequest, Tool, ToolCall, Usage};
use jurat_format::value::parse_json;
use proptest::prelude::*;

use super::{answer, question};
use crate::codec::{Codec, Received, Reply};

fn value(text: &str) -> jurat_format::value::Value {
    parse_json(text).expect("it is JSON").value.into_owned()
}

fn call(n: usize, path: &str) -> ToolCall {
    let arguments = value(&format!(r#"{{"path": {path:?}, "n": {n}}}"#));
    ToolCall { id: format!("call_{n}"), name: "read".to_owned(), arguments }
}

prop_compose! {
    fn replies()(text in "[a-zäß\n\" ]{0,20}", n_calls in 0..3usize, path in "[a-z/\"]{0,9}", input in 1..1000u64, output in 1..1000u64) -> Reply {
        let finish = if n_calls > 0 { Finish::ToolCalls } else { Finish::Stop };
        let tool_calls = (0..n_calls).map(|it| call(it, &path)).collect();
        let usage = Some(Usage { input, output, cached: input / 3, ..Usage::default() });
        Reply { text, tool_calls, finish, usage, ..Reply::default() }
    }
}

proptest! {
    /// What is written in a provider's form is read as the same answer by the codec of that provider.
    #[test]
    fn an_answer_is_read_as_it_was_given(reply in replies()) {
        for (_, format) in Wire::NAMED {
            let codec = Codec::of(format);
            let whole = answer(format, "m", &reply, false, 1);
            let received = Received { status: 200, header: &|_| None, body: &whole.body, at_ms: 0 };
            let streamed = answer(format, "m", &reply, true, 1);
            let mut decoder = codec.stream(&Endpoint::default());
            decoder.push(&streamed.body).expect("it is a stream");
            for read in [codec.decode(&Endpoint::default(), &received), decoder.finish()] {
                let read = read.unwrap_or_else(|it| panic!("{}: {it:?}", codec.name()));
                prop_assert_eq!(&read.text, &reply.text, "{}", codec.name());
                prop_assert_eq!(&read.tool_calls, &reply.tool_calls, "{}", codec.name());
                prop_assert_eq!(&read.usage, &reply.usage, "{}", codec.name());
                prop_assert_eq!(&read.finish, &reply.finish, "{}", codec.name());
            }
        }
    }

    /// What is asked in a provider's form is the question that was meant.
    #[test]
    fn a_question_is_read_as_it_was_asked(words in "[a-zäß\n\" ]{1,20}", path in "[a-z/\"]{0,9}") {
        let result = Message::Tool { call_id: "call_2".to_owned(), name: "read".to_owned(), text: words.clone(), media: Vec::new(), is_error: false };
        let messages = vec![
            Message::System("be brief".to_owned()),
            Message::User(words.clone()),
            Message::Assistant { text: words.clone(), tool_calls: vec![call(2, &path)], reasoning: None },
            result,
            Message::assistant("done"),
            Message::User("more".to_owned()),
        ];
        let mut request = ModelRequest::new("role", messages);
        let parameters = value(r#"{"type": "object", "properties": {"path": {"type": "string"}}}"#);
        request.tools = vec![Tool { name: "read".to_owned(), description: Some("reads".to_owned()), parameters }];
        for (_, format) in Wire::NAMED {
            let codec = Codec::of(format);
            let endpoint = Endpoint {
                codec: codec.name().to_owned(),
                codec_revision: codec.revision(),
                address: "http://127.0.0.1:1/v1".to_owned(),
                model: "m".to_owned(),
                settings: vec![("max_tokens".to_owned(), value("100"))],
                headers: Vec::new(),
                shared: None,
            };
            let wire = codec.encode(&endpoint, &request, false).expect("it can be asked");
            let read = question(format, &wire.body, "role").expect("it can be read");
            prop_assert_eq!(&read, &request, "{}", codec.name());
        }
    }
}

#[test]
fn what_cannot_be_passed_on_is_said() {
    let refused = |format, body: &str, words: &str| {
        let error = question(format, body.as_bytes(), "role").err().unwrap_or_default();
        assert!(error.contains(words), "{error}");
    };
    let image = r#"{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]}]}"#;
    refused(Wire::OpenAiChat, image, "`image_url`");
    refused(Wire::Anthropic, r#"{"messages":[{"role":"user","content":[{"type":"image"}]}]}"#, "`image`");
    refused(Wire::Gemini, r#"{"contents":[{"parts":[{"inlineData":{}}]}]}"#, "`inlineData`");
    refused(Wire::OpenAiChat, r#"{"response_format":{"type":"json_schema"}}"#, "schema");
    refused(Wire::OpenAiResponses, "no", "no JSON");
    refused(Wire::OpenAiChat, r#"{"messages":[{"role":"oracle","content":"x"}]}"#, "`oracle`");
}
