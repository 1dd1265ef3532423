//! Assertions on a record that has been read: what users run, from a definition to `Assertion::judge`.

use std::hint::black_box;
use std::path::Path;

use jurat_compare::{Assertion, Judgement};
use jurat_core::plan::{Plan, Samples};
use jurat_core::suite::load;
use jurat_format::source::{Files, ReadError};
use jurat_format::value::{Context, Val};

use crate::{RECORD, Work};

/// The plan of a definition that stands in this directory.
pub(crate) fn plan(name: &str, text: &str) -> Plan {
    let loaded = load(Path::new(name), &One(text));
    assert!(loaded.problems.is_empty(), "{name}: {:#?}", loaded.problems);
    match Plan::build(&loaded.suite, &Samples { is_partial: true, ..Samples::default() }) {
        Ok((plan, _)) => plan,
        Err(problems) => panic!("{name}: {problems:#?}"),
    }
}

struct One<'t>(&'t str);

impl Files for One<'_> {
    fn read(&self, _: &Path, _: u64) -> Result<Vec<u8>, ReadError> {
        Ok(self.0.as_bytes().to_vec())
    }
}

pub(crate) fn works<'f>(ten: &'f Plan, simple: &'f Plan, record: &'f Val<'f>) -> Vec<Work<'f>> {
    let all: Vec<&Assertion> = ten.tasks.iter().filter_map(|it| it.then.as_ref()).collect();
    assert_eq!(all.len(), 10);
    let same = all.clone();
    let mut works = vec![
        Work {
            group: "record",
            name: "ten_assertions".to_owned(),
            run: Box::new(move |n| {
                for _ in 0..n {
                    judge_all(&all, black_box(record));
                }
            }),
        },
        Work {
            group: "record",
            name: "read_and_ten_assertions".to_owned(),
            run: Box::new(move |n| {
                for _ in 0..n {
                    let record = ten.footprint.read(black_box(RECORD)).expect("the record is JSON");
                    judge_all(&same, &record.value);
                }
            }),
        },
    ];
    for task in &simple.tasks {
        let assertion = task.then.as_ref().expect("every task of this suite asserts");
        let name = task.id.clone();
        let run = move |n| {
            for _ in 0..n {
                judge(assertion, black_box(record));
            }
        };
        works.push(Work { group: "comparison", name, run: Box::new(run) });
    }
    works
}

fn judge_all(assertions: &[&Assertion], record: &Val<'_>) {
    for assertion in assertions {
        judge(assertion, record);
    }
}

/// A failure costs the words that describe it, so a work that does not pass would measure something else.
fn judge(assertion: &Assertion, record: &Val<'_>) {
    let judgement = black_box(assertion).judge(Context::of(record));
    assert!(matches!(judgement, Judgement::Passed), "{:?}: {judgement}", assertion.path);
}
