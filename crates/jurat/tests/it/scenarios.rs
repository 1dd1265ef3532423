//! Scenarios as a program builds, runs and reads them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use jurat::format::EFFECTS;
use jurat::scenario::{
    Condition, END, Edge, Field, Node, Question, Said, Scenario, ScenarioBuilder, Template, Trait, TraitKind,
    all_turns, conclude, from_checkpoint, hand_over, status_is, to_checkpoint, update, when, when_parsed,
};
use jurat::{
    Assertion, CaseVerdict, Conclusion, Error, Model, Question as Asked, Reply, Run, RunOptions, Suite, TaskVerdict,
    compare::equals,
};
use serde_json::json;

use crate::directory;

/// A subject that counts what it has answered in the conversation.
fn counting(question: &Asked) -> String {
    format!("answer {}", question.messages().filter(|(role, _)| *role == "assistant").count() + 1)
}

/// Reads the number that an answer ends with.
fn reader(question: &Asked) -> Reply {
    let number = (1..9).rev().find(|it| question.prompt().contains(&format!("answer {it}"))).unwrap_or(0);
    Reply::json(json!({ "n": number }))
}

/// How often each piece of code was called.
#[derive(Default)]
struct Calls([AtomicUsize; 5]);

impl Calls {
    fn count(&self, ix: usize) {
        self.0[ix].fetch_add(1, Ordering::Relaxed);
    }

    fn counts(&self) -> [usize; 5] {
        [0, 1, 2, 3, 4].map(|ix| self.0[ix].load(Ordering::Relaxed))
    }
}

/// A scenario with code wherever there can be code.
fn with_code(calls: &Arc<Calls>) -> Scenario {
    let counter = |ix: usize| {
        let calls = Arc::clone(calls);
        move || calls.count(ix)
    };
    let (by_state, by_parsed, updates, hands_over, concludes) =
        (counter(0), counter(1), counter(2), counter(3), counter(4));
    let read = Template::new(vec![Field::integer("n").description("the number of the answer")], None);
    let read = read.expect("one field is enough");
    let ask = Node::from(Question::new("Again?", "yes")).template(read.clone()).state_update(update(
        "sum of n",
        move |accumulated, parsed| {
            updates();
            let number = |value: Option<jurat::Value>| value.and_then(|it| it.as_f64()).unwrap_or(0.0);
            Ok(json!({ "sum": number(accumulated.at("sum")) + number(parsed.at("n")) }))
        },
    ));
    let mut builder = ScenarioBuilder::new("coded");
    builder
        .add_node("ask", ask)
        .add_node("last", Node::from(Question::new("What was said?", "all")).template(read))
        .add_edge_when(
            "ask",
            "ask",
            when("fewer than two visits", move |state| {
                by_state();
                Ok(state.at("node_visits.ask").and_then(|it| it.as_f64()).ok_or("no model was asked")? < 2.0)
            }),
        )
        .add_edge_with(
            Edge::new("ask", "last")
                .when(when_parsed("the sum is three", move |accumulated, parsed| {
                    by_parsed();
                    Ok(accumulated.at("sum").and_then(|it| it.as_f64()) == Some(3.0) && parsed.at("n").is_some())
                }))
                .handover(hand_over("the last answer alone", move |log, _| {
                    hands_over();
                    let last = log.at("[-1].content").ok_or("nothing was said")?;
                    Ok(vec![Said::Assistant(last.as_str().unwrap_or_default().to_owned())])
                })),
        )
        .add_edge("ask", END)
        .set_entry("ask")
        .add_outcome("ended", status_is("completed"))
        .add_outcome_criterion(conclude("short", "at most three turns", move |result| {
            concludes();
            Ok(result.at("turn_count").and_then(|it| it.as_f64()).ok_or("nothing was counted")? <= 3.0)
        }))
        .add_outcome_criterion(conclude("sum", "what was summed up", |result| {
            Ok(result.at("final_state.accumulated.sum").ok_or("nothing was summed up")?)
        }))
        .add_outcome_criterion(conclude::<bool>("unclear", "what is not known", |_| Err("who knows".into())));
    builder.validate().expect("it is sound")
}

fn suite(scenario: Scenario) -> Suite {
    let suite = Suite::builder("code")
        .model("subject", Model::function("counting", counting))
        .model("parser", Model::function("reader", reader))
        .scenario(scenario)
        .build();
    suite.unwrap_or_else(|error| panic!("{error}"))
}

/// The result of each task of the only case.
fn verdicts(run: &Run) -> Vec<(String, TaskVerdict, String)> {
    let case = run.cases().next().expect("there is a case").expect("it can be read");
    case.tasks().map(|it| (it.id().to_owned(), it.verdict(), it.message().to_owned())).collect()
}

#[test]
fn code_of_the_program_is_called_recorded_and_not_needed_again() {
    let directory = directory();
    let calls = Arc::new(Calls::default());
    let coded = suite(with_code(&calls));
    let run = coded.run(RunOptions::in_directory(directory.path())).expect("it runs");

    let case = run.cases().next().expect("there is a case").expect("it can be read");
    let execution = case.execution().expect("it is a scenario");
    assert_eq!((execution.status(), execution.path()), ("completed", vec!["ask", "ask", "last"]));
    // The third turn is given one answer, so the subject gives its second.
    let answers: Vec<_> = execution.turns().map(|it| it.response().unwrap_or_default().to_owned()).collect();
    assert_eq!(answers, ["answer 1", "answer 2", "answer 2"]);
    assert_eq!(execution.outcome("sum").and_then(|it| it.as_f64()), Some(3.0));
    assert_eq!(execution.outcome_errors(), [("unclear".to_owned(), "who knows".to_owned())]);
    let expected = [
        ("ended", TaskVerdict::Passed, ""),
        ("short", TaskVerdict::Passed, ""),
        ("sum", TaskVerdict::Measured, ""),
        ("unclear", TaskVerdict::Error, "the code of `unclear`: who knows"),
    ];
    assert_eq!(verdicts(&run), expected.map(|(id, verdict, message)| (id.to_owned(), verdict, message.to_owned())));
    assert_eq!(calls.counts(), [2, 1, 2, 1, 1]);

    // A replay calls nothing, and neither does reading the run.
    let again = coded.run(RunOptions::in_directory(directory.path()).replay(run.path())).expect("it replays");
    assert_eq!(again.results_json().unwrap(), run.results_json().unwrap());
    assert_eq!(Run::open(run.path()).unwrap().results_json().unwrap(), run.results_json().unwrap());
    assert_eq!(calls.counts(), [2, 1, 2, 1, 1]);
}

#[test]
fn a_definition_with_the_words_of_code_replays_and_does_not_run() {
    let directory = directory();
    let coded = suite(with_code(&Arc::default()));
    let run = coded.run(RunOptions::in_directory(directory.path())).expect("it runs");

    for words in ["condition_source: \"fewer than two visits\"", "handover_source: \"the last answer alone\""] {
        assert!(coded.definition().contains(words), "{}", coded.definition());
    }
    let words = Suite::from_yaml(coded.definition(), directory.path()).expect("it can be read");
    assert_eq!(words.warnings().codes().filter(|it| *it == "plan::no_code").count(), 7);
    let refused = words.run(RunOptions::in_directory(directory.path()));
    assert!(matches!(refused, Err(Error::Suite(_))), "{refused:?}");

    let mut effects = Vec::new();
    run.export(&EFFECTS, &mut effects).unwrap();
    let recording = directory.path().join("effects.jsonl");
    std::fs::write(&recording, effects).unwrap();
    for recording in [run.path(), recording] {
        let again = words.run(RunOptions::in_directory(directory.path()).replay(recording)).expect("it replays");
        assert_eq!(again.results_json().unwrap(), run.results_json().unwrap());
    }
}

#[test]
fn code_that_fails_is_an_error_and_no_failure() {
    let directory = directory();
    let mut builder = ScenarioBuilder::new("broken");
    builder
        .add_node("ask", Question::new("Who?", "me"))
        .add_edge_when("ask", "ask", when("broken", |_| Err("out of order".into())))
        .add_edge("ask", END)
        .set_entry("ask")
        .add_outcome("right", all_turns([("verify_result", true.into())]));
    let suite = Suite::builder("s").model("subject", Model::function("me", |_| "me"));
    let suite = suite.scenario(builder.validate().expect("it is sound")).build().expect("it is sound");
    let run = suite.run(RunOptions::in_directory(directory.path())).expect("it runs");
    let case = run.cases().next().expect("there is a case").expect("it can be read");
    let execution = case.execution().expect("it is a scenario");
    assert_eq!((execution.status(), case.verdict()), ("error", CaseVerdict::Error));
    let failure = execution.failure().expect("routing failed");
    assert_eq!(failure.stage, "routing");
    assert!(failure.reason.contains("out of order"), "{}", failure.reason);
}

#[test]
fn results_tell_what_was_read_and_rated() {
    let directory = directory();
    let template = Template::new(vec![Field::integer("n").must_be(1).weighing(3.0), Field::text("word")], None);
    let says_answer = TraitKind::regex("answer", false, false).expect("it is a pattern");
    let node = Node::from(Question::new("One?", "1"))
        .template(template.expect("it has fields"))
        .rubric(vec![Trait::new("says_answer", says_answer)]);
    let mut builder = ScenarioBuilder::new("one");
    builder.add_node("one", node).add_edge("one", END).set_entry("one");
    let parser = |_: &Asked| Reply::json(json!({ "n": 1, "word": "answer" }));
    let suite = Suite::builder("s")
        .model("subject", Model::function("counting", counting))
        .model("parser", Model::function("parser", parser))
        .scenario(builder.validate().expect("it is sound"))
        .task(Assertion::new("read", "history[0].parsed.word", equals("answer")).on_scenarios())
        .build()
        .unwrap_or_else(|error| panic!("{error}"));
    let run = suite.run(RunOptions::in_directory(directory.path())).expect("it runs");
    assert_eq!(run.conclusion(), Conclusion::Passed);
    let case = run.cases().next().expect("there is a case").expect("it can be read");
    let execution = case.execution().expect("it is a scenario");
    let turn = execution.turns().next().expect("there is a turn");
    assert_eq!((turn.node_id(), turn.question(), turn.verify_result()), ("one", "One?", Some(true)));
    assert_eq!(turn.parsed().to_string(), r#"{"n":1,"word":"answer"}"#);
    assert_eq!(turn.rubric(), [("says_answer".to_owned(), jurat::Value::new(true).unwrap())]);
    assert_eq!((case.id(), execution.scenario(), turn.failure()), ("one", "one", None));
}

#[test]
fn two_scenarios_of_one_name_are_a_problem() {
    let scenario = || {
        let mut builder = ScenarioBuilder::new("same");
        builder.add_node("hi", Question::new("Hello?", "Hello.")).add_edge("hi", END).set_entry("hi");
        builder.validate().expect("it is sound")
    };
    let built = Suite::builder("s").model("subject", "openai/x").scenarios([scenario(), scenario()]).build();
    let Err(Error::Suite(problems)) = built else { panic!("one of them has to go") };
    assert!(problems.to_string().contains("there are two scenarios `same`"), "{problems}");
}

#[test]
fn a_checkpoint_keeps_everything_but_code() {
    let mut builder = ScenarioBuilder::new("plain");
    builder
        .add_node("a", Question::new("A?", "a"))
        .add_node("b", Node::from(Question::new("B?", "b")).agent_identity("nurse").metadata("stage", 2))
        .add_edge_when("a", "b", Condition::all([Condition::field("verify_result", true)]))
        .add_edge("a", END)
        .set_entry("a")
        .add_outcome("ended", status_is("completed"));
    let plain = builder.validate().expect("it is sound");
    let coded = with_code(&Arc::default());
    let read = from_checkpoint(&to_checkpoint([&plain, &coded]).to_string()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(read[0].outcomes, plain.outcomes);
    assert_eq!(read[0].node("b").map(|it| (&it.agent_identity, &it.metadata)), {
        plain.node("b").map(|it| (&it.agent_identity, &it.metadata))
    });
    let words = |it: &Scenario| format!("{:?}", it.to_value());
    assert_eq!(words(&read[1]), words(&coded));
    let wrong = from_checkpoint(r#"{"@type": "karenina:Scenario", "name": "x", "nodes": 7}"#);
    assert!(matches!(wrong, Err(Error::Suite(_))), "{wrong:?}");
}
