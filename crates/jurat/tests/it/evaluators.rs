//! Evaluators in Rust: closures go through the same door as code.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use jurat::compare::{equals, greater_than};
use jurat::{Error, Evaluate, Evaluator, EvaluatorOutput, Return, RunOptions, Suite, TaskVerdict};
use serde_json::json;

fn suite(evaluator: Evaluator) -> Result<Suite, Error> {
    Suite::builder("closures")
        .record(json!({ "id": "a", "output": "one two", "limit": 3 }))
        .evaluator(evaluator)
        .task(Evaluate::new("task", "e").with("extra", json!({ "is": "text" })).with_path("limit", "limit"))
        .build()
}

/// What the only task says when the closure returns this.
#[track_caller]
fn said(returned: Return, output: Option<EvaluatorOutput>) -> String {
    let evaluator = Evaluator::function("e", move |_| Ok(returned.clone()));
    let evaluator = output.into_iter().fold(evaluator, Evaluator::output);
    let directory = tempfile::tempdir().expect("there is room");
    let run = suite(evaluator).expect("it is sound").run(RunOptions::in_directory(directory.path())).expect("it runs");
    let case = run.cases().next().expect("there is a case").expect("it can be read");
    let task = case.tasks().next().expect("there is a task");
    match task.verdict() {
        TaskVerdict::Measured => format!("{:?} {:?} {:?}", task.label(), task.score(), task.explanation()),
        _ => task.message().to_owned(),
    }
}

#[test]
fn closures_return_what_code_returns() {
    let score = || Some(EvaluatorOutput::continuous("s").lower_bound(0.0).upper_bound(1.0));
    assert_eq!(said("pass".into(), None), r#"Some("pass") None None"#);
    assert_eq!(said(true.into(), None), r#"Some("True") Some(1.0) None"#);
    assert_eq!(said(Return::nothing(), None), "None None None");
    assert_eq!(said(Return::from(None::<f64>), None), "None None None");
    assert_eq!(said(Return::from(0.5).explanation("why"), score()), r#"None Some(0.5) Some("why")"#);
    assert_eq!(said(Return::from("a").score(1.0), None), r#"Some("a") Some(1.0) None"#);
    assert_eq!(said(json!({ "score": 1 }).into(), None), "None Some(1.0) None");
    let shapes =
        "\nValid shapes:\n  Return::from(0.5)\n  // score in range 0.0 - 1.0\n  Return::from(0.5).explanation(\"...\")";
    assert_eq!(said(f64::NAN.into(), score()), format!("`e`: a score must be a finite number, got nan{shapes}"));
    assert_eq!(said(2.0.into(), score()), format!("`e`: the score 2.0 is above the upper bound 1.0{shapes}"));
    assert_eq!(
        said(json!([1]).into(), score()),
        format!("`e`: a continuous output needs a number, got list: [1]{shapes}")
    );
}

#[test]
fn a_closure_sees_its_arguments_and_is_called_once() {
    let n_calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&n_calls);
    let evaluator = Evaluator::function("e", move |arguments| {
        counted.fetch_add(1, Ordering::SeqCst);
        Ok(arguments.to_string().into())
    });
    let suite = suite(evaluator).expect("it is sound");
    let directory = tempfile::tempdir().expect("there is room");
    let run = suite.run(RunOptions::in_directory(directory.path())).expect("it runs");
    let label = |run: &jurat::Run| {
        let case = run.cases().next().expect("there is a case").expect("it can be read");
        let task = case.tasks().next().expect("there is a task");
        task.label().map(str::to_owned)
    };
    assert_eq!(label(&run).as_deref(), Some(r#"{"output":"one two","extra":{"is":"text"},"limit":3}"#));
    assert_eq!(n_calls.load(Ordering::SeqCst), 1);
    // A replay calls no function, wherever it is made; another run does.
    let definition = Suite::from_yaml(suite.definition(), ".").expect("it reads back");
    let again = definition.run(RunOptions::in_directory(directory.path()).replay("latest")).expect("it runs");
    assert_eq!((label(&again), n_calls.load(Ordering::SeqCst)), (label(&run), 1));
    let refused = definition.run(RunOptions::in_directory(directory.path())).expect_err("it has no closure");
    assert!(refused.to_string().contains("`e` is the function `e` of the program that runs the suite"), "{refused}");
    suite.run(RunOptions::in_directory(directory.path())).expect("it runs");
    assert_eq!(n_calls.load(Ordering::SeqCst), 2);
}

#[test]
fn an_error_of_a_closure_is_an_error_of_the_row() {
    let suite = Suite::builder("closures")
        .records([json!({ "id": "a", "output": "" }), json!({ "id": "b", "output": "x" })])
        .evaluator(Evaluator::function("e", |arguments| {
            let output = arguments.at("output").ok_or("nothing")?;
            let length = output.as_str().map_or(0, str::len);
            if length == 0 { Err("there is nothing to look at".into()) } else { Ok(Return::from(length as f64)) }
        }))
        .task(Evaluate::new("long", "e").passes_when("score", greater_than(0)))
        .build()
        .expect("it is sound");
    let directory = tempfile::tempdir().expect("there is room");
    let run = suite.run(RunOptions::in_directory(directory.path())).expect("it runs");
    let cases: Vec<jurat::Case> = run.cases().collect::<Result<_, _>>().expect("they can be read");
    assert_eq!(cases[0].task("long").expect("it is there").message(), "`e`: there is nothing to look at");
    assert_eq!(cases[1].task("long").expect("it is there").verdict(), TaskVerdict::Passed);
}

#[test]
fn a_name_is_for_one_evaluator() {
    let built = Suite::builder("closures")
        .record(json!({ "output": "x" }))
        .evaluator(Evaluator::builtin("e", "exact_match", json!({})))
        .evaluator(Evaluator::builtin("e", "bleu", json!({})))
        .task(Evaluate::new("t", "e").passes_when("label", equals("match")))
        .build();
    assert_eq!(
        built.expect_err("it is refused").to_string(),
        "two evaluators are called `e`; give one of them another name"
    );
}
