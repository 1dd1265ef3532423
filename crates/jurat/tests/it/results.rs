//! What came of a run, as values and as text.

use jurat::compare::{contains, equals, has_length_less_than};
use jurat::format::{CSV, EFFECTS, JSON, JSON_LINES, JUNIT, MARKDOWN, PARQUET};
use jurat::{Ask, Assertion, CaseVerdict, Conclusion, Error, Judge, Model, Run, RunOptions, Suite, TaskVerdict};
use serde_json::json;
use tempfile::TempDir;

use crate::directory;

/// Three rows in two languages, two assertions.
fn greetings(directory: &TempDir) -> Run {
    let suite = Suite::builder("greetings")
        .record(json!({ "id": "r1", "language": "en", "answer": "Hello, Ada!" }))
        .record(json!({ "id": "r2", "language": "en", "answer": "What do you want?" }))
        .record(json!({ "id": "r3", "language": "de", "answer": "Hello und willkommen in unserem Laden!" }))
        .group_by(["language"])
        .threshold(0.9)
        .task_threshold("greets", 0.5)
        .task(Assertion::new("greets", "answer", contains("Hello")))
        .task(Assertion::new("short", "answer", has_length_less_than(30)))
        .build()
        .expect("it is a suite");
    suite.run(RunOptions::in_directory(directory.path())).expect("it runs")
}

#[test]
fn totals_are_values() {
    let directory = directory();
    let run = greetings(&directory);
    let counts = run.counts();
    assert_eq!((counts.passed, counts.failed, counts.total()), (4, 2, 6));
    assert_eq!(run.pass_rate(), Some(4.0 / 6.0));
    let interval = run.interval().expect("something was judged");
    assert_eq!(format!("{:.3} to {:.3}", interval.low, interval.high), "0.086 to 0.993");
    assert_eq!(run.missed(), ["pass rate over tasks is 66.7 % (4 of 6), at least 90.0 % required"]);
    assert_eq!((run.conclusion(), run.stopped()), (Conclusion::Failed, None));
    assert_eq!((run.case_counts().passed, run.case_counts().failed), (1, 2));
    let greets = run.task_total("greets").expect("it is a task");
    assert_eq!((greets.counts.passed, greets.counts.failed, greets.operator.as_deref()), (2, 1, Some("contains")));
    assert!(run.task_total("shrot").is_none());
    assert_eq!(run.task_totals().iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), ["greets", "short"]);
}

#[test]
fn cases_keep_the_order_of_the_rows() {
    let directory = directory();
    let run = greetings(&directory);
    let cases: Vec<_> = run.cases().collect::<Result<_, _>>().expect("cases can be read");
    let shown: Vec<(&str, CaseVerdict)> = cases.iter().map(|it| (it.id(), it.verdict())).collect();
    assert_eq!(shown, [("r1", CaseVerdict::Passed), ("r2", CaseVerdict::Failed), ("r3", CaseVerdict::Failed)]);
    let greets = cases[1].task("greets").expect("it is a task");
    assert_eq!((greets.kind(), greets.verdict(), greets.is_counted()), ("assert", TaskVerdict::Failed, true));
    assert_eq!(greets.expected().expect("it says").as_str(), Some("Hello"));
    assert_eq!(greets.actual().expect("it says").as_str(), Some("What do you want?"));
    assert_eq!(cases[2].failures().map(|it| it.id()).collect::<Vec<_>>(), ["short"]);
    assert_eq!((cases[0].prompt(), cases[0].subject(), cases[0].replicate()), (None, None, None));
}

#[test]
fn reports_are_what_the_command_writes() {
    let directory = directory();
    let run = greetings(&directory);
    let table = run.table().expect("a run can be rendered");
    assert!(table.contains("\ntask    passed  failed"), "{table}");
    assert!(table.contains("language = de"), "{table}");
    assert!(table.contains("failed: pass rate over tasks is 66.7 % (4 of 6), at least 90.0 % required"), "{table}");
    assert!(run.task_table().expect("a run can be rendered").contains("expected text with `Hello`"));
    for (format, start) in [
        (&JSON, "{"),
        (&JSON_LINES, "{"),
        (&CSV, "record,"),
        (&JUNIT, "<?xml"),
        (&MARKDOWN, "#"),
        (&EFFECTS, ""),
        (&PARQUET, "PAR1"),
    ] {
        let mut out = Vec::new();
        run.export(format, &mut out).expect("a run can be exported");
        let text = String::from_utf8_lossy(&out);
        assert!(text.starts_with(start), "{format:?}: {text}");
        assert_eq!(text.is_empty(), format == &EFFECTS, "{format:?}");
    }
    assert_eq!(greetings(&directory).results_json().expect("json"), run.results_json().expect("json"));
}

#[test]
fn a_run_is_found_again() {
    let directory = directory();
    let run = greetings(&directory);
    let found = Run::find(directory.path(), "latest").expect("it is there");
    assert_eq!((found.id(), found.results_json().expect("json")), (run.id(), run.results_json().expect("json")));
    assert_eq!(Run::open(run.path()).expect("it is there").conclusion(), Conclusion::Failed);
    let error = Run::find(directory.path(), "yesterday").expect_err("there is none");
    assert!(
        matches!(&error, Error::Read(_)) && error.to_string().starts_with("there is no run `yesterday`"),
        "{error}"
    );
    let error = run.explain("r9", "greets").expect_err("there is none").to_string();
    assert!(error.ends_with(" has no case `r9`; it has `r1`, `r2` and `r3`; did you mean `r3`?"), "{error}");
    let error = run.explain("r1", "greats").expect_err("there is none").to_string();
    assert_eq!(error, "the suite has no task `greats`; it has `greets` and `short`; did you mean `greets`?");
}

#[test]
fn matrices_name_their_prompts_and_subjects() {
    let directory = directory();
    let subject = |name: &str| {
        let answer = format!("{name} says hi");
        Model::function(name, move |question| format!("{answer} to {}", question.prompt()))
    };
    let suite = Suite::builder("matrix")
        .record(json!({ "id": "q1", "question": "Why?" }))
        .models("subject", [subject("a"), subject("b")])
        .ask(Ask::prompts([("plain", "${question}"), ("loud", "${question}!")]))
        .task(Assertion::new("is_a", "output", contains("a says")))
        .build()
        .expect("it is a suite");
    let run = suite.run(RunOptions::in_directory(directory.path()).repeat(2)).expect("it runs");
    let shown: Vec<String> = run
        .cases()
        .map(|it| it.expect("cases can be read"))
        .map(|it| {
            let (prompt, subject) = (it.prompt().unwrap_or("-"), it.subject().unwrap_or("-"));
            format!("{} {prompt} {subject} {:?} {}", it.id(), it.replicate(), it.verdict().name())
        })
        .collect();
    assert_eq!(
        shown,
        [
            "q1 plain call/a Some(1) passed",
            "q1 plain call/a Some(2) passed",
            "q1 plain call/b Some(1) failed",
            "q1 plain call/b Some(2) failed",
            "q1 loud call/a Some(1) passed",
            "q1 loud call/a Some(2) passed",
            "q1 loud call/b Some(1) failed",
            "q1 loud call/b Some(2) failed",
        ]
    );
    let answers: Vec<_> = run.answered().collect::<Result<_, _>>().expect("answers can be read");
    assert_eq!(answers.len(), 8);
    // What was answered is a data set for another suite.
    let judged = Suite::builder("judged")
        .records(answers)
        .model("judge", Model::function("judge", |question| question.prompt().to_owned()))
        .task(Judge::new("same", "${output}").passes_when_reply(equals(jurat::compare::found_at("output"))))
        .build()
        .expect("answers are rows");
    assert_eq!(judged.run(RunOptions::in_directory(directory.path())).expect("it runs").counts().passed, 8);
}
