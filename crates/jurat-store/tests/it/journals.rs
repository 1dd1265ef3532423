//! The journal: answers stored for other runs.

use std::path::PathBuf;
use std::thread;

use jurat_core::report::journal::ModelAnswers;
use jurat_store::journal::{Cleaning, Journal, Removed};
use jurat_store::run::{Ended, RecordedEffect, RunWriter, WriterOptions};

use crate::effects::{effect, key, record};
use crate::runs::{Desk, finished, rows};

fn path(desk: &Desk) -> PathBuf {
    desk.directory.path().join("journal.db")
}

fn open(desk: &Desk) -> Journal {
    Journal::open(&path(desk)).expect("a journal")
}

/// Answers as a run writes them: `model at_ms request outcome`.
fn write(desk: &Desk, journal: &Journal, answers: &[(&str, u64, &str, &str)]) {
    let options = WriterOptions { journal: Some(journal.into()), durable: false };
    let writer = RunWriter::create(&desk.run(), &desk.head(&rows(1), 1, 1), options).expect("a run");
    let answer = |(slot, (model, at_ms, request, outcome)): (usize, &(&str, u64, &str, &str))| RecordedEffect {
        model: (*model).to_owned(),
        at_ms: *at_ms,
        ..effect(0, &format!("{slot}.0.0"), request, outcome)
    };
    record(&writer, answers.iter().enumerate().map(answer).collect()).expect("safe");
    writer.finish(finished(Ended::Done)).expect("finished");
    std::fs::remove_file(desk.run()).expect("the run was there");
}

#[test]
fn the_newest_answer_is_read_unless_it_is_too_old() {
    let desk = Desk::new();
    let journal = open(&desk);
    write(&desk, &journal, &[("m", 20, "a", "new"), ("m", 10, "a", "old"), ("m", 5, "b", "B")]);
    let get = |request, not_before| {
        journal.get(&key(request), not_before).expect("readable").map(|it| (it.outcome, it.at_ms))
    };
    assert_eq!(get("a", None), Some(("new".to_owned(), 20)));
    assert_eq!(get("a", Some(20)), Some(("new".to_owned(), 20)));
    assert_eq!(get("a", Some(21)), None);
    assert_eq!(get("b", Some(6)), None);
    assert_eq!(get("c", None), None);
    write(&desk, &journal, &[("m", 20, "a", "newer")]);
    assert_eq!(get("a", None), Some(("newer".to_owned(), 20)), "of two at one time the later one");
}

/// Answers are looked for among those that have their place in the index and those that do not; it must not show which is which.
#[test]
fn an_answer_is_found_before_and_after_it_has_its_place() {
    let desk = Desk::new();
    let journal = open(&desk);
    let other = open(&desk);
    let get = |journal: &Journal, request: &str| {
        journal.get(&key(request), None).expect("readable").map_or_else(|| "nothing".to_owned(), |it| it.outcome)
    };
    let ours = |name: &str, outcome: &str, n: u64| {
        let requests: Vec<String> = (0..n).map(|it| format!("{name} {it}")).collect();
        let answers: Vec<_> = requests.iter().map(|it| ("m", 1, it.as_str(), outcome)).collect();
        write(&desk, &journal, &answers);
    };
    ours("one", "old", 10);
    assert_eq!((get(&journal, "one 3"), get(&other, "one 3")), ("old".to_owned(), "old".to_owned()));
    ours("many", "A", 5_000);
    let n_unsorted = || -> u64 {
        let connection = rusqlite::Connection::open(path(&desk)).expect("a database");
        let count = "SELECT coalesce(sum(length(keys)), 0) / 8 FROM unsorted";
        connection.query_row(count, [], |row| row.get(0)).expect("a number")
    };
    assert_eq!(n_unsorted(), 0);
    assert_eq!((get(&journal, "one 3"), get(&journal, "many 4999")), ("old".to_owned(), "A".to_owned()));
    ours("one", "new", 5);
    assert_eq!(n_unsorted(), 5);
    assert_eq!((get(&journal, "one 3"), get(&journal, "one 7")), ("new".to_owned(), "old".to_owned()));
    other.rest().expect("rested");
    assert_eq!((get(&other, "one 3"), get(&other, "one 7")), ("new".to_owned(), "old".to_owned()));
    // What is removed takes its number with it, and the next answers get it.
    journal.clean(&Cleaning::All).expect("cleaned");
    assert_eq!(n_unsorted(), 0);
    ours("two", "B", 3);
    other.rest().expect("rested");
    for reader in [&journal, &other] {
        let found = ["two 0", "two 2", "one 3", "many 7"].map(|it| get(reader, it));
        assert_eq!(found, ["B", "B", "nothing", "nothing"]);
    }
}

#[test]
fn a_long_answer_comes_back() {
    let desk = Desk::new();
    let journal = open(&desk);
    let long = "word ".repeat(10_000);
    write(&desk, &journal, &[("m", 1, &long, &long)]);
    assert_eq!(journal.get(&key(&long), None).expect("readable").expect("an answer").outcome, long);
    assert!(journal.report().expect("numbers").models[0].bytes < 2_000);
}

#[test]
fn a_journal_says_what_it_holds_and_forgets_on_command() {
    let desk = Desk::new();
    let journal = open(&desk);
    assert_eq!(journal.report().expect("numbers").answers(), 0);
    write(&desk, &journal, &[("one", 10, "a", "A"), ("two", 20, "b", "BB"), ("two", 30, "c", "C")]);
    let report = journal.report().expect("numbers");
    let one = ModelAnswers { model: "one".to_owned(), answers: 1, bytes: 2, oldest_ms: 10, newest_ms: 10 };
    let two = ModelAnswers { model: "two".to_owned(), answers: 2, bytes: 5, oldest_ms: 20, newest_ms: 30 };
    assert_eq!((report.answers(), &report.models[..]), (3, &[one, two.clone()][..]));
    let clean = |cleaning| journal.clean(&cleaning).expect("cleaned");
    assert_eq!(clean(Cleaning::Before(20)), Removed { responses: 1, is_smaller: true });
    assert_eq!(clean(Cleaning::Model("one".to_owned())).responses, 0);
    assert_eq!(journal.report().expect("numbers").models, [two]);
    write(&desk, &journal, &[("one", 40, "a", "A")]);
    assert_eq!(clean(Cleaning::Model("two".to_owned())).responses, 2);
    assert!(journal.get(&key("a"), None).expect("readable").is_some());
    assert_eq!(clean(Cleaning::All).responses, 1);
    assert!(journal.get(&key("a"), None).expect("readable").is_none());
}

/// Each thread stands for a process: it has connections of its own.
#[test]
fn several_processes_begin_and_share_a_journal() {
    let desk = Desk::new();
    let run = |process: u64| {
        let other = Desk::new();
        let journal = open(&desk);
        let options = WriterOptions { journal: Some((&journal).into()), durable: false };
        let writer = RunWriter::create(&other.run(), &other.head(&rows(1), 1, 1), options).expect("a run");
        for n in 0..20 {
            let request = format!("{process} {n}");
            record(&writer, vec![effect(n, "0.0.0", &request, "mine"), effect(n, "1.0.0", "shared", "ours")])
                .expect("safe");
            assert!(journal.get(&key(&request), None).expect("readable").is_some());
        }
        writer.finish(finished(Ended::Done)).expect("finished");
    };
    thread::scope(|scope| (0..4).for_each(|process| drop(scope.spawn(move || run(process)))));
    let journal = open(&desk);
    assert_eq!(journal.report().expect("numbers").answers(), 4 * 40, "both are stored");
    assert_eq!(journal.get(&key("shared"), None).expect("readable").expect("an answer").outcome, "ours");
    drop(journal);
    let mut files: Vec<_> = std::fs::read_dir(desk.directory.path())
        .expect("a directory")
        .map(|it| it.expect("a file").file_name())
        .collect();
    files.sort();
    assert_eq!(files, ["journal.db"], "nothing else stays behind");
}

#[test]
fn what_is_not_a_journal_is_left_alone() {
    let desk = Desk::new();
    std::fs::write(path(&desk), "my diary ".repeat(2_000)).expect("a file");
    let error = Journal::open(&path(&desk)).expect_err("it is no journal");
    assert_eq!(error.to_string(), format!("`{}` is not a journal of jurat", path(&desk).display()));
    let error = Journal::open(&desk.directory.path().join("nowhere").join("journal.db")).expect_err("no directory");
    assert_eq!(error.to_string(), format!("there is no `{}`", desk.directory.path().join("nowhere").display()));
}

#[test]
fn a_damaged_journal_that_another_process_has_renamed_is_not_missed() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let path = directory.path().join("journal.db");
    std::fs::write(&path, "broken").expect("files can be written");
    assert!(Journal::set_aside_if_damaged(&path).expect("it can be renamed").is_some());
    // A second process that found it damaged gets here before the first has made a new one.
    assert_eq!(Journal::set_aside_if_damaged(&path).expect("there is nothing to rename"), None);
    let (_, aside) = Journal::open_or_set_aside(&path).expect("a new one is made");
    assert_eq!(aside, None);
}
