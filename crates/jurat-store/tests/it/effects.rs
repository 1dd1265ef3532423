//! Effects of runs: written before the run continues, found again after any end.

use std::path::Path;
use std::sync::mpsc::channel;

use jurat_core::effect::{Asker, EffectKey, StepSite};
use jurat_core::plan::{CaseIx, TaskIx, VariantCount};
use jurat_core::verdict::StopReason;
use jurat_store::journal::Journal;
use jurat_store::records::RowId;
use jurat_store::run::{
    BlockBuilder, CaseRow, Ended, FinishState, RecordedEffect, Resumes, RunFileError, RunHead, RunLog, RunReader,
    RunWriter, StoredEffect, WriteError, WriterOptions, unfinished,
};
use rusqlite::Connection;

use crate::runs::{Desk, all_shown, finished, place, rows};

/// An effect: `case site request outcome`, where a site is `slot.turn.attempt` and its task is 0.
pub(crate) fn effect(case_ix: u64, site: &str, request: &str, outcome: &str) -> RecordedEffect {
    let numbers: Vec<u32> = site.split('.').map(|it| it.parse().expect("a number")).collect();
    RecordedEffect {
        case_ix: CaseIx::numbered(case_ix),
        site: StepSite { asker: Asker::Task(TaskIx(0)), slot: numbers[0], turn: numbers[1] },
        attempt: numbers[2],
        key: key(request),
        kind: "model".to_owned(),
        model: "judge".to_owned(),
        served: Some("judge-2026".to_owned()),
        at_ms: 1_000 + case_ix,
        request: request.to_owned(),
        outcome: outcome.to_owned(),
        reused: false,
        journal: true,
        media: Vec::new(),
    }
}

pub(crate) fn key(request: &str) -> EffectKey {
    EffectKey(*blake3::hash(request.as_bytes()).as_bytes())
}

/// Hands effects over and waits until they are safe.
pub(crate) fn record(writer: &RunWriter, effects: Vec<RecordedEffect>) -> Result<(), WriteError> {
    let (done, is_done) = channel();
    writer.effects(effects, Box::new(move |result| drop(done.send(result))));
    is_done.recv().expect("every caller has the error")
}

fn site(slot: u32, turn: u32) -> StepSite {
    StepSite { asker: Asker::Task(TaskIx(0)), slot, turn }
}

fn line(effect: &StoredEffect) -> String {
    let StoredEffect { case_ix, site, attempt, outcome, reused, .. } = effect;
    format!(
        "{} {}.{}.{attempt} {outcome}{}",
        case_ix.number(),
        site.slot,
        site.turn,
        if *reused { " again" } else { "" }
    )
}

fn lines(path: &Path) -> Vec<String> {
    let reader = RunReader::open(path).expect("a run");
    reader.effects().map(|it| line(&it.expect("an effect"))).collect()
}

/// How many rows a table has.
fn count(path: &Path, table: &str) -> u64 {
    let connection = Connection::open(path).expect("a database");
    connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).expect("a table")
}

#[test]
fn effects_come_back_in_the_order_of_cases() {
    let desk = Desk::new();
    let head = desk.head(&rows(3), 1, 1);
    let writer = RunWriter::create(&desk.run(), &head, WriterOptions::default()).expect("a run");
    let long = "a long prompt ".repeat(1000);
    record(&writer, vec![effect(2, "0.0.0", "a", "A"), effect(2, "0.1.0", "b", "no")]).expect("safe");
    record(&writer, vec![effect(0, "1.0.0", &long, "long"), effect(0, "0.0.0", "c", "fault")]).expect("safe");
    record(&writer, vec![effect(0, "0.0.1", "c", "C")]).expect("safe");
    record(
        &writer,
        vec![RecordedEffect { case_ix: CaseIx::numbered(1), reused: true, ..effect(2, "0.0.0", "a", "A") }],
    )
    .expect("safe");
    // Actions are no responses.
    for (kind, at, reused) in [("tool", "1.1.0", false), ("tool", "1.2.0", true), ("call", "1.3.0", true)] {
        let action = RecordedEffect { kind: kind.to_owned(), served: None, reused, ..effect(2, at, kind, at) };
        record(&writer, vec![action]).expect("safe");
    }
    writer.finish(finished(Ended::Done)).expect("finished");
    let all = [
        "0 0.0.0 fault",
        "0 0.0.1 C",
        "0 1.0.0 long",
        "1 0.0.0 A again",
        "2 0.0.0 A",
        "2 0.1.0 no",
        "2 1.1.0 1.1.0",
        "2 1.2.0 1.2.0 again",
        "2 1.3.0 1.3.0 again",
    ];
    assert_eq!(lines(&desk.run()), all);

    let reader = RunReader::open(&desk.run()).expect("a run");
    let of_case: Vec<String> = reader.effects_of(CaseIx::numbered(2)).expect("effects").iter().map(line).collect();
    assert_eq!(of_case, all[4..]);
    let last = reader.effect_at(CaseIx::numbered(0), site(0, 0)).expect("readable").expect("an effect");
    assert_eq!((last.outcome.as_str(), last.attempt, last.key), ("C", 1, key("c")));
    assert_eq!(reader.effect_at(CaseIx::numbered(0), site(0, 1)).expect("readable"), None);
    assert_eq!(reader.effect_at(CaseIx::numbered(0), site(1, 0)).expect("readable").expect("an effect").request, long);
    let stats = reader.effect_stats().expect("numbers");
    assert_eq!((stats.asked, stats.reused, stats.oldest_reused_ms), (6, 1, Some(1_002)));
    assert_eq!((stats.tool_calls, stats.reused_tool_calls), (2, 1));
    assert_eq!(stats.served, [(Some("judge-2026".to_owned()), 6)]);
    // What is counted while effects are written equals what is counted afterwards.
    Connection::open(desk.run())
        .and_then(|it| it.execute("DELETE FROM meta WHERE key = 'effects'", []))
        .expect("stored");
    assert_eq!(RunReader::open(&desk.run()).expect("a run").effect_stats().expect("numbers"), stats);
    assert_eq!(count(&desk.run(), "effect"), 8, "what is equal is stored once");
    let stored = std::fs::metadata(desk.run()).expect("a file").len();
    assert!(
        stored > 0 && count(&desk.run(), "effect WHERE typeof(request) = 'blob'") == 1,
        "long texts are compressed"
    );
}

#[test]
fn what_is_asked_again_and_again_is_shared() {
    let desk = Desk::new();
    let writer = RunWriter::create(&desk.run(), &desk.head(&rows(40), 1, 1), WriterOptions::default()).expect("a run");
    // Twenty outcomes of one request, one of them twice in a row, then the last and the first once more.
    let outcomes = (0..20).chain([19, 0]).flat_map(|n| std::iter::repeat_n(n, 1 + usize::from(n == 7)));
    for (case_ix, n) in outcomes.enumerate() {
        let outcome = format!("outcome {n}");
        record(&writer, vec![effect(case_ix as u64, "0.0.0", "the same", &outcome)]).expect("recorded");
    }
    drop(writer);
    assert_eq!(count(&desk.run(), "site"), 23);
    assert_eq!(count(&desk.run(), "effect"), 20, "each outcome once");
    assert!(lines(&desk.run()).iter().all(|it| it.contains("outcome")));
}

#[test]
fn a_copy_is_written_in_its_turn_without_being_waited_for() {
    let desk = Desk::new();
    let journal = Journal::open(&desk.directory.path().join("journal.db")).expect("a journal");
    let options = WriterOptions { journal: Some((&journal).into()), ..WriterOptions::default() };
    let writer = RunWriter::create(&desk.run(), &desk.head(&rows(3), 1, 1), options).expect("a run");
    let copy =
        |case_ix, request| RecordedEffect { reused: true, journal: false, ..effect(case_ix, "0.0.0", request, "A") };
    writer.copy(copy(0, "a")).expect("handed over");
    writer.copy(copy(1, "b")).expect("handed over");
    record(&writer, vec![RecordedEffect { journal: false, ..effect(2, "0.0.0", "c", "C") }]).expect("safe");
    assert_eq!(lines(&desk.run()), ["0 0.0.0 A again", "1 0.0.0 A again", "2 0.0.0 C"]);
    writer.copy(copy(3, "d")).expect("handed over");
    drop(writer);
    assert_eq!(lines(&desk.run()).last().map(String::as_str), Some("3 0.0.0 A again"));
    assert_eq!(journal.report().expect("numbers").answers(), 0);
}

#[test]
fn equal_requests_with_other_outcomes_are_both_stored() {
    let desk = Desk::new();
    let writer = RunWriter::create(&desk.run(), &desk.head(&rows(2), 1, 1), WriterOptions::default()).expect("a run");
    record(&writer, vec![effect(0, "0.0.0", "a", "A"), effect(1, "0.0.0", "a", "other")]).expect("safe");
    writer.finish(finished(Ended::Done)).expect("finished");
    assert_eq!(lines(&desk.run()), ["0 0.0.0 A", "1 0.0.0 other"]);
}

#[test]
fn effects_are_in_the_journal_when_they_are_safe() {
    let desk = Desk::new();
    let journal = Journal::open(&desk.directory.path().join("journal.db")).expect("a journal");
    let options = WriterOptions { journal: Some((&journal).into()), durable: true };
    let writer = RunWriter::create(&desk.run(), &desk.head(&rows(2), 1, 1), options).expect("a run");
    let cheap = RecordedEffect { journal: false, ..effect(1, "0.0.0", "cheap", "C") };
    record(&writer, vec![effect(0, "0.0.0", "paid", "P"), cheap]).expect("safe");
    let outcome = |request| journal.get(&key(request), None).expect("readable").map(|it| it.outcome);
    assert_eq!(outcome("paid").as_deref(), Some("P"));
    assert_eq!(outcome("cheap"), None);
    assert_eq!(lines(&desk.run()), ["0 0.0.0 P", "1 0.0.0 C"], "a run is read while it is written");
}

/// A case continues when the journal has its outcome; the run has it in the next commit, at the latest when something is in nothing but the run.
#[test]
fn what_is_found_in_the_journal_is_not_waited_for_twice() {
    let desk = Desk::new();
    let journal = Journal::open(&desk.directory.path().join("journal.db")).expect("a journal");
    let options = WriterOptions { journal: Some((&journal).into()), durable: false };
    let writer = RunWriter::create(&desk.run(), &desk.head(&rows(4), 1, 1), options).expect("a run");
    let paid = |case_ix, request: &str| effect(case_ix, "0.0.0", request, "P");
    record(&writer, vec![paid(0, "a")]).expect("safe");
    assert_eq!(journal.get(&key("a"), None).expect("readable").expect("an answer").outcome, "P");
    let cheap = RecordedEffect { journal: false, ..effect(1, "0.0.0", "cheap", "C") };
    record(&writer, vec![cheap]).expect("safe");
    assert_eq!(lines(&desk.run()), ["0 0.0.0 P", "1 0.0.0 C"]);
    record(&writer, vec![paid(2, "b")]).expect("safe");
    drop(writer);
    assert_eq!(lines(&desk.run()).last().map(String::as_str), Some("2 0.0.0 P"));
}

#[test]
fn a_failed_write_is_reported_to_every_caller() {
    let desk = Desk::new();
    let path = desk.directory.path().join("journal.db");
    let journal = Journal::open(&path).expect("a journal");
    let options = WriterOptions { journal: Some((&journal).into()), durable: false };
    let texts = rows(2);
    let writer = RunWriter::create(&desk.run(), &desk.head(&texts, 1, 1), options).expect("a run");
    record(&writer, vec![RecordedEffect { journal: false, ..effect(0, "0.0.0", "a", "A") }]).expect("safe");
    Connection::open(&path).and_then(|it| it.execute_batch("DROP TABLE answer")).expect("sabotage");
    let expected = format!("`{}`: no such table: answer", path.display());
    let shown = |result: Result<(), WriteError>| result.expect_err("it cannot be written").to_string();
    assert!(shown(record(&writer, vec![effect(1, "0.0.0", "b", "B")])).starts_with(&expected));
    let cheap = RecordedEffect { journal: false, ..effect(1, "0.0.0", "cheap", "C") };
    assert!(shown(record(&writer, vec![cheap])).starts_with(&expected), "also what would have gone elsewhere");
    let mut builder = BlockBuilder::new(1, VariantCount::of(1));
    builder.case(
        CaseIx::numbered(0),
        &RowId::Content(1),
        CaseRow { place: place(&texts, 0), text: &texts[0], keep: false },
    );
    assert!(shown(writer.block(builder.close().expect("a case"))).starts_with(&expected));
    assert!(shown(writer.event(0, "x")).starts_with(&expected));
    assert!(shown(writer.sync()).starts_with(&expected));
    let error = writer.finish(finished(Ended::Done)).expect_err("it cannot be finished").to_string();
    assert!(error.starts_with(&expected));
    assert_eq!(lines(&desk.run()), ["0 0.0.0 A"], "what was safe is safe");
}

/// Writes an effect and a case, and leaves the run as a process leaves it that ends.
fn begun(desk: &Desk) {
    let texts = rows(2);
    let writer = RunWriter::create(&desk.run(), &desk.head(&texts, 1, 1), WriterOptions::default()).expect("a run");
    record(&writer, vec![effect(0, "0.0.0", "a", "A"), effect(1, "0.0.0", "b", "fault")]).expect("safe");
    let mut builder = BlockBuilder::new(1, VariantCount::of(1));
    let id = RowId::Given("r0".into());
    builder.case(CaseIx::numbered(0), &id, CaseRow { place: place(&texts, 0), text: &texts[0], keep: false });
    writer.block(builder.close().expect("a case")).expect("room");
    writer.sync().expect("written");
}

/// Resumes a run, and ends it.
fn resumed_run(desk: &Desk) {
    let texts = rows(2);
    let writer = RunWriter::resume(&desk.run(), WriterOptions::default()).expect("a run in progress");
    let log = RunLog::open(&desk.run()).expect("its log");
    let logged = log.get(CaseIx::numbered(0), site(0, 0)).expect("readable").expect("an effect");
    assert_eq!((logged.outcome.as_str(), logged.attempt, logged.key), ("A", 0, key("a")));
    let fault = log.get(CaseIx::numbered(1), site(0, 0)).expect("readable").expect("an effect");
    record(&writer, vec![effect(1, &format!("0.0.{}", fault.attempt + 1), "b", "B")]).expect("safe");
    assert_eq!(log.get(CaseIx::numbered(1), site(0, 0)).expect("readable").expect("an effect").outcome, "B");
    assert_eq!(all_shown(&desk.run()), [""; 0], "what is computed is computed again");
    let mut builder = BlockBuilder::new(1, VariantCount::of(1));
    for (ix, text) in texts.iter().enumerate() {
        let id = RowId::Given(format!("r{ix}").into());
        builder.case(CaseIx::numbered(ix as u64), &id, CaseRow { place: place(&texts, ix), text, keep: false });
    }
    writer.block(builder.close().expect("cases")).expect("room");
    writer.finish(finished(Ended::Done)).expect("finished");
    assert_eq!(lines(&desk.run()), ["0 0.0.0 A", "1 0.0.0 fault", "1 0.0.1 B"]);
    assert_eq!(
        RunReader::open(&desk.run()).expect("a run").effect_stats().expect("numbers").asked,
        3,
        "before and now"
    );
    assert_eq!(all_shown(&desk.run()), ["0 v0 r0 passed passed", "1 v0 r1 passed passed"]);
}

#[test]
fn an_abandoned_run_resumes() {
    let desk = Desk::new();
    let find = |key| unfinished(desk.directory.path(), key, Resumes::Unfinished).expect("readable");
    assert_eq!(find("key"), None);
    begun(&desk);
    assert_eq!(find("key"), Some(desk.run()));
    assert_eq!(find("another"), None);
    resumed_run(&desk);
    assert_eq!(find("key"), None, "it is done");
    let error = RunWriter::resume(&desk.run(), WriterOptions::default()).expect_err("it is done");
    assert!(matches!(error, RunFileError::Finished { .. }));
}

#[test]
fn a_stopped_run_resumes() {
    let desk = Desk::new();
    begun(&desk);
    let writer = RunWriter::resume(&desk.run(), WriterOptions::default()).expect("a run in progress");
    writer.finish(finished(Ended::Stopped(StopReason::Interrupted))).expect("finished");
    assert_eq!(unfinished(desk.directory.path(), "key", Resumes::Unfinished).expect("readable"), Some(desk.run()));
    resumed_run(&desk);
}

#[test]
fn a_decided_run_resumes_when_that_is_asked_for() {
    let desk = Desk::new();
    begun(&desk);
    let writer = RunWriter::resume(&desk.run(), WriterOptions::default()).expect("a run in progress");
    let decided = FinishState { resumable: false, ..finished(Ended::Stopped(StopReason::Decided)) };
    writer.finish(decided).expect("finished");
    let find = |resumes| unfinished(desk.directory.path(), "key", resumes).expect("readable");
    assert_eq!((find(Resumes::Unfinished), find(Resumes::Decided)), (None, Some(desk.run())));
    resumed_run(&desk);
}

/// Names are random within a second: the older run may have the later name.
#[test]
fn of_runs_of_one_second_the_newest_decides() {
    for (done_ms, left_ms, goes_on) in [(1_000, 1_001, true), (1_001, 1_000, false)] {
        let desk = Desk::new();
        let run = |end: &str| desk.directory.path().join(format!("1970-01-01T00-00-01_suite_{end}.jurat"));
        let begin = |end: &str, created_at_ms| {
            let head = RunHead { created_at_ms, ..desk.head(&rows(1), 1, 1) };
            RunWriter::create(&run(end), &head, WriterOptions::default()).expect("a run")
        };
        begin("z", done_ms).finish(finished(Ended::Done)).expect("finished");
        drop(begin("a", left_ms));
        let found = unfinished(desk.directory.path(), "key", Resumes::Unfinished).expect("readable");
        assert_eq!(found, goes_on.then(|| run("a")), "{done_ms} {left_ms}");
    }
}

#[test]
fn a_run_is_written_by_one_process_at_a_time() {
    let desk = Desk::new();
    begun(&desk);
    let writer = RunWriter::resume(&desk.run(), WriterOptions::default()).expect("a run in progress");
    let error = RunWriter::resume(&desk.run(), WriterOptions::default()).expect_err("it is being written");
    let expected = format!("`{}` is being written by another process; wait until that is done", desk.run().display());
    assert_eq!(error.to_string(), expected);
    assert_eq!(unfinished(desk.directory.path(), "key", Resumes::Unfinished).expect("readable"), None);
    assert!(RunReader::open(&desk.run()).expect("a run").is_being_written());
    drop(writer);
    assert!(!RunReader::open(&desk.run()).expect("a run").is_being_written());
    assert_eq!(unfinished(desk.directory.path(), "key", Resumes::Unfinished).expect("readable"), Some(desk.run()));
}

/// A process that is killed leaves its files as they are at that moment; copying them at that moment gives the same.
#[test]
fn a_run_that_was_killed_has_everything_that_was_safe() {
    let (desk, other) = (Desk::new(), Desk::new());
    let texts = rows(200);
    let journal = Journal::open(&desk.directory.path().join("journal.db")).expect("a journal");
    let options = WriterOptions { journal: Some((&journal).into()), durable: false };
    let writer = RunWriter::create(&desk.run(), &desk.head(&texts, 1, 1), options).expect("a run");
    std::fs::copy(desk.rows(), other.rows()).expect("a copy");
    for n in 0..200 {
        let request = format!("request {n}");
        record(&writer, vec![effect(n, "0.0.0", &request, &format!("answer {n}"))]).expect("safe in the journal");
        let cheap = RecordedEffect { journal: false, ..effect(n, "0.1.0", "cheap", "C") };
        record(&writer, vec![cheap]).expect("safe in the run, and with it what came before");
        if n % 20 != 7 {
            continue;
        }
        let names = ["run.jurat", "run.jurat-wal", "journal.db", "journal.db-wal"];
        for name in names {
            let _ = std::fs::remove_file(other.directory.path().join(name));
            // SQLite's locks would be lost if this process opened and closed its files, so another one does.
            let copied = std::process::Command::new("cp")
                .args([desk.directory.path().join(name), other.directory.path().join(name)])
                .status();
            assert!(copied.expect("cp runs").success());
        }
        let of_case = |it| [format!("{it} 0.0.0 answer {it}"), format!("{it} 0.1.0 C")];
        let expected: Vec<String> = (0..=n).flat_map(of_case).collect();
        assert_eq!(lines(&other.run()), expected);
        let retained = Journal::open(&other.directory.path().join("journal.db")).expect("a journal");
        assert!(retained.get(&key(&request), None).expect("readable").is_some());
        let resumed = RunWriter::resume(&other.run(), WriterOptions::default()).expect("a run in progress");
        resumed.finish(finished(Ended::Done)).expect("finished");
        assert_eq!(lines(&other.run()), expected);
    }
}
