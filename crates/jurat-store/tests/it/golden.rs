//! Runs that were written once are read for ever.
//!
//! `tests/golden` has a run of each released format as SQL, and what it says. `sqlite3 RUN .dump` writes such a file; the pragmas at its
//! head are added by hand. A reader must read all of them; the writer writes the newest.
//! When this test fails because the format changed, the format needs a new number and a new pair of files, not other files.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use jurat_core::effect::{Asker, StepSite};
use jurat_core::plan::{CaseIx, VariantCount};
use jurat_store::journal::Journal;
use jurat_store::records::RowId;
use jurat_store::run::{
    BlockBuilder, ByteRange, CaseRow, Code, Column, Detail, Document, Ended, RecordedEffect, RowPlace, RunHead,
    RunReader, RunWriter, SourceFile, SourceHead, StoredEffect, StoredEvent, SummaryRow, TaskHead, Variant,
    WriterOptions,
};
use rusqlite::Connection;
use xxhash_rust::xxh3::xxh3_128;

use crate::effects::{effect, key, record};
use crate::runs::{Desk, finished, shown};

/// The rows of the golden runs. Those without an id are known by their content, and two are alike.
const ROWS: [&str; 6] = [
    r#"{"id": "first", "answer": 42}"#,
    r#"{"answer": "no id"}"#,
    r#"{"id": "third", "answer": "grüße"}"#,
    r#"{"answer": "no id"}"#,
    r#"{"id": "fifth", "answer": null}"#,
    r#"{"id": "fifty", "answer": [1, 2]}"#,
];

#[test]
fn a_run_of_format_1_is_read() {
    let desk = Desk::new();
    std::fs::write(desk.rows(), ROWS.map(|it| format!("{it}\n")).concat()).expect("a file");
    let connection = Connection::open(desk.run()).expect("a database");
    connection.execute_batch(include_str!("../golden/run-1.sql")).expect("SQL");
    drop(connection);
    assert_eq!(says(&desk.run()), include_str!("../golden/run-1.txt"));
}

#[test]
fn format_1_is_written() {
    let desk = Desk::new();
    write(&desk);
    assert_eq!(says(&desk.run()), include_str!("../golden/run-1.txt"));
    // Columns and tables that format 1 got later; readers ignore those that they do not know.
    let (ids, with_later) = ("ids BLOB NOT NULL\n)", "ids BLOB NOT NULL, rows BLOB, questions BLOB\n)");
    let (range, with_n) = ("block_range ON block (first, last)", "block_range ON block (first, last, n)");
    let golden = include_str!("../golden/run-1.sql").replace(ids, with_later).replace(range, with_n)
        + "CREATE TABLE grouping (path TEXT NOT NULL, block INTEGER NOT NULL, body BLOB NOT NULL) STRICT;"
        + "CREATE UNIQUE INDEX grouping_place ON grouping (path, block);"
        + "CREATE TABLE taken (block INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;"
        + "CREATE TABLE media (digest BLOB PRIMARY KEY, body BLOB NOT NULL) STRICT;";
    assert_eq!(tables(&desk.run()), tables_in(&golden));
}

#[test]
fn journals_of_all_formats_are_read_and_become_the_newest() {
    let newest = include_str!("../golden/journal-2.sql");
    for (sql, n_unsorted) in [(include_str!("../golden/journal-1.sql"), 0), (newest, 1)] {
        let desk = Desk::new();
        let path = desk.directory.path().join("journal.db");
        let connection = Connection::open(&path).expect("a database");
        connection.execute_batch(sql).expect("SQL");
        let journal = Journal::open(&path).expect("a journal");
        let get = |request: &str| journal.get(&key(request), None).expect("readable").map(|it| (it.at_ms, it.outcome));
        assert_eq!(get("short"), Some((1_002, "{\"answer\":\"short\"}".to_owned())));
        assert_eq!(get(&long()), Some((1_003, format!("{{\"answer\":\"{}\"}}", long()))));
        assert_eq!(get("never asked"), None);
        assert_eq!(tables(&path), tables_in(newest));
        let count = |select: &str| connection.query_row(select, [], |row| row.get::<_, i64>(0)).expect("a number");
        assert_eq!(n_unsorted, count("SELECT count(*) FROM unsorted"));
        assert_eq!(2, count("PRAGMA user_version"));
    }
}

#[test]
fn a_journal_of_format_2_is_written() {
    let desk = Desk::new();
    write(&desk);
    let path = desk.directory.path().join("journal.db");
    assert_eq!(tables(&path), tables_in(include_str!("../golden/journal-2.sql")));
}

fn long() -> String {
    "a prompt that is long enough to be compressed ".repeat(60)
}

/// Writes the golden run with its journal: two blocks that overlap, every column, every way to retain a row.
fn write(desk: &Desk) {
    std::fs::write(desk.rows(), ROWS.map(|it| format!("{it}\n")).concat()).expect("a file");
    let journal = Journal::open(&desk.directory.path().join("journal.db")).expect("a journal");
    let options = WriterOptions { journal: Some((&journal).into()), durable: false };
    let writer = RunWriter::create(&desk.run(), &head(), options).expect("a run");
    for cases in [[0, 1, 2, 3, 7, 5], [11, 4, 6, 8, 10, 9]] {
        let mut builder = BlockBuilder::new(2, VariantCount::of(2));
        cases.iter().for_each(|case| put(&mut builder, *case));
        writer.block(builder.close().expect("cases")).expect("room");
    }
    let short = effect(2, "0.0.0", "short", "{\"answer\":\"short\"}");
    let again = RecordedEffect { case_ix: CaseIx::numbered(5), reused: true, journal: false, ..short.clone() };
    let asked = StepSite { asker: Asker::Case, slot: 0, turn: 0 };
    let long = effect(3, "1.2.1", &long(), &format!("{{\"answer\":\"{}\"}}", long()));
    let subject = RecordedEffect { site: asked, served: None, journal: false, ..effect(3, "0.0.0", "subject", "{}") };
    record(&writer, vec![short, again, long, subject]).expect("safe");
    writer.event(5, "half way").expect("written");
    let cost = SummaryRow { column: Column(2), slice: String::new(), body: "{\"cost_usd\":0.25}".to_owned() };
    writer.summary(vec![cost]).expect("written");
    writer.finish(finished(Ended::Done)).expect("finished");
}

fn head() -> RunHead {
    let task =
        |id: &str, kind: &str| TaskHead { id: id.to_owned(), kind: kind.to_owned(), stage: 1, ..TaskHead::default() };
    let variant =
        |subject: &str, replicate| Variant { prompt: "plain".to_owned(), subject: subject.to_owned(), replicate };
    let size = ROWS.map(|it| it.len() as u64 + 1).iter().sum();
    RunHead {
        id: "2026-11-15T18-04-05_golden_x7k2".to_owned(),
        suite: "golden".to_owned(),
        suite_hash: "0123abcd".to_owned(),
        seed: 18_446_744_073_709_551_615,
        created_at_ms: 1_794_765_845_000,
        version: "0.1.0".to_owned(),
        resume_key: "resume".to_owned(),
        documents: vec![
            Document { name: "plan.json".to_owned(), body: b"{\"tasks\": []}".to_vec() },
            Document { name: "suite.yaml".to_owned(), body: b"suite: golden # again\n".repeat(20) },
        ],
        sources: vec![
            // Relative to the run; the time is not that of the file, so the rows are hashed.
            SourceHead {
                name: "`rows.jsonl`".to_owned(),
                file: Some(SourceFile { path: "rows.jsonl".to_owned(), size, mtime_ns: 1 }),
            },
            SourceHead { name: "standard input".to_owned(), file: None },
        ],
        tasks: vec![
            TaskHead {
                gate: "condition".to_owned(),
                path: Some("answer".to_owned()),
                operator: Some("exists".to_owned()),
                ..task("gate", "assert")
            },
            TaskHead { stage: 2, expected: Some("`polite`".to_owned()), ..task("tone", "judge") },
        ],
        variants: vec![variant("small", 0), variant("large", 0)],
    }
}

fn put(builder: &mut BlockBuilder, case: u64) {
    let row = (case / 2) as usize;
    let text = ROWS[row];
    let offset = ROWS[..row].iter().map(|it| it.len() as u64 + 1).sum();
    let bytes = ByteRange { offset, length: u32::try_from(text.len()).expect("a short row") };
    // The last row is not in a file as it is.
    let place = match row {
        5 => RowPlace { source: 1, number: 1, bytes: None },
        _ => RowPlace { source: 0, number: row as u64 + 1, bytes: Some(bytes) },
    };
    let id = match text.split('"').nth(1) {
        Some("id") => RowId::Given(text.split('"').nth(3).unwrap_or_default().into()),
        _ => RowId::Content(xxh3_128(text.as_bytes())),
    };
    let codes = [Code::Passed, Code::Failed, Code::SkippedByGate, Code::Error, Code::NotRun, Code::Measured];
    let code = codes[case as usize % 6];
    builder.case(CaseIx::numbered(case), &id, CaseRow { place, text, keep: code != Code::Passed && row != 1 });
    builder.took(Duration::from_micros(case * 1000));
    builder.slice(if case < 6 { "[\"half\",\"first\"]" } else { "[\"half\",\"second\"]" });
    builder.verdict(Column(2), code);
    builder.verdict(Column::CASE, if code == Code::SkippedByGate { Code::NotJudged } else { code });
    let words = |it: &'static str| Some(it.into());
    match code {
        Code::Failed => {
            let detail = Detail {
                expected: words("`polite`"),
                found: words("`rude`\nand \"loud\""),
                explanation: words("it shouts"),
                value: words("{\"label\":\"rude\"}"),
                said: words("[\"rude\",\"rude\"]"),
                ..Detail::default()
            };
            builder.detail(Column(2), &detail);
            builder.label(Column(2), "rude");
            builder.score(Column(2), 0.25);
        }
        Code::SkippedByGate => builder.detail(Column(2), &Detail { because: Some(Column(1)), ..Detail::default() }),
        Code::Error => builder.detail(Column(2), &Detail { message: words("no answer"), ..Detail::default() }),
        Code::NotRun => builder.detail(Column(2), &Detail { message: words("budget"), ..Detail::default() }),
        Code::Measured => builder.score(Column(2), -0.125),
        _ => {}
    }
    if code == Code::SkippedByGate {
        builder.verdict(Column(1), Code::Failed);
    }
}

/// Everything that a run says. Not how our types are written: they change more often than the format.
fn says(path: &Path) -> String {
    let reader = RunReader::open(path).expect("a run");
    let head = reader.head();
    let mut says = format!("{} of {} ({}) by jurat {}\n", head.id, head.suite, head.suite_hash, head.version);
    let _ = writeln!(says, "seed {}, begun at {}, resume {}", head.seed, head.created_at_ms, head.resume_key);
    for Document { name, body } in &head.documents {
        let _ = writeln!(says, "document {name}: {:?}", String::from_utf8_lossy(body));
    }
    for SourceHead { name, file } in &head.sources {
        let file = file.as_ref().map_or_else(String::new, |it| format!(": {} {} {}", it.path, it.size, it.mtime_ns));
        let _ = writeln!(says, "source {name}{file}");
    }
    for TaskHead { id, kind, gate, stage, path, operator, expected } in &head.tasks {
        let _ = writeln!(says, "task {id}: {kind} {gate:?} in stage {stage}, {path:?} {operator:?} {expected:?}");
    }
    for Variant { prompt, subject, replicate } in &head.variants {
        let _ = writeln!(says, "variant {prompt} {subject} {replicate}");
    }
    let state = reader.state().expect("a state");
    let finish = state.finish.expect("it ended");
    let _ =
        writeln!(says, "{} cases, {} at {} after {:?}", state.n_cases, finish.ended.name(), finish.at_ms, finish.wall);
    for case in reader.cases(CaseIx::ALL) {
        let case = case.expect("a case");
        let place = case.row.place;
        let row = reader.row_text(&case).expect("a row");
        let _ = writeln!(says, "case {} row {} of source {} {row}", shown(&case), place.number, place.source);
        assert_eq!(reader.case_ix(&case.id, case.variant).expect("readable"), Some(case.case_ix));
    }
    for effect in reader.effects() {
        let StoredEffect { case_ix, site, attempt, key, kind, model, served, at_ms, request, outcome, reused } =
            effect.expect("an effect");
        let asker = site.asker.task().map_or("case".to_owned(), |it| format!("task {}", it.0));
        let place = format!("{}, {asker}, seat {}, turn {}, attempt {attempt}", case_ix.number(), site.slot, site.turn);
        let served = served.unwrap_or_default();
        let line = format!("{kind} {model} {served:?} at {at_ms}, reused {reused}: {request} => {outcome}");
        let _ = writeln!(says, "effect {place}: {} {}", &key.to_string()[..8], line.replace(&long(), "(long)"));
    }
    for summary in reader.summary().expect("a summary") {
        let (counts, body) = (summary.counts, summary.body.unwrap_or_default());
        let _ = writeln!(says, "summary {} {:?} {counts:?} {body}", summary.column.0, summary.slice);
    }
    for StoredEvent { at_ms, body } in reader.events().expect("events") {
        let _ = writeln!(says, "event {at_ms} {body}");
    }
    says
}

/// How the tables of a database are made.
fn tables(path: &Path) -> Vec<String> {
    let connection = Connection::open(path).expect("a database");
    let mut select = connection.prepare("SELECT sql FROM sqlite_schema WHERE sql NOT NULL ORDER BY name").expect("SQL");
    let tables = select.query_map([], |row| row.get(0)).expect("tables");
    tables.collect::<Result<_, _>>().expect("tables")
}

/// The same for a golden file.
fn tables_in(sql: &str) -> Vec<String> {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("golden.db");
    Connection::open(&path).and_then(|it| it.execute_batch(sql)).expect("SQL");
    tables(&path)
}
