//! Files that are not as they should be: runs, and the files that their rows are in.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::ops::ControlFlow;
use std::time::{Duration, SystemTime};

use jurat_core::plan::{CaseIx, VariantCount};
use jurat_store::records::RowId;
use jurat_store::run::{
    BlockBuilder, CaseRow, Code, Column, Detail, Document, Ended, RunFileError, RunReader, RunWriter, WriterOptions,
    pack,
};
use rusqlite::Connection;

use crate::runs::{Desk, finished, place, rows, shown};

/// A run of ten cases of which every third failed, so that its row is retained.
fn ten(desk: &Desk) -> Vec<String> {
    let texts = rows(10);
    let writer = RunWriter::create(&desk.run(), &desk.head(&texts, 1, 1), WriterOptions::default()).expect("a run");
    put(&writer, &texts);
    writer.finish(finished(Ended::Done)).expect("finished");
    texts
}

fn put(writer: &RunWriter, texts: &[String]) {
    let mut builder = BlockBuilder::new(1, VariantCount::of(1));
    for (ix, text) in texts.iter().enumerate() {
        let id = RowId::Given(format!("r{ix}").into());
        builder.case(CaseIx::numbered(ix as u64), &id, CaseRow { place: place(texts, ix), text, keep: ix % 3 == 0 });
        if ix % 3 == 0 {
            builder.verdict(Column::CASE, Code::Failed);
        }
    }
    writer.block(builder.close().expect("cases")).expect("room");
}

/// What is said when the run is opened, or when its first case is looked at.
fn said(desk: &Desk) -> String {
    let error = match RunReader::open(&desk.run()) {
        Err(error) => error,
        Ok(reader) => reader.case(CaseIx::numbered(0)).expect_err("something is wrong"),
    };
    error.to_string().replace(&desk.run().display().to_string(), "run.jurat")
}

/// Changes the database.
fn change(desk: &Desk, sql: &str) {
    Connection::open(desk.run()).and_then(|it| it.execute_batch(sql)).expect("SQL");
}

/// Everything that is concluded from a run, or why it cannot be read.
fn everything(desk: &Desk) -> Result<String, RunFileError> {
    let reader = RunReader::open(&desk.run())?;
    let mut read = format!("{:?}{:?}", reader.head(), reader.summary()?);
    for case in reader.cases(CaseIx::ALL) {
        read += &shown(&case?);
    }
    reader.each_score(Column(1), &mut |it| read += &it.to_string())?;
    for id in ["r0", "r9"] {
        read += &format!("{:?}", reader.case_ix(id, 0)?);
    }
    Ok(read)
}

#[test]
fn a_bit_that_flips_is_noticed() {
    let desk = Desk::new();
    let texts = rows(10);
    let mut head = desk.head(&texts, 1, 1);
    head.documents = vec![Document { name: "suite".to_owned(), body: b"suite: ten".to_vec() }];
    let writer = RunWriter::create(&desk.run(), &head, WriterOptions::default()).expect("a run");
    let mut builder = BlockBuilder::new(1, VariantCount::of(1));
    for (ix, text) in (0..).zip(&texts) {
        let place = place(&texts, ix);
        builder.case(
            CaseIx::numbered(ix as u64 * 2),
            &RowId::Given(format!("r{ix}").into()),
            CaseRow { place, text, keep: ix == 3 },
        );
        builder.took(Duration::from_micros(7));
        if ix % 3 == 0 {
            builder.verdict(Column::CASE, Code::Failed);
            builder.detail(Column(1), &Detail { found: Some("`2`".into()), ..Detail::default() });
            builder.score(Column(1), 0.5);
            builder.label(Column(1), "good");
        }
    }
    writer.block(builder.close().expect("cases")).expect("room");
    writer.finish(finished(Ended::Done)).expect("finished");
    everything(&desk).expect("it is sound");
    for (table, column) in [
        ("block", "cases"),
        ("block", "took"),
        ("block", "places"),
        ("block", "ids"),
        ("verdicts", "codes"),
        ("scores", "body"),
        ("labels", "body"),
        ("detail", "body"),
        ("evidence", "body"),
        ("document", "body"),
        ("id_page", "body"),
    ] {
        let connection = Connection::open(desk.run()).expect("a database");
        let select = format!("SELECT {column} FROM {table} LIMIT 1");
        let value: Vec<u8> = connection.query_row(&select, [], |row| row.get(0)).expect("a value");
        let put = |value: &[u8]| {
            let update = format!("UPDATE {table} SET {column} = ?1 WHERE rowid = (SELECT min(rowid) FROM {table})");
            connection.execute(&update, [value]).expect("SQL");
        };
        for (ix, bit) in (0..value.len()).zip((0..8).cycle()) {
            let mut flipped = value.clone();
            flipped[ix] ^= 1 << bit;
            put(&flipped);
            assert!(everything(&desk).is_err(), "bit {bit} of byte {ix} of {table}.{column}");
        }
        put(&value);
    }
    change(&desk, "UPDATE verdicts SET codes = CAST(substr(codes, 1, 9) || x'05' AS BLOB)");
    let why = "`verdicts` does not match its checksum";
    assert_eq!(said(&desk), format!("`run.jurat` is damaged: {why}; restore it from a copy, or run again"));
    change(&desk, "UPDATE summary SET passed = passed + 1 WHERE task = 0");
    let summary = RunReader::open(&desk.run()).expect("a run").summary().expect_err("it was changed").to_string();
    assert!(summary.contains("`summary` does not match its checksum"), "{summary}");
}

/// A writer that is killed in the middle of a change leaves what undoes it beside the file.
#[test]
fn a_change_that_was_cut_off_is_undone() {
    let (desk, copy) = (Desk::new(), Desk::new());
    ten(&desk);
    let before = everything(&desk).expect("it is sound");
    let writer = Connection::open(desk.run()).expect("a database");
    writer
        .execute_batch(
            "PRAGMA synchronous = OFF; PRAGMA journal_mode = DELETE; BEGIN IMMEDIATE; UPDATE meta SET value = 'x'",
        )
        .expect("SQL");
    let beside = |path: std::path::PathBuf| path.with_extension("jurat-journal");
    for (from, to) in [(desk.run(), copy.run()), (beside(desk.run()), beside(copy.run()))] {
        fs::copy(from, to).expect("files can be copied");
    }
    assert_eq!(everything(&copy).expect("it can be read"), before);
    assert!(!beside(copy.run()).exists(), "nothing is left to undo");
}

#[test]
fn what_is_not_a_run_is_said_to_be_none() {
    let desk = Desk::new();
    assert_eq!(said(&desk), "there is no `run.jurat`");
    fs::write(desk.run(), "").expect("a file");
    assert_eq!(said(&desk), "`run.jurat` is not a run of jurat");
    fs::write(desk.run(), "text ".repeat(10_000)).expect("a file");
    assert_eq!(said(&desk), "`run.jurat` is not a run of jurat");
    fs::remove_file(desk.run()).expect("it was there");
    change(&desk, "CREATE TABLE something (else_ TEXT)");
    assert_eq!(said(&desk), "`run.jurat` is not a run of jurat");
    fs::remove_file(desk.run()).expect("it was there");
    fs::create_dir(desk.run()).expect("a directory");
    assert_eq!(said(&desk), "`run.jurat`: it is a directory, not a file");
}

#[test]
fn a_run_that_was_cut_short_is_damaged() {
    let desk = Desk::new();
    ten(&desk);
    let whole = fs::read(desk.run()).expect("a file");
    for length in [whole.len() - 1, whole.len() / 2, 8192, 100] {
        fs::write(desk.run(), &whole[..length]).expect("a file");
        let said = said(&desk);
        assert!(said.starts_with("`run.jurat` is damaged: "), "{length}: {said}");
        assert!(said.ends_with("; restore it from a copy, or run again"), "{said}");
    }
    fs::write(desk.run(), &whole[..50]).expect("a file");
    assert_eq!(said(&desk), "`run.jurat` is not a run of jurat");
}

#[test]
fn a_run_of_a_later_version_is_not_guessed_at() {
    let desk = Desk::new();
    ten(&desk);
    change(&desk, "ALTER TABLE block ADD COLUMN extra TEXT; CREATE TABLE news (x TEXT); PRAGMA user_version = 2");
    assert!(
        RunReader::open(&desk.run()).and_then(|it| it.case(CaseIx::numbered(0))).is_ok(),
        "what is new does not disturb"
    );
    change(
        &desk,
        "UPDATE meta SET value = '2' WHERE key = 'min_reader'; UPDATE meta SET value = '3.1' WHERE key = 'version'",
    );
    assert_eq!(
        said(&desk),
        "`run.jurat` was written by jurat 3.1, in a format that this version cannot read; use that version or a later one"
    );
}

#[test]
fn an_encoding_of_a_later_version_is_not_guessed_at() {
    for (part, change_sql, byte) in [
        ("block.ids", "UPDATE block SET ids = CAST(x'7f' || substr(ids, 2) AS BLOB)", 127),
        ("block.places", "UPDATE block SET places = CAST(x'05' || substr(places, 2) AS BLOB)", 5),
        ("verdicts", "UPDATE verdicts SET codes = CAST(x'02' || substr(codes, 2) AS BLOB)", 2),
        ("verdicts", "UPDATE verdicts SET codes = x'0e'", 14),
        ("evidence", "UPDATE evidence SET body = CAST(x'09' || substr(body, 2) AS BLOB)", 9),
    ] {
        let desk = Desk::new();
        ten(&desk);
        change(&desk, change_sql);
        assert_eq!(
            said(&desk),
            format!(
                "`{part}` of `run.jurat` is written in a way that this version does not know ({byte}); use the version of jurat that wrote it"
            )
        );
    }
    let desk = Desk::new();
    ten(&desk);
    change(&desk, "UPDATE block SET ids = substr(ids, 1, 5)");
    assert_eq!(
        said(&desk),
        "`run.jurat` is damaged: `block.ids` says what cannot be; restore it from a copy, or run again"
    );
}

#[test]
fn a_run_does_not_overwrite_another_file() {
    let desk = Desk::new();
    let head = desk.head(&rows(1), 0, 1);
    fs::write(desk.run(), "mine").expect("a file");
    let error = RunWriter::create(&desk.run(), &head, WriterOptions::default()).expect_err("the file is there");
    assert_eq!(error.to_string(), format!("`{}` exists already; it is not overwritten", desk.run().display()));
    assert_eq!(fs::read_to_string(desk.run()).expect("a file"), "mine");
}

#[test]
fn a_run_needs_a_directory() {
    let desk = Desk::new();
    let head = desk.head(&rows(1), 0, 1);
    let path = desk.directory.path().join("nowhere").join("run.jurat");
    let error = RunWriter::create(&path, &head, WriterOptions::default()).expect_err("there is no directory");
    assert_eq!(error.to_string(), format!("there is no `{}`", desk.directory.path().join("nowhere").display()));
}

/// The text of each row, or what is wrong with it.
fn texts(desk: &Desk) -> Vec<String> {
    let reader = RunReader::open(&desk.run()).expect("a run");
    let cases = reader.cases(CaseIx::ALL).map(|it| it.expect("a case"));
    cases.map(|it| reader.row_text(&it).unwrap_or_else(|it| it.to_string())).collect()
}

/// The same, many rows at once.
fn scanned(desk: &Desk) -> Vec<String> {
    let reader = RunReader::open(&desk.run()).expect("a run");
    let mut found = Vec::new();
    let each: &mut jurat_store::run::EachRow<'_> = &mut |_, row| {
        found.push(row.map_or_else(|it| it.to_string(), |it| String::from_utf8_lossy(it).into_owned()));
        ControlFlow::Continue(())
    };
    reader.scan_rows(CaseIx::ALL, &|_| true, each).expect("a run");
    found
}

const CHANGED: &str = "`rows.jsonl` changed since this run; put back the file as it was, or run again";

#[test]
fn rows_are_read_from_where_they_are() {
    let desk = Desk::new();
    let expected = ten(&desk);
    assert_eq!(texts(&desk), expected);

    // A file that only looks different is read and compared.
    let file = OpenOptions::new().append(true).open(desk.rows()).expect("a file");
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(7)).expect("a time");
    assert_eq!(texts(&desk), expected);
    (&file).write_all(b"{\"id\": \"more\"}\n").expect("room");
    assert_eq!(texts(&desk), expected);

    // Of a file that changed, a row is believed that has the digest that the run recorded.
    let changed = fs::read_to_string(desk.rows()).expect("a file").replace("\"answer\": 28", "\"answer\": 29");
    fs::write(desk.rows(), changed).expect("a file");
    let stored = |ix: usize, other: &str| if ix.is_multiple_of(3) { expected[ix].clone() } else { other.to_owned() };
    let with_retained = |other: &str| -> Vec<String> { (0..10).map(|ix| stored(ix, other)).collect() };
    let mut without_one = expected.clone();
    CHANGED.clone_into(&mut without_one[4]);
    assert_eq!(texts(&desk), without_one);
    assert_eq!(scanned(&desk), without_one);
    // A run of an earlier version has one digest for all rows of a block.
    change(&desk, "ALTER TABLE block DROP COLUMN rows");
    assert_eq!(texts(&desk), with_retained(CHANGED));
    assert_eq!(scanned(&desk), with_retained(CHANGED));
    fs::write(desk.rows(), "{}\n").expect("a file");
    assert_eq!(texts(&desk), with_retained(CHANGED));
    fs::remove_file(desk.rows()).expect("it was there");
    let gone = "`rows.jsonl`, which holds rows of this run, cannot be read: No such file or directory (os error 2)";
    assert_eq!(texts(&desk), with_retained(gone));
}

#[test]
fn packing_takes_all_rows_or_none() {
    let desk = Desk::new();
    let expected = ten(&desk);
    let rows = fs::read_to_string(desk.rows()).expect("a file");
    fs::write(desk.rows(), rows.replace("\"answer\": 28", "\"answer\": 29")).expect("a file");
    assert_eq!(pack(&desk.run()).expect_err("the file changed").to_string(), CHANGED);
    let reader = RunReader::open(&desk.run()).expect("a run");
    assert!(!reader.state().expect("a state").self_contained);
    drop(reader);

    fs::write(desk.rows(), rows).expect("a file");
    let packed = pack(&desk.run()).expect("the rows are there");
    assert_eq!(
        (packed.rows, packed.bytes),
        (6, (0..10).filter(|it| it % 3 != 0).map(|it| expected[it].len() as u64).sum())
    );
    fs::remove_file(desk.rows()).expect("it was there");
    assert_eq!(texts(&desk), expected);
    assert_eq!(pack(&desk.run()).expect("there is nothing to do").rows, 0);
    assert_eq!(fs::read_dir(desk.directory.path()).expect("a directory").count(), 1, "a packed run is one file");
}

#[test]
fn a_run_in_progress_is_not_packed() {
    let desk = Desk::new();
    let texts = rows(10);
    let writer = RunWriter::create(&desk.run(), &desk.head(&texts, 1, 1), WriterOptions::default()).expect("a run");
    put(&writer, &texts);
    assert!(pack(&desk.run()).expect_err("it is being written").to_string().contains("another process"));
    drop(writer);
    assert!(matches!(pack(&desk.run()), Err(RunFileError::Unfinished { .. })));
}

#[test]
fn a_run_is_found_by_id_while_it_is_written() {
    let desk = Desk::new();
    let texts = rows(10);
    let writer = RunWriter::create(&desk.run(), &desk.head(&texts, 1, 1), WriterOptions::default()).expect("a run");
    put(&writer, &texts);
    writer.sync().expect("written");
    let reader = RunReader::open(&desk.run()).expect("a run");
    assert_eq!(reader.case_ix("r7", 0).expect("readable"), Some(CaseIx::numbered(7)));
    assert_eq!(reader.case_ix("r10", 0).expect("readable"), None);
    assert_eq!(reader.state().expect("a state").finish, None);
    assert!(reader.is_being_written());
    writer.finish(finished(Ended::Done)).expect("finished although a reader is there");
    assert_eq!(reader.case_ix("r7", 0).expect("readable"), Some(CaseIx::numbered(7)));
    assert_eq!(reader.state().expect("a state").finish, Some(finished(Ended::Done)));
    assert!(!reader.is_being_written());
}

/// Every row of many blocks is found, and the pages of the index are more than one.
#[test]
fn every_id_of_a_larger_run_is_found() {
    let desk = Desk::new();
    let text = "{}".to_owned();
    let head = desk.head(std::slice::from_ref(&text), 0, 1);
    let writer = RunWriter::create(&desk.run(), &head, WriterOptions::default()).expect("a run");
    let mut builder = BlockBuilder::new(0, VariantCount::of(1));
    let mut n_blocks = 0;
    for ix in 0..30_000 {
        let id = RowId::Given(format!("id {ix}").into());
        builder.case(
            CaseIx::numbered(ix),
            &id,
            CaseRow { place: place(std::slice::from_ref(&text), 0), text: &text, keep: false },
        );
        if builder.is_full() {
            writer.block(builder.close().expect("cases")).expect("room");
            n_blocks += 1;
        }
    }
    writer.block(builder.close().expect("cases")).expect("room");
    writer.finish(finished(Ended::Done)).expect("finished");
    assert_eq!(n_blocks, 30_000 / BlockBuilder::MOST_CASES);
    let reader = RunReader::open(&desk.run()).expect("a run");
    for ix in (0..30_000).step_by(97).chain([29_999]) {
        assert_eq!(reader.case_ix(&format!("id {ix}"), 0).expect("readable"), Some(CaseIx::numbered(ix)));
        assert_eq!(reader.case_ix(&format!("no {ix}"), 0).expect("readable"), None);
    }
    assert_eq!(reader.cases(CaseIx::ALL).map(|it| it.expect("a case").case_ix.number()).sum::<u64>(), 29_999 * 15_000);
}
