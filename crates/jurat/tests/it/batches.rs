//! Batches of Arrow judged without a run: their results are those of a run of the same rows.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_cast::cast;
use arrow_schema::{DataType, Schema};
use jurat::batches::{BatchEvaluator, BatchOptions, Keep, Layout};
use jurat::{Ask, Assertion, Datum, Judge, Model, Output, Question, Reply, Run, RunOptions, Suite, compare};
use serde_json::json;

use crate::directory;

fn judged(suite: &Suite, rows: &RecordBatch, batches: BatchOptions) -> RecordBatch {
    let evaluator = BatchEvaluator::new(suite, RunOptions::new(), batches).expect("rows and suite are sound");
    let results = evaluator.evaluate(rows, &mut || ControlFlow::Continue(())).expect("rows and suite are sound");
    assert_eq!(results.schema(), evaluator.schema(&rows.schema()).expect("rows and suite are sound"));
    results
}

fn texts(results: &RecordBatch, column: &str) -> Vec<Option<String>> {
    let column = cast(results.column_by_name(column).expect("rows and suite are sound"), &DataType::Utf8)
        .expect("rows and suite are sound");
    column.as_string::<i32>().iter().map(|it| it.map(str::to_owned)).collect()
}

fn verdicts(results: &RecordBatch) -> Vec<String> {
    texts(results, "verdict").into_iter().flatten().collect()
}

/// Two gates, a comparison that some rows do not reach, and one that finds nothing in some rows.
fn invoices() -> Suite {
    Suite::builder("invoices")
        .records_at_run()
        .task(Assertion::new("known", "status", compare::is_not_empty()).gate())
        .task(Assertion::new("paid", "status", compare::equals("paid")).depends_on(["known"]))
        .task(Assertion::new("small", "amount", compare::less_than(100)))
        .build()
        .expect("rows and suite are sound")
}

fn invoice_rows() -> RecordBatch {
    let columns: [(&str, ArrayRef); 4] = [
        ("id", Arc::new(StringArray::from(vec!["a", "b", "c", "d"]))),
        ("status", Arc::new(StringArray::from(vec!["paid", "due", "", "paid"]))),
        ("amount", Arc::new(Int64Array::from(vec![Some(5), Some(500), Some(7), None]))),
        ("note", Arc::new(StringArray::from(vec!["x"; 4]))),
    ];
    RecordBatch::try_from_iter(columns).expect("rows and suite are sound")
}

/// What a run says about each task of each row, in some columns.
fn of_run(suite: &Suite, rows: &RecordBatch, columns: &[&str]) -> Vec<Vec<String>> {
    let directory = directory();
    let mut lines = Vec::new();
    jurat_store::records::write_rows(rows, &mut lines).expect("rows and suite are sound");
    let run = suite
        .run(RunOptions::in_directory(directory.path()).input(std::io::Cursor::new(lines)))
        .expect("rows and suite are sound");
    let places: Vec<usize> = columns
        .iter()
        .map(|name| Run::columns().position(|it| it.name == *name).expect("rows and suite are sound"))
        .collect();
    let mut found = Vec::new();
    run.read_rows(0..u64::MAX, &mut |row| {
        let text = |datum: &Datum<'_>| match datum {
            Datum::Text(text) => (*text).to_owned(),
            Datum::Value(value) => value.to_json(),
            Datum::Number(number) => number.to_string(),
            Datum::Float(number) => format!("{number:?}"),
            Datum::Flag(flag) => flag.to_string(),
            Datum::Nothing => String::new(),
        };
        found.push(places.iter().map(|it| text(&row[*it])).collect());
    })
    .expect("rows and suite are sound");
    found
}

fn of_batch(suite: &Suite, rows: &RecordBatch, columns: &[&str]) -> Vec<Vec<String>> {
    let batches = BatchOptions { layout: Layout::Tasks, keep: Keep::All, ..BatchOptions::default() };
    let results = judged(suite, rows, batches);
    let columns: Vec<Vec<Option<String>>> = columns.iter().map(|it| texts(&results, it)).collect();
    (0..results.num_rows()).map(|ix| columns.iter().map(|it| it[ix].clone().unwrap_or_default()).collect()).collect()
}

#[test]
fn a_batch_has_the_results_of_a_run() {
    let columns = [
        "record",
        "case_verdict",
        "task",
        "kind",
        "gate",
        "stage",
        "verdict",
        "path",
        "operator",
        "expected",
        "actual",
        "message",
    ];
    let (suite, rows) = (invoices(), invoice_rows());
    assert_eq!(of_batch(&suite, &rows, &columns), of_run(&suite, &rows, &columns));
}

#[test]
fn a_batch_that_asks_has_the_results_of_a_run() {
    let suite = Suite::builder("tone")
        .records_at_run()
        .model("judge", Model::function("canned", canned))
        .task(
            Judge::new("tone", "Is this polite? ${status}")
                .output(judgement())
                .passes_when("polite", compare::equals(true)),
        )
        .task(Assertion::new("small", "amount", compare::less_than(100)))
        .build()
        .expect("rows and suite are sound");
    let columns = ["record", "task", "verdict", "expected", "actual", "label", "score", "explanation", "message"];
    assert_eq!(of_batch(&suite, &invoice_rows(), &columns), of_run(&suite, &invoice_rows(), &columns));
}

fn judgement() -> Output {
    Output::new().boolean("polite").text("reason").integer("score")
}

fn canned(question: &Question) -> Reply {
    let is_polite = question.prompt().contains("paid");
    Reply::json(json!({ "polite": is_polite, "reason": "by its words", "score": if is_polite { 5 } else { 1 } }))
}

#[test]
fn a_row_is_a_row_of_the_results_with_what_is_carried() {
    let batches = BatchOptions { carry: vec!["amount".to_owned()], ..BatchOptions::default() };
    let results = judged(&invoices(), &invoice_rows(), batches);
    assert_eq!(verdicts(&results), ["passed", "failed", "passed", "error"]);
    assert_eq!(texts(&results, "case").into_iter().flatten().collect::<Vec<_>>(), ["a", "b", "c", "d"]);
    assert_eq!(texts(&results, "amount")[1].as_deref(), Some("500"));
    let counts = |name| {
        results.column_by_name(name).expect("rows and suite are sound").as_primitive::<Int32Type>().values().to_vec()
    };
    assert_eq!(
        (counts("passed"), counts("failed"), counts("skipped")),
        (vec![2, 0, 1, 1], vec![0, 2, 0, 0], vec![0, 0, 1, 0])
    );
    let why = results.column_by_name("why").expect("rows and suite are sound").as_list::<i32>();
    assert_eq!((0..4).map(|ix| why.value_length(ix)).collect::<Vec<_>>(), [0, 2, 0, 1]);
}

#[test]
fn ids_by_content_do_not_depend_on_batches() {
    let rows = RecordBatch::try_from_iter([
        ("status", Arc::new(StringArray::from(vec!["paid", "due", "paid"])) as ArrayRef),
        ("amount", Arc::new(Int64Array::from(vec![1, 2, 1])) as ArrayRef),
    ])
    .expect("rows and suite are sound");
    let together = texts(&judged(&invoices(), &rows, BatchOptions::default()), "case");
    let apart: Vec<_> = (0..3)
        .flat_map(|ix| texts(&judged(&invoices(), &rows.slice(ix, 1), BatchOptions::default()), "case"))
        .collect();
    assert_eq!(together, apart);
    assert_eq!(together[0], together[2]);
    assert_ne!(together[0], together[1]);
}

#[test]
fn a_row_that_cannot_be_judged_is_an_error_in_its_place() {
    let rows = RecordBatch::try_from_iter([
        ("id", Arc::new(StringArray::from(vec![Some("a"), Some("b"), None])) as ArrayRef),
        ("status", Arc::new(StringArray::from(vec!["paid"; 3])) as ArrayRef),
        ("amount", Arc::new(Float64Array::from(vec![1.0, f64::NAN, 1.0])) as ArrayRef),
    ])
    .expect("rows and suite are sound");
    let batches = BatchOptions { layout: Layout::Tasks, ..BatchOptions::default() };
    let results = judged(&invoices(), &rows, batches);
    assert_eq!(texts(&results, "record")[3].as_deref(), Some("b"));
    assert_eq!(
        texts(&results, "message").into_iter().flatten().collect::<Vec<_>>(),
        [
            "the row cannot be judged: the column `amount` holds NaN, which JSON cannot express",
            "`known` could not be judged",
            "the row cannot be judged: the column `amount` holds NaN, which JSON cannot express",
            "the id at `id` is null; an id is text, a number or a boolean",
            "`known` could not be judged",
            "the id at `id` is null; an id is text, a number or a boolean",
        ]
    );
}

#[test]
fn several_subjects_are_several_cases_of_a_row_in_order() {
    let answers = |name: &'static str, text: &'static str| Model::function(name, move |_: &Question| text);
    let suite = Suite::builder("ask")
        .records_at_run()
        .model("one", answers("one", "yes"))
        .model("two", answers("two", "no"))
        .ask(Ask::new("${question}").models(["one", "two"]))
        .task(Assertion::new("yes", "output", compare::equals("yes")))
        .build()
        .expect("rows and suite are sound");
    let rows = RecordBatch::try_from_iter([
        ("id", Arc::new(StringArray::from(vec!["q1", "q2"])) as ArrayRef),
        ("question", Arc::new(StringArray::from(vec!["Really?", "Sure?"])) as ArrayRef),
    ])
    .expect("rows and suite are sound");
    let batches = BatchOptions { carry: vec!["question".to_owned()], strings: true, ..BatchOptions::default() };
    let results = judged(&suite, &rows, batches);
    let shown: Vec<String> = (0..results.num_rows())
        .map(|ix| {
            ["case", "subject", "verdict", "question"]
                .map(|it| texts(&results, it)[ix].clone().unwrap_or_default())
                .join(" ")
        })
        .collect();
    assert_eq!(shown, ["q1 one passed Really?", "q1 two failed Really?", "q2 one passed Sure?", "q2 two failed Sure?"]);
}

#[test]
fn a_journal_keeps_answers_from_being_asked_for_again() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counting = Arc::clone(&asked);
    let suite = Suite::builder("tone")
        .records_at_run()
        .model(
            "judge",
            Model::function("canned", move |question: &Question| {
                counting.fetch_add(1, Ordering::Relaxed);
                canned(question)
            }),
        )
        .task(Judge::new("tone", "Is this polite? ${status}").output(judgement()))
        .build()
        .expect("rows and suite are sound");
    let directory = directory();
    let batches = BatchOptions { journal: Some(directory.path().to_owned()), ..BatchOptions::default() };
    for _ in 0..2 {
        assert_eq!(judged(&suite, &invoice_rows(), batches.clone()).num_rows(), 4);
    }
    // Functions of the program may change, so what they return is never used for another batch; the journal is there all the same.
    assert_eq!(asked.load(Ordering::Relaxed), 8);
    assert!(directory.path().join(".jurat/journal.db").exists());
    assert_eq!(std::fs::read_dir(directory.path().join(".jurat/runs")).expect("rows and suite are sound").count(), 0);
}

#[test]
fn what_means_nothing_for_batches_is_refused() {
    let refused = |options: RunOptions, batches: BatchOptions| {
        let made = BatchEvaluator::new(&invoices(), options, batches);
        made.and_then(|it| it.evaluate(&invoice_rows(), &mut || ControlFlow::Continue(()))).unwrap_err().to_string()
    };
    let budget = refused(RunOptions::new().budget_usd(1.0), BatchOptions::default());
    assert!(
        budget.contains("`budget_usd`") && budget.contains("`coordinator`") && budget.contains("`share`"),
        "{budget}"
    );
    assert!(
        refused(RunOptions::new().limit(3), BatchOptions::default()).starts_with("`limit` is about a run as a whole")
    );
    assert!(
        refused(RunOptions::new().batch(), BatchOptions::default()).starts_with("`batch` is about a run as a whole")
    );
    let named = BatchOptions { id: Some("key".to_owned()), ..BatchOptions::default() };
    assert_eq!(
        refused(RunOptions::new(), named),
        "`id` names the column `key`, which the rows do not have; they have `id`, `status`, `amount` and `note`"
    );
    let own = Suite::builder("own").record(json!({"a": 1})).task(Assertion::new("a", "a", compare::exists())).build();
    let own = BatchEvaluator::new(&own.expect("rows and suite are sound"), RunOptions::new(), BatchOptions::default())
        .err()
        .expect("it is refused");
    assert!(own.to_string().starts_with("the suite has rows of its own"), "{own}");
}

#[test]
fn a_caller_ends_a_batch() {
    let evaluator =
        BatchEvaluator::new(&invoices(), RunOptions::new(), BatchOptions::default()).expect("rows and suite are sound");
    let ended = evaluator.evaluate(&invoice_rows(), &mut || ControlFlow::Break(()));
    assert_eq!(ended.unwrap_err().to_string(), "the batch was interrupted");
}

#[test]
fn a_schema_is_known_without_rows() {
    let evaluator =
        BatchEvaluator::new(&invoices(), RunOptions::new(), BatchOptions::default()).expect("rows and suite are sound");
    let empty = evaluator
        .evaluate(&invoice_rows().slice(0, 0), &mut || ControlFlow::Continue(()))
        .expect("rows and suite are sound");
    assert_eq!(
        (empty.num_rows(), empty.schema()),
        (0, evaluator.schema(&Schema::empty()).expect("rows and suite are sound"))
    );
}
