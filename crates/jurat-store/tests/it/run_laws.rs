//! What holds for every run, whatever its cases and however they come.

use std::collections::{BTreeMap, BTreeSet};

use jurat_core::plan::CaseIx;
use jurat_store::records::RowId;
use jurat_store::run::{
    BlockBuilder, CaseRow, Code, Column, Detail, Ended, FinishError, RunReader, RunWriter, WriterOptions, pack,
};
use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_128;

use crate::runs::{Desk, all_shown, finished, place, shown};

/// A run in the making: what its cases are, and which of them go into one block together.
#[derive(Debug, Clone)]
struct Script {
    n_tasks: usize,
    n_variants: u64,
    rows: Vec<Row>,
    /// For each case which block it is in, and when it came.
    arrivals: Vec<(usize, u32)>,
}

#[derive(Debug, Clone)]
struct Row {
    id: Id,
    /// For each variant: what does not pass, and whether the row is retained.
    cases: Vec<(BTreeMap<u32, u8>, bool)>,
    is_from_file: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Id {
    Given(String),
    /// Rows with one number have one content.
    Content(u64),
}

impl Id {
    fn as_row_id(&self) -> RowId<'_> {
        match self {
            Id::Given(text) => RowId::Given(text.into()),
            Id::Content(number) => RowId::Content(xxh3_128(content(*number).as_bytes())),
        }
    }

    fn text(&self) -> String {
        match self {
            Id::Given(text) => text.clone(),
            Id::Content(number) => content_id(*number),
        }
    }
}

fn content(number: u64) -> String {
    format!("{{\"content\": {number}}}")
}

fn content_id(number: u64) -> String {
    format!("{:032x}", xxh3_128(content(number).as_bytes()))
}

fn script() -> impl Strategy<Value = Script> {
    let dimensions = (0_usize..4, 1_u64..4, 1_usize..25);
    dimensions
        .prop_flat_map(|(n_tasks, n_variants, n_rows)| {
            let id = prop_oneof![
                30 => any::<u64>().prop_map(|it| Id::Given(format!("{it:x}"))),
                1 => (0_u8..3).prop_map(|it| Id::Given(format!("same{it}"))),
                1 => Just(Id::Given(content_id(1))),
                1 => Just(Id::Given(content_id(1) + "-2")),
                4 => (0_u64..3).prop_map(Id::Content),
                20 => any::<u64>().prop_map(Id::Content),
            ];
            let codes = proptest::collection::btree_map(0..=n_tasks as u32, 1_u8..9, 0..3);
            let cases = proptest::collection::vec((codes, any::<bool>()), n_variants as usize);
            let row = (id, cases, prop::bool::weighted(0.8));
            let row = row.prop_map(|(id, cases, is_from_file)| Row { id, cases, is_from_file });
            let n_cases = n_rows * n_variants as usize;
            (
                Just(n_tasks),
                Just(n_variants),
                proptest::collection::vec(row, n_rows),
                proptest::collection::vec((0_usize..5, any::<u32>()), n_cases),
            )
        })
        .prop_map(|(n_tasks, n_variants, rows, arrivals)| Script { n_tasks, n_variants, rows, arrivals })
}

/// What a run should say, worked out one row after the other.
struct Expected {
    lines: Vec<String>,
    ids: Vec<String>,
    duplicates: usize,
}

impl Script {
    fn texts(&self) -> Vec<String> {
        let text = |(ix, row): (usize, &Row)| match row.id {
            Id::Given(_) => format!("{{\"row\": {ix}}}"),
            Id::Content(number) => content(number),
        };
        self.rows.iter().enumerate().map(text).collect()
    }

    /// Writes the run; returns whether rows share ids.
    fn write(&self, desk: &Desk) -> Result<(), FinishError> {
        let texts = self.texts();
        let head = desk.head(&texts, self.n_tasks, self.n_variants as u32);
        let writer = RunWriter::create(&desk.run(), &head, WriterOptions::default()).expect("a run");
        let mut order: Vec<usize> = (0..self.arrivals.len()).collect();
        order.sort_by_key(|it| self.arrivals[*it]);
        let mut builder = BlockBuilder::new(self.n_tasks, head.n_variants());
        let mut block = 0;
        for case in order {
            if self.arrivals[case].0 != block {
                builder.close().into_iter().for_each(|it| writer.block(it).expect("room"));
                block = self.arrivals[case].0;
            }
            self.put(&mut builder, &texts, case);
        }
        builder.close().into_iter().for_each(|it| writer.block(it).expect("room"));
        writer.finish(finished(Ended::Done))
    }

    fn put(&self, builder: &mut BlockBuilder, texts: &[String], case: usize) {
        let (row_ix, variant) = (case / self.n_variants as usize, case % self.n_variants as usize);
        let row = &self.rows[row_ix];
        let (codes, keep) = &row.cases[variant];
        let mut place = place(texts, row_ix);
        if !row.is_from_file {
            (place.source, place.bytes) = (1, None);
        }
        let text = &texts[row_ix];
        builder.case(CaseIx::numbered(case as u64), &row.id.as_row_id(), CaseRow { place, text, keep: *keep });
        for (column, code) in codes {
            let code = Code::numbered(*code).expect("a code");
            builder.verdict(Column(*column), code);
            builder.detail(Column(*column), &detail(case, *column));
            builder.score(Column(*column), f64::from(*column) / 2.0);
            builder.label(Column(*column), code.name());
        }
    }

    fn expected(&self) -> Expected {
        let given: BTreeSet<String> =
            self.rows.iter().filter(|it| matches!(it.id, Id::Given(_))).map(|it| it.id.text()).collect();
        let mut taken: BTreeMap<String, u64> = BTreeMap::new();
        let mut expected = Expected { lines: Vec::new(), ids: Vec::new(), duplicates: 0 };
        for (row_ix, row) in self.rows.iter().enumerate() {
            let text = row.id.text();
            let id = match taken.get_mut(&text) {
                None => {
                    taken.insert(text.clone(), 1);
                    text
                }
                Some(_) if matches!(row.id, Id::Given(_)) => {
                    expected.duplicates += 1;
                    text
                }
                Some(number) => loop {
                    *number += 1;
                    let numbered = format!("{text}-{number}");
                    if !given.contains(&numbered) {
                        break numbered;
                    }
                },
            };
            for variant in 0..self.n_variants as usize {
                let case = row_ix * self.n_variants as usize + variant;
                expected.lines.push(self.line(case, &id, row, variant));
                expected.ids.push(id.clone());
            }
        }
        expected
    }

    fn line(&self, case: usize, id: &str, row: &Row, variant: usize) -> String {
        use std::fmt::Write;
        let (codes, _) = &row.cases[variant];
        let mut line = format!("{case} v{variant} {id}");
        for column in 0..=self.n_tasks as u32 {
            let code = codes.get(&column).map_or(Code::Passed, |it| Code::numbered(*it).expect("a code"));
            let _ = write!(line, " {}", code.name());
            if codes.contains_key(&column) {
                let _ = write!(line, "({})", serde_json::to_string(&detail(case, column)).expect("JSON"));
            }
        }
        for column in codes.keys() {
            let _ = write!(line, " score{column}={}", f64::from(*column) / 2.0);
        }
        for (column, code) in codes {
            let _ = write!(line, " label{column}={}", Code::numbered(*code).expect("a code").name());
        }
        line
    }
}

fn detail(case: usize, column: u32) -> Detail<'static> {
    Detail { message: Some(format!("case {case}\n\"{column}\"").into()), ..Detail::default() }
}

/// A case without what says where its row is.
fn without_row(line: &str) -> &str {
    line.split(" kept ").next().unwrap_or_default()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_comes_however_it_comes_is_read_in_the_order_of_input(script in script()) {
        let desk = Desk::new();
        let written = script.write(&desk);
        let expected = script.expected();
        match &written {
            Ok(()) => prop_assert_eq!(expected.duplicates, 0),
            Err(FinishError::DuplicateIds(duplicates)) => prop_assert_eq!(expected.duplicates as u64, duplicates.n),
            Err(other) => prop_assert!(false, "{}", other),
        }
        let lines = all_shown(&desk.run());
        prop_assert_eq!(lines.iter().map(|it| without_row(it)).collect::<Vec<_>>(), expected.lines.clone());

        let reader = RunReader::open(&desk.run()).expect("a run");
        let texts = script.texts();
        for (ix, line) in lines.iter().enumerate() {
            let case_ix = CaseIx::numbered(ix as u64);
            let case = reader.case(case_ix).expect("readable").expect("a case");
            prop_assert_eq!(&shown(&case), line);
            prop_assert_eq!(&reader.row_text(&case).expect("a row"), &texts[ix / script.n_variants as usize]);
            if written.is_ok() {
                let id = &expected.ids[ix];
                prop_assert_eq!(reader.case_ix(id, ix % script.n_variants as usize).expect("readable"), Some(case_ix), "{}", id);
            }
        }
        for column in (0..=script.n_tasks as u32).map(Column) {
            for code in Code::ALL {
                let found: Vec<CaseIx> = reader.find(column, code).collect::<Result<_, _>>().expect("readable");
                let cases = reader.cases(CaseIx::ALL).map(|it| it.expect("a case"));
                let expected: Vec<CaseIx> = cases.filter(|it| it.code(column) == code).map(|it| it.case_ix).collect();
                prop_assert_eq!(found, expected);
            }
        }
        let summary = reader.summary().expect("a summary");
        let counted: u64 = summary.iter().flat_map(|it| it.counts).sum();
        prop_assert_eq!(counted, (lines.len() * (script.n_tasks + 1)) as u64);
    }

    #[test]
    fn a_part_of_the_cases_is_a_part_of_all(script in script(), from in 0_u64..80, length in 0_u64..80) {
        let desk = Desk::new();
        let _ = script.write(&desk);
        let reader = RunReader::open(&desk.run()).expect("a run");
        let part: Vec<u64> = reader.cases(CaseIx::numbered(from)..CaseIx::numbered(from + length)).map(|it| it.expect("a case").case_ix.number()).collect();
        let expected: Vec<u64> = (0..script.arrivals.len() as u64).filter(|it| (from..from + length).contains(it)).collect();
        prop_assert_eq!(part, expected);
    }

    #[test]
    fn a_packed_run_says_the_same_without_its_files(script in script()) {
        let desk = Desk::new();
        let _ = script.write(&desk);
        let before = all_shown(&desk.run());
        pack(&desk.run()).expect("packed");
        std::fs::remove_file(desk.rows()).expect("the file was there");
        let after = all_shown(&desk.run());
        let reader = RunReader::open(&desk.run()).expect("a run");
        for ((case, before), after) in reader.cases(CaseIx::ALL).zip(&before).zip(&after) {
            let case = case.expect("a case");
            let text = reader.row_text(&case).expect("the row is in the run");
            prop_assert_eq!(text, &script.texts()[(case.case_ix.number() / script.n_variants) as usize][..]);
            prop_assert_eq!(without_row(before), without_row(after));
        }
        prop_assert!(reader.state().expect("a state").self_contained);
    }
}
