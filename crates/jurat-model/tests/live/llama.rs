//! llama.cpp with real weights, which decodes under a JSON Schema.

use std::sync::Arc;

use jurat_core::effect::{Finish, Message, ModelRequest, Tool, ToolChoice};
use jurat_core::judge::{Label, ReplyForm, SoftScore};
use jurat_core::output::CompiledSchema;
use jurat_format::value::{Val, parse_json};
use jurat_model::{Asker, Model, Transport, TransportOptions, Unmetered};

use crate::{address, answer, ask, fault, question, value};

fn model(settings: &str) -> Model {
    crate::model("llamacpp/smollm2", &address("JURAT_TEST_LLAMA"), settings)
}

const CAREFUL: &str = r#", "temperature": 0, "seed": 1, "max_tokens": 24"#;

#[test]
fn a_question_is_answered() {
    let answer = answer(ask(&model(CAREFUL), &question("What is the capital of France?"), false));
    assert!(!answer.text.is_empty());
    assert!(matches!(answer.finish, Finish::Stop | Finish::Length), "{:?}", answer.finish);
    assert_eq!(answer.n_requests, 1);
    let usage = answer.usage.expect("it counts tokens");
    assert!(usage.input > 5 && (1..=24).contains(&usage.output), "{usage:?}");
    assert!(answer.served.model.is_some());
}

#[test]
fn the_same_seed_gives_the_same_answer_whole_and_streamed() {
    let model = model(r#", "temperature": 1.5, "seed": 42, "max_tokens": 16"#);
    let request = ModelRequest::new(
        "subject",
        vec![Message::System("You are a poet.".to_owned()), Message::User("Write a line about rain.".to_owned())],
    );
    let first = answer(ask(&model, &request, false));
    assert_eq!(answer(ask(&model, &request, false)).text, first.text);
    let streamed = answer(ask(&model, &request, true));
    assert_eq!(
        (streamed.text, streamed.finish, streamed.usage.map(|it| it.output)),
        (first.text, first.finish, first.usage.map(|it| it.output),)
    );
}

#[test]
fn a_reply_stops_at_its_bound() {
    let model = model(r#", "temperature": 0, "max_tokens": 5"#);
    let answer = answer(ask(&model, &question("Tell me a long story about a king."), false));
    assert_eq!((&answer.finish, answer.usage.map(|it| it.output)), (&Finish::Length, Some(5)));
}

#[test]
fn every_reply_fits_the_schema() {
    let schema = r#"{"type": "object", "properties": {"pass": {"type": "boolean"}, "score": {"type": "integer", "minimum": 1, "maximum": 5},
        "label": {"type": "string", "enum": ["correct", "wrong"]}}, "required": ["pass", "score", "label"], "additionalProperties": false}"#;
    let model = Arc::new(model(r#", "temperature": 1, "max_tokens": 60"#));
    let transport = Arc::new(Transport::new(TransportOptions { concurrency: 2, ..TransportOptions::default() }));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    let outcomes = runtime.block_on(async {
        let mut asked = tokio::task::JoinSet::new();
        for number in 0..4 {
            let (model, transport) = (Arc::clone(&model), Arc::clone(&transport));
            let mut request = question(&format!("Is {number} + 1 = 3? Judge the claim."));
            request.output = Some(value(schema).into());
            asked.spawn(async move {
                let asker = Asker { case: "c", task: "t", turn: None, priority: number };
                transport.ask(&model, asker, &request, 2, &Unmetered).await
            });
        }
        asked.join_all().await
    });
    for outcome in outcomes {
        let answer = answer(outcome);
        let reply = parse_json(&answer.text).unwrap_or_else(|error| panic!("{error}: {}", answer.text)).value;
        assert!(matches!(reply.get("pass"), Some(Val::Bool(_))), "{reply}");
        assert!(matches!(reply.get("score"), Some(Val::I(1..=5))), "{reply}");
        assert!(matches!(reply.get("label").and_then(Val::as_str), Some("correct" | "wrong")), "{reply}");
        // The order of the schema is the order of the reply.
        let keys: Vec<&str> = reply.as_map().map(|it| it.keys().collect()).unwrap_or_default();
        assert_eq!(keys, ["pass", "score", "label"]);
    }
}

#[test]
fn logprobs_spell_the_reply_and_give_a_soft_score() {
    let schema = r#"{"type": "object", "properties": {"score": {"type": "integer", "minimum": 1, "maximum": 5}}, "required": ["score"],
        "additionalProperties": false}"#;
    let form = ReplyForm::Schema(Box::new(CompiledSchema::compile(&value(schema)).expect("a schema")));
    let labels = (1..=5).map(|it| Label::new(&Val::I(it), it as f64)).collect();
    let soft = SoftScore::new("score", labels);
    let request = ModelRequest {
        output: Some(value(schema).into()),
        logprobs: Some(20),
        ..question("How good is the answer \"Paris\" to \"Capital of France?\", from 1 to 5?")
    };
    let mut scores = Vec::new();
    for stream in [false, true] {
        let answer = answer(ask(&model(CAREFUL), &request, stream));
        let logprobs = answer.logprobs.as_ref().expect("it has logprobs");
        assert!(logprobs.text().contains(answer.text.trim()), "{:?} {:?}", logprobs.text(), answer.text);
        assert!(logprobs.0.iter().all(|it| it.top.len() <= 20), "{logprobs:?}");
        let reply = form.read(&answer.text).expect("it fits the schema");
        let scored = soft.scored(&answer, &form, reply).expect("it has a score");
        scores.push(scored.get("soft_score").and_then(Val::as_f64).expect("a number"));
    }
    assert!((1.0..=5.0).contains(&scores[0]) && (scores[0] - scores[1]).abs() < 0.05, "{scores:?}");
    let plain = answer(ask(&model(CAREFUL), &question("Hello"), false));
    assert_eq!(plain.logprobs, None);
}

#[test]
fn a_schema_that_it_does_not_understand_is_refused() {
    let mut request = question("Judge it.");
    request.output =
        Some(value(r#"{"type": "object", "properties": {"a": {"type": "nonsense"}}, "required": ["a"]}"#).into());
    let (kind, message) = fault(ask(&model(CAREFUL), &request, false));
    assert_eq!(kind, "status:400 after 1");
    assert!(message.contains("nonsense"), "{message}");
}

#[test]
fn a_model_without_tools_calls_none() {
    // Its template has no grammar for tools: it answers in words, and that is what is reported.
    let mut request = question("What is the weather in Ghent?");
    let parameters = value(r#"{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}"#);
    request.tools = vec![Tool { name: "forecast".to_owned(), description: None, parameters }];
    request.tool_choice = ToolChoice::Required;
    let answer = answer(ask(&model(CAREFUL), &request, false));
    assert_eq!(answer.tool_calls, []);
    assert!(matches!(answer.finish, Finish::Stop | Finish::Length), "{:?}", answer.finish);
}
