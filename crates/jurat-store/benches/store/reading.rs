//! Questions to a run of a million records and to a journal of a million answers.

use std::hint::black_box;
use std::path::{Path, PathBuf};

use jurat_store::run::{Code, Column, RunReader};

use super::Work;
use super::writing::{Mix, Names, write};

/// How many records the run has.
const RECORDS: u64 = 1_000_000;

/// What there is to ask.
pub(super) struct Stock {
    run: PathBuf,
}

impl Stock {
    pub(super) fn new(directory: &Path) -> Stock {
        let run = directory.join("stock.jurat");
        write(&run, RECORDS, Mix::TenthOfRecords, Names::Given);
        Stock { run }
    }
}

pub(super) fn works(stock: &Stock) -> Vec<Work<'_>> {
    let reader = || RunReader::open(&stock.run).expect("a run");
    let work = |name, n, run: Box<dyn Fn(u64)>| Work { group: "reading", name, n, run };
    vec![
        work("open_and_summary", 20, {
            Box::new(move |n| (0..n).for_each(|_| drop(black_box(reader().summary().expect("a summary")))))
        }),
        work("one_case_by_id", 20, {
            Box::new(move |n| {
                for ix in 0..n {
                    let reader = reader();
                    let id = format!("record-{:08}", ix * 7919 % RECORDS);
                    let case_ix = reader.case_ix(&id, 0).expect("readable").expect("a case");
                    drop(black_box(reader.case(case_ix).expect("readable")));
                }
            })
        }),
        work("find_failed", 5, {
            Box::new(move |n| {
                (0..n).for_each(|_| assert!(black_box(reader().find(Column(3), Code::Failed).count()) > 9000))
            })
        }),
        work("every_case", 1, {
            Box::new(move |n| (0..n).for_each(|_| assert_eq!(reader().cases(0..RECORDS).count() as u64, RECORDS)))
        }),
    ]
}
