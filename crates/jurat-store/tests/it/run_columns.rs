//! A run as columns over its cases, for comparisons.

use std::collections::BTreeMap;

use jurat_core::plan::{CaseIx, VariantCount};
use jurat_store::records::RowId;
use jurat_store::run::{
    BlockBuilder, CaseRow, CaseTaken, Code, Column, Digests, Ended, RunReader, RunWriter, WriterOptions, digest, key_of,
};

use crate::runs::{Desk, finished, place, rows};

/// A run of five rows in two blocks that overlap: cases 0, 2 and 4, then 1 and 3.
fn written(desk: &Desk, is_finished: bool) -> Vec<String> {
    let texts = rows(5);
    let writer = RunWriter::create(&desk.run(), &desk.head(&texts, 1, 1), WriterOptions::default()).expect("a run");
    write_blocks(&writer, &texts);
    if is_finished {
        writer.finish(finished(Ended::Done)).expect("finished");
    }
    texts
}

fn write_blocks(writer: &RunWriter, texts: &[String]) {
    let mut builder = BlockBuilder::new(1, VariantCount::of(1));
    for part in [vec![4, 0, 2], vec![1, 3]] {
        for ix in part {
            let id = RowId::Given(format!("r{ix}").into());
            let row = CaseRow { place: place(texts, ix), text: &texts[ix], keep: ix == 2 };
            builder.case(CaseIx::numbered(ix as u64), &id, row);
            builder.question(ix as u128 + 1);
            builder.group("language", (ix % 2 == 0).then_some("de"));
            if ix == 3 {
                builder.verdict(Column(1), Code::Failed);
                builder.score(Column(1), 0.25);
            }
            if ix == 0 || ix == 2 {
                builder.taken(took(ix as u64));
            }
        }
        writer.block(builder.close().expect("cases")).expect("written");
    }
}

/// What the answers of a case took.
fn took(ix: u64) -> CaseTaken {
    CaseTaken { answers: ix + 1, requests: ix + 2, input: 100 * ix, output: 7, nano_usd: 1_000, ..CaseTaken::default() }
}

fn keys(reader: &RunReader) -> BTreeMap<u128, u64> {
    let keys: Vec<_> = reader.row_keys().expect("keys").collect::<Result<_, _>>().expect("readable");
    assert!(keys.is_sorted());
    keys.into_iter().map(|it| (it.hash, it.row)).collect()
}

#[test]
fn columns_are_in_the_order_of_cases_whatever_block_holds_them() {
    let desk = Desk::new();
    let texts = written(&desk, true);
    let reader = RunReader::open(&desk.run()).expect("a run");
    let codes = reader.codes(Column(1)).expect("codes");
    let passed = Some(Code::Passed);
    assert_eq!(codes, [passed, passed, passed, Some(Code::Failed), passed]);
    assert_eq!(reader.codes(Column::CASE).expect("codes"), [passed; 5]);
    assert_eq!(reader.scores(Column(1)).expect("scores"), [None, None, None, Some(0.25), None]);
    assert_eq!(reader.labels(Column(1)).expect("labels"), [None; 0]);
    let de = Some("de".to_owned());
    assert_eq!(reader.groups("language").expect("groups"), Some(vec![de.clone(), None, de.clone(), None, de]));
    assert_eq!(reader.groups("else").expect("groups"), None);
    let expected: Vec<u128> = texts.iter().map(|it| digest(it.as_bytes())).collect();
    assert_eq!(reader.digests(Digests::Rows).expect("digests"), Some(expected));
    assert_eq!(reader.digests(Digests::Questions).expect("digests"), Some(vec![1, 2, 3, 4, 5]));
    let none = CaseTaken::default();
    assert_eq!(reader.taken().expect("what answers took"), Some(vec![took(0), none, took(2), none, none]));
}

#[test]
fn a_run_says_how_far_it_has_come_until_it_has_ended() {
    let desk = Desk::new();
    let texts = rows(5);
    let writer = RunWriter::create(&desk.run(), &desk.head(&texts, 1, 1), WriterOptions::default()).expect("a run");
    writer.expected_cases(5).expect("written");
    writer.progress(r#"{"done":3}"#.to_owned()).expect("written");
    writer.sync().expect("committed");
    let reader = RunReader::open(&desk.run()).expect("a run");
    let version = reader.data_version().expect("a number");
    assert_eq!(reader.progress().expect("progress"), Some(r#"{"done":3}"#.to_owned()));
    write_blocks(&writer, &texts);
    writer.finish(finished(Ended::Done)).expect("finished");
    assert_ne!(reader.data_version().expect("a number"), version);
    assert_eq!(reader.progress().expect("progress"), None);
    assert_eq!(reader.expected_cases().expect("a number"), Some(5));
}

#[test]
fn the_most_frequent_labels_are_named_and_ties_go_by_name() {
    let desk = Desk::new();
    let labels = ["b", "a", "z", "z", "c", "a", "z", "d", "e", "y"];
    let texts = rows(labels.len() as u64);
    let writer = RunWriter::create(&desk.run(), &desk.head(&texts, 1, 1), WriterOptions::default()).expect("a run");
    let mut builder = BlockBuilder::new(1, VariantCount::of(1));
    for (ix, label) in labels.iter().enumerate() {
        let row = CaseRow { place: place(&texts, ix), text: &texts[ix], keep: false };
        builder.case(CaseIx::numbered(ix as u64), &RowId::Given(format!("r{ix}").into()), row);
        builder.label(Column(1), label);
        if ix % 4 == 3 {
            writer.block(builder.close().expect("cases")).expect("written");
        }
    }
    writer.block(builder.close().expect("cases")).expect("written");
    writer.finish(finished(Ended::Done)).expect("finished");
    let reader = RunReader::open(&desk.run()).expect("a run");
    let counted = |most| {
        let (labels, n_others) = reader.label_counts(Column(1), most).expect("labels");
        let labels: Vec<String> = labels.iter().map(|(label, n)| format!("{label} {n}")).collect();
        (labels.join(", "), n_others)
    };
    assert_eq!(counted(1), ("z 3".to_owned(), 7));
    assert_eq!(counted(3), ("a 2, b 1, z 3".to_owned(), 4));
    assert_eq!(counted(4), ("a 2, b 1, c 1, z 3".to_owned(), 3));
    assert_eq!(counted(100).1, 0);
    assert_eq!(reader.label_counts(Column::CASE, 5).expect("no labels"), (BTreeMap::new(), 0));
}

#[test]
fn a_run_has_the_same_keys_before_and_after_its_index() {
    let (done, killed) = (Desk::new(), Desk::new());
    written(&done, true);
    written(&killed, false);
    let expected: BTreeMap<u128, u64> = (0..5).map(|it| (key_of(&format!("r{it}")), it)).collect();
    for desk in [done, killed] {
        assert_eq!(keys(&RunReader::open(&desk.run()).expect("a run")), expected);
    }
}

/// Takes away what run files got later.
fn make_old(desk: &Desk) {
    let connection = rusqlite::Connection::open(desk.run()).expect("a database");
    let later = "ALTER TABLE block DROP COLUMN rows; ALTER TABLE block DROP COLUMN questions; DROP TABLE grouping;
         DROP TABLE taken; DROP INDEX block_range; CREATE INDEX block_range ON block (first, last)";
    connection.execute_batch(later).expect("an earlier version does not have them");
}

#[test]
fn a_run_that_an_earlier_version_began_gains_the_columns_when_it_is_resumed() {
    let desk = Desk::new();
    let texts = written(&desk, false);
    make_old(&desk);
    let writer = RunWriter::resume(&desk.run(), WriterOptions::default()).expect("it was killed");
    write_blocks(&writer, &texts);
    writer.finish(finished(Ended::Done)).expect("finished");
    let reader = RunReader::open(&desk.run()).expect("a run");
    let expected: Vec<u128> = texts.iter().map(|it| digest(it.as_bytes())).collect();
    assert_eq!(reader.digests(Digests::Rows).expect("digests"), Some(expected));
    assert_eq!(reader.digests(Digests::Questions).expect("digests"), Some(vec![1, 2, 3, 4, 5]));
    let de = Some("de".to_owned());
    assert_eq!(reader.groups("language").expect("groups"), Some(vec![de.clone(), None, de.clone(), None, de]));
    assert_eq!(reader.taken().expect("what answers took").map(|it| it[2]), Some(took(2)));
}

#[test]
fn a_run_of_an_earlier_version_has_no_digests() {
    let desk = Desk::new();
    written(&desk, true);
    make_old(&desk);
    let reader = RunReader::open(&desk.run()).expect("a run");
    assert_eq!(reader.digests(Digests::Rows).expect("no digests"), None);
    assert_eq!(reader.groups("language").expect("no groups"), None);
    assert_eq!(reader.taken().expect("not recorded"), None);
    assert_eq!(reader.codes(Column(1)).expect("codes").len(), 5);
}
