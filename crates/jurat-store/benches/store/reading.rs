//! Questions to a run of a million records and to a journal of some hundred thousand answers.

use std::cell::OnceCell;
use std::hint::black_box;
use std::path::{Path, PathBuf};

use jurat_core::plan::CaseIx;
use jurat_store::journal::Journal;
use jurat_store::run::{Code, Column, RunReader};

use super::writing::{Mix, Names, write};
use super::{Work, asking};

/// How many records the run has.
const RECORDS: u64 = 1_000_000;

/// What there is to ask, made when it is first asked.
pub(super) struct Stock {
    directory: PathBuf,
    run: OnceCell<PathBuf>,
    journal: OnceCell<PathBuf>,
}

impl Stock {
    pub(super) fn new(directory: &Path) -> Stock {
        Stock { directory: directory.to_owned(), run: OnceCell::new(), journal: OnceCell::new() }
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(super) fn journal(&self) -> Journal {
        let path = self.journal.get_or_init(|| {
            let (run, path) = (self.directory.join("journal.jurat"), self.directory.join("journal.db"));
            asking::record(&run, &path, asking::ANSWERS, 10_000);
            std::fs::remove_file(run).expect("the run is there");
            path
        });
        Journal::open(path).expect("a journal")
    }

    fn run(&self) -> RunReader {
        let path = self.run.get_or_init(|| {
            let path = self.directory.join("stock.jurat");
            write(&path, RECORDS, Mix::TenthOfRecords, Names::Given);
            path
        });
        RunReader::open(path).expect("a run")
    }
}

pub(super) fn works(stock: &Stock) -> Vec<Work<'_>> {
    let reader = || stock.run();
    vec![
        question("open_and_summary", 20, {
            Box::new(move |n| (0..n).for_each(|_| drop(black_box(reader().summary().expect("a summary")))))
        }),
        question("one_case_by_id", 20, {
            Box::new(move |n| {
                for ix in 0..n {
                    let reader = reader();
                    let id = format!("record-{:08}", ix * 7919 % RECORDS);
                    let case_ix = reader.case_ix(&id, 0).expect("readable").expect("a case");
                    drop(black_box(reader.case(case_ix).expect("readable")));
                }
            })
        }),
        question("find_failed", 5, {
            Box::new(move |n| {
                (0..n).for_each(|_| assert!(black_box(reader().find(Column(3), Code::Failed).count()) > 9000));
            })
        }),
        question("every_case", 1, {
            Box::new(move |n| (0..n).for_each(|_| assert_eq!(reader().cases(CaseIx::ALL).count() as u64, RECORDS)))
        }),
    ]
}

fn question<'f>(name: &'static str, n: u64, run: Box<dyn Fn(u64) + 'f>) -> Work<'f> {
    Work { group: "reading", name, n, run }
}
