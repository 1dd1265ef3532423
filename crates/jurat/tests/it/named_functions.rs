//! Functions that a definition names: evaluators and agents `{call: NAME}`.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::num::NonZeroUsize;
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

use jurat::{Error, Function, Model, Return, Run, RunOptions, Suite, SuiteBuilder};
use jurat_core::scenario::Answer;
use jurat_format::value::{Val, Value};
use serde_json::json;

/// The results of a suite of one agent: the verdicts and words of its tasks, one case a line.
#[track_caller]
fn shown(agent: Function) -> String {
    let directory = tempfile::tempdir().expect("there is room");
    let run = errands(&["a"]).agent_function("mine", agent).build().expect("it is sound");
    cases(&run.run(RunOptions::in_directory(directory.path())).expect("it runs"))
}

fn errands(cases: &[&str]) -> SuiteBuilder {
    let cases: Vec<_> =
        cases.iter().map(|id| json!({ "id": id, "task": "Do it.", "key_outputs": ["out.txt"] })).collect();
    Suite::builder("errands").define(json!({
        "agents": { "mine": { "call": "mine" } },
        "cases": cases,
        "tasks": [
            { "id": "succeeded", "check": { "kind": "status_is", "expected": "success" } },
            { "id": "said", "field_path": "final_response", "operator": "equals", "expected_value": "done" },
        ],
    }))
}

fn cases(run: &Run) -> String {
    let mut lines = Vec::new();
    for case in run.cases() {
        let case = case.expect("it can be read");
        let task =
            |it: jurat::TaskResult<'_>| format!("{} {}", it.verdict().name(), it.message()).trim_end().to_owned();
        lines.push(case.tasks().map(task).collect::<Vec<_>>().join("; "));
    }
    lines.join("\n")
}

#[test]
fn an_agent_returns_words_events_or_an_artifact() {
    assert_eq!(shown(Function::new(|_| Ok("done".into()))), "passed; passed");
    let events = r#"[{"type": "message", "text": "on it"}, {"type": "final", "text": "done"}]"#;
    assert_eq!(shown(returning(events)), "passed; passed");
    let artifact = r#"{
        "identity": {"schema_version": 1, "run_id": "r", "case_id": "a", "suite_id": "s", "run_profile_id": "p", "runner_type": "call"},
        "status": "success",
        "request": {"requested_model": "none"},
        "trace": [{"sequence": 0, "event_type": "final_output", "content": "done"}]
    }"#;
    assert_eq!(shown(returning(artifact)), "passed; passed");
}

#[test]
fn what_an_agent_returns_is_read_strictly() {
    let broken = shown(returning(r#"[{"type": "message", "text": "on it"}]"#));
    assert_eq!(broken, "failed expected `success`, found `failed`; failed expected `done`, found null");
    let odd = shown(returning("7"));
    let words = "error the agent could not be run: it may return its final message as text, a list of events, or a run artifact, not 7";
    assert_eq!(odd, [words; 2].join("; "));
    let event = shown(returning(r#"["on it"]"#));
    assert!(event.contains("an event is an object with a `type`, not `on it`"), "{event}");
    let artifact = shown(returning(r#"{"identity": {}}"#));
    assert!(artifact.contains("what it returned is no run artifact"), "{artifact}");
}

fn returning(json: &'static str) -> Function {
    Function::new(move |_| Ok(jurat_format::value::parse_json(json).expect("it is JSON").value.into_owned()))
}

#[test]
fn an_error_of_an_agent_is_an_error_of_its_case_alone() {
    let agent = Function::new(|task| match task.get("case").and_then(Val::as_str) {
        Some("b") => Err("it broke".to_owned()),
        _ => Ok("done".into()),
    });
    let directory = tempfile::tempdir().expect("there is room");
    let suite = errands(&["a", "b", "c"]).agent_function("mine", agent).build().expect("it is sound");
    let run = suite.run(RunOptions::in_directory(directory.path())).expect("it runs");
    let broken = ["error the agent could not be run: it broke"; 2].join("; ");
    assert_eq!(cases(&run), format!("passed; passed\n{broken}\npassed; passed"));
    let errands = errands(&["a", "b", "c"]).build().expect("a definition can be read anywhere");
    let again =
        errands.run(RunOptions::in_directory(directory.path()).replay(run.path())).expect("a replay calls no function");
    assert_eq!(cases(&again), cases(&run));
    let missing = errands.run(RunOptions::in_directory(directory.path()));
    let Err(Error::Run(_) | Error::Usage(_) | Error::Model(_)) = missing else { panic!("{missing:?}") };
}

/// Asks the model that an agent was given, and says with which status it answers.
fn asked(task: &Val<'_>) -> String {
    let model = task.get("model").expect("it has a model");
    let text = |key: &str| model.get(key).and_then(Val::as_str).expect("it is text").to_owned();
    let address = text("base_url").trim_start_matches("http://").to_owned();
    let body = json!({ "model": text("model"), "messages": [{ "role": "user", "content": "Well?" }] }).to_string();
    let mut stream = TcpStream::connect(&address).expect("the model is there");
    let (key, n_bytes) = (text("api_key"), body.len());
    write!(
        stream,
        "POST /v1/chat/completions HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {key}\r\nconnection: close\r\ncontent-length: {n_bytes}\r\n\r\n{body}"
    )
    .expect("it listens");
    let mut reply = String::new();
    stream.read_to_string(&mut reply).expect("it answers");
    reply.split(' ').nth(1).unwrap_or_default().to_owned()
}

#[test]
fn an_agent_whose_budget_is_used_up_was_not_run_whatever_it_says() {
    let statuses: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = Arc::clone(&statuses);
    let agent = Function::new(move |task| {
        let answered = [asked(task), asked(task)];
        seen.lock().expect("no thread panics").extend(answered);
        Ok("done".into())
    });
    let directory = tempfile::tempdir().expect("there is room");
    let suite = errands(&["a", "b"]).define(json!({ "agents": { "mine": { "call": "mine", "model": "subject" } } }));
    let suite = suite.model("subject", Model::function("parrot", |_| "Well!")).agent_function("mine", agent);
    let suite = suite.build().expect("it is sound");
    let options = RunOptions::in_directory(directory.path()).concurrency(NonZeroUsize::MIN).budget_calls(3);
    let run = suite.run(options).expect("it runs");
    assert_eq!(*statuses.lock().expect("no thread panics"), ["200", "200", "200", "429"]);
    let unrun = ["not_run the rest of the budget does not cover it"; 2].join("; ");
    assert_eq!(cases(&run), format!("passed; passed\n{unrun}"));
}

#[test]
fn functions_that_answer_later_wait_together() {
    // No request is answered before all were made.
    let waiting: Arc<Mutex<Vec<(Value, Answer)>>> = Arc::default();
    let n = 20;
    let meet = Arc::clone(&waiting);
    let later = Function::deferred(move |arguments, answer| {
        let mut waiting = meet.lock().expect("no thread panics");
        waiting.push((arguments.clone().into_owned(), answer));
        if waiting.len() == n {
            let all = std::mem::take(&mut *waiting);
            thread::spawn(move || {
                for (arguments, answer) in all {
                    let score = arguments.get("n").and_then(Val::as_f64).expect("it is a number");
                    answer(Ok(Return::from(score).to_value()));
                }
            });
        }
    });
    let directory = tempfile::tempdir().expect("there is room");
    let suite = Suite::builder("later")
        .define(json!({
            "records": (0..n).map(|it| json!({ "n": it })).collect::<Vec<_>>(),
            "evaluators": { "later": { "call": "later", "parameters": ["n"] } },
        }))
        .evaluator_function("later", later)
        .build()
        .expect("it is sound");
    let options = RunOptions::in_directory(directory.path()).concurrency(n.try_into().expect("it is not zero"));
    let run = suite.run(options).expect("it runs");
    let scores: Vec<f64> = run
        .cases()
        .map(|it| it.expect("it can be read").task("later").and_then(|it| it.score()).unwrap_or(-1.0))
        .collect();
    assert_eq!(scores, (0..n).map(|it| it as f64).collect::<Vec<_>>());
}

#[test]
fn an_answer_that_never_comes_is_an_error() {
    assert_eq!(
        shown(Function::deferred(|_, answer| drop(answer))),
        ["error the agent could not be run: the run ended before the code did"; 2].join("; ")
    );
}

#[test]
fn agents_that_block_do_so_apart_from_the_run() {
    let barrier = Arc::new(Barrier::new(2));
    let blocks = Function::deferred(move |_, answer| {
        let barrier = Arc::clone(&barrier);
        thread::spawn(move || {
            barrier.wait();
            answer(Ok("done".into()));
        });
    });
    let directory = tempfile::tempdir().expect("there is room");
    let suite = errands(&["a", "b"]).agent_function("mine", blocks).build().expect("it is sound");
    let run = suite.run(RunOptions::in_directory(directory.path())).expect("it runs");
    assert_eq!(run.pass_rate(), Some(1.0));
}
