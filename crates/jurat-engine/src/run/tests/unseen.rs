//! Rows that no run has asked about come first.

use std::cell::RefCell;
use std::path::Path;
use std::sync::atomic::Ordering;

use jurat_store::journal::Journal;

use super::{Bench, Mode, Scripted, Stop, Target, verdicts};

/// A suite over rows that say these words, the first task of which is judged before the second.
fn suite(words: &[String]) -> String {
    let rows = words.iter().map(|it| format!("  - {{ id: {it}, said: {it} }}\n")).collect::<String>();
    let tasks = super::SUITE.split_once("models:").map(|it| it.1).unwrap_or_default();
    format!("records:\n{rows}models:{tasks}")
}

fn words(count: usize) -> Vec<String> {
    (0..count).map(|it| format!("word{it}")).collect()
}

fn asked(bench: &Bench, journal: &Path, before: &dyn Fn(usize)) -> Vec<String> {
    let journal = Journal::open(journal).expect("the journal can be opened");
    let perform = Scripted { is_shared: true, ..Scripted::new(before) };
    let mode =
        Mode::Ask { perform: &perform, journal: Some((&journal).into()), fresh: false, max_age: None, shared: None };
    let ran = bench.run(mode, Target::New(&bench.path(), &bench.head()), &Stop::new());
    assert_eq!(ran.stopped, None);
    perform.asked.into_inner()
}

#[test]
fn new_rows_are_asked_about_before_known_rows_are_judged() {
    let known = words(300);
    let bench = Bench::of(&suite(&known));
    let journal = bench.directory.path().join("journal.db");
    assert_eq!(asked(&bench, &journal, &|_| {}).len(), 2 * known.len());

    let mut mixed = known;
    for (place, word) in [(100, "yes"), (200, "no"), (302, "maybe")] {
        mixed.insert(place, word.to_owned());
    }
    let again = Bench::of(&suite(&mixed));
    let done = RefCell::new(Vec::new());
    let note = |_| done.borrow_mut().push(again.progress.done.load(Ordering::Relaxed));
    let mut new = asked(&again, &journal, &note);
    assert_eq!(new[..3], ["first yes", "first no", "first maybe"]);
    assert_eq!(done.borrow()[..3], [0, 0, 0], "no known row was judged before");
    new.sort();
    assert_eq!(new[3..], ["second maybe first maybe", "second no first no", "second yes first yes"]);

    let fresh = Bench::of(&suite(&mixed));
    asked(&fresh, &fresh.directory.path().join("journal.db"), &|_| {});
    assert_eq!(verdicts(&again.path()), verdicts(&fresh.path()), "the order changes no verdict and leaves out no case");
    assert_eq!(verdicts(&again.path()).len(), mixed.len());
}

#[test]
fn few_rows_are_run_in_their_order() {
    let bench = Bench::of(&suite(&words(2)));
    let journal = bench.directory.path().join("journal.db");
    asked(&bench, &journal, &|_| {});
    let again = Bench::of(&suite(&["word0", "word1", "new"].map(str::to_owned)));
    assert_eq!(asked(&again, &journal, &|_| {}), ["first new", "second new first new"]);
}

#[test]
fn a_row_that_ends_the_run_ends_it_before_later_rows_are_asked_about() {
    let known = words(300);
    let bench = Bench::of(&suite(&known));
    let journal = bench.directory.path().join("journal.db");
    asked(&bench, &journal, &|_| {});
    let rows = |bad: &str, n_new: usize| {
        let lines = known.iter().map(|it| format!("{{\"id\": \"{it}\", \"said\": \"{it}\"}}\n"));
        let new = (0..n_new).map(|it| format!("{{\"id\": \"new{it}\", \"said\": \"new{it}\"}}\n"));
        lines.chain([format!("{bad}\n")]).chain(new).collect::<String>()
    };
    for bad in ["{ no JSON", "{\"id\": [1], \"said\": \"x\"}"] {
        let file = bench.directory.path().join("rows.jsonl");
        std::fs::write(&file, rows(bad, 20_000)).expect("files can be written");
        let again = Bench::of(&suite_over(&file));
        let journal = Journal::open(&journal).expect("the journal can be opened");
        let perform = Scripted { is_shared: true, ..Scripted::new(&|_| {}) };
        let mode = Mode::Ask {
            perform: &perform,
            journal: Some((&journal).into()),
            fresh: false,
            max_age: None,
            shared: None,
        };
        let ran = again.try_run(mode, Target::New(&again.path(), &again.head()), &Stop::new(), None);
        let error = ran.expect_err("the row is bad").to_string();
        assert!(error.contains("301"), "{error}");
        assert_eq!(perform.n_asked(), 0, "nothing is paid for after it");
    }
}

/// The same over the rows of a file.
fn suite_over(file: &Path) -> String {
    let tasks = super::SUITE.split_once("models:").map(|it| it.1).unwrap_or_default();
    format!("records: {}\nmodels:{tasks}", file.display())
}
