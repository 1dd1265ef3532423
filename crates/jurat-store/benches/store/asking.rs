//! Effects on their way into a run file and a journal, and answers found again.

use std::hint::black_box;
use std::path::Path;
use std::sync::mpsc::channel;

use jurat_core::effect::{Asker, EffectKey, StepSite};
use jurat_core::plan::{CaseIx, TaskIx};
use jurat_store::journal::Journal;
use jurat_store::run::{RecordedEffect, RunHead, RunWriter, WriteError, WriterOptions};

use super::Work;
use super::reading::Stock;

/// How many answers the journal has that is asked.
pub(super) const ANSWERS: u64 = 200_000;
/// How many cases wait for their effects at a time.
const CONCURRENCY: u64 = 100;

pub(super) fn works(stock: &Stock) -> Vec<Work<'_>> {
    let write = move |n| {
        let (run, journal) = (stock.directory().join("asking.jurat"), stock.directory().join("asking.db"));
        record(&run, &journal, n, CONCURRENCY);
        std::fs::remove_file(run).expect("the run is there");
        std::fs::remove_file(journal).expect("the journal is there");
    };
    let find = move |n| {
        let journal = stock.journal();
        (0..n).for_each(|ix| {
            assert!(black_box(journal.get(&key(ix * 7919 % ANSWERS), None)).is_ok_and(|it| it.is_some()));
        });
    };
    let open = move |n| (0..n).for_each(|_| drop(black_box(stock.journal())));
    vec![
        Work { group: "asking", name: "write_effect", n: 20_000, run: Box::new(write) },
        Work { group: "asking", name: "find_in_journal", n: 20_000, run: Box::new(find) },
        Work { group: "asking", name: "open_journal", n: 50, run: Box::new(open) },
    ]
}

/// Writes so many effects, as many at a time as there are cases in flight, into a run and a journal.
pub(super) fn record(run: &Path, journal: &Path, n: u64, concurrency: u64) {
    let journal = Journal::open(journal).expect("a journal");
    let options = WriterOptions { journal: Some((&journal).into()), durable: false };
    let writer = RunWriter::create(run, &RunHead::default(), options).expect("a run");
    let (done, is_done) = channel::<Result<(), WriteError>>();
    for ix in 0..n {
        if ix >= concurrency {
            is_done.recv().expect("told").expect("safe");
        }
        let done = done.clone();
        writer.effects(vec![effect(ix)], Box::new(move |result| drop(done.send(result))));
    }
    (0..n.min(concurrency)).for_each(|_| is_done.recv().expect("told").expect("safe"));
}

fn key(ix: u64) -> EffectKey {
    EffectKey(*blake3::hash(&ix.to_le_bytes()).as_bytes())
}

/// A judge's request of 1.5 KB and its answer of 0.5 KB.
fn effect(ix: u64) -> RecordedEffect {
    let words = "Is the answer polite? The customer asked for a refund. ".repeat(27);
    RecordedEffect {
        case_ix: CaseIx::numbered(ix),
        site: StepSite { asker: Asker::Task(TaskIx(0)), slot: 0, turn: 0 },
        attempt: 0,
        key: key(ix),
        kind: "model".to_owned(),
        model: "judge".to_owned(),
        served: Some("judge-2026".to_owned()),
        at_ms: ix,
        request: format!("{{\"messages\":[{{\"role\":\"user\",\"text\":\"{ix} {words}\"}}]}}"),
        outcome: format!("{{\"answer\":{{\"text\":\"{ix} {}\"}}}}", &words[..450]),
        reused: false,
        journal: true,
        media: Vec::new(),
    }
}
