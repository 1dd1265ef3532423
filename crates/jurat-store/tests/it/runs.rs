//! Runs written and read back, as text.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jurat_core::plan::{CaseIx, VariantCount};
use jurat_core::verdict::StopReason;
use jurat_store::records::RowId;
use jurat_store::run::{
    BlockBuilder, ByteRange, CaseRow, Code, Column, Detail, Document, Ended, FinishError, FinishState, RowPlace,
    RunHead, RunReader, RunWriter, SourceFile, SourceHead, StoredCase, TaskHead, Variant, WriterOptions,
};

/// A directory with a file of rows and a run over it.
pub(crate) struct Desk {
    pub(crate) directory: tempfile::TempDir,
}

impl Desk {
    pub(crate) fn new() -> Desk {
        Desk { directory: tempfile::tempdir().expect("a directory") }
    }

    pub(crate) fn run(&self) -> PathBuf {
        self.directory.path().join("run.jurat")
    }

    pub(crate) fn rows(&self) -> PathBuf {
        self.directory.path().join("rows.jsonl")
    }

    /// Writes this many rows and returns the head of a run over them.
    pub(crate) fn head(&self, rows: &[String], n_tasks: usize, n_variants: u32) -> RunHead {
        std::fs::write(self.rows(), rows.iter().map(|it| format!("{it}\n")).collect::<String>()).expect("a file");
        let task = |ix| TaskHead {
            id: format!("task{ix}"),
            kind: "assert".to_owned(),
            stage: 1,
            path: Some("answer".to_owned()),
            ..TaskHead::default()
        };
        let variant = |replicate| Variant { subject: "subject".to_owned(), replicate, ..Variant::default() };
        RunHead {
            id: "run".to_owned(),
            suite: "suite".to_owned(),
            suite_hash: "abc".to_owned(),
            seed: u64::MAX,
            created_at_ms: 1_763_229_845_000,
            version: "0.1.0".to_owned(),
            resume_key: "key".to_owned(),
            documents: vec![Document { name: "suite.yaml".to_owned(), body: b"suite: suite\n".repeat(40) }],
            sources: vec![
                SourceHead {
                    name: "`rows.jsonl`".to_owned(),
                    file: Some(SourceFile::look(&self.rows()).expect("the file is there")),
                },
                SourceHead { name: "standard input".to_owned(), file: None },
            ],
            tasks: (0..n_tasks).map(task).collect(),
            variants: (0..n_variants).filter(|_| n_variants > 1).map(variant).collect(),
        }
    }
}

pub(crate) fn row(ix: u64) -> String {
    format!("{{\"id\": \"r{ix}\", \"answer\": {}}}", ix * 7)
}

pub(crate) fn rows(n: u64) -> Vec<String> {
    (0..n).map(row).collect()
}

/// Where the row is, when all rows up to it are in the file.
pub(crate) fn place(rows: &[String], ix: usize) -> RowPlace {
    let offset = rows[..ix].iter().map(|it| it.len() as u64 + 1).sum();
    RowPlace {
        source: 0,
        number: ix as u64 + 1,
        bytes: Some(ByteRange { offset, length: u32::try_from(rows[ix].len()).expect("a short row") }),
    }
}

pub(crate) fn finished(ended: Ended) -> FinishState {
    FinishState { ended, resumable: ended != Ended::Done, at_ms: 1_763_229_846_000, wall: Duration::from_millis(1500) }
}

/// Everything about a case, in a line.
pub(crate) fn shown(case: &StoredCase) -> String {
    let mut shown = format!("{} v{} {}", case.case_ix.number(), case.variant, case.id);
    for (ix, code) in (0..).zip(&case.codes) {
        let _ = write!(shown, " {}", code.name());
        if let Some(detail) = case.detail(Column(ix)) {
            let _ = write!(shown, "({})", serde_json::to_string(detail).expect("JSON"));
        }
    }
    for (column, score) in &case.scores {
        let _ = write!(shown, " score{}={score}", column.0);
    }
    for (column, label) in &case.labels {
        let _ = write!(shown, " label{}={label}", column.0);
    }
    if let Some(took) = case.took {
        let _ = write!(shown, " took={took:?}");
    }
    if let Some(stored) = &case.row.retained {
        let _ = write!(shown, " kept {stored}");
    }
    shown
}

pub(crate) fn all_shown(path: &Path) -> Vec<String> {
    let reader = RunReader::open(path).expect("a run");
    reader.cases(CaseIx::ALL).map(|it| shown(&it.expect("a case"))).collect()
}

#[test]
fn a_run_is_read_as_it_was_written() {
    let desk = Desk::new();
    let rows = rows(5);
    let head = desk.head(&rows, 2, 1);
    let writer = RunWriter::create(&desk.run(), &head, WriterOptions::default()).expect("a run");
    let mut builder = BlockBuilder::new(2, VariantCount::of(1));
    for (ix, text) in rows.iter().enumerate() {
        let id = RowId::Given(format!("r{ix}").into());
        builder.case(CaseIx::numbered(ix as u64), &id, CaseRow { place: place(&rows, ix), text, keep: ix % 2 == 1 });
        if ix % 2 == 1 {
            builder.verdict(Column::CASE, Code::Failed);
            builder.verdict(Column(2), Code::Failed);
            let detail = Detail { expected: Some("1".into()), found: Some("`2`\n".into()), ..Detail::default() };
            builder.detail(Column(2), &detail);
            builder.score(Column(1), 0.5);
            builder.label(Column(1), "good");
            builder.took(Duration::from_micros(7));
        }
        builder.slice(if ix < 3 { "low" } else { "high" });
    }
    assert!(!builder.is_full());
    writer.block(builder.close().expect("five cases")).expect("written");
    writer.event(5, "half way").expect("written");
    writer.finish(finished(Ended::Done)).expect("finished");

    let failed = "failed passed failed({\"expected\":\"1\",\"found\":\"`2`\\n\"}) score1=0.5 label1=good";
    let expected = [
        "0 v0 r0 passed passed passed took=0ns".to_owned(),
        format!("1 v0 r1 {failed} took=7µs kept {}", rows[1]),
        "2 v0 r2 passed passed passed took=0ns".to_owned(),
        format!("3 v0 r3 {failed} took=7µs kept {}", rows[3]),
        "4 v0 r4 passed passed passed took=0ns".to_owned(),
    ];
    assert_eq!(all_shown(&desk.run()), expected);

    let reader = RunReader::open(&desk.run()).expect("a run");
    assert_eq!(*reader.head(), head);
    let state = reader.state().expect("a state");
    assert_eq!((state.n_cases, state.finish, state.self_contained), (5, Some(finished(Ended::Done)), false));
    let find = |column, code| {
        reader.find(column, code).map(|it| it.map(CaseIx::number)).collect::<Result<Vec<u64>, _>>().expect("cases")
    };
    assert_eq!(find(Column(2), Code::Failed), [1, 3]);
    assert_eq!(find(Column(1), Code::Passed), [0, 1, 2, 3, 4]);
    assert_eq!(find(Column(1), Code::Failed), [0; 0]);
    for ix in 0..5 {
        let case = reader.case(CaseIx::numbered(ix)).expect("readable").expect("a case");
        assert_eq!(reader.row_text(&case).expect("the row"), rows[ix as usize]);
        assert_eq!(reader.case_ix(&case.id, 0).expect("readable"), Some(CaseIx::numbered(ix)));
    }
    assert_eq!(reader.case_ix("r5", 0).expect("readable"), None);
    assert_eq!(reader.case_ix("r1", 1).expect("readable"), None);
    assert_eq!(reader.case(CaseIx::numbered(5)).expect("readable"), None);
    let counts: Vec<String> = reader
        .summary()
        .expect("a summary")
        .iter()
        .map(|it| {
            format!(
                "{} {:?}: {} passed, {} failed",
                it.column.0,
                it.slice,
                it.count(Code::Passed),
                it.count(Code::Failed)
            )
        })
        .collect();
    assert_eq!(
        counts,
        [
            "0 \"\": 3 passed, 2 failed",
            "1 \"\": 5 passed, 0 failed",
            "2 \"\": 3 passed, 2 failed",
            "0 \"high\": 1 passed, 1 failed",
            "1 \"high\": 2 passed, 0 failed",
            "2 \"high\": 1 passed, 1 failed",
            "0 \"low\": 2 passed, 1 failed",
            "1 \"low\": 3 passed, 0 failed",
            "2 \"low\": 2 passed, 1 failed",
        ]
    );
    assert_eq!(reader.events().expect("events")[0].body, "half way");
    drop(reader);
    let files = std::fs::read_dir(desk.directory.path()).expect("a directory");
    let mut files: Vec<String> = files.map(|it| it.expect("a file").file_name().into_string().expect("text")).collect();
    files.sort();
    assert_eq!(files, ["rows.jsonl", "run.jurat"], "a finished run is one file");
}

/// What came of a conversation stands in place of its row, and differs between the subjects of one scenario.
#[test]
fn cases_of_one_place_keep_what_is_different() {
    let desk = Desk::new();
    let head = desk.head(&[], 0, 4);
    let writer = RunWriter::create(&desk.run(), &head, WriterOptions::default()).expect("a run");
    let mut builder = BlockBuilder::new(0, VariantCount::of(4));
    let place = RowPlace { source: 1, number: 1, bytes: None };
    let texts = ["{\"n\": 1}", "{\"n\": 2}", "{\"n\": 2}", "{\"n\": 1}"];
    for (ix, text) in (0..).zip(texts) {
        builder.case(CaseIx::numbered(ix), &RowId::Given("r".into()), CaseRow { place, text, keep: true });
    }
    writer.block(builder.close().expect("cases")).expect("written");
    writer.finish(finished(Ended::Done)).expect("finished");
    let reader = RunReader::open(&desk.run()).expect("a run");
    let text =
        |ix| reader.row_text(&reader.case(CaseIx::numbered(ix)).expect("readable").expect("a case")).expect("the row");
    assert_eq!([0, 1, 2, 3].map(text), texts);
}

#[test]
fn two_rows_with_one_id_are_named() {
    let desk = Desk::new();
    let rows: Vec<String> = [1, 2, 1, 2].map(row).to_vec();
    let head = desk.head(&rows, 0, 3);
    let writer = RunWriter::create(&desk.run(), &head, WriterOptions::default()).expect("a run");
    let mut builder = BlockBuilder::new(0, VariantCount::of(3));
    for (ix, text) in rows.iter().enumerate() {
        for variant in 0..3 {
            let id = RowId::Given(format!("r{}", ix % 2).into());
            builder.case(
                CaseIx::numbered(ix as u64 * 3 + variant),
                &id,
                CaseRow { place: place(&rows, ix), text, keep: false },
            );
        }
    }
    writer.block(builder.close().expect("cases")).expect("written");
    let error = writer.finish(finished(Ended::Stopped(StopReason::Interrupted))).expect_err("duplicates");
    assert_eq!(
        error.to_string(),
        "row 1 of `rows.jsonl` and row 3 of `rows.jsonl` have the same id, `r0`; give each row its own, or leave ids out \
         (one more row has the id of another)"
    );
    assert!(matches!(error, FinishError::DuplicateIds(it) if it.examples.len() == 2));
    let state = RunReader::open(&desk.run()).and_then(|it| it.state()).expect("a state");
    let finish = state.finish.expect("it ended");
    assert_eq!((finish.ended, finish.resumable), (Ended::DuplicateIds, false));
}
