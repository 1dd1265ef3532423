//! Records of two shapes, each with a suite of ten assertions.
//!
//! A shape has one file: how a row of it is written, the suite over it, and the same ten assertions by hand. Rows depend on
//! nothing but their number, so every run of the benchmark sees the same bytes. A failing row fails all ten assertions: with
//! 10 % of failing rows, 10 % of the verdicts are failures too, whichever of the two is meant.

mod flat;
mod nested;

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use memchr::memmem::Finder;
use regex::Regex;
use serde::Deserialize;
use serde_json::json;

use crate::Said;

/// Every shape.
pub(crate) const SHAPES: &[Shape] = &[flat::SHAPE, nested::SHAPE];

/// How many assertions a suite has.
pub(crate) const N_TASKS: usize = 10;

/// What rows look like, and what is asserted of them.
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    pub(crate) suite: &'static str,
    /// The ids of the suite's tasks, in its order.
    pub(crate) tasks: [&'static str; N_TASKS],
    /// Appends a row to the text, without the end of its line.
    write: fn(&mut String, Row),
    /// Judges a row by hand.
    pub(crate) judge: for<'l> fn(&'l str, &Searches) -> serde_json::Result<Judged<'l>>,
}

/// One row before it is written.
#[derive(Clone, Copy)]
struct Row {
    number: u64,
    is_failing: bool,
    /// Differs from row to row without order, and is the same in every run.
    dice: u64,
}

impl Row {
    fn new(number: u64, percent: u64) -> Row {
        let dice = scattered(number);
        Row { number, is_failing: (dice >> 32) % 100 < percent, dice }
    }

    /// A number below `n`; each `place` has its own.
    fn below(self, place: u32, n: u64) -> u64 {
        self.dice.rotate_left(place * 7) % n
    }

    fn one_of(self, place: u32, texts: &[&'static str]) -> &'static str {
        texts[self.below(place, texts.len() as u64) as usize]
    }
}

/// What is prepared once for all rows, as an engine would do.
pub(crate) struct Searches {
    refund: Finder<'static>,
    sorry: Finder<'static>,
    when: Regex,
}

impl Searches {
    pub(crate) fn new() -> Result<Searches, regex::Error> {
        Ok(Searches {
            refund: Finder::new("refund"),
            sorry: Finder::new("sorry"),
            when: Regex::new(r"within \d+ business days")?,
        })
    }
}

/// What judging a row by hand gives.
pub(crate) struct Judged<'l> {
    pub(crate) id: Cow<'l, str>,
    /// In the order of the suite's tasks.
    pub(crate) passed: [bool; N_TASKS],
}

/// Text as typed readers take it: borrowed where it has no escapes. A bare `Cow` inside a list would always be copied.
#[derive(Deserialize)]
struct Text<'l>(#[serde(borrow)] Cow<'l, str>);

/// Writes `records.jsonl` and `suite.yaml`. Says how many rows fail, and the ids of a row in the middle.
pub(crate) fn write(directory: &Path, shape: &Shape, rows: u64, percent: u64) -> Said {
    fs::create_dir_all(directory)?;
    fs::write(directory.join("suite.yaml"), shape.suite)?;
    let mut file = BufWriter::with_capacity(1 << 18, File::create(directory.join("records.jsonl"))?);
    let mut text = String::new();
    let mut failing = 0_u64;
    for number in 0..rows {
        let row = Row::new(number, percent);
        failing += u64::from(row.is_failing);
        text.clear();
        (shape.write)(&mut text, row);
        text.push('\n');
        file.write_all(text.as_bytes())?;
    }
    file.flush()?;
    Ok(json!({ "failing": failing, "middle": id(rows / 2) }))
}

fn id(number: u64) -> String {
    format!("case-{number:07}")
}

/// The finishing steps of a well-known generator: neighbours come out far apart.
fn scattered(number: u64) -> u64 {
    let mut bits = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use jurat_compare::Judgement;
    use jurat_core::plan::{Plan, Samples};
    use jurat_core::suite::load;
    use jurat_format::source::{Files, ReadError};
    use jurat_format::value::{Context, parse_json};

    use super::*;

    struct Suite(&'static str);

    impl Files for Suite {
        fn read(&self, _: &Path, _: u64) -> Result<Vec<u8>, ReadError> {
            Ok(self.0.as_bytes().to_vec())
        }
    }

    fn plan(shape: &Shape) -> Plan {
        let loaded = load(Path::new("suite.yaml"), &Suite(shape.suite));
        assert!(loaded.problems.is_empty(), "{}: {:#?}", shape.name, loaded.problems);
        let built = Plan::build(&loaded.suite, &Samples { is_partial: true, ..Samples::default() });
        built.unwrap_or_else(|problems| panic!("{}: {problems:#?}", shape.name)).0
    }

    fn written(shape: &Shape, row: Row) -> String {
        let mut text = String::new();
        (shape.write)(&mut text, row);
        text
    }

    #[test]
    fn the_floor_judges_as_the_suite_does() {
        let searches = Searches::new().unwrap();
        for shape in SHAPES {
            let plan = plan(shape);
            let ids: Vec<&str> = plan.tasks.iter().map(|it| it.id.as_str()).collect();
            assert_eq!(ids, shape.tasks);
            for row in (0..500).map(|it| Row::new(it, 30)) {
                let text = written(shape, row);
                let value = parse_json(&text).unwrap().value;
                let assertions = plan.tasks.iter().map(|it| it.then.as_ref().unwrap());
                let verdicts: Vec<bool> = assertions
                    .map(|it| match it.judge(Context::of(&value)) {
                        Judgement::Passed => true,
                        Judgement::Failed(_) => false,
                        other => panic!("{}: {other}: {text}", shape.name),
                    })
                    .collect();
                let judged = (shape.judge)(&text, &searches).unwrap();
                assert_eq!(verdicts, judged.passed, "{text}");
                assert_eq!(verdicts, [!row.is_failing; N_TASKS], "{text}");
                assert_eq!(judged.id, id(row.number));
            }
        }
    }

    #[test]
    fn rows_have_the_size_that_their_shape_is_known_for() {
        for (shape, least, most) in [(&flat::SHAPE, 500, 570), (&nested::SHAPE, 1000, 1200)] {
            let rows = (0..1000).map(|it| Row::new(it * 997, 0));
            let sizes: Vec<usize> = rows.map(|it| written(shape, it).len()).collect();
            assert!(sizes.iter().all(|it| (least..=most).contains(it)), "{}: {sizes:?}", shape.name);
        }
    }

    #[test]
    fn the_share_of_failing_rows_is_as_asked() {
        let failing = |percent: u64| (0..100_000).filter(|it| Row::new(*it, percent).is_failing).count();
        assert_eq!((failing(0), failing(100)), (0, 100_000));
        assert!((9_500..10_500).contains(&failing(10)), "{}", failing(10));
    }
}
