//! Functions of the program that play models.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

use jurat::compare::{equals, is_not_empty};
use jurat::format::EFFECTS;
use jurat::{
    Ask, Assertion, Conclusion, Error, Judge, Model, Output, Question, Reply, Run, RunOptions, Suite, SuiteBuilder,
    TaskVerdict,
};
use serde_json::json;

use crate::directory;

/// A project that lives as long as the test.
/// Rows `r0`, `r1`, … that one judge looks at.
fn judged(n_rows: usize) -> SuiteBuilder {
    let row = |ix: usize| json!({ "id": format!("r{ix}"), "answer": format!("answer {ix}") });
    let judge = Judge::new("tone", "Rate: ${answer}").output(Output::new().boolean("polite"));
    Suite::builder("tone").records((0..n_rows).map(row)).task(judge.passes_when("polite", equals(true)))
}

fn polite(_: &Question) -> Reply {
    Reply::json(json!({ "polite": true })).tokens(100, 10)
}

/// How the one task of each case ended.
fn shown(run: &Run) -> BTreeMap<String, String> {
    let case = |it: Result<jurat::Case, Error>| {
        let case = it.expect("the case can be read");
        let task = case.tasks().next().expect("there is a task");
        (case.id().to_owned(), format!("{} {}", task.verdict().name(), task.message()).trim_end().to_owned())
    };
    run.cases().map(case).collect()
}

#[test]
fn a_function_is_asked_what_the_suite_says() {
    let directory = directory();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let function = move |question: &Question| {
        let schema = question.schema().map(|it| it.to_string()).unwrap_or_default();
        let line = format!(
            "{} {:?} {:?} {:?} {} {schema}",
            question.case(),
            question.task(),
            question.system(),
            question.prompt(),
            question.repetition()
        );
        seen.lock().unwrap().push(line);
        polite(question)
    };
    let suite = Suite::builder("s")
        .record(json!({ "id": "r1", "question": "Why?" }))
        .model("subject", Model::function("subject", |question: &Question| format!("Because {}", question.prompt())))
        .model("judge", Model::function("judge", function).price(1.0, 2.0))
        .ask(Ask::new("${question}"))
        .task(
            Judge::new("tone", "Rate: ${output}")
                .system("Be fair to ${question}")
                .output(Output::new().boolean("polite"))
                .passes_when("polite", equals(true)),
        )
        .build()
        .unwrap();
    let run = suite.run(RunOptions::in_directory(directory.path())).unwrap();
    assert_eq!(run.conclusion(), Conclusion::Passed, "{}", run.table().unwrap());
    let schema = r#"{"type":"object","properties":{"polite":{"type":"boolean"}},"required":["polite"],"additionalProperties":false}"#;
    let expected = format!(r#"r1 Some("tone") Some("Be fair to Why?") "Rate: Because Why?" 0 {schema}"#);
    let asked = asked.lock().unwrap().iter().map(|it| it.replace(": ", ":").replace(", ", ",")).collect::<Vec<_>>();
    assert_eq!(asked, [expected.replace(": ", ":").replace(", ", ",")]);
    assert_eq!((run.usage().input, run.usage().output, run.cost_usd()), (100, 10, Some(0.000_12)));
}

#[test]
fn an_error_or_a_refusal_of_a_function_is_no_failure_of_the_subject() {
    let directory = directory();
    let model = Model::function("moody", |question| match question.case() {
        "r0" => Ok(polite(question)),
        "r1" => Err("out of patience".to_owned()),
        "r2" => Ok(Reply::refusal("No.")),
        _ => Ok(Reply::text("not JSON")),
    });
    let run = judged(4).model("judge", model).build().unwrap().run(RunOptions::in_directory(directory.path())).unwrap();
    assert_eq!(run.conclusion(), Conclusion::Undecided);
    let shown = shown(&run);
    assert_eq!(shown["r0"], "passed");
    assert!(shown["r1"].starts_with("error ") && shown["r1"].contains("out of patience"), "{shown:?}");
    assert!(shown["r2"].starts_with("error ") && shown["r3"].starts_with("error "), "{shown:?}");
    let counts = run.counts();
    assert_eq!((counts.passed, counts.failed, counts.errored), (1, 0, 3));
}

#[test]
fn an_invalid_answer_is_asked_for_again_with_the_problem_stated() {
    let directory = directory();
    let model = Model::function("learner", |question| match question.messages().count() {
        1 => Reply::text("it is polite"),
        _ if question.prompt().contains("JSON") => polite(question),
        _ => Reply::text(format!("no problem was reported: {}", question.prompt())),
    });
    let suite = judged(1).model("judge", model).build().unwrap();
    let run = suite.run(RunOptions::in_directory(directory.path())).unwrap();
    assert_eq!(shown(&run)["r0"], "passed", "{}", run.explain("r0", "tone").unwrap());
    assert_eq!(run.answers(), (2, 0));
}

#[test]
fn several_questions_are_asked_at_once() {
    let directory = directory();
    // No thread gets past it alone.
    let barrier = Arc::new(Barrier::new(4));
    let model = Model::function("slow", move |question| {
        barrier.wait();
        polite(question)
    });
    let suite = judged(8).model("judge", model).build().unwrap();
    let run = suite.run(RunOptions::in_directory(directory.path()).concurrency(4.try_into().unwrap())).unwrap();
    assert_eq!(run.counts().passed, 8);
}

#[test]
fn in_order_means_one_after_the_other() {
    let directory = directory();
    let (open, asked) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
    let seen = Arc::clone(&asked);
    let model = Model::function_in_order("queue", move |question| {
        assert_eq!(open.fetch_add(1, Ordering::SeqCst), 0);
        seen.lock().unwrap().push(question.case().to_owned());
        open.fetch_sub(1, Ordering::SeqCst);
        polite(question)
    });
    let suite = judged(20).model("judge", model).build().unwrap();
    suite.run(RunOptions::in_directory(directory.path())).unwrap();
    assert_eq!(*asked.lock().unwrap(), (0..20).map(|it| format!("r{it}")).collect::<Vec<_>>());
}

#[test]
fn an_asynchronous_function_has_a_clock_and_a_time_limit() {
    let directory = directory();
    let model = Model::async_function("sleepy", |question: Question| async move {
        let wait = if question.case() == "r1" { Duration::from_secs(3600) } else { Duration::from_millis(1) };
        tokio::time::sleep(wait).await;
        polite(&question)
    });
    let suite = judged(2).model("judge", model).build().unwrap();
    let limit = Duration::from_secs(3);
    let run = suite.run(RunOptions::in_directory(directory.path()).request_timeout(limit)).unwrap();
    let shown = shown(&run);
    assert_eq!(shown["r0"], "passed");
    assert!(shown["r1"].starts_with("error "), "{shown:?}");
}

#[test]
fn a_panic_is_passed_on_and_answers_before_it_are_stored() {
    let directory = directory();
    let n_asked = Arc::new(AtomicUsize::new(0));
    let suite = |panics: bool| {
        let n_asked = Arc::clone(&n_asked);
        let model = Model::function_in_order("buggy", move |question| {
            n_asked.fetch_add(1, Ordering::SeqCst);
            assert!(!(panics && question.case() == "r2"), "a mistake of the program");
            polite(question)
        });
        judged(4).model("judge", model).build().unwrap()
    };
    let options = || RunOptions::in_directory(directory.path());
    let panicked = std::panic::catch_unwind(|| suite(true).run(options()).map(|_| ()));
    let panic = panicked.expect_err("it panics");
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"a mistake of the program"));
    assert_eq!(n_asked.load(Ordering::SeqCst), 3);
    let run = suite(false).run(options()).unwrap();
    assert_eq!(run.counts().passed, 4);
    // The first two were answered before.
    assert_eq!(n_asked.load(Ordering::SeqCst), 5);
}

#[test]
fn a_replay_calls_no_function() {
    let directory = directory();
    let n_asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&n_asked);
    let model = Model::function("judge", move |question| {
        counted.fetch_add(1, Ordering::SeqCst);
        if question.case() == "r1" { Err("a fault") } else { Ok(polite(question)) }
    });
    let suite = judged(3).model("judge", model).build().unwrap();
    let run = suite.run(RunOptions::in_directory(directory.path())).unwrap();
    assert_eq!(n_asked.load(Ordering::SeqCst), 3);

    let effects = directory.path().join("effects.jsonl");
    run.export(&EFFECTS, std::fs::File::create(&effects).unwrap()).unwrap();
    // The definition alone, as another program reads it: it names a function that is not there.
    let elsewhere = self::directory();
    let read = Suite::from_yaml(suite.definition(), elsewhere.path()).unwrap();
    for recording in [run.path(), effects] {
        let again = read.run(RunOptions::in_directory(elsewhere.path()).replay(&recording)).unwrap();
        assert_eq!(again.results_json().unwrap(), run.results_json().unwrap(), "{}", recording.display());
    }
    assert_eq!(n_asked.load(Ordering::SeqCst), 3);

    let error = read.run(RunOptions::in_directory(elsewhere.path())).expect_err("it is not supplied");
    assert!(matches!(&error, Error::Model(_)) && error.to_string().contains("`call/judge` is a function"), "{error}");
}

#[test]
fn a_run_can_give_a_role_to_a_function() {
    let directory = directory();
    let yaml = "suite: s
records: [{ id: r1, answer: hello }]
models: { judge: openai/gpt-5-mini }
tasks:
- { id: tone, judge: { prompt: 'Rate: ${answer}', output: { polite: boolean } }, field_path: polite, operator: equals, expected_value: true }
";
    let suite = Suite::from_yaml(yaml, directory.path()).unwrap();
    let options = || RunOptions::in_directory(directory.path());
    let run = suite.run(options().model("judge", Model::function("rules", polite))).unwrap();
    assert_eq!(run.conclusion(), Conclusion::Passed);

    let shown = |options| suite.run(options).expect_err("it is wrong").to_string();
    let unknown = shown(options().model("jugde", Model::function("rules", polite)));
    assert!(unknown.starts_with("no task uses the role `jugde`"), "{unknown}");
    let settings = shown(options().model("judge", Model::function("rules", polite).price(1.0, 1.0)));
    assert!(settings.contains("settings belong to the suite"), "{settings}");
}

#[test]
fn skipped_tasks_make_no_request() {
    let directory = directory();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let suite = Suite::builder("s")
        .record(json!({ "id": "good", "answer": "yes" }))
        .record(json!({ "id": "empty", "answer": "" }))
        .model(
            "judge",
            Model::function("judge", move |question| {
                seen.lock().unwrap().push(question.case().to_owned());
                polite(question)
            }),
        )
        .task(Assertion::new("answered", "answer", is_not_empty()).gate())
        .task(Judge::new("tone", "Rate: ${answer}").output(Output::new().boolean("polite")).depends_on(["answered"]))
        .build()
        .unwrap();
    let run = suite.run(RunOptions::in_directory(directory.path())).unwrap();
    assert_eq!(*asked.lock().unwrap(), ["good"]);
    let empty = run.cases().map(Result::unwrap).find(|it| it.id() == "empty").unwrap();
    assert_eq!(empty.task("tone").unwrap().verdict(), TaskVerdict::Skipped);
    assert_eq!(empty.failures().count(), 0);
}
