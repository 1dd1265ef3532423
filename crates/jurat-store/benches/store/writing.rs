//! Records on their way into a run file: ten tasks each, 1.1 KB, from a file of JSON lines.

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use jurat_core::plan::{CaseIx, VariantCount};
use jurat_store::records::RowId;
use jurat_store::run::{
    BlockBuilder, ByteRange, CaseRow, Code, Column, Detail, Ended, FinishState, RowPlace, RunHead, RunWriter,
    SourceHead, TaskHead, WriterOptions,
};

use super::Work;

/// How many tasks a record has.
const TASKS: u32 = 10;

/// How a record ends.
#[derive(Clone, Copy)]
pub(super) enum Mix {
    /// Everything passes.
    Passing,
    /// One record in ten fails in one task.
    TenthOfRecords,
    /// One verdict in ten fails, and so two records in three.
    TenthOfVerdicts,
}

/// How records are known.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Names {
    /// By an id that they hold.
    Given,
    /// By their content.
    Content,
}

pub(super) fn works(directory: &Path) -> Vec<Work<'_>> {
    let built = |name, mix, names| Work {
        group: "building",
        name,
        n: 200_000,
        run: Box::new(move |n| {
            fill(n, mix, names, &mut |block| {
                black_box(block);
            });
        }),
    };
    let written = |name, mix, names| Work {
        group: "writing",
        name,
        n: 200_000,
        run: Box::new(move |n| {
            let path = directory.join("bench.jurat");
            write(&path, n, mix, names);
            std::fs::remove_file(path).expect("the run is there");
        }),
    };
    vec![
        built("build_passing", Mix::Passing, Names::Given),
        written("write_passing", Mix::Passing, Names::Given),
        written("write_passing_by_content", Mix::Passing, Names::Content),
        written("write_tenth_of_records_failing", Mix::TenthOfRecords, Names::Given),
        written("write_tenth_of_verdicts_failing", Mix::TenthOfVerdicts, Names::Given),
    ]
}

/// Writes a run of so many records.
pub(super) fn write(path: &Path, n: u64, mix: Mix, names: Names) {
    let task = |ix| TaskHead { id: format!("task{ix}"), kind: "assert".to_owned(), stage: 1, ..TaskHead::default() };
    let head = RunHead {
        id: "bench".to_owned(),
        sources: vec![SourceHead { name: "`records.jsonl`".to_owned(), file: None }],
        tasks: (0..TASKS).map(task).collect(),
        ..RunHead::default()
    };
    let writer = RunWriter::create(path, &head, WriterOptions::default()).expect("a run");
    fill(n, mix, names, &mut |block| writer.block(block).expect("room"));
    let state = FinishState { ended: Ended::Done, resumable: false, at_ms: 0, wall: Duration::ZERO };
    writer.finish(state).expect("finished");
}

/// Makes blocks of so many records.
fn fill(n: u64, mix: Mix, names: Names, each: &mut dyn FnMut(jurat_store::run::Block)) {
    // Rows that differ, so that compressing them is work; made once, so that making them is none.
    let rows: Vec<String> = (0..512).map(record).collect();
    let mut builder = BlockBuilder::new(TASKS as usize, VariantCount::of(1));
    let mut offset = 0;
    let mut id = String::new();
    for ix in 0..n {
        let text = &rows[(ix % 512) as usize];
        let length = u32::try_from(text.len()).expect("a short row");
        let place = RowPlace { source: 0, number: ix + 1, bytes: Some(ByteRange { offset, length }) };
        offset += u64::from(length) + 1;
        let failing = failing(ix, mix);
        let row = CaseRow { place, text, keep: failing != 0 };
        match names {
            Names::Given => {
                use std::fmt::Write;
                id.clear();
                write!(id, "record-{ix:08}").expect("memory takes all bytes");
                builder.case(CaseIx::numbered(ix), &RowId::Given(id.as_str().into()), row);
            }
            // A hash of the place: hashing the row is paid when it is read.
            Names::Content => builder.case(
                CaseIx::numbered(ix),
                &RowId::Content(u128::from(ix).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)),
                row,
            ),
        }
        if failing != 0 {
            builder.verdict(Column::CASE, Code::Failed);
            for task in (1..=TASKS).filter(|it| failing >> it & 1 == 1) {
                builder.verdict(Column(task), Code::Failed);
                let detail = Detail {
                    expected: Some("text with `refund within 14 days`".into()),
                    found: Some(format!("`we are sorry, order {ix} cannot be returned any more`").into()),
                    ..Detail::default()
                };
                builder.detail(Column(task), &detail);
            }
        }
        if builder.is_full() {
            builder.close().into_iter().for_each(&mut *each);
        }
    }
    builder.close().into_iter().for_each(each);
}

/// The tasks that fail, a bit for each.
fn failing(ix: u64, mix: Mix) -> u64 {
    let scattered = ix.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    match mix {
        Mix::Passing => 0,
        Mix::TenthOfRecords if ix.is_multiple_of(10) => 1 << (1 + scattered % u64::from(TASKS)),
        Mix::TenthOfRecords => 0,
        Mix::TenthOfVerdicts => (1..=u64::from(TASKS))
            .filter(|task| (scattered >> task).is_multiple_of(10))
            .fold(0, |bits, task| bits | 1 << task),
    }
}

/// A record of 1.1 KB with numbers and words of its own.
fn record(ix: u64) -> String {
    let mut text = format!(
        "{{\"record_id\": \"record-{ix:08}\", \"answer\": {{\"ticket\": \"ABC-{ix}\", \"score\": {}}}, \"transcript\": [",
        ix * 7919 % 1000
    );
    let words =
        ["order", "refund", "delivery", "invoice", "broken", "kettle", "warranty", "return", "please", "thanks"];
    let mut state = ix.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    while text.len() < 1_080 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.push_str(words[(state >> 40) as usize % words.len()]);
        text.push(' ');
    }
    text.insert(text.len(), '"');
    text.replace("[", "[\"") + "]}"
}
