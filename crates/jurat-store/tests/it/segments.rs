//! The journal of a shard: whatever is cut off or damaged, what was whole before it is read, and nothing else.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use jurat_store::journal::{Added, AnswerStore, Journal, PaidAnswer, SegmentReader, Segments, segment_files};
use jurat_store::run::{Ended, RecordedEffect, RunWriter, WriterOptions};
use proptest::prelude::*;

use crate::effects::{effect, key, record};
use crate::runs::{Desk, finished, rows};

const SHARD: &str = "plan:3";

fn directory(desk: &Desk) -> PathBuf {
    desk.directory.path().join("journal/00003")
}

fn open(desk: &Desk) -> Segments {
    Segments::open(&directory(desk), SHARD).expect("segments")
}

/// Writes answers as an attempt at the shard does, each in a write of its own.
fn attempt(desk: &Desk, run: &str, answers: &[(&str, u64, String)]) {
    let segments = open(desk);
    let options = WriterOptions { journal: Some(AnswerStore::Segments(&segments)), durable: false };
    let path = desk.directory.path().join(run);
    let writer = RunWriter::create(&path, &desk.head(&rows(1), 1, 1), options).expect("a run");
    for (slot, (request, at_ms, outcome)) in answers.iter().enumerate() {
        let answer = RecordedEffect { at_ms: *at_ms, ..effect(0, &format!("{slot}.0.0"), request, outcome) };
        record(&writer, vec![answer]).expect("safe");
        assert_eq!(found(&segments, request).as_ref(), Some(outcome), "this attempt finds what it wrote");
    }
    writer.finish(finished(Ended::Done)).expect("finished");
}

fn found(segments: &Segments, request: &str) -> Option<String> {
    segments.get(&key(request)).expect("readable").map(|it| it.answer.outcome)
}

/// All answers of a segment.
fn read(path: &Path) -> Vec<PaidAnswer> {
    let reader = SegmentReader::open(path).expect("a file");
    reader.into_iter().flatten().map(|it| it.expect("readable")).collect()
}

/// Some answers, short ones and such that are compressed.
fn answers(n: usize) -> Vec<(String, u64, String)> {
    let outcome = |ix: usize| if ix.is_multiple_of(3) { "word ".repeat(200) } else { format!("outcome {ix}") };
    (0..n).map(|ix| (format!("request {ix}"), 100 + ix as u64, outcome(ix))).collect()
}

fn borrowed(answers: &[(String, u64, String)]) -> Vec<(&str, u64, String)> {
    answers.iter().map(|(request, at_ms, outcome)| (request.as_str(), *at_ms, outcome.clone())).collect()
}

/// A segment with some answers, and its bytes.
fn segment(n: usize) -> (Desk, PathBuf, Vec<u8>) {
    let desk = Desk::new();
    attempt(&desk, "one.jurat", &borrowed(&answers(n)));
    let [path] = segment_files(&directory(&desk)).expect("a directory").try_into().expect("one segment");
    let bytes = fs::read(&path).expect("its bytes");
    (desk, path, bytes)
}

#[test]
fn a_segment_that_is_cut_at_any_byte_has_the_answers_before_the_cut() {
    let (desk, path, bytes) = segment(4);
    let whole = read(&path);
    assert_eq!(whole.len(), 4);
    let mut n_before = 0;
    for length in 0..=bytes.len() {
        fs::write(&path, &bytes[..length]).expect("it can be written");
        let left = read(&path);
        assert!(left == whole[..left.len()], "cut at {length}");
        assert!(left.len() >= n_before, "more bytes have no fewer answers");
        n_before = left.len();
        let segments = open(&desk);
        let n_found = (0..4).filter(|ix| found(&segments, &format!("request {ix}")).is_some()).count();
        assert_eq!(n_found, left.len(), "cut at {length}");
    }
    assert_eq!(n_before, 4);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A byte that changed ends the reading there: what is read was written.
    #[test]
    fn a_changed_byte_gives_no_other_answer(at in 0.0..1.0_f64, bits in 1_u8..=255) {
        let (desk, path, mut bytes) = segment(4);
        let whole = read(&path);
        let at = ((bytes.len() as f64 * at) as usize).min(bytes.len() - 1);
        bytes[at] ^= bits;
        fs::write(&path, &bytes).expect("it can be written");
        let left = read(&path);
        prop_assert!(left.len() < 4 && left == whole[..left.len()], "byte {} of {}", at, bytes.len());
        // The next attempt writes beside it, and reads both.
        attempt(&desk, "two.jurat", &[("request 0", 900, "again".to_owned())]);
        prop_assert_eq!(found(&open(&desk), "request 0"), Some("again".to_owned()));
    }
}

#[test]
fn writers_at_the_same_time_have_files_of_their_own() {
    let desk = Desk::new();
    let all: Vec<Vec<(String, u64, String)>> = (0..4)
        .map(|writer| (0..20).map(|ix| (format!("{writer} asks {ix}"), 5, format!("{writer} {ix}"))).collect())
        .collect();
    thread::scope(|scope| {
        for (ix, answers) in all.iter().enumerate() {
            let desk = &desk;
            scope.spawn(move || attempt(desk, &format!("{ix}.jurat"), &borrowed(answers)));
        }
    });
    assert_eq!(segment_files(&directory(&desk)).expect("a directory").len(), 4);
    let segments = open(&desk);
    for (request, _, outcome) in all.iter().flatten() {
        assert_eq!(found(&segments, request).as_ref(), Some(outcome));
    }
}

#[test]
fn an_answer_of_an_earlier_attempt_is_counted_once() {
    let desk = Desk::new();
    attempt(&desk, "one.jurat", &[("a", 1, "A".to_owned()), ("b", 1, "B".to_owned()), ("a", 2, "newer".to_owned())]);
    let segments = open(&desk);
    let uses = |request: &str| segments.get(&key(request)).expect("readable").expect("it is there");
    assert_eq!((uses("a").is_first_use, uses("a").is_first_use), (true, false));
    assert_eq!(uses("a").answer.outcome, "newer");
    segments.note_use(&key("b"));
    assert!(!uses("b").is_first_use, "the file of the run has counted it");
    let other = Segments::open(&directory(&desk), "plan:4").expect("segments");
    assert_eq!(found(&other, "a"), None, "it is of another shard");
    assert_eq!(found(&Segments::open(Path::new("nowhere"), SHARD).expect("none"), "a"), None);
}

#[test]
fn segments_are_added_to_a_journal_in_any_order_and_any_number_of_times() {
    let desk = Desk::new();
    attempt(&desk, "one.jurat", &borrowed(&answers(700)));
    attempt(&desk, "two.jurat", &[("request 0", 100, "another".to_owned()), ("own", 7, "own".to_owned())]);
    let files = segment_files(&directory(&desk)).expect("a directory");
    let journal = |name: &str| Journal::open(&desk.directory.path().join(name)).expect("a journal");
    let added = |new, known, segments| Added { new, known, segments, damaged: 0 };
    let (one, other) = (journal("one.db"), journal("other.db"));
    assert_eq!(one.add_segments(&files).expect("added"), added(702, 0, 2));
    assert_eq!(one.add_segments(&files).expect("added"), added(0, 702, 2));
    for file in files.iter().rev().chain(&files) {
        other.add_segments(std::slice::from_ref(file)).expect("added");
    }
    for (request, ..) in answers(700).iter().skip(1) {
        let get = |journal: &Journal| journal.get(&key(request), None).expect("readable");
        assert!(get(&one).is_some() && get(&one) == get(&other), "{request}");
    }
    let count = |journal: &Journal| journal.report().expect("a report").answers();
    assert_eq!((count(&one), count(&other)), (702, 702));
    // One that is damaged is read up to the damage.
    let bytes = fs::read(&files[0]).expect("its bytes");
    fs::write(&files[0], &bytes[..bytes.len() - 1]).expect("it can be written");
    fs::write(&files[1], b"jurs").expect("it can be written");
    let left = journal("left.db").add_segments(&files).expect("added");
    assert_eq!((left.segments, left.damaged), (2, 2));
    assert!(left.new == 699 || left.new == 1, "{left:?}");
}
