//! Rows that ask nothing, judged by several threads.

use super::*;

/// More rows than one thread takes at once; each has its number as its id, and every third fails.
fn rows(n: usize) -> String {
    let padding = "-".repeat(300);
    (0..n).map(|ix| format!("{{\"id\": {ix}, \"said\": \"{}\", \"padding\": \"{padding}\"}}\n", ix % 3)).collect()
}

fn bench(rows: &str, directory: &Path) -> Bench {
    let path = directory.join("rows.jsonl");
    std::fs::write(&path, rows).expect("it is writable");
    Bench::of(&format!(
        "
records: {}
tasks:
  - {{ id: first, field_path: said, operator: not_equal, expected_value: '0' }}
  - {{ id: second, field_path: said, operator: exists }}
",
        path.display()
    ))
}

fn ran(bench: &Bench, threads: usize, stop: &Stop) -> Result<Ran, RunError> {
    let threads = NonZeroUsize::new(threads).expect("a thread");
    let (perform, head) = (Scripted::new(&|_| {}), bench.head());
    bench.try_run_on(threads, (asking(&perform), Target::New(&bench.path(), &head)), stop, None)
}

#[test]
fn results_are_stored_in_the_order_of_rows() {
    const N: usize = 9_000;
    let directory = TempDir::new().expect("a directory");
    let stored = |threads: usize| {
        let bench = bench(&rows(N), directory.path());
        let ran = ran(&bench, threads, &Stop::new()).expect("a run");
        let reader = RunReader::open(&ran.path).expect("the run can be read");
        let mut cases = Vec::new();
        // In the order in which the file has them.
        reader
            .each_block(&[Column::CASE], &mut |block| {
                cases.extend(block.cases().map(|(case, codes)| (case.number(), codes.collect::<Vec<_>>())));
            })
            .expect("blocks");
        assert!(cases.iter().map(|it| it.0).eq(0..N as u64), "with {threads} threads");
        (cases, format!("{:?}", reader.summary().expect("a summary")), verdicts(&ran.path))
    };
    let alone = stored(1);
    assert_eq!(alone.2[..2], ["0: Failed Failed Passed", "1: Passed Passed Passed"]);
    for threads in [2, 5] {
        assert!(stored(threads) == alone, "with {threads} threads");
    }
}

#[test]
fn the_first_row_that_cannot_be_read_is_reported() {
    let lines = rows(9_000);
    let mut lines: Vec<&str> = lines.lines().collect();
    // The first of them stands at the end of what one thread takes, the second at the beginning of what the next takes.
    (lines[3_000], lines[3_200], lines[8_999]) = ("{]", "{,", "[");
    let directory = TempDir::new().expect("a directory");
    for threads in [1, 2, 5, 2, 2] {
        let bench = bench(&lines.join("\n"), directory.path());
        let error = ran(&bench, threads, &Stop::new()).expect_err("a row is not JSON").to_string();
        assert!(error.contains("row 3001 of"), "with {threads} threads: {error}");
    }
}

#[test]
fn a_run_that_is_interrupted_before_it_begins_has_no_case() {
    let directory = TempDir::new().expect("a directory");
    let bench = bench(&rows(9_000), directory.path());
    let stop = Stop::new();
    stop.interrupt();
    let ran = ran(&bench, 4, &stop).expect("a run");
    assert_eq!((ran.stopped, verdicts(&ran.path)), (Some(StopReason::Interrupted), vec![]));
}
